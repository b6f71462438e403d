"""Predictors of a penalized linear fit without each block, by one Newton step from the fit to all rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.resampling.shortcuts.refusals import CurvatureSingular, NoShortcutError
from bayes_gresub.resampling.shortcuts.training_rows import TrainingRows


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A fit that minimizes a weighted sum of losses of linear predictors and a quadratic penalty.

    Attributes
    ----------
    design : ndarray of shape (n, p)
        Features and, if there is an intercept, its column.
    penalty : ndarray of shape (p,)
        Twice the factor on the square of each coefficient.
    coefficients : ndarray of shape (k, p)
    slopes : ndarray of shape (n, k)
        Derivatives of the loss of each row with respect to its predictors.
    curvatures : ndarray of shape (n, k, k)
        Second derivatives.
    """

    design: Floats
    penalty: Floats
    coefficients: Floats
    slopes: Floats
    curvatures: Floats

    @property
    def predictors(self) -> Floats:
        """Return the predictors of the rows, shape (n, k)."""
        return self.design @ self.coefficients.T


def design_of(points: Floats, coefficients: Floats, intercept: Floats | None, scaling: float | None) -> LinearFit:
    """Return a fit without losses: its design, rotated to at most n features, its penalty of 1 and its coefficients.

    `scaling` is the value of the intercept's column if the intercept is penalized, as liblinear does; else None.
    """
    k, center = len(coefficients), np.zeros(points.shape[1])
    if intercept is not None and scaling is None:
        center = points.mean(axis=0)
        intercept = intercept + coefficients @ center
        points = points - center
    if points.shape[1] > len(points):
        # The penalty does not change with a rotation onto the space that the rows span.
        left, values, right = np.linalg.svd(points, full_matrices=False)
        points, coefficients = left * values, coefficients @ right.T
    penalty = np.ones(points.shape[1])
    if intercept is not None:
        column = 1.0 if scaling is None else scaling
        points = np.hstack([points, np.full((len(points), 1), column)])
        coefficients = np.hstack([coefficients, intercept[:, None] / column])
        penalty = np.append(penalty, 0.0 if scaling is None else 1.0)
    n = len(points)
    return LinearFit(points, penalty, coefficients, np.zeros((n, k)), np.zeros((n, k, k)))


def predictors_without(fit: LinearFit, rows: TrainingRows, weightings: Floats, which: Ints) -> Floats:
    r"""Return the predictors of each row after one Newton step on the rows outside of its block B, shape (n, k).

    With V the weights of the rows as they are without B, gradient g and Hessian H of all rows under V at the fit to
    all rows, slopes r and curvatures D of the losses in B, times V, and :math:`Q = X_B H^{-1} X_B^T`,

    .. math:: \eta_{-B} = \eta_B + (I - Q D)^{-1} (Q r - X_B H^{-1} g)

    which for one row, two classes and unchanged weights is :math:`\eta_i + (p_i - t_i) h_i / (1 - w_i h_i)`.

    Parameters
    ----------
    fit : LinearFit
    rows : TrainingRows
    weightings : ndarray of shape (u, n)
        The different weights of the rows, with the factor on the loss.
    which : ndarray of shape (g,)
        Which of them a block has.
    """
    design, (n, k) = fit.design, fit.slopes.shape
    p = design.shape[1]
    predictors = fit.predictors
    result = np.empty((n, k))
    chunks = list(rows.by_size(k * k * p))
    for number, weights in enumerate(weightings):
        if not (which == number).any():
            continue
        slopes, curvatures = weights[:, None] * fit.slopes, weights[:, None, None] * fit.curvatures
        inverse = _inverse(_hessian(fit, curvatures)).reshape(k, p, k, p)
        gradient = fit.coefficients * fit.penalty + slopes.T @ design
        move = np.einsum("apbq,bq->ap", inverse, gradient)
        for queries, block_members in chunks:
            chosen = which[rows.block[queries]] == number
            part, members = queries[chosen], block_members[chosen]
            if not len(part):
                continue
            m = members.shape[1]
            half = np.einsum("qmp,apbs->qmabs", design[members], inverse, optimize=True)
            products = np.einsum("qmabs,qls->qmalb", half, design[members], optimize=True)
            side = np.einsum("qmalb,qlb->qma", products, slopes[members]) - design[members] @ move.T
            core = np.eye(m * k) - np.einsum("qmalb,qlbe->qmale", products, curvatures[members]).reshape(
                -1, m * k, m * k
            )
            change = np.linalg.solve(core, side.reshape(-1, m * k, 1)).reshape(-1, m, k)
            own = (members == part[:, None]).argmax(axis=1)
            result[part] = predictors[part] + change[np.arange(len(part)), own]
    return result


def _hessian(fit: LinearFit, curvatures: Floats) -> Floats:
    k, p = fit.coefficients.shape
    hessian = np.empty((k, p, k, p))
    for a in range(k):
        for b in range(a, k):
            part = fit.design.T @ (curvatures[:, a, b, None] * fit.design)
            if a == b:
                part += np.diag(fit.penalty)
            hessian[a, :, b], hessian[b, :, a] = part, part.T
    if k > 1:
        # A shift of all predictors changes no probability; without a penalty nothing else fixes it, and no gradient
        # has a part in that direction.
        free = np.flatnonzero(fit.penalty == 0)
        for coordinate in free:
            hessian[:, coordinate, :, coordinate] += 1.0
    return hessian.reshape(k * p, k * p)


def _inverse(hessian: Floats) -> Floats:
    try:
        factor = np.linalg.cholesky(hessian)
    except np.linalg.LinAlgError as error:
        raise NoShortcutError(CurvatureSingular()) from error
    inverse = np.linalg.inv(factor)
    return np.asarray(inverse.T @ inverse)
