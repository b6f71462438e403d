"""Votes of the k nearest training points by one matrix product; used by the kNN region and the kNN posterior."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayes_gresub.components import Floats, Ints

CHUNK_ELEMENTS = 2**15
"""Distances held at once: few enough to stay in a processor's cache."""


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
    single : bool, default False
        Rank in single precision: twice as quick, and distances that agree to seven digits count as tied.
    """

    def __init__(
        self, points: Floats, codes: Ints, n_classes: int, weights: Floats | None = None, single: bool = False
    ) -> None:
        self.dtype: Any = np.float32 if single else np.float64
        self.center = points.mean(axis=0)
        centered = points - self.center
        half_square = 0.5 * np.einsum("nd,nd->n", centered, centered)
        # Half the squared distance less a constant of the row is enough to rank, and is one product with this.
        self.ranking = np.vstack([-centered.T, half_square]).astype(self.dtype)
        self.largest_square = 2 * half_square.max()
        # The last column counts the chosen points themselves.
        self.ballots = np.zeros((len(points), n_classes + 1))
        self.ballots[np.arange(len(points)), codes] = 1.0 if weights is None else weights
        self.ballots[:, -1] = 1.0
        self.ballots = self.ballots.astype(self.dtype)

    def __call__(self, queries: Floats, k: int, own: Ints | None = None) -> Floats:
        """Return the share of votes per class at `queries`, shape (m, c).

        `own` gives for each query the index of the training point it is; that point always counts, by its index.
        """
        step = max(1, CHUNK_ELEMENTS // len(self.ballots))
        parts = [
            self._votes(queries[i : i + step], k, None if own is None else own[i : i + step])
            for i in range(0, len(queries), step)
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _votes(self, queries: Floats, k: int, own: Ints | None) -> Floats:
        centered = np.empty((len(queries), queries.shape[1] + 1), dtype=self.dtype)
        np.subtract(queries, self.center, out=centered[:, :-1], casting="same_kind")
        centered[:, -1] = 1.0
        rank = centered @ self.ranking
        if own is not None:
            rank[np.arange(len(own)), own] = -np.inf
        last = np.partition(rank, k - 1, axis=1)[:, k - 1]
        # Equal distances come out of the product with rounding errors.
        square = np.einsum("md,md->m", centered, centered) + self.largest_square
        slack = 4 * float(np.finfo(self.dtype).eps) * queries.shape[1] * square
        counted = (rank <= (last + slack)[:, None]).astype(self.dtype) @ self.ballots
        votes = counted[:, :-1]
        tied = np.flatnonzero(counted[:, -1] > k)
        if len(tied):
            sure = (rank[tied] < (last - slack)[tied][:, None]).astype(self.dtype) @ self.ballots
            share = (k - sure[:, -1]) / (counted[tied, -1] - sure[:, -1])
            votes[tied] = sure[:, :-1] + share[:, None] * (votes[tied] - sure[:, :-1])
        return votes / votes.sum(axis=1, keepdims=True)
