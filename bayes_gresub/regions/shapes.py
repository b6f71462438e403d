"""Shapes of decision regions: trees, kernel machines, neighbours; half-spaces are in laws/halfspace.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.laws.components import Components
from bayes_gresub.laws.confusion import ExactMass
from bayes_gresub.laws.halfspace import HalfSpace
from bayes_gresub.laws.tree import TREE_METHOD, recursion_applies, tree_mass, with_independent_coordinates
from bayes_gresub.regions.affine import AffineMap
from bayes_gresub.regions.neighbors import CHUNK_ELEMENTS, MIN_ROWS, NeighborVotes


@dataclass(frozen=True, eq=False)
class Tree:
    """A binary tree of axis-parallel splits; at an inner node points with feature <= cutoff go left."""

    feature: Ints
    cutoff: Floats
    left: Ints
    right: Ints
    leaf_class: Ints
    n_classes: int
    before: AffineMap

    @property
    def n_splits(self) -> int:
        """Return the number of inner nodes."""
        return int(np.count_nonzero(self.feature >= 0))

    def labels(self, points: Floats) -> Ints:
        """Return the class code of each point's leaf."""
        inside = self.before(points)
        node = np.zeros(len(points), dtype=np.intp)
        rows = np.arange(len(points))
        while (moving := self.feature[node] >= 0).any():
            goes_left = inside[rows, np.maximum(self.feature[node], 0)] <= self.cutoff[node]
            node = np.where(moving, np.where(goes_left, self.left[node], self.right[node]), node)
        return self.leaf_class[node]

    def doubtful(self, points: Floats, rtol: float) -> NDArray[np.bool_]:
        """Return False everywhere: trees only compare, without rounding."""
        return np.zeros(len(points), dtype=bool)

    def mass(self, components: Components, scales: Sequence[float]) -> ExactMass | None:
        """Return the mass of each class's leaves if coordinates are independent after the steps before the tree."""
        if not recursion_applies(components, self.n_splits):
            return None
        inside = with_independent_coordinates(self.before.push_forward(components))
        if inside is None:
            return None
        return ExactMass(tree_mass(inside, self, scales, self.n_classes), TREE_METHOD)

    def after(self, step: AffineMap) -> Tree:
        """Return the geometry in the space before `step`."""
        return replace(self, before=step.then(self.before))


@dataclass(frozen=True, eq=False)
class KernelMachine:
    """One-against-one votes of the signs of K(x, s) W + b over support vectors s."""

    kernel: str
    gamma: float
    degree: int
    coef0: float
    vectors: Floats
    weights: Floats
    intercept: Floats
    pairs: Ints
    n_classes: int
    before: AffineMap

    def labels(self, points: Floats) -> Ints:
        """Return the class code with the most votes; ties go to the lowest."""
        step = max(MIN_ROWS, CHUNK_ELEMENTS // len(self.vectors))
        quick, sure = self._decider(np.float32), self._decider(np.float64)
        # Single precision is twice as fast; the few decisions near 0 are repeated in double.
        margin = 1e-4 * self._sizes()
        parts = []
        for i in range(0, len(points), step):
            part = points[i : i + step]
            decisions = quick(part)
            close = np.flatnonzero((np.abs(decisions) < margin).any(axis=1))
            if len(close):
                decisions[close] = sure(part[close])
            parts.append(self._winners(decisions > 0))
        return np.concatenate(parts)

    def doubtful(self, points: Floats, rtol: float) -> NDArray[np.bool_]:
        """Return where rounding decides a vote."""
        decisions = self._decider(np.float64)(points)
        return np.asarray((np.abs(decisions) <= rtol * self._sizes()).any(axis=1))

    def mass(self, components: Components, scales: Sequence[float]) -> ExactMass | None:
        """Return None: there is no formula."""
        return None

    def after(self, step: AffineMap) -> KernelMachine:
        """Return the geometry in the space before `step`."""
        return replace(self, before=step.then(self.before))

    def _sizes(self) -> Floats:
        return np.abs(self.weights).sum(axis=0) + np.abs(self.intercept)

    def _decider(self, dtype: Any) -> Callable[[Floats], Floats]:
        """Return a function from points to decision values, one column per pair of classes."""
        if self.kernel != "rbf":
            # These kernels are unbounded, so single precision could lose more than the margin allows.
            return lambda points: self._gram(self.before(points)) @ self.weights + self.intercept
        center = self.vectors.mean(axis=0)
        vectors = self.vectors - center
        # -gamma |x - s|^2 as one product, with the squares as two more coordinates.
        squares = np.einsum("nd,nd->n", vectors, vectors)
        right = np.vstack([vectors.T, np.ones(len(squares)), squares]).astype(dtype)
        weights = self.weights.astype(dtype)

        def decide(points: Floats) -> Floats:
            x = self.before(points) - center
            left = np.empty((len(x), x.shape[1] + 2), dtype=dtype)
            left[:, :-2] = 2 * self.gamma * x
            left[:, -2] = -self.gamma * np.einsum("nd,nd->n", x, x)
            left[:, -1] = -self.gamma
            exponent = left @ right
            return np.asarray(np.exp(exponent, out=exponent) @ weights + self.intercept)

        return decide

    def _gram(self, x: Floats) -> Floats:
        product = x @ self.vectors.T
        if self.kernel == "poly":
            return (self.gamma * product + self.coef0) ** self.degree
        if self.kernel == "sigmoid":
            return np.tanh(self.gamma * product + self.coef0)
        return product

    def _winners(self, first: NDArray[np.bool_]) -> Ints:
        if self.n_classes == 2:
            return np.where(first[:, 0], self.pairs[0, 0], self.pairs[0, 1])
        rows = np.arange(len(first))
        votes = np.zeros((len(first), self.n_classes), dtype=np.intp)
        for p, (i, j) in enumerate(self.pairs):
            votes[rows, np.where(first[:, p], i, j)] += 1
        return votes.argmax(axis=1)


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The class with most of the k nearest points; ties go to the lowest."""

    votes: NeighborVotes
    k: int
    before: AffineMap

    def labels(self, points: Floats) -> Ints:
        """Return the winning class code."""
        return self.votes(self.before(points), self.k).argmax(axis=1)

    def doubtful(self, points: Floats, rtol: float) -> NDArray[np.bool_]:
        """Return False everywhere: if ties are broken differently, only `predict` can be used."""
        return np.zeros(len(points), dtype=bool)

    def mass(self, components: Components, scales: Sequence[float]) -> ExactMass | None:
        """Return None: there is no formula."""
        return None

    def after(self, step: AffineMap) -> Neighbors:
        """Return the geometry in the space before `step`."""
        return replace(self, before=step.then(self.before))


Geometry = HalfSpace | Tree | KernelMachine | Neighbors
