"""Features that are smooth functions of few hidden ones, in which the classes are clumps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_gresub.data.arrays import Floats
from benchmarks.learn.gaussian_mixtures import GaussianMixtures
from benchmarks.learn.kind import Layer, Shape
from benchmarks.learn.kinds.mixture import draw_mixture


def draw_hidden(shape: Shape, rng: np.random.Generator) -> GaussianMixtures:
    """Return mixtures of Gaussians in one to three hidden features."""
    return draw_mixture(Shape(shape.probabilities, min(shape.dim, int(rng.integers(2, 4)))), rng)


@dataclass(frozen=True, eq=False)
class Surface:
    """Points x_j = sin(w_j't + b_j) + v_j't + noise, with t the hidden features.

    Parameters
    ----------
    waves, slopes : arrays of shape (k, d)
        w_j and v_j.
    phases : array of shape (d,)
    noise : float
    """

    waves: Floats
    slopes: Floats
    phases: Floats
    noise: float

    def apply(self, X: Floats, rng: np.random.Generator) -> Floats:
        """Return the points of the surface."""
        smooth = np.sin(X @ self.waves + self.phases) + X @ self.slopes
        return smooth + self.noise * rng.normal(size=smooth.shape)


def draw_surface(reference: Floats, dim: int, rng: np.random.Generator) -> list[Layer]:
    """Return a surface of as many dimensions as there are hidden features, bent by one wave or a few."""
    k = reference.shape[1]
    scale = reference.std(axis=0)[:, None] * np.sqrt(k)
    waves = rng.uniform(0.3, 2) * rng.normal(size=(k, dim)) / scale
    slopes = rng.uniform(0.1, 1) * rng.normal(size=(k, dim)) / scale
    noise = float(np.exp(rng.uniform(np.log(1e-3), np.log(0.2))))
    return [Surface(waves, slopes, rng.uniform(0, 2 * np.pi, size=dim), noise)]
