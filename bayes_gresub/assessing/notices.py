"""What an answer noticed about the data, each a value with a sentence; and what would make the answer better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.estimate.worded import Worded

BY_CHANCE = 0.02
"""Probability of a coincidence above which nothing is said about it."""


@dataclass(frozen=True)
class Notice(Worded):
    """Something about the data or the classifier that a reader of the number must know."""


@dataclass(frozen=True)
class RepeatedRows(Notice):
    """Rows that occur more than once."""

    n_repeated: int
    n_rows: int
    words = (
        "{self.n_repeated} of {self.n_rows} rows repeat an earlier one; identical rows are kept together, so the "
        "answer rests on {self.n_distinct} different rows"
    )

    @property
    def n_distinct(self) -> int:
        """Return the number of different rows."""
        return self.n_rows - self.n_repeated


@dataclass(frozen=True)
class WorseThanMajority(Notice):
    """The classifier is no better than always predicting the largest class."""

    error: float
    majority_error: float
    probability: float
    words = (
        "always predicting the largest class would be wrong for {self.majority_error:.3f} of new rows; with "
        "probability {self.probability:.2f} this classifier is wrong more often"
    )


class TrainedElsewhere(Notice):
    """The classifier was trained on other rows."""

    words = (
        "the classifier was trained on other rows, or on these in another order, so its own leave-one-out is left out: "
        "pass the rows that it was trained on, in their order"
    )


@dataclass(frozen=True)
class OneColumnDecides(Notice):
    """A single column gives every label."""

    column: str
    words = "column {self.column} alone gives all labels: check that it is known before the label is"


class NoErrors(Notice):
    """No row is misclassified, neither by the classifier nor when left out."""

    words = "no row is misclassified, not even when left out: the upper end is what the data tell, not the estimate"


@dataclass(frozen=True)
class UnlikeLearned(Notice):
    """The clues lie outside of what the combination was learned from."""

    times: float
    words = (
        "data and classifier are unlike those that the answer was learned from ({self.times:.1f} times as far off as "
        "the farthest in a thousand), so the interval is widened"
    )


@dataclass(frozen=True)
class SizeOutside(Notice):
    """There are more or fewer rows than in any sample that the combination was learned from."""

    n_rows: int
    smallest: int
    largest: int
    words = (
        "the answer was learned from samples of {self.smallest} to {self.largest} independent rows; for {self.n_rows} "
        "it rests on {self.basis}"
    )

    @property
    def basis(self) -> str:
        """Return what such an answer rests on."""
        if self.n_rows < self.smallest:
            return f"what holds for {self.smallest}"
        return f"what holds for {self.largest}, and on errors counted at rows left out where there are any"


@dataclass(frozen=True)
class HeldOutDisagrees(Notice):
    """Held-out points contradict the answer from the training data."""

    from_training: float
    from_test: float
    words = (
        "the training data gave {self.from_training:.3f} and the held-out rows {self.from_test:.3f}, further apart "
        "than chance explains: only the held-out rows are used; see whether both come from the same population"
    )


@dataclass(frozen=True)
class FarFromAnswer(Notice):
    """Other estimates lie outside the interval of the answer.

    Attributes
    ----------
    rows : tuple of pairs (name, estimate)
    """

    rows: tuple[tuple[str, float], ...]
    low: float
    high: float
    words = (
        "outside the interval of the answer, {self.low:.3f} to {self.high:.3f}, lie {self.listed}: do not rely on them "
        "here"
    )

    @property
    def listed(self) -> str:
        """Return the rows in words."""
        return ", ".join(f"{name} ({estimate:.3f})" for name, estimate in self.rows)


@dataclass(frozen=True)
class Improvement(Worded):
    """What would make the answer better."""


class MayRefit(Improvement):
    """The classifier may be refitted."""

    words = "refits=10, if the rule may be trained ten times again"
    brief = "--refits 10, if the rule may be trained ten times again"


@dataclass(frozen=True)
class MoreHeldOut(Improvement):
    """Points that nothing has seen."""

    n_points: int
    has_some: bool = False
    words = "about {self.number} held-out rows as test=(X, y), which would halve the interval"
    brief = "about {self.number} rows that nothing has seen, as --test FILE, which would halve the interval"

    @property
    def number(self) -> str:
        """Return how many, in words."""
        return f"{self.n_points} more" if self.has_some else str(self.n_points)


def deciding_column(features: Floats, codes: Ints, names: Sequence[Any] | None) -> str | None:
    r"""Return the name of a column whose values give every label by as many runs as there are classes, or None.

    Such a column, sorted, holds every class in one run, and no value in two classes. One of d columns of noise does so
    with a probability of at most

    .. math:: d\, c! \prod_k n_k! \,/\, n!

    and if that is no small number, as for a class of one row, nothing is said.

    Examples
    --------
    >>> columns = np.array([[0.0, 5], [1, 3], [2, 5], [3, 3], [4, 5], [5, 3], [6, 5], [7, 3], [8, 5], [9, 3]])
    >>> deciding_column(columns, np.repeat([0, 1], 5), None)
    '0'
    """
    counts = np.unique(codes, return_counts=True)[1]
    n_classes = len(counts)
    chance = np.log(features.shape[1]) + gammaln(n_classes + 1) + gammaln(counts + 1).sum() - gammaln(len(codes) + 1)
    if n_classes < 2 or chance > np.log(BY_CHANCE):
        return None
    order = np.argsort(features, axis=0, kind="stable")
    values, labels = np.take_along_axis(features, order, axis=0), codes[order]
    changes = labels[1:] != labels[:-1]
    ties = (values[1:] == values[:-1]) & changes
    decides = np.flatnonzero((changes.sum(axis=0) == n_classes - 1) & ~ties.any(axis=0))
    if not len(decides):
        return None
    return str(decides[0] if names is None else names[decides[0]])
