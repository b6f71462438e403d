"""Every mistake is one line on stderr that says what to do, with exit code 2, before any work."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayes_gresub.data.exact_digits import exact_digits


def refused(result):
    """Return the message of a command that was refused, in one line."""
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "Traceback" not in result.output
    return result.stderr.strip()


def table(**columns):
    path = Path("table.csv")
    pd.DataFrame({"size": np.arange(30.0) ** 2, "kind": ["a", "b"] * 15} | columns).to_csv(path, index=False)
    return path


def message(run, *arguments):
    return refused(run("estimate", *arguments))


def test_missing_file(run):
    assert "there is no file 'nowhere.csv'" in message(run, "nowhere.csv", "--target", "kind")


def test_folder_in_place_of_a_file(run, tmp_path):
    assert "is a folder" in message(run, tmp_path, "--target", "kind")


def test_strange_ending(run):
    Path("table.xlsx").write_text("x")
    assert "must be a CSV file" in message(run, "table.xlsx", "--target", "kind")


def test_empty_file(run):
    Path("empty.csv").touch()
    assert "empty.csv is empty" in message(run, "empty.csv", "--target", "kind")


def test_file_without_rows(run):
    Path("header.csv").write_text("size,kind\n")
    assert "column names and no rows" in message(run, "header.csv", "--target", "kind")


def test_no_target(run, flowers):
    assert "the columns are size, weight, kind" in message(run, flowers)


def test_wrong_target_lists_the_columns_nearest_first(run, flowers):
    assert "unknown column 'kinds'; the names are kind, size, weight" in message(run, flowers, "--target", "kinds")


def test_wrong_target_of_many_columns_lists_some(run):
    path = table(**{f"gene{number}": np.arange(30.0) for number in range(60)})
    assert "of 62 columns some are kind" in message(run, path, "--target", "kinds")


def test_one_class(run):
    assert "at least two classes; column 'kind' holds a" in message(run, table(kind="a"), "--target", "kind")


def test_class_with_one_row(run):
    path = table(kind=["a"] * 15 + ["b"] * 14 + ["c"])
    assert "at least two rows; column 'kind' has one of c" in message(run, path, "--target", "kind")


def test_missing_labels(run):
    path = table(kind=["a", None, *["a", "b"] * 14])
    assert "column 'kind' lacks 1, the first in row 2" in message(run, path, "--target", "kind")


def test_regression_target(run):
    path = table(price=np.linspace(1.5, 9, 30))
    assert "looks like a quantity to predict by regression" in message(run, path, "--target", "price")


def test_constant_column(run):
    assert "the same value in every row of same" in message(run, table(same=1), "--target", "kind")


def test_empty_column(run):
    assert "nothing at all in gap" in message(run, table(gap=None), "--target", "kind")


def test_infinite_numbers(run):
    path = table(weight=[1.0, np.inf, *range(28)])
    assert "infinite ones in weight, the first in row 2" in message(run, path, "--target", "kind", "--prepare")


def test_too_few_rows_for_the_folds(run):
    pd.DataFrame({"size": range(8), "kind": ["a", "b"] * 4}).to_csv("few.csv", index=False)
    assert "too few rows for 10 folds: cv cannot" in message(run, "few.csv", "--target", "kind")


def test_repeated_column_names(run):
    Path("twice.csv").write_text("size,size,kind\n1,2,a\n2,3,b\n3,4,a\n4,1,b\n")
    assert "has size twice" in message(run, "twice.csv", "--target", "kind")


def test_rows_longer_than_the_header(run):
    Path("long.csv").write_text("size,kind\n1,2,a\n2,3,b\n3,4,a\n4,1,b\n")
    assert "more values than its first line has names" in message(run, "long.csv", "--target", "kind")


def test_another_separator(run):
    Path("table.csv").write_text("size;kind\n1;a\n2;b\n3;a\n")
    assert "Give that as the separator" in message(run, "table.csv", "--target", "kind")


def test_text_in_another_encoding(run):
    Path("latin.csv").write_bytes("size,kind\n1,é\n2,b\n".encode("latin-1"))
    assert "not text in UTF-8" in message(run, "latin.csv", "--target", "kind")


def test_damaged_parquet(run):
    Path("bad.parquet").write_bytes(b"PAR1 nothing else")
    assert "cannot be read as parquet" in message(run, "bad.parquet", "--target", "kind")


def test_dates_are_neither_numbers_nor_texts(run):
    data = pd.DataFrame({"when": pd.date_range("2020", periods=30), "kind": ["a", "b"] * 15})
    data.to_parquet("dates.parquet")
    assert "column 'when' holds datetime64" in message(run, "dates.parquet", "--target", "kind")


def test_unknown_estimator(run, flowers):
    said = message(run, flowers, "--target", "kind", "--estimators", "bolsterd")
    assert "unknown estimator 'bolsterd'; the names are bolstered," in said


def test_unknown_classifier(run, flowers):
    said = message(run, flowers, "--target", "kind", "--classifier", "svm")
    assert "unknown classifier 'svm'; the names are rbf-svm," in said


@pytest.mark.parametrize("option", ["--json", "--csv", "--netcdf", "--plot"])
def test_output_in_no_folder_is_refused_before_the_data_are_read(run, option):
    assert f"{option} cannot be written" in message(run, "nowhere.csv", "--target", "kind", option, "no/such/out.png")


def test_output_that_is_a_folder(run, flowers, tmp_path):
    assert "is a folder" in message(run, flowers, "--target", "kind", "--json", tmp_path)


def test_checking_an_output_leaves_no_file(run):
    run("estimate", "nowhere.csv", "--target", "kind", "--json", "out.json")
    assert not Path("out.json").exists()


def test_checking_an_output_keeps_what_is_there(run):
    Path("out.json").write_text("before")
    run("estimate", "nowhere.csv", "--target", "kind", "--json", "out.json")
    assert Path("out.json").read_text() == "before"


def test_figure_of_unknown_kind(run, flowers):
    assert "--plot must end in .png" in message(run, flowers, "--target", "kind", "--plot", "out.gif")


def test_netcdf_without_draws(run, flowers):
    said = message(run, flowers, "--target", "kind", "--estimators", "resub,cv", "--netcdf", "run.nc")
    assert "those that have are bayesian, bayesian-shared, gp-pp" in said


def test_no_estimator_that_answers(run, flowers):
    data = pd.read_csv(flowers, **exact_digits())
    pd.concat([data[data["kind"] == "a"], data[data["kind"] == "b"][:2]]).to_csv("few.csv", index=False)
    result = run("estimate", "few.csv", "--target", "kind", "--estimators", "calibrated-bolstered")
    assert "no estimator returned a number" in refused(result)


def test_jobs_of_zero(run, flowers):
    assert "n_jobs must be" in message(run, flowers, "--target", "kind", "--jobs", "0")


def test_unknown_option(run):
    assert "No such option" in refused(run("list", "--nothing"))


def test_unknown_command(run):
    assert "No such command" in refused(run("guess"))


def test_debug_shows_the_traceback(run):
    result = run("--debug", "estimate", "nowhere.csv", "--target", "kind")
    assert isinstance(result.exception, FileNotFoundError)


def test_unexpected_errors_are_one_line_too(run, flowers, monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError("two\nlines")

    monkeypatch.setattr("bayes_gresub.comparing.compare", broken)
    assert "RuntimeError: two lines" in message(run, flowers, "--target", "kind")
