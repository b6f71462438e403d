"""Kappa calibration: kernel widths scaled until the estimate agrees with held-out points, as in the paper."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.description import describe
from bayes_gresub.data.sample import Sample, read_class_prior
from bayes_gresub.data.seeds import PARTS, Seed, child
from bayes_gresub.data.validation import check_name, check_settings, check_whole
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.estimate.reasons import RandomKappa, Unfinished
from bayes_gresub.measures import Empirical
from bayes_gresub.measures.bolstered import KernelMeasure
from bayes_gresub.resampling.interruptible import Work
from bayes_gresub.resampling.kappa_search import bisection, describe_failed, failed_fits, search
from bayes_gresub.resampling.kept_together import check_repeated_rows
from bayes_gresub.resampling.refit import Problem
from bayes_gresub.resampling.resampler import Resampler, Run
from bayes_gresub.resampling.splits import Split, held_out_units, holdout_splits, subsample_splits


class Calibrated(Resampler):
    r"""A measure whose kernels are widened by the factor kappa that makes its estimates agree with held-out points.

    For each of `repeats` random splits the rule is trained on 80% of the points; the rough bias at kappa is the mean
    over the splits of

    .. math:: \hat\varepsilon_r(\kappa) - \hat\varepsilon_r^{\,\text{held out}}

    the estimate from those 80% with all widths multiplied by kappa, minus the share of the other 20% misclassified.
    Kappa rises from 1 in steps until the magnitude of the rough bias has failed to fall twice in a row; the kappa of
    the smallest magnitude is kept and used on all points, with the rule trained on all of them. All kappas share one
    set of random points, and the rule is trained once per repeat; changes within the noise of these points do not
    count. Kappa only rises: an estimator that is too pessimistic at kappa = 1 stays as it is. The search stops at the
    first valley: look at `details["rough_bias"]` and at the trace, and raise `patience` if a bias is left.

    It is meant for kernels that are too narrow, such as `DiagonalGaussian`. If a measure has little bias, the random
    splits add variance and the smaller training parts add upward bias: on the paper's model with LDA, the bias of the
    spherical kernel at 60 points went from -0.01 to +0.03, that of the diagonal one at 40 points from -0.13 to -0.02.

    It does not see choices made before X was handed over, such as selected features: put those into the rule.

    Parameters
    ----------
    measure : Bolstered or BolsteredPosterior
        Its `sampling` and `class_prior` hold for the calibration too.
    repeats : int, default 5
        More repeats, less variance.
    test_size : float, default 0.2
        Share of the points held out.
    step : float, default 0.1
    search : "steps" or "bisection"
        "steps" is the paper's: kappa rises step by step. "bisection" looks for the same kappa on the same grid and
        assumes that the estimate grows with kappa: 9 estimates instead of 18 if kappa is 2.5, for classifiers with
        expensive predictions.
    patience : int, default 2
        How many failures to fall in a row end the search by steps.
    max_kappa : float, default 20
        The search ends here, with a warning.
    stratified : bool, default True
        Whether both parts keep the class proportions (not guaranteed with groups).
    repeated_rows : "together" or "apart"
        Whether identical rows stay on one side of a split.
    n_jobs : int, optional
        Processes that refit, as in joblib; their number does not change the result.
    progress : bool, optional
        Whether to show a progress bar; by default after two seconds, in a terminal or a notebook.
    random_state : int, SeedSequence or None

    Attributes
    ----------
    kappa_ : float
    trace_ : CalibrationTrace
        Kappas tried and their biases; `trace_.plot()` draws them.

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> from sklearn.svm import SVC
    >>> X, y = bg.datasets.PaperGaussian().sample(60, random_state=0)
    >>> calibrated = bg.Calibrated(bg.Bolstered(bg.DiagonalGaussian()), repeats=5, random_state=0)
    >>> estimate = calibrated.error(SVC(), X, y)
    >>> bool(calibrated.kappa_ > 1), estimate.computation.n_refits
    (True, 6)
    """

    # Those of the measure apply; the splits and the prior of other resamplers are not used here.
    sampling = "mixture"
    class_prior = None

    def __init__(
        self,
        measure: Any,
        repeats: int = 5,
        *,
        test_size: float = 0.2,
        step: float = 0.1,
        search: str = "steps",
        patience: int = 2,
        max_kappa: float = 20.0,
        stratified: bool = True,
        repeated_rows: str = "together",
        n_jobs: int | None = None,
        progress: bool | None = None,
        random_state: Seed = None,
    ) -> None:
        self.measure = measure
        self.repeats = repeats
        self.test_size = test_size
        self.step = step
        self.search = search
        self.patience = patience
        self.max_kappa = max_kappa
        self.stratified = stratified
        self.repeated_rows = repeated_rows
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    @property
    def split_errors_(self) -> Floats:
        """Return the held-out error of each repeat that is done."""
        return np.array([repeat.held_out_error for repeat in self._last_run().judgements])

    def _check_parameters(self) -> None:
        if isinstance(self.measure, type) or not isinstance(self.measure, KernelMeasure):
            raise TypeError(
                "measure must have kernels whose widths can be scaled: Bolstered(...) or BolsteredPosterior(...); got "
                f"{self.measure!r}."
            )
        self.measure._check_parameters()
        if self.measure.sampling == "separate" and self.measure.class_prior is None:
            raise ValueError(
                "calibration compares overall errors, which sampling='separate' does not give without class "
                "probabilities. Give class_prior to the measure."
            )
        check_repeated_rows(self.repeated_rows)
        check_name(self.search, ("steps", "bisection"), "search")
        check_whole(self.repeats, "repeats", 1)
        check_whole(self.patience, "patience", 1)
        for name, low, high in (("test_size", 0, 1), ("step", 0, np.inf), ("max_kappa", 1, np.inf)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not low < value < high:
                raise ValueError(f"{name} must be a number between {low} and {high}; got {value!r}.")
        if not isinstance(self.stratified, bool | np.bool_):
            raise ValueError(f"stratified must be True or False; got {self.stratified!r}.")
        check_settings(n_jobs=self.n_jobs, random_state=self.random_state, progress=self.progress)

    def _check_problem(self, problem: Problem, groups: Ints | None) -> None:
        if self.measure.class_prior is not None:
            read_class_prior(self.measure.class_prior, problem.sample.classes)

    def _plan(self, problem: Problem, groups: Ints | None, splits: list[Split] | None) -> Run:
        units = problem.units
        if splits is None and units.codes is not None and units.are_repeated_rows:
            n_held_out = held_out_units(units.n_units(problem.sample), float(self.test_size), "different rows")
            splits = subsample_splits(
                problem.sample, self.repeats, n_held_out, self.stratified, units.codes, problem.seed
            )
        elif splits is None:
            splits = holdout_splits(
                problem.sample, self.repeats, float(self.test_size), self.stratified, groups, problem.seed
            )
        # The fit to all points comes first, because it shows what is wrong with the measure or the classifier.
        return Run(problem, Work(_Train(problem), [None, *splits], "calibration", in_parent=1), first=1)

    def _conclude(self, run: Run) -> ErrorEstimate:
        started = perf_counter()
        whole: _Whole = run.work.results[0]
        repeats: list[_Repeat] = run.judgements
        failed = _find_failed(repeats, run.problem.sample)
        predicted: list[int] = []

        def biases_at(kappas: list[float]) -> Floats:
            work = Work(_Scale(kappas), repeats, "calibration")
            work.run(self.n_jobs, False)
            predicted.extend(count for _, count in work.results)
            count = max(biases.shape[1] for biases, _ in work.results)
            # An exact repeat has one replicate, repeated to match the others.
            rows = [np.broadcast_to(biases, (len(kappas), count)) for biases, _ in work.results]
            return np.stack(rows, axis=1)

        step, max_kappa = float(self.step), float(self.max_kappa)
        if self.search == "bisection":
            trace, capped = bisection(biases_at, failed, step, max_kappa)
        else:
            trace, capped = search(biases_at, failed, step, max_kappa, int(self.patience))
        if capped:
            warnings.warn(
                f"kappa reached max_kappa={self.max_kappa:g} before the rough bias had clearly stopped falling; it is "
                f"{trace.rough_bias[-1]:+.3f} there. If that is large, raise max_kappa or use wider kernels.",
                UserWarning,
                stacklevel=4,
            )
        estimate = whole.measure.errors_at_scales(whole.classifier, [trace.kappa], random_state=whole.seed)[0]
        chosen = int(np.flatnonzero(trace.kappas == trace.kappa)[0])
        computation = replace(
            estimate.computation,
            described=describe(self),
            exact=False,
            n_predicted=estimate.computation.n_predicted + sum(predicted),
            seconds=run.work.seconds + perf_counter() - started,
            n_refits=len(repeats) + (run.problem.classifier is None),
        )
        no_std_error = RandomKappa() if run.work.is_done else Unfinished(len(repeats), len(run.splits), "repeats")
        details = {
            "kappa": trace.kappa,
            "rough_bias": float(trace.rough_bias[chosen]),
            "held_out_error": float(np.array([repeat.held_out_error for repeat in repeats])[~failed].mean()),
            "failed_fits": float(failed.sum()),
        }
        self.trace_, self.kappa_ = trace, trace.kappa
        missing = replace(estimate.missing, std_error=no_std_error)
        details |= run.problem.units.details
        return replace(estimate, computation=computation, missing=missing, details=details)


def _find_failed(repeats: list[_Repeat], sample: Sample) -> NDArray[np.bool_]:
    """Return which repeats failed to fit, and warn about them."""
    chance = 1 - float(np.bincount(sample.codes, weights=sample.weights).max())
    failed = np.zeros(len(repeats), dtype=bool)
    for name in ("apparent", "held_out"):
        kept = np.flatnonzero(~failed)
        errors = np.array([getattr(repeats[number], f"{name}_error") for number in kept])
        points = np.mean([getattr(repeats[number], f"{name}_points") for number in kept])
        failed[kept] |= failed_fits(errors, float(points), chance)
    if failed.any():
        errors = np.array([repeat.held_out_error for repeat in repeats])
        warnings.warn(
            f"{describe_failed(errors, failed)} and were left out of the calibration. Look at how the rule is trained.",
            UserWarning,
            stacklevel=5,
        )
    return failed


@dataclass(frozen=True, eq=False)
class _Whole:
    """The rule trained on all points, and the measure fitted to them."""

    classifier: Any
    measure: KernelMeasure
    seed: np.random.SeedSequence


@dataclass(frozen=True, eq=False)
class _Repeat:
    """The rule trained on one part, the measure fitted there, and the errors on both parts."""

    classifier: Any
    measure: KernelMeasure
    seed: np.random.SeedSequence
    apparent_error: float
    apparent_points: int
    held_out_error: float
    held_out_points: int


class _Train:
    """The fit of one repeat, or to all points if the task names no split."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def __getstate__(self) -> dict[str, Any]:
        # The classifier may be large, and only the first process needs it.
        return {"problem": replace(self.problem, classifier=None)}

    def __call__(self, number: int, split: Split | None) -> _Whole | _Repeat:
        if split is None:
            return self._whole()
        with self.problem.naming(number - 1, split):
            return self._repeat(number - 1, split)

    def _whole(self) -> _Whole:
        problem = self.problem
        seed = child(problem.seed, PARTS, 1)
        measure: KernelMeasure = clone(problem.measure)
        measure.fit_sample(problem.sample, seed)
        classifier = problem.train_whole()
        # A classifier that cannot be judged fails now, at the cost of one prediction per point.
        Empirical().fit_sample(problem.sample, seed).error(classifier)
        return _Whole(classifier, measure, seed)

    def _repeat(self, number: int, split: Split) -> _Repeat:
        problem = self.problem
        seed = child(problem.seed, PARTS, 0, number)
        parts = [problem.sample.part(split.train), problem.sample.part(split.test)]
        # All kappas use the same points; tol would add points for some.
        measure: KernelMeasure = clone(problem.measure).set_params(tol=None)
        measure.fit_sample(parts[0], seed)
        classifier = problem.train(split.train, number)
        plain = Empirical(sampling=measure.sampling, class_prior=measure.class_prior)
        errors = [clone(plain).fit_sample(part, seed).error(classifier, random_state=seed).value for part in parts]
        return _Repeat(classifier, measure, seed, errors[0], len(split.train), errors[1], len(split.test))


class _Scale:
    """The biases of one repeat at several kappas."""

    def __init__(self, kappas: list[float]) -> None:
        self.kappas = kappas

    def __call__(self, number: int, repeat: _Repeat) -> tuple[Floats, int]:
        estimates = repeat.measure.errors_at_scales(repeat.classifier, self.kappas, random_state=repeat.seed)
        values = np.array([estimate.replicate_values for estimate in estimates])
        return values - repeat.held_out_error, estimates[0].computation.n_predicted
