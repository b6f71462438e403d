"""Exact mass of a decision tree's regions under Gaussian components with independent coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from scipy.special import ndtr

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.laws.components import Components, Normal

MAX_EVALUATIONS = 20_000_000
"""Components times splits up to which the recursion is run; beyond it sampling is faster."""

_CHUNK_ELEMENTS = 2**21


TREE_METHOD = "recursion down the tree with the normal distribution function"


class AxisTree(Protocol):
    """A binary tree of axis-parallel splits; at an inner node points with feature <= cutoff go left."""

    @property
    def feature(self) -> Ints:
        """Return the feature that each node splits on, below 0 at a leaf."""

    @property
    def cutoff(self) -> Floats:
        """Return the value at which each node splits."""

    @property
    def left(self) -> Ints:
        """Return the left child of each node."""

    @property
    def right(self) -> Ints:
        """Return the right child of each node."""

    @property
    def leaf_class(self) -> Ints:
        """Return the class of each node."""

    @property
    def n_splits(self) -> int:
        """Return the number of inner nodes."""


def recursion_applies(components: Components, n_splits: int) -> bool:
    """Return whether the recursion may apply to components, and would be faster than sampling them."""
    if not isinstance(components.law, Normal) or len(components) * n_splits > MAX_EVALUATIONS:
        return False
    # Checking a matrix per component would cost more than it could save.
    has_matrix_each = components.spread.ndim == 3 and len(components.spread) == len(components) > 1
    return not has_matrix_each


def with_independent_coordinates(components: Components) -> Components | None:
    """Return normal components with a deviation per coordinate, or None if their coordinates are correlated."""
    if components.spread.ndim < 3:
        return components
    covariance = components.covariance_shape()
    deviation = np.sqrt(np.einsum("gdd->gd", covariance))
    off_diagonal = covariance - np.einsum("gd,de->gde", deviation**2, np.eye(covariance.shape[1]))
    if (np.abs(off_diagonal) > 1e-12 * deviation[:, :, None] * deviation[:, None, :]).any():
        return None
    return Components(components.centers, deviation, components.group, components.law)


def tree_mass(components: Components, tree: AxisTree, scales: Sequence[float], n_classes: int) -> Floats:
    r"""Return the mass of each class's leaves, exactly, by recursion down the tree.

    A node is a box. Its mass under a Gaussian with independent coordinates is a product over features of
    Phi(upper) - Phi(lower), and a split at t divides one factor in two:

    .. math:: P(\text{left}) = P(\text{node}) \frac{\Phi((t - X_{if})/\sigma_f) - \Phi(l)}{\Phi(u) - \Phi(l)}

    so each inner node costs one normal distribution function per component.

    Parameters
    ----------
    components : Components
        In the tree's own space, as `with_independent_coordinates` returns them.

    Returns
    -------
    ndarray of shape (len(scales), k, n_classes)
    """
    result = np.zeros((len(scales), len(components), n_classes))
    step = max(1, _CHUNK_ELEMENTS // max(1, tree.n_splits))
    for s, scale in enumerate(scales):
        for begin in range(0, len(components), step):
            rows = slice(begin, begin + step)
            _descend(components.take(rows), tree, scale, result[s, rows])
    return result


def _descend(components: Components, tree: AxisTree, scale: float, out: Floats) -> None:
    splits = np.flatnonzero(tree.feature >= 0)
    below = np.empty((len(tree.feature), len(components)))
    below[splits] = _probability_below(components, tree, splits, scale)
    whole = np.ones(len(components))
    # Per node: its mass, and for each feature split above it the distribution function at both sides of the box.
    stack: list[tuple[int, Floats, dict[int, tuple[Floats, Floats]]]] = [(0, whole, {})]
    while stack:
        node, inside, box = stack.pop()
        feature = int(tree.feature[node])
        if feature < 0:
            out[:, tree.leaf_class[node]] += inside
            continue
        lower, upper = box.get(feature, (np.zeros_like(whole), whole))
        cut = np.clip(below[node], lower, upper)
        share = np.divide(cut - lower, upper - lower, out=np.zeros_like(cut), where=upper > lower)
        left = inside * share
        stack.append((int(tree.left[node]), left, {**box, feature: (lower, cut)}))
        stack.append((int(tree.right[node]), inside - left, {**box, feature: (cut, upper)}))


def _probability_below(components: Components, tree: AxisTree, splits: np.ndarray, scale: float) -> Floats:
    """Return P(x_f <= cutoff) for each split and component; coordinates without spread are compared with it."""
    deviation = scale * components.feature_deviations()[:, tree.feature[splits]][components.group].T
    gap = tree.cutoff[splits][:, None] - components.centers[:, tree.feature[splits]].T
    ratio = np.divide(gap, deviation, out=np.where(gap >= 0, np.inf, -np.inf), where=deviation > 0)
    return np.asarray(ndtr(ratio))
