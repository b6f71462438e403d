"""Classes along curves in the plane: spirals, rings, moons and waves, with further features about them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_gresub.data.arrays import Floats
from benchmarks.learn.correlation import draw_rotation
from benchmarks.learn.gaussian_mixtures import GaussianMixtures
from benchmarks.learn.kind import Layer, Shape

PLACES = 100
"""Points of a curve on which Gaussians are centred; so close to each other that no gap is seen."""

MOST_CURVES = 5


def draw_curves(shape: Shape, rng: np.random.Generator) -> GaussianMixtures:
    """Return classes of Gaussians along one curve each; at most five classes."""
    shape = shape.with_at_most(MOST_CURVES)
    c = shape.n_classes
    t, j = np.linspace(0, 1, PLACES)[None, :], np.arange(c)[:, None]
    curve = rng.choice(["spirals", "rings", "moons", "waves"])
    if curve == "spirals":
        radius, angle = 0.2 + 0.8 * t, 2 * np.pi * (rng.uniform(0.4, 1.6) * t + j / c)
    elif curve == "rings":
        radius, angle = (j + rng.uniform(0.3, 1)) / c + 0 * t, 2 * np.pi * t + 0 * j
    if curve in ("spirals", "rings"):
        first, second = radius * np.cos(angle), radius * np.sin(angle)
    elif curve == "moons":
        upward = 1 - 2 * (j % 2)
        first, second = np.cos(np.pi * t) + j, upward * np.sin(np.pi * t) - rng.uniform(-0.2, 0.5) * (j % 2)
    else:
        first, second = 3 * t + 0 * j, np.sin(2 * np.pi * rng.uniform(0.5, 2) * t) + rng.uniform(0.3, 1) * j
    means = np.stack([first, second], axis=-1)
    steps = np.linalg.norm(np.diff(means, axis=1), axis=-1).max()
    means = means.reshape(-1, 2)
    size = np.sqrt(np.mean(np.sum((means - means.mean(axis=0)) ** 2, axis=1)))
    return GaussianMixtures(
        probabilities=shape.probabilities,
        classes=np.repeat(np.arange(c), PLACES),
        weights=np.full(c * PLACES, 1 / PLACES),
        means=(means - means.mean(axis=0)) / size,
        factor=np.eye(2),
        largest=float(2 * size / steps),
    )


@dataclass(frozen=True, eq=False)
class Beside:
    """The plane and further normal features, turned so that all features have a part of the plane if so drawn.

    Parameters
    ----------
    scales : array of shape (extra,)
        Standard deviations of the further features.
    rotation : array of shape (2 + extra, 2 + extra) or None
    """

    scales: Floats
    rotation: Floats | None

    def apply(self, X: Floats, rng: np.random.Generator) -> Floats:
        """Return the plane with the further features."""
        whole = np.hstack([X, rng.normal(size=(len(X), len(self.scales))) * self.scales])
        return whole if self.rotation is None else whole @ self.rotation.T


def draw_beside(reference: Floats, dim: int, rng: np.random.Generator) -> list[Layer]:
    """Return none to eight further features, small ones in turned spaces."""
    extra = min(dim - reference.shape[1], int(rng.integers(0, 9)))
    if extra < 1:
        return []
    turned = rng.random() < 0.4
    scales = np.full(extra, reference.std() * np.exp(rng.uniform(np.log(0.02), np.log(0.3 if turned else 1.0))))
    return [Beside(scales, draw_rotation(reference.shape[1] + extra, rng) if turned else None)]
