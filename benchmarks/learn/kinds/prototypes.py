"""Labels by the nearest of several prototypes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from benchmarks.learn.feature_law import draw_feature_law
from benchmarks.learn.kind import Shape
from benchmarks.learn.scored import N_REFERENCE, Scored, scored, standardised


@dataclass(frozen=True, eq=False)
class PrototypeScores:
    """Scores g_y(x) = max over the prototypes k of class y of -|w (x - q_k)|^2.

    Parameters
    ----------
    prototypes : array of shape (k, d)
        q_k, in the order of their classes.
    starts : array of shape (c,)
        The first prototype of each class.
    feature_weights : array of shape (d,)
        w.
    """

    prototypes: Floats
    starts: Ints
    feature_weights: Floats

    def __call__(self, X: Floats) -> Floats:
        """Return the scores of points (n, d), up to a term that all classes share, shape (n, c)."""
        # The term |w x|^2 is the same for all classes, so the softmax does not need it.
        Z, Q = X * self.feature_weights, self.prototypes * self.feature_weights
        return np.maximum.reduceat(2 * Z @ Q.T - np.sum(Q**2, axis=1), self.starts, axis=1)


def draw_prototypes(shape: Shape, rng: np.random.Generator) -> Scored:
    """Return one to six prototypes a class, points of the features' own law, on all features or on a few."""
    features = draw_feature_law(shape.dim, rng)
    reference = features.points(N_REFERENCE, rng)
    counts = rng.integers(1, 7, size=shape.n_classes)
    weights = 1 / (reference.std(axis=0) + 0.1)
    if rng.random() < 0.5:
        weights[rng.integers(2, min(shape.dim, 6) + 1) :] = 0
    starts = np.cumsum(counts) - counts
    scores = PrototypeScores(features.points(counts.sum(), rng), starts, weights)
    return scored(features, standardised(scores, reference), reference, shape.probabilities)
