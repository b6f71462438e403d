"""Populations derived from real data sets: other targets, fewer classes and columns, noisy labels, rarer classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from benchmarks.learn.training_sets import LEAST_IN_CLASS, SMALLEST, draw_size
from benchmarks.real_data.data_sets import DataSet

LEAST_LEFT = 100
"""Rows behind a true error, at least."""

OTHER_COLUMN, FEWER_CLASSES = 0.4, 0.5
"""How often a column becomes the target, and how often classes are chosen or merged otherwise, if there are three."""

FEWER_COLUMNS, NOISY_LABELS, RARER_CLASS = 0.4, 0.2, 0.2
ATTEMPTS = 100


@dataclass(frozen=True, eq=False)
class DerivedPopulation:
    """Rows of a real data set with labels of their own; training sets are drawn without replacement."""

    source: DataSet
    X: Floats
    y: Ints

    def draw(self, rng: np.random.Generator, most_truth: int) -> tuple[Floats, Ints, Floats, Ints]:
        """Return a training set of random size, and other rows to judge by: points and labels of both."""
        for _ in range(ATTEMPTS):
            n = draw_size(rng, len(self.y) - LEAST_LEFT)
            order = rng.permutation(len(self.y))
            drawn, rest = order[:n], order[n : n + most_truth]
            counts = np.unique(self.y[drawn], return_counts=True)[1]
            if len(counts) == len(np.unique(self.y)) and counts.min() >= LEAST_IN_CLASS:
                return self.X[drawn], self.y[drawn], self.X[rest], self.y[rest]
        raise RuntimeError(
            f"a class of {self.source.name} is too rare for training sets; got none in {ATTEMPTS} draws."
        )


def draw_derived(sets: Sequence[DataSet], rng: np.random.Generator) -> DerivedPopulation:
    """Return a random population made of a random data set; all data sets are equally likely."""
    for _ in range(ATTEMPTS):
        source = sets[rng.integers(len(sets))]
        X, y = np.asarray(source.X, dtype=float), np.unique(source.y, return_inverse=True)[1]
        X, y = _other_target(X, y, rng)
        if rng.random() < FEWER_COLUMNS and X.shape[1] > 2:
            X = X[:, np.sort(rng.choice(X.shape[1], int(rng.integers(2, X.shape[1])), replace=False))]
        if rng.random() < NOISY_LABELS:
            flipped = rng.random(len(y)) < rng.uniform(0, 0.3)
            y = np.where(flipped, rng.permutation(y), y)
        if rng.random() < RARER_CLASS:
            rare = rng.choice(np.unique(y))
            kept = (y != rare) | (rng.random(len(y)) < rng.uniform(0.15, 0.8))
            X, y = X[kept], y[kept]
        codes, counts = np.unique(y, return_inverse=True, return_counts=True)[1:]
        varies = X.std(axis=0) > 0
        if len(counts) > 1 and counts.min() >= 0.03 * len(y) and len(y) >= SMALLEST + LEAST_LEFT and varies.any():
            return DerivedPopulation(source, X[:, varies], codes)
    raise RuntimeError(f"no population with two classes of 3 in 100 rows came out of {ATTEMPTS} draws.")


def _other_target(X: Floats, y: Ints, rng: np.random.Generator) -> tuple[Floats, Ints]:
    """Return points and labels with another target: a column cut at its quantiles, or other classes."""
    n_classes = int(y.max()) + 1
    if rng.random() < OTHER_COLUMN and X.shape[1] > 2:
        column = int(rng.integers(X.shape[1]))
        cuts = np.sort(rng.uniform(0.1, 0.9, int(rng.choice([1, 1, 1, 2, 3]))))
        target = np.searchsorted(np.quantile(X[:, column], cuts), X[:, column])
        return np.delete(X, column, axis=1), target
    if n_classes > 2 and rng.random() < FEWER_CLASSES:
        if rng.random() < 0.5:
            chosen = rng.choice(n_classes, int(rng.integers(2, n_classes)), replace=False)
            kept = np.isin(y, chosen)
            return X[kept], y[kept]
        return X, rng.integers(0, int(rng.integers(2, n_classes)), n_classes)[y]
    return X, y
