"""The table of a comparison: one row per estimator, as text, frame, HTML or figure."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.estimate.intervals import Interval

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


@dataclass(frozen=True, eq=False)
class Row:
    """One estimator's answer.

    Attributes
    ----------
    name : str
    kind : "measure", "resampler" or "test set"
    estimate : ErrorEstimate or None
        None where the estimator failed.
    seconds : float
        Fit and error together.
    message : str
        Why it failed, or what it warned of.
    """

    name: str
    kind: str
    estimate: ErrorEstimate | None
    seconds: float
    message: str = ""

    def interval(self, level: float) -> tuple[Interval | None, str]:
        """Return the interval, or None and the reason."""
        if self.estimate is None:
            return None, self.message
        try:
            return self.estimate.interval(level), ""
        except ValueError as error:
            return None, str(error)

    def cells(self, level: float) -> dict[str, Any]:
        """Return the row's cells, by column; an empty one is NaN or an empty string."""
        nan = float("nan")
        if self.estimate is None:
            blank = dict.fromkeys(("estimate", "low", "high", "std_error"), nan)
            return {
                "kind": self.kind,
                **blank,
                "seconds": self.seconds,
                "n_refits": 0,
                "n_predicted": 0,
                "exact": False,
                "interval": "",
                "no_interval": "",
                "estimand": "",
                "message": self.message,
            }
        interval, reason = self.interval(level)
        how, known = self.estimate.computation, self.estimate.prior_known
        return {
            "kind": self.kind,
            "estimate": self.estimate.value if known else nan,
            "low": interval.low if interval else nan,
            "high": interval.high if interval else nan,
            "std_error": self.estimate.std_error if known else nan,
            "seconds": self.seconds,
            "n_refits": how.n_refits,
            "n_predicted": how.n_predicted,
            "exact": how.exact,
            "interval": interval.method if interval else "",
            "no_interval": reason,
            "estimand": self.estimate.estimand,
            "message": self.message if known else "class probabilities are unknown; give class_prior",
        }


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """What several estimators say of one classifier; made by `compare`.

    Attributes
    ----------
    rows : tuple of Row
    subject : str
        The classifier in words.
    notes : tuple of str
        What a reader must know.
    level : float
        Of the intervals.
    """

    rows: tuple[Row, ...]
    subject: str
    notes: tuple[str, ...]
    level: float = 0.95

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

    def plot(self, reference: float | None = None, ax: Axes | None = None) -> Axes:
        """Draw the estimates with their intervals; `reference` is an error to compare with.

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

        shown = {row.name: row.estimate for row in self.rows if row.estimate is not None and row.estimate.prior_known}
        return plot_estimates(shown, reference, ax, level=self.level)

    def __repr__(self) -> str:
        lines = [self._header, *(self._short(row) for row in self.rows)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self._header))]
        text = [
            "  ".join(
                cell.ljust(width) if column == 0 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        for number, row in enumerate(self.rows, 1):
            text[number] += f"  {row.message}" if row.estimate is None else ""
        return "\n".join([f"Error of {self.subject}", "", *text, "", LEGEND, *self.notes, *self._warnings])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(title)}</th>" for title in [*self._header, ""])
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in [*self._short(row), row.message]) + "</tr>"
            for row in self.rows
        )
        grouped = [*self._grouped("Estimand", "estimand"), *self._grouped("Why no interval", "no_interval")]
        every = [LEGEND, *self.notes, *self._warnings, *grouped]
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in every)
        return (
            f"<p><b>Error of {html.escape(self.subject)}</b></p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><ul>{notes}</ul>"
        )

    @property
    def _warnings(self) -> list[str]:
        """Return what the rows that have an estimate warn of, one note for all that say the same."""
        said: dict[str, list[str]] = {}
        for row in self.rows:
            if row.estimate is not None and row.message:
                said.setdefault(row.message, []).append(row.name)
        return [f"{', '.join(names)}: {message}" for message, names in said.items()]

    @property
    def _header(self) -> list[str]:
        return ["estimator", "error", f"{100 * self.level:g}% interval", "MC s.e.", "ms", "fits", "predicted"]

    def _grouped(self, title: str, column: str) -> list[str]:
        """Return one note for each thing that cells of a column say, with the rows that say it."""
        said: dict[str, list[str]] = {}
        for row in self.rows:
            if text := row.cells(self.level)[column]:
                said.setdefault(text, []).append(row.name)
        return [f"{title}: {text} ({', '.join(names)})." for text, names in said.items()]

    def _short(self, row: Row) -> list[str]:
        estimate = row.estimate
        if estimate is None:
            return [row.name, "failed", "", "", f"{1e3 * row.seconds:.1f}", "", ""]
        how = estimate.computation
        value, error = "unknown", ""
        if estimate.prior_known:
            value = f"{estimate.value:.4f}"
            error = "exact" if how.exact else "?" if estimate.no_std_error else f"{estimate.std_error:.4f}"
        interval, _ = row.interval(self.level)
        ends = f"{interval.low:.3f} to {interval.high:.3f}" if interval else ""
        return [row.name, value, ends, error, f"{1e3 * row.seconds:.1f}", str(how.n_refits), str(how.n_predicted)]
