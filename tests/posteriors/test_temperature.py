"""Temperature scaling: one number that makes the log loss smallest, and what it does to a network's error estimate."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import softmax
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.neural_network import MLPClassifier

import bayes_gresub as bg
from bayes_gresub.posteriors.temperature import find_temperature, scale_probabilities


def test_temperature_of_right_shares_in_closed_form():
    """With two classes, the same odds everywhere and a share s right: log odds over T is logit(s)."""
    p = np.tile([0.999, 0.001], (10, 1))
    codes = np.array([0] * 8 + [1] * 2)
    assert find_temperature(p, codes) == pytest.approx(np.log(999) / np.log(4), rel=1e-4)


def test_temperature_is_recovered_from_labels_drawn_at_it():
    """Labels of 20,000 points drawn at temperature 3; the answer's standard error is about 0.03."""
    rng = np.random.default_rng(0)
    logits = rng.normal(scale=4, size=(20_000, 4))
    right = softmax(logits / 3, axis=1)
    codes = (rng.random((20_000, 1)) > np.cumsum(right, axis=1)[:, :-1]).sum(axis=1)
    assert find_temperature(softmax(logits, axis=1), codes) == pytest.approx(3.0, abs=0.14)


def test_log_loss_is_smallest_there():
    """Scikit-learn's loss by a search of its own."""
    rng = np.random.default_rng(1)
    p = softmax(rng.normal(scale=3, size=(200, 3)), axis=1)
    codes = rng.integers(3, size=200)
    found = minimize_scalar(lambda t: log_loss(codes, softmax(np.log(p) / t, axis=1)), bounds=(0.1, 500))
    assert log_loss(codes, scale_probabilities(p, find_temperature(p, codes))) <= found.fun + 1e-9


def test_weights_count_points():
    rng = np.random.default_rng(2)
    p = softmax(rng.normal(scale=3, size=(50, 3)), axis=1)
    codes, weights = p.argmax(axis=1), rng.integers(0, 3, size=50)
    codes[::4] = rng.integers(3, size=len(codes[::4]))
    repeated = find_temperature(np.repeat(p, weights, axis=0), np.repeat(codes, weights))
    assert find_temperature(p, codes, weights.astype(float)) == pytest.approx(repeated, rel=1e-5)


def test_probabilities_of_zero_stay_finite():
    p = scale_probabilities(np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]), 10.0)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


pytestmark = pytest.mark.filterwarnings("ignore:Stochastic Optimizer. Maximum iterations")


@pytest.fixture(scope="module")
def network():
    """Return a network that fits its 150 training digits, and what it was not trained on."""
    X, y, rest = bg.datasets.digits().draw(150, 0)
    others, labels = rest.sample.restored(rest.rows), rest.sample.labels[rest.rows]
    flat = [points.reshape(len(points), -1) for points in (X, others)]
    rule = MLPClassifier((30,), learning_rate_init=0.01, alpha=0.0, max_iter=2000, random_state=0)
    return rule, clone(rule).fit(flat[0], y), (flat[0], y), (flat[1][:300], labels[:300]), (flat[1][300:], labels[300:])


def test_predictions_stay_and_held_out_log_loss_falls(network):
    _, trained, _, held_out, rest = network
    scaled_one = bg.TemperatureScaled(trained).fit(*held_out)
    np.testing.assert_array_equal(scaled_one.predict(rest[0]), trained.predict(rest[0]))
    before, after = (log_loss(rest[1], one.predict_proba(rest[0])) for one in (trained, scaled_one))
    assert after < before


def test_out_of_fold_temperature_makes_the_estimate_of_a_network_cautious(network):
    """In sample a network that fits its points says that it never errs; out of fold 1 - P(label) errs the other way."""
    rule, trained, (X, y), _, rest = network
    truth = float((trained.predict(rest[0]) != rest[1]).mean())
    in_sample = bg.PosteriorProbability(bg.ClassifierPosterior(rule, cv=None)).fit(X, y).error(trained)
    posterior = bg.ClassifierPosterior(rule, temperature=True)
    measure = bg.PosteriorProbability(posterior, random_state=0).fit(X, y)
    estimate = measure.error(trained)
    assert in_sample.value < 0.15 * truth
    codes = np.searchsorted(measure.classes_, y)
    assert estimate.value == pytest.approx(1 - measure.posterior_.training_proba()[np.arange(150), codes].mean())
    assert truth - 0.02 < estimate.value < truth + 0.15
    assert measure.posterior_.temperature_ > 1
    assert "at temperature" in estimate.computation.space


def test_held_out_temperature_gives_the_error_at_points_without_labels(network):
    """The mean of 1 - P(predicted): at fresh points near the truth, at training points still nearly 0."""
    _, trained, (X, y), held_out, rest = network
    truth = float((trained.predict(rest[0]) != rest[1]).mean())
    posterior = FrozenEstimator(bg.TemperatureScaled(trained).fit(*held_out))
    measure = bg.PosteriorProbability(posterior).fit(X, y)
    assert abs(measure.error(trained, rest[0]).value - truth) < 0.03
    assert measure.error(trained).value < 0.5 * truth


def test_temperature_is_applied_everywhere(network):
    rule, _, (X, y), _, rest = network
    plain = bg.ClassifierPosterior(rule).fit(X, y)
    warm = bg.ClassifierPosterior(rule, temperature=True).fit(X, y)
    t = warm.temperature_
    np.testing.assert_allclose(warm.training_proba(), scale_probabilities(plain.training_proba(), t), atol=1e-9)
    np.testing.assert_allclose(
        warm.predict_proba(rest[0]), scale_probabilities(plain.predict_proba(rest[0]), t), atol=1e-9
    )
    owners = np.arange(20)
    np.testing.assert_allclose(
        warm.sampled_proba(X[:20], owners), scale_probabilities(plain.sampled_proba(X[:20], owners), t), atol=1e-9
    )
    codes = np.searchsorted(plain.classes_, y)
    assert t == pytest.approx(find_temperature(plain.training_proba(), codes))


class TestBadInput:
    """What has nothing to learn a temperature from."""

    def test_frozen_and_in_sample(self, network):
        rule, trained, (X, y), _, _ = network
        for posterior in (
            bg.ClassifierPosterior(rule, cv=None, temperature=True),
            bg.ClassifierPosterior(FrozenEstimator(trained), temperature=True),
        ):
            with pytest.raises(ValueError, match="a temperature is learned from out-of-fold probabilities"):
                posterior.fit(X, y)

    def test_training_points_warn(self, network):
        _, trained, (X, y), _, _ = network
        with pytest.warns(UserWarning, match="gets all 150 points right.*held-out ones"):
            bg.TemperatureScaled(trained).fit(X, y)

    def test_labels_that_it_does_not_know(self, network):
        _, trained, _, (X, _), _ = network
        with pytest.raises(ValueError, match="labels in y must be among"):
            bg.TemperatureScaled(trained).fit(X, np.full(len(X), 11))

    def test_no_probabilities(self):
        from sklearn.svm import LinearSVC

        with pytest.raises(TypeError, match="must have predict_proba; LinearSVC has none"):
            bg.TemperatureScaled(LinearSVC()).fit([[0.0], [1.0]], [0, 1])

    def test_classifier_is_not_fitted_again(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
        trained = LogisticRegression().fit(X, y)
        before = trained.coef_.copy()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            bg.TemperatureScaled(trained).fit(X[::-1] + 1, y)
        np.testing.assert_array_equal(trained.coef_, before)
