"""Progress of a study: below the bar, the RMS of every estimator so far."""

from __future__ import annotations

from collections import defaultdict
from types import TracebackType
from typing import Any, TextIO

from bayes_gresub.progress import Progress
from bayes_gresub.studies.tasks import Record


class Display:
    """Shows how far a study is, while it is entered.

    Parameters
    ----------
    done, total : int
        Tasks.
    estimators, rules : list of str
        Rows and columns of the table of RMS.
    progress : bool or None
        None shows it in terminals and notebooks only. If there is no terminal, True prints a line now and then.
    """

    def __init__(
        self,
        done: int,
        total: int,
        estimators: list[str],
        rules: list[str],
        progress: bool | None,
        file: TextIO | None = None,
    ) -> None:
        self.estimators, self.rules = estimators, rules
        self.squares: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
        self.progress = Progress("", total, progress, unit="task", done=done, below=self._rendered_table, file=file)

    def __enter__(self) -> Display:
        self.progress.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.progress.__exit__(kind, error, trace)

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
        self.seen(record)
        self.progress.update()

    def table(self) -> list[list[str]]:
        """Return the RMS over all sizes so far: a row for each estimator, a column for each rule."""
        cells = [[self._rms(name, rule) for rule in self.rules] for name in self.estimators]
        return [[name, *row] for name, row in zip(self.estimators, cells, strict=True)]

    def _rms(self, name: str, rule: str) -> str:
        count, total = self.squares.get((name, rule), (0.0, 0.0))
        return f"{(total / count) ** 0.5:.3f}" if count else ""

    def _rendered_table(self) -> Any:
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, title="RMS so far, all sizes", title_justify="left")
        table.add_column("estimator")
        for rule in self.rules:
            table.add_column(Text(rule), justify="right")
        for row in self.table():
            table.add_row(*(Text(cell) for cell in row))
        return table
