"""Model and feature selection by a measure: a scorer and a splitter for scikit-learn, one fit per candidate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import indexable

from bayes_gresub.data.arrays import Ints
from bayes_gresub.data.seeds import Seed
from bayes_gresub.measures.measure import Measure
from bayes_gresub.registry import make_estimator

_POINTS = 32
"""Sampled points about each training point, for ranking."""


class WholeSet:
    """A splitter that yields the whole training set once, to train on and to score on.

    If a measure scores it, a candidate of GridSearchCV or SequentialFeatureSelector costs one fit instead of ten.
    With an ordinary scorer the score would be plain resubstitution.

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.feature_selection import SequentialFeatureSelector
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = SequentialFeatureSelector(
    ...     GaussianNB(), n_features_to_select=2, scoring=bg.scorer("bolstered", random_state=0), cv=bg.WholeSet()
    ... )
    >>> selector.fit(X, y).get_support().tolist()
    [False, False, True, True]
    """

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Ints, Ints]]:
        """Yield all rows twice: to train on, to score on."""
        (X,) = indexable(X)
        rows = np.arange(X.shape[0] if hasattr(X, "shape") else len(X))
        yield rows, rows

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return 1."""
        return 1

    def __repr__(self) -> str:
        return "WholeSet()"


class MeasureScorer:
    """A scikit-learn scorer: minus the error that a measure fitted to the data gives to an estimator trained on them.

    Made by `scorer`.
    """

    def __init__(self, measure: Measure) -> None:
        self.measure = measure

    def __call__(self, estimator: Any, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the error."""
        measure: Measure = clone(self.measure).fit(X, y, sample_weight=sample_weight)
        return -measure.error(estimator).value

    def __repr__(self) -> str:
        return f"MeasureScorer({self.measure!r})"


def scorer(estimator: str | Measure, random_state: Seed = None, **parameters: Any) -> MeasureScorer:
    """Return a scikit-learn scorer that ranks candidates by a measure's error, to go with `WholeSet`.

    The score is minus the estimated error, so greater is better. Use it to choose, not to report: the winner's score is
    the best of many, hence too good. Estimate the winner's error by cross-validating the whole search, or on points set
    aside. With ordinary folds instead of `WholeSet` the measure would be fitted to each test fold, and the score would
    be an error about those few points.

    Parameters
    ----------
    estimator : str or Measure
        A registered measure's name, or a measure.
    random_state : int, SeedSequence or None
        For a named measure. An int gives all candidates the same random points, so they differ less by chance.
    **parameters
        Of a named measure. If it samples, `n_points` is 32 unless given: ranking needs fewer points than estimating.

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GridSearchCV(SVC(), {"C": [0.001, 1.0]}, scoring=bg.scorer("3nn-pp"), cv=bg.WholeSet())
    >>> search.fit(X, y).best_params_
    {'C': 1.0}
    """
    measure = estimator if not isinstance(estimator, str) else _make_named(estimator, random_state, parameters)
    if measure is estimator and (parameters or random_state is not None):
        raise ValueError("random_state and parameters are for a measure given by name; set them on the measure itself.")
    if isinstance(measure, type) or not isinstance(measure, Measure):
        raise TypeError(
            f"estimator must be a measure, which refits nothing, or the name of one; got {estimator!r}. To select by "
            "cross-validation, give cv=10 to scikit-learn's own search."
        )
    if measure.sampling == "separate" and measure.class_prior is None:
        raise ValueError("a score needs an overall error; got sampling='separate' without class_prior. Give it.")
    return MeasureScorer(measure)


def _make_named(name: str, random_state: Seed, parameters: dict[str, Any]) -> Any:
    measure = make_estimator(name)
    defaults = {"n_points": _POINTS} if "n_points" in measure.get_params(deep=False) else {}
    return measure.set_params(**{**defaults, "random_state": random_state, **parameters})
