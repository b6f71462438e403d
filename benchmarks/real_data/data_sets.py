"""Data sets of a folder and of scikit-learn as arrays, and which of them are copies of one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets

ENDINGS = (".csv", ".csv.gz")
EMBEDDED = {
    "breast_cancer": datasets.load_breast_cancer,
    "digits": datasets.load_digits,
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
}
SAME = 0.2
"""Copies may be rounded: sorted columns may differ by this many standard deviations on average."""


@dataclass(frozen=True, eq=False)
class DataSet:
    """A table of numbers with labels.

    Attributes
    ----------
    name : str
    X : ndarray of shape (N, d)
    y : ndarray of shape (N,)
    n_dropped : int
        Rows left out since a value was missing.
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    n_dropped: int = 0

    @property
    def class_sizes(self) -> np.ndarray:
        """Return the number of points of every class, in ascending order."""
        return np.sort(np.unique(self.y, return_counts=True)[1])


def read_folder(folder: Path) -> list[DataSet]:
    """Return the data sets in a folder, by name."""
    if not folder.is_dir():
        raise ValueError(f"FOLDER must be a folder with files {' or '.join(ENDINGS)}; got {folder}. Name another.")
    paths = sorted(path for path in folder.iterdir() if path.name.endswith(ENDINGS))
    if not paths:
        raise ValueError(f"FOLDER must hold files {' or '.join(ENDINGS)}; {folder} holds none. Name another.")
    sets = [read_table(path) for path in paths]
    names = [data.name for data in sets]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"every data set must have a name of its own; got {twice[0]!r} twice. Rename one file.")
    return sets


def read_table(path: Path) -> DataSet:
    """Return one CSV file with a header: the last column has the labels, the others are features.

    Rows with a missing value are dropped. A column that is not numeric becomes one column of 0 and 1 per value.
    """
    frame = pd.read_csv(path)
    if frame.shape[1] < 2:
        raise ValueError(f"a data set must have features and labels; {path.name} has {frame.shape[1]} column.")
    whole = frame.dropna()
    features, labels = whole.iloc[:, :-1], whole.iloc[:, -1]
    numbers = pd.get_dummies(features, dtype=float).to_numpy(dtype=float)
    y = labels.to_numpy() if pd.api.types.is_numeric_dtype(labels) else labels.astype(str).to_numpy(dtype=object)
    name = path.name.removesuffix(".gz").removesuffix(".csv")
    if len(np.unique(y)) < 2:
        raise ValueError(f"a data set must have at least two classes; {path.name} has {len(np.unique(y))}.")
    return DataSet(name, numbers, y, len(frame) - len(whole))


def embedded_sets() -> list[DataSet]:
    """Return the classification data that scikit-learn carries."""
    return [DataSet(name, *load(return_X_y=True)) for name, load in EMBEDDED.items()]


def is_copy(first: DataSet, second: DataSet) -> bool:
    """Return whether two tables are one data set: shape, class sizes and the values of every column agree.

    The order of the rows and the names of the classes do not matter. Values agree if the sorted columns differ by less
    than `SAME` standard deviations on average, so a rounded copy is a copy.
    """
    if first.X.shape != second.X.shape or not np.array_equal(first.class_sizes, second.class_sizes):
        return False
    distance = np.abs(np.sort(first.X, axis=0) - np.sort(second.X, axis=0)).mean(axis=0)
    return bool((distance <= SAME * second.X.std(axis=0)).all())


def copy_groups(sets: Sequence[DataSet]) -> dict[str, str]:
    """Return the group of every data set: the name of the first one that it is a copy of, or its own."""
    groups: dict[str, str] = {}
    first: list[DataSet] = []
    for data in sets:
        original = next((earlier for earlier in first if is_copy(earlier, data)), data)
        groups[data.name] = original.name
        if original is data:
            first.append(data)
    return groups
