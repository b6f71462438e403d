"""What `estimate` prints and writes: the answer, the table, why some rows have no interval."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from bayes_gresub import __version__
from bayes_gresub.cli import console

if TYPE_CHECKING:
    from bayes_gresub.assessing import Answer
    from bayes_gresub.cli.tables import Table
    from bayes_gresub.comparing import Comparison, Row

_COLUMNS = ("name", "error", "interval", "fits", "seconds")
_SIDES = ("left", "right", "left", "right", "right")


def print_answer(answer: Answer, majority_class_error: float, largest_class: Any) -> None:
    """Print the number to read with its interval, how it was found, and what a reader must know."""
    interval = answer.interval()
    console.note(
        f"Of 100 new rows of this kind about {100 * answer.error:.1f} would be classified wrongly "
        f"({100 * answer.level:g}% interval {100 * interval.low:.1f} to {100 * interval.high:.1f}); "
        f"{100 * majority_class_error:.1f} by always predicting {console.printable(str(largest_class))}.",
        "",
    )
    console.note(answer.how, "")
    for notice in answer.notices:
        console.note(f"{_capital(str(notice))}.")
    if answer.improvements:
        console.note(f"Better: {'; or '.join(improvement.short for improvement in answer.improvements)}.")
    typer.echo()


def print_table(comparison: Comparison, table: Table, answer: Answer | None, warnings: Sequence[str] = ()) -> None:
    """Print the table and the notes; `warnings` are those of libraries."""
    from bayes_gresub.assessing.far_rows import far_rows

    remarks: dict[str, str] = {}
    # Doubts have letters here.
    titles, *rows = comparison.text_table(_COLUMNS, doubt="")
    for cells, row in zip(rows, comparison.rows, strict=True):
        if remark := _no_interval(row) or _doubt(row):
            letter = remarks.setdefault(remark, chr(ord("a") + len(remarks)))
            place = _COLUMNS.index("interval")
            cells[place] = f"{cells[place] or 'none'} ({letter})"
    rows.append(["majority class", f"{table.majority_class_error:.4f}", "", "", ""])
    console.table(zip(titles, _SIDES, strict=True), rows, last=1)
    typer.echo()
    for remark, letter in remarks.items():
        console.note(remark, f"({letter}) ")
    typer.echo()
    far = None if answer is None else far_rows(answer, comparison)
    contradictions = [] if far is None else [f"{_capital(str(far))}."]
    for text in [*contradictions, *_notes(comparison, table), *(f"Warning: {_cut(w)}" for w in warnings)]:
        console.note(text)


def as_json(
    comparison: Comparison,
    table: Table,
    answer: Answer | None,
    settings: dict[str, Any],
    warnings: Sequence[str] = (),
) -> str:
    """Return everything as JSON: the answer, settings, the data in words, and every row with all its estimate holds."""
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
        "answer": None if answer is None else answer.to_dict(),
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


def _doubt(row: Row) -> str:
    """Return why not to rely on the interval that a row has; nothing if there is no warning."""
    return f"{row.name} warns: {row.message}" if row.estimate is not None and row.message else ""


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
    notes.append(
        "Features chosen or settings tuned on these rows beforehand make every number too low. Rows that were "
        "not used at all would give the best estimate."
    )
    return notes + [doubt for row in rows if row.no_interval is not None and (doubt := _doubt(row))]


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


def _capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"


def _cut(text: str, most: int = 200) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
