"""One task of a study: one training set, one rule, the truth and every estimate. Nothing is written here."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from bayes_gresub.classifiers.training import trained
from bayes_gresub.comparing import Row, compare
from bayes_gresub.datasets import Population, TrueError
from bayes_gresub.datasets.base import Truth
from bayes_gresub.seeds import ANSWERS, RULES, SAMPLES, TRUTH, child
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


@dataclass(frozen=True, eq=False)
class Job:
    """What the tasks of a study need to know.

    Every random number of a task comes from the seed, the size and the repetition: neither the rule nor the other
    estimators change it, so that all rules see the same training sets.
    """

    population: Population
    rules: Mapping[str, Any]
    estimators: Mapping[str, Any]
    seed: np.random.SeedSequence
    n_test: int
    level: float
    reruns: Mapping[str, int]

    def only(self, rule: str) -> Job:
        """Return what the tasks with one rule need."""
        return Job(
            self.population,
            {rule: self.rules[rule]},
            self.estimators,
            self.seed,
            self.n_test,
            self.level,
            self.reruns,
        )

    def child(self, role: int, task: Task, *key: int) -> np.random.SeedSequence:
        """Return the seed of one part of a task."""
        return child(self.seed, role, task.n, task.repetition, *key)


def run_task(job: Job, task: Task, names: Sequence[str]) -> Record:
    """Return the record of a task for the estimators named."""
    started = perf_counter()

    def work() -> Record:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            record = _answers(job, task, names)
        said = Counter(f"{one.category.__name__}: {str(one.message).splitlines()[0][:200]}" for one in caught)
        record["warnings"] = dict(said.most_common(_MOST_WARNINGS))
        return record

    record = on_one_thread(work)
    record["seconds"] = perf_counter() - started
    return record


def _answers(job: Job, task: Task, names: Sequence[str]) -> Record:
    record: Record = {"rule": task.rule, "n": task.n, "repetition": task.repetition}
    X, y, truth = job.population.draw(task.n, job.child(SAMPLES, task))
    started = perf_counter()
    try:
        classifier = trained(job.rules[task.rule], X, y, None, job.child(RULES, task))
    except Exception as error:  # a rule that cannot be trained on this sample is a row, not a crash
        message = f"the rule could not be trained: {_words(error)}"
        return record | {
            "true": {"value": None, "std_error": None, "n_test": 0, "message": message},
            "fit_seconds": perf_counter() - started,
            "rows": {name: _failed(message) for name in names},
        }
    fitted = perf_counter() - started
    rows = _rows(job, task, names, classifier, X, y, 0)
    # Only where the estimate itself does not tell how much of it is chance.
    unknown = [name for name, row in rows.items() if row["estimate"] is not None and row["std_error"] is None]
    for again in range(1, max(job.reruns.values(), default=0) + 1):
        if once_more := [name for name in unknown if job.reruns[name] >= again]:
            for name, row in _rows(job, task, once_more, classifier, X, y, again).items():
                rows[name]["reruns"].append(row["estimate"])
    return record | {"true": _true(truth, classifier, job, task), "fit_seconds": fitted, "rows": rows}


def _rows(
    job: Job, task: Task, names: Sequence[str], classifier: Any, X: Any, y: Any, again: int
) -> dict[str, dict[str, Any]]:
    chosen = {name: job.estimators[name] for name in names}
    seed = job.child(ANSWERS, task, again)
    table = compare(classifier, X, y, chosen, level=job.level, n_jobs=1, progress=False, random_state=seed)
    return {row.name: _row(row, job.level) for row in table.rows}


def _row(row: Row, level: float) -> dict[str, Any]:
    cells = row.cells(level)
    numbers = {
        name: cells[name] if math.isfinite(cells[name]) else None for name in ("estimate", "low", "high", "std_error")
    }
    return numbers | {
        "seconds": cells["seconds"],
        "n_refits": cells["n_refits"],
        "n_predicted": cells["n_predicted"],
        "exact": bool(cells["exact"]),
        "message": cells["message"],
        "reruns": [],
    }


def _failed(message: str) -> dict[str, Any]:
    unknown = dict.fromkeys(("estimate", "low", "high", "std_error"))
    return {**unknown, "seconds": None, "n_refits": 0, "n_predicted": 0, "exact": False} | {
        "message": message,
        "reruns": [],
    }


def _true(truth: Truth, classifier: Any, job: Job, task: Task) -> dict[str, Any]:
    try:
        found: TrueError = truth.true_error(classifier, n_test=job.n_test, random_state=job.child(TRUTH, task))
    except Exception as error:  # without a truth the estimates are still worth keeping
        return {"value": None, "std_error": None, "n_test": 0, "message": _words(error)}
    return {"value": found.value, "std_error": found.std_error, "n_test": found.n_test, "message": ""}


def _words(error: Exception) -> str:
    return " ".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", [])])
