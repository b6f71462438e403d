"""Many estimators on one classifier: the rule is fitted once, and what can be shared is shared."""

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
from bayes_gresub.comparing.prepared_columns import View, behind_preparation, describe_preparation, needs_numbers
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
from bayes_gresub.resampling.splits import read_groups

CAME_FITTED = "The classifier came fitted: rows without refits judge it as it is, the others refit a clone."


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
    """Return what many estimators say of one classifier, one row each.

    The rule is fitted once to all points for the estimators that judge that classifier; bootstrap estimators share
    their resamples. A failing estimator is a row with its message.

    Where X holds texts or missing values and the classifier is a Pipeline whose first steps make X numeric, measures
    judge the steps behind these, at the prepared columns. Cross-validation and bootstrap refit the whole Pipeline on
    the rows as they are; those that hold a measure with kernels refit the steps behind. `preparation` of the result
    names which did what.

    Parameters
    ----------
    classifier : rule or fitted classifier
        A rule is fitted to X and y. A fitted classifier is judged as it is, and must have been trained on X and y;
        rows that refit use a clone of it.
    X : array-like of shape (n, d) or (n, ...), or DataFrame with columns of any type
    y : array-like of shape (n,)
    estimators : "main", "all", "measures", "resamplers", iterable or dict
        "main" is all but those that are registered for comparison with the paper only. Else names (see
        `bg.estimators()`) and estimators, or a dict from any name to an estimator.
    test : TestSet or (X_test, y_test), optional
        Independent points, which add a row.
    sample_weight, groups : array-like of shape (n,), optional
        Handed to the estimators; groups to those that refit.
    level : float, default 0.95
        Of the intervals.
    n_jobs : int, optional
        Processes for refits.
    progress : bool, optional
        Whether to show progress bars; by default on long work.
    random_state : int, SeedSequence, Generator or None
        For every estimator that has none of its own.

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
    # Rows of X as they were given; what an estimator cannot use is its row's message.
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
            notes.append(CAME_FITTED)
            judged = classifier
        else:
            judged = _trained_on_all(classifier, sample, sample_weight, seed)
        task = Judged(View(classifier, judged, X), y, seed, sample_weight, groups)
        if not sample.format.is_numeric and any(map(needs_numbers, [*chosen.values(), test_set])):
            task.behind = behind_preparation(task.whole)
            preparation = () if task.behind is None else describe_preparation(chosen, task.behind.X.shape[1])
        for name, estimator in chosen.items():
            rows.append(task.row(name, estimator, chosen))
        if test_set is not None:
            rows.append(task.row("test set", test_set, {}))
    except KeyboardInterrupt as stop:
        done = Comparison(
            tuple(rows), subject, (*notes, f"Interrupted: {len(rows)} of {total} rows done."), level, preparation
        )
        raise Interrupted(f"stopped after {len(rows)} of {total} rows; partial has them.", lambda: done) from stop
    return Comparison(tuple(rows), subject, tuple(notes), level, preparation)


def _trained_on_all(rule: Any, sample: Sample, sample_weight: Any, seed: np.random.SeedSequence) -> Any:
    check_rule(rule)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=float)[sample.rows]
    everyone = np.arange(len(sample.codes))
    return trained(rule, sample.restored(everyone), sample.labels, weights, child(seed, RULES))


@dataclass(eq=False)
class Judged:
    """One classifier, the rule it comes from and its data; and the resamples that several rows share.

    `behind` are the steps that estimators judge which need numbers, where the first steps of a Pipeline make X numeric.
    """

    whole: View
    y: Any
    seed: np.random.SeedSequence
    sample_weight: Any = None
    groups: Any = None
    behind: View | None = None
    shared: dict[str, tuple[dict[str, ErrorEstimate] | Exception, float]] = field(default_factory=dict)

    def row(self, name: str, estimator: Any, everyone: Mapping[str, Any]) -> Row:
        """Return the row of one of the estimators, `everyone` being all that are compared."""
        started = perf_counter()
        kind = "measure" if isinstance(estimator, Measure) else "resampler"
        kind = "test set" if isinstance(estimator, TestSet) else kind
        try:
            if isinstance(estimator, Bootstrap):
                estimate, seconds = self._bootstrap(estimator, everyone)
                return Row(name, kind, estimate, seconds)
            estimate, warned = self._estimate(estimator)
        except Exception as error:  # a failing estimator is a row, not a crash
            notes = " ".join(getattr(error, "__notes__", []))
            message = f"{type(error).__name__}: {error}" + (f" ({notes})" if notes else "")
            return Row(name, kind, None, perf_counter() - started, message)
        return Row(name, kind, estimate, perf_counter() - started, warned)

    def _estimate(self, estimator: Any) -> tuple[ErrorEstimate, str]:
        """Return the estimate, and what a model warned of, which belongs to its row."""
        view = self.whole if self.behind is None else self._view(estimator)
        if isinstance(estimator, TestSet):
            seed = self.seed if estimator.random_state is None else None
            return estimator.with_points(view.prepared(estimator.X)).error(view.classifier, random_state=seed), ""
        if isinstance(estimator, Measure) and estimator.has_draws:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                fitted = estimator.fit(view.X, self.y, sample_weight=self.sample_weight)
                return fitted.error(view.classifier), " ".join(str(warning.message) for warning in caught)
        if isinstance(estimator, Measure):
            return estimator.fit(view.X, self.y, sample_weight=self.sample_weight).error(view.classifier), ""
        given = {"sample_weight": self.sample_weight, "groups": self.groups, "classifier": view.classifier}
        return estimator.error(view.rule, view.X, self.y, **given), ""

    def _bootstrap(self, estimator: Bootstrap, everyone: Mapping[str, Any]) -> tuple[ErrorEstimate, float]:
        """Return an estimate and the seconds of its resamples, which all kinds share that differ in nothing else."""
        estimator._check_parameters()
        key = str(_sharing(estimator))
        if key not in self.shared:
            started = perf_counter()
            kinds = [
                other.kind for other in everyone.values() if isinstance(other, Bootstrap) and _sharing(other) == key
            ]
            view = self.whole if self.behind is None else self._view(estimator)
            outcome: dict[str, ErrorEstimate] | Exception
            try:
                given = {"sample_weight": self.sample_weight, "groups": self.groups, "classifier": view.classifier}
                outcome = estimator.errors(view.rule, view.X, self.y, kinds, **given)
            except Exception as error:  # the other kinds would fail in the same fits
                outcome = error
            self.shared[key] = outcome, perf_counter() - started
        outcome, seconds = self.shared[key]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome[estimator.kind], seconds

    def _view(self, estimator: Any) -> View:
        return self.behind if self.behind is not None and needs_numbers(estimator) else self.whole


def read_estimators(estimators: Any, remedy: str = "A TestSet goes to test=.") -> dict[str, Any]:
    """Return new estimators by name, from names, estimators, a dict of them, or the name of a kind."""
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
        made = make_estimator(entry) if isinstance(entry, str) else entry
        if isinstance(made, type) or not isinstance(made, Measure | Resampler):
            raise TypeError(f"estimators must hold measures and resamplers or their names; got {_type(made)}. {remedy}")
        if name in chosen:
            raise ValueError(f"estimators must have different names; got {name!r} twice. Rename one, in a dict.")
        chosen[name] = clone(made)
    if not chosen:
        raise ValueError("estimators must name at least one; got none.")
    return chosen


def _type(thing: Any) -> str:
    return f"the class {thing.__name__}" if isinstance(thing, type) else f"a {type(thing).__name__}"


def _label(estimator: Any) -> str:
    return describe(estimator) if isinstance(estimator, Measure | Resampler) else type(estimator).__name__


def prepared(estimator: Any, seed: np.random.SeedSequence, n_jobs: int | None, progress: bool | None) -> Any:
    """Return a clone that takes these where it was given none of its own."""
    made = clone(estimator)
    parameters = made.get_params(deep=False)
    given = {"random_state": seed, **({"n_jobs": n_jobs, "progress": progress} if "progress" in parameters else {})}
    unset = {name: value for name, value in given.items() if parameters[name] is None and value is not None}
    return made.set_params(**unset)


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
    """Return a note where test points are training points too, as far as numbers can tell."""
    try:
        ours, theirs = (np.asarray(points, dtype=float) for points in (X, test_set.X))
    except (TypeError, ValueError):
        return []
    known = {row.tobytes() for row in ours}
    both = sum(row.tobytes() in known for row in theirs)
    if not both:
        return []
    return [f"{both} of {len(theirs)} test points are training points too: the test set is not independent of them."]


def _sharing(estimator: Bootstrap) -> str | None:
    """Return what bootstraps must have in common to share resamples; None where one cannot be run at all."""
    try:
        estimator._check_parameters()
    except (TypeError, ValueError):
        return None
    parameters = estimator.get_params(deep=True)
    return repr(sorted((name, repr(value)) for name, value in parameters.items() if name != "kind"))


def _test_set(test: Any, chosen: Mapping[str, Any]) -> TestSet:
    if "test set" in chosen:
        raise ValueError(
            "estimators must have different names; got 'test set' twice, since test= is called that. Rename it."
        )
    if isinstance(test, TestSet):
        return test
    if not isinstance(test, tuple | list) or len(test) != 2:
        raise TypeError(f"test must be a TestSet or a pair (X_test, y_test); got {type(test).__name__}.")
    return TestSet(*test)
