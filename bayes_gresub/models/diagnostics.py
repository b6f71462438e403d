"""Convergence of chains: rank-normalised split R-hat, effective sample size, Monte-Carlo error; many numbers at once.

The definitions are ArviZ's, checked against it; they are here because an estimate needs them thousands of times and
ArviZ takes seconds to load.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from bayes_gresub.data.arrays import Floats


def rhat(values: Floats) -> Floats:
    r"""Return R-hat of numbers with leading axes (chain, draw), the larger of that of ranks and of folded ranks.

    Chains are split in halves; ranks are turned into normal scores z; then with the mean W of the variances within and
    B the variance between the means of m chains of n draws,

    .. math:: \hat R = \sqrt{\frac{(n-1)/n \, W + B}{W}}

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter & Bürkner, Rank-normalization, folding and localization: an improved R-hat for
    assessing convergence of MCMC, Bayesian Analysis 16 (2021).

    Examples
    --------
    >>> import numpy as np
    >>> chains = np.random.default_rng(0).normal(size=(4, 500))
    >>> bool(rhat(chains) < 1.01), bool(rhat(chains + np.arange(4)[:, None]) > 1.5)
    (True, True)
    """
    halves = _split(values)
    folded = np.abs(halves - np.median(halves, axis=(0, 1)))
    return np.maximum(_basic_rhat(_scores(halves)), _basic_rhat(_scores(folded)))


def ess(values: Floats) -> Floats:
    r"""Return the effective sample size for the mean of numbers with leading axes (chain, draw).

    .. math:: \frac{m n}{-1 + 2 \sum_t (\rho_{2t} + \rho_{2t+1})}

    with the autocorrelations of the split chains combined; the sum of pairs ends before the first negative pair, and
    pairs are made monotone (Geyer 1992). NaN for fewer than four draws a chain.

    Examples
    --------
    >>> import numpy as np
    >>> bool(abs(ess(np.random.default_rng(0).normal(size=(4, 500))) / 2000 - 1) < 0.2)
    True
    """
    if values.shape[1] < 4:
        return np.full(values.shape[2:], np.nan)
    halves = _split(values)
    m, n = halves.shape[:2]
    rest = halves.shape[2:]
    flat = halves.reshape(m, n, -1)
    covariance = _autocovariance(flat)
    means = flat.mean(axis=1)
    within = covariance[:, 0].mean(axis=0) * n / (n - 1.0)
    pooled = within * (n - 1.0) / n
    if m > 1:
        pooled = pooled + means.var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = 1.0 - (within - covariance.mean(axis=0)) / pooled
    rho[0] = 1.0
    # ArviZ leaves out the last pairs, should correlations last that long.
    n_pairs = max((n - 3) // 2, 0)
    pairs = rho[: 2 * n_pairs].reshape(n_pairs, 2, flat.shape[2]).sum(axis=1)
    # Geyer: pairs count up to the first that is not positive, and may not grow.
    positive = np.logical_and.accumulate(pairs > 0, axis=0)
    falling = np.minimum.accumulate(np.where(positive, pairs, 0.0), axis=0)
    last = positive.sum(axis=0)
    tail = np.take_along_axis(rho, 2 * last[None], axis=0)[0]
    time = -1.0 + 2.0 * falling.sum(axis=0) + np.maximum(tail, 0.0)
    total = m * n
    time = np.maximum(time, 1.0 / np.log10(total))
    result = np.where(np.ptp(flat, axis=(0, 1)) == 0, float(total), total / time)
    return np.asarray(result.reshape(rest))


def mcse(values: Floats) -> Floats:
    """Return the Monte-Carlo standard error of the mean: the standard deviation divided by the root of `ess`."""
    return np.asarray(values.std(axis=(0, 1), ddof=1) / np.sqrt(ess(values)))


def _split(values: Floats) -> Floats:
    half = values.shape[1] // 2
    return np.concatenate([values[:, :half], values[:, values.shape[1] - half :]], axis=0)


def _scores(values: Floats) -> Floats:
    m, n = values.shape[:2]
    ranks = rankdata(values.reshape(m * n, -1), axis=0)
    return np.asarray(ndtri((ranks - 0.375) / (m * n + 0.25)).reshape(values.shape))


def _basic_rhat(values: Floats) -> Floats:
    n = values.shape[1]
    within = values.var(axis=1, ddof=1).mean(axis=0)
    between = values.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt(((n - 1) / n * within + between) / within)
    # Constant numbers have converged.
    return np.where(np.ptp(values, axis=(0, 1)) == 0, 1.0, ratio)


def _autocovariance(values: Floats) -> Floats:
    """Return the autocovariance of each chain at every lag (divided by n), by Fourier transform."""
    n = values.shape[1]
    centered = values - values.mean(axis=1, keepdims=True)
    size = 1 << int(2 * n - 1).bit_length()
    spectrum = np.fft.rfft(centered, size, axis=1)
    return np.asarray(np.fft.irfft(spectrum * spectrum.conj(), size, axis=1)[:, :n] / n)
