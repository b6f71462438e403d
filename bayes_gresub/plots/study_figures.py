"""Figures of studies: metrics against the sample size, and distributions of deviations, one panel per rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_gresub.data.arrays import Floats
from bayes_gresub.estimate.text import visible
from bayes_gresub.plots.frame import AS_WRITTEN, axes_or_new, plain
from bayes_gresub.plots.palette import BLUE, DASHES, GREY, LINES, MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Line = tuple[Floats, Floats, Floats, Floats]
"""Sample sizes, values, and the lower and upper ends of bars."""

LABELS = {
    "true_mean": "true error (mean)",
    "estimate_mean": "estimate (mean)",
    "true_variance": "variance of the true error",
    "estimate_variance": "variance of the estimate",
    "covariance": "covariance of estimate and true error",
    "bias": "bias (estimate less true error)",
    "absolute_bias": "size of the bias",
    "variance": "deviation variance",
    "rms": "RMS of the deviation",
    "correlation": "correlation with the true error",
    "internal_variance": "internal variance (mean)",
    "coverage": "coverage (share of samples)",
    "width": "width of the interval (mean)",
    "interval_score": "interval score (mean)",
    "test_variance": "variance that test points add",
    "seconds": "time of an estimate (seconds)",
}


def plot_lines(lines: Mapping[str, Line], quantity: str, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
    """Draw a metric against the sample size, one line per estimator, with bars of two standard errors.

    Parameters
    ----------
    lines : mapping from estimator to (sizes, values, low, high)
    quantity : str
        The metric, or another label of the axis.
    ax : Axes, optional
    level : float
        The nominal coverage, drawn as a line if `quantity` is "coverage".

    Examples
    --------
    >>> import numpy as np
    >>> sizes, values = np.array([20, 40]), np.array([0.1, 0.05])
    >>> plot_lines({"resub": (sizes, values, values - 0.01, values + 0.01)}, "rms").get_ylabel()
    'RMS of the deviation'
    """
    ax = axes_or_new(ax)
    _draw_lines(lines, quantity, ax, level)
    _limit(ax, quantity)
    return ax


def _draw_lines(lines: Mapping[str, Line], quantity: str, ax: Axes, level: float) -> None:
    sizes = next(iter(lines.values()))[0]
    is_wide = len(sizes) > 1 and sizes.max() > 20 * sizes.min()
    for number, (name, (_, values, low, high)) in enumerate(lines.items()):
        known = np.isfinite(values)
        if not known.any():
            continue
        # Side by side, so bars do not hide each other.
        aside = number - (len(lines) - 1) / 2
        moved = sizes * np.exp(0.015 * aside) if is_wide else sizes + 0.004 * aside * np.ptp(sizes)
        bars = np.vstack([values - low, high - values])[:, known]
        ax.errorbar(moved[known], values[known], yerr=np.maximum(np.nan_to_num(bars), 0), label=name, **_style(number))
    if quantity == "bias":
        ax.axhline(0, color="black", linewidth=0.8)
    elif quantity == "coverage":
        ax.axhline(level, color="black", linewidth=0.8, linestyle=":")
    if quantity == "seconds" and ax.containers:
        ax.set_yscale("log")
    if is_wide:
        ax.set_xscale("log")
    ax.set_xticks(sizes, [str(n) for n in sizes.tolist()])
    ax.minorticks_off()
    ax.margins(y=0.08)
    ax.set_xlabel("sample size n")
    ax.set_ylabel(LABELS.get(quantity, quantity))
    plain(ax)


def _limit(ax: Axes, quantity: str) -> None:
    """Set the limits of the metric's axis, when all that shares it is drawn."""
    if quantity == "coverage":
        ax.set_ylim(top=1.02)
    elif quantity not in ("seconds", "bias", "covariance", "correlation"):
        ax.set_ylim(bottom=0)


def plot_deviations(deviations: Mapping[str, Floats], ax: Axes | None = None) -> Axes:
    """Draw the distribution of estimate less true error, one row per estimator: its shape, middle half and mean.

    Parameters
    ----------
    deviations : mapping from estimator to ndarray of shape (R,)
    ax : Axes, optional

    Examples
    --------
    >>> import numpy as np
    >>> plot_deviations({"resub": np.array([-0.1, -0.05, 0.0])}).get_xlabel()
    'estimate less true error'
    """
    ax = axes_or_new(ax)
    names = list(deviations)
    for row, name in enumerate(names):
        values = deviations[name]
        if not len(values):
            continue
        if np.ptp(values) > 0:
            shape: Any = ax.violinplot(values, [row], orientation="horizontal", widths=0.85, showextrema=False)
            for body in shape["bodies"]:
                body.set_facecolor(BLUE)
                body.set_alpha(0.3)
        ax.hlines(row, *np.quantile(values, [0.25, 0.75]), color=BLUE, linewidth=3)
        ax.plot(values.mean(), row, "o", color="black", markersize=4)
    ax.axvline(0, color=GREY, linewidth=0.8)
    ax.set_yticks(range(len(names)), list(map(visible, names)), **AS_WRITTEN)
    ax.invert_yaxis()
    ax.set_xlabel("estimate less true error")
    ax.set_ylabel("estimator")
    return plain(ax)


def plot_study(panels: Mapping[str, Mapping[str, Any]], quantity: str, *, level: float = 0.95, n: int = 0) -> Figure:
    """Draw one panel per rule, two in a row as in the paper, with one legend.

    Parameters
    ----------
    panels : mapping from rule to the lines of `plot_lines` or the deviations of `plot_deviations`
    quantity : str
        A metric, or "deviations".
    level : float
        The nominal coverage.
    n : int
        The sample size of "deviations".

    Examples
    --------
    >>> import numpy as np
    >>> sizes, values = np.array([20, 40]), np.array([0.1, 0.05])
    >>> line = (sizes, values, values - 0.01, values + 0.01)
    >>> len(plot_study({"LDA": {"resub": line}, "3NN": {"resub": line}}, "rms").axes)
    2
    """
    import matplotlib.pyplot as plt

    across = min(2, len(panels))
    down = -(-len(panels) // across)
    rows = max(len(inside) for inside in panels.values())
    is_distribution = quantity == "deviations"
    height = 0.28 * rows + 1.0 if is_distribution else 2.9
    # The legend stands below the panels, in as many columns as its longest name allows.
    names = list(dict.fromkeys(name for inside in panels.values() for name in inside))
    columns = max(1, min(3, int(4.6 * across / (0.075 * max(len(name) for name in names) + 0.65))))
    below = 0.0 if is_distribution else 0.24 * -(-len(names) // columns) + 0.1
    figure, grid = plt.subplots(
        down,
        across,
        figsize=(4.6 * across, height * down + below),
        squeeze=False,
        sharex=True,
        sharey=True,
        layout="constrained",
    )
    for number, (rule, inside) in enumerate(panels.items()):
        ax = grid.flat[number]
        if is_distribution:
            plot_deviations(inside, ax)
        else:
            _draw_lines(inside, quantity, ax, level)
        title = f"{visible(rule)}, n = {n}" if is_distribution else visible(rule)
        ax.set_title(title, fontsize="medium", **AS_WRITTEN)
        ax.tick_params(labelbottom=number + across >= len(panels), labelleft=number % across == 0)
        ax.set_xlabel(ax.get_xlabel() if number + across >= len(panels) else "")
        ax.set_ylabel(ax.get_ylabel() if number % across == 0 else "")
    if is_distribution:
        grid.flat[0].set_ylim(rows - 0.4, -0.6)
    else:
        _limit(grid.flat[0], quantity)
    for ax in grid.flat[len(panels) :]:
        ax.remove()
    if below:
        handles: dict[str, Any] = {}
        for ax in figure.axes:
            # Not get_legend_handles_labels, which leaves out names that begin with an underscore.
            handles.update({str(container.get_label()): container for container in ax.containers})
        legend = figure.legend(
            handles.values(),
            list(map(visible, handles)),
            loc="outside lower center",
            ncols=columns,
            fontsize="small",
            edgecolor="none",
        )
        for text in legend.get_texts():
            text.update(AS_WRITTEN)
    return figure


def _style(number: int) -> dict[str, Any]:
    again = number // len(LINES)
    return {
        "color": LINES[number % len(LINES)],
        "linestyle": DASHES[again % len(DASHES)],
        "marker": MARKERS[(number + 3 * again) % len(MARKERS)],
        "markersize": 4,
        "linewidth": 1.2,
        "elinewidth": 0.8,
    }
