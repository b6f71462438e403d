"""The posterior interface: probabilities of the classes at any point, and at the training points themselves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin

from bayes_gresub.data.arrays import Floats, Ints, Labels
from bayes_gresub.data.seeds import Seed


class Posterior(ClassifierMixin, BaseEstimator, ABC):
    """An estimate of P(y | x), fitted like a scikit-learn classifier."""

    classes_: Labels

    has_draws = False
    """Whether `training_draws` returns draws."""

    @abstractmethod
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, random_state: Seed = None
    ) -> Self:
        """Learn from the sample; `random_state` is for its random parts."""

    @abstractmethod
    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return P(y | x) at the rows of X, shape (m, c), in the order of `classes_`."""

    @abstractmethod
    def training_proba(self) -> Floats:
        """Return P(y | X_i) at the training points, shape (n, c), as an error estimate should use them."""

    def predict(self, X: ArrayLike) -> Labels:
        """Return the most probable class at the rows of X."""
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]

    def sampled_proba(self, X: ArrayLike, owners: Ints | None = None) -> Floats:
        """Return P(y | x) at sampled points; single precision is enough.

        `owners` names for each point the training point it was sampled about, if any.
        """
        return self.predict_proba(X)

    def training_draws(self, n: int, rng: np.random.Generator) -> Iterator[Floats] | None:
        """Return draws of P(y | X_i) at the training points in blocks (draws, n, c), n draws in all; None without."""
        return None

    @property
    def space_(self) -> str:
        """Return in words the space that the posterior works in."""
        return "features as given"

    def warn_if_same(self, classifier: Any) -> None:
        """Warn if the posterior is the classifier that it judges."""


def as_posterior(posterior: Any) -> Posterior:
    """Return `posterior` itself, or a scikit-learn classifier wrapped in `ClassifierPosterior`."""
    from bayes_gresub.posteriors.classifier import ClassifierPosterior

    if isinstance(posterior, Posterior):
        return posterior
    if not isinstance(posterior, type) and callable(getattr(posterior, "predict_proba", None)):
        return ClassifierPosterior(posterior)
    raise TypeError(
        "posterior must be a Posterior such as KNN(3), or a classifier with predict_proba, as an instance; "
        f"got {posterior!r}. CalibratedClassifierCV gives probabilities to a classifier that has none."
    )
