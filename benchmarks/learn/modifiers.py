"""What may happen to the features of any population: warps, rounding, noise features, rotations, units, outliers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from scipy.special import ndtr

from bayes_gresub.data.arrays import Floats, Ints
from benchmarks.learn.class_law import MOST_FEATURES
from benchmarks.learn.correlation import draw_rotation
from benchmarks.learn.feature_law import FeatureLaw, draw_feature_law
from benchmarks.learn.kind import Layer


class Curve(IntEnum):
    """A monotone map of one feature."""

    NONE = 0
    CUBE = 1
    EXPONENTIAL = 2
    RANK = 3


def spread(reference: Floats) -> tuple[Floats, Floats]:
    """Return location and scale of each feature: median and mean absolute deviation from it, 1 where that is 0."""
    center = np.median(reference, axis=0)
    scale = np.abs(reference - center).mean(axis=0)
    return center, np.where(scale > 0, scale, 1.0)


@dataclass(frozen=True, eq=False)
class Warped:
    """Features t_j = (x_j - center) / scale, then t^3, exp t, Phi(t), or as they were.

    Parameters
    ----------
    curves : array of shape (d,)
        A `Curve` each.
    center, scale : arrays of shape (d,)
    """

    curves: Ints
    center: Floats
    scale: Floats

    def apply(self, X: Floats, rng: np.random.Generator) -> Floats:
        """Return the warped features."""
        X = X.copy()
        for curve, warp in ((Curve.CUBE, _cube), (Curve.EXPONENTIAL, _exponential), (Curve.RANK, ndtr)):
            columns = np.flatnonzero(self.curves == curve)
            X[:, columns] = warp((X[:, columns] - self.center[columns]) / self.scale[columns])
        return X


@dataclass(frozen=True, eq=False)
class Rounded:
    """Features rounded to multiples of a step; a step of 0 leaves a feature as it is.

    Parameters
    ----------
    steps : array of shape (d,)
    """

    steps: Floats

    def apply(self, X: Floats, rng: np.random.Generator) -> Floats:
        """Return the rounded features."""
        steps = np.where(self.steps > 0, self.steps, 1.0)
        return np.where(self.steps > 0, np.rint(X / steps) * steps, X)


@dataclass(frozen=True, eq=False)
class NoiseFeatures:
    """Further features that are independent of the label and of the other features.

    Parameters
    ----------
    law : FeatureLaw
    """

    law: FeatureLaw

    def apply(self, X: Floats, rng: np.random.Generator) -> Floats:
        """Return X with the further features to its right."""
        return np.hstack([X, self.law.points(len(X), rng)])


@dataclass(frozen=True, eq=False)
class Rotated:
    """Features turned together, each divided by its scale first.

    Parameters
    ----------
    rotation : array of shape (d, d)
    scale : array of shape (d,)
    """

    rotation: Floats
    scale: Floats

    def apply(self, X: Floats, rng: np.random.Generator) -> Floats:
        """Return the turned features."""
        return (X / self.scale) @ self.rotation.T


@dataclass(frozen=True, eq=False)
class InUnits:
    """Features times a unit each, plus a constant each.

    Parameters
    ----------
    units, origins : arrays of shape (d,)
    """

    units: Floats
    origins: Floats

    def apply(self, X: Floats, rng: np.random.Generator) -> Floats:
        """Return the features in these units."""
        return X * self.units + self.origins


@dataclass(frozen=True, eq=False)
class WithOutliers:
    """A few rows in which some features are far off, whatever the label.

    Parameters
    ----------
    share : float
        Of the rows.
    feature_share : float
        Of the features in such a row.
    distance : float
        In scales of the feature.
    scale : array of shape (d,)
    """

    share: float
    feature_share: float
    distance: float
    scale: Floats

    def apply(self, X: Floats, rng: np.random.Generator) -> Floats:
        """Return the features, in rows chosen at random moved by a normal variable times the distance."""
        X = X.copy()
        rows = np.flatnonzero(rng.random(len(X)) < self.share)
        moved = rng.random((len(rows), X.shape[1])) < self.feature_share
        X[rows] += moved * rng.normal(size=moved.shape) * (self.distance * self.scale)
        return X


@dataclass(frozen=True, eq=False)
class OneHot:
    """Further features, 0 or 1, for the interval that one feature lies in; the feature itself stays or goes.

    Parameters
    ----------
    column : int
    cuts : array of shape (levels - 1,)
    keep : bool
    """

    column: int
    cuts: Floats
    keep: bool

    def apply(self, X: Floats, rng: np.random.Generator) -> Floats:
        """Return X with the columns of 0 and 1 to its right."""
        columns = np.eye(len(self.cuts) + 1)[np.searchsorted(self.cuts, X[:, self.column])]
        return np.hstack([X if self.keep else np.delete(X, self.column, axis=1), columns])


def draw_modifiers(reference: Floats, rng: np.random.Generator) -> dict[str, Layer]:
    """Return layers by name, each with its own probability, in the order in which they are applied.

    Parameters
    ----------
    reference : array of shape (n, d)
        Points of the population, by which scales and cuts are found.
    rng : Generator

    Examples
    --------
    >>> rng = np.random.default_rng(4)
    >>> list(draw_modifiers(rng.normal(size=(100, 3)), rng))
    ['noise_features', 'units']
    """
    layers: dict[str, Layer] = {}
    for name, (probability, draw) in MODIFIERS.items():
        if rng.random() >= probability:
            continue
        layer = draw(reference, rng)
        if layer is not None:
            layers[name] = layer
            reference = layer.apply(reference, rng)
    return layers


def _draw_one_hot(reference: Floats, rng: np.random.Generator) -> Layer | None:
    column, levels = int(rng.integers(reference.shape[1])), int(rng.integers(2, 7))
    cuts = np.unique(np.quantile(reference[:, column], np.sort(rng.uniform(0.1, 0.9, size=levels - 1))))
    keep = bool(rng.random() < 0.3)
    return OneHot(column, cuts, keep) if reference.shape[1] + levels <= MOST_FEATURES else None


def _draw_noise_features(reference: Floats, rng: np.random.Generator) -> Layer | None:
    dim = reference.shape[1]
    extra = min(int(np.ceil(dim * np.exp(rng.uniform(np.log(0.2), np.log(3))))), MOST_FEATURES - dim)
    return NoiseFeatures(draw_feature_law(extra, rng)) if extra > 0 else None


def _draw_rotated(reference: Floats, rng: np.random.Generator) -> Layer:
    return Rotated(draw_rotation(reference.shape[1], rng), spread(reference)[1])


def _draw_warped(reference: Floats, rng: np.random.Generator) -> Layer:
    dim = reference.shape[1]
    curves = np.asarray(rng.choice(len(Curve), size=dim), dtype=np.intp)
    if rng.random() < 0.4:
        curves[:] = rng.integers(1, len(Curve))
    return Warped(curves, *spread(reference))


def _draw_rounded(reference: Floats, rng: np.random.Generator) -> Layer:
    _, scale = spread(reference)
    levels = np.exp(rng.uniform(np.log(0.7), np.log(6)))
    return Rounded(np.where(rng.random(len(scale)) < rng.choice([0.5, 1.0]), scale * 2 / levels, 0.0))


def _draw_outliers(reference: Floats, rng: np.random.Generator) -> Layer:
    return WithOutliers(
        share=float(rng.uniform(0.005, 0.04)),
        feature_share=float(rng.uniform(0.1, 1)),
        distance=float(np.exp(rng.uniform(np.log(4), np.log(40)))),
        scale=spread(reference)[1],
    )


def _draw_units(reference: Floats, rng: np.random.Generator) -> Layer:
    dim = reference.shape[1]
    units = np.power(10.0, rng.uniform(-3, 3, size=dim))
    origins = np.where(rng.random(dim) < 0.5, 0.0, rng.normal(0, 3, size=dim) * units)
    return InUnits(units, origins)


MODIFIERS = {
    "one_hot": (0.12, _draw_one_hot),
    "noise_features": (0.22, _draw_noise_features),
    "rotation": (0.15, _draw_rotated),
    "warp": (0.25, _draw_warped),
    "rounding": (0.2, _draw_rounded),
    "outliers": (0.12, _draw_outliers),
    "units": (0.4, _draw_units),
}


def _cube(T: Floats) -> Floats:
    return np.clip(T, -30, 30) ** 3


def _exponential(T: Floats) -> Floats:
    return np.exp(np.clip(T, -8, 8))
