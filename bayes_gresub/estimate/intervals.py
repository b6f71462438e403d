"""Intervals of an error that an argument supports: what each needs, its formula and its assumptions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaincinv, ndtri, rel_entr

from bayes_gresub.data.arrays import Floats


@dataclass(frozen=True)
class Interval:
    """An interval with what it means: level, method, the target that it is to hold, and the assumptions for that."""

    low: float
    high: float
    level: float
    method: str
    target: str
    assumptions: str = ""

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))

    def __str__(self) -> str:
        return f"{self.low:.4f} to {self.high:.4f} ({100 * self.level:g}%, {self.method}, of the {self.target})"


@dataclass(frozen=True)
class Support(ABC):
    """What an estimate must carry so that an interval of any level can be read off it."""

    target: str
    name: ClassVar[str]
    method: ClassVar[str]
    assumptions: ClassVar[str]

    def interval(self, level: float) -> Interval:
        """Return the interval of this level."""
        check_level(level)
        low, high = self._ends(level)
        return Interval(max(0.0, low), min(1.0, high), level, self.method, self.target, self.assumptions)

    @abstractmethod
    def _ends(self, level: float) -> tuple[float, float]:
        """Return both ends."""

    def to_dict(self) -> dict[str, Any]:
        """Return the support as plain numbers and strings."""
        return {"name": self.name, **asdict(self)}


@dataclass(frozen=True)
class BinomialSupport(Support):
    r"""Clopper & Pearson (1934): the exact interval for a binomial proportion.

    With k of m points misclassified, the ends are the quantiles alpha/2 of Beta(k, m - k + 1) and 1 - alpha/2 of
    Beta(k + 1, m - k).
    """

    n_errors: int
    n_points: int
    name = "clopper-pearson"
    method = "Clopper-Pearson"
    assumptions = "the points are independent of each other and of the training of the classifier"

    def _ends(self, level: float) -> tuple[float, float]:
        k, m, tail = self.n_errors, self.n_points, (1 - level) / 2
        low = float(betaincinv(k, m - k + 1, tail)) if k else 0.0
        high = float(betaincinv(k + 1, m - k, 1 - tail)) if k < m else 1.0
        return low, high


@dataclass(frozen=True)
class BoundedMeanSupport(Support):
    r"""Hoeffding (1963), in relative-entropy form: the mean of independent numbers between 0 and 1, of any law.

    All means mu with :math:`m\,\mathrm{KL}(\hat p, \mu) \le \log(2/\alpha)`, where :math:`\hat p = \sum_i w_i Z_i` and
    :math:`m = 1/\max_i w_i`. With equal weights m is the number of points. With others, log E exp(s Z) is convex in s
    and 0 at 0, so each point's part is at most :math:`w_i m` times that of the heaviest: the bound holds for this m.
    """

    mean: float
    effective_points: float
    name = "bounded-mean"
    method = "Hoeffding bound for bounded means (relative entropy)"
    assumptions = (
        "the points are independent of each other, of the training of the classifier and of the measure's widths; "
        "weights, if any, are fixed numbers"
    )

    def _ends(self, level: float) -> tuple[float, float]:
        bound = float(np.log(2 / (1 - level)) / self.effective_points)
        p = min(1.0, max(0.0, self.mean))

        def beyond(mu: float) -> float:
            return float(rel_entr(p, mu) + rel_entr(1 - p, 1 - mu)) - bound

        # Next to 0 and 1 the entropy of a mean close by is still finite and may lie below the bound.
        first, last = np.finfo(float).tiny, 1 - np.finfo(float).epsneg
        low = 0.0 if p <= first or beyond(first) <= 0 else float(brentq(beyond, first, p, xtol=1e-14))
        high = 1.0 if p >= last or beyond(last) <= 0 else float(brentq(beyond, p, last, xtol=1e-14))
        return low, high


@dataclass(frozen=True)
class NormalSupport(Support):
    """A normal interval about a centre, whose standard error a method of its own supplies."""

    center: float
    std_error: float

    def _ends(self, level: float) -> tuple[float, float]:
        half = float(ndtri((1 + level) / 2)) * self.std_error
        return self.center - half, self.center + half


@dataclass(frozen=True)
class NestedSupport(NormalSupport):
    """Nested cross-validation (Bates, Hastie & Tibshirani 2023)."""

    name = "nested-cv"
    method = "nested cross-validation"
    assumptions = "the points are independent; the error of the rule at n points is normal about its corrected estimate"


@dataclass(frozen=True)
class DeltaSupport(NormalSupport):
    """The delta method after the bootstrap (Efron & Tibshirani 1997)."""

    name = "delta-bootstrap"
    method = "delta method after bootstrap"
    assumptions = (
        "the points are independent; the bootstrap estimate is smooth in the weights of the points (the apparent error "
        "in .632 with the classifier held fixed) and nearly normal about the error, so that its bias is not in the "
        "interval"
    )


SUPPORTS: dict[str, type[Support]] = {
    kind.name: kind for kind in (BinomialSupport, BoundedMeanSupport, NestedSupport, DeltaSupport)
}


def support_from_dict(data: dict[str, Any]) -> Support:
    """Return the support that `to_dict` described."""
    return SUPPORTS[data["name"]](**{key: value for key, value in data.items() if key != "name"})


def check_level(level: float) -> None:
    """Raise unless a level is a probability between 0 and 1."""
    if not isinstance(level, int | float | np.number) or not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1; got {level!r}.")


def shortest(draws: Floats, level: float) -> tuple[float, float]:
    """Return the shortest interval that holds this share of the draws."""
    ordered = np.sort(draws)
    inside = int(np.ceil(level * len(ordered)))
    widths = ordered[inside - 1 :] - ordered[: len(ordered) - inside + 1]
    best = int(widths.argmin())
    return float(ordered[best]), float(ordered[best + inside - 1])
