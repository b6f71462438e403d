"""Progress of a study: a bar with the time left, and the RMS of every estimator so far."""

from __future__ import annotations

from collections import defaultdict
from time import monotonic
from types import TracebackType
from typing import Any

from bayes_gresub.progress import in_notebook
from bayes_gresub.studies.tasks import Record

_EVERY = 30.0
"""Seconds between lines where there is no terminal to draw on."""


class Display:
    """Shows how far a study is, while it is entered.

    Parameters
    ----------
    done, total : int
        Tasks.
    estimators, rules : list of str
        Rows and columns of the table of RMS.
    progress : bool or None
        None shows it in terminals and notebooks only. Where there is no terminal, True prints a line now and then.
    """

    def __init__(
        self, done: int, total: int, estimators: list[str], rules: list[str], progress: bool | None, file: Any = None
    ) -> None:
        from rich.console import Console

        self.done, self.begun, self.total = done, done, total
        self.estimators, self.rules = estimators, rules
        self.console = Console(file=file) if file is not None else Console(stderr=True)
        can_draw = self.console.is_terminal or in_notebook()
        self.draws = can_draw and progress is not False
        self.prints = not can_draw and bool(progress)
        self.squares: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
        self.started = self.printed = monotonic()
        self.live: Any = None

    def __enter__(self) -> Display:
        if self.draws:
            from rich.live import Live

            self.live = Live(console=self.console, refresh_per_second=2, get_renderable=self._rendered, transient=True)
            self.live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.live is not None:
            self.live.__exit__(kind, error, trace)
        elif self.prints and self.done > self.begun:
            self.console.print(self._line(), highlight=False)

    def seen(self, record: Record) -> None:
        """Count the deviations of a record that was done earlier."""
        true = record["true"]["value"]
        if true is None:
            return
        for name, row in record["rows"].items():
            if row["estimate"] is not None:
                total = self.squares[name, record["rule"]]
                total[0] += 1
                total[1] += (row["estimate"] - true) ** 2

    def update(self, record: Record) -> None:
        """Count a task that has just been done."""
        self.done += 1
        self.seen(record)
        if self.prints and monotonic() - self.printed > _EVERY:
            self.printed = monotonic()
            self.console.print(self._line(), highlight=False)

    def table(self) -> list[list[str]]:
        """Return the RMS over all sizes so far: a row for each estimator, a column for each rule."""
        cells = [[self._rms(name, rule) for rule in self.rules] for name in self.estimators]
        return [[name, *row] for name, row in zip(self.estimators, cells, strict=True)]

    def _rms(self, name: str, rule: str) -> str:
        count, total = self.squares.get((name, rule), (0.0, 0.0))
        return f"{(total / count) ** 0.5:.3f}" if count else ""

    def _line(self) -> str:
        return f"{self.done} of {self.total} tasks, {self._left()}"

    def _left(self) -> str:
        new = self.done - self.begun
        if self.done == self.total:
            return "done"
        if not new:
            return "time left unknown yet"
        seconds = (monotonic() - self.started) / new * (self.total - self.done)
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes // 60} h {minutes % 60} min left" if minutes >= 60 else f"{minutes} min {rest:02d} s left"

    def _rendered(self) -> Any:
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        head = Table.grid(padding=(0, 1))
        head.add_row(ProgressBar(total=self.total, completed=self.done, width=40), self._line())
        table = Table(box=None, pad_edge=False, title="RMS so far, all sizes", title_justify="left")
        table.add_column("estimator")
        for rule in self.rules:
            table.add_column(Text(rule), justify="right")
        for row in self.table():
            table.add_row(*(Text(cell) for cell in row))
        return Group(head, table)
