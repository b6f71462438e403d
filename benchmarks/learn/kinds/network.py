"""Labels by a random neural network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bayes_gresub.data.arrays import Floats
from benchmarks.learn.feature_law import draw_feature_law
from benchmarks.learn.kind import Shape
from benchmarks.learn.scored import N_REFERENCE, Scored, scored, standardised


def rectify(X: Floats) -> Floats:
    """Return max(x, 0)."""
    return np.maximum(X, 0)


ACTIVATIONS: list[Callable[[Floats], Floats]] = [np.tanh, rectify, np.sin]


@dataclass(frozen=True, eq=False)
class NetworkScores:
    """Scores g(x) = W_l h(... h(W_1'x + b_1) ...).

    Parameters
    ----------
    weights : list of arrays
        W_1 to W_l.
    biases : list of arrays
        Those of the hidden layers.
    activation : callable
        h.
    """

    weights: list[Floats]
    biases: list[Floats]
    activation: Callable[[Floats], Floats]

    def __call__(self, X: Floats) -> Floats:
        """Return the scores of points (n, d), shape (n, c)."""
        hidden = X
        for weights, biases in zip(self.weights[:-1], self.biases, strict=True):
            hidden = self.activation(hidden @ weights + biases)
        return hidden @ self.weights[-1]


def draw_network(shape: Shape, rng: np.random.Generator) -> Scored:
    """Return a network of one or two hidden layers of 4 to 32 units, of all features or of one to six."""
    features = draw_feature_law(shape.dim, rng)
    reference = features.points(N_REFERENCE, rng)
    widths = [shape.dim, *rng.integers(4, 33, size=rng.integers(1, 3)), shape.n_classes]
    weights = [rng.normal(size=(a, b)) / np.sqrt(a) for a, b in pairwise(widths)]
    if rng.random() < 0.5:
        used = int(rng.integers(1, min(shape.dim, 6) + 1))
        weights[0][used:] = 0
        weights[0] *= np.sqrt(shape.dim / used)
    weights[0] *= rng.uniform(0.5, 2.5)
    biases = [rng.normal(size=width) for width in widths[1:-1]]
    activation = ACTIVATIONS[rng.integers(len(ACTIVATIONS))]
    scores = standardised(NetworkScores(weights, biases, activation), reference)
    return scored(features, scores, reference, shape.probabilities)
