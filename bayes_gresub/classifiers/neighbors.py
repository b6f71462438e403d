"""Votes of the k nearest training points by one matrix product; used by the kNN region and the kNN posterior."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayes_gresub.components import Floats, Ints

CHUNK_ELEMENTS = 2**22
"""Distances held at once (32 MiB)."""


class NeighborVotes:
    """Class votes of the k nearest points; points tied at the k-th distance share what is left of the k votes.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    codes : ndarray of shape (n,)
        Class codes 0..c-1.
    n_classes : int
    weights : ndarray of shape (n,), optional
        Weight of each point's vote; equal by default.
    """

    def __init__(self, points: Floats, codes: Ints, n_classes: int, weights: Floats | None = None) -> None:
        self.center = points.mean(axis=0)
        self.n_classes = n_classes
        # Classes stand in one piece, so that votes are sums over slices.
        self.order = np.argsort(codes, kind="stable")
        self.points = (points - self.center)[self.order]
        self.half_square = 0.5 * np.einsum("nd,nd->n", self.points, self.points)
        self.weights = None if weights is None else weights[self.order]
        self.present, self.starts = np.unique(codes[self.order], return_index=True)

    def __call__(self, queries: Floats, k: int, own: Ints | None = None) -> Floats:
        """Return the share of votes per class at `queries`, shape (m, c).

        `own` gives for each query the index of the training point it is; that point always counts, by its index.
        """
        step = max(1, CHUNK_ELEMENTS // len(self.points))
        position = None
        if own is not None:
            place = np.empty(len(self.order), dtype=np.intp)
            place[self.order] = np.arange(len(self.order))
            position = place[own]
        parts = [
            self._votes(queries[i : i + step], k, None if position is None else position[i : i + step])
            for i in range(0, len(queries), step)
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _votes(self, queries: Floats, k: int, own: Ints | None) -> Floats:
        centered = queries - self.center
        # Half the squared distance less a constant of the row: enough to rank, and one product.
        gap = centered @ self.points.T
        np.subtract(self.half_square, gap, out=gap)
        if own is not None:
            gap[np.arange(len(own)), own] = -np.inf
        largest = np.partition(gap, k - 1, axis=1)[:, k - 1]
        # Equal distances come out of the product with rounding errors.
        size = np.einsum("md,md->m", centered, centered) + 2 * self.half_square.max(initial=0.0)
        slack = 4 * np.finfo(float).eps * queries.shape[1] * size
        near = gap <= (largest + slack)[:, None]
        votes = self._by_class(near)
        tied = np.flatnonzero(np.count_nonzero(near, axis=1) > k)
        if len(tied):
            sure = gap[tied] < (largest - slack)[tied][:, None]
            n_sure = np.count_nonzero(sure, axis=1)
            n_tied = np.count_nonzero(near[tied], axis=1) - n_sure
            share = ((k - n_sure) / n_tied)[:, None]
            votes[tied] = self._by_class(sure) + share * (votes[tied] - self._by_class(sure))
        return votes / votes.sum(axis=1, keepdims=True)

    def _by_class(self, chosen: NDArray[np.bool_]) -> Floats:
        votes = np.zeros((len(chosen), self.n_classes))
        if self.weights is None:
            ends = np.append(self.starts[1:], chosen.shape[1])
            for code, start, end in zip(self.present, self.starts, ends, strict=True):
                votes[:, code] = np.count_nonzero(chosen[:, start:end], axis=1)
        else:
            votes[:, self.present] = np.add.reduceat(chosen * self.weights, self.starts, axis=1)
        return votes
