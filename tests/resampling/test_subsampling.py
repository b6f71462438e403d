"""Subsampling and the intervals of Nadeau & Bengio: against formulas by hand, what splits hold, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

import bayes_gresub as bg
from bayes_gresub.data.sample import read_sample
from bayes_gresub.estimate.reasons import OneSplit
from bayes_gresub.resampling.splits import subsample_splits

LDA = LinearDiscriminantAnalysis()


def overlapping(n=60, seed=0):
    rng = np.random.default_rng(seed)
    y = (np.arange(n) % 3 == 0).astype(int)
    X = rng.normal(size=(n, 2))
    X[:, 0] += y
    return X, y


class Recorded(ClassifierMixin, BaseEstimator):
    """Nearest mean, which keeps the first feature of the rows of every fit and of every prediction."""

    trained: list[np.ndarray] = []  # noqa: RUF012
    judged: list[np.ndarray] = []  # noqa: RUF012

    def fit(self, X, y):
        type(self).trained.append(X[:, 0].copy())
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == label].mean(axis=0) for label in self.classes_])
        return self

    def predict(self, X):
        type(self).judged.append(X[:, 0].copy())
        return self.classes_[((X[:, None] - self.means_) ** 2).sum(axis=2).argmin(axis=1)]


@pytest.fixture(autouse=True)
def _nothing_recorded(monkeypatch):
    monkeypatch.setattr(Recorded, "trained", [])
    monkeypatch.setattr(Recorded, "judged", [])


def refitted_errors(resampler, X, y):
    """Return the error of each split by refits of our own."""
    return np.array(
        [np.mean(clone(LDA).fit(X[train], y[train]).predict(X[test]) != y[test]) for train, test in resampler.indices_]
    )


def test_estimate_is_the_mean_error_of_refits():
    X, y = overlapping()
    resampler = bg.Subsampling(random_state=0)
    assert resampler.error(LDA, X, y).value == pytest.approx(refitted_errors(resampler, X, y).mean(), abs=1e-12)


def test_corrected_t_is_that_of_the_formula():
    X, y = overlapping()
    resampler = bg.Subsampling(25, random_state=0)
    interval = resampler.error(LDA, X, y).interval(0.9)
    errors = refitted_errors(resampler, X, y)
    half = student(24).ppf(0.95) * np.sqrt((1 / 25 + 6 / 54) * errors.var(ddof=1))
    assert [*interval] == pytest.approx([max(0, errors.mean() - half), errors.mean() + half], abs=1e-12)


def test_corrected_t_of_repeated_cross_validation_is_that_of_the_formula():
    X, y = overlapping()
    resampler = bg.CrossValidation(6, 3, random_state=0)
    interval = resampler.error(LDA, X, y).interval(0.5, "corrected-t")
    errors = refitted_errors(resampler, X, y)
    half = student(17).ppf(0.75) * np.sqrt((1 / 18 + 1 / 5) * errors.var(ddof=1))
    assert [*interval] == pytest.approx([errors.mean() - half, errors.mean() + half], abs=1e-12)


def test_one_split_has_no_corrected_t():
    X, y = overlapping()
    estimate = bg.CrossValidation(2).error(LDA, X, y, indices=[np.arange(30)])
    with pytest.raises(ValueError, match=str(OneSplit())):
        estimate.interval(method="corrected-t")


@pytest.mark.parametrize("seed", range(3))
def test_splits_hold_out_their_share_of_each_class(seed):
    X, y = overlapping()
    resampler = bg.Subsampling(10, test_size=0.2, random_state=seed)
    resampler.error(LDA, X, y)
    for train, test in resampler.indices_:
        assert (len(test), len(train)) == (12, 48)
        assert abs(y[test].sum() - 4) <= 1


def test_every_point_has_the_same_chance_to_be_held_out():
    """Binomial counts of 2000 splits at a tenth: 60 points within 4.5 standard errors, a false alarm in 4e-4."""
    X, y = overlapping()
    splits = subsample_splits(read_sample(X, y), 2000, 6, True, np.arange(60), np.random.SeedSequence(0))
    counts = np.bincount(np.concatenate([split.test for split in splits]), minlength=60)
    assert np.abs(counts - 200).max() < 4.5 * np.sqrt(2000 * 0.1 * 0.9)


def conservative(**given):
    return bg.Subsampling(**{"n_splits": 4, "interval": "conservative-z", "n_pairs": 3, "random_state": 0} | given)


def test_conservative_z_trains_in_disjoint_halves_with_as_many_points_held_out():
    X, y = overlapping(61)
    conservative().error(Recorded(), X, y)
    fits = [(set(train), set(test)) for train, test in zip(Recorded.trained, Recorded.judged, strict=True)]
    assert len(fits) == 4 + 3 * 2 * 4
    assert {(len(train), len(test)) for train, test in fits[:4]} == {(54, 7)}
    assert {(len(train), len(test)) for train, test in fits[4:]} == {(23, 7)}
    for pair in range(3):
        first, second = (
            set.union(*(train | test for train, test in fits[start : start + 4]))
            for start in (4 + 8 * pair, 8 + 8 * pair)
        )
        assert (len(first), len(second), first & second) == (30, 30, set())


def test_conservative_z_is_that_of_the_formula():
    """The splits in the halves are read off the fits of the rule itself."""
    X, y = overlapping()
    label = dict(zip(X[:, 0], y, strict=True))
    row = dict(zip(X[:, 0], range(len(y)), strict=True))
    interval = conservative().error(Recorded(), X, y).interval(0.9)
    fits = list(zip(Recorded.trained, Recorded.judged, strict=True))
    errors = []
    for train, test in fits:
        rows, tests = [row[x] for x in train], [row[x] for x in test]
        means = [X[rows][y[rows] == code].mean(axis=0) for code in (0, 1)]
        said = [int(np.sum((X[i] - means[1]) ** 2) < np.sum((X[i] - means[0]) ** 2)) for i in tests]
        errors.append(np.mean([a != label[x] for a, x in zip(said, test, strict=True)]))
    center, halves = np.mean(errors[:4]), np.reshape(errors[4:], (3, 2, 4)).mean(axis=2)
    half = norm.ppf(0.95) * np.sqrt(((halves[:, 0] - halves[:, 1]) ** 2).sum() / 6)
    assert [*interval] == pytest.approx([max(0, center - half), min(1, center + half)], abs=1e-12)


@pytest.mark.long
def test_conservative_variance_is_not_below_that_of_the_estimate():
    """Over 120 samples of 40 points the mean of its estimates must exceed the variance of the estimates themselves.

    The ratio is about 2 here, and its standard error about 0.3: a false alarm in less than 1e-3 of seeds.
    """
    population = bg.datasets.PaperGaussian()
    estimates, variances = [], []
    for seed in range(120):
        X, y = population.sample(40, random_state=seed)
        estimate = conservative(n_splits=3, n_pairs=2, random_state=seed).error(GaussianNB(), X, y)
        estimates.append(estimate.value)
        method = dict(estimate.interval_method.methods)["conservative-z"]
        variances.append(0.0 if method.reason else method.std_error**2)
    assert np.mean(variances) > np.var(estimates, ddof=1)


def test_too_few_points_in_a_half_are_refused():
    X, y = overlapping(12)
    with pytest.raises(ValueError, match=r"trains on half the points.* use interval='corrected-t'"):
        conservative(test_size=0.4).error(LDA, X, y)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_splits": 1}, "n_splits must be a whole number of at least 2"),
        ({"test_size": 1.0}, "test_size must be a number between 0 and 1; got 1.0"),
        ({"interval": "nested"}, "unknown interval 'nested'; the names are"),
        ({"n_pairs": 0}, "n_pairs must be a whole number of at least 1"),
        ({"stratified": "yes"}, "stratified must be True or False"),
    ],
)
def test_bad_parameters_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        bg.Subsampling(**given).error(LDA, *overlapping())


def test_share_that_leaves_nothing_to_train_on_is_refused():
    with pytest.raises(ValueError, match="test_size must leave at least one of 60 points to train on"):
        bg.Subsampling(test_size=0.999).error(LDA, *overlapping())
