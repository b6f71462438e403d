"""Classes of several Gaussian clumps each."""

from __future__ import annotations

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from benchmarks.learn.correlation import draw_factor, draw_rotation
from benchmarks.learn.gaussian_mixtures import GaussianMixtures
from benchmarks.learn.kind import Shape

MOST_NUMBERS = 60_000
"""Components have rotations of their own if these have no more numbers than this altogether."""


def draw_mixture(shape: Shape, rng: np.random.Generator) -> GaussianMixtures:
    """Return classes of two to six clumps each, two or three in many classes, some of different covariances."""
    classes = np.repeat(
        np.arange(shape.n_classes), rng.integers(2, 7 if shape.n_classes < 4 else 4, size=shape.n_classes)
    )
    k, dim = len(classes), shape.dim
    informative = np.arange(dim) < (dim if rng.random() < 0.5 else rng.integers(2, min(dim, 6) + 1))
    means = rng.normal(size=(k, dim)) * informative
    rotations, log_scales = None, None
    if k * dim**2 <= MOST_NUMBERS and rng.random() < 0.5:
        rotations = np.array([draw_rotation(dim, rng) for _ in range(k)])
        log_scales = rng.normal(0, rng.uniform(0.1, 0.4), size=(k, dim))
    return GaussianMixtures(
        probabilities=shape.probabilities,
        classes=classes,
        weights=draw_weights(classes, rng),
        means=means / np.sqrt(np.mean(np.sum(means**2, axis=1))),
        factor=draw_factor(dim, rng),
        rotations=rotations,
        log_scales=log_scales,
    )


def draw_weights(classes: Ints, rng: np.random.Generator) -> Floats:
    """Return random shares of components (k,) that sum to 1 within each class."""
    weights = rng.gamma(2.0, size=len(classes)) + 0.05
    return weights / np.bincount(classes, weights)[classes]
