"""Cases as arrays: what the combination is learned from, and what it is judged by."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from bayes_gresub.assessing.combination import as_inputs
from bayes_gresub.data.arrays import Bools, Floats

OF_REFITS = (
    "zero",
    "plus",
    "zero_apart",
    "zero_vote",
    "vote_apart",
    "refits_apart",
    "inverse_refits",
    "zero_posterior3",
    "zero_posterior9",
)
"""Clues that only refits give."""


@dataclass(frozen=True, eq=False)
class CaseTable:
    """One row a case.

    Attributes
    ----------
    names : tuple of str
        Clues.
    inputs : ndarray of shape (m, d)
        Clues as networks see them, before they are standardised.
    clues : ndarray of shape (m, d)
        As they are.
    n : ndarray of shape (m,)
        Points, or groups of points, of the training set.
    n_wrong, n_truth : ndarray of shape (m,)
        Errors among the points of the truth.
    population : ndarray of shape (m,)
        The kind of simulated populations, or the data set; copies of one data set have one name.
    is_real : ndarray of shape (m,)
    rule, data, size, repetition : ndarray of shape (m,)
    """

    names: tuple[str, ...]
    inputs: Floats
    clues: Floats
    n: Floats
    n_wrong: Floats
    n_truth: Floats
    population: Any
    is_real: Bools
    rule: Any
    data: Any
    size: Any
    repetition: Any

    def __len__(self) -> int:
        return len(self.n)

    @property
    def truth(self) -> Floats:
        """Return the observed true errors."""
        return self.n_wrong / self.n_truth

    def part(self, rows: Any) -> CaseTable:
        """Return some of the cases."""
        values = {part.name: getattr(self, part.name) for part in fields(self)}
        return CaseTable(**{k: v if k == "names" else v[rows] for k, v in values.items()})


def read_cases(folders: Iterable[Path], with_refits: bool) -> CaseTable:
    """Return the cases of all files in the folders; those whose rule could not be refitted are left out."""
    cases: list[dict[str, Any]] = []
    for folder in folders:
        for path in sorted(Path(folder).glob("*.json")):
            cases += json.loads(path.read_text())
    return as_table([case for case in cases if "zero" in case["clues"]], with_refits)


def as_table(cases: Sequence[dict[str, Any]], with_refits: bool) -> CaseTable:
    """Return cases as arrays."""
    names = tuple(name for name in cases[0]["clues"] if with_refits or name not in OF_REFITS)
    values = np.array([[case["clues"][name] for name in names] for case in cases], dtype=float)

    def column(name: str, default: Any = None) -> Any:
        return np.array([case.get(name, default) for case in cases])

    return CaseTable(
        names,
        as_inputs(values, names),
        values,
        np.exp(values[:, names.index("log_n")]),
        column("n_wrong").astype(float),
        column("n_truth").astype(float),
        column("kind"),
        np.array(["data" in case for case in cases]),
        column("rule"),
        column("data", ""),
        column("n"),
        column("repetition", -1),
    )
