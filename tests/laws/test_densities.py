"""Densities of components by one matrix product agree with SciPy's."""

import numpy as np
import pytest
from scipy import stats

from bayes_gresub.laws.components import Components, StudentT
from bayes_gresub.laws.densities import Densities

K = 6


def centers_and_points(d, offset=0.0):
    rng = np.random.default_rng(d)
    return offset + 2.0 * rng.normal(size=(K, d)), offset + 5.0 * rng.normal(size=(20, d))


def factors(d):
    rng = np.random.default_rng([d, 1])
    root = rng.normal(size=(K, d, d + 3)) * rng.uniform(0.1, 3.0, (K, 1, 1))
    return np.linalg.cholesky(root @ root.swapaxes(1, 2))


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("d", [1, 3, 8])
def test_normal_with_covariance_matrices(d, offset):
    (centers, points), spread = centers_and_points(d, offset), factors(d)
    expected = [stats.multivariate_normal(c, T @ T.T).logpdf(points) for c, T in zip(centers, spread, strict=True)]
    result = Densities(Components(centers, spread, np.arange(K)))(points)
    np.testing.assert_allclose(result, np.transpose(expected), rtol=1e-7 if offset else 1e-11)


@pytest.mark.parametrize("d", [1, 3, 8])
def test_normal_with_deviations(d):
    (centers, points), spread = centers_and_points(d), np.random.default_rng(2).uniform(0.2, 3.0, (K, d))
    expected = [stats.norm(c, s).logpdf(points).sum(axis=1) for c, s in zip(centers, spread, strict=True)]
    np.testing.assert_allclose(
        Densities(Components(centers, spread, np.arange(K)))(points), np.transpose(expected), rtol=1e-11
    )


def test_normal_with_one_deviation_for_each_group():
    (centers, points), spread, group = centers_and_points(4), np.array([0.5, 3.0]), np.array([0, 1, 1, 0, 0, 1])
    expected = [stats.norm(c, spread[g]).logpdf(points).sum(axis=1) for c, g in zip(centers, group, strict=True)]
    np.testing.assert_allclose(
        Densities(Components(centers, spread, group))(points), np.transpose(expected), rtol=1e-11
    )


def test_spreads_that_no_component_has_do_not_matter():
    centers, points = centers_and_points(2)
    spread = np.stack([np.eye(2), np.zeros((2, 2)), 2 * np.eye(2)])
    result = Densities(Components(centers, spread, np.array([0, 2, 2, 0, 0, 2])))(points)
    assert np.isfinite(result).all()


@pytest.mark.parametrize("dof", [2.5, np.array([1.0, 2.0, 3.0, 8.0, 30.0, 200.0])], ids=["one", "each"])
def test_student_t(dof):
    (centers, points), spread = centers_and_points(3), factors(3)
    dofs = np.broadcast_to(dof, K)
    expected = [
        stats.multivariate_t(c, T @ T.T, df=v).logpdf(points) for c, T, v in zip(centers, spread, dofs, strict=True)
    ]
    result = Densities(Components(centers, spread, np.arange(K), StudentT(dof)))(points)
    np.testing.assert_allclose(result, np.transpose(expected), rtol=1e-11)


def test_single_precision_is_near_double_precision():
    """Within 1e-5 of the squared distance, at points of up to about 50 standard deviations."""
    (centers, points), spread = centers_and_points(8, 1e3), factors(8)
    components = Components(centers, spread, np.arange(K))
    single, double = Densities(components, np.float32)(points), Densities(components)(points)
    assert single.dtype == np.float32
    assert (np.abs(single - double) <= 1e-5 * (np.abs(double) + 1)).all()
