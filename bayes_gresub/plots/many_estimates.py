"""Figures of several estimates of one classifier's error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.estimate.text import visible
from bayes_gresub.plots.frame import AS_WRITTEN, axes_or_new, legend_below, plain
from bayes_gresub.plots.palette import BLUE, GREEN, GREY, ORANGE, PURPLE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayes_gresub.assessing import Answer


def plot_estimates(
    estimates: Mapping[str, ErrorEstimate],
    reference: float | None = None,
    ax: Axes | None = None,
    *,
    level: float = 0.95,
    answer: Answer | None = None,
) -> Axes:
    """Draw one row per estimate with its interval if any, the majority-class error and a reference line.

    Measures are blue, resamplers orange; exact ones are filled, sampled ones open with two Monte-Carlo standard
    errors if these are known.

    Parameters
    ----------
    estimates : mapping from name to ErrorEstimate
    reference : float, optional
        An error to compare with, such as that on held-out data.
    ax : Axes, optional
        Of a figure with layout="constrained", which makes room for the legend below.
    level : float, default 0.95
        Of the intervals.
    answer : Answer, optional
        That of `assess`: a line, and a band for its interval.

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> from sklearn.neighbors import NearestCentroid
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> estimate = bg.Bolstered().fit(X, y).error(NearestCentroid().fit(X, y))
    >>> plot_estimates({"bolstered": estimate}).get_xlabel()
    'estimated error (probability)'
    """
    ax = axes_or_new(ax, 7, 0.27 * len(estimates) + 2.0)
    names = list(estimates)
    refitted = [estimate for estimate in estimates.values() if estimate.computation.n_refits]
    supported = [estimate for estimate in estimates.values() if estimate.no_interval is None]
    for row, name in enumerate(names):
        estimate = estimates[name]
        color = ORANGE if estimate.computation.n_refits else BLUE
        if estimate.no_interval is None:
            ax.hlines(row, *estimate.interval(level), color=GREY, linewidth=4, alpha=0.4)
        ax.errorbar(
            estimate.value,
            row,
            xerr=None if estimate.missing.std_error else 2 * estimate.std_error,
            fmt="o",
            color=color,
            markerfacecolor=color if estimate.computation.exact else "white",
            capsize=2,
        )
    known = [estimate for estimate in estimates.values() if estimate.replicate_confusions is not None]
    if known:
        ax.axvline(known[0].majority_class_error, color=GREY, linestyle=":", label="always the most frequent class")
    if answer is not None:
        ax.axvspan(*answer.interval(level), color=PURPLE, alpha=0.12, linewidth=0)
        ax.axvline(answer.error, color=PURPLE, label=f"the answer, with its {100 * level:g}% interval")
    if reference is not None:
        ax.axvline(reference, color=GREEN, linestyle="--", label="error on held-out data")
    ax.plot([], [], "o", color=BLUE, label="measure, exact")
    ax.plot([], [], "o", color=BLUE, markerfacecolor="white", label="measure, sampled, ± 2 Monte-Carlo s.e.")
    if refitted:
        ax.plot([], [], "o", color=ORANGE, markerfacecolor="white", label="refits the rule (filled: exact)")
    if supported:
        ax.plot([], [], color=GREY, linewidth=4, alpha=0.4, label=f"{100 * level:g}% interval")
    ax.set_yticks(range(len(names)), list(map(visible, names)), **AS_WRITTEN)
    ax.invert_yaxis()
    ax.set_xlim(left=0)
    ax.set_xlabel("estimated error (probability)")
    ax.set_ylabel("estimator")
    plain(ax, "x")
    legend_below(ax)
    return ax
