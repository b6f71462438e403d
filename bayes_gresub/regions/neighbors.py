"""Votes of the k nearest training points by one matrix product; used by the kNN region and the kNN posterior."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from bayes_gresub.data.arrays import Floats, Ints

CHUNK_ELEMENTS = 2**16
"""Distances held at once: few enough to stay in a processor's cache, as long as MIN_ROWS allows."""

MIN_ROWS = 256
"""Least number of queries per chunk, so that chunks do not become a loop over points."""

_TIE = 1e-12


class NeighborVotes:
    """Class votes of the k nearest points; points tied at the k-th distance share the remaining votes.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    codes : ndarray of shape (n,)
        Class codes 0..c-1.
    n_classes : int
    weights : ndarray of shape (n,), optional
        Weight of each point's vote; equal by default.
    single : bool, default False
        Rank in single precision, which is twice as fast; cases that rounding could decide use double precision.
    """

    def __init__(
        self, points: Floats, codes: Ints, n_classes: int, weights: Floats | None = None, single: bool = False
    ) -> None:
        self.dtype: Any = np.float32 if single else np.float64
        self.center = points.mean(axis=0)
        # In units of the farthest point: neighbours are the same, and no square overflows or underflows.
        self.unit = np.abs(points - self.center).max() or 1.0
        self.points = (points - self.center) / self.unit
        half_square = 0.5 * np.einsum("nd,nd->n", self.points, self.points)
        # Half the squared distance minus a constant per row is enough to rank, and is one product with this matrix.
        self.ranking = np.vstack([-self.points.T, half_square]).astype(self.dtype)
        self.largest_square = 2 * half_square.max()
        # The last column counts the chosen points themselves.
        self.ballots = np.zeros((len(points), n_classes + 1))
        self.ballots[np.arange(len(points)), codes] = 1.0 if weights is None else weights
        self.ballots[:, -1] = 1.0
        # Counts are whole numbers, which single precision holds exactly; weights are not.
        self.quick_ballots = self.ballots.astype(self.dtype if weights is None else np.float64)

    def __call__(self, queries: Floats, k: int, rows: Ints | None = None) -> Floats:
        """Return the share of votes per class at `queries`, shape (m, c).

        `rows` gives the index of the training point that each query is; that point always counts.
        """
        step = max(MIN_ROWS, CHUNK_ELEMENTS // len(self.ballots))
        parts = [
            self._shares(queries[i : i + step], k, None if rows is None else rows[i : i + step])
            for i in range(0, len(queries), step)
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _shares(self, queries: Floats, k: int, rows: Ints | None) -> Floats:
        centered = (queries - self.center) / self.unit
        left = np.empty((len(queries), queries.shape[1] + 1), dtype=self.dtype)
        left[:, :-1] = centered
        left[:, -1] = 1.0
        rank = left @ self.ranking
        if rows is not None:
            rank[np.arange(len(rows)), rows] = -np.inf
        last = np.partition(rank, k - 1, axis=1)[:, k - 1]
        # A bound on the rounding error of the product; points within it could be among the k nearest.
        square = np.einsum("md,md->m", centered, centered) + self.largest_square
        slack = 8 * float(np.finfo(self.dtype).eps) * (queries.shape[1] + 1) * square
        near = rank <= (last + slack).astype(self.dtype)[:, None]
        votes = (near.astype(self.quick_ballots.dtype) @ self.quick_ballots).astype(float)
        unsure = np.flatnonzero(votes[:, -1] > k)
        if len(unsure):
            votes[unsure, :-1] = self._exact_votes(centered[unsure], k, None if rows is None else rows[unsure])
        shares = votes[:, :-1]
        return shares / shares.sum(axis=1, keepdims=True)

    def _exact_votes(self, centered: Floats, k: int, rows: Ints | None) -> Floats:
        """Return the votes from distances computed by differences, which are equal for equal points."""
        distance = cdist(centered, self.points)
        if rows is not None:
            distance[np.arange(len(rows)), rows] = -1.0
        last = np.partition(distance, k - 1, axis=1)[:, k - 1 : k]
        margin = _TIE * np.abs(last)
        sure = (distance < last - margin).astype(float) @ self.ballots
        near = (distance <= last + margin).astype(float) @ self.ballots
        share = (k - sure[:, -1:]) / (near[:, -1:] - sure[:, -1:])
        return np.asarray(sure + share * (near - sure))[:, :-1]
