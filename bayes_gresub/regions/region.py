"""Decision regions of a fitted classifier, with its geometry if that could be verified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from bayes_gresub.data.arrays import Floats, Ints, Labels
from bayes_gresub.data.sample import InputFormat, Sample, encode_labels
from bayes_gresub.data.seeds import PROBES, child
from bayes_gresub.laws.components import Components
from bayes_gresub.laws.confusion import ExactMass
from bayes_gresub.regions.geometry import geometry, is_known_function, listed_classes
from bayes_gresub.regions.shapes import Geometry, Tree

_PROBES = 64
_REPEATS = 256

_COMPANIES = 4
"""Parts that points are predicted in once more, each with points of similar labels only."""

_ALONE = 32
"""Points that are predicted one by one."""

_CHANGES_ALLOWED = 0.01
"""Share of labels that may change with the company of a point: rounding differs between sizes of matrices."""

_COARSE = 1e-4
"""Rounding of a feature by its type, in units of its range, above which it matters that points are rounded."""

_NOWHERE = np.zeros(0, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Region:
    """The partition of feature space into the regions where a classifier predicts each of `classes`.

    Attributes
    ----------
    classes : ndarray of shape (c,)
        The classes of the data, then those that only the classifier lists.
    geometry : Geometry or None
        Set only if its labels agree with those of `predict`.
    codes_of_own : ndarray
        Positions in `classes` of the classifier's own `classes_`, to which labels of the geometry refer.
    center_labels : ndarray of shape (n,)
        Predicted class codes at the points of the sample.
    """

    classifier: Any
    classes: Labels
    format: InputFormat
    feature_names: tuple[str, ...] | None
    geometry: Geometry | None
    codes_of_own: Ints
    center_labels: Ints

    @property
    def n_classes(self) -> int:
        """Return the number of classes."""
        return len(self.classes)

    def labels(self, points: Floats) -> Ints:
        """Return the class code of each point (m, d), by a matrix product if one agrees with `predict`."""
        if self.geometry is None or isinstance(self.geometry, Tree):
            return self.predict(points)
        return self.codes_of_own[self.geometry.labels(points)]

    def exact_mass(self, components: Components, scales: Sequence[float]) -> ExactMass | None:
        """Return the mass of every region if the geometry has a formula for it, else None."""
        # No formula handles bounds.
        if self.geometry is None or components.bounds is not None:
            return None
        formula = self.geometry.mass(components, scales)
        if formula is None:
            return None
        values = np.zeros((*formula.values.shape[:2], len(self.classes)))
        values[..., self.codes_of_own] = formula.values
        return ExactMass(values, formula.method)

    def predict(self, points: Floats) -> Ints:
        """Return the class code of each point (m, d), from the classifier's own `predict`."""
        answer = self.classifier.predict(self.format.restore(points, self.feature_names))
        try:
            predicted = np.asarray(answer)
        except (TypeError, ValueError, RuntimeError) as error:
            raise TypeError(
                f"predict must return an array with one label per point; got a {type(answer).__name__} that cannot be "
                "read as one. Return a NumPy array, detached if it comes from a network."
            ) from error
        if predicted.ndim == 2 and predicted.shape[1] == 1:
            predicted = predicted[:, 0]
        if predicted.shape != (len(points),):
            raise ValueError(
                f"predict must return one label per point; got shape {predicted.shape} for {len(points)} points."
            )
        if predicted.dtype.kind == "f" and (predicted != np.round(predicted)).any():
            raise ValueError(
                "predict must return labels; got fractional numbers such as "
                f"{float(predicted[predicted != np.round(predicted)][0]):.6g}. Is this a regressor, or predict_proba?"
            )
        return encode_labels(
            predicted,
            self.classes,
            "the labels that predict returns",
            "Give the classifier a `classes_` attribute that lists every label it can return.",
        )


def decision_region(
    classifier: Any,
    sample: Sample,
    seed: np.random.SeedSequence,
    with_geometry: bool = True,
    in_part: bool = False,
) -> Region:
    """Return the regions of a fitted classifier, with its labels at the points of a sample.

    Geometry is trusted only after its labels agree with `predict` on these points and on random points around them.

    Parameters
    ----------
    classifier : object with `predict`
    sample : Sample
        The points that the measure is centred at, with their classes and the format that the classifier takes.
    seed : SeedSequence
        For the random points.
    with_geometry : bool, default True
        False if only the labels at the points are needed; then nothing else is predicted.
    in_part : bool, default False
        Whether the classifier was just trained on part of a sample that was checked as a whole: it may lack some
        classes, and its predictions are not checked again.
    """
    form, points = sample.format, sample.features
    names = _feature_names(classifier, form)
    classes, codes_of_own = _all_classes(classifier, sample.classes, in_part)
    input_format = form if with_geometry else form.unmoved()
    region = Region(classifier, classes, input_format, names, None, codes_of_own, _NOWHERE)
    shape = geometry(classifier) if with_geometry else None
    probes = points if shape is None else np.concatenate([points, _random_points(points, seed)])
    try:
        predicted = region.predict(probes)
    except NotFittedError as error:
        raise NotFittedError(_unfitted_message(classifier)) from error
    if shape is not None:
        extent = np.ptp(points, axis=0)
        rounding = float(np.finfo(form.dtype).eps) * np.abs(points).max(axis=0)
        # Far from 0 the classifier gets rounded points only, so no formula holds for those between them.
        is_coarse = bool((rounding > _COARSE * extent)[extent > 0].any())
        # In single precision rounding decides labels near a boundary.
        rtol = 1e-9 if form.dtype == np.float64 else 1e-4
        differing = np.flatnonzero(codes_of_own[shape.labels(probes)] != predicted)
        if not is_coarse and (len(differing) == 0 or bool(shape.doubtful(probes[differing], rtol).all())):
            return replace(region, geometry=shape, center_labels=predicted[: len(points)])
    if not in_part and (with_geometry or not is_known_function(classifier)):
        _check_is_function(region, probes, predicted)
    return replace(region, center_labels=predicted[: len(points)])


def _check_is_function(region: Region, points: Floats, predicted: Ints) -> None:
    """Raise if the classifier predicts other labels at the same points in another order or in other company."""
    backwards = np.arange(min(len(points), _REPEATS))[::-1]
    n_changed = int((region.predict(points[backwards]) != predicted[backwards]).sum())
    # Sums in single precision depend on the place in the batch, which decides labels at a boundary.
    allowed = 0.0 if region.format.dtype == np.float64 else _CHANGES_ALLOWED
    if n_changed > allowed * len(backwards):
        raise ValueError(
            "predict must be a function of the point; called again on the same points, in another order, this "
            f"{type(region.classifier).__name__} returned other labels. A random classifier has no decision region; "
            "make its predictions deterministic first."
        )
    if is_known_function(region.classifier):
        return
    # Points with similar labels together: a batch of them has other means and other ranks than the whole.
    order = np.argsort(predicted, kind="stable")
    order = order[np.linspace(0, len(order) - 1, min(len(order), _REPEATS)).astype(np.intp)]
    alone = order[np.linspace(0, len(order) - 1, min(len(order), _ALONE)).astype(np.intp)]
    for rows, parts in ((order, _COMPANIES), (alone, len(alone))):
        again = np.concatenate([region.predict(points[part]) for part in np.array_split(rows, parts) if len(part)])
        n_changed = int((again != predicted[rows]).sum())
        if n_changed > _CHANGES_ALLOWED * len(rows):
            raise ValueError(
                "predict must be a function of the point, whatever other points are predicted with it; this "
                f"{type(region.classifier).__name__} changed {n_changed} of {len(rows)} labels when the points were "
                f"predicted {'one by one' if len(rows) == parts else 'in other company'}. Make it use what it learned "
                "in training, not the points it is given: a network must be in evaluation mode."
            )


def _random_points(points: Floats, seed: np.random.SeedSequence) -> Floats:
    """Return points scattered around the data, by about one or three standard deviations of the features."""
    rng = np.random.default_rng(child(seed, PROBES))
    noise = rng.standard_normal((_PROBES, points.shape[1])) * (0.25 * np.ptp(points, axis=0))
    noise[::2] *= 3.0
    return np.asarray(points[rng.integers(len(points), size=_PROBES)] + noise)


def check_predict(classifier: Any) -> None:
    """Raise unless an object has a `predict` method."""
    if isinstance(classifier, type) or not callable(getattr(classifier, "predict", None)):
        raise TypeError(
            f"classifier must be a fitted object with a predict method; got {classifier!r}. "
            "Fit a scikit-learn classifier, or wrap your model in a class with predict(X)."
        )


def _all_classes(classifier: Any, classes: Labels, in_part: bool) -> tuple[Labels, Ints]:
    """Return the classes of the data, then those that only the classifier lists, and the positions of its own in these.

    It must list all classes of the data, unless it was trained on a part of them.
    """
    listed = listed_classes(classifier)
    if listed is None or (listed.dtype == classes.dtype and np.array_equal(listed, classes)):
        return classes, np.arange(len(classes))
    if not in_part:
        remedy = "The classifier was trained without these classes and cannot predict them; was y encoded in training?"
        encode_labels(classes, listed, "labels in y", remedy)
    extra = listed[~np.isin(listed, classes)]
    all_classes = np.concatenate([classes, extra]) if len(extra) else classes
    return all_classes, encode_labels(listed, all_classes, "classes_", "")


def _feature_names(classifier: Any, form: InputFormat) -> tuple[str, ...] | None:
    """Return the column names that the classifier was trained with; raise if its features differ.

    A classifier that does not record its features gets points in the format that the measure was fitted with.
    """
    check_predict(classifier)
    expected = getattr(classifier, "n_features_in_", None)
    if expected is not None and len(form.shape) == 1 and expected != form.shape[0]:
        raise ValueError(
            f"the classifier and the measure must see the same features; the classifier was trained on {expected} "
            f"features, X has {form.shape[0]}. Put the feature selection into the classifier's Pipeline."
        )
    trained = getattr(classifier, "feature_names_in_", None)
    if trained is None:
        return None if expected is not None else form.feature_names
    names = tuple(trained)
    if form.feature_names is not None and form.feature_names != names:
        raise ValueError(
            f"the classifier and the measure must see the same columns in the same order; the classifier was trained "
            f"on {list(names)}, X has {list(form.feature_names)}. Reorder the columns of X."
        )
    return names


def _unfitted_message(classifier: Any) -> str:
    return (
        f"classifier must be fitted; this {type(classifier).__name__} is not. Call its fit(X, y) first: a measure "
        "assesses the trained classifier and never retrains it."
    )
