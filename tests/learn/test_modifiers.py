"""Each modifier does to features what its name says, and leaves its input alone."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from benchmarks.learn.feature_law import Marginal, draw_feature_law
from benchmarks.learn.modifiers import MODIFIERS, Curve, InUnits, OneHot, Rotated, Rounded, Warped, WithOutliers

X = np.random.default_rng(0).normal(size=(2000, 4))


@pytest.mark.parametrize("name", MODIFIERS)
def test_rows_stay_and_the_input_is_not_changed(name):
    rng = np.random.default_rng(1)
    before = X.copy()
    changed = MODIFIERS[name][1](X, rng).apply(X, rng)
    assert len(changed) == len(X)
    assert np.isfinite(changed).all()
    np.testing.assert_array_equal(X, before)


def test_warps_keep_the_order_of_each_feature():
    warped = Warped(np.array(list(Curve)), np.zeros(4), np.ones(4)).apply(X, np.random.default_rng(0))
    np.testing.assert_array_equal(np.argsort(warped, axis=0), np.argsort(X, axis=0))
    np.testing.assert_array_equal(warped[:, 0], X[:, 0])


def test_warps_of_the_largest_floats_that_tails_have_are_finite():
    tails = np.array([[-1e9] * 4, [0.0] * 4, [1e9] * 4])
    warped = Warped(np.array(list(Curve)), np.zeros(4), np.ones(4)).apply(tails, np.random.default_rng(0))
    assert np.isfinite(warped).all()


def test_rounding_gives_multiples_of_the_step():
    rounded = Rounded(np.array([0.5, 0.0, 2.0, 0.0])).apply(X, np.random.default_rng(0))
    assert (rounded[:, 0] % 0.5 == 0).all()
    assert np.abs(rounded[:, 2] - X[:, 2]).max() <= 1
    np.testing.assert_array_equal(rounded[:, [1, 3]], X[:, [1, 3]])


def test_rotation_keeps_distances():
    rng = np.random.default_rng(2)
    rotation = MODIFIERS["rotation"][1](X, rng).rotation
    np.testing.assert_allclose(pdist(Rotated(rotation, np.ones(4)).apply(X[:50], rng)), pdist(X[:50]))


def test_units_multiply_and_shift():
    units, origins = np.array([1e-3, 1.0, 10.0, 1e3]), np.array([0.0, 5.0, 0.0, -1.0])
    changed = InUnits(units, origins).apply(X, np.random.default_rng(0))
    np.testing.assert_allclose((changed - origins) / units, X, atol=1e-9)


def test_outliers_are_as_many_as_named():
    """Binomial, 4.5 standard errors."""
    changed = WithOutliers(0.05, 1.0, 30.0, np.ones(4)).apply(X, np.random.default_rng(3))
    share = np.mean((changed != X).any(axis=1))
    assert abs(share - 0.05) < 4.5 * np.sqrt(0.05 * 0.95 / len(X))


def test_one_hot_columns_name_the_interval():
    changed = OneHot(1, np.array([-0.5, 0.5]), keep=False).apply(X, np.random.default_rng(0))
    np.testing.assert_array_equal(changed[:, :3], X[:, [0, 2, 3]])
    np.testing.assert_array_equal(changed[:, 3:].argmax(axis=1), np.digitize(X[:, 1], [-0.5, 0.5]))
    np.testing.assert_array_equal(changed[:, 3:].sum(axis=1), 1)


def test_noise_features_are_independent_of_the_others():
    """Largest correlation of ranks, below 5 standard errors of a correlation."""
    rng = np.random.default_rng(4)
    changed = MODIFIERS["noise_features"][1](X, rng).apply(X, rng)
    np.testing.assert_array_equal(changed[:, :4], X)
    ranks = np.argsort(np.argsort(changed, axis=0), axis=0)
    assert np.abs(np.corrcoef(ranks.T)[:4, 4:]).max() < 5 / np.sqrt(len(X))


def test_continuous_features_have_no_binary_ones():
    rng = np.random.default_rng(5)
    laws = [draw_feature_law(10, rng, continuous=True) for _ in range(50)]
    assert not any((law.marginals == Marginal.BINARY).any() for law in laws)
