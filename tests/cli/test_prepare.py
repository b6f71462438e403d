"""`estimate --prepare`: columns made numeric inside the rule, and what measures and refits see of them."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import bayes_gresub as bg
from bayes_gresub.cli import app
from bayes_gresub.cli.tables import read_table
from bayes_gresub.data.exact_digits import exact_digits

ESTIMATORS = "resub,bolstered,bolstered-cv,cv"


@pytest.fixture(scope="module")
def prepared(mixed_file, tmp_path_factory):
    """Return what a prepared run printed, and its estimates by name."""
    out = tmp_path_factory.mktemp("prepared") / "out.csv"
    options = ["--target", "kind", "--prepare", "--estimators", ESTIMATORS, "--csv", str(out)]
    result = CliRunner().invoke(app, ["estimate", str(mixed_file), *options], env={"COLUMNS": "80"})
    return words(result), pd.read_csv(out, **exact_digits()).set_index("estimator")["estimate"]


def words(result):
    return " ".join(result.stdout.split())


@pytest.mark.parametrize(
    "said",
    [
        "columns left out, empty or constant: same",
        "missing numbers become the median: weight (1)",
        "texts become 0/1 columns: colour (3 texts)",
        "kernels of bolstered estimates move 0/1 columns into fractions",
        "resub, bolstered: judged at the prepared columns (4), prepared once from all rows",
        "cv: refit the preparation with the classifier, on the rows as they are",
        "bolstered-cv: need numbers, so refit the classifier only",
    ],
)
def test_it_says_what_was_done(prepared, said):
    assert said in prepared[0]


def test_every_estimator_answers(prepared):
    assert prepared[1].notna().all()


def test_refits_refit_the_whole_rule(prepared, mixed):
    from bayes_gresub.cli.named_rules import behind, make_rule

    table = read_table(mixed, "kind")
    rule = behind(table.preparation()[0], make_rule("rbf-svm"))
    expected = bg.CrossValidation(random_state=0).error(rule, table.X, table.y).value
    assert prepared[1]["cv"] == expected


def test_measures_judge_behind_the_preparation(prepared, mixed):
    from bayes_gresub.cli.named_rules import make_rule

    table = read_table(mixed, "kind")
    points = table.preparation()[0].fit_transform(table.X)
    classifier = make_rule("rbf-svm").fit(points, table.y)
    expected = bg.Bolstered(random_state=0).fit(points, table.y).error(classifier).value
    assert prepared[1]["bolstered"] == pytest.approx(expected, abs=1e-12)


def test_without_it_columns_are_named(run, mixed):
    result = run("estimate", mixed, "--target", "kind")
    assert result.exit_code == 2
    assert "text in colour; missing values in weight (1); the same value in every row of same" in result.stderr
    assert "--prepare" in result.stderr


def test_dropped_columns_need_no_preparation(run, mixed):
    drop = [part for name in ("colour", "same", "weight") for part in ("--drop", name)]
    assert run("estimate", mixed, "--target", "kind", "--estimators", "resub", *drop).exit_code == 0


def test_nothing_to_prepare_is_said(run, flowers):
    assert "nothing to do" in run("estimate", flowers, "--target", "kind", "--estimators", "resub", "--prepare").stdout


def test_identifiers_are_warned_of(run, flowers):
    data = pd.read_csv(flowers, **exact_digits())
    data["name"] = [f"flower {number}" for number in range(len(data))]
    data.to_csv("named.csv", index=False)
    result = run("estimate", "named.csv", "--target", "kind", "--prepare", "--estimators", "resub")
    assert "Column name has 30 different texts in 30 rows: it looks like an identifier" in words(result)


def test_numbers_spoilt_by_a_mark_are_warned_of(run, flowers):
    data = pd.read_csv(flowers, **exact_digits())
    data["age"] = [*map(str, range(20, 49)), "?"]
    data.to_csv("marked.csv", index=False)
    result = run("estimate", "marked.csv", "--target", "kind", "--prepare", "--estimators", "resub")
    assert "Column age is text because of values such as '?'" in words(result)


def test_missing_texts_are_a_text_of_their_own(run, mixed):
    data = pd.read_csv(mixed, **exact_digits())
    data.loc[:9, "colour"] = np.nan
    data.to_csv(mixed, index=False)
    result = run("estimate", mixed, "--target", "kind", "--prepare", "--estimators", "resub,cv")
    assert "colour (4 texts)" in words(result)
    assert result.exit_code == 0


@pytest.mark.parametrize("texts", [2, 30])
def test_columns_are_counted_as_they_will_be(flowers, texts):
    data = pd.concat([pd.read_csv(flowers)] * 3)
    data["colour"] = [f"colour {number % texts}" for number in range(len(data))]
    data.to_csv(flowers, index=False)
    table = read_table(flowers, "kind")
    assert table.n_numeric == table.preparation()[0].fit_transform(table.X).shape[1]
