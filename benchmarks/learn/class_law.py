"""Random numbers of classes, features and points: the shape of a population before its kind is known."""

from __future__ import annotations

import numpy as np

from bayes_gresub.data.arrays import Floats

SMALLEST_CLASS = 0.03
MOST_FEATURES = 100


def draw_n_classes(rng: np.random.Generator) -> int:
    """Return a number of classes from 2 to 10, four of five times at most 4."""
    return int(rng.choice(np.arange(2, 11), p=[0.5, 0.18, 0.12, 0.07, 0.04, 0.03, 0.02, 0.02, 0.02]))


def draw_dim(rng: np.random.Generator) -> int:
    """Return a number of features from 2 to 100 on a logarithmic scale, half of them below 6."""
    return int(np.rint(2 * (MOST_FEATURES / 2) ** (rng.random() ** 2)))


def draw_probabilities(n_classes: int, rng: np.random.Generator) -> Floats:
    """Return class probabilities from equal to strongly unequal, each a little above SMALLEST_CLASS or more."""
    if rng.random() < 0.35:
        return np.full(n_classes, 1 / n_classes)
    least = SMALLEST_CLASS + 0.005
    shares = rng.dirichlet(np.full(n_classes, np.exp(rng.uniform(np.log(0.7), np.log(15)))))
    return least + (1 - n_classes * least) * shares


def draw_means(n_means: int, dim: int, rng: np.random.Generator) -> Floats:
    """Return class means of about unit distance from 0, shape (n_means, dim).

    They differ in all features, in a few, with a decaying strength, or along one direction.
    """
    pattern = rng.choice(["dense", "sparse", "decaying", "line"], p=[0.4, 0.3, 0.2, 0.1])
    means = rng.normal(size=(n_means, dim))
    if pattern == "sparse":
        means *= np.arange(dim) < rng.integers(1, min(dim, 6) + 1)
    elif pattern == "decaying":
        means *= np.arange(1, dim + 1) ** -rng.uniform(0.5, 2)
    elif pattern == "line":
        means = np.outer(rng.permutation(n_means) + rng.uniform(-0.3, 0.3, size=n_means), means[0])
    means -= means.mean(axis=0)
    return means / np.sqrt(np.mean(np.sum(means**2, axis=1)))
