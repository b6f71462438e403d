"""The kernel interface: a fitted kernel turns points and their classes into components."""

from __future__ import annotations

import copy
import warnings
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from bayes_gresub.data.arrays import Floats, Ints, Labels
from bayes_gresub.data.sample import encode_labels
from bayes_gresub.data.seeds import Seed, seed_sequence
from bayes_gresub.data.units import describe_space, feature_scale, to_units
from bayes_gresub.kernels.distances import mean_nearest_distance
from bayes_gresub.laws.components import Components

Width = float | ArrayLike | dict[Any, Any] | None


class Kernel(BaseEstimator, ABC):
    """A law on x about each training point, whose width is learned from the sample or given.

    A width may be a number, a number per class (in the order of the sorted labels, or as a dict from label to width),
    or one per training point; what else is allowed each kernel says. Widths are in units of the space that
    `standardize` chooses and are multiplied by `scale` (the paper's kappa).
    """

    width: Width
    scale: float
    standardize: str | None

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
        self.classes_ = classes
        self._check_scale()
        self.n_samples_ = len(features)
        self.feature_scale_ = feature_scale(features, codes, self.standardize)
        self.width_std_error_ = np.zeros(len(self.classes_))
        units = to_units(features, self.feature_scale_)
        given = self._given_width(features.shape[1])
        self._learn_shape(units, codes, given)
        if given is not None:
            self.widths_ = given
            return self
        self.widths_ = self._learn(units, codes, seed)
        self._warn_of_no_width(units, codes)
        return self

    @property
    def space(self) -> str:
        """Return in words the space that widths are measured in."""
        return describe_space(self.standardize)

    def is_per_point(self, n: int, n_classes: int) -> bool:
        """Return whether widths were given per point of a sample of n, not per class."""
        if self.width is None or isinstance(self.width, dict):
            return False
        return np.shape(self.width)[:1] == (n,) and n != n_classes

    def restricted_to(self, rows: Ints, n: int) -> Kernel:
        """Return a copy for a sample of which only `rows` are kept: widths per point are cut down to them."""
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
            Whether the centres are the training points, in order; widths per training point need it.
        """
        if len(self.widths_) == len(self.classes_):
            group = codes
        elif at_training_points:
            group = np.arange(len(centers))
        else:
            raise ValueError(
                f"widths per training point cannot be centred at other points; got {len(self.widths_)} widths. "
                "Give a width per class, or leave width=None to have one estimated."
            )
        return self._build(centers, codes, np.asarray(group, dtype=np.intp))

    def _learn_shape(self, units: Floats, codes: Ints, given: Floats | None) -> None:
        """Learn what the kernel needs besides its width, also where that is given."""

    def _warn_of_no_width(self, units: Floats, codes: Ints) -> None:
        if self.widths_.all():
            return
        for code, label in enumerate(self.classes_.tolist()):
            if not self.widths_[code].any() and np.ptp(units[codes == code], axis=0).any():
                warnings.warn(
                    f"every point of class {label!r} has a duplicate, so its kernel width is 0 and nothing is smoothed "
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

    def _check_scale(self) -> None:
        if not isinstance(self.scale, int | float | np.number) or not 0 <= float(self.scale) < np.inf:
            raise ValueError(
                f"scale (kappa) must be a finite number of at least 0; got {self.scale!r}. Use 0 for no smoothing."
            )

    def _given_width(self, d: int) -> Floats | None:
        """Return the given width as an array with first axis classes or points, or None."""
        if self.width is None:
            return None
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
        if n == c and array.shape[0] == n and not isinstance(self.width, dict) and np.ndim(self.width):
            raise ValueError(
                f"width of length {n} could be per class or per point, since there are as many classes as points. "
                "Pass a dict from label to width."
            )
        return array

    def _nearest_distances(self, units: Floats, codes: Ints, seed: np.random.SeedSequence) -> tuple[Floats, Floats]:
        """Return the mean nearest-neighbour distance in each class and its standard error, shape (c,) both."""
        groups = self._each_class(units, codes)
        means = [mean_nearest_distance(group, seed, j) for j, group in enumerate(groups)]
        return np.array([mean.value for mean in means]), np.array([mean.std_error for mean in means])

    def _each_class(self, units: Floats, codes: Ints, remedy: str = "give the width") -> list[Floats]:
        """Return the points of each class; a class with one point has no neighbour to learn a width from."""
        groups = [units[codes == code] for code in range(len(self.classes_))]
        for label, group in zip(self.classes_.tolist(), groups, strict=True):
            if len(group) < 2:
                raise ValueError(
                    "each class needs at least 2 points to estimate a kernel width; class "
                    f"{label!r} has {len(group)}. Add points of this class, or {remedy}."
                )
        return groups


def _in_class_order(width: dict[Any, Any], classes: Labels) -> Floats:
    remedy = "Give one width per class of y."
    encode_labels(np.array(list(width)), classes, "the keys of width", remedy)
    missing = [label for label in classes.tolist() if label not in width]
    if missing:
        raise ValueError(f"width must name every class; {missing!r} missing. {remedy}")
    return np.asarray([width[label] for label in classes.tolist()], dtype=float)
