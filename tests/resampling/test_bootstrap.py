"""The bootstrap estimators against plain loops, enumeration of all resamples, and the spread over seeds."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import confusion_matrix
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import bayes_gresub as bg
from bayes_gresub.data.sample import read_sample
from bayes_gresub.resampling.refit import Problem
from bayes_gresub.resampling.splits import Split
from bayes_gresub.resampling.zero_bootstrap import influence, zero_estimate

CLIPS = ("efron-tibshirani", "ipred", "none")
KINDS = ("zero", "632", "632+")

every_kind = pytest.mark.parametrize("kind", KINDS)
every_clip = pytest.mark.parametrize("clip", CLIPS)


class NearestMean(ClassifierMixin, BaseEstimator):
    """The class of the nearer mean, or with `contrary` of the farther one; cheap, and 0 or 1."""

    def __init__(self, contrary=False):
        self.contrary = contrary

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        self.means_ = np.array([X[y == label].mean(axis=0) for label in (0, 1)])
        return self

    def predict(self, X):
        distances = ((X[:, None] - self.means_) ** 2).sum(axis=2)
        nearer = (distances[:, 1] < distances[:, 0]).astype(int)
        return 1 - nearer if self.contrary else nearer


def overlapping(n=20, d=2, n_classes=2, seed=0, shift=1.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, d))
    X[:, 0] += shift * y
    return X, y


def resamples(n, b, seed=0):
    """Return the rows of b resamples, shape (b, n), that hold the first two points, so that no class is lost."""
    drawn = np.random.default_rng(seed).integers(n, size=(b, n))
    drawn[:, :2] = [0, 1]
    return drawn


def left_out(rows, n):
    return np.setdiff1d(np.arange(n), rows)


def mean_losses(rule, X, y, drawn, weights=None):
    """Return the share of the times it was left out that each point was misclassified; NaN where it never was."""
    times, wrong = np.zeros(len(y)), np.zeros(len(y))
    for rows in drawn:
        extra = {} if weights is None else {"sample_weight": weights[rows]}
        classifier = clone(rule).fit(X[rows], y[rows], **extra)
        out = left_out(rows, len(y))
        times[out] += 1
        wrong[out] += classifier.predict(X[out]) != y[out]
    return np.divide(wrong, times, out=np.full(len(y), np.nan), where=times > 0)


def zero_by_hand(rule, X, y, drawn, weights=None):
    losses = mean_losses(rule, X, y, drawn, weights)
    seen = ~np.isnan(losses)
    return np.average(losses[seen], weights=None if weights is None else weights[seen])


def apparent_by_hand(rule, X, y):
    return np.mean(clone(rule).fit(X, y).predict(X) != y)


def no_information_by_hand(rule, X, y):
    """Return the share of pairs of a label and the prediction at any point that differ."""
    said = clone(rule).fit(X, y).predict(X)
    return np.mean(y[:, None] != said[None, :])


def plus_by_hand(err, e1, g, clip):
    """Return .632+ as the docstring of Bootstrap defines it."""
    capped = min(e1, g)
    in_rate = capped if clip == "efron-tibshirani" else e1
    in_correction = e1 if clip == "none" else capped
    rate = (in_rate - err) / (g - err) if e1 > err and g > err else 0.0
    return 0.368 * err + 0.632 * e1 + (in_correction - err) * 0.368 * 0.632 * rate / (1 - 0.368 * rate)


def test_zero_averages_per_point_over_the_resamples_that_leave_it_out():
    X, y = overlapping()
    drawn = resamples(20, 15)
    estimate = bg.Bootstrap("zero").error(NearestMean(), X, y, indices=drawn)
    assert estimate.value == pytest.approx(zero_by_hand(NearestMean(), X, y, drawn), abs=1e-12)


def test_zero_is_not_the_mean_over_resamples():
    X, y = overlapping()
    drawn = resamples(20, 15)
    resampler = bg.Bootstrap("zero")
    estimate = resampler.error(NearestMean(), X, y, indices=drawn)
    assert estimate.value != pytest.approx(resampler.split_errors_.mean(), abs=1e-3)


def test_contributions_of_zero_are_the_mean_losses_of_the_points():
    X, y = overlapping()
    drawn = resamples(20, 15)
    estimate = bg.Bootstrap("zero").error(NearestMean(), X, y, indices=drawn)
    expected = np.nan_to_num(mean_losses(NearestMean(), X, y, drawn))
    np.testing.assert_allclose(estimate.contributions, expected, rtol=0, atol=1e-12)


def test_points_never_left_out_are_counted():
    X, y = overlapping()
    drawn = resamples(20, 15)
    drawn[:, 2] = 7
    estimate = bg.Bootstrap("zero").error(NearestMean(), X, y, indices=drawn)
    assert estimate.details["points_never_left_out"] == sum((drawn == i).any(axis=1).all() for i in range(20)) == 3


def test_points_never_left_out_have_no_weight():
    X, y = overlapping()
    estimate = bg.Bootstrap("zero").error(NearestMean(), X, y, indices=resamples(20, 30))
    np.testing.assert_allclose(estimate.point_weights, np.r_[0, 0, np.full(18, 1 / 18)], rtol=0, atol=1e-12)


def test_632_mixes_the_apparent_error_and_zero():
    X, y = overlapping()
    drawn = resamples(20, 15)
    zero = zero_by_hand(NearestMean(), X, y, drawn)
    expected = 0.368 * apparent_by_hand(NearestMean(), X, y) + 0.632 * zero
    estimate = bg.Bootstrap("632").error(NearestMean(), X, y, indices=drawn)
    assert estimate.value == pytest.approx(expected, abs=1e-12)


def parts_by_hand(rule, X, y, drawn):
    return apparent_by_hand(rule, X, y), zero_by_hand(rule, X, y, drawn), no_information_by_hand(rule, X, y)


@every_clip
@pytest.mark.parametrize("n_classes", [2, 3])
def test_632_plus_lies_between_its_parts_by_the_overfitting_rate(n_classes, clip):
    X, y = overlapping(21, n_classes=n_classes)
    drawn = resamples(21, 15)
    drawn[:, 2] = 2
    err, e1, g = parts_by_hand(KNeighborsClassifier(3), X, y, drawn)
    assert err < e1 < g
    estimate = bg.Bootstrap("632+", clip=clip).error(KNeighborsClassifier(3), X, y, indices=drawn)
    assert estimate.value == pytest.approx(plus_by_hand(err, e1, g, clip), abs=1e-12)


def random_labels():
    """Return a sample without signal on which the zero bootstrap of 1NN exceeds the no-information rate."""
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(20, 2)), rng.permutation(np.arange(20) % 2)
    y[:2] = [0, 1]
    return X, y, resamples(20, 15)


@every_clip
def test_632_plus_where_zero_exceeds_the_no_information_rate_follows_the_clip(clip):
    X, y, drawn = random_labels()
    err, e1, g = parts_by_hand(KNeighborsClassifier(1), X, y, drawn)
    assert e1 > g > err
    estimate = bg.Bootstrap("632+", clip=clip).error(KNeighborsClassifier(1), X, y, indices=drawn)
    assert estimate.value == pytest.approx(plus_by_hand(err, e1, g, clip), abs=1e-12)


def test_632_plus_clipped_in_the_rate_and_correction_has_rate_one_at_most():
    X, y, drawn = random_labels()
    estimate = bg.Bootstrap("632+").error(KNeighborsClassifier(1), X, y, indices=drawn)
    assert estimate.details["relative_overfitting_rate"] == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("clip", ["ipred", "none"])
def test_632_plus_clipped_elsewhere_lets_the_rate_exceed_one(clip):
    X, y, drawn = random_labels()
    estimate = bg.Bootstrap("632+", clip=clip).error(KNeighborsClassifier(1), X, y, indices=drawn)
    _, e1, g = parts_by_hand(KNeighborsClassifier(1), X, y, drawn)
    assert estimate.details["relative_overfitting_rate"] == pytest.approx(e1 / g, abs=1e-12)


@every_clip
def test_632_plus_is_632_where_zero_is_no_higher_than_the_apparent_error(clip):
    X, y, drawn = *overlapping(10, seed=3), resamples(10, 4, seed=3)
    err, e1, g = parts_by_hand(NearestMean(), X, y, drawn)
    assert e1 <= err < g
    estimate = bg.Bootstrap("632+", clip=clip).error(NearestMean(), X, y, indices=drawn)
    assert estimate.value == pytest.approx(0.368 * err + 0.632 * e1, abs=1e-12)


@every_clip
def test_632_plus_is_632_where_the_rule_is_worse_than_no_information(clip):
    X, y, drawn = *overlapping(10, seed=3), resamples(10, 4, seed=3)
    err, e1, g = parts_by_hand(NearestMean(contrary=True), X, y, drawn)
    assert g <= err < e1
    estimate = bg.Bootstrap("632+", clip=clip).error(NearestMean(contrary=True), X, y, indices=drawn)
    assert estimate.value == pytest.approx(0.368 * err + 0.632 * e1, abs=1e-12)


def test_details_name_the_parts_of_632_plus():
    X, y = overlapping()
    drawn = resamples(20, 15)
    err, e1, g = parts_by_hand(NearestMean(), X, y, drawn)
    details = bg.Bootstrap("632+").error(NearestMean(), X, y, indices=drawn).details
    parts = {"apparent_error": err, "zero_bootstrap": e1, "no_information_rate": g}
    assert {name: details[name] for name in parts} == pytest.approx(parts, abs=1e-12)


@every_kind
def test_confusion_sums_to_one(kind):
    X, y = overlapping(21, n_classes=3)
    estimate = bg.Bootstrap(kind, 30, random_state=0).error(KNeighborsClassifier(3), X, y)
    assert estimate.confusion.sum() == pytest.approx(1, abs=1e-12)


@every_kind
def test_mass_off_the_diagonal_of_the_confusion_is_the_value(kind):
    X, y = overlapping(21, n_classes=3)
    estimate = bg.Bootstrap(kind, 30, random_state=0).error(KNeighborsClassifier(3), X, y)
    assert estimate.confusion.sum() - np.trace(estimate.confusion) == pytest.approx(estimate.value, abs=1e-12)


def zero_confusion_by_hand(rule, X, y, drawn):
    """Return the mean over points of the shares of what is said of each when it is left out."""
    n, c = len(y), len(np.unique(y))
    said = np.zeros((n, c))
    for rows in drawn:
        out = left_out(rows, n)
        said[out, clone(rule).fit(X[rows], y[rows]).predict(X[out])] += 1
    seen = said.any(axis=1)
    confusion = np.zeros((c, c))
    for i in np.flatnonzero(seen):
        confusion[y[i]] += said[i] / said[i].sum() / seen.sum()
    return confusion


def test_confusion_of_zero_is_the_mean_over_points_of_what_is_said_of_them():
    X, y = overlapping(21, n_classes=3)
    drawn = resamples(21, 15)
    estimate = bg.Bootstrap("zero").error(KNeighborsClassifier(3), X, y, indices=drawn)
    expected = zero_confusion_by_hand(KNeighborsClassifier(3), X, y, drawn)
    np.testing.assert_allclose(estimate.confusion, expected, rtol=0, atol=1e-12)


def test_confusion_of_632_mixes_those_of_its_parts():
    X, y = overlapping(21, n_classes=3)
    drawn = resamples(21, 15)
    apparent = confusion_matrix(y, KNeighborsClassifier(3).fit(X, y).predict(X)) / 21
    expected = 0.368 * apparent + 0.632 * zero_confusion_by_hand(KNeighborsClassifier(3), X, y, drawn)
    estimate = bg.Bootstrap("632").error(KNeighborsClassifier(3), X, y, indices=drawn)
    np.testing.assert_allclose(estimate.confusion, expected, rtol=0, atol=1e-12)


def test_confusion_of_632_plus_without_clip_is_refused_where_it_is_no_mass():
    X, y, drawn = random_labels()
    estimate = bg.Bootstrap("632+", clip="none").error(KNeighborsClassifier(1), X, y, indices=drawn)
    with pytest.raises(ValueError, match="Use clip='efron-tibshirani'"):
        _ = estimate.confusion


PRIOR = np.array([0.85, 0.15])


def per_class(confusion):
    return 1 - np.diag(confusion) / confusion.sum(axis=1)


@pytest.mark.parametrize("sampling", ["mixture", "separate"])
def test_class_prior_weighs_the_per_class_errors_of_zero(sampling):
    X, y = overlapping()
    drawn = resamples(20, 15)
    resampler = bg.Bootstrap("zero", class_prior={0: 0.85, 1: 0.15}, sampling=sampling)
    estimate = resampler.error(NearestMean(), X, y, indices=drawn)
    expected = PRIOR @ per_class(zero_confusion_by_hand(NearestMean(), X, y, drawn))
    assert estimate.value == pytest.approx(expected, abs=1e-12)


def test_class_prior_weighs_the_per_class_errors_of_632():
    X, y = overlapping()
    drawn = resamples(20, 15)
    apparent = confusion_matrix(y, NearestMean().fit(X, y).predict(X)) / 20
    errors = 0.368 * per_class(apparent) + 0.632 * per_class(zero_confusion_by_hand(NearestMean(), X, y, drawn))
    estimate = bg.Bootstrap("632", class_prior=PRIOR).error(NearestMean(), X, y, indices=drawn)
    assert estimate.value == pytest.approx(PRIOR @ errors, abs=1e-12)


@every_clip
def test_class_prior_holds_for_every_part_of_632_plus(clip):
    X, y = overlapping()
    drawn = resamples(20, 15)
    apparent = confusion_matrix(y, NearestMean().fit(X, y).predict(X), normalize="true")
    err = PRIOR @ per_class(apparent)
    e1 = PRIOR @ per_class(zero_confusion_by_hand(NearestMean(), X, y, drawn))
    g = PRIOR @ (1 - PRIOR @ apparent)
    resampler = bg.Bootstrap("632+", class_prior=PRIOR, clip=clip)
    estimate = resampler.error(NearestMean(), X, y, indices=drawn)
    assert estimate.value == pytest.approx(plus_by_hand(err, e1, g, clip), abs=1e-12)


def test_separate_sampling_without_prior_has_no_632_plus():
    X, y = overlapping()
    with pytest.raises(ValueError, match="Give class_prior, or use kind='632'"):
        bg.Bootstrap("632+", sampling="separate").error(NearestMean(), X, y)


def some_weights(n):
    return np.random.default_rng(5).uniform(0.1, 4.0, size=n)


def test_weights_of_the_points_weigh_zero_and_reach_the_rule():
    X, y = overlapping()
    drawn, weights = resamples(20, 15), some_weights(20)
    estimate = bg.Bootstrap("zero").error(GaussianNB(), X, y, sample_weight=weights, indices=drawn)
    assert estimate.value == pytest.approx(zero_by_hand(GaussianNB(), X, y, drawn, weights), abs=1e-12)


def test_weights_of_the_points_weigh_the_apparent_error():
    X, y = overlapping()
    drawn, weights = resamples(20, 15), some_weights(20)
    said = GaussianNB().fit(X, y, sample_weight=weights).predict(X)
    err = np.average(said != y, weights=weights)
    estimate = bg.Bootstrap("632").error(GaussianNB(), X, y, sample_weight=weights, indices=drawn)
    expected = 0.368 * err + 0.632 * zero_by_hand(GaussianNB(), X, y, drawn, weights)
    assert estimate.value == pytest.approx(expected, abs=1e-12)


def test_weights_of_the_points_weigh_the_no_information_rate():
    X, y = overlapping()
    weights = some_weights(20)
    said = GaussianNB().fit(X, y, sample_weight=weights).predict(X)
    share = weights / weights.sum()
    g = share @ (y[:, None] != said[None, :]) @ share
    estimate = bg.Bootstrap("632+").error(GaussianNB(), X, y, sample_weight=weights, indices=resamples(20, 15))
    assert estimate.details["no_information_rate"] == pytest.approx(g, abs=1e-12)


@every_kind
def test_rows_of_weight_zero_are_as_if_absent(kind):
    X, y = overlapping(24)
    kept = np.arange(24) % 6 != 4
    resampler = bg.Bootstrap(kind, 20, random_state=0)
    zeroed = resampler.error(GaussianNB(), X, y, sample_weight=kept.astype(float))
    dropped = resampler.error(GaussianNB(), X[kept], y[kept], sample_weight=np.ones(kept.sum()))
    assert zeroed.value == pytest.approx(dropped.value, abs=1e-12)


def test_string_labels_change_nothing():
    X, y = overlapping()
    resampler = bg.Bootstrap("632+", 20, random_state=0)
    numbers = resampler.error(KNeighborsClassifier(3), X, y)
    words = resampler.error(KNeighborsClassifier(3), X, np.array(["no", "yes"])[y])
    assert words.per_class == {"no": numbers.per_class[0], "yes": numbers.per_class[1]}


MEASURES = {"bolstered": bg.Bolstered(), "posterior probability": bg.PosteriorProbability()}


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_measure_sees_the_different_points_of_a_resample_with_their_counts(measure):
    """Fitted to the rows as drawn it would find every other point at distance 0 from its neighbour."""
    X, y = overlapping()
    drawn = resamples(20, 15)
    drawn[:, 2:4] = [2, 3]
    losses, times = np.zeros(20), np.zeros(20)
    for rows in drawn:
        classifier = LinearDiscriminantAnalysis().fit(X[rows], y[rows])
        points, counts = np.unique(rows, return_counts=True)
        fitted = clone(measure).fit(X[points], y[points], sample_weight=counts)
        out = left_out(rows, 20)
        losses[out] += fitted.error(classifier, X=X[out], y=y[out]).contributions
        times[out] += 1
    estimate = bg.Bootstrap("zero", measure=measure).error(LinearDiscriminantAnalysis(), X, y, indices=drawn)
    assert estimate.value == pytest.approx(np.mean(losses[times > 0] / times[times > 0]), abs=1e-12)


def test_apparent_error_is_that_of_the_measure_at_the_training_points():
    X, y = overlapping()
    resampler = bg.Bootstrap("632+", 20, measure=bg.Bolstered(), random_state=0)
    expected = bg.Bolstered().fit(X, y).error(LinearDiscriminantAnalysis().fit(X, y)).value
    details = resampler.error(LinearDiscriminantAnalysis(), X, y).details
    assert details["apparent_error"] == pytest.approx(expected, abs=1e-12)


def test_given_classifier_saves_the_fit_to_all_points():
    X, y = overlapping()
    resampler = bg.Bootstrap("632", 20, random_state=0)
    classifier = NearestMean().fit(X, y)
    estimate = resampler.error(NearestMean(), X, y, classifier=classifier)
    assert (estimate.computation.n_refits, estimate.value) == (
        20,
        resampler.error(NearestMean(), X, y).value,
    )


def with_rare_class(n_rare, n=12):
    X, _ = overlapping(n)
    return X, np.r_[np.zeros(n - n_rare, dtype=int), np.ones(n_rare, dtype=int)]


never_tested = pytest.mark.filterwarnings("ignore:the bootstrap tests a class:UserWarning")


@pytest.mark.parametrize("kind", ["zero", "632", "632+"])
def test_class_of_one_point_is_named_because_it_is_never_tested(kind):
    X, y = with_rare_class(1)
    with pytest.warns(UserWarning, match=r"no resample left out a point of \[1\].* Add points of these classes"):
        estimate = bg.Bootstrap(kind, 50, random_state=0).error(KNeighborsClassifier(1), X, y)
    assert estimate.details["classes_never_tested"] == 1


def test_class_of_two_points_is_tested_without_a_warning():
    estimate = bg.Bootstrap("zero", 50, random_state=0).error(KNeighborsClassifier(1), *with_rare_class(2))
    assert "classes_never_tested" not in estimate.details


@never_tested
@pytest.mark.parametrize("n_rare", [1, 2])
def test_no_resample_lacks_a_rare_class(n_rare):
    X, y = with_rare_class(n_rare)
    resampler = bg.Bootstrap("zero", 50, random_state=0)
    resampler.error(KNeighborsClassifier(1), X, y)
    assert all((y[train] == 1).any() for train, _ in resampler.indices_)


@never_tested
def test_redrawn_resamples_are_counted():
    """A class of one point among 12 is lost with probability (11/12)^12 = 0.35, so 200 are kept of 200 / 0.65.

    The number redrawn is negative binomial; 4.5 s.e. of it, a false alarm in 1e-5 of seeds.
    """
    X, y = with_rare_class(1)
    resampler = bg.Bootstrap("zero", 200, random_state=0)
    resampler.error(AlwaysZero(), X, y)
    lost = (11 / 12) ** 12
    noise = math.sqrt(200 * lost) / (1 - lost)
    assert abs(resampler.n_redrawn_ - 200 * lost / (1 - lost)) < 4.5 * noise


class AlwaysZero(ClassifierMixin, BaseEstimator):
    """Says 0, at no cost."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


@never_tested
def test_details_tell_the_number_of_redrawn_resamples():
    X, y = with_rare_class(1)
    resampler = bg.Bootstrap("zero", 50, random_state=0)
    estimate = resampler.error(KNeighborsClassifier(1), X, y)
    assert estimate.details["resamples_redrawn"] == resampler.n_redrawn_ > 0


def test_measure_with_widths_gets_two_different_points_of_each_class():
    X, y = with_rare_class(3)
    resampler = bg.Bootstrap("zero", 50, measure=bg.Bolstered(), random_state=0)
    resampler.error(LinearDiscriminantAnalysis(), X, y)
    assert min(len(np.unique(train[y[train] == 1])) for train, _ in resampler.indices_) == 2


def test_measure_with_widths_refuses_a_class_of_one_point():
    X, y = with_rare_class(1)
    with pytest.raises(ValueError, match="at least 2 different points of every class; class 1 has 1"):
        bg.Bootstrap("zero", measure=bg.Bolstered()).error(KNeighborsClassifier(1), X, y)


def test_resamples_have_as_many_points_as_the_sample():
    X, y = overlapping()
    resampler = bg.Bootstrap("zero", 20, random_state=0)
    resampler.error(KNeighborsClassifier(1), X, y)
    assert [len(train) for train, _ in resampler.indices_] == [20] * 20


def test_resamples_hold_out_all_that_they_do_not_hold():
    X, y = overlapping()
    resampler = bg.Bootstrap("zero", 20, random_state=0)
    resampler.error(KNeighborsClassifier(1), X, y)
    for train, test in resampler.indices_:
        np.testing.assert_array_equal(test, left_out(train, 20))


def test_separate_sampling_keeps_the_class_counts_of_each_resample():
    X, y = overlapping(22, n_classes=3)
    resampler = bg.Bootstrap("zero", 20, sampling="separate", random_state=0)
    resampler.error(KNeighborsClassifier(1), X, y)
    assert [np.bincount(y[train]).tolist() for train, _ in resampler.indices_] == [[8, 7, 7]] * 20


@every_kind
def test_replayed_resamples_give_the_same_value(kind):
    X, y = overlapping()
    resampler = bg.Bootstrap(kind, 20, random_state=0)
    drawn = resampler.error(NearestMean(), X, y)
    assert resampler.error(NearestMean(), X, y, indices=resampler.indices_).value == drawn.value


@every_kind
def test_errors_gives_what_a_call_of_each_kind_gives(kind):
    X, y = overlapping(30)
    rule = DecisionTreeClassifier(max_features=1)
    together = bg.Bootstrap(n_resamples=20, random_state=3).errors(rule, X, y)[kind]
    alone = bg.Bootstrap(kind, 20, random_state=3).error(rule, X, y)
    np.testing.assert_array_equal(together.replicate_values, alone.replicate_values)


def test_errors_leaves_the_kind_of_the_resampler_as_it_was():
    X, y = overlapping()
    resampler = bg.Bootstrap("zero", 10, random_state=3)
    resampler.errors(NearestMean(), X, y)
    assert resampler.kind == "zero"


def test_errors_of_an_unknown_kind_are_refused():
    X, y = overlapping()
    with pytest.raises(ValueError, match="kind must be 'zero', '632' or '632\\+'; got '633'"):
        bg.Bootstrap().errors(KNeighborsClassifier(3), X, y, kinds=["zero", "633"])


N_SEEDS = 64


@pytest.fixture(scope="module", params=[None, (0.8, 0.2)], ids=["mixture", "prior"])
def over_seeds(request):
    """Return the values and the standard errors of each kind over seeds, on one sample."""
    X, y = overlapping(14, seed=2)
    runs = [
        bg.Bootstrap(n_resamples=12, class_prior=request.param, random_state=seed).errors(NearestMean(), X, y)
        for seed in range(N_SEEDS)
    ]
    return {kind: np.array([(run[kind].value, run[kind].std_error) for run in runs]).T for kind in KINDS}


@every_kind
def test_standard_error_is_the_spread_of_the_value_over_seeds(kind, over_seeds):
    """Six comparisons at 4.5 s.e. of a standard deviation over 64 seeds: a false alarm in 4e-5 of seeds."""
    values, claimed = over_seeds[kind]
    spread = values.std(ddof=1)
    noise = math.hypot(spread / math.sqrt(2 * (N_SEEDS - 1)), claimed.std(ddof=1) / math.sqrt(N_SEEDS))
    assert abs(spread - math.sqrt(np.mean(claimed**2))) < 4.5 * noise


def enumerated(X, y, rule):
    """Return the judgements and the counts of all n^n resamples but those that leave nothing out."""
    n = len(y)
    problem = Problem(rule, read_sample(X, y), None, bg.Empirical(), np.random.SeedSequence(0))
    judged, judgements, counts = {}, [], []
    for drawn in product(range(n), repeat=n):
        held, out = tuple(np.bincount(drawn, minlength=n).tolist()), left_out(drawn, n)
        if len(out) == 0:
            continue
        # Of 232 resamples 34 differ in more than their order.
        if held not in judged:
            judged[held] = problem.judge(0, Split(np.sort(drawn), out))
        judgements.append(judged[held])
        counts.append(held)
    return judgements, np.array(counts)


def functional(p, counts, wrong):
    """Return sum_i p_i E_i(p), E_i(p) the mean error at i over resamples drawn with probabilities p that lack it."""
    n = len(p)
    weights = np.prod((n * p) ** counts, axis=1)
    lacks = counts == 0
    at_point = (weights[:, None] * lacks * wrong).sum(axis=0) / (weights[:, None] * lacks).sum(axis=0)
    return p @ at_point


def losses_of(rule, X, y, held):
    """Return which points the rule gets wrong of those that a resample with these counts lacks."""
    drawn, out = np.repeat(np.arange(len(y)), held), np.flatnonzero(np.array(held) == 0)
    wrong = np.zeros(len(y))
    wrong[out] = clone(rule).fit(X[drawn], y[drawn]).predict(X[out]) != y[out]
    return wrong


@pytest.mark.parametrize(
    "rule", [KNeighborsClassifier(1), DecisionTreeClassifier(max_depth=1, random_state=0)], ids=["1nn", "stump"]
)
@pytest.mark.parametrize("seed", [0, 1])
def test_influence_is_the_derivative_of_the_zero_bootstrap_in_the_weight_of_a_point(seed, rule):
    """Over all 256 resamples of four points there is no noise; central differences are good to 1e-8."""
    X, y = np.random.default_rng(seed).normal(size=(4, 2)), np.array([0, 0, 1, 1])
    judgements, counts = enumerated(X, y, rule)
    losses = {held: losses_of(rule, X, y, held) for held in {tuple(row) for row in counts.tolist()}}
    wrong = np.array([losses[tuple(row)] for row in counts.tolist()])

    def along(i, step):
        return functional((1 - step) * np.full(4, 0.25) + step * np.eye(4)[i], counts, wrong)

    expected = [(along(i, 1e-5) - along(i, -1e-5)) / 2e-5 / 4 for i in range(4)]
    moves, _ = influence(zero_estimate(judgements, np.full(4, 0.25)), judgements, counts)
    np.testing.assert_allclose(moves, expected, rtol=0, atol=1e-8)


def test_influences_of_all_points_sum_to_zero():
    X, y = np.random.default_rng(0).normal(size=(4, 2)), np.array([0, 0, 1, 1])
    judgements, counts = enumerated(X, y, KNeighborsClassifier(1))
    moves, _ = influence(zero_estimate(judgements, np.full(4, 0.25)), judgements, counts)
    assert moves.sum() == pytest.approx(0, abs=1e-12)


def delta_by_hand(rule, X, y, drawn, kind):
    """Return centre and standard error of the delta method after bootstrap, point by point."""
    n, b = len(y), len(drawn)
    wrong, lacks = np.zeros((b, n)), np.zeros((b, n))
    for r, rows in enumerate(drawn):
        out = left_out(rows, n)
        lacks[r, out] = 1
        wrong[r, out] = clone(rule).fit(X[rows], y[rows]).predict(X[out]) != y[out]
    losses = wrong.sum(axis=0) / lacks.sum(axis=0)
    zero = losses.mean()
    q = wrong.sum(axis=1) / n
    at_points = (clone(rule).fit(X, y).predict(X) != y).astype(float)
    share = 1.0 if kind == "zero" else 0.632
    variance = 0.0
    for i in range(n):
        held = np.array([(rows == i).sum() for rows in drawn], dtype=float)
        move = (2 + 1 / (n - 1)) * (losses[i] - zero) / n
        move += sum((held[r] - held.mean()) * q[r] for r in range(b)) / lacks[:, i].sum()
        noise = sum((held[r] - held.mean()) ** 2 * (q[r] - q.mean()) ** 2 for r in range(b)) / lacks[:, i].sum() ** 2
        other = (1 - share) * (at_points[i] - at_points.mean()) / n
        variance += (share * move + other) ** 2 - share**2 * noise
    return share * zero + (1 - share) * at_points.mean(), math.sqrt(variance)


@pytest.mark.parametrize("kind", ["zero", "632"])
def test_delta_interval_is_normal_about_the_value_with_the_influences_as_spread(kind):
    X, y = overlapping(16)
    drawn = np.random.default_rng(0).integers(16, size=(200, 16))
    center, std_error = delta_by_hand(NearestMean(), X, y, drawn, kind)
    interval = bg.Bootstrap(kind).error(NearestMean(), X, y, indices=drawn).interval(0.9, "delta-bootstrap")
    half = norm.ppf(0.95) * std_error
    assert [*interval] == pytest.approx([max(0, center - half), min(1, center + half)], abs=1e-12)


@pytest.mark.parametrize("kind", ["zero", "632"])
def test_delta_interval_is_centred_at_the_value(kind):
    X, y = overlapping(16)
    estimate = bg.Bootstrap(kind, 150, random_state=0).error(NearestMean(), X, y)
    interval = estimate.interval(0.5, "delta-bootstrap")
    assert (interval.low + interval.high) / 2 == pytest.approx(estimate.value, abs=1e-12)
