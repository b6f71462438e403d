"""Progress of long work: whether and when it is shown, in terminals, notebooks and pipes."""

import io
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stderr
from types import SimpleNamespace

import nbformat
import pytest
from nbclient import NotebookClient

from bayes_gresub import progress as progress_module
from bayes_gresub.progress import Progress, in_notebook, in_terminal, ticking


class Terminal(io.StringIO):
    """Text in place of a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """Return a clock that stands still unless it is set."""
    made = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(progress_module, "monotonic", lambda: made.now)
    return made


# Where there is something to draw on


def test_a_process_that_runs_notebooks_is_no_notebook():
    import ipykernel  # noqa: F401

    assert not in_notebook()


def test_a_kernel_is_a_notebook(monkeypatch):
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    assert in_notebook()


def test_a_terminal_with_ipython_is_no_notebook(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: SimpleNamespace()))
    assert not in_notebook()


def test_a_terminal_that_cannot_redraw_lines_is_none(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    assert not in_terminal(Terminal())


def test_a_process_without_standard_error_has_no_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert not in_terminal()


# When a bar appears


def test_steps_of_unknown_number_are_counted(clock):
    shown = Progress("search", None, True, unit="step", file=io.StringIO())
    shown.update()
    assert shown.line() == "search: 1 steps"


def test_ticking_yields_nothing_to_call_where_no_progress_is_wanted():
    with redirect_stderr(Terminal()) as terminal, ticking(5, "search", False, "step") as tick:
        assert tick is None
    assert terminal.getvalue() == ""


def test_ticking_counts_steps(capsys):
    with ticking(2, "search", True, "step") as tick:
        tick()
        tick()
    assert capsys.readouterr() == ("", "search: 2 of 2 steps, done\n")


# Several at once


def test_work_inside_other_work_has_its_bar_below():
    with redirect_stderr(Terminal()) as terminal:
        outer = Progress("outer", 2, True, unit="step")
        with outer, Progress("inner", 3, True, unit="step"):
            outer.screen.live.refresh()
            drawn = terminal.getvalue()
    assert "outer: 0 of 2" in drawn
    assert "inner: 0 of 3" in drawn


def test_work_in_threads_leaves_the_terminal_as_it_was():
    def work(number):
        with Progress(f"work {number}", 20, True, unit="step") as shown:
            for _ in range(20):
                shown.update()

    with redirect_stderr(Terminal()) as terminal:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(8)))
        assert sys.stderr is terminal
    assert "work" in terminal.getvalue()
    assert progress_module._STANDARD_ERROR.bars == []


def test_output_stays_in_its_pipe_while_a_bar_is_drawn(capsys):
    with redirect_stderr(Terminal()) as terminal, Progress("search", 2, True, unit="step"):
        print("a result")  # noqa: T201
    assert capsys.readouterr().out == "a result\n"
    assert "search" in terminal.getvalue()
    assert "a result" not in terminal.getvalue()


# Notebooks

CELL = """
from bayes_gresub.progress import Progress
from bayes_gresub import progress
progress._REDRAWN = 0.0
with Progress("search", 2, None, unit="step") as shown:
    shown.update()
    {stop}
"""


def executed(stop):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL.format(stop=stop))])
    NotebookClient(notebook, timeout=60, allow_errors=True).execute()
    return notebook.cells[0].outputs


def test_a_notebook_shows_the_bar_as_text_without_widgets():
    """The cell is stopped before the bar is cleared."""
    first = executed("shown.screen.close = lambda: None")[0]
    assert "search: 1 of 2 steps" in first["data"]["text/plain"]


def test_a_notebook_keeps_no_text_of_a_bar():
    assert [output["data"] for output in executed("pass")] == [{"text/plain": ""}]
