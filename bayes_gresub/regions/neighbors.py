"""Votes of the k nearest training points by matrix products; used by the kNN region and the kNN posterior."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.regions.blas_threads import one_blas_thread

CHUNK_ELEMENTS = 2**16
"""Distances held at once: few enough to stay in a processor's cache, as long as MIN_ROWS allows."""

MIN_ROWS = 256
"""Least number of queries per chunk, so that chunks do not become a loop over points."""

TILED_FROM = 4096
"""Number of points from which neighbours are searched in tiles."""

_TILE_QUERIES, _TILE_POINTS, _GROUP = 256, 4096, 32
"""Queries and points in a tile, whose distances fit into a processor's cache, and points in a group."""

_SPARE_GROUPS = 4
"""Groups searched beyond the k nearest, so that rounding seldom leaves the k nearest points undecided."""

_EXACT_ELEMENTS = 2**22
"""Distances held at once if all of them are computed by differences."""

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
        self._tiled: dict[Any, Floats] = {}
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
        # Every group that is searched needs a nearest point.
        in_tiles = len(self.points) >= max(TILED_FROM, 2 * _GROUP * (k + _SPARE_GROUPS + 1))
        step = _TILE_QUERIES if in_tiles else max(MIN_ROWS, CHUNK_ELEMENTS // len(self.points))
        shares = self._tiled_shares if in_tiles else self._shares
        with one_blas_thread() if in_tiles else nullcontext():
            parts = [
                shares(queries[i : i + step], k, None if rows is None else rows[i : i + step])
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
        slack = self._rounding(centered, self.dtype)
        near = rank <= (last + slack).astype(self.dtype)[:, None]
        votes = (near.astype(self.quick_ballots.dtype) @ self.quick_ballots).astype(float)
        unsure = np.flatnonzero(votes[:, -1] > k)
        if len(unsure):
            votes[unsure, :-1] = self._exact_votes(centered[unsure], k, None if rows is None else rows[unsure])
        shares = votes[:, :-1]
        return shares / shares.sum(axis=1, keepdims=True)

    def _rounding(self, centered: Floats, dtype: Any) -> Floats:
        """Return a bound on the rounding error of the product; points within it could be among the k nearest."""
        square = np.einsum("md,md->m", centered, centered) + self.largest_square
        return np.asarray(8 * float(np.finfo(dtype).eps) * (centered.shape[1] + 1) * square)

    def _tiled_shares(self, queries: Floats, k: int, rows: Ints | None) -> Floats:
        r"""Return the shares by a search for the groups of points that hold the k nearest.

        The points are in groups of 32. If m is the k-th smallest of the groups' least distances, k points are within m,
        so the k nearest points lie in the groups whose least distance is at most m:

        .. math:: \{j: d_j \le d_{(k)}\} \subseteq \bigcup \{g: \min_{j \in g} d_j \le m\}, \qquad d_{(k)} \le m

        Least distances are one product and one minimum per tile, in single precision; distances in the groups that
        hold the nearest points are computed by differences. Queries that rounding could decide are searched once more
        in double precision, and those that are still undecided, because of many ties, use the distances to all points.
        """
        centered = (queries - self.center) / self.unit
        votes = np.empty((len(queries), self.ballots.shape[1] - 1))
        left = np.arange(len(queries))
        for dtype in (np.float32, np.float64):
            if not len(left):
                break
            own = None if rows is None else rows[left]
            decided, decided_votes = self._group_votes(centered[left], k, own, dtype)
            votes[left[decided]] = decided_votes
            left = left[~decided]
        step = max(1, _EXACT_ELEMENTS // len(self.points))
        for i in range(0, len(left), step):
            part = left[i : i + step]
            votes[part] = self._exact_votes(centered[part], k, None if rows is None else rows[part])
        return votes / votes.sum(axis=1, keepdims=True)

    def _group_votes(self, centered: Floats, k: int, rows: Ints | None, dtype: Any) -> tuple[np.ndarray, Floats]:
        """Return which queries the groups with the least distances decide, and the votes of these queries."""
        least = self._least_of_groups(centered, rows, dtype)
        n_groups = k + _SPARE_GROUPS
        order = np.argpartition(least, n_groups, axis=1)[:, : n_groups + 1]
        least = np.take_along_axis(least, order, axis=1).astype(float)
        # The last of these groups is the nearest one that is not searched.
        kth = np.partition(least, k - 1, axis=1)[:, k - 1]
        decided = least[:, n_groups] > kth + 2 * self._rounding(centered, dtype)
        members = self._members(order[decided, :n_groups])
        known = members < len(self.points)
        members[~known] = 0
        differences = self.points[members]
        differences -= centered[decided][:, None, :]
        distance = np.sqrt(np.einsum("mgd,mgd->mg", differences, differences))
        if rows is not None:
            distance[members == rows[decided][:, None]] = -1.0
        distance[~known] = np.inf
        sure, near = _within(distance, k)
        ballots = self.ballots[members]
        return decided, _shared_votes(np.einsum("mg,mgc->mc", sure, ballots), np.einsum("mg,mgc->mc", near, ballots), k)

    def _least_of_groups(self, centered: Floats, rows: Ints | None, dtype: Any) -> Floats:
        """Return the least ranking distance of each query to a point of each group, shape (m, groups)."""
        left = np.empty((len(centered), centered.shape[1] + 1), dtype=dtype)
        left[:, :-1] = centered
        left[:, -1] = 1.0
        tiles = self._tiles(dtype)
        per_tile = _TILE_POINTS // _GROUP
        least = np.empty((len(centered), len(tiles) * per_tile), dtype=dtype)
        rank = np.empty((len(centered), _TILE_POINTS), dtype=dtype)
        for number, tile in enumerate(tiles):
            np.matmul(left, tile, out=rank)
            if rows is not None:
                inside = np.flatnonzero(rows // _TILE_POINTS == number)
                rank[inside, rows[inside] % _TILE_POINTS] = -np.inf
            # Points of a group lie per_tile apart, so that the minimum runs along whole rows.
            groups = rank.reshape(len(centered), _GROUP, per_tile)
            groups.min(axis=1, out=least[:, number * per_tile : (number + 1) * per_tile])
        return least

    def _members(self, groups: Ints) -> Ints:
        """Return the points of groups (m, g), shape (m, 32 g); the last tile may name points that do not exist."""
        per_tile = _TILE_POINTS // _GROUP
        first = groups // per_tile * _TILE_POINTS + groups % per_tile
        return (first[:, :, None] + np.arange(_GROUP) * per_tile).reshape(len(groups), groups.shape[1] * _GROUP)

    def _tiles(self, dtype: Any) -> Floats:
        """Return the ranking matrix in tiles, shape (tiles, d + 1, points in a tile), infinitely far where padded."""
        if dtype not in self._tiled:
            n, d = self.points.shape
            n_tiles = -(-n // _TILE_POINTS)
            padded = np.zeros((d + 1, n_tiles * _TILE_POINTS), dtype=dtype)
            padded[:-1, :n] = -self.points.T
            padded[-1, :n] = 0.5 * np.einsum("nd,nd->n", self.points, self.points)
            padded[-1, n:] = np.inf
            tiles = padded.reshape(d + 1, n_tiles, _TILE_POINTS).swapaxes(0, 1)
            self._tiled[dtype] = np.ascontiguousarray(tiles)
        return self._tiled[dtype]

    def _exact_votes(self, centered: Floats, k: int, rows: Ints | None) -> Floats:
        """Return the votes from distances computed by differences, which are equal for equal points."""
        distance = cdist(centered, self.points)
        if rows is not None:
            distance[np.arange(len(rows)), rows] = -1.0
        sure, near = _within(distance, k)
        return _shared_votes(sure @ self.ballots, near @ self.ballots, k)


def _within(distance: Floats, k: int) -> tuple[Floats, Floats]:
    """Return as 0 and 1 which points are nearer than the k-th distance, and which are no farther."""
    last = np.partition(distance, k - 1, axis=1)[:, k - 1 : k]
    margin = _TIE * np.abs(last)
    return (distance < last - margin).astype(float), (distance <= last + margin).astype(float)


def _shared_votes(sure: Floats, near: Floats, k: int) -> Floats:
    """Return the votes per class if tied points share the votes left; the last column counts points."""
    share = (k - sure[:, -1:]) / (near[:, -1:] - sure[:, -1:])
    return np.asarray(sure + share * (near - sure))[:, :-1]
