"""The geometry of fitted scikit-learn classifiers: linear, tree, kernel machine, neighbours. Checked by regions.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
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

from bayes_gresub.classifiers.affine import AffineMap, affine_map
from bayes_gresub.classifiers.neighbors import CHUNK_ELEMENTS, MIN_ROWS, NeighborVotes
from bayes_gresub.components import Floats, Ints

MAX_DENSE_NEIGHBORS = 5000
"""Training points up to which a matrix product beats the classifier's own neighbour search."""


@dataclass(frozen=True, eq=False)
class Linear:
    """Class 1 where a'x + b > 0, class 0 elsewhere."""

    normal: Floats
    offset: float

    def scores(self, points: Floats) -> Floats:
        """Return a'x + b."""
        return points @ self.normal + self.offset

    def labels(self, points: Floats) -> Ints:
        """Return 0 or 1 per point."""
        return (self.scores(points) > 0).astype(np.intp)

    def doubtful(self, points: Floats, rtol: float) -> NDArray[np.bool_]:
        """Return where rounding decides the label."""
        size = np.abs(points) @ np.abs(self.normal) + np.abs(self.offset)
        return np.asarray(np.abs(self.scores(points)) <= rtol * size)

    def after(self, step: AffineMap) -> Linear:
        """Return the geometry in the space before `step`."""
        return Linear(step.pull_back(self.normal), float(self.offset + self.normal @ step.offset))


@dataclass(frozen=True, eq=False)
class Tree:
    """A binary tree of axis-parallel splits; at an inner node points with feature <= cutoff go left."""

    feature: Ints
    cutoff: Floats
    left: Ints
    right: Ints
    leaf_class: Ints
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
        """Return nowhere: trees compare, they do not add."""
        return np.zeros(len(points), dtype=bool)

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
        """Return the class code with the most votes, ties to the lowest."""
        step = max(MIN_ROWS, CHUNK_ELEMENTS // len(self.vectors))
        quick, sure = self._decider(np.float32), self._decider(np.float64)
        # Single precision is twice as quick; the few decisions near 0 are made again in double.
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

    def after(self, step: AffineMap) -> KernelMachine:
        """Return the geometry in the space before `step`."""
        return replace(self, before=step.then(self.before))

    def _sizes(self) -> Floats:
        return np.abs(self.weights).sum(axis=0) + np.abs(self.intercept)

    def _decider(self, dtype: Any) -> Callable[[Floats], Floats]:
        """Return a function from points to decision values, one column per pair of classes."""
        if self.kernel != "rbf":
            # Without bound, so that single precision could lose more than the margin allows.
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
    """The class with most of the k nearest points, ties to the lowest."""

    votes: NeighborVotes
    k: int
    before: AffineMap

    def labels(self, points: Floats) -> Ints:
        """Return the winning class code."""
        return self.votes(self.before(points), self.k).argmax(axis=1)

    def doubtful(self, points: Floats, rtol: float) -> NDArray[np.bool_]:
        """Return nowhere: a disagreement over ties means that `predict` must be asked."""
        return np.zeros(len(points), dtype=bool)

    def after(self, step: AffineMap) -> Neighbors:
        """Return the geometry in the space before `step`."""
        return replace(self, before=step.then(self.before))


Geometry = Linear | Tree | KernelMachine | Neighbors


def geometry(classifier: Any) -> Geometry | None:
    """Return the geometry of a fitted classifier over its own `classes_`, or None where only `predict` is known."""
    if not type(classifier).__module__.startswith("sklearn.") or "predict" in vars(classifier):
        # A subclass may predict in its own way on points that no check happens to try.
        return None
    if isinstance(classifier, FrozenEstimator):
        return geometry(classifier.estimator)
    if isinstance(classifier, GridSearchCV | RandomizedSearchCV):
        return geometry(classifier.best_estimator_) if hasattr(classifier, "best_estimator_") else None
    if isinstance(classifier, Pipeline):
        return _behind_pipeline(classifier)
    if isinstance(classifier, FixedThresholdClassifier | TunedThresholdClassifierCV):
        return _with_threshold(classifier)
    if own_classes(classifier) is None:
        return None
    if isinstance(classifier, DecisionTreeClassifier):
        return _tree(classifier)
    if isinstance(classifier, SVC | NuSVC):
        return _linear_svc(classifier) if _is_binary(classifier) and classifier.kernel == "linear" else _svc(classifier)
    if isinstance(classifier, KNeighborsClassifier):
        return _neighbors(classifier)
    if isinstance(classifier, NearestCentroid):
        return _centroids(classifier)
    if isinstance(classifier, LinearClassifierMixin) and hasattr(classifier, "coef_") and _is_binary(classifier):
        return _linear(classifier)
    return None


def own_classes(classifier: Any) -> NDArray[Any] | None:
    """Return the classes that the classifier lists; None where it does not, or has several outputs."""
    own = getattr(classifier, "classes_", None)
    if own is None or (isinstance(own, list | tuple) and any(np.ndim(label) for label in own)):
        return None
    own = np.asarray(own)
    return own if own.ndim == 1 else None


def _is_binary(classifier: Any) -> bool:
    return len(classifier.classes_) == 2


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
    while (inside := _wrapped(model)) is not None:
        model = inside
    # With equal priors nearest centroids predict by plain distances, but their decision function standardises.
    other_scores = isinstance(model, NearestCentroid) and np.allclose(model.class_prior_, 0.5)
    if not isinstance(inner, Linear) or other_scores:
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


def _wrapped(model: Any) -> Any:
    """Return the model that a wrapper passes points on to, or None."""
    if isinstance(model, Pipeline):
        return model.steps[-1][1]
    if isinstance(model, FrozenEstimator):
        return model.estimator
    if isinstance(model, GridSearchCV | RandomizedSearchCV):
        return model.best_estimator_
    return None


def _linear(classifier: Any) -> Linear | None:
    if sparse.issparse(classifier.coef_):
        return None
    normal = np.asarray(classifier.coef_, dtype=float)
    if normal.size != normal.shape[-1]:
        return None
    return Linear(normal.ravel(), float(np.asarray(classifier.intercept_, dtype=float).ravel()[0]))


def _linear_svc(classifier: Any) -> Linear | None:
    if sparse.issparse(classifier.support_vectors_):
        return None
    normal = np.asarray(classifier.dual_coef_ @ classifier.support_vectors_, dtype=float).ravel()
    return Linear(normal, float(classifier.intercept_[0]))


def _centroids(classifier: NearestCentroid) -> Linear | None:
    if not _is_binary(classifier) or classifier.metric != "euclidean":
        return None
    low, high = np.asarray(classifier.centroids_, dtype=float)
    prior = np.asarray(getattr(classifier, "class_prior_", [0.5, 0.5]))
    if np.allclose(prior, 0.5):
        return Linear(2 * (high - low), float(low @ low - high @ high))
    deviation = np.asarray(classifier.within_class_std_dev_)
    precision = np.where(deviation > 0, deviation, 1.0) ** -2.0
    offset = (low * precision) @ low - (high * precision) @ high + 2 * np.log(prior[1] / prior[0])
    return Linear(2 * precision * (high - low), float(offset))


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
        # For two classes scikit-learn turns the sign round: positive means the second class.
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
    points, codes = getattr(classifier, "_fit_X", None), getattr(classifier, "_y", 0)
    euclidean = classifier.effective_metric_ == "euclidean"
    if classifier.weights not in (None, "uniform") or not euclidean or points is None or np.ndim(codes) != 1:
        return None
    if not isinstance(points, np.ndarray) or len(points) > MAX_DENSE_NEIGHBORS:
        return None
    votes = NeighborVotes(points.astype(float), np.asarray(codes, dtype=np.intp), len(classifier.classes_), single=True)
    return Neighbors(votes, classifier.n_neighbors, AffineMap.identity(points.shape[1]))
