"""How long the rest of the benchmark will take, from the seconds that finished tasks took. Nothing is run here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from bayes_gresub.studies import StudyResults
from benchmarks.real_data.data_sets import DataSet
from benchmarks.real_data.plan import BOOTSTRAPS, Part, kind_of

_RIDGE = 1e-2
"""Keeps the fit defined if all pilots have the same size or the same number of features."""
_NUMBERS = ("log_n", "log_d", "log_c")


def pilots(parts: Sequence[Part]) -> list[Part]:
    """Return parts of one repetition that show how seconds grow: the others' are predicted from these.

    The data set with the median number of features times classes at its smallest and largest size, and that with the
    largest number at its middle size.
    """
    by_name = {part.data.name: part.data for part in parts}
    sizes = {
        name: tuple(sorted({n for part in parts if part.data.name == name for n in part.sizes})) for name in by_name
    }
    longest = max(len(usable) for usable in sizes.values())
    full = [data for name, data in by_name.items() if len(sizes[name]) == longest]
    ordered = sorted(full, key=lambda data: data.X.shape[1] * len(data.class_sizes))
    middle, largest = ordered[len(ordered) // 2], ordered[-1]
    wanted = {middle.name: {sizes[middle.name][0], sizes[middle.name][-1]}}
    wanted.setdefault(largest.name, set()).add(sizes[largest.name][len(sizes[largest.name]) // 2])
    return [
        replace(part, sizes=tuple(sorted(wanted[part.data.name] & set(part.sizes))), repetitions=1)
        for part in parts
        if wanted.get(part.data.name, set()) & set(part.sizes)
    ]


def expected_hours(parts: Sequence[Part], run: Path) -> pd.DataFrame:
    """Return the hours of one process that are left, a row for each rule, a column for each kind of estimator."""
    done = done_rows(parts, run)
    left = left_rows(parts, done)
    if left.empty:
        return pd.DataFrame()
    left["seconds"] = predicted_seconds(done, left)
    # The kinds of bootstrap that a task wants share their resamples.
    left["shared"] = left["estimator"].where(~left["estimator"].isin(BOOTSTRAPS), "bootstrap")
    once = left.groupby(["data", "rule", "n", "repetition", "shared"], sort=False).first().reset_index()
    once["kind"] = once["estimator"].map({name: kind_of(name) for name in once["estimator"].unique()})
    return once.pivot_table(index="rule", columns="kind", values="seconds", aggfunc="sum", sort=False) / 3600


def done_rows(parts: Sequence[Part], run: Path) -> pd.DataFrame:
    """Return the seconds of every estimate in the run folder."""
    rows: list[dict[str, object]] = []
    for folder, data in {part.folder: part.data for part in parts}.items():
        if (run / folder / "design.json").exists():
            for task, record in StudyResults.load(run / folder).records.items():
                common = _row(data, task.rule, task.n, task.repetition)
                rows += [
                    {**common, "estimator": name, "seconds": row["seconds"], "failed": row["estimate"] is None}
                    for name, row in record["rows"].items()
                ]
    columns = ["data", "rule", "n", "repetition", *_NUMBERS, "estimator", "seconds", "failed"]
    return pd.DataFrame(rows, columns=columns)


def left_rows(parts: Iterable[Part], done: pd.DataFrame) -> pd.DataFrame:
    """Return the estimates that the parts want and the run folder has not."""
    keys = ["data", "rule", "n", "repetition", "estimator"]
    finished = set(done[keys].itertuples(index=False, name=None))
    rows = [
        {**_row(part.data, rule, n, repetition), "estimator": name}
        for part in parts
        for repetition in range(part.repetitions)
        for n in part.sizes
        for rule in part.rules
        for name in part.estimators
        if (part.data.name, rule, n, repetition, name) not in finished
    ]
    return pd.DataFrame(rows)


def predicted_seconds(done: pd.DataFrame, left: pd.DataFrame) -> np.ndarray:
    r"""Return the seconds that estimates will take, by a fit to those that are done, for every estimator apart.

    .. math:: \log s = a_{rule} + b_1 \log n + b_2 \log d + b_3 \log c

    with n points, d features and c classes. The mean of exp(residual) corrects for the logarithm. Failures take less
    time, so they are left out; an estimator that has always failed on a data set is expected to fail there again, in no
    time. NaN if nothing of an estimator is done.
    """
    seconds = np.full(len(left), np.nan)
    rules = sorted({*done["rule"], *left["rule"]})
    for name in left["estimator"].unique():
        tried = done[done["estimator"] == name]
        wanted = (left["estimator"] == name).to_numpy()
        known = tried[~tried["failed"].astype(bool) & (tried["seconds"].astype(float) > 0)]
        if known.empty:
            continue
        center = known[list(_NUMBERS)].astype(float).mean()
        target = np.log(known["seconds"].to_numpy(dtype=float))
        matrix = _matrix(known, rules, center)
        penalty = _RIDGE * np.eye(matrix.shape[1])
        weights = np.linalg.solve(matrix.T @ matrix + penalty, matrix.T @ (target - target.mean()))
        smear = np.exp(target - target.mean() - matrix @ weights).mean()
        seconds[wanted] = smear * np.exp(target.mean() + _matrix(left[wanted], rules, center) @ weights)
        hopeless = set(tried["data"]) - set(known["data"])
        seconds[wanted & left["data"].isin(hopeless).to_numpy()] = 0.0
    return seconds


def _matrix(rows: pd.DataFrame, rules: Sequence[str], center: pd.Series) -> np.ndarray:
    is_rule = rows["rule"].to_numpy()[:, None] == np.array(rules, dtype=object)
    return np.hstack([is_rule.astype(float), (rows[list(_NUMBERS)].astype(float) - center).to_numpy()])


def _row(data: DataSet, rule: str, n: int, repetition: int) -> dict[str, object]:
    size = {"log_n": np.log(n), "log_d": np.log(data.X.shape[1]), "log_c": np.log(len(data.class_sizes))}
    return {"data": data.name, "rule": rule, "n": n, "repetition": repetition, **size}
