"""Evidence for what a paper claims of an experiment: z-scores cell by cell, and verdicts in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from scipy.special import ndtr, ndtri

from bayes_gresub.studies.metrics import evaluate, paired_difference
from bayes_gresub.studies.results import StudyResults

if TYPE_CHECKING:
    import pandas as pd

DECIDED = 2.0
"""z-scores beyond which a cell counts for or against a claim."""

_Second = TypeVar("_Second")


@dataclass(frozen=True)
class Evidence:
    """A z-score in one cell, positive if it supports the claim.

    Attributes
    ----------
    where : str
    z : float
        Against the strongest rival if there are several.
    against : float
        How far below 0 it must be to count against the claim: further the more rivals there are, of which one is the
        strongest by chance.
    """

    where: str
    z: float
    against: float = DECIDED


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, how we read it, and the evidence.

    Attributes
    ----------
    quote : str
        The paper's words.
    reading : str
        What was tested.
    evidence : tuple of Evidence
    """

    quote: str
    reading: str
    evidence: tuple[Evidence, ...]

    @property
    def counts(self) -> tuple[int, int, int]:
        """Return in how many cells the claim is borne out, open and contradicted."""
        holds = sum(cell.z >= DECIDED for cell in self.evidence)
        fails = sum(cell.z <= -cell.against for cell in self.evidence)
        return holds, len(self.evidence) - holds - fails, fails

    @property
    def verdict(self) -> str:
        """Return in words whether the run bears the claim out."""
        holds, is_open, fails = self.counts
        total = holds + is_open + fails
        if is_open == total:
            return "open"
        if holds == total:
            return "borne out"
        if fails == total:
            return "contradicted"
        if 2 * is_open >= total:
            return "mostly open"
        if not fails:
            return "borne out where decided"
        if not holds:
            return "contradicted where decided"
        return "borne out in part"


def to_frame(claims: Iterable[Claim]) -> pd.DataFrame:
    """Return claims as a table: how many cells are for, open and against, the range of z, and the verdict."""
    import pandas as pd

    rows = []
    for claim in claims:
        z = np.array([cell.z for cell in claim.evidence if np.isfinite(cell.z)] or [np.nan])
        holds, is_open, fails = claim.counts
        against = [cell.where for cell in claim.evidence if cell.z <= -cell.against]
        rows.append(
            {
                "claim": claim.quote,
                "tested": claim.reading,
                "verdict": claim.verdict,
                "for": holds,
                "open": is_open,
                "against": fails,
                "z_min": z.min(),
                "z_median": np.median(z),
                "z_max": z.max(),
                "cells_against": "; ".join(against),
            }
        )
    return pd.DataFrame(rows)


class ExperimentRun:
    """Evidence from the results of a run.

    Parameters
    ----------
    results : StudyResults
    needed : iterable of str
        Rules and estimators that the claims are about.
    study : str
        The study that has them.
    """

    def __init__(self, results: StudyResults, needed: Iterable[str], study: str) -> None:
        if missing := [name for name in needed if name not in (*results.grid.estimators, *results.grid.rules)]:
            raise ValueError(f"claims need the rules and estimators of {study}; these results lack {missing}.")
        self.results = results
        self.rules = results.grid.rules
        self.sizes = results.grid.sample_sizes

    def bias_below(self, name: str, bound: float, rules: Iterable[str], sizes: Iterable[int]) -> tuple[Evidence, ...]:
        """Return, per cell, the z-score of a bias below a bound."""
        return self._bias(name, bound, -1.0, rules, sizes)

    def bias_above(self, name: str, bound: float, rules: Iterable[str], sizes: Iterable[int]) -> tuple[Evidence, ...]:
        """Return, per cell, the z-score of a bias above a bound."""
        return self._bias(name, bound, 1.0, rules, sizes)

    def unbiased(self, name: str, margin: float, rules: Iterable[str], sizes: Iterable[int]) -> tuple[Evidence, ...]:
        """Return, per cell, the z-score of the size of a bias below a margin."""
        evidence = []
        for rule, n in _product(rules, sizes):
            value = evaluate("absolute_bias", self.results.repetitions(rule, n, name))
            evidence.append(Evidence(f"{rule}, n={n}", _ratio(margin - value.value, value.std_error)))
        return tuple(evidence)

    def less(
        self, name: str, rivals: Iterable[str], metric: str, rules: Iterable[str], sizes: Iterable[int]
    ) -> tuple[Evidence, ...]:
        """Return, per cell, the z-score against the strongest rival."""
        opponents = list(rivals)
        return tuple(
            _weakest(f"{rule}, n={n}", {rival: self._z(name, rival, metric, rule, n) for rival in opponents})
            for rule, n in _product(rules, sizes)
        )

    def more(
        self, name: str, rivals: Iterable[str], metric: str, rules: Iterable[str], sizes: Iterable[int]
    ) -> tuple[Evidence, ...]:
        """Return, per cell, the z-score against the rival that comes nearest."""
        opponents = list(rivals)
        return tuple(
            _weakest(f"{rule}, n={n}", {rival: self._z(rival, name, metric, rule, n) for rival in opponents})
            for rule, n in _product(rules, sizes)
        )

    def less_with(self, better: Iterable[str], worse: Iterable[str], name: str, metric: str) -> tuple[Evidence, ...]:
        """Return z-scores of one estimator's metric with some rules against that with others, sample by sample."""
        evidence = []
        for easier, harder in _product(better, worse):
            for n in self.sizes:
                first, second = (self.results.repetitions(rule, n, name) for rule in (easier, harder))
                value, _ = paired_difference(metric, second, first)
                evidence.append(Evidence(f"{easier} against {harder}, n={n}", _ratio(value.value, value.std_error)))
        return tuple(evidence)

    def falls(self, name: str, metric: str) -> tuple[Evidence, ...]:
        """Return z-scores of a metric at each size against that at the next, whose samples are others."""
        evidence = []
        for rule in self.rules:
            values = [evaluate(metric, self.results.repetitions(rule, n, name)) for n in self.sizes]
            for n, more, first, second in zip(self.sizes, self.sizes[1:], values, values[1:], strict=False):
                error = float(np.hypot(first.std_error, second.std_error))
                evidence.append(Evidence(f"{rule}, n={n} to {more}", _ratio(first.value - second.value, error)))
        return tuple(evidence)

    def _bias(
        self, name: str, bound: float, sign: float, rules: Iterable[str], sizes: Iterable[int]
    ) -> tuple[Evidence, ...]:
        evidence = []
        for rule, n in _product(rules, sizes):
            value = evaluate("bias", self.results.repetitions(rule, n, name))
            evidence.append(Evidence(f"{rule}, n={n}", _ratio(sign * (value.value - bound), value.std_error)))
        return tuple(evidence)

    def _z(self, smaller: str, larger: str, metric: str, rule: str, n: int) -> float:
        first, second = (self.results.repetitions(rule, n, name) for name in (larger, smaller))
        value, _ = paired_difference(metric, first, second)
        return _ratio(value.value, value.std_error)


def _weakest(where: str, scores: dict[str, float]) -> Evidence:
    """Return the evidence against the strongest rival; it is unknown if a rival that might be stronger is."""
    known = {name: z for name, z in scores.items() if np.isfinite(z)}
    strongest = min(known or scores, key=lambda name: scores[name])
    # As many chances to be beaten as rivals (Bonferroni).
    against = float(-ndtri(ndtr(-DECIDED) / len(scores)))
    if len(known) < len(scores) and scores[strongest] > -against:
        return Evidence(where, float("nan"))
    return Evidence(f"{where}: {strongest}", scores[strongest], against)


def _ratio(value: float, error: float) -> float:
    return value / error if error > 0 else float("nan")


def _product(first: Iterable[str], second: Iterable[_Second]) -> list[tuple[str, _Second]]:
    seconds = list(second)
    return [(left, right) for left in first for right in seconds]
