"""Cross-validation with any measure: folds, repeats, strata and groups."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.seeds import SPLITS, Seed, child
from bayes_gresub.data.validation import check_whole
from bayes_gresub.estimate.count_intervals import CROSS_VALIDATION_SHARE
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.estimate.estimands import ClassifierTrainedOn, RuleTrainedOnParts
from bayes_gresub.estimate.intervals import IntervalMethod, NestedInterval, NoInterval, SeveralIntervals
from bayes_gresub.estimate.reasons import (
    FewRepeats,
    NoSpread,
    OnePartition,
    OtherClassProbabilities,
    Reason,
    RepeatsRanOut,
    SmoothedHeldOut,
    TimeRanOut,
    Unfinished,
)
from bayes_gresub.measures import Empirical
from bayes_gresub.resampling.corrected_t import corrected_t
from bayes_gresub.resampling.interruptible import Work
from bayes_gresub.resampling.nested_interval import NestedMoments, nested_moments, pair_splits
from bayes_gresub.resampling.refit import Judgement, Problem
from bayes_gresub.resampling.resampler import Combined, Resampler, Run, check_same_classes, split_errors
from bayes_gresub.resampling.splits import Split, dealt_splits, fold_splits


class CrossValidation(Resampler):
    r"""Mean, over folds, of the mass that a measure about the fold gives to the errors of a rule trained without it.

    .. math:: \hat\varepsilon = \frac1R \sum_{i=1}^R \nu_i(\{(x, y): \psi_i(x) \ne y\})

    If points have weights, a split counts by the mean weight of its points held out. With the empirical measure this is
    ordinary cross-validation. With a smoothed one it is the paper's generalized cross-validation: widths and posteriors
    are learned on the points trained on, and centred at those held out. Points held out need no smoothing, and
    bolstering them adds upward bias: 0.05 to 0.09 with an RBF-SVM on the paper's model (20 to 100 points), against
    0.01 to 0.03 for the plain measure.

    The target is the average error of the rule at the size of the training parts, not the error of one classifier. It
    does not see choices made before X was handed over, such as selected features: put those into the rule.

    Parameters
    ----------
    folds : int, default 10
    repeats : int or "auto", default 1
        Random partitions. Their spread gives the standard error, which is unknown with one. "auto", with
        interval="nested" only, adds partitions, a tenth as many again at a time, until the ends of the 95% interval
        would move by less than a tenth of its width with another seed (standard deviation, with a confidence of 90%;
        see `NestedMoments.is_settled`): 10 to 100, mostly. `details` has their number and that standard deviation, and
        `interval().unsettled` the reason if the ends have not settled.
    stratified : bool, default True
        Whether folds keep the class proportions, as `cross_val_score` does.
    measure : Measure, optional
        `Empirical()` by default. Its `tol` applies to each split.
    interval : None or "nested"
        The usual interval. None: Wilson's about the estimate, with 0.6 times as many points as there are (see
        `estimate.count_intervals`). "nested" also trains without every pair of folds, folds (folds - 1) / 2 more fits
        per repeat (Bates, Hastie & Tibshirani); if no loss differs from the others, Wilson's takes its place. Others
        by name: `estimate.interval(method=...)` with "wilson", "beta" or "corrected-t".
    max_repeats : int, default 200
        Where repeats="auto" ends, settled or not. Of nine pairs of a data set and a rule none needed as many.
    max_seconds : float, optional
        Where repeats="auto" ends too, after two partitions at least. By default there is no limit, because the number
        would depend on the speed of the machine.
    repeated_rows : "together" or "apart"
        Whether rows that are identical in all features stay in one fold, so that none is judged by a classifier that
        has seen it.
    sampling : "mixture" or "separate"
        Whether class frequencies are random or were fixed by design; with "separate" folds are drawn within classes
        and an overall error needs `class_prior`.
    class_prior : dict or sequence, optional
        Known class probabilities, by label or in the order of the sorted labels.
    n_jobs : int, optional
        Processes that refit, as in joblib; their number does not change the result.
    progress : bool, optional
        Whether to show a progress bar; by default after two seconds, in a terminal or a notebook.
    random_state : int, SeedSequence or None

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> X, y = load_iris(return_X_y=True)
    >>> estimate = bg.CrossValidation(folds=5, repeats=4, random_state=0).error(LinearDiscriminantAnalysis(), X, y)
    >>> round(float(estimate), 4), estimate.computation.n_refits
    (0.02, 20)
    """

    def __init__(
        self,
        folds: int = 10,
        repeats: int | str = 1,
        *,
        stratified: bool = True,
        measure: Any = None,
        interval: str | None = None,
        max_repeats: int = 200,
        max_seconds: float | None = None,
        repeated_rows: str = "together",
        sampling: str = "mixture",
        class_prior: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
        random_state: Seed = None,
    ) -> None:
        self.folds = folds
        self.repeats = repeats
        self.stratified = stratified
        self.measure = measure
        self.interval = interval
        self.max_repeats = max_repeats
        self.max_seconds = max_seconds
        self.repeated_rows = repeated_rows
        self.sampling = sampling
        self.class_prior = class_prior
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if hasattr(self.folds, "get_n_splits"):
            raise TypeError(
                f"folds must be a number; got {self.folds!r}. Pass the splits of a splitter to error(..., "
                "indices=splitter.split(X, y))."
            )
        check_whole(self.folds, "folds", 2)
        self._check_repeats()
        if not isinstance(self.stratified, bool | np.bool_):
            raise ValueError(f"stratified must be True or False; got {self.stratified!r}.")
        if self.sampling == "separate" and not self.stratified:
            raise ValueError(
                "sampling='separate' draws folds within classes; got stratified=False. Use stratified=True."
            )
        if self.interval not in (None, "nested"):
            raise ValueError(f"interval must be 'nested' or None; got {self.interval!r}.")
        if self.interval is None:
            return
        if self.folds < 3:
            raise ValueError(f"interval='nested' needs at least 3 folds; got folds={self.folds}.")
        if not isinstance(self._measure(), Empirical) or self.sampling != "mixture" or self.class_prior is not None:
            raise ValueError(
                "interval='nested' is for the losses of single points: the empirical measure, without sampling="
                "'separate' or class_prior. Use interval=None with the others."
            )

    def _check_repeats(self) -> None:
        check_whole(self.max_repeats, "max_repeats", 2)
        if self.max_seconds is not None and not (
            isinstance(self.max_seconds, int | float | np.number) and self.max_seconds > 0
        ):
            raise ValueError(f"max_seconds must be a positive number or None; got {self.max_seconds!r}.")
        if self.repeats != "auto":
            if isinstance(self.repeats, str):
                raise ValueError(f"repeats must be a whole number of at least 1, or 'auto'; got {self.repeats!r}.")
            check_whole(self.repeats, "repeats", 1)
        elif self.interval != "nested":
            raise ValueError(
                f"repeats='auto' repeats until the ends of the nested interval settle; got interval={self.interval!r}. "
                "Use interval='nested', or a number of repeats."
            )

    def _check_problem(self, problem: Problem, groups: Ints | None) -> None:
        super()._check_problem(problem, groups)
        if self.interval is None:
            return
        if groups is not None or problem.weight_total is not None:
            raise ValueError(
                "interval='nested' needs independent points of equal weight; got groups or sample_weight. Use "
                "interval=None."
            )
        if len(problem.sample.codes) < 2 * self.folds:
            raise ValueError(
                f"interval='nested' needs at least 2 points per fold; got {len(problem.sample.codes)} points for "
                f"folds={self.folds}. Lower folds."
            )

    def _plan(self, problem: Problem, groups: Ints | None, splits: list[Split] | None) -> Run:
        judge = replace(problem, classifier=None).judge
        if self.repeats == "auto":
            if splits is not None:
                raise ValueError(_OWN_SPLITS)
            # The splits of a partition come with their pairs, so that partitions can be added.
            repeats = min(self.max_repeats, _LEAST_REPEATS if self.max_seconds is None else 2)
            tasks = [task for repeat in range(repeats) for task in self._partition_and_pairs(problem, repeat)]
            return Run(
                problem,
                Work(judge, tasks, "cross-validation"),
                last=self.folds,
                n_partitions=repeats,
                period=len(tasks) // repeats,
            )
        if splits is not None:
            if self.interval is not None:
                raise ValueError(_OWN_SPLITS)
            partitions = [splits]
        else:
            partitions = [self._partition(problem, repeat) for repeat in range(int(self.repeats))]
        splits = [split for partition in partitions for split in partition]
        pairs = [] if self.interval is None else [pair for partition in partitions for pair in pair_splits(partition)]
        work = Work(judge, [*splits, *pairs], "cross-validation")
        return Run(problem, work, last=len(splits), n_partitions=len(partitions))

    def _partition(self, problem: Problem, repeat: int) -> list[Split]:
        seed, units = child(problem.seed, SPLITS, repeat), problem.units
        if units.codes is not None and units.are_repeated_rows:
            return dealt_splits(problem.sample, self.folds, self.stratified, units.codes, seed)
        return fold_splits(problem.sample, self.folds, self.stratified, units.codes, seed)

    def _partition_and_pairs(self, problem: Problem, repeat: int) -> list[Split]:
        partition = self._partition(problem, repeat)
        return [*partition, *pair_splits(partition)]

    def _extend(self, run: Run) -> bool:
        """Add partitions if an end of the nested interval is still noise."""
        if run.period is None:
            return False
        repeats = len(run.work.tasks) // run.period
        late = self.max_seconds is not None and run.work.seconds >= self.max_seconds
        if late or repeats >= self.max_repeats:
            return False
        # The same numbers of partitions are looked at with a limit of time as without.
        if repeats >= _LEAST_REPEATS and self._moments(run).is_settled(_LEVEL):
            return False
        more = range(repeats, min(self.max_repeats, repeats + max(1, repeats // 10)))
        tasks = [task for repeat in more for task in self._partition_and_pairs(run.problem, repeat)]
        run.work.tasks = [*run.work.tasks, *tasks]
        return True

    def _conclude(self, run: Run) -> ErrorEstimate:
        judgements, splits = run.judgements, run.splits
        sample = run.problem.sample
        complete = len(judgements) == len(splits)
        n_partitions = run.n_partitions if run.period is None else len(splits) // self.folds
        combined = mean_over_splits(judgements, sample.weights, n_partitions if complete else 1)
        sizes = np.array([len(split.train) for split in splits])
        interval_method, details = self._interval_method(run, combined)
        return self._estimate(
            run,
            combined,
            judgements,
            estimand=RuleTrainedOnParts(int(sizes.min()), int(sizes.max()), len(sample.codes)),
            exact=False,
            n_refits=len(run.work.results),
            method=f"mean over {len(judgements)} splits",
            interval_method=interval_method,
            no_std_error=None if n_partitions > 1 else OnePartition(),
            details=details,
        )

    def _moments(self, run: Run) -> NestedMoments:
        n = run.problem.units.effective_number(run.problem.sample.weights)
        return nested_moments(run.judgements, run.others, self.folds, n)

    def _interval_method(self, run: Run, combined: Combined) -> tuple[IntervalMethod, dict[str, float]]:
        """Return the intervals, the usual one first, and how far the ends of the nested one vary."""
        if not isinstance(self._measure(), Empirical):
            return NoInterval(SmoothedHeldOut()), {}
        if self.sampling == "separate" and self.class_prior is None:
            return NoInterval(OtherClassProbabilities()), {}
        if not run.work.is_done:
            return NoInterval(Unfinished(len(run.work.results), len(run.work.tasks))), {}
        counted = self._count_intervals(run, combined, CROSS_VALIDATION_SHARE)
        target = ClassifierTrainedOn(len(run.problem.sample.codes))
        others = []
        if self.class_prior is None:
            others.append(corrected_t(split_errors(run), run.splits, float(combined.values.mean()), target))
        if self.interval is None:
            return SeveralIntervals.of(*counted, *others), {}
        moments = self._moments(run)
        center, std_error = moments.center_and_std_error
        if std_error == 0:
            return SeveralIntervals.of(*counted, ("nested-cv", NoSpread()), *others), {}
        nested = NestedInterval(target, center, std_error, self._why_unsettled(moments))
        return SeveralIntervals.of(nested, *counted, *others), _noise_of_ends(moments)

    def _why_unsettled(self, moments: NestedMoments) -> Reason | None:
        """Return why the ends of the nested interval are noise; None if they are not."""
        repeats = moments.n_partitions
        if repeats == 1:
            return OnePartition()
        if moments.is_settled(_LEVEL):
            return None
        numbers = repeats, moments.end_noise(_LEVEL), moments.width(_LEVEL)
        if self.repeats != "auto":
            return FewRepeats(*numbers)
        if self.max_seconds is None or repeats >= self.max_repeats:
            return RepeatsRanOut(*numbers)
        return TimeRanOut(*numbers, float(self.max_seconds))


_LEAST_REPEATS = 10
"""Partitions before their spread is used: that of fewer is too uncertain."""

_LEVEL = 0.95
"""Of the interval whose ends must settle."""

_OWN_SPLITS = "interval='nested' draws its own splits; got indices. Use one of the two."


def _noise_of_ends(moments: NestedMoments) -> dict[str, float]:
    if moments.n_partitions == 1:
        return {}
    return {"repeats": float(moments.n_partitions), "interval_end_std_error": moments.end_noise(_LEVEL)}


def mean_over_splits(
    judgements: list[Judgement], weights: Floats, n_repeats: int = 1, by_point: bool = False
) -> Combined:
    r"""Return the mean over splits of the mass that each puts on the set of errors.

    .. math:: \hat\varepsilon = \frac1R \sum_i \nu_i(\{\psi_i(x) \ne y\})

    With weights w of the points, split i with n_i points held out has the mass

    .. math:: \frac{1}{n_i}\sum_{j \in i} w_j

    up to a common factor: 1/R if all weights are equal, and w_i for leave-one-out.

    Parameters
    ----------
    judgements : list of Judgement
        Of the splits, one partition after the other.
    weights : ndarray of shape (n,)
    n_repeats : int
        Partitions, which become the replicates; with 1 the replicates are those of the measure's sampling.
    by_point : bool
        Whether a split counts by the sum of the weights of its points, instead of their mean.
    """
    check_same_classes(judgements)
    counts = [1 if by_point else len(judgement.points) for judgement in judgements]
    shares = [weights[judgement.points] / count for judgement, count in zip(judgements, counts, strict=True)]
    total = sum(float(share.sum()) for share in shares)
    shares = [share / total for share in shares]
    contributions, point_weights = np.zeros(len(weights)), np.zeros(len(weights))
    for judgement, share in zip(judgements, shares, strict=True):
        contributions[judgement.points] += share * judgement.contributions
        point_weights[judgement.points] += share
    np.divide(contributions, point_weights, out=contributions, where=point_weights > 0)
    values, confusions = _reduce(judgements, shares)
    if n_repeats > 1:
        values, confusions = _reduce_by_repeat(judgements, shares, n_repeats)
    return Combined(values, confusions, contributions, point_weights)


def _reduce_by_repeat(judgements: list[Judgement], shares: list[Floats], n_repeats: int) -> tuple[Floats, Floats]:
    """Return one replicate per partition, each of mass 1, whose mean is the estimate.

    Under unequal weights the masses of partitions differ a little. Each replicate is corrected by its excess mass times
    the mean, the linear part of the ratio; this leaves the mean unchanged.
    """
    replicates, masses = [], []
    for block in np.array_split(np.arange(len(judgements)), n_repeats):
        scaled = [shares[i] * n_repeats for i in block]
        replicates.append(_reduce([judgements[i] for i in block], scaled, averaged=True))
        masses.append(sum(float(share.sum()) for share in scaled))
    excess = np.array(masses) - np.mean(masses)
    values = np.concatenate([values for values, _ in replicates])
    values = values - excess * values.mean()
    confusions = np.concatenate([confusions for _, confusions in replicates])
    return values, confusions - excess[:, None, None] * confusions.mean(axis=0)


def _reduce(judgements: list[Judgement], shares: list[Floats], averaged: bool = False) -> tuple[Floats, Floats]:
    """Return the summed errors and confusions of some splits, per replicate of the measure or averaged over them."""
    counts = [len(judgement.mass.replicates) for judgement in judgements]
    count = min((number for number in counts if number > 1), default=1)
    masses = [
        judgement.mass if number == count else judgement.mass.in_replicates(count)
        for judgement, number in zip(judgements, counts, strict=True)
    ]
    outcomes = [mass.reduced(share) for mass, share in zip(masses, shares, strict=True)]
    values = np.sum([outcome.values for outcome in outcomes], axis=0)
    confusions = np.sum([outcome.confusions for outcome in outcomes], axis=0)
    if averaged:
        values, confusions = values.mean(axis=0, keepdims=True), confusions.mean(axis=0, keepdims=True)
    return values, confusions
