"""The training rows of a shortcut, and which of them are left out together. Nothing is trained here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints, Labels

CHUNK_ELEMENTS = 4_000_000
"""Numbers held at once in one array."""


def as_dense(values: Any) -> Floats:
    """Return coefficients of a classifier as an array; those learned from sparse rows are sparse."""
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values)


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Points with their classes, in blocks; the rows of a block are left out together.

    Attributes
    ----------
    features : ndarray of shape (n, d)
    codes : ndarray of shape (n,)
        Class of each row, as a position in `classes`.
    classes : ndarray of shape (c,)
    block : ndarray of shape (n,)
        Number of the block of each row, from 0 to g - 1.
    """

    features: Floats
    codes: Ints
    classes: Labels
    block: Ints

    @property
    def labels(self) -> Labels:
        """Return the labels themselves."""
        return np.asarray(self.classes[self.codes])

    @property
    def n_classes(self) -> int:
        """Return the number of classes."""
        return len(self.classes)

    @cached_property
    def members(self) -> list[Ints]:
        """Return the rows of each block."""
        order = np.argsort(self.block, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.block))[:-1])

    @cached_property
    def sizes(self) -> Ints:
        """Return the number of rows of each block, shape (g,)."""
        return np.bincount(self.block)

    @cached_property
    def counts(self) -> Ints:
        """Return the number of rows of each class, shape (c,)."""
        return np.bincount(self.codes, minlength=self.n_classes)

    @cached_property
    def removed(self) -> Ints:
        """Return the rows of each class in each block, shape (g, c)."""
        pairs = self.block * self.n_classes + self.codes
        return np.bincount(pairs, minlength=len(self.sizes) * self.n_classes).reshape(-1, self.n_classes)

    @cached_property
    def kept(self) -> Ints:
        """Return the rows of each class that each block leaves, shape (g, c)."""
        return self.counts - self.removed

    @cached_property
    def membership(self) -> Floats:
        """Return 1 where a row is of a class, shape (n, c)."""
        return np.eye(self.n_classes)[self.codes]

    def outside(self, block: int) -> Ints:
        """Return the rows that are left if a block is left out."""
        return np.flatnonzero(self.block != block)

    def sums(self, values: Floats) -> Floats:
        """Return the sum over each block of values (n, ...)."""
        totals = np.zeros((len(self.sizes), *values.shape[1:]))
        np.add.at(totals, self.block, values)
        return totals

    def by_size(self, numbers_per_row: int, code: int | None = None) -> Iterator[tuple[Ints, Ints]]:
        """Return rows whose blocks have one size m > 0, shape (q,), and the rows of their blocks, (q, m), in chunks.

        With a class code only the rows of that class count as those of a block. `numbers_per_row` is how many numbers
        the caller holds for a row and a member of its block.
        """
        all_members = self.members
        if code is not None:
            all_members = [members[self.codes[members] == code] for members in all_members]
        sizes = np.array([len(members) for members in all_members])
        for size in np.unique(sizes[sizes > 0]):
            rows = np.flatnonzero(sizes[self.block] == size)
            step = max(1, CHUNK_ELEMENTS // (int(size) * (numbers_per_row + int(size))))
            for begin in range(0, len(rows), step):
                part = rows[begin : begin + step]
                yield part, np.array([all_members[block] for block in self.block[part]])

    def class_weights(self, class_weight: Any) -> Floats:
        """Return the weights of the classes as scikit-learn finds them without each block, shape (g, c)."""
        if class_weight is None:
            return np.ones(self.kept.shape)
        if isinstance(class_weight, str):
            return self.kept.sum(axis=1, keepdims=True) / (self.n_classes * self.kept)
        weights = [float(class_weight.get(label, 1.0)) for label in self.classes.tolist()]
        return np.broadcast_to(np.array(weights), self.kept.shape)
