"""Labels that are grades of a quantity with noise: bins of a sum of curves and products of features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import ndtr, ndtri

from bayes_gresub.data.arrays import Floats, Ints
from benchmarks.learn.feature_law import FeatureLaw, draw_feature_law
from benchmarks.learn.kind import Shape
from benchmarks.learn.scored import N_REFERENCE
from benchmarks.learn.structure import LabelsGivenPoints


@dataclass(frozen=True, eq=False)
class Quantity:
    """A sum f(x) = sum_j a_j sin(w_j x_j + b_j) + e_j x_j + sum_k h_k x_k1 x_k2, to unit spread.

    Parameters
    ----------
    waves, frequencies, phases, slopes : arrays of shape (d,)
        a, w, b and e.
    pairs : array of shape (k, 2)
    strengths : array of shape (k,)
        h.
    mean, scale : float
        Subtracted, and divided by.
    """

    waves: Floats
    frequencies: Floats
    phases: Floats
    slopes: Floats
    pairs: Ints
    strengths: Floats
    mean: float = 0.0
    scale: float = 1.0

    def __call__(self, X: Floats) -> Floats:
        """Return the quantity at points (n, d), shape (n,)."""
        curves = np.sin(X * self.frequencies + self.phases) @ self.waves + X @ self.slopes
        products = (X[:, self.pairs[:, 0]] * X[:, self.pairs[:, 1]]) @ self.strengths
        return (curves + products - self.mean) / self.scale


@dataclass(frozen=True, eq=False, kw_only=True)
class Graded(LabelsGivenPoints):
    """Labels by the bin that f(x) + z/s falls into, z standard normal: eta_y = Phi(s(u_y+1 - f)) - Phi(s(u_y - f)).

    The ends u_y of the bins are quantiles of f(x) + z/s, so that classes have the given probabilities.

    Parameters
    ----------
    features : FeatureLaw
    quantity : Quantity
        f.
    balance : array of shape (c,)
    ends : array of shape (c - 1,)
    """

    features: FeatureLaw
    quantity: Quantity
    balance: Floats
    ends: Floats

    def points(self, n: int, rng: np.random.Generator) -> Floats:
        """Return points of the features' law."""
        return self.features.points(n, rng)

    def posterior(self, X: Floats) -> Floats:
        """Return normal probabilities of the bins."""
        below = ndtr(self.separation * (self.ends - self.quantity(X)[:, None]))
        return np.diff(below, axis=1, prepend=0.0, append=1.0)

    def separated(self, separation: float) -> Self:
        """Return the same quantity with noise 1/s and new ends."""
        ends = bin_ends(self.quantity(self.reference), separation, self.balance)
        return replace(self, separation=separation, ends=ends)


def bin_ends(values: Floats, separation: float, probabilities: Floats) -> Floats:
    """Return quantiles of a value chosen at random plus normal noise of standard deviation 1/s."""
    noise = ndtri((np.arange(41) + 0.5) / 41) / separation
    return np.quantile(np.add.outer(values, noise), np.cumsum(probabilities)[:-1])


def draw_ordinal(shape: Shape, rng: np.random.Generator) -> Graded:
    """Return grades of a quantity of all features or of one to eight, with or without products."""
    dim = shape.dim
    features = draw_feature_law(dim, rng)
    reference = features.points(N_REFERENCE, rng)
    used = np.arange(dim) < (dim if rng.random() < 0.3 else rng.integers(1, min(dim, 8) + 1))
    n_pairs = int(rng.integers(0, 4))
    quantity = Quantity(
        waves=rng.normal(size=dim) * used,
        frequencies=rng.uniform(0.3, 1.5) * rng.normal(size=dim),
        phases=rng.uniform(0, 2 * np.pi, size=dim),
        slopes=rng.uniform(0, 1) * rng.normal(size=dim) * used,
        pairs=rng.integers(used.sum(), size=(n_pairs, 2)),
        strengths=rng.normal(size=n_pairs),
    )
    values = quantity(reference)
    quantity = replace(quantity, mean=float(values.mean()), scale=float(values.std()) or 1.0)
    return Graded(
        features=features,
        quantity=quantity,
        balance=shape.probabilities,
        ends=bin_ends(quantity(reference), 1.0, shape.probabilities),
        reference=reference,
    )
