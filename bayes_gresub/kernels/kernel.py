"""The kernel interface: a fitted kernel turns points and their classes into components. Also distances for widths."""

from __future__ import annotations

import copy
import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from scipy.special import gammaincinv
from sklearn.base import BaseEstimator
from sklearn.metrics import pairwise_distances_argmin_min
from sklearn.neighbors import NearestNeighbors

from bayes_gresub.data.arrays import Floats, Ints, Labels
from bayes_gresub.data.sample import LARGEST, encode_labels
from bayes_gresub.data.seeds import WIDTHS, Seed, child, seed_sequence
from bayes_gresub.data.units import SPACES, standardized
from bayes_gresub.laws.components import Components

DENSE_LIMIT = 500
"""Points up to which computing all pairwise distances is faster than a neighbour search."""

QUERY_LIMIT = 20_000
"""Points in a class beyond which the mean is taken over a random subsample of query points."""

SUBSAMPLE = 4096
"""Size of that subsample."""


Width = float | ArrayLike | dict[Any, Any] | None


class Kernel(BaseEstimator, ABC):
    """A law on x about each training point; its width is learned from the sample or given.

    A width may be a number, a number per class (in the order of the sorted labels, or as a dict from label to width),
    or one per training point; some kernels allow more. Widths are in units of the space that
    `standardize` chooses and are multiplied by `scale` (the paper's kappa).
    """

    width: Width
    scale: float
    standardize: str | None
    has_shape = False
    """Whether `_learn_shape` learns more than a width, even if the width is given."""

    def fit(self, X: ArrayLike, y: ArrayLike, random_state: Seed = None) -> Self:
        """Learn the widths from the sample.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        random_state : int, SeedSequence, Generator or None
            For the subsample of query points in classes of more than 20,000 points.
        """
        classes, codes = np.unique(np.asarray(y), return_inverse=True)
        return self.fit_codes(np.asarray(X, dtype=np.float64), codes, classes, seed_sequence(random_state))

    def fit_codes(self, features: Floats, codes: Ints, classes: Labels, seed: np.random.SeedSequence) -> Self:
        """Learn the widths from a validated sample, labels given as positions in `classes`."""
        if not isinstance(self.scale, int | float | np.number) or not 0 <= float(self.scale) < np.inf:
            raise ValueError(
                f"scale (kappa) must be a finite number of at least 0; got {self.scale!r}. Use 0 for no smoothing."
            )
        self.classes_ = classes
        self.n_samples_ = len(features)
        units, self.feature_scale_ = standardized(features, codes, self.standardize)
        self.space_ = SPACES[self.standardize]
        self.width_std_error_ = np.zeros(len(classes))
        given = None if self.width is None else self._given_width(features.shape[1])
        if given is None and np.bincount(codes, minlength=len(classes)).min() < 2 and not self.has_shape:
            self._refuse_single_points(codes)
        if self.has_shape:
            self._learn_shape(units, codes, given)
        self.widths_ = self._learn(units, codes, seed) if given is None else given
        with np.errstate(over="ignore", invalid="ignore"):
            reach = np.abs(self._build(features, codes, codes).spread).max()
        # NaN is not below the limit either.
        if not reach <= LARGEST:
            raise ValueError(
                f"kernels must be at most {LARGEST:g} wide in the units of X, since distances need squares; got widths "
                f"up to {np.abs(self.widths_).max():.3g} times scale={self.scale:g}. Lower the width or the scale."
            )
        if given is None and not self.widths_.all():
            self._warn_of_no_width(units, codes)
        return self

    def is_per_point(self, n: int, n_classes: int) -> bool:
        """Return whether widths were given per point of a sample of n, not per class."""
        if self.width is None or isinstance(self.width, dict):
            return False
        return np.shape(self.width)[:1] == (n,) and n != n_classes

    def restricted_to(self, rows: Ints, n: int) -> Kernel:
        """Return a copy for the sample with only `rows` kept: widths per point are restricted to them."""
        kernel = copy.copy(self)
        if self.is_per_point(n, 0) and len(rows) < n:
            kernel.set_params(width=np.asarray(self.width, dtype=float)[rows])
        return kernel

    def components(self, centers: Floats, codes: Ints, at_training_points: bool) -> Components:
        """Return the kernels centred at `centers`, which have the classes `codes`.

        Parameters
        ----------
        centers : ndarray of shape (k, d)
        codes : ndarray of shape (k,)
            Positions in `classes_`.
        at_training_points : bool
            Whether the centres are the training points, in order; required for widths per training point.
        """
        if len(self.widths_) == len(self.classes_):
            group = codes
        elif at_training_points:
            group = np.arange(len(centers))
        else:
            raise ValueError(
                f"widths per training point cannot be centred at other points; got {len(self.widths_)} widths. "
                "Give a width per class, or leave width=None to estimate it."
            )
        return self._build(centers, codes, np.asarray(group, dtype=np.intp))

    def _learn_shape(self, units: Floats, codes: Ints, given: Floats | None) -> None:
        """Learn what the kernel needs besides its width."""

    def _warn_of_no_width(self, units: Floats, codes: Ints) -> None:
        for code, label in enumerate(self.classes_.tolist()):
            if not self.widths_[code].any() and np.ptp(units[codes == code], axis=0).any():
                warnings.warn(
                    f"every point of class {label!r} has a duplicate, so the kernel width is 0 and nothing is smoothed "
                    "there. Drop the duplicates (weights can count them), or give the width.",
                    UserWarning,
                    stacklevel=2,
                )

    @abstractmethod
    def _learn(self, units: Floats, codes: Ints, seed: np.random.SeedSequence) -> Floats:
        """Return the width per class, from features in units of the space."""

    @abstractmethod
    def _build(self, centers: Floats, codes: Ints, group: Ints) -> Components:
        """Return components in the user's units."""

    def _width_shapes(self, d: int) -> list[tuple[int, ...]]:
        """Return the shapes that the width of one class or point may have."""
        return [()]

    def _given_width(self, d: int) -> Floats:
        """Return the given width as an array with first axis classes or points."""
        n, c = self.n_samples_, len(self.classes_)
        shapes = self._width_shapes(d)
        width = self.width
        if isinstance(width, dict):
            width = _in_class_order(width, self.classes_)
        try:
            array = np.asarray(width, dtype=float)
        except (TypeError, ValueError) as error:
            raise ValueError(f"width must be a number or an array of numbers; got {width!r}.") from error
        if array.ndim == 0:
            array = np.full(c, array)
        if not np.isfinite(array).all() or (array.ndim < 3 and (array < 0).any()):
            raise ValueError("width must be finite and not negative; got a value that is not. Use 0 for no smoothing.")
        if array.shape[0] not in (n, c) or array.shape[1:] not in shapes:
            allowed = ", ".join(f"(n, {', '.join(map(str, s))})" for s in shapes if s)
            raise ValueError(
                f"width must be a number, one per class ({c}) or one per training point ({n})"
                + (f", or of shape {allowed}" if allowed else "")
                + f"; got shape {array.shape}. A dict from label to width is clearest for classes."
            )
        if n == c and array.shape[0] == n and not isinstance(self.width, dict | float | int):
            raise ValueError(
                f"width of length {n} could be per class or per point, since there are as many classes as points. "
                "Pass a dict from label to width."
            )
        return array

    def _nearest_distances(self, units: Floats, codes: Ints, seed: np.random.SeedSequence) -> tuple[Floats, Floats]:
        """Return the mean nearest-neighbour distance in each class and its standard error, both of shape (c,)."""
        means = [mean_nearest_distance(units[codes == code], seed, code) for code in range(len(self.classes_))]
        return np.array([mean.value for mean in means]), np.array([mean.std_error for mean in means])

    def _refuse_single_points(self, codes: Ints, remedy: str = "give the width") -> None:
        """Raise for a class with one point, which has no neighbour to learn a width from."""
        for label, count in zip(self.classes_.tolist(), np.bincount(codes, minlength=len(self.classes_)), strict=True):
            if count < 2:
                raise ValueError(
                    "each class needs at least 2 points to estimate a kernel width; class "
                    f"{label!r} has {count}. Add points of this class, or {remedy}."
                )


def _in_class_order(width: dict[Any, Any], classes: Labels) -> Floats:
    remedy = "Give one width per class of y."
    encode_labels(np.array(list(width)), classes, "the keys of width", remedy)
    missing = [label for label in classes.tolist() if label not in width]
    if missing:
        raise ValueError(f"width must name every class; {missing!r} missing. {remedy}")
    return np.asarray([width[label] for label in classes.tolist()], dtype=float)


@dataclass(frozen=True)
class MeanDistance:
    """A mean distance and its standard error; 0 if every point was used."""

    value: float
    std_error: float


def mean_nearest_distance(points: Floats, seed: np.random.SeedSequence, stream: int = 0) -> MeanDistance:
    r"""Return :math:`\hat d = \frac1n \sum_i \min_{j \ne i} |X_i - X_j|` over the points of one class.

    Beyond QUERY_LIMIT points the outer mean is over a random subsample, drawn from child `stream` of the seed; the
    inner minimum is always over all points.

    Examples
    --------
    >>> import numpy as np
    >>> mean_nearest_distance(np.array([[0.0], [1.0], [3.0]]), np.random.SeedSequence(0)).value
    1.3333333333333333
    """
    n = len(points)
    if n <= DENSE_LIMIT:
        distances = cdist(points, points)
        np.fill_diagonal(distances, np.inf)
        return MeanDistance(float(distances.min(axis=1).mean()), 0.0)
    # Searches by matrix products lose precision to an offset.
    points = points - points.mean(axis=0)
    if n <= QUERY_LIMIT:
        nearest, _ = NearestNeighbors(n_neighbors=1).fit(points).kneighbors()
        return MeanDistance(float(nearest.mean()), 0.0)
    rows = np.random.default_rng(child(seed, WIDTHS, stream)).choice(n, SUBSAMPLE, replace=False)
    nearest = _nearest_of_rows(points, rows)
    finite_sample = np.sqrt(1.0 - SUBSAMPLE / n)
    return MeanDistance(float(nearest.mean()), float(nearest.std(ddof=1) / np.sqrt(SUBSAMPLE) * finite_sample))


def _nearest_of_rows(points: Floats, rows: np.ndarray) -> Floats:
    """Return the distance of each of `rows` to its nearest other point."""
    is_outside = np.ones(len(points), dtype=bool)
    is_outside[rows] = False
    _, outside = pairwise_distances_argmin_min(points[rows], points[is_outside])
    inside, _ = NearestNeighbors(n_neighbors=1, algorithm="brute").fit(points[rows]).kneighbors()
    return np.minimum(outside, inside[:, 0])


@lru_cache(maxsize=64)
def chi_median(d: int) -> float:
    """Return the median of the chi distribution with d degrees of freedom, the paper's alpha_d.

    Examples
    --------
    >>> [round(chi_median(d), 3) for d in (1, 2, 3, 4, 5)]
    [0.674, 1.177, 1.538, 1.832, 2.086]
    """
    return float(np.sqrt(2.0 * gammaincinv(d / 2.0, 0.5)))
