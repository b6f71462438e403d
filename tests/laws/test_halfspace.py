"""The exact mass of a half-space against closed forms, quadrature and Monte Carlo that know nothing of the package."""

import math

import numpy as np
import pytest
from scipy import integrate, stats
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier

from bayes_gresub import Bolstered, Empirical
from bayes_gresub.data.sample import Sample, read_features
from bayes_gresub.kernels import SphericalGaussian
from bayes_gresub.laws.components import Components, Normal, StudentT, UnitBall
from bayes_gresub.laws.confusion import region_mass
from bayes_gresub.laws.sampling import Sampler
from bayes_gresub.regions.geometry import HalfSpace
from bayes_gresub.regions.region import decision_region

NORMAL_VECTOR = np.array([0.8, -0.5, 1.7])
OFFSET = 0.3


def sample_of(X, classes):
    """Return points to read a region at; their labels do not matter."""
    features, form = read_features(X)
    n = len(features)
    return Sample(features, np.zeros(n, dtype=int), classes, np.full(n, 1 / n), np.arange(n), n, form)


def half_space(centers, spread, group, law, scales=(1.0,)):
    """Return the mass where a'x + b > 0, shape (k,), of the first scale."""
    components = Components(centers, np.asarray(spread), np.asarray(group), law)
    return HalfSpace(NORMAL_VECTOR, OFFSET).mass(components, scales).values[0, :, 1]


def centers_and_groups(k=6, groups=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(k, 3)), rng.integers(groups, size=k), rng


def linear_classifier(normal, offset=0.0):
    """Return a logistic regression whose score is exactly normal'x + offset."""
    normal = np.asarray(normal, dtype=float)
    X = np.vstack([-np.eye(len(normal)), np.eye(len(normal))])
    classifier = LogisticRegression().fit(X, np.repeat([0, 1], len(normal)))
    classifier.coef_, classifier.intercept_ = normal[None, :], np.array([offset])
    return classifier


def region_of(classifier, X):
    return decision_region(classifier, sample_of(X, np.array([0, 1])), np.random.SeedSequence(0))


def test_spherical_gaussian_is_the_normal_law_of_the_score():
    centers, group, _ = centers_and_groups()
    sigma = np.array([0.4, 2.5])
    score = stats.norm(centers @ NORMAL_VECTOR + OFFSET, sigma[group] * math.sqrt(0.8**2 + 0.5**2 + 1.7**2))
    np.testing.assert_allclose(half_space(centers, sigma, group, Normal()), score.sf(0), rtol=1e-9, atol=0)


def test_diagonal_gaussian_is_the_normal_law_of_the_score():
    centers, group, rng = centers_and_groups()
    sigma = rng.uniform(0.2, 3.0, size=(2, 3))
    variance = np.array([np.diag(sigma[g] ** 2) @ NORMAL_VECTOR @ NORMAL_VECTOR for g in group])
    score = stats.norm(centers @ NORMAL_VECTOR + OFFSET, np.sqrt(variance))
    np.testing.assert_allclose(half_space(centers, sigma, group, Normal()), score.sf(0), rtol=1e-9, atol=0)


@pytest.mark.parametrize("n_columns", [2, 3, 5])
def test_full_gaussian_is_the_first_coordinate_of_the_rotated_law(n_columns):
    centers, group, rng = centers_and_groups()
    maps = rng.normal(size=(2, 3, n_columns))
    length = np.linalg.norm(NORMAL_VECTOR)
    basis, _ = np.linalg.qr(np.column_stack([NORMAL_VECTOR, np.eye(3)[:, :2]]))
    basis *= np.sign(basis[:, 0] @ NORMAL_VECTOR)
    expected = []
    for center, g in zip(centers, group, strict=True):
        covariance = basis.T @ maps[g] @ maps[g].T @ basis
        rotated = stats.norm((basis.T @ center)[0], math.sqrt(covariance[0, 0]))
        expected.append(rotated.sf(-OFFSET / length))
    np.testing.assert_allclose(half_space(centers, maps, group, Normal()), expected, rtol=1e-9, atol=0)


@pytest.mark.parametrize("dof", [1.0, 2.5, 30.0])
def test_student_t_is_the_t_law_of_the_score(dof):
    centers, group, rng = centers_and_groups()
    maps = rng.normal(size=(2, 3, 3))
    scale = [math.sqrt(NORMAL_VECTOR @ maps[g] @ maps[g].T @ NORMAL_VECTOR) for g in group]
    score = stats.t(dof, centers @ NORMAL_VECTOR + OFFSET, scale)
    np.testing.assert_allclose(half_space(centers, maps, group, StudentT(dof)), score.sf(0), rtol=1e-9, atol=0)


def test_student_t_agrees_with_the_multivariate_law():
    """The reference is scipy's own integral over a box that is cut off far out: good to 1e-3."""
    covariance = np.array([[1.0, 0.6], [0.6, 2.0]])
    components = Components(np.array([[0.2, 0.5]]), np.linalg.cholesky(covariance)[None], np.array([0]), StudentT(4.0))
    ours = HalfSpace(np.array([1.0, 0.0]), 0.7).mass(components, [1.0]).values[0, 0, 0]
    law = stats.multivariate_t([0.2, 0.5], covariance, df=4, seed=np.random.default_rng(0))
    assert ours == pytest.approx(law.cdf([-0.7, 200.0], maxpts=200_000), abs=1e-3)


@pytest.mark.parametrize("dim", [1, 2, 3, 10])
@pytest.mark.parametrize("height", [-1.5, -0.999, -0.4, 0.0, 0.3, 0.95, 2.0])
def test_ball_is_the_integral_of_its_slices(dim, height):
    radius = 2.0
    center = np.zeros((1, dim))
    center[0, -1] = height * radius
    direction = np.eye(dim)[-1]
    components = Components(center, np.array([radius]), np.array([0]), UnitBall())

    def slice_volume(t):
        return (1 - t * t) ** ((dim - 1) / 2)

    edge = min(max(-height, -1.0), 1.0)
    inside = integrate.quad(slice_volume, edge, 1.0, epsabs=1e-12)[0]
    whole = integrate.quad(slice_volume, -1.0, 1.0, epsabs=1e-12)[0]
    ours = HalfSpace(direction, 0.0).mass(components, [1.0]).values[0, 0, 1]
    assert ours == pytest.approx(inside / whole, abs=1e-9)


def ball_above_zero(heights, dim):
    """Return the mass above 0 of unit balls centred at these heights."""
    components = Components(np.outer(heights, np.eye(dim)[0]), np.array([1.0]), np.zeros(len(heights), int), UnitBall())
    return HalfSpace(np.eye(dim)[0], 0.0).mass(components, [1.0]).values[0, :, 1]


@pytest.mark.parametrize("dim", [1, 2, 3, 10])
def test_ball_coordinate_has_a_symmetric_beta_law(dim):
    heights = np.linspace(-0.98, 0.98, 14)
    law = stats.beta((dim + 1) / 2, (dim + 1) / 2, loc=-1, scale=2)
    np.testing.assert_allclose(ball_above_zero(heights, dim), law.cdf(heights), rtol=1e-9, atol=0)


@pytest.mark.parametrize("dim", [1, 2, 3, 10])
def test_ball_centred_next_to_the_boundary_keeps_its_digits(dim):
    """To first order the mass is 1/2 plus the height times the density of a coordinate at 0."""
    heights = np.array([-1e-7, -3e-9, -1e-12, -1e-16, 0.0, 1e-16, 1e-12, 3e-9, 1e-7])
    density = math.gamma(dim / 2 + 1) / (math.sqrt(math.pi) * math.gamma((dim + 1) / 2))
    np.testing.assert_allclose(ball_above_zero(heights, dim), 0.5 + heights * density, rtol=0, atol=1e-13)


def normal_draws(rng, n, dim):
    return rng.standard_normal((n, dim))


def ball_draws(rng, n, dim):
    direction = rng.standard_normal((n, dim))
    direction /= np.sqrt((direction**2).sum(axis=1, keepdims=True))
    return direction * rng.random((n, 1)) ** (1 / dim)


def student_draws(rng, n, dim):
    return rng.standard_normal((n, dim)) / np.sqrt(rng.chisquare(3.0, size=(n, 1)) / 3.0)


@pytest.mark.parametrize("n_columns", [2, 3])
@pytest.mark.parametrize(
    ("law", "draws"),
    [(Normal(), normal_draws), (UnitBall(), ball_draws), (StudentT(3.0), student_draws)],
    ids=["normal", "ball", "student"],
)
def test_mass_agrees_with_a_million_independent_draws(law, draws, n_columns):
    """Six times two comparisons at 4.5 standard errors: a false alarm in 1e-4 of seeds."""
    rng = np.random.default_rng(11)
    n = 1_000_000
    maps = rng.normal(size=(2, 3, n_columns))
    centers = np.array([[0.5, -0.2, 0.1], [-0.6, 0.3, -0.4]])
    ours = half_space(centers, maps, [0, 1], law)
    for center, spread, exact in zip(centers, maps, ours, strict=True):
        points = center + draws(rng, n, n_columns) @ spread.T
        share = np.mean(points @ NORMAL_VECTOR + OFFSET > 0)
        assert 0.01 < exact < 0.99
        assert abs(share - exact) < 4.5 * math.sqrt(exact * (1 - exact) / n)


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_gaussian_tail_of_1e_30_keeps_its_digits(side):
    distance = 11.464024
    components = Components(np.array([[side * distance]]), np.array([1.0]), np.array([0]))
    tail = HalfSpace(np.array([1.0]), 0.0).mass(components, [1.0]).values[0, 0, 0 if side > 0 else 1]
    assert 0.9e-30 < tail < 1.1e-30
    assert tail == pytest.approx(0.5 * math.erfc(distance / math.sqrt(2)), rel=1e-9)


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_student_tail_of_1e_30_keeps_its_digits(side):
    """Far out the t law with 3 degrees of freedom has tail 2 sqrt(3) / (pi t^3) (1 - 18 / (5 t^2) + ...)."""
    distance = 1e10
    components = Components(np.array([[side * distance]]), np.array([1.0]), np.array([0]), StudentT(3.0))
    tail = HalfSpace(np.array([1.0]), 0.0).mass(components, [1.0]).values[0, 0, 0 if side > 0 else 1]
    assert tail == pytest.approx(2 * math.sqrt(3) / (math.pi * distance**3), rel=1e-9)


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_ball_tail_of_1e_30_keeps_its_digits(side):
    """A cap of height h = 2^-13 of the ball in d=15 is h^8 2^7 / 8 of the whole slice integral to first order."""
    dim, height = 15, 2.0**-13
    center = np.zeros((1, dim))
    center[0, 0] = side * (1 - height)
    components = Components(center, np.array([1.0]), np.array([0]), UnitBall())
    cap = HalfSpace(np.eye(dim)[0], 0.0).mass(components, [1.0]).values[0, 0, 0 if side > 0 else 1]
    # The integral of (t (2 - t))^7 from 0 to h, over that from -1 to 1, both polynomials.
    slices = np.polynomial.Polynomial([0, 2, -1]) ** 7
    volume = slices.integ()
    assert 1e-31 < cap < 1e-29
    assert cap == pytest.approx(volume(height) / volume(2.0), rel=1e-9)


def test_error_estimate_of_1e_30_keeps_its_digits():
    X = np.array([[-12.0], [-11.5], [11.6], [12.5]])
    y = np.array([0, 0, 1, 1])
    estimate = Bolstered(SphericalGaussian(width=1.0, standardize=None)).fit(X, y).error(linear_classifier([1.0]))
    expected = sum(0.5 * math.erfc(abs(x) / math.sqrt(2)) for x in X[:, 0]) / 4
    assert 0 < expected < 1e-30
    assert float(estimate) == pytest.approx(expected, rel=1e-9)


def on_the_boundary():
    """Return a region and point masses of which the first lies where the score is exactly 0 and predict says 1."""
    linear = linear_classifier([1.0, 0.0])
    # scikit-learn's threshold is met at equality, unlike the sign of a decision function.
    classifier = FixedThresholdClassifier(
        FrozenEstimator(linear), threshold=0.0, response_method="decision_function"
    ).fit([[-1.0, 0.0], [1.0, 0.0]], [0, 1])
    centers = np.array([[0.0, 3.0], [-2.0, 1.0], [2.0, 1.0]])
    assert classifier.predict(centers).tolist() == [1, 0, 1]
    region = region_of(classifier, centers)
    assert isinstance(region.geometry, HalfSpace)
    return region, Components(centers, np.array([0.0, 1.0]), np.array([0, 0, 1]))


def test_component_without_spread_goes_by_the_labels_given_for_centres():
    region, components = on_the_boundary()
    labels = np.array([1, 0, 1])
    result = region_mass(components, region, Sampler(np.random.SeedSequence(0)), center_labels=labels)
    assert result.values[0, 0, :2].tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_component_without_spread_goes_by_predict_where_no_labels_are_given():
    region, components = on_the_boundary()
    result = region_mass(components, region, Sampler(np.random.SeedSequence(0)))
    assert result.values[0, 0, :2].tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_component_next_to_a_point_mass_keeps_its_own_mass():
    centers = np.array([[1.0], [1.0]])
    components = Components(centers, np.array([0.0, 2.0]), np.array([0, 1]))
    result = region_mass(components, region_of(linear_classifier([1.0]), centers), Sampler(np.random.SeedSequence(0)))
    assert result.values[0, 0, 1, 1] == pytest.approx(stats.norm.cdf(0.5), rel=1e-12)


def test_component_with_spread_along_the_boundary_only_is_counted():
    spread = np.array([[0.0, 3.0]])
    components = Components(np.array([[0.1, 0.0], [-0.1, 9.0]]), spread, np.zeros(2, int))
    sides = HalfSpace(np.array([1.0, 0.0]), 0.0).mass(components, [1.0]).values[0]
    assert sides.tolist() == [[0.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize("law", [Normal(), UnitBall(), StudentT(4.0)], ids=["normal", "ball", "student"])
def test_several_scales_at_once_equal_separate_calls(law):
    centers, group, rng = centers_and_groups()
    components = Components(centers, rng.uniform(0.3, 2.0, size=(2, 3)), group, law)
    boundary = HalfSpace(NORMAL_VECTOR, OFFSET)
    together = boundary.mass(components, [0.0, 0.5, 1.0, 3.0]).values
    separate = np.concatenate([boundary.mass(components, [scale]).values for scale in (0.0, 0.5, 1.0, 3.0)])
    np.testing.assert_array_equal(together, separate)


@pytest.mark.parametrize("law", [Normal(), UnitBall(), StudentT(4.0)], ids=["normal", "ball", "student"])
def test_scale_is_a_factor_on_the_spread(law):
    centers, group, rng = centers_and_groups()
    spread = rng.uniform(0.3, 2.0, size=(2, 3))
    np.testing.assert_allclose(
        half_space(centers, spread, group, law, [0.7]), half_space(centers, 0.7 * spread, group, law), rtol=1e-12
    )


@pytest.mark.parametrize("shape", [(2,), (2, 3), (2, 3, 3), (2, 3, 2)], ids=["sphere", "diagonal", "full", "flat"])
@pytest.mark.parametrize("law", [Normal(), UnitBall(), StudentT(4.0)], ids=["normal", "ball", "student"])
def test_both_sides_have_mass_one_together(law, shape):
    centers, group, rng = centers_and_groups(k=50)
    components = Components(0.3 * centers, rng.uniform(0.1, 2.0, size=shape), group, law)
    sides = HalfSpace(NORMAL_VECTOR, OFFSET).mass(components, [0.0, 1.0]).values
    np.testing.assert_allclose(sides.sum(axis=-1), 1.0, rtol=0, atol=1e-14)


def test_kappa_zero_equals_counting():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    classifier = LogisticRegression().fit(X, y)
    still, moved = Bolstered().fit(X, y).errors_at_scales(classifier, [0.0, 1.0])
    assert still.value == float(Empirical().fit(X, y).error(classifier))
    assert moved.value != still.value


def test_vanishing_width_raises_no_floating_point_warning():
    components = Components(np.array([[2.0], [-2.0]]), np.array([1e-310]), np.zeros(2, int))
    sides = HalfSpace(np.array([1.0]), 0.0).mass(components, [1.0]).values[0]
    assert sides.tolist() == [[0.0, 1.0], [1.0, 0.0]]
