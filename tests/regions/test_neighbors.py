"""Votes of the nearest among many points, searched in tiles, equal those of all distances, ties included."""

import threading

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_info

from bayes_gresub.regions import neighbors
from bayes_gresub.regions.blas_threads import one_blas_thread
from bayes_gresub.regions.neighbors import NeighborVotes

N = neighbors.TILED_FROM + 700


def votes_by_sorting(points, codes, n_classes, queries, k, rows=None, weights=None):
    """Return the shares by sorting all distances of one query after the other."""
    weights = np.ones(len(points)) if weights is None else weights
    shares = np.zeros((len(queries), n_classes))
    for number, distance in enumerate(cdist(queries, points)):
        if rows is not None:
            distance[rows[number]] = -1
        kth = np.sort(distance)[k - 1]
        is_tied = np.isclose(distance, kth, rtol=1e-12, atol=0)
        is_nearer = (distance < kth) & ~is_tied
        count = is_nearer + is_tied * (k - is_nearer.sum()) / is_tied.sum()
        shares[number] = np.bincount(codes, count * weights, n_classes)
    return shares / shares.sum(axis=1, keepdims=True)


def points_of(kind, d, rng):
    points = rng.normal(size=(N, d))
    if kind == "repeated rows":
        points[N // 2 :] = points[: N - N // 2]
    elif kind == "whole numbers":
        points = np.round(points)
    elif kind == "one outlier":
        points[0] = 1e5
    elif kind == "far from zero":
        points += 1e4
    elif kind == "all equal":
        points[:] = 1.0
    return points


KINDS = ("continuous", "repeated rows", "whole numbers", "one outlier", "far from zero", "all equal")


every_case = pytest.mark.parametrize(("kind", "d", "k"), [(kind, d, k) for kind in KINDS for d, k in ((2, 3), (10, 7))])


@every_case
def test_votes_among_many_points_are_those_of_all_distances(kind, d, k):
    rng = np.random.default_rng(0)
    points, codes = points_of(kind, d, rng), rng.integers(3, size=N)
    queries = points[rng.integers(N, size=60)] + rng.normal(scale=0.5, size=(60, d))
    expected = votes_by_sorting(points, codes, 3, queries, k)
    np.testing.assert_allclose(NeighborVotes(points, codes, 3, single=True)(queries, k), expected, atol=1e-12)


@every_case
def test_votes_at_training_points_count_the_point_itself(kind, d, k):
    rng = np.random.default_rng(1)
    points, codes = points_of(kind, d, rng), rng.integers(3, size=N)
    rows = rng.integers(N, size=60)
    expected = votes_by_sorting(points, codes, 3, points[rows], k, rows)
    np.testing.assert_allclose(NeighborVotes(points, codes, 3)(points[rows], k, rows), expected, atol=1e-12)


def test_weights_multiply_votes_among_many_points():
    rng = np.random.default_rng(2)
    points, codes, weights = rng.normal(size=(N, 4)), rng.integers(2, size=N), rng.random(N)
    queries = rng.normal(size=(60, 4))
    expected = votes_by_sorting(points, codes, 2, queries, 5, weights=weights)
    np.testing.assert_allclose(NeighborVotes(points, codes, 2, weights)(queries, 5), expected, atol=1e-12)


def test_tiles_give_the_votes_of_one_product_to_the_last_digit(monkeypatch):
    rng = np.random.default_rng(3)
    votes = NeighborVotes(rng.normal(size=(N, 6)), rng.integers(2, size=N), 2, single=True)
    queries = rng.normal(size=(500, 6))
    in_tiles = votes(queries, 3)
    monkeypatch.setattr(neighbors, "TILED_FROM", N + 1)
    np.testing.assert_array_equal(votes(queries, 3), in_tiles)


def test_more_neighbours_than_groups_are_found_without_tiles():
    rng = np.random.default_rng(4)
    points, codes = rng.normal(size=(N, 3)), rng.integers(2, size=N)
    shares = NeighborVotes(points, codes, 2)(np.zeros((2, 3)), N)
    np.testing.assert_allclose(shares, np.tile(np.bincount(codes) / N, (2, 1)))


def blas_threads():
    return {pool["filepath"]: pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_products_run_on_one_blas_thread_and_leave_their_number_as_it_was():
    before = blas_threads()
    with one_blas_thread():
        assert set(blas_threads().values()) == {1}
    assert blas_threads() == before


def test_overlapping_blocks_of_several_threads_leave_the_number_of_blas_threads_as_it_was():
    before = blas_threads()
    entered, leave = threading.Event(), threading.Event()

    def wait():
        with one_blas_thread():
            entered.set()
            leave.wait(10)

    other = threading.Thread(target=wait)
    other.start()
    entered.wait(10)
    with one_blas_thread():
        leave.set()
        other.join(10)
    assert blas_threads() == before
