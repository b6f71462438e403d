"""Classes that are mixtures of Gaussians: the law behind several kinds of populations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from benchmarks.learn.structure import ClassConditional

LARGEST_LOG_SCALE = 3.0
TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False, kw_only=True)
class GaussianMixtures(ClassConditional):
    """Class y is a mixture of components N(s m_k, E_k E_k'), all seen through one linear map.

    With z standard normal and s the separation,

        x = A (s m_k + E_k z) / sqrt(1 + s^2),    E_k = U_k diag(exp(s g_k)) U_k',

    so covariances differ with s as means do, and at s = 0 all classes are the same. The factor 1/sqrt(1 + s^2) keeps x
    at about unit size.

    Parameters
    ----------
    classes : array of shape (k,)
        The class of each component, ascending; every class has one or more.
    weights : array of shape (k,)
        The share of each component in its class.
    means : array of shape (k, d)
    factor : array of shape (d, d)
        A, invertible.
    rotations, log_scales : arrays of shape (k, d, d) and (k, d), or None
        U_k and g_k; None for E_k = I.
    largest : float
        The largest separation.
    """

    classes: Ints
    weights: Floats
    means: Floats
    factor: Floats
    rotations: Floats | None = None
    log_scales: Floats | None = None
    largest: float = 256.0

    @property
    def most_separated(self) -> float:
        """The largest separation, as given."""
        return self.largest

    @cached_property
    def _scales(self) -> Floats:
        """exp(s g_k), shape (k, d), kept within e^-3 and e^3."""
        assert self.log_scales is not None
        return np.exp(np.clip(self.separation * self.log_scales, -LARGEST_LOG_SCALE, LARGEST_LOG_SCALE))

    @cached_property
    def _starts(self) -> Ints:
        """The first component of each class."""
        return np.searchsorted(self.classes, np.arange(len(self.probabilities)))

    def points_given(self, y: Ints, rng: np.random.Generator) -> Floats:
        """Return points: the component first, then x given the component."""
        # Weights of a class sum to 1, so the components of class y lie between y and y + 1.
        ends = np.cumsum(self.weights)
        component = np.minimum(np.searchsorted(ends, y + rng.random(len(y)), side="right"), len(ends) - 1)
        Z = rng.normal(size=(len(y), self.means.shape[1]))
        if self.rotations is not None:
            for k in np.unique(component):
                rows = component == k
                Z[rows] = ((Z[rows] @ self.rotations[k]) * self._scales[k]) @ self.rotations[k].T
        Z += self.separation * self.means[component]
        return Z @ (self.factor.T / np.hypot(1, self.separation))

    def log_densities(self, X: Floats) -> Floats:
        """Return the log of each class's mixture density, up to a common term."""
        Z = np.linalg.solve(self.factor, X.T * np.hypot(1, self.separation)).T
        means = self.separation * self.means
        log_terms = np.empty((len(X), len(means)))
        if self.rotations is None:
            log_terms[:] = Z @ means.T - np.sum(means**2, axis=1) / 2
        else:
            for k, (rotation, scales) in enumerate(zip(self.rotations, self._scales, strict=True)):
                whitened = ((Z - means[k]) @ rotation) / scales
                log_terms[:, k] = -np.einsum("ij,ij->i", whitened, whitened) / 2 - np.log(scales).sum()
        log_terms += np.log(self.weights)
        largest = log_terms.max(axis=1, keepdims=True)
        sums = np.add.reduceat(np.exp(log_terms - largest), self._starts, axis=1)
        return np.log(np.maximum(sums, TINY)) + largest
