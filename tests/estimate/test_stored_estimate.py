"""A stored estimate that was changed, cut or written in another form is refused, with the field that is wrong."""

import copy
import json

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import bayes_gresub as bg

# A few draws are enough to be stored.
pytestmark = pytest.mark.filterwarnings("ignore:the chains:UserWarning")


def sample():
    return bg.datasets.PaperGaussian().sample(30, random_state=0)


def stored(kind="test set"):
    X, y = sample()
    classifier = LinearDiscriminantAnalysis().fit(X, y)
    estimators = {
        "test set": lambda: bg.TestSet(X, y).error(classifier),
        "bolstered": lambda: bg.Bolstered().fit(X, y).error(classifier),
        "bayesian": lambda: bg.Bayesian(draws=50, random_state=0).fit(X, y).error(classifier),
        "bootstrap": lambda: bg.Bootstrap("632", 50, random_state=0).error(LinearDiscriminantAnalysis(), X, y),
        "separate": lambda: bg.Bolstered(sampling="separate").fit(X, y).error(classifier),
        "prior": lambda: bg.Bolstered(class_prior=[0.2, 0.8]).fit(X, y).error(classifier),
        "weights": lambda: bg.Empirical().fit(X, y, np.arange(30)).error(classifier),
    }
    return json.loads(estimators[kind]().to_json())


def changed(path, value, kind="test set"):
    """Return a stored estimate with one entry replaced."""
    data = copy.deepcopy(stored(kind))
    *parents, last = path
    part = data
    for key in parents:
        part = part[key]
    part[last] = value
    return data


@pytest.mark.parametrize("kind", ["test set", "bolstered", "bayesian", "bootstrap", "separate", "prior", "weights"])
def test_what_was_written_is_read(kind):
    data = stored(kind)
    assert bg.ErrorEstimate.from_dict(data).to_dict() == data


BAD = {
    "value": (["value"], 0.9, r"value of a stored estimate must agree with the replicates"),
    "standard error": (["std_error"], 0.3, r"std_error of a stored estimate must agree with the replicates, 0.0"),
    "value as text": (["value"], "small", r"value of a stored estimate must agree with the replicates"),
    "confusion": (["confusion"], [[0.5, 0.0], [0.0, 0.5]], r"confusion of a stored estimate must agree"),
    "confusion of another shape": (["confusion"], [1.0], r"confusion of a stored estimate must agree"),
    "replicates": (["replicate_values"], [0.9], r"value .* must agree|have the error"),
    "replicates above one": (["replicate_values"], [1.2], r"have a mean between 0 and 1; got 1.2"),
    "replicates below zero": (["replicate_values"], [-0.2], r"have a mean between 0 and 1; got -0.2"),
    "no replicates": (["replicate_values"], [], r"replicate_values .* must be a list of numbers; got \(0,\)"),
    "nested replicates": (["replicate_values"], [[0.1]], r"replicate_values .* must be a list of numbers"),
    "replicates missing": (["replicate_values"], None, r"replicate_values .* must be a list of numbers"),
    "replicate of None": (["replicate_values"], [None], r"replicate_values .* must be finite"),
    "replicates as text": (
        ["replicate_values"],
        ["a"],
        r"'replicate_values' .* must be as it was written; got \['a'\]",
    ),
    "shape of the confusions": (["replicate_confusions"], [[0.5, 0.5]], r"must have shape \(1, 2, 2\).* got \(1, 2\)"),
    "mass above one": (["replicate_confusions"], [[[0.9, 0.1], [0.1, 0.9]]], r"must be a mass that sums to 1; got 2"),
    "negative mass": (["replicate_confusions"], [[[1.2, -0.2], [0, 0]]], r"must be a mass of at least 0; got -0.2"),
    "other error": (["replicate_confusions"], [[[0.5, 0], [0, 0.5]]], r"replicate_confusions .* must have the error"),
    "one class": (["classes"], [0], r"classes of a stored estimate must be two or more different labels"),
    "class twice": (["classes"], [1, 1], r"must be two or more different labels; got \[1, 1\]"),
    "three classes": (["classes"], [0, 1, 2], r"must have shape \(1, 3, 3\)"),
    "classes of two types": (["classes"], [0, "b"], r"classes of a stored estimate must be labels of one type"),
    "classes as text": (["classes"], "01", r"classes of a stored estimate must be labels"),
    "contributions above one": (
        ["contributions"],
        [2.0] * 30,
        r"contributions .* must lie between 0 and 1; got 2 to 2",
    ),
    "too few contributions": (["contributions"], [0.0], r"must be as many as point_weights; got \(\(1,\), \(30,\)\)"),
    "other contributions": (
        ["contributions"],
        [0.5] * 30,
        r"contributions .* must have the weighted mean .* the value",
    ),
    "no contributions": (["contributions"], None, r"contributions .* must come with point_weights"),
    "negative weights": (["point_weights"], [-1 / 30] * 30, r"point_weights .* must lie between 0 and 1"),
    "weights that do not sum to one": (["point_weights"], [0.5] * 30, r"point_weights .* must sum to 1; got 15"),
    "version of the future": (["version"], 2, r"must have version 1; got 2. Read it with the version of bayes_gresub"),
    "version of the past": (["version"], None, r"must have version 1; got None"),
    "unknown interval": (["interval_method", "name"], "wald", r"'interval_method' .* must be as it was written"),
    "more errors than points": (["interval_method", "n_errors"], 99, r"interval_method .* give an interval between"),
    "negative errors": (["interval_method", "n_errors"], -3, r"interval_method .* give an interval between 0 and 1"),
    "errors as text": (["interval_method", "n_errors"], "few", r"interval_method .* give an interval between 0 and 1"),
    "unknown estimand": (["estimand", "name"], "Truth", r"'estimand' .* must be as it was written"),
    "estimand as text": (["estimand"], "the error", r"'estimand' .* must be as it was written; got the error"),
    "unknown reason": (["missing", "value"], {"name": "Bad"}, r"'missing' .* must be as it was written"),
    "unknown part of the computation": (["computation", "speed"], 3, r"'computation' .* must be as it was written"),
    "negative count": (
        ["computation", "n_predicted"],
        -1,
        r"computation\['n_predicted'\] .* must be at least 0; got -1",
    ),
    "exact as text": (["computation", "exact"], "yes", r"computation\['exact'\] .* must be true or false; got yes"),
    "detail that is no number": (["details"], {"kappa": "two"}, r"details\['kappa'\] .* must be a number; got two"),
    "details that are no mapping": (["details"], 3, r"'details' .* must be as it was written; got 3"),
}


@pytest.mark.parametrize("kind", BAD)
def test_changed_field_is_refused_by_its_name(kind):
    path, value, message = BAD[kind]
    with pytest.raises(ValueError, match=message):
        bg.ErrorEstimate.from_dict(changed(path, value))


DRAWS = {
    "of another shape": (lambda draws: draws[0], r"have draws of shape \(\*, 2, 2\); got \(2, 2\)"),
    "doubled": (
        lambda draws: (2 * np.array(draws)).tolist(),
        r"interval_method .* must be a mass that sums to 1; got 2",
    ),
    "not finite": (lambda draws: [[[None, 0.5], [0.5, 0.0]]], r"interval_method .* must be finite"),
}


@pytest.mark.parametrize("kind", DRAWS)
def test_changed_draws_are_refused(kind):
    change, message = DRAWS[kind]
    path = ["interval_method", "confusions"]
    draws = stored("bayesian")["interval_method"]["confusions"]
    with pytest.raises(ValueError, match=message):
        bg.ErrorEstimate.from_dict(changed(path, change(draws), "bayesian"))


@pytest.mark.parametrize("name", ["version", "classes", "replicate_values", "interval_method", "missing", "details"])
def test_missing_field_is_named(name):
    data = stored()
    del data[name]
    with pytest.raises(ValueError, match=rf"version 1; got 'none'|\['{name}'\] are missing. Read what to_dict"):
        bg.ErrorEstimate.from_dict(data)


@pytest.mark.parametrize("data", [None, [], "text", 3], ids=repr)
def test_something_else_than_a_dict_is_refused(data):
    with pytest.raises(TypeError, match=r"an estimate is read from a dict; got a \w+. Read what to_dict"):
        bg.ErrorEstimate.from_dict(data)


@pytest.mark.parametrize("text", ["", "{", "not json", None])
def test_text_that_is_no_json_is_refused(text):
    with pytest.raises(ValueError, match="read from the text that to_json wrote; got"):
        bg.ErrorEstimate.from_json(text)


def test_readings_may_be_left_out():
    data = stored()
    del data["value"], data["confusion"], data["std_error"]
    assert float(bg.ErrorEstimate.from_dict(data)) == stored()["value"]
