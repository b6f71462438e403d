"""Intervals about an error estimate as if it were a share of an effective number of independent points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from bayes_gresub.estimate.intervals import SampleInterval, clopper_pearson

CROSS_VALIDATION_SHARE = 0.6
"""Effective points of cross-validation, divided by its points.

Measured, not derived, as those below: the share with which Wilson's interval held the error of the trained classifier
in .95 of the training sets of the real-data benchmark (benchmarks/results/real.md), whose noise taken off. Folds share
training points, and the estimate has the error of smaller samples, so n points would promise too much.
"""

BOOTSTRAP_SHARES = {"zero": 0.5, "632": 0.5, "632+": 0.8}
"""The same of the bootstrap, by kind: .632+ varies least, the others are biased where a rule overfits."""


@dataclass(frozen=True)
class EffectivePointsInterval(SampleInterval):
    """An interval about an estimate whose variance is that of a share of so many independent points."""

    estimate: float
    n_effective: float

    assumptions = (
        "the points are independent, or the groups and sets of identical rows are; the estimate varies about the error "
        "like a share of n_effective independent points, a number that was measured on real data and not derived"
    )

    @property
    def _share(self) -> float:
        # Without clipping, .632+ may leave [0, 1].
        return min(1.0, max(0.0, self.estimate))


class WilsonInterval(EffectivePointsInterval):
    """Wilson (1927) about an estimate, see `wilson`."""

    name = "wilson"
    method = "Wilson's interval about the estimate"

    def _ends(self, level: float) -> tuple[float, float]:
        return wilson(self._share, self.n_effective, level)


class BetaInterval(EffectivePointsInterval):
    """Clopper & Pearson (1934) with real-valued counts k = n_effective times the estimate, see `clopper_pearson`."""

    name = "beta"
    method = "Clopper-Pearson interval about the estimate"

    def _ends(self, level: float) -> tuple[float, float]:
        return clopper_pearson(self.n_effective * self._share, self.n_effective, level)


def wilson(share: float, n_points: float, level: float) -> tuple[float, float]:
    r"""Return all errors p that a normal test with its own variance does not reject (Wilson 1927).

    .. math:: |\hat p - p| \le z \sqrt{p (1 - p) / m}, \qquad
              \frac{\hat p + z^2/(2m) \pm z \sqrt{\hat p (1 - \hat p)/m + z^2/(4 m^2)}}{1 + z^2/m}

    with z the normal quantile of (1 + level)/2. A share of 0 has the ends 0 and z^2/(m + z^2): no errors never mean
    no interval. The number of points m may be fractional.

    References
    ----------
    Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).

    Examples
    --------
    >>> low, high = wilson(0.1, 42, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.0404, 0.2266)
    """
    z = float(ndtri((1 + level) / 2))
    shrinkage = 1 + z**2 / n_points
    center = (share + z**2 / (2 * n_points)) / shrinkage
    half = z / shrinkage * float(np.sqrt(share * (1 - share) / n_points + z**2 / (4 * n_points**2)))
    # At 0 and 1 both terms are equal but for rounding.
    low, high = 0.0 if share == 0 else center - half, 1.0 if share == 1 else center + half
    return max(0.0, low), min(1.0, high)
