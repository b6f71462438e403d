"""What stays on one side of a split: single points, groups, identical rows. Splits are drawn elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.repeated_rows import identical_rows
from bayes_gresub.data.sample import Sample
from bayes_gresub.resampling.splits import read_groups


def check_repeated_rows(repeated_rows: str) -> None:
    """Raise unless the parameter of this name is valid."""
    if repeated_rows not in ("together", "apart"):
        raise ValueError(
            f"repeated_rows must be 'together' or 'apart'; got {repeated_rows!r}. 'together' keeps identical rows on "
            "one side of a split."
        )


@dataclass(frozen=True, eq=False)
class Units:
    """The units that splits keep whole.

    Attributes
    ----------
    codes : ndarray of shape (n,) or None
        The unit of each point, from 0; None if every point is a unit of its own.
    groups : ndarray of shape (n,) or None
        The groups that the user gave.
    n_repeated_rows : int
        Points whose row equals that of an earlier point.
    """

    codes: Ints | None = None
    groups: Ints | None = None
    n_repeated_rows: int = 0

    @property
    def are_repeated_rows(self) -> bool:
        """Return whether units are identical rows alone, without groups of the user's."""
        return self.codes is not None and self.groups is None

    @property
    def details(self) -> dict[str, float]:
        """Return the number of rows that repeat an earlier one, if there are any."""
        return {"n_repeated_rows": float(self.n_repeated_rows)} if self.n_repeated_rows else {}

    def of_points(self, sample: Sample) -> Ints:
        """Return the unit of each point, its own number if every point is a unit."""
        return np.arange(len(sample.codes)) if self.codes is None else self.codes

    def n_units(self, sample: Sample) -> int:
        """Return the number of units."""
        return len(sample.codes) if self.codes is None else int(self.codes.max()) + 1

    def effective_number(self, weights: Floats) -> float:
        r"""Return the number of units of equal weight whose mean is as precise (Kish 1965).

        .. math:: m = \frac{(\sum_u W_u)^2}{\sum_u W_u^2}, \qquad W_u = \sum_{i \in u} w_i

        It is exact if losses are equal within a unit and independent between units.

        Examples
        --------
        >>> Units(np.array([0, 0, 1, 1])).effective_number(np.ones(4))
        2.0
        """
        masses = weights if self.codes is None else np.bincount(self.codes, weights=weights)
        return float(masses.sum() ** 2 / np.square(masses).sum())


EACH_POINT = Units()
"""Every point is a unit of its own."""


def read_units(sample: Sample, groups: ArrayLike | None, repeated_rows: str) -> Units:
    """Return the units of a sample: groups merged with identical rows, unless these stay apart.

    Two points belong to one unit if a chain of points leads from one to the other in which neighbours share a group or
    a row: the connected components.
    """
    given = None if groups is None else read_groups(groups, sample)
    same = identical_rows(sample.restored(np.arange(len(sample.codes))))
    n_repeated = 0 if same is None else len(same) - int(same.max()) - 1
    if same is None or repeated_rows == "apart":
        return Units(given, given, n_repeated)
    if same.max() == 0:
        raise ValueError(
            "X must have at least two different rows, since identical rows stay on one side of a split; got "
            f"{len(same)} rows that are all the same. Use repeated_rows='apart'."
        )
    if given is None:
        return Units(same, None, n_repeated)
    return Units(_merged(given, same), given, n_repeated)


def _merged(groups: Ints, same: Ints) -> Ints:
    """Return groups joined where they share a row."""
    n_groups, n_rows = int(groups.max()) + 1, int(same.max()) + 1
    links = coo_array((np.ones(len(groups)), (groups, n_groups + same)), shape=(n_groups + n_rows,) * 2)
    n_units, labels = connected_components(links, directed=False)
    if n_units == n_groups:
        # No two groups share a row, so their numbers stay, and with them the folds.
        return groups
    if n_units < 2:
        raise ValueError(
            "groups must hold at least two groups that share no row of X; got identical rows that join all of them. "
            "Use repeated_rows='apart' to keep only the groups together."
        )
    return np.unique(labels[groups], return_inverse=True)[1].astype(np.intp)
