"""The figure of which points make the error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayes_gresub.data.validation import check_whole
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.plots.frame import axes_or_new, legend_below, plain
from bayes_gresub.plots.palette import BLUE, ORANGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_contributions(estimate: ErrorEstimate, ax: Axes | None = None, *, most: int = 20) -> Axes:
    r"""Draw the points that make the error, most harmful first, with the share of it that each brings.

    .. math:: s_i = w_i c_i / \hat\varepsilon

    with c the contributions of the points and w their weights. Points of contribution above 1/2, which are more wrong
    than right, are orange: for plain resubstitution these are the misclassified ones. The title states how much of the
    error the points shown make together. Of equally harmful points the first row comes first.

    Parameters
    ----------
    estimate : ErrorEstimate
        Made by a measure about the points, or by a resampler that averages over them.
    ax : Axes, optional
        Of a figure with layout="constrained", which makes room for the legend below.
    most : int, default 20
        Points shown at most; those that bring nothing are left out.

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> from sklearn.neighbors import NearestCentroid
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> estimate = bg.Bolstered().fit(X, y).error(NearestCentroid().fit(X, y))
    >>> ax = bg.plot_contributions(estimate, most=2)
    >>> [tick.get_text() for tick in ax.get_yticklabels()], ax.get_title()
    (['1', '2'], 'these 2 of 4 points make 70.2% of the error 0.2619')
    """
    check_whole(most, "most", 1)
    if not isinstance(estimate, ErrorEstimate):
        raise TypeError(f"estimate must be an ErrorEstimate; got {estimate!r}.")
    if estimate.contributions is None or estimate.point_weights is None:
        raise ValueError(
            f"this estimate, made by {estimate.computation.estimator}, is no sum over points and has no contributions: "
            "a Bayesian measure has a law of its own, .632 estimates mix two errors, and contributions are not kept "
            "under class probabilities given afterwards or to a resampler. Use a measure about the points, such as "
            "Bolstered(class_prior=...), or CrossValidation() without class_prior."
        )
    value = estimate.value
    masses = estimate.point_weights * estimate.contributions
    # Contributions count in the order of the rows if they are equal.
    shown = np.argsort(-masses, kind="stable")[:most]
    shown = shown[masses[shown] > 0]
    shares = masses[shown] / masses.sum() if len(shown) else np.empty(0)
    ax = axes_or_new(ax, 6.0, 0.21 * max(3, len(shown)) + 1.6)
    is_wrong = estimate.contributions[shown] > 0.5
    for wrong, color, label in (
        (True, ORANGE, "contribution above 1/2: more wrong than right"),
        (False, BLUE, "contribution up to 1/2"),
    ):
        rows = np.flatnonzero(is_wrong == wrong)
        if len(rows):
            ax.barh(rows, shares[rows], color=color, label=label)
    n_points = int(np.count_nonzero(estimate.point_weights))
    if len(shown):
        percent = 100 * float(shares.sum())
        ax.set_title(
            f"these {len(shown)} of {n_points} points make {percent:.3g}% of the error {value:.4f}", fontsize="medium"
        )
    else:
        ax.set_title(f"the error is 0: none of {n_points} points contributes to it", fontsize="medium")
    ax.set_yticks(range(len(shown)), [str(row) for row in shown.tolist()], fontsize="small")
    ax.set_ylim(max(1, len(shown)) - 0.4, -0.6)
    ax.set_xlim(left=0)
    ax.set_xlabel("share of the error")
    ax.set_ylabel("row of X")
    plain(ax, "x")
    legend_below(ax)
    return ax
