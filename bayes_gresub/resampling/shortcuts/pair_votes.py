"""One-vs-one decision values of a support vector machine as votes and scores, as scikit-learn reads them."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints


def vote(values: Floats, n_classes: int, break_ties: bool) -> tuple[Ints, Floats]:
    r"""Return codes and scores (n, c) from decision values of the pairs, positive for the first class of each.

    .. math:: s_a = v_a + \frac{q_a}{3 (|q_a| + 1)}

    with v the votes and q the sums of decision values in favour of a class. The class of most votes wins, the first of
    several; with `break_ties` that of the largest score.
    """
    votes = np.zeros((len(values), n_classes))
    sums = np.zeros_like(votes)
    for (a, b), value in zip(combinations(range(n_classes), 2), values.T, strict=True):
        votes[:, a] += value > 0
        votes[:, b] += value <= 0
        sums[:, a] += value
        sums[:, b] -= value
    scores = votes + sums / (3 * (np.abs(sums) + 1))
    return (scores if break_ties else votes).argmax(axis=1), scores
