"""Trees in loaded models: scikit-learn follows their nodes without looking, so they are looked at here first.

A tree is an array of nodes that name their children and a feature by number. In a file with other numbers, prediction
would read anywhere in memory, and most likely end the process. For that reason skops trusts no tree; with this check
they can be trusted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bayes_gresub.data.arrays import Ints


def check_trees(model: Any) -> None:
    """Raise unless the nodes of all trees in a model lead to nodes and features that exist.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> check_trees(DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]))
    """
    try:
        for part in _parts(model):
            _check_part(part)
    except (AttributeError, LookupError, TypeError) as error:
        raise ValueError(_DAMAGED) from error


_DAMAGED = (
    "the trees of a model must lead from node to node of their own; those in the file do not, and predicting with them "
    "could end the program. It is damaged, or not from whom you think. Save the model anew."
)


def _check_part(part: Any) -> None:
    from sklearn.ensemble._forest import BaseForest
    from sklearn.ensemble._gb import BaseGradientBoosting
    from sklearn.ensemble._hist_gradient_boosting.gradient_boosting import BaseHistGradientBoosting
    from sklearn.tree import BaseDecisionTree

    if isinstance(part, BaseDecisionTree) and hasattr(part, "tree_"):
        _check_tree(part.tree_, part.n_features_in_)
    elif isinstance(part, BaseForest | BaseGradientBoosting) and hasattr(part, "estimators_"):
        # They hand their points to the trees without another look at the number of columns.
        for tree in np.ravel(np.array(part.estimators_, dtype=object)):
            _check_tree(tree.tree_, part.n_features_in_)
    elif isinstance(part, BaseHistGradientBoosting) and hasattr(part, "_predictors"):
        for predictor in (predictor for stage in part._predictors for predictor in stage):
            _check_predictor(predictor, part.n_features_in_)


def _parts(model: Any) -> Iterator[Any]:
    """Yield a model and everything that it holds, each once."""
    seen: dict[int, Any] = {}
    waiting = [model]
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        # Kept, so that no other object gets its number.
        seen[id(part)] = part
        yield part
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, list | tuple | set):
            waiting += part
        elif isinstance(part, np.ndarray):
            waiting += part.ravel().tolist() if part.dtype.kind == "O" else []
        elif hasattr(part, "__dict__") and not isinstance(part, type):
            waiting += vars(part).values()


def _check_tree(tree: Any, n_features: int) -> None:
    nodes = tree.__getstate__()["nodes"]
    is_leaf = nodes["left_child"] == -1
    _check(len(nodes) == tree.capacity and tree.n_features == n_features)
    _check(bool((nodes["right_child"][is_leaf] == -1).all()))
    depth = _checked_depth(nodes["left_child"], nodes["right_child"], nodes["feature"], is_leaf, n_features)
    _check(depth <= tree.max_depth)


def _check_predictor(predictor: Any, n_features: int) -> None:
    nodes = predictor.nodes
    is_leaf = nodes["is_leaf"].astype(bool)
    left, right = nodes["left"].astype(np.int64), nodes["right"].astype(np.int64)
    _checked_depth(left, right, nodes["feature_idx"], is_leaf, n_features)
    places = nodes["bitset_idx"][~is_leaf & nodes["is_categorical"].astype(bool)]
    bitsets = (predictor.raw_left_cat_bitsets, predictor.binned_left_cat_bitsets)
    _check(all(bits.ndim == 2 and bits.shape[1] == 8 and bool((places < len(bits)).all()) for bits in bitsets))


def _checked_depth(left: Ints, right: Ints, feature: Ints, is_leaf: Any, n_features: int) -> int:
    """Return the depth of a tree whose children come after their parents, each once; raise if they do not."""
    inner = np.flatnonzero(~is_leaf)
    children = np.concatenate([left[inner], right[inner]])
    _check(len(left) > 0 and bool((children > np.tile(inner, 2)).all() and (children < len(left)).all()))
    _check(len(np.unique(children)) == len(children))
    _check(bool((feature[inner] >= 0).all() and (feature[inner] < n_features).all()))
    depth, level = 0, np.zeros(1, dtype=np.int64)
    while len(level := level[~is_leaf[level]]):
        depth, level = depth + 1, np.concatenate([left[level], right[level]])
    return depth


def _check(holds: bool) -> None:
    if not holds:
        raise ValueError(_DAMAGED)
