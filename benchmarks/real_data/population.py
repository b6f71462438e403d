"""A data set as a population whose training sets have every class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_gresub.data.seeds import Seed, child, seed_sequence
from bayes_gresub.populations import FiniteData
from benchmarks.real_data.data_sets import DataSet


@dataclass(frozen=True, eq=False)
class RedrawnData(FiniteData):
    """`FiniteData` whose training sets are drawn again until every class has at least `least` points.

    Bolstering needs two points of a class to learn its width, and a classifier that has never seen a class cannot be
    judged for it from the training data, by any estimator. Given the class sizes the points stay equally likely.

    Parameters
    ----------
    X, y, class_sizes, name
        As in `FiniteData`.
    least : int, default 2
    most_draws : int, default 10000
        Draws after which an error is raised.
    """

    least: int = 2
    most_draws: int = 10_000

    def draw(self, n: int, random_state: Seed = None) -> tuple[Any, Any, Any]:
        """Return n points, their labels, and the rest of the data."""
        seed = seed_sequence(random_state)
        n_classes = len(np.unique(self.y))
        for attempt in range(self.most_draws):
            X, y, rest = super().draw(n, child(seed, attempt))
            sizes = np.unique(y, return_counts=True)[1]
            if len(sizes) == n_classes and sizes.min() >= self.least:
                return X, y, rest
        raise ValueError(
            f"a training set must have {self.least} points of every class; {self.most_draws} draws of n={n} from "
            f"{self.name} had not. Raise n, or leave the data set out."
        )


def as_population(data: DataSet) -> RedrawnData:
    """Return the population of a data set."""
    return RedrawnData(data.X, data.y, name=data.name)
