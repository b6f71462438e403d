"""Cases as arrays: what the combination is learned from, and what it is judged by."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Self

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
    clues : ndarray of shape (m, d)
    n_wrong, n_truth : ndarray of shape (m,)
        Errors among the points of the truth.
    population : ndarray of shape (m,)
        The kind of simulated populations, or the data set; copies of one data set have one name.
    data : ndarray of shape (m,)
        The data set itself; empty for simulated populations.
    rule : ndarray of shape (m,)
    size : ndarray of shape (m,)
        Rows of the training set.
    repetition : ndarray of shape (m,)
        Of the real-data benchmark; -1 for cases that are not training sets of that.
    """

    names: tuple[str, ...]
    clues: Floats
    n_wrong: Floats
    n_truth: Floats
    population: Any
    data: Any
    rule: Any
    size: Any
    repetition: Any

    def __len__(self) -> int:
        return len(self.n_wrong)

    @cached_property
    def inputs(self) -> Floats:
        """Return the clues as networks see them, before they are standardised."""
        return as_inputs(self.clues, self.names)

    @property
    def n(self) -> Floats:
        """Return the points, or groups of points, of the training sets."""
        return np.asarray(np.exp(self.clues[:, self.names.index("log_n")]))

    @property
    def truth(self) -> Floats:
        """Return the observed true errors."""
        return self.n_wrong / self.n_truth

    @property
    def is_real(self) -> Bools:
        """Return whether the rows come from a real data set, perhaps with another target."""
        return np.asarray(self.data != "")

    @property
    def is_judged(self) -> Bools:
        """Return whether the training sets are those of the real-data benchmark."""
        return np.asarray(self.repetition >= 0)

    def part(self, rows: Any) -> Self:
        """Return some of the cases."""
        values = {part.name: getattr(self, part.name) for part in fields(self)}
        return type(self)(**{name: value if name == "names" else value[rows] for name, value in values.items()})

    def without_refits(self) -> Self:
        """Return the cases without the clues that only refits give."""
        kept = [place for place, name in enumerate(self.names) if name not in OF_REFITS]
        values = {part.name: getattr(self, part.name) for part in fields(self)}
        return type(self)(**values | {"names": tuple(self.names[k] for k in kept), "clues": self.clues[:, kept]})

    def write(self, path: Path) -> None:
        """Write the cases to one file of plain numbers and names, clues in single precision."""
        values = {part.name: np.asarray(getattr(self, part.name)) for part in fields(self)}
        values["clues"] = values["clues"].astype(np.float32)
        np.savez_compressed(path, **values)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the cases of a file."""
        with np.load(path, allow_pickle=False) as stored:
            values = {name: stored[name] for name in stored.files}
        names, clues = tuple(values.pop("names").tolist()), values.pop("clues").astype(float)
        return cls(names=names, clues=clues, **values)


def collect(folders: Iterable[Path]) -> CaseTable:
    """Return the cases of all files in the folders; those whose rule could not be refitted are left out."""
    cases: list[dict[str, Any]] = []
    for folder in folders:
        for path in sorted(folder.glob("*.json")):
            cases += json.loads(path.read_text())
    return as_table([case for case in cases if "zero" in case["clues"]])


def as_table(cases: Sequence[dict[str, Any]]) -> CaseTable:
    """Return cases as arrays."""
    names = tuple(cases[0]["clues"])

    def column(name: str, default: Any = None) -> Any:
        return np.array([case.get(name, default) for case in cases])

    return CaseTable(
        names,
        np.array([[case["clues"][name] for name in names] for case in cases], dtype=float),
        column("n_wrong").astype(float),
        column("n_truth").astype(float),
        column("kind"),
        column("data", ""),
        column("rule"),
        column("n"),
        column("repetition", -1),
    )
