"""Many estimators on one classifier: the rule is fitted once, and bootstraps share their resamples."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from bayes_gresub.comparing.comparison import INVISIBLE_CHOICES, Comparison, Row, Subject
from bayes_gresub.comparing.prepared_columns import View, describe_preparation, needs_numbers, skip_preparation
from bayes_gresub.data.description import describe
from bayes_gresub.data.sample import Sample
from bayes_gresub.data.seeds import RULES, Seed, child, seed_sequence
from bayes_gresub.data.validation import check_level
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.measures.measure import Measure
from bayes_gresub.regions.training import check_rule, is_fitted, read_for_rule, trained
from bayes_gresub.registry import estimators as registered
from bayes_gresub.registry import make_estimator
from bayes_gresub.resampling import Bootstrap, Calibrated, Interrupted, Resampler, TestSet
from bayes_gresub.resampling.interruptible import Work
from bayes_gresub.resampling.splits import read_groups

ALREADY_FITTED = "The classifier was already fitted: rows without refits judge it as it is, the others refit a clone."


def compare(
    classifier: Any,
    X: ArrayLike,
    y: ArrayLike,
    estimators: Any = "main",
    *,
    test: Any = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    progress: bool | None = None,
    random_state: Seed = None,
) -> Comparison:
    """Return the estimates of many estimators for one classifier, one row each.

    The rule is fitted once to all points for the estimators that judge that classifier; bootstrap estimators share
    their resamples. An estimator that fails gets a row with its message.

    If X holds texts or missing values and the classifier is a Pipeline whose first steps make X numeric, measures
    judge the later steps, at the prepared columns. Cross-validation and bootstrap refit the whole Pipeline on the rows
    as given; with a smoothed measure inside they refit the later steps only. `preparation` of the result names which
    estimators did what.

    Parameters
    ----------
    classifier : rule or fitted classifier
        A rule is fitted to X and y. A fitted classifier is judged as it is, and must have been trained on X and y;
        rows that refit use a clone of it.
    X : array-like of shape (n, d) or (n, ...), or DataFrame with columns of any type
    y : array-like of shape (n,)
    estimators : "main", "all", "measures", "resamplers", iterable or dict
        "main" leaves out those registered only for comparison with the paper. Otherwise names (see
        `bg.estimators()`) and estimators, or a dict from any name to an estimator.
    test : TestSet or (X_test, y_test), optional
        Independent points, which add a row.
    sample_weight, groups : array-like of shape (n,), optional
        Passed to the estimators; groups only to those that refit.
    level : float, default 0.95
        Of the intervals.
    n_jobs : int, optional
        Processes for refits.
    progress : bool, optional
        Whether to show progress bars, of the estimators and of the refits of each; by default for long work.
    random_state : int, SeedSequence, Generator or None
        For every estimator without one.

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> X, y = bg.datasets.PaperGaussian().sample(40, random_state=0)
    >>> table = bg.compare(LinearDiscriminantAnalysis(), X, y, ["resub", "bolstered", "cv"], random_state=0)
    >>> table.to_frame()[["estimate", "n_refits", "exact"]].round(3)
               estimate  n_refits  exact
    estimator
    resub         0.025         0   True
    bolstered     0.167         0   True
    cv            0.125        10  False
    """
    check_level(level)
    seed = seed_sequence(random_state)
    # Rows of X as given; if an estimator cannot use them, its row says so.
    sample = read_for_rule(classifier, X, y, sample_weight)
    if groups is not None:
        read_groups(groups, sample)
    chosen = {
        name: prepared(estimator, seed, n_jobs, progress) for name, estimator in read_estimators(estimators).items()
    }
    test_set = None if test is None else _test_set(test, chosen)
    notes = [INVISIBLE_CHOICES, *_notes(chosen)]
    if test_set is not None:
        notes += _overlap(X, test_set)
    subject = Subject(classifier, len(sample.codes))
    rows: list[Row] = []
    preparation: tuple[str, ...] = ()
    total = len(chosen) + (test_set is not None)
    try:
        if is_fitted(classifier, sample.restored(np.arange(1))):
            notes.append(ALREADY_FITTED)
            judged = classifier
        else:
            judged = _train_on_all(classifier, sample, sample_weight, seed)
        task = Judged(View(classifier, judged, X), y, seed, sample_weight, groups, checks=True)
        if not sample.format.is_numeric and any(map(needs_numbers, [*chosen.values(), test_set])):
            task.numeric = skip_preparation(task.whole)
            preparation = () if task.numeric is None else describe_preparation(chosen, task.numeric.X.shape[1])
        tasks = [(name, estimator, chosen) for name, estimator in chosen.items()]
        if test_set is not None:
            tasks.append(("test set", test_set, {}))
        work = Work(task.row, tasks, "", results=rows, unit="estimator")
        # One after the other: bootstraps share their resamples, and refits have processes of their own.
        work.run(1, progress)
    except KeyboardInterrupt as stop:
        done = Comparison(
            tuple(rows), subject, (*notes, f"Interrupted: {len(rows)} of {total} rows done."), level, preparation
        )
        raise Interrupted(f"stopped after {len(rows)} of {total} rows; partial has them.", lambda: done) from stop
    return Comparison(tuple(rows), subject, tuple(notes), level, preparation)


def _train_on_all(rule: Any, sample: Sample, sample_weight: Any, seed: np.random.SeedSequence) -> Any:
    check_rule(rule)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=float)[sample.rows]
    positions = np.arange(len(sample.codes))
    return trained(rule, sample.restored(positions), sample.labels, weights, child(seed, RULES))


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted measure, with the warnings and the seconds of its fit."""

    measure: Any
    warnings: tuple[warnings.WarningMessage, ...]
    seconds: float


def fit_measure(measure: Measure, X: Any, y: Any, sample_weight: Any) -> Fit:
    """Return a measure fitted to a sample."""
    started = perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = measure.fit(X, y, sample_weight=sample_weight)
    return Fit(fitted, tuple(caught), perf_counter() - started)


@dataclass(eq=False)
class Judged:
    """One classifier, its rule and its data, with the resamples that several rows share.

    `fits` are measures by name that were fitted to the same data, for other classifiers: they are not fitted again.
    `numeric` holds the steps after those that make X numeric, for estimators that need numbers. With `checks`, a row
    with a model of the classes has the problems that the model's own check finds as its message.
    """

    whole: View
    y: Any
    seed: np.random.SeedSequence
    sample_weight: Any = None
    groups: Any = None
    numeric: View | None = None
    checks: bool = False
    fits: dict[str, Fit] = field(default_factory=dict)
    shared: dict[str, tuple[dict[str, ErrorEstimate] | Exception, float]] = field(default_factory=dict)

    def row(self, number: int, task: tuple[str, Any, Mapping[str, Any]]) -> Row:
        """Return the row of one estimator; a task is its name, itself and all that are compared."""
        name, estimator, estimators = task
        # The time of a fit that is not done again belongs to the row all the same.
        started = perf_counter() - (self.fits[name].seconds if name in self.fits else 0.0)
        kind = "measure" if isinstance(estimator, Measure) else "resampler"
        kind = "test set" if isinstance(estimator, TestSet) else kind
        try:
            if isinstance(estimator, Bootstrap):
                estimate, seconds = self._bootstrap(estimator, estimators)
                return Row(name, kind, estimate, seconds)
            estimate, warning = self._estimate(name, estimator)
        except Exception as error:  # a failing estimator must not end the comparison
            notes = " ".join(getattr(error, "__notes__", []))
            message = f"{type(error).__name__}: {error}" + (f" ({notes})" if notes else "")
            return Row(name, kind, None, perf_counter() - started, message)
        return Row(name, kind, estimate, perf_counter() - started, warning)

    def _estimate(self, name: str, estimator: Any) -> tuple[ErrorEstimate, str]:
        """Return the estimate and the warnings of its model, as the message of its row."""
        view = self.whole if self.numeric is None else self._view(estimator)
        if isinstance(estimator, TestSet):
            seed = self.seed if estimator.random_state is None else None
            return estimator.with_points(view.prepare(estimator.X)).error(view.classifier, random_state=seed), ""
        if isinstance(estimator, Measure):
            if name not in self.fits:
                self.fits[name] = fit_measure(estimator, view.X, self.y, self.sample_weight)
            fit = self.fits[name]
            if not fit.measure.has_draws:
                for warning in fit.warnings:
                    warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
                return fit.measure.error(view.classifier), ""
            with warnings.catch_warnings(record=True) as caught_warnings:
                warnings.simplefilter("always")
                estimate = fit.measure.error(view.classifier)
            has_check = self.checks and hasattr(fit.measure, "check")
            problems = fit.measure.check().problems if has_check else ()
            messages = [str(warning.message) for warning in (*fit.warnings, *caught_warnings)]
            return estimate, " ".join(dict.fromkeys([*messages, *(each.sentence for each in problems)]))
        arguments = {"sample_weight": self.sample_weight, "groups": self.groups, "classifier": view.classifier}
        return estimator.error(view.rule, view.X, self.y, **arguments), ""

    def _bootstrap(self, estimator: Bootstrap, estimators: Mapping[str, Any]) -> tuple[ErrorEstimate, float]:
        """Return an estimate and the seconds of its resamples; bootstraps that differ only in kind share them."""
        estimator._check_parameters()
        key = str(_sharing_key(estimator))
        if key not in self.shared:
            started = perf_counter()
            bootstraps = [other for other in estimators.values() if isinstance(other, Bootstrap)]
            kinds = [other.kind for other in bootstraps if _sharing_key(other) == key]
            view = self.whole if self.numeric is None else self._view(estimator)
            outcome: dict[str, ErrorEstimate] | Exception
            try:
                arguments = {"sample_weight": self.sample_weight, "groups": self.groups, "classifier": view.classifier}
                outcome = estimator.errors(view.rule, view.X, self.y, kinds, **arguments)
            except Exception as error:  # the other kinds would fail in the same fits
                outcome = error
            self.shared[key] = outcome, perf_counter() - started
        outcome, seconds = self.shared[key]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome[estimator.kind], seconds

    def _view(self, estimator: Any) -> View:
        return self.numeric if self.numeric is not None and needs_numbers(estimator) else self.whole


def read_estimators(estimators: Any, remedy: str = "A TestSet goes to test=.") -> dict[str, Any]:
    """Return new estimators by name, from names, estimators, a dict of them, or a kind."""
    kinds = {"all": None, "measures": "measure", "resamplers": "resampler"}
    if isinstance(estimators, str) and estimators == "main":
        estimators = [entry.name for entry in registered() if entry.main]
    elif isinstance(estimators, str) and estimators in kinds:
        estimators = [entry.name for entry in registered(kinds[estimators])]
    elif isinstance(estimators, str | Measure | Resampler):
        estimators = [estimators]
    if isinstance(estimators, Mapping):
        pairs = [(str(name), entry) for name, entry in estimators.items()]
    elif isinstance(estimators, Iterable):
        pairs = [(entry if isinstance(entry, str) else _label(entry), entry) for entry in estimators]
    else:
        raise TypeError(f"estimators must be names, estimators or a dict of them; got {estimators!r}.")
    chosen: dict[str, Any] = {}
    for name, entry in pairs:
        estimator = make_estimator(entry) if isinstance(entry, str) else entry
        if isinstance(estimator, type) or not isinstance(estimator, Measure | Resampler):
            raise TypeError(
                f"estimators must hold measures and resamplers or their names; got {_type_name(estimator)}. {remedy}"
            )
        if name in chosen:
            raise ValueError(f"estimators must have different names; got {name!r} twice. Rename one, in a dict.")
        chosen[name] = clone(estimator)
    if not chosen:
        raise ValueError("estimators must name at least one; got none.")
    return chosen


def _type_name(entry: Any) -> str:
    return f"the class {entry.__name__}" if isinstance(entry, type) else f"a {type(entry).__name__}"


def _label(estimator: Any) -> str:
    return describe(estimator) if isinstance(estimator, Measure | Resampler) else type(estimator).__name__


def prepared(estimator: Any, seed: np.random.SeedSequence, n_jobs: int | None, progress: bool | None) -> Any:
    """Return a clone that takes these parameters if it has none of its own."""
    copy = clone(estimator)
    parameters = copy.get_params()
    # A measure on features leaves random numbers to the measure that it holds.
    seeded = "random_state" if "random_state" in parameters else "measure__random_state"
    defaults = {seeded: seed, **({"n_jobs": n_jobs, "progress": progress} if "progress" in parameters else {})}
    unset = {name: value for name, value in defaults.items() if parameters[name] is None and value is not None}
    return copy.set_params(**unset)


def _notes(chosen: Mapping[str, Any]) -> list[str]:
    notes = []
    if any(isinstance(entry, Resampler) and not isinstance(entry, Calibrated) for entry in chosen.values()):
        notes.append(
            "Cross-validation and bootstrap estimate the average error of the rule at the sizes they train on, the "
            "other rows that of this classifier: see the column estimand."
        )
    if sum(isinstance(entry, Bootstrap) for entry in chosen.values()) > 1:
        notes.append("Bootstrap rows that differ in kind only share their resamples, and each shows their time.")
    return notes


def _overlap(X: Any, test_set: TestSet) -> list[str]:
    """Return a note if test points are training points too; only numeric points are compared."""
    try:
        training, testing = (np.asarray(points, dtype=float) for points in (X, test_set.X))
    except (TypeError, ValueError):
        return []
    known = {row.tobytes() for row in training}
    n_shared = sum(row.tobytes() in known for row in testing)
    if not n_shared:
        return []
    return [f"{n_shared} of {len(testing)} test points are training points too: the test set is not independent."]


def _sharing_key(estimator: Bootstrap) -> str | None:
    """Return what bootstraps must have in common to share resamples; None for one that cannot be run."""
    try:
        estimator._check_parameters()
    except (TypeError, ValueError):
        return None
    parameters = estimator.get_params(deep=True)
    return repr(sorted((name, repr(value)) for name, value in parameters.items() if name != "kind"))


def _test_set(test: Any, chosen: Mapping[str, Any]) -> TestSet:
    if "test set" in chosen:
        raise ValueError(
            "estimators must have different names; got 'test set' twice, once for test=. Rename the other."
        )
    if isinstance(test, TestSet):
        return test
    if not isinstance(test, tuple | list) or len(test) != 2:
        raise TypeError(f"test must be a TestSet or a pair (X_test, y_test); got {type(test).__name__}.")
    return TestSet(*test)
