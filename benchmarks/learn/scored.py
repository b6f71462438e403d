"""Labels by scores of the classes at a point: the law behind trees, networks and other kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import softmax

from bayes_gresub.data.arrays import Floats
from benchmarks.learn.feature_law import FeatureLaw
from benchmarks.learn.structure import LabelsGivenPoints, offsets_for

N_REFERENCE = 400


@dataclass(frozen=True, eq=False, kw_only=True)
class Scored(LabelsGivenPoints):
    """Features of a given law, labels by eta(x) = softmax(s g(x) + b).

    Parameters
    ----------
    features : FeatureLaw
    scores : callable
        g, from points (n, d) to scores (n, c).
    balance : array of shape (c,) or None
        Class probabilities that the offsets b are solved for at each separation s; None for b = 0.
    offsets : array of shape (c,)
        b.
    reference_scores : array of shape (m, c)
        Scores of the reference points.
    """

    features: FeatureLaw
    scores: Callable[[Floats], Floats]
    balance: Floats | None
    offsets: Floats
    reference_scores: Floats

    def points(self, n: int, rng: np.random.Generator) -> Floats:
        """Return points of the features' law."""
        return self.features.points(n, rng)

    def posterior(self, X: Floats) -> Floats:
        """Return the softmax of the scores."""
        return softmax(self.separation * self.scores(X) + self.offsets, axis=1)

    def separated(self, separation: float) -> Self:
        """Return the same scores times another separation, with the class probabilities kept if there is a balance."""
        offsets = self.offsets * (separation / self.separation)
        if self.balance is not None:
            offsets = offsets_for(separation * self.reference_scores, self.balance, offsets)
        return replace(self, separation=separation, offsets=offsets)


def scored(
    features: FeatureLaw, scores: Callable[[Floats], Floats], reference: Floats, balance: Floats | None = None
) -> Scored:
    """Return the law of labels with separation 1, where `reference` (m, d) are points of the features' law."""
    reference_scores = scores(reference)
    start = np.zeros(reference_scores.shape[1])
    offsets = start if balance is None else offsets_for(reference_scores, balance, start)
    return Scored(
        features=features,
        scores=scores,
        balance=balance,
        offsets=offsets,
        reference=reference,
        reference_scores=reference_scores,
    )


@dataclass(frozen=True, eq=False)
class Standardised:
    """Scores minus their mean, divided by their overall standard deviation at reference points.

    Parameters
    ----------
    scores : callable
    mean : array of shape (c,)
    scale : float
    """

    scores: Callable[[Floats], Floats]
    mean: Floats
    scale: float

    def __call__(self, X: Floats) -> Floats:
        """Return the standardised scores of points (n, d), shape (n, c)."""
        return (self.scores(X) - self.mean) / self.scale


def standardised(scores: Callable[[Floats], Floats], reference: Floats) -> Standardised:
    """Return the scores in units of their spread at the reference points."""
    values = scores(reference)
    return Standardised(scores, values.mean(axis=0), float(values.std(axis=0).mean()) or 1.0)
