"""Labels by a linear model of all features or of a few."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_gresub.data.arrays import Floats
from benchmarks.learn.feature_law import draw_feature_law
from benchmarks.learn.kind import Shape
from benchmarks.learn.scored import N_REFERENCE, Scored, scored, standardised


@dataclass(frozen=True, eq=False)
class LinearScores:
    """Scores g(x) = W'x.

    Parameters
    ----------
    weights : array of shape (d, c)
    """

    weights: Floats

    def __call__(self, X: Floats) -> Floats:
        """Return the scores of points (n, d), shape (n, c)."""
        return X @ self.weights


def draw_logistic(shape: Shape, rng: np.random.Generator) -> Scored:
    """Return a logistic model with weights on all features or on one to six of them."""
    features = draw_feature_law(shape.dim, rng)
    reference = features.points(N_REFERENCE, rng)
    weights = rng.normal(size=(shape.dim, shape.n_classes)) / (reference.std(axis=0)[:, None] + 0.1)
    if rng.random() < 0.5:
        weights[rng.permutation(shape.dim)[rng.integers(1, min(shape.dim, 6) + 1) :]] = 0
    scores = standardised(LinearScores(weights), reference)
    return scored(features, scores, reference, shape.probabilities)
