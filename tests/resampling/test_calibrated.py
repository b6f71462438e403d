"""Kappa calibration: where the search stops, which fits failed, and what the calibrated estimate is made of."""

from __future__ import annotations

import functools

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from scipy.stats import chi, norm
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import bayes_gresub as bg
from bayes_gresub.estimate.reasons import RandomKappa
from bayes_gresub.resampling import CalibrationTrace
from bayes_gresub.resampling.kappa_search import bisection, failed_fits, search

some = settings(max_examples=100, deadline=None, derandomize=True)

# The search


def curve(*biases):
    """Return a function of kappas that reads one repeat's biases off a list, 0.1 apart; far off behind its end."""

    def biases_at(kappas):
        numbers = [round((kappa - 1) / 0.1) for kappa in kappas]
        return np.array([[biases[number] if number < len(biases) else 9.0 + number] for number in numbers])

    return biases_at


def found(*biases, max_kappa=10.0, patience=2):
    return search(curve(*biases), np.array([False]), 0.1, max_kappa, patience)


def rows_of(biases, step=0.1):
    """Return a function from kappas to their rows of biases."""
    return lambda kappas: biases[np.round((np.array(kappas) - 1) / step).astype(int)]


def found_in_replicates(*replicates):
    """Search the curve of one repeat whose biases are sampled, each given as its replicates."""
    return search(rows_of(np.array(replicates)[:, None]), np.array([False]), 0.1, 1.7)


def test_search_stops_after_two_failures_in_a_row():
    trace, _ = found(-0.5, -0.4, -0.3, -0.35, -0.36, 0.0)
    assert len(trace.kappas) == 5


def test_search_chooses_the_smallest_magnitude():
    trace, _ = found(-0.5, -0.4, -0.3, -0.35, -0.36, 0.0)
    assert trace.kappa == 1.2


def test_search_goes_on_after_a_single_failure():
    trace, _ = found(-0.5, -0.4, -0.45, -0.3, -0.35, -0.4)
    assert (len(trace.kappas), trace.kappa) == (6, 1.3)


def test_search_goes_on_after_single_failures_that_are_apart():
    trace, _ = found(-0.5, -0.6, -0.4, -0.5, -0.3, -0.4, -0.2, -0.3, -0.4)
    assert (len(trace.kappas), trace.kappa) == (9, 1.6)


def test_search_compares_with_the_kappa_before_and_not_with_the_best():
    """0.2 and 0.15 are both above the best, but the second fell."""
    trace, _ = found(-0.3, -0.1, -0.2, -0.15, -0.2, -0.25)
    assert (len(trace.kappas), trace.kappa) == (6, 1.1)


def test_search_looks_at_magnitudes_not_signs():
    trace, _ = found(-0.2, -0.1, 0.05, 0.15, 0.25)
    assert (len(trace.kappas), trace.kappa) == (5, 1.2)


def test_bias_that_stays_equal_has_failed_to_fall():
    trace, _ = found(-0.3, -0.3, -0.3, -0.1)
    assert (len(trace.kappas), trace.kappa) == (3, 1.0)


def test_first_of_equal_magnitudes_is_chosen():
    trace, _ = found(-0.3, -0.1, 0.1, 0.2)
    assert trace.kappa == 1.1


def test_pessimistic_estimator_stays_as_it_is():
    trace, _ = found(0.1, 0.2, 0.3)
    assert (len(trace.kappas), trace.kappa) == (3, 1.0)


def test_kappas_are_those_that_are_printed():
    """1 + 3 * 0.1 is 1.3000000000000003 in floating point."""
    trace, _ = found(*np.linspace(-1.0, -0.05, 15))
    assert trace.kappas[:12].tolist() == [1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2.0, 2.1]


@pytest.mark.parametrize("step", [0.05, 0.25, 1.0, 3])
def test_kappas_are_a_step_apart(step):
    def falling(kappas):
        return -1 / np.array(kappas)[:, None]

    trace, _ = search(falling, np.array([False]), step, 4.0)
    np.testing.assert_allclose(trace.kappas, np.arange(1.0, 4.0 + 1e-9, step), rtol=1e-12)


def test_search_that_still_falls_ends_at_the_cap():
    trace, capped = found(*np.linspace(-1.0, -0.5, 100))
    assert (len(trace.kappas), trace.kappas[-1], trace.kappa, capped) == (91, 10.0, 10.0, True)


def test_cap_between_two_kappas_is_not_exceeded():
    trace, capped = found(-0.5, -0.4, -0.3, -0.2, max_kappa=1.25)
    assert (trace.kappas.tolist(), capped) == ([1.0, 1.1, 1.2], True)


def test_search_that_ends_by_itself_is_not_capped():
    _, capped = found(-0.5, -0.4, -0.45, -0.46)
    assert not capped


def test_search_that_ends_by_itself_at_the_cap_is_not_capped():
    _, capped = found(-0.5, -0.4, -0.45, -0.46, max_kappa=1.3)
    assert not capped


def test_single_failure_at_the_cap_is_no_end():
    trace, capped = found(-0.5, -0.4, -0.45, max_kappa=1.2)
    assert (trace.kappa, capped) == (1.1, True)


def test_no_kappa_is_tried_twice():
    asked = []

    def biases_at(kappas):
        asked.extend(kappas)
        return curve(*np.linspace(-1.0, -0.1, 30))(kappas)

    search(biases_at, np.array([False]), 0.1, 10.0)
    assert asked == sorted(set(asked))


def test_rough_bias_is_the_mean_over_repeats():
    """Each repeat alone has its least magnitude elsewhere."""
    biases = np.array([[-0.5, 0.1], [-0.3, 0.2], [-0.3, 0.3], [-0.3, 0.5], [-0.3, 0.6]])
    trace, _ = search(rows_of(biases), np.array([False, False]), 0.1, 1.4)
    np.testing.assert_allclose(trace.rough_bias, [-0.2, -0.05, 0.0, 0.1, 0.15], atol=1e-15)
    assert trace.kappa == 1.2


def test_search_leaves_failed_repeats_out():
    biases = np.array([[-0.5, 0.9], [-0.3, -0.9], [-0.1, 0.9], [-0.2, 0.2], [-0.3, 0.3]])
    trace, _ = search(rows_of(biases), np.array([False, True]), 0.1, 1.4)
    np.testing.assert_array_equal(trace.rough_bias, biases[:, 0])
    assert trace.kappa == 1.2


def test_biases_of_failed_repeats_are_kept_for_the_plot():
    biases = np.array([[-0.5, 0.9], [-0.6, -0.9], [-0.7, 0.9]])
    trace, _ = search(rows_of(biases), np.array([False, True]), 0.1, 1.2)
    np.testing.assert_array_equal(trace.biases, biases)


@pytest.mark.parametrize(("patience", "tried", "kappa"), [(1, 3, 1.1), (2, 6, 1.3), (3, 10, 1.6)])
def test_search_ends_after_as_many_failures_in_a_row_as_patience_says(patience, tried, kappa):
    trace, _ = found(-0.5, -0.4, -0.45, -0.3, -0.35, -0.4, -0.2, -0.25, -0.3, -0.35, 0.0, patience=patience)
    assert (len(trace.kappas), trace.kappa) == (tried, kappa)


def test_rise_within_the_noise_is_no_failure():
    """The means rise by 0.01 and 0.02 with a standard error of 0.1; only then comes a fall, and two failures."""
    trace, _ = found_in_replicates(
        [-0.5, -0.5], [-0.41, -0.61], [-0.42, -0.62], [-0.2, -0.2], [-0.3, -0.3], [-0.4, -0.4], [0.0, 0.0], [0.0, 0.0]
    )
    assert (len(trace.kappas), trace.kappa) == (6, 1.3)


def test_slow_rise_is_a_failure_as_soon_as_it_shows():
    """Rising by 0.012 a kappa with a standard error of 0.02 it shows at the fourth; the fifth is nearly noiseless."""
    rising = [[-0.5 - 0.012 * k + sign * 0.02 * (k > 0) for sign in (1, -1)] for k in range(8)]
    trace, capped = found_in_replicates(*rising)
    assert (len(trace.kappas), trace.kappa, capped) == (6, 1.0, False)


def test_noise_that_hides_everything_ends_at_the_cap():
    hidden = [[-2.0 - 0.01 * k + sign * 0.3 * (k > 0) for sign in (1, -1)] for k in range(8)]
    trace, capped = found_in_replicates(*hidden)
    assert (len(trace.kappas), capped) == (8, True)


def test_bias_that_noise_hides_from_zero_cannot_fall_further():
    """At -0.1 with a standard error of 0.1 nothing is left to gain; -0.9 before it was a clear fall."""
    plateau = [[-0.9, -0.9], *([-0.1 + sign * 0.1 for sign in (1, -1)] for _ in range(7))]
    trace, capped = found_in_replicates(*plateau)
    assert (len(trace.kappas), trace.kappa, capped) == (4, 1.1, False)


def test_biases_in_the_trace_are_means_over_replicates():
    trace, _ = found_in_replicates(*([-0.1 * k - 0.2, -0.1 * k - 0.4] for k in range(8)))
    np.testing.assert_allclose(trace.biases[:, 0], [-0.3, -0.4, -0.5], rtol=1e-12)


@some
@given(st.lists(st.integers(1, 20), min_size=4, max_size=150), st.integers(1, 400))
def test_bisection_comes_to_what_steps_come_to_where_the_bias_grows(rises, start):
    """Strictly growing biases: magnitudes fall to the crossing of 0 and rise from there."""
    biases = (np.cumsum(rises) - start) / 400
    last = 1 + 0.1 * (len(biases) - 1)
    by_steps, _ = search(rows_of(biases[:, None]), np.array([False]), 0.1, last)
    halved, capped = bisection(rows_of(biases[:, None]), np.array([False]), 0.1, last)
    assert halved.kappa == by_steps.kappa
    assert capped == (biases[-1] < 0)
    assert len(halved.kappas) <= 2 * np.log2(len(biases)) + 3
    assert (np.diff(halved.kappas) > 0).all()


def test_bisection_leaves_failed_repeats_out_and_averages_replicates():
    grid = np.linspace(-0.5, 0.5, 41)
    biases = np.stack([np.stack([grid - 0.1, grid + 0.1], axis=1), np.full((41, 2), 9.0)], axis=1)
    trace, _ = bisection(rows_of(biases), np.array([False, True]), 0.1, 5.0)
    assert trace.kappa == 3.0
    np.testing.assert_allclose(trace.rough_bias[trace.kappas == 3.0], 0.0, atol=1e-12)
    assert (trace.biases[:, 1] == 9.0).all()


def test_bisection_of_a_bias_that_is_positive_stays_at_one():
    asked = []

    def biases_at(kappas):
        asked.extend(kappas)
        return np.full((len(kappas), 1), 0.2)

    trace, capped = bisection(biases_at, np.array([False]), 0.1, 20.0)
    assert (trace.kappa, capped, asked) == (1.0, False, [1.0])


def test_bisection_through_the_estimator():
    X, y = sample()
    measure = bg.Bolstered(bg.DiagonalGaussian(), random_state=0)
    by_steps, halved = (
        bg.Calibrated(measure, repeats=3, search=how, patience=5, random_state=0) for how in ("steps", "bisection")
    )
    for one in (by_steps, halved):
        one.error(LinearDiscriminantAnalysis(), X, y)
    assert halved.kappa_ == by_steps.kappa_
    assert len(halved.trace_.kappas) < len(by_steps.trace_.kappas)
    with pytest.raises(ValueError, match="unknown search 'bisect'; the names are bisection"):
        bg.Calibrated(measure, search="bisect").error(LinearDiscriminantAnalysis(), X, y)


@some
@given(st.lists(st.integers(-20, 20), min_size=2, max_size=40))
def test_search_is_that_of_the_plain_loop(numbers):
    biases = [number / 20 for number in numbers]
    trace, _ = found(*biases)
    magnitudes, fails = [abs(biases[0])], 0
    for number in range(1, 91):
        magnitudes.append(abs(biases[number]) if number < len(biases) else 9.0 + number)
        fails = fails + 1 if magnitudes[-1] >= magnitudes[-2] else 0
        if fails == 2:
            break
    assert len(trace.kappas) == len(magnitudes)
    assert trace.kappa == round(1 + 0.1 * magnitudes.index(min(magnitudes)), 10)


# The trace


def test_standard_error_of_the_rough_bias_is_that_over_repeats():
    biases = np.array([[-0.3, -0.1, 0.7], [0.1, 0.2, 0.9]])
    trace = CalibrationTrace(np.array([1.0, 1.1]), biases, np.array([False, False, True]), 1.1)
    np.testing.assert_allclose(trace.std_error, [0.1, 0.05], rtol=1e-12)


def test_standard_error_of_one_repeat_is_unknown():
    trace = CalibrationTrace(np.array([1.0, 1.1]), np.array([[0.1], [0.2]]), np.array([False]), 1.0)
    assert np.isnan(trace.std_error).all()


# Which fits failed


def test_fit_far_above_the_others_failed():
    errors = np.array([0.08, 0.82, 0.11, 0.09, 0.10])
    assert failed_fits(errors, 120, 0.9).tolist() == [False, True, False, False, False]


def test_two_of_five_fits_may_fail():
    errors = np.array([0.08, 0.82, 0.11, 0.80, 0.10])
    assert failed_fits(errors, 120, 0.9).tolist() == [False, True, False, True, False]


def test_one_of_two_fits_may_fail():
    assert failed_fits(np.array([0.9, 0.1]), 120, 0.9).tolist() == [True, False]


def test_single_fit_has_nothing_to_be_compared_with():
    assert failed_fits(np.array([0.9]), 120, 0.9).tolist() == [False]


@pytest.mark.parametrize("error", [0.0, 0.3, 0.9, 1.0])
def test_equal_errors_are_no_failures(error):
    assert not failed_fits(np.full(5, error), 120, 0.5).any()


def test_usual_spread_is_no_failure():
    assert not failed_fits(np.array([0.08, 0.15, 0.11, 0.05, 0.10]), 120, 0.5).any()


def test_fit_far_below_the_others_did_not_fail():
    assert not failed_fits(np.array([0.45, 0.47, 0.44, 0.05, 0.46]), 120, 0.5).any()


def test_failure_is_seen_where_the_others_make_no_errors():
    assert failed_fits(np.array([0.0, 0.0, 0.5, 0.0]), 30, 0.5).tolist() == [False, False, True, False]


def test_few_errors_are_no_failure_where_the_others_make_none():
    """8 of 120: more than five standard errors above 0, but not half-way to chance."""
    assert not failed_fits(np.array([0.0, 0.0, 8 / 120, 0.0]), 120, 0.5).any()


def test_few_points_cannot_tell_a_failure():
    """2 of 3 is half-way to chance and more, but not five standard errors above 0."""
    assert not failed_fits(np.array([0.0, 0.0, 2 / 3, 0.0]), 3, 0.5).any()


@some
@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8),
    st.integers(2, 500),
    st.floats(0.0, 1.0),
)
def test_not_all_fits_fail(errors, n_points, chance):
    assert not failed_fits(np.array(errors), n_points, chance).all()


@pytest.mark.parametrize("error", [0.1, 0.2, 0.3])
@pytest.mark.parametrize("n_points", [12, 24, 60, 120])
def test_noise_alone_is_hardly_ever_a_failure(n_points, error):
    """In at most 0.5% of calibrations with five repeats, to 4.5 standard errors of 600: false alarms for 1e-6 of seeds.

    The largest rate, that of 12 points and an error of 0.1, is 0.24%.
    """
    rng = np.random.default_rng([n_points, round(100 * error)])
    errors = rng.binomial(n_points, error, size=(600, 5)) / n_points
    alarms = np.array([failed_fits(row, n_points, 0.5).any() for row in errors])
    assert alarms.mean() <= 0.005 + 4.5 * np.sqrt(0.005 * 0.995 / 600)


# Calibrated: a linear classifier, whose biases can be written down


@functools.cache
def sample():
    """Return a sample in which bolstering is optimistic, so that kappa rises."""
    return bg.datasets.PaperGaussian().sample(40, random_state=9)


class CountedFits(LinearDiscriminantAnalysis):
    """Counts how often it is trained."""

    fits = 0

    def fit(self, X, y):
        CountedFits.fits += 1
        return super().fit(X, y)


def calibrated(measure=None, **given):
    return bg.Calibrated(bg.Bolstered() if measure is None else measure, **({"random_state": 0} | given))


def bolstered_by_hand(classifier, X, y, kappa, weights=None):
    """Return the bolstered error of a linear classifier under the default kernel, from its formula."""
    unit = np.sqrt(
        sum(((X[y == label] - X[y == label].mean(axis=0)) ** 2).sum(axis=0) for label in (0, 1)) / (len(X) - 2)
    )
    errors = np.empty(len(X))
    for label in (0, 1):
        points = X[y == label] / unit
        distances = cdist(points, points)
        np.fill_diagonal(distances, np.inf)
        width = kappa * distances.min(axis=1).mean() / chi(X.shape[1]).median()
        margin = X[y == label] @ classifier.coef_[0] + classifier.intercept_[0]
        spread = width * np.linalg.norm(classifier.coef_[0] * unit)
        errors[y == label] = norm.cdf((1 - 2 * label) * margin / spread)
    return np.average(errors, weights=weights)


def test_biases_are_those_of_the_formula():
    X, y = sample()
    resampler = calibrated(repeats=3)
    resampler.error(LinearDiscriminantAnalysis(), X, y)
    trace = resampler.trace_
    by_hand = np.empty((len(trace.kappas), 3))
    for column, (train, test) in enumerate(resampler.indices_):
        rule = LinearDiscriminantAnalysis().fit(X[train], y[train])
        held_out = np.mean(rule.predict(X[test]) != y[test])
        by_hand[:, column] = [bolstered_by_hand(rule, X[train], y[train], kappa) - held_out for kappa in trace.kappas]
    np.testing.assert_allclose(trace.biases, by_hand, rtol=0, atol=1e-12)
    np.testing.assert_allclose(trace.rough_bias, by_hand.mean(axis=1), rtol=0, atol=1e-12)


def test_estimate_is_that_of_the_formula_at_the_chosen_kappa():
    X, y = sample()
    resampler = calibrated(bg.Bolstered(), repeats=3)
    estimate = resampler.error(LinearDiscriminantAnalysis(), X, y)
    rule = LinearDiscriminantAnalysis().fit(X, y)
    assert resampler.kappa_ > 1
    assert estimate.value == pytest.approx(bolstered_by_hand(rule, X, y, resampler.kappa_), abs=1e-12)


KERNELS = [bg.SphericalGaussian, bg.DiagonalGaussian, bg.FullGaussian]


@pytest.mark.filterwarnings("ignore:kappa reached max_kappa")
@pytest.mark.parametrize("kernel", KERNELS)
def test_estimate_is_that_of_the_kernel_scaled_by_kappa(kernel):
    X, y = sample()
    resampler = calibrated(bg.Bolstered(kernel()), repeats=3, step=0.5)
    estimate = resampler.error(LinearDiscriminantAnalysis(), X, y)
    rule = LinearDiscriminantAnalysis().fit(X, y)
    scaled = bg.Bolstered(kernel(scale=resampler.kappa_)).fit(X, y).error(rule)
    assert estimate.value == pytest.approx(scaled.value, abs=1e-12)


def test_kappa_multiplies_the_scale_that_the_kernel_has():
    X, y = sample()
    resampler = calibrated(bg.Bolstered(bg.SphericalGaussian(scale=0.5)), repeats=3)
    estimate = resampler.error(LinearDiscriminantAnalysis(), X, y)
    rule = LinearDiscriminantAnalysis().fit(X, y)
    scaled = bg.Bolstered(bg.SphericalGaussian(scale=0.5 * resampler.kappa_)).fit(X, y).error(rule)
    assert resampler.kappa_ > 1
    assert estimate.value == pytest.approx(scaled.value, abs=1e-12)


@pytest.mark.filterwarnings("ignore:kappa reached max_kappa")
def test_sampled_estimate_is_that_of_the_kernel_scaled_by_kappa():
    """Within 4.5 standard errors of both: false alarms for 7 in a million seeds."""
    X, y = sample()
    resampler = calibrated(bg.Bolstered(bg.DiagonalGaussian(), n_points=256), step=0.5, max_kappa=3.0)
    estimate = resampler.error(KNeighborsClassifier(3), X, y)
    assert resampler.kappa_ > 1
    measure = bg.Bolstered(bg.DiagonalGaussian(scale=resampler.kappa_), n_points=256, random_state=1).fit(X, y)
    scaled = measure.error(KNeighborsClassifier(3).fit(X, y))
    own = estimate.replicate_values.std(ddof=1) / np.sqrt(len(estimate.replicate_values))
    assert abs(estimate.value - scaled.value) <= 4.5 * np.hypot(own, scaled.std_error)


def test_held_out_errors_are_those_of_the_rule():
    X, y = sample()
    resampler = calibrated()
    resampler.error(LinearDiscriminantAnalysis(), X, y)
    by_hand = [
        np.mean(LinearDiscriminantAnalysis().fit(X[train], y[train]).predict(X[test]) != y[test])
        for train, test in resampler.indices_
    ]
    np.testing.assert_allclose(resampler.split_errors_, by_hand, rtol=0, atol=1e-14)


# What is trained and drawn


def test_rule_is_trained_once_a_repeat_and_once_on_all():
    CountedFits.fits = 0
    estimate = calibrated(bg.Bolstered(n_points=8), repeats=4).error(CountedFits(), *sample())
    assert (CountedFits.fits, estimate.computation.n_refits) == (5, 5)


def test_rule_is_trained_once_a_repeat_where_the_classifier_is_given():
    CountedFits.fits = 0
    classifier = LinearDiscriminantAnalysis().fit(*sample())
    estimate = calibrated(bg.Bolstered(n_points=8), repeats=4).error(CountedFits(), *sample(), classifier=classifier)
    assert (CountedFits.fits, estimate.computation.n_refits) == (4, 4)


def test_classifier_that_is_given_is_the_one_that_is_judged():
    X, y = sample()
    resampler, other = calibrated(), LinearDiscriminantAnalysis(shrinkage=0.9, solver="lsqr").fit(X, y)
    estimate = resampler.error(LinearDiscriminantAnalysis(), X, y, classifier=other)
    scaled = bg.Bolstered(bg.SphericalGaussian(scale=resampler.kappa_)).fit(X, y).error(other)
    assert estimate.value == pytest.approx(scaled.value, abs=1e-12)


def test_all_kappas_share_one_set_of_points():
    """Points of their own would make the biases differ by some thousandths, however near the kappas are."""
    resampler = calibrated(step=1e-9, max_kappa=1 + 5e-9, repeats=3)
    resampler.error(KNeighborsClassifier(3), *sample())
    np.testing.assert_array_equal(resampler.trace_.biases, np.tile(resampler.trace_.biases[0], (3, 1)))


@pytest.mark.filterwarnings("ignore:kappa reached max_kappa")
def test_bias_at_a_kappa_does_not_depend_on_which_others_are_tried():
    """Also where kappas are tried in several batches: 2.0 is the 11th of the one and the 3rd of the other."""
    traces = []
    for step in (0.1, 0.5):
        measure = bg.Bolstered(bg.DiagonalGaussian(), n_points=8)
        resampler = calibrated(measure, step=step, max_kappa=2.0, repeats=2, patience=20)
        with pytest.warns(UserWarning, match="kappa reached max_kappa"):
            resampler.error(KNeighborsClassifier(3), *sample())
        traces.append(resampler.trace_)
    fine, coarse = traces
    assert len(fine.kappas) == 11
    np.testing.assert_array_equal(fine.biases[[0, 5, 10]], coarse.biases)


def test_points_without_width_end_the_search_at_once():
    resampler = calibrated(bg.Bolstered(bg.SphericalGaussian(width=0.0)))
    resampler.error(LinearDiscriminantAnalysis(), *sample())
    assert (resampler.trace_.kappas.tolist(), resampler.kappa_) == ([1.0, 1.1, 1.2], 1.0)


def test_pessimistic_measure_stays_as_it_is():
    X, y = sample()
    resampler = calibrated(bg.Bolstered(bg.SphericalGaussian(width=5.0)))
    estimate = resampler.error(LinearDiscriminantAnalysis(), X, y)
    plain = bg.Bolstered(bg.SphericalGaussian(width=5.0)).fit(X, y).error(LinearDiscriminantAnalysis().fit(X, y))
    assert (len(resampler.trace_.kappas), resampler.kappa_) == (3, 1.0)
    assert estimate.value == pytest.approx(plain.value, abs=1e-12)


def test_cap_gets_a_warning():
    with pytest.warns(UserWarning, match=r"kappa reached max_kappa=1\.3 .* raise max_kappa"):
        calibrated(bg.Bolstered(bg.DiagonalGaussian()), max_kappa=1.3).error(LinearDiscriminantAnalysis(), *sample())


def test_search_that_ends_by_itself_gets_no_warning():
    """Warnings are errors in these tests."""
    assert calibrated().error(LinearDiscriminantAnalysis(), *sample()).value > 0


def test_warning_of_the_cap_names_the_line_of_the_user():
    with pytest.warns(UserWarning, match="kappa reached max_kappa") as warnings:
        calibrated(bg.Bolstered(bg.DiagonalGaussian()), max_kappa=1.3).error(LinearDiscriminantAnalysis(), *sample())
    assert [warning.filename for warning in warnings] == [__file__]


# Splits


def test_a_fifth_of_the_points_is_held_out_by_default():
    resampler = calibrated()
    resampler.error(LinearDiscriminantAnalysis(), *sample())
    assert [(len(train), len(test)) for train, test in resampler.indices_] == [(32, 8)] * 5


def test_share_held_out_can_be_chosen():
    resampler = calibrated(test_size=0.5, repeats=2)
    resampler.error(LinearDiscriminantAnalysis(), *sample())
    assert [len(test) for _, test in resampler.indices_] == [20, 20]


def test_stratified_splits_keep_the_class_proportions():
    X, _ = sample()
    y = (np.arange(40) < 10).astype(int)
    resampler = calibrated(bg.Bolstered(bg.SphericalGaussian(width=5.0)))
    resampler.error(LinearDiscriminantAnalysis(), X, y)
    assert [y[test].sum() for _, test in resampler.indices_] == [2] * 5


def test_plain_splits_need_not_keep_the_class_proportions():
    """That all ten hold exactly two of the ten rare points has chance 1e-5."""
    X, _ = sample()
    y = (np.arange(40) < 10).astype(int)
    resampler = calibrated(bg.Bolstered(bg.SphericalGaussian(width=5.0)), stratified=False, repeats=10)
    resampler.error(LinearDiscriminantAnalysis(), X, y)
    assert {y[test].sum() for _, test in resampler.indices_} != {2}


def test_splits_that_are_given_are_used():
    X, y = sample()
    splits = [(np.arange(30), np.arange(30, 40)), (np.arange(10, 40), np.arange(10))]
    resampler = calibrated(repeats=5)
    resampler.error(LinearDiscriminantAnalysis(), X, y, indices=splits)
    assert resampler.trace_.biases.shape[1] == 2
    np.testing.assert_array_equal(resampler.indices_[1][1], np.arange(10))


# Weights, groups and priors


def test_groups_are_on_one_side_only():
    groups = np.arange(40) // 4
    resampler = calibrated(bg.Bolstered(bg.SphericalGaussian(width=5.0)))
    resampler.error(LinearDiscriminantAnalysis(), *sample(), groups=groups)
    assert not any(np.isin(groups[train], groups[test]).any() for train, test in resampler.indices_)


def test_weights_count_in_the_rule_the_measure_and_the_held_out_error():
    X, y = sample()
    weights = np.linspace(0.5, 2.0, 40)
    resampler = calibrated(repeats=2)
    rule = LogisticRegression(tol=1e-8)
    resampler.error(rule, X, y, sample_weight=weights)
    for column, (train, test) in enumerate(resampler.indices_):
        classifier = LogisticRegression(tol=1e-8).fit(X[train], y[train], sample_weight=weights[train])
        held_out = np.average(classifier.predict(X[test]) != y[test], weights=weights[test])
        first = bolstered_by_hand(classifier, X[train], y[train], 1.0, weights[train]) - held_out
        assert resampler.trace_.biases[0, column] == pytest.approx(first, abs=1e-12)


def test_equal_weights_change_nothing():
    X, y = sample()
    plain, weighted = calibrated(), calibrated()
    without = plain.error(LogisticRegression(tol=1e-8), X, y)
    same = weighted.error(LogisticRegression(tol=1e-8), X, y, sample_weight=np.ones(40))
    np.testing.assert_allclose(weighted.trace_.biases, plain.trace_.biases, rtol=0, atol=1e-12)
    assert same.value == pytest.approx(without.value, abs=1e-12)


def test_points_without_weight_are_as_if_they_were_not_there():
    X, y = sample()
    weights = (np.arange(40) < 30).astype(float)
    weighted = calibrated().error(LogisticRegression(tol=1e-8), X, y, sample_weight=weights)
    shorter = calibrated().error(LogisticRegression(tol=1e-8), X[:30], y[:30])
    assert weighted.value == pytest.approx(shorter.value, abs=1e-12)


@pytest.mark.parametrize("sampling", ["mixture", "separate"])
def test_class_prior_of_the_measure_counts_in_the_estimate_and_in_the_held_out_error(sampling):
    X, y = sample()
    prior = np.array([0.8, 0.2])
    resampler = calibrated(bg.Bolstered(sampling=sampling, class_prior=prior), repeats=2)
    resampler.error(LinearDiscriminantAnalysis(), X, y)
    for column, (train, test) in enumerate(resampler.indices_):
        rule = LinearDiscriminantAnalysis().fit(X[train], y[train])
        inside, outside = (prior[y[rows]] / np.bincount(y[rows])[y[rows]] for rows in (train, test))
        held_out = np.average(rule.predict(X[test]) != y[test], weights=outside)
        first = bolstered_by_hand(rule, X[train], y[train], 1.0, inside) - held_out
        assert resampler.trace_.biases[0, column] == pytest.approx(first, abs=1e-12)


def test_class_prior_of_the_sample_changes_nothing():
    plain = calibrated().error(LinearDiscriminantAnalysis(), *sample())
    given_prior = calibrated(bg.Bolstered(class_prior=[0.5, 0.5])).error(LinearDiscriminantAnalysis(), *sample())
    assert given_prior.value == pytest.approx(plain.value, abs=1e-12)


@pytest.mark.filterwarnings("ignore:kappa reached max_kappa")
@pytest.mark.parametrize(
    "measure",
    [
        bg.Bolstered(semi=True),
        bg.Bolstered(bg.UniformBall()),
        bg.BolsteredPosterior(),
    ],
    ids=["semi", "ball", "posterior"],
)
def test_every_measure_with_kernels_can_be_calibrated(measure):
    resampler = calibrated(measure, repeats=2, step=1.0, max_kappa=3.0)
    estimate = resampler.error(LinearDiscriminantAnalysis(), *sample())
    assert 0.0 <= estimate.value <= 1.0


# What the estimate says of itself


def test_details_say_what_was_found():
    resampler = calibrated()
    details = resampler.error(LinearDiscriminantAnalysis(), *sample()).details
    chosen = resampler.trace_.kappas.tolist().index(resampler.kappa_)
    assert details == {
        "kappa": resampler.kappa_,
        "rough_bias": resampler.trace_.rough_bias[chosen],
        "held_out_error": resampler.split_errors_.mean(),
        "failed_fits": 0.0,
    }


def test_estimand_is_that_of_a_measure():
    X, y = sample()
    measured = bg.Bolstered().fit(X, y).error(LinearDiscriminantAnalysis().fit(X, y))
    assert calibrated().error(LinearDiscriminantAnalysis(), X, y).estimand == measured.estimand


def test_standard_error_is_unknown_because_kappa_is_random():
    estimate = calibrated().error(LinearDiscriminantAnalysis(), *sample())
    assert np.isnan(estimate.std_error)
    assert estimate.missing.std_error == RandomKappa()


def test_calibrated_estimate_is_not_called_exact():
    assert not calibrated().error(LinearDiscriminantAnalysis(), *sample()).computation.exact


def test_calibrated_estimate_names_its_estimator():
    estimate = calibrated(repeats=3).error(LinearDiscriminantAnalysis(), *sample())
    assert estimate.computation.estimator == "Calibrated(measure=Bolstered(), repeats=3)"


def test_calibrated_estimate_has_no_interval():
    with pytest.raises(ValueError, match="no interval is offered for this estimate"):
        calibrated().error(LinearDiscriminantAnalysis(), *sample()).interval()


def test_kappa_is_that_of_the_trace():
    resampler = calibrated()
    resampler.error(LinearDiscriminantAnalysis(), *sample())
    assert resampler.kappa_ == resampler.trace_.kappa


def test_trace_has_a_row_per_kappa_and_a_column_per_repeat():
    resampler = calibrated(repeats=4)
    resampler.error(LinearDiscriminantAnalysis(), *sample())
    assert resampler.trace_.biases.shape == (len(resampler.trace_.kappas), 4)


def test_unused_calibration_has_no_kappa():
    assert not hasattr(calibrated(), "kappa_")


# Fits that fail


class FailsWithout(ClassifierMixin, BaseEstimator):
    """Says the class of the nearest mean, or the other one where it was trained without a certain point."""

    def __init__(self, needed=0.0):
        self.needed = needed

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        self.means_ = np.array([X[y == label].mean(axis=0) for label in (0, 1)])
        self.failed_ = not np.isin(self.needed, X[:, 0])
        return self

    def predict(self, X):
        nearer = ((X[:, None] - self.means_) ** 2).sum(axis=2).argmin(axis=1)
        return 1 - nearer if self.failed_ else nearer


@functools.cache
def easy():
    return bg.datasets.PaperGaussian(bayes_error=0.05).sample(60, random_state=1)


def folds(order):
    """Return five splits of 60 points that hold out disjoint fifths, in this order."""
    return [
        (np.flatnonzero(np.arange(60) // 12 != fold), np.flatnonzero(np.arange(60) // 12 == fold)) for fold in order
    ]


def calibrated_with_a_failure(order, bad_fold=3):
    X, y = easy()
    resampler = calibrated(bg.Bolstered(n_points=8))
    rule = FailsWithout(needed=X[12 * bad_fold, 0])
    with pytest.warns(UserWarning, match="1 of 5 fits failed"):
        estimate = resampler.error(rule, X, y, indices=folds(order))
    return resampler, estimate, rule


def test_failed_fit_gets_a_warning_that_says_what_to_do():
    X, y = easy()
    says = r"1 of 5 fits failed \(error 0\.[6-9]\d; the others 0\.[01]\d\) and were left out .* Look at how the rule is"
    with pytest.warns(UserWarning, match=says):
        calibrated(bg.Bolstered(n_points=8)).error(FailsWithout(X[36, 0]), X, y, indices=folds(range(5)))


def test_warning_of_a_failed_fit_names_the_line_of_the_user():
    X, y = easy()
    with pytest.warns(UserWarning, match="1 of 5 fits failed") as warnings:
        calibrated(bg.Bolstered(n_points=8)).error(FailsWithout(X[36, 0]), X, y, indices=folds(range(5)))
    assert [warning.filename for warning in warnings] == [__file__]


def test_failed_fit_is_named_in_the_trace():
    resampler, _, _ = calibrated_with_a_failure([0, 1, 2, 3, 4])
    assert resampler.trace_.failed.tolist() == [False, False, False, True, False]


def test_failed_fit_is_counted_in_the_details():
    _, estimate, _ = calibrated_with_a_failure([0, 1, 2, 3, 4])
    assert estimate.details["failed_fits"] == 1.0


def test_failed_fit_is_left_out():
    """The failed one comes last, so that the others have the same numbers, hence seeds, without it."""
    resampler, estimate, rule = calibrated_with_a_failure([0, 1, 2, 4, 3])
    only_good = calibrated(bg.Bolstered(n_points=8))
    without = only_good.error(rule, *easy(), indices=folds([0, 1, 2, 4]))
    assert (estimate.value, resampler.kappa_) == (without.value, only_good.kappa_)
    np.testing.assert_array_equal(resampler.trace_.rough_bias, only_good.trace_.rough_bias)


class FailsInTraining(FailsWithout):
    """Fails on the points that it was trained on only, which feature 0 tells apart."""

    def predict(self, X):
        nearer = ((X[:, None] - self.means_) ** 2).sum(axis=2).argmin(axis=1)
        return np.where(np.isin(X[:, 0], self.seen_) & self.failed_, 1 - nearer, nearer)

    def fit(self, X, y):
        self.seen_ = X[:, 0]
        return super().fit(X, y)


def test_fit_that_fails_on_its_own_points_failed():
    X, y = easy()
    resampler = calibrated(bg.Bolstered(n_points=8))
    with pytest.warns(UserWarning, match="1 of 5 fits failed"):
        resampler.error(FailsInTraining(X[36, 0]), X, y, indices=folds(range(5)))
    assert resampler.trace_.failed.tolist() == [False, False, False, True, False]


def test_sound_fits_get_no_warning():
    """Warnings are errors in these tests."""
    X, y = easy()
    resampler = calibrated(bg.Bolstered(n_points=8))
    resampler.error(FailsWithout(X[0, 0]), X, y, indices=folds([1, 2, 3, 4]))
    assert not resampler.trace_.failed.any()


# The plot


@pytest.fixture
def plt():
    """Return pyplot without a display, its figures closed afterwards."""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


def test_trace_is_drawn_with_both_axes_labelled(plt):
    resampler = calibrated()
    resampler.error(LinearDiscriminantAnalysis(), *sample())
    ax = resampler.trace_.plot()
    assert isinstance(ax, plt.Axes)
    assert "kappa" in ax.get_xlabel()
    assert "rough bias" in ax.get_ylabel()


def test_trace_is_drawn_into_the_axes_that_are_given(plt):
    resampler = calibrated()
    resampler.error(LinearDiscriminantAnalysis(), *sample())
    _, ax = plt.subplots()
    assert resampler.trace_.plot(ax) is ax
    assert len(plt.get_fignums()) == 1


def test_plot_shows_the_rough_bias_and_the_choice(plt):
    resampler = calibrated()
    resampler.error(LinearDiscriminantAnalysis(), *sample())
    ax = resampler.trace_.plot()
    lines = {line.get_label(): line for line in ax.get_lines()}
    np.testing.assert_array_equal(lines["mean over repeats"].get_ydata(), resampler.trace_.rough_bias)
    assert f"chosen: {resampler.kappa_:g}" in lines


def test_plot_tells_failed_fits_apart(plt):
    resampler, _, _ = calibrated_with_a_failure([0, 1, 2, 3, 4])
    labels = [text.get_text() for text in resampler.trace_.plot().get_legend().get_texts()]
    assert "failed fit, left out" in labels


# The guarantee


@pytest.mark.filterwarnings("ignore:kappa reached max_kappa")
def test_calibration_takes_bias_off_naive_bayes_bolstering():
    """On the paper's model, over 60 samples: the magnitude of the bias falls by more than 4.5 standard errors.

    With a bias of -0.125 before, it falls if the one after is above that and below +0.125. These differences are 17 and
    9 standard errors; less than 4.5 is a false alarm for 5 in a million seeds.
    """
    population, before, after = bg.datasets.PaperGaussian(), [], []
    for number in range(60):
        X, y = population.sample(40, random_state=number)
        rule = LinearDiscriminantAnalysis().fit(X, y)
        error = population.linear_error(rule.coef_[0], float(rule.intercept_[0]))
        measure = bg.Bolstered(bg.DiagonalGaussian())
        resampler = calibrated(measure, step=0.5, random_state=number)
        before.append(measure.fit(X, y).error(rule).value - error)
        after.append(resampler.error(LinearDiscriminantAnalysis(), X, y, classifier=rule).value - error)
    before, after = np.array(before), np.array(after)
    for falls in (after - before, -before - after):
        assert falls.mean() > 4.5 * falls.std(ddof=1) / np.sqrt(len(falls))
