"""ErrorEstimate: what every measure and every resampler returns. It computes only what is read off it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_gresub.data.arrays import Floats, Labels
from bayes_gresub.data.sample import plain_labels, read_class_prior
from bayes_gresub.estimate.computation import Computation
from bayes_gresub.estimate.estimands import Estimand
from bayes_gresub.estimate.intervals import Interval, IntervalMethod
from bayes_gresub.estimate.posterior_draws import PosteriorDraws
from bayes_gresub.estimate.reasons import Missing, OtherClassProbabilities, OverSamples, Reason
from bayes_gresub.estimate.stored_estimate import VERSION, check_stored, read_parts
from bayes_gresub.estimate.text import as_html, as_text
from bayes_gresub.laws.confusion import (
    class_errors,
    class_mass,
    error_mass,
    expected_cost,
    replicates_with_prior,
    standard_error,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _read_array(values: list[Any] | None) -> Floats | None:
    return None if values is None else np.array(values, dtype=float)


_ARRAY = {"read": _read_array}
"""How `from_dict` reads a field that holds numbers."""


@dataclass(frozen=True, eq=False, repr=False)
class ErrorEstimate:
    r"""The estimated error of a classifier, with all that follows from its joint confusion mass.

    .. math:: \hat\varepsilon = \hat\nu(\{(x, y): \psi(x) \ne y\}) = \sum_{y \ne j} C_{yj}, \qquad
              C_{yj} = \hat\nu(\{(x, y): \psi(x) = j\})

    Made by measures and resamplers, not by hand.

    Attributes
    ----------
    classes : ndarray of shape (c,)
        Labels, in the order of rows and columns of `confusion`.
    estimand : Estimand
        What the number estimates; `str(estimand)` is a sentence.
    computation : Computation
        How it was computed: method, exact or sampled, space, number of points predicted, seconds.
    replicate_values : ndarray of shape (r,)
        Independent replicates of the error, whose mean is `value`.
    interval_method : IntervalMethod
        What intervals are made of: a count, two moments, posterior draws; or the reason why there is none.
    replicate_confusions : ndarray of shape (r, c, c) or None
        The same for `confusion`.
    contributions : ndarray of shape (n,) or None
        Error mass of each point, between 0 and 1; `value` is their mean weighted by `point_weights`.
    point_weights : ndarray of shape (n,) or None
    missing : Missing
        Why there is no overall error, standard error or confusion mass, or why contributions of some points are
        missing.
    details : mapping from name to number
        Other numbers of the estimator, such as the no-information rate of the bootstrap.

    Examples
    --------
    >>> import numpy as np
    >>> import bayes_gresub as bg
    >>> from sklearn.neighbors import NearestCentroid
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> estimate = bg.Bolstered().fit(X, y).error(NearestCentroid().fit(X, y))
    >>> round(float(estimate), 4), estimate.computation.exact
    (0.2619, True)
    """

    classes: Labels = field(metadata={"read": np.array})
    estimand: Estimand = field(metadata={"read": Estimand.from_dict})
    computation: Computation = field(metadata={"read": Computation.from_dict})
    replicate_values: Floats = field(metadata=_ARRAY)
    interval_method: IntervalMethod = field(metadata={"read": IntervalMethod.from_dict})
    replicate_confusions: Floats | None = field(metadata=_ARRAY, default=None)
    contributions: Floats | None = field(metadata=_ARRAY, default=None)
    point_weights: Floats | None = field(metadata=_ARRAY, default=None)
    missing: Missing = field(metadata={"read": Missing.from_dict}, default=Missing())
    details: Mapping[str, float] = field(metadata={"read": dict}, default_factory=dict)

    @property
    def value(self) -> float:
        """Return the estimated error."""
        self._need_value("an overall error")
        return float(self.replicate_values.mean())

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else repr(self)

    def __round__(self, digits: int | None = None) -> float:
        return round(self.value, digits)

    @property
    def confusion(self) -> Floats:
        """Return the joint mass C[y, j] of true class y and predicted class j; it sums to 1."""
        self._need_value("the joint confusion mass")
        return self._confusions().mean(axis=0)

    @property
    def per_class(self) -> dict[Any, float]:
        """Return the error given each true class; NaN for a class without mass."""
        errors = class_errors(self._confusions().mean(axis=0))
        return dict(zip(self.classes.tolist(), errors.tolist(), strict=True))

    @property
    def std_error(self) -> float:
        """Return the Monte-Carlo standard error of `value` given the sample; it does not include bias over samples.

        0 if nothing is random, NaN if it is unknown.
        """
        self._need_value("the standard error of an overall error")
        draws = self.posterior_draws
        if draws is not None and draws.std_error is not None:
            return draws.std_error
        return standard_error(self.replicate_values) if self.missing.std_error is None else float("nan")

    @property
    def internal_variance(self) -> float:
        """Return the variance of `value` given the sample, from the random points: the square of `std_error`."""
        return self.std_error**2

    @property
    def prior_known(self) -> bool:
        """Return whether the class probabilities, hence the overall error, are known."""
        return self.missing.value is None

    @property
    def posterior_draws(self) -> PosteriorDraws | None:
        """Return the posterior draws of the confusion mass, or None without a posterior."""
        return self.interval_method.posterior

    @property
    def confusion_draws(self) -> Floats | None:
        """Return posterior draws of `confusion`, shape (draws, c, c), or None without a posterior."""
        return None if self.posterior_draws is None else self.posterior_draws.confusions

    @property
    def draws(self) -> Floats | None:
        """Return posterior draws of the error, or None without a posterior."""
        if self.posterior_draws is None:
            return None
        self._need_value("draws of the overall error")
        return self.posterior_draws.errors

    @property
    def posterior_sd(self) -> float | None:
        """Return the posterior standard deviation of the error, exact if it is known; None without a posterior."""
        if self.posterior_draws is None:
            return None
        self._need_value("the posterior standard deviation of the overall error")
        return self.posterior_draws.sd

    @property
    def posterior(self) -> Any:
        """Return what the draws come from, such as a fitted model; None without one, or if read from a file."""
        return None if self.posterior_draws is None else self.posterior_draws.source

    @property
    def no_interval(self) -> Reason | None:
        """Return why there is no interval, or None if there is one."""
        return self.missing.value or self.interval_method.reason

    @property
    def balanced_error(self) -> float:
        """Return the mean of the per-class errors of the classes with mass."""
        return float(np.nanmean(class_errors(self._confusions().mean(axis=0))))

    @property
    def majority_class_error(self) -> float:
        """Return the error of always predicting the most frequent class, for comparison."""
        return max(0.0, float(1.0 - class_mass(self.confusion).max()))

    @property
    def sensitivity(self) -> float:
        """Return P(predicted positive | positive); the second of two classes is the positive one."""
        self._need_two_classes()
        return 1.0 - self.per_class[self.classes.tolist()[1]]

    @property
    def specificity(self) -> float:
        """Return P(predicted negative | negative); the first of two classes is the negative one."""
        self._need_two_classes()
        return 1.0 - self.per_class[self.classes.tolist()[0]]

    def cost(self, matrix: ArrayLike) -> float:
        """Return the expected cost; `matrix[y, j]` is the cost of predicting j if y is true."""
        return float(expected_cost(self.confusion, matrix))

    def with_class_prior(self, prior: Any) -> ErrorEstimate:
        """Return the estimate for the same classifier if the classes have these probabilities.

        It has no `contributions`; give `class_prior` to the measure to keep them.

        Parameters
        ----------
        prior : dict from label to probability, or sequence in the order of `classes`
        """
        probabilities = read_class_prior(prior, self.classes)
        confusions = replicates_with_prior(self._confusions(), probabilities)
        estimand = self.estimand.with_class_probabilities(self.classes, probabilities)
        method = self.interval_method.with_class_prior(probabilities, estimand)
        noise_lost = _has_noise(self.interval_method) and not _has_noise(method)
        return replace(
            self,
            estimand=estimand,
            replicate_values=error_mass(confusions),
            replicate_confusions=confusions,
            interval_method=method,
            contributions=None,
            point_weights=None,
            missing=Missing(std_error=OtherClassProbabilities() if noise_lost else self.missing.std_error),
        )

    def interval(self, level: float = 0.95, method: str | None = None) -> Interval:
        """Return an interval of the error if an argument supports one; otherwise raise with the reason.

        Parameters
        ----------
        level : float, default 0.95
        method : str, optional
            "equal-tailed" (default) or "hdi" if there are posterior draws. Otherwise one that the estimator supports:
            "clopper-pearson" or "bounded-mean" (test set); "wilson", "beta", "corrected-t" or "nested-cv"
            (cross-validation); "corrected-t" or "conservative-z" (subsampling); "wilson", "beta" or "delta-bootstrap"
            (bootstrap). `interval_method.choices` lists them, the default first.
        """
        self._need_value("an interval of an overall error")
        return self.interval_method.interval(level, method)

    def probability_below(self, threshold: float) -> float:
        """Return the posterior probability that the error is below a threshold; it needs posterior draws.

        Draws that equal the threshold count half.
        """
        draws = self.draws
        if draws is None:
            raise ValueError(
                f"a probability needs posterior draws; this estimate has none: {self.no_interval or OverSamples()}. "
                "Use a measure that draws, such as Bayesian()."
            )
        if not isinstance(threshold, int | float | np.number) or not 0 <= threshold <= 1:
            raise ValueError(f"threshold must be an error between 0 and 1; got {threshold!r}.")
        return float((draws < threshold).mean() + 0.5 * (draws == threshold).mean())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the error overall and given each class, with intervals if they exist; see `plots.plot_estimate`.

        Examples
        --------
        >>> import bayes_gresub as bg
        >>> from sklearn.neighbors import NearestCentroid
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
        >>> bg.Empirical().fit(X, y).error(NearestCentroid().fit(X, y)).plot().get_xlabel()
        'estimated error (probability)'
        """
        from bayes_gresub.plots import plot_estimate

        return plot_estimate(self, ax)

    def to_inference_data(self, **groups: Any) -> Any:
        """Return the posterior of the error and all parameters for ArviZ; see `Bayesian.to_inference_data`."""
        if self.posterior is None:
            raise ValueError(
                "there is no posterior to hand to ArviZ: this estimate was not made by a Bayesian measure, or was read "
                "back from a file, or has other class probabilities than the measure (give it class_prior instead)."
            )
        return self.posterior.to_inference_data(self, **groups)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python objects for JSON; value, std_error and confusion are for readers."""
        known, has_noise = self.prior_known, self.missing.std_error is None
        readings = {
            "value": self.value if known else None,
            "std_error": self.std_error if known and has_noise else None,
            "confusion": self.confusion.tolist() if known and self.replicate_confusions is not None else None,
        }
        stored = {part.name: _plain(getattr(self, part.name)) for part in fields(self)}
        return {"version": VERSION} | readings | stored | {"classes": plain_labels(self.classes)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> ErrorEstimate:
        """Return the estimate that `to_dict` described, or raise if it is not whole or does not agree with itself."""
        estimate = cls(**read_parts(fields(cls), data))
        check_stored(estimate, data)
        return estimate

    def to_json(self) -> str:
        """Return `to_dict` as a JSON string; numbers survive to the last digit."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> ErrorEstimate:
        """Return the estimate that `to_json` wrote."""
        try:
            data = json.loads(text)
        except (TypeError, ValueError) as error:
            raise ValueError(f"an estimate is read from the text that to_json wrote; got {text!r:.60}.") from error
        return cls.from_dict(data)

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)

    def _confusions(self) -> Floats:
        if self.replicate_confusions is None:
            raise ValueError(f"there is no confusion mass: {self.missing.confusion}.")
        return self.replicate_confusions

    def _need_value(self, reading: str) -> None:
        if self.missing.value is not None:
            raise ValueError(f"{reading} is unknown: {self.missing.value}.")

    def _need_two_classes(self) -> None:
        if len(self.classes) != 2:
            raise ValueError(
                f"sensitivity and specificity are defined for two classes; got {len(self.classes)}. Use per_class."
            )


def _has_noise(method: IntervalMethod) -> bool:
    """Return whether the Monte-Carlo standard error is that of posterior draws."""
    return method.posterior is not None and method.posterior.std_error is not None


def _plain(part: Any) -> Any:
    """Return a field of an estimate as plain Python objects."""
    if hasattr(part, "to_dict"):
        return part.to_dict()
    return part.tolist() if isinstance(part, np.ndarray) else dict(part) if isinstance(part, Mapping) else part
