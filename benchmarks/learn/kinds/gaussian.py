"""Gaussian classes, with one covariance for all or one for each."""

from __future__ import annotations

import numpy as np

from benchmarks.learn.class_law import draw_means
from benchmarks.learn.correlation import draw_factor, draw_rotation
from benchmarks.learn.gaussian_mixtures import GaussianMixtures
from benchmarks.learn.kind import Shape


def draw_equal_covariances(shape: Shape, rng: np.random.Generator) -> GaussianMixtures:
    """Return classes N(s m_y, AA'); the means differ in directions of x or of the whitened A^-1 x.

    For two classes of probabilities p and 1 - p at Mahalanobis distance D the least error is
    p Phi(-D/2 + t/D) + (1 - p) Phi(-D/2 - t/D), t = log((1 - p)/p).
    """
    factor = draw_factor(shape.dim, rng)
    means = draw_means(shape.n_classes, shape.dim, rng)
    if rng.random() < 0.5:
        means = np.linalg.solve(factor, means.T).T.astype(np.float64)
        means /= np.sqrt(np.mean(np.sum(means**2, axis=1)))
    return GaussianMixtures(
        probabilities=shape.probabilities,
        classes=np.arange(shape.n_classes),
        weights=np.ones(shape.n_classes),
        means=means,
        factor=factor,
    )


def draw_unequal_covariances(shape: Shape, rng: np.random.Generator) -> GaussianMixtures:
    """Return classes N(s m_y, A E_y E_y' A') with log E_y = s G_y; sometimes with equal means."""
    means = draw_means(shape.n_classes, shape.dim, rng) * rng.choice([0.0, 0.3, 1.0], p=[0.25, 0.3, 0.45])
    log_scales = rng.normal(size=(shape.n_classes, shape.dim))
    if rng.random() < 0.4:
        log_scales[:] = log_scales[:, :1]
    axes = np.eye(shape.dim) if rng.random() < 0.3 else None
    rotations = [draw_rotation(shape.dim, rng) if axes is None else axes for _ in range(shape.n_classes)]
    return GaussianMixtures(
        probabilities=shape.probabilities,
        classes=np.arange(shape.n_classes),
        weights=np.ones(shape.n_classes),
        means=means,
        factor=draw_factor(shape.dim, rng),
        rotations=np.array(rotations),
        log_scales=log_scales * rng.uniform(0.3, 1.0),
    )
