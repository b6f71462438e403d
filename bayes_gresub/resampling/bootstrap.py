"""The bootstrap estimators: zero, .632 and .632+."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from bayes_gresub.data.arrays import Ints
from bayes_gresub.data.description import describe
from bayes_gresub.data.sample import Sample
from bayes_gresub.data.seeds import Seed
from bayes_gresub.data.validation import check_whole, warn_user
from bayes_gresub.estimate.count_intervals import BOOTSTRAP_SHARES
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.estimate.estimands import ClassifierTrainedOn, Estimand, RuleTrainedOn, RuleTrainedOnDistinct
from bayes_gresub.estimate.intervals import DeltaInterval, IntervalMethod, NoInterval, SeveralIntervals
from bayes_gresub.estimate.reasons import (
    NoiseExceedsSpread,
    NoSpread,
    OtherResamples,
    PlusWeights,
    Reason,
    TooFewResamples,
    UnequalWeights,
    Unfinished,
)
from bayes_gresub.laws.confusion import error_mass, replicates_with_prior, with_prior
from bayes_gresub.measures import Empirical
from bayes_gresub.resampling.interruptible import Work
from bayes_gresub.resampling.plus_mixture import CLIPS, Mixture, plus_mixture
from bayes_gresub.resampling.refit import Judgement, Problem
from bayes_gresub.resampling.resampler import Combined, Resampler, Run
from bayes_gresub.resampling.splits import Split, bootstrap_splits, check_groups_in_classes
from bayes_gresub.resampling.zero_bootstrap import ZeroEstimate, influence, zero_estimate

KINDS = ("zero", "632", "632+")

_LEAST_RESAMPLES = 50
"""With fewer the delta method is mostly noise."""


class Bootstrap(Resampler):
    r"""Errors at the points that resamples with replacement leave out, alone or balanced by the apparent error.

    With err the apparent error (the measure at the training points), E1 the zero bootstrap, averaged per point over
    the resamples that leave it out, and g the no-information rate, the error if labels and predictions were unrelated,

    .. math::
        \hat\varepsilon_{zero} &= E_1 \\
        \hat\varepsilon_{632} &= .368\,err + .632\,E_1 \\
        \hat\varepsilon_{632+} &= \hat\varepsilon_{632} + (E_1' - err)\,\frac{.368 \cdot .632\,R}{1 - .368 R}, \quad
        E_1' = \min(E_1, g), \quad R = \frac{E_1' - err}{g - err}, \quad g = \sum_l p_l (1 - q_l)

    where p and q are the frequencies of the classes and of the predictions; R is 0 unless E1 > err and g > err. The
    zero bootstrap estimates the rule's error at about .632 n different points, so it is too high; the other two correct
    for the size. None sees choices made before X was handed over, such as selected features: put those into the rule.

    The usual interval of .632 and .632+ is Wilson's about the estimate, with half or .8 of the points (see
    `estimate.count_intervals`); `estimate.interval(method="delta-bootstrap")` is that of the delta method, which is the
    usual one of the zero bootstrap and if the measure is not the empirical one. If all points left out are classified
    correctly, or all wrongly, the zero bootstrap has Wilson's too.

    A resample that loses a class (or, for measures with widths, keeps a single point of it) is redrawn and counted.

    Parameters
    ----------
    kind : "zero", "632" or "632+"
    n_resamples : int, default 200
    clip : "efron-tibshirani", "ipred" or "none"
        What happens if E1 exceeds g; libraries differ here. "efron-tibshirani": as above, E1' in the rate
        and in the correction. "ipred": E1' in the correction only, so R may exceed 1. "none": E1 everywhere, so the
        estimate may leave [0, 1].
    measure : Measure, optional
        `Empirical()` by default. The weights .368 and .632 were derived for that one.
    repeated_rows, sampling, class_prior, n_jobs, progress, random_state
        As in `CrossValidation`. Identical rows are drawn together, as groups are; with sampling="separate" resamples
        are drawn within classes.

    References
    ----------
    Efron & Tibshirani, Improvements on cross-validation: the .632+ bootstrap method, JASA 92 (1997).

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = bg.datasets.PaperGaussian().sample(60, random_state=0)
    >>> estimate = bg.Bootstrap("632+", n_resamples=50, random_state=0).error(KNeighborsClassifier(3), X, y)
    >>> 0.1 < float(estimate) < 0.4, round(estimate.details["no_information_rate"], 2)
    (True, 0.5)
    """

    def __init__(
        self,
        kind: str = "632+",
        n_resamples: int = 200,
        *,
        clip: str = "efron-tibshirani",
        measure: Any = None,
        repeated_rows: str = "together",
        sampling: str = "mixture",
        class_prior: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
        random_state: Seed = None,
    ) -> None:
        self.kind = kind
        self.n_resamples = n_resamples
        self.clip = clip
        self.measure = measure
        self.repeated_rows = repeated_rows
        self.sampling = sampling
        self.class_prior = class_prior
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def errors(
        self, rule: Any, X: Any, y: Any, kinds: Sequence[str] = KINDS, **arguments: Any
    ) -> dict[str, ErrorEstimate]:
        """Return the estimates of several kinds from one set of resamples; arguments as in `error`."""
        if isinstance(kinds, str) or not len(kinds):
            raise ValueError(f"kinds must be a list of 'zero', '632' and '632+'; got {kinds!r}.")
        for kind in kinds:
            _check_kind(kind)
        # A copy computes the kind that needs the most fits; all kinds are read off its fits.
        copy = clone(self).set_params(kind=max((*kinds, self.kind), key=KINDS.index))
        try:
            copy.error(rule, X, y, **arguments)
        finally:
            if hasattr(copy, "_run"):
                self._run = copy._run
        run = copy._last_run()
        return {kind: self._as_kind(kind, run) for kind in kinds}

    @property
    def n_redrawn_(self) -> int:
        """Return how many resamples of the last call were redrawn."""
        return self._last_run().n_redrawn

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _check_kind(self.kind)
        check_whole(self.n_resamples, "n_resamples", 2)
        if self.clip not in CLIPS:
            raise ValueError(f"clip must be one of {', '.join(map(repr, CLIPS))}; got {self.clip!r}.")
        if self.kind != "632+":
            return
        if self.sampling == "separate" and self.class_prior is None:
            raise ValueError(
                "the no-information rate of .632+ needs the class probabilities, which sampling='separate' does not "
                "learn. Give class_prior, or use kind='632'."
            )

    def _check_problem(self, problem: Problem, groups: Ints | None) -> None:
        super()._check_problem(problem, groups)
        if self.sampling == "separate" and groups is not None:
            check_groups_in_classes(problem.sample, groups)

    def _plan(self, problem: Problem, groups: Ints | None, splits: list[Split] | None) -> Run:
        redrawn = 0
        if splits is None:
            splits, redrawn = bootstrap_splits(
                problem.sample,
                self.n_resamples,
                self.sampling == "separate",
                groups,
                self._measure().least_per_class,
                problem.seed,
            )
        # The apparent error comes first, so that a partial result has it.
        apparent = [] if self.kind == "zero" else [None]
        work = Work(_Judge(problem, len(apparent)), [*apparent, *splits], "bootstrap", in_parent=len(apparent))
        return Run(problem, work, first=len(apparent), n_redrawn=redrawn)

    _least_splits = 2

    def _conclude(self, run: Run) -> ErrorEstimate:
        return self._as_kind(self.kind, run)

    def _as_kind(self, kind: str, run: Run) -> ErrorEstimate:
        judgements = run.judgements
        sample = run.problem.sample
        n = len(sample.codes)
        if kind != "zero" and run.first == 0:
            raise ValueError(f"kind={kind!r} needs the apparent error, which was not computed; call error(...) again.")
        zero = zero_estimate(judgements, sample.weights)
        details = {"resamples_redrawn": float(run.n_redrawn), "points_never_left_out": float(zero.n_dropped)}
        untested = np.setdiff1d(np.arange(len(sample.classes)), sample.codes[zero.point_weights > 0])
        if len(untested):
            details["classes_never_tested"] = float(len(untested))
            _warn_of_untested(sample, untested)
        refits = len(judgements)
        combined = Combined(zero.values, zero.confusions, zero.contributions, zero.point_weights)
        estimand: Estimand
        no_confusion = None
        if kind == "zero":
            distinct = float(np.mean([len(np.unique(split.train)) for split in run.splits]))
            estimand = RuleTrainedOnDistinct(round(distinct), n)
        else:
            apparent = run.work.results[0]
            refits += run.problem.classifier is None
            judgements = [apparent, *judgements]
            estimand = RuleTrainedOn(n)
            combined, mixture = self._mix(kind, run, apparent, zero)
            details |= mixture.details
            no_confusion = mixture.no_confusion
        return self._estimate(
            run,
            combined,
            judgements,
            estimand=estimand,
            exact=False,
            n_refits=refits,
            method=f"{len(run.judgements)} resamples with replacement",
            interval_method=self._interval_method(kind, run, zero, combined),
            details=details,
            no_confusion=no_confusion,
            name=describe(self, kind=kind),
        )

    def _mix(self, kind: str, run: Run, apparent: Judgement, zero: ZeroEstimate) -> tuple[Combined, Mixture]:
        """Mix the apparent error with the zero bootstrap, under the class prior if there is one."""
        at_points = apparent.mass.reduced(run.problem.sample.weights)
        plain = Mixture(0.368, 0.632, 0.0, 0.632)
        apparent_mass, zero_masses = at_points.confusions.mean(axis=0), zero.confusions
        if self.class_prior is not None:
            prior = self._prior_over(run, len(apparent_mass))
            apparent_mass, zero_masses = with_prior(apparent_mass, prior), replicates_with_prior(zero_masses, prior)
        mixture = plain if kind == "632" else plus_mixture(apparent_mass, zero_masses.mean(axis=0), self.clip)
        unrelated_mass = np.outer(apparent_mass.sum(axis=1), apparent_mass.sum(axis=0))
        confusions = mixture.of(apparent_mass, zero_masses, unrelated_mass)
        # The weights of the mixture depend on E1 too, so the spread of the replicates must include that.
        e1 = error_mass(zero_masses)
        values = error_mass(confusions).mean() + mixture.slope * (e1 - e1.mean())
        return Combined(values, confusions, has_prior=True), mixture

    def _interval_method(self, kind: str, run: Run, zero: ZeroEstimate, combined: Combined) -> IntervalMethod:
        """Return the intervals, the usual one first, or why there is none."""
        delta = self._delta_method(kind, run, zero)
        outcome = (DeltaInterval.name, delta) if isinstance(delta, Reason) else delta
        no_delta = NoInterval(delta) if isinstance(delta, Reason) else delta
        if self.sampling == "separate" and self.class_prior is None:
            return no_delta
        if not isinstance(self._measure(), Empirical) or (kind == "zero" and delta != NoSpread()):
            return no_delta
        return SeveralIntervals.of(*self._count_intervals(run, combined, BOOTSTRAP_SHARES[kind]), outcome)

    def _delta_method(self, kind: str, run: Run, zero: ZeroEstimate) -> DeltaInterval | Reason:
        """Return the delta method after bootstrap, or why it does not apply."""
        if reason := self._no_delta_method(kind, run):
            return reason
        n, units = len(run.problem.sample.codes), run.problem.units.codes
        units = np.arange(n) if units is None else units
        size = np.bincount(units)
        drawn = np.array([np.bincount(units[split.train], minlength=len(size)) for split in run.splits])
        counts, rest = np.divmod(drawn, size)
        n_held_out = [np.bincount(units[split.test], minlength=len(size)) for split in run.splits]
        if rest.any() or (counts.sum(axis=1) != len(size)).any() or ((counts == 0) * size != n_held_out).any():
            return OtherResamples()
        if len(counts) < _LEAST_RESAMPLES:
            return TooFewResamples(_LEAST_RESAMPLES)
        moves, noise = influence(zero, run.judgements, counts, units)
        center = zero.value
        if kind == "632":
            at_points = run.work.results[0].contributions
            apparent = np.bincount(units, weights=at_points - at_points.mean())
            moves = 0.632 * moves + 0.368 * apparent / n
            center = 0.632 * center + 0.368 * float(at_points.mean())
            noise *= 0.632**2
        if not moves.any():
            return NoSpread()
        variance = float(moves @ moves) - noise
        if variance <= 0:
            return NoiseExceedsSpread()
        return DeltaInterval(ClassifierTrainedOn(n), center, float(np.sqrt(variance)))

    def _no_delta_method(self, kind: str, run: Run) -> Reason | None:
        """Return why the delta method does not apply to such an estimate; None if it does."""
        if kind == "632+":
            return PlusWeights()
        if self.sampling != "mixture" or self.class_prior is not None or run.problem.weight_total is not None:
            return UnequalWeights()
        return None if run.work.is_done else Unfinished(len(run.work.results), len(run.work.tasks))


class _Judge:
    """The work of one task: the apparent error if the task names no split."""

    def __init__(self, problem: Problem, n_apparent: int) -> None:
        self.problem = problem
        self.n_apparent = n_apparent

    def __call__(self, number: int, split: Split | None) -> Judgement:
        if split is None:
            return self.problem.judge_apparent()
        judgement = self.problem.judge(number - self.n_apparent, split)
        # Resamples are the replicates here, so those of the measure are averaged.
        if len(judgement.mass.replicates) == 1:
            return judgement
        return replace(judgement, mass=judgement.mass.in_replicates(1))

    def __getstate__(self) -> dict[str, Any]:
        # The classifier may be large, and only the first process needs it.
        return {**self.__dict__, "problem": replace(self.problem, classifier=None)}


def _warn_of_untested(sample: Sample, untested: Ints) -> None:
    """Warn if every resample holds all points of a class, so that its errors are not part of the estimate."""
    warn_user(
        "the bootstrap tests a class at points that a resample leaves out; no resample left out a point of "
        f"{sample.classes[untested].tolist()!r}, which have {sample.counts[untested].tolist()} points, so the estimate "
        "does not include their errors. Add points of these classes, or use CrossValidation."
    )


def _check_kind(kind: Any) -> None:
    if kind not in KINDS:
        raise ValueError(f"kind must be 'zero', '632' or '632+'; got {kind!r}.")
