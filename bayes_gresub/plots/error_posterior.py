"""The figure of posteriors of the error: their densities, means and intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bayes_gresub.data.arrays import Floats
from bayes_gresub.data.validation import check_level
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.estimate.posterior_draws import PosteriorDraws
from bayes_gresub.estimate.text import visible
from bayes_gresub.plots.frame import axes_or_new, legend_below, plain
from bayes_gresub.plots.palette import FILLS, GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GRID = 400
_ROW = 0.07
"""Height of the row of an interval, as a share of the highest density."""


def plot_error_posterior(
    estimates: ErrorEstimate | Mapping[str, ErrorEstimate],
    ax: Axes | None = None,
    *,
    level: float = 0.95,
    reference: float | None = None,
    threshold: float | None = None,
) -> Axes:
    """Draw the posterior density of the error, its mean and an equal-tailed interval, for one or several estimates.

    The density is a Gaussian kernel estimate from the draws (Scott's bandwidth), reflected at 0 and 1, so it has
    mass 1 between them. Intervals are bars under it, the dots on them means; if all draws are the same there is no
    density, and a line stands there.

    Parameters
    ----------
    estimates : ErrorEstimate or mapping from name to ErrorEstimate
        With posterior draws: made by `Bayesian`, or by `PosteriorProbability` with a Gaussian process.
    ax : Axes, optional
        Of a figure with layout="constrained", which makes room for the legend below.
    level : float, default 0.95
        Of the intervals.
    reference : float, optional
        An error to compare with, such as that on held-out data.
    threshold : float, optional
        Shade the errors below this one, and state their probability.

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> X, y = bg.datasets.Gaussian([[0.0, 0.0], [2.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]).sample(60, random_state=0)
    >>> lda = LinearDiscriminantAnalysis().fit(X, y)
    >>> estimate = bg.Bayesian(sampler="gibbs", random_state=0).fit(X, y).error(lda)
    >>> ax = bg.plot_error_posterior(estimate, threshold=0.2)
    >>> ax.get_xlabel()
    'error (probability)'
    """
    check_level(level)
    for name, value in (("reference", reference), ("threshold", threshold)):
        _check_error(name, value)
    named = _named(estimates)
    draws = [_draws(name, estimate) for name, estimate in named.items()]
    curves = [_density(posterior.errors) for posterior in draws]
    top = max((float(height.max()) for _, height in curves if len(height)), default=1.0)
    ax = axes_or_new(ax, 6.4, 3.6 + 0.3 * len(named))
    for number, (name, estimate) in enumerate(named.items()):
        color = FILLS[number % len(FILLS)]
        where, height = curves[number]
        label = _label(name, estimate, draws[number].kind, level, threshold)
        if len(height):
            ax.plot(where, height, color=color, linewidth=1.5, label=label)
            ax.fill_between(where, height, color=color, alpha=0.12 if len(named) == 1 else 0.05, linewidth=0)
            if threshold is not None:
                below = np.append(where[where < threshold], min(threshold, where[-1]))
                ax.fill_between(
                    below,
                    np.interp(below, where, height),
                    color=color,
                    alpha=0.35 if len(named) == 1 else 0.22,
                    linewidth=0,
                )
        else:
            label = f"{label}\nall draws are the same"
            ax.vlines(draws[number].errors[0], 0, top, color=color, linewidth=1.5, label=label)
        row = -(number + 1) * _ROW * top
        ax.hlines(row, *estimate.interval(level), color=color, linewidth=4, alpha=0.6)
        ax.plot(estimate.value, row, "o", color=color, markeredgecolor="white", markersize=7, zorder=3)
    if threshold is not None:
        ax.axvline(threshold, color=GREY, linestyle=":", label=f"threshold {threshold:g}")
    if reference is not None:
        ax.axvline(reference, color="black", linestyle="--", linewidth=1.2, label=f"reference {reference:.4g}")
    ax.axhline(0, color="black", linewidth=0.8)
    ax.set_xlim(left=max(0.0, ax.get_xlim()[0]), right=min(1.0, ax.get_xlim()[1]))
    ax.set_ylim(-(len(named) + 0.8) * _ROW * top, 1.06 * top)
    # Rows of intervals have no density.
    ax.set_yticks([tick for tick in ax.get_yticks() if 0 <= tick <= 1.06 * top])
    ax.set_xlabel("error (probability)")
    ax.set_ylabel("posterior density")
    plain(ax, "x")
    legend_below(ax)
    return ax


def _named(estimates: ErrorEstimate | Mapping[str, ErrorEstimate]) -> Mapping[str, ErrorEstimate]:
    named = {"": estimates} if isinstance(estimates, ErrorEstimate) else estimates
    if not isinstance(named, Mapping) or not all(isinstance(estimate, ErrorEstimate) for estimate in named.values()):
        raise TypeError(f"estimates must be an ErrorEstimate or a mapping from names to them; got {estimates!r}.")
    if not named:
        raise ValueError("estimates must hold at least one estimate; got an empty mapping.")
    return named


def _draws(name: str, estimate: ErrorEstimate) -> PosteriorDraws:
    # Also raises if there are draws, but of classes of unknown probability.
    if estimate.draws is None or estimate.posterior_draws is None:
        raise ValueError(
            f"a posterior of the error needs posterior draws; {f'{name!r}, ' if name else 'the estimate '}made by "
            f"{estimate.computation.estimator}, has none. Use a measure that has, such as Bayesian() or "
            "PosteriorProbability(GaussianProcess())."
        )
    return estimate.posterior_draws


def _density(draws: Floats) -> tuple[Floats, Floats]:
    """Return errors and the density there; empty if the draws do not differ."""
    from scipy.stats import gaussian_kde

    if np.ptp(draws) <= 1e-9:
        return np.empty(0), np.empty(0)
    smooth = gaussian_kde(draws)
    reach = 3.5 * float(np.sqrt(smooth.covariance[0, 0]))
    where = np.linspace(max(0.0, draws.min() - reach), min(1.0, draws.max() + reach), _GRID)
    # What the kernels put beyond 0 and 1 is folded back.
    return where, np.asarray(smooth(where) + smooth(-where) + smooth(2 - where))


def _label(name: str, estimate: ErrorEstimate, kind: str, level: float, threshold: float | None) -> str:
    low, high = estimate.interval(level)
    lines = [f"mean {estimate.value:.4f}", f"{100 * level:g}% {kind} {low:.4f} to {high:.4f}"]
    if threshold is not None:
        lines.append(f"P(error < {threshold:g}) = {estimate.probability_below(threshold):.3f}")
    return "\n".join([f"{visible(name)}: {lines[0]}" if name else lines[0], *lines[1:]])


def _check_error(name: str, value: float | None) -> None:
    if value is not None and not (isinstance(value, int | float | np.number) and 0 <= value <= 1):
        raise ValueError(f"{name} must be an error between 0 and 1; got {value!r}.")
