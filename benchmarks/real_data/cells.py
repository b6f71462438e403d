"""The stored estimates of all data sets as cells, and each cell's scores as one long table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from bayes_gresub.data.sample import read_sample
from bayes_gresub.data.seeds import SAMPLES, child, seed_sequence
from bayes_gresub.estimate.count_intervals import BOOTSTRAP_SHARES, CROSS_VALIDATION_SHARE
from bayes_gresub.resampling.kept_together import read_units
from bayes_gresub.studies import StudyResults
from benchmarks.real_data import scores
from benchmarks.real_data.data_sets import DataSet
from benchmarks.real_data.plan import folders_of, seed_of
from benchmarks.real_data.population import as_population

CV, PLUS = "cv", "boot-632+"
RIVALS = (CV, PLUS)
WILSON, CLOPPER_PEARSON = "Wilson about cv, 0.7 n", "Clopper-Pearson about boot-632+"
REFERENCES = (WILSON, CLOPPER_PEARSON)
"""Intervals that stand for no estimator of the package; they are computed from stored estimates."""

SHARES = {
    **dict.fromkeys((CV, "repeated-cv"), CROSS_VALIDATION_SHARE),
    **{f"boot-{kind}": BOOTSTRAP_SHARES[kind] for kind in ("632", "632+")},
}
"""Estimators with Wilson's interval, and their share of the points. It is computed from stored estimates, too: the
shares were chosen on this benchmark, and need no refits."""


@dataclass(frozen=True, eq=False)
class Cell:
    """All repetitions of one data set, rule and size; arrays of shape (R,), or by estimator; NaN for unknown values."""

    data: str
    group: str
    rule: str
    n: int
    truth: np.ndarray
    n_test: np.ndarray
    estimate: Mapping[str, np.ndarray]
    low: Mapping[str, np.ndarray]
    high: Mapping[str, np.ndarray]
    seconds: Mapping[str, np.ndarray]
    failed: Mapping[str, int]


def read_cells(run: Path, sets: Sequence[DataSet], groups: Mapping[str, str]) -> Iterator[Cell]:
    """Yield the cells of all data sets that the run folder has, with the intervals that follow from the estimates.

    Studies of one data set have the same training sets, so their estimates of one cell are put together.
    """
    for data in sets:
        name, group = data.name, groups[data.name]
        cells: dict[tuple[str, int], Cell] = {}
        for folder in folders_of(name):
            if (run / folder / "design.json").exists():
                for cell in cells_of(StudyResults.load(run / folder), name, group):
                    key = cell.rule, cell.n
                    cells[key] = merged(cells[key], cell) if key in cells else cell
        repetitions = max((len(cell.truth) for cell in cells.values()), default=0)
        points = {n: effective_points(data, n, repetitions) for n in {n for _, n in cells}}
        for cell in cells.values():
            yield with_intervals(cell, points[cell.n][: len(cell.truth)])


def cells_of(results: StudyResults, name: str, group: str) -> Iterator[Cell]:
    """Yield the cells of one study."""
    data = results.to_xarray()
    failed = _failures(results)
    for rule in results.grid.rules:
        for n in results.grid.sample_sizes:
            here = data.sel(rule=rule, n=n)
            parts: dict[str, dict[str, np.ndarray]] = {
                part: {name: here[part].sel(estimator=name).to_numpy() for name in results.grid.estimators}
                for part in ("estimate", "low", "high", "seconds")
            }
            yield Cell(
                name,
                group,
                rule,
                n,
                here["true_error"].to_numpy(),
                here["n_test"].to_numpy(),
                failed={name: failed.get((rule, n, name), 0) for name in parts["estimate"]},
                **parts,
            )


def merged(first: Cell, second: Cell) -> Cell:
    """Return one cell with the estimates of both, whose repetitions have the same training sets."""
    length = max(len(first.truth), len(second.truth))

    def padded(values: np.ndarray) -> np.ndarray:
        return np.concatenate([values, np.full(length - len(values), np.nan)])

    truths, tests = [padded(cell.truth) for cell in (first, second)], [padded(cell.n_test) for cell in (first, second)]
    both = np.isfinite(truths[0]) & np.isfinite(truths[1])
    if not np.array_equal(truths[0][both], truths[1][both]):
        raise ValueError(f"true errors of {first.data}, {first.rule}, n={first.n} differ between two studies.")
    parts = {
        part: {name: padded(values) for cell in (first, second) for name, values in getattr(cell, part).items()}
        for part in ("estimate", "low", "high", "seconds")
    }
    known = np.isfinite(truths[0])
    return replace(
        first,
        truth=np.where(known, *truths),
        n_test=np.where(known, *tests),
        failed={**first.failed, **second.failed},
        **parts,
    )


def _failures(results: StudyResults) -> dict[tuple[str, int, str], int]:
    """Return how often an estimator came to no estimate, by rule, size and name."""
    counts: dict[tuple[str, int, str], int] = {}
    for task, record in results.records.items():
        for name, row in record["rows"].items():
            if row["estimate"] is None:
                counts[task.rule, task.n, name] = counts.get((task.rule, task.n, name), 0) + 1
    return counts


def effective_points(data: DataSet, n: int, repetitions: int) -> np.ndarray:
    """Return the effective number of points of each training set, (R,): identical rows count as one."""
    root, numbers = seed_sequence(seed_of(data)), []
    for repetition in range(repetitions):
        X, y, _ = as_population(data).draw(n, child(root, SAMPLES, n, repetition))
        sample = read_sample(X, y)
        numbers.append(read_units(sample, None, "together").effective_number(sample.weights))
    return np.array(numbers)


def with_intervals(cell: Cell, points: np.ndarray) -> Cell:
    """Return the cell with the intervals that follow from the estimates and the effective points of training sets."""
    parts = {part: dict(getattr(cell, part)) for part in ("estimate", "low", "high", "seconds")}
    failed = dict(cell.failed)
    for name in SHARES.keys() & cell.estimate.keys():
        parts["low"][name], parts["high"][name] = scores.wilson(cell.estimate[name], SHARES[name] * points)
    for name, source, ends in (
        (WILSON, CV, lambda share: scores.wilson(share, 0.7 * cell.n)),
        (CLOPPER_PEARSON, PLUS, lambda share: scores.clopper_pearson(share, cell.n)),
    ):
        if source in cell.estimate:
            share = cell.estimate[source]
            parts["estimate"][name], parts["seconds"][name] = share, cell.seconds[source]
            parts["low"][name], parts["high"][name] = ends(share)
            failed[name] = 0
    return replace(cell, failed=failed, **parts)


def score_table(cells: Iterator[Cell]) -> pd.DataFrame:
    """Return the scores of every estimator in every cell, a row each.

    `rms_<rival>_own` and `rms_<rival>` are the RMS of the estimator and of the rival over the repetitions that both
    have.
    """
    return pd.DataFrame([_score(cell, name) for cell in cells for name in cell.estimate])


def _score(cell: Cell, name: str) -> dict[str, object]:
    estimate, low, high = cell.estimate[name], cell.low[name], cell.high[name]
    known = np.isfinite(estimate) & np.isfinite(cell.truth)
    has_interval = np.isfinite(low) & np.isfinite(high) & known
    row: dict[str, object] = {
        "data": cell.data,
        "group": cell.group,
        "rule": cell.rule,
        "n": cell.n,
        "estimator": name,
        "repetitions": int(known.sum()),
        "failed": cell.failed[name],
        "intervals": int(has_interval.sum()),
        "truth": float(cell.truth[known].mean()) if known.any() else np.nan,
        "rms": scores.rms(estimate, cell.truth, cell.n_test),
        "bias": scores.bias(estimate, cell.truth),
        "coverage": scores.coverage(low, high, cell.truth),
        "coverage_without_noise": scores.coverage_without_noise(low, high, cell.truth, cell.n_test),
        "width": scores.width(low, high),
        "interval_score": scores.interval_score(low, high, cell.truth),
        "seconds": float(np.nanmean(cell.seconds[name])) if np.isfinite(cell.seconds[name]).any() else np.nan,
    }
    for rival in RIVALS:
        other = cell.estimate.get(rival, np.full_like(estimate, np.nan))
        # Both over the repetitions that both have.
        mine, theirs = np.where(np.isfinite(other), estimate, np.nan), np.where(known, other, np.nan)
        row[f"won_{rival}"] = scores.won(estimate, other, cell.truth)
        row[f"rms_{rival}_own"] = scores.rms(mine, cell.truth, cell.n_test)
        row[f"rms_{rival}"] = scores.rms(theirs, cell.truth, cell.n_test)
    return row
