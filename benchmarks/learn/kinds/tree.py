"""Labels by a random decision tree over correlated features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from benchmarks.learn.feature_law import draw_feature_law
from benchmarks.learn.kind import Shape
from benchmarks.learn.scored import N_REFERENCE, Scored, scored

LEAF = -1
MOST_LEAVES = 16


@dataclass(frozen=True, eq=False)
class TreeScores:
    """Scores of the leaf that a point falls into.

    Parameters
    ----------
    features, thresholds : arrays of shape (nodes,)
        A point goes left if that feature is at most the threshold; the feature of a leaf is LEAF.
    left, right : arrays of shape (nodes,)
    depth : int
    leaf_scores : array of shape (nodes, c)
    """

    features: Ints
    thresholds: Floats
    left: Ints
    right: Ints
    depth: int
    leaf_scores: Floats

    def __call__(self, X: Floats) -> Floats:
        """Return the scores of points (n, d), shape (n, c)."""
        node = np.zeros(len(X), dtype=np.intp)
        rows = np.arange(len(X))
        for _ in range(self.depth):
            feature = self.features[node]
            goes_left = X[rows, np.maximum(feature, 0)] <= self.thresholds[node]
            node = np.where(feature == LEAF, node, np.where(goes_left, self.left[node], self.right[node]))
        return self.leaf_scores[node]


def draw_tree(shape: Shape, rng: np.random.Generator) -> Scored:
    """Return a tree whose leaves favour one class each, about as often as the class probabilities say."""
    features = draw_feature_law(shape.dim, rng)
    reference = features.points(N_REFERENCE, rng)
    used = rng.permutation(shape.dim)[: rng.integers(2, min(shape.dim, 5) + 1)]
    return scored(features, _grown(reference, used, shape.probabilities, rng), reference)


def _grown(reference: Floats, used: Ints, probabilities: Floats, rng: np.random.Generator) -> TreeScores:
    """Split leaves at random until there are enough; large leaves are split more often."""
    c = len(probabilities)
    n_leaves = int(np.exp(rng.uniform(np.log(max(3, c)), np.log(MOST_LEAVES))))
    rows, depths = [np.arange(len(reference))], [0]
    features, thresholds, left, right = [LEAF], [0.0], [LEAF], [LEAF]
    for _ in range(4 * n_leaves):
        leaves = np.flatnonzero(np.array(features) == LEAF)
        if len(leaves) == n_leaves:
            break
        sizes = np.array([len(rows[leaf]) for leaf in leaves], dtype=float)
        node, feature = int(rng.choice(leaves, p=sizes / sizes.sum())), int(rng.choice(used))
        values = reference[rows[node], feature]
        threshold = float(np.quantile(values, rng.uniform(0.15, 0.85)))
        goes_left = values <= threshold
        if min(goes_left.sum(), (~goes_left).sum()) < 5:
            continue
        features[node], thresholds[node] = feature, threshold
        left[node], right[node] = len(rows), len(rows) + 1
        for side in (goes_left, ~goes_left):
            rows.append(rows[node][side])
            depths.append(depths[node] + 1)
            thresholds.append(0.0)
            for column in (features, left, right):
                column.append(LEAF)
    favoured = _favoured_classes([len(part) for part in rows], np.array(features) == LEAF, probabilities, rng)
    leaf_scores = np.eye(c)[favoured] + rng.uniform(0, 0.5) * rng.normal(size=(len(rows), c))
    structure = (np.array(features), np.array(thresholds), np.array(left), np.array(right), max(depths))
    return TreeScores(*structure, leaf_scores)


def _favoured_classes(sizes: list[int], is_leaf: Ints, probabilities: Floats, rng: np.random.Generator) -> Ints:
    """Return a class for each node: leaves in random order go to the class that lacks most points, in expectation."""
    missing = probabilities * sizes[0]
    favoured = np.zeros(len(sizes), dtype=np.intp)
    for leaf in rng.permutation(np.flatnonzero(is_leaf)):
        favoured[leaf] = np.argmax(missing + rng.gumbel(size=len(missing)))
        missing[favoured[leaf]] -= sizes[leaf]
    return favoured
