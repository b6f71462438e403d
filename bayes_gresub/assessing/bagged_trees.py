"""Clues from a reference ensemble: ten small trees on resamples, judged at the rows that each has not seen."""

from __future__ import annotations

import numpy as np
from sklearn import config_context
from sklearn.tree import DecisionTreeRegressor

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.seeds import RULES, as_int, child

N_TREES = 10
"""Trees of the ensemble."""


def bagged_tree_clues(
    features: Floats,
    codes: Ints,
    groups: Ints,
    predicted: Ints,
    weights: Floats,
    n_classes: int,
    seed: np.random.SeedSequence,
) -> dict[str, float]:
    r"""Return the error of one tree and of the trees' vote, out of bag, and how often the classifier differs from it.

    These are rules of reference: the classifier that is judged is not refitted, whatever it is. The trees are fitted to
    indicators of the classes by least squares, which is the Gini index, and takes a third of a classifier's time:

    .. math:: \sum_c p_c (1 - p_c) = \sum_c \mathrm{Var}\, I(Y = c)
    """
    rng = np.random.default_rng(child(seed, RULES))
    _, group = np.unique(groups, return_inverse=True)
    n_groups = int(group.max()) + 1
    counts = rng.multinomial(n_groups, np.full(n_groups, 1.0 / n_groups), size=N_TREES)[:, group]
    # Trees of scikit-learn work in single precision.
    limit = float(np.finfo(np.float32).max)
    points = np.ascontiguousarray(np.clip(features, -limit, limit), dtype=np.float32)
    votes, wrong, judged = np.zeros((len(codes), n_classes)), 0.0, 0.0
    present, columns = np.unique(codes, return_inverse=True)
    targets = np.eye(len(present))[columns]
    # Of two classes, one indicator says it all.
    fitted = np.ascontiguousarray(targets[:, 1:] if len(present) == 2 else targets)
    for number, count in enumerate(counts):
        out = np.flatnonzero(count == 0)
        if not len(out) or not count.any():
            continue
        tree = DecisionTreeRegressor(random_state=as_int(child(seed, RULES, number)))
        with config_context(skip_parameter_validation=True, assume_finite=True):
            tree.fit(points, fitted, sample_weight=(count * weights), check_input=False)
        shares = tree.tree_.predict(points[out]).reshape(len(out), -1)
        if len(present) == 2:
            shares = np.hstack([1.0 - shares, shares])
        votes[np.ix_(out, present)] += shares
        chosen = present[shares.argmax(axis=1)]
        wrong += float(weights[out] @ (chosen != codes[out]))
        judged += float(weights[out].sum())
    seen = votes.sum(axis=1) > 0
    total = float(weights[seen].sum())
    if not judged or not total:
        return {"tree_error": 0.5, "bagged_error": 0.5, "bagged_apart": 0.5, "bagged_posterior": 0.5}
    vote = votes[seen] / votes[seen].sum(axis=1, keepdims=True)
    mass = weights[seen] / total
    chosen = vote.argmax(axis=1)
    return {
        "tree_error": wrong / judged,
        "bagged_error": float(mass @ (chosen != codes[seen])),
        "bagged_apart": float(mass @ (chosen != predicted[seen])),
        "bagged_posterior": float(mass @ (1.0 - vote[np.arange(len(vote)), predicted[seen]])),
    }
