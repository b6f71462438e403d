"""Leave-one-out of linear and quadratic discriminants: scatter matrices downdated by the row's own block."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

from bayes_gresub.data.arrays import Bools, Floats, Ints
from bayes_gresub.estimate.reasons import Reason
from bayes_gresub.resampling.shortcuts.left_out_labels import LeftOut, posterior_of
from bayes_gresub.resampling.shortcuts.naive_bayes import log_priors
from bayes_gresub.resampling.shortcuts.refitting import in_words, refit_blocks
from bayes_gresub.resampling.shortcuts.refusals import NoShortcutError, ScatterNearlySingular, SettingWithoutShortcut
from bayes_gresub.resampling.shortcuts.standardizing import standardizing
from bayes_gresub.resampling.shortcuts.training_rows import TrainingRows

_LEAST_LEFT = 1e-6
"""Share of a direction's scatter that must be left by a downdate for its digits to be trusted."""

_DROPPED = 1e-13
"""Ratio of eigenvalues below which a direction may be dropped by least squares, whose threshold is one in 2^52."""

_QUADRATIC = "downdated scatter of each class"

_REFITTED = "where the block is large or the scatter nearly singular"


def refuse_discriminant(rule: Any, scaler: Any) -> Reason | None:
    """Return why this discriminant rule has no shortcut."""
    name = type(rule).__name__
    for setting in ("shrinkage", "covariance_estimator"):
        if getattr(rule, setting, None) is not None:
            return SettingWithoutShortcut(name, setting, repr(getattr(rule, setting)))
    if isinstance(rule, LinearDiscriminantAnalysis) and rule.solver != "svd" and rule.priors is not None:
        # These solvers weight the scatter of each class by its prior.
        return SettingWithoutShortcut(name, "priors", f"... and solver={rule.solver!r}")
    return None


def leave_out_linear(rule: Any, scaler: Any, whole: Any, rows: TrainingRows) -> LeftOut:
    r"""Return the posteriors of a linear discriminant trained on the rows outside of each row's block B.

    .. math:: \delta_c(x) = -\frac{\nu}2 (x - \bar x_{c,-B})^T W_{-B}^{-1} (x - \bar x_{c,-B}) + \log \pi_{c,-B}

    with W the scatter within classes and nu its divisor. With residuals R (m, d) of the block's rows and
    A = I + 11'/(n_c - m_c) within each class, W downdates as

    .. math:: W_{-B} = W - R^T A R, \qquad
              v^T W_{-B}^{-1} v = v^T W^{-1} v + (R W^{-1} v)^T (A^{-1} - R W^{-1} R^T)^{-1} R W^{-1} v

    and :math:`A^{-1} = I - 11^T/n_c`. A StandardScaler in front changes nothing: the rule is affine equivariant. Blocks
    after which W is nearly singular are refitted, since the solver then drops directions by its own threshold.
    """
    means = _class_means(rows)
    deviations = rows.features - means[rows.codes]
    white = _whiten(deviations, np.abs(rows.features).max(axis=0))
    if rule.solver == "lsqr" and scaler is None and _least_squares_drops(deviations):
        white = None
    log_joint = np.zeros((len(rows.codes), rows.n_classes))
    safe = np.zeros(len(rows.codes), dtype=bool)
    if white is not None:
        residuals = deviations @ white.map
        centers = (means - means.mean(axis=0)) @ white.map
        points = residuals + centers[rows.codes]
        threshold = max(2 * rule.tol**2, _LEAST_LEFT * 1e-4)
        for part, members in rows.by_size(rows.n_classes * rows.features.shape[1]):
            if members.shape[1] > rows.features.shape[1]:
                continue
            weights = rows.membership[members].swapaxes(1, 2)
            shift = weights @ residuals[members] / rows.kept[rows.block[part]][:, :, None]
            gaps = points[part, None] - centers + shift
            squares, _, left = _downdated(residuals[members], rows.codes[members], rows.counts, gaps)
            log_joint[part], safe[part] = squares, (left > _LEAST_LEFT) & (left * white.least > threshold)
    divisor = rows.kept.sum(axis=1) - (rows.n_classes if rule.solver == "svd" and _svd_is_unbiased() else 0)
    log_joint *= -0.5 * divisor[rows.block][:, None]
    log_joint += log_priors(rule.priors, rows)[rows.block]
    return _finish(whole, rows, log_joint, safe, "downdated scatter within classes")


def leave_out_linear_by_projection(rule: Any, points: Floats, rows: TrainingRows) -> LeftOut:
    r"""Return the posteriors of a linear discriminant trained without each row's block, with no refits at all.

    As `leave_out_linear`, in the space where W has a spread, as the solver by singular values works. Where the block B
    holds all of the spread of some direction u, the pseudo-inverse of what is left drops that direction:

    .. math:: v^T W_{-B}^{+} v = v_p^T W^{-1} v_p, \qquad v_p = v - u u^T v, \qquad u \propto W^{-1} r

    It is approximate only there, since features stay divided by their deviation in all rows.
    """
    n, means = len(rows.codes), np.array([points[rows.codes == code].mean(axis=0) for code in range(rows.n_classes)])
    residuals = points - means[rows.codes]
    deviation = np.sqrt((residuals**2).mean(axis=0))
    spread = deviation > 64 * np.finfo(float).eps * np.abs(points).max(axis=0)
    values, vectors = np.linalg.eigh(_scatter(residuals[:, spread] / deviation[spread]) / n)
    kept = values > max(rule.tol**2, 1e-12 * len(values)) if len(values) else np.zeros(0, dtype=bool)
    lengths = np.sqrt(values[kept] * n)
    to_units = vectors[:, kept] / lengths / deviation[spread][:, None]
    white = residuals[:, spread] @ to_units
    centers = (means - means.mean(axis=0))[:, spread] @ to_units
    log_joint = np.zeros((n, rows.n_classes))
    n_dropped = 0
    for part, members in rows.by_size(rows.n_classes * max(1, white.shape[1])):
        weights = rows.membership[members].swapaxes(1, 2)
        shift = weights @ white[members] / rows.kept[rows.block[part]][:, :, None]
        gaps = (white[part] + centers[rows.codes[part]])[:, None] - centers + shift
        squares, _, left = _downdated(white[members], rows.codes[members], rows.counts, gaps)
        empty = left <= _LEAST_LEFT
        n_dropped += int(empty.sum())
        if members.shape[1] == 1:
            squares[empty] = _without_direction(white[part[empty]], gaps[empty], lengths)
        else:
            for row in np.flatnonzero(empty):
                squares[row] = _without_block(
                    white[members[row]], rows.codes[members[row]], rows.counts, gaps[row], lengths
                )
        log_joint[part] = squares
    divisor = rows.kept.sum(axis=1) - (rows.n_classes if rule.solver == "svd" and _svd_is_unbiased() else 0)
    log_joint *= -0.5 * divisor[rows.block][:, None]
    log_joint += log_priors(rule.priors, rows)[rows.block]
    method = "downdated scatter within classes, directions that only a block has dropped"
    return LeftOut(log_joint.argmax(axis=1), posterior_of(log_joint), True, n_dropped == 0, method, 0)


def leave_out_quadratic(rule: Any, scaler: Any, whole: Any, rows: TrainingRows) -> LeftOut:
    r"""Return the posteriors of a quadratic discriminant trained on the rows outside of each row's block B.

    .. math:: \delta_c(x) = -\frac12 \Big[\nu_c (x - \bar x_{c,-B})^T W_{c,-B}^{-1} (x - \bar x_{c,-B})
              + \log |W_{c,-B} / \nu_c|\Big] + \log \pi_{c,-B}

    The scatter of each class downdates as in `leave_out_linear`, and its determinant as

    .. math:: |W_{-B}| = |W|\, |A|\, |A^{-1} - R W^{-1} R^T|

    Blocks after which an eigenvalue may fall below the rule's tolerance, and all if `reg_param` is used, are refitted.
    """
    log_joint, safe = _quadratic_scores(rule, scaler, rows)
    return _finish(whole, rows, log_joint, safe, _QUADRATIC)


def leave_out_quadratic_without_refits(rule: Any, points: Floats, rows: TrainingRows) -> LeftOut:
    """Return the posteriors by `leave_out_quadratic`, or raise if a block would have to be refitted."""
    name = type(rule).__name__
    if rule.reg_param:
        raise NoShortcutError(SettingWithoutShortcut(name, "reg_param", repr(rule.reg_param)))
    log_joint, safe = _quadratic_scores(rule, None, replace(rows, features=points))
    if not safe.all():
        raise NoShortcutError(ScatterNearlySingular(name))
    return LeftOut(log_joint.argmax(axis=1), posterior_of(log_joint), True, True, _QUADRATIC)


def _quadratic_scores(rule: Any, scaler: Any, rows: TrainingRows) -> tuple[Floats, Bools]:
    """Return the logarithms of joint densities of a quadratic discriminant, and at which rows they can be trusted."""
    X, n, d = rows.features, len(rows.codes), rows.features.shape[1]
    log_joint = np.zeros((n, rows.n_classes))
    safe = np.full(n, rule.reg_param == 0)
    means = _class_means(rows)
    unbiased = rule.solver == "svd" and _quadratic_is_unbiased() if hasattr(rule, "solver") else True
    scales = standardizing(rows, scaler).scale
    units = scales.mean(axis=0)
    widest = (scales / units).max(axis=1) ** 2
    for code in range(rows.n_classes) if safe.any() else ():
        of_class = rows.codes == code
        white = _whiten(X[of_class] - means[code], np.abs(X[of_class]).max(axis=0))
        if white is None:
            safe[:] = False
            break
        points = (X - means[code]) @ white.map
        n_left = rows.kept[:, code]
        divisor = n_left - unbiased
        log_determinant = np.full(n, white.log_determinant)
        squares = (points**2).sum(axis=1)
        share = np.ones(n)
        for part, members in rows.by_size(d, code):
            if members.shape[1] > d:
                share[part] = 0.0
                continue
            shift = points[members].sum(axis=1) / n_left[rows.block[part]][:, None]
            gaps = (points[part] + shift)[:, None]
            downdated, change, left = _downdated(points[members], rows.codes[members], rows.counts, gaps)
            squares[part], share[part] = downdated[:, 0], left
            log_determinant[part] += change
        nu = np.maximum(divisor, 1)[rows.block]
        log_joint[:, code] = -0.5 * (nu * squares + log_determinant - d * np.log(nu))
        # The threshold is absolute, in the units that the rule sees.
        smallest = float(np.linalg.eigvalsh(_scatter((X[of_class] - means[code]) / units))[0])
        least = share * smallest / (nu * widest[rows.block])
        safe &= (share > _LEAST_LEFT) & (least > 2 * rule.tol) & (n_left[rows.block] > d)
    log_joint += log_priors(rule.priors, rows)[rows.block]
    return log_joint, safe


def _finish(whole: Any, rows: TrainingRows, log_joint: Floats, safe: Bools, method: str) -> LeftOut:
    log_joint[~safe] = 0.0
    codes, scores = log_joint.argmax(axis=1), posterior_of(log_joint)
    n_fits = refit_blocks(whole, rows, np.unique(rows.block[~safe]), codes, scores)
    return LeftOut(codes, scores, True, True, method + in_words(n_fits, rows, _REFITTED), n_fits)


def _downdated(removed: Floats, classes: Ints, counts: Ints, gaps: Floats) -> tuple[Floats, Floats, Floats]:
    """Return squared lengths of gaps (q, k, d) after removing rows (q, m, d) from a scatter that is the identity.

    Also the change of its log-determinant, and a lower bound on the share of every direction's scatter that is left.
    """
    same = classes[:, :, None] == classes[:, None, :]
    n_class = counts[classes][:, :, None]
    n_left = n_class - same.sum(axis=2, keepdims=True)
    identity = np.eye(classes.shape[1])
    products = removed @ removed.swapaxes(1, 2)
    inverse = identity - same / n_class
    core = inverse - products
    left = 1 - np.einsum("qij,qji->q", identity + same / n_left, products)
    # Where nothing is left the result is not used.
    core[left <= _LEAST_LEFT] = identity
    along = gaps @ removed.swapaxes(1, 2)
    more = (along * np.linalg.solve(core, along.swapaxes(1, 2)).swapaxes(1, 2)).sum(axis=2)
    change = np.linalg.slogdet(core)[1] - np.linalg.slogdet(inverse)[1]
    return (gaps**2).sum(axis=2) + more, change, left


def _without_direction(removed: Floats, gaps: Floats, lengths: Floats) -> Floats:
    """Return squared lengths of gaps (q, k, d) after removing one row each (q, d) that holds all of a direction.

    The direction is that of u = L^-1 r before whitening by L, the lengths; what is left of a gap is orthogonal to it.
    """
    direction = removed / lengths
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    along = np.einsum("qkd,qd->qk", gaps * lengths, direction)
    return np.asarray(((gaps - along[:, :, None] * (direction / lengths)[:, None]) ** 2).sum(axis=2))


def _without_block(removed: Floats, classes: Ints, counts: Ints, gaps: Floats, lengths: Floats) -> Floats:
    """Return squared lengths of gaps (k, d) after removing rows (m, d) that may hold all of some directions."""
    same = classes[:, None] == classes
    factor = np.eye(len(classes)) + same / (counts[classes] - same.sum(axis=1))
    scatter = (np.eye(removed.shape[1]) - removed.T @ factor @ removed) * np.outer(lengths, lengths)
    inverse = np.linalg.pinv(scatter, rcond=_LEAST_LEFT, hermitian=True)
    return np.asarray((((gaps * lengths) @ inverse) * (gaps * lengths)).sum(axis=1))


class _Whitening:
    """The map after which a scatter matrix is the identity.

    Attributes
    ----------
    map : ndarray of shape (d, d)
    log_determinant : float
        Of the scatter.
    least : float
        The least eigenvalue of the scatter of features divided by their deviation, divided by the rows.
    """

    def __init__(self, residuals: Floats) -> None:
        n = len(residuals)
        deviation = np.sqrt((residuals**2).mean(axis=0))
        standardized = residuals / deviation
        values, vectors = np.linalg.eigh(_scatter(standardized) / n)
        self.least = float(values[0])
        self.map = vectors / np.sqrt(np.maximum(values, np.finfo(float).tiny) * n) / deviation[:, None]
        self.log_determinant = float(np.log(np.maximum(values, np.finfo(float).tiny) * n * deviation**2).sum())


def _whiten(residuals: Floats, largest: Floats) -> _Whitening | None:
    """Return the whitening of a scatter, or None if it is nearly singular; features are of the given size."""
    n, d = residuals.shape
    # A feature that is constant but for rounding has no spread.
    if n <= d or (np.abs(residuals).max(axis=0) <= 64 * np.finfo(float).eps * largest).any():
        return None
    white = _Whitening(residuals)
    return white if white.least > 1e-12 * d else None


def _least_squares_drops(residuals: Floats) -> bool:
    """Return whether a solver by least squares may drop directions: features differ in size by many digits."""
    values = np.linalg.eigvalsh(_scatter(residuals))
    return bool(values[0] <= _DROPPED * values[-1])


def _scatter(residuals: Floats) -> Floats:
    return residuals.T @ residuals


def _class_means(rows: TrainingRows) -> Floats:
    return np.array([rows.features[rows.codes == code].mean(axis=0) for code in range(rows.n_classes)])


@lru_cache(maxsize=1)
def _svd_is_unbiased() -> bool:
    """Return whether this scikit-learn divides the scatter within classes by n - c; newer ones divide by n."""
    slope = LinearDiscriminantAnalysis().fit([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1]).coef_[0, 0]
    return bool(slope < 7.5)


@lru_cache(maxsize=1)
def _quadratic_is_unbiased() -> bool:
    """Return whether this scikit-learn divides the scatter of a class by its points less one."""
    rule = QuadraticDiscriminantAnalysis().fit([[0.0], [2.0], [10.0], [12.0]], [0, 0, 1, 1])
    return bool(rule.scalings_[0][0] > 1.5)
