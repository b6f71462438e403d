"""The paper's experiment: its design as published, and its claims on made-up results where the truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import bayes_gresub as bg
from bayes_gresub.paper import synthetic_experiment as paper
from bayes_gresub.paper.claim_tests import Claim, Evidence, _weakest, to_frame
from bayes_gresub.paper.synthetic_claims import claims
from bayes_gresub.studies import StudyResults
from bayes_gresub.studies.axes import Grid
from bayes_gresub.studies.tasks import Task

RULES = ("linear SVM", "RBF-SVM", "CART", "3NN")
SIZES = (20, 40, 60, 80, 100)
PRINTED, INTEGRATED = "spherical_bolster-3NNpp", "spherical_bolster-3NNpp (integrated)"
SEMI, CV, BOOT = "semi_bolster", "cross_validation", "bootstrap"

BIAS = {
    "standard_resub": -0.3,
    "spherical_bolster": {"linear SVM": -0.02, "CART": -0.02, "RBF-SVM": -0.05, "3NN": -0.15},
    "3NNpp": {"linear SVM": -0.08, "RBF-SVM": -0.2, "CART": -0.2, "3NN": -0.2},
    PRINTED: {"3NN": -0.25, "": 0.003},
    INTEGRATED: {"3NN": -0.25, "": -0.003},
    SEMI: -0.01,
    CV: 0.05,
    BOOT: 0.1,
}
"""What the paper says of biases, by rule; deviations then have a standard deviation of `SPREAD`."""
SPREAD = {CV: 0.06, BOOT: 0.025}
SECONDS = {"standard_resub": 1e-4, "3NNpp": 1e-3, CV: 3e-3, BOOT: 1e-1}


def world(bias=None, spread=None, seconds=None, failed=(), repetitions=100):
    """Return results in which every claim holds, but for what is given.

    Deviations are normal quantiles in random order: their mean and standard deviation are as wanted, exactly.
    """
    bias, spread, seconds = BIAS | (bias or {}), SPREAD | (spread or {}), SECONDS | (seconds or {})
    grid = Grid(RULES, SIZES, paper.PUBLISHED, repetitions, 0.95, "made up")
    shape = stats.norm.ppf((np.arange(repetitions) + 0.5) / repetitions)
    shape = shape / shape.std() if repetitions > 1 else shape
    rng = np.random.default_rng(0)
    records = {}
    for n in SIZES:
        for rule in RULES:
            truth = 0.3 + 0.005 * rng.permutation(shape)
            estimates, times = {}, {}
            for name in paper.PUBLISHED:
                middle = _of(bias.get(name, 0.0), rule)
                estimates[name] = truth + middle + _of(spread.get(name, 0.01), rule) * rng.permutation(shape)
                times[name] = _of(seconds.get(name, 5e-3), rule) * (1 + 0.05 * rng.permutation(shape))
            for i in range(repetitions):
                records[Task(rule, n, i)] = {
                    "true": {"value": truth[i], "std_error": None, "n_test": 0, "message": ""},
                    "rows": {
                        name: _row(estimates[name][i], times[name][i], name in failed) for name in paper.PUBLISHED
                    },
                    "warnings": {},
                }
    return StudyResults(grid, records)


def _of(value, rule):
    return value.get(rule, value.get("")) if isinstance(value, dict) else value


def _row(estimate, seconds, failed):
    empty = {"low": None, "high": None, "std_error": None, "n_refits": 0, "n_predicted": 0, "reruns": []}
    message = "ValueError: no" if failed else ""
    return {**empty, "estimate": None if failed else estimate, "seconds": seconds, "message": message}


def claim_of(found, reading):
    """Return the claim, of results or of a list, whose reading begins so."""
    matching = [one for one in (found if isinstance(found, list) else claims(found)) if one.reading.startswith(reading)]
    assert len(matching) == 1
    return matching[0]


READINGS = {
    "bias below -0.05 at n = 20 and 40, all rules": 8,
    "spherical_bolster: |bias| smaller than resubstitution's": 15,
    "3NNpp: |bias| smaller than resubstitution's": 15,
    "spherical_bolster-3NNpp, as printed: |bias| smaller than resubstitution's": 15,
    "spherical_bolster-3NNpp, integrated: |bias| smaller than resubstitution's": 15,
    "as printed: |bias| at n = 100 smaller than that of every other estimator": 3,
    "integrated: |bias| at n = 100 smaller than that of every other estimator": 3,
    "as printed: |bias| below 0.02 at n = 100": 3,
    "integrated: |bias| below 0.02 at n = 100": 3,
    "spherical_bolster: |bias| with linear SVM and with CART smaller": 20,
    "|bias| of 3NNpp with linear SVM smaller": 15,
    "cross_validation: bias above 0": 20,
    "bootstrap: bias above 0": 20,
    "its variance larger than that of every other estimator at n = 20 and 40": 8,
    "spherical_bolster: variance smaller than both": 20,
    "spherical_bolster-3NNpp: variance smaller than both": 20,
    "spherical_bolster-3NNpp (integrated): variance smaller than both": 20,
    "spherical_bolster: RMS smaller than that of all three": 15,
    "spherical_bolster-3NNpp: RMS smaller than that of all three": 15,
    "spherical_bolster-3NNpp (integrated): RMS smaller than that of all three": 15,
    "as printed: RMS smaller than that of every other estimator": 15,
    "integrated: RMS smaller than that of every other estimator": 15,
    "3NN: RMS of spherical_bolster smaller than that of both forms": 5,
    "3NN: |bias| of semi_bolster smaller than that of spherical_bolster": 5,
    "3NN: RMS of semi_bolster smaller than that of every other estimator": 5,
    "3NNpp takes less time than every other estimator but resubstitution": 20,
    "it takes less time than both bolstered estimators": 20,
    "spherical_bolster takes less time than the bootstrap": 20,
    "spherical_bolster-3NNpp takes less time than the bootstrap": 20,
}
"""Every claim as it is tested, and its number of cells."""


@pytest.fixture(scope="module")
def papers_world():
    return world()


@pytest.fixture(scope="module")
def papers_claims(papers_world):
    return claims(papers_world)


def test_claims_are_these(papers_claims):
    assert len(papers_claims) == len(READINGS)
    assert all(one.reading.startswith(reading) for one, reading in zip(papers_claims, READINGS, strict=True))


@pytest.mark.parametrize(("reading", "cells"), READINGS.items(), ids=READINGS)
def test_claim_is_borne_out_in_the_papers_world(papers_claims, reading, cells):
    claim = claim_of(papers_claims, reading)
    assert (claim.verdict, claim.counts) == ("borne out", (cells, 0, 0))


@pytest.fixture(scope="module")
def claims_upside_down():
    """Return the claims on results in which each of them is false in every cell."""
    bolstered = {"linear SVM": -0.6, "CART": 0.6, "": 0.4}
    return claims(
        world(
            bias={
                "standard_resub": -0.02,
                "spherical_bolster": bolstered,
                "3NNpp": {"linear SVM": -0.3, "": 0.1},
                PRINTED: {"3NN": -0.1, "": -0.5},
                INTEGRATED: {"3NN": 0.1, "": 0.5},
                SEMI: -0.6,
                CV: -0.05,
                BOOT: -0.05,
            },
            spread={CV: 0.01, BOOT: 0.03, "spherical_bolster": 0.2, PRINTED: 0.2, INTEGRATED: 0.2},
            seconds={BOOT: 1e-3, CV: 1e-1, "3NNpp": 2e-1},
        )
    )


@pytest.mark.parametrize(("reading", "cells"), READINGS.items(), ids=READINGS)
def test_claim_is_contradicted_where_it_is_false_in_every_cell(claims_upside_down, reading, cells):
    claim = claim_of(claims_upside_down, reading)
    assert (claim.verdict, claim.counts) == ("contradicted", (0, 0, cells))


# One change to the paper's world, and the claims that it concerns.
CHANGES = {
    "integrated form biased": (
        {"bias": {INTEGRATED: {"3NN": -0.25, "": 0.5}}},
        {
            "spherical_bolster-3NNpp, integrated: |bias| smaller than resubstitution's",
            "integrated: |bias| at n = 100 smaller than that of every other estimator",
            "integrated: |bias| below 0.02 at n = 100",
            "spherical_bolster-3NNpp (integrated): RMS smaller than that of all three",
            "integrated: RMS smaller than that of every other estimator",
        },
    ),
    "printed form variable": (
        {"spread": {PRINTED: 0.07}},
        {
            "its variance larger than that of every other estimator at n = 20 and 40",
            "spherical_bolster-3NNpp: variance smaller than both",
            "spherical_bolster-3NNpp: RMS smaller than that of all three",
            "as printed: RMS smaller than that of every other estimator",
        },
    ),
    "cross-validation biased": ({"bias": {CV: -0.05}}, {"cross_validation: bias above 0"}),
    "cross-validation slow": ({"seconds": {CV: 1e-2}}, {"it takes less time than both bolstered estimators"}),
    "semi-bolstering biased": (
        {"bias": {SEMI: 0.2}},
        {
            "3NN: |bias| of semi_bolster smaller than that of spherical_bolster",
            "3NN: RMS of semi_bolster smaller than that of every other estimator",
        },
    ),
}


@pytest.mark.parametrize(("change", "concerned"), CHANGES.values(), ids=CHANGES)
def test_change_of_one_estimator_shows_in_the_claims_about_it_only(change, concerned):
    doubted = [claim.reading for claim in claims(world(**change)) if claim.verdict != "borne out"]
    assert len(doubted) == len(concerned)
    assert all(any(reading.startswith(one) for reading in doubted) for one in concerned)


@pytest.fixture(scope="module")
def claims_tied():
    """Return claims on results in which two sides have the same numbers in another order: their z-scores are 0."""
    return claims(
        world(
            bias={
                "standard_resub": -0.05,
                "spherical_bolster": {"3NN": -0.15, "": 0.05},
                "3NNpp": -0.2,
                PRINTED: 0.05,
                INTEGRATED: -0.02,
                SEMI: 0.15,
                CV: 0.0,
            },
            seconds={CV: 5e-3},
        )
    )


@pytest.mark.parametrize(
    "reading",
    [
        "bias below -0.05 at n = 20 and 40, all rules",
        "spherical_bolster: |bias| smaller than resubstitution's",
        "integrated: |bias| below 0.02 at n = 100",
        "cross_validation: bias above 0",
        "|bias| of 3NNpp with linear SVM smaller",
        "as printed: RMS smaller than that of every other estimator",
        "3NN: |bias| of semi_bolster smaller than that of spherical_bolster",
        "it takes less time than both bolstered estimators",
    ],
)
def test_claim_is_open_where_both_sides_are_alike(claims_tied, reading):
    claim = claim_of(claims_tied, reading)
    assert (claim.verdict, claim.counts) == ("open", (0, READINGS[reading], 0))


PARTS = {
    "borne out in part": ({"linear SVM": -0.05, "": 0.05}, (15, 0, 5)),
    "borne out where decided": ({"linear SVM": 0.0, "": 0.05}, (15, 5, 0)),
    "contradicted where decided": ({"linear SVM": 0.0, "": -0.05}, (0, 5, 15)),
}


@pytest.mark.parametrize(("verdict", "case"), PARTS.items(), ids=PARTS)
def test_claim_that_holds_for_some_rules_only_says_so(verdict, case):
    bias, counts = case
    claim = claim_of(world(bias={CV: bias}), "cross_validation: bias above 0")
    assert (claim.verdict, claim.counts) == (verdict, counts)


def deviations(results, rule, n, name):
    data = results.repetitions(rule, n, name)
    return data.estimate - data.true_error


def z_at(claim, where):
    found = [one.z for one in claim.evidence if one.where.startswith(where)]
    assert len(found) == 1
    return found[0]


def test_evidence_of_a_bias_is_a_t_statistic(papers_world, papers_claims):
    claim = claim_of(papers_claims, "bias below -0.05")
    expected = stats.ttest_1samp(deviations(papers_world, "CART", 40, "standard_resub"), -0.05).statistic
    assert z_at(claim, "CART, n=40") == pytest.approx(-expected)


def test_evidence_of_an_absent_bias_is_a_t_statistic_of_its_size_against_the_margin(papers_world, papers_claims):
    claim = claim_of(papers_claims, "integrated: |bias| below 0.02")
    expected = stats.ttest_1samp(-deviations(papers_world, "CART", 100, INTEGRATED), 0.02).statistic
    assert z_at(claim, "CART, n=100") == pytest.approx(-expected)


def test_evidence_between_estimators_is_a_paired_t_statistic(papers_world, papers_claims):
    """Both biases are negative, so that their sizes differ as they do."""
    claim = claim_of(papers_claims, "spherical_bolster: |bias| smaller than resubstitution's")
    pair = (deviations(papers_world, "CART", 40, name) for name in ("spherical_bolster", "standard_resub"))
    assert z_at(claim, "CART, n=40") == pytest.approx(stats.ttest_rel(*pair).statistic)


def test_evidence_between_rules_is_a_paired_t_statistic(papers_world, papers_claims):
    claim = claim_of(papers_claims, "|bias| of 3NNpp with linear SVM smaller")
    pair = (deviations(papers_world, rule, 60, "3NNpp") for rule in ("linear SVM", "CART"))
    assert z_at(claim, "linear SVM against CART, n=60") == pytest.approx(stats.ttest_rel(*pair).statistic)


def test_evidence_against_several_rivals_is_that_against_the_strongest():
    results = world(bias={"3NNpp": 0.05})
    claim = claim_of(results, "as printed: RMS smaller than that of every other estimator")
    strongest = [
        min(
            (name for name in paper.PUBLISHED if name not in (PRINTED, INTEGRATED, SEMI)),
            key=lambda name: -results.difference(PRINTED, name).loc[("RBF-SVM", n), "z"],
        )
        for n in SIZES
    ]
    found = [one.where for one in claim.evidence if one.where.startswith("RBF-SVM")]
    assert found == [f"RBF-SVM, n={n}: {name}" for n, name in zip(SIZES, strongest, strict=True)]


@pytest.mark.parametrize("missing", ["standard_resub", CV])
def test_rival_without_numbers_does_not_hide_one_that_contradicts(missing):
    results = world(bias={PRINTED: 0.2}, failed=[missing])
    assert claim_of(results, "as printed: RMS smaller than that of every other").verdict == "contradicted"


@pytest.mark.parametrize("missing", ["standard_resub", CV])
def test_claim_over_every_other_estimator_is_open_where_one_of_them_has_no_numbers(missing):
    assert claim_of(world(failed=[missing]), "as printed: RMS smaller than that of every other").verdict == "open"


def of(*scores):
    return Claim("a quote", "a reading", tuple(Evidence(f"cell {i}", z) for i, z in enumerate(scores)))


@pytest.mark.parametrize(
    ("scores", "counts"),
    [
        ((3.0, 2.0, 1.999, -1.999, -2.0, -9.0), (2, 2, 2)),
        ((math.nan, 5.0), (1, 1, 0)),
        ((math.nan, math.nan), (0, 2, 0)),
        ((), (0, 0, 0)),
    ],
    ids=["decided at two", "one unknown", "all unknown", "no cells"],
)
def test_cells_are_decided_from_two_standard_errors_on(scores, counts):
    assert of(*scores).counts == counts


def test_being_beaten_by_one_of_many_equals_counts_against_a_claim_as_rarely_as_by_one():
    """With five rivals as good as the estimator, the strongest beats it by chance in 2.3 of 100 cells at most.

    The z-scores share the estimator's own part, so that they are correlated by one half; 20,000 cells, false alarms
    below 1 in 1000.
    """
    rng = np.random.default_rng(0)
    own, rivals = rng.standard_normal((20_000, 1)), rng.standard_normal((20_000, 5))
    z = (rivals - own) / math.sqrt(2)
    weakest = [_weakest("cell", dict(zip("abcde", row, strict=True))) for row in z]
    share = np.mean([one.z <= -one.against for one in weakest])
    assert share < stats.norm.sf(2) + 3.1 * math.sqrt(0.0228 / 20_000)


@pytest.mark.parametrize(
    ("scores", "verdict"),
    [
        ((3, 4), "borne out"),
        ((-3, -4), "contradicted"),
        ((3, 3, 1), "borne out where decided"),
        ((-3, -3, 1), "contradicted where decided"),
        ((3, -3), "borne out in part"),
        ((3, 1, -3), "borne out in part"),
        ((1, -1), "open"),
        ((math.nan,), "open"),
        ((3, 3, math.nan), "borne out where decided"),
        ((3, math.nan), "mostly open"),
        ((3, -3, 0, 1), "mostly open"),
        ((), "open"),
    ],
)
def test_verdict_follows_the_counts(scores, verdict):
    assert of(*scores).verdict == verdict


def test_table_has_a_row_for_every_claim(papers_claims):
    table = to_frame(papers_claims)
    assert table["tested"].tolist() == [claim.reading for claim in papers_claims]
    assert table["claim"].tolist() == [claim.quote for claim in papers_claims]


def test_table_has_these_columns():
    columns = ["claim", "tested", "verdict", "for", "open", "against", "z_min", "z_median", "z_max", "cells_against"]
    assert list(to_frame([of(1.0)]).columns) == columns


def test_table_has_counts_and_verdict():
    row = to_frame([of(3.0, 2.5, 1.0, -4.0)]).loc[0]
    assert row[["for", "open", "against", "verdict"]].tolist() == [2, 1, 1, "borne out in part"]


def test_table_has_the_range_of_z_scores_that_are_known():
    row = to_frame([of(3.0, math.nan, 1.0, -4.0)]).loc[0]
    assert row[["z_min", "z_median", "z_max"]].tolist() == [-4, 1, 3]


def test_table_names_the_cells_against_the_claim():
    assert to_frame([of(3.0, -2.0, -1.0, -4.0)]).loc[0, "cells_against"] == "cell 1; cell 3"


def test_table_of_one_repetition_has_no_z_scores():
    """There is no standard error yet: every claim is open, and looking at it warns of nothing."""
    table = to_frame(claims(world(repetitions=1)))
    assert table["z_median"].isna().all()


def test_claims_of_a_run_without_the_papers_rules_say_what_is_missing():
    whole = world(repetitions=2)
    grid = Grid(("LDA",), SIZES, paper.PUBLISHED, 2, 0.95, "made up")
    with pytest.raises(ValueError, match="linear SVM"):
        claims(StudyResults(grid, whole.records))


def test_claims_of_a_run_without_the_papers_estimators_say_what_is_missing():
    whole = world(repetitions=2)
    grid = Grid(RULES, SIZES, ("resub", "cv"), 2, 0.95, "made up")
    with pytest.raises(ValueError, match="standard_resub"):
        claims(StudyResults(grid, whole.records))


def test_study_has_the_papers_grid():
    study = paper.synthetic_study()
    assert (tuple(study.rules), study.sample_sizes, study.repetitions) == (RULES, SIZES, 200)


def test_study_takes_the_truth_from_5000_points_where_no_formula_gives_it():
    assert paper.synthetic_study().n_test == 5000


def test_study_measures_internal_variance_of_cross_validation_by_a_second_run():
    assert paper.synthetic_study().reruns[CV] == 1


def test_population_is_the_papers_at_a_bayes_error_of_one_fifth():
    population = paper.synthetic_study().population
    shape = {"n_informative": 6, "n_noise": 4, "block": 2, "rho": 0.2, "bayes_error": 0.2}
    assert {name: getattr(population, name) for name in shape} == shape


def test_population_may_be_another():
    other = bg.datasets.PaperGaussian(bayes_error=0.1)
    assert paper.synthetic_study(population=other).population is other


def test_study_takes_repetitions_and_seed():
    study = paper.synthetic_study(7, 3)
    assert (study.repetitions, study.seed) == (7, 3)


@pytest.mark.parametrize(("name", "kernel"), [("linear SVM", "linear"), ("RBF-SVM", "rbf")])
def test_support_vector_machines_have_the_papers_kernels(name, kernel):
    rule = paper.rules()[name]
    assert isinstance(rule, SVC)
    assert rule.kernel == kernel


def test_tree_has_five_points_a_leaf():
    rule = paper.rules()["CART"]
    assert isinstance(rule, DecisionTreeClassifier)
    assert rule.min_samples_leaf == 5


def test_neighbours_are_three():
    assert paper.rules()["3NN"].n_neighbors == 3


def test_published_estimators_come_first_under_the_papers_names():
    names = ["standard_resub", "spherical_bolster", "3NNpp", PRINTED, INTEGRATED, SEMI, CV, BOOT]
    assert list(paper.synthetic_study().estimators)[:8] == names


def test_our_estimators_stand_beside_the_published_ones():
    others = set(paper.synthetic_study().estimators) - set(paper.PUBLISHED)
    assert others >= {"bolstered", "3nn-pp", "boot-632", "boot-632+", "calibrated-bolstered"}


def test_our_estimators_can_be_left_out():
    assert tuple(paper.synthetic_study(only_published=True).estimators) == paper.PUBLISHED


def test_cross_validation_has_ten_unstratified_folds_once():
    estimator = paper.published()[CV]
    assert (estimator.folds, estimator.repeats, estimator.stratified) == (10, 1, False)


def test_bootstrap_is_zero_with_100_resamples():
    estimator = paper.published()[BOOT]
    assert (estimator.kind, estimator.n_resamples) == ("zero", 100)


@pytest.mark.parametrize("name", [BOOT, "boot-632", "boot-632+"])
def test_number_of_resamples_reaches_every_bootstrap(name):
    assert paper.synthetic_study(n_resamples=30).estimators[name].n_resamples == 30


@pytest.mark.parametrize("name", ["spherical_bolster", PRINTED, INTEGRATED, SEMI])
def test_kernels_are_spherical_and_see_features_as_given(name):
    kernel = paper.published()[name].kernel
    assert isinstance(kernel, bg.SphericalGaussian)
    assert kernel.standardize is None


@pytest.mark.parametrize("name", ["3NNpp", PRINTED, INTEGRATED])
def test_posteriors_are_of_three_neighbours_of_features_as_given(name):
    posterior = paper.published()[name].posterior
    assert isinstance(posterior, bg.KNN)
    assert (posterior.k, posterior.standardize) == (3, None)


@pytest.mark.parametrize("name", ["spherical_bolster", PRINTED, INTEGRATED, SEMI])
def test_sampled_integrals_have_100_points(name):
    assert paper.published()[name].n_points == 100


def test_bolstered_posterior_comes_in_both_forms():
    made = paper.published()
    assert (type(made[PRINTED]), type(made[INTEGRATED])) == (bg.paper.ProductForm, bg.BolsteredPosterior)


@pytest.mark.parametrize(("name", "semi"), [("spherical_bolster", False), (SEMI, True)])
def test_only_the_semi_bolstered_estimator_is_semi_bolstered(name, semi):
    assert paper.published()[name].semi == semi


@pytest.fixture(scope="module")
def real_run():
    """Return results of the published rules and estimators at the smallest size, once."""
    return bg.Study(bg.datasets.PaperGaussian(), paper.rules(), paper.published(3), [20], 1).run(progress=False)


def test_published_estimators_run_without_failures(real_run):
    assert real_run.failures().empty


def test_claims_can_be_read_off_a_real_run(real_run):
    assert len(claims(real_run)) == len(READINGS)
