"""The resampler interface: an estimate from refitting a rule on parts of a sample."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.description import Description
from bayes_gresub.data.sample import Sample, read_class_prior, read_sample
from bayes_gresub.data.seeds import Seed, seed_sequence
from bayes_gresub.data.validation import check_settings
from bayes_gresub.estimate.computation import Computation
from bayes_gresub.estimate.count_intervals import BetaInterval, WilsonInterval
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.estimate.estimands import ClassifierTrainedOn, Estimand
from bayes_gresub.estimate.intervals import IntervalMethod, NoInterval
from bayes_gresub.estimate.reasons import ClassProbabilitiesUnknown, Missing, Reason, Unfinished
from bayes_gresub.kernels import Kernel
from bayes_gresub.laws.confusion import error_mass, replicates_with_prior
from bayes_gresub.measures import Empirical
from bayes_gresub.measures.measure import Measure
from bayes_gresub.regions.region import check_predict
from bayes_gresub.regions.training import check_rule, read_for_rule, weight_argument
from bayes_gresub.resampling.interruptible import Interrupted, Work
from bayes_gresub.resampling.kept_together import check_repeated_rows, read_units
from bayes_gresub.resampling.refit import Judgement, Problem
from bayes_gresub.resampling.splits import Split, as_given, given_splits


@dataclass(frozen=True, eq=False)
class Combined:
    """The splits combined; the first axis of values and confusions runs over replicates."""

    values: Floats
    confusions: Floats
    contributions: Floats | None = None
    point_weights: Floats | None = None
    has_prior: bool = False


@dataclass(frozen=True, eq=False)
class Run:
    """One call of `error`: its problem, its work, and which tasks are the splits that the estimate averages over.

    Attributes
    ----------
    problem : Problem
    work : Work
    first, last : int or None
        Where the splits are among the tasks.
    n_partitions : int
        Partitions that the splits come from.
    n_redrawn : int
        Resamples that were redrawn.
    period : int or None
        Tasks per partition, if each partition's splits, `last` of them, are followed by other tasks.
    """

    problem: Problem
    work: Work
    first: int = 0
    last: int | None = None
    n_partitions: int = 1
    n_redrawn: int = 0
    period: int | None = None

    @property
    def splits(self) -> list[Split]:
        """Return the splits."""
        return self._of_splits(self.work.tasks)

    @property
    def judgements(self) -> list[Any]:
        """Return the results of the splits done so far."""
        return self._of_splits(self.work.results)

    @property
    def others(self) -> list[Any]:
        """Return the results of the tasks after the splits of each partition."""
        if self.period is None or self.last is None:
            return [] if self.last is None else list(self.work.results[self.last :])
        return [part for number, part in enumerate(self.work.results) if number % self.period >= self.last]

    def _of_splits(self, parts: Sequence[Any]) -> list[Any]:
        if self.period is None or self.last is None:
            return list(parts[self.first : self.last])
        return [part for number, part in enumerate(parts) if number % self.period < self.last]


class Resampler(BaseEstimator, ABC):
    """An error estimator that refits a rule on parts of the sample and judges it at the points held out.

    The rule may be a whole Pipeline or a grid search: all of it is refitted. Choices made before X was handed over,
    such as features selected on all of X, are not repeated, so they make the estimate too optimistic.
    """

    measure: Any
    sampling: str
    class_prior: Any
    n_jobs: int | None
    progress: bool | None
    random_state: Seed
    repeated_rows: str = "together"

    def error(
        self,
        rule: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        indices: Iterable[Any] | None = None,
        classifier: Any = None,
        random_state: Seed = None,
    ) -> ErrorEstimate:
        """Return the estimated error of a rule.

        Parameters
        ----------
        rule : anything that scikit-learn can clone and fit
            A Pipeline or a grid search is refitted whole. If a parameter `random_state` in it is None, it is set from
            the resampler's. A FrozenEstimator inside it is not refitted.
        X : array-like of shape (n, d) or (n, ...)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Used for the rows trained on (the fit of the rule's last step must take it) and for those held out.
        groups : array-like of shape (n,), optional
            Points of one group are never on both sides of a split. Groups that share an identical row are joined,
            unless repeated_rows="apart".
        indices : iterable, optional
            Explicit splits instead of random ones, such as `indices_` of an earlier call: pairs (train, test) of row
            numbers, or rows to train on alone; all others are then held out.
        classifier : fitted classifier, optional
            The rule fitted to all of X and y, if you have it: it saves a fit in the estimators that need one.
        random_state : int, SeedSequence, Generator or None
            Overrides that of the resampler.
        """
        started = perf_counter()
        self._check_parameters()
        check_rule(rule)
        if classifier is not None:
            check_predict(classifier)
        measure = self._measure()
        # If only labels are needed, the rule gets the rows of X as given.
        counts_points = isinstance(measure, Empirical)
        sample = read_for_rule(rule, X, y, sample_weight) if counts_points else read_sample(X, y, sample_weight)
        if self.class_prior is not None:
            read_class_prior(self.class_prior, sample.classes)
        total = None
        if sample_weight is not None:
            weight_argument(rule)
            total = float(np.sum(np.asarray(sample_weight, dtype=float)))
        seed = seed_sequence(self.random_state if random_state is None else random_state)
        units = read_units(sample, groups, self.repeated_rows)
        problem = Problem(rule, sample, total, measure, seed, classifier, units)
        self._check_problem(problem, units.groups)
        # Splits that the user names keep the groups of the user's together, and identical rows where they are.
        splits = None if indices is None else given_splits(indices, sample, units.groups)
        run = self._plan(problem, units.codes, splits)
        if measure.least_per_class > 1:
            check_parts(run.splits, sample, measure.least_per_class)
        run.work.seconds = perf_counter() - started
        # Set only now, so that a refused call keeps the results of the last one.
        self._run = run
        return self._finish(run)

    def resume(self) -> ErrorEstimate:
        """Finish an interrupted `error`, and return the estimate as if it had not been interrupted."""
        return self._finish(self._last_run())

    def partial(self) -> ErrorEstimate:
        """Return the estimate from the splits done so far, after an interrupt."""
        return self._partial(self._last_run())

    def _partial(self, run: Run) -> ErrorEstimate:
        if len(run.judgements) < self._least_splits:
            raise ValueError(
                f"{len(run.work.results)} of {len(run.work.tasks)} fits are done, too few for an estimate. Call "
                "resume() to do the rest."
            )
        return self._conclude(run)

    @property
    def indices_(self) -> list[tuple[Ints, Ints]]:
        """Return the splits of the last call as rows of its X: pairs (train, test), for replay."""
        run = self._last_run()
        return as_given(run.splits, run.problem.sample)

    @property
    def split_errors_(self) -> Floats:
        """Return the weighted error of each split that is done."""
        return split_errors(self._last_run())

    @abstractmethod
    def _plan(self, problem: Problem, groups: Ints | None, splits: list[Split] | None) -> Run:
        """Return the work to do; without splits they are drawn."""

    @abstractmethod
    def _conclude(self, run: Run) -> ErrorEstimate:
        """Return the estimate from the work done."""

    def _extend(self, run: Run) -> bool:
        """Add tasks if those done do not suffice, and return whether there are more."""
        return False

    _least_splits = 1
    """Splits that must be done before there is an estimate."""

    def _check_problem(self, problem: Problem, groups: Ints | None) -> None:
        """Raise if this problem cannot be resampled in this way."""
        kernel = getattr(problem.measure, "kernel", None)
        if isinstance(kernel, Kernel) and kernel.is_per_point(problem.sample.n_given, len(problem.sample.classes)):
            raise ValueError(
                f"widths per training point cannot be centred at points held out; got {problem.sample.n_given} widths. "
                "Give a width per class, or leave width=None to have one estimated."
            )

    def _finish(self, run: Run) -> ErrorEstimate:
        try:
            run.work.run(self.n_jobs, self.progress)
            while self._extend(run):
                run.work.run(self.n_jobs, self.progress)
            return self._conclude(run)
        except KeyboardInterrupt as stop:
            done, total = len(run.work.results), len(run.work.tasks)
            raise Interrupted(
                f"stopped after {done} of {total} fits. `partial` of this exception is their estimate; resume() of "
                f"the {type(self).__name__} does the rest.",
                lambda: self._partial_if_any(run),
            ) from stop

    def _partial_if_any(self, run: Run) -> ErrorEstimate | None:
        try:
            return self._partial(run)
        except ValueError:
            # Too few splits are done: none at all, or none with points of some class that has a known probability.
            return None

    def _estimate(
        self,
        run: Run,
        combined: Combined,
        judgements: list[Judgement],
        *,
        estimand: Estimand,
        exact: bool,
        n_refits: int,
        method: str,
        interval_method: IntervalMethod,
        no_std_error: Reason | None = None,
        no_confusion: Reason | None = None,
        details: dict[str, float] | None = None,
        name: str | None = None,
    ) -> ErrorEstimate:
        """Return the combined splits as an estimate, under the class prior if there is one."""
        classes, sample = judgements[0].classes, run.problem.sample
        values, confusions = self._under_prior(run, combined)
        has_prior = self.class_prior is not None
        if len(run.work.results) < len(run.work.tasks):
            no_std_error = Unfinished(len(run.work.results), len(run.work.tasks))
            interval_method, exact = NoInterval(no_std_error), False
        known = self.sampling == "mixture" or self.class_prior is not None
        contributions, point_weights = (None, None) if has_prior else (combined.contributions, combined.point_weights)
        if contributions is not None and point_weights is not None and len(sample.rows) < sample.n_given:
            contributions, point_weights = sample.at_given_rows(contributions), sample.at_given_rows(point_weights)
        return ErrorEstimate(
            classes=classes,
            estimand=estimand,
            computation=Computation(
                described=Description(type(self), self.get_params(deep=False)) if name is None else name,
                method=f"{method}; {judgements[0].mass.method}",
                exact=exact and all(judgement.mass.exact for judgement in judgements),
                space=judgements[0].space,
                n_predicted=sum(len(judgement.points) + judgement.mass.n_predicted for judgement in judgements),
                n_replicates=len(values),
                seconds=run.work.seconds,
                n_refits=n_refits,
            ),
            replicate_values=values,
            interval_method=interval_method,
            replicate_confusions=None if no_confusion else confusions,
            contributions=contributions,
            point_weights=point_weights,
            missing=Missing(
                value=None if known else ClassProbabilitiesUnknown(),
                std_error=no_std_error,
                confusion=no_confusion,
            ),
            details=(details or {}) | run.problem.units.details,
        )

    def _under_prior(self, run: Run, combined: Combined) -> tuple[Floats, Floats]:
        """Return values and confusions under the class prior if there is one."""
        if self.class_prior is None:
            return combined.values, combined.confusions
        prior = self._prior_over(run, combined.confusions.shape[-1])
        confusions = replicates_with_prior(combined.confusions, prior)
        # Values already under the prior keep their own spread.
        return combined.values if combined.has_prior else error_mass(confusions), confusions

    def _count_intervals(self, run: Run, combined: Combined, share: float) -> tuple[IntervalMethod, ...]:
        """Return the intervals about the estimate with this share of the effective number of units.

        With a class prior p, a point of class y has the weight p_y / n_y, whose squares add up to the variance of the
        estimate if all classes have the same error.
        """
        sample = run.problem.sample
        weights = sample.weights
        if self.class_prior is not None:
            mass = np.bincount(sample.codes, weights=weights, minlength=len(sample.classes))
            weights = weights * (read_class_prior(self.class_prior, sample.classes) / mass)[sample.codes]
        value = float(self._under_prior(run, combined)[0].mean())
        points = share * run.problem.units.effective_number(weights)
        target = ClassifierTrainedOn(len(sample.codes))
        return WilsonInterval(target, value, points), BetaInterval(target, value, points)

    def _prior_over(self, run: Run, n_classes: int) -> Floats:
        """Return the class prior, 0 for classes that only the classifiers have."""
        known = run.problem.sample.classes
        prior = np.zeros(n_classes)
        prior[: len(known)] = read_class_prior(self.class_prior, known)
        return prior

    def _measure(self) -> Measure:
        return Empirical() if self.measure is None else self.measure

    def _check_parameters(self) -> None:
        check_settings(
            sampling=self.sampling, n_jobs=self.n_jobs, random_state=self.random_state, progress=self.progress
        )
        check_repeated_rows(self.repeated_rows)
        measure = self._measure()
        if isinstance(measure, type) or not isinstance(measure, Measure) or not measure.is_centred:
            raise TypeError(
                f"measure must be one that can be centred at the points held out, such as Empirical() or Bolstered(); "
                f"got {self.measure!r}."
            )
        measure._check_parameters()
        if measure.sampling != "mixture" or measure.class_prior is not None:
            raise ValueError(
                f"sampling and class_prior must be given to {type(self).__name__}, not to the measure inside it, which "
                f"sees only parts of the sample; got sampling={measure.sampling!r} and "
                f"class_prior={measure.class_prior!r} there."
            )

    def _last_run(self) -> Run:
        if not hasattr(self, "_run"):
            raise NotFittedError(f"this {type(self).__name__} has not been used; call error(rule, X, y) first.")
        return self._run


def split_errors(run: Run) -> Floats:
    """Return the weighted error of each split that is done."""
    weights = run.problem.sample.weights
    return np.array(
        [np.average(judgement.contributions, weights=weights[judgement.points]) for judgement in run.judgements]
    )


def check_parts(splits: list[Split], sample: Sample, least: int) -> None:
    """Raise if a split leaves too few points for a measure to learn its widths from."""
    for number, split in enumerate(splits):
        counts = np.bincount(sample.codes[np.unique(split.train)], minlength=len(sample.classes))
        if counts.min() < least:
            label = sample.classes.tolist()[counts.argmin()]
            raise ValueError(
                f"this measure needs at least {least} points of every class to learn from; split {number} leaves "
                f"{counts.min()} of class {label!r} to train on. Add points of this class, or use measure=Empirical()."
            )


def check_same_classes(judgements: list[Judgement]) -> None:
    """Raise unless all splits have the same classes."""
    first = judgements[0].classes
    for judgement in judgements:
        if len(judgement.classes) != len(first) or (judgement.classes != first).any():
            raise ValueError(
                f"the classifiers of all splits must have the same classes besides those of y; got {first.tolist()!r} "
                f"and {judgement.classes.tolist()!r}."
            )
