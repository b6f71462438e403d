"""Which estimators the command line runs on a table, and the abilities that they need. Nothing is estimated here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayes_gresub.cli.tables import Table
from bayes_gresub.comparing.compare import read_estimators
from bayes_gresub.measures.measure import Measure
from bayes_gresub.registry import estimators as registered
from bayes_gresub.resampling import CrossValidation

DEFAULT = ("resub", "bolstered", "bolstered-3nn-pp", "bayesian", "cv", "boot-632+")
"""Estimators if none are named; three of them have an interval."""

MANY_ROWS = 20_000
"""Rows above which cv is as near as boot-632+, at a twentieth of its fits."""

_MOST_FEATURES = 100
"""Above this the Bayesian estimators take minutes."""


def default_estimators(table: Table) -> tuple[list[str], list[str]]:
    """Return the estimators for a table if none are named, and in words which were left out.

    Examples
    --------
    >>> from bayes_gresub.cli.tables import read_table
    >>> default_estimators(read_table("iris"))[0] == list(DEFAULT)
    True
    """
    features, least = table.n_numeric, min(table.counts.values())
    names, lines = list(DEFAULT), []
    if len(table) > MANY_ROWS:
        names.remove("boot-632+")
        lines.append(f"boot-632+ is left out: with more than {MANY_ROWS:,} rows its 200 fits add little to cv.")
    if features < least and features <= _MOST_FEATURES:
        return names, lines
    reason = f"{least} rows in the smallest class" if features >= least else f"more than {_MOST_FEATURES} take minutes"
    line = f"bayesian is left out: its model needs fewer features ({features}; {reason}). Name it to have it."
    return [name for name in names if name != "bayesian"], [*lines, line]


def check_draws(estimators: Any) -> None:
    """Raise unless one of the estimators has posterior draws.

    Examples
    --------
    >>> check_draws(["resub", "cv"])
    Traceback (most recent call last):
    ValueError: none of the estimators has posterior draws; those that have are bayesian, bayesian-shared, gp-pp...
    """
    if not any(map(_has_draws, read_estimators(estimators).values())):
        names = sorted(entry.name for entry in registered("measure") if _has_draws(entry.make()))
        raise ValueError(f"none of the estimators has posterior draws; those that have are {', '.join(names)}.")


def check_folds(estimators: Mapping[str, Any], y: Any) -> None:
    """Raise if there are too few points for the folds of some of the estimators."""
    largest, n = int(np.unique(np.asarray(y), return_counts=True)[1].max()), len(y)
    folded = {name: estimator for name, estimator in estimators.items() if isinstance(estimator, CrossValidation)}
    short = [name for name, cv in folded.items() if largest < cv.folds or (cv.interval and n < 2 * cv.folds)]
    if short:
        folds = folded[short[0]].folds
        raise ValueError(
            f"too few rows for {folds} folds: {', '.join(short)} cannot be computed with {n} rows, {largest} in the "
            "largest class. Name other estimators, such as loo or boot-632."
        )


def _has_draws(estimator: Any) -> bool:
    return isinstance(estimator, Measure) and bool(estimator.has_draws)
