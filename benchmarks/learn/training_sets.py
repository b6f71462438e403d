"""Sizes of training sets and the training sets themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.validation import check_whole
from benchmarks.learn.simulator import SimulatedPopulation, varies_within_classes

SMALLEST, LARGEST = 20, 500
LEAST_IN_CLASS = 2
ATTEMPTS = 100


def draw_size(rng: np.random.Generator, most: int = LARGEST) -> int:
    """Return a size from 20 to 500, or the most that there may be, uniform on the logarithmic scale.

    Examples
    --------
    >>> draw_size(np.random.default_rng(0))
    155
    """
    return int(np.rint(np.exp(rng.uniform(np.log(SMALLEST), np.log(min(LARGEST, most))))))


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """A sample whose classes all have two points or more, and the population that it is a sample of.

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of shape (n,)
        Codes of the labels.
    population : SimulatedPopulation
        That of the classes which the sample has; its points give the true error of a classifier.
    """

    X: Floats
    y: Ints
    population: SimulatedPopulation


def draw_training_set(population: SimulatedPopulation, n: int, rng: np.random.Generator) -> TrainingSet:
    """Return a training set of n points; classes of one point are dropped from it and from the population.

    A sample is drawn anew if fewer than two classes have two points, or if the points of every class are all the same.
    Dropped points are replaced by points of the other classes.

    Examples
    --------
    >>> from benchmarks.learn.simulator import draw_population
    >>> rng = np.random.default_rng(0)
    >>> len(draw_training_set(draw_population(rng, "tree"), 30, rng).y)
    30
    """
    check_whole(n, "n", 2 * LEAST_IN_CLASS)
    for _ in range(ATTEMPTS):
        X, y = population.sample(n, rng)
        classes, counts = np.unique(y, return_counts=True)
        kept = classes[counts >= LEAST_IN_CLASS]
        if len(kept) >= 2 and varies_within_classes(X, y):
            break
    else:
        raise RuntimeError(
            f"two classes must have {LEAST_IN_CLASS} points or more, and points of some class must differ; got no such "
            f"sample of n={n} in {ATTEMPTS} draws. Raise n."
        )
    if len(kept) == population.n_classes:
        return TrainingSet(X, y, population)
    remaining = population.restricted_to(kept, rng)
    rows = np.isin(y, kept)
    if rows.all():
        return TrainingSet(X, y, remaining)
    more_X, more_y = remaining.sample(int((~rows).sum()), rng)
    return TrainingSet(np.vstack([X[rows], more_X]), np.concatenate([y[rows], more_y]), remaining)
