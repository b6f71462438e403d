"""Figures of how kernel widths were calibrated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayes_gresub.plots.frame import axes_or_new
from bayes_gresub.plots.palette import BLUE, GREY, ORANGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayes_gresub.resampling import CalibrationTrace


def plot_calibration(trace: CalibrationTrace, ax: Axes | None = None) -> Axes:
    """Draw the rough bias against the kernel scale kappa, one line a repeat and their mean, with the choice marked.

    Parameters
    ----------
    trace : CalibrationTrace
        `trace_` of a `Calibrated`.
    ax : Axes, optional

    Examples
    --------
    >>> import numpy as np
    >>> from bayes_gresub.resampling import CalibrationTrace
    >>> biases = np.array([[-0.2, -0.1], [-0.1, 0.05], [0.1, 0.2]])
    >>> trace = CalibrationTrace(np.array([1.0, 1.1, 1.2]), biases, np.array([False, False]), 1.1)
    >>> plot_calibration(trace).get_ylabel()
    'rough bias (estimate less held-out error)'
    """
    ax = axes_or_new(ax)
    for column, is_failed in zip(trace.biases.T, trace.failed, strict=True):
        ax.plot(trace.kappas, column, color=ORANGE if is_failed else GREY, linewidth=0.8, alpha=0.7)
    ax.plot(trace.kappas, trace.rough_bias, "o-", color=BLUE, markersize=3, label="mean over repeats")
    ax.plot([], [], color=GREY, linewidth=0.8, label="one repeat")
    if trace.failed.any():
        ax.plot([], [], color=ORANGE, linewidth=0.8, label="failed fit, left out")
    ax.axhline(0, color="black", linewidth=0.8)
    ax.axvline(trace.kappa, color=BLUE, linestyle=":", label=f"chosen: {trace.kappa:g}")
    ax.set_xlabel("kappa (factor on the kernel widths)")
    ax.set_ylabel("rough bias (estimate less held-out error)")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize="small", framealpha=0.9, edgecolor="none")
    return ax
