"""The empirical measure, plain resubstitution."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayes_gresub.data.sample import Sample
from bayes_gresub.data.seeds import Seed
from bayes_gresub.laws.components import Components
from bayes_gresub.laws.law import Law
from bayes_gresub.measures.measure import Measure
from bayes_gresub.regions.region import Region


class Empirical(Measure):
    r"""Mass 1/n at every training point: plain resubstitution, the share of training points misclassified.

    .. math:: \hat\varepsilon = \frac1n \sum_i I(\psi(X_i) \ne Y_i)

    Optimistic if the classifier was fitted to the same points, and more so the more flexible it is. Choices made before
    X was given, such as selected features, are not accounted for.

    Parameters
    ----------
    sampling : "mixture" or "separate"
        Whether class frequencies are random or were fixed by design; with "separate" an overall error needs
        `class_prior`.
    class_prior : dict or sequence, optional
        Known class probabilities, by label or in the order of the sorted labels.
    random_state : int, SeedSequence or None
        For `sample`.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "b", "a", "b"]
    >>> float(Empirical().fit(X, y).error(KNeighborsClassifier(3).fit(X, y)))
    0.5
    """

    def __init__(self, *, sampling: str = "mixture", class_prior: Any = None, random_state: Seed = None) -> None:
        self.sampling = sampling
        self.class_prior = class_prior
        self.random_state = random_state

    def _fit(self, sample: Sample, seed: np.random.SeedSequence) -> None:
        """Learn nothing: the measure is the sample."""

    def law(self, at: Sample | None = None, region: Region | None = None) -> Law:
        """Return the points with their labels."""
        at = self.training_sample if at is None else at
        labels = np.eye(len(self.classes_))[at.codes]
        return Law(Components.points(at.features), at.weights, labels, self._prior)
