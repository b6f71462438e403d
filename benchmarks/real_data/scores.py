r"""Scores of estimates and intervals over repetitions and over cells, as pure functions of arrays.

A cell is one data set, one rule and one sample size. In it, :math:`\hat\varepsilon_r` is the estimate of repetition r,
:math:`e_r` the share of :math:`m_r` test points that the classifier gets wrong, and :math:`\varepsilon_r` its true
error, which e_r estimates with variance :math:`e_r (1 - e_r) / m_r`. NaN stands for unknown values, which are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta, norm

Floats = NDArray[np.float64]
LEVEL = 0.95


def truth_variance(truth: Floats, n_test: Floats) -> Floats:
    r"""Return the binomial variance of every observed true error, :math:`e_r (1 - e_r) / m_r`.

    Examples
    --------
    >>> truth_variance(np.array([0.5]), np.array([100.0])).tolist()
    [0.0025]
    """
    return truth * (1 - truth) / n_test


def rms(estimate: Floats, truth: Floats, n_test: Floats) -> float:
    r"""Return the RMS of estimate less true error, the variance of the observed truth taken off, 0 at least.

    .. math:: \sqrt{\max\Bigl(0, \frac1R \sum_r (\hat\varepsilon_r - e_r)^2 - \frac1R \sum_r e_r (1 - e_r) / m_r\Bigr)}

    Examples
    --------
    >>> round(rms(np.array([0.3, 0.1]), np.array([0.2, 0.2]), np.array([100.0, 100.0])), 6)
    0.091652
    """
    known = np.isfinite(estimate) & np.isfinite(truth)
    if not known.any():
        return float("nan")
    squares = (estimate[known] - truth[known]) ** 2
    return float(np.sqrt(max(0.0, squares.mean() - truth_variance(truth[known], n_test[known]).mean())))


def bias(estimate: Floats, truth: Floats) -> float:
    """Return the mean of estimate less true error."""
    return _mean(estimate - truth)


def coverage(low: Floats, high: Floats, truth: Floats) -> float:
    """Return the share of intervals that hold the observed true error; its noise makes this smaller."""
    known = np.isfinite(low) & np.isfinite(high) & np.isfinite(truth)
    return _mean(((low <= truth) & (truth <= high))[known].astype(float))


def coverage_without_noise(low: Floats, high: Floats, truth: Floats, n_test: Floats) -> float:
    r"""Return the share of intervals that hold the true error itself, by extrapolation to test sets without noise.

    With :math:`s_r^2 = e_r (1 - e_r) / m_r` the share that holds e_r has noise of variance s_r^2 in it, and

    .. math:: \frac1R \sum_r \Phi\Bigl(\frac{u_r - e_r}{s_r}\Bigr) - \Phi\Bigl(\frac{l_r - e_r}{s_r}\Bigr)

    is what it would be with twice that variance. The share is linear in the variance to first order, so twice the
    first less the second has none of it. Ends at 0 or 1 exclude nothing. A mean over few repetitions may exceed 1.

    References
    ----------
    Cook & Stefanski, Simulation-extrapolation estimation in parametric measurement error models, JASA 89 (1994).
    """
    known = np.isfinite(low) & np.isfinite(high) & np.isfinite(truth)
    if not known.any():
        return float("nan")
    low, high, truth, n_test = low[known], high[known], truth[known], n_test[known]
    # An error of 0 or 1 was seen without noise, but has some.
    share = (truth * n_test + 0.5) / (n_test + 1)
    noise = np.sqrt(truth_variance(share, n_test))
    below = np.where(low <= 0, -np.inf, low)
    above = np.where(high >= 1, np.inf, high)
    twice = norm.cdf((above - truth) / noise) - norm.cdf((below - truth) / noise)
    return 2 * coverage(low, high, truth) - float(twice.mean())


def width(low: Floats, high: Floats) -> float:
    """Return the mean width of the intervals."""
    return _mean(high - low)


def interval_score(low: Floats, high: Floats, truth: Floats, level: float = LEVEL) -> float:
    r"""Return the mean interval score, lower being better.

    .. math:: (u - l) + \frac{2}{\alpha} (l - e)_+ + \frac{2}{\alpha} (e - u)_+, \qquad \alpha = 1 - level

    References
    ----------
    Gneiting & Raftery, Strictly proper scoring rules, prediction, and estimation, JASA 102 (2007).

    Examples
    --------
    >>> round(interval_score(np.array([0.1]), np.array([0.2]), np.array([0.25])), 6)
    2.1
    """
    outside = np.maximum(low - truth, 0) + np.maximum(truth - high, 0)
    return _mean(high - low + 2 / (1 - level) * outside)


def wilson(share: ArrayLike, n_points: ArrayLike, level: float = LEVEL) -> tuple[Floats, Floats]:
    r"""Return Wilson's interval about a share of any number of points, whole or not.

    .. math:: \frac{p + z^2 / 2m \pm z \sqrt{p (1 - p) / m + z^2 / 4m^2}}{1 + z^2 / m}
    """
    p, m = np.clip(np.asarray(share, dtype=float), 0, 1), np.asarray(n_points, dtype=float)
    z = norm.isf((1 - level) / 2)
    center, scale = p + z**2 / (2 * m), 1 + z**2 / m
    half = z * np.sqrt(p * (1 - p) / m + z**2 / (4 * m**2))
    return np.maximum((center - half) / scale, 0), np.minimum((center + half) / scale, 1)


def clopper_pearson(share: ArrayLike, n_points: ArrayLike, level: float = LEVEL) -> tuple[Floats, Floats]:
    r"""Return the Clopper-Pearson interval for k = n p errors of n points, k whole or not.

    .. math:: B^{-1}(\alpha/2; k, n - k + 1), \quad B^{-1}(1 - \alpha/2; k + 1, n - k)
    """
    p, n = np.broadcast_arrays(np.clip(np.asarray(share, dtype=float), 0, 1), np.asarray(n_points, dtype=float))
    k, tail = n * p, (1 - level) / 2
    # The parameters must be positive; there the ends are 0 and 1.
    low = np.where(k > 0, beta.ppf(tail, np.maximum(k, 1e-12), n - k + 1), 0.0)
    high = np.where(k < n, beta.isf(tail, k + 1, np.maximum(n - k, 1e-12)), 1.0)
    return np.where(np.isnan(p), np.nan, low), np.where(np.isnan(p), np.nan, high)


def won(first: Floats, second: Floats, truth: Floats) -> float:
    """Return 1 if the first estimate has the smaller RMS over the repetitions that both have, 1/2 if they tie, else 0.

    The noise of the truth adds the same to both, so it is not taken off; NaN if they share no repetition.
    """
    common = np.isfinite(first) & np.isfinite(second) & np.isfinite(truth)
    if not common.any():
        return float("nan")
    squares = [((estimate[common] - truth[common]) ** 2).mean() for estimate in (first, second)]
    return 0.5 if np.isclose(*squares, rtol=1e-9, atol=1e-15) else float(squares[0] < squares[1])


@dataclass(frozen=True)
class Clustered:
    """A number over cells and its standard error, cells of one group counting as one observation."""

    value: float
    std_error: float


def ratio_of_sums(top: ArrayLike, below: ArrayLike, groups: ArrayLike) -> Clustered:
    r"""Return the ratio of two sums over cells, and its standard error by the jackknife over groups.

    .. math:: T = \frac{\sum_i a_i}{\sum_i b_i}, \qquad
        s.e.^2 = \frac{G - 1}{G} \sum_g (T_{-g} - \bar T)^2

    where T_{-g} leaves out the cells of group g and \bar T is the mean of these. With b = 1 it is a mean. Cells where
    either is NaN are left out; the standard error is NaN for fewer than two groups.

    Examples
    --------
    >>> ratio_of_sums([1.0, 2.0, 3.0], [1.0, 1.0, 1.0], ["a", "b", "c"])
    Clustered(value=2.0, std_error=0.577...)
    """
    a, b, names = np.asarray(top, dtype=float), np.asarray(below, dtype=float), np.asarray(groups)
    known = np.isfinite(a) & np.isfinite(b)
    a, b = a[known], b[known]
    _, codes = np.unique(names[known], return_inverse=True)
    if not len(a) or b.sum() == 0:
        return Clustered(float("nan"), float("nan"))
    value = float(a.sum() / b.sum())
    n_groups = int(codes.max()) + 1
    left = b.sum() - np.bincount(codes, b)
    if n_groups < 2 or (left == 0).any():
        return Clustered(value, float("nan"))
    without = (a.sum() - np.bincount(codes, a)) / left
    variance = (n_groups - 1) / n_groups * ((without - without.mean()) ** 2).sum()
    return Clustered(value, float(np.sqrt(variance)))


def mean_over_cells(values: ArrayLike, groups: ArrayLike) -> Clustered:
    """Return the mean over cells, with the standard error of `ratio_of_sums`."""
    return ratio_of_sums(values, np.ones_like(np.asarray(values, dtype=float)), groups)


def _mean(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")
