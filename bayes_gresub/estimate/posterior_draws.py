"""Posterior draws of the joint confusion mass, and the intervals read off them. They are drawn elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bayes_gresub.data.arrays import Floats
from bayes_gresub.estimate.estimands import Estimand
from bayes_gresub.estimate.intervals import Interval, IntervalMethod
from bayes_gresub.laws.confusion import class_errors, error_mass, with_prior


@dataclass(frozen=True, eq=False)
class PosteriorDraws(IntervalMethod):
    """Posterior draws under a model of the classes, with the credible intervals read off them.

    Attributes
    ----------
    target : Estimand
    confusions : ndarray of shape (draws, c, c)
    std_error : float or None
        Monte-Carlo standard error of their mean error, if the draws depend on each other or are noisy.
    exact_sd : float or None
        Posterior standard deviation of the error, if it has a closed form.
    noise_share : float
        Variance of the integration noise in the draws, divided by the posterior variance; 0 if they are exact.
    source : object or None
        What `to_inference_data` is made from; `to_dict` leaves it out.

    Examples
    --------
    >>> import numpy as np
    >>> from bayes_gresub.estimate.estimands import ThisClassifier
    >>> errors = np.linspace(0.1, 0.3, 101)
    >>> confusions = np.array([[[0.5, 0.0], [error, 0.5 - error]] for error in errors])
    >>> low, high = PosteriorDraws(ThisClassifier(), confusions).interval(0.9)
    >>> round(low, 2), round(high, 2)
    (0.11, 0.29)
    """

    target: Estimand
    confusions: Floats
    std_error: float | None = None
    exact_sd: float | None = None
    noise_share: float = 0.0
    source: Any = None

    name = "posterior-draws"
    kind: ClassVar[str] = "credible interval"
    assumptions: ClassVar[str] = "the model and its prior hold"
    assumes_class_model = True

    @property
    def posterior(self) -> PosteriorDraws:  # type: ignore[override]
        """Return these draws."""
        return self

    @property
    def errors(self) -> Floats:
        """Return the draws of the error, shape (draws,)."""
        return error_mass(self.confusions)

    @property
    def class_errors(self) -> Floats:
        """Return the draws of the error given each class, shape (draws, c); NaN for a class without mass."""
        return class_errors(self.confusions)

    @property
    def sd(self) -> float:
        """Return the posterior standard deviation of the error, exact if it is known."""
        return float(self.errors.std()) if self.exact_sd is None else self.exact_sd

    @property
    def choices(self) -> tuple[str, ...]:
        """Return the names of the intervals: equal tails, or the shortest that holds the same share of draws."""
        return ("equal-tailed", "hdi")

    def interval(self, level: float, choice: str | None = None) -> Interval:
        """Return the credible interval of this level."""
        self._check(level, choice)
        choice = choice or self.choices[0]
        low, high = equal_tailed(self.errors, level) if choice == "equal-tailed" else shortest(self.errors, level)
        return Interval(low, high, level, f"{choice} {self.kind}", self.target, self.assumptions)

    def with_class_prior(self, probabilities: Floats, target: Estimand) -> PosteriorDraws:
        """Return each draw under these class probabilities; the closed form and the source are lost."""
        confusions = with_prior(self.confusions, probabilities)
        std_error = None
        if self.std_error is not None and self.source is not None:
            std_error = self.source.noise_under(probabilities)
        return type(self)(target, confusions, std_error, noise_share=self.noise_share)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the source."""
        return {
            "name": self.name,
            "target": self.target.to_dict(),
            "confusions": self.confusions.tolist(),
            "std_error": self.std_error,
            "exact_sd": self.exact_sd,
            "noise_share": self.noise_share,
        }

    @classmethod
    def _from_fields(cls, values: dict[str, Any]) -> PosteriorDraws:
        target, confusions = Estimand.from_dict(values["target"]), np.array(values["confusions"], dtype=float)
        return cls(target, confusions, values["std_error"], values["exact_sd"], values.get("noise_share", 0.0))


class InSampleDraws(PosteriorDraws):
    """Posterior draws of the labels at the training points, under no model of the classes."""

    name = "in-sample-draws"
    kind = "in-sample credible interval"
    assumptions = (
        "in-sample: given the training points and the learned length-scales and amplitudes; that the classifier was "
        "trained on the same points is not accounted for"
    )
    assumes_class_model = False


def equal_tailed(draws: Floats, level: float) -> tuple[float, float]:
    """Return the interval that leaves the same share of the draws on both sides."""
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def shortest(draws: Floats, level: float) -> tuple[float, float]:
    """Return the shortest interval that holds this share of the draws."""
    ordered = np.sort(draws)
    inside = int(np.ceil(level * len(ordered)))
    widths = ordered[inside - 1 :] - ordered[: len(ordered) - inside + 1]
    best = int(widths.argmin())
    return float(ordered[best]), float(ordered[best + inside - 1])
