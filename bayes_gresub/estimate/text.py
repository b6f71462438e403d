"""How an estimate looks as text and HTML: the rows that tell what it says and how it was computed."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayes_gresub.estimate.error_estimate import ErrorEstimate

NO_SPACE = "no widths or neighbours"
"""The space of a measure that needs none."""


def as_text(estimate: ErrorEstimate) -> str:
    """Return the estimate as aligned lines."""
    rows = _rows(estimate)
    width = max(len(name) for name, _ in rows)
    head, *rest = rows
    lines = [f"ErrorEstimate: {head[0]} {head[1]}"]
    return "\n".join(lines + [f"  {name:<{width}}  {text}" for name, text in rest])


def as_html(estimate: ErrorEstimate) -> str:
    """Return the estimate as a table."""
    cells = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
        f"<td style='text-align:left'>{html.escape(text)}</td></tr>"
        for name, text in _rows(estimate)
    )
    return f"<table><caption>ErrorEstimate</caption>{cells}</table>"


def _rows(estimate: ErrorEstimate) -> list[tuple[str, str]]:
    how = estimate.computation
    if not estimate.prior_known:
        value = "unknown: class probabilities were fixed by design; use with_class_prior(...)"
    elif how.exact:
        value = f"{estimate.value:.4f}, exact"
    elif estimate.no_std_error:
        value = f"{estimate.value:.4f}, standard error unknown: {estimate.no_std_error}"
    else:
        value = f"{estimate.value:.4f}, sampled, Monte-Carlo standard error {estimate.std_error:.2g}"
    rows = [("error", value)]
    if (estimate.confusion_draws is not None or estimate.support is not None) and estimate.prior_known:
        interval = estimate.interval()
        of = "" if interval.target == estimate.estimand else f", of the {interval.target}"
        rows.append(("95% interval", f"{interval.low:.4f} to {interval.high:.4f}, {interval.method}{of}"))
        if estimate.posterior_sd is not None:
            rows.append(("posterior sd", f"{estimate.posterior_sd:.4f}"))
    if estimate.replicate_confusions is not None:
        parts = [f"{label}: {error:.4f}" for label, error in estimate.per_class.items()]
        shown = parts if len(parts) <= 10 else [*parts[:9], f"... {len(parts)} classes"]
        rows.append(("per class", ", ".join(shown)))
        if estimate.prior_known:
            rows.append(("majority class", f"{estimate.majority_class_error:.4f} for always saying the most frequent"))
    rows += [(name.replace("_", " "), f"{number:.4g}") for name, number in estimate.details.items()]
    fits = f"{how.n_refits} fits, " if how.n_refits else ""
    time = f"{how.seconds:.1f} s" if how.seconds >= 1 else f"{how.seconds * 1e3:.3g} ms"
    how_long = f"{how.method}; {fits}{how.n_predicted} points predicted, {time}"
    space = [] if how.space == NO_SPACE else [("space", how.space)]
    return [*rows, ("measured by", how.estimator), *space, ("computed", how_long), ("estimates", estimate.estimand)]
