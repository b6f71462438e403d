"""Moments of errors against draws, quadrature, enumeration and limits that know nothing of the formulas.

Draws are compared at 4.5 standard errors: 7e-6 false alarms per number, below 3e-3 for the few hundred of this file;
the seeds are fixed, so that an alarm would be seen once and stay.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special, stats

from bayes_gresub.laws.halfspace import HalfSpace
from bayes_gresub.models.exact_moments import (
    ClassMoments,
    conditional_mse,
    dirichlet_moments,
    joint_tail,
    normal_inverse_wishart_moments,
    overall_moments,
    t_cdf,
)

N_DRAWS = 60_000
BOUNDARY = HalfSpace(np.array([0.8, -0.5, 1.7]), 0.3)
MEANS = np.array([[-1.0, 0.4, -0.6], [0.5, -0.2, 0.9], [0.3, 0.1, -0.4]])
STRENGTHS = np.array([3.0, 8.5, 1.5])
DOFS = np.array([5.5, 9.0, 7.25])


def scale_matrices(c=3, d=3, seed=0):
    roots = np.random.default_rng(seed).normal(size=(c, d, d))
    return roots @ roots.swapaxes(1, 2) + 0.5 * np.eye(d)


def bivariate_t_cdf(h, k, dof, correlation):
    """Return P(X <= h, Y <= k) of the standard bivariate t law: tails in all four quadrants, from those of one."""
    x, y, nu, r = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (h, k, dof, correlation)))
    nu, u, v = np.minimum(nu, 1e200), np.abs(x), np.abs(y)
    beyond = joint_tail(u, v, nu, np.where((x > 0) == (y > 0), r, -r))
    opposite, positive = t_cdf(nu, np.minimum(x, y)) - beyond, 1.0 - t_cdf(nu, -u) - t_cdf(nu, -v) + beyond
    return np.where((x > 0) & (y > 0), positive, np.where((x > 0) | (y > 0), opposite, beyond))


def second_of(moments):
    """Return E[mass_y(i) mass_z(j)], shape (c, r, c, r)."""
    return np.multiply.outer(moments.first, moments.first) + moments.covariance


def assert_moments_of(moments, sides):
    """Compare with draws of the mass of side 1, shape (draws, c)."""
    masses = np.stack([1.0 - sides, sides], axis=2)
    products = np.einsum("nyi,nzj->nyizj", masses, masses)
    for expected, values in ((moments.first, masses), (second_of(moments), products)):
        error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        assert (np.abs(values.mean(axis=0) - expected) < 4.5 * error).all()


def sides_of(means, deviations):
    """Return the mass of side 1 of classes N(mean, deviation^2) along the normal, given draws (draws, c)."""
    return special.ndtr(means / deviations)


def draw_full(scales, dofs, shared, seed):
    """Return draws of the side masses by drawing whole matrices and means."""
    rng = np.random.default_rng(seed)
    sides, covariance = [], None
    for y, mean in enumerate(MEANS):
        if covariance is None or not shared:
            covariance = stats.invwishart(dofs[y], scales[y]).rvs(N_DRAWS, random_state=rng)
        noise = np.einsum("nij,nj->ni", np.linalg.cholesky(covariance), rng.standard_normal((N_DRAWS, 3)))
        score = BOUNDARY.scores(mean + noise / np.sqrt(STRENGTHS[y]))
        deviation = np.sqrt(np.einsum("nij,i,j->n", covariance, BOUNDARY.normal, BOUNDARY.normal))
        sides.append(sides_of(score, deviation))
    return np.stack(sides, axis=1)


def conditional_quadrature(h, k, dof, r):
    """Return P(X <= h, Y <= k) by integrating the law of Y given X, with x = sqrt(dof) sinh u."""

    def integrand(u):
        x = np.sqrt(dof) * np.sinh(u)
        inner = special.stdtr(dof + 1, (k - r * x) / np.sqrt((dof + x * x) * (1 - r * r) / (dof + 1)))
        return np.cosh(u) ** -dof * inner

    top = np.arcsinh(h / np.sqrt(dof))
    edges = [max(-40.0, -40.0 / dof - 2.0), *np.linspace(-3.0, 3.0, 13) / np.sqrt(min(dof, 1e2)), top]
    edges = np.unique(np.minimum(edges, top))
    pieces = [
        integrate.quad(integrand, a, b, epsabs=1e-16, epsrel=1e-13, limit=200)[0] for a, b in itertools.pairwise(edges)
    ]
    return sum(pieces) * np.exp(special.gammaln((dof + 1) / 2) - special.gammaln(dof / 2)) / np.sqrt(np.pi)


class TestBivariateT:
    """The distribution function on which the second moments rest."""

    @pytest.mark.parametrize("dof", [1.0, 2.5, 7.3, 40.0, 300.0])
    @pytest.mark.parametrize("r", [-0.9, -0.3, 0.0, 0.05, 0.5, 0.99])
    def test_agrees_with_quadrature_of_the_conditional_law(self, dof, r):
        for h, k in [(-1.3, -0.4), (0.7, -2.0), (-0.9, 0.2), (1.1, 0.6), (-2.5, -2.5), (0.0, -1.0)]:
            assert bivariate_t_cdf(h, k, dof, r) == pytest.approx(conditional_quadrature(h, k, dof, r), abs=1e-13)

    def test_agrees_with_known_digits(self):
        """Made with 30 digits by mpmath from the conditional law, which shares nothing with the two sectors."""
        known = np.array(
            [
                [-1.3, -0.4, 2.5, 0.3, 0.08532263920055819],
                [-2.0, -2.0, 7.3, 1 / 11, 0.004614835613919644],
                [0.7, -1.1, 33.0, -0.6, 0.05257785978468697],
                [-6.0, -6.0, 40.0, 0.25, 2.748836150244931e-10],
                [-0.001, -0.002, 0.5, 0.0, 0.24959580446443796],
                [-5.0, -3.0, 1.0, 0.9, 0.056034558288427044],
                [-8.0, -7.0, 100.0, 0.0, 2.1883618369860564e-19],
                [-2.5, -1.5, 12.0, -0.75, 4.669258175043535e-06],
            ]
        )
        np.testing.assert_allclose(bivariate_t_cdf(*known[:, :4].T), known[:, 4], rtol=1e-14)

    def test_agrees_with_scipy_to_its_tolerance(self):
        rng = np.random.default_rng(3)
        for dof in (1, 4, 15):
            h, k, r = *rng.normal(size=2), rng.uniform(-0.9, 0.9)
            law = stats.multivariate_t(shape=[[1.0, r], [r, 1.0]], df=dof, seed=0)
            assert bivariate_t_cdf(h, k, dof, r) == pytest.approx(law.cdf([h, k]), abs=5e-4)

    def test_tends_to_the_bivariate_normal(self):
        h, k, r = -1.2, -0.7, 0.4
        law = stats.multivariate_normal(cov=[[1.0, r], [r, 1.0]])
        normal = integrate.quad(
            lambda x: np.exp(-0.5 * x * x) * special.ndtr((k - r * x) / np.sqrt(1 - r * r)), -40, h, epsabs=1e-15
        )[0] / np.sqrt(2 * np.pi)
        assert bivariate_t_cdf(h, k, np.inf, r) == pytest.approx(normal, rel=1e-13)
        assert bivariate_t_cdf(h, k, 1e9, r) == pytest.approx(normal, rel=1e-8)
        assert normal == pytest.approx(law.cdf([h, k]), abs=1e-5)

    def test_is_a_product_at_infinite_dof_without_correlation(self):
        h, k = np.array([-30.0, -2.0, 0.0, 1.5]), np.array([-5.0, 0.5, 0.0, 2.0])
        np.testing.assert_allclose(bivariate_t_cdf(h, k, np.inf, 0.0), special.ndtr(h) * special.ndtr(k), rtol=3e-13)

    def test_full_correlation_leaves_one_variable(self):
        h, k = np.array([-2.0, -1.0, 0.0, 1.0, 1.0]), np.array([-1.0, 0.5, 0.0, 2.0, -3.0])
        low, high = np.minimum(h, k), np.maximum(h, k)
        both = special.stdtr(3.5, low)
        opposite = np.maximum(special.stdtr(3.5, low) - special.stdtr(3.5, -high), 0.0)
        np.testing.assert_allclose(bivariate_t_cdf(h, k, 3.5, 1.0), both, rtol=1e-14)
        np.testing.assert_allclose(bivariate_t_cdf(h, k, 3.5, -1.0), opposite, atol=1e-15)

    @pytest.mark.parametrize("t", [-1e8, -1.0, -1e-8, 0.0, 1e-8, 3.0])
    def test_cauchy_law_keeps_its_digits(self, t):
        expected = np.arctan(-1 / t) / np.pi if t < -0.5 else 0.5 + np.arctan(t) / np.pi
        assert bivariate_t_cdf(t, np.inf, 1.0, 0.0) == pytest.approx(expected, rel=1e-15)

    def test_median_quadrant_is_that_of_every_elliptical_law(self):
        r = np.linspace(-1, 1, 9)
        np.testing.assert_allclose(bivariate_t_cdf(0, 0, 2.2, r), 0.25 + np.arcsin(r) / (2 * np.pi), atol=1e-15)

    def test_infinite_limits_leave_the_marginal_law(self):
        got = bivariate_t_cdf([np.inf, -np.inf, np.inf, 1.0], [0.7, 0.7, np.inf, np.inf], 4.0, 0.6)
        np.testing.assert_allclose(got, [special.stdtr(4, 0.7), 0.0, 1.0, special.stdtr(4, 1.0)], atol=1e-15)

    def test_cauchy_quadrant_has_an_elementary_form(self):
        """At one degree of freedom, uncorrelated: a solid angle."""
        x, y = np.meshgrid(np.linspace(-4, 4, 9), np.linspace(-3, 3, 7))
        elementary = np.arctan(x) + np.arctan(y) + np.arctan(x * y / np.sqrt(1 + x * x + y * y)) + np.pi / 2
        np.testing.assert_allclose(bivariate_t_cdf(x, y, 1.0, 0.0), elementary / (2 * np.pi), atol=1e-15)

    def test_many_values_are_those_of_single_calls(self):
        h, k = np.random.default_rng(0).normal(size=(2, 1500))
        got = bivariate_t_cdf(h, k, 6.0, 0.3)
        assert [float(bivariate_t_cdf(h[i], k[i], 6.0, 0.3)) for i in (0, 700, 1499)] == pytest.approx(
            got[[0, 700, 1499]].tolist(), rel=1e-15
        )
        assert bivariate_t_cdf(np.empty(0), 0.0, 1.0, 0.0).shape == (0,)

    @settings(deadline=None, max_examples=60)
    @given(
        st.floats(-20, 20), st.floats(-20, 20), st.floats(0.05, 1e6), st.floats(-1, 1), st.floats(0, 3), st.floats(0, 1)
    )
    def test_is_symmetric_and_grows_with_arguments_and_correlation(self, h, k, dof, r, more, stretch):
        value = bivariate_t_cdf(h, k, dof, r)
        assert value == pytest.approx(bivariate_t_cdf(k, h, dof, r), abs=1e-15)
        assert -1e-15 <= value <= bivariate_t_cdf(min(h, k), np.inf, dof, r) + 1e-14
        assert bivariate_t_cdf(h + more, k, dof, r) >= value - 1e-14
        assert bivariate_t_cdf(h, k, dof, r + stretch * (1 - r)) >= value - 1e-14


class TestHyperplane:
    """Masses of the two sides of a hyperplane under Gaussian classes."""

    def test_separate_covariances_agree_with_draws(self):
        scales = scale_matrices()
        moments = normal_inverse_wishart_moments(BOUNDARY, MEANS, STRENGTHS, DOFS, scales, shared=False)
        assert_moments_of(moments, draw_full(scales, DOFS, shared=False, seed=1))

    def test_shared_covariance_agrees_with_draws(self):
        scale = scale_matrices(c=1)
        moments = normal_inverse_wishart_moments(BOUNDARY, MEANS, STRENGTHS, [5.5], scale, shared=True)
        assert_moments_of(moments, draw_full(scale.repeat(3, axis=0), [5.5] * 3, shared=True, seed=2))

    @pytest.mark.parametrize("shared", [False, True])
    def test_spherical_covariances_agree_with_draws(self, shared):
        rng = np.random.default_rng(4)
        dofs, scales = (np.array([6.0]), np.array([4.0])) if shared else (DOFS, np.array([2.0, 5.0, 9.0]))
        moments = normal_inverse_wishart_moments(BOUNDARY, MEANS, STRENGTHS, dofs, scales, shared=shared)
        variance = scales / rng.chisquare(dofs, size=(N_DRAWS, len(dofs))) * np.ones(3)
        noise = rng.standard_normal((N_DRAWS, 3, 3)) * np.sqrt(variance / STRENGTHS)[..., None]
        length = np.linalg.norm(BOUNDARY.normal)
        assert_moments_of(moments, sides_of(BOUNDARY.scores(MEANS + noise), np.sqrt(variance) * length))

    def test_diagonal_covariances_agree_with_draws_across_one_feature(self):
        rng = np.random.default_rng(5)
        boundary = HalfSpace(np.array([0.0, -2.0, 0.0]), 0.3)
        dofs, scales = np.array([[3.0, 5.0, 7.0]] * 3) + DOFS[:, None], np.array([[1.0, 2.0, 3.0]] * 3) * DOFS[:, None]
        moments = normal_inverse_wishart_moments(boundary, MEANS, STRENGTHS, dofs, scales, shared=False)
        deviation = np.sqrt(scales / rng.chisquare(dofs, size=(N_DRAWS, 3, 3)))
        noise = rng.standard_normal((N_DRAWS, 3, 3)) * deviation / np.sqrt(STRENGTHS)[:, None]
        assert_moments_of(moments, sides_of(boundary.scores(MEANS + noise), 2.0 * deviation[..., 1]))

    def test_diagonal_covariances_have_no_closed_form_across_several_features(self):
        assert normal_inverse_wishart_moments(BOUNDARY, MEANS, STRENGTHS, DOFS, np.ones((3, 3)), shared=False) is None

    def test_one_dimension_is_the_same_in_every_structure(self):
        boundary, means = HalfSpace(np.array([1.5]), -0.2), MEANS[:, :1]
        full, diagonal, spherical = (
            normal_inverse_wishart_moments(boundary, means, STRENGTHS, DOFS, DOFS.reshape(shape), shared=False)
            for shape in ((3, 1, 1), (3, 1), (3,))
        )
        for other in (diagonal, spherical):
            np.testing.assert_allclose(other.first, full.first, rtol=1e-15)
            np.testing.assert_allclose(other.covariance, full.covariance, rtol=1e-14, atol=0)

    def test_tends_to_the_normal_law_as_knowledge_grows(self):
        scales = scale_matrices()
        large = 1e12
        moments = normal_inverse_wishart_moments(
            BOUNDARY, MEANS, np.full(3, large), np.full(3, large), large * scales, shared=False
        )
        deviation = np.sqrt(np.einsum("yij,i,j->y", scales, BOUNDARY.normal, BOUNDARY.normal))
        np.testing.assert_allclose(moments.first[:, 1], special.ndtr(BOUNDARY.scores(MEANS) / deviation), rtol=1e-10)
        assert np.abs(moments.covariance).max() < 1e-11

    def test_small_variance_keeps_its_digits(self):
        """With much knowledge, Var = phi(h)^2 (1/k + h^2 / (2 v)) for the mean and the deviation; tiny errors too."""
        k, v = 1e6, 4e6
        for h in (0.5, 2.0, -4.0):
            moments = normal_inverse_wishart_moments(
                HalfSpace(np.array([1.0]), h), [[0.0]], [k], [v], [[[v]]], shared=False
            )
            linear = stats.norm.pdf(h) ** 2 * (1 / k + h * h / (2 * v))
            assert moments.covariance[0, 1, 0, 1] == pytest.approx(linear, rel=1e-4)

    def test_tiny_errors_keep_their_digits(self):
        moments = normal_inverse_wishart_moments(
            HalfSpace(np.array([1.0]), 0.0), [[-9.0], [9.0]], [20, 20], [60.0], [[[60.0]]], shared=True
        )
        errors, covariance = moments.errors([0, 1])
        h = -9.0 / np.sqrt(1.05)
        np.testing.assert_allclose(errors, special.stdtr(60, h), rtol=1e-13)
        second = bivariate_t_cdf(h, h, 60.0, [[1 / 21, 0], [0, 1 / 21]])
        np.testing.assert_allclose(covariance + np.outer(errors, errors), second, rtol=1e-12)
        assert second.max() < 1e-17

    def test_classes_are_independent_only_if_the_covariance_is_not_shared(self):
        scale = scale_matrices(c=1)
        apart, common = (
            normal_inverse_wishart_moments(BOUNDARY, MEANS, STRENGTHS, [5.5], scale, shared=shared)
            for shared in (False, True)
        )
        np.testing.assert_array_equal(apart.first, common.first)
        between, other = apart.covariance[0, :, 1, :], common.covariance[0, :, 1, :]
        assert not between.any()
        assert (np.abs(other) > 1e-3).all()
        np.testing.assert_array_equal(apart.covariance[2, :, 2, :], common.covariance[2, :, 2, :])

    def test_sharing_makes_no_difference_where_the_covariance_is_known(self):
        scale = 1e12 * scale_matrices(c=1)
        common = normal_inverse_wishart_moments(BOUNDARY, MEANS, STRENGTHS, [1e12], scale, shared=True)
        apart = normal_inverse_wishart_moments(BOUNDARY, MEANS, STRENGTHS, [1e12], scale, shared=False)
        np.testing.assert_allclose(common.covariance, apart.covariance, atol=1e-12)

    def test_sides_add_up(self):
        moments = normal_inverse_wishart_moments(BOUNDARY, MEANS, STRENGTHS, [5.5], scale_matrices(c=1), shared=True)
        np.testing.assert_allclose(moments.first.sum(axis=1), 1.0, rtol=1e-15)
        np.testing.assert_allclose(moments.covariance.sum(axis=1), 0.0, atol=1e-17)
        np.testing.assert_allclose(second_of(moments).sum(axis=(1, 3)), 1.0, rtol=1e-14)

    @settings(deadline=None, max_examples=30)
    @given(st.integers(0, 2**32 - 1), st.booleans())
    def test_does_not_depend_on_affine_coordinates(self, seed, shared):
        rng = np.random.default_rng(seed)
        matrix, shift = rng.normal(size=(3, 3)) + 3 * np.eye(3), rng.normal(size=3)
        scales, dofs = (scale_matrices(c=1), [5.5]) if shared else (scale_matrices(), DOFS)
        here = normal_inverse_wishart_moments(BOUNDARY, MEANS, STRENGTHS, dofs, scales, shared=shared)
        normal = np.linalg.solve(matrix.T, BOUNDARY.normal)
        there = normal_inverse_wishart_moments(
            HalfSpace(normal, BOUNDARY.offset - normal @ shift),
            MEANS @ matrix.T + shift,
            STRENGTHS,
            dofs,
            matrix @ scales @ matrix.T,
            shared=shared,
        )
        np.testing.assert_allclose(there.first, here.first, rtol=1e-8)
        np.testing.assert_allclose(there.covariance, here.covariance, rtol=1e-7, atol=1e-10)

    @pytest.mark.parametrize("factor", [1e-200, 1e-3, 1e200])
    def test_does_not_depend_on_the_length_of_the_normal(self, factor):
        scales = scale_matrices()
        here = normal_inverse_wishart_moments(BOUNDARY, MEANS, STRENGTHS, DOFS, scales, shared=False)
        longer = HalfSpace(BOUNDARY.normal * factor, BOUNDARY.offset * factor)
        there = normal_inverse_wishart_moments(longer, MEANS, STRENGTHS, DOFS, scales, shared=False)
        np.testing.assert_allclose(there.first, here.first, rtol=1e-13)
        np.testing.assert_allclose(there.covariance, here.covariance, rtol=1e-12)

    def test_without_spread_a_class_goes_by_its_mean(self):
        boundary = HalfSpace(np.array([0.0, 0.0, 0.0]), 1.0)
        moments = normal_inverse_wishart_moments(boundary, MEANS, STRENGTHS, DOFS, scale_matrices(), shared=False)
        assert moments.first.tolist() == [[0.0, 1.0]] * 3
        assert not moments.covariance.any()

    @pytest.mark.parametrize(
        ("changed", "message"),
        [
            ({"strengths": [1.0, 0.0, 2.0]}, "strengths must be positive"),
            ({"strengths": [1.0]}, "one for each of 3 classes"),
            ({"dofs": [2.0, 5.0, 5.0]}, "dofs must be above 2, the dimension less 1"),
            ({"dofs": [5.0, 5.0]}, "one for each of 3 classes or one"),
            ({"scales": np.ones((3, 2))}, "scales must have shape"),
            ({"scales": np.ones(3), "dofs": [0.0]}, "dofs must be positive"),
            ({"shared": True}, "must be the same for all classes"),
        ],
    )
    def test_impossible_posteriors_are_refused(self, changed, message):
        given = {"strengths": STRENGTHS, "dofs": DOFS, "scales": scale_matrices(), "shared": False} | changed
        with pytest.raises(ValueError, match=message):
            normal_inverse_wishart_moments(BOUNDARY, MEANS, **given)


class TestCells:
    """Masses of cells under Dirichlet laws."""

    BETA = np.array([[2.5, 1.0, 0.4, 3.0, 0.7], [0.3, 4.0, 1.0, 0.2, 2.0], [1.0, 1.0, 6.0, 0.5, 0.1]])
    LABELS = np.array([0, 1, 2, 0, 1])

    def test_agrees_with_enumeration_of_two_successive_points(self):
        """E[eps_y^2] is the chance that two points drawn from one unknown class both fall in wrong cells."""
        moments = dirichlet_moments(self.BETA, self.LABELS)
        mean, covariance = moments.errors(range(3))
        for y, beta in enumerate(self.BETA):
            wrong, total = np.flatnonzero(y != self.LABELS), beta.sum()
            one = sum(beta[i] for i in wrong) / total
            two = sum(beta[i] / total * (beta[j] + (i == j)) / (total + 1) for i in wrong for j in wrong)
            assert mean[y] == pytest.approx(one, rel=1e-14)
            assert covariance[y, y] == pytest.approx(two - one**2, rel=1e-12)
        assert not covariance[~np.eye(3, dtype=bool)].any()

    def test_class_error_has_a_beta_law(self):
        mean, covariance = dirichlet_moments(self.BETA, self.LABELS).errors(range(3))
        right = np.array([5.5, 6.0, 6.0])
        law = stats.beta(self.BETA.sum(axis=1) - right, right)
        np.testing.assert_allclose(mean, law.mean(), rtol=1e-14)
        np.testing.assert_allclose(np.diag(covariance), law.var(), rtol=1e-13)

    def test_agrees_with_draws(self):
        rng = np.random.default_rng(6)
        moments = dirichlet_moments(self.BETA, self.LABELS)
        cells = np.stack([rng.dirichlet(beta, size=N_DRAWS) for beta in self.BETA], axis=1)
        masses = cells @ (self.LABELS[:, None] == np.arange(3))
        products = np.einsum("nyi,nzj->nyizj", masses, masses)
        for expected, values in ((moments.first, masses), (second_of(moments), products)):
            error = values.std(axis=0, ddof=1) / np.sqrt(N_DRAWS)
            assert (np.abs(values.mean(axis=0) - expected) < 4.5 * error).all()

    def test_class_that_is_never_predicted_is_always_wrong(self):
        mean, covariance = dirichlet_moments(self.BETA, [0, 1, 1, 0, 1]).errors(range(3))
        assert mean[2] == pytest.approx(1.0, rel=1e-15)
        assert covariance[2, 2] == pytest.approx(0.0, abs=1e-17)

    @pytest.mark.parametrize(
        ("beta", "labels", "message"),
        [
            ([[1.0, -1.0], [1.0, 1.0]], [0, 1], "concentrations must be at least 0"),
            ([[0.0, 0.0], [1.0, 1.0]], [0, 1], "a positive one per class"),
            ([[1.0, 1.0], [1.0, 1.0]], [0, 2], "class code from 0 to 1 for each of 2 cells"),
            ([[1.0, 1.0], [1.0, 1.0]], [0], "for each of 2 cells"),
        ],
    )
    def test_impossible_models_are_refused(self, beta, labels, message):
        with pytest.raises(ValueError, match=message):
            dirichlet_moments(beta, labels)


class TestOverall:
    """The error over all classes."""

    def test_three_classes_agree_with_draws(self):
        rng = np.random.default_rng(7)
        scale = scale_matrices(c=1)
        moments = normal_inverse_wishart_moments(BOUNDARY, MEANS, STRENGTHS, [5.5], scale, shared=True)
        sides = draw_full(scale.repeat(3, axis=0), [5.5] * 3, shared=True, seed=8)
        # Side 0 is given class 0, side 1 class 1; class 2 is never right.
        class_errors = np.stack([sides[:, 0], 1.0 - sides[:, 1], np.ones(N_DRAWS)], axis=1)
        alpha = np.array([2.0, 3.5, 1.2])
        for given_as, probabilities in (
            ({"alpha": alpha}, rng.dirichlet(alpha, size=N_DRAWS)),
            ({"prior": alpha / alpha.sum()}, alpha / alpha.sum()),
        ):
            mean, variance = overall_moments(*moments.errors([0, 1]), **given_as)
            errors = (class_errors * probabilities).sum(axis=1)
            squares = (errors - mean) ** 2
            assert abs(errors.mean() - mean) < 4.5 * errors.std() / np.sqrt(N_DRAWS)
            assert abs(squares.mean() - variance) < 4.5 * squares.std() / np.sqrt(N_DRAWS)

    def test_concentrated_class_probabilities_are_known_ones(self):
        mean, covariance, prior = [0.1, 0.3, 0.2], np.diag([0.01, 0.02, 0.03]), np.array([0.2, 0.5, 0.3])
        known = overall_moments(mean, covariance, prior=prior)
        assert overall_moments(mean, covariance, alpha=1e12 * prior) == pytest.approx(known, rel=1e-10)

    def test_known_class_errors_leave_the_variance_of_a_beta_law(self):
        assert overall_moments([0.0, 1.0], np.zeros((2, 2)), alpha=[3.0, 5.0]) == pytest.approx(
            (stats.beta(5, 3).mean(), stats.beta(5, 3).var()), rel=1e-14
        )

    def test_equal_and_known_class_errors_leave_no_variance(self):
        assert overall_moments([0.25, 0.25], np.zeros((2, 2)), alpha=[1.0, 3.0]) == (0.25, 0.0)

    @pytest.mark.parametrize(
        ("weights", "message"),
        [
            ({}, "either alpha"),
            ({"alpha": [1, 1], "prior": [0.5, 0.5]}, "either alpha"),
            ({"prior": [0.5, 0.6]}, "prior must sum to 1"),
            ({"alpha": [1.0, -1.0]}, "must hold 2 numbers of at least 0"),
            ({"alpha": [1.0, 1.0, 1.0]}, "must hold 2 numbers"),
        ],
    )
    def test_impossible_class_probabilities_are_refused(self, weights, message):
        with pytest.raises(ValueError, match=message):
            overall_moments([0.1, 0.2], np.eye(2), **weights)

    def test_labels_must_fit_the_regions(self):
        moments = ClassMoments(np.full((2, 2), 0.5), np.zeros((2, 2, 2, 2)))
        with pytest.raises(ValueError, match="one class code for each of 2 regions"):
            moments.errors([0, 1, 0])

    def test_conditional_mse_is_the_mean_squared_deviation(self):
        rng = np.random.default_rng(9)
        errors = rng.beta(2, 8, size=N_DRAWS)
        estimates = 0.25 + 0.05 * rng.standard_normal(N_DRAWS)
        law = stats.beta(2, 8)
        squares = (errors - estimates) ** 2
        expected = conditional_mse(law.mean(), law.var(), 0.25, 0.05**2)
        assert abs(squares.mean() - expected) < 4.5 * squares.std() / np.sqrt(N_DRAWS)
