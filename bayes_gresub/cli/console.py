"""What all commands print with: facts, tables and notes, at most 80 columns wide; and warnings held back."""

from __future__ import annotations

import os
import textwrap
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

_WIDEST = 80


def console() -> Console:
    """Return the terminal to print to; text is printed as it is."""
    from rich.console import Console

    made = Console(markup=False, highlight=False, emoji=False)
    made.width = min(made.width, _WIDEST)
    return made


def width() -> int:
    """Return how wide lines may be."""
    return console().width


def printable(text: str) -> str:
    r"""Return a text with the escapes of control characters, such as those in labels, in place of them.

    Examples
    --------
    >>> print(printable("a\n\x1b[2J"))
    a\n\x1b[2J
    """
    if text.isprintable():
        return text
    # Loaded only if needed, since estimates bring scipy along.
    from bayes_gresub.estimate.text import visible

    return visible(text)


def facts(pairs: Iterable[tuple[str, str]]) -> None:
    """Print facts, a name before each."""
    for name, text in pairs:
        lines = _wrapped(text, max(20, width() - 12)) or [""]
        for number, line in enumerate(lines):
            typer.echo(f"{name if number == 0 else '':<12}{line}".rstrip())


def note(text: str, mark: str = "- ") -> None:
    """Print a note with a hanging indent."""
    lines = _wrapped(text, max(20, width() - len(mark)))
    typer.echo("\n".join(f"{mark if number == 0 else ' ' * len(mark)}{line}" for number, line in enumerate(lines)))


def table(columns: Iterable[tuple[str, str]], rows: Iterable[Iterable[str]], last: int = 0) -> None:
    """Print a table; each column is a title and "left", "right" or "wrap", and the last rows stand apart.

    A table that is too wide is printed as several below each other, each with the first column. Only columns that
    "wrap" get narrower: half a number is a wrong number.
    """
    titles, sides = zip(*columns, strict=True)
    cells = [[printable(cell) for cell in row] for row in rows]
    least = [_least_width([title, *column], side) for title, side, *column in zip(titles, sides, *cells, strict=True)]
    apart = len(cells) - last
    for number, shown in enumerate(_that_fit(least, width())):
        if number:
            typer.echo()
        needed = sum(least[column] + len(_GAP) for column in shown) - len(_GAP)
        parts = [[[row[column] for column in shown] for row in block] for block in (cells[:apart], cells[apart:])]
        if number:
            # Rows without a value in these columns are in the table above.
            parts = [[row for row in block if any(row[1:])] for block in parts]
        _print_columns([(titles[column], sides[column]) for column in shown], parts, max(width(), needed))


_GAP = "  "
"""Between columns."""


def _that_fit(widths: list[int], room: int) -> list[list[int]]:
    """Return which columns to print together: the first with as many of the others as there is room for."""
    groups: list[list[int]] = []
    for column in range(1, len(widths)):
        beside = [0, *groups[-1][1:], column] if groups else [0, column]
        if groups and sum(widths[number] + len(_GAP) for number in beside) - len(_GAP) <= room:
            groups[-1] = beside
        else:
            groups.append([0, column])
    return groups or [[0]]


def _least_width(texts: list[str], side: str) -> int:
    """Return how wide a column must be: as its longest text, or as its longest word if it wraps."""
    from rich.cells import cell_len

    return max(cell_len(part) for text in texts for part in (text.split() if side == "wrap" else [text]) or [""])


def _print_columns(columns: list[tuple[str, str]], parts: list[list[list[str]]], room: int) -> None:
    """Print columns that fit; the parts of the table stand apart."""
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, pad_edge=False, padding=(0, len(_GAP), 0, 0), show_edge=False)
    for title, side in columns:
        justify: Any = "right" if side == "right" else "left"
        made.add_column(Text(title), justify=justify, no_wrap=side != "wrap", overflow="fold")
    for number, part in enumerate(filter(None, parts)):
        if number:
            made.add_row(*[""] * len(columns))
        for row in part:
            made.add_row(*(Text(cell) for cell in row))
    terminal = console()
    terminal.width = room
    with terminal.capture() as printed:
        terminal.print(made)
    # Cells are padded to the right, which wraps if lines are copied elsewhere.
    typer.echo("\n".join(line.rstrip() for line in printed.get().splitlines()))


def _wrapped(text: str, room: int) -> list[str]:
    """Return the lines of a text; words that are longer than a line stay whole."""
    lines = textwrap.wrap(" ".join(text.split()), room, break_long_words=False, break_on_hyphens=False)
    return [printable(line) for line in lines]


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Yield a list that holds all warnings at the end, each once, in place of the screen; other processes are quiet."""
    messages: list[str] = []
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = "ignore"
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            # Rows with a text that their fold did not hold are expected, and get the first text's code.
            warnings.filterwarnings("ignore", message="Found unknown categories", category=UserWarning)
            yield messages
    finally:
        messages += dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught)
        if before is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = before
