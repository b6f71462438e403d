"""The .632+ rule: how apparent error, zero bootstrap and no-information rate are mixed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayes_gresub.data.arrays import Floats
from bayes_gresub.estimate.reasons import NegativeWeights, Reason
from bayes_gresub.laws.confusion import error_mass

CLIPS = ("efron-tibshirani", "ipred", "none")


@dataclass(frozen=True)
class Mixture:
    """Weights of the apparent confusion, of that of the zero bootstrap, and of that of unrelated labels.

    `slope` is the derivative of the mixed error with respect to the zero bootstrap.
    """

    apparent: float
    zero: float
    unrelated: float
    slope: float
    details: dict[str, float] = field(default_factory=dict)

    @property
    def no_confusion(self) -> Reason | None:
        """Return why the mixture is not a mass; None if it is one."""
        if min(self.apparent, self.zero, self.unrelated) >= -1e-12:
            return None
        return NegativeWeights()

    def of(self, apparent: Any, zero: Floats, unrelated: Any) -> Floats:
        """Return the mixture of these errors or confusions."""
        return np.asarray(self.apparent * apparent + self.zero * zero + self.unrelated * unrelated)


def plus_mixture(apparent: Floats, zero: Floats, clip: str) -> Mixture:
    """Return the .632+ mixture of an apparent confusion mass and that of the zero bootstrap, (c, c) each."""
    err, e1 = float(error_mass(apparent)), float(error_mass(zero))
    g = no_information_rate(apparent)
    weights, rate = _weights(err, e1, g, clip)
    step = 1e-6

    def mixed_error(zero_error: float) -> float:
        (a, z, u), _ = _weights(err, zero_error, g, clip)
        return a * err + z * zero_error + u * g

    slope = (mixed_error(e1 + step) - mixed_error(e1 - step)) / (2 * step)
    details = {
        "apparent_error": err,
        "zero_bootstrap": e1,
        "no_information_rate": g,
        "relative_overfitting_rate": rate,
    }
    return Mixture(*weights, slope, details)


def no_information_rate(confusion: Floats) -> float:
    """Return the error if labels and predictions kept their frequencies but were unrelated: sum_l p_l (1 - q_l)."""
    return float(confusion.sum(axis=1) @ (1 - confusion.sum(axis=0)))


def _weights(err: float, e1: float, g: float, clip: str) -> tuple[tuple[float, float, float], float]:
    """Return the weights of (err, e1, g), and the relative overfitting rate."""
    clipped = e1 > g and clip != "none"
    top = min(e1, g) if clip == "efron-tibshirani" else e1
    rate = (top - err) / (g - err) if e1 > err and g > err else 0.0
    correction = 0.368 * 0.632 * rate / (1 - 0.368 * rate)
    if clipped:
        return (0.368 - correction, 0.632, correction), rate
    return (0.368 - correction, 0.632 + correction, 0.0), rate
