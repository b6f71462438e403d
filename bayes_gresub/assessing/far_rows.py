"""Rows of a comparison that contradict the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayes_gresub.assessing.notices import FarFromAnswer

if TYPE_CHECKING:
    from bayes_gresub.assessing.answer import Answer
    from bayes_gresub.comparing.comparison import Comparison


def far_rows(answer: Answer, comparison: Comparison) -> FarFromAnswer | None:
    """Return the rows whose estimate lies outside the interval of the answer, or None if there are none.

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = bg.datasets.PaperGaussian().sample(60, random_state=0)
    >>> rule = KNeighborsClassifier(1).fit(X, y)
    >>> far_rows(bg.assess(rule, X, y), bg.compare(rule, X, y, ["resub", "cv"], random_state=0)).rows
    (('resub', 0.0),)
    """
    low, high = answer.interval()
    known = [row for row in comparison.rows if row.estimate is not None and row.estimate.prior_known]
    far = [(row.name, row.estimate.value) for row in known if row.estimate is not None]
    far = [(name, value) for name, value in far if not low <= value <= high]
    return FarFromAnswer(tuple(far), low, high) if far else None
