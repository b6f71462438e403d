"""Nearest-neighbour distances within a class, by the quickest way for its size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import gammaincinv
from sklearn.metrics import pairwise_distances_argmin_min
from sklearn.neighbors import NearestNeighbors

from bayes_gresub.data.arrays import Floats
from bayes_gresub.data.seeds import WIDTHS, child

DENSE_LIMIT = 500
"""Points up to which all pairwise distances are quicker than a neighbour search."""

QUERY_LIMIT = 20_000
"""Points in a class beyond which the mean is taken over a random subsample of query points."""

SUBSAMPLE = 4096
"""Query points of that subsample."""


@dataclass(frozen=True)
class MeanDistance:
    """A mean distance and its standard error; 0 where every point was asked."""

    value: float
    std_error: float


def mean_nearest_distance(points: Floats, seed: np.random.SeedSequence, which: int = 0) -> MeanDistance:
    r"""Return :math:`\hat d = \frac1n \sum_i \min_{j \ne i} |X_i - X_j|` over the points of one class.

    Beyond QUERY_LIMIT points the outer mean is over a random subsample, number `which` of this seed; the inner minimum
    is always over all.

    Examples
    --------
    >>> import numpy as np
    >>> mean_nearest_distance(np.array([[0.0], [1.0], [3.0]]), np.random.SeedSequence(0)).value
    1.3333333333333333
    """
    n = len(points)
    if n <= DENSE_LIMIT:
        distances = cdist(points, points)
        np.fill_diagonal(distances, np.inf)
        return MeanDistance(float(distances.min(axis=1).mean()), 0.0)
    # Searches by matrix products lose the digits that an offset takes up.
    points = points - points.mean(axis=0)
    if n <= QUERY_LIMIT:
        nearest, _ = NearestNeighbors(n_neighbors=1).fit(points).kneighbors()
        return MeanDistance(float(nearest.mean()), 0.0)
    rows = np.random.default_rng(child(seed, WIDTHS, which)).choice(n, SUBSAMPLE, replace=False)
    nearest = _nearest_of_some(points, rows)
    finite_sample = np.sqrt(1.0 - SUBSAMPLE / n)
    return MeanDistance(float(nearest.mean()), float(nearest.std(ddof=1) / np.sqrt(SUBSAMPLE) * finite_sample))


def _nearest_of_some(points: Floats, rows: np.ndarray) -> Floats:
    """Return the distance of each of `rows` to its nearest other point."""
    other = np.ones(len(points), dtype=bool)
    other[rows] = False
    _, outside = pairwise_distances_argmin_min(points[rows], points[other])
    inside, _ = NearestNeighbors(n_neighbors=1, algorithm="brute").fit(points[rows]).kneighbors()
    return np.minimum(outside, inside[:, 0])


def chi_median(d: int) -> float:
    """Return the median of the chi distribution with d degrees of freedom, the paper's alpha_d.

    Examples
    --------
    >>> [round(chi_median(d), 3) for d in (1, 2, 3, 4, 5)]
    [0.674, 1.177, 1.538, 1.832, 2.086]
    """
    return float(np.sqrt(2.0 * gammaincinv(d / 2.0, 0.5)))


def nearest_values(values: Floats, ties: str) -> Floats:
    """Return, per column, the mean distance of each value to the nearest other one.

    With ties="different" equal values do not count as neighbours; with ties="zero" they do, at distance 0. A column
    with one value only has distance 0.

    Examples
    --------
    >>> import numpy as np
    >>> column = np.array([[0.0], [0.0], [1.0], [3.0]])
    >>> nearest_values(column, "different").tolist(), nearest_values(column, "zero").tolist()
    ([1.25], [0.75])
    """
    n, d = values.shape
    ordered = np.sort(values, axis=0)
    gaps = np.diff(ordered, axis=0)
    below = np.full((n, d), np.inf)
    above = np.full((n, d), np.inf)
    if ties == "zero":
        below[1:], above[:-1] = gaps, gaps
    else:
        below[1:] = _last_positive(gaps)
        above[:-1] = _last_positive(gaps[::-1])[::-1]
    nearest = np.minimum(below, above)
    return np.where(np.isfinite(nearest), nearest, 0.0).mean(axis=0)


def _last_positive(gaps: Floats) -> Floats:
    """Return at each row the latest positive gap so far, or infinity: the distance past a run of equal values."""
    rows = np.where(gaps > 0, np.arange(len(gaps))[:, None], -1)
    latest = np.maximum.accumulate(rows, axis=0)
    return np.where(latest >= 0, np.take_along_axis(gaps, np.maximum(latest, 0), axis=0), np.inf)
