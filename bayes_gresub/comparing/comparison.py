"""The table of a comparison: one row per estimator, as text, frame, HTML or figure."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayes_gresub.data.description import name_of
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.estimate.intervals import Interval
from bayes_gresub.estimate.reasons import Reason

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

INVISIBLE_CHOICES = (
    "Choices made before X was handed over (selected features, tuned parameters) are invisible to every row that does "
    "not refit them: put them into the rule, and trust the rows that refit."
)

LEGEND = (
    "MC s.e.: Monte-Carlo standard error given the sample; exact where nothing is random, ? where it is unknown. "
    "to_frame() has what each row estimates and why it has no interval."
)

DOUBT = "*"
"""Before an interval whose row has a warning."""

TITLES = {
    "name": "estimator",
    "error": "error",
    "interval": "{level:g}% interval",
    "std_error": "MC s.e.",
    "ms": "ms",
    "seconds": "seconds",
    "fits": "fits",
    "predicted": "predicted",
}
"""Columns that a table of estimates can show, and their titles."""

_COLUMNS = ("name", "error", "interval", "std_error", "ms", "fits", "predicted")


@dataclass(frozen=True, eq=False)
class Subject:
    """The classifier that is judged and the number of its training points; `str` names both."""

    classifier: Any
    n_points: int

    def __str__(self) -> str:
        return f"{name_of(self.classifier)} on {self.n_points} points"


@dataclass(frozen=True, eq=False)
class Row:
    """One estimator's estimate, or why it failed.

    Attributes
    ----------
    name : str
    kind : "measure", "resampler" or "test set"
    estimate : ErrorEstimate or None
        None if the estimator failed.
    seconds : float
        For fit and error together.
    message : str
        Why it failed, or its warnings.
    """

    name: str
    kind: str
    estimate: ErrorEstimate | None
    seconds: float
    message: str = ""

    @property
    def no_interval(self) -> Reason | None:
        """Return why the estimate has no interval; None if it has one, or if there is no estimate."""
        return None if self.estimate is None else self.estimate.no_interval

    def interval(self, level: float) -> Interval | None:
        """Return the interval, or None if there is none."""
        return None if self.estimate is None or self.no_interval is not None else self.estimate.interval(level)

    def cells(self, level: float) -> dict[str, Any]:
        """Return the row's cells, by column; an empty one is NaN or an empty string."""
        cells: dict[str, Any] = {
            "kind": self.kind,
            **dict.fromkeys(("estimate", "low", "high", "std_error"), float("nan")),
            "seconds": self.seconds,
            "n_refits": 0,
            "n_predicted": 0,
            "exact": False,
            "interval": "",
            "no_interval": "" if self.no_interval is None else str(self.no_interval),
            "estimand": "",
            "message": self.message,
        }
        if self.estimate is None:
            return cells
        computation, unknown = self.estimate.computation, self.estimate.missing.value
        cells |= {"n_refits": computation.n_refits, "n_predicted": computation.n_predicted}
        cells |= {"exact": computation.exact, "estimand": str(self.estimate.estimand)}
        if unknown is not None:
            return cells | {"message": unknown.short}
        if interval := self.interval(level):
            cells |= {"low": interval.low, "high": interval.high, "interval": interval.method}
        return cells | {"estimate": self.estimate.value, "std_error": self.estimate.std_error}

    def text_cells(self, level: float, doubt: str = f"{DOUBT} ") -> dict[str, str]:
        """Return the row as printed in tables, by the columns of `TITLES`; `doubt` marks an interval with a warning."""
        cells, failed = self.cells(level), self.estimate is None
        known = not math.isnan(cells["estimate"])
        doubt = doubt if self.message else ""
        noise = "?" if math.isnan(cells["std_error"]) else f"{cells['std_error']:.4f}"
        return {
            "name": self.name,
            "error": f"{cells['estimate']:.4f}" if known else "failed" if failed else "unknown",
            "interval": f"{doubt}{cells['low']:.3f} to {cells['high']:.3f}" if cells["interval"] else "",
            "std_error": "" if not known else "exact" if cells["exact"] else noise,
            "ms": f"{1e3 * self.seconds:.1f}",
            "seconds": f"{self.seconds:.2f}",
            "fits": "" if failed else str(cells["n_refits"]),
            "predicted": "" if failed else str(cells["n_predicted"]),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The estimates of several estimators for one classifier; made by `compare`.

    Attributes
    ----------
    rows : tuple of Row
    subject : Subject
        The classifier in words.
    notes : tuple of str
        What readers must know.
    level : float
        Of the intervals.
    preparation : tuple of str
        Which rows judge prepared columns and which the rows of X as given, if these differ.
    """

    rows: tuple[Row, ...]
    subject: Subject
    notes: tuple[str, ...]
    level: float = 0.95
    preparation: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> ErrorEstimate:
        for row in self.rows:
            if row.name == name:
                if row.estimate is None:
                    raise ValueError(f"{name} failed: {row.message}")
                return row.estimate
        raise KeyError(f"no row {name!r}; the rows are {', '.join(row.name for row in self.rows)}.")

    def to_frame(self) -> pd.DataFrame:
        """Return a DataFrame, one row per estimator.

        Columns: kind, estimate, low, high, std_error (Monte-Carlo, given the sample), seconds, n_refits, n_predicted,
        exact, interval (its method), no_interval (why there is none), estimand, message (why the estimator failed).
        """
        import pandas as pd

        index = pd.Index([row.name for row in self.rows], name="estimator")
        return pd.DataFrame([row.cells(self.level) for row in self.rows], index=index)

    def plot(self, reference: float | None = None, ax: Axes | None = None, answer: Any = None) -> Axes:
        """Draw the estimates with their intervals.

        `reference` is an error to compare with, `answer` that of `assess`, drawn as a line with a band.

        Examples
        --------
        >>> import bayes_gresub as bg
        >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
        >>> X, y = bg.datasets.PaperGaussian().sample(40, random_state=0)
        >>> table = bg.compare(LinearDiscriminantAnalysis(), X, y, ["resub", "bolstered", "cv"], random_state=0)
        >>> [tick.get_text() for tick in table.plot().get_yticklabels()]
        ['resub', 'bolstered', 'cv']
        """
        from bayes_gresub.plots import plot_estimates

        estimates = {
            row.name: row.estimate for row in self.rows if row.estimate is not None and row.estimate.prior_known
        }
        return plot_estimates(estimates, reference, ax, level=self.level, answer=answer)

    def text_table(self, columns: Sequence[str], doubt: str = f"{DOUBT} ") -> list[list[str]]:
        """Return these columns of `TITLES` as texts: the titles, then one line per row."""
        titles = [TITLES[column].format(level=100 * self.level) for column in columns]
        cells = [row.text_cells(self.level, doubt) for row in self.rows]
        return [titles, *([row[column] for column in columns] for row in cells)]

    def __repr__(self) -> str:
        lines = self.text_table(_COLUMNS)
        widths = [max(len(line[column]) for line in lines) for column in range(len(_COLUMNS))]
        text = [
            "  ".join(
                cell.ljust(width) if column == 0 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        for number, row in enumerate(self.rows, 1):
            text[number] += f"  {row.message}" if row.estimate is None else ""
        return "\n".join([f"Error of {self.subject}", "", *text, "", *self._every_note])

    def _repr_html_(self) -> str:
        titles, *lines = self.text_table(_COLUMNS)
        head = "".join(f"<th>{html.escape(title)}</th>" for title in [*titles, ""])
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in [*line, row.message]) + "</tr>"
            for line, row in zip(lines, self.rows, strict=True)
        )
        grouped = [*self._grouped("Estimand", "estimand"), *self._grouped("Why no interval", "no_interval")]
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in [*self._every_note, *grouped])
        return (
            f"<p><b>Error of {html.escape(str(self.subject))}</b></p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><ul>{notes}</ul>"
        )

    @property
    def _every_note(self) -> list[str]:
        """Return the notes, and each warning of rows that have an estimate once."""
        warned: dict[str, list[str]] = {}
        for row in self.rows:
            if row.estimate is not None and row.message:
                warned.setdefault(row.message, []).append(row.name)
        warnings = [f"{DOUBT} {', '.join(names)}: {message}" for message, names in warned.items()]
        return [LEGEND, *self.preparation, *self.notes, *warnings]

    def _grouped(self, title: str, column: str) -> list[str]:
        """Return one note for each text in a column, with the rows that have it."""
        grouped: dict[str, list[str]] = {}
        for row in self.rows:
            if text := row.cells(self.level)[column]:
                grouped.setdefault(text, []).append(row.name)
        return [f"{title}: {text} ({', '.join(names)})." for text, names in grouped.items()]
