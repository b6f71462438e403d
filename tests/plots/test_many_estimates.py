"""The figure of what several estimators say: a row each, at its value, on the axes given."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

import bayes_gresub as bg
from bayes_gresub.plots import plot_estimates


@pytest.fixture(scope="module")
def estimates():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 2)), np.arange(20) % 2
    measure = bg.Bolstered(random_state=0).fit(X, y)
    return {
        "exact": measure.error(NearestCentroid().fit(X, y)),
        "sampled": measure.error(KNeighborsClassifier(3).fit(X, y)),
    }


def test_plot_labels_both_axes(estimates):
    ax = plot_estimates(estimates)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("estimated error (probability)", "estimator")


def test_plot_names_every_estimate(estimates):
    assert [tick.get_text() for tick in plot_estimates(estimates).get_yticklabels()] == ["exact", "sampled"]


def test_plot_puts_each_estimate_at_its_value(estimates):
    ax = plot_estimates(estimates)
    drawn = [container.lines[0].get_xdata()[0] for container in ax.containers]
    assert drawn == [estimate.value for estimate in estimates.values()]


def test_plot_fills_exact_estimates_only(estimates):
    markers = [container.lines[0] for container in plot_estimates(estimates).containers]
    assert [to_hex(marker.get_markerfacecolor()) == "#ffffff" for marker in markers] == [False, True]


def test_plot_draws_on_the_axes_given(estimates):
    _, ax = plt.subplots(layout="constrained")
    assert plot_estimates(estimates, ax=ax) is ax


def test_plot_on_axes_given_opens_no_other_figure(estimates):
    _, ax = plt.subplots(layout="constrained")
    plot_estimates(estimates, ax=ax)
    assert len(plt.get_fignums()) == 1


def test_plot_draws_the_reference_where_it_is(estimates):
    lines = {line.get_label(): line for line in plot_estimates(estimates, reference=0.25).lines}
    assert list(lines["error on held-out data"].get_xdata()) == [0.25, 0.25]
