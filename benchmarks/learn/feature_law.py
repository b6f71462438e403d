"""Random laws of features without labels: correlated, in clusters, with marginals of several shapes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from scipy.special import ndtr

from bayes_gresub.data.arrays import Floats, Ints
from benchmarks.learn.correlation import draw_factor


class Marginal(IntEnum):
    """The shape of one feature, as a monotone function of a normal variable."""

    NORMAL = 0
    UNIFORM = 1
    SKEWED = 2
    LONG_TAILED = 3
    BINARY = 4


@dataclass(frozen=True, eq=False)
class FeatureLaw:
    """Features x_j = h_j((m_k + A z)_j), z standard normal, k a cluster chosen at random.

    Parameters
    ----------
    factor : array of shape (d, d)
        A.
    clusters : array of shape (k, d)
        m_k.
    marginals : array of shape (d,)
        A `Marginal` for each feature, its h_j.
    cuts : array of shape (d,)
        Where binary features change from 0 to 1.
    """

    factor: Floats
    clusters: Floats
    marginals: Ints
    cuts: Floats

    @property
    def dim(self) -> int:
        """The number of features."""
        return len(self.factor)

    def points(self, n: int, rng: np.random.Generator) -> Floats:
        """Return n independent points, shape (n, d)."""
        cluster = rng.integers(len(self.clusters), size=n)
        X = self.clusters[cluster] + rng.normal(size=(n, self.dim)) @ self.factor.T
        for marginal in np.unique(self.marginals):
            columns = np.flatnonzero(self.marginals == marginal)
            if marginal == Marginal.UNIFORM:
                X[:, columns] = np.sqrt(12) * (ndtr(X[:, columns]) - 0.5)
            elif marginal == Marginal.SKEWED:
                X[:, columns] = np.exp(np.minimum(X[:, columns], 5.0)) / 2
            elif marginal == Marginal.LONG_TAILED:
                X[:, columns] = np.sinh(np.clip(X[:, columns], -6.0, 6.0)) / 2
            elif marginal == Marginal.BINARY:
                X[:, columns] = X[:, columns] > self.cuts[columns]
        return X


def draw_feature_law(dim: int, rng: np.random.Generator, continuous: bool = False) -> FeatureLaw:
    """Return a random law of `dim` features; `continuous` leaves out binary ones.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> draw_feature_law(3, rng).points(5, rng).shape
    (5, 3)
    """
    n_clusters = 1 if rng.random() < 0.7 else int(rng.integers(2, 6))
    clusters = np.zeros((1, dim)) if n_clusters == 1 else rng.uniform(0.3, 2) * rng.normal(size=(n_clusters, dim))
    if rng.random() < 0.6:
        marginals = np.full(dim, Marginal.NORMAL if rng.random() < 0.6 else Marginal.UNIFORM)
    else:
        marginals = rng.choice(len(Marginal) - continuous, size=dim)
    return FeatureLaw(draw_factor(dim, rng), clusters, marginals, rng.normal(0, 0.7, size=dim))
