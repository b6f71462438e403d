"""Intervals of an error, each supported by an argument: what the method needs, its formula and its assumptions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaincinv, ndtri, rel_entr, stdtrit

from bayes_gresub.data.arrays import Floats
from bayes_gresub.data.validation import check_level
from bayes_gresub.estimate.estimands import Estimand
from bayes_gresub.estimate.reasons import OtherClassProbabilities, Reason

if TYPE_CHECKING:
    from bayes_gresub.estimate.posterior_draws import PosteriorDraws


@dataclass(frozen=True)
class Interval:
    """An interval and what it means: level, method, the target that it should cover, and its assumptions.

    `unsettled` is None, or the reason why its ends would be others with another seed.
    """

    low: float
    high: float
    level: float
    method: str
    target: Estimand
    assumptions: str = ""
    unsettled: Reason | None = None

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))

    def __str__(self) -> str:
        return f"{self.low:.4f} to {self.high:.4f} ({100 * self.level:g}%, {self.method}, of the {self.target})"

    def to_dict(self) -> dict[str, Any]:
        """Return the interval as numbers and sentences."""
        unsettled = None if self.unsettled is None else str(self.unsettled)
        return {**vars(self), "target": str(self.target), "unsettled": unsettled}


class IntervalMethod(ABC):
    """What an estimate needs to return an interval of any level, or the reason why it has none."""

    name: ClassVar[str]

    reason: Reason | None = None
    """Why there is no interval; None if there is one."""

    posterior: PosteriorDraws | None = None
    """The posterior draws that intervals are made of, if any."""

    assumes_class_model: ClassVar[bool] = False
    """Whether intervals hold only if a parametric model of the classes does."""

    @property
    def choices(self) -> tuple[str, ...]:
        """Return the names of the intervals that `interval` makes, the usual one first."""
        return (self.name,)

    @abstractmethod
    def interval(self, level: float, choice: str | None = None) -> Interval:
        """Return the interval of this level, or raise with the reason why there is none."""

    def with_class_prior(self, probabilities: Floats, target: Estimand) -> IntervalMethod:
        """Return the method for the same classifier if the classes have these probabilities: by default none."""
        return NoInterval(OtherClassProbabilities())

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the method's name and what it needs, as plain Python objects."""

    @staticmethod
    def from_dict(data: dict[str, Any]) -> IntervalMethod:
        """Return the method that `to_dict` described."""
        kinds = {kind.name: kind for kind in _named_methods(IntervalMethod)}  # type: ignore[type-abstract]
        return kinds[data["name"]]._from_fields({name: value for name, value in data.items() if name != "name"})

    @classmethod
    @abstractmethod
    def _from_fields(cls, values: dict[str, Any]) -> IntervalMethod:
        """Return the method from what `to_dict` wrote, without its name."""

    def _check(self, level: float, choice: str | None) -> None:
        check_level(level)
        if choice is not None and choice not in self.choices:
            raise ValueError(
                f"method must be {' or '.join(map(repr, self.choices))} for this estimate; got {choice!r}."
            )


@dataclass(frozen=True)
class NoInterval(IntervalMethod):
    """No interval is offered, for a reason."""

    reason: Reason
    name = "none"

    def interval(self, level: float, choice: str | None = None) -> Interval:
        """Raise with the reason."""
        check_level(level)
        raise ValueError(f"no interval is offered for this estimate: {self.reason}.")

    def with_class_prior(self, probabilities: Floats, target: Estimand) -> IntervalMethod:
        """Return the same: the reason stays."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """Return the reason."""
        return {"name": self.name, "reason": self.reason.to_dict()}

    @classmethod
    def _from_fields(cls, values: dict[str, Any]) -> NoInterval:
        return cls(Reason.from_dict(values["reason"]))


@dataclass(frozen=True)
class SeveralIntervals(IntervalMethod):
    """Several methods for one estimate: the first is the usual one, the others are used by their names.

    Attributes
    ----------
    methods : tuple of pairs (name, IntervalMethod)
        A method that does not apply is a `NoInterval`, whose reason is raised if it is named.

    Examples
    --------
    >>> from bayes_gresub.estimate.estimands import ThisClassifier
    >>> from bayes_gresub.estimate.reasons import NoSpread
    >>> first = BinomialInterval(ThisClassifier(), 4, 75)
    >>> several = SeveralIntervals((("clopper-pearson", first), ("nested-cv", NoInterval(NoSpread()))))
    >>> several.choices, several.interval(0.95) == first.interval(0.95)
    (('clopper-pearson', 'nested-cv'), True)
    """

    methods: tuple[tuple[str, IntervalMethod], ...]
    name = "several"

    @classmethod
    def of(cls, *outcomes: IntervalMethod | tuple[str, Reason]) -> SeveralIntervals:
        """Return methods under their own names, and names of others with the reason why they do not apply."""
        pairs = [(o.name, o) if isinstance(o, IntervalMethod) else (o[0], NoInterval(o[1])) for o in outcomes]
        return cls(tuple(pairs))

    @property
    def reason(self) -> Reason | None:  # type: ignore[override]
        """Return why there is no usual interval; None if there is one."""
        return self.methods[0][1].reason

    @property
    def choices(self) -> tuple[str, ...]:
        """Return the names of the methods, the usual one first."""
        return tuple(name for name, _ in self.methods)

    def interval(self, level: float, choice: str | None = None) -> Interval:
        """Return the interval of this level by the method named."""
        self._check(level, choice)
        method = self.methods[0][1] if choice is None else dict(self.methods)[choice]
        return method.interval(level)

    def to_dict(self) -> dict[str, Any]:
        """Return the methods in order, each with the name that it is chosen by."""
        methods = [{"choice": choice, "method": method.to_dict()} for choice, method in self.methods]
        return {"name": self.name, "methods": methods}

    @classmethod
    def _from_fields(cls, values: dict[str, Any]) -> SeveralIntervals:
        stored = values["methods"]
        return cls(tuple((str(entry["choice"]), IntervalMethod.from_dict(entry["method"])) for entry in stored))


@dataclass(frozen=True)
class SampleInterval(IntervalMethod):
    """An interval over samples, from a few numbers."""

    target: Estimand
    method: ClassVar[str]
    assumptions: ClassVar[str]

    def interval(self, level: float, choice: str | None = None) -> Interval:
        """Return the interval of this level."""
        self._check(level, choice)
        low, high = self._ends(level)
        return Interval(low, high, level, self.method, self.target, self.assumptions)

    @abstractmethod
    def _ends(self, level: float) -> tuple[float, float]:
        """Return both ends."""

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and the target."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"name": self.name, **values, "target": self.target.to_dict()}

    @classmethod
    def _from_fields(cls, values: dict[str, Any]) -> SampleInterval:
        return cls(**values | {"target": Estimand.from_dict(values["target"])})


@dataclass(frozen=True)
class BinomialInterval(SampleInterval):
    """Clopper & Pearson (1934), see `clopper_pearson`."""

    n_errors: int
    n_points: int
    name = "clopper-pearson"
    method = "Clopper-Pearson"
    assumptions = "the points are independent of each other and of the training of the classifier"

    def _ends(self, level: float) -> tuple[float, float]:
        return clopper_pearson(self.n_errors, self.n_points, level)


@dataclass(frozen=True)
class BoundedMeanInterval(SampleInterval):
    """Hoeffding (1963), see `bounded_mean`."""

    mean: float
    effective_points: float
    name = "bounded-mean"
    method = "Hoeffding bound for bounded means (relative entropy)"
    assumptions = (
        "the points are independent of each other, of the training of the classifier and of the measure's widths; "
        "weights, if any, are fixed numbers"
    )

    def _ends(self, level: float) -> tuple[float, float]:
        return bounded_mean(self.mean, self.effective_points, level)


@dataclass(frozen=True)
class NormalInterval(SampleInterval):
    """A normal interval about a centre, cut at 0 and 1; subclasses name the source of its standard error."""

    center: float
    std_error: float

    def _ends(self, level: float) -> tuple[float, float]:
        half = float(ndtri((1 + level) / 2)) * self.std_error
        return max(0.0, self.center - half), min(1.0, self.center + half)


@dataclass(frozen=True)
class NestedInterval(NormalInterval):
    """Nested cross-validation (Bates, Hastie & Tibshirani 2023).

    `unsettled` is None if its ends hardly depend on the random partitions, else the reason why they do.
    """

    unsettled: Reason | None = None
    name = "nested-cv"
    method = "nested cross-validation"
    assumptions = "the points are independent; the error of the rule at n points is normal about its corrected estimate"

    def interval(self, level: float, choice: str | None = None) -> Interval:
        """Return the interval of this level, with the reason why it has not settled, if any."""
        return replace(super().interval(level, choice), unsettled=self.unsettled)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, the target and the reason."""
        return super().to_dict() | {"unsettled": None if self.unsettled is None else self.unsettled.to_dict()}

    @classmethod
    def _from_fields(cls, values: dict[str, Any]) -> SampleInterval:
        unsettled = values.get("unsettled")
        return super()._from_fields(values | {"unsettled": None if unsettled is None else Reason.from_dict(unsettled)})


@dataclass(frozen=True)
class DeltaInterval(NormalInterval):
    """The delta method after the bootstrap (Efron & Tibshirani 1997)."""

    name = "delta-bootstrap"
    method = "delta method after bootstrap"
    assumptions = (
        "the points are independent; the bootstrap estimate is smooth in the weights of the points (the apparent error "
        "in .632 with the classifier held fixed) and nearly normal about the error; the interval does not account for "
        "its bias"
    )


@dataclass(frozen=True)
class ConservativeInterval(NormalInterval):
    """The conservative z of Nadeau & Bengio (2003), see `resampling.subsampling`."""

    name = "conservative-z"
    method = "conservative z of pairs of halves"
    assumptions = (
        "the points are independent; the mean over subsamples is normal about the error of the rule, and varies no "
        "more than that of halves of the sample"
    )


@dataclass(frozen=True)
class CorrectedInterval(SampleInterval):
    """The corrected resampled t of Nadeau & Bengio (2003), see `resampling.corrected_t`."""

    center: float
    std_error: float
    dof: int
    name = "corrected-t"
    method = "corrected resampled t"
    assumptions = (
        "the points are independent; the errors of splits are nearly normal, with the correlation of the share held out"
    )

    def _ends(self, level: float) -> tuple[float, float]:
        half = float(stdtrit(self.dof, (1 + level) / 2)) * self.std_error
        return max(0.0, self.center - half), min(1.0, self.center + half)


def clopper_pearson(n_errors: float, n_points: float, level: float) -> tuple[float, float]:
    r"""Return the exact interval of a binomial proportion (Clopper & Pearson 1934).

    With k of m points misclassified, the ends are the quantiles alpha/2 of Beta(k, m - k + 1) and 1 - alpha/2 of
    Beta(k + 1, m - k); 0 if k = 0, and 1 if k = m. Counts may be fractional.

    Examples
    --------
    >>> low, high = clopper_pearson(4, 75, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.0147, 0.131)
    """
    k, m, tail = n_errors, n_points, (1 - level) / 2
    low = float(betaincinv(k, m - k + 1, tail)) if k else 0.0
    high = float(betaincinv(k + 1, m - k, 1 - tail)) if k < m else 1.0
    return low, high


def bounded_mean(mean: float, effective_points: float, level: float) -> tuple[float, float]:
    r"""Return an interval of the mean of independent numbers between 0 and 1, of any law (Hoeffding 1963).

    All means mu with :math:`m\,\mathrm{KL}(\hat p, \mu) \le \log(2/\alpha)`, where :math:`\hat p = \sum_i w_i Z_i` and
    :math:`m = 1/\max_i w_i`. With equal weights m is the number of points. With others, log E exp(s Z) is convex in s
    and 0 at 0, so each point's part is at most :math:`w_i m` times that of the heaviest: the bound holds for this m.

    Examples
    --------
    >>> low, high = bounded_mean(0.2, 50, 0.95)
    >>> round(low, 3), round(high, 3)
    (0.079, 0.378)
    """
    bound = float(np.log(2 / (1 - level)) / effective_points)
    p = min(1.0, max(0.0, mean))

    def excess(mu: float) -> float:
        return float(rel_entr(p, mu) + rel_entr(1 - p, 1 - mu)) - bound

    # Next to 0 and 1 the entropy of a nearby mean is still finite and may lie below the bound.
    first, last = np.finfo(float).tiny, 1 - np.finfo(float).epsneg
    low = 0.0 if p <= first or excess(first) <= 0 else float(brentq(excess, first, p, xtol=1e-14))
    high = 1.0 if p >= last or excess(last) <= 0 else float(brentq(excess, p, last, xtol=1e-14))
    return low, high


def _named_methods(kind: type[IntervalMethod]) -> list[type[IntervalMethod]]:
    children = [descendant for child in kind.__subclasses__() for descendant in _named_methods(child)]
    return [kind, *children] if hasattr(kind, "name") else children
