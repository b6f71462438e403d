"""The test-set estimator: a measure centred at points that the classifier never saw."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone

from bayes_gresub.data.description import describe
from bayes_gresub.data.sample import read_sample
from bayes_gresub.data.seeds import Seed, seed_sequence
from bayes_gresub.data.validation import check_settings
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.estimate.estimands import MeanErrorMass, ThisClassifier
from bayes_gresub.estimate.intervals import BinomialInterval, BoundedMeanInterval, IntervalMethod, NoInterval
from bayes_gresub.estimate.reasons import LearnedFromTestPoints
from bayes_gresub.measures import Empirical
from bayes_gresub.measures.measure import Measure


class TestSet(BaseEstimator):
    r"""The mass that a measure centred at independent test points gives to the set where a classifier errs.

    .. math:: \hat\varepsilon = \nu^t_m(\{(x, y): \psi(x) \ne y\})

    With the empirical measure it is the share of test points misclassified, with the exact binomial interval of
    Clopper & Pearson. With weights, a class prior or a smoothed measure the contributions are bounded numbers, and the
    interval is Hoeffding's; smoothing points that the classifier never saw adds upward bias, which that interval
    ignores. Intervals are valid only if the classifier, the choice of its features and its parameters do not depend on
    these points.

    Parameters
    ----------
    X : array-like of shape (m, d) or (m, ...)
    y : array-like of shape (m,)
    measure : Measure, optional
        `Empirical()` by default. A fitted one, such as one fitted to the training data, keeps the widths and
        posteriors that it learned; one that is not fitted learns them from the test points.
    sample_weight : array-like of shape (m,), optional
    random_state : int, SeedSequence or None

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> estimate = bg.TestSet(X[::2], y[::2]).error(GaussianNB().fit(X[1::2], y[1::2]))
    >>> low, high = estimate.interval(0.95)
    >>> round(float(estimate), 4), round(low, 4), round(high, 4)
    (0.0533, 0.0147, 0.131)
    """

    __test__ = False  # pytest would take the name for a test case

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        measure: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        random_state: Seed = None,
    ) -> None:
        self.X = X
        self.y = y
        self.measure = measure
        self.sample_weight = sample_weight
        self.random_state = random_state

    def with_points(self, X: ArrayLike) -> TestSet:
        """Return the same test set with its points in another form."""
        return TestSet(X, self.y, self.measure, sample_weight=self.sample_weight, random_state=self.random_state)

    def error(self, classifier: Any, *, random_state: Seed = None) -> ErrorEstimate:
        """Return the error of a trained classifier at the test points.

        Parameters
        ----------
        classifier : fitted object with `predict`
        random_state : int, SeedSequence, Generator or None
            Overrides that of the test set.
        """
        measure = Empirical() if self.measure is None else self.measure
        if not isinstance(measure, Measure) or not measure.is_centred:
            raise TypeError(
                f"measure must be one that can be centred at test points, such as Empirical() or Bolstered(); got "
                f"{measure!r}."
            )
        check_settings(random_state=self.random_state)
        learned = hasattr(measure, "classes_")
        seed = self.random_state if random_state is None else random_state
        if learned:
            estimate = measure.error(classifier, self.X, self.y, sample_weight=self.sample_weight, random_state=seed)
        else:
            measure = clone(measure)
            if measure.random_state is None:
                seed = seed_sequence(seed)
                measure.set_params(random_state=seed)
            if isinstance(measure, Empirical) and measure.class_prior is None:
                # Errors can be counted at points of one class.
                sample = read_sample(self.X, self.y, self.sample_weight, least_classes=1)
                measure.fit_sample(sample, seed_sequence(measure.random_state))
            else:
                measure.fit(self.X, self.y, sample_weight=self.sample_weight)
            estimate = measure.error(classifier, random_state=seed)
        computation = replace(
            estimate.computation,
            described=f"TestSet({len(np.asarray(self.y))} points, {describe(measure)})",
        )
        interval_method = self._interval_method(estimate, measure, learned)
        return replace(estimate, computation=computation, interval_method=interval_method)

    def _interval_method(self, estimate: ErrorEstimate, measure: Measure, learned: bool) -> IntervalMethod:
        contributions, weights = estimate.contributions, estimate.point_weights
        if contributions is None or weights is None:
            raise TypeError(f"{type(measure).__name__} must give the contribution of each point.")
        if estimate.posterior_draws is not None:
            return estimate.interval_method
        plain = isinstance(measure, Empirical)
        equal = self.sample_weight is None and measure.class_prior is None
        if plain and equal:
            return BinomialInterval(ThisClassifier(), round(float(contributions.sum())), len(contributions))
        if estimate.missing.value is not None:
            return NoInterval(estimate.missing.value)
        if not plain and not learned:
            return NoInterval(LearnedFromTestPoints())
        target = ThisClassifier() if plain else MeanErrorMass()
        return BoundedMeanInterval(target, estimate.value, float(1 / weights.max()))
