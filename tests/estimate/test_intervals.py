"""Intervals of resamplers and test sets: their ends, what they cover, what they say of themselves, and who has none."""

from __future__ import annotations

import math
import re
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, binomtest, norm
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import bayes_gresub as bg
from bayes_gresub.estimate.estimands import ThisClassifier
from bayes_gresub.estimate.intervals import BinomialInterval, BoundedMeanInterval, DeltaInterval, NestedInterval
from bayes_gresub.estimate.reasons import (
    ClassProbabilitiesUnknown,
    EqualHalves,
    EqualSplits,
    FitsShareNearlyAll,
    LearnedFromTestPoints,
    NoSpread,
    OtherClassProbabilities,
    OtherResamples,
    PlusWeights,
    SmoothedHeldOut,
    TooFewResamples,
    UnequalWeights,
)

A_TARGET = ThisClassifier()


class FirstFeature(ClassifierMixin, BaseEstimator):
    """Says whether the first feature is positive; it learns nothing, so that its error is that of the labels."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return (X[:, 0] > 0).astype(int)


def overlapping(n=40, d=2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, d))
    X[:, 0] += y
    return X, y


def with_errors(n_errors, n):
    """Return points of which `FirstFeature` misclassifies so many."""
    y = np.arange(n) % 2
    said = np.where(np.arange(n) < n_errors, 1 - y, y)
    return np.column_stack([2.0 * said - 1, np.arange(n)]), y


def fixed_classifier():
    return FirstFeature().fit(None, None)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize(("n_errors", "n"), [(0, 1), (1, 1), (0, 20), (3, 20), (20, 20), (7, 50), (1, 1000)])
def test_clopper_pearson_is_the_exact_interval_of_scipy(n_errors, n, level):
    expected = binomtest(n_errors, n).proportion_ci(confidence_level=level, method="exact")
    interval = BinomialInterval(A_TARGET, n_errors, n).interval(level)
    assert [*interval] == pytest.approx([*expected], abs=1e-10)


def divergence(p, mu):
    """Return the relative entropy of two coins."""
    return sum(a * math.log(a / b) for a, b in ((p, mu), (1 - p, 1 - mu)) if a > 0)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(("mean", "m"), [(0.5, 10), (0.03, 100), (0.2, 7.3), (0.97, 40), (0.4, 1e4)])
@pytest.mark.parametrize("end", ["low", "high"])
def test_bounded_mean_ends_where_the_entropy_reaches_its_bound(end, mean, m, level):
    interval = BoundedMeanInterval(A_TARGET, mean, m).interval(level)
    assert m * divergence(mean, getattr(interval, end)) == pytest.approx(math.log(2 / (1 - level)), rel=1e-6)


@pytest.mark.parametrize(("mean", "m"), [(0.5, 10), (0.03, 100), (0.2, 7.3), (0.97, 40), (0.0, 5), (1.0, 5)])
def test_bounded_mean_interval_holds_the_mean(mean, m):
    low, high = BoundedMeanInterval(A_TARGET, mean, m).interval(0.9)
    assert low <= mean <= high


@pytest.mark.parametrize("mean", [1e-300, 1e-15, 1e-6, 1e-3, 1 - 1e-3, 1 - 1e-6, 1 - 1e-15])
@pytest.mark.parametrize("m", [1.0, 20.0, 1000.0])
def test_bounded_mean_interval_exists_for_means_next_to_the_ends(m, mean):
    low, high = BoundedMeanInterval(A_TARGET, mean, m).interval(0.95)
    assert 0 <= low <= mean <= high <= 1


def test_interval_of_a_bolstered_test_set_exists_where_classes_are_far_apart():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 2)) + 9.0 * y[:, None]
    measure = bg.Bolstered().fit(X[:30], y[:30])
    estimate = bg.TestSet(X[30:], y[30:], measure).error(LinearDiscriminantAnalysis().fit(X[:30], y[:30]))
    low, high = estimate.interval(0.95)
    assert low <= estimate.value <= high


def test_bounded_mean_interval_shrinks_with_the_number_of_points():
    widths = [np.diff([*BoundedMeanInterval(A_TARGET, 0.2, m).interval(0.95)])[0] for m in (5, 10, 50, 1000)]
    assert widths == sorted(widths, reverse=True)


def test_bounded_mean_interval_grows_with_the_level():
    widths = [np.diff([*BoundedMeanInterval(A_TARGET, 0.2, 30).interval(level)])[0] for level in (0.5, 0.9, 0.99)]
    assert widths == sorted(widths)


@pytest.mark.parametrize("m", [1, 12, 300])
def test_bounded_mean_interval_of_mean_zero_has_a_closed_form(m):
    interval = BoundedMeanInterval(A_TARGET, 0.0, m).interval(0.95)
    assert [*interval] == pytest.approx([0, 1 - 0.025 ** (1 / m)], abs=1e-10)


@pytest.mark.parametrize("m", [1, 12, 300])
def test_bounded_mean_interval_of_mean_one_has_a_closed_form(m):
    interval = BoundedMeanInterval(A_TARGET, 1.0, m).interval(0.95)
    assert [*interval] == pytest.approx([0.025 ** (1 / m), 1], abs=1e-10)


WEIGHTS = {
    "equal": np.ones(9),
    "one heavy": np.r_[8.0, np.ones(8)],
    "two alike": np.r_[5.0, 5.0, np.full(7, 0.1)],
    "graded": np.arange(1.0, 10.0),
}


@pytest.mark.parametrize("error", [0.02, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
def test_bounded_mean_interval_covers_coins_of_any_weights(weights, error):
    """All 512 outcomes are enumerated, so nothing is random."""
    share = weights / weights.sum()
    covered = 0.0
    for outcome in product([0.0, 1.0], repeat=9):
        low, high = BoundedMeanInterval(A_TARGET, float(share @ outcome), float(1 / share.max())).interval(0.8)
        if low <= error <= high:
            covered += error ** sum(outcome) * (1 - error) ** (9 - sum(outcome))
    assert covered >= 0.8


def test_bounded_mean_interval_of_a_weighted_test_set_covers_the_error():
    """400 test sets at 4.5 s.e. below a level that the bound exceeds by far: a false alarm in less than 3e-6."""
    rng = np.random.default_rng(0)
    classifier, weights = fixed_classifier(), rng.uniform(0.1, 3.0, size=20)
    held = []
    for _ in range(400):
        X, y = with_errors(0, 20)
        y = np.where(rng.random(20) < 0.25, 1 - y, y)
        low, high = bg.TestSet(X, y, sample_weight=weights).error(classifier).interval(0.8)
        held.append(low <= 0.25 <= high)
    assert np.mean(held) >= 0.8 - 4.5 * math.sqrt(0.8 * 0.2 / 400)


@pytest.mark.parametrize("error", [0.05, 0.25, 0.5])
def test_clopper_pearson_interval_of_a_test_set_covers_the_error(error):
    """500 test sets at 4.5 s.e. below the level, three times: a false alarm in less than 1e-5 of seeds."""
    rng = np.random.default_rng(1)
    classifier = fixed_classifier()
    held = []
    for _ in range(500):
        X, y = with_errors(0, 25)
        y = np.where(rng.random(25) < error, 1 - y, y)
        low, high = bg.TestSet(X, y).error(classifier).interval(0.9)
        held.append(low <= error <= high)
    assert np.mean(held) >= 0.9 - 4.5 * math.sqrt(0.9 * 0.1 / 500)


@pytest.mark.parametrize("error", [0.01, 0.1, 0.3, 0.5])
def test_clopper_pearson_interval_of_a_test_set_covers_by_the_binomial_law(error):
    """Every number of errors weighs in with its probability, so nothing is random."""
    classifier = fixed_classifier()
    covered = 0.0
    for k in range(26):
        low, high = bg.TestSet(*with_errors(k, 25)).error(classifier).interval(0.9)
        covered += binom(25, error).pmf(k) * (low <= error <= high)
    assert covered >= 0.9


def test_plain_test_set_has_the_clopper_pearson_interval_of_its_errors():
    interval = bg.TestSet(*with_errors(4, 30)).error(fixed_classifier()).interval(0.95, method="clopper-pearson")
    expected = binomtest(4, 30).proportion_ci(confidence_level=0.95, method="exact")
    assert [*interval] == pytest.approx([*expected], abs=1e-10)


def test_weighted_test_set_has_the_bounded_mean_interval_of_its_heaviest_point():
    X, y = with_errors(4, 30)
    weights = np.linspace(1, 3, 30)
    estimate = bg.TestSet(X, y, sample_weight=weights).error(fixed_classifier())
    expected = BoundedMeanInterval(A_TARGET, np.average(np.arange(30) < 4, weights=weights), weights.sum() / 3)
    assert [*estimate.interval(0.9)] == pytest.approx([*expected.interval(0.9)], abs=1e-9)


def test_test_set_with_a_class_prior_has_the_bounded_mean_interval_of_the_rarer_class():
    X, y = with_errors(4, 30)
    X, y = X[5:], y[5:]
    wrong = fixed_classifier().predict(X) != y
    per_class = [wrong[y == label].mean() for label in (0, 1)]
    heaviest = max(0.9 / (y == 0).sum(), 0.1 / (y == 1).sum())
    estimate = bg.TestSet(X, y, bg.Empirical(class_prior=[0.9, 0.1])).error(fixed_classifier())
    expected = BoundedMeanInterval(A_TARGET, 0.9 * per_class[0] + 0.1 * per_class[1], 1 / heaviest)
    assert [*estimate.interval(0.9)] == pytest.approx([*expected.interval(0.9)], abs=1e-9)


FITTED = {"bolstered": bg.Bolstered(), "posterior probability": bg.PosteriorProbability()}


@pytest.mark.parametrize("measure", FITTED.values(), ids=FITTED)
def test_measure_fitted_to_training_data_has_the_bounded_mean_interval(measure):
    X, y = overlapping(60)
    classifier = LinearDiscriminantAnalysis().fit(X[:30], y[:30])
    estimate = bg.TestSet(X[30:], y[30:], clone(measure).fit(X[:30], y[:30])).error(classifier)
    expected = BoundedMeanInterval(A_TARGET, estimate.value, 30)
    assert [*estimate.interval(0.9, method="bounded-mean")] == pytest.approx([*expected.interval(0.9)], abs=1e-9)


@pytest.mark.parametrize("measure", FITTED.values(), ids=FITTED)
def test_measure_that_learned_from_the_test_points_has_no_interval(measure):
    X, y = overlapping(60)
    classifier = LinearDiscriminantAnalysis().fit(X[:30], y[:30])
    estimate = bg.TestSet(X[30:], y[30:], measure).error(classifier)
    assert estimate.no_interval == LearnedFromTestPoints()


def test_test_set_of_fixed_class_sizes_has_no_interval_of_an_overall_error():
    estimate = bg.TestSet(*with_errors(4, 30), bg.Empirical(sampling="separate")).error(fixed_classifier())
    assert estimate.no_interval == ClassProbabilitiesUnknown()


def test_other_class_probabilities_take_the_interval_away():
    estimate = bg.TestSet(*with_errors(4, 30)).error(fixed_classifier()).with_class_prior([0.9, 0.1])
    assert estimate.no_interval == OtherClassProbabilities()


def nested_by_hand(rule, X, y, partitions):
    """Return the centre, the standard error and the naive one by the algorithm of Bates, Hastie & Tibshirani.

    Algorithm 1, its inner folds refitted for each outer one, with its mean squared error, the correction of its bias,
    and the standard error held between the naive one and that times the root of the number of folds.
    """
    n, k = len(y), len(partitions[0])
    inner, squares, noise, plain = [], [], [], []
    for folds in partitions:
        for f, outer in enumerate(folds):
            others = [fold for g, fold in enumerate(folds) if g != f]
            losses_in = []
            for g, fold in enumerate(others):
                train = np.concatenate([other for h, other in enumerate(others) if h != g])
                said = clone(rule).fit(X[train], y[train]).predict(X[fold])
                losses_in.extend((said != y[fold]).astype(float))
            train = np.concatenate(others)
            losses_out = (clone(rule).fit(X[train], y[train]).predict(X[outer]) != y[outer]).astype(float)
            inner.extend(losses_in)
            plain.extend(losses_out)
            squares.append((np.mean(losses_in) - np.mean(losses_out)) ** 2)
            noise.append(np.var(losses_out, ddof=1) / len(losses_out))
    naive = np.std(inner, ddof=1) / math.sqrt(n)
    std_error = math.sqrt((k - 1) / k) * math.sqrt(max(0.0, np.mean(squares) - np.mean(noise)))
    bias = (1 + (k - 2) / k) * (np.mean(inner) - np.mean(plain))
    return np.mean(inner) - bias, min(max(std_error, naive), math.sqrt(k) * naive), naive


def in_partitions(resampler):
    held_out = [test for _, test in resampler.indices_]
    return [held_out[start : start + resampler.folds] for start in range(0, len(held_out), resampler.folds)]


def nested_ends(resampler, rule, X, y, level):
    center, std_error, _ = nested_by_hand(rule, X, y, in_partitions(resampler))
    half = norm.ppf((1 + level) / 2) * std_error
    return [max(0, center - half), min(1, center + half)]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("rule", [KNeighborsClassifier(1), LinearDiscriminantAnalysis()], ids=["1nn", "lda"])
def test_nested_interval_is_that_of_the_algorithm_with_folds_of_equal_size(rule, seed):
    X, y = overlapping(24, seed=seed)
    resampler = bg.CrossValidation(4, repeats=2, interval="nested", random_state=seed)
    interval = resampler.error(rule, X, y).interval(0.5)
    assert [*interval] == pytest.approx(nested_ends(resampler, rule, X, y, 0.5), abs=1e-12)


@pytest.mark.parametrize(("seed", "low", "high"), [(0, 1, 1), (3, 1.01, 1.99), (4, 2, 2)], ids=["naive", "free", "cut"])
def test_nested_standard_error_lies_between_the_naive_one_and_its_largest_multiple(seed, low, high):
    """The seeds are such that the standard error is held at the lower bound, is free, and is held at the upper one."""
    X, y = overlapping(24, seed=seed)
    resampler = bg.CrossValidation(4, repeats=2, interval="nested", random_state=seed)
    interval = resampler.error(LinearDiscriminantAnalysis(), X, y).interval(0.5)
    _, std_error, naive = nested_by_hand(LinearDiscriminantAnalysis(), X, y, in_partitions(resampler))
    assert low - 1e-12 <= std_error / naive <= high + 1e-12
    assert interval.high - interval.low == pytest.approx(2 * norm.ppf(0.75) * std_error, abs=1e-12)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_nested_interval_is_that_of_the_algorithm_with_folds_of_unequal_size(seed):
    """The authors average the losses of all points, in the inner folds and in the plain cross-validation alike."""
    X, y = overlapping(27, seed=seed)
    resampler = bg.CrossValidation(4, repeats=2, interval="nested", random_state=seed)
    interval = resampler.error(LinearDiscriminantAnalysis(), X, y).interval(0.5)
    expected = nested_ends(resampler, LinearDiscriminantAnalysis(), X, y, 0.5)
    assert [*interval] == pytest.approx(expected, abs=1e-12)


def test_nested_interval_of_a_rule_that_learns_nothing_is_centred_at_its_share_of_errors():
    """Training on fewer points costs such a rule nothing, so there is no bias to take off."""
    X, y = overlapping(27)
    resampler = bg.CrossValidation(4, stratified=False, interval="nested", random_state=0)
    low, high = resampler.error(FirstFeature(), X, y).interval(0.5)
    assert (low + high) / 2 == pytest.approx(np.mean((X[:, 0] > 0) != y), abs=1e-12)


def test_nested_interval_leaves_the_value_as_it_is():
    X, y = overlapping(24)
    plain = bg.CrossValidation(4, repeats=2, random_state=0).error(LinearDiscriminantAnalysis(), X, y)
    nested = bg.CrossValidation(4, repeats=2, interval="nested", random_state=0)
    assert nested.error(LinearDiscriminantAnalysis(), X, y).value == plain.value


def test_nested_interval_costs_a_fit_for_every_pair_of_folds():
    X, y = overlapping(24)
    resampler = bg.CrossValidation(4, repeats=2, interval="nested", random_state=0)
    assert resampler.error(LinearDiscriminantAnalysis(), X, y).computation.n_refits == 2 * (4 + 6)


SUPPORTS = {
    "clopper-pearson": lambda X, y: bg.TestSet(X, y).error(fixed_classifier()),
    "bounded-mean": lambda X, y: bg.TestSet(X, y, sample_weight=1.0 + y).error(fixed_classifier()),
    "nested-cv": lambda X, y: bg.CrossValidation(4, interval="nested", random_state=0).error(
        LinearDiscriminantAnalysis(), X, y
    ),
    "delta-bootstrap": lambda X, y: bg.Bootstrap("zero", 200, random_state=0).error(LinearDiscriminantAnalysis(), X, y),
    "wilson": lambda X, y: bg.CrossValidation(4, random_state=0).error(LinearDiscriminantAnalysis(), X, y),
    "corrected-t": lambda X, y: bg.Subsampling(10, random_state=0).error(LinearDiscriminantAnalysis(), X, y),
    "conservative-z": lambda X, y: bg.Subsampling(5, interval="conservative-z", n_pairs=3, random_state=0).error(
        LinearDiscriminantAnalysis(), X, y
    ),
}


@cache
def with_support(name):
    return SUPPORTS[name](*overlapping())


every_support = pytest.mark.parametrize("name", SUPPORTS)


@every_support
def test_interval_names_its_target(name):
    assert "error of" in str(with_support(name).interval().target)


@every_support
def test_interval_names_its_method(name):
    methods = {
        "clopper-pearson": "Clopper-Pearson",
        "bounded-mean": "Hoeffding",
        "nested-cv": "nested cross-validation",
        "delta-bootstrap": "delta method",
        "wilson": "Wilson",
        "corrected-t": "corrected resampled t",
        "conservative-z": "conservative z",
    }
    assert methods[name] in with_support(name).interval().method


@every_support
def test_interval_names_its_assumptions(name):
    assert "the points are independent" in with_support(name).interval().assumptions


@every_support
def test_interval_carries_its_level(name):
    assert with_support(name).interval(0.8).level == 0.8


@every_support
def test_interval_survives_json(name):
    estimate = with_support(name)
    assert bg.ErrorEstimate.from_json(estimate.to_json()).interval(0.8) == estimate.interval(0.8)


@every_support
def test_interval_by_its_own_name_is_the_default(name):
    estimate = with_support(name)
    assert estimate.interval(0.8, method=name) == estimate.interval(0.8)


@every_support
def test_interval_by_another_name_is_refused(name):
    with pytest.raises(ValueError, match=f"method must be '{name}'.* for this estimate; got 'hdi'"):
        with_support(name).interval(method="hdi")


@every_support
@pytest.mark.parametrize("level", [0, 1, -0.5, 95, math.nan])
def test_level_that_is_no_probability_is_refused(level, name):
    with pytest.raises(ValueError, match=f"level must be between 0 and 1; got {level}"):
        with_support(name).interval(level)


@pytest.mark.parametrize("kind", [NestedInterval, DeltaInterval])
def test_normal_interval_is_cut_off_at_zero_and_one(kind):
    assert [*kind(A_TARGET, 0.5, 10.0).interval(0.9)] == [0, 1]


@pytest.mark.parametrize("kind", [NestedInterval, DeltaInterval])
def test_normal_interval_reaches_a_normal_quantile_of_standard_errors(kind):
    half = norm.ppf(0.95) * 0.1
    assert [*kind(A_TARGET, 0.4, 0.1).interval(0.9)] == pytest.approx([0.4 - half, 0.4 + half], abs=1e-12)


WITHOUT = {
    "bolstered cross-validation": (bg.CrossValidation(4, measure=bg.Bolstered(), random_state=0), SmoothedHeldOut()),
    "leave-one-out": (bg.LeaveOneOut(), FitsShareNearlyAll()),
    "bolstered 632+": (bg.Bootstrap("632+", 20, measure=bg.Bolstered(), random_state=0), PlusWeights()),
    "bootstrap with a prior": (
        bg.Bootstrap("zero", 20, class_prior=[0.5, 0.5], random_state=0),
        UnequalWeights(),
    ),
}


@pytest.mark.parametrize(("resampler", "reason"), WITHOUT.values(), ids=WITHOUT)
def test_estimate_without_an_argument_for_an_interval_says_why(resampler, reason):
    X, y = overlapping()
    estimate = resampler.error(LinearDiscriminantAnalysis(), X, y)
    assert estimate.no_interval == reason
    with pytest.raises(ValueError, match=re.escape(f"no interval is offered for this estimate: {reason}.")):
        estimate.interval()


def test_bootstrap_of_other_size_than_the_sample_has_no_interval():
    X, y = overlapping()
    drawn = np.random.default_rng(0).integers(40, size=(20, 30))
    estimate = bg.Bootstrap("zero").error(LinearDiscriminantAnalysis(), X, y, indices=drawn)
    assert estimate.no_interval == OtherResamples()


def test_bootstrap_that_holds_out_some_of_what_it_lacks_has_no_interval():
    """The formula is for resamples that are judged at every point they lack; here the last ten never count."""
    X, y = overlapping()
    drawn = np.random.default_rng(0).integers(40, size=(200, 40))
    pairs = [(rows, np.setdiff1d(np.arange(30), rows)) for rows in drawn]
    estimate = bg.Bootstrap("zero").error(LinearDiscriminantAnalysis(), X, y, indices=pairs)
    assert estimate.no_interval == OtherResamples()


@pytest.mark.parametrize(
    "settings",
    [{"measure": bg.Bolstered()}, {"sampling": "separate"}, {"class_prior": [0.5, 0.5]}],
    ids=["smoothed", "separate", "prior"],
)
def test_nested_interval_is_for_plain_losses_only(settings):
    X, y = overlapping()
    with pytest.raises(ValueError, match="is for the losses of single points"):
        bg.CrossValidation(4, interval="nested", **settings).error(LinearDiscriminantAnalysis(), X, y)


def test_nested_interval_is_for_independent_points_only():
    X, y = overlapping()
    with pytest.raises(ValueError, match="needs independent points of equal weight"):
        bg.CrossValidation(4, interval="nested").error(LinearDiscriminantAnalysis(), X, y, groups=np.arange(40) // 4)


def far_apart(n=24):
    y = np.arange(n) % 2
    return np.random.default_rng(0).normal(size=(n, 2)) + 50 * y[:, None], y


NAMES = ["cv", "repeated-cv", "nested-cv", "corrected-t", "conservative-z", "boot-zero", "boot-632", "boot-632+"]


@pytest.mark.parametrize("name", NAMES)
def test_no_errors_have_an_upper_end(name):
    """Never an interval from 0 to 0, which would claim certainty, and never none."""
    estimate = bg.make_estimator(name, random_state=0).error(GaussianNB(), *far_apart())
    interval = estimate.interval(0.95)
    assert (estimate.value, interval.low, interval.method) == (0, 0, "Wilson's interval about the estimate")
    assert 0.05 < interval.high < 0.25


@pytest.mark.parametrize(
    ("name", "method", "reason"),
    [
        ("nested-cv", "nested-cv", NoSpread()),
        ("corrected-t", "corrected-t", EqualSplits()),
        ("conservative-z", "conservative-z", EqualHalves()),
        ("boot-zero", "delta-bootstrap", NoSpread()),
    ],
)
def test_method_that_needs_spread_is_refused_by_name_where_no_loss_differs(name, method, reason):
    estimate = bg.make_estimator(name, random_state=0).error(GaussianNB(), *far_apart())
    with pytest.raises(ValueError, match=re.escape(str(reason))):
        estimate.interval(method=method)


def test_delta_interval_needs_fifty_resamples():
    X, y = bg.datasets.PaperGaussian().sample(20, random_state=0)
    estimate = bg.Bootstrap("zero", 49, random_state=0).error(GaussianNB(), X, y)
    assert estimate.no_interval == TooFewResamples(50)
