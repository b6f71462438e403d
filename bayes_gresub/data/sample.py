"""Read X, y and weights once, and return points in their original format. Nothing is fitted here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import _safe_indexing

from bayes_gresub.data.arrays import Floats, Ints, Labels


@dataclass(frozen=True)
class InputFormat:
    """The original format of a sample's features: shape, dtype and column names."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    feature_names: tuple[str, ...] | None = None
    given_dtype: np.dtype[Any] | None = None
    is_numeric: bool = True
    """Whether kernels and neighbours can use the points; rows of X as given may hold anything."""

    def unmoved(self) -> InputFormat:
        """Return the format of the points as given: integers stay integers if the points are not moved."""
        return self if self.given_dtype is None else replace(self, dtype=self.given_dtype)

    @property
    def n_features(self) -> int:
        """Return the length of the flattened features."""
        return int(np.prod(self.shape))

    def restore(self, flat: Floats, feature_names: tuple[str, ...] | None = None) -> Any:
        """Return flat points (m, d) in the original shape and dtype, as a DataFrame if names are given."""
        # A copy, since a classifier may overwrite its input.
        try:
            with np.errstate(over="raise"):
                points = flat.astype(self.dtype).reshape(len(flat), *self.shape)
        except FloatingPointError as error:
            raise ValueError(
                f"points must fit the type of X, {self.dtype}, which is what the classifier gets; got values up to "
                f"{np.abs(flat).max():.3g}. Pass X as float64, or lower the widths."
            ) from error
        if feature_names is None:
            return points
        import pandas as pd

        return pd.DataFrame(points, columns=list(feature_names), copy=False)


@dataclass(frozen=True)
class RowFormat(InputFormat):
    """The format of points that are passed on as rows of the given X, whatever its type.

    The only "feature" is the row number. This is for classifiers that predict at these rows only.
    """

    given: Any = None

    def restore(self, flat: Floats, feature_names: tuple[str, ...] | None = None) -> Any:
        """Return these rows of X."""
        return _safe_indexing(self.given, flat[:, 0].astype(np.intp))


LARGEST = 1e152
"""The largest size of a feature or a kernel: squares of larger numbers overflow."""

SMALLEST = 1e-152
"""The smallest size of a feature that is not 0 everywhere: squares of smaller numbers lose their digits."""

NO_LABEL = -1
"""The code of a point whose label is unknown."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Validated points: a training set, a part of one, or the points that a measure is centred at.

    Attributes
    ----------
    features : ndarray of shape (n, d)
    codes : ndarray of shape (n,)
        Labels as positions in `classes`; NO_LABEL if unknown.
    classes : ndarray of shape (c,)
    weights : ndarray of shape (n,)
        They sum to 1.
    rows : ndarray of shape (n,)
        Row of each point among the `n_given` rows; points of weight zero are left out.
    format : InputFormat
    is_weighted : bool
        Whether weights were given.
    """

    features: Floats
    codes: Ints
    classes: Labels
    weights: Floats
    rows: Ints
    n_given: int
    format: InputFormat
    is_weighted: bool = False

    @classmethod
    def of_codes(cls, features: Floats, codes: Ints, classes: Labels) -> Sample:
        """Return points of equal weight."""
        n, d = features.shape
        return cls(features, codes, classes, np.full(n, 1 / n), np.arange(n), n, InputFormat((d,), features.dtype))

    @property
    def labels(self) -> Labels:
        """Return the labels themselves."""
        return np.asarray(self.classes[self.codes])

    @property
    def n_classes(self) -> int:
        """Return the number of classes."""
        return len(self.classes)

    @property
    def counts(self) -> Ints:
        """Return the number of points in each class."""
        return np.bincount(self.codes, minlength=self.n_classes)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Return the column names, if any."""
        return self.format.feature_names

    def of_class(self, code: int) -> Floats:
        """Return the points of one class."""
        return np.asarray(self.features[self.codes == code])

    def at_given_rows(self, values: Floats) -> Floats:
        """Return one value per given row, 0 for rows of weight zero."""
        whole = np.zeros(self.n_given)
        whole[self.rows] = values
        return whole

    def part(self, positions: Ints, counts: Ints | None = None) -> Sample:
        """Return some of the points, their weights multiplied by `counts`; `classes` stays that of the whole sample."""
        weights = self.weights[positions] if counts is None else self.weights[positions] * counts
        return replace(
            self,
            features=self.features[positions],
            codes=self.codes[positions],
            weights=weights / weights.sum(),
            rows=self.rows[positions],
            is_weighted=self.is_weighted or counts is not None,
        )

    def others(self, X: ArrayLike, y: ArrayLike | None, sample_weight: ArrayLike | None = None) -> Sample:
        """Return other points of the same format and classes; points of weight zero are dropped."""
        features, form = read_features(X)
        if form.shape != self.format.shape:
            raise ValueError(
                f"X must have the shape seen in fit, (n, {', '.join(map(str, self.format.shape))}); "
                f"got (n, {', '.join(map(str, form.shape))})."
            )
        names, expected = form.feature_names, self.format.feature_names
        if names is not None and expected is not None and names != expected:
            raise ValueError(
                f"X must have the columns seen in fit, in the same order, {list(expected)}; got {list(names)}."
            )
        n = len(features)
        weights = np.full(n, 1.0 / n) if sample_weight is None else read_weights(sample_weight, n)
        rows = np.flatnonzero(weights)
        codes = np.full(len(rows), NO_LABEL, dtype=np.intp)
        if y is not None:
            remedy = "The measure was fitted without these classes."
            codes = encode_labels(read_labels(y, len(features)), self.classes, "labels in y", remedy)[rows]
        return replace(
            self, features=features[rows], codes=codes, weights=weights[rows], rows=rows, n_given=len(features)
        )

    def restored(self, positions: Ints) -> Any:
        """Return these points in their original format."""
        return self.format.unmoved().restore(self.features[positions], self.format.feature_names)


def read_features(X: ArrayLike, name: str = "X") -> tuple[Floats, InputFormat]:
    """Return X flattened to (n, d) as float64, and its format; raise if no measure can use it."""
    if sparse.issparse(X):
        raise TypeError(f"{name} must be dense; got a sparse matrix of shape {X.shape}. Use {name}.toarray().")
    if np.ma.isMaskedArray(X):
        _refuse_masked(X, name)
    names = None
    columns = getattr(X, "columns", None)
    if columns is not None:
        names = tuple(columns) if all(isinstance(c, str) for c in columns) else None
    try:
        array = np.asarray(X)
    except (ValueError, TypeError, RuntimeError) as error:
        raise _unreadable(X, name) from error
    try:
        if array.dtype.kind not in "biufO" or (array.dtype.kind == "O" and _holds_text(array)):
            raise TypeError(f"{array.dtype} is not a number")
        dtype = array.dtype if array.dtype.kind == "f" else np.dtype(np.float64)
        flat = array.astype(np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(
            f"{name} must be numeric; got values of type {_listed_types(array)}{_text_columns(X)}. Kernels and "
            "neighbours need numbers: encode these columns first, and assess the part of the pipeline after the "
            "encoder."
        ) from error
    if flat.ndim < 2:
        raise ValueError(
            f"{name} must have shape (n_samples, n_features) or (n_samples, ...); got shape {flat.shape}. "
            f"Use {name}.reshape(-1, 1) for one feature."
        )
    if flat.size == 0:
        raise ValueError(f"{name} must hold at least one point and one feature; got shape {flat.shape}.")
    flat = flat.reshape(len(flat), -1)
    if not np.isfinite(flat).all():
        bad = ~np.isfinite(flat)
        raise ValueError(
            f"{name} must be finite; got {int(bad.sum())} NaN or infinite values, the first in row "
            f"{int(np.argmax(bad.any(axis=1)))}. Impute or drop them; if a rule is refitted, do so in a "
            "step of its Pipeline."
        )
    if max(flat.max(), -flat.min()) > LARGEST:
        raise ValueError(
            f"{name} must lie between {-LARGEST:g} and {LARGEST:g}, since distances need squares; got values from "
            f"{flat.min():.3g} to {flat.max():.3g}. Express the features in another unit."
        )
    given_dtype = array.dtype if array.dtype.kind in "biu" else None
    return flat, InputFormat(array.shape[1:], dtype, names, given_dtype)


def _text_columns(X: Any) -> str:
    if not hasattr(X, "dtypes") or not hasattr(X, "columns"):
        return ""
    columns = [
        str(name) for name, dtype in zip(X.columns, X.dtypes, strict=True) if getattr(dtype, "kind", "O") not in "biuf"
    ]
    return f" in {', '.join(columns)}" if columns else ""


def _holds_text(array: NDArray[Any]) -> bool:
    return any(isinstance(value, str | bytes) for value in array.ravel())


def _listed_types(array: NDArray[Any]) -> str:
    """Return the types of the values in an array, in words."""
    names = {type(value).__name__ for value in array.ravel()} if array.dtype.kind == "O" else {str(array.dtype)}
    return ", ".join(sorted(names))


def _unreadable(values: Any, name: str) -> ValueError:
    """Return the error for values that NumPy cannot hold as an array."""
    parts = values if isinstance(values, list | tuple) else [values]
    if any(hasattr(part, "requires_grad") for part in parts):
        return ValueError(
            f"{name} must be an array or a tensor of plain numbers; got one that needs gradients or is not in main "
            f"memory. Use {name}.detach().cpu()."
        )
    return ValueError(
        f"{name} must be an array with one entry per point, all of the same shape; got a {type(values).__name__} that "
        "cannot be read as one. Make its rows equally long."
    )


def _refuse_masked(values: Any, name: str) -> None:
    n_masked = int(np.ma.getmaskarray(values).sum())
    if n_masked:
        raise ValueError(
            f"{name} must hold no masked values, which would be used as if they were not masked; got {n_masked}. "
            "Fill them in with filled(...), or drop these rows."
        )


def read_sample(
    X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, as_rows: bool = False, least_classes: int = 2
) -> Sample:
    """Return the validated sample; points of weight zero are dropped.

    With `as_rows`, points are the rows of X as given, whatever its type; only y and the weights are validated. Points
    that only count errors may be of one class.
    """
    flat, form = _numbered_rows(X) if as_rows else read_features(X)
    labels = read_labels(y, len(flat))
    n_given, is_weighted = len(labels), sample_weight is not None
    weights = np.full(len(flat), 1.0 / len(flat)) if sample_weight is None else read_weights(sample_weight, len(flat))
    rows = np.flatnonzero(weights)
    if len(rows) < len(flat):
        flat, labels, weights = flat[rows], labels[rows], weights[rows]
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise TypeError(
            f"y must hold labels that can be sorted; got values of type {_listed_types(labels)}. Use strings or "
            "numbers."
        ) from error
    if len(classes) < least_classes:
        raise ValueError(
            f"y must hold at least two classes; got only {classes.tolist()!r}. The error of a classifier needs both."
        )
    largest = np.maximum(flat.max(axis=0), -flat.min(axis=0))
    if (largest[largest > 0] < SMALLEST).any():
        feature = int(np.flatnonzero((largest > 0) & (largest < SMALLEST))[0])
        raise ValueError(
            f"a feature of X must be 0 everywhere or have values of at least {SMALLEST:g} in size, since distances "
            f"need squares; got at most {largest[feature]:.3g} in feature {feature}. Express it in another unit."
        )
    return Sample(flat, codes.astype(np.intp), classes, weights, rows, n_given, form, is_weighted)


def _numbered_rows(X: Any) -> tuple[Floats, InputFormat]:
    if np.ma.isMaskedArray(X):
        _refuse_masked(X, "X")
    if getattr(X, "requires_grad", False):
        raise _unreadable(X, "X")
    try:
        given = np.asarray(X) if isinstance(X, list | tuple) else X
    except (ValueError, TypeError, RuntimeError) as error:
        raise _unreadable(X, "X") from error
    n = given.shape[0] if hasattr(given, "shape") else len(given)
    return np.arange(n, dtype=np.float64)[:, None], RowFormat((), np.dtype(np.float64), given=given)


def read_labels(y: ArrayLike, n: int) -> Labels:
    """Return y as a one-dimensional array of n labels."""
    if np.ma.isMaskedArray(y):
        _refuse_masked(y, "y")
    try:
        labels = np.asarray(y)
    except (ValueError, TypeError, RuntimeError) as error:
        raise _unreadable(y, "y") from error
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape != (n,):
        raise ValueError(f"y must have one label per row of X; got shape {labels.shape} for {n} rows.")
    missing = labels.dtype.kind == "O" and any(map(_is_missing, labels))
    if missing or (labels.dtype.kind == "f" and not np.isfinite(labels).all()):
        raise ValueError("y must not hold missing, NaN or infinite labels. Drop those rows.")
    if labels.dtype.kind == "f" and (labels != np.round(labels)).any():
        raise ValueError(
            "y must hold class labels; got fractional numbers such as "
            f"{labels[labels != np.round(labels)][0].item()!r}. Is this a regression target?"
        )
    if labels.dtype.kind in "SO":
        _refuse_unlike(labels)
    return labels


def _refuse_unlike(labels: Labels) -> None:
    """Raise for labels that are bytes, which no classifier takes, or of several kinds, which sorting would confuse."""
    kinds = {_kind_of(label) for label in set(map(type, labels.tolist()))}
    if bytes in kinds:
        raise TypeError(
            f"y must hold labels as strings or numbers; got bytes such as {labels.tolist()[0]!r}. Decode them, such as "
            "with np.char.decode(y)."
        )
    if len(kinds) > 1:
        raise TypeError(
            f"y must hold labels of one type; got values of type {_listed_types(labels)}. Make all of them strings, or "
            "all of them numbers."
        )


def _kind_of(label: type) -> type:
    """Return what a label of this type counts as: booleans are no numbers, since True would be the same class as 1."""
    kinds = ((bool, bool), (np.bool_, bool), (str, str), (bytes, bytes), (int | float | np.number, float))
    return next((kind for member, kind in kinds if issubclass(label, member)), label)


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)
    except TypeError:  # pandas' NA, whose comparisons have no truth value
        return True


def plain_labels(classes: Labels) -> list[Any]:
    """Return labels as plain Python objects that JSON can hold, or raise."""
    labels: list[Any] = classes.tolist()
    if not all(isinstance(label, int | float | str) for label in labels):
        raise TypeError(f"labels must be numbers, strings or booleans to be saved; got {labels[0]!r}.")
    return labels


def read_weights(sample_weight: ArrayLike, n: int) -> Floats:
    """Return weights of n points that sum to 1."""
    if np.ma.isMaskedArray(sample_weight):
        _refuse_masked(sample_weight, "sample_weight")
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except RuntimeError as error:
        raise _unreadable(sample_weight, "sample_weight") from error
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must hold one number per row of X; got {sample_weight!r}.") from error
    if weights.shape != (n,):
        raise ValueError(f"sample_weight must have one weight per row of X; got shape {weights.shape} for {n} rows.")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(
            f"sample_weight must be finite and not negative; got a minimum of {weights.min()}. "
            "Use 0 to leave a point out."
        )
    if not weights.any():
        raise ValueError("sample_weight must be positive for at least one point; got zeros only.")
    if not SMALLEST < weights.max() < LARGEST:
        # Their sum could overflow.
        weights = weights / weights.max()
    return np.asarray(weights / weights.sum())


def read_class_prior(prior: Any, classes: Labels) -> Floats:
    """Return class probabilities in the order of `classes`, or raise."""
    names = classes.tolist()
    if isinstance(prior, dict):
        unknown = [label for label in prior if label not in names]
        if unknown or len(prior) < len(names):
            raise ValueError(f"class_prior must name each of {names!r} once; got {list(prior)!r}.")
        prior = [prior[label] for label in names]
    try:
        probabilities = np.asarray(prior, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"class_prior must give one number for each of {names!r}; got {prior!r}.") from error
    if probabilities.shape != (len(names),):
        raise ValueError(
            f"class_prior must give one probability for each of {names!r}; got shape {probabilities.shape}."
        )
    if not np.isfinite(probabilities).all() or (probabilities < 0).any() or abs(probabilities.sum() - 1) > 1e-8:
        raise ValueError(
            f"class_prior must hold probabilities that sum to 1; got {probabilities.tolist()}. "
            "Divide them by their sum."
        )
    return probabilities


def encode_labels(labels: Labels, classes: Labels, name: str, remedy: str) -> Ints:
    """Return the position of each label in `classes`, or raise, naming the unknown labels."""
    labels = np.asarray(labels)
    if labels.dtype == classes.dtype and np.array_equal(labels, classes):
        return np.arange(len(classes))
    if labels.dtype.kind == classes.dtype.kind and labels.dtype.kind in "iubU":
        order = np.argsort(classes)
        position = order[np.minimum(np.searchsorted(classes, labels, sorter=order), len(classes) - 1)]
        if np.array_equal(classes[position], labels):
            return position.astype(np.intp, copy=False)
    known = {label: code for code, label in enumerate(classes.tolist())}
    try:
        unique, inverse = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise TypeError(f"{name} must be of one type; got values of type {_listed_types(labels)}. {remedy}") from error
    missing = [label for label in unique.tolist() if label not in known]
    if missing:
        shown = f"{missing[:5]!r}" + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
        raise ValueError(f"{name} must be among {classes.tolist()!r}; got {shown}. {remedy}")
    return np.array([known[label] for label in unique.tolist()], dtype=np.intp)[inverse]
