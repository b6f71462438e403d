"""The figure of one estimate: the error overall and given each class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayes_gresub.data.arrays import Floats
from bayes_gresub.data.validation import check_level
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.estimate.posterior_draws import equal_tailed
from bayes_gresub.estimate.text import visible
from bayes_gresub.laws.confusion import class_errors, class_mass, replicates_with_prior
from bayes_gresub.plots.frame import AS_WRITTEN, axes_or_new, legend_below, plain
from bayes_gresub.plots.palette import BLUE, GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = tuple[str, float, float, tuple[float, float] | None]
"""Name, error, Monte-Carlo standard error (NaN if unknown), and interval if any."""


def plot_estimate(estimate: ErrorEstimate, ax: Axes | None = None, *, level: float = 0.95) -> Axes:
    """Draw the error overall and given each class, with intervals and Monte-Carlo errors if they exist.

    Posterior draws give intervals to the classes too. Thin bars are two Monte-Carlo standard errors. Where the class
    probabilities are unknown there is no overall row, and if there is no confusion mass there are no classes.

    Parameters
    ----------
    estimate : ErrorEstimate
    ax : Axes, optional
        Of a figure with layout="constrained", which makes room for the legend below.
    level : float, default 0.95
        Of the intervals.

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> from bayes_gresub.plots import plot_estimate
    >>> from sklearn.neighbors import NearestCentroid
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> estimate = bg.Bolstered().fit(X, y).error(NearestCentroid().fit(X, y))
    >>> [tick.get_text() for tick in plot_estimate(estimate).get_yticklabels()]
    ['overall', 'no', 'yes']
    """
    check_level(level)
    rows = [*_overall(estimate, level), *_classes(estimate, level)]
    if not rows:
        raise ValueError(
            f"there is no error to draw: the class probabilities are unknown, and {estimate.missing.confusion}."
        )
    n_overall = int(estimate.prior_known)
    ax = axes_or_new(ax, 6.0, (0.32 if len(rows) <= 13 else 0.2) * len(rows) + 1.5)
    for number, (_, error, noise, interval) in enumerate(rows):
        color = "black" if number < n_overall else BLUE
        if interval is not None:
            ax.hlines(number, *interval, color=GREY, linewidth=4, alpha=0.4)
        if np.isfinite(error):
            # Nothing to draw if the error is exact or its noise unknown.
            bar = 2 * noise if noise > 0 else None
            ax.errorbar(error, number, xerr=bar, fmt="o", color=color, capsize=2, markersize=5)
    if n_overall and estimate.replicate_confusions is not None:
        ax.axvline(
            estimate.majority_class_error, color=GREY, linestyle=":", label="overall, always the most frequent class"
        )
    if any(noise > 0 for _, _, noise, _ in rows):
        ax.plot([], [], color="black", linewidth=1, label="± 2 Monte-Carlo standard errors")
    if any(interval is not None for *_, interval in rows):
        ax.plot([], [], color=GREY, linewidth=4, alpha=0.4, label=_interval_label(estimate, level))
    room = 72 * ax.bbox.height / ax.figure.dpi / len(rows)
    size = float(np.clip(0.8 * room, 5, 10))
    ax.set_yticks(range(len(rows)), [name for name, *_ in rows], fontsize=size, **AS_WRITTEN)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlim(0, 1.03 * ax.get_xlim()[1])
    ax.set_xlabel("estimated error (probability)")
    ax.set_ylabel("true class")
    plain(ax, "x")
    legend_below(ax)
    return ax


def _overall(estimate: ErrorEstimate, level: float) -> list[Row]:
    if not estimate.prior_known:
        return []
    interval = estimate.interval(level) if estimate.no_interval is None else None
    ends = None if interval is None else (interval.low, interval.high)
    return [("overall", estimate.value, estimate.std_error, ends)]


def _classes(estimate: ErrorEstimate, level: float) -> list[Row]:
    """Return a row for each class; noise is known from replicates, and unknown if the mean is that of draws."""
    if estimate.replicate_confusions is None:
        return []
    noises = _class_noise(estimate.replicate_confusions)
    draws = estimate.posterior_draws
    if estimate.missing.std_error is not None or (draws is not None and draws.std_error is not None):
        noises = np.full_like(noises, np.nan)
    rows: list[Row] = []
    for code, (label, error) in enumerate(estimate.per_class.items()):
        name = visible(label) if np.isfinite(error) else f"{visible(label)} (no mass)"
        rows.append((name, error, float(noises[code]), _class_interval(estimate, code, level)))
    return rows


def _class_noise(confusions: Floats) -> Floats:
    """Return the Monte-Carlo standard error of each class's error, a ratio, from replicates (r, c, c)."""
    if len(confusions) == 1:
        return np.zeros(confusions.shape[1])
    # At the mean class masses themselves this leaves replicates whose class masses no longer vary.
    errors = class_errors(replicates_with_prior(confusions, class_mass(confusions.mean(axis=0))))
    return np.asarray(errors.std(axis=0, ddof=1) / np.sqrt(len(errors)))


def _class_interval(estimate: ErrorEstimate, code: int, level: float) -> tuple[float, float] | None:
    """Return the equal-tailed interval of the error given one class, if there are draws."""
    if estimate.posterior_draws is None:
        return None
    errors = estimate.posterior_draws.class_errors[:, code]
    return equal_tailed(errors, level) if np.isfinite(errors).all() else None


def _interval_label(estimate: ErrorEstimate, level: float) -> str:
    if estimate.posterior_draws is not None:
        return f"{100 * level:g}% {estimate.posterior_draws.kind}"
    return f"{100 * level:g}% interval: {estimate.interval(level).method}"
