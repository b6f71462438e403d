"""Leave-one-out of k nearest neighbours: the votes without the row's own block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.estimate.reasons import Reason
from bayes_gresub.resampling.shortcuts.left_out_labels import LeftOut
from bayes_gresub.resampling.shortcuts.refitting import in_words, refit_blocks
from bayes_gresub.resampling.shortcuts.refusals import (
    NoShortcutError,
    SettingWithoutShortcut,
    TooFewNeighbors,
    TrainedOnOtherPoints,
)
from bayes_gresub.resampling.shortcuts.standardizing import standardizing
from bayes_gresub.resampling.shortcuts.training_rows import CHUNK_ELEMENTS, TrainingRows

_TIE = 1e-10
"""Relative difference of two distances below which scikit-learn's rounding may order them either way."""

_ROUNDING = 1e-13
"""The same for small distances, relative to the largest one."""

_CANCELS = 1e-5
"""Share of the squared lengths of two points below which their squared distance has lost too many digits."""

_METRICS = {
    "minkowski",
    "euclidean",
    "l2",
    "sqeuclidean",
    "manhattan",
    "cityblock",
    "l1",
    "chebyshev",
    "cosine",
    "canberra",
    "hamming",
    "correlation",
}


def refuse_neighbors(rule: Any, scaler: Any) -> Reason | None:
    """Return why this kNN rule has no shortcut."""
    if not isinstance(rule.metric, str) or rule.metric not in _METRICS:
        return SettingWithoutShortcut("KNeighborsClassifier", "metric", repr(rule.metric))
    if rule.weights not in ("uniform", "distance", None):
        return SettingWithoutShortcut("KNeighborsClassifier", "weights", repr(rule.weights))
    return None


def leave_out_neighbors(rule: Any, scaler: Any, whole: Any, rows: TrainingRows) -> LeftOut:
    r"""Return the votes of the k nearest rows outside of each row's block B.

    .. math:: v_c(x_i) = \sum_{j \in N_k(x_i; -B)} w_{ij} I(Y_j = c)

    A scaler in front divides the differences of row i by the deviations without its block. If neighbours tied at the
    k-th distance could change the label, the rule itself is refitted, since its search orders them in its own way;
    otherwise they share the votes left, and always if there is no rule to refit.
    """
    k, n_left = int(rule.n_neighbors), len(rows.codes) - int(rows.sizes.max())
    if k > n_left:
        raise NoShortcutError(TooFewNeighbors(k, n_left))
    scores = np.empty((len(rows.codes), rows.n_classes))
    unsure = np.zeros(len(rows.codes), dtype=bool)
    for queries, distance in _distances(rule, scaler, rows):
        distance[rows.block[queries][:, None] == rows.block] = np.inf
        scores[queries], unsure[queries] = _votes(distance, k, rule.weights == "distance", rows.membership)
    codes = scores.argmax(axis=1)
    n_fits = 0 if whole is None else refit_blocks(whole, rows, np.unique(rows.block[unsure]), codes, scores)
    is_exact = whole is not None or not unsure.any()
    method = "votes of the nearest rows but its own" + in_words(n_fits, rows, "tied at the k-th distance")
    return LeftOut(codes, scores, True, is_exact, method, n_fits)


def leave_out_neighbors_by_search(rule: Any, points: Floats, rows: TrainingRows) -> LeftOut:
    """Return the votes of the k nearest rows outside of each row's block, by the search of the trained rule.

    For large samples, whose distances to all rows would take too long. A scaler in front stays that of all rows, and
    rows tied at the k-th distance vote in the order in which the search returns them.
    """
    k, n = int(rule.n_neighbors), len(rows.codes)
    if rule.n_samples_fit_ != n:
        raise NoShortcutError(TrainedOnOtherPoints("KNeighborsClassifier"))
    n_found = min(n, k + int(rows.sizes.max()))
    if k > n - int(rows.sizes.max()):
        raise NoShortcutError(TooFewNeighbors(k, n - int(rows.sizes.max())))
    scores = np.empty((n, rows.n_classes))
    step = max(1, CHUNK_ELEMENTS // (n_found * rows.n_classes))
    for begin in range(0, n, step):
        queries = np.arange(begin, min(begin + step, n))
        distance, nearest = rule.kneighbors(points[queries], n_found)
        outside = rows.block[nearest] != rows.block[queries][:, None]
        counts = outside & (np.cumsum(outside, axis=1) <= k)
        weights = counts.astype(float)
        if rule.weights == "distance":
            coincide = (counts & (distance == 0)).any(axis=1, keepdims=True)
            with np.errstate(divide="ignore"):
                weights = np.where(counts, np.where(coincide, distance == 0, 1.0 / distance), 0.0)
        votes = np.einsum("qk,qkc->qc", weights, rows.membership[nearest])
        scores[queries] = votes / votes.sum(axis=1, keepdims=True)
    return LeftOut(scores.argmax(axis=1), scores, True, False, "votes of the nearest rows but its own, by search")


def _votes(distance: Floats, k: int, by_distance: bool, membership: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the shares of the votes, and whether a tie at the k-th distance could change the winner."""
    last = np.partition(distance, k - 1, axis=1)[:, k - 1 : k]
    largest = np.max(distance, axis=1, keepdims=True, where=np.isfinite(distance), initial=0.0)
    margin = _TIE * last + _ROUNDING * largest
    is_sure = distance < last - margin
    is_tied = (distance <= last + margin) & ~is_sure
    slots = k - is_sure.sum(axis=1, keepdims=True)
    tied = is_tied.astype(float) @ membership
    n_tied = tied.sum(axis=1, keepdims=True)
    weight = np.ones_like(last)
    if by_distance:
        # Where a neighbour coincides with the point, only such neighbours vote.
        coincide = (distance == 0).any(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            each = np.where(coincide, distance == 0, 1.0 / distance)
            weight = np.where(coincide, last == 0, 1.0 / last)
        sure = np.where(is_sure, each, 0.0) @ membership
    else:
        sure = is_sure.astype(float) @ membership
    votes = sure + weight * slots * tied / n_tied
    least = sure + weight * np.maximum(0, slots - (n_tied - tied))
    most = sure + weight * np.minimum(tied, slots)
    winner = votes.argmax(axis=1)[:, None]
    rivals = most.copy()
    np.put_along_axis(rivals, winner, -np.inf, axis=1)
    secure = np.take_along_axis(least, winner, axis=1)
    loses = (rivals > secure) | ((rivals == secure) & (np.arange(rivals.shape[1]) < winner))
    unsure = loses.any(axis=1) & (n_tied > slots)[:, 0]
    return votes / votes.sum(axis=1, keepdims=True), unsure


def _distances(rule: Any, scaler: Any, rows: TrainingRows) -> Iterator[tuple[Ints, Floats]]:
    """Return the distances of some rows to all, shape (q, n), in chunks."""
    X, n = rows.features, len(rows.codes)
    power = _power(rule)
    if scaler is not None and power is None:
        # Metrics that are not made of differences need the points themselves.
        fitted = standardizing(rows, scaler)
        for members, center, scale in zip(rows.members, fitted.center, fitted.scale, strict=True):
            points = (X - center) / scale
            yield members, _pairwise(rule, points[members], points)
        return
    if scaler is None or power is None:
        step = max(1, CHUNK_ELEMENTS // n)
        for begin in range(0, n, step):
            yield np.arange(begin, min(begin + step, n)), _pairwise(rule, X[begin : begin + step], X)
        return
    units = 1 / standardizing(rows, scaler).scale[rows.block]
    if power == 2:
        yield from _standardized_euclidean(X, units)
        return
    step = max(1, CHUNK_ELEMENTS // (n * X.shape[1]))
    for begin in range(0, n, step):
        queries = np.arange(begin, min(begin + step, n))
        gaps = np.abs(X[queries, None] - X) * units[queries, None]
        yield queries, gaps.max(axis=2) if power == np.inf else (gaps**power).sum(axis=2) ** (1 / power)


def _standardized_euclidean(X: Floats, units: Floats) -> Iterator[tuple[Ints, Floats]]:
    """Return distances in each row's own units by matrix products; small ones lose digits and are computed anew."""
    centered = X - X.mean(axis=0)
    squares = centered**2
    step = max(1, CHUNK_ELEMENTS // len(X))
    for begin in range(0, len(X), step):
        queries = np.arange(begin, min(begin + step, len(X)))
        weights, at = units[queries] ** 2, centered[queries]
        lengths = (weights * squares[queries]).sum(axis=1, keepdims=True) + weights @ squares.T
        distance = lengths - 2 * (weights * at) @ centered.T
        near, other = np.nonzero(distance <= _CANCELS * lengths)
        distance[near, other] = (weights[near] * (X[queries[near]] - X[other]) ** 2).sum(axis=1)
        yield queries, np.sqrt(distance)


def _power(rule: Any) -> float | None:
    """Return p of a Minkowski metric, or None for others."""
    if rule.metric_params is not None:
        return None
    powers = {"euclidean": 2, "l2": 2, "manhattan": 1, "cityblock": 1, "l1": 1, "chebyshev": np.inf}
    return float(rule.p) if rule.metric == "minkowski" else powers.get(rule.metric)


def _pairwise(rule: Any, points: Floats, others: Floats) -> Floats:
    parameters = dict(rule.metric_params or {})
    power = _power(rule)
    if power is not None:
        # By differences, so that coinciding points are at distance 0.
        names: dict[float, Any] = {1.0: "cityblock", 2.0: "euclidean", np.inf: "chebyshev"}
        return cdist(points, others, names[power]) if power in names else cdist(points, others, "minkowski", p=power)
    if rule.metric == "minkowski":
        parameters.setdefault("p", rule.p)
    distances = np.asarray(pairwise_distances(points, others, metric=rule.metric, **parameters))
    if not np.isfinite(distances).all():
        # Such as the correlation of single features: the order is that in which the search of scikit-learn meets them.
        raise NoShortcutError(
            SettingWithoutShortcut("KNeighborsClassifier", "metric", f"{rule.metric!r} at these rows")
        )
    return distances
