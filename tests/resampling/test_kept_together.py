"""Identical rows stay on one side of a split, alone and merged with groups; nothing changes where there are none."""

from __future__ import annotations

import functools
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import bayes_gresub as bg
from bayes_gresub.data.sample import read_sample
from bayes_gresub.resampling.kept_together import Units, read_units
from bayes_gresub.resampling.splits import dealt_splits
from bayes_gresub.resampling.zero_bootstrap import influence, zero_estimate

RESAMPLERS = {
    "cross-validation": functools.partial(bg.CrossValidation, 4, 2, random_state=0),
    "nested": functools.partial(bg.CrossValidation, 4, 2, interval="nested", random_state=0),
    "leave-one-out": functools.partial(bg.LeaveOneOut, random_state=0),
    "zero": functools.partial(bg.Bootstrap, "zero", 60, random_state=0),
    "632+": functools.partial(bg.Bootstrap, "632+", 60, random_state=0),
    "subsampling": functools.partial(bg.Subsampling, 8, random_state=0),
    "conservative": functools.partial(bg.Subsampling, 3, interval="conservative-z", n_pairs=2, random_state=0),
    "calibrated": functools.partial(bg.Calibrated, bg.Bolstered(), max_kappa=2.0, random_state=0),
}
every_resampler = pytest.mark.parametrize("name", RESAMPLERS)
pytestmark = pytest.mark.filterwarnings("ignore:kappa reached max_kappa")


class NearestMean(ClassifierMixin, BaseEstimator):
    """It predicts the class of the nearest mean, which copies of all rows leave where they are."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == label].mean(axis=0) for label in self.classes_])
        return self

    def predict(self, X):
        return self.classes_[((X[:, None] - self.means_) ** 2).sum(axis=2).argmin(axis=1)]


class FirstFeature(ClassifierMixin, BaseEstimator):
    """It learns nothing, so its error at a point is the same in every split."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return (X[:, 0] > 0).astype(int)


def noise(n=40, seed=0):
    """Labels have nothing to do with the points, so an error far from one half is a leak."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), np.arange(n) % 2


def copied(times, n=40, seed=0):
    X, y = noise(n, seed)
    return np.tile(X, (times, 1)), np.tile(y, times)


@every_resampler
def test_identical_rows_never_straddle_a_split(name):
    X, y = noise(60)
    X[10:20] = X[:10]
    X[20:24] = X[0]
    resampler = RESAMPLERS[name]()
    resampler.error(NearestMean(), X, y)
    rows = X[:, 0]
    assert not any(np.isin(rows[train], rows[test]).any() for train, test in resampler.indices_)


@every_resampler
def test_copies_apart_straddle_splits(name):
    X, y = copied(3)
    resampler = RESAMPLERS[name](repeated_rows="apart")
    resampler.error(NearestMean(), X, y)
    assert any(np.isin(X[train, 0], X[test, 0]).any() for train, test in resampler.indices_)


@every_resampler
def test_number_of_rows_that_repeat_another_is_a_detail(name):
    X, y = noise(60)
    X[10:20] = X[:10]
    assert RESAMPLERS[name]().error(NearestMean(), X, y).details["n_repeated_rows"] == 10


@every_resampler
def test_nothing_changes_where_all_rows_differ(name):
    together, apart = (
        RESAMPLERS[name](repeated_rows=how).error(NearestMean(), *noise()) for how in ("together", "apart")
    )
    assert "n_repeated_rows" not in together.details
    np.testing.assert_array_equal(together.replicate_values, apart.replicate_values)


@pytest.mark.parametrize("name", ["cross-validation", "leave-one-out", "zero", "subsampling"])
def test_copies_do_not_let_a_neighbour_see_its_own_label(name):
    """Five copies and 1NN: apart the error is near 0; the truth is one half, within 4.5 of 0.08 for 40 points."""
    X, y = copied(5)
    together, apart = (
        RESAMPLERS[name](repeated_rows=how).error(KNeighborsClassifier(1), X, y).value for how in ("together", "apart")
    )
    assert apart < 0.05
    assert abs(together - 0.5) < 0.36


def test_leave_one_out_of_copies_is_that_of_the_rows():
    values = [bg.LeaveOneOut().error(NearestMean(), *copied(times)).value for times in (1, 5)]
    assert values[0] == pytest.approx(values[1], abs=1e-12)


def test_leave_one_out_counts_each_identical_row():
    """The three copies of the only misclassified point are 3 of 9 points, left out together."""
    X = np.array([-3.0, -2.5, -2.0, 2.0, 2.5, 3.0, -1.0, -1.0, -1.0])[:, None]
    y = np.array([0, 0, 0, 1, 1, 1, 1, 1, 1])
    assert bg.LeaveOneOut().error(FirstFeature(), X, y).value == pytest.approx(3 / 9, abs=1e-12)


def test_interval_of_copies_is_that_of_the_rows():
    """Copies add no points: the resamples of groups are the same draws, so the delta method gives the same ends."""
    once, copies = (
        bg.Bootstrap("zero", 100, random_state=0).error(NearestMean(), *copied(times)).interval() for times in (1, 5)
    )
    assert [*once] == pytest.approx([*copies], abs=1e-9)


def test_influence_of_unequal_groups_has_a_closed_form():
    """For a rule that learns nothing, group g moves the mean by w_g (E_g - mean).

    All resamples of four groups are used, so nothing is random; those that leave nothing out move nothing.
    """
    X, y = noise(10)
    groups = np.repeat(np.arange(4), [1, 2, 3, 4])
    draws = [draw for draw in product(range(4), repeat=4) if len(set(draw)) < 4]
    rows = [np.concatenate([np.flatnonzero(groups == group) for group in draw]) for draw in draws]
    resampler = bg.Bootstrap("zero")
    resampler.error(FirstFeature(), X, y, groups=groups, indices=rows)
    judgements = resampler._last_run().judgements
    counts = np.array([np.bincount(draw, minlength=4) for draw in draws])
    moves, _ = influence(zero_estimate(judgements, np.full(10, 0.1)), judgements, counts, groups)
    wrong = ((X[:, 0] > 0) != y).astype(float)
    np.testing.assert_allclose(moves, np.bincount(groups, weights=wrong - wrong.mean()) / 10, atol=1e-12)


def test_text_rows_are_kept_together():
    texts = ["red dog", "blue cat", "red cat", "old dog"] * 3
    y = np.arange(12) % 2
    resampler = bg.LeaveOneOut()
    resampler.error(make_pipeline(CountVectorizer(), MultinomialNB()), texts, y)
    assert [len(test) for _, test in resampler.indices_] == [3] * 4


def test_rows_of_a_mixed_frame_are_kept_together():
    frame = pd.DataFrame({"size": [1.0, 2.0, 1.0, 3.0], "word": ["a", "b", "a", "a"]})
    units = read_units(read_sample(frame, [0, 1, 1, 0], as_rows=True), None, "together")
    assert units.codes.tolist() == [0, 1, 0, 2]


def test_rows_of_weight_zero_repeat_nothing():
    X, y = noise(40)
    X[1] = X[0]
    estimate = bg.CrossValidation(4, random_state=0).error(
        NearestMeanWeighed(), X, y, sample_weight=np.r_[0.0, np.ones(39)]
    )
    assert "n_repeated_rows" not in estimate.details


class NearestMeanWeighed(NearestMean):
    """Nearest mean that takes weights, and does not use them."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y)


# Merged with groups


def merged(groups, rows):
    X = np.array(rows, dtype=float)[:, None]
    return read_units(read_sample(X, np.arange(len(rows)) % 2), groups, "together").codes.tolist()


def test_groups_that_share_a_row_are_joined():
    assert merged([0, 0, 1, 1, 2, 2], [5, 6, 6, 7, 8, 9]) == [0, 0, 0, 0, 1, 1]


def test_chains_of_shared_rows_join_all_their_groups():
    assert merged(list("aabbccdd"), [1, 2, 2, 3, 3, 4, 8, 9]) == [0] * 6 + [1] * 2


def test_groups_that_share_no_row_stay_as_they_were():
    assert merged([2, 2, 0, 0, 1, 1], [5, 5, 6, 7, 8, 9]) == [2, 2, 0, 0, 1, 1]


def test_rows_that_join_all_groups_are_refused():
    with pytest.raises(ValueError, match="identical rows that join all of them"):
        merged([0, 0, 1, 1], [5, 6, 6, 7])


def test_rows_that_are_all_the_same_are_refused():
    with pytest.raises(ValueError, match="rows that are all the same"):
        bg.CrossValidation(2).error(NearestMean(), np.ones((8, 2)), np.arange(8) % 2)


def test_unknown_way_with_repeated_rows_is_refused():
    with pytest.raises(ValueError, match="repeated_rows must be 'together' or 'apart'; got 'merged'"):
        bg.CrossValidation(4, repeated_rows="merged").error(NearestMean(), *noise())


def test_too_few_different_rows_for_the_folds_are_refused():
    X, y = copied(20, n=3)
    with pytest.raises(ValueError, match=r"number of different rows.* use repeated_rows='apart'"):
        bg.CrossValidation(4).error(NearestMean(), X, y)


# Folds


@pytest.mark.parametrize("seed", range(5))
def test_dealt_folds_have_classes_and_sizes_in_balance(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, size=50)
    units = np.repeat(np.arange(50), sizes)
    y = (np.arange(50) % 3 == 0).astype(int)[units]
    sample = read_sample(np.arange(len(units), dtype=float)[:, None], y)
    tests = [split.test for split in dealt_splits(sample, 5, True, units, np.random.SeedSequence(seed))]
    assert sorted(np.concatenate(tests)) == list(range(len(units)))
    for label in (0, 1):
        per_fold = [int((y[test] == label).sum()) for test in tests]
        assert max(per_fold) - min(per_fold) <= 2 * sizes.max()
        units_per_fold = [len(np.unique(units[test][y[test] == label])) for test in tests]
        assert max(units_per_fold) - min(units_per_fold) <= 1


# Effective numbers


def test_effective_number_of_equal_units_is_their_number():
    assert Units(np.repeat(np.arange(7), 3)).effective_number(np.ones(21)) == pytest.approx(7)


def test_effective_number_of_unequal_weights_has_the_variance_of_their_mean():
    """The variance of a weighted mean of independent numbers, by simulation with 4.5 standard errors."""
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.1, 3.0, size=12)
    draws = rng.normal(size=(40_000, 12)) @ (weights / weights.sum())
    number = Units().effective_number(weights)
    assert draws.var() == pytest.approx(1 / number, rel=4.5 * np.sqrt(2 / 40_000))
