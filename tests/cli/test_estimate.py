"""`estimate`: one command from a table to an error with an interval, and files of everything."""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import bayes_gresub as bg
from bayes_gresub.cli import app
from bayes_gresub.data.exact_digits import exact_digits

QUICK = ("--estimators", "resub,bolstered,cv")


def rows(result):
    """Return the rows of the table printed: the first word of each, and what follows."""
    lines = result.stdout.split("\n\n")
    table = next(block for block in lines if block.startswith("estimator"))
    return {line.split()[0]: line for line in table.splitlines()[1:]}


def test_the_default_estimators_hold_one_with_an_interval(run, flowers):
    result = run("estimate", flowers, "--target", "kind", "--classifier", "lda")
    assert re.search(r"0\.\d{3} to 0\.\d{3}", rows(result)["boot-632+"])


@pytest.fixture(scope="module")
def quick(flowers_file):
    return CliRunner().invoke(app, ["estimate", str(flowers_file), "--target", "kind", *QUICK], env={"COLUMNS": "80"})


def test_the_first_line_says_what_data(quick):
    assert quick.stdout.splitlines()[0] == "Data        flowers.csv: 30 rows, 2 features, 2 classes"


def test_the_second_line_counts_the_classes(quick):
    assert quick.stdout.splitlines()[1] == "Classes     a 15, b 15 (column kind)"


def test_the_classifier_is_named(quick):
    assert "Classifier  rbf-svm: support vector machine" in quick.stdout


def test_lines_fit_in_80_columns(quick):
    assert max(len(line) for line in quick.stdout.splitlines()) <= 80


def test_the_majority_class_is_a_row(quick):
    assert re.search(r"^majority class +0\.5000$", quick.stdout, re.MULTILINE)


def test_rows_without_an_interval_point_to_the_reason(quick):
    letter = re.search(r"none \((.)\)", rows(quick)["resub"])[1]
    assert f"({letter}) no interval: errors are counted about the training points" in quick.stdout


def test_cross_validation_has_an_interval(quick):
    assert re.search(r"0\.\d{3} to 0\.\d{3}", rows(quick)["cv"])


def test_groups_are_kept_together_and_are_no_feature(run, tmp_path):
    """Copies with a little noise, so that only their group shows it: 3NN finds the labels of copies."""
    rng = np.random.default_rng(0)
    lines = ["a,b,batch,kind"]
    for batch in range(30):
        a, b = rng.normal(size=2)
        lines += [f"{a + 1e-3 * copy:.6f},{b:.6f},{batch},{'xy'[batch % 2]}" for copy in range(4)]
    (tmp_path / "batches.csv").write_text("\n".join(lines))
    given = [str(tmp_path / "batches.csv"), "--target", "kind", "--classifier", "3nn", "--estimators", "cv"]
    errors = []
    for groups in (["--drop", "batch"], ["--groups", "batch"]):
        errors.append(float(rows(run("estimate", *given, *groups))["cv"].split()[1]))
    assert errors[0] == 0
    assert errors[1] > 0.2


@pytest.mark.parametrize(
    ("column", "message"),
    [("kind", "groups must be a column of its own"), ("bach", "unknown column 'bach'"), ("gaps", "lacks 1, the first")],
)
def test_bad_groups_are_refused(run, tmp_path, column, message):
    text = "a,batch,gaps,kind\n1,1,1,x\n2,1,,y\n3,2,2,x\n4,2,2,y\n"
    (tmp_path / "batches.csv").write_text(text)
    result = run("estimate", str(tmp_path / "batches.csv"), "--target", "kind", "--groups", column)
    assert result.exit_code != 0
    assert message in " ".join((result.stdout + result.stderr).split())


def test_refits_are_counted(quick):
    assert rows(quick)["cv"].split()[-2] == "10"


def test_it_says_which_number_to_read(quick):
    assert "- Read cv: of 100 new rows" in quick.stdout


def test_resub_alone_is_not_to_be_read(run, flowers):
    assert (
        "Do not report one of these alone"
        in run("estimate", flowers, "--target", "kind", "--estimators", "resub").stdout
    )


def test_other_names_of_estimators_are_taken(run, flowers):
    assert "cv10" in rows(run("estimate", flowers, "--target", "kind", "--estimators", "resub,cv10"))


def test_numbers_are_those_of_compare(run, flowers):
    from bayes_gresub.cli.named_rules import make_rule

    result = run("estimate", flowers, "--target", "kind", *QUICK, "--seed", "3", "--csv", "out.csv")
    data = pd.read_csv(flowers, **exact_digits())
    expected = bg.compare(
        make_rule("rbf-svm"), data[["size", "weight"]], data["kind"], QUICK[1].split(","), random_state=3
    )
    assert result.exit_code == 0
    assert pd.read_csv("out.csv", **exact_digits())["estimate"].tolist() == expected.to_frame()["estimate"].tolist()


def test_parquet_is_read_as_csv_is(run, flowers, quick):
    pd.read_csv(flowers).to_parquet("flowers.parquet")
    found = run("estimate", "flowers.parquet", "--target", "kind", *QUICK)
    assert [row.split()[1] for row in rows(found).values()] == [row.split()[1] for row in rows(quick).values()]


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits"])
def test_embedded_data_need_no_target(run, name):
    assert run("estimate", name, "--classifier", "lda", "--estimators", "resub").stdout.startswith(
        f"Data        {name}: "
    )


def test_json_holds_all_of_every_estimate(run, flowers):
    run("estimate", flowers, "--target", "kind", *QUICK, "--json", "out.json")
    found = json.loads(Path("out.json").read_text())
    assert [bg.ErrorEstimate.from_dict(row["everything"]).value for row in found["rows"]] == [
        row["estimate"] for row in found["rows"]
    ]


def test_json_has_the_full_reason_for_no_interval(run, flowers):
    run("estimate", flowers, "--target", "kind", *QUICK, "--json", "out.json")
    first = json.loads(Path("out.json").read_text())["rows"][0]
    assert (first["interval"], "in simulations" in first["no_interval"]) == (None, True)


def test_json_has_data_and_settings(run, flowers):
    run("estimate", flowers, "--target", "kind", *QUICK, "--json", "out.json", "--seed", "5")
    found = json.loads(Path("out.json").read_text())
    assert (found["settings"]["seed"], found["data"]["classes"][0]) == (5, {"label": "a", "rows": 15})


def test_netcdf_holds_a_posterior_that_arviz_reads(run, flowers):
    import arviz as az

    result = run("estimate", flowers, "--target", "kind", "--estimators", "resub,bayes", "--netcdf", "run.nc")
    assert "posterior of bayes" in result.stdout
    assert 0 < float(az.from_netcdf("run.nc").posterior["error"].mean()) < 1


def test_plot_is_written(run, flowers):
    run("estimate", flowers, "--target", "kind", *QUICK, "--plot", "out.png")
    assert Path("out.png").read_bytes()[:4] == b"\x89PNG"


def test_jobs_are_handed_to_the_refits(run, flowers, monkeypatch):
    given = []

    def heard(self, rule, X, y, **options):
        given.append(self.n_jobs)
        raise ValueError("enough is known")

    monkeypatch.setattr(bg.CrossValidation, "error", heard)
    run("estimate", flowers, "--target", "kind", *QUICK, "--jobs", "2")
    assert given == [2]


def test_wide_tables_leave_the_bayesian_estimator_out(run):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(30, 20)), columns=[f"f{k}" for k in range(20)]).assign(kind=["a", "b"] * 15)
    data.to_csv("wide.csv", index=False)
    result = run("estimate", "wide.csv", "--target", "kind", "--classifier", "naive-bayes")
    assert "bayesian is left out" in result.stdout
    assert "bayesian" not in rows(result)


def test_warnings_of_libraries_are_notes(run, flowers, monkeypatch):
    def warning(self, X, y, sample_weight=None, fit=bg.Empirical.fit):
        warnings.warn("the library\n   is worried", FutureWarning, stacklevel=1)
        return fit(self, X, y, sample_weight)

    monkeypatch.setattr(bg.Empirical, "fit", warning)
    result = run("estimate", flowers, "--target", "kind", "--estimators", "resub")
    assert "- Warning: the library is worried" in result.stdout
    assert "FutureWarning" not in result.output


def test_interrupt_shows_what_is_done(run, flowers, monkeypatch):
    def interrupted(self, *args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(bg.CrossValidation, "error", interrupted)
    result = run("estimate", flowers, "--target", "kind", *QUICK)
    assert (result.exit_code, list(rows(result))[:2]) == (130, ["resub", "bolstered"])
    assert "stopped after 2 of 3" in result.stderr


def test_failing_estimators_are_rows_with_their_reason(run, flowers):
    data = pd.read_csv(flowers, **exact_digits())
    pd.concat([data[data["kind"] == "a"], data[data["kind"] == "b"][:2]]).to_csv("few.csv", index=False)
    result = run("estimate", "few.csv", "--target", "kind", "--estimators", "resub,calibrated-bolstered")
    assert (result.exit_code, rows(result)["calibrated-bolstered"].split()[1]) == (0, "failed")
    assert "at least 3 points of every class" in " ".join(result.stdout.split())


def test_a_bayesian_interval_that_refits_contradict_is_said(run):
    """Two classes, each of two far modes: Gaussian classes overlap, and three neighbours tell them apart."""
    rng = np.random.default_rng(0)
    label = np.arange(60) % 2
    place = 10.0 * (2 * (np.arange(60) // 2 % 2) + label)
    pd.DataFrame({"size": rng.normal(place), "kind": label}).to_csv("modes.csv", index=False)
    result = run("estimate", "modes.csv", "--target", "kind", "--classifier", "3nn", "--estimators", "bayes,cv")
    assert "The interval of bayes does not hold the estimate of cv" in " ".join(result.stdout.split())
