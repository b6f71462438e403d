"""Posterior draws of masses that were each estimated twice: the noise of the estimates is removed from their spread."""

from __future__ import annotations

import numpy as np

from bayes_gresub.data.arrays import Floats


def denoised(halves: Floats) -> Floats:
    r"""Return draws of region masses whose spread excludes the noise of their estimates.

    For each draw s there are two estimates a_s and b_s with independent noise. Their mean is the draw, but the
    variance of the means over draws includes the noise, while Cov(a, b) does not. So the class errors
    :math:`e_s = (a_s + b_s)/2` are moved towards their mean, :math:`\bar e + M (e_s - \bar e)`, by the symmetric matrix
    M that turns their covariance V into the covariance U between the halves,

    .. math:: M = U^{1/2} (U^{1/2} V U^{1/2})^{-1/2} U^{1/2}

    which for one class is :math:`\sqrt{\mathrm{Cov}(a, b) / \mathrm{Var}((a+b)/2)}`. Within a row the masses of
    the wrong regions are moved in the same way, each by its own factor, and the difference to the class error is
    distributed in proportion to their means. So every class error, and every weighted sum of class errors, has the
    right variance.

    Parameters
    ----------
    halves : ndarray of shape (2, draws, c, regions)
        Masses of each region under each class; region y is the one where class y is right.

    Returns
    -------
    ndarray of shape (draws, c, regions)
        Not below 0, rows summing to 1.
    """
    draws = halves.mean(axis=0)
    c = halves.shape[2]
    classes = np.arange(c)
    right = draws[:, classes, classes]
    errors = 1.0 - right
    mean = errors.mean(axis=0)
    a, b = (1.0 - half[:, classes, classes] for half in halves)
    between = _covariance(a, b)
    moved = (errors - mean) @ _transport(_covariance(errors, errors), 0.5 * (between + between.T)).T

    average = draws.mean(axis=0)
    factor = _factors(halves, draws)
    masses = average + factor * (draws - average)
    wrong = masses.copy()
    wrong[:, classes, classes] = 0.0
    share = average.copy()
    share[classes, classes] = 0.0
    total = share.sum(axis=1, keepdims=True)
    share = np.divide(share, total, out=np.zeros_like(share), where=total > 0)
    difference = mean + moved - wrong.sum(axis=2)
    wrong += difference[:, :, None] * share
    np.clip(wrong, 0.0, 1.0, out=wrong)
    sums = wrong.sum(axis=2, keepdims=True)
    wrong /= np.maximum(sums, 1.0)
    wrong[:, classes, classes] = 1.0 - wrong.sum(axis=2)
    return wrong


def denoised_numbers(halves: Floats) -> Floats:
    """Return draws of one number, estimated twice in `halves` (2, draws), moved towards their mean in the same way."""
    draws = halves.mean(axis=0)
    return np.asarray(draws.mean() + _factors(halves, draws) * (draws - draws.mean()))


def _covariance(a: Floats, b: Floats) -> Floats:
    return np.asarray((a - a.mean(axis=0)).T @ (b - b.mean(axis=0)) / max(1, len(a) - 1))


def _factors(halves: Floats, draws: Floats) -> Floats:
    """Return sqrt(Cov(a, b) / Var((a + b)/2)) for every mass, 0 where the covariance is not positive."""
    centered = halves - halves.mean(axis=1, keepdims=True)
    between = (centered[0] * centered[1]).mean(axis=0)
    variance = draws.var(axis=0)
    ratio = np.divide(between, variance, out=np.zeros_like(variance), where=variance > 0)
    return np.sqrt(np.clip(ratio, 0.0, 1.0))


def _transport(covariance: Floats, target: Floats) -> Floats:
    """Return the symmetric matrix M with M V M = U for covariances V and U, 0 along axes where U has no variance."""
    values, vectors = np.linalg.eigh(target)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    inner, axes = np.linalg.eigh(root @ covariance @ root)
    least = 1e-12 * max(float(inner.max(initial=0.0)), np.finfo(float).tiny)
    inverse = np.divide(1.0, np.sqrt(np.maximum(inner, least)), out=np.zeros_like(inner), where=inner > least)
    return np.asarray(root @ (axes * inverse) @ axes.T @ root)
