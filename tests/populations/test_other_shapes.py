"""Laws within the classes of populations by a formula, against scipy. Their true errors are tested elsewhere."""

import numpy as np
import pytest
from scipy import stats

from bayes_gresub.populations import Bimodal, Gaussian, HeavyTailed, PaperGaussian, Skewed

CHANCE = 7e-6
"""The level of tests of fit: what 4.5 standard errors of a normal estimate leave outside."""

LONG = np.array([[4.0, 1.0, 0.0], [1.0, 1.0, 0.3], [0.0, 0.3, 0.5]])
UNEQUAL = Gaussian([[0, 0, 0], [1, 1, -1]], [np.eye(3), LONG], prior=[0.4, 0.6])
BIMODAL = {"bimodal": Bimodal(), "odd": Bimodal(n_informative=3, block=3, rho=0.5, gap=1.5, sigma=2.0)}


def assert_moments(population, covariance, n=30_000):
    """Class means and covariances within 4.5 standard errors of n points; false alarm at most 1e-3 for 130 numbers."""
    X, y = population.sample(n, random_state=3)
    for k, mean in enumerate(population.means):
        away = X[y == k] - mean
        products = np.einsum("ni,nj->nij", away, away)
        size = np.sqrt(len(away))
        assert (np.abs(away.mean(axis=0)) < 4.5 * away.std(axis=0) / size).all()
        assert (np.abs(products.mean(axis=0) - covariance[k]) < 4.5 * products.std(axis=0) / size).all()


@pytest.mark.parametrize(
    "population",
    [
        PaperGaussian(sigma=1.5),
        HeavyTailed(dof=10, sigma=1.5, block=3, rho=0.4),
        HeavyTailed(dof=12, n_classes=4),
        Skewed(sigma=1.5, block=3, rho=-0.3),
        Skewed(shape=3, n_classes=3),
    ],
    ids=["paper", "heavy", "heavy, four classes", "skewed", "skewed, three classes"],
)
def test_classes_have_the_means_and_covariance_of_the_model(population):
    """Ten degrees of freedom and more have the fourth moments that a standard error of a covariance needs."""
    assert_moments(population, [population.covariance] * population.n_classes)


@pytest.mark.parametrize("key", list(BIMODAL))
def test_bimodal_classes_have_the_covariance_of_the_model_and_that_of_the_clumps(key):
    population = BIMODAL[key]
    assert_moments(population, [population.covariance + np.outer(population.shift, population.shift)] * 2)


def test_gaussian_classes_have_the_means_and_covariances_given():
    assert_moments(UNEQUAL, [np.eye(3), LONG])


@pytest.mark.parametrize("model", [HeavyTailed, Skewed, Bimodal])
def test_other_shapes_have_the_means_of_the_paper_by_default(model):
    np.testing.assert_allclose(model().means, PaperGaussian(bayes_error=0.2).means, rtol=1e-12)


@pytest.mark.parametrize("model", [HeavyTailed, Skewed])
def test_other_shapes_of_unequal_classes_have_the_means_of_the_gaussian_ones_by_default(model):
    parameters = {"n_classes": 3, "prior": (0.2, 0.3, 0.5), "sigma": 1.4}
    np.testing.assert_allclose(model(**parameters).means, PaperGaussian(**parameters).means, rtol=1e-12)


@pytest.mark.parametrize("dof", [2.5, 3.0, 8.0])
def test_heavy_tails_are_those_of_the_multivariate_student_law(dof):
    """Squared distances follow the F law, scaled. A Kolmogorov-Smirnov test at the level 7e-6."""
    population = HeavyTailed(dof=dof, sigma=1.5, block=3, rho=0.4)
    X, y = population.sample(6000, random_state=4)
    away = X - population.means[y]
    squares = np.einsum("nd,nd->n", away, np.linalg.solve(population.covariance, away.T).T)
    law = stats.f(10, dof, scale=10 * (dof - 2) / dof)
    assert stats.kstest(squares, law.cdf).pvalue > CHANCE


def test_heavy_tails_of_one_feature_are_those_of_the_student_law():
    """A Kolmogorov-Smirnov test at the level 7e-6."""
    population = HeavyTailed(dof=3, sigma=2.0)
    X, y = population.sample(6000, random_state=5)
    law = stats.t(3, scale=2.0 * np.sqrt(1 / 3))
    assert stats.kstest(X[:, 1] - population.means[y, 1], law.cdf).pvalue > CHANCE


@pytest.mark.parametrize("shape", [0.5, 1.0, 9.0])
def test_skewed_noise_has_the_skewness_of_its_gamma_law(shape):
    """E z^3 = 2 / sqrt(shape) for z of mean 0 and variance 1, in 10 coordinates; false alarm 7e-5 each."""
    population = Skewed(shape=shape, block=3, rho=0.4, sigma=1.5)
    X, y = population.sample(20_000, random_state=6)
    cubes = np.linalg.solve(np.linalg.cholesky(population.covariance), (X - population.means[y]).T) ** 3
    error = cubes.std(axis=1) / np.sqrt(len(X))
    assert (np.abs(cubes.mean(axis=1) - 2 / np.sqrt(shape)) < 4.5 * error).all()


@pytest.mark.parametrize("shape", [0.5, 1.0, 9.0])
def test_skewed_noise_features_have_the_standardized_gamma_law(shape):
    """A Kolmogorov-Smirnov test at the level 7e-6."""
    X, _ = Skewed(shape=shape, sigma=2.0).sample(6000, random_state=7)
    law = stats.gamma(shape, loc=-2.0 * np.sqrt(shape), scale=2.0 / np.sqrt(shape))
    assert stats.kstest(X[:, 9], law.cdf).pvalue > CHANCE


@pytest.mark.parametrize("key", list(BIMODAL))
def test_clumps_lie_across_the_direction_in_which_the_classes_differ(key):
    population = BIMODAL[key]
    apart = population.means[1] - population.means[0]
    assert population.shift @ np.linalg.solve(population.covariance, apart) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("key", list(BIMODAL))
def test_clumps_are_twice_the_gap_apart_in_standard_deviations(key):
    population = BIMODAL[key]
    square = population.shift @ np.linalg.solve(population.covariance, population.shift)
    assert 2 * np.sqrt(square) == pytest.approx(2 * population.gap, rel=1e-12)


@pytest.mark.parametrize("k", [0, 1])
def test_each_bimodal_class_is_an_even_mixture_of_two_normal_clumps(k):
    """A Kolmogorov-Smirnov test along the line through the clumps, at the level 7e-6."""
    population = Bimodal(gap=2.0)
    X, y = population.sample(8000, random_state=8)
    across = (X[y == k] - population.means[k]) @ np.linalg.solve(population.covariance, population.shift) / 2.0
    law = [stats.norm(-2.0), stats.norm(2.0)]
    assert stats.kstest(across, lambda t: (law[0].cdf(t) + law[1].cdf(t)) / 2).pvalue > CHANCE


def test_bimodal_classes_have_two_modes_with_few_points_between():
    """The middle has a density of 0.0044, the modes one of 0.2: 18 and 800 of 4000 points within one half."""
    population = Bimodal(gap=3.0)
    X, y = population.sample(8000, random_state=8)
    away = X[y == 0] - population.means[0]
    across = away @ np.linalg.solve(population.covariance, population.shift) / 3.0
    left, middle, right = (int((np.abs(across - at) < 0.5).sum()) for at in (-3.0, 0.0, 3.0))
    assert min(left, right) > 10 * middle


def test_gap_of_zero_gives_the_gaussian_model():
    """A Kolmogorov-Smirnov test of distances from the means, at the level 7e-6."""
    population = Bimodal(gap=0.0)
    X, y = population.sample(4000, random_state=9)
    away = X - population.means[y]
    squares = np.einsum("nd,nd->n", away, np.linalg.solve(population.covariance, away.T).T)
    assert stats.kstest(squares, stats.chi2(10).cdf).pvalue > CHANCE


@pytest.mark.parametrize("delta", [0.2, 0.5])
def test_bayes_error_of_bimodal_classes_is_that_of_the_gaussian_model(delta):
    assert Bimodal(delta=delta).bayes_error_ == pytest.approx(PaperGaussian(delta=delta).bayes_error_, rel=1e-12)


@pytest.mark.parametrize("key", list(BIMODAL))
def test_best_linear_classifier_of_bimodal_classes_has_their_bayes_error(key):
    population = BIMODAL[key]
    normal = np.linalg.solve(population.covariance, population.means[1])
    assert population.linear_error(normal, 0.0) == pytest.approx(population.bayes_error_, rel=1e-10)


def test_bayes_classifier_of_bimodal_classes_has_their_bayes_error():
    """Densities are scipy's. The tolerance is 4.5 binomial standard errors of 40,000 points; false alarm 7e-6."""
    population = Bimodal(gap=1.0, delta=0.4)
    X, y = population.sample(40_000, random_state=10)

    def density(mean):
        clumps = (mean - population.shift, mean + population.shift)
        return sum(stats.multivariate_normal(clump, population.covariance).pdf(X) for clump in clumps)

    share = ((density(population.means[1]) > density(population.means[0])) != y).mean()
    expected = population.bayes_error_
    assert abs(share - expected) < 4.5 * np.sqrt(expected * (1 - expected) / len(y))


def test_equal_class_probabilities_of_bimodal_classes_may_be_spelled_out():
    assert Bimodal(prior=(0.5, 0.5)).bayes_error_ == pytest.approx(Bimodal().bayes_error_, rel=1e-9)


def test_clumps_leave_the_best_error_of_unequal_classes_as_it_is():
    population = Bimodal(prior=(0.3, 0.7), delta=0.4)
    expected = PaperGaussian(prior=(0.3, 0.7), delta=0.4).bayes_error_
    normal = 2 * np.linalg.solve(population.covariance, population.means[1])
    best = population.linear_error(normal, float(np.log(0.7 / 0.3)))
    assert population.bayes_error_ == pytest.approx(expected, rel=1e-12)
    assert best == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: HeavyTailed(dof=2), r"dof must be more than 2 \(else no covariance exists\) and finite; got 2"),
        (lambda: HeavyTailed(dof=np.inf), "dof must be more than 2 .*; got inf"),
        (lambda: HeavyTailed(dof=np.nan), "dof must be more than 2 .*; got nan"),
        (lambda: HeavyTailed(sigma=0), "sigma must be positive"),
        (lambda: Skewed(shape=0), "shape must be positive and finite; got 0"),
        (lambda: Skewed(shape=np.nan), "shape must be positive and finite; got nan"),
        (lambda: Skewed(class_sizes="many"), "class_sizes must be 'fixed'"),
        (lambda: Bimodal(gap=-1), "gap must be finite and not negative; got -1"),
        (lambda: Bimodal(gap=np.inf), "gap must be finite and not negative; got inf"),
        (lambda: Bimodal(n_classes=3), "needs two classes .*; got 3 classes"),
        (lambda: Bimodal(n_informative=1, block=1), "two informative features or more; .* and 1 informative"),
    ],
)
def test_shapes_without_a_model_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_one_covariance_is_that_of_all_classes():
    means = [[0, 0, 0], [1, 1, -1]]
    one, each_its_own = (Gaussian(means, given).sample(20, random_state=0)[0] for given in (LONG, [LONG, LONG]))
    np.testing.assert_array_equal(one, each_its_own)


@pytest.mark.parametrize("k", [0, 1])
def test_gaussian_classes_have_the_chi_square_law_of_distances_from_their_means(k):
    """A Kolmogorov-Smirnov test at the level 7e-6."""
    X, y = UNEQUAL.sample(6000, random_state=11)
    away = X[y == k] - UNEQUAL.means[k]
    squares = np.einsum("nd,nd->n", away, np.linalg.solve([np.eye(3), LONG][k], away.T).T)
    assert stats.kstest(squares, stats.chi2(3).cdf).pvalue > CHANCE


def test_gaussian_classes_have_the_class_sizes_of_their_prior():
    assert np.bincount(UNEQUAL.sample(15, random_state=0)[1]).tolist() == [6, 9]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (([0, 1], np.eye(2)), r"class_means must be finite, of shape \(c, d\) with c >= 2; got shape \(2,\)"),
        (([[0, 1]], np.eye(2)), r"with c >= 2; got shape \(1, 2\)"),
        (([[0, np.nan], [1, 1]], np.eye(2)), "class_means must be finite"),
        (([[0, 0], [1, 1]], np.eye(3)), r"covariances must have shape \(2, 2\) or \(2, 2, 2\); got \(3, 3\)"),
        (([[0, 0], [1, 1]], [np.eye(2)] * 3), r"covariances must have shape .*; got \(3, 2, 2\)"),
        (([[0, 0], [1, 1]], [[1, 0.5], [0, 1]]), "covariances must be symmetric"),
        (([[0, 0], [1, 1]], [[1, 2], [2, 1]]), "covariances must be positive definite"),
        (([[0, 0], [1, 1]], [np.eye(2), np.zeros((2, 2))]), "covariances must be positive definite"),
        (([[0], [1]], [[np.nan]]), "covariances must be .*finite"),
        (([[0], [1]], [[np.inf]]), "covariances must be .*finite"),
        (([[0], [1]], [[1.0]], [0.5, 0.4]), "2 positive class probabilities with sum 1"),
        (([[0], [1]], [[1.0]], None, "equal"), "class_sizes must be 'fixed' .*; got 'equal'"),
    ],
)
def test_gaussian_classes_without_a_law_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        Gaussian(*parameters)
