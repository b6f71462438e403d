"""Nested cross-validation that repeats until the ends of its interval settle."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import bayes_gresub as bg
from bayes_gresub.estimate.reasons import FewRepeats, OnePartition, RepeatsRanOut, TimeRanOut
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
    return bg.CrossValidation(4, "auto", interval="nested", **{"random_state": 0} | given)


def test_noise_of_the_ends_is_that_of_other_partitions():
    """The ends of 4000 draws of 12 partitions vary as one draw estimates, on average over 200 draws, within a tenth.

    The standard error is about .087, and one in seven is cut by its lower bound, .072.
    """
    rng = np.random.default_rng(0)

    def drawn():
        inner = 0.3 + 0.005 * rng.normal(size=12)
        means = np.array([0.01 + 0.01 * rng.normal(size=12), inner, inner, inner + 0.004 * rng.normal(size=12)])
        return NestedMoments(means, n_inner=120, k=4, n=40.0)

    ends = [center + 1.96 * se for center, se in (drawn().center_and_std_error for _ in range(4000))]
    assert np.mean([drawn().end_noise(0.95) for _ in range(200)]) == pytest.approx(np.std(ends), rel=0.1)


def test_ends_that_are_held_at_a_bound_by_all_partitions_have_no_noise():
    """The upper bound of the standard error is .089, and .12 would be the least without it; one end is cut at 0."""
    means = np.array([[0.02, 0.03, 0.04], [0.02, 0.02, 0.02], [0.02, 0.02, 0.02], [0.02, 0.02, 0.02]])
    moments = NestedMoments(means, n_inner=120, k=4, n=10.0)
    assert moments.width(0.95) == pytest.approx(0.02 + 1.96 * moments.center_and_std_error[1], abs=1e-5)
    assert moments.end_noise(0.95) < 1e-12


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_losses_that_are_all_equal_have_settled(share):
    means = np.array([[0.0] * 7, [share] * 7, [share] * 7, [share] * 7])
    assert NestedMoments(means, n_inner=120, k=4, n=40.0).is_settled(0.95)


def test_ends_have_settled_before_the_maximum():
    for seed in range(3):
        estimate = auto(random_state=seed).error(NearestMean(), *overlapping(seed=seed))
        low, high = estimate.interval()
        assert estimate.details["interval_end_std_error"] <= 0.1 * (high - low)
        assert 10 <= estimate.details["repeats"] < 200
        assert estimate.interval().unsettled is None


def test_repeats_end_at_the_maximum():
    estimate = auto(max_repeats=2).error(NearestMean(), *overlapping())
    assert (estimate.details["repeats"], estimate.computation.n_refits) == (2, 2 * (4 + 6))
    assert isinstance(estimate.interval().unsettled, RepeatsRanOut)
    assert "the 2 repeats of max_repeats did not settle them. Raise max_repeats" in repr(estimate)


def test_a_time_budget_ends_the_repeats_and_the_interval_has_the_reason():
    """What is spent before the first look is more than a budget of a nanosecond."""
    estimate = auto(max_seconds=1e-9).error(NearestMean(), *overlapping())
    interval = estimate.interval()
    noise = estimate.details["interval_end_std_error"]
    assert interval.unsettled == TimeRanOut(2, noise, pytest.approx(interval.high - interval.low), 1e-9)
    assert "max_seconds=1e-09 was over after 2 repeats" in interval.to_dict()["unsettled"]
    assert type(estimate).from_json(estimate.to_json()).interval().unsettled == interval.unsettled


def test_a_time_budget_that_is_not_spent_changes_nothing():
    without, generous = (auto(max_seconds=s).error(NearestMean(), *overlapping()) for s in (None, 1e6))
    assert generous.interval() == without.interval()
    assert dict(generous.details) == dict(without.details)


@pytest.mark.parametrize(("repeats", "kind"), [(1, OnePartition), (2, FewRepeats)])
def test_an_interval_of_few_repeats_has_the_reason_why_it_is_noise(repeats, kind):
    fixed = bg.CrossValidation(4, repeats, interval="nested", random_state=0)
    assert type(fixed.error(NearestMean(), *overlapping()).interval().unsettled) is kind


def test_value_is_that_of_as_many_repeats():
    estimate = auto().error(NearestMean(), *overlapping())
    repeats = int(estimate.details["repeats"])
    fixed = bg.CrossValidation(4, repeats, interval="nested", random_state=0).error(NearestMean(), *overlapping())
    assert estimate.value == pytest.approx(fixed.value, abs=1e-12)
    assert [*estimate.interval(0.5)] == pytest.approx([*fixed.interval(0.5)], abs=1e-12)


@pytest.mark.parametrize("stop_at", [3, 35, 101, 106])
def test_interrupted_repeats_resume_to_the_same_interval(stop_at, monkeypatch):
    """Before and after partitions were added: 10 of 10 fits are planned, and there is at least one more."""
    whole = auto(random_state=1).error(NearestMean(), *overlapping(seed=1))
    assert whole.details["repeats"] > 10
    monkeypatch.setattr(NearestMean, "fits", 0)
    monkeypatch.setattr(NearestMean, "stop_at", stop_at)
    resampler = auto(random_state=1)
    with pytest.raises(KeyboardInterrupt, match="stopped after"):
        resampler.error(NearestMean(), *overlapping(seed=1))
    resumed = resampler.resume()
    assert [*resumed.interval()] == [*whole.interval()]
    assert dict(resumed.details) == dict(whole.details)


def test_ends_of_several_seeds_agree():
    """Their standard deviation over 10 seeds is below a tenth of the width, which is what is promised.

    If it were exactly a tenth, that of 10 normal numbers would exceed .16 of the width in one of 160 runs.
    """
    X, y = overlapping(seed=2)
    rule = LinearDiscriminantAnalysis()
    ends = np.array([[*auto(random_state=seed).error(rule, X, y).interval()] for seed in range(10)])
    assert (ends.std(axis=0, ddof=1) < 0.16 * np.diff(ends.mean(axis=0))).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"repeats": "auto"}, "repeats='auto' repeats until the ends of the nested interval settle"),
        ({"repeats": "many"}, "repeats must be a whole number of at least 1, or 'auto'; got 'many'"),
        (
            {"repeats": "auto", "interval": "nested", "max_repeats": 1},
            "max_repeats must be a whole number of at least 2",
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
