"""Probabilities are checked where they enter: a posterior of anyone's making gives a law or an error."""

import numpy as np
import pytest
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import StackingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

import bayes_gresub as bg
from bayes_gresub.posteriors import Posterior


def sample(n=40):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + y[:, None], y


X, Y = sample()
CLASSIFIER = LinearDiscriminantAnalysis().fit(X, Y)


def right(X, dtype=float):
    """Return probabilities that differ from point to point."""
    share = 1 / (1 + np.exp(-X.sum(axis=1)))
    return np.stack([1 - share, share], axis=1).astype(dtype)


class Fixed(ClassifierMixin, BaseEstimator):
    """Returns what a function makes of the points, whatever it is trained on."""

    def __init__(self, function, listed=(0, 1)):
        self.function = function
        self.listed = listed

    def fit(self, X, y):
        self.classes_ = np.array(self.listed)
        return self

    def predict_proba(self, X):
        return self.function(X)


class OwnPosterior(Posterior):
    """A posterior of a user's own, not made from a classifier."""

    def __init__(self, function):
        self.function = function

    def fit(self, X, y, sample_weight=None, random_state=None):
        self.classes_, self.points = np.unique(y), X
        return self

    def predict_proba(self, X):
        return self.function(X)

    def training_proba(self):
        return self.function(self.points)


def with_entry(value, row=3, column=0):
    def function(X):
        probabilities = right(X)
        probabilities[row % len(X), column] = value
        return probabilities

    return function


BAD = {
    "above one": (lambda X: np.tile([1.4, 0.0], (len(X), 1)), r"rows of predict_proba must sum to 1; got a sum of 1.4"),
    "zeros": (lambda X: np.zeros((len(X), 2)), r"must sum to 1; got a sum of 0 .* Divide each row by its sum"),
    "votes": (lambda X: np.tile([3.0, 2.0], (len(X), 1)), r"must sum to 1; got a sum of 5"),
    "NaN": (with_entry(np.nan), r"finite probabilities of at least 0; got nan from \w+ in row 3.* calibrate them"),
    "infinite": (with_entry(np.inf), r"finite probabilities of at least 0; got inf"),
    "negative": (lambda X: np.tile([1.2, -0.2], (len(X), 1)), r"probabilities of at least 0; got -0.2"),
    "one row off": (with_entry(0.9), r"must sum to 1; got a sum of [\d.]+ from \w+ in row 3"),
    "slightly off": (lambda X: right(X) + 1e-6, r"must sum to 1; got a sum of 1 from"),
    "off in single precision": (
        lambda X: right(X, np.float32) + np.float32(1e-3),
        r"must sum to 1; got a sum of 1.002",
    ),
    "one column": (lambda X: right(X)[:, 1:], r"one column for each of \[0, 1\]; got shape \(\d+, 1\)"),
    "three columns": (lambda X: np.full((len(X), 3), 1 / 3), r"got shape \(\d+, 3\) .* Columns follow its classes_"),
    "one dimension": (lambda X: right(X)[:, 1], r"one row per point .* got shape \(\d+,\)"),
    "rows missing": (lambda X: right(X)[1:], r"one row per point .* for \d+ points"),
}

NOT_NUMBERS = {
    "text": lambda X: np.full((len(X), 2), "likely"),
    "ragged": lambda X: [[1.0, 0.0]] * (len(X) - 1) + [[1.0]],
    "gradients": lambda X: torch.tensor(right(X), requires_grad=True),
    "nothing": lambda X: None,
}

POSTERIORS = {
    "out of fold": Fixed,
    "in sample": lambda function: bg.ClassifierPosterior(Fixed(function), cv=None),
    "frozen": lambda function: FrozenEstimator(Fixed(function).fit(X, Y)),
    "own": OwnPosterior,
}
MEASURES = {
    "pp": lambda posterior: bg.PosteriorProbability(posterior),
    "bolstered-pp": lambda posterior: bg.BolsteredPosterior(posterior=posterior, random_state=0),
}

every_posterior = pytest.mark.parametrize("posterior", POSTERIORS)
every_measure = pytest.mark.parametrize("measure", MEASURES)


@every_measure
@every_posterior
@pytest.mark.parametrize("kind", BAD)
def test_what_is_no_law_of_the_label_is_refused(kind, posterior, measure):
    function, message = BAD[kind]
    with pytest.raises(ValueError, match=message):
        MEASURES[measure](POSTERIORS[posterior](function)).fit(X, Y).error(CLASSIFIER)


@every_posterior
@pytest.mark.parametrize("kind", NOT_NUMBERS)
def test_what_is_no_array_of_numbers_is_refused(kind, posterior):
    expected = r"(as numbers; got a \w+ from \w+ that is no array of numbers. Return a NumPy array|got shape \(\))"
    with pytest.raises((TypeError, ValueError), match=expected):
        MEASURES["pp"](POSTERIORS[posterior](NOT_NUMBERS[kind])).fit(X, Y).error(CLASSIFIER)


@every_measure
@every_posterior
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_rounding_of_the_type_is_accepted_and_leaves_no_mass_over(dtype, posterior, measure):
    estimate = MEASURES[measure](POSTERIORS[posterior](lambda X: right(X, dtype))).fit(X, Y).error(CLASSIFIER)
    assert estimate.confusion.sum() == pytest.approx(1, abs=1e-12)


def test_probabilities_of_single_precision_give_the_sum_by_hand():
    posterior = FrozenEstimator(Fixed(lambda X: right(X, np.float32)).fit(X, Y))
    expected = np.mean(right(X)[np.arange(len(X)), 1 - CLASSIFIER.predict(X)])
    assert float(bg.PosteriorProbability(posterior).fit(X, Y).error(CLASSIFIER)) == pytest.approx(expected, abs=1e-6)


def test_columns_follow_the_classes_that_the_model_lists():
    posterior = FrozenEstimator(Fixed(lambda X: right(X)[:, ::-1], listed=(1, 0)).fit(X, Y))
    expected = np.mean(right(X)[np.arange(len(X)), 1 - CLASSIFIER.predict(X)])
    assert float(bg.PosteriorProbability(posterior).fit(X, Y).error(CLASSIFIER)) == pytest.approx(expected, abs=1e-12)


def test_model_that_lists_no_classes_is_refused():
    class Silent(Fixed):
        def fit(self, X, y):
            return self

    with pytest.raises(TypeError, match=r"must list its classes in classes_.* Silent lists none. Set classes_"):
        bg.PosteriorProbability(Silent(right)).fit(X, Y)


@pytest.mark.parametrize("kind", ["negative", "NaN", "votes"])
def test_temperature_hides_no_bad_probabilities(kind):
    function, message = BAD[kind]
    with pytest.raises(ValueError, match=message):
        bg.TemperatureScaled(Fixed(function).fit(X, Y)).fit(X, Y)


def test_stack_that_shows_its_probabilities_after_fit_is_a_posterior():
    stack = StackingClassifier([("nb", GaussianNB())], cv=3)
    estimate = bg.PosteriorProbability(bg.ClassifierPosterior(stack, cv=None)).fit(X, Y).error(CLASSIFIER)
    expected = stack.fit(X, Y).predict_proba(X)[np.arange(len(X)), 1 - CLASSIFIER.predict(X)].mean()
    assert float(estimate) == pytest.approx(expected, abs=1e-12)


class ShowsLabelsLater(ClassifierMixin, BaseEstimator):
    """Has `predict` once it is fitted, and never `predict_proba`."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.predict = lambda points: np.zeros(len(points), dtype=int)
        return self


def test_classifier_that_shows_no_probabilities_after_its_fit_is_refused():
    with pytest.raises(TypeError, match=r"must have predict_proba; ShowsLabelsLater has none. Wrap it in"):
        bg.PosteriorProbability(ShowsLabelsLater()).fit(X, Y)


def test_classifier_without_probabilities_is_still_refused_at_once():
    with pytest.raises(TypeError, match="CalibratedClassifierCV gives probabilities"):
        bg.PosteriorProbability(SVC()).fit(X, Y)


def test_ordinary_probabilities_stay_as_they_are():
    posterior = bg.ClassifierPosterior(LogisticRegression(), cv=None).fit(X, Y)
    expected = LogisticRegression().fit(X, Y).predict_proba(X)
    np.testing.assert_array_equal(posterior.training_proba(), expected)
