"""Approximate leave-one-out of support vector machines by the span of their support vectors."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.resampling.shortcuts.left_out_labels import LeftOut, decide
from bayes_gresub.resampling.shortcuts.pair_votes import vote
from bayes_gresub.resampling.shortcuts.refusals import NoShortcutError, TooManyRows, TrainedOnOtherPoints
from bayes_gresub.resampling.shortcuts.support_vectors import kernel_matrix
from bayes_gresub.resampling.shortcuts.training_rows import TrainingRows, as_dense

_JITTER = 1e-9
"""Added to the diagonal, relative to its mean: repeated rows make the kernel singular."""

_AT_BOUND = 1e-6

_SAME = 1e-5
"""Relative difference of rows up to which they are the same: a scaler may have worked in single precision."""

_MOST_ROWS = 10_000
"""Rows whose kernel is held at once, 800 MB."""


def leave_out_by_span(machine: Any, points: Floats, rows: TrainingRows) -> LeftOut:
    r"""Return decision values without each row's block from a trained machine, by the span rule.

    For every pair of classes, with coefficients a_i (of sign t_i) and the free support vectors V, those whose
    coefficient is not at its bound,

    .. math:: f_{-i}(x_i) \approx f(x_i) - a_i S_i^2, \qquad
              S_i^2 = K_{ii} - k_i^T \begin{pmatrix} K_{VV} & 1 \\ 1^T & 0 \end{pmatrix}_{V \setminus i}^{-1} k_i,
              \quad k_i = (K_{Vi}, 1)

    which is 1 / (M^-1)_ii of the bordered matrix M if i is in V itself. It is exact if no other coefficient reaches or
    leaves a bound. Rows of one block are removed together, by the matrix of the same form. Scaler, kernel and class
    weights are those of the whole sample.

    References
    ----------
    Chapelle & Vapnik, Model selection for support vector machines, NIPS 12 (1999).
    Opper & Winther, Gaussian processes and SVM: mean field and leave-one-out (2000).
    """
    if not _is_of(machine, points, rows):
        raise NoShortcutError(TrainedOnOtherPoints("SVC"))
    if len(points) > _MOST_ROWS:
        raise NoShortcutError(TooManyRows("SVC", _MOST_ROWS, len(points)))
    d = points.shape[1]
    gamma = machine.gamma
    if isinstance(gamma, str):
        spread = points.var() if gamma == "scale" else 1.0
        gamma = 1 / (d * spread) if spread > 0 else 1.0
    kernel = kernel_matrix(machine, float(gamma), points, points)
    bounds = machine.C * machine.class_weight_[rows.codes]
    values = []
    for number, (a, b) in enumerate(combinations(range(rows.n_classes), 2)):
        coefficients, intercept = _pair(machine, rows, number, a, b)
        whole = kernel @ coefficients + intercept
        values.append(whole - _loss_of_block(kernel, coefficients, bounds, rows))
    pairs = np.array(values).T
    codes, scores = decide(-pairs) if rows.n_classes == 2 else vote(pairs, rows.n_classes, machine.break_ties)
    return LeftOut(codes, scores, False, False, "span of the support vectors")


def _is_of(machine: Any, points: Floats, rows: TrainingRows) -> bool:
    """Return whether the support vectors are these rows."""
    support = machine.support_
    if machine.shape_fit_ != points.shape:
        return False
    tolerance = _SAME * np.abs(points).max()
    same_points = np.allclose(as_dense(machine.support_vectors_), points[support], rtol=_SAME, atol=tolerance)
    return same_points and np.array_equal(rows.codes[support], np.repeat(np.arange(rows.n_classes), machine.n_support_))


def _pair(machine: Any, rows: TrainingRows, number: int, a: int, b: int) -> tuple[Floats, float]:
    """Return the coefficient of every row in a pair's decision, positive for the first class, and the intercept."""
    coefficients = np.zeros(len(rows.codes))
    support = machine.support_
    codes = rows.codes[support]
    dual, intercept = as_dense(machine.dual_coef_), float(machine.intercept_[number])
    if rows.n_classes == 2:
        # For two classes scikit-learn turns the signs round.
        coefficients[support] = -dual[0]
        return coefficients, -intercept
    coefficients[support[codes == a]] = dual[b - 1, codes == a]
    coefficients[support[codes == b]] = dual[a, codes == b]
    return coefficients, intercept


def _loss_of_block(kernel: Floats, coefficients: Floats, bounds: Floats, rows: TrainingRows) -> Floats:
    """Return how much of each row's decision value its own block is responsible for."""
    support = np.flatnonzero(coefficients)
    free = support[np.abs(coefficients[support]) < bounds[support] * (1 - _AT_BOUND)]
    loss = np.zeros(len(coefficients))
    alone = support[rows.sizes[rows.block[support]] == 1]
    inverse = np.zeros((0, 0)) if not len(free) else np.asarray(np.linalg.inv(_bordered(kernel, free)), dtype=float)
    place = np.full(len(coefficients), -1)
    place[free] = np.arange(len(free))
    inside = alone[place[alone] >= 0]
    loss[inside] = coefficients[inside] / np.diag(inverse)[place[inside]]
    at_bound = alone[place[alone] < 0]
    loss[at_bound] = coefficients[at_bound] * np.maximum(_spans(kernel, at_bound, free, inverse), 0.0)
    for block in np.unique(rows.block[support[rows.sizes[rows.block[support]] > 1]]):
        members = rows.members[block]
        removed = members[coefficients[members] != 0]
        others = free[rows.block[free] != block]
        loss[members] = _explained(kernel, members, removed, others) @ coefficients[removed]
    return loss


def _spans(kernel: Floats, at: Ints, free: Ints, inverse: Floats) -> Floats:
    """Return what the free support vectors do not explain of the kernel at some rows."""
    if not len(free):
        return kernel[at, at]
    joint = np.hstack([kernel[np.ix_(at, free)], np.ones((len(at), 1))])
    return np.asarray(kernel[at, at] - ((joint @ inverse) * joint).sum(axis=1))


def _explained(kernel: Floats, members: Ints, removed: Ints, free: Ints) -> Floats:
    """Return the kernel of members and removed rows less what the free support vectors explain of it."""
    between = kernel[np.ix_(members, removed)]
    if not len(free):
        return between
    left, right = (np.hstack([kernel[np.ix_(part, free)], np.ones((len(part), 1))]) for part in (members, removed))
    return np.asarray(between - left @ np.linalg.solve(_bordered(kernel, free), right.T))


def _bordered(kernel: Floats, free: Ints) -> Floats:
    m = len(free)
    matrix = np.ones((m + 1, m + 1))
    matrix[:m, :m] = kernel[np.ix_(free, free)]
    matrix[np.arange(m), np.arange(m)] += _JITTER * abs(np.diag(matrix)[:m].mean())
    matrix[m, m] = 0.0
    return matrix
