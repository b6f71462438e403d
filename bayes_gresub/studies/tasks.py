"""One task of a study: one training set, one rule, the truth and every estimate. Nothing is written here."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from bayes_gresub.comparing import Row
from bayes_gresub.comparing.compare import Fit, Judged, prepared
from bayes_gresub.comparing.prepared_columns import View
from bayes_gresub.data.seeds import ANSWERS, GLOBALS, RULES, SAMPLES, TRUTH, child
from bayes_gresub.populations import Population, TrueError
from bayes_gresub.populations.population import Truth
from bayes_gresub.regions.training import trained
from bayes_gresub.studies.interrupts import ended_by_interrupts
from bayes_gresub.studies.process_state import Surroundings
from bayes_gresub.studies.threads import on_one_thread

Record = dict[str, Any]
"""What a task found, as data that JSON can hold: numbers that are not known are None."""

_MOST_WARNINGS = 20


@dataclass(frozen=True, order=True)
class Task:
    """One repetition: a training set of n points and a rule."""

    rule: str
    n: int
    repetition: int


class LatestFits:
    """The measures fitted to the sample that was asked for last."""

    def __init__(self) -> None:
        # One attribute, so threads never see the name of one sample beside the fits of another.
        self._latest: tuple[Hashable, dict[str, Fit]] = (None, {})

    def of(self, sample: Hashable) -> dict[str, Fit]:
        """Return the measures fitted to a sample, by name; those of another sample are dropped."""
        latest = self._latest
        if latest[0] != sample:
            latest = self._latest = (sample, {})
        return latest[1]


@dataclass(frozen=True, eq=False)
class Job:
    """The data that every task of a study needs.

    Every random number of a task comes from the seed, the size and the repetition: neither the rule nor the other
    estimators change it, so all rules see the same training sets.
    """

    population: Population
    rules: Mapping[str, Any]
    estimators: Mapping[str, Any]
    seed: np.random.SeedSequence
    n_test: int
    level: float
    reruns: Mapping[str, int]
    surroundings: Surroundings
    fits: LatestFits = field(default_factory=LatestFits)

    def child(self, role: int, task: Task, *key: int) -> np.random.SeedSequence:
        """Return the seed of one part of a task."""
        return child(self.seed, role, task.n, task.repetition, *key)


def run_task(job: Job, task: Task, names: Sequence[str]) -> Record:
    """Return the record of a task for the estimators named; an interrupt meanwhile always raises."""
    started = perf_counter()

    def work() -> Record:
        surroundings = job.surroundings.around(job.child(GLOBALS, task))
        with surroundings, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                record = _judge_sample(job, task, names)
            except SystemExit as error:
                message = (
                    f"a task must not leave Python; SystemExit: {error} was raised. Raise another error in its place."
                )
                record = stopped_record(task, names, message, 0.0)
        counts = Counter(
            f"{warning.category.__name__}: {str(warning.message).partition(chr(10))[0][:200]}" for warning in caught
        )
        record["warnings"] = dict(counts.most_common(_MOST_WARNINGS))
        return record

    record = ended_by_interrupts(lambda: on_one_thread(work))
    record["seconds"] = perf_counter() - started
    return record


def stopped_record(task: Task, names: Sequence[str], message: str, seconds: float) -> Record:
    """Return the record of a task that came to no end, with the reason in every row."""
    start: Record = {"rule": task.rule, "n": task.n, "repetition": task.repetition}
    return start | _nothing(names, message, 0.0) | {"warnings": {}, "seconds": seconds}


def agree(before: Record | None, now: Record) -> bool:
    """Return whether two records may be of the same classifier, judged by its true error where both have one."""
    if before is None:
        return True
    values = before["true"]["value"], now["true"]["value"]
    return None in values or values[0] == values[1]


def merged(before: Record | None, now: Record) -> Record:
    """Return a record with the rows of both; a number is replaced by nothing, a failure by what came later."""
    if before is None:
        return now
    known = before["rows"]
    fresh = {name: row for name, row in now["rows"].items() if name not in known or known[name]["message"]}
    if not fresh:
        return before
    counts: Counter[str] = Counter(before["warnings"]) + Counter(now["warnings"])
    truth = before if now["true"]["value"] is None else now
    return {
        **truth,
        "rows": {**known, **fresh},
        "warnings": dict(counts),
        "seconds": before["seconds"] + now["seconds"],
    }


def _judge_sample(job: Job, task: Task, names: Sequence[str]) -> Record:
    record: Record = {"rule": task.rule, "n": task.n, "repetition": task.repetition}
    try:
        X, y, truth = job.population.draw(task.n, job.child(SAMPLES, task))
    except Exception as error:
        return record | _nothing(names, f"no sample could be drawn: {_words(error)}", 0.0)
    started = perf_counter()
    try:
        # A copy, since a rule may write into its training data.
        classifier = trained(job.rules[task.rule], deepcopy(X), y.copy(), None, job.child(RULES, task))
    except Exception as error:  # a rule that cannot be trained on this sample is a row, not a crash
        message = f"the rule could not be trained: {_words(error)}"
        return record | _nothing(names, message, perf_counter() - started)
    fitted = perf_counter() - started
    truth_and_time = {"true": _true(truth, classifier, job, task), "fit_seconds": fitted}
    if len(np.unique(y)) < 2:
        message = f"ValueError: the sample must hold at least two classes; it holds only {np.unique(y).tolist()!r}."
        return record | truth_and_time | {"rows": {name: _failed(message) for name in names}}
    rows = _rows(job, task, names, classifier, X, y, 0)
    # Only if the Monte-Carlo error of the estimate is unknown, and a rerun would not give the same number.
    unknown = [
        name
        for name, row in rows.items()
        if row["estimate"] is not None and row["std_error"] is None and job.estimators[name].random_state is None
    ]
    for again in range(1, max(job.reruns.values(), default=0) + 1):
        if once_more := [name for name in unknown if job.reruns[name] >= again]:
            for name, row in _rows(job, task, once_more, classifier, X, y, again).items():
                rows[name]["reruns"].append(row["estimate"])
    return record | truth_and_time | {"rows": rows}


def _rows(
    job: Job, task: Task, names: Sequence[str], classifier: Any, X: Any, y: Any, again: int
) -> dict[str, dict[str, Any]]:
    seed = job.child(ANSWERS, task, again)
    chosen = {name: prepared(job.estimators[name], seed, 1, False) for name in names}
    fits = job.fits.of((task.n, task.repetition, again))
    judged = Judged(View(job.rules[task.rule], classifier, X), y, seed, fits=fits)
    entries = enumerate(chosen.items())
    return {name: _row(judged.row(number, (name, entry, chosen)), job.level) for number, (name, entry) in entries}


def _row(row: Row, level: float) -> dict[str, Any]:
    cells = row.cells(level)
    numbers = {name: _number(cells[name]) for name in ("estimate", "low", "high", "std_error")}
    return numbers | {
        "seconds": cells["seconds"],
        "n_refits": cells["n_refits"],
        "n_predicted": cells["n_predicted"],
        "exact": bool(cells["exact"]),
        "message": cells["message"],
        "reruns": [],
        "details": {} if row.estimate is None else {k: _number(v) for k, v in row.estimate.details.items()},
    }


def _nothing(names: Sequence[str], message: str, seconds: float) -> Record:
    """Return the rest of a record of a task that came to nothing."""
    return {
        "true": {"value": None, "std_error": None, "n_test": 0, "message": message},
        "fit_seconds": seconds,
        "rows": {name: _failed(message) for name in names},
    }


def _failed(message: str) -> dict[str, Any]:
    unknown = dict.fromkeys(("estimate", "low", "high", "std_error"))
    return {**unknown, "seconds": None, "n_refits": 0, "n_predicted": 0, "exact": False} | {
        "message": message,
        "reruns": [],
    }


def _true(truth: Truth, classifier: Any, job: Job, task: Task) -> dict[str, Any]:
    try:
        true: TrueError = truth.true_error(classifier, n_test=job.n_test, random_state=job.child(TRUTH, task))
        numbers = {"value": _number(true.value), "std_error": _number(true.std_error), "n_test": int(true.n_test)}
    except Exception as error:  # without a truth the estimates are still worth keeping
        return {"value": None, "std_error": None, "n_test": 0, "message": _words(error)}
    return numbers | {"message": "" if numbers["value"] is not None else "the true error is not a number"}


def _number(value: Any) -> float | None:
    """Return a plain number, or None for what is not finite."""
    number = float(value)
    return number if math.isfinite(number) else None


def _words(error: Exception) -> str:
    return " ".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", [])])
