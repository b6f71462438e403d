"""Approximate leave-one-out of Gaussian processes by cavities: the fit to all rows without the sites of a block."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from bayes_gresub.data.arrays import Floats
from bayes_gresub.estimate.reasons import Reason
from bayes_gresub.posteriors.gp.sites import LabelSites
from bayes_gresub.resampling.shortcuts.left_out_labels import LeftOut
from bayes_gresub.resampling.shortcuts.refusals import NoShortcutError, TrainedOnOtherPoints
from bayes_gresub.resampling.shortcuts.training_rows import TrainingRows


def refuse_gaussian_process(rule: Any, scaler: Any) -> Reason | None:
    """Return None: every approximation of the Gaussian process has sites."""
    return None


def leave_out_gaussian_process(process: Any, points: Floats, rows: TrainingRows) -> LeftOut:
    r"""Return the probabilities of a Gaussian process without each row's block B, from a trained one.

    In the fit to all rows the latents have means m and covariances V. The label of each row contributes its site, the
    (expected) log-likelihood to second order, with slope g and curvature :math:`\Lambda`. Without the sites of B,

    .. math:: V_{-B} = (V_{BB}^{-1} - \Lambda_B)^{-1} = (I - V_{BB} \Lambda_B)^{-1} V_{BB}, \qquad
              m_{-B} = m_B - V_{-B}\, g_B

    and the probabilities are the expected softmax of these latents, as in `predict_proba`; for one row and one latent
    :math:`v_{-i} = (1/v_i - \lambda_i)^{-1}`, :math:`m_{-i} = m_i - v_{-i} g_i`. With more classes the variational
    latents are independent, so their variances are those with the diagonal of :math:`\Lambda`. But their means depend
    on each other: they move by a Newton step, whose V and :math:`V_{-B}` have all of :math:`\Lambda`. With the diagonal
    alone they would move too far, whatever the number of rows.

    Length-scales, amplitudes, inducing points and the units of the features stay those of all rows, and so do the
    sites of the rows that are left. The cost grows as the cube of latents times points, or inducing points.

    References
    ----------
    Opper & Winther, Gaussian processes for classification: mean-field algorithms, Neural Computation 12 (2000).
    Vehtari, Mononen, Tolvanen, Sivula & Winther, Bayesian leave-one-out cross-validation approximations for Gaussian
    latent variable models, Journal of Machine Learning Research 17 (2016).
    """
    if not process.trained_on(points, rows.labels):
        raise NoShortcutError(TrainedOnOtherPoints("GaussianProcess"))
    sites = process.training_sites()
    moves, covariances = _without_blocks(sites.factor, sites.slope, sites.curvature, rows)
    spread = _variances_without_blocks(sites, rows) if sites.independent else covariances
    probabilities = process.proba_of_latents(sites.mean + moves, spread)
    codes = probabilities.argmax(axis=1)
    return LeftOut(codes, probabilities, True, False, "sites taken out of the fit to all rows")


def _variances_without_blocks(sites: LabelSites, rows: TrainingRows) -> Floats:
    """Return the variances of each row's independent latents without its block, (n, k)."""
    latents = [slice(number, number + 1) for number in range(len(sites.factor))]
    covariances = [
        _without_blocks(sites.factor[latent], sites.slope[:, latent], sites.curvature[:, latent, latent], rows)[1]
        for latent in latents
    ]
    return np.concatenate(covariances, axis=1)[:, :, 0] + sites.rest.T


def _without_blocks(factor: Floats, slope: Floats, curvature: Floats, rows: TrainingRows) -> tuple[Floats, Floats]:
    r"""Return how the means of each row's latents move without its block, (n, k), and their covariances, (n, k, k).

    With :math:`F_i` the factors of row i, one block a latent, all covariances are
    :math:`V_{ij} = F_i' (I + \sum_l F_l \Lambda_l F_l')^{-1} F_j`.
    """
    k, p, n = factor.shape
    moves, covariances = np.empty((n, k)), np.empty((n, k, k))
    root = _inverse_root(factor, curvature)
    for part, block_members in rows.by_size(k * k * p):
        members = block_members[block_members[:, 0] == part]
        q, m = members.shape
        whitened = (root @ factor[:, :, members.ravel()]).reshape(k, k * p, q, m)
        half = whitened.transpose(2, 3, 0, 1).reshape(q, m * k, k * p)
        blocks = half @ half.transpose(0, 2, 1)
        removed = np.einsum("qaml,qmlj->qamj", blocks.reshape(q, m * k, m, k), curvature[members])
        moved = np.linalg.solve(np.eye(m * k) - removed.reshape(q, m * k, m * k), blocks)
        moves[members] = -(moved @ slope[members].reshape(q, m * k, 1)).reshape(q, m, k)
        covariances[members] = np.einsum("qmimj->qmij", moved.reshape(q, m, k, m, k))
    return moves, covariances


def _inverse_root(factor: Floats, curvature: Floats) -> Floats:
    """Return R with R'R the inverse of the posterior's precision in the coordinates of the factors, (k, k p, p)."""
    k, p, _ = factor.shape
    precision = np.empty((k, p, k, p))
    for a in range(k):
        for b in range(a, k):
            precision[a, :, b] = (factor[a] * curvature[:, a, b]) @ factor[b].T
            precision[b, :, a] = precision[a, :, b].T
    whole = precision.reshape(k * p, k * p)
    whole[np.diag_indices(k * p)] += 1.0
    root = solve_triangular(np.linalg.cholesky(whole), np.eye(k * p), lower=True)
    return np.ascontiguousarray(root.reshape(k * p, k, p).transpose(1, 0, 2))
