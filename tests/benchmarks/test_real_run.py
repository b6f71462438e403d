"""The real-data benchmark as a whole, on a small folder: expected time, resuming, page."""

import numpy as np
import pandas as pd
import pytest

from bayes_gresub.studies import StudyResults
from benchmarks import real
from benchmarks.real_data import hours
from benchmarks.real_data.cells import CLOPPER_PEARSON, WILSON, cells_of, effective_points, read_cells, score_table
from benchmarks.real_data.data_sets import DataSet
from benchmarks.real_data.plan import Part


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with one small data set."""
    path = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    frame = pd.DataFrame({"a": rng.normal(size=400) + y, "b": rng.normal(size=400), "y": y})
    frame.to_csv(path / "small.csv", index=False)
    return path


def part_of(repetitions=2, estimators=("resub", "boot-zero", "boot-632")):
    data = DataSet("small", np.zeros((400, 3)), np.arange(400) % 2)
    return Part(data, (30, 60), ("CART", "LDA"), estimators, repetitions)


def test_predicted_seconds_follow_the_law_of_the_finished_tasks():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "rule": ["CART", "LDA"] * 30,
            "estimator": "cv",
            "log_n": np.log(rng.choice([30, 60, 120], 60)),
            "log_d": np.log(rng.integers(2, 60, 60)),
            "log_c": np.log(rng.integers(2, 10, 60)),
        }
    )
    law = np.where(frame["rule"] == "CART", 0.1, 0.4) * np.exp(0.5 * frame["log_n"] + 1.5 * frame["log_d"])
    frame["data"] = "small"
    done, left = frame[:50].assign(seconds=law[:50], failed=False), frame[50:]
    assert hours.predicted_seconds(done, left) == pytest.approx(law[50:], rel=0.02)


def test_bootstraps_of_one_task_count_once(monkeypatch):
    part = part_of()
    done = hours.left_rows([part], pd.DataFrame(columns=["data", "rule", "n", "repetition", "estimator"]))
    monkeypatch.setattr(hours, "done_rows", lambda *_: done[done["repetition"] == 0].assign(seconds=3.6, failed=False))
    table = hours.expected_hours([part], None)
    assert table.loc["LDA"].to_dict() == pytest.approx({"measures": 2e-3, "bootstraps": 2e-3}, rel=0.02)


def test_an_estimator_that_always_failed_on_a_data_set_takes_no_time_there():
    rows = pd.DataFrame(
        {"data": ["a", "b"], "rule": "LDA", "estimator": "cv", "log_n": 3.4, "log_d": 1.0, "log_c": 0.7}
    )
    done = rows.assign(seconds=[2.0, 0.01], failed=[False, True])
    assert hours.predicted_seconds(done, rows) == pytest.approx([2.0, 0.0])


def test_nothing_is_left_of_what_is_done():
    part = part_of()
    wanted = hours.left_rows([part], pd.DataFrame(columns=["data", "rule", "n", "repetition", "estimator"]))
    assert len(wanted) == 2 * 2 * 2 * 3
    assert hours.left_rows([part], wanted).empty


def test_a_run_is_resumed_a_new_estimator_is_run_alone_and_the_page_keeps_the_design(folder, tmp_path, capsys):
    options = ["--data", "small", "--rules", "LDA;CART", "--sizes", "30", "--repetitions", "1", "--workers", "1"]
    options += ["--run", str(tmp_path / "run")]
    real.main([str(folder), *options, "--estimators", "resub;cv"])
    first = StudyResults.load(tmp_path / "run" / "small")
    real.main([str(folder), *options, "--estimators", "resub;cv;3nn-pp"])
    second = StudyResults.load(tmp_path / "run" / "small")
    for task, record in first.records.items():
        assert {name: second.records[task]["rows"][name] for name in record["rows"]} == record["rows"]
        assert set(second.records[task]["rows"]) == {"resub", "cv", "3nn-pp"}
    assert "All tasks are done." in capsys.readouterr().out
    page = (tmp_path / "run" / "page" / "real.md").read_text(encoding="utf-8")
    assert page.startswith((real.RESULTS / "real.md").read_text(encoding="utf-8").partition("## Results")[0])
    assert "2 cells of 1 data sets in 1 groups, 2 training sets" in page
    stored = pd.read_csv(tmp_path / "run" / "page" / "real.csv.gz")
    assert set(stored["estimator"]) == {"resub", "cv", "3nn-pp", WILSON}

    [small] = real.read_folder(folder)
    for cell in read_cells(tmp_path / "run", [small], {"small": "small"}):
        row = second.repetitions(cell.rule, 30, "cv")
        assert [*cell.low["cv"], *cell.high["cv"]] == pytest.approx([*row.low, *row.high])
    table = score_table(cells_of(second, "small", "small"))
    cell = second.repetitions("LDA", 30, "cv")
    row = table[(table["rule"] == "LDA") & (table["estimator"] == "cv")].iloc[0]
    assert row["bias"] == pytest.approx(cell.deviation.mean())
    variance = (cell.true_error * (1 - cell.true_error) / 370).mean()
    assert row["rms"] ** 2 == pytest.approx(max(0, (cell.deviation**2).mean() - variance))
    assert row["won_cv"] == 0.5
    assert CLOPPER_PEARSON not in set(table["estimator"])


def test_identical_rows_count_as_one_point():
    rng = np.random.default_rng(0)
    twice = np.repeat(rng.normal(size=(200, 2)), 2, axis=0)
    apart = effective_points(DataSet("apart", rng.normal(size=(400, 2)), np.arange(400) % 2), 30, 3)
    together = effective_points(DataSet("twice", twice, np.arange(400) % 2), 30, 3)
    assert apart.tolist() == pytest.approx([30.0] * 3)
    assert (together < 30).all()


def test_an_unknown_rule_is_refused_with_the_names(folder, capsys):
    with pytest.raises(SystemExit):
        real.main([str(folder), "--rules", "LDB"])
    assert "unknown rule 'LDB'; the names are LDA" in capsys.readouterr().err


def test_data_sets_without_enough_rows_are_refused(folder, tmp_path):
    with pytest.raises(ValueError, match="needs 300 rows besides"):
        real.main([str(folder), "--data", "small;iris", "--sizes", "120", "--run", str(tmp_path)])


def test_pilots_are_single_repetitions_of_the_median_and_the_largest_data_set_with_every_rule_and_estimator():
    parts = [
        Part(DataSet(name, np.zeros((400, d)), np.arange(400) % 2), (30, 60, 100), ("CART", "LDA"), ("resub", "cv"), 20)
        for name, d in (("narrow", 2), ("middle", 5), ("wide", 40))
    ]
    chosen = hours.pilots(parts)
    assert {part.data.name: part.sizes for part in chosen} == {"middle": (30, 100), "wide": (60,)}
    assert {(part.rules, part.estimators, part.repetitions) for part in chosen} == {
        (("CART", "LDA"), ("resub", "cv"), 1)
    }
