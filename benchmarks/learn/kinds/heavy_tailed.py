"""Classes with heavy tails: Student's t with 1.5 to 4 degrees of freedom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from benchmarks.learn.class_law import draw_means
from benchmarks.learn.correlation import draw_factor
from benchmarks.learn.kind import Shape
from benchmarks.learn.structure import ClassConditional


@dataclass(frozen=True, eq=False, kw_only=True)
class StudentClasses(ClassConditional):
    """Classes x = A (s m_y + t) / sqrt(1 + s^2), t multivariate Student, or with independent Student features.

    Up to a common term log f_y is -(v + d)/2 log(1 + |z - s m_y|^2 / v) in the first case, and the sum over features of
    -(v + 1)/2 log(1 + (z_j - s m_yj)^2 / v) in the second, z = sqrt(1 + s^2) A^-1 x.

    Parameters
    ----------
    means : array of shape (c, d)
    factor : array of shape (d, d)
    dof : float
        v.
    independent : bool
    """

    means: Floats
    factor: Floats
    dof: float
    independent: bool

    def points_given(self, y: Ints, rng: np.random.Generator) -> Floats:
        """Return normal points divided by the root of chi-square variables, one a row or one an entry."""
        n, d = len(y), self.means.shape[1]
        if self.independent:
            T = rng.standard_t(self.dof, size=(n, d))
        else:
            T = rng.normal(size=(n, d)) / np.sqrt(rng.chisquare(self.dof, size=(n, 1)) / self.dof)
        return (T + self.separation * self.means[y]) @ (self.factor.T / np.hypot(1, self.separation))

    def log_densities(self, X: Floats) -> Floats:
        """Return the log of each class's density, up to a common term."""
        Z = np.linalg.solve(self.factor, X.T * np.hypot(1, self.separation)).T
        logs = np.empty((len(X), len(self.means)))
        for y, mean in enumerate(self.separation * self.means):
            squares = (Z - mean) ** 2
            if self.independent:
                logs[:, y] = -(self.dof + 1) / 2 * np.log1p(squares / self.dof).sum(axis=1)
            else:
                logs[:, y] = -(self.dof + Z.shape[1]) / 2 * np.log1p(squares.sum(axis=1) / self.dof)
        return logs


def draw_heavy_tailed(shape: Shape, rng: np.random.Generator) -> StudentClasses:
    """Return Student classes of one scale that differ in location."""
    return StudentClasses(
        probabilities=shape.probabilities,
        means=draw_means(shape.n_classes, shape.dim, rng),
        factor=draw_factor(shape.dim, rng),
        dof=float(rng.uniform(1.5, 4)),
        independent=bool(rng.random() < 0.5),
    )
