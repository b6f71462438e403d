"""Nested cross-validation that repeats until the ends of its interval settle."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

import bayes_gresub as bg
from bayes_gresub.resampling.nested_interval import NestedMoments


class NearestMean(ClassifierMixin, BaseEstimator):
    """It is interrupted once, at one of its fits."""

    fits, stop_at = 0, -1

    def fit(self, X, y):
        type(self).fits += 1
        if type(self).fits == type(self).stop_at:
            raise KeyboardInterrupt
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == label].mean(axis=0) for label in self.classes_])
        return self

    def predict(self, X):
        return self.classes_[((X[:, None] - self.means_) ** 2).sum(axis=2).argmin(axis=1)]


@pytest.fixture(autouse=True)
def _no_stop(monkeypatch):
    monkeypatch.setattr(NearestMean, "fits", 0)
    monkeypatch.setattr(NearestMean, "stop_at", -1)


def overlapping(n=40, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 2))
    X[:, 0] += y
    return X, y


def auto(**given):
    return bg.CrossValidation(4, "auto", interval="nested", **{"random_state": 0, "max_repeats": 30} | given)


def test_noise_of_the_ends_is_that_of_other_partitions():
    """Where no bound holds the standard error, the ends of 4000 draws of 12 partitions vary as one draw estimates.

    The mean over 200 draws, within a tenth: the ends are not quite linear in the moments.
    """
    rng = np.random.default_rng(0)

    def drawn():
        inner = 0.3 + 0.005 * rng.normal(size=12)
        means = np.array([0.01 + 0.003 * rng.normal(size=12), inner, inner, inner + 0.004 * rng.normal(size=12)])
        return NestedMoments(means, n_inner=120, k=4, n=40.0)

    ends = [center + 1.96 * se for center, se in (drawn().center_and_std_error for _ in range(4000))]
    assert np.mean([drawn().end_noise(0.95) for _ in range(200)]) == pytest.approx(np.std(ends), rel=0.1)


def test_ends_have_settled_or_the_maximum_is_reached():
    for seed in range(3):
        estimate = auto(random_state=seed).error(NearestMean(), *overlapping(seed=seed))
        nested = dict(estimate.interval_method.methods)["nested-cv"]
        width = 2 * 1.959963984540054 * nested.std_error
        noise = estimate.details["interval_end_std_error"]
        assert noise <= 0.1 * width or estimate.details["repeats"] == 30


def test_repeats_end_at_the_maximum():
    estimate = auto(max_repeats=6).error(NearestMean(), *overlapping())
    assert (estimate.details["repeats"], estimate.computation.n_refits) == (6, 6 * (4 + 6))


def test_a_time_budget_ends_the_repeats():
    """What is spent before the first look is more than a budget of a nanosecond."""
    assert auto(max_seconds=1e-9).error(NearestMean(), *overlapping()).details["repeats"] == 6


def test_value_is_that_of_as_many_repeats():
    estimate = auto().error(NearestMean(), *overlapping())
    repeats = int(estimate.details["repeats"])
    fixed = bg.CrossValidation(4, repeats, interval="nested", random_state=0).error(NearestMean(), *overlapping())
    assert estimate.value == pytest.approx(fixed.value, abs=1e-12)
    assert [*estimate.interval(0.5)] == pytest.approx([*fixed.interval(0.5)], abs=1e-12)


@pytest.mark.parametrize("stop_at", [3, 35, 61, 66])
def test_interrupted_repeats_resume_to_the_same_interval(stop_at, monkeypatch):
    """Before and after partitions were added: 6 of 10 fits are planned, and there is at least one more."""
    whole = auto(random_state=1).error(NearestMean(), *overlapping(seed=1))
    assert whole.details["repeats"] > 6
    monkeypatch.setattr(NearestMean, "fits", 0)
    monkeypatch.setattr(NearestMean, "stop_at", stop_at)
    resampler = auto(random_state=1)
    with pytest.raises(KeyboardInterrupt, match="stopped after"):
        resampler.error(NearestMean(), *overlapping(seed=1))
    resumed = resampler.resume()
    assert [*resumed.interval()] == [*whole.interval()]
    assert dict(resumed.details) == dict(whole.details)


def test_ends_of_several_seeds_agree():
    """Their standard deviation over 6 seeds is about a tenth of the width or less; 0.2 is twice that."""
    X, y = overlapping(seed=2)
    ends = np.array(
        [[*auto(random_state=seed, max_repeats=60).error(GaussianNB(), X, y).interval()] for seed in range(6)]
    )
    assert (ends.std(axis=0, ddof=1) < 0.2 * np.diff(ends.mean(axis=0))).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"repeats": "auto"}, "repeats='auto' repeats until the ends of the nested interval settle"),
        ({"repeats": "many"}, "repeats must be a whole number of at least 1, or 'auto'; got 'many'"),
        (
            {"repeats": "auto", "interval": "nested", "max_repeats": 2},
            "max_repeats must be a whole number of at least 6",
        ),
        ({"repeats": "auto", "interval": "nested", "max_seconds": 0}, "max_seconds must be a positive number or None"),
    ],
)
def test_bad_parameters_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        bg.CrossValidation(4, **given).error(NearestMean(), *overlapping())


def test_splits_of_the_user_are_refused():
    with pytest.raises(ValueError, match="draws its own splits; got indices"):
        auto().error(NearestMean(), *overlapping(), indices=[np.arange(20)])
