"""The result of a shortcut: labels and scores of every row by the classifier trained without it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax

from bayes_gresub.data.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Every row as predicted by the classifier trained without it, or without its group.

    Attributes
    ----------
    codes : ndarray of shape (n,)
        Predicted class, as a position among the sorted labels; -1 if no part of the classifier was trained without
        the row, which only forests have.
    scores : ndarray of shape (n, c) or None
        Probabilities as the classifier's `predict_proba` returns them, or decision values on one scale.
    probabilities : bool
        Whether scores are probabilities.
    exact : bool
        Whether the codes are those of refits, but for ties and for the tolerance of an iterative solver.
    method : str
        How they were found, in words.
    n_fits : int
        How often a classifier was trained all the same.
    """

    codes: Ints
    scores: Floats | None
    probabilities: bool
    exact: bool
    method: str
    n_fits: int = 0


def posterior_of(log_joint: Floats) -> Floats:
    """Return probabilities from logarithms of joint densities, shape (n, c)."""
    return np.asarray(np.exp(log_softmax(log_joint, axis=1)))


def decide(decision: Floats) -> tuple[Ints, Floats]:
    """Return codes and scores (n, c) from decision values (n, k): k is 1 for two classes, else the classes."""
    if decision.shape[1] == 1:
        return (decision[:, 0] > 0).astype(np.intp), np.hstack([-decision, decision])
    return decision.argmax(axis=1), decision
