"""Rows of a comparison that contradict the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayes_gresub.assessing.notices import FarFromAnswer

if TYPE_CHECKING:
    from bayes_gresub.assessing.answer import Answer
    from bayes_gresub.comparing.comparison import Comparison


def far_rows(answer: Answer, comparison: Comparison) -> FarFromAnswer | None:
    """Return the rows whose estimate lies outside the interval of the answer, or None if there are none.

    A row is far if its estimate is outside by more than half a point, unless its own interval holds the answer.

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
    far = []
    for row in comparison.rows:
        if row.estimate is None or not row.estimate.prior_known:
            continue
        value, half, own = row.estimate.value, 0.5 / answer.n_rows, row.interval(answer.level)
        agrees = own is not None and own.low <= answer.error <= own.high
        if not (low - half <= value <= high + half or agrees):
            far.append((row.name, value))
    return FarFromAnswer(tuple(far), low, high) if far else None
