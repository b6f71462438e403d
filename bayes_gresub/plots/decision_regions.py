"""The figure of a classifier in two features: its decision regions, the points, and the kernels about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.sample import Sample, read_sample
from bayes_gresub.data.validation import check_whole
from bayes_gresub.estimate.text import visible
from bayes_gresub.laws.components import Components, UnitBall
from bayes_gresub.plots.frame import AS_WRITTEN, axes_or_new, legend_below
from bayes_gresub.plots.palette import FILLS, MARKERS
from bayes_gresub.regions.region import Region, decision_region

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CORNERS = 72
"""Points of an outline."""


def plot_regions(
    classifier: Any, X: ArrayLike, y: ArrayLike, measure: Any = None, ax: Axes | None = None, *, resolution: int = 200
) -> Axes:
    """Draw the decision regions of a classifier in two features, the training points, and the kernels about them.

    Points that the classifier gets wrong have a ring. Kernels are those that the measure integrates, in the units of X:
    Gaussian ones as the ellipses of one and two standard deviations, uniform ones as the edge of their ball. A measure
    whose mass stays at the points (`Empirical`, `PosteriorProbability`) draws none, and so do the misclassified points
    of a semi-bolstered one.

    Parameters
    ----------
    classifier : fitted object with `predict`
        Trained on these two features.
    X : array-like of shape (n, 2)
        Column names of a DataFrame name the axes.
    y : array-like of shape (n,)
    measure : fitted measure, optional
        Fitted to X and y, such as `Bolstered().fit(X, y)`.
    ax : Axes, optional
        Of a figure with layout="constrained", which makes room for the legend below.
    resolution : int, default 200
        Points of the grid along each axis at which the classifier predicts.

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> iris = load_iris(as_frame=True)
    >>> X, y = iris.data.iloc[:, 2:], iris.target_names[iris.target]
    >>> lda = LinearDiscriminantAnalysis().fit(X, y)
    >>> ax = bg.plot_regions(lda, X, y, bg.Bolstered().fit(X, y))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('petal length (cm)', 'petal width (cm)')
    """
    check_whole(resolution, "resolution", 2)
    sample = read_sample(X, y)
    if sample.features.shape[1] != 2:
        raise ValueError(
            f"X must have two features to be drawn; got {sample.features.shape[1]}. Choose two, and give a classifier "
            "and a measure that were trained on these two."
        )
    region = decision_region(classifier, sample, np.random.SeedSequence(0))
    kernels = None if measure is None else _kernels(measure, classifier, sample)
    outlines = [] if kernels is None else _outlines(kernels)
    ax = axes_or_new(ax, 5.6, 5.4)
    limits = _limits(np.concatenate([sample.features, *(outline.reshape(-1, 2) for outline in outlines)]))
    _draw_regions(region, limits, resolution, ax)
    _draw_points(region, sample, region.center_labels, ax)
    if kernels is not None:
        _draw_kernels(outlines, sample.codes[~kernels.is_still], isinstance(kernels.law, UnitBall), ax)
    ax.set_xlim(*limits[:, 0])
    ax.set_ylim(*limits[:, 1])
    names = sample.format.feature_names or ("column 0 of X", "column 1 of X")
    ax.set_xlabel(visible(names[0]), **AS_WRITTEN)
    ax.set_ylabel(visible(names[1]), **AS_WRITTEN)
    legend_below(ax)
    return ax


def _kernels(measure: Any, classifier: Any, sample: Sample) -> Components:
    """Return the laws on x about the points, or raise if the measure has none or was fitted to other points."""
    if isinstance(measure, type) or not getattr(measure, "is_centred", False):
        raise TypeError(
            "measure must be a fitted one that has its mass at or about the points, such as Bolstered().fit(X, y); got "
            f"{measure!r}, which has no kernels to draw. Leave it out; a posterior of the error is drawn by "
            "plot_error_posterior."
        )
    kernels: Components = measure.components(classifier)
    if not np.array_equal(kernels.centers, sample.features):
        raise ValueError(
            f"measure must be fitted to the points that are drawn; it has {len(kernels)} points, X has "
            f"{len(sample.features)}, and they are not the same. Pass the X and y that it was fitted to, without "
            "points of weight 0."
        )
    return kernels


def _outlines(kernels: Components) -> list[Floats]:
    """Return outlines of the kernels that are no point masses, each of shape (kernels, corners, 2)."""
    moving = kernels.take(np.flatnonzero(~kernels.is_still))
    if not len(moving):
        return []
    angle = np.linspace(0, 2 * np.pi, _CORNERS, endpoint=False)
    # A ball in the one feature that varies is a segment.
    edge = np.column_stack([np.cos(angle), np.sin(angle)])[:, : moving.dim]
    every = np.broadcast_to(edge, (len(moving), *edge.shape))
    return [moving.place(every, scale) for scale in ((1.0,) if isinstance(kernels.law, UnitBall) else (1.0, 2.0))]


def _limits(points: Floats) -> Floats:
    """Return the least and greatest value of both features with a margin, shape (2, 2)."""
    low, high = points.min(axis=0), points.max(axis=0)
    margin = np.where(high > low, 0.05 * (high - low), 0.5)
    return np.stack([low - margin, high + margin])


def _draw_regions(region: Region, limits: Floats, resolution: int, ax: Axes) -> None:
    """Tint each region with the colour of its class, and draw the boundaries."""
    from matplotlib.colors import to_rgb

    # The middles of the pixels.
    steps = (np.arange(resolution) + 0.5) / resolution
    across, up = limits[0][:, None] + (limits[1] - limits[0])[:, None] * steps
    grid = np.stack(np.meshgrid(across, up), axis=-1)
    codes = region.predict(grid.reshape(-1, 2)).reshape(resolution, resolution)
    tints = 0.72 + 0.28 * np.array([to_rgb(_color(code)) for code in range(region.n_classes)])
    left, bottom, right, top = limits.ravel()
    ax.imshow(
        tints[codes],
        origin="lower",
        extent=(left, right, bottom, top),
        aspect="auto",
        interpolation="nearest",
        zorder=0,
    )
    present = np.unique(codes)
    for code in present[1:]:
        ax.contour(across, up, (codes == code).astype(float), levels=[0.5], colors="black", linewidths=0.8, zorder=1)
    if region.n_classes > len(FILLS):
        # Colours repeat, so the regions are labelled with their classes.
        for code in present:
            row, column = _innermost(codes == code)
            label = visible(region.classes[code])
            ax.text(across[column], up[row], label, ha="center", va="center", weight="bold", zorder=6, **AS_WRITTEN)


def _innermost(inside: NDArray[np.bool_]) -> tuple[int, int]:
    """Return the pixel of a region that is farthest from its edge."""
    from scipy.ndimage import distance_transform_edt

    depth = distance_transform_edt(np.pad(inside, 1))[1:-1, 1:-1]
    row, column = np.unravel_index(int(depth.argmax()), depth.shape)
    return int(row), int(column)


def _draw_kernels(outlines: list[Floats], codes: Ints, are_balls: bool, ax: Axes) -> None:
    from matplotlib.collections import PolyCollection

    # Hundreds of outlines upon each other would hide the regions.
    alpha = float(np.clip(10 / np.sqrt(len(codes) + 1), 0.25, 0.9)) if len(codes) else 1.0
    for outline, dash in zip(outlines, ("-", (0, (3, 2)))[: len(outlines)], strict=True):
        edges = [_color(code) for code in codes]
        ax.add_collection(
            PolyCollection(
                list(outline),
                facecolors="none",
                edgecolors=edges,
                linewidths=0.8,
                linestyles=[dash],
                alpha=alpha,
                zorder=2,
            ),
            autolim=False,
        )
    if outlines:
        label = "kernel: edge of the ball" if are_balls else "kernel: 1 s.d."
        ax.plot([], [], color="#444444", linewidth=0.8, label=label)
    if len(outlines) == 2:
        ax.plot([], [], color="#444444", linewidth=0.8, linestyle=(0, (3, 2)), label="kernel: 2 s.d.")


def _draw_points(region: Region, sample: Sample, predicted: Ints, ax: Axes) -> None:
    for code, label in enumerate(region.classes.tolist()):
        members = sample.features[sample.codes == code]
        ax.scatter(
            members[:, 0],
            members[:, 1],
            s=32,
            color=_color(code),
            marker=MARKERS[code % len(MARKERS)],
            edgecolors="white",
            linewidths=0.6,
            label=f"class {visible(label)}",
            zorder=4,
        )
    wrong = sample.features[predicted != sample.codes]
    if len(wrong):
        ax.scatter(
            wrong[:, 0],
            wrong[:, 1],
            s=90,
            facecolors="none",
            edgecolors="black",
            linewidths=1.1,
            label=f"misclassified: {len(wrong)} of {len(predicted)}",
            zorder=5,
        )


def _color(code: int) -> str:
    return FILLS[code % len(FILLS)]
