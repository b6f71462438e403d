"""Kernels that are clipped to the domain of the features."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import bayes_gresub as bg


class Threshold:
    """Says 1 above a value of the first feature."""

    def __init__(self, value, closed=False):
        self.value, self.closed, self.classes_ = value, closed, np.array([0, 1])

    def predict(self, X):
        above = X[:, 0] >= self.value if self.closed else X[:, 0] > self.value
        return above.astype(int)


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    return np.clip(rng.normal(0.3 + 0.4 * y[:, None], 0.2, size=(40, 2)), 0, 1), y


def measure(**given):
    return bg.Bolstered(bg.SphericalGaussian(0.3, standardize=None), n_points=1024, random_state=0, **given)


def test_what_lies_outside_is_moved_to_the_edge(sample):
    """The mass at the edge is that of the tail beyond it; 4.5 standard errors, a false alarm in 150,000."""
    X, y = sample
    at_edge = measure(bounds=(0, 1)).fit(X, y).error(Threshold(1.0, closed=True))
    tail = norm.sf((1 - X[:, 0]) / 0.3)
    right = np.where(y == 0, tail, 1 - tail).mean()
    assert abs(at_edge.value - right) < 4.5 * at_edge.std_error + 1e-12
    beyond = measure(bounds=(0, 1)).fit(X, y).error(Threshold(1.0))
    assert beyond.value == pytest.approx(0.5)


def test_inside_clipping_changes_nothing(sample):
    X, y = sample
    clipped, free = (measure(**given).fit(X, y).error(Threshold(0.5)) for given in ({"bounds": (0, 1)}, {}))
    assert clipped.value == free.value


@pytest.mark.parametrize("kind", [bg.Bolstered, bg.BolsteredPosterior])
def test_sampled_points_stay_inside(sample, kind):
    X, y = sample
    fitted = kind(bounds=(0, 1), random_state=0).fit(X, y)
    points, _ = fitted.sample(2000, random_state=0)
    assert (points.min(), points.max()) == (0.0, 1.0)
    assert kind(random_state=0).fit(X, y).sample(2000, random_state=0)[0].max() > 1
    inside = fitted.probability(lambda x, _: (x >= 0).all(axis=1) & (x <= 1).all(axis=1))
    assert inside.value == pytest.approx(1.0)


@pytest.mark.parametrize("classifier", [LogisticRegression(), DecisionTreeClassifier(max_depth=2, random_state=0)])
def test_nothing_is_called_exact(sample, classifier):
    fitted = classifier.fit(*sample)
    exact = measure().fit(*sample).error(fitted)
    clipped = measure(bounds=(0, 1)).fit(*sample).error(fitted)
    assert exact.computation.exact
    assert not clipped.computation.exact


def test_estimate_records_it(sample):
    estimate = bg.Bolstered(bounds=(0, 1), random_state=0).fit(*sample).error(Threshold(0.5))
    assert "bounds=(0, 1)" in estimate.computation.estimator
    assert estimate.computation.method.endswith("clipped to the bounds")
    assert "bounds" not in bg.Bolstered(random_state=0).fit(*sample).error(Threshold(0.5)).computation.estimator


def test_bounds_for_each_feature(sample):
    X, y = sample
    fitted = bg.Bolstered(bounds=([0, -10], [1, 10]), random_state=0).fit(X, y)
    points, _ = fitted.sample(5000, random_state=0)
    assert points[:, 0].max() == 1.0
    assert 1.0 < points[:, 1].max() < 10


def test_images_have_one_pair_for_all_pixels():
    X, y = bg.datasets.digits().sample(60, random_state=0)
    kernel = bg.DiagonalGaussian(standardize=None)
    points, _ = bg.Bolstered(kernel, bounds=(0, 1)).fit(X, y).sample(50, random_state=0)
    assert points.shape == (50, 1, 8, 8)
    assert 0 <= points.min() <= points.max() <= 1


def test_calibration_keeps_them(sample):
    calibrated = bg.Calibrated(bg.Bolstered(bounds=(0, 1)), repeats=2, step=1.0, max_kappa=5.0, random_state=0)
    estimate = calibrated.error(LogisticRegression(), *sample)
    assert "bounds=(0, 1)" in estimate.computation.estimator
    assert estimate.computation.method.endswith("clipped to the bounds")


@pytest.mark.parametrize(
    "bounds", [3, (1, 0), (0, 0), (0,), (0, 1, 2), ("a", "b"), ([0, 0, 0], [1, 1, 1]), (np.nan, 1)]
)
def test_bounds_that_are_none(sample, bounds):
    with pytest.raises(ValueError, match=r"bounds must be a pair \(low, high\)"):
        bg.Bolstered(bounds=bounds).fit(*sample)


def test_points_outside_are_refused(sample):
    X, y = sample
    with pytest.raises(ValueError, match=r"X must lie within bounds; \d+ of 40 points do not.*Widen bounds"):
        bg.Bolstered(bounds=(0.2, 1)).fit(X, y)
    fitted = bg.Bolstered(bounds=(0, 1)).fit(X, y)
    with pytest.raises(ValueError, match="X must lie within bounds; 3 of 40 points"):
        fitted.error(Threshold(0.5), np.where(np.arange(40)[:, None] < 3, 2.0, X), y)
