"""Progress of a study: what is printed where, the table of RMS, and the time left."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

import bayes_gresub as bg
from bayes_gresub import progress as progress_module
from bayes_gresub.studies.display import Display


class Clock:
    """A clock that stands still unless it is set."""

    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(progress_module, "monotonic", made)
    return made


class Terminal(io.StringIO):
    """Text in place of a terminal."""

    def isatty(self):
        return True


def record(estimates, true=0.2, rule="LDA"):
    return {
        "rule": rule,
        "n": 12,
        "repetition": 0,
        "true": {"value": true},
        "rows": {name: {"estimate": value} for name, value in estimates.items()},
    }


def display(done=0, total=4, estimators=("resub", "cv"), rules=("LDA",), progress=True, file=None):
    return Display(done, total, list(estimators), list(rules), progress, file=io.StringIO() if file is None else file)


def printed(shown):
    return shown.progress.file.getvalue().splitlines()


def rendered(shown):
    console = Console(file=io.StringIO(), width=120)
    console.print(shown.progress.rendered())
    return console.file.getvalue()


# Where it is shown


@pytest.mark.parametrize("progress", [False, None])
def test_nothing_is_printed_without_a_terminal_unless_asked_for(clock, progress):
    with display(progress=progress) as shown:
        for _ in range(4):
            clock.now += 60
            shown.update(record({"resub": 0.1}))
    assert printed(shown) == []


def test_a_line_now_and_then_is_printed_without_a_terminal_where_asked_for(clock):
    with display(total=100) as shown:
        for _ in range(100):
            clock.now += 1
            shown.update(record({"resub": 0.1}))
    assert printed(shown) == [
        "31 of 100 tasks, 1 min 09 s left",
        "62 of 100 tasks, 0 min 38 s left",
        "93 of 100 tasks, 0 min 07 s left",
        "100 of 100 tasks, done",
    ]


def test_a_short_run_prints_one_line_at_its_end(clock):
    with display(total=1) as shown:
        shown.update(record({"resub": 0.1}))
    assert printed(shown) == ["1 of 1 tasks, done"]


def test_a_run_with_nothing_to_do_prints_nothing(clock):
    with display(done=4) as shown:
        pass
    assert printed(shown) == []


def test_an_interrupted_run_prints_how_far_it_came(clock):
    shown = display().__enter__()
    clock.now += 10
    shown.update(record({"resub": 0.1}))
    shown.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert printed(shown) == ["1 of 4 tasks, 0 min 30 s left"]


@pytest.mark.parametrize("progress", [True, None])
def test_a_terminal_shows_the_bar_and_the_table(progress):
    file = Terminal()
    with display(progress=progress, file=file) as shown:
        shown.update(record({"resub": 0.1, "cv": 0.5}))
        shown.progress.screen.live.refresh()
        drawn = file.getvalue()
    assert "1 of 4 tasks" in drawn
    assert "0.300" in drawn


def test_a_terminal_shows_nothing_where_it_is_not_wanted():
    file = Terminal()
    with display(progress=False, file=file) as shown:
        shown.update(record({"resub": 0.1}))
    assert file.getvalue() == ""


@pytest.mark.parametrize(("progress", "lines"), [(True, 1), (False, 0), (None, 0)])
def test_a_run_prints_to_standard_error_only_where_asked_for(capsys, progress, lines):
    made = bg.Study(bg.datasets.PaperGaussian(), LinearDiscriminantAnalysis(), ["resub"], [12], 2)
    made.run(progress=progress)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == ["2 of 2 tasks, done"] * lines


def test_a_rerun_prints_nothing(tmp_path, capsys):
    made = bg.Study(bg.datasets.PaperGaussian(), LinearDiscriminantAnalysis(), ["resub"], [12], 2)
    made.run(tmp_path)
    made.run(tmp_path, progress=True)
    assert capsys.readouterr().err == ""


# The table


def test_the_table_holds_the_root_of_the_mean_square_of_deviations(clock):
    shown = display()
    shown.update(record({"resub": 0.1, "cv": 0.2}))
    shown.update(record({"resub": 0.5, "cv": 0.1}))
    rms = [np.sqrt((0.1**2 + 0.3**2) / 2), np.sqrt((0**2 + 0.1**2) / 2)]
    assert shown.table() == [["resub", f"{rms[0]:.3f}"], ["cv", f"{rms[1]:.3f}"]]


def test_rules_have_columns_of_their_own(clock):
    shown = display(rules=["LDA", "3NN"])
    shown.update(record({"resub": 0.1}))
    shown.update(record({"resub": 0.5}, rule="3NN"))
    assert shown.table() == [["resub", "0.100", "0.300"], ["cv", "", ""]]


def test_tasks_of_earlier_runs_count_in_the_table(clock):
    shown = display(done=1)
    shown.seen(record({"resub": 0.1}))
    shown.update(record({"resub": 0.1}))
    assert shown.table()[0] == ["resub", "0.100"]
    assert shown.progress.done == 2


def test_what_failed_does_not_count_in_the_table(clock):
    shown = display()
    shown.update(record({"resub": 0.1, "cv": None}))
    shown.update(record({"resub": 0.9, "cv": 0.9}, true=None))
    assert shown.table() == [["resub", "0.100"], ["cv", ""]]
    assert shown.progress.done == 2


def test_the_table_is_that_of_the_results():
    rules = {"LDA": LinearDiscriminantAnalysis(), "3NN": KNeighborsClassifier(3)}
    names = ["resub", "bolstered"]
    results = bg.Study(bg.datasets.PaperGaussian(), rules, names, [12, 16], 3).run()
    shown = display(total=12, estimators=names, rules=list(rules))
    for finished in results.records.values():
        shown.update(finished)
    dataset = results.to_xarray()
    rms = ((dataset["estimate"] - dataset["true_error"]) ** 2).mean(["n", "repetition"]) ** 0.5
    assert shown.table() == [
        [name, *(f"{float(rms.sel(rule=r, estimator=name)):.3f}" for r in rules)] for name in names
    ]


def test_what_is_drawn_names_estimators_and_rules(clock):
    drawn = rendered(display(rules=["LDA", "3NN"]))
    assert all(name in drawn for name in ("resub", "cv", "LDA", "3NN", "0 of 4 tasks", "RMS"))


@pytest.mark.parametrize("name", ["LDA [auto]", "trees[/fast]", "SVC(steps=[a])"])
def test_names_in_brackets_are_drawn_as_they_are(clock, name):
    """Rich reads square brackets as styles unless it is told not to."""
    assert name in rendered(display(rules=[name]))
    assert name in rendered(display(estimators=[name]))


# The time left


@pytest.mark.parametrize(
    ("done", "total", "seconds", "words"),
    [
        (1, 4, 10, "1 of 4 tasks, 0 min 30 s left"),
        (2, 4, 10, "2 of 4 tasks, 0 min 10 s left"),
        (1, 7, 10, "1 of 7 tasks, 1 min 00 s left"),
        (1, 2, 59.7, "1 of 2 tasks, 1 min 00 s left"),
        (1, 2, 3599.7, "1 of 2 tasks, 1 h 0 min left"),
        (1, 101, 90, "1 of 101 tasks, 2 h 30 min left"),
        (4, 4, 10, "4 of 4 tasks, done"),
    ],
)
def test_the_time_left_is_that_of_a_task_so_far_for_each_to_come(clock, done, total, seconds, words):
    shown = display(total=total)
    for _ in range(done):
        shown.update(record({}))
    clock.now += seconds
    assert shown.progress.line() == words


def test_the_time_left_is_not_known_before_a_task_is_done(clock):
    assert display(done=2).progress.line() == "2 of 4 tasks, time left not known yet"


def test_tasks_of_earlier_runs_do_not_count_in_the_time_left(clock):
    shown = display(done=90, total=100)
    clock.now += 10
    shown.update(record({}))
    assert shown.progress.line() == "91 of 100 tasks, 1 min 30 s left"
