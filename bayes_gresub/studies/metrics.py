r"""How good an estimator was over repetitions: the paper's metrics, each with its Monte-Carlo standard error.

With R repetitions, estimates :math:`\hat\varepsilon_r`, true errors :math:`\varepsilon_r` and deviations
:math:`d_r = \hat\varepsilon_r - \varepsilon_r`, every metric T is a smooth function of means. Its influence values
:math:`\psi_r` are the effect of each repetition on it; they have mean 0, and

.. math:: \mathrm{s.e.}(T) = \sqrt{\frac{1}{R (R - 1)} \sum_r \psi_r^2} .

The difference of a metric between two estimators on the same samples has the differences of their influence values. All
variances divide by R, so RMS^2 = bias^2 + variance holds to the last digit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bayes_gresub.data.arrays import Floats
from bayes_gresub.estimate.intervals import clopper_pearson


@dataclass(frozen=True, eq=False)
class Repetitions:
    """Results of one estimator for one rule and size, all arrays of shape (R,); NaN for unknown values."""

    true_error: Floats
    true_error_std_error: Floats
    estimate: Floats
    std_error: Floats
    low: Floats
    high: Floats
    seconds: Floats
    level: float = 0.95

    def take(self, rows: NDArray[np.bool_]) -> Repetitions:
        """Return some of the repetitions."""
        names = ("true_error", "true_error_std_error", "estimate", "std_error", "low", "high", "seconds")
        return replace(self, **{name: getattr(self, name)[rows] for name in names})

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """Return in which repetitions there is both an estimate and a true error."""
        return np.isfinite(self.true_error) & np.isfinite(self.estimate)

    @property
    def has_interval(self) -> NDArray[np.bool_]:
        """Return in which repetitions there is an interval and a true error."""
        return np.isfinite(self.true_error) & np.isfinite(self.low)

    @property
    def deviation(self) -> Floats:
        """Return the estimate less the true error."""
        return self.estimate - self.true_error


@dataclass(frozen=True, eq=False)
class Value:
    """A metric's value and its influence values."""

    value: float
    influence: Floats

    @property
    def std_error(self) -> float:
        """Return the Monte-Carlo standard error; NaN for fewer than two repetitions, or three for second moments."""
        r = len(self.influence)
        return float(np.sqrt((self.influence**2).sum() / (r * (r - 1)))) if r > 1 else float("nan")


Metric = Callable[[Repetitions], Value]


def mean_of(values: Floats) -> Value:
    """Return a mean."""
    mean = values.mean() if len(values) else np.nan
    return Value(float(mean), values - mean)


def variance_of(values: Floats) -> Value:
    """Return a variance, divided by R."""
    return covariance_of(values, values)


def covariance_of(first: Floats, second: Floats) -> Value:
    """Return a covariance, divided by R."""
    products = (first - first.mean()) * (second - second.mean())
    return Value(float(products.mean()), _of_three_or_more(products - products.mean()))


def rms(data: Repetitions) -> Value:
    r"""Return :math:`\sqrt{\frac1R \sum_r d_r^2}`."""
    squares = data.deviation**2
    root = float(np.sqrt(squares.mean()))
    influence = (squares - squares.mean()) / (2 * root) if root else np.zeros_like(squares)
    return Value(root, influence)


def correlation(data: Repetitions) -> Value:
    """Return the correlation of estimate and true error; NaN if one of them does not vary."""
    first, second = data.estimate, data.true_error
    spread = np.array([first.std(), second.std()])
    if (spread <= 1e-12).any():
        return Value(float("nan"), np.full_like(first, np.nan))
    u, v = (first - first.mean()) / spread[0], (second - second.mean()) / spread[1]
    r = float((u * v).mean())
    return Value(r, _of_three_or_more(u * v - r * (u**2 + v**2) / 2))


def absolute_bias(data: Repetitions) -> Value:
    """Return the size of the bias, whatever its sign."""
    bias = mean_of(data.deviation)
    return Value(abs(bias.value), np.sign(bias.value) * bias.influence)


def interval_score(data: Repetitions) -> Value:
    r"""Return the mean interval score of Gneiting & Raftery (2007), lower being better.

    .. math:: (u - l) + \frac{2}{\alpha} (l - \varepsilon)_+ + \frac{2}{\alpha} (\varepsilon - u)_+
    """
    below = np.maximum(data.low - data.true_error, 0)
    above = np.maximum(data.true_error - data.high, 0)
    return mean_of(data.high - data.low + 2 / (1 - data.level) * (below + above))


def _of_three_or_more(influence: Floats) -> Floats:
    """Return influence values of a second moment, NaN if there are too few repetitions."""
    # Two repetitions lie at the same distance from their mean, so the values are 0, whatever the truth.
    return influence if len(influence) > 2 else np.full_like(influence, np.nan)


METRICS: dict[str, Metric] = {
    "true_mean": lambda data: mean_of(data.true_error),
    "estimate_mean": lambda data: mean_of(data.estimate),
    "true_variance": lambda data: variance_of(data.true_error),
    "estimate_variance": lambda data: variance_of(data.estimate),
    "covariance": lambda data: covariance_of(data.estimate, data.true_error),
    "bias": lambda data: mean_of(data.deviation),
    "absolute_bias": absolute_bias,
    "variance": lambda data: variance_of(data.deviation),
    "rms": rms,
    "correlation": correlation,
    "internal_variance": lambda data: mean_of(data.std_error**2),
    "test_variance": lambda data: mean_of(data.true_error_std_error**2),
    "seconds": lambda data: mean_of(data.seconds),
}
"""Metrics of estimates; the first five are the paper's basic moments, `variance` is that of the deviation."""

INTERVAL_METRICS: dict[str, Metric] = {
    "coverage": lambda data: mean_of(((data.low <= data.true_error) & (data.true_error <= data.high)).astype(float)),
    "width": lambda data: mean_of(data.high - data.low),
    "interval_score": interval_score,
}
"""Metrics of intervals, over the repetitions that have one."""

ALL = {**METRICS, **INTERVAL_METRICS}


def evaluate(name: str, data: Repetitions) -> Value:
    """Return a metric over the repetitions that it can be computed from; NaN if there are none."""
    rows = usable(name, data)
    return ALL[name](data.take(rows)) if rows.any() else Value(float("nan"), np.empty(0))


def usable(name: str, data: Repetitions) -> NDArray[np.bool_]:
    """Return from which repetitions a metric can be computed."""
    if name in INTERVAL_METRICS:
        return data.has_interval
    if name == "internal_variance":
        return data.is_known & np.isfinite(data.std_error)
    return data.is_known


def paired_difference(name: str, first: Repetitions, second: Repetitions) -> tuple[Value, int]:
    """Return a metric of the first less that of the second over the repetitions both have, and how many these are."""
    rows = usable(name, first) & usable(name, second)
    left, right = evaluate(name, first.take(rows)), evaluate(name, second.take(rows))
    return Value(left.value - right.value, left.influence - right.influence), len(left.influence)


def share_interval(is_so: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the 95% Clopper-Pearson interval of a share; NaN if there is nothing to count."""
    if not len(is_so):
        return float("nan"), float("nan")
    low, high = clopper_pearson(int(is_so.sum()), len(is_so), 0.95)
    return low, high


def coverage_interval(data: Repetitions) -> tuple[float, float]:
    """Return the Clopper-Pearson interval of the coverage."""
    known = data.take(data.has_interval)
    return share_interval((known.low <= known.true_error) & (known.true_error <= known.high))


def tail(data: Repetitions, tau: float) -> tuple[float, float, float, float]:
    r"""Return how often the estimate was off by tau or more, an interval of that, and Markov's bound (RMS / tau)^2."""
    known = data.take(data.is_known)
    is_off = np.abs(known.deviation) >= tau
    return mean_of(is_off.astype(float)).value, *share_interval(is_off), (evaluate("rms", known).value / tau) ** 2
