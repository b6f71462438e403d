"""Intervals about an estimate with an effective number of points: formulas, limits, and who has which number."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binomtest, norm
from scipy.stats import t as student
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression

import bayes_gresub as bg
from bayes_gresub.estimate.count_intervals import BetaInterval, WilsonInterval
from bayes_gresub.estimate.estimands import ThisClassifier
from bayes_gresub.estimate.intervals import CorrectedInterval, IntervalMethod

A_TARGET = ThisClassifier()
LDA = LinearDiscriminantAnalysis()
BOTH = [WilsonInterval, BetaInterval]


class FirstFeature(ClassifierMixin, BaseEstimator):
    """It learns nothing."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return (X[:, 0] > 0).astype(int)


def overlapping(n=40, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 2))
    X[:, 0] += y
    return X, y


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(("k", "n"), [(0, 20), (3, 20), (20, 20), (7, 50), (1, 1000)])
@pytest.mark.parametrize(("kind", "method"), [(WilsonInterval, "wilson"), (BetaInterval, "exact")])
def test_whole_counts_give_the_interval_of_scipy(kind, method, k, n, level):
    expected = binomtest(k, n).proportion_ci(confidence_level=level, method=method)
    assert [*kind(A_TARGET, k / n, n).interval(level)] == pytest.approx([*expected], abs=1e-10)


@pytest.mark.parametrize(("share", "n"), [(0.1, 42.0), (0.013, 18.7), (0.93, 7.3)])
def test_wilson_ends_are_the_roots_of_its_test(share, n):
    z = norm.ppf(0.95)
    low, high = WilsonInterval(A_TARGET, share, n).interval(0.9)

    def excess(p):
        return abs(share - p) - z * np.sqrt(p * (1 - p) / n)

    assert low == pytest.approx(brentq(excess, 1e-12, share), abs=1e-9)
    assert high == pytest.approx(brentq(excess, share, 1 - 1e-12), abs=1e-9)


@pytest.mark.parametrize("n", [0.7, 12.5, 300])
def test_wilson_upper_end_without_errors_has_a_closed_form(n):
    z2 = norm.ppf(0.975) ** 2
    assert [*WilsonInterval(A_TARGET, 0.0, n).interval(0.95)] == pytest.approx([0, z2 / (n + z2)], abs=1e-12)


@pytest.mark.parametrize("n", [0.7, 12.5, 300])
def test_beta_upper_end_without_errors_has_a_closed_form(n):
    assert [*BetaInterval(A_TARGET, 0.0, n).interval(0.95)] == pytest.approx([0, 1 - 0.025 ** (1 / n)], abs=1e-12)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("share", [0.0, 0.01, 0.2, 0.5])
def test_interval_of_one_minus_the_share_is_the_mirror_image(kind, share):
    low, high = kind(A_TARGET, share, 17.3).interval(0.9)
    assert [*kind(A_TARGET, 1 - share, 17.3).interval(0.9)] == pytest.approx([1 - high, 1 - low], abs=1e-10)


@pytest.mark.parametrize("kind", BOTH)
def test_interval_shrinks_to_the_share_as_points_grow(kind):
    low, high = kind(A_TARGET, 0.2, 1e10).interval(0.95)
    assert 0.2 - 1e-4 < low < 0.2 < high < 0.2 + 1e-4


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(("estimate", "end"), [(-0.02, 0.0), (1.03, 1.0)])
def test_estimate_outside_of_the_probabilities_counts_as_the_nearest(kind, estimate, end):
    """.632+ without clipping may leave [0, 1]."""
    assert [*kind(A_TARGET, estimate, 30).interval(0.9)] == [*kind(A_TARGET, end, 30).interval(0.9)]


@pytest.mark.parametrize("method", [WilsonInterval(A_TARGET, 0.1, 4.2), CorrectedInterval(A_TARGET, 0.1, 0.02, 9)])
def test_method_survives_a_dict(method):
    assert IntervalMethod.from_dict(method.to_dict()) == method


def test_corrected_interval_has_the_quantiles_of_students_t():
    half = student(9).ppf(0.95) * 0.02
    ends = [*CorrectedInterval(A_TARGET, 0.3, 0.02, 9).interval(0.9)]
    assert ends == pytest.approx([0.3 - half, 0.3 + half], abs=1e-12)


# Effective numbers of estimators


def points_of(estimate):
    return dict(estimate.interval_method.methods)["wilson"].n_effective


@pytest.mark.parametrize(
    ("resampler", "share"),
    [
        (bg.CrossValidation(4, random_state=0), 0.6),
        (bg.CrossValidation(4, 2, random_state=0), 0.6),
        (bg.Bootstrap("632", 10, random_state=0), 0.5),
        (bg.Bootstrap("632+", 10, random_state=0), 0.8),
    ],
    ids=["cv", "repeated-cv", "632", "632+"],
)
class TestPoints:
    """How many points each estimator counts."""

    def test_number_is_a_share_of_the_points(self, resampler, share):
        estimate = resampler.error(LDA, *overlapping())
        assert points_of(estimate) == pytest.approx(share * 40)
        expected = WilsonInterval(A_TARGET, estimate.value, share * 40).interval(0.9)
        assert [*estimate.interval(0.9)] == pytest.approx([*expected], abs=1e-12)

    def test_groups_count_instead_of_their_points(self, resampler, share):
        estimate = resampler.error(LDA, *overlapping(), groups=np.arange(40) // 4)
        assert points_of(estimate) == pytest.approx(share * 10)

    def test_copies_count_once(self, resampler, share):
        X, y = overlapping()
        estimate = resampler.error(LDA, np.tile(X, (3, 1)), np.tile(y, 3))
        assert points_of(estimate) == pytest.approx(share * 40)

    def test_weights_count_by_kish(self, resampler, share):
        X, y = overlapping()
        weights = np.where(np.arange(40) < 20, 1.0, 3.0)
        estimate = resampler.error(LogisticRegression(), X, y, sample_weight=weights)
        assert points_of(estimate) == pytest.approx(share * 80**2 / (20 + 20 * 9))

    def test_class_prior_weighs_the_classes(self, resampler, share):
        """1 / sum p_y^2 / n_y: with three quarters of the mass on 20 of 40 points."""
        estimate = type(resampler)(**resampler.get_params() | {"class_prior": [0.25, 0.75]}).error(LDA, *overlapping())
        assert points_of(estimate) == pytest.approx(share / (0.25**2 / 20 + 0.75**2 / 20))
        assert [*estimate.interval(0.9)] == pytest.approx(
            [*WilsonInterval(A_TARGET, estimate.value, points_of(estimate)).interval(0.9)]
        )

    def test_all_methods_survive_json(self, resampler, share):
        estimate = resampler.error(LDA, *overlapping())
        back = bg.ErrorEstimate.from_json(estimate.to_json())
        assert back.interval_method == estimate.interval_method
        assert back.interval(0.8, "beta") == estimate.interval(0.8, "beta")


def test_other_class_probabilities_have_no_interval():
    estimate = bg.CrossValidation(4, random_state=0).error(LDA, *overlapping())
    with pytest.raises(ValueError, match="made for other class probabilities"):
        estimate.with_class_prior([0.2, 0.8]).interval()


def test_default_interval_covers_the_error_of_a_rule_that_learns_nothing():
    """Cross-validation is then a share of n points, so 0.6 n must cover more than the level.

    400 samples at 4.5 standard errors: a false alarm in less than 1e-5 of seeds.
    """
    rng = np.random.default_rng(3)
    held = []
    for _ in range(400):
        X = rng.normal(size=(40, 1))
        y = np.where(rng.random(40) < 0.2, X[:, 0] <= 0, X[:, 0] > 0).astype(int)
        low, high = bg.CrossValidation(2, stratified=False, random_state=0).error(FirstFeature(), X, y).interval(0.9)
        held.append(low <= 0.2 <= high)
    assert np.mean(held) >= 0.9 - 4.5 * np.sqrt(0.9 * 0.1 / 400)
