"""Measures fitted to a sample, kept so that those which judge several classifiers are fitted once."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from bayes_gresub.measures.measure import Measure


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted measure, with the warnings and the seconds of its fit."""

    measure: Any
    warnings: tuple[warnings.WarningMessage, ...]
    seconds: float


def fit_measure(measure: Measure, X: Any, y: Any, sample_weight: Any) -> Fit:
    """Return a measure fitted to a sample."""
    started = perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = measure.fit(X, y, sample_weight=sample_weight)
    return Fit(fitted, tuple(caught), perf_counter() - started)


class LatestFits:
    """The measures fitted to the sample that was asked for last."""

    def __init__(self) -> None:
        # One attribute, so threads never see the name of one sample beside the fits of another.
        self._latest: tuple[Hashable, dict[str, Fit]] = (None, {})

    def of(self, sample: Hashable) -> dict[str, Fit]:
        """Return the measures fitted to a sample, by name; those of another sample are dropped."""
        latest = self._latest
        if latest[0] != sample:
            latest = self._latest = (sample, {})
        return latest[1]
