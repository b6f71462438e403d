"""Labels of every row by the classifier trained without it, where a formula gives them: which rules have one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from bayes_gresub.data.arrays import Floats
from bayes_gresub.data.sample import read_features, read_labels
from bayes_gresub.data.seeds import Seed, seed_sequence
from bayes_gresub.estimate.reasons import Reason
from bayes_gresub.regions.training import trained
from bayes_gresub.resampling.shortcuts.left_out_labels import LeftOut
from bayes_gresub.resampling.shortcuts.refusals import (
    ClassLeftEmpty,
    JudgedOutOfBag,
    NeverOutOfBag,
    NoShortcutError,
    RuleWithoutShortcut,
    StepsWithoutShortcut,
)
from bayes_gresub.resampling.shortcuts.training_rows import TrainingRows


def left_out(
    classifier: Any,
    X: ArrayLike,
    y: ArrayLike,
    groups: ArrayLike | None = None,
    *,
    approximate: bool = False,
    random_state: Seed = None,
) -> LeftOut:
    r"""Return the prediction at every row by the classifier trained without it, with few refits or none.

    .. math:: \psi_{-B(i)}(X_i), \qquad B(i) = \text{the group of row } i

    Parameters
    ----------
    classifier : rule or fitted classifier
        If it is fitted, it must have been trained on exactly these rows in this order; nothing is fitted to all rows
        then. A rule alone, or behind a StandardScaler in a Pipeline.
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
    groups : array-like of shape (n,), optional
        Rows of one group are left out together; by default every row alone.
    approximate : bool, default False
        Refit nothing: the span rule for support vector machines, instead of refits on the kernel; directions dropped
        for linear discriminants, instead of refits where the scatter is nearly singular; votes shared by neighbours
        that are tied, and the search of the trained rule for more than 2,000; and no shortcut where only refits would
        do.
    random_state : int, SeedSequence, Generator or None
        For the fit to all rows, if the classifier is not fitted.

    Raises
    ------
    NoShortcutError
        With the reason; see `has_shortcut`.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = [[0.0], [1.0], [1.8], [3.0]], ["a", "a", "b", "b"]
    >>> left_out(KNeighborsClassifier(1), X, y).codes.tolist()
    [0, 1, 0, 1]
    """
    reason = has_shortcut(classifier)
    if reason is not None:
        raise NoShortcutError(reason)
    features, _ = read_features(X)
    classes, codes = np.unique(read_labels(y, len(features)), return_inverse=True)
    block = np.arange(len(codes)) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    rows = TrainingRows(features, codes.astype(np.intp), classes, block.astype(np.intp))
    return leave_out_rows(classifier, rows, approximate, seed_sequence(random_state))


def has_shortcut(classifier: Any) -> Reason | None:
    """Return None if the rule has a leave-one-out without refits, else why it has none; nothing is computed.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> has_shortcut(KNeighborsClassifier()), str(has_shortcut(DecisionTreeClassifier()))
    (None, 'DecisionTreeClassifier has no shortcut')
    """
    parts = _split(classifier)
    if isinstance(parts, Reason):
        return parts
    scaler, rule = parts
    family = _families().get(type(rule))
    return RuleWithoutShortcut(type(rule).__name__) if family is None else family.refuse(rule, scaler)


def leave_out_rows(classifier: Any, rows: TrainingRows, approximate: bool, seed: np.random.SeedSequence) -> LeftOut:
    """Return the predictions at rows that were read; the rule has a shortcut."""
    parts = _split(classifier)
    if isinstance(parts, Reason):
        raise NoShortcutError(parts)
    scaler, rule = parts
    if (rows.kept == 0).any():
        empty = int(np.flatnonzero((rows.kept == 0).any(axis=0))[0])
        raise NoShortcutError(ClassLeftEmpty(repr(rows.classes.tolist()[empty])))
    family = _families()[type(rule)]
    if family.from_rows is not None and not (approximate and family.is_faster_from_fit(len(rows.codes))):
        # A formula from rows needs no fit; but only scikit-learn's own fit knows all settings that it refuses.
        _fitted(classifier, rows, seed)
        return family.from_rows(rule, scaler, None if approximate else clone(classifier), rows)
    assert family.from_fit is not None, "a family has a formula"
    fitted, points, n_fits = fitted_parts(classifier, rows, seed)
    result = family.from_fit(fitted, points, rows)
    return replace(result, n_fits=result.n_fits + n_fits)


def fitted_parts(classifier: Any, rows: TrainingRows, seed: np.random.SeedSequence) -> tuple[Any, Floats, int]:
    """Return the last step trained on all rows, their features as it sees them, and how many fits that took."""
    fitted, n_fits = _fitted(classifier, rows, seed)
    if not isinstance(fitted, Pipeline):
        return fitted, rows.features, n_fits
    points = rows.features if len(fitted.steps) == 1 else fitted[:-1].transform(_named(fitted, rows.features))
    return fitted[-1], np.asarray(points), n_fits


def _named(fitted: Any, features: Floats) -> Any:
    """Return features as a DataFrame if the classifier was trained on named columns."""
    names = getattr(fitted, "feature_names_in_", None)
    if names is None:
        return features
    import pandas as pd

    return pd.DataFrame(features, columns=names)


def check_no_ensemble(classifier: Any) -> None:
    """Raise if a rule with a shortcut is an ensemble, which leaves rows out of bags instead."""
    if _has_bags(classifier):
        raise NoShortcutError(JudgedOutOfBag(_last_name(classifier)))


def check_out_of_bag(classifier: Any) -> None:
    """Raise unless a rule is an ensemble that leaves rows out of the bags of its members."""
    reason = has_shortcut(classifier)
    if reason is None and not _has_bags(classifier):
        reason = NeverOutOfBag(_last_name(classifier))
    if reason is not None:
        raise ValueError(
            "OutOfBag needs a random forest, extra trees or a bag of classifiers with bootstrap=True, alone or behind "
            f"a StandardScaler; {reason}. Use CrossValidation() for other rules."
        )


def _has_bags(classifier: Any) -> bool:
    from bayes_gresub.resampling.shortcuts.out_of_bag_votes import leave_out_bags

    parts = _split(classifier)
    family = None if isinstance(parts, Reason) else _families().get(type(parts[1]))
    return family is not None and family.from_fit is leave_out_bags


def _last_name(classifier: Any) -> str:
    return type(classifier[-1] if isinstance(classifier, Pipeline) else classifier).__name__


@dataclass(frozen=True)
class Family:
    """The formulas of one type of rule.

    Attributes
    ----------
    refuse : callable
        Takes the rule and the scaler in front, and returns why there is no formula, or None.
    from_rows : callable or None
        Takes the rule, the scaler in front, both as one rule (None if nothing may be refitted), and the rows.
    from_fit : callable or None
        Takes the rule trained on all rows, their features as it sees them, and the rows.
    exact_up_to : int
        Rows up to which `from_rows` is fast enough even if an approximation will do.
    """

    refuse: Callable[[Any, Any], Reason | None]
    from_rows: Callable[[Any, Any, Any, TrainingRows], LeftOut] | None = None
    from_fit: Callable[[Any, Floats, TrainingRows], LeftOut] | None = None
    exact_up_to: int = 0

    def is_faster_from_fit(self, n_rows: int) -> bool:
        """Return whether so many rows are left out faster by the formula that starts from the fit to all rows."""
        return self.from_fit is not None and n_rows > self.exact_up_to


@lru_cache(maxsize=1)
def _families() -> dict[type, Family]:
    """Return the formulas by the exact type of rule; a subclass may do anything else."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
    from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression, RidgeClassifier
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
    from sklearn.svm import SVC, LinearSVC

    from bayes_gresub.posteriors import GaussianProcess
    from bayes_gresub.resampling.shortcuts.cavities import leave_out_gaussian_process, refuse_gaussian_process
    from bayes_gresub.resampling.shortcuts.centroids import leave_out_centroids, refuse_centroids
    from bayes_gresub.resampling.shortcuts.discriminants import (
        leave_out_linear,
        leave_out_linear_by_projection,
        leave_out_quadratic,
        leave_out_quadratic_without_refits,
        refuse_discriminant,
    )
    from bayes_gresub.resampling.shortcuts.logistic import (
        leave_out_linear_machine,
        leave_out_logistic,
        refuse_linear_machine,
        refuse_logistic,
    )
    from bayes_gresub.resampling.shortcuts.naive_bayes import leave_out_naive_bayes, refuse_naive_bayes
    from bayes_gresub.resampling.shortcuts.neighbors_votes import (
        leave_out_neighbors,
        leave_out_neighbors_by_search,
        refuse_neighbors,
    )
    from bayes_gresub.resampling.shortcuts.out_of_bag_votes import leave_out_bags, refuse_bags
    from bayes_gresub.resampling.shortcuts.ridge import leave_out_ridge, refuse_ridge
    from bayes_gresub.resampling.shortcuts.span import leave_out_by_span
    from bayes_gresub.resampling.shortcuts.support_vectors import leave_out_support_vectors, refuse_support_vectors

    bags = Family(refuse_bags, None, leave_out_bags)
    return {
        KNeighborsClassifier: Family(refuse_neighbors, leave_out_neighbors, leave_out_neighbors_by_search, 2000),
        NearestCentroid: Family(refuse_centroids, leave_out_centroids),
        GaussianNB: Family(refuse_naive_bayes, leave_out_naive_bayes),
        LinearDiscriminantAnalysis: Family(refuse_discriminant, leave_out_linear, leave_out_linear_by_projection),
        QuadraticDiscriminantAnalysis: Family(
            refuse_discriminant, leave_out_quadratic, leave_out_quadratic_without_refits
        ),
        RidgeClassifier: Family(refuse_ridge, leave_out_ridge),
        SVC: Family(refuse_support_vectors, leave_out_support_vectors, leave_out_by_span),
        LogisticRegression: Family(refuse_logistic, None, leave_out_logistic),
        LinearSVC: Family(refuse_linear_machine, None, leave_out_linear_machine),
        GaussianProcess: Family(refuse_gaussian_process, None, leave_out_gaussian_process),
        RandomForestClassifier: bags,
        ExtraTreesClassifier: bags,
        BaggingClassifier: bags,
    }


def _split(classifier: Any) -> tuple[Any, Any] | Reason:
    """Return the scaler in front, if any, and the rule; or why the Pipeline has no shortcut."""
    if not isinstance(classifier, Pipeline):
        return None, classifier
    steps = [step for _, step in classifier.steps if step is not None and step != "passthrough"]
    if len(steps) == 1 and len(classifier.steps) == 1:
        return None, steps[0]
    if len(steps) == 2 and len(classifier.steps) == 2 and type(steps[0]) is StandardScaler:
        return steps[0], steps[1]
    return StepsWithoutShortcut(", ".join(type(step).__name__ for step in steps))


def _fitted(classifier: Any, rows: TrainingRows, seed: np.random.SeedSequence) -> tuple[Any, int]:
    """Return the classifier trained on all rows, and how many fits that took."""
    try:
        check_is_fitted(classifier)
    except NotFittedError:
        return trained(classifier, rows.features, rows.labels, None, seed), 1
    same = len(classifier.classes_) == rows.n_classes and (classifier.classes_ == rows.classes).all()
    if not same or classifier.n_features_in_ != rows.features.shape[1]:
        raise ValueError(
            f"a fitted classifier must have been trained on the rows given; got one for classes "
            f"{classifier.classes_.tolist()!r} and {classifier.n_features_in_} features, and rows of classes "
            f"{rows.classes.tolist()!r} and {rows.features.shape[1]} features. Pass an unfitted rule instead."
        )
    return classifier, 0
