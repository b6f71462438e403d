"""The benchmark on populations that nothing was tuned on: reproducible, resumed, and scored by hand-computed values."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

import bayes_gresub as bg
from benchmarks import tables, unseen_kinds
from benchmarks.real_data import scores
from benchmarks.unseen_kinds import ASSESSED, CLOPPER_PEARSON, CONSERVATIVE, POPULATIONS, Cell

CELL = Cell("heavy-tailed", "5NN", 30)


@pytest.fixture(scope="module")
def combination(tmp_path_factory):
    """Return a copy of the package's combination."""
    path = tmp_path_factory.mktemp("combination") / "copy.npz"
    shutil.copy(Path(bg.__file__).parent / "assessing" / "combination.npz", path)
    return str(path)


@pytest.fixture(scope="module")
def run(tmp_path_factory, combination):
    """Return a folder with one cell of one repetition."""
    folder = tmp_path_factory.mktemp("run")
    unseen_kinds.run_cell(folder, CELL, combination, 1)
    return folder


def records(folder):
    return json.loads((folder / CELL.file).read_text())["records"]


@pytest.mark.parametrize("name", POPULATIONS)
def test_training_sets_have_every_class_twice_and_share_no_point_with_the_truth(name):
    X, y, X_new, y_new = unseen_kinds.draw(Cell(name, "5NN", 30), np.random.default_rng(0))
    assert len(y) == 30
    assert min(np.sum(y == label) for label in np.unique(y_new)) >= 2
    assert not {tuple(row) for row in X} & {tuple(row) for row in X_new}


def test_a_record_is_reproducible_and_estimates_are_those_of_the_package(run, combination):
    (known,) = records(run)
    again = unseen_kinds.one_record(CELL, 0, ["cv", "boot-632+"], combination)
    assert again["truth"] == known["truth"]
    for name in ("cv", "boot-632+", CLOPPER_PEARSON):
        assert [again["methods"][name][key] for key in ("estimate", "low", "high")] == [
            known["methods"][name][key] for key in ("estimate", "low", "high")
        ]
    plus = known["methods"][CLOPPER_PEARSON]
    assert [plus["low"], plus["high"]] == pytest.approx([*map(float, scores.clopper_pearson(plus["estimate"], 30))])


def test_cross_validation_has_a_value_if_every_class_has_fewer_points_than_folds(combination):
    X, y = load_digits(return_X_y=True)
    rows = np.concatenate([np.flatnonzero(y == label)[:7] for label in (3, 5, 8, 9)])
    rule = KNeighborsClassifier(5)
    rows_of = unseen_kinds.estimates(rule, rule.fit(X[rows], y[rows]), X[rows], y[rows], ["cv"], 0, combination)
    assert 0 <= rows_of["cv"]["low"] < rows_of["cv"]["estimate"] < rows_of["cv"]["high"]


def test_a_run_goes_on_where_it_ended_and_another_combination_renews_the_answers_only(
    run, combination, tmp_path, monkeypatch
):
    (first,) = records(run)
    asked = []

    def recorded(cell, number, names, combination):
        asked.append((number, names))
        return first | {"repetition": number, "methods": {name: first["methods"][name] for name in names}}

    monkeypatch.setattr(unseen_kinds, "one_record", recorded)
    monkeypatch.setattr(unseen_kinds, "CONSERVATIVE_REPETITIONS", 1)
    unseen_kinds.run_cell(run, CELL, combination, 2)
    assert asked == [(1, [name for name in unseen_kinds.METHODS if name != CONSERVATIVE])]
    asked.clear()
    other = tmp_path / "other.npz"
    other.write_bytes(Path(combination).read_bytes() + b" ")
    unseen_kinds.run_cell(run, CELL, str(other), 2)
    assert asked == [(0, [*ASSESSED]), (1, [*ASSESSED])]
    assert [set(record["methods"]) for record in records(run)] == [
        set(unseen_kinds.METHODS),
        set(unseen_kinds.METHODS) - {CONSERVATIVE},
    ]


def test_scores_count_failures_and_leave_them_out():
    row = {"estimate": 0.3, "low": 0.1, "high": 0.4, "seconds": 36.0}
    made = [
        {"truth": 0.2, "n_test": 100, "methods": {"cv": row}},
        {"truth": 0.2, "n_test": 100, "methods": {"cv": {"failed": "ValueError: no"}}},
    ]
    score = unseen_kinds.score(CELL, made, "cv")
    assert (score["failed"], score["reason"]) == (1, "ValueError: no")
    assert [score["bias"], score["coverage"], score["width"], score["hours"]] == pytest.approx([0.1, 1, 0.3, 0.01])


def test_page_has_every_method_and_what_was_learned_from(run, combination, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    unseen_kinds.write_page(unseen_kinds.score_table(unseen_kinds.read_records(run, 1)), combination)
    page = (tmp_path / "unseen_kinds.md").read_text(encoding="utf-8")
    assert all(f"| {name} " in page for name in unseen_kinds.METHODS)
    assert "Means over 1 cells" in page
    assert "learned from cases of" in page
    assert "Coverage by population" in page
