"""The registry: which names there are, what each makes, and what is said of names that are not."""

import subprocess
import sys

import pytest
from sklearn.base import BaseEstimator

import bayes_gresub as bg

NAMES = [entry.name for entry in bg.estimators()]
PAPER = [name for name in NAMES if name.startswith("paper-")]


def parts(estimator):
    """Return the kernel and the posterior of a measure, where it has them."""
    return [value for value in estimator.get_params(deep=False).values() if isinstance(value, BaseEstimator)]


@pytest.mark.parametrize("name", ["resub", "bolstered", "semi-bolstered", "nb-bolstered", "3nn-pp", "bolstered-3nn-pp"])
def test_estimators_of_the_paper_are_registered(name):
    assert name in NAMES


@pytest.mark.parametrize(
    "name", ["bolstered", "semi-bolstered", "nb-bolstered", "3nn-pp", "bolstered-3nn-pp", "bolstered-3nn-pp-product"]
)
def test_estimators_that_measure_distances_have_a_variant_as_printed(name):
    assert f"paper-{name}" in NAMES


@pytest.mark.parametrize("name", PAPER)
def test_variants_as_printed_take_features_as_given(name):
    made = parts(bg.make_estimator(name))
    assert made
    assert [part.standardize for part in made] == [None] * len(made)


def test_bolstered_posterior_as_printed_gives_both_parts():
    assert len(parts(bg.make_estimator("paper-bolstered-3nn-pp"))) == 2


def test_naive_bayes_as_printed_counts_ties():
    assert bg.make_estimator("paper-nb-bolstered").kernel.ties == "zero"


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    [
        ("semi-bolstered", "semi", True),
        ("paper-semi-bolstered", "semi", True),
        ("bolstered", "semi", False),
    ],
)
def test_name_decides_the_variant(name, parameter, value):
    assert bg.make_estimator(name).get_params()[parameter] == value


def test_product_is_the_papers_form_and_nothing_else_is():
    products = [name for name in NAMES if isinstance(bg.make_estimator(name), bg.paper.ProductForm)]
    assert products == ["bolstered-3nn-pp-product", "paper-bolstered-3nn-pp-product"]


@pytest.mark.parametrize("name", [name for name in NAMES if "3nn" in name])
def test_names_with_3nn_have_three_neighbours(name):
    assert bg.make_estimator(name).posterior.k == 3


def test_each_call_makes_a_new_object():
    assert [name for name in NAMES if bg.make_estimator(name) is bg.make_estimator(name)] == []


def test_each_call_makes_fresh_parts():
    for name in NAMES:
        one, other = bg.make_estimator(name), bg.make_estimator(name)
        assert not {id(part) for part in parts(one)} & {id(part) for part in parts(other)}, name


def test_parameters_are_handed_on():
    assert [name for name in NAMES if bg.make_estimator(name, random_state=3).random_state != 3] == []


def test_parameters_replace_those_the_name_stands_for():
    assert bg.make_estimator("3nn-pp", posterior=bg.KNN(7)).posterior.k == 7


def test_unknown_name_lists_every_name():
    with pytest.raises(ValueError, match="unknown estimator 'bolsterd'") as raised:
        bg.make_estimator("bolsterd")
    listed = str(raised.value).split("the names are ")[1].rstrip(".").split(", ")
    assert sorted(listed) == sorted(NAMES)


def test_names_of_the_paper_are_a_known_import_away():
    code = "import bayes_gresub as bg; bg.make_estimator('paper-bolstered')"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "`import bayes_gresub.paper` adds names from the paper." in result.stderr


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("bolsterd", "bolstered"), ("3nnpp", "3nn-pp"), ("Resub", "resub"), ("nb_bolstered", "nb-bolstered")],
)
def test_unknown_name_lists_the_nearest_name_first(typed, meant):
    with pytest.raises(ValueError, match=f"the names are {meant},"):
        bg.make_estimator(typed)


def test_unlike_names_are_listed_in_order():
    with pytest.raises(ValueError, match="the names are ") as raised:
        bg.make_estimator("%")
    listed = str(raised.value).split("the names are ")[1].rstrip(".").split(", ")
    assert listed == sorted(listed)


def test_name_that_is_taken_is_refused():
    with pytest.raises(ValueError, match=r"'resub' is registered already. Choose another name"):
        bg.register("resub", "measure", "again", bg.Empirical)


def test_unknown_kind_is_refused_in_registration():
    with pytest.raises(ValueError, match="'measure' or 'resampler'; got 'estimator'"):
        bg.register("new", "estimator", "no such kind", bg.Empirical)


def test_registered_estimator_is_made_by_its_name(monkeypatch):
    monkeypatch.setattr("bayes_gresub.registry._ENTRIES", {})
    bg.register("mine", "measure", "for this test", bg.Empirical)
    assert isinstance(bg.make_estimator("mine"), bg.Empirical)


def test_names_are_unique():
    assert len(NAMES) == len(set(NAMES))


@pytest.mark.parametrize("kind", ["measure", "resampler"])
def test_listing_of_one_kind_holds_that_kind_only(kind):
    assert {entry.kind for entry in bg.estimators(kind)} <= {kind}


def test_summary_is_one_line():
    assert [entry.name for entry in bg.estimators() if len(entry.summary.splitlines()) != 1] == []
