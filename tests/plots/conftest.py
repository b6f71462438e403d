"""What the tests of figures share: no windows, nothing shown, nothing left open."""

import matplotlib as mpl
import pytest


@pytest.fixture(autouse=True)
def _no_windows(monkeypatch):
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    def refuse(*args, **kwargs):
        raise AssertionError("a figure must leave show to its caller")

    monkeypatch.setattr(plt, "show", refuse)
    monkeypatch.setattr("matplotlib.figure.Figure.show", refuse)
    yield
    plt.close("all")
