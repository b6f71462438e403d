"""The figure of posteriors of the error: densities, means, intervals and probabilities against the draws."""

from dataclasses import replace
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from scipy.integrate import trapezoid
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

import bayes_gresub as bg
from bayes_gresub.estimate.estimands import ThisClassifier
from bayes_gresub.estimate.posterior_draws import PosteriorDraws
from bayes_gresub.estimate.reasons import ClassProbabilitiesUnknown, Missing


@cache
def estimates():
    X, y = bg.datasets.Gaussian(np.array([[0.0, 0.0], [1.8, 0.0]]), np.eye(2)).sample(60, random_state=0)
    measure = bg.Bayesian(sampler="gibbs", draws=300, random_state=0).fit(X, y)
    rules = {"LDA": LinearDiscriminantAnalysis(), "3NN": KNeighborsClassifier(3)}
    return {name: measure.error(rule.fit(X, y)) for name, rule in rules.items()}


@cache
def plain_estimate():
    X, y = bg.datasets.Gaussian(np.array([[0.0, 0.0], [1.8, 0.0]]), np.eye(2)).sample(60, random_state=0)
    return bg.Bolstered().fit(X, y).error(LinearDiscriminantAnalysis().fit(X, y))


def with_errors(errors):
    """Return an estimate whose draws of the error are these, with equal classes."""
    errors = np.asarray(errors, dtype=float)
    confusions = np.stack([np.stack([1 - errors, errors], axis=1), np.stack([errors, 1 - errors], axis=1)], axis=1) / 2
    mean = confusions.mean(axis=0)[None]
    return replace(
        estimates()["LDA"],
        interval_method=PosteriorDraws(ThisClassifier(), confusions),
        replicate_confusions=mean,
        replicate_values=errors.mean(keepdims=True),
    )


def curves(ax):
    """Return the densities drawn, (errors, heights) of each."""
    return [line.get_data() for line in ax.lines if len(line.get_xdata()) > 10]


def bars(ax):
    """Return the ends of the intervals drawn under the density."""
    segments = [one.get_segments()[0] for one in ax.collections if isinstance(one, LineCollection)]
    return [tuple(segment[:, 0]) for segment in segments if segment[0, 1] < 0]


def texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize(
    "errors", [np.linspace(0, 0.1, 200) ** 1.5, 1 - np.linspace(0, 0.2, 200), np.linspace(0, 1, 200)]
)
def test_density_has_mass_one_between_0_and_1(errors):
    ((where, height),) = curves(bg.plot_error_posterior(with_errors(errors)))
    assert where.min() >= 0
    assert where.max() <= 1
    assert trapezoid(height, where) == pytest.approx(1, abs=2e-3)


def test_density_has_the_mass_of_the_draws_below_any_error():
    estimate = estimates()["LDA"]
    ((where, height),) = curves(bg.plot_error_posterior(estimate))
    for quantile in np.quantile(estimate.draws, [0.25, 0.5, 0.75]):
        below = where <= quantile
        assert trapezoid(height[below], where[below]) == pytest.approx((estimate.draws <= quantile).mean(), abs=0.03)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_bars_are_the_quantiles_of_the_draws(level):
    drawn = bars(bg.plot_error_posterior(estimates(), level=level))
    for ends, estimate in zip(drawn, estimates().values(), strict=True):
        assert ends == pytest.approx(np.quantile(estimate.draws, [(1 - level) / 2, (1 + level) / 2]))


def test_dots_are_the_means():
    dots = [line.get_xdata()[0] for line in bg.plot_error_posterior(estimates()).lines if line.get_marker() == "o"]
    assert dots == [estimate.value for estimate in estimates().values()]


def test_names_stand_in_the_legend():
    assert [text.split(":")[0] for text in texts(bg.plot_error_posterior(estimates()))] == ["LDA", "3NN"]


def test_threshold_states_the_share_of_draws_below():
    said = texts(bg.plot_error_posterior(estimates(), threshold=0.2))
    for text, estimate in zip(said, estimates().values(), strict=False):
        assert f"P(error < 0.2) = {(estimate.draws < 0.2).mean():.3f}" in text


def test_threshold_shades_what_is_below():
    ax = bg.plot_error_posterior(estimates()["LDA"], threshold=0.2)
    shaded = ax.collections[1].get_paths()[0].vertices
    assert shaded[:, 0].max() == pytest.approx(0.2)


@pytest.mark.parametrize("threshold", [0.0, 1.0])
def test_threshold_beyond_all_draws_shades_all_or_nothing(threshold):
    ax = bg.plot_error_posterior(estimates()["LDA"], threshold=threshold)
    whole, shaded = (one.get_paths()[0].vertices for one in ax.collections[:2])
    assert np.ptp(shaded[:, 0]) == pytest.approx(np.ptp(whole[:, 0]) if threshold else 0.0)


def test_reference_is_a_line_where_it_is():
    ax = bg.plot_error_posterior(estimates(), reference=0.17)
    (line,) = [line for line in ax.lines if line.get_label() == "reference 0.17"]
    assert list(line.get_xdata()) == [0.17, 0.17]


@pytest.mark.parametrize("errors", [[0.25], [0.0] * 50], ids=["one draw", "all zero"])
def test_draws_that_do_not_differ_are_a_line(errors):
    ax = bg.plot_error_posterior(with_errors(errors))
    upright = next(one.get_segments()[0] for one in ax.collections if isinstance(one, LineCollection))
    assert set(upright[:, 0]) == {errors[0]}
    assert "all draws are the same" in texts(ax)[0]


def test_limits_stay_between_0_and_1():
    left, right = bg.plot_error_posterior(with_errors([0.0, 0.4, 1.0])).get_xlim()
    assert (left, right) == (0, 1)


def test_density_axis_has_no_ticks_at_the_intervals():
    assert min(bg.plot_error_posterior(estimates()).get_yticks()) >= 0


def test_axes_are_labelled():
    ax = bg.plot_error_posterior(estimates())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("error (probability)", "posterior density")


def test_axes_given_are_drawn_on():
    _, ax = plt.subplots()
    assert bg.plot_error_posterior(estimates(), ax) is ax
    assert len(plt.get_fignums()) == 1


BAD = {
    "no draws": (
        lambda: bg.plot_error_posterior(plain_estimate()),
        ValueError,
        "the estimate made by Bolstered.* has none. Use a",
    ),
    "no draws, named": (
        lambda: bg.plot_error_posterior({**estimates(), "bolstered": plain_estimate()}),
        ValueError,
        "'bolstered', made by Bolstered",
    ),
    "nothing": (lambda: bg.plot_error_posterior({}), ValueError, "at least one"),
    "a list": (lambda: bg.plot_error_posterior([1, 2]), TypeError, "mapping from names"),
    "level": (lambda: bg.plot_error_posterior(estimates(), level=95), ValueError, "between 0 and 1; got 95"),
    "threshold": (lambda: bg.plot_error_posterior(estimates(), threshold=5), ValueError, "threshold must be an error"),
    "reference": (lambda: bg.plot_error_posterior(estimates(), reference=-1), ValueError, "reference must be an error"),
    "class probabilities": (
        lambda: bg.plot_error_posterior(
            replace(estimates()["LDA"], missing=Missing(value=ClassProbabilitiesUnknown()))
        ),
        ValueError,
        "with_class_prior",
    ),
}


@pytest.mark.parametrize(("call", "kind", "message"), BAD.values(), ids=BAD)
def test_what_cannot_be_drawn_says_why(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
