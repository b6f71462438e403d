"""compare on columns that are no numbers: a Pipeline prepares them, and every estimator sees what it can use."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from typer.testing import CliRunner

import bayes_gresub as bg
from bayes_gresub.cli import app
from bayes_gresub.cli.named_rules import behind, make_rule
from bayes_gresub.cli.tables import read_table
from bayes_gresub.data.exact_digits import exact_digits

ESTIMATORS = ["resub", "bolstered", "3nn-pp", "bolstered-cv", "cv", "boot-632"]
MEASURES, QUICK = ESTIMATORS[:3], ESTIMATORS[:5]


@cache
def frame(n=40):
    rng = np.random.default_rng(0)
    label = np.arange(n) % 2
    data = pd.DataFrame({"size": rng.normal(2 * label), "weight": rng.normal(size=n)})
    data["colour"] = np.array(["red", "green", "blue"])[np.arange(n) % 3]
    data.loc[3, "weight"] = np.nan
    return data, np.array(["a", "b"])[label]


def preparing():
    return ColumnTransformer(
        [
            ("texts", OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["colour"]),
            ("numbers", SimpleImputer(strategy="median"), ["size", "weight"]),
        ]
    )


def rule():
    return make_pipeline(preparing(), SVC())


@cache
def compared():
    return bg.compare(rule(), *frame(), ESTIMATORS, random_state=0)


def test_every_estimator_answers():
    assert {row.name: row.message for row in compared().rows if row.estimate is None} == {}


@pytest.mark.parametrize("name", MEASURES)
def test_measures_judge_the_steps_behind_at_prepared_columns(name):
    X, y = frame()
    points = preparing().fit_transform(X)
    measure = bg.make_estimator(name, random_state=0).fit(points, y)
    assert compared()[name].value == measure.error(SVC().fit(points, y)).value


@pytest.mark.parametrize("name", ["cv", "boot-632"])
def test_resamplers_that_count_refit_the_whole_pipeline(name):
    assert compared()[name].value == bg.make_estimator(name, random_state=0).error(rule(), *frame()).value


def test_resamplers_with_kernels_refit_the_steps_behind():
    X, y = frame()
    expected = bg.make_estimator("bolstered-cv", random_state=0).error(SVC(), preparing().fit_transform(X), y)
    assert compared()["bolstered-cv"].value == expected.value


@pytest.mark.parametrize(
    "words",
    [
        "resub, bolstered, 3nn-pp: judged at the prepared columns (5), prepared once from all rows.",
        "cv, boot-632: refit the preparation with the classifier, on the rows as they are.",
        "bolstered-cv: need numbers, so refit the classifier only, on the prepared columns.",
    ],
)
def test_result_names_what_was_judged(words):
    assert words in compared().preparation
    assert words in repr(compared())
    assert words in compared()._repr_html_()


def test_sparse_columns_of_an_encoder_are_judged_too():
    X, y = frame()
    encoder = ColumnTransformer([("texts", OneHotEncoder(), ["colour"])], sparse_threshold=1.0)
    table = bg.compare(make_pipeline(encoder, SVC()), X, y, ["bolstered", "cv"], test=(X, y), random_state=0)
    points = encoder.fit_transform(X).toarray()
    expected = bg.Bolstered(random_state=0).fit(points, y).error(SVC().fit(points, y)).value
    assert table["bolstered"].value == pytest.approx(expected, abs=1e-12)
    assert table["test set"].value == np.mean(SVC().fit(points, y).predict(points) != y)


def test_numeric_columns_need_no_words():
    X, y = frame()
    table = bg.compare(make_pipeline(StandardScaler(), SVC()), X[["size"]], y, ["resub", "cv"], random_state=0)
    assert table.preparation == ()


def test_estimators_that_count_points_need_no_words():
    assert bg.compare(rule(), *frame(), ["cv"], random_state=0).preparation == ()


@pytest.mark.parametrize("name", ["resub", "bolstered", "cv"])
def test_fitted_pipeline_is_judged_as_it_is(name):
    fitted = bg.compare(rule().fit(*frame()), *frame(), ["resub", "bolstered", "cv"], random_state=0)
    assert fitted[name].value == compared()[name].value


def test_test_set_is_judged_by_the_whole_pipeline():
    X, y = frame()
    table = bg.compare(rule(), X[:30], y[:30], ["resub"], test=(X[30:], y[30:]), random_state=0)
    wrong = rule().fit(X[:30], y[:30]).predict(X[30:]) != y[30:]
    assert table["test set"].value == pytest.approx(wrong.mean())


def test_weights_reach_the_steps_behind():
    X, y = frame()
    weights = np.where(np.arange(40) < 20, 1.0, 3.0)
    table = bg.compare(rule(), X, y, ["bolstered"], sample_weight=weights, random_state=0)
    points = preparing().fit_transform(X)
    classifier = SVC().fit(points, y, sample_weight=weights)
    expected = bg.Bolstered(random_state=0).fit(points, y, sample_weight=weights).error(classifier).value
    assert table["bolstered"].value == expected


def test_text_that_nothing_prepares_is_the_message_of_the_row():
    X, y = frame()
    table = bg.compare(make_pipeline("passthrough", rule()), X, y, ["resub", "cv"], random_state=0)
    assert table.to_frame()["message"].str.contains("X must be numeric").tolist() == [True, False]


def test_numbers_are_those_of_the_command_line(tmp_path):
    X, y = frame()
    path, out = tmp_path / "mixed.csv", tmp_path / "out.csv"
    X.assign(kind=y).to_csv(path, index=False)
    options = ["--target", "kind", "--prepare", "--classifier", "rbf-svm", "--estimators", ",".join(QUICK)]
    result = CliRunner().invoke(app, ["estimate", str(path), *options, "--seed", "3", "--csv", str(out)])
    assert result.exit_code == 0
    table = read_table(path, "kind")
    prepared = behind(table.preparation()[0], make_rule("rbf-svm"))
    expected = bg.compare(prepared, table.X, table.y, QUICK, random_state=3).to_frame()
    assert pd.read_csv(out, **exact_digits())["estimate"].tolist() == expected["estimate"].tolist()
    assert pd.read_csv(out, **exact_digits())["low"].dropna().tolist() == expected["low"].dropna().tolist()
