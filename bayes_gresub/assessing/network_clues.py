"""Clues of a neural network: leave-one-out of its linear approximation at the weights it was trained to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.special import expit, softmax
from sklearn.neural_network import MLPClassifier

from bayes_gresub.assessing.last_step import last_step, seen_by_last_step
from bayes_gresub.data.arrays import Floats, Ints

LEAST_PENALTY = 0.01
"""Networks that are penalised less stop before they reach their optimum, so they count as penalised by this."""

MOST_OUTPUTS = 3000
"""Rows times outputs; the time grows with their third power."""


def tangent_posteriors(classifier: Any, X: Any, codes: Ints, groups: Ints, n_classes: int) -> Floats | None:
    r"""Return probabilities (n, c) of each row by the network without it; None unless it is an `MLPClassifier`.

    None, too, if rows are in groups, since the formula leaves out single rows, and if there are too many.

    With outputs f, weights w and penalty a, the network is replaced by :math:`f(w) + J (v - w)`, which is a generalized
    linear model with kernel :math:`K = J J^T / a`. With slopes r = p - t and curvatures D of the loss, one Newton step
    without row i gives

    .. math:: f_{-i}(X_i) \approx f_i + (I - Q_{ii} D_i)^{-1} Q_{ii} r_i, \qquad Q = K (I + D K)^{-1}

    It is what a network would predict that starts from these weights and is trained without the row; one that starts
    anew differs.

    References
    ----------
    Jacot, Gabriel & Hongler, Neural tangent kernel, NeurIPS 31 (2018).
    """
    network = last_step(classifier)
    if not isinstance(network, MLPClassifier) or not hasattr(network, "coefs_"):
        return None
    n = len(codes)
    if n * network.n_outputs_ > MOST_OUTPUTS or len(network.classes_) != n_classes or len(np.unique(groups)) < n:
        return None
    seen = seen_by_last_step(classifier, X)
    is_sparse = issparse(seen)
    points = np.asarray(seen.toarray() if is_sparse else seen, dtype=np.float64)
    outputs, kernel = outputs_and_kernel(network, points)
    kernel /= max(float(network.alpha), LEAST_PENALTY)
    if outputs.shape[1] == 1:
        p = expit(outputs)
        left = expit(outputs + _steps(kernel, p - (codes == 1)[:, None], np.sqrt(p * (1 - p))[:, :, None]))
        return np.hstack([1.0 - left, left])
    p = softmax(outputs, axis=1)
    # diag(p) - p p^T = R R^T
    roots = np.sqrt(p)[:, None, :] * (np.eye(n_classes) - p[:, :, None])
    return np.asarray(softmax(outputs + _steps(kernel, p - np.eye(n_classes)[codes], roots), axis=1))


def outputs_and_kernel(network: Any, points: Floats) -> tuple[Floats, Floats]:
    r"""Return the outputs f (n, k) before the last activation, and :math:`J J^T` (n k, n k) over all weights.

    Over the layers l with inputs a and back-propagated derivatives b,

    .. math:: J J^T = \sum_l (b_l b_l^T) \circ (a_l a_l^T + 1)
    """
    inputs, last = [points], len(network.coefs_) - 1
    for layer, (weights, offsets) in enumerate(zip(network.coefs_, network.intercepts_, strict=True)):
        values = inputs[-1] @ weights + offsets
        inputs.append(values if layer == last else _ACTIVATIONS[network.activation][0](values))
    outputs = inputs.pop()
    n, k = outputs.shape
    kernel = np.zeros((n, k, n, k))
    back = np.broadcast_to(np.eye(k), (n, k, k))
    for layer in range(last, -1, -1):
        flat = back.reshape(n * k, -1)
        about = inputs[layer] @ inputs[layer].T + 1.0
        kernel += (flat @ flat.T).reshape(n, k, n, k) * about[:, None, :, None]
        if layer:
            slope = _ACTIVATIONS[network.activation][1](inputs[layer])
            back = (back @ network.coefs_[layer].T) * slope[:, None, :]
    return outputs, kernel.reshape(n * k, n * k)


def _steps(kernel: Floats, slopes: Floats, roots: Floats) -> Floats:
    """Return the Newton step of each row's outputs (n, k), with roots R of the curvatures, (n, k, k)."""
    n, k = slopes.shape
    wide = np.einsum("xjb,jbc->xjc", kernel.reshape(n * k, n, k), roots).reshape(n * k, n * k)
    inner = np.einsum("jbc,jby->jcy", roots, wide.reshape(n, k, n * k)).reshape(n * k, n * k)
    inner[np.diag_indices(n * k)] += 1.0
    explained = np.linalg.solve(inner, wide.T).reshape(n * k, n, k)
    own = np.einsum("iaib->iab", kernel.reshape(n, k, n, k))
    own = own - np.einsum("iax,xib->iab", wide.reshape(n, k, n * k), explained)
    core = np.eye(k) - own @ roots @ roots.transpose(0, 2, 1)
    # A row that determines its own outputs makes the matrix singular.
    core += 1e-9 * np.eye(k)
    return np.asarray(np.linalg.solve(core, own @ slopes[:, :, None])[:, :, 0])


_ACTIVATIONS: dict[str, tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]] = {
    "relu": (lambda z: np.maximum(z, 0.0), lambda a: (a > 0).astype(float)),
    "tanh": (np.tanh, lambda a: 1.0 - a**2),
    "logistic": (expit, lambda a: a * (1.0 - a)),
    "identity": (lambda z: z, np.ones_like),
}
"""Activations, and their derivatives as functions of their values."""
