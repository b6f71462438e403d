"""Classes of skewed positive features: log-normal, exponential and gamma."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from benchmarks.learn.class_law import draw_means
from benchmarks.learn.kind import Shape
from benchmarks.learn.structure import ClassConditional

LARGEST_SHIFT = 6.0


@dataclass(frozen=True, eq=False, kw_only=True)
class SkewedClasses(ClassConditional):
    """Independent features x_j = exp(h_yj) e_j, h = s m: e_j log-normal with spread v_j, or gamma with shape a_j.

    Up to a common term the log density is -(log x_j - h_yj)^2 / (2 v_j^2) for log-normal features, and
    -x_j exp(-h_yj) - a_j h_yj for gamma ones; a_j = 1 is the exponential.

    Parameters
    ----------
    means : array of shape (c, d)
    spreads : array of shape (d,)
        v_j, or 0 where the feature is gamma.
    shapes : array of shape (d,)
        a_j, unused where the feature is log-normal.
    """

    means: Floats
    spreads: Floats
    shapes: Floats

    @property
    def most_separated(self) -> float:
        """The separation at which some class has a feature e^6 times that of the average class."""
        return LARGEST_SHIFT / float(np.abs(self.means).max())

    @property
    def _shifts(self) -> Floats:
        """The shifts h of log x, shape (c, d)."""
        return self.separation * self.means

    def points_given(self, y: Ints, rng: np.random.Generator) -> Floats:
        """Return positive features, independent given the label."""
        log_normal = self.spreads > 0
        X = np.exp(self._shifts)[y]
        X[:, log_normal] *= np.exp(rng.normal(size=(len(y), log_normal.sum())) * self.spreads[log_normal])
        # The smallest gamma variables of small shape underflow to 0, where log-densities are not defined.
        X[:, ~log_normal] *= np.maximum(
            rng.standard_gamma(self.shapes[~log_normal], (len(y), (~log_normal).sum())), 1e-9
        )
        return X

    def log_densities(self, X: Floats) -> Floats:
        """Return the log of each class's density, up to a common term."""
        log_normal, shifts = self.spreads > 0, self._shifts
        precision = np.where(log_normal, 1 / np.where(log_normal, self.spreads, 1) ** 2, 0)
        logs = (np.log(X) * precision) @ shifts.T - (shifts**2 @ precision) / 2
        gamma = np.where(log_normal, 0, X) @ np.exp(-shifts).T + shifts @ np.where(log_normal, 0, self.shapes)
        return logs - gamma


def draw_skewed(shape: Shape, rng: np.random.Generator) -> SkewedClasses:
    """Return classes whose features are all log-normal, all exponential, or gamma and log-normal ones mixed."""
    pattern = rng.choice(["log-normal", "exponential", "mixed"])
    spreads, shapes = rng.uniform(0.4, 1.3, size=shape.dim), np.exp(rng.uniform(np.log(0.5), np.log(4), size=shape.dim))
    if pattern == "exponential":
        spreads[:], shapes[:] = 0, 1
    elif pattern == "mixed":
        spreads[rng.random(shape.dim) < 0.5] = 0
    return SkewedClasses(
        probabilities=shape.probabilities,
        means=draw_means(shape.n_classes, shape.dim, rng),
        spreads=spreads,
        shapes=shapes,
    )
