"""The figure of which points make the error: bars against contributions and weights."""

from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

import bayes_gresub as bg
from bayes_gresub.plots.palette import ORANGE


def sample():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    return rng.standard_normal((40, 2)) + 1.5 * y[:, None], y


@cache
def estimate(weighted=False):
    X, y = sample()
    weights = np.arange(40) % 5 if weighted else None
    return bg.Bolstered(random_state=0).fit(X, y, sample_weight=weights).error(NearestCentroid().fit(X, y))


def drawn(ax):
    """Return row numbers and lengths of the bars, from the top."""
    bars = sorted(ax.patches, key=lambda bar: bar.get_y())
    return [int(tick.get_text()) for tick in ax.get_yticklabels()], [bar.get_width() for bar in bars]


@pytest.mark.parametrize("weighted", [False, True])
def test_bars_are_shares_of_the_error_most_harmful_first(weighted):
    made = estimate(weighted)
    shares = made.point_weights * made.contributions / made.value
    rows, lengths = drawn(bg.plot_contributions(made, most=7))
    assert rows == sorted(range(40), key=lambda row: -shares[row])[:7]
    np.testing.assert_allclose(lengths, np.sort(shares)[::-1][:7], rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_title_says_what_the_points_shown_make(weighted):
    made = estimate(weighted)
    shares = np.sort(made.point_weights * made.contributions / made.value)[::-1]
    title = bg.plot_contributions(made, most=5).get_title()
    n = 32 if weighted else 40
    assert title == f"these 5 of {n} points make {100 * shares[:5].sum():.3g}% of the error {made.value:.4f}"


def test_all_bars_together_are_the_whole_error():
    assert sum(drawn(bg.plot_contributions(estimate(), most=1000))[1]) == pytest.approx(1)


def test_points_more_wrong_than_right_have_another_colour():
    ax = bg.plot_contributions(estimate(), most=40)
    wrong = [bar for bar in ax.patches if to_hex(bar.get_facecolor()) == ORANGE.lower()]
    assert len(wrong) == (estimate().contributions > 0.5).sum() > 0


def test_points_that_bring_nothing_are_left_out_and_equal_ones_keep_their_order():
    X, y = sample()
    wrong = np.flatnonzero(NearestCentroid().fit(X, y).predict(X) != y)
    ax = bg.plot_contributions(bg.Empirical().fit(X, y).error(NearestCentroid().fit(X, y)))
    assert drawn(ax)[0] == wrong.tolist()


def test_cross_validation_has_contributions():
    X, y = sample()
    made = bg.CrossValidation(4, repeats=3, random_state=0).error(NearestCentroid(), X, y)
    assert sum(drawn(bg.plot_contributions(made, most=40))[1]) == pytest.approx(1)


def test_error_of_0_is_said():
    X, y = sample()
    ax = bg.plot_contributions(bg.Empirical().fit(X, y).error(KNeighborsClassifier(1).fit(X, y)))
    assert list(ax.patches) == []
    assert ax.get_title() == "the error is 0: none of 40 points contributes to it"


def test_axes_are_labelled():
    ax = bg.plot_contributions(estimate())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("share of the error", "row of X")


def test_axes_given_are_drawn_on():
    _, ax = plt.subplots()
    assert bg.plot_contributions(estimate(), ax) is ax
    assert len(plt.get_fignums()) == 1


def without_probabilities():
    X, y = sample()
    return bg.Bolstered(sampling="separate").fit(X, y).error(NearestCentroid().fit(X, y))


BAD = {
    "bootstrap": (
        lambda: bg.plot_contributions(bg.Bootstrap("632", 10, random_state=0).error(NearestCentroid(), *sample())),
        ValueError,
        r"made by Bootstrap.*no contributions.*Use a measure about the points",
    ),
    "other prior": (
        lambda: bg.plot_contributions(estimate().with_class_prior({0: 0.9, 1: 0.1})),
        ValueError,
        r"class probabilities given afterwards.*Bolstered\(class_prior",
    ),
    "no prior": (lambda: bg.plot_contributions(without_probabilities()), ValueError, "needs the class probabilities"),
    "number": (lambda: bg.plot_contributions(0.3), TypeError, "must be an ErrorEstimate; got 0.3"),
    "most": (
        lambda: bg.plot_contributions(estimate(), most=0),
        ValueError,
        "most must be a whole number of at least 1",
    ),
}


@pytest.mark.parametrize(("call", "kind", "message"), BAD.values(), ids=BAD)
def test_what_cannot_be_drawn_says_why(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
