"""The axes of a study's results, and its records laid out along them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from bayes_gresub.data.arrays import Floats
from bayes_gresub.studies.tasks import Record, Task

_NUMBERS = ("estimate", "std_error", "low", "high", "seconds", "n_refits", "n_predicted")


@dataclass(frozen=True)
class Grid:
    """The axes of a study's results."""

    rules: tuple[str, ...]
    sample_sizes: tuple[int, ...]
    estimators: tuple[str, ...]
    repetitions: int
    level: float
    population: str

    @property
    def tasks(self) -> list[Task]:
        """Return all tasks: first the first repetition of every cell, so all cells fill up together."""
        return [
            Task(rule, n, repetition)
            for repetition in range(self.repetitions)
            for n in self.sample_sizes
            for rule in self.rules
        ]


def numbers(grid: Grid, records: Mapping[Task, Record]) -> dict[str, Floats]:
    """Return the estimates and their parts, by name, in arrays (rule, n, estimator, repetition); NaN if unknown.

    If the Monte-Carlo standard error of an estimate is unknown, the spread of its reruns is taken.
    """
    shape = (len(grid.rules), len(grid.sample_sizes), len(grid.estimators), grid.repetitions)
    arrays = {name: np.full(shape, np.nan) for name in _NUMBERS}
    for i, j, repetition, record in _placed(grid, records):
        for k, estimator in enumerate(grid.estimators):
            row = record["rows"].get(estimator)
            if row is None:
                continue
            for name in _NUMBERS:
                if row[name] is not None:
                    arrays[name][i, j, k, repetition] = row[name]
            if row["std_error"] is None and row["estimate"] is not None:
                runs = [value for value in [row["estimate"], *row["reruns"]] if value is not None]
                if len(runs) > 1:
                    arrays["std_error"][i, j, k, repetition] = np.std(runs, ddof=1)
    return arrays


def truths(grid: Grid, records: Mapping[Task, Record]) -> dict[str, Floats]:
    """Return true errors, their standard errors and test points, in arrays (rule, n, repetition)."""
    names = {"true_error": "value", "true_error_std_error": "std_error", "n_test": "n_test"}
    shape = (len(grid.rules), len(grid.sample_sizes), grid.repetitions)
    arrays = {name: np.full(shape, np.nan) for name in names}
    for i, j, repetition, record in _placed(grid, records):
        for name, inside in names.items():
            value = record["true"][inside]
            if value is not None:
                arrays[name][i, j, repetition] = value
    return arrays


def _placed(grid: Grid, records: Mapping[Task, Record]) -> Iterator[tuple[int, int, int, Record]]:
    rules = {name: i for i, name in enumerate(grid.rules)}
    sizes = {n: j for j, n in enumerate(grid.sample_sizes)}
    for task, record in records.items():
        yield rules[task.rule], sizes[task.n], task.repetition, record
