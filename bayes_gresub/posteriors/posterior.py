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
from bayes_gresub.regions.training import shows_predict_later


class Posterior(ClassifierMixin, BaseEstimator, ABC):
    """An estimate of P(y | x), fitted like a scikit-learn classifier."""

    classes_: Labels

    has_draws = False
    """Whether `training_draws` returns draws."""

    is_checked = False
    """Whether its probabilities are already known to be probabilities; if not, measures check them."""

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


def checked_probabilities(values: Any, n_points: int, classes: Labels, owner: Any) -> Floats:
    """Return the probabilities that a posterior returned, or raise unless each row is a law on its classes.

    Rows may sum to 1 up to the square root of the precision of their type; a sum that is off by more than rounding is
    divided out, so that no estimate leaves [0, 1].

    Parameters
    ----------
    values : array-like of shape (n_points, c)
    n_points : int
    classes : ndarray of shape (c,)
        The classes that the columns stand for.
    owner : object
        Whose `predict_proba` it is, for the message.
    """
    name = type(owner).__name__
    rule = f"predict_proba must return one row per point and one column for each of {classes.tolist()!r}"
    try:
        array = np.asarray(values)
        probabilities = array.astype(float)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(
            f"{rule}, as numbers; got a {type(values).__name__} from {name} that is no array of numbers. Return a "
            "NumPy array, detached if it comes from a network."
        ) from error
    if probabilities.shape != (n_points, len(classes)):
        raise ValueError(
            f"{rule}; got shape {probabilities.shape} from {name} for {n_points} points. Columns follow its classes_."
        )
    if not np.isfinite(probabilities).all() or (probabilities < 0).any():
        bad = ~np.isfinite(probabilities) | (probabilities < 0)
        raise ValueError(
            f"predict_proba must return finite probabilities of at least 0; got {probabilities[bad][0]:.6g} from "
            f"{name} in row {int(np.argmax(bad.any(axis=1)))}. Do not return logits or scores: calibrate them first."
        )
    total = probabilities.sum(axis=1, keepdims=True)
    off = np.abs(total - 1)
    precision = np.finfo(array.dtype).eps if array.dtype.kind == "f" else np.finfo(float).eps
    if (off > np.sqrt(precision)).any():
        worst = int(off.argmax())
        raise ValueError(
            f"rows of predict_proba must sum to 1; got a sum of {total[worst, 0]:.6g} from {name} in row {worst}. "
            "Divide each row by its sum, if the values are meant as shares."
        )
    return probabilities / total if (off > _ROUNDING).any() else probabilities


_ROUNDING = 1e-12
"""How far the sum of probabilities in double precision is off by rounding alone."""


def as_posterior(posterior: Any) -> Posterior:
    """Return `posterior` itself, or a scikit-learn classifier wrapped in `ClassifierPosterior`."""
    from bayes_gresub.posteriors.classifier import ClassifierPosterior

    if isinstance(posterior, Posterior):
        return posterior
    has_probabilities = not isinstance(posterior, type) and callable(getattr(posterior, "predict_proba", None))
    if has_probabilities or shows_predict_later(posterior):
        return ClassifierPosterior(posterior)
    raise TypeError(
        "posterior must be a Posterior such as KNN(3), or a classifier with predict_proba, as an instance; "
        f"got {posterior!r}. CalibratedClassifierCV gives probabilities to a classifier that has none."
    )
