"""Leave-one-out of ridge classifiers: residuals of the block from the hat matrix."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from bayes_gresub.data.arrays import Floats
from bayes_gresub.estimate.reasons import Reason
from bayes_gresub.resampling.shortcuts.left_out_labels import LeftOut, decide
from bayes_gresub.resampling.shortcuts.refusals import CurvatureSingular, NoShortcutError, SettingWithoutShortcut
from bayes_gresub.resampling.shortcuts.standardizing import standardizing
from bayes_gresub.resampling.shortcuts.training_rows import CHUNK_ELEMENTS, TrainingRows


def refuse_ridge(rule: Any, scaler: Any) -> Reason | None:
    """Return why this ridge rule has no shortcut."""
    if rule.positive:
        return SettingWithoutShortcut("RidgeClassifier", "positive", "True")
    if rule.solver not in ("auto", "svd", "cholesky"):
        return SettingWithoutShortcut("RidgeClassifier", "solver", repr(rule.solver))
    if not isinstance(rule.alpha, Real) or rule.alpha == 0:
        # Without a penalty the system may be singular but for rounding.
        return SettingWithoutShortcut("RidgeClassifier", "alpha", repr(rule.alpha))
    if scaler is not None and not rule.fit_intercept:
        return SettingWithoutShortcut("RidgeClassifier behind a scaler", "fit_intercept", "False")
    return None


def leave_out_ridge(rule: Any, scaler: Any, whole: Any, rows: TrainingRows) -> LeftOut:
    r"""Return the decision values of ridge regression on -1 and 1 at the rows outside of each row's block B.

    .. math:: t_B - f_{-B} = (I - H_{BB})^{-1} (t_B - f_B), \qquad
              H = X (X^T V X + \alpha J)^{-1} X^T V

    where X has a column of ones for the intercept, J is the identity without it, and V are the class weights as they
    are without B; there is one H for every way in which a block changes them. Behind a scaler the penalty
    :math:`\alpha \sum_j u_{j,-B}^2 \beta_j^2` in the units u without B differs from block to block, so each has a
    linear system of its own.
    """
    targets = 2 * rows.membership - 1
    if rows.n_classes == 2:
        targets = targets[:, 1:]
    try:
        decision = _by_hat_matrix(rule, rows, targets) if scaler is None else _by_systems(rule, scaler, rows, targets)
    except np.linalg.LinAlgError as error:
        raise NoShortcutError(CurvatureSingular()) from error
    codes, scores = decide(decision)
    method = "residuals from the hat matrix" if scaler is None else "one linear system a block"
    return LeftOut(codes, scores, False, True, method)


def _by_hat_matrix(rule: Any, rows: TrainingRows, targets: Floats) -> Floats:
    X = rows.features - rows.features.mean(axis=0) if rule.fit_intercept else rows.features
    if X.shape[1] > len(X):
        # The penalty does not change with a rotation onto the space that the rows span.
        left, values, _ = np.linalg.svd(X, full_matrices=False)
        X = left * values
    design = np.hstack([X, np.ones((len(X), 1))]) if rule.fit_intercept else X
    penalty = np.full(design.shape[1], float(rule.alpha))
    if rule.fit_intercept:
        penalty[-1] = 0.0
    decision = np.empty_like(targets)
    weightings, which = np.unique(rows.class_weights(rule.class_weight), axis=0, return_inverse=True)
    chunks = list(rows.by_size(design.shape[1]))
    for number, class_weights in enumerate(weightings):
        weights = class_weights[rows.codes][:, None]
        normal = design.T @ (weights * design) + np.diag(penalty)
        solved = np.linalg.solve(normal, design.T)
        residuals = targets - design @ (solved @ (weights * targets))
        for queries, block_members in chunks:
            chosen = which.ravel()[rows.block[queries]] == number
            part, members = queries[chosen], block_members[chosen]
            leverage = design[members] @ solved.T[members].swapaxes(1, 2)
            core = np.eye(members.shape[1]) - leverage * weights[members][:, :, 0][:, None, :]
            own = (members == part[:, None]).argmax(axis=1)
            left_out = np.linalg.solve(core, residuals[members])[np.arange(len(part)), own]
            decision[part] = targets[part] - left_out
    return decision


def _by_systems(rule: Any, scaler: Any, rows: TrainingRows, targets: Floats) -> Floats:
    units = rows.features.std(axis=0)
    units[units == 0] = 1.0
    X = (rows.features - rows.features.mean(axis=0)) / units
    penalties = rule.alpha * (standardizing(rows, scaler).scale / units) ** 2
    class_weights = rows.class_weights(rule.class_weight)
    if X.shape[1] >= len(X):
        return _by_dual_systems(X, rows, targets, penalties, class_weights)
    design = np.hstack([X, np.ones((len(X), 1))])
    p = design.shape[1]
    # One normal matrix for each class, so that a block's class weights can be put on them.
    of_class = [design[rows.codes == code] for code in range(rows.n_classes)]
    normals = np.array([part.T @ part for part in of_class]).reshape(rows.n_classes, -1)
    moments = np.array([design[rows.codes == code].T @ targets[rows.codes == code] for code in range(rows.n_classes)])
    decision = np.empty_like(targets)
    step = max(1, CHUNK_ELEMENTS // p**2)
    for begin in range(0, len(rows.sizes), step):
        blocks = np.arange(begin, min(begin + step, len(rows.sizes)))
        systems = (class_weights[blocks] @ normals).reshape(-1, p, p)
        sides = np.einsum("gc,cpk->gpk", class_weights[blocks], moments)
        for place, block in enumerate(blocks):
            members = rows.members[block]
            weighted = design[members].T * class_weights[block, rows.codes[members]]
            systems[place] -= weighted @ design[members]
            sides[place] -= weighted @ targets[members]
        diagonal = np.arange(p - 1)
        systems[:, diagonal, diagonal] += penalties[blocks]
        coefficients = np.linalg.solve(systems, sides)
        for place, block in enumerate(blocks):
            members = rows.members[block]
            decision[members] = design[members] @ coefficients[place]
    return decision


def _by_dual_systems(
    X: Floats, rows: TrainingRows, targets: Floats, penalties: Floats, class_weights: Floats
) -> Floats:
    """Return the same from systems of the size of the rows, for more features than rows."""
    decision = np.empty_like(targets)
    for block, members in enumerate(rows.members):
        rest = rows.outside(block)
        products = (X / penalties[block]) @ X[rest].T
        system = np.ones((len(rest) + 1, len(rest) + 1))
        system[:-1, :-1] = products[rest] + np.diag(1 / class_weights[block, rows.codes[rest]])
        system[-1, -1] = 0.0
        side = np.vstack([targets[rest], np.zeros((1, targets.shape[1]))])
        solution = np.linalg.solve(system, side)
        decision[members] = products[members] @ solution[:-1] + solution[-1]
    return decision
