"""The geometry of fitted scikit-learn classifiers, read off their attributes; region.py checks it against predict."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logit
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, NuSVC
from sklearn.tree import DecisionTreeClassifier

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.laws.halfspace import HalfSpace
from bayes_gresub.regions.affine import AffineMap, affine_map
from bayes_gresub.regions.neighbors import NeighborVotes
from bayes_gresub.regions.shapes import Geometry, KernelMachine, Neighbors, Tree

_KNOWN = (DecisionTreeClassifier, SVC, NuSVC, KNeighborsClassifier, NearestCentroid, LinearClassifierMixin)

_KNOWN_NAMES = frozenset(
    {
        "BernoulliNB",
        "CategoricalNB",
        "ComplementNB",
        "ExtraTreesClassifier",
        "GaussianNB",
        "GaussianProcessClassifier",
        "GradientBoostingClassifier",
        "HistGradientBoostingClassifier",
        "MLPClassifier",
        "MultinomialNB",
        "QuadraticDiscriminantAnalysis",
        "RadiusNeighborsClassifier",
        "RandomForestClassifier",
    }
)
"""More classifiers of scikit-learn; by name, since importing their modules takes longer than an estimate."""

MAX_DENSE_NEIGHBORS = 5000
"""Training points up to which a matrix product is faster than the classifier's own neighbour search."""


def geometry(classifier: Any) -> Geometry | None:
    """Return the geometry of a fitted classifier over its own `classes_`, or None if only `predict` is known."""
    if not type(classifier).__module__.startswith("sklearn.") or "predict" in vars(classifier):
        # A subclass may predict differently at points that no check happens to try.
        return None
    if isinstance(classifier, FrozenEstimator):
        return geometry(classifier.estimator)
    if isinstance(classifier, GridSearchCV | RandomizedSearchCV):
        return geometry(classifier.best_estimator_) if hasattr(classifier, "best_estimator_") else None
    if isinstance(classifier, Pipeline):
        return _behind_pipeline(classifier)
    if isinstance(classifier, FixedThresholdClassifier | TunedThresholdClassifierCV):
        return _with_threshold(classifier)
    if listed_classes(classifier) is None:
        return None
    if isinstance(classifier, DecisionTreeClassifier):
        return _tree(classifier)
    if isinstance(classifier, SVC | NuSVC):
        return (
            _linear_svc(classifier)
            if len(classifier.classes_) == 2 and classifier.kernel == "linear"
            else _svc(classifier)
        )
    if isinstance(classifier, KNeighborsClassifier):
        return _neighbors(classifier)
    if isinstance(classifier, NearestCentroid):
        return _centroids(classifier)
    if isinstance(classifier, LinearClassifierMixin) and hasattr(classifier, "coef_") and len(classifier.classes_) == 2:
        return _linear(classifier)
    return None


def is_known_function(classifier: Any) -> bool:
    """Return whether a classifier is of a kind whose predictions are known to depend on the point alone."""
    if not type(classifier).__module__.startswith("sklearn.") or "predict" in vars(classifier):
        return False
    if isinstance(classifier, _KNOWN) or type(classifier).__name__ in _KNOWN_NAMES:
        return True
    if isinstance(classifier, Pipeline):
        steps = [step for _, step in classifier.steps[:-1] if step not in (None, "passthrough")]
        return all(affine_map(step) is not None for step in steps) and is_known_function(classifier.steps[-1][1])
    if isinstance(classifier, FixedThresholdClassifier | TunedThresholdClassifierCV):
        return is_known_function(classifier.estimator_)
    inside = _unwrap(classifier)
    return inside is not None and is_known_function(inside)


def listed_classes(classifier: Any) -> NDArray[Any] | None:
    """Return the classes that the classifier lists, or None if it lists none or has several outputs."""
    classes = getattr(classifier, "classes_", None)
    if classes is None or (isinstance(classes, list | tuple) and any(np.ndim(label) for label in classes)):
        return None
    classes = np.asarray(classes)
    return classes if classes.ndim == 1 else None


def _behind_pipeline(pipeline: Pipeline) -> Geometry | None:
    result = geometry(pipeline.steps[-1][1])
    for _, step in reversed(pipeline.steps[:-1]):
        if result is None or step is None or step == "passthrough":
            continue
        before = affine_map(step)
        result = None if before is None else result.after(before)
    return result


def _with_threshold(classifier: Any) -> Geometry | None:
    inner = geometry(classifier.estimator_)
    model = classifier.estimator_
    while (inside := _unwrap(model)) is not None:
        model = inside
    # With equal priors nearest centroids predict by plain distances, but their decision function standardises.
    other_scores = isinstance(model, NearestCentroid) and np.allclose(model.class_prior_, 0.5)
    if not isinstance(inner, HalfSpace) or other_scores:
        return None
    logistic = isinstance(model, LogisticRegression | LinearDiscriminantAnalysis) or (
        isinstance(model, SGDClassifier) and model.loss == "log_loss"
    )
    method = classifier.response_method
    if method == "auto":
        method = "predict_proba" if hasattr(model, "predict_proba") else "decision_function"
    threshold: Any = getattr(classifier, "best_threshold_", getattr(classifier, "threshold", None))
    if threshold == "auto":
        threshold = 0.5 if method == "predict_proba" else 0.0
    if method == "predict_proba":
        if not logistic:
            return None
        threshold = float(logit(np.clip(threshold, 0.0, 1.0)))
    flipped = getattr(classifier, "pos_label", None) == classifier.classes_[0]
    return replace(inner, offset=inner.offset + threshold if flipped else inner.offset - threshold)


def _unwrap(model: Any) -> Any:
    """Return the model that a wrapper passes points on to, or None."""
    if isinstance(model, Pipeline):
        return model.steps[-1][1]
    if isinstance(model, FrozenEstimator):
        return model.estimator
    if isinstance(model, GridSearchCV | RandomizedSearchCV):
        return getattr(model, "best_estimator_", None)
    return None


def _linear(classifier: Any) -> HalfSpace | None:
    if sparse.issparse(classifier.coef_):
        return None
    normal = np.asarray(classifier.coef_, dtype=float)
    if normal.size != normal.shape[-1]:
        return None
    return HalfSpace(normal.ravel(), float(np.asarray(classifier.intercept_, dtype=float).ravel()[0]))


def _linear_svc(classifier: Any) -> HalfSpace | None:
    if sparse.issparse(classifier.support_vectors_):
        return None
    normal = np.asarray(classifier.dual_coef_ @ classifier.support_vectors_, dtype=float).ravel()
    return HalfSpace(normal, float(classifier.intercept_[0]))


def _centroids(classifier: NearestCentroid) -> HalfSpace | None:
    if len(classifier.classes_) != 2 or classifier.metric != "euclidean":
        return None
    low, high = np.asarray(classifier.centroids_, dtype=float)
    prior = np.asarray(getattr(classifier, "class_prior_", [0.5, 0.5]))
    if np.allclose(prior, 0.5):
        return HalfSpace(2 * (high - low), float(low @ low - high @ high))
    deviation = np.asarray(classifier.within_class_std_dev_)
    precision = np.where(deviation > 0, deviation, 1.0) ** -2.0
    offset = (low * precision) @ low - (high * precision) @ high + 2 * np.log(prior[1] / prior[0])
    return HalfSpace(2 * precision * (high - low), float(offset))


def _tree(classifier: DecisionTreeClassifier) -> Tree | None:
    tree = classifier.tree_
    if tree.n_outputs != 1:
        return None
    # scikit-learn compares float32(x) with the threshold: the true cutoff is halfway between two float32 numbers.
    below = tree.threshold.astype(np.float32)
    below = np.where(below > tree.threshold, np.nextafter(below, np.float32(-np.inf)), below)
    above = np.nextafter(below, np.float32(np.inf))
    cutoff = 0.5 * (below.astype(float) + above.astype(float))
    return Tree(
        np.asarray(tree.feature, dtype=np.intp),
        cutoff,
        np.asarray(tree.children_left, dtype=np.intp),
        np.asarray(tree.children_right, dtype=np.intp),
        tree.value[:, 0, :].argmax(axis=1),
        len(classifier.classes_),
        AffineMap.identity(classifier.n_features_in_),
    )


def _svc(classifier: Any) -> KernelMachine | None:
    gamma = getattr(classifier, "_gamma", None)
    if sparse.issparse(classifier.support_vectors_):
        return None
    if classifier.kernel not in ("linear", "rbf", "poly", "sigmoid") or classifier.break_ties or gamma is None:
        return None
    vectors = np.asarray(classifier.support_vectors_, dtype=float)
    c = len(classifier.classes_)
    owner = np.repeat(np.arange(c), classifier.n_support_)
    dual = np.asarray(classifier.dual_coef_, dtype=float)
    pairs = [(i, j) for i in range(c) for j in range(i + 1, c)]
    weights = np.zeros((len(vectors), len(pairs)))
    for p, (i, j) in enumerate(pairs):
        weights[owner == i, p] = dual[j - 1, owner == i]
        weights[owner == j, p] = dual[i, owner == j]
    if c == 2:
        # For two classes scikit-learn flips the sign: positive means the second class.
        pairs = [(1, 0)]
    return KernelMachine(
        classifier.kernel,
        float(gamma),
        int(classifier.degree),
        float(classifier.coef0),
        vectors,
        weights,
        np.asarray(classifier.intercept_, dtype=float),
        np.array(pairs, dtype=np.intp),
        c,
        AffineMap.identity(vectors.shape[1]),
    )


def _neighbors(classifier: KNeighborsClassifier) -> Neighbors | None:
    points, codes = getattr(classifier, "_fit_X", None), np.asarray(getattr(classifier, "_y", 0), dtype=np.intp)
    euclidean = classifier.effective_metric_ == "euclidean"
    if classifier.weights not in (None, "uniform") or not euclidean or points is None or codes.ndim != 1:
        return None
    if not isinstance(points, np.ndarray) or len(points) > MAX_DENSE_NEIGHBORS or _has_unlike_twins(points, codes):
        return None
    votes = NeighborVotes(points.astype(float), codes, len(classifier.classes_), single=True)
    return Neighbors(votes, classifier.n_neighbors, AffineMap.identity(points.shape[1]))


def _has_unlike_twins(points: Floats, codes: Ints) -> bool:
    """Return whether equal rows have different labels: which of them counts is up to the classifier's own search."""
    # Rows that were equal before a step of a Pipeline may differ by rounding after it; adding 0 turns -0 into 0.
    digits = 10 if points.dtype == np.float64 else 5
    rows = np.round(points.astype(float) / (float(np.abs(points).max()) or 1.0), digits) + 0.0
    labels = dict(zip(map(bytes, rows), codes.tolist(), strict=True))
    return any(labels[bytes(row)] != code for row, code in zip(rows, codes.tolist(), strict=True))
