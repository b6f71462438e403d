"""Clues from reference rules whose leave-one-out errors have a closed form: ridge and kernel ridge regression."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from bayes_gresub.data.arrays import Floats, Ints

RIDGE = 0.02
"""Penalty of the linear reference, as a share of the mean squared length of a point."""

KERNEL_RIDGE = 0.1
"""Penalty of the nonlinear reference, as a share of the kernel's height."""


def reference_clues(
    points: Floats, codes: Ints, groups: Ints, predicted: Ints, weights: Floats, n_classes: int
) -> dict[str, float]:
    r"""Return leave-one-out errors of two reference rules, and how often the classifier differs from them.

    With :math:`G = (K + \lambda I)^{-1}` and targets T, one column per class, the fit without the rows of group B has
    the residuals

    .. math:: T_B - \hat f_{-B}(X_B) = (G_{BB})^{-1} (G T)_B

    The linear reference has the kernel 1 + x'x, the other a Gaussian one as wide as the median distance.
    """
    targets = np.eye(n_classes)[codes]
    products = points @ points.T
    linear = 1.0 + products
    # Squared distances from the products that are there already.
    squares = np.diag(products)
    distances = np.maximum(squares[:, None] + squares - 2.0 * products, 0.0)
    middle = np.median(distances[distances > 0]) if (distances > 0).any() else 1.0
    gaussian = 1.0 + np.exp(-distances / middle)
    result = {}
    for name, kernel, penalty in (
        ("linear", linear, RIDGE * max(float(np.trace(products)), 1e-12)),
        ("smooth", gaussian, KERNEL_RIDGE),
    ):
        scores = left_out_scores(kernel, targets, groups, penalty)
        chosen = scores.argmax(axis=1)
        result[f"{name}_error"] = float(weights @ (chosen != codes))
        result[f"{name}_apart"] = float(weights @ (chosen != predicted))
        if name == "smooth":
            shares = np.clip(scores, 0.0, None)
            shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1e-12)
            result["smooth_posterior"] = float(weights @ (1.0 - shares[np.arange(len(codes)), predicted]))
    return result


def left_out_scores(kernel: Floats, targets: Floats, groups: Ints, penalty: float) -> Floats:
    """Return the fit of a kernel ridge regression at each row (n, c), trained without the rows of its group."""
    n = len(kernel)
    matrix = kernel.copy()
    matrix[np.diag_indices(n)] += penalty
    inverse = _inverse(matrix)
    weights = inverse @ targets
    scores = targets - weights / np.diag(inverse)[:, None]
    _, group, counts = np.unique(groups, return_inverse=True, return_counts=True)
    for number in np.flatnonzero(counts > 1):
        rows = np.flatnonzero(group == number)
        scores[rows] = targets[rows] - np.linalg.solve(inverse[np.ix_(rows, rows)], weights[rows])
    return np.asarray(scores)


def _inverse(matrix: Floats) -> Floats:
    """Return the inverse of a positive definite matrix by its Cholesky factor."""
    factor, failed = lapack.dpotrf(matrix, lower=True)
    if failed:
        return np.asarray(np.linalg.pinv(matrix, hermitian=True), dtype=float)
    inverse, _ = lapack.dpotri(factor, lower=True)
    return np.asarray(np.tril(inverse) + np.tril(inverse, -1).T)
