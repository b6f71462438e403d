"""The figures of one estimate and of several: rows, intervals and noise against the estimate, legends aside."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

import bayes_gresub as bg
from bayes_gresub.estimate.reasons import ClassProbabilitiesUnknown, Missing, NotAdditive
from bayes_gresub.plots import plot_estimate, plot_estimates


def sample(c=2, n=60):
    rng = np.random.default_rng(0)
    y = np.arange(n) % c
    return rng.standard_normal((n, 2)) + 1.5 * np.column_stack([y % 4, y // 4]), np.array(
        [f"class {k}" for k in range(c)]
    )[y]


@cache
def sampled(**parts):
    X, y = sample(**parts)
    return bg.Bolstered(random_state=0).fit(X, y).error(KNeighborsClassifier(3).fit(X, y))


@cache
def bayesian():
    X, y = sample()
    return (
        bg.Bayesian(sampler="gibbs", draws=200, random_state=0).fit(X, y).error(LinearDiscriminantAnalysis().fit(X, y))
    )


@cache
def held_out():
    X, y = sample()
    return bg.TestSet(X[:30], y[:30]).error(NearestCentroid().fit(X[30:], y[30:]))


def rows(ax):
    return [tick.get_text() for tick in ax.get_yticklabels()]


def dots(ax):
    return [float(container.lines[0].get_xdata()[0]) for container in ax.containers]


def noise(ax):
    """Return the length of each Monte-Carlo bar, 0 where there is none."""
    found = []
    for container in ax.containers:
        bars = container.lines[2]
        found.append(float(np.ptp(bars[0].get_segments()[0][:, 0])) if bars else 0.0)
    return found


def intervals(ax):
    """Return the ends of the intervals drawn, by row."""
    segments = [one.get_segments()[0] for one in ax.collections if isinstance(one, LineCollection)]
    wide = [one.get_linewidth()[0] == 4 for one in ax.collections if isinstance(one, LineCollection)]
    return {int(one[0, 1]): tuple(one[:, 0]) for one, is_wide in zip(segments, wide, strict=True) if is_wide}


def test_rows_are_overall_and_every_class():
    assert rows(sampled(c=3).plot()) == ["overall", "class 0", "class 1", "class 2"]


def test_dots_are_the_errors():
    estimate = sampled(c=3)
    assert dots(estimate.plot()) == [estimate.value, *estimate.per_class.values()]


def test_overall_bar_is_two_standard_errors_each_way():
    assert noise(sampled().plot())[0] == pytest.approx(4 * sampled().std_error)


def test_class_bars_are_the_spread_of_the_class_error_over_replicates():
    """Kernels keep labels, so that the mass of a class is the same in every replicate."""
    estimate = sampled()
    confusions = estimate.replicate_confusions
    for code in range(2):
        errors = confusions[:, code, 1 - code] / confusions[:, code].sum(axis=1)
        wanted = 4 * errors.std(ddof=1) / np.sqrt(len(errors))
        assert noise(estimate.plot())[1 + code] == pytest.approx(wanted)


def test_exact_errors_have_no_bars():
    X, y = sample()
    assert noise(bg.Bolstered().fit(X, y).error(NearestCentroid().fit(X, y)).plot()) == [0, 0, 0]


def test_unknown_noise_has_no_bars():
    X, y = sample()
    assert noise(bg.CrossValidation(5, random_state=0).error(NearestCentroid(), X, y).plot()) == [0, 0, 0]


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_draws_give_intervals_to_every_row(level):
    estimate = bayesian()
    drawn = intervals(plot_estimate(estimate, level=level))
    errors = [estimate.draws]
    for code in range(2):
        mass = estimate.confusion_draws[:, code]
        errors.append(mass[:, 1 - code] / mass.sum(axis=1))
    for row, some in enumerate(errors):
        assert drawn[row] == pytest.approx(np.quantile(some, [(1 - level) / 2, (1 + level) / 2]))


def test_test_set_has_an_overall_interval_only():
    drawn = intervals(held_out().plot())
    assert drawn.keys() == {0}
    assert drawn[0] == tuple(held_out().interval())


def test_measures_without_support_have_no_interval():
    assert intervals(sampled().plot()) == {}


def test_majority_class_error_is_a_dotted_line():
    estimate = sampled(c=3)
    (line,) = [line for line in estimate.plot().lines if line.get_linestyle() == ":"]
    assert list(line.get_xdata()) == [estimate.majority_class_error] * 2


def test_unknown_class_probabilities_leave_the_classes_only():
    X, y = sample()
    estimate = bg.Bolstered(sampling="separate", random_state=0).fit(X, y).error(NearestCentroid().fit(X, y))
    assert rows(estimate.plot()) == ["class 0", "class 1"]


def test_no_confusion_leaves_the_overall_row_only():
    X, y = sample()
    measure = bg.paper.ProductForm(random_state=0).fit(X, y)
    assert rows(measure.error(NearestCentroid().fit(X, y)).plot()) == ["overall"]


def test_neither_confusion_nor_class_probabilities_raises():
    with pytest.raises(ValueError, match="no error to draw: the class probabilities are unknown"):
        replace(
            sampled(), missing=Missing(ClassProbabilitiesUnknown(), None, NotAdditive()), replicate_confusions=None
        ).plot()


def test_class_without_mass_has_a_row_and_no_dot():
    confusions = sampled(c=3).replicate_confusions.copy()
    confusions[:, 1] = 0
    ax = replace(sampled(c=3), replicate_confusions=confusions).plot()
    assert rows(ax)[2] == "class 1 (no mass)"
    assert len(ax.containers) == 3


def test_names_of_many_classes_do_not_overlap():
    ax = sampled(c=20, n=200).plot()
    ax.figure.canvas.draw()
    boxes = [tick.get_window_extent() for tick in ax.get_yticklabels()]
    assert len(boxes) == 21
    assert all(above.y0 >= below.y1 for above, below in pairwise(boxes))


def test_axes_are_labelled():
    ax = sampled().plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("estimated error (probability)", "true class")


def test_axes_given_are_drawn_on():
    _, ax = plt.subplots()
    assert sampled().plot(ax) is ax
    assert len(plt.get_fignums()) == 1


def test_level_is_checked():
    with pytest.raises(ValueError, match="level must be between 0 and 1; got 95"):
        plot_estimate(sampled(), level=95)


# Several estimates


def thirty():
    names = [f"an-estimator-of-a-long-name-{k}" for k in range(29)]
    refits = replace(sampled().computation, n_refits=10)
    found = {name: replace(sampled(), computation=refits) for name in names}
    return {**found, "test set": held_out(), "measure": sampled()}


def covered(ax):
    """Return whether the legend reaches into the axes."""
    ax.figure.canvas.draw()
    return ax.get_legend().get_window_extent().y1 > ax.xaxis.get_tightbbox().y0


@pytest.mark.parametrize("draw", [lambda: plot_estimates(thirty(), 0.2), lambda: bayesian().plot()], ids=["30", "one"])
def test_legend_stands_below_the_axes(draw):
    assert not covered(draw())


@pytest.mark.parametrize("width", [4, 12])
def test_legend_on_axes_given_stands_below_them(width):
    _, ax = plt.subplots(figsize=(width, 5), layout="constrained")
    assert not covered(plot_estimates(thirty(), 0.2, ax))


def test_legend_of_a_long_list_is_inside_the_figure():
    ax = plot_estimates(thirty(), 0.2)
    ax.figure.canvas.draw()
    box = ax.get_legend().get_window_extent()
    assert box.y0 >= 0
    assert box.x1 <= ax.figure.bbox.x1


def test_names_of_a_long_list_do_not_overlap():
    ax = plot_estimates(thirty())
    ax.figure.canvas.draw()
    boxes = [tick.get_window_extent() for tick in ax.get_yticklabels()]
    assert all(above.y0 >= below.y1 for above, below in pairwise(boxes))
