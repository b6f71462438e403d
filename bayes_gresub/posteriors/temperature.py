"""Temperature scaling: one number corrects the probabilities of a classifier that is too confident."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bayes_gresub.data.arrays import Floats, Ints, Labels
from bayes_gresub.data.sample import encode_labels, read_labels
from bayes_gresub.data.validation import warn_user
from bayes_gresub.posteriors.posterior import checked_probabilities

_LOG_RANGE = (np.log(0.05), np.log(1000.0))


def scale_probabilities(probabilities: Floats, temperature: float) -> Floats:
    r"""Return probabilities at a temperature: :math:`p_y^{1/T}`, normalised.

    Examples
    --------
    >>> scale_probabilities(np.array([[0.9, 0.1]]), 2.0).round(2).tolist()
    [[0.75, 0.25]]
    """
    return np.asarray(softmax(_logarithms(probabilities) / temperature, axis=1))


def find_temperature(probabilities: Floats, codes: Ints, weights: Floats | None = None) -> float:
    r"""Return the temperature of the smallest log loss at points that the classifier was not trained on.

    .. math:: \hat T = \arg\min_T -\sum_i w_i \log \frac{p_{i y_i}^{1/T}}{\sum_j p_{ij}^{1/T}}

    The loss is convex in 1/T. The result is kept between 0.05 and 1000.

    Parameters
    ----------
    probabilities : ndarray of shape (n, c)
    codes : ndarray of shape (n,)
        Columns of the true classes.
    weights : ndarray of shape (n,), optional

    Examples
    --------
    >>> p = np.tile([0.99, 0.01], (4, 1))
    >>> round(find_temperature(p, np.array([0, 0, 0, 1])), 2)  # right in three of four cases: the odds should be 3
    4.18
    """
    logits = _logarithms(probabilities)
    rows = np.arange(len(codes))
    shares = np.full(len(codes), 1.0 / len(codes)) if weights is None else weights / weights.sum()

    def loss(log_temperature: float) -> float:
        return -float(shares @ log_softmax(logits / np.exp(log_temperature), axis=1)[rows, codes])

    return float(np.exp(minimize_scalar(loss, bounds=_LOG_RANGE, method="bounded", options={"xatol": 1e-6}).x))


class TemperatureScaled(ClassifierMixin, BaseEstimator):
    """A trained classifier whose probabilities are scaled by a temperature learned at held-out points.

    The softmax of a network that fits its training points is nearly 0 or 1 there, so a posterior-probability
    estimate from it is nearly 0. One number, learned at points that the network was not trained on, corrects the size
    of its logits at such points, and changes no prediction. At the training points themselves the logits stay too
    large: fit the measure to held-out points, or estimate at points without labels, `error(network, X_new)`: the
    estimate is then the mean of 1 - P(predicted class). The posterior is passed on as scikit-learn's FrozenEstimator.
    If no points can be held out, `ClassifierPosterior(rule, temperature=True)` refits out of fold.

    Parameters
    ----------
    classifier : fitted classifier with `predict_proba`

    Attributes
    ----------
    temperature_ : float
    classes_ : ndarray of shape (c,)

    References
    ----------
    Guo, Pleiss, Sun & Weinberger, On calibration of modern neural networks, ICML (2017).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.neural_network import MLPClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> network = MLPClassifier(random_state=0, max_iter=500).fit(X[:300], y[:300])
    >>> TemperatureScaled(network).fit(X[300:500], y[300:500]).temperature_ > 1.1
    True
    """

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the temperature from points that the classifier was not trained on; it is not trained again."""
        if not hasattr(self.classifier, "predict_proba"):
            raise TypeError(f"classifier must have predict_proba; {type(self.classifier).__name__} has none.")
        classes = np.asarray(self.classifier.classes_)
        probabilities = self._checked(X, classes)
        codes = encode_labels(
            read_labels(y, len(probabilities)), classes, "labels in y", "The classifier was trained without them."
        )
        if (probabilities.argmax(axis=1) == codes).all():
            warn_user(
                f"the classifier gets all {len(codes)} points right, so they show only that it should be more "
                "confident. Are they points that it was trained on? Give more points, and held-out ones."
            )
        self.temperature_ = find_temperature(probabilities, codes)
        self.classes_ = classes
        return self

    def predict(self, X: ArrayLike) -> Labels:
        """Return the predictions of the classifier."""
        check_is_fitted(self)
        return np.asarray(self.classifier.predict(X))

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return its probabilities at the learned temperature."""
        check_is_fitted(self)
        return scale_probabilities(self._checked(X, self.classes_), self.temperature_)

    def _checked(self, X: Any, classes: Labels) -> Floats:
        """Return the probabilities of the classifier; scaling would hide that they are none."""
        return checked_probabilities(self.classifier.predict_proba(X), len(X), classes, self.classifier)


def _logarithms(probabilities: Floats) -> Floats:
    return np.log(np.maximum(probabilities, 1e-300))
