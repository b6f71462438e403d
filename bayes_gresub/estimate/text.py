"""How results look as text and HTML: rows of a name and a text, and the rows of an estimate."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayes_gresub.estimate.error_estimate import ErrorEstimate

NO_SPACE = "no widths or neighbours"
"""The space of a measure that measures no distances."""

Rows = list[tuple[str, str]]
"""Pairs of a name and a text."""


_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, line ends, changes of direction and halves of characters."""


def visible(text: object) -> str:
    r"""Return a text as it is, except for control characters, of which the escapes are returned.

    A label can hold anything. Printed as it is, a newline would break a table, and an escape sequence would run in the
    terminal.

    Examples
    --------
    >>> print(visible("$x_1$ <b>\n\x1b[2J"))
    $x_1$ <b>\n\x1b[2J
    """
    return _UNSEEN.sub(lambda match: repr(match[0])[1:-1], str(text))


def as_text(estimate: ErrorEstimate) -> str:
    """Return the estimate as aligned lines."""
    (name, text), *rows = _rows(estimate)
    return aligned(f"ErrorEstimate: {name} {text}", rows)


def aligned(title: str, rows: Rows) -> str:
    """Return a title and one line for each row, with the texts below each other."""
    width = max(len(name) for name, _ in rows)
    return "\n".join([title, *(f"  {name:<{width}}  {text}" for name, text in rows)])


def as_html(estimate: ErrorEstimate) -> str:
    """Return the estimate as a table, in which notebooks leave dollar signs alone."""
    cells = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
        f"<td style='text-align:left'>{html.escape(text)}</td></tr>"
        for name, text in _rows(estimate)
    )
    # The names by which MathJax 2 and 3 know what not to typeset.
    return f"<table class='tex2jax_ignore mathjax_ignore'><caption>ErrorEstimate</caption>{cells}</table>"


def _rows(estimate: ErrorEstimate) -> Rows:
    rows = [("error", _value(estimate))]
    if estimate.no_interval is None:
        interval = estimate.interval()
        target = "" if interval.target == estimate.estimand else f", of the {interval.target}"
        rows.append(("95% interval", f"{interval.low:.4f} to {interval.high:.4f}, {interval.method}{target}"))
        if interval.unsettled is not None:
            rows.append(("not settled", str(interval.unsettled)))
        if estimate.posterior_sd is not None:
            rows.append(("posterior sd", f"{estimate.posterior_sd:.4f}"))
    if estimate.replicate_confusions is not None:
        parts = [f"{visible(label)}: {error:.4f}" for label, error in estimate.per_class.items()]
        parts = parts if len(parts) <= 10 else [*parts[:9], f"... {len(parts)} classes"]
        rows.append(("per class", ", ".join(parts)))
        if estimate.prior_known:
            error = f"{estimate.majority_class_error:.4f}"
            rows.append(("majority class", f"{error} for always predicting the most frequent"))
    rows += [(name.replace("_", " "), f"{number:.4g}") for name, number in estimate.details.items()]
    computation = estimate.computation
    fits = f"{computation.n_refits} fits, " if computation.n_refits else ""
    time = f"{computation.seconds:.1f} s" if computation.seconds >= 1 else f"{computation.seconds * 1e3:.3g} ms"
    space = [] if computation.space == NO_SPACE else [("space", computation.space)]
    return [
        *rows,
        ("measured by", computation.estimator),
        *space,
        ("computed", f"{computation.method}; {fits}{computation.n_predicted} points predicted, {time}"),
        ("estimates", visible(estimate.estimand)),
    ]


def _value(estimate: ErrorEstimate) -> str:
    missing = estimate.missing
    if missing.value is not None:
        return f"unknown: {missing.value.short}"
    if estimate.computation.exact:
        return f"{estimate.value:.4f}, exact"
    if missing.std_error is not None:
        return f"{estimate.value:.4f}, standard error unknown: {missing.std_error}"
    return f"{estimate.value:.4f}, sampled, Monte-Carlo standard error {estimate.std_error:.2g}"
