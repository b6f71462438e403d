"""Nulls of the check of class models: data sets drawn from a model. The statistics of them are elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.covariance import ledoit_wolf

from bayes_gresub.data.arrays import Floats
from bayes_gresub.data.sample import read_features
from bayes_gresub.data.units import pooled_deviation, to_units

Simulate: TypeAlias = Callable[[int, np.random.Generator], Floats]
"""Draws data sets of one class from its fitted model: (n_sims, rng) -> (n_sims, n_y, d)."""

_CHUNK = 250_000
"""Numbers of the largest array at a time: near the size of a processor's cache."""


@dataclass(frozen=True, eq=False)
class GaussianNull:
    """Draws data sets of `n_points` rows from N(mean, root root')."""

    n_points: int
    mean: Floats
    root: Floats

    def __call__(self, n_sims: int, rng: np.random.Generator) -> Floats:
        """Return data sets of shape (n_sims, n_points, d)."""
        normal = rng.standard_normal((n_sims * self.n_points, self.root.shape[1]))
        return (self.mean + normal @ self.root.T).reshape(n_sims, self.n_points, -1)


def fit_gaussian_null(points: ArrayLike) -> GaussianNull:
    r"""Return the normal law fitted to the points of a class, for `check_class`.

    .. math:: N(\bar x, \hat\Sigma)

    With more points than features the covariance is that of the points. Otherwise that one is singular, and the
    correlations are shrunk towards 0 by Ledoit and Wolf's weight; deviations are kept.

    References
    ----------
    Ledoit and Wolf (2004), Journal of Multivariate Analysis 88, 365-411.

    Examples
    --------
    >>> import numpy as np
    >>> null = fit_gaussian_null([[0.0, 1.0], [2.0, 1.5], [1.0, 3.0], [5.0, 2.0]])
    >>> null(3, np.random.default_rng(0)).shape
    (3, 4, 2)
    """
    features, _ = read_features(points, "points")
    n, d = features.shape
    deviation = pooled_deviation(features, np.zeros(n, dtype=np.intp))
    standardized = to_units(features - features.mean(axis=0), deviation)
    correlation = standardized.T @ standardized / max(1, n - 1)
    if n <= d:
        shrunk, _ = ledoit_wolf(standardized, assume_centered=True)
        correlation = shrunk / max(float(np.diag(shrunk).mean()), np.finfo(float).tiny)
    values, vectors = np.linalg.eigh(correlation)
    root = deviation[:, None] * vectors * np.sqrt(np.maximum(values, 0.0))
    return GaussianNull(n, features.mean(axis=0), root)


def draw_in_chunks(
    simulate: Simulate, n_sims: int, shape: tuple[int, int], rng: np.random.Generator
) -> Iterator[Floats]:
    """Yield `n_sims` data sets of `shape` (n, d), some at a time, each block of shape (s, n, d)."""
    n, d = shape
    size = max(1, _CHUNK // (n * max(n, d)))
    for start in range(0, n_sims, size):
        count = min(size, n_sims - start)
        drawn = np.asarray(simulate(count, rng), dtype=np.float64)
        if drawn.shape != (count, n, d) or not np.isfinite(drawn).all():
            raise ValueError(f"simulate must return finite data sets of shape {(count, n, d)}; got {drawn.shape}.")
        yield drawn
