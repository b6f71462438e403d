"""The stored estimates of all data sets as cells, and each cell's scores as one long table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from bayes_gresub.studies import StudyResults
from benchmarks.real_data import scores
from benchmarks.real_data.plan import folders_of

CV, PLUS = "cv", "boot-632+"
RIVALS = (CV, PLUS)
WILSON, CLOPPER_PEARSON = "Wilson about cv, 0.7 n", "Clopper-Pearson about boot-632+"
REFERENCES = (WILSON, CLOPPER_PEARSON)
"""Intervals that are computed from stored estimates."""


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


def read_cells(run: Path, groups: Mapping[str, str]) -> Iterator[Cell]:
    """Yield the cells of all data sets that the run folder has; nothing is computed."""
    for name, group in groups.items():
        for folder in folders_of(name):
            if (run / folder / "design.json").exists():
                yield from cells_of(StudyResults.load(run / folder), name, group)


def cells_of(results: StudyResults, name: str, group: str) -> Iterator[Cell]:
    """Yield the cells of one data set's study, with the reference intervals."""
    data = results.to_xarray()
    failed = _failures(results)
    for rule in results.grid.rules:
        for n in results.grid.sample_sizes:
            here = data.sel(rule=rule, n=n)
            parts: dict[str, dict[str, np.ndarray]] = {
                part: {name: here[part].sel(estimator=name).to_numpy() for name in results.grid.estimators}
                for part in ("estimate", "low", "high", "seconds")
            }
            _add_references(parts, n)
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


def _failures(results: StudyResults) -> dict[tuple[str, int, str], int]:
    """Return how often an estimator came to no estimate, by rule, size and name."""
    counts: dict[tuple[str, int, str], int] = {}
    for task, record in results.records.items():
        for name, row in record["rows"].items():
            if row["estimate"] is None:
                counts[task.rule, task.n, name] = counts.get((task.rule, task.n, name), 0) + 1
    return counts


def _add_references(parts: dict[str, dict[str, np.ndarray]], n: int) -> None:
    for name, source, ends in (
        (WILSON, CV, lambda share: scores.wilson(share, 0.7 * n)),
        (CLOPPER_PEARSON, PLUS, lambda share: scores.clopper_pearson(share, n)),
    ):
        if source in parts["estimate"]:
            share = parts["estimate"][source]
            parts["estimate"][name], parts["seconds"][name] = share, parts["seconds"][source]
            parts["low"][name], parts["high"][name] = ends(share)


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
