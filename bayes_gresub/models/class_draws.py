"""Posterior draws of class models: one container that every sampler fills, and the mass of regions under it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.laws.components import Components, Normal, StudentT
from bayes_gresub.laws.densities import Densities
from bayes_gresub.laws.law import Law
from bayes_gresub.regions.region import Region

_LOG_DENSITY_ELEMENTS = 2**22


@dataclass(frozen=True, eq=False)
class ClassDraws(ABC):
    """Draws of a class model, with leading axes (chain, draw), in the units of the features.

    Attributes
    ----------
    hyper : mapping from name to ndarray of shape (chains, draws, ...)
        Parameters above the classes, such as the common centre.
    stats : mapping from name to ndarray of shape (chains, draws)
        What the sampler tells of itself, such as divergences.
    notes : tuple of str
        What went wrong while sampling, in sentences.
    """

    hyper: Mapping[str, Floats] = field(default_factory=dict, kw_only=True)
    stats: Mapping[str, np.ndarray[Any, Any]] = field(default_factory=dict, kw_only=True)
    notes: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Return the number of chains and of draws in each."""

    @property
    @abstractmethod
    def n_classes(self) -> int:
        """Return the number of classes."""

    @abstractmethod
    def parameters(self) -> dict[str, tuple[tuple[str, ...], Floats]]:
        """Return the parameters by name: their dimensions after (chain, draw), and their draws."""

    @abstractmethod
    def laws(self, probabilities: Floats, at_once: bool = False) -> Iterator[Law]:
        """Yield the laws of all draws, in blocks of draws or `at_once`; class probabilities have shape (draws, c)."""

    def center_labels(self, region: Region) -> tuple[Ints | None, int]:
        """Return the labels at the centres and how many points were predicted, where all draws share their centres."""
        return None, 0

    @abstractmethod
    def points(self, draws: Ints, codes: Ints, rng: np.random.Generator) -> Floats:
        """Draw one point of each of the classes `codes` under each of the draws (chains joined) `draws`: (m, d)."""

    @abstractmethod
    def log_density(self, points: Floats) -> Floats:
        """Return log p(x | y) under every draw, shape (draws, m, c)."""

    @abstractmethod
    def best_errors(self, probabilities: Floats, n_points: int, rng: np.random.Generator) -> Floats:
        """Return the error of the best classifier under every draw, given class probabilities (c,): shape (draws,)."""


@dataclass(frozen=True, eq=False)
class ComponentDraws(ClassDraws):
    """Draws of classes that are made of Gaussian or Student-t components.

    Attributes
    ----------
    means : ndarray of shape (chains, draws, c, parts, d)
    spread : ndarray of shape (chains, draws, g, parts, d, d), (..., g, parts, d) or (..., g, parts)
        Maps T with T T' the covariance or scale matrix; g is 1 where classes share it, else c.
    weights : ndarray of shape (chains, draws, c, parts), optional
        Of the parts of each class; there is one part without.
    dof : ndarray of shape (chains, draws, c), optional
        Of Student-t classes.
    """

    means: Floats
    spread: Floats
    weights: Floats | None = None
    dof: Floats | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Return the number of chains and of draws in each."""
        return self.means.shape[0], self.means.shape[1]

    @property
    def n_classes(self) -> int:
        """Return the number of classes."""
        return int(self.means.shape[2])

    @property
    def _kind(self) -> int:
        """Return how many axes of features a spread has: 2 for matrices, 1 for deviations, 0 for one deviation."""
        return self.spread.ndim - 4

    def parameters(self) -> dict[str, tuple[tuple[str, ...], Floats]]:
        """Return means, covariances or variances (scales for Student-t), weights and dof."""
        parts = () if self.weights is None else ("part",)

        def inner(values: Floats) -> Floats:
            return values if parts else values.squeeze(axis=3)

        shared = self.spread.shape[2] == 1 and self.n_classes > 1
        owner = () if shared else ("class",)
        squared = inner(self._squared())
        what = "scale" if self.dof is not None else "covariance"
        name = {2: what, 1: "variance", 0: "variance"}[self._kind]
        axes = {2: ("feature", "other_feature"), 1: ("feature",), 0: ()}[self._kind]
        found = {
            "means": (("class", *parts, "feature"), inner(self.means)),
            f"{name}{'' if shared else 's'}": ((*owner, *parts, *axes), squared[:, :, 0] if shared else squared),
        }
        if self.weights is not None:
            found["weights"] = (("class", "part"), self.weights)
        if self.dof is not None:
            found["dof"] = (("class",), self.dof)
        return found

    def components(self) -> Components:
        """Return all components, in the order (class, part, draw).

        Draws of one class must stand together: points are dealt to components in stretches of one Sobol' sequence, and
        classes that take turns would each get a lopsided share of it.
        """
        total, c, parts = self._flat
        groups, d = self.spread.shape[2], self.means.shape[-1]
        spread = self.spread.reshape(total * groups * parts, *self.spread.shape[4:])
        owner = np.arange(total * groups * parts).reshape(total, groups, parts)
        group = np.moveaxis(np.broadcast_to(owner, (total, c, parts)), 0, -1).reshape(-1)
        means = np.moveaxis(self.means.reshape(total, c, parts, d), 0, 2).reshape(-1, d)
        law: Any = Normal()
        if self.dof is not None:
            law = StudentT(np.repeat(self.dof.reshape(total, c).T, parts, axis=0).reshape(-1))
        return Components(means, spread, group, law)

    def laws(self, probabilities: Floats, at_once: bool = False) -> Iterator[Law]:
        """Yield one law, with components of its own for every draw."""
        total, c, parts = self._flat
        weights = np.broadcast_to(probabilities[:, :, None], (total, c, parts))
        if self.weights is not None:
            weights = weights * self.weights.reshape(total, c, parts)
        labels = np.repeat(np.eye(c), parts, axis=0)
        yield Law(self.components(), weights.reshape(total, c * parts), labels)

    def points(self, draws: Ints, codes: Ints, rng: np.random.Generator) -> Floats:
        """Choose a part of each class by its weight, then a point of it."""
        total, c, parts = self._flat
        part = np.zeros(len(draws), dtype=np.intp)
        if self.weights is not None:
            edges = np.cumsum(self.weights.reshape(total, c, parts)[draws, codes], axis=1)[:, :-1]
            part = (rng.random((len(draws), 1)) > edges).sum(axis=1)
        return self.components().draw((codes * parts + part) * total + draws, rng)

    def log_density(self, points: Floats) -> Floats:
        """Return the log density of each class at points; parts are added up by their weights."""
        total, c, parts = self._flat
        densities = Densities(self.components())
        with np.errstate(divide="ignore"):
            log_weights = (
                0.0 if self.weights is None else np.log(self.weights.reshape(total, c, parts)).transpose(1, 2, 0)
            )
        result = np.empty((total, len(points), c))
        step = max(1, _LOG_DENSITY_ELEMENTS // (total * c * parts))
        for begin in range(0, len(points), step):
            rows = slice(begin, begin + step)
            every = densities(points[rows]).reshape(-1, c, parts, total) + log_weights
            result[:, rows] = np.moveaxis(np.logaddexp.reduce(every, axis=2), -1, 0)
        return result

    def best_errors(self, probabilities: Floats, n_points: int, rng: np.random.Generator) -> Floats:
        """Estimate it with `n_points` points of each class."""
        total, c, _ = self._flat
        codes = np.tile(np.repeat(np.arange(c), n_points), total)
        points = self.points(np.repeat(np.arange(total), c * n_points), codes, rng).reshape(total, c * n_points, -1)
        with np.errstate(divide="ignore"):
            log_prior = np.log(probabilities)
        result = np.empty(total)
        for draw in range(total):
            best = (self._only(draw).log_density(points[draw])[0] + log_prior).argmax(axis=1).reshape(c, n_points)
            result[draw] = (probabilities * (best != np.arange(c)[:, None]).mean(axis=1)).sum()
        return result

    def _only(self, draw: int) -> ComponentDraws:
        chain, inside = divmod(draw, self.means.shape[1])

        def at(values: Floats) -> Floats:
            return values[chain : chain + 1, inside : inside + 1]

        weights = None if self.weights is None else at(self.weights)
        dof = None if self.dof is None else at(self.dof)
        return ComponentDraws(at(self.means), at(self.spread), weights, dof)

    @property
    def _flat(self) -> tuple[int, int, int]:
        chains, draws, c, parts, _ = self.means.shape
        return chains * draws, c, parts

    def _squared(self) -> Floats:
        if self._kind == 2:
            return np.asarray(self.spread @ self.spread.swapaxes(-1, -2))
        return np.asarray(self.spread**2)
