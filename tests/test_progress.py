"""Whether there is a notebook to draw progress in."""

import sys
from types import SimpleNamespace

from bayes_gresub.progress import in_notebook


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
