"""Votes of the members of a forest, or of a bag of classifiers, that were not trained on a row."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.estimate.reasons import Reason
from bayes_gresub.resampling.shortcuts.left_out_labels import LeftOut
from bayes_gresub.resampling.shortcuts.refusals import NoShortcutError, SettingWithoutShortcut, TrainedOnOtherPoints
from bayes_gresub.resampling.shortcuts.training_rows import TrainingRows

_TREES_CHECKED = 5
"""Trees whose bags are looked into."""

_SAME = 0.02
"""Relative difference of scores up to which they are the same: solvers stop early."""


def refuse_bags(rule: Any, scaler: Any) -> Reason | None:
    """Return why this ensemble has no rows out of bag."""
    if not rule.bootstrap and getattr(rule, "max_samples", None) in (None, 1.0):
        return SettingWithoutShortcut(type(rule).__name__, "bootstrap", "False")
    return None


def leave_out_bags(ensemble: Any, points: Floats, rows: TrainingRows) -> LeftOut:
    """Return the mean probabilities over the members trained without each row's block, from a trained ensemble."""
    if not bags_are_of(ensemble, points, rows):
        raise NoShortcutError(TrainedOnOtherPoints(type(ensemble).__name__))
    votes = out_of_bag_votes(ensemble, points, rows)
    codes = np.where(votes.n_members > 0, votes.probabilities.argmax(axis=1), -1)
    method = f"mean of {votes.n_members.mean():.0f} of {len(ensemble.estimators_)} members, out of bag"
    return LeftOut(codes, votes.probabilities, True, False, method)


def bags_are_of(ensemble: Any, points: Floats, rows: TrainingRows) -> bool:
    """Return whether an ensemble was trained on these rows in this order, which is how it numbers those of a bag.

    Trees say how many rows of their bag are in each leaf. Of other members the first is trained anew.
    """
    if len(rows.codes) != ensemble._n_samples:
        return False
    features = getattr(ensemble, "estimators_features_", [slice(None)] * len(ensemble.estimators_))
    members = zip(ensemble.estimators_, ensemble.estimators_samples_, features, strict=True)
    for member, bag, columns in islice(members, _TREES_CHECKED if hasattr(ensemble.estimators_[0], "tree_") else 1):
        seen = points[:, columns]
        is_same = _has_leaves_of(member, seen, bag) if hasattr(member, "tree_") else _repeats(member, seen, rows, bag)
        if not is_same:
            return False
    return True


def _has_leaves_of(tree: Any, points: Floats, bag: Ints) -> bool:
    """Return whether a tree has grown on the rows of a bag; rows drawn twice count once or twice."""
    leaves = tree.apply(points[bag])
    _, first = np.unique(bag, return_index=True)
    for counted in (leaves, leaves[first]):
        leaf, counts = np.unique(counted, return_counts=True)
        if np.array_equal(tree.tree_.n_node_samples[leaf], counts):
            return True
    return False


def _repeats(member: Any, points: Floats, rows: TrainingRows, bag: Ints) -> bool:
    """Return whether a member that is trained anew on a bag says nearly the same; rows drawn twice may be weights."""
    if _agree(member, clone(member).fit(points[bag], rows.codes[bag]), points):
        return True
    counts = np.bincount(bag, minlength=len(points))
    return has_fit_parameter(member, "sample_weight") and _agree(
        member, clone(member).fit(points, rows.codes, sample_weight=counts), points
    )


def _agree(member: Any, other: Any, points: Floats) -> bool:
    for method in ("decision_function", "predict_proba", "predict"):
        if hasattr(member, method):
            old, new = (np.asarray(getattr(one, method)(points), dtype=float) for one in (member, other))
            return old.shape == new.shape and bool(np.abs(old - new).max() <= _SAME * max(1.0, np.abs(old).max()))
    return True


@dataclass(frozen=True, eq=False)
class OutOfBagVotes:
    """Mean probabilities over the members that did not see a row.

    Attributes
    ----------
    probabilities : ndarray of shape (n, c)
        NaN for a row that every member saw.
    n_members : ndarray of shape (n,)
        How many members did not see the row.
    """

    probabilities: Floats
    n_members: Ints


def out_of_bag_votes(ensemble: Any, points: Floats, rows: TrainingRows) -> OutOfBagVotes:
    r"""Return the mean over the members b whose bag has no row of the block of row i.

    .. math:: \hat p_c(x_i) = \frac{\sum_b I_{ib}\, p^{(b)}_c(x_i)}{\sum_b I_{ib}}

    Members without `predict_proba` vote.
    """
    n = len(rows.codes)
    sums, n_members = np.zeros((n, rows.n_classes)), np.zeros(n, dtype=np.intp)
    features = getattr(ensemble, "estimators_features_", [None] * len(ensemble.estimators_))
    for member, bag, columns in zip(ensemble.estimators_, ensemble.estimators_samples_, features, strict=True):
        seen = np.zeros(len(rows.sizes), dtype=bool)
        seen[rows.block[bag]] = True
        outside = np.flatnonzero(~seen[rows.block])
        if len(outside):
            sums[outside] += _member_votes(
                member, points[outside] if columns is None else points[outside][:, columns], rows
            )
            n_members[outside] += 1
    counts = n_members[:, None]
    return OutOfBagVotes(np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0), n_members)


def _member_votes(member: Any, points: Floats, rows: TrainingRows) -> Floats:
    """Return the probabilities of one member, whose classes are codes of the ensemble's and may lack some."""
    votes = np.zeros((len(points), rows.n_classes))
    if hasattr(member, "predict_proba"):
        votes[:, np.asarray(member.classes_).astype(np.intp)] = member.predict_proba(points)
    else:
        votes[np.arange(len(points)), np.asarray(member.predict(points)).astype(np.intp)] = 1.0
    return votes
