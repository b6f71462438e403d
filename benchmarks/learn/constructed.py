"""Populations made of the rows of real data sets with labels by construction, so that any boundary may divide them.

A column of a real data set is mostly monotone in the others, so linear rules do well on it and rules that bend
gain little. Here labels are those of the nearest of a few anchors: two of them make a linear boundary, many of them
in few columns one that no linear rule can follow.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from benchmarks.learn.derived import ATTEMPTS, LEAST_SHARE, DerivedPopulation
from benchmarks.real_data.data_sets import DataSet

MOST_ANCHORS, MOST_DECIDING = 16, 4
CLASSES, CLASS_SHARES = (2, 3, 4), (0.65, 0.2, 0.15)
MOST_BLUR, MOST_NOISE = 0.6, 0.3


def draw_constructed(sets: Sequence[DataSet], rng: np.random.Generator) -> DerivedPopulation:
    r"""Return a random population made of a random data set; all data sets are equally likely.

    Some columns are kept. Of these, up to four, in units of their deviations, decide the label, with the anchors
    :math:`a_k` that are rows, classes :math:`c_k` and normal blur :math:`z`:

    .. math:: y_i = c_{k(i)}, \qquad k(i) = \arg\min_k |x_i + s z_i - a_k|

    A share of the labels is exchanged at random.
    """
    for _ in range(ATTEMPTS):
        source = sets[rng.integers(len(sets))]
        X = np.asarray(source.X, dtype=float)
        X = X[:, X.std(axis=0) > 0]
        n_kept = int(np.rint(np.exp(rng.uniform(np.log(2), np.log(X.shape[1])))))
        X = X[:, np.sort(rng.choice(X.shape[1], n_kept, replace=False))]
        y = _labels(X, rng)
        shares = np.bincount(y) / len(y)
        if len(shares) > 1 and shares.min() >= LEAST_SHARE:
            return DerivedPopulation(source, X, y)
    raise RuntimeError(f"no population with two classes of {LEAST_SHARE:g} of the rows came out of {ATTEMPTS} draws.")


def _labels(X: Floats, rng: np.random.Generator) -> Ints:
    """Return the class of the nearest anchor of every row, blurred and with noise."""
    deciding = rng.choice(X.shape[1], int(rng.integers(1, min(MOST_DECIDING, X.shape[1]) + 1)), replace=False)
    points = X[:, deciding] / X[:, deciding].std(axis=0)
    n_classes = int(rng.choice(CLASSES, p=CLASS_SHARES))
    n_anchors = int(np.rint(np.exp(rng.uniform(np.log(n_classes), np.log(MOST_ANCHORS)))))
    anchors = points[rng.choice(len(points), n_anchors, replace=False)]
    # Every class has an anchor.
    classes = rng.permutation(np.arange(n_anchors) % n_classes)
    blurred = points + rng.uniform(0, MOST_BLUR) * rng.standard_normal(points.shape)
    squares = ((blurred[:, None, :] - anchors) ** 2).sum(axis=2)
    labels = classes[squares.argmin(axis=1)]
    exchanged = rng.random(len(labels)) < rng.choice([0.0, rng.uniform(0, MOST_NOISE)])
    labels = np.where(exchanged, rng.permutation(labels), labels)
    return np.asarray(np.unique(labels, return_inverse=True)[1])
