"""One classifier on one table: what every estimator says of it, also where columns must be made numeric first.

Files are read in datasets/tables.py, and printing is left to the command line.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayes_gresub.cli.tables import Table
from bayes_gresub.comparing import Comparison, Row, compare
from bayes_gresub.comparing.compare import CAME_FITTED
from bayes_gresub.comparing.resolve import read_estimators
from bayes_gresub.data.description import name_of
from bayes_gresub.data.sample import read_features
from bayes_gresub.data.seeds import RULES, child, seed_sequence
from bayes_gresub.data.validation import check_settings
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.measures import Empirical
from bayes_gresub.measures.measure import Measure
from bayes_gresub.regions.training import is_fitted, trained
from bayes_gresub.registry import estimators as registered
from bayes_gresub.resampling import CrossValidation, Interrupted

DEFAULT = ("resub", "bolstered", "bolstered-3nn-pp", "bayesian", "cv", "nested-cv")
"""Estimators where none are named; two of them have an interval."""

_MOST_FEATURES = 100
"""Above this the Bayesian estimators take minutes."""


View = tuple[Any, Any, list[str]]
"""What is judged, at which points, by which estimators."""


@dataclass(frozen=True, eq=False)
class Assessment:
    """What the estimators say, and what a reader must know.

    Attributes
    ----------
    comparison : Comparison
    lines : tuple of str
        How measures and refits saw the data, where they did not see the same.
    warnings : tuple of str
        What libraries warned of, each once.
    """

    comparison: Comparison
    lines: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def with_draws(self) -> dict[str, ErrorEstimate]:
        """Return the estimates that have posterior draws, by name."""
        return {
            row.name: row.estimate
            for row in self.comparison.rows
            if row.estimate is not None and row.estimate.posterior is not None
        }

    def save_plot(self, path: str | Path) -> None:
        """Draw all estimates with their intervals into a file."""
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, ax = plt.subplots(figsize=(7, 0.27 * len(self.comparison.rows) + 2.2), layout="constrained")
        self.comparison.plot(ax=ax)
        ax.set_title(f"Error of {self.comparison.subject}", fontsize="medium")
        figure.savefig(path, dpi=150)
        plt.close(figure)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python objects that JSON can hold."""
        rows = [_row(row, self.comparison.level) for row in self.comparison.rows]
        return _plain(
            {
                "classifier": self.comparison.subject,
                "level": self.comparison.level,
                "rows": rows,
                "notes": [*self.lines, *self.comparison.notes],
                "warnings": list(self.warnings),
            }
        )


def assess(
    classifier: Any,
    X: Any,
    y: Any,
    estimators: Any = DEFAULT,
    *,
    n_jobs: int | None = None,
    progress: bool | None = None,
    random_state: int = 0,
) -> Assessment:
    """Return what estimators say of a classifier, measures behind the steps that make X numeric.

    Where X is numeric this is `compare`. Elsewhere the classifier must be a Pipeline: measures judge the steps behind
    the first that answer with numbers, at what these say of the training points; cross-validation and bootstrap refit
    the whole Pipeline on the rows as they are, and those of them that hold a measure only the steps behind.

    Parameters
    ----------
    classifier : rule or fitted classifier
    X : DataFrame or array-like of shape (n, d)
    y : array-like of shape (n,)
    estimators : as in `compare`
    n_jobs, progress : as in `compare`
    random_state : int, default 0

    Examples
    --------
    >>> import pandas as pd
    >>> from bayes_gresub.cli.named_rules import behind, make_rule, preparing
    >>> X = pd.DataFrame({"size": [0.1, 0.4, 2.0, None, 2.3, 0.2] * 5, "colour": ["red", "red", "blue"] * 10})
    >>> rule = behind(preparing([], ["size"], ["colour"]), make_rule("lda"))
    >>> found = assess(rule, X, [0, 0, 1, 1, 1, 0] * 5, ["bolstered", "cv"])
    >>> [row.name for row in found.comparison.rows if row.estimate is not None]
    ['bolstered', 'cv']
    """
    check_settings(n_jobs=n_jobs)
    chosen = read_estimators(estimators)
    options: dict[str, Any] = {"n_jobs": n_jobs, "progress": progress, "random_state": random_state}
    check_folds(chosen, y)
    came_fitted = is_fitted(classifier, X[:1])
    with _heard() as said:
        views: list[View] = [(classifier, X, list(chosen))]
        lines: list[str] = []
        if not _is_numeric(X):
            views, lines = _views(classifier, X, y, chosen, random_state)
        rows: dict[str, Row] = {}
        notes: list[str] = []
        try:
            for judged, points, names in views:
                part = compare(judged, points, y, {name: chosen[name] for name in names}, **options)
                rows |= {row.name: row for row in part.rows}
                notes += [note for note in part.notes if note not in notes and (note != CAME_FITTED or came_fitted)]
        except Interrupted as stop:
            rows |= {row.name: row for row in stop.partial.rows}
            done = _merged(classifier, len(y), chosen, rows, notes)
            raise Interrupted(
                f"stopped after {len(rows)} of {len(chosen)} rows.", lambda: Assessment(done, tuple(lines))
            ) from stop
    return Assessment(_merged(classifier, len(y), chosen, rows, notes), tuple(lines), tuple(dict.fromkeys(said)))


def default_estimators(table: Table) -> tuple[list[str], list[str]]:
    """Return the estimators for a table where none are named, and in words which were left out.

    Examples
    --------
    >>> from bayes_gresub.cli.tables import read_table
    >>> default_estimators(read_table("iris"))[0] == list(DEFAULT)
    True
    """
    features, least = table.n_numeric, min(table.counts.values())
    if features < least and features <= _MOST_FEATURES:
        return list(DEFAULT), []
    reason = f"{least} rows in the smallest class" if features >= least else f"more than {_MOST_FEATURES} take minutes"
    line = f"bayesian is left out: its model needs fewer features ({features}; {reason}). Name it to have it."
    return [name for name in DEFAULT if name != "bayesian"], [line]


def check_draws(estimators: Any) -> None:
    """Raise unless one of the estimators has posterior draws.

    Examples
    --------
    >>> check_draws(["resub", "cv"])
    Traceback (most recent call last):
    ValueError: none of the estimators has posterior draws; those that have are bayesian, bayesian-shared, gp-pp...
    """
    if not any(_has_draws(one) for one in read_estimators(estimators).values()):
        names = sorted(entry.name for entry in registered("measure") if _has_draws(entry.make()))
        raise ValueError(f"none of the estimators has posterior draws; those that have are {', '.join(names)}.")


def check_folds(estimators: Mapping[str, Any], y: Any) -> None:
    """Raise where there are too few points for the folds of some of the estimators."""
    largest, n = int(np.unique(np.asarray(y), return_counts=True)[1].max()), len(y)
    folded = {name: one for name, one in estimators.items() if isinstance(one, CrossValidation)}
    short = [name for name, one in folded.items() if largest < one.folds or (one.interval and n < 2 * one.folds)]
    if short:
        folds = folded[short[0]].folds
        raise ValueError(
            f"too few rows for {folds} folds: {', '.join(short)} cannot be computed with {n} rows, {largest} in the "
            "largest class. Name other estimators, such as loo or boot-632."
        )


def _has_draws(estimator: Any) -> bool:
    return isinstance(estimator, Measure) and bool(estimator.has_draws)


def _is_numeric(X: Any) -> bool:
    try:
        read_features(X)
    except (TypeError, ValueError):
        return False
    return True


def _views(
    classifier: Any, X: Any, y: Any, chosen: Mapping[str, Any], random_state: int
) -> tuple[list[View], list[str]]:
    """Return what is judged, at which points, by which estimators; and in words why."""
    fitted = classifier
    if not is_fitted(classifier, X[:1]):
        fitted = trained(classifier, X, np.asarray(y), None, child(seed_sequence(random_state), RULES))
    kept = [name for name, one in chosen.items() if not isinstance(one, Measure) and _counts_points(one)]
    moved = [name for name in chosen if name not in kept]
    split = _numeric_part(fitted, X)
    if split is None or not moved:
        return [(fitted, X, list(chosen))], []
    inside, points = split
    lines = []
    measures = [name for name in moved if isinstance(chosen[name], Measure)]
    if measures:
        lines.append(
            f"{', '.join(measures)}: judged at the prepared columns ({points.shape[1]}), prepared once from all rows"
        )
    if kept:
        lines.append(f"{', '.join(kept)}: refit the preparation with the classifier, on the rows as they are")
    if refitting := [name for name in moved if name not in measures]:
        lines.append(f"{', '.join(refitting)}: need numbers, so refit the classifier only, on the prepared columns")
    return [view for view in [(inside, points, moved), (fitted, X, kept)] if view[2]], lines


def _counts_points(resampler: Any) -> bool:
    """Return whether a resampler counts errors at rows of any type, and has no kernels, which need numbers."""
    return getattr(resampler, "measure", None) is None or isinstance(resampler.measure, Empirical)


def _numeric_part(fitted: Any, X: Any) -> tuple[Any, Any] | None:
    """Return the steps of a fitted Pipeline behind the first that give numbers, and what those give; None without."""
    from sklearn.pipeline import Pipeline

    if not isinstance(fitted, Pipeline):
        return None
    points = X
    for place, (_, step) in enumerate(fitted.steps[:-1], 1):
        points = points if step in (None, "passthrough") else step.transform(points)
        if _is_numeric(points):
            return fitted[place:], points
    return None


def _merged(
    classifier: Any, n: int, chosen: Mapping[str, Any], rows: Mapping[str, Row], notes: Sequence[str]
) -> Comparison:
    subject = f"{name_of(classifier)} on {n} points"
    return Comparison(tuple(rows[name] for name in chosen if name in rows), subject, tuple(notes))


@contextmanager
def _heard() -> Iterator[list[str]]:
    """Yield a list that fills with what is warned of, in place of the screen; other processes are kept quiet."""
    said: list[str] = []
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = "ignore"
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            # Rows with a text that their fold did not hold are expected, and get the first text's code.
            warnings.filterwarnings("ignore", message="Found unknown categories", category=UserWarning)
            yield said
    finally:
        said += [" ".join(str(one.message).split()) for one in caught]
        if before is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = before


def _row(row: Row, level: float) -> dict[str, Any]:
    interval, _ = row.interval(level)
    return {
        "estimator": row.name,
        **{name: value for name, value in row.cells(level).items() if name not in ("low", "high", "interval")},
        "interval": None if interval is None else asdict(interval),
        "everything": None if row.estimate is None else row.estimate.to_dict(),
    }


def _plain(thing: Any) -> Any:
    """Return data with None for numbers that JSON cannot hold."""
    if isinstance(thing, dict):
        return {str(key): _plain(value) for key, value in thing.items()}
    if isinstance(thing, list | tuple):
        return [_plain(value) for value in thing]
    if isinstance(thing, np.generic):
        return _plain(thing.item())
    return None if isinstance(thing, float) and not np.isfinite(thing) else thing
