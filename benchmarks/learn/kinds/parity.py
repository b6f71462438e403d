"""Labels by the parity of a few features, exclusive or among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_gresub.data.arrays import Floats
from benchmarks.learn.feature_law import draw_feature_law
from benchmarks.learn.kind import Shape
from benchmarks.learn.scored import N_REFERENCE, Scored, scored

MOST_CLASSES = 4


@dataclass(frozen=True, eq=False)
class ParityScores:
    """Scores of 1 for class (number of features above their cuts) mod c, and 0 for the others.

    Parameters
    ----------
    cuts : array of shape (k,)
        Of the first k features.
    n_classes : int
    """

    cuts: Floats
    n_classes: int

    def __call__(self, X: Floats) -> Floats:
        """Return the scores of points (n, d), shape (n, c)."""
        above = (X[:, : len(self.cuts)] > self.cuts).sum(axis=1)
        return np.eye(self.n_classes)[above % self.n_classes]


def draw_parity(shape: Shape, rng: np.random.Generator) -> Scored:
    """Return the parity of two to four features cut between their quantiles of 0.25 and 0.75, beside up to six others.

    There are at most four classes.
    """
    c = shape.with_at_most(MOST_CLASSES).n_classes
    k = int(rng.choice([2, 3, 4], p=[0.75, 0.2, 0.05]))
    k = max(k, c - 1)
    features = draw_feature_law(k + min(max(shape.dim - k, 0), int(rng.integers(0, 7))), rng, continuous=True)
    reference = features.points(N_REFERENCE, rng)
    cuts = np.array([np.quantile(reference[:, j], rng.uniform(0.25, 0.75)) for j in range(k)])
    return scored(features, ParityScores(cuts, c), reference)
