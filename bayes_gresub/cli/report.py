"""What `estimate` prints and writes: the table, why some rows have no interval, and which number to read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from bayes_gresub import __version__
from bayes_gresub.cli import console

if TYPE_CHECKING:
    from bayes_gresub.cli.tables import Table
    from bayes_gresub.comparing import Comparison, Row
    from bayes_gresub.estimate.intervals import Interval

_READ_FIRST = (
    "boot-632+",
    "repeated-cv",
    "nested-cv",
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

_COLUMNS = ("name", "error", "interval", "fits", "seconds")
_SIDES = ("left", "right", "left", "right", "right")


def print_answer(comparison: Comparison, table: Table, warnings: Sequence[str] = ()) -> None:
    """Print the table and the notes; `warnings` are those of libraries."""
    reasons: dict[str, str] = {}
    titles, *rows = comparison.text_table(_COLUMNS)
    for cells, row in zip(rows, comparison.rows, strict=True):
        if reason := _no_interval(row):
            cells[_COLUMNS.index("interval")] = f"none ({reasons.setdefault(reason, chr(ord('a') + len(reasons)))})"
    rows.append(["majority class", f"{table.majority_class_error:.4f}", "", "", ""])
    console.table(zip(titles, _SIDES, strict=True), rows, last=1)
    typer.echo()
    for reason, letter in reasons.items():
        console.note(reason, f"({letter}) ")
    typer.echo()
    for text in [*_headline(comparison, table), *_notes(comparison, table), *(f"Warning: {_cut(w)}" for w in warnings)]:
        console.note(text)


def as_json(comparison: Comparison, table: Table, settings: dict[str, Any], warnings: Sequence[str] = ()) -> str:
    """Return everything as JSON: the settings, the data in words, and every row with all that its estimate holds."""
    data = {
        "name": table.name,
        "target": table.target,
        "rows": len(table),
        "features": [str(name) for name in table.X.columns],
        "classes": [{"label": label, "rows": count} for label, count in table.counts.items()],
        "majority_class_error": table.majority_class_error,
    }
    everything = {
        "bayes_gresub": __version__,
        "settings": settings,
        "data": data,
        "classifier": str(comparison.subject),
        "level": comparison.level,
        "rows": [_row_as_dict(row, comparison.level) for row in comparison.rows],
        "notes": [*comparison.preparation, *comparison.notes],
        "warnings": list(warnings),
    }
    return json.dumps(_finite(everything), indent=1, allow_nan=False)


def _no_interval(row: Row) -> str:
    """Return in a few words why a row has no interval; nothing if it has one."""
    if row.estimate is None:
        return f"failed: {row.message}"
    return "" if row.no_interval is None else f"no interval: {row.no_interval.short}"


def _read_first(comparison: Comparison) -> Row | None:
    estimated = {row.name: row for row in comparison.rows if row.estimate is not None}
    return next((estimated[name] for name in _READ_FIRST if name in estimated), None)


def _headline(comparison: Comparison, table: Table) -> list[str]:
    """Return which number to read, and its meaning."""
    first = _read_first(comparison)
    majority = console.printable(str(max(table.counts, key=lambda label: table.counts[label])))
    if first is None or first.estimate is None:
        return [
            "Do not report one of these alone: add boot-632+ to --estimators. majority class: the error of always "
            f"predicting {majority}."
        ]
    interval = first.interval(comparison.level)
    ends = ""
    if interval is not None:
        ends = f" ({100 * interval.level:g}% interval {100 * interval.low:.1f} to {100 * interval.high:.1f})"
    return [
        f"Read {first.name}: of 100 new rows of this kind about {100 * first.estimate.value:.1f} would be classified "
        f"wrongly{ends}; {100 * table.majority_class_error:.1f} by always predicting {majority} (majority class). "
        f"{_why(first, interval)}",
    ]


def _why(row: Row, interval: Interval | None) -> str:
    if row.kind == "resampler":
        reason = "It trains the classifier again on parts of the rows and counts errors on the others."
    elif _assumes_class_model(row):
        return "It holds if every class is about Gaussian; boot-632+ does not need that."
    else:
        reason = "It smooths the training rows, and depends on how: compare several, or add boot-632+."
    return reason if interval is not None else f"{reason} boot-632+ has an interval as well."


def _notes(comparison: Comparison, table: Table) -> list[str]:
    rows = [row for row in comparison.rows if row.estimate is not None]
    notes = list(comparison.preparation)
    refitting = [row for row in rows if row.kind == "resampler"]
    if "resub" in [row.name for row in rows]:
        notes.append("resub, the share of training rows classified wrongly, is too low for most classifiers.")
    if refitting and len(refitting) < len(rows):
        notes.append(
            "Estimates with refits average over classifiers trained on parts of the rows; the others judge the one "
            f"trained on all {len(table)}."
        )
    if any(map(_assumes_class_model, rows)):
        notes.append("Bayesian estimates assume that every class is about Gaussian; their interval holds if that does.")
        notes += _contradictions(comparison)
    notes.append(
        "Features chosen or settings tuned on these rows beforehand make every number too low. Rows that were "
        "not used at all would give the best estimate."
    )
    return notes + [f"{row.name} warns: {row.message}" for row in rows if row.message]


def _contradictions(comparison: Comparison) -> list[str]:
    """Return a note if the number to read lies outside the interval of a row with a model of the classes."""
    first = _read_first(comparison)
    if first is None or first.estimate is None or first.kind != "resampler":
        return []
    outside = []
    for row in filter(_assumes_class_model, comparison.rows):
        interval = row.interval(comparison.level)
        if interval is not None and not interval.low <= first.estimate.value <= interval.high:
            outside.append(row.name)
    return [
        f"The interval of {name} does not hold the estimate of {first.name}: do not rely on its model."
        for name in outside
    ]


def _assumes_class_model(row: Row) -> bool:
    return row.estimate is not None and row.estimate.interval_method.assumes_class_model


def _row_as_dict(row: Row, level: float) -> dict[str, Any]:
    interval = row.interval(level)
    return {
        "estimator": row.name,
        **{name: value for name, value in row.cells(level).items() if name not in ("low", "high", "interval")},
        "interval": None if interval is None else interval.to_dict(),
        "everything": None if row.estimate is None else row.estimate.to_dict(),
    }


def _finite(thing: Any) -> Any:
    """Return data with None for numbers that JSON cannot hold."""
    import numpy as np

    if isinstance(thing, dict):
        return {str(key): _finite(value) for key, value in thing.items()}
    if isinstance(thing, list | tuple):
        return [_finite(value) for value in thing]
    if isinstance(thing, np.generic):
        return _finite(thing.item())
    return None if isinstance(thing, float) and not np.isfinite(thing) else thing


def _cut(text: str, most: int = 200) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
