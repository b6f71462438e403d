"""Large samples: the Vapnik-Chervonenkis bound against arithmetic of many digits, and the experiment beside it."""

from __future__ import annotations

from decimal import MAX_EMAX, Decimal, localcontext

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import bayes_gresub as bg
from bayes_gresub.paper import approach, large_sample_study, vc_bound
from bayes_gresub.studies import StudyResults
from bayes_gresub.studies.axes import Grid


def bound_by_hand(n, vc_dimension, tau):
    """Return 8 (n + 1)^V exp(-n tau^2 / 32) with 60 digits, not held below 1."""
    with localcontext(prec=60, Emax=MAX_EMAX):
        exponent = -Decimal(n) * Decimal(tau) ** 2 / 32
        return 8 * Decimal(n + 1) ** vc_dimension * exponent.exp()


@pytest.mark.parametrize(
    ("n", "vc_dimension", "tau"),
    [
        (20, 0, 2.0),
        (1, 0, 9.0),
        (10**5, 3, 0.2),
        (10**6, 11, 0.1),
        (10**6, 2, 0.05),
        (10**4, 1, 1.0),
        (3 * 10**7, 40, 0.05),
    ],
)
def test_bound_is_the_formula_where_that_is_below_one(n, vc_dimension, tau):
    """Exponents of several hundred cost about three of sixteen digits."""
    expected = bound_by_hand(n, vc_dimension, tau)
    assert expected < 1
    assert vc_bound(n, vc_dimension, tau) == pytest.approx(float(expected), rel=1e-11, abs=0)


@pytest.mark.parametrize(
    ("n", "vc_dimension", "tau"),
    [(1, 0, 0.1), (100, 11, 0.1), (10**5, 11, 0.1), (10**6, 1000, 0.1), (10**9, 10**6, 0.1), (2**62, 1, 1e-12)],
)
def test_bound_is_exactly_one_where_the_formula_exceeds_it(n, vc_dimension, tau):
    assert bound_by_hand(n, vc_dimension, tau) > 1
    assert vc_bound(n, vc_dimension, tau) == 1


def test_bound_vanishes_without_a_warning_where_no_float_is_small_enough():
    assert vc_bound(10**9, 3, 0.5) == 0


def test_bound_falls_as_tau_grows():
    bounds = [float(vc_bound(10**5, 3, tau)) for tau in (0.12, 0.15, 0.2, 0.5)]
    assert bounds == sorted(bounds, reverse=True)
    assert 1 > bounds[0] > bounds[-1]


def test_bound_rises_with_the_vc_dimension():
    bounds = [float(vc_bound(10**5, dimension, 0.2)) for dimension in (0, 1, 5, 10)]
    assert bounds == sorted(bounds)
    assert bounds[0] < bounds[-1] < 1


def test_bound_falls_with_n_once_the_exponential_dominates():
    """The formula falls where V / (n + 1) < tau^2 / 32: here from 9600 points on."""
    bounds = vc_bound(np.geomspace(1e4, 1e6, 50), 3, 0.1)
    assert (np.diff(bounds) <= 0).all()
    assert bounds[0] == 1 > bounds[-1]


@pytest.mark.parametrize("shape", [(3,), (1,), (2, 3), (0,)])
def test_bound_has_the_shape_of_n(shape):
    assert vc_bound(np.full(shape, 10**6), 3, 0.1).shape == shape


def test_bound_of_a_list_is_that_of_each():
    assert vc_bound([10**5, 10**6], 3, 0.1).tolist() == [float(vc_bound(n, 3, 0.1)) for n in (10**5, 10**6)]


def test_bound_of_one_size_is_a_number():
    assert np.ndim(vc_bound(10**6, 3, 0.1)) == 0


@pytest.mark.parametrize("n", [0, -5, float("nan"), float("inf"), [100, 0]])
def test_sample_size_below_one_is_refused(n):
    with pytest.raises(ValueError, match="n must be 1 or more, and finite; got"):
        vc_bound(n, 3, 0.1)


@pytest.mark.parametrize("dimension", [-1, 1.5, True, float("inf"), "3"])
def test_vc_dimension_that_is_no_whole_number_is_refused(dimension):
    with pytest.raises(ValueError, match="vc_dimension must be a whole number of at least 0; got"):
        vc_bound(100, dimension, 0.1)


@pytest.mark.parametrize("tau", [0, -0.1, float("nan")])
def test_tau_that_is_not_positive_is_refused(tau):
    with pytest.raises(ValueError, match="tau must be positive; got"):
        vc_bound(100, 3, tau)


def test_large_sample_study_goes_to_ten_thousand_points():
    assert large_sample_study().sample_sizes[-1] == 10_000


def test_large_sample_study_has_a_rule_of_finite_vc_dimension_and_three_neighbours():
    rules = large_sample_study().rules
    assert list(rules) == ["LDA", "CART", "3NN"]
    assert isinstance(rules["3NN"], KNeighborsClassifier)
    assert rules["3NN"].n_neighbors == 3


@pytest.mark.parametrize("n_features", [2, 5])
def test_large_sample_study_has_the_features_asked_for_and_none_of_noise(n_features):
    population = large_sample_study(n_features).population
    assert (population.n_informative, population.n_noise, population.bayes_error) == (n_features, 0, 0.2)


def test_large_sample_study_is_of_the_size_asked_for():
    study = large_sample_study(sample_sizes=(30, 60), repetitions=3, seed=8)
    assert (study.sample_sizes, study.repetitions, study.seed) == ((30, 60), 3, 8)


@pytest.fixture(scope="module")
def small_run():
    return large_sample_study(sample_sizes=(40, 400), repetitions=4).run(progress=False)


def test_approach_has_a_row_for_every_rule_size_and_estimator(small_run):
    table = approach(small_run)
    assert table.index.names == ["rule", "n", "estimator"]
    assert len(table) == 3 * 2 * 6


def test_approach_has_both_distances_with_standard_errors(small_run):
    assert list(approach(small_run).columns) == ["to_resub", "to_resub_se", "to_truth", "to_truth_se"]


def test_plain_resubstitution_is_at_no_distance_from_itself(small_run):
    resub = approach(small_run).xs("resub", level="estimator")
    assert (resub[["to_resub", "to_resub_se"]] == 0).all(axis=None)


@pytest.mark.parametrize("name", ["bolstered", "3nn-pp"])
def test_distance_to_plain_resubstitution_shrinks_for_a_linear_rule(small_run, name):
    """The seed is fixed; the gaps are about 0.04 and 0.005, with standard errors of 0.01 and 0.001."""
    gaps = approach(small_run).loc["LDA"].xs(name, level="estimator")["to_resub"]
    assert gaps[400] < 0.6 * gaps[40]


def test_product_form_stays_away_from_plain_resubstitution_of_a_linear_rule(small_run):
    """The seed is fixed; the gap is about 0.1 with a standard error below 0.01."""
    gaps = approach(small_run).loc["LDA"].xs("bolstered-3nn-pp-product", level="estimator")["to_resub"]
    assert gaps[400] > 0.06


def made(estimates, truth):
    """Return results of one rule and size with these estimates, None where one failed."""
    grid = Grid(("LDA",), (20,), tuple(estimates), len(truth), 0.95, "made up")
    empty = {"low": None, "high": None, "std_error": None, "seconds": 0.0, "n_refits": 0, "n_predicted": 0}
    records = {
        task: {
            "true": {"value": truth[task.repetition], "std_error": None, "n_test": 0, "message": ""},
            "rows": {
                name: {**empty, "estimate": values[task.repetition], "message": "", "reruns": []}
                for name, values in estimates.items()
            },
            "warnings": {},
        }
        for task in grid.tasks
    }
    return StudyResults(grid, records)


def test_distance_is_the_mean_of_absolute_gaps():
    table = approach(made({"resub": [0.1, 0.2], "other": [0.4, 0.1]}, [0.3, 0.3]))
    found = table.loc[("LDA", 20, "other"), ["to_resub", "to_truth"]]
    assert found.tolist() == pytest.approx([(0.3 + 0.1) / 2, (0.1 + 0.2) / 2])


def test_distance_has_the_standard_error_of_a_mean():
    table = approach(made({"resub": [0.1, 0.2], "other": [0.4, 0.1]}, [0.3, 0.3]))
    found = table.loc[("LDA", 20, "other"), ["to_resub_se", "to_truth_se"]]
    assert found.tolist() == pytest.approx([0.1, 0.05])


def test_distance_leaves_failed_estimates_out():
    table = approach(made({"resub": [0.1, None, 0.5], "other": [0.4, 0.2, None]}, [0.3, 0.3, None]))
    found = table.loc[("LDA", 20, "other"), ["to_resub", "to_truth"]]
    assert found.tolist() == pytest.approx([0.3, 0.1])


def test_distance_without_any_estimate_is_unknown():
    table = approach(made({"resub": [0.1, 0.2], "other": [None, None]}, [0.3, 0.3]))
    assert table.loc[("LDA", 20, "other")].isna().all()


def test_plain_resubstitution_may_have_another_name():
    table = approach(made({"apparent": [0.1, 0.2], "other": [0.4, 0.1]}, [0.3, 0.3]), plain="apparent")
    assert table.loc[("LDA", 20, "apparent"), "to_resub"] == 0


def test_unknown_name_of_plain_resubstitution_is_refused_with_the_names_there_are():
    results = made({"standard_resub": [0.1, 0.2], "other": [0.4, 0.1]}, [0.3, 0.3])
    with pytest.raises(ValueError, match=r"among the estimators \['standard_resub', 'other'\]; got 'resub'"):
        approach(results)


def test_bound_is_reachable_from_the_package():
    assert bg.paper.vc_bound is vc_bound
