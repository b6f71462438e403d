"""Affine preprocessing steps read off fitted transformers, so that the geometry of a Pipeline stays exact."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectorMixin
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from bayes_gresub.data.arrays import Floats
from bayes_gresub.laws.components import Components


@dataclass(frozen=True, eq=False)
class AffineMap:
    """The map x -> A x + b, with A a diagonal of shape (d,) or a matrix of shape (p, d)."""

    matrix: Floats
    offset: Floats

    @classmethod
    def identity(cls, d: int) -> AffineMap:
        """Return x -> x."""
        return cls(np.ones(d), np.zeros(d))

    def __call__(self, points: Floats) -> Floats:
        """Apply to points (m, d)."""
        if self.is_identity:
            return points
        moved = points * self.matrix if self.matrix.ndim == 1 else points @ self.matrix.T
        moved += self.offset
        return moved

    @cached_property
    def is_identity(self) -> bool:
        """Return whether the map leaves points as they are."""
        return self.matrix.ndim == 1 and not self.offset.any() and bool((self.matrix == 1).all())

    def then(self, step: AffineMap) -> AffineMap:
        """Return this map followed by `step`."""
        if step.matrix.ndim == 1:
            factor = step.matrix if self.matrix.ndim == 1 else step.matrix[:, None]
            matrix = factor * self.matrix
        else:
            matrix = step.matrix * self.matrix if self.matrix.ndim == 1 else step.matrix @ self.matrix
        return AffineMap(matrix, step(self.offset[None, :])[0])

    def pull_back(self, normal: Floats) -> Floats:
        """Return A' a, the input direction that corresponds to the output direction a."""
        return normal * self.matrix if self.matrix.ndim == 1 else normal @ self.matrix

    def push_forward(self, components: Components) -> Components:
        """Return the components' laws after the map."""
        spread = components.spread
        if self.matrix.ndim == 1:
            if spread.ndim == 1:
                spread = spread[:, None] * self.matrix
            else:
                spread = spread * (self.matrix if spread.ndim == 2 else self.matrix[:, None])
        elif spread.ndim == 3:
            spread = self.matrix @ spread
        else:
            spread = self.matrix * components.feature_deviations()[:, None, :]
        return Components(self(components.centers), spread, components.group, components.law)


def affine_map(transformer: Any) -> AffineMap | None:
    """Return the affine map of a fitted transformer, or None if it is not known to be affine."""
    kind = type(transformer)
    if kind is StandardScaler:
        d = transformer.n_features_in_
        scale = np.ones(d) if transformer.scale_ is None else 1.0 / np.asarray(transformer.scale_, dtype=float)
        mean = np.zeros(d) if transformer.mean_ is None or not transformer.with_mean else transformer.mean_
        return AffineMap(scale, -np.asarray(mean, dtype=float) * scale)
    if kind is MinMaxScaler and not transformer.clip:
        return AffineMap(np.asarray(transformer.scale_, dtype=float), np.asarray(transformer.min_, dtype=float))
    if kind is MaxAbsScaler and not getattr(transformer, "clip", False):
        scale = 1.0 / np.asarray(transformer.scale_, dtype=float)
        return AffineMap(scale, np.zeros_like(scale))
    if kind is RobustScaler:
        d = transformer.n_features_in_
        scale = np.ones(d) if transformer.scale_ is None else 1.0 / np.asarray(transformer.scale_, dtype=float)
        center = np.zeros(d) if transformer.center_ is None else np.asarray(transformer.center_, dtype=float)
        return AffineMap(scale, -center * scale)
    if kind is PCA:
        matrix = np.asarray(transformer.components_, dtype=float)
        if transformer.whiten:
            deviation = np.sqrt(transformer.explained_variance_)
            matrix = matrix / np.maximum(deviation, np.finfo(deviation.dtype).eps)[:, None]
        return AffineMap(matrix, -matrix @ np.asarray(transformer.mean_, dtype=float))
    if isinstance(transformer, SelectorMixin):
        chosen = transformer.get_support(indices=True)
        matrix = np.zeros((len(chosen), transformer.n_features_in_))
        matrix[np.arange(len(chosen)), chosen] = 1.0
        return AffineMap(matrix, np.zeros(len(chosen)))
    if kind is FunctionTransformer and transformer.func is None:
        return AffineMap.identity(transformer.n_features_in_)
    return None
