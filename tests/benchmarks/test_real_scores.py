"""The scores of the real-data benchmark against hand-computed values, peers and simulations with known answers."""

import numpy as np
import pytest
from scipy.stats import binomtest

from bayes_gresub.studies.metrics import Repetitions
from bayes_gresub.studies.metrics import interval_score as study_interval_score
from benchmarks.real_data import scores

NAN = float("nan")


def array(*values):
    return np.array(values, dtype=float)


def test_rms_takes_the_binomial_variance_of_the_truth_off():
    # Mean square 0.01, variance 0.2 * 0.8 / 100 = 0.0016.
    assert scores.rms(array(0.3, 0.1), array(0.2, 0.2), array(100, 100)) == pytest.approx(0.0084**0.5)


def test_rms_is_zero_if_the_noise_of_the_truth_explains_all_deviations():
    assert scores.rms(array(0.21, 0.19), array(0.2, 0.2), array(100, 100)) == 0


def test_rms_leaves_out_repetitions_without_an_estimate():
    with_gap = scores.rms(array(0.3, NAN, 0.1), array(0.2, 0.9, 0.2), array(100, 100, 100))
    assert with_gap == pytest.approx(0.0084**0.5)


def test_rms_without_any_estimate_is_unknown():
    assert np.isnan(scores.rms(array(NAN), array(0.2), array(100)))


def test_rms_recovers_the_error_about_the_true_error_from_a_noisy_truth():
    """Standard error of the mean square over 40,000 repetitions is 2.2e-5; beyond 4.5 of it 1 in 150,000 seeds."""
    rng = np.random.default_rng(0)
    true = rng.uniform(0.1, 0.4, 40_000)
    estimate = true + 0.05 * rng.standard_normal(40_000)
    observed = rng.binomial(300, true) / 300
    found = scores.rms(estimate, observed, np.full(40_000, 300.0))
    assert abs(found**2 - 0.05**2) < 4.5 * 2.2e-5
    assert ((estimate - observed) ** 2).mean() > 0.05**2 + 4e-4


def test_bias_is_the_mean_deviation():
    assert scores.bias(array(0.3, 0.2, NAN), array(0.2, 0.2, 0.2)) == pytest.approx(0.05)


def test_coverage_counts_intervals_that_hold_the_observed_truth_ends_included():
    low, high = array(0.1, 0.1, 0.3, NAN), array(0.2, 0.15, 0.4, NAN)
    assert scores.coverage(low, high, array(0.2, 0.2, 0.2, 0.2)) == pytest.approx(1 / 3)


def test_coverage_without_noise_recovers_the_coverage_of_the_true_error():
    """The standard error over 40,000 repetitions is below 0.003; second-order terms are below 0.002."""
    rng = np.random.default_rng(1)
    true = np.clip(0.3 + 0.05 * rng.standard_normal(40_000), 0.01, 0.99)
    observed = rng.binomial(300, true) / 300
    low, high = np.full_like(true, 0.3 - 1.96 * 0.05), np.full_like(true, 0.3 + 1.96 * 0.05)
    assert scores.coverage(low, high, observed) < 0.93
    found = scores.coverage_without_noise(low, high, observed, np.full_like(true, 300.0))
    assert abs(found - 0.95) < 4.5 * 0.003 + 0.002


def test_coverage_without_noise_tends_to_coverage_as_test_sets_grow():
    low, high, truth = array(0.1, 0.3, 0.0), array(0.3, 0.4, 0.1), array(0.2, 0.2, 0.0)
    found = scores.coverage_without_noise(low, high, truth, np.full(3, 1e9))
    assert found == pytest.approx(scores.coverage(low, high, truth), abs=1e-6)


def test_an_interval_from_zero_to_one_covers_without_noise_too():
    found = scores.coverage_without_noise(array(0, 0), array(1, 1), array(0, 0.5), array(300, 300))
    assert found == pytest.approx(1)


def test_interval_score_adds_forty_times_the_distance_outside():
    assert scores.interval_score(array(0.1), array(0.2), array(0.25)) == pytest.approx(0.1 + 40 * 0.05)


def test_interval_score_agrees_with_that_of_studies():
    rng = np.random.default_rng(2)
    low, truth = rng.uniform(0, 0.3, 50), rng.uniform(0, 0.5, 50)
    high = low + rng.uniform(0, 0.2, 50)
    unknown = np.full(50, NAN)
    data = Repetitions(truth, unknown, truth, unknown, low, high, unknown)
    assert scores.interval_score(low, high, truth) == pytest.approx(study_interval_score(data).value)


@pytest.mark.parametrize("k", [0, 1, 7, 20])
@pytest.mark.parametrize(("interval", "method"), [(scores.wilson, "wilson"), (scores.clopper_pearson, "exact")])
def test_reference_intervals_agree_with_scipy_at_whole_counts(interval, method, k):
    peer = binomtest(k, 20).proportion_ci(method=method)
    low, high = interval(k / 20, 20)
    assert (float(low), float(high)) == pytest.approx((peer.low, peer.high), abs=1e-12)


def test_clopper_pearson_between_whole_counts_lies_between_theirs():
    ends = [scores.clopper_pearson(k / 20, 20) for k in (3, 3.5, 4)]
    assert ends[0][0] < ends[1][0] < ends[2][0]
    assert ends[0][1] < ends[1][1] < ends[2][1]


@pytest.mark.parametrize("interval", [scores.wilson, scores.clopper_pearson])
def test_reference_interval_of_an_unknown_estimate_is_unknown(interval):
    assert np.isnan(interval(array(NAN), 20)).all()


def test_won_compares_over_the_repetitions_that_both_have():
    truth = array(0.2, 0.2, 0.2)
    assert scores.won(array(0.21, NAN, 0.9), array(0.3, 0.2, NAN), truth) == 1
    assert scores.won(array(0.3), array(0.25), array(0.2)) == 0


def test_a_tie_is_half_a_cell():
    assert scores.won(array(0.1, 0.3), array(0.3, 0.1), array(0.2, 0.2)) == 0.5


def test_won_is_unknown_without_a_common_repetition():
    assert np.isnan(scores.won(array(0.1, NAN), array(NAN, 0.1), array(0.2, 0.2)))


def test_jackknife_of_a_mean_over_single_cells_is_the_usual_standard_error():
    values = np.random.default_rng(3).normal(size=12)
    found = scores.mean_over_cells(values, np.arange(12))
    assert found.value == pytest.approx(values.mean())
    assert found.std_error == pytest.approx(values.std(ddof=1) / 12**0.5)


def test_copies_of_cells_in_their_group_do_not_shrink_the_standard_error():
    values, groups = array(1, 2, 4), np.array(["a", "b", "c"])
    once, thrice = (scores.mean_over_cells(np.repeat(values, k), np.repeat(groups, k)) for k in (1, 3))
    assert thrice.std_error == pytest.approx(once.std_error)


def test_ratio_of_sums_has_no_error_if_all_cells_have_the_ratio():
    found = scores.ratio_of_sums(array(1, 2, 3), array(2, 4, 6), ["a", "a", "b"])
    assert (found.value, found.std_error) == pytest.approx((0.5, 0))


def test_jackknife_of_an_uneven_ratio_is_as_computed_by_hand():
    top, below, groups = array(1, 2, 5, 4), array(3, 3, 4, 9), np.array(["a", "b", "b", "c"])
    # By hand: without a (2 + 5 + 4) / (3 + 4 + 9), without b (1 + 4) / (3 + 9), without c (1 + 2 + 5) / (3 + 3 + 4).
    without = np.array([11 / 16, 5 / 12, 8 / 10])
    expected = (2 / 3 * ((without - without.mean()) ** 2).sum()) ** 0.5
    assert scores.ratio_of_sums(top, below, groups).std_error == pytest.approx(expected)


def test_clustered_standard_error_is_that_of_the_mean_under_group_effects():
    """400 simulations: the mean of the squared errors has a relative standard error of 0.02; 4.5 of it are allowed."""
    rng = np.random.default_rng(4)
    groups = np.repeat(np.arange(15), 6)
    values = rng.normal(size=(400, 15)).repeat(6, axis=1) + rng.normal(size=(400, 90))
    squares = [scores.mean_over_cells(row, groups).std_error ** 2 for row in values]
    assert np.mean(squares) == pytest.approx((1 + 1 / 6) / 15, rel=4.5 * 0.02)


def test_unknown_cells_are_left_out_of_means():
    assert scores.mean_over_cells(array(1, NAN, 3), ["a", "b", "c"]).value == 2


def test_one_group_has_no_standard_error():
    assert np.isnan(scores.mean_over_cells(array(1, 2), ["a", "a"]).std_error)
