"""What the check of class models can see: its power, measured by benchmarks/class_fit.py. The check lives elsewhere."""

from __future__ import annotations

import csv
from bisect import bisect_right
from functools import cache
from importlib.resources import files

from bayes_gresub.data.validation import check_whole

_SEES, _MISSES = 0.8, 0.5


def power(n_points: int, n_features: int) -> dict[str, float]:
    """Return how often the check sees each departure from a Gaussian class, at the level that one of two classes has.

    Taken from the next smaller measured number of points and, between two measured numbers of features, from the one
    where less is seen: a departure in one feature is harder to see among more features, one in all of them easier.

    Parameters
    ----------
    n_points : int
        Points of the class, at least 15.
    n_features : int
        At least 2.

    Returns
    -------
    dict of str to float
        From the departure in words to the share of 300 samples in which it was seen (standard error up to 0.03).

    Examples
    --------
    >>> seen = power(100, 10)
    >>> seen["two modes at +-3 in one feature"] > seen["two modes at +-1.5 in one feature"]
    True
    """
    sizes, dims, table = _measured()
    check_whole(n_points, "n_points", sizes[0])
    check_whole(n_features, "n_features", dims[0])
    size, columns = _place(n_points, n_features)
    return {departure: min(rows[size][column] for column in columns) for departure, rows in table.items()}


def power_in_words(n_points: int, n_features: int) -> str:
    """Return in words what the check would see and what it would miss in a class of this size.

    Examples
    --------
    >>> print(power_in_words(10, 30))
    With 10 points in 30 features this check has not been measured; it sees less than with 15 points, where ...
    """
    check_whole(n_points, "n_points", 1)
    check_whole(n_features, "n_features", 1)
    sizes, dims, _ = _measured()
    size, columns = _place(n_points, n_features)
    seen = power(max(n_points, sizes[0]), max(n_features, dims[0]))
    sees = _listed({name: share for name, share in seen.items() if share >= _SEES})
    some = _listed({name: share for name, share in seen.items() if _MISSES <= share < _SEES})
    misses = _listed({name: share for name, share in seen.items() if share < _MISSES})
    parts = [f"sees in at least 8 of 10 samples: {sees}"] if sees else []
    parts += [f"sees in more than half: {some}"] if some else []
    parts += [f"misses in most samples: {misses}"] if misses else []
    what = "; it ".join(parts)
    given = f"With {n_points} points in {n_features} features this check"
    if n_points < sizes[0]:
        text = f"{given} has not been measured; it sees less than with {sizes[0]} points, where it {what}."
    else:
        measured = f"{size} points in {' and '.join(str(dims[column]) for column in columns)} features"
        same = (size, [dims[column] for column in columns]) == (n_points, [n_features])
        text = f"{given} {what}" + ("." if same else f" (measured at {measured}).")
    return text + (" What it misses may still be there: look at histograms of the features." if misses else "")


def _listed(seen: dict[str, float]) -> str:
    return ", ".join(f"{name} ({share:.2f})" for name, share in sorted(seen.items(), key=lambda item: -item[1]))


def _place(n_points: int, n_features: int) -> tuple[int, list[int]]:
    sizes, dims, _ = _measured()
    below = bisect_right(dims, n_features) - 1
    # Beyond the table, its nearest column is all there is.
    columns = {max(0, below), below if n_features in dims else min(below + 1, len(dims) - 1)}
    return sizes[max(0, bisect_right(sizes, n_points) - 1)], sorted(columns)


@cache
def _measured() -> tuple[list[int], list[int], dict[str, dict[int, list[float]]]]:
    """Return the numbers of points and of features, and shares by departure, points and position of features."""
    text = files("bayes_gresub.models").joinpath("class_fit_power.csv").read_text(encoding="utf-8")
    header, *rows = csv.reader(line for line in text.splitlines() if not line.startswith("#"))
    table: dict[str, dict[int, list[float]]] = {}
    for departure, n_points, *shares in rows:
        table.setdefault(departure, {})[int(n_points)] = [float(share) for share in shares]
    return sorted(next(iter(table.values()))), [int(dim) for dim in header[2:]], table
