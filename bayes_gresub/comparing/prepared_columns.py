"""Pipelines whose first steps make X numeric: which estimators judge the later steps, and at which columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scipy import sparse
from sklearn.pipeline import Pipeline

from bayes_gresub.data.sample import read_features
from bayes_gresub.measures import Empirical
from bayes_gresub.measures.measure import Measure
from bayes_gresub.resampling import TestSet

_MOST_COLUMNS = 1000


@dataclass(frozen=True, eq=False)
class View:
    """A rule, the classifier trained by it, and the points in the form that both take.

    `preparation` are the fitted steps that turn rows as given into such points; None if there are none.
    """

    rule: Any
    classifier: Any
    X: Any
    preparation: Any = None

    def prepare(self, X: Any) -> Any:
        """Return other rows in the same form."""
        return X if self.preparation is None else _dense(self.preparation.transform(X))


def skip_preparation(whole: View) -> View | None:
    """Return the steps of a Pipeline after those that make X numeric, at the columns that those make of X.

    None if X is numeric already, or if no first steps make it numeric.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = pd.DataFrame({"colour": ["red", "blue", "red", "green"]}), [0, 1, 0, 1]
    >>> rule = make_pipeline(OneHotEncoder(sparse_output=False), DecisionTreeClassifier())
    >>> skip_preparation(View(rule, rule.fit(X, y), X)).X.shape
    (4, 3)
    """
    if _is_numeric(whole.X) or not isinstance(whole.classifier, Pipeline) or not isinstance(whole.rule, Pipeline):
        return None
    points = whole.X
    for place, (_, step) in enumerate(whole.classifier.steps[:-1], 1):
        points = points if step in (None, "passthrough") else step.transform(points)
        if _is_numeric(_dense(points)):
            return View(whole.rule[place:], whole.classifier[place:], _dense(points), whole.classifier[:place])
    return None


def needs_numbers(estimator: Any) -> bool:
    """Return whether an estimator needs X as numbers; those that refit and count errors take rows of any type."""
    if isinstance(estimator, Measure | TestSet):
        return True
    measure = getattr(estimator, "measure", None)
    return measure is not None and not isinstance(measure, Empirical)


def describe_preparation(chosen: Mapping[str, Any], n_columns: int) -> tuple[str, ...]:
    """Return in sentences which estimators judge prepared columns and which the rows as given.

    Empty if none of them judges prepared columns: the whole Pipeline is refitted, as always.
    """
    if not any(map(needs_numbers, chosen.values())):
        return ()
    measures = [name for name, estimator in chosen.items() if isinstance(estimator, Measure)]
    counting = [name for name, estimator in chosen.items() if not needs_numbers(estimator)]
    others = [name for name in chosen if name not in (*measures, *counting)]
    uses = [
        (measures, f"judged at the prepared columns ({n_columns}), prepared once from all rows."),
        (counting, "refit the preparation with the classifier, on the rows as they are."),
        (others, "need numbers, so refit the classifier only, on the prepared columns."),
    ]
    return tuple(f"{', '.join(names)}: {use}" for names, use in uses if names)


def _dense(points: Any) -> Any:
    """Return a sparse matrix as an array, unless it has more columns than kernels and neighbours can use."""
    is_sparse: bool = sparse.issparse(points)
    return points.toarray() if is_sparse and points.shape[1] <= _MOST_COLUMNS else points


def _is_numeric(X: Any) -> bool:
    try:
        read_features(X)
    except (TypeError, ValueError):
        return False
    return True
