"""The measure interface: fit on a sample, then the error of any classifier under the fitted law."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from bayes_gresub.data.arrays import Floats, Labels
from bayes_gresub.data.sample import Sample, read_sample
from bayes_gresub.data.seeds import Seed, seed_sequence
from bayes_gresub.data.validation import check_sampling, check_seed
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.laws.confusion import read_prior

PointFunction = Callable[[Any, Labels], ArrayLike]


@dataclass(frozen=True)
class MeasuredValue:
    """A mean under a measure, with its Monte-Carlo standard error (0 where it is a finite sum)."""

    value: float
    std_error: float

    def __float__(self) -> float:
        return self.value


class Measure(BaseEstimator, ABC):
    """A law on (x, y) learned from a sample.

    A measure sees the sample it is fitted to and the classifier it judges, and nothing that was decided before:
    features selected or parameters tuned on the same data make every measure too optimistic.
    """

    sampling: str
    class_prior: Any
    random_state: Seed

    has_draws = False
    """Whether `error` gives posterior draws, the same ones for every classifier."""

    draws_at_training_points = False
    """Whether these are draws of labels at points that the classifier was trained on, not of whole laws."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the measure from a sample.

        Parameters
        ----------
        X : array-like of shape (n, d) or (n, ...)
            Features; of any shape after the first axis (images), or a DataFrame.
        y : array-like of shape (n,)
            Labels of any type.
        sample_weight : array-like of shape (n,), optional
            Masses of the points, up to a factor. Widths ignore them, except that points of weight zero are dropped.

        Returns
        -------
        self
        """
        self._check_parameters()
        sample = read_sample(X, y, sample_weight)
        if self.class_prior is not None:
            read_prior(self.class_prior, sample.classes)
        return self.fit_part(sample, sample_weight is not None, seed_sequence(self.random_state))

    def fit_part(self, sample: Sample, weighted: bool, seed: np.random.SeedSequence) -> Self:
        """Learn the measure from a validated sample, or a part of one, which may then lack some of its classes."""
        self._learn(sample, weighted, seed)
        self._remember(sample)
        return self

    def _remember(self, sample: Sample) -> None:
        self.classes_ = sample.classes
        self.n_features_in_ = sample.features.shape[1]
        self._sample = sample

    @abstractmethod
    def error(
        self,
        classifier: Any,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        random_state: Seed = None,
    ) -> ErrorEstimate:
        """Return the mass that the measure gives to the set where a trained classifier errs.

        Parameters
        ----------
        classifier : fitted object with `predict`
            It is never retrained.
        X, y : array-like, optional
            Centre the measure at these points instead of the training points; widths and posteriors stay those learned
            in `fit`.
        sample_weight : array-like, optional
            Masses of these points.
        random_state : int, SeedSequence, Generator or None
            Overrides the measure's own.
        """

    @abstractmethod
    def sample(self, n: int, *, classifier: Any = None, random_state: Seed = None) -> tuple[Any, Labels]:
        """Draw n independent pairs (x, y) from the measure, x in the form of the training features."""

    @abstractmethod
    def expectation(self, loss: PointFunction, *, classifier: Any = None, random_state: Seed = None) -> MeasuredValue:
        """Return the mean of `loss(X, y)` under the measure.

        Parameters
        ----------
        loss : callable
            Takes points in the form of the training features and their labels, and returns one finite number per point.
        classifier : fitted object with `predict`, optional
            Needed only where the measure depends on the classifier (semi-bolstering).
        random_state : int, SeedSequence, Generator or None
            Overrides the measure's own.
        """

    def probability(self, event: PointFunction, *, classifier: Any = None, random_state: Seed = None) -> MeasuredValue:
        """Return the mass of the set where `event(X, y)` is true; parameters as in `expectation`."""

        def indicator(X: Any, y: Labels) -> Floats:
            inside = np.asarray(event(X, y))
            if inside.dtype != bool:
                raise TypeError(f"event must return booleans; got {inside.dtype}. Use expectation for a loss.")
            return inside.astype(float)

        return self.expectation(indicator, classifier=classifier, random_state=random_state)

    @abstractmethod
    def _learn(self, sample: Sample, weighted: bool, seed: np.random.SeedSequence) -> None:
        """Fit the measure's parts."""

    def _check_parameters(self) -> None:
        check_sampling(self.sampling)
        check_seed(self.random_state)

    def _fitted_sample(self) -> Sample:
        if not hasattr(self, "_sample"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted; call fit(X, y) first.")
        return self._sample

    def _seed(self, random_state: Seed) -> np.random.SeedSequence:
        return seed_sequence(self.random_state if random_state is None else random_state)
