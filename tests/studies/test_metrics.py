"""Metrics of studies: values against NumPy, SciPy and pandas, standard errors against brute force and the jackknife."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from bayes_gresub.studies.metrics import (
    ALL,
    INTERVAL_METRICS,
    METRICS,
    Repetitions,
    coverage_interval,
    evaluate,
    paired_difference,
    tail,
)

every_metric = pytest.mark.parametrize("name", sorted(ALL))
FIELDS = ("true_error", "true_error_std_error", "estimate", "std_error", "low", "high", "seconds")


def repetitions(true_error, estimate, *, half=0.05, std_error=0.01, seconds=0.1, test=0.006, level=0.95):
    """Return repetitions whose intervals reach `half` to both sides of the estimate."""
    truth, said = np.array(true_error, dtype=float), np.array(estimate, dtype=float)
    filled = {
        name: np.broadcast_to(np.asarray(value, dtype=float), said.shape).copy()
        for name, value in (
            ("true_error_std_error", test),
            ("std_error", std_error),
            ("low", said - half),
            ("high", said + half),
            ("seconds", seconds),
        )
    }
    return Repetitions(true_error=truth, estimate=said, level=level, **filled)


def drawn(rng, n, common=None, bias=0.04, level=0.9):
    """Return n repetitions of a skewed law in which estimate and truth depend on each other.

    `common` holds true errors and a shared part of the deviations; estimators given the same are correlated.
    """
    truth, shared = shared_part(rng, n) if common is None else common
    deviation = bias + 0.6 * shared + 0.03 * (rng.gamma(4.0, size=n) - 4) / 2
    estimate = 0.1 + 0.5 * truth + deviation
    return repetitions(
        truth,
        estimate,
        half=rng.uniform(0.02, 0.1, n),
        std_error=rng.uniform(0.0, 0.02, n),
        seconds=rng.exponential(0.1, n),
        test=rng.uniform(0.005, 0.007, n),
        level=level,
    )


def shared_part(rng, n):
    return 0.2 + 0.05 * rng.beta(2, 5, n), 0.04 * rng.standard_normal(n)


def spoiled(data, **rows):
    """Return repetitions with NaN in some rows of some fields."""
    parts = {name: getattr(data, name).copy() for name in FIELDS}
    for name, where in rows.items():
        parts[name][where] = np.nan
    return Repetitions(level=data.level, **parts)


def series(data, name):
    return pd.Series(getattr(data, name))


def score_by_hand(data):
    total = 0.0
    for truth, low, high in zip(data.true_error, data.low, data.high, strict=True):
        total += high - low
        if truth < low:
            total += 2 / (1 - data.level) * (low - truth)
        if truth > high:
            total += 2 / (1 - data.level) * (truth - high)
    return total / len(data.low)


EXPECTED = {
    "true_mean": lambda data: series(data, "true_error").mean(),
    "estimate_mean": lambda data: series(data, "estimate").mean(),
    "true_variance": lambda data: series(data, "true_error").var(ddof=0),
    "estimate_variance": lambda data: series(data, "estimate").var(ddof=0),
    "covariance": lambda data: np.cov(data.estimate, data.true_error, ddof=0)[0, 1],
    "bias": lambda data: series(data, "estimate").mean() - series(data, "true_error").mean(),
    "absolute_bias": lambda data: abs(series(data, "estimate").mean() - series(data, "true_error").mean()),
    "variance": lambda data: np.var(data.estimate - data.true_error),
    "rms": lambda data: np.linalg.norm(data.estimate - data.true_error) / math.sqrt(len(data.estimate)),
    "correlation": lambda data: stats.pearsonr(data.estimate, data.true_error).statistic,
    "internal_variance": lambda data: (series(data, "std_error") ** 2).mean(),
    "test_variance": lambda data: (series(data, "true_error_std_error") ** 2).mean(),
    "seconds": lambda data: series(data, "seconds").mean(),
    "coverage": lambda data: series(data, "true_error").between(data.low, data.high).mean(),
    "width": lambda data: (series(data, "high") - series(data, "low")).mean(),
    "interval_score": score_by_hand,
}


@every_metric
def test_value_is_that_of_numpy_scipy_or_pandas(name):
    data = drawn(np.random.default_rng(0), 150)
    assert evaluate(name, data).value == pytest.approx(EXPECTED[name](data), rel=1e-11)


def test_bias_below_zero_has_its_size_as_absolute_bias():
    data = drawn(np.random.default_rng(0), 50, bias=-0.3)
    assert evaluate("absolute_bias", data).value == -evaluate("bias", data).value > 0


errors = arrays(float, st.tuples(st.just(2), st.integers(1, 30)), elements=st.floats(0, 1))


@given(errors)
def test_squared_rms_is_squared_bias_plus_variance(pair):
    bias, variance, rms = (evaluate(name, repetitions(*pair)).value for name in ("bias", "variance", "rms"))
    assert rms**2 == pytest.approx(bias**2 + variance, rel=1e-13, abs=1e-16)


@given(errors)
def test_variance_is_that_of_both_less_twice_their_covariance(pair):
    names = ("variance", "estimate_variance", "true_variance", "covariance")
    whole, estimate, truth, both = (evaluate(name, repetitions(*pair)).value for name in names)
    assert whole == pytest.approx(estimate + truth - 2 * both, abs=1e-15)


def jackknife(statistic, n):
    """Return the jackknife's standard error of a function of the rows that are kept."""
    without = np.array([statistic(np.arange(n) != row) for row in range(n)])
    return math.sqrt((n - 1) * without.var())


@every_metric
def test_standard_error_is_that_of_the_jackknife(name):
    """Both are right to order 1/R of themselves; with R = 250 they differ by less than 2%."""
    data = drawn(np.random.default_rng(1), 250)
    expected = jackknife(lambda rows: EXPECTED[name](data.take(rows)), 250)
    assert evaluate(name, data).std_error == pytest.approx(expected, rel=0.02)


MEANS = ("true_mean", "estimate_mean", "bias", "internal_variance", "seconds", "width", "interval_score")


@pytest.mark.parametrize("name", MEANS)
def test_standard_error_of_a_mean_is_that_of_the_jackknife_to_rounding(name):
    data = drawn(np.random.default_rng(2), 20)
    expected = jackknife(lambda rows: EXPECTED[name](data.take(rows)), 20)
    assert evaluate(name, data).std_error == pytest.approx(expected, rel=1e-9)


def test_standard_error_of_the_bias_is_that_of_scipy():
    data = drawn(np.random.default_rng(2), 20)
    assert evaluate("bias", data).std_error == pytest.approx(stats.sem(data.estimate - data.true_error), rel=1e-12)


def test_standard_error_of_the_rms_is_that_of_the_bootstrap():
    """The spread of 3000 resamples has a relative error of 1.3%; 4.5 of these, and 1% for terms of order 1/R."""
    data = drawn(np.random.default_rng(3), 300)
    found = stats.bootstrap(
        (data.estimate - data.true_error,),
        lambda values, axis: np.sqrt((values**2).mean(axis=axis)),
        n_resamples=3000,
        method="percentile",
        rng=np.random.default_rng(0),
    )
    assert evaluate("rms", data).std_error == pytest.approx(found.standard_error, rel=4.5 * 0.013 + 0.01)


N_SETS, R = 2000, 150


@cache
def brute_force():
    """Return every metric's values and standard errors over 2000 independent data sets of 150 repetitions."""
    rng = np.random.default_rng(4)
    found = {name: ([], []) for name in ALL}
    for _ in range(N_SETS):
        data = drawn(rng, R)
        for name, (values, std_errors) in found.items():
            value = evaluate(name, data)
            values.append(value.value)
            std_errors.append(value.std_error)
    return {name: (np.array(values), np.array(std_errors)) for name, (values, std_errors) in found.items()}


def relative_error_of_spread(values):
    """Return the relative standard error of a standard deviation, from the fourth moment."""
    return math.sqrt((stats.kurtosis(values, fisher=False) - 1) / (4 * len(values)))


@every_metric
def test_mean_standard_error_is_the_spread_over_data_sets(name):
    """2000 data sets: 4.5 relative standard errors of their spread (about 7%), and 2% for terms of order 1/R.

    Fifteen metrics: a false alarm in fewer than 1e-4 of seeds.
    """
    values, std_errors = brute_force()[name]
    assert std_errors.mean() == pytest.approx(values.std(), rel=4.5 * relative_error_of_spread(values) + 0.02)


@every_metric
def test_standard_error_of_a_paired_difference_is_that_of_the_jackknife(name):
    """Both are right to order 1/R; with R = 250 they differ by less than 2%, true errors being the same in both."""
    rng = np.random.default_rng(5)
    common = shared_part(rng, 250)
    first, second = drawn(rng, 250, common), drawn(rng, 250, common, bias=-0.2)
    value, _ = paired_difference(name, first, second)
    expected = jackknife(lambda rows: EXPECTED[name](first.take(rows)) - EXPECTED[name](second.take(rows)), 250)
    assert value.std_error == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("name", ["rms", "variance", "absolute_bias", "correlation"])
def test_mean_standard_error_of_a_difference_is_its_spread_over_data_sets(name):
    """2000 data sets: 4.5 relative standard errors of their spread (about 7%), and 2% for terms of order 1/R."""
    rng = np.random.default_rng(6)
    found = []
    for _ in range(N_SETS):
        common = shared_part(rng, R)
        value, _ = paired_difference(name, drawn(rng, R, common), drawn(rng, R, common, bias=-0.2))
        found.append((value.value, value.std_error))
    values, std_errors = np.array(found).T
    assert std_errors.mean() == pytest.approx(values.std(), rel=4.5 * relative_error_of_spread(values) + 0.02)


@pytest.mark.parametrize(("sign", "smaller"), [(1, True), (-1, False)], ids=["together", "apart"])
def test_paired_difference_is_sharper_only_where_estimators_err_together(sign, smaller):
    rng = np.random.default_rng(7)
    truth, shared = shared_part(rng, 300)
    first, second = drawn(rng, 300, (truth, shared)), drawn(rng, 300, (truth, sign * shared))
    paired = paired_difference("rms", first, second)[0].std_error
    unpaired = math.hypot(evaluate("rms", first).std_error, evaluate("rms", second).std_error)
    assert (paired < 0.9 * unpaired) == smaller
    assert (paired > 1.02 * unpaired) != smaller


def test_difference_of_bias_is_a_paired_t_statistic():
    rng = np.random.default_rng(8)
    common = shared_part(rng, 60)
    first, second = drawn(rng, 60, common), drawn(rng, 60, common, bias=0.05)
    value, _ = paired_difference("bias", first, second)
    assert value.value / value.std_error == pytest.approx(stats.ttest_rel(first.estimate, second.estimate).statistic)


@every_metric
def test_difference_is_that_of_the_values(name):
    rng = np.random.default_rng(9)
    first, second = drawn(rng, 40), drawn(rng, 40)
    value, _ = paired_difference(name, first, second)
    assert value.value == pytest.approx(EXPECTED[name](first) - EXPECTED[name](second), abs=1e-14)


@every_metric
def test_difference_from_itself_is_zero_without_doubt(name):
    data = drawn(np.random.default_rng(9), 40)
    value, _ = paired_difference(name, data, data)
    assert (value.value, value.std_error) == (0, 0)


@every_metric
def test_difference_is_over_the_repetitions_that_both_have(name):
    rng = np.random.default_rng(10)
    first, second = drawn(rng, 40), drawn(rng, 40)
    both = np.ones(40, dtype=bool)
    both[[0, 1, 5]] = False
    field = "low" if name in INTERVAL_METRICS else "estimate"
    value, _ = paired_difference(name, spoiled(first, **{field: [0, 1]}), spoiled(second, **{field: [1, 5]}))
    expected, _ = paired_difference(name, first.take(both), second.take(both))
    assert (value.value, value.std_error) == (expected.value, expected.std_error)


def test_difference_counts_the_repetitions_that_both_have():
    rng = np.random.default_rng(10)
    first, second = spoiled(drawn(rng, 40), estimate=[0, 1]), spoiled(drawn(rng, 40), estimate=[1, 5])
    assert paired_difference("rms", first, second)[1] == 37


def test_difference_of_internal_variance_is_over_the_repetitions_whose_standard_errors_both_know():
    rng = np.random.default_rng(10)
    first, second = drawn(rng, 40), drawn(rng, 40)
    both = np.ones(40, dtype=bool)
    both[[0, 7]] = False
    value, count = paired_difference("internal_variance", spoiled(first, std_error=[0]), spoiled(second, std_error=[7]))
    expected, _ = paired_difference("internal_variance", first.take(both), second.take(both))
    assert (count, value.value) == (38, pytest.approx(expected.value, abs=1e-16))


def test_difference_without_common_repetitions_is_unknown():
    rng = np.random.default_rng(11)
    first, second = spoiled(drawn(rng, 4), estimate=[0, 1]), spoiled(drawn(rng, 4), estimate=[2, 3])
    value, count = paired_difference("rms", first, second)
    assert (math.isnan(value.value), math.isnan(value.std_error), count) == (True, True, 0)


@pytest.mark.parametrize(("inside", "total"), [(0, 1), (1, 1), (0, 30), (27, 30), (30, 30), (190, 200)])
def test_coverage_interval_is_the_exact_one_of_scipy(inside, total):
    truth = np.where(np.arange(total) < inside, 0.2, 0.9)
    found = coverage_interval(repetitions(truth, np.full(total, 0.2)))
    expected = stats.binomtest(inside, total).proportion_ci(method="exact")
    assert found == pytest.approx(tuple(expected), abs=1e-10)


def test_coverage_interval_leaves_out_repetitions_without_an_interval():
    data = spoiled(repetitions([0.2] * 9 + [0.9] * 3, [0.2] * 12), low=[0, 11], true_error=[1])
    expected = stats.binomtest(7, 9).proportion_ci(method="exact")
    assert coverage_interval(data) == pytest.approx(tuple(expected), abs=1e-10)


def test_coverage_interval_of_no_intervals_is_unknown():
    data = spoiled(repetitions([0.2, 0.3], [0.2, 0.2]), low=[0, 1], high=[0, 1])
    assert np.isnan(coverage_interval(data)).all()


@pytest.mark.parametrize("truth", [0.15, 0.25])
def test_ends_of_an_interval_cover(truth):
    data = repetitions([truth], [0.2], half=0.05)
    data.low[0], data.high[0] = 0.15, 0.25
    assert evaluate("coverage", data).value == 1


@pytest.mark.parametrize(
    ("truth", "score"), [(0.25, 0.2), (0.05, 0.2 + 20 * 0.05), (0.37, 0.2 + 20 * 0.07)], ids=["in", "below", "above"]
)
def test_interval_score_is_the_width_and_a_penalty_for_missing(truth, score):
    data = repetitions([truth], [0.2], half=0.1, level=0.9)
    assert evaluate("interval_score", data).value == pytest.approx(score, rel=1e-12)


@pytest.mark.parametrize("level", [0.5, 0.9])
@pytest.mark.parametrize("move", [(-0.01, 0), (0.01, 0), (0, -0.01), (0, 0.01), (0.01, 0.01), (-0.01, 0.01)])
def test_interval_score_is_best_for_the_quantiles_of_the_truth(level, move):
    """True errors are 20,001 quantiles of a beta law, so nothing is random."""
    law = stats.beta(4, 12)
    truth = law.ppf((np.arange(20_001) + 0.5) / 20_001)
    ends = np.array(law.interval(level))

    def score(low, high):
        data = repetitions(truth, np.full_like(truth, (low + high) / 2), half=(high - low) / 2, level=level)
        return evaluate("interval_score", data).value

    assert score(*ends) < score(*(ends + move))


def test_tail_share_is_how_often_the_estimate_is_off_by_tau_or_more():
    data = repetitions([0.5, 0.5, 0.5, 0.5], [0.25, 0.5, 0.75, 0.625])
    assert tail(data, 0.25)[0] == 0.5


@pytest.mark.parametrize("tau", [0.05, 10.0])
def test_tail_share_has_the_binomial_interval_of_a_share(tau):
    data = drawn(np.random.default_rng(12), 80)
    share, low, high, _ = tail(data, tau)
    expected = stats.binomtest(round(80 * share), 80).proportion_ci(method="exact")
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_tail_bound_is_the_squared_ratio_of_rms_and_tau():
    data = drawn(np.random.default_rng(12), 80)
    assert tail(data, 0.05)[3] == pytest.approx(np.mean((data.estimate - data.true_error) ** 2) / 0.05**2)


@given(errors, st.floats(1e-3, 1))
def test_tail_share_never_exceeds_the_bound(pair, tau):
    share, _, _, bound = tail(repetitions(*pair), tau)
    assert share <= bound * (1 + 1e-12)


def test_tail_leaves_out_failed_repetitions():
    data = drawn(np.random.default_rng(12), 80)
    rows = np.arange(80) >= 3
    assert tail(spoiled(data, estimate=[0, 1], true_error=[2]), 0.05) == tail(data.take(rows), 0.05)


def test_tail_of_no_repetitions_is_unknown():
    assert np.isnan(tail(repetitions([np.nan], [0.1]), 0.1)).all()


@pytest.mark.parametrize("still", ["estimate", "true_error"])
def test_correlation_with_a_constant_is_unknown(still):
    """A tenth has no exact binary form, so that the mean of many differs from it in the last digit."""
    moving = np.random.default_rng(13).random(1001)
    pair = {"true_error": moving, "estimate": moving, still: np.full(1001, 0.1)}
    value = evaluate("correlation", repetitions(**pair))
    assert (math.isnan(value.value), math.isnan(value.std_error)) == (True, True)


def test_correlation_of_equals_is_one_without_doubt():
    moving = np.random.default_rng(13).random(50)
    value = evaluate("correlation", repetitions(moving, moving))
    assert (value.value, value.std_error) == (pytest.approx(1, abs=1e-12), pytest.approx(0, abs=1e-12))


def test_rms_of_perfect_estimates_is_zero_without_doubt():
    value = evaluate("rms", repetitions([0.1, 0.2, 0.3], [0.1, 0.2, 0.3]))
    assert (value.value, value.std_error) == (0, 0)


@pytest.mark.parametrize("name", sorted(METRICS))
def test_failed_repetitions_are_left_out(name):
    data = drawn(np.random.default_rng(14), 30)
    found = evaluate(name, spoiled(data, estimate=[0, 4], true_error=[7]))
    expected = evaluate(name, data.take(~np.isin(np.arange(30), [0, 4, 7])))
    assert (found.value, found.std_error) == (expected.value, expected.std_error)


@pytest.mark.parametrize("name", sorted(INTERVAL_METRICS))
def test_repetitions_without_an_interval_are_left_out(name):
    data = drawn(np.random.default_rng(14), 30)
    found = evaluate(name, spoiled(data, low=[0, 4], high=[0, 4], true_error=[7]))
    expected = evaluate(name, data.take(~np.isin(np.arange(30), [0, 4, 7])))
    assert (found.value, found.std_error) == (expected.value, expected.std_error)


def test_internal_variance_is_over_the_repetitions_that_know_theirs():
    data = drawn(np.random.default_rng(14), 30)
    found = evaluate("internal_variance", spoiled(data, std_error=[0, 4]))
    assert found.value == pytest.approx(np.mean(np.delete(data.std_error, [0, 4]) ** 2), rel=1e-12)


@every_metric
def test_one_repetition_has_no_standard_error(name):
    assert math.isnan(evaluate(name, drawn(np.random.default_rng(15), 1)).std_error)


@pytest.mark.parametrize("name", ["variance", "estimate_variance", "true_variance", "covariance", "correlation"])
def test_two_repetitions_tell_nothing_about_how_well_second_moments_are_known(name):
    two = repetitions([0.21, 0.3], [0.18, 0.37])
    other = repetitions([0.21, 0.3], [0.25, 0.28])
    assert math.isfinite(evaluate(name, two).value)
    assert math.isnan(evaluate(name, two).std_error)
    assert math.isnan(paired_difference(name, two, other)[0].std_error)


def test_two_repetitions_tell_how_well_the_bias_is_known():
    two = repetitions([0.2, 0.3], [0.18, 0.36])
    assert evaluate("bias", two).std_error == pytest.approx(stats.sem([-0.02, 0.06]))


@pytest.mark.parametrize("name", sorted(set(ALL) - {"correlation"}))
def test_one_repetition_has_a_value(name):
    data = drawn(np.random.default_rng(15), 1)
    assert evaluate(name, data).value == pytest.approx(EXPECTED[name](data))


@every_metric
@pytest.mark.parametrize("n", [0, 3], ids=["none", "all failed"])
def test_no_repetitions_give_an_unknown_value_and_no_warning(n, name):
    rows = np.arange(n)
    data = spoiled(drawn(np.random.default_rng(16), n), estimate=rows, true_error=rows, low=rows, high=rows)
    value = evaluate(name, data)
    assert (math.isnan(value.value), math.isnan(value.std_error)) == (True, True)


@every_metric
def test_order_of_repetitions_does_not_matter(name):
    data = drawn(np.random.default_rng(17), 60)
    moved = np.random.default_rng(0).permutation(60)
    turned = evaluate(name, data.take(moved))
    found = evaluate(name, data)
    assert (turned.value, turned.std_error) == pytest.approx((found.value, found.std_error), rel=1e-10)
