"""The command line and its figure: every estimator is named, estimated and drawn."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from typer.testing import CliRunner

import bayes_gresub as bg
from bayes_gresub.cli import app
from bayes_gresub.plots import plot_estimates

NAMES = [entry.name for entry in bg.estimators()]


@pytest.fixture
def pyplot():
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    path = tmp_path_factory.mktemp("demo") / "figure.png"
    return CliRunner().invoke(app, ["demo", "--plot", str(path), "--size", "30"]), path


@pytest.fixture(scope="module")
def estimates():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 2)), np.arange(20) % 2
    measure = bg.Bolstered(random_state=0).fit(X, y)
    return {
        "exact": measure.error(NearestCentroid().fit(X, y)),
        "sampled": measure.error(KNeighborsClassifier(3).fit(X, y)),
    }


def first_words(output):
    return [line.split()[0] for line in output.splitlines() if line.split()]


@pytest.mark.parametrize("name", NAMES)
def test_list_names_every_estimator(name):
    assert name in first_words(CliRunner().invoke(app, ["list"]).output)


def test_demo_ends_without_error(demo):
    assert demo[0].exit_code == 0


@pytest.mark.parametrize("name", NAMES)
def test_demo_prints_a_row_for_every_estimator_in_80_columns(demo, name):
    assert name in first_words(demo[0].output)


@pytest.mark.parametrize("words", ["held-out error", "majority class"])
def test_demo_prints_what_to_compare_with(demo, words):
    assert words in demo[0].output


def test_demo_writes_a_png(demo):
    assert demo[1].read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_demo_says_where_the_figure_is(demo):
    assert demo[1].name in demo[0].output


def test_demo_is_seeded():
    from bayes_gresub.demo import breast_cancer_demo

    one, same = (breast_cancer_demo(size=30, seed=2) for _ in range(2))
    values = [[row.estimate.value for row in result.comparison.rows] for result in (one, same)]
    assert values[0] == values[1]


def test_demo_of_too_few_points_is_refused():
    assert CliRunner().invoke(app, ["demo", "--size", "3"]).exit_code == 2


def test_figure_of_a_path_in_brackets_is_named_as_it_is(tmp_path, monkeypatch):
    """Square brackets are markup to the table printer."""
    monkeypatch.chdir(tmp_path)
    assert "[bold]x.png" in CliRunner().invoke(app, ["demo", "--plot", "[bold]x.png", "--size", "20"]).output


def test_plot_labels_both_axes(pyplot, estimates):
    ax = plot_estimates(estimates)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("estimated error (probability)", "estimator")


def test_plot_names_every_estimate(pyplot, estimates):
    assert [tick.get_text() for tick in plot_estimates(estimates).get_yticklabels()] == ["exact", "sampled"]


def test_plot_puts_each_estimate_at_its_value(pyplot, estimates):
    ax = plot_estimates(estimates)
    drawn = [container.lines[0].get_xdata()[0] for container in ax.containers]
    assert drawn == [estimate.value for estimate in estimates.values()]


def test_plot_fills_exact_estimates_only(pyplot, estimates):
    markers = [container.lines[0] for container in plot_estimates(estimates).containers]
    assert [to_hex(marker.get_markerfacecolor()) == "#ffffff" for marker in markers] == [False, True]


def test_plot_draws_on_the_axes_given(pyplot, estimates):
    _, ax = pyplot.subplots()
    assert plot_estimates(estimates, ax=ax) is ax


def test_plot_on_axes_given_opens_no_other_figure(pyplot, estimates):
    _, ax = pyplot.subplots()
    plot_estimates(estimates, ax=ax)
    assert len(pyplot.get_fignums()) == 1


def test_plot_draws_the_reference_where_it_is(pyplot, estimates):
    lines = {line.get_label(): line for line in plot_estimates(estimates, reference=0.25).lines}
    assert list(lines["error on held-out data"].get_xdata()) == [0.25, 0.25]


def test_plot_never_shows_itself(pyplot, estimates, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a plot must leave show to its caller")

    monkeypatch.setattr(pyplot, "show", refuse)
    monkeypatch.setattr("matplotlib.figure.Figure.show", refuse)
    assert plot_estimates(estimates, reference=0.2) is not None
