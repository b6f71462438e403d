"""The power of the check of class models, measured by benchmarks/class_fit.py. The check itself is elsewhere."""

from __future__ import annotations

import csv
from bisect import bisect_right
from functools import cache
from importlib.resources import files

from bayes_gresub.data.validation import check_whole


def look_up_power(n_points: int, n_features: int) -> dict[str, float]:
    """Return how often the check sees each departure from a Gaussian class, at the level that one of two classes has.

    The shares are those of the next smaller measured number of points and, between two measured numbers of features,
    of the one where less is seen: a departure in one feature is harder to see among more features, one in all of them
    is easier.

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
    >>> power = look_up_power(100, 10)
    >>> power["two modes at +-3 in one feature"] > power["two modes at +-1.5 in one feature"]
    True
    """
    sizes, dims, table = _read_table()
    check_whole(n_points, "n_points", sizes[0])
    check_whole(n_features, "n_features", dims[0])
    size, columns = _find_cells(n_points, n_features)
    return {departure: min(rows[size][column] for column in columns) for departure, rows in table.items()}


def _find_cells(n_points: int, n_features: int) -> tuple[int, list[int]]:
    """Return the measured number of points, and the positions of the measured numbers of features."""
    sizes, dims, _ = _read_table()
    below = bisect_right(dims, n_features) - 1
    # Beyond the table only its nearest column is left.
    columns = {max(0, below), below if n_features in dims else min(below + 1, len(dims) - 1)}
    return sizes[max(0, bisect_right(sizes, n_points) - 1)], sorted(columns)


@cache
def _read_table() -> tuple[list[int], list[int], dict[str, dict[int, list[float]]]]:
    """Return the numbers of points and of features, and shares by departure, points and position of features."""
    text = files("bayes_gresub.models").joinpath("class_fit_power.csv").read_text(encoding="utf-8")
    header, *rows = csv.reader(line for line in text.splitlines() if not line.startswith("#"))
    table: dict[str, dict[int, list[float]]] = {}
    for departure, n_points, *shares in rows:
        table.setdefault(departure, {})[int(n_points)] = [float(share) for share in shares]
    return sorted(next(iter(table.values()))), [int(dim) for dim in header[2:]], table
