"""The figures of the benchmark: RMS by estimator, coverage by data set. Nothing is scored here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from bayes_gresub.plots.frame import axes_or_new, legend_below, plain
from bayes_gresub.plots.palette import BLUE, GREY, LINES, MARKERS, ORANGE
from benchmarks.real_data.scores import LEVEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_rms(table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the mean RMS of every estimator with two standard errors to either side, the smallest on top.

    Parameters
    ----------
    table : DataFrame
        A row for each estimator with columns rms, rms_se and refits (whether it refits the rule).
    ax : Axes, optional
    """
    ordered = table.sort_values("rms", ascending=False)
    ax = axes_or_new(ax, 7.0, 0.8 + 0.27 * len(ordered))
    places = np.arange(len(ordered))
    for refits, color, label in ((False, BLUE, "no refits"), (True, ORANGE, "refits the rule")):
        chosen = (ordered["refits"] == refits).to_numpy()
        if chosen.any():
            ax.errorbar(
                ordered["rms"][chosen],
                places[chosen],
                xerr=2 * ordered["rms_se"][chosen].fillna(0),
                fmt="o",
                color=color,
                label=label,
                markersize=5,
            )
    ax.set_yticks(places, list(ordered.index))
    ax.set_xlim(left=0)
    ax.set_xlabel("RMS, mean over cells (bars: two clustered standard errors)")
    ax.set_ylabel("estimator")
    plain(ax, "x")
    legend_below(ax)
    return ax


def plot_coverage(table: pd.DataFrame, names: Sequence[str], ax: Axes | None = None) -> Axes:
    """Draw the coverage on every data set, a marker for each interval.

    Parameters
    ----------
    table : DataFrame
        A row for each data set, a column for each interval.
    names : sequence of str
        The columns to draw.
    ax : Axes, optional
    """
    ax = axes_or_new(ax, 8.0, 1.6 + 0.3 * len(table))
    places = np.arange(len(table))[::-1]
    for number, name in enumerate(names):
        # A little apart, so that markers at one value can be told apart.
        shift = 0.5 * (number / max(len(names) - 1, 1) - 0.5)
        ax.plot(
            table[name],
            places - shift,
            linestyle="",
            marker=MARKERS[number % len(MARKERS)],
            color=LINES[number % len(LINES)],
            label=name,
            markersize=5,
        )
    ax.axvline(LEVEL, color=GREY, linewidth=1)
    ax.set_yticks(places, list(table.index))
    ax.set_ylim(-0.7, len(table) - 0.3)
    ax.set_xlabel("share of 95% intervals that hold the true error")
    ax.set_ylabel("data set")
    plain(ax)
    legend_below(ax)
    return ax
