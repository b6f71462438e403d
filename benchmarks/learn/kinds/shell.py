"""A class inside another: a core and shells about it, in any number of dimensions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_gresub.data.arrays import Floats
from benchmarks.learn.correlation import draw_factor
from benchmarks.learn.gaussian_mixtures import GaussianMixtures
from benchmarks.learn.kind import Layer, Shape
from benchmarks.learn.kinds.mixture import draw_weights

MOST_CLASSES = 5


def draw_shells(shape: Shape, rng: np.random.Generator) -> GaussianMixtures:
    """Return the law of (log r, y): shells are clumps on the line, some classes have several; at most five classes."""
    shape = shape.with_at_most(MOST_CLASSES)
    n_shells = shape.n_classes + int(rng.choice(3, p=[0.6, 0.3, 0.1]))
    classes = np.sort(
        np.append(np.arange(shape.n_classes), rng.integers(shape.n_classes, size=n_shells - shape.n_classes))
    )
    places = rng.permutation(n_shells) + rng.uniform(-0.3, 0.3, size=n_shells)
    return GaussianMixtures(
        probabilities=shape.probabilities,
        classes=classes,
        weights=draw_weights(classes, rng),
        means=(places - places.mean())[:, None],
        factor=np.eye(1),
    )


@dataclass(frozen=True, eq=False)
class Directions:
    """Points x = exp(a t + b) A u, with t the distance coordinate and u uniform on the sphere.

    u is independent of y, so x has all information of t and no more.

    Parameters
    ----------
    slope, intercept : float
    factor : array of shape (d, d)
    """

    slope: float
    intercept: float
    factor: Floats

    def apply(self, X: Floats, rng: np.random.Generator) -> Floats:
        """Return points of the given distances in random directions."""
        directions = rng.normal(size=(len(X), len(self.factor)))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        return np.exp(self.slope * X + self.intercept) * (directions @ self.factor.T)


def draw_directions(reference: Floats, dim: int, rng: np.random.Generator) -> list[Layer]:
    """Return directions in `dim` features; log r has a spread of 0.3 to 0.9."""
    slope = rng.uniform(0.3, 0.9) / reference.std()
    factor = np.eye(dim) if rng.random() < 0.5 else draw_factor(dim, rng)
    return [Directions(slope, float(-slope * reference.mean()), np.sqrt(dim) * factor)]
