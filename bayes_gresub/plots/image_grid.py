"""Figures of images: rows of the same image under more and more noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from bayes_gresub.plots.frame import AS_WRITTEN

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_images(images: NDArray[Any], titles: Sequence[str], *, columns: int = 2) -> Figure:
    """Draw images (rows, kinds, height, width), the kinds of a row side by side, in several columns of rows.

    Examples
    --------
    >>> import numpy as np
    >>> len(plot_images(np.zeros((4, 3, 8, 8)), ["0", "1", "2"]).axes)
    12
    """
    from matplotlib.figure import Figure

    rows, kinds = images.shape[:2]
    deep = -(-rows // columns)
    figure = Figure(figsize=(1.1 * (kinds * columns + 0.4 * (columns - 1)), 1.1 * deep + 0.4), layout="constrained")
    parts = figure.subfigures(1, columns, squeeze=False)[0]
    for column, part in enumerate(parts):
        grid = part.subplots(deep, kinds, squeeze=False)
        for row, line in enumerate(grid):
            number = column * deep + row
            for kind, ax in enumerate(line):
                ax.set_axis_off()
                if number < rows:
                    # One grey scale for all, so noise beyond black and white shows.
                    ax.imshow(images[number, kind], cmap="gray", vmin=0, vmax=1)
                if row == 0:
                    ax.set_title(titles[kind], fontsize=10, **AS_WRITTEN)
    return figure
