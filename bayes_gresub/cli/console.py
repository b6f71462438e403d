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


def facts(pairs: Iterable[tuple[str, str]]) -> None:
    """Print facts, a name before each."""
    for name, text in pairs:
        lines = textwrap.wrap(text, max(20, width() - 12)) or [""]
        for number, line in enumerate(lines):
            typer.echo(f"{name if number == 0 else '':<12}{line}".rstrip())


def note(text: str, mark: str = "- ") -> None:
    """Print a note with a hanging indent."""
    typer.echo(
        textwrap.fill(
            text,
            width(),
            initial_indent=mark,
            subsequent_indent=" " * len(mark),
            break_long_words=False,
            break_on_hyphens=False,
        )
    )


def table(columns: Iterable[tuple[str, str]], rows: Iterable[Iterable[str]], last: int = 0) -> None:
    """Print a table; each column is a title and "left", "right" or "wrap", and the last rows stand apart."""
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    for title, how in columns:
        justify: Any = "right" if how == "right" else "left"
        made.add_column(Text(title), justify=justify, no_wrap=how != "wrap", overflow="fold")
    cells = [list(row) for row in rows]
    for number, row in enumerate(cells):
        if last and number == len(cells) - last:
            made.add_row(*[""] * len(row))
        made.add_row(*(Text(cell) for cell in row))
    terminal = console()
    with terminal.capture() as printed:
        terminal.print(made)
    # Cells are padded to the right, which wraps if lines are copied elsewhere.
    typer.echo("\n".join(line.rstrip() for line in printed.get().splitlines()))


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
