"""The measures that take a Gaussian process: draws of the error, what they assume, and where they lead."""

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

import bayes_gresub as bg


@pytest.fixture
def sample():
    X, y = load_iris(return_X_y=True)
    return X[50::2], y[50::2]


def test_estimate_has_draws(sample):
    classifier = LogisticRegression().fit(*sample)
    measure = bg.PosteriorProbability(bg.GaussianProcess(), random_state=0).fit(*sample)
    estimate = measure.error(classifier)
    assert estimate.draws.shape == (1000,)
    error = estimate.draws.std() / np.sqrt(1000)
    assert abs(estimate.draws.mean() - estimate.value) < 4.5 * error + 1e-3
    low, high = estimate.interval()
    assert low < estimate.value < high
    assert estimate.interval().method == "equal-tailed in-sample credible interval"
    assert "in-sample: given the training points" in estimate.interval().assumptions
    assert "in-sample credible interval" in repr(estimate)
    assert 0 < estimate.probability_below(0.1) < 1
    again = measure.error(classifier)
    np.testing.assert_array_equal(again.draws, estimate.draws)
    idata = estimate.to_inference_data()
    np.testing.assert_array_equal(idata.posterior["error"].values.ravel(), estimate.draws)
    back = bg.ErrorEstimate.from_json(estimate.to_json())
    assert back.interval() == estimate.interval()


def test_draws_follow_the_class_prior(sample):
    classifier = LogisticRegression().fit(*sample)
    measure = bg.PosteriorProbability(bg.GaussianProcess(), class_prior=[0.9, 0.1], random_state=0).fit(*sample)
    confusions = measure.error(classifier).confusion_draws
    np.testing.assert_allclose(confusions.sum(axis=2), np.broadcast_to([0.9, 0.1], (1000, 2)))


def test_other_measures(sample):
    classifier = LogisticRegression().fit(*sample)
    both = bg.BolsteredPosterior(posterior=bg.GaussianProcess(), random_state=0).fit(*sample).error(classifier)
    assert both.draws is None
    assert 0.01 < both.value < 0.25
    assert bg.PosteriorProbability(bg.KNN(3)).fit(*sample).error(classifier).draws is None


def test_draws_are_the_bayesian_bootstrap_where_labels_are_certain():
    """Labels are certain where classes are far apart; the error of what errs at k of n points is Beta(k, n - k)."""
    y = np.arange(40) % 4 == 0
    X = np.random.default_rng(0).normal(size=(40, 1)) * 0.1 + 8 * y[:, None]
    posterior = bg.GaussianProcess(lengthscale=1.0, amplitude=1e4)
    always = DummyClassifier().fit(X, y)
    estimate = bg.PosteriorProbability(posterior, draws=4000, random_state=0).fit(X, y).error(always)
    law = stats.beta(10, 30)
    assert estimate.value == pytest.approx(0.25, abs=0.005)
    assert stats.kstest(estimate.draws, law.cdf).statistic < 0.05


def test_draws_are_joint_between_classifiers(sample):
    """The same draws judge all classifiers: one errs in each as often as itself, and less than one without features."""
    classifier = LogisticRegression().fit(*sample)
    measure = bg.PosteriorProbability(bg.GaussianProcess(), random_state=0).fit(*sample)
    assert measure.has_draws
    one, same, without = (measure.error(c).draws for c in (classifier, classifier, DummyClassifier().fit(*sample)))
    np.testing.assert_array_equal(one, same)
    assert np.mean(one < without) > 0.999


def test_other_class_probabilities_keep_the_draws(sample):
    classifier = LogisticRegression().fit(*sample)
    fitted = bg.PosteriorProbability(bg.GaussianProcess(), random_state=0).fit(*sample)
    moved = fitted.error(classifier).with_class_prior([0.9, 0.1])
    direct = bg.PosteriorProbability(bg.GaussianProcess(), class_prior=[0.9, 0.1], random_state=0).fit(*sample)
    np.testing.assert_allclose(moved.draws, direct.error(classifier).draws)


def test_at_other_points_there_are_no_draws(sample):
    X, _ = load_iris(return_X_y=True)
    classifier = LogisticRegression().fit(*sample)
    estimate = bg.PosteriorProbability(bg.GaussianProcess(), random_state=0).fit(*sample).error(classifier, X[51::2])
    assert estimate.draws is None
    assert 0 < estimate.value < 0.3


def test_the_posterior_keeps_its_own_seed(sample):
    classifier = LogisticRegression().fit(*sample)
    values = {
        bg.PosteriorProbability(bg.GaussianProcess(n_inducing=6, tol=0.1, random_state=0))
        .fit(*sample)
        .error(classifier)
        .value
        for _ in range(3)
    }
    assert len(values) == 1


def test_number_of_draws_is_checked(sample):
    with pytest.raises(ValueError, match="draws must be a whole number of at least 10; got 3"):
        bg.PosteriorProbability(bg.GaussianProcess(), draws=3).fit(*sample)
