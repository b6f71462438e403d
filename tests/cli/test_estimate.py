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


def test_the_answer_comes_before_the_table(quick):
    text = " ".join(quick.stdout.split())
    sentence = re.search(
        r"Of 100 new rows of this kind about [\d.]+ would be classified wrongly \(95% interval [\d.]+ to [\d.]+\)", text
    )
    assert sentence is not None
    assert sentence.start() < text.index("estimator error")


def test_the_answer_is_that_of_assess(run, flowers):
    from bayes_gresub.cli.named_rules import make_rule

    run("estimate", flowers, "--target", "kind", "--estimators", "resub", "--seed", "3", "--json", "out.json")
    data = pd.read_csv(flowers, **exact_digits())
    expected = bg.assess(make_rule("rbf-svm"), data[["size", "weight"]], data["kind"], refits=10, random_state=3)
    written = json.loads(Path("out.json").read_text())["answer"]
    assert (written["error"], written["n_points"]) == (expected.error, expected.n_points)
    assert written["n_refits"] == 10


def test_refits_of_the_answer_can_be_left_out(run, flowers):
    run("estimate", flowers, "--target", "kind", "--estimators", "resub", "--refits", "0", "--json", "out.json")
    assert json.loads(Path("out.json").read_text())["answer"]["n_refits"] == 0


def test_rows_that_nothing_has_seen_are_counted(run, flowers):
    data = pd.read_csv(flowers)
    seen = np.arange(len(data)) // 2 % 2 == 0
    data[seen].to_csv("seen.csv", index=False)
    data[~seen].assign(more=1).to_csv("unseen.csv", index=False)
    result = run(
        "estimate",
        "seen.csv",
        "--target",
        "kind",
        "--estimators",
        "resub",
        "--test",
        "unseen.csv",
        "--json",
        "out.json",
    )
    written = json.loads(Path("out.json").read_text())["answer"]
    assert written["test"]["n_points"] == (~seen).sum()
    assert f"{(~seen).sum()} held-out rows" in " ".join(result.stdout.split())
    assert "test" in rows(result)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.drop(columns="size"), "unseen.csv lacks size"),
        (lambda data: data.assign(kind="z"), "unseen.csv has z"),
        (lambda data: data.iloc[:0], "no rows"),
    ],
)
def test_bad_held_out_rows_are_refused(run, flowers, change, message):
    change(pd.read_csv(flowers)).to_csv("unseen.csv", index=False)
    result = run("estimate", flowers, "--target", "kind", "--test", "unseen.csv")
    assert result.exit_code != 0
    assert message in " ".join((result.stdout + result.stderr).split())


def test_missing_file_of_held_out_rows_is_refused(run, flowers):
    result = run("estimate", flowers, "--target", "kind", "--test", "nowhere.csv")
    assert "there is no file 'nowhere.csv' with held-out rows" in " ".join((result.stdout + result.stderr).split())


def test_every_row_is_held_against_the_answer(run):
    """Labels unrelated to the features: a forest repeats its own, so resub is 0 and the truth is one half."""
    rng = np.random.default_rng(0)
    pd.DataFrame({"a": rng.normal(size=80), "b": rng.normal(size=80), "kind": np.arange(80) % 2}).to_csv(
        "noise.csv", index=False
    )
    result = run("estimate", "noise.csv", "--target", "kind", "--classifier", "forest", "--estimators", "resub,cv")
    assert re.search(
        r"Outside the interval of the answer, 0\.\d{3} to 0\.\d{3}, lie resub \(0\.000\)",
        " ".join(result.stdout.split()),
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


@pytest.fixture
def two_modes():
    """Two classes, each of two far modes: Gaussian classes overlap, and three neighbours tell them apart."""
    rng = np.random.default_rng(0)
    label = np.arange(60) % 2
    place = 10.0 * (2 * (np.arange(60) // 2 % 2) + label)
    pd.DataFrame({"size": rng.normal(place), "kind": label}).to_csv("modes.csv", index=False)
    return "modes.csv", "--target", "kind", "--classifier", "3nn"


def test_an_interval_whose_model_does_not_fit_has_a_remark(run, two_modes):
    printed = " ".join(run("estimate", *two_modes, "--estimators", "bayes,cv", "--refits", "0").stdout.split())
    assert re.search(r"bayes 0\.\d+ 0\.\d+ to 0\.\d+ \(a\)", printed)
    assert re.search(r"\(a\) bayes warns: The Gaussian model does not fit", printed)
    assert re.search(r"cv 0\.\d+ 0\.\d+ to 0\.\d+ 10 ", printed)


def test_a_bayesian_estimate_that_the_answer_contradicts_is_said(run, two_modes):
    result = run("estimate", *two_modes, "--estimators", "bayes,cv")
    assert re.search(r"Outside the interval of the answer, .* lie bayes", " ".join(result.stdout.split()))
