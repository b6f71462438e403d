"""Pipelines whose first steps make X numeric: which estimators judge the steps behind them, and at which columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.pipeline import Pipeline

from bayes_gresub.data.sample import read_features
from bayes_gresub.measures import Empirical
from bayes_gresub.measures.measure import Measure
from bayes_gresub.resampling import TestSet


@dataclass(frozen=True, eq=False)
class View:
    """A rule, the classifier that it gave, and the points in the form that both take.

    `preparing` are the fitted steps that turn rows as given into such points, None where they are the same.
    """

    rule: Any
    classifier: Any
    X: Any
    preparing: Any = None

    def prepared(self, X: Any) -> Any:
        """Return other rows in the same form."""
        return X if self.preparing is None else self.preparing.transform(X)


def behind_preparation(whole: View) -> View | None:
    """Return the steps of a Pipeline behind the first ones that make X numeric, at the columns that these make of X.

    None where X is numeric as it is, or where no first steps make it so.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = pd.DataFrame({"colour": ["red", "blue", "red", "green"]}), [0, 1, 0, 1]
    >>> rule = make_pipeline(OneHotEncoder(sparse_output=False), DecisionTreeClassifier())
    >>> behind_preparation(View(rule, rule.fit(X, y), X)).X.shape
    (4, 3)
    """
    if _is_numeric(whole.X) or not isinstance(whole.classifier, Pipeline) or not isinstance(whole.rule, Pipeline):
        return None
    points = whole.X
    for place, (_, step) in enumerate(whole.classifier.steps[:-1], 1):
        points = points if step in (None, "passthrough") else step.transform(points)
        if _is_numeric(points):
            return View(whole.rule[place:], whole.classifier[place:], points, whole.classifier[:place])
    return None


def needs_numbers(estimator: Any) -> bool:
    """Return whether an estimator needs X as numbers; those that refit and count errors take rows of any type."""
    if isinstance(estimator, Measure | TestSet):
        return True
    measure = getattr(estimator, "measure", None)
    return measure is not None and not isinstance(measure, Empirical)


def describe_preparation(chosen: Mapping[str, Any], n_columns: int) -> tuple[str, ...]:
    """Return in sentences which of the estimators judge what, where prepared columns and rows as given differ.

    Nothing where none of them judges prepared columns: the whole Pipeline is refitted, as always.
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


def _is_numeric(X: Any) -> bool:
    try:
        read_features(X)
    except (TypeError, ValueError):
        return False
    return True
