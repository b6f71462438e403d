"""Integrals about random subsamples of centres: unbiased, with an honest standard error, and only if needed."""

from functools import cache

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import bayes_gresub as bg
from bayes_gresub.estimate.reasons import CentersSubsampled
from bayes_gresub.laws.subsampled_centers import LEAST_PER_STRATUM

SEEDS = 40


@cache
def data(n=800):
    """Return three overlapping classes, the last one rare."""
    rng = np.random.default_rng(0)
    y = rng.choice(3, size=n, p=[0.5, 0.45, 0.05])
    return rng.normal(size=(n, 3)) + 1.2 * np.eye(3)[y], np.array(["a", "b", "c"])[y]


@cache
def classifier(n=800):
    return GaussianNB().fit(*data(n))


def measure_of(name, max_centers, weights=None, **parameters):
    kinds = {
        "bolstered": bg.Bolstered,
        "semi": lambda **given: bg.Bolstered(semi=True, **given),
        "bolstered-3nn-pp": bg.BolsteredPosterior,
    }
    parameters = {"random_state": 0, "max_centers": max_centers} | parameters
    return kinds[name](**parameters).fit(*data(), sample_weight=weights)


NAMES = ("bolstered", "semi", "bolstered-3nn-pp")
WEIGHTS = np.random.default_rng(5).exponential(size=800)


@cache
def over_seeds(name, with_prior, with_weights):
    """Return the estimate about all points, and those about subsamples by seed."""
    parameters = {"class_prior": {"a": 0.2, "b": 0.3, "c": 0.5}} if with_prior else {}
    weights = WEIGHTS if with_weights else None
    whole = measure_of(name, None, weights, **parameters).error(classifier())
    measure = measure_of(name, 300, weights, **parameters)
    return whole, [measure.error(classifier(), random_state=seed) for seed in range(SEEDS)]


every_case = pytest.mark.parametrize(
    ("name", "with_prior", "with_weights"),
    [*((name, False, False) for name in NAMES), ("bolstered", True, False), ("bolstered", False, True)],
)


@every_case
def test_mean_over_subsamples_is_the_integral_about_all_points(name, with_prior, with_weights):
    """Compare with the integral at 4.5 standard errors of the mean over seeds; false alarms about 1 in 100,000."""
    whole, parts = over_seeds(name, with_prior, with_weights)
    values = np.array([part.value for part in parts])
    noise = np.hypot(values.std(ddof=1) / np.sqrt(SEEDS), whole.std_error)
    assert abs(values.mean() - whole.value) < 4.5 * noise


@every_case
def test_standard_error_is_the_spread_over_seeds(name, with_prior, with_weights):
    """Compare variances: the ratio of two that have 39 and 280 degrees of freedom; false alarms about 1 in 10,000."""
    _, parts = over_seeds(name, with_prior, with_weights)
    spread = np.var([part.value for part in parts], ddof=1)
    assert 0.3 < spread / np.mean([part.std_error**2 for part in parts]) < 2.2


@every_case
def test_contributions_have_the_value_as_weighted_mean(name, with_prior, with_weights):
    part = over_seeds(name, with_prior, with_weights)[1][0]
    assert part.point_weights.sum() == pytest.approx(1, abs=1e-12)
    assert part.contributions @ part.point_weights == pytest.approx(part.value, abs=1e-12)


@pytest.mark.parametrize("name", ["bolstered", "semi"])
def test_classes_keep_their_mass(name):
    _, counts = np.unique(data()[1], return_counts=True)
    confusion = measure_of(name, 300).error(classifier()).confusion
    np.testing.assert_allclose(confusion.sum(axis=1), counts / counts.sum(), atol=1e-12)


def test_estimate_of_a_rare_class_is_about_points_of_it():
    estimate = measure_of("bolstered", 300).error(classifier())
    is_rare = data()[1] == "c"
    assert np.count_nonzero(estimate.point_weights[is_rare]) >= min(is_rare.sum(), LEAST_PER_STRATUM)


def test_points_without_contribution_have_a_reason():
    estimate = measure_of("bolstered-3nn-pp", 100).error(classifier())
    n_centers = int(np.count_nonzero(estimate.point_weights))
    assert estimate.missing.contributions == CentersSubsampled(n_centers, 800)
    assert estimate.computation.n_centers == n_centers < 800


def test_computation_names_the_size_of_the_subsample():
    estimate = measure_of("bolstered", 100).error(classifier())
    assert f"about {estimate.computation.n_centers} of 800 points" in repr(estimate)


def test_number_of_predictions_is_bounded():
    estimate = measure_of("bolstered-3nn-pp", 300).error(classifier())
    # Eight replicates of one point about 300 centres, and the least number of each of nine strata.
    assert estimate.computation.n_predicted < 800 + 8 * (300 + 9 * LEAST_PER_STRATUM)


def test_result_survives_json():
    estimate = measure_of("bolstered-3nn-pp", 300).error(classifier())
    again = bg.ErrorEstimate.from_json(estimate.to_json())
    assert again.missing == estimate.missing
    assert again.computation.n_centers == estimate.computation.n_centers


@pytest.mark.parametrize("name", NAMES)
def test_few_points_are_all_used_to_the_last_digit(name):
    few, every = (measure_of(name, most).error(classifier()) for most in (800, None))
    np.testing.assert_array_equal(few.replicate_values, every.replicate_values)
    assert few.missing.contributions is None
    assert few.computation.n_centers is None


@pytest.mark.parametrize("rule", [LinearDiscriminantAnalysis(), DecisionTreeClassifier(max_depth=4, random_state=0)])
def test_formulas_stay_exact_about_all_points(rule):
    X, y = data()
    kept = y != "c"
    trained = rule.fit(X[kept], y[kept])
    part, whole = (bg.Bolstered(max_centers=most).fit(X[kept], y[kept]).error(trained) for most in (50, None))
    assert part.computation.exact
    np.testing.assert_array_equal(part.contributions, whole.contributions)


def test_seed_determines_the_result_whatever_the_number_of_threads():
    one, two = (measure_of("bolstered-3nn-pp", 300, n_jobs=jobs).error(classifier()) for jobs in (None, 2))
    np.testing.assert_array_equal(one.replicate_values, two.replicate_values)
    np.testing.assert_array_equal(one.contributions, two.contributions)


def test_scales_share_centres():
    narrow, wide = measure_of("bolstered", 300).errors_at_scales(classifier(), [0.5, 2.0])
    np.testing.assert_array_equal(narrow.point_weights, wide.point_weights)


def test_width_zero_is_plain_resubstitution():
    at_zero, _ = measure_of("bolstered", 300).errors_at_scales(classifier(), [0.0, 1.0])
    X, y = data()
    assert at_zero.value == pytest.approx(np.mean(classifier().predict(X) != y), abs=1e-12)


def test_tolerance_adds_replicates_until_it_is_reached():
    estimate = measure_of("bolstered", 100, tol=1e-3).error(classifier())
    assert estimate.std_error <= 1e-3
    assert estimate.computation.n_replicates > 8


def test_tolerance_that_is_not_reached_warns(monkeypatch):
    monkeypatch.setattr("bayes_gresub.laws.subsampled_centers.MAX_SCRAMBLES", 16)
    with pytest.warns(ConvergenceWarning, match="Raise tol or max_centers"):
        measure_of("bolstered", 100, tol=1e-6).error(classifier())


def test_independent_points_that_are_subsampled_have_an_interval():
    X, y = data()
    measure = bg.Bolstered(max_centers=200, random_state=0).fit(X[:200], y[:200])
    trained = GaussianNB().fit(X[:200], y[:200])
    estimate = bg.TestSet(X[200:], y[200:], measure=measure).error(trained)
    whole = bg.TestSet(X[200:], y[200:], measure=measure.set_params(max_centers=None)).error(trained)
    low, high = estimate.interval()
    least, most = whole.interval()
    assert low < estimate.value < high
    # Fewer points support a wider interval.
    assert high - low > most - least


@pytest.mark.parametrize("most", [0, 1, 2.5, True, "all"])
def test_other_numbers_of_centres_are_refused(most):
    with pytest.raises(ValueError, match="max_centers must be a whole number of at least 2"):
        bg.Bolstered(max_centers=most).fit(*data())
