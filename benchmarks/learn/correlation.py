"""Random linear maps: rotations, and factors that make independent features correlated."""

from __future__ import annotations

import numpy as np

from bayes_gresub.data.arrays import Floats


def draw_rotation(dim: int, rng: np.random.Generator) -> Floats:
    """Return a uniformly distributed orthogonal matrix, shape (dim, dim)."""
    q, r = np.linalg.qr(rng.normal(size=(dim, dim)))
    return q * np.sign(np.diag(r))


def draw_factor(dim: int, rng: np.random.Generator) -> Floats:
    """Return an invertible matrix A whose AA' is a correlation matrix, shape (dim, dim).

    Features are independent, correlated with their neighbours, driven by a few common factors, or have a spectrum that
    decays along random directions.
    """
    pattern = rng.choice(["independent", "neighbours", "common", "decaying"], p=[0.3, 0.2, 0.25, 0.25])
    if pattern == "independent":
        return np.eye(dim)
    if pattern == "neighbours":
        correlation = rng.uniform(0.2, 0.95) ** np.abs(np.subtract.outer(np.arange(dim), np.arange(dim)))
    elif pattern == "common":
        loadings = rng.normal(size=(dim, rng.integers(1, min(dim, 6) + 1)))
        own = rng.uniform(0.1, 1.0, size=dim)
        correlation = _correlation(loadings @ loadings.T + np.diag(own))
    else:
        rotation = draw_rotation(dim, rng)
        spectrum = np.maximum(np.arange(1, dim + 1) ** -rng.uniform(0.5, 2.5), 1e-3)
        correlation = _correlation((rotation * spectrum) @ rotation.T)
    return np.linalg.cholesky(correlation).astype(np.float64)


def _correlation(covariance: Floats) -> Floats:
    scales = np.sqrt(np.diag(covariance))
    return covariance / np.outer(scales, scales)
