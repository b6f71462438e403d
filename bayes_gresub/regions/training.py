"""Train rules: clone, seed, weight and fit scikit-learn estimators. Nothing is estimated here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from bayes_gresub.data.arrays import Floats, Labels
from bayes_gresub.data.sample import Sample, read_features, read_sample


def trained(
    rule: Any, X: Any, labels: Labels, weights: Floats | None = None, seed: np.random.SeedSequence | None = None
) -> Any:
    """Return a fitted clone of a rule.

    Parameters
    ----------
    rule : anything that scikit-learn can clone and fit
    X, labels : the training points
    weights : ndarray of shape (n,), optional
        Passed to the last step as `sample_weight`.
    seed : SeedSequence, optional
        For every `random_state` of the rule that is None.
    """
    model = clone(rule)
    if seed is not None and hasattr(model, "get_params"):
        unset = [
            name
            for name, value in model.get_params().items()
            if value is None and name.split("__")[-1] == "random_state"
        ]
        numbers = seed.generate_state(len(unset)) >> 1
        model.set_params(**{name: int(number) for name, number in zip(unset, numbers, strict=True)})
    if weights is None:
        return model.fit(X, labels)
    return model.fit(X, labels, **{weight_argument(rule): weights})


def weight_argument(rule: Any) -> str:
    """Return the name under which `fit` takes weights of the points, or raise if it takes none."""
    prefix, last = _last_part(rule)
    if not has_fit_parameter(last, "sample_weight"):
        raise ValueError(
            f"{type(last).__name__} takes no sample_weight in fit. Use an estimator that does, or leave the weights "
            "out."
        )
    return f"{prefix}sample_weight"


def read_for_rule(rule: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Sample:
    """Return a sample that passes the rows of X to a rule as given: columns of any type keep their types.

    X must be numeric and finite, unless the rule prepares it itself: a Pipeline does, and so does an estimator
    whose scikit-learn tags allow missing values, or sparse matrices.
    """
    is_numeric = True
    try:
        read_features(X)
    except (TypeError, ValueError):
        is_numeric = False
        if not hasattr(X, "__len__") and not hasattr(X, "shape"):
            raise
        if not _prepares(rule, sparse.issparse(X)):
            raise
    sample = read_sample(X, y, sample_weight, as_rows=True)
    return sample if is_numeric else replace(sample, format=replace(sample.format, is_numeric=False))


def check_rule(rule: Any) -> None:
    """Raise unless a rule can be cloned and refitted."""
    can_fit = not isinstance(rule, type) and callable(getattr(rule, "fit", None))
    if not can_fit or not (hasattr(rule, "predict") or shows_predict_later(rule)):
        raise TypeError(
            "rule must be an estimator with fit and predict; got "
            f"{rule if isinstance(rule, type) else 'an object of type ' + type(rule).__name__}. Pass an unfitted "
            "scikit-learn classifier or Pipeline, in the order (rule, X, y); resampling refits it."
        )
    if isinstance(_last_part(rule)[1], FrozenEstimator):
        raise TypeError(
            "rule must learn from the points it is given; a FrozenEstimator does not, so every split would test the "
            "same classifier on points it was trained on. Pass the estimator inside it, or use a measure."
        )
    try:
        clone(rule)
    except (TypeError, RuntimeError, AttributeError) as error:
        raise TypeError(
            f"rule must be something that scikit-learn can clone; got {type(rule).__name__} ({error}). Give it "
            "get_params, or use a measure, which refits nothing."
        ) from error


def shows_predict_later(rule: Any) -> bool:
    """Return whether a rule has no `predict` now but will once it is fitted, as a StackingClassifier does."""
    if isinstance(rule, type) or hasattr(rule, "predict"):
        return False
    if getattr(rule, "_estimator_type", None) == "classifier":
        return True
    if hasattr(rule, "__sklearn_tags__"):
        # A Pipeline has the tags of its last step.
        return bool(is_classifier(rule))
    return hasattr(type(rule), "predict")


def is_fitted(classifier: Any, points: Any) -> bool:
    """Return whether a classifier is trained: it is marked as fitted, or predicts at these points."""
    if isinstance(classifier, FrozenEstimator) or not hasattr(classifier, "get_params"):
        return True
    try:
        check_is_fitted(classifier)
    except (NotFittedError, TypeError, AttributeError):
        # Not every classifier marks its fit as scikit-learn's do.
        try:
            classifier.predict(points)
        except Exception:
            return False
    return True


def _last_part(rule: Any) -> tuple[str, Any]:
    """Return the prefix of `fit` arguments of the last estimator inside Pipelines and searches, and that estimator."""
    prefix, last = "", rule
    while True:
        if isinstance(last, Pipeline):
            prefix, last = f"{prefix}{last.steps[-1][0]}__", last.steps[-1][1]
        elif hasattr(last, "param_grid") or hasattr(last, "param_distributions"):
            last = last.estimator
        else:
            return prefix, last


def _prepares(rule: Any, is_sparse: bool) -> bool:
    while hasattr(rule, "param_grid") or hasattr(rule, "param_distributions"):
        rule = rule.estimator
    if isinstance(rule, Pipeline):
        return len(rule.steps) > 1
    tags = getattr(rule, "__sklearn_tags__", None)
    if tags is None:
        return False
    input_tags = get_tags(rule).input_tags
    return bool(input_tags.sparse if is_sparse else input_tags.allow_nan)
