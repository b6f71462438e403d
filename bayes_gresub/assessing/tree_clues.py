"""Clues of a decision tree: its leaves' votes without the point that is judged, the splits as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from bayes_gresub.assessing.last_step import last_step, seen_by_last_step
from bayes_gresub.data.arrays import Floats, Ints


def leaf_votes(classifier: Any, X: Any, codes: Ints, groups: Ints, n_classes: int) -> Ints | None:
    """Return the label of each row by the other rows of its leaf; None unless the classifier is a tree.

    Rows of the same group count as the row itself. Where no others are left, the node above decides, and so on up.
    """
    tree = last_step(classifier)
    if not isinstance(tree, DecisionTreeClassifier) or not hasattr(tree, "tree_"):
        return None
    points = seen_by_last_step(classifier, X)
    paths = tree.decision_path(points)
    labels = np.eye(n_classes)[codes]
    counts = np.asarray(paths.T @ labels)
    parent = np.full(tree.tree_.node_count, -1)
    for children in (tree.tree_.children_left, tree.tree_.children_right):
        inner = np.flatnonzero(children >= 0)
        parent[children[inner]] = inner
    node = np.asarray(tree.apply(points))
    left = _without_group(counts, paths, node, groups, labels)
    while True:
        lonely = np.flatnonzero((left.sum(axis=1) < 0.5) & (parent[node] >= 0))
        if not len(lonely):
            return np.asarray(left.argmax(axis=1))
        node[lonely] = parent[node[lonely]]
        left = _without_group(counts, paths, node, groups, labels)


def _without_group(counts: Floats, paths: Any, node: Ints, groups: Ints, labels: Floats) -> Floats:
    """Return the class counts of each row's node without the rows of its group."""
    left = counts[node] - labels
    _, group, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    for number in np.flatnonzero(sizes > 1):
        rows = np.flatnonzero(group == number)
        inside = np.asarray(paths[rows][:, node[rows]].todense(), dtype=float)  # (member, row): member is in row's node
        left[rows] = counts[node[rows]] - inside.T @ labels[rows]
    return np.asarray(left)
