"""What `estimate` found, in words: the table, why some rows have no interval, and which number to read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from bayes_gresub import __version__
from bayes_gresub.cli import console

if TYPE_CHECKING:
    from bayes_gresub.cli.assessment import Assessment
    from bayes_gresub.cli.tables import Table
    from bayes_gresub.comparing import Row

_SHORT = {
    "the contributions of training points": "errors are counted about the training points, which the classifier knows",
    "the errors of the folds": "folds share training points; nested-cv has an interval, for more refits",
    "the errors of the points left out": "the fits share nearly all points; nested-cv has an interval, for more refits",
    "the weights of .632+": "no formula covers the .632+ weights; boot-632 has an interval",
    "all points held out were": "all points held out were classified alike: no spread to go by",
    "no point moves the estimate": "all points held out were classified alike: no spread to go by",
}
"""Reasons in a few words, by how the full sentence begins."""

_READ_FIRST = (
    "nested-cv",
    "repeated-cv",
    "boot-632+",
    "cv",
    "cv10",
    "boot-632",
    "loo",
    "boot-zero",
    "calibrated-bolstered",
    "bayesian",
    "bayes",
    "bayesian-shared",
    "gp-pp",
    "bolstered-3nn-pp",
    "semi-bolstered",
    "bolstered",
    "3nn-pp",
)
"""Rows to report, best first; see "Which number to report" in the README."""


def print_answer(found: Assessment, table: Table) -> None:
    """Print the table and the notes."""
    comparison = found.comparison
    reasons: dict[str, str] = {}
    rows = []
    for row in comparison.rows:
        interval, reason = row.interval(comparison.level)
        if interval is not None:
            cell = f"{interval.low:.3f} to {interval.high:.3f}"
        else:
            text = _short(reason) if row.estimate is not None else f"failed: {reason}"
            cell = f"none ({reasons.setdefault(text, chr(ord('a') + len(reasons)))})"
        value = "failed" if row.estimate is None else f"{row.estimate.value:.4f}"
        fits = "" if row.estimate is None else str(row.estimate.computation.n_refits)
        rows.append([row.name, value, cell, fits, f"{row.seconds:.2f}"])
    rows.append(["majority class", f"{table.majority_class_error:.4f}", "", "", ""])
    columns = [
        ("estimator", "left"),
        ("error", "right"),
        (f"{100 * comparison.level:g}% interval", "left"),
        ("refits", "right"),
        ("seconds", "right"),
    ]
    console.table(columns, rows, last=1)
    typer.echo()
    for text, letter in reasons.items():
        console.note(text if text.startswith("failed") else f"no interval: {text}", f"({letter}) ")
    typer.echo()
    for text in [*_headline(found, table), *_notes(found, table)]:
        console.note(text)


def as_json(found: Assessment, table: Table, settings: dict[str, Any]) -> str:
    """Return everything as JSON: the settings, the data in words, and every row with all that its estimate holds."""
    data = {
        "name": table.name,
        "target": table.target,
        "rows": len(table),
        "features": [str(name) for name in table.X.columns],
        "classes": [{"label": label, "rows": count} for label, count in table.counts.items()],
        "majority_class_error": table.majority_class_error,
    }
    return json.dumps(
        {"bayes_gresub": __version__, "settings": settings, "data": data, **found.to_dict()}, indent=1, allow_nan=False
    )


def _read_first(found: Assessment) -> Row | None:
    answered = {row.name: row for row in found.comparison.rows if row.estimate is not None}
    return next((answered[name] for name in _READ_FIRST if name in answered), None)


def _headline(found: Assessment, table: Table) -> list[str]:
    """Return which number to read, and what it says."""
    first = _read_first(found)
    majority = max(table.counts, key=lambda label: table.counts[label])
    if first is None:
        return [f"None of these alone is to be reported: add nested-cv to --estimators. {_majority(majority)}"]
    assert first.estimate is not None
    interval, _ = first.interval(found.comparison.level)
    ends = ""
    if interval is not None:
        ends = f" ({100 * interval.level:g}% interval {100 * interval.low:.1f} to {100 * interval.high:.1f})"
    return [
        f"Read {first.name}: of 100 new rows of this kind about {100 * first.estimate.value:.1f} would be classified "
        f"wrongly{ends}; {100 * table.majority_class_error:.1f} by always saying {majority} (majority class). "
        f"{_why(first, interval is not None)}",
    ]


def _majority(label: Any) -> str:
    return f"majority class: the error of always saying {label}."


def _why(row: Row, has_interval: bool) -> str:
    if row.kind == "resampler":
        reason = "It trains the classifier anew on parts of the rows and counts errors on the others."
    elif row.estimate is not None and row.estimate.draws is not None and not row.name.startswith("gp"):
        return "It holds if every class is about Gaussian; nested-cv does not need that."
    else:
        reason = "It smooths the training rows, and depends on how: compare several, or add nested-cv."
    return reason if has_interval else f"{reason} nested-cv has an interval as well."


def _notes(found: Assessment, table: Table) -> list[str]:
    rows = [row for row in found.comparison.rows if row.estimate is not None]
    notes = [f"{line}." for line in found.lines]
    names = [row.name for row in rows]
    refitting = [row for row in rows if row.kind == "resampler"]
    if "resub" in names:
        notes.append("resub, the share of training rows classified wrongly, is too low for most classifiers.")
    if refitting and len(refitting) < len(rows):
        notes.append(
            "Estimates with refits average over classifiers trained on parts of the rows; the others judge the one "
            f"trained on all {len(table)}."
        )
    if any(name.startswith("bayes") for name in names):
        notes.append("Bayesian estimates assume that every class is about Gaussian; their interval holds if that does.")
        notes += _contradictions(found)
    notes.append(
        "Features chosen or settings tuned on these rows beforehand make every number too low. Rows that nothing has "
        "seen would be the best judge."
    )
    for row in rows:
        if row.message:
            notes.append(f"{row.name} warns: {row.message}")
    notes += [f"Warning: {_cut(text)}" for text in found.warnings]
    return notes


def _contradictions(found: Assessment) -> list[str]:
    """Return a note where the number to read lies outside the interval of a Bayesian row."""
    first = _read_first(found)
    if first is None or first.estimate is None or first.kind != "resampler":
        return []
    outside = []
    for row in found.comparison.rows:
        interval, _ = row.interval(found.comparison.level)
        if row.name.startswith("bayes") and interval and not interval.low <= first.estimate.value <= interval.high:
            outside.append(row.name)
    return [
        f"The interval of {name} does not hold what {first.name} says: do not rely on its model." for name in outside
    ]


def _short(reason: str) -> str:
    told = reason.removeprefix("no interval is offered for this estimate: ")
    return next((words for start, words in _SHORT.items() if told.startswith(start)), told)


def _cut(text: str, most: int = 200) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
