"""The common parts of all figures: new axes if none are given, a plain look, and a legend that covers nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AS_WRITTEN: dict[str, Any] = {"parse_math": False, "usetex": False}
"""For texts that come from data, such as labels: drawn as formulas, those with dollar signs would be wrong or an error.

Control characters in them are shown by their escapes, as in the terminal (`estimate.text.visible`).
"""


def axes_or_new(ax: Axes | None, width: float = 6.0, height: float = 3.6) -> Axes:
    """Return the axes given, or new ones in a figure of this size in inches."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    return ax


def plain(ax: Axes, grid: Literal["both", "x", "y"] = "both") -> Axes:
    """Draw a light grid behind everything, and no frame at the top and right."""
    ax.grid(axis=grid, color="#dddddd")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def legend_below(ax: Axes) -> None:
    """Put the legend under the axes, in as many columns as its longest label allows.

    It belongs to the axes, so constrained and tight layouts make room for it.
    """
    from matplotlib.transforms import ScaledTranslation

    handles, labels = ax.get_legend_handles_labels()
    if not handles:
        return
    longest = max(len(line) for label in labels for line in str(label).split("\n"))
    width = ax.bbox.width / ax.figure.dpi
    # Under the tick labels and the name of the axis, whose height does not grow with the figure.
    under = ax.transAxes + ScaledTranslation(0, -38 / 72, ax.figure.dpi_scale_trans)
    legend = ax.legend(
        handles,
        labels,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=under,
        borderaxespad=0,
        ncols=max(1, min(len(labels), 4, int(width / (0.062 * longest + 0.5)))),
        fontsize="small",
        frameon=False,
    )
    for text in legend.get_texts():
        text.update(AS_WRITTEN)
