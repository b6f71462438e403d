"""Decision regions: a fitted classifier as the measure sees it, geometry included where it could be verified."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from bayes_gresub.classifiers.geometry import Geometry, KernelMachine, Linear, Neighbors, geometry
from bayes_gresub.classifiers.inputs import InputFormat, Labels, encode_labels
from bayes_gresub.components import Floats, Ints


@dataclass(frozen=True, eq=False)
class Region:
    """The partition of feature space into the regions where a classifier says each of `classes`.

    `geometry` is set only where its labels were found equal to those of `predict`.
    """

    classifier: Any
    classes: Labels
    format: InputFormat
    feature_names: tuple[str, ...] | None
    geometry: Geometry | None = None

    @property
    def n_classes(self) -> int:
        """Return the number of classes."""
        return len(self.classes)

    def labels(self, points: Floats) -> Ints:
        """Return the class code of each point (m, d), by a matrix product where one gives the same as `predict`."""
        if isinstance(self.geometry, Linear | KernelMachine | Neighbors):
            return self.geometry.labels(points)
        return self.predict(points)

    def predict(self, points: Floats) -> Ints:
        """Return the class code of each point (m, d), from the classifier's own `predict`."""
        predicted = np.asarray(self.classifier.predict(self.format.restore(points, self.feature_names)))
        if predicted.ndim == 2 and predicted.shape[1] == 1:
            predicted = predicted[:, 0]
        if predicted.shape != (len(points),):
            raise ValueError(
                f"predict must return one label per point; got shape {predicted.shape} for {len(points)} points."
            )
        return encode_labels(
            predicted,
            self.classes,
            "the labels that predict returns",
            "Give the classifier a `classes_` attribute that lists every label it can return.",
        )


def decision_region(
    classifier: Any,
    classes: Labels,
    form: InputFormat,
    points: Floats,
    seed: np.random.SeedSequence,
) -> tuple[Region, Ints]:
    """Return the region of a fitted classifier and its labels at `points`.

    Geometry is trusted only after its labels agree with `predict` on `points` and on random points about them.

    Parameters
    ----------
    classifier : object with `predict`
    classes : ndarray
        Labels of the data that the region is wanted for.
    form : InputFormat
        The form in which the classifier takes points.
    points : ndarray of shape (n, d)
        Where the measure is centred.
    seed : SeedSequence
        For the random points.
    """
    _check_predict(classifier)
    _check_features(classifier, form)
    known = _known_classes(classifier, classes)
    probes = np.concatenate([points, _random_points(points, seed)])
    region = Region(classifier, known, form, _names_for(classifier, form))
    try:
        said = region.predict(probes)
    except NotFittedError as error:
        raise NotFittedError(_unfitted(classifier)) from error
    shape = geometry(classifier) if len(known) == len(getattr(classifier, "classes_", [])) else None
    # Single precision decides labels near a boundary by its own rounding.
    rtol = 1e-9 if form.dtype == np.float64 else 1e-4
    if shape is not None and _agrees(shape, probes, said, rtol):
        return replace(region, geometry=shape), said[: len(points)]
    if not np.array_equal(region.predict(probes[::-1])[::-1], said):
        raise ValueError(
            "predict must be a function of the point: asked twice about the same points, in another order, this "
            f"{type(classifier).__name__} gave other labels. A random classifier has no decision region; fix its "
            "predictions first."
        )
    return region, said[: len(points)]


def _agrees(shape: Geometry, points: Floats, said: Ints, rtol: float) -> bool:
    """Return whether the geometry's labels are those of `predict`, but for points that rounding decides."""
    other = np.flatnonzero(shape.labels(points) != said)
    return len(other) == 0 or bool(shape.doubtful(points[other], rtol).all())


def _random_points(points: Floats, seed: np.random.SeedSequence, n: int = 64) -> Floats:
    """Return points scattered about the data: half one standard deviation off a data point, half three."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(len(points), size=n)
    spread = np.where(np.arange(n) % 2 == 0, 1.0, 3.0)[:, None] * points.std(axis=0)
    return np.asarray(points[rows] + spread * rng.standard_normal((n, points.shape[1])))


def _check_predict(classifier: Any) -> None:
    if isinstance(classifier, type) or not callable(getattr(classifier, "predict", None)):
        raise TypeError(
            f"classifier must be a fitted object with a predict method; got {classifier!r}. "
            "Fit a scikit-learn classifier, or wrap your model in a class with predict(X)."
        )


def _check_features(classifier: Any, form: InputFormat) -> None:
    expected = getattr(classifier, "n_features_in_", None)
    if expected is not None and len(form.shape) == 1 and expected != form.n_features:
        raise ValueError(
            f"the classifier and the measure must see the same features; the classifier was trained on {expected} "
            f"features, X has {form.n_features}. Put the feature selection into the classifier's Pipeline."
        )


def _known_classes(classifier: Any, classes: Labels) -> Labels:
    """Return the classes in the classifier's order; every label of the data must be among them."""
    own = getattr(classifier, "classes_", None)
    if own is None or np.ndim(own) != 1:
        return classes
    own = np.asarray(own)
    encode_labels(
        classes, own, "labels in y", "The classifier was trained without these classes and cannot predict them."
    )
    return own


def _names_for(classifier: Any, form: InputFormat) -> tuple[str, ...] | None:
    """Return the column names that the classifier was trained with; it is handed DataFrames only then."""
    trained = getattr(classifier, "feature_names_in_", None)
    if trained is None:
        return None
    names = tuple(trained)
    if form.feature_names is not None and form.feature_names != names:
        raise ValueError(
            f"the classifier and the measure must see the same columns in the same order; the classifier was trained "
            f"on {list(names)}, X has {list(form.feature_names)}. Reorder the columns of X."
        )
    return names


def _unfitted(classifier: Any) -> str:
    return (
        f"classifier must be fitted; this {type(classifier).__name__} is not. Call its fit(X, y) first: a measure "
        "judges the trained classifier and never retrains it."
    )
