"""The measure interface: a law on (x, y) learned from a sample, and the error of any classifier under it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bayes_gresub.data.arrays import Floats, Labels
from bayes_gresub.data.description import Description
from bayes_gresub.data.sample import Sample, read_class_prior, read_sample
from bayes_gresub.data.seeds import DRAWS, Seed, child, seed_sequence
from bayes_gresub.data.validation import check_settings, check_whole
from bayes_gresub.estimate.computation import Computation
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.estimate.estimands import ThisClassifier
from bayes_gresub.estimate.intervals import NoInterval
from bayes_gresub.estimate.posterior_draws import PosteriorDraws
from bayes_gresub.estimate.reasons import (
    CentersSubsampled,
    ClassProbabilitiesUnknown,
    IndependenceUnknown,
    Missing,
    TrainedOnThesePoints,
)
from bayes_gresub.estimate.text import NO_SPACE
from bayes_gresub.laws.components import Components
from bayes_gresub.laws.confusion import Confusion, confusions_at_scales, standard_error
from bayes_gresub.laws.law import Law
from bayes_gresub.laws.sampling import Sampler
from bayes_gresub.laws.subsampled_centers import Subsampled, needs_sampling, subsampled_confusions
from bayes_gresub.regions.region import Region, decision_region

NOT_FITTED = "this %(name)s is not fitted; call fit(X, y) first."

PointFunction = Callable[[Any, Labels], ArrayLike]

_LARGEST_FACTOR = 1e100
"""The largest factor on widths: points farther away could not be represented."""


@dataclass(frozen=True)
class MeasuredValue:
    """A mean under a measure, with its Monte-Carlo standard error (0 if it is a finite sum)."""

    value: float
    std_error: float

    def __float__(self) -> float:
        return self.value


class Measure(BaseEstimator, ABC):
    r"""A law on (x, y) learned from a sample.

    .. math:: \hat\nu = \sum_i w_i \, \mu_i(dx) \, \eta_i(dy \mid x)

    A measure learns from a sample (`_fit`) and returns its law, centred at given points (`law`); everything else is
    defined here in terms of that law. It depends only on the sample and on the classifier, not on earlier decisions:
    features selected or parameters tuned on the same data make every measure too optimistic.
    """

    sampling: str
    class_prior: Any
    random_state: Seed
    n_points: int = 1
    tol: float | None = None
    n_jobs: int | None = None
    max_centers: int | None = None
    semi: bool = False

    moves_points = False
    """Whether the law on x has mass away from the points, so that the classifier must predict there too."""

    needs_labels = True
    """Whether points that the law is centred at must have labels."""

    least_per_class = 1
    """Number of distinct points of each class that the measure needs to learn."""

    is_centred = True
    """Whether the law can be centred at points other than those of the sample, as resampling needs."""

    has_draws = False
    """Whether `error` returns posterior draws, the same ones for every classifier."""

    draws_at_training_points = False
    """Whether these are draws of labels at points that the classifier was trained on, not of whole laws."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the measure from a sample.

        Parameters
        ----------
        X : array-like of shape (n, d) or (n, ...)
            Features; of any shape after the first axis (images), or a DataFrame.
        y : array-like of shape (n,)
            Labels of any type.
        sample_weight : array-like of shape (n,), optional
            Masses of the points, up to a factor. Widths ignore them, except that points of weight zero are dropped.

        Returns
        -------
        self
        """
        self._check_parameters()
        return self.fit_sample(read_sample(X, y, sample_weight), seed_sequence(self.random_state))

    def fit_sample(self, sample: Sample, seed: np.random.SeedSequence) -> Self:
        """Learn the measure from a validated sample, or a part of one, which may lack some of its classes."""
        if self.class_prior is not None:
            read_class_prior(self.class_prior, sample.classes)
        self._fit(sample, seed)
        self._remember(sample)
        return self

    def _remember(self, sample: Sample) -> None:
        self._sample = sample
        self._prior = None if self.class_prior is None else read_class_prior(self.class_prior, sample.classes)
        parts = [vars(self)[name] for name in ("kernel_", "posterior_") if hasattr(vars(self).get(name), "space_")]
        self.space_ = "; ".join(dict.fromkeys(part.space_ for part in parts)) or NO_SPACE
        self.classes_ = sample.classes
        self.n_features_in_ = sample.features.shape[1]

    @abstractmethod
    def _fit(self, sample: Sample, seed: np.random.SeedSequence) -> None:
        """Learn what the law needs; a fit that fails leaves the measure as it was."""

    @abstractmethod
    def law(self, at: Sample | None = None, region: Region | None = None) -> Law:
        """Return the law of the measure.

        Parameters
        ----------
        at : Sample, optional
            The points that it is centred at; the training points by default.
        region : Region, optional
            Decision regions of the classifier, with its labels at these points; semi-bolstering depends on them.
        """

    def law_draws(self, seed: np.random.SeedSequence) -> Iterator[Law]:
        """Yield posterior draws of the law in blocks; nothing if there is no posterior."""
        return iter(())

    def error(
        self,
        classifier: Any,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        random_state: Seed = None,
    ) -> ErrorEstimate:
        """Return the mass that the measure gives to the set where a trained classifier errs.

        Parameters
        ----------
        classifier : fitted object with `predict`
            It is never retrained.
        X, y : array-like, optional
            Centre the measure at these points instead of the training points; widths and posteriors stay those learned
            in `fit`.
        sample_weight : array-like, optional
            Masses of these points.
        random_state : int, SeedSequence, Generator or None
            Overrides the measure's own.
        """
        return self._errors(classifier, (1.0,), X, y, sample_weight, random_state)[0]

    def errors_at_scales(
        self,
        classifier: Any,
        scales: Sequence[float],
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        random_state: Seed = None,
    ) -> list[ErrorEstimate]:
        """Return the error with all widths multiplied by each of `scales`, from one set of standard draws.

        The other parameters are those of `error`; each estimate counts the points and seconds of all scales together.
        """
        try:
            factors = np.asarray(scales, dtype=float)
        except (TypeError, ValueError) as error:
            raise ValueError(f"scales must be a sequence of numbers; got {scales!r}.") from error
        if factors.ndim != 1 or not len(factors) or not np.isfinite(factors).all() or (factors < 0).any():
            raise ValueError(f"scales must be a sequence of finite numbers of at least 0; got {scales!r}.")
        if factors.max() > _LARGEST_FACTOR:
            raise ValueError(f"scales must be at most {_LARGEST_FACTOR:g}; got {factors.max():.3g}. Lower them.")
        return self._errors(classifier, factors.tolist(), X, y, sample_weight, random_state)

    def confusions(
        self,
        classifier: Any,
        at: Sample,
        seed: np.random.SeedSequence,
        scales: Sequence[float] = (1.0,),
        in_part: bool = False,
    ) -> tuple[Sequence[Confusion], Region]:
        """Return the mass by label and prediction about each point of a sample, once per factor on the widths.

        `in_part` means that the classifier was just trained on part of a sample that was checked as a whole.
        """
        region = decision_region(classifier, at, seed, self.moves_points, in_part)
        law = self.law(at, region)
        if len(region.classes) > len(self.classes_):
            law = law.over(len(region.classes))
        sampler = Sampler(seed, self.n_points, self.tol, self.n_jobs)
        return confusions_at_scales(law, region, sampler, scales, region.center_labels), region

    def components(self, classifier: Any) -> Components:
        """Return the laws on x about the training points, in the units of X, as used for `classifier`.

        Examples
        --------
        >>> import bayes_gresub as bg
        >>> from sklearn.neighbors import NearestCentroid
        >>> X, y = [[0.0], [1.0], [2.0], [4.0]], [0, 0, 1, 1]
        >>> laws = bg.Bolstered(bg.UniformBall()).fit(X, y).components(NearestCentroid().fit(X, y))
        >>> laws.centers.tolist(), laws.feature_deviations()[laws.group].tolist()
        ([[0.0], [1.0], [2.0], [4.0]], [[2.0], [2.0], [4.0], [4.0]])
        """
        return self._law_for(classifier, seed_sequence(self.random_state)).components

    def sample(self, n: int, *, classifier: Any = None, random_state: Seed = None) -> tuple[Any, Labels]:
        """Draw n independent pairs (x, y) from the measure, x in the format of the training features.

        `classifier` is needed for semi-bolstering only.
        """
        training = self.training_sample
        size = check_whole(n, "n", 1)
        self._need_class_probabilities()
        seed = seed_sequence(self.random_state if random_state is None else random_state)
        rng = np.random.default_rng(child(seed, DRAWS))
        sampler = Sampler(seed, self.n_points, self.tol, self.n_jobs)
        points, codes = self._law_for(classifier, seed).sample(size, rng, sampler)
        return self._restored(points), training.classes[codes]

    def expectation(self, loss: PointFunction, *, classifier: Any = None, random_state: Seed = None) -> MeasuredValue:
        """Return the mean of `loss(X, y)` under the measure.

        Parameters
        ----------
        loss : callable
            Takes points in the format of the training features and their labels; returns one finite number per point.
        classifier : fitted object with `predict`, optional
            Needed only if the measure depends on the classifier (semi-bolstering).
        random_state : int, SeedSequence, Generator or None
            Overrides the measure's own.
        """
        training = self.training_sample
        self._need_class_probabilities()
        seed = seed_sequence(self.random_state if random_state is None else random_state)

        def losses(points: Floats, code: int) -> Floats:
            return checked_losses(loss, self._restored(points), np.full(len(points), training.classes[code]))

        sampler = Sampler(seed, self.n_points, self.tol, self.n_jobs)
        values = self._law_for(classifier, seed).expectation(losses, sampler)
        return MeasuredValue(float(values.mean()), standard_error(values))

    def probability(self, event: PointFunction, *, classifier: Any = None, random_state: Seed = None) -> MeasuredValue:
        """Return the mass of the set where `event(X, y)` is true; parameters as in `expectation`."""

        def indicator(X: Any, y: Labels) -> Floats:
            inside = np.asarray(event(X, y))
            if inside.dtype != bool:
                raise TypeError(f"event must return booleans; got {inside.dtype}. Use expectation for a loss.")
            return inside.astype(float)

        return self.expectation(indicator, classifier=classifier, random_state=random_state)

    @property
    def training_sample(self) -> Sample:
        """Return the validated sample that the measure was fitted to."""
        check_is_fitted(self, "classes_", msg=NOT_FITTED)
        return self._sample

    def _errors(
        self,
        classifier: Any,
        scales: Sequence[float],
        X: ArrayLike | None,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None,
        random_state: Seed,
    ) -> list[ErrorEstimate]:
        started = perf_counter()
        check_is_fitted(self, "classes_", msg=NOT_FITTED)
        at = self._sample if X is None and y is None and sample_weight is None else self._others(X, y, sample_weight)
        seed = seed_sequence(self.random_state if random_state is None else random_state)
        masses: Sequence[Confusion | Subsampled]
        if self.max_centers is not None and len(at.features) > self.max_centers:
            masses, region = self._subsampled(classifier, at, seed, scales, self.max_centers)
        else:
            masses, region = self.confusions(classifier, at, seed, scales)
        draws = self._posterior_draws(region, seed) if self.has_draws and at is self._sample else None
        seconds = perf_counter() - started
        return [
            self._estimate(mass, scale, at, region, seconds, draws) for mass, scale in zip(masses, scales, strict=True)
        ]

    def _subsampled(
        self, classifier: Any, at: Sample, seed: np.random.SeedSequence, scales: Sequence[float], size: int
    ) -> tuple[Sequence[Confusion | Subsampled], Region]:
        """Return what `confusions` does, but about random subsamples of the points if it must be sampled."""
        region = decision_region(classifier, at, seed, self.moves_points)
        law = self.law(at, region).over(len(region.classes))
        sampler = Sampler(seed, self.n_points, self.tol, self.n_jobs)
        if not needs_sampling(law, region, scales):
            return confusions_at_scales(law, region, sampler, scales, region.center_labels), region
        # Contributions differ most between labels, and between points that are classified correctly and wrongly.
        strata = at.codes * len(region.classes) + region.center_labels
        return subsampled_confusions(law, region, sampler, scales, region.center_labels, strata, size), region

    def _others(self, X: ArrayLike | None, y: ArrayLike | None, sample_weight: ArrayLike | None) -> Sample:
        """Return the points to centre at, if they are not the training points."""
        if X is None:
            raise ValueError("y and sample_weight go with X; got them without X. Pass X too, or none of them.")
        points = self._sample.others(X, y, sample_weight)
        if y is None and self.needs_labels:
            raise ValueError(
                f"{type(self).__name__} needs the labels of the points it is centred at; got X without y. Pass y, or "
                "use PosteriorProbability, which needs none."
            )
        return points

    def _estimate(
        self,
        mass: Confusion | Subsampled,
        scale: float,
        at: Sample,
        region: Region,
        seconds: float,
        draws: PosteriorDraws | None,
    ) -> ErrorEstimate:
        outcome = mass.reduced()
        all_kept = len(at.rows) == at.n_given
        known = self.sampling == "mixture" or self.class_prior is not None
        subsampled = None if mass.n_centers is None else CentersSubsampled(mass.n_centers, len(at.features))
        reason = TrainedOnThesePoints() if at is self._sample else IndependenceUnknown()
        parameters = {name: value for name, value in vars(self).items() if name[0] != "_" and name[-1] != "_"}
        for part in ("kernel", "posterior"):
            if part in parameters and parameters[part] is None:
                parameters[part] = type(getattr(self, f"{part}_"))
        return ErrorEstimate(
            classes=region.classes,
            estimand=ThisClassifier(),
            computation=Computation(
                described=Description(type(self), parameters, "" if scale == 1 else f" with widths times {scale:g}"),
                method=mass.method,
                exact=mass.exact,
                space=self.space_,
                n_predicted=len(at.features) + mass.n_predicted,
                n_replicates=len(outcome.values),
                seconds=seconds,
                n_centers=mass.n_centers,
            ),
            replicate_values=outcome.values,
            replicate_confusions=outcome.confusions,
            contributions=outcome.contributions if all_kept else at.at_given_rows(outcome.contributions),
            point_weights=outcome.weights if all_kept else at.at_given_rows(outcome.weights),
            interval_method=draws or NoInterval(reason),
            missing=Missing(value=None if known else ClassProbabilitiesUnknown(), contributions=subsampled),
        )

    def _posterior_draws(self, region: Region, seed: np.random.SeedSequence) -> PosteriorDraws | None:
        """Return posterior draws of the confusion mass at the training points, if the measure has them."""
        return None

    def _law_for(self, classifier: Any, seed: np.random.SeedSequence) -> Law:
        """Return the law at the training points; a classifier is needed if the law depends on it."""
        if classifier is None:
            return self.law()
        return self.law(region=decision_region(classifier, self.training_sample, seed, self.moves_points))

    def _need_class_probabilities(self) -> None:
        if self.sampling == "separate" and self.class_prior is None:
            raise ValueError(
                "a mean under the measure needs the class probabilities, which sampling='separate' does not learn. "
                "Give class_prior to the measure."
            )

    def _restored(self, points: Floats) -> Any:
        form = self.training_sample.format
        return (form if self.moves_points else form.unmoved()).restore(points, form.feature_names)

    def _check_parameters(self) -> None:
        check_settings(
            sampling=self.sampling,
            random_state=self.random_state,
            n_points=self.n_points,
            tol=self.tol,
            n_jobs=self.n_jobs,
            semi=self.semi,
            max_centers=self.max_centers,
        )


def checked_losses(loss: PointFunction, X: Any, y: Labels) -> Floats:
    """Return the losses of points, or raise if they are not one finite number each."""
    values = np.asarray(loss(X, y), dtype=float)
    if values.shape != (len(y),) or not np.isfinite(values).all():
        raise ValueError(
            f"loss(X, y) must return one finite number per point; got shape {values.shape} for {len(y)} points"
            f"{'' if np.isfinite(values).all() else ', some of them not finite'}."
        )
    return values
