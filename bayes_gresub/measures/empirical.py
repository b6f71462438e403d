"""The empirical measure, plain resubstitution."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_gresub.data.sample import Sample
from bayes_gresub.data.seeds import Seed
from bayes_gresub.estimate.text import NO_SPACE
from bayes_gresub.laws.components import Components
from bayes_gresub.measures.parts import Centers
from bayes_gresub.measures.smoothed import SmoothedMeasure


class Empirical(SmoothedMeasure):
    r"""Mass 1/n at every training point: plain resubstitution, the share of training points misclassified.

    .. math:: \hat\varepsilon = \frac1n \sum_i I(\psi(X_i) \ne Y_i)

    Optimistic wherever the classifier was fitted to the same points, the more so the more flexible it is. It does not
    see choices made before X was handed over, such as selected features.

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

    n_points = 1
    tol = None
    n_jobs = None
    _moves = False

    def __init__(self, *, sampling: str = "mixture", class_prior: Any = None, random_state: Seed = None) -> None:
        self.sampling = sampling
        self.class_prior = class_prior
        self.random_state = random_state

    def _learn(self, sample: Sample, weighted: bool, seed: np.random.SeedSequence) -> None:
        """Learn nothing: the measure is the sample."""

    def _components(self, centers: Centers, correct: NDArray[np.bool_] | None) -> Components:
        return Components.points(centers.features)

    def _describe(self) -> tuple[str, str]:
        return "Empirical()", NO_SPACE
