"""What studies found: tables and Datasets from hand-made records, and from a folder."""

from __future__ import annotations

import math
import re
from functools import cache

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

import bayes_gresub as bg
from bayes_gresub.studies import StudyResults
from bayes_gresub.studies.axes import Grid
from bayes_gresub.studies.metrics import ALL, evaluate
from bayes_gresub.studies.tasks import Task

RULES, SIZES, ESTIMATORS, R = ("tree", "LDA"), (20, 100), ("resub", "cv", "boot"), 12
CELLS = [(rule, n, name) for rule in RULES for n in SIZES for name in ESTIMATORS]


def row(estimate, **parts):
    """Return one estimator's row of a record; an interval reaches 0.05 to both sides unless ends are given."""
    known = estimate is not None
    return {
        "estimate": estimate,
        "low": estimate - 0.05 if known else None,
        "high": estimate + 0.05 if known else None,
        "std_error": 0.01 if known else None,
        "seconds": 0.002,
        "n_refits": 0,
        "n_predicted": 0,
        "exact": False,
        "message": "" if known else "ValueError: no estimate",
        "reruns": [],
    } | parts


def record(task, true_error, rows, warnings=(), message=""):
    return {
        "rule": task.rule,
        "n": task.n,
        "repetition": task.repetition,
        "true": {"value": true_error, "std_error": 0.001, "n_test": 5000, "message": message},
        "fit_seconds": 0.1,
        "rows": rows,
        "warnings": dict(warnings),
        "seconds": 0.2,
    }


@cache
def numbers(task, k=0):
    """Return a number between 0 and 1 that looks random."""
    entropy = [RULES.index(task.rule), task.n, task.repetition, k]
    return float(np.random.default_rng(entropy).random())


def made(change=None, *, rules=RULES, sizes=SIZES, repetitions=R, level=0.95):
    """Return results of a full grid, after `change` of the records."""
    grid = Grid(rules, sizes, ESTIMATORS, repetitions, level, "made up")
    records = {}
    for task in grid.tasks:
        truth = 0.2 + 0.1 * numbers(task)
        rows = {name: row(truth + 0.2 * (numbers(task, k) - 0.4)) for k, name in enumerate(ESTIMATORS, 1)}
        for k, name in enumerate(ESTIMATORS, 1):
            rows[name]["seconds"] = 0.001 * k * (1 + numbers(task, k))
        records[task] = record(task, truth, rows)
    if change is not None:
        change(records)
    return StudyResults(grid, records)


def column(results, rule, n, name, key="estimate"):
    """Return what records say of one cell, in the order of repetitions."""
    return np.array([results.records[Task(rule, n, i)]["rows"][name][key] for i in range(R)], dtype=float)


def truth_of(results, rule, n):
    return np.array([results.records[Task(rule, n, i)]["true"]["value"] for i in range(R)], dtype=float)


def failing(*repetitions, rule="tree", n=20, name="cv"):
    def change(records):
        for i in repetitions:
            records[Task(rule, n, i)]["rows"][name] = row(None)

    return change


def test_summary_has_a_row_for_every_cell_in_the_order_of_the_design():
    table = made().summary()
    assert table.index.names == ["rule", "n", "estimator"]
    assert table.index.tolist() == CELLS


def test_summary_has_every_metric_with_its_standard_error():
    metrics = ["true_mean", "estimate_mean", "bias", "variance", "rms", "internal_variance", "correlation"]
    paired = [column for name in metrics for column in (name, f"{name}_se")]
    coverage = ["coverage", "coverage_low", "coverage_high"]
    after = [
        column for name in ("width", "interval_score", "test_variance", "seconds") for column in (name, f"{name}_se")
    ]
    assert list(made().summary().columns) == ["repetitions", "failed", *paired, *coverage, *after]


@pytest.mark.parametrize("name", sorted(set(ALL) - {"coverage"}))
def test_summary_of_one_metric_has_its_columns_only(name):
    assert list(made().summary(name).columns) == ["repetitions", "failed", name, f"{name}_se"]


def test_summary_of_a_list_of_metrics_keeps_their_order():
    assert list(made().summary(["rms", "bias"]).columns)[2:] == ["rms", "rms_se", "bias", "bias_se"]


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_summary_has_the_rms_of_the_cell(cell):
    results = made()
    deviations = column(results, *cell) - truth_of(results, *cell[:2])
    assert results.summary("rms").loc[cell, "rms"] == pytest.approx(math.sqrt(np.mean(deviations**2)))


def test_summary_has_the_standard_error_of_the_cell():
    results = made()
    deviations = column(results, "LDA", 20, "boot") - truth_of(results, "LDA", 20)
    assert results.summary("bias").loc[("LDA", 20, "boot"), "bias_se"] == pytest.approx(stats.sem(deviations))


def test_summary_has_the_binomial_interval_of_the_coverage():
    results = made()
    truth = truth_of(results, "LDA", 20)
    low, high = (column(results, "LDA", 20, "cv", key) for key in ("low", "high"))
    inside = int(((low <= truth) & (truth <= high)).sum())
    expected = stats.binomtest(inside, R).proportion_ci(method="exact")
    found = results.summary("coverage").loc[("LDA", 20, "cv"), ["coverage", "coverage_low", "coverage_high"]]
    assert found.tolist() == pytest.approx([inside / R, *expected])


def test_interval_score_is_at_the_level_of_the_study():
    """A miss by x costs 2 x / (1 - level): four times as much at 95% as at 80%."""

    def missing(records):
        for one in records.values():
            one["rows"]["cv"] |= {"low": 0.9, "high": 0.9}

    strict, mild = (made(missing, level=level).summary("interval_score") for level in (0.95, 0.8))
    ratio = strict["interval_score"].xs("cv", level="estimator") / mild["interval_score"].xs("cv", level="estimator")
    assert ratio.tolist() == pytest.approx([4.0] * 4)


def test_summary_counts_failed_estimates():
    counts = made(failing(0, 3, 4)).summary("rms")[["repetitions", "failed"]]
    assert counts.loc[("tree", 20, "cv")].tolist() == [R - 3, 3]
    assert counts.drop(("tree", 20, "cv")).to_numpy().tolist() == [[R, 0]] * 11


def test_summary_leaves_failed_estimates_out():
    results = made(failing(0, 3, 4))
    deviations = column(results, "tree", 20, "cv") - truth_of(results, "tree", 20)
    assert results.summary("bias").loc[("tree", 20, "cv"), "bias"] == pytest.approx(np.nanmean(deviations))


def test_summary_counts_tasks_without_a_true_error_as_failed():
    def change(records):
        records[Task("LDA", 20, 1)]["true"] |= {"value": None, "message": "ValueError: no truth"}

    counts = made(change).summary("rms").loc["LDA"].loc[20, ["repetitions", "failed"]]
    assert counts.to_numpy().tolist() == [[R - 1, 1]] * 3


def test_summary_counts_tasks_that_are_not_done_neither_way():
    counts = made(lambda records: records.pop(Task("LDA", 20, 1))).summary("rms").loc["LDA"].loc[20]
    assert counts[["repetitions", "failed"]].to_numpy().tolist() == [[R - 1, 0]] * 3


def test_summary_of_nothing_done_is_unknown():
    table = made(lambda records: records.clear()).summary()
    assert (table[["repetitions", "failed"]] == 0).all(axis=None)
    assert table.drop(columns=["repetitions", "failed"]).isna().all(axis=None)


def test_summary_of_one_repetition_has_no_standard_errors():
    table = made(repetitions=1).summary()
    assert table.filter(like="_se").isna().all(axis=None)


def test_summary_of_estimators_without_intervals_has_no_coverage():
    def change(records):
        for one in records.values():
            one["rows"]["resub"] |= {"low": None, "high": None}

    table = made(change).summary(["coverage", "width", "interval_score"]).xs("resub", level="estimator")
    assert table.drop(columns=["repetitions", "failed"]).isna().all(axis=None)


def test_tasks_outside_the_design_are_left_out():
    whole = made()
    part = StudyResults(Grid(RULES, (20,), ESTIMATORS, 5, 0.95, "made up"), whole.records)
    assert part.summary("rms")["repetitions"].tolist() == [5] * 6


def test_internal_variance_of_one_rerun_is_half_the_squared_difference():
    def change(records):
        for one in records.values():
            one["rows"]["cv"] |= {"std_error": None, "reruns": [one["rows"]["resub"]["estimate"]]}

    results = made(change)
    first, second = (column(results, "tree", 100, name) for name in ("cv", "resub"))
    found = results.summary("internal_variance").loc[("tree", 100, "cv"), "internal_variance"]
    assert found == pytest.approx(np.mean((first - second) ** 2) / 2)


def test_internal_variance_of_two_reruns_is_the_unbiased_one_of_three_numbers():
    def change(records):
        records[Task("tree", 20, 0)]["rows"]["cv"] |= {"estimate": 0.1, "std_error": None, "reruns": [0.2, 0.4]}

    found = made(change, repetitions=1).summary("internal_variance").loc[("tree", 20, "cv"), "internal_variance"]
    assert found == pytest.approx(np.var([0.1, 0.2, 0.4], ddof=1))


def test_known_standard_error_goes_before_reruns():
    def change(records):
        records[Task("tree", 20, 0)]["rows"]["cv"] |= {"std_error": 0.03, "reruns": [0.9]}

    found = made(change, repetitions=1).summary("internal_variance").loc[("tree", 20, "cv"), "internal_variance"]
    assert found == pytest.approx(0.03**2)


def test_internal_variance_without_reruns_is_unknown():
    def change(records):
        records[Task("tree", 20, 0)]["rows"]["cv"] |= {"std_error": None, "reruns": []}

    assert math.isnan(made(change, repetitions=1).summary("internal_variance").loc[("tree", 20, "cv")].iloc[2])


def test_failed_rerun_is_left_out():
    def change(records):
        records[Task("tree", 20, 0)]["rows"]["cv"] |= {"estimate": 0.1, "std_error": None, "reruns": [None, 0.4]}

    found = made(change, repetitions=1).summary("internal_variance").loc[("tree", 20, "cv"), "internal_variance"]
    assert found == pytest.approx(0.3**2 / 2)


def test_difference_has_a_row_for_every_rule_and_size():
    table = made().difference("cv", "resub")
    assert table.index.names == ["rule", "n"]
    assert table.index.tolist() == [(rule, n) for rule in RULES for n in SIZES]


def test_difference_is_that_of_the_summary():
    results = made()
    rms = results.summary("rms")["rms"]
    expected = rms.xs("cv", level="estimator") - rms.xs("resub", level="estimator")
    assert results.difference("cv", "resub")["difference"].tolist() == pytest.approx(expected.tolist())


def test_difference_of_bias_has_the_z_score_of_a_paired_t_test():
    results = made()
    pair = (column(results, "LDA", 100, name) for name in ("cv", "resub"))
    z = results.difference("cv", "resub", "bias").loc[("LDA", 100), "z"]
    assert z == pytest.approx(stats.ttest_rel(*pair).statistic)


def test_difference_counts_what_both_have():
    def change(records):
        failing(0, 1)(records)
        failing(1, 2, name="resub")(records)

    assert made(change).difference("cv", "resub")["repetitions"].tolist() == [R - 3, R, R, R]


def test_difference_from_itself_has_no_z_score():
    table = made().difference("cv", "cv")
    assert (table[["difference", "se"]] == 0).all(axis=None)
    assert table["z"].isna().all()


def test_tail_has_share_and_bound_of_every_cell():
    results = made()
    found = results.tail(0.05).loc[("tree", 100, "boot"), ["share", "bound"]]
    deviations = np.abs(column(results, "tree", 100, "boot") - truth_of(results, "tree", 100))
    assert found.tolist() == pytest.approx([np.mean(deviations >= 0.05), np.mean(deviations**2) / 0.05**2])


def test_tail_has_these_rows_and_columns():
    table = made().tail(0.05)
    assert (table.index.tolist(), list(table.columns)) == (CELLS, ["share", "share_low", "share_high", "bound"])


@pytest.mark.parametrize("tau", [0, -0.1, float("nan")])
def test_tail_needs_a_positive_tau(tau):
    with pytest.raises(ValueError, match=f"tau must be positive; got {tau}"):
        made().tail(tau)


def test_timing_is_in_milliseconds():
    results = made()
    found = results.timing().loc[("LDA", 20), "boot"]
    assert found == pytest.approx(1000 * column(results, "LDA", 20, "boot", "seconds").mean())


def test_timing_keeps_the_order_of_the_design():
    table = made().timing()
    assert list(table.columns) == list(ESTIMATORS)
    assert table.index.tolist() == [(rule, n) for rule in RULES for n in SIZES]


def test_failures_are_counted_by_message():
    def change(records):
        failing(0, 3, 4)(records)
        records[Task("LDA", 100, 2)]["rows"]["boot"] = row(None, message="KeyError: other")

    assert made(change).failures().to_numpy().tolist() == [
        ["tree", 20, "cv", "ValueError: no estimate", 3],
        ["LDA", 100, "boot", "KeyError: other", 1],
    ]


def test_failures_name_missing_true_errors():
    def change(records):
        records[Task("LDA", 20, 1)]["true"] |= {"value": None, "message": "ValueError: no truth"}

    assert made(change).failures().to_numpy().tolist() == [["LDA", 20, "(true error)", "ValueError: no truth", 1]]


def test_failures_of_a_run_without_any_are_an_empty_table():
    table = made().failures()
    assert (len(table), list(table.columns)) == (0, ["rule", "n", "estimator", "message", "count"])


def test_warnings_are_counted_by_rule_and_message():
    def change(records):
        for i in range(4):
            records[Task("tree", 20, i)]["warnings"] = {"UserWarning: odd": 7}
        records[Task("LDA", 100, 2)]["warnings"] = {"UserWarning: odd": 1}

    found = made(change).warnings()
    assert found.to_numpy().tolist() == [["tree", "UserWarning: odd", 4], ["LDA", "UserWarning: odd", 1]]


def test_warnings_of_a_run_without_any_are_an_empty_table():
    table = made().warnings()
    assert (len(table), list(table.columns)) == (0, ["rule", "message", "tasks"])


def test_repr_counts_tasks_rules_sizes_estimators_and_repetitions():
    assert repr(made()) == "StudyResults: 48 of 48 tasks, 2 rules, 2 sizes, 3 estimators, 12 repetitions"


def test_repr_counts_what_is_done():
    results = made(lambda records: records.pop(Task("LDA", 20, 1)))
    assert repr(results).startswith("StudyResults: 47 of 48 tasks,")


def test_repr_has_singulars():
    assert "1 rule, 1 size, 3 estimators, 1 repetition" in repr(made(rules=("LDA",), sizes=(20,), repetitions=1))


@pytest.mark.parametrize(("failed", "words"), [((0,), "1 failed estimate"), ((0, 1), "2 failed estimates")])
def test_repr_points_to_failures(failed, words):
    assert repr(made(failing(*failed))).endswith(f", {words}: see failures()")


def test_repr_points_to_missing_true_errors():
    def change(records):
        records[Task("LDA", 20, 1)]["true"] |= {"value": None, "message": "ValueError: no truth"}

    assert "see failures()" in repr(made(change))


def test_repr_points_to_warnings():
    def change(records):
        records[Task("LDA", 20, 1)]["warnings"] = {"UserWarning: odd": 1}

    assert repr(made(change)).endswith(", warnings in 1 task: see warnings()")


def test_dataset_has_named_dimensions():
    data = made().to_xarray()
    assert data["estimate"].dims == ("rule", "n", "estimator", "repetition")
    assert data["true_error"].dims == ("rule", "n", "repetition")


@pytest.mark.parametrize(
    ("dim", "values"), [("rule", RULES), ("n", SIZES), ("estimator", ESTIMATORS), ("repetition", range(R))]
)
def test_dataset_has_coordinates_in_the_order_of_the_design(dim, values):
    assert made().to_xarray()[dim].values.tolist() == list(values)


def test_dataset_has_these_variables():
    cells = {"estimate", "std_error", "low", "high", "seconds", "n_refits", "n_predicted"}
    assert set(made().to_xarray().data_vars) == cells | {"true_error", "true_error_std_error", "n_test"}


@pytest.mark.parametrize("key", ["estimate", "std_error", "low", "high", "seconds", "n_refits", "n_predicted"])
def test_dataset_has_the_numbers_of_the_records(key):
    results = made()
    found = results.to_xarray()[key].sel(rule="LDA", n=20, estimator="boot")
    np.testing.assert_array_equal(found, column(results, "LDA", 20, "boot", key))


@pytest.mark.parametrize(("key", "inside"), [("true_error", "value"), ("n_test", "n_test")])
def test_dataset_has_the_true_errors_of_the_records(key, inside):
    results = made()
    expected = [results.records[Task("tree", 100, i)]["true"][inside] for i in range(R)]
    np.testing.assert_array_equal(results.to_xarray()[key].sel(rule="tree", n=100), expected)


def test_dataset_is_unknown_exactly_where_an_estimate_failed():
    data = made(failing(3)).to_xarray()["estimate"]
    assert int(data.isnull().sum()) == 1
    assert math.isnan(data.sel(rule="tree", n=20, estimator="cv", repetition=3))


def test_dataset_is_unknown_exactly_where_a_task_is_missing():
    data = made(lambda records: records.pop(Task("LDA", 20, 1))).to_xarray()
    assert int(data["estimate"].isnull().sum()) == 3
    assert int(data["true_error"].isnull().sum()) == 1
    assert data.sel(rule="LDA", n=20, repetition=1)["estimate"].isnull().all()


def test_dataset_is_unknown_where_a_task_lacks_an_estimator():
    data = made(lambda records: records[Task("LDA", 20, 1)]["rows"].pop("cv")).to_xarray()
    assert math.isnan(data["estimate"].sel(rule="LDA", n=20, estimator="cv", repetition=1))


def test_dataset_survives_netcdf(tmp_path):
    data = made(failing(3)).to_xarray()
    data.to_netcdf(tmp_path / "results.nc", engine="scipy")
    with xr.open_dataset(tmp_path / "results.nc", engine="scipy") as found:
        xr.testing.assert_allclose(found.load(), data, rtol=0, atol=0)


def test_dataset_keeps_its_attributes_in_netcdf(tmp_path):
    made(level=0.8).to_xarray().to_netcdf(tmp_path / "results.nc", engine="scipy")
    with xr.open_dataset(tmp_path / "results.nc", engine="scipy") as found:
        assert (found.attrs["population"], found.attrs["level"]) == ("made up", 0.8)


def test_repetitions_have_what_a_metric_needs():
    results = made()
    data = results.repetitions("LDA", 20, "boot")
    assert evaluate("rms", data).value == results.summary("rms").loc[("LDA", 20, "boot"), "rms"]


CALLS = {
    "metric of the summary": (lambda results: results.summary("rmse"), "metric 'rmse'; the names are rms,"),
    "metric in a list": (
        lambda results: results.summary(["bias", "vriance"]),
        "metric 'vriance'; the names are variance,",
    ),
    "metric of a difference": (
        lambda results: results.difference("cv", "resub", "absolut_bias"),
        "metric 'absolut_bias'; the names are absolute_bias, bias,",
    ),
    "first estimator": (lambda results: results.difference("boott", "resub"), "estimator 'boott'; the names are boot,"),
    "second estimator": (lambda results: results.difference("cv", "resu"), "estimator 'resu'; the names are resub,"),
    "estimator of a figure": (
        lambda results: results.plot(estimators=["resubs"]),
        "estimator 'resubs'; the names are resub, boot, cv.",
    ),
    "rule of a figure": (lambda results: results.plot(rules=["trees"]), "rule 'trees'; the names are tree, LDA."),
    "figure": (lambda results: results.plot("true_erro"), "figure 'true_erro'; the names are true_error,"),
    "rule of repetitions": (lambda results: results.repetitions("trees", 20, "cv"), "rule 'trees'; the names are tree"),
    "estimator of repetitions": (
        lambda results: results.repetitions("tree", 20, "resubs"),
        "estimator 'resubs'; the names are resub",
    ),
}


@pytest.mark.parametrize(("call", "message"), CALLS.values(), ids=CALLS)
def test_unknown_name_is_refused_with_the_names_there_are_nearest_first(call, message):
    with pytest.raises(ValueError, match=re.escape(f"unknown {message}")):
        call(made())


def test_unknown_metric_is_refused_with_all_names():
    with pytest.raises(ValueError, match="unknown metric 'rmse'") as caught:
        made().summary("rmse")
    listed = str(caught.value).rpartition("the names are ")[2].rstrip(".").split(", ")
    assert sorted(listed) == sorted(ALL)


def test_unknown_size_of_a_figure_is_refused_with_the_sizes_there_are():
    with pytest.raises(ValueError, match=re.escape("n must be one of [20, 100]; got 50")):
        made().plot("deviations", n=50)


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """Return a study's results and the folder that it was run in; names are not in the order of the alphabet."""
    folder = tmp_path_factory.mktemp("runs") / "small"
    rules = {"three neighbours": KNeighborsClassifier(3), "LDA": LinearDiscriminantAnalysis()}
    estimators = ["resub", "cv", "bolstered", "3nn-pp"]
    population = bg.datasets.PaperGaussian(bayes_error=0.3)
    study = bg.Study(population, rules, estimators, [24, 20], 3, seed=5, level=0.8, reruns=1)
    return study.run(folder, progress=False), folder


def test_loaded_summary_is_that_of_the_run(real):
    results, folder = real
    pd.testing.assert_frame_equal(StudyResults.load(folder).summary(), results.summary(), check_exact=True)


def test_loaded_dataset_is_that_of_the_run(real):
    results, folder = real
    xr.testing.assert_identical(StudyResults.load(folder).to_xarray(), results.to_xarray())


def test_loaded_records_are_those_of_the_run(real):
    results, folder = real
    assert StudyResults.load(folder).records == results.records


def test_loaded_results_have_the_representation_of_the_run(real):
    results, folder = real
    assert repr(StudyResults.load(folder)) == repr(results)


def test_loading_keeps_the_order_of_rules(real):
    assert StudyResults.load(real[1]).grid.rules == ("three neighbours", "LDA")


def test_loading_keeps_the_order_of_estimators(real):
    assert StudyResults.load(real[1]).grid.estimators == ("resub", "cv", "bolstered", "3nn-pp")


def test_sizes_come_in_rising_order_however_they_were_given(real):
    assert StudyResults.load(real[1]).grid.sample_sizes == real[0].grid.sample_sizes == (20, 24)


def test_a_second_run_leaves_the_order_of_sizes(tmp_path):
    study = bg.Study(bg.datasets.PaperGaussian(), LinearDiscriminantAnalysis(), ["resub"], [24, 20], 1)
    for _ in range(2):
        study.run(tmp_path / "run", progress=False)
    assert StudyResults.load(tmp_path / "run").grid.sample_sizes == (20, 24)


def test_loading_keeps_the_level(real):
    assert StudyResults.load(real[1]).grid.level == 0.8


def test_loading_part_of_a_run_has_what_is_there(real, tmp_path):
    results, folder = real
    (tmp_path / "design.json").write_bytes((folder / "design.json").read_bytes())
    some = sorted(folder.glob("tasks/*/20/1.json"))
    for path in some:
        copy = tmp_path / path.relative_to(folder)
        copy.parent.mkdir(parents=True)
        copy.write_bytes(path.read_bytes())
    assert set(StudyResults.load(tmp_path).records) == {Task(rule, 20, 1) for rule in results.grid.rules}


def test_loading_a_folder_without_a_study_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"must be a folder that a study was run in; it has no design\.json"):
        StudyResults.load(tmp_path)
