"""The paper's Gaussian model: its formulas against hand values and Monte Carlo."""

import numpy as np
import pytest

from bayes_gresub.datasets.synthetic import PaperGaussian


def best_direction(population):
    return np.linalg.solve(population.covariance, population.mean)


def test_delta_for_bayes_error_of_one_fifth():
    assert PaperGaussian(bayes_error=0.2).delta == pytest.approx(0.3764, abs=5e-5)


@pytest.mark.parametrize("bayes_error", [0.01, 0.2, 0.45])
@pytest.mark.parametrize(
    "shape", [{}, {"block": 1}, {"block": 3, "rho": -0.3}, {"n_informative": 1, "block": 1, "n_noise": 0}]
)
def test_error_of_the_best_direction_is_the_bayes_error(bayes_error, shape):
    population = PaperGaussian(bayes_error=bayes_error, **shape)
    assert population.linear_error(best_direction(population), 0.0) == pytest.approx(bayes_error, rel=1e-10)


def test_no_direction_beats_the_bayes_error():
    population = PaperGaussian()
    normals = best_direction(population) + np.random.default_rng(0).standard_normal((200, 10)) * 0.1
    assert min(population.linear_error(normal, 0.05) for normal in normals) > 0.2


def test_linear_error_agrees_with_monte_carlo():
    """The tolerance is 4.5 binomial standard errors of a million points; false alarm 7e-6."""
    population = PaperGaussian(bayes_error=0.2)
    normal, offset = np.random.default_rng(1).standard_normal(10) + 0.5, 0.4
    expected = population.linear_error(normal, offset)
    X, y = population.sample(1_000_000, random_state=0)
    error = ((X @ normal + offset > 0) != y).mean()
    assert abs(error - expected) < 4.5 * np.sqrt(expected * (1 - expected) / 1e6)


def test_linear_error_does_not_depend_on_the_length_of_the_normal():
    population = PaperGaussian()
    normal = np.arange(10.0)
    assert population.linear_error(7 * normal, 7 * 0.3) == pytest.approx(population.linear_error(normal, 0.3))


def test_covariance_is_the_block_matrix_of_the_paper():
    pair = np.array([[1.0, 0.2], [0.2, 1.0]])
    expected = np.eye(10)
    for start in (0, 2, 4):
        expected[start : start + 2, start : start + 2] = pair
    np.testing.assert_array_equal(PaperGaussian().covariance, expected)


def test_blocks_have_the_correlation_everywhere_off_the_diagonal():
    expected = [[1, 0.5, 0.5, 0], [0.5, 1, 0.5, 0], [0.5, 0.5, 1, 0], [0, 0, 0, 1]]
    np.testing.assert_array_equal(PaperGaussian(n_informative=3, n_noise=1, block=3, rho=0.5).covariance, expected)


def test_noise_features_have_mean_zero_in_both_classes():
    population = PaperGaussian()
    np.testing.assert_array_equal(population.mean, [population.delta] * 6 + [0.0] * 4)


def test_sample_has_the_class_means_of_the_model():
    """The tolerance is 4.5 standard errors of 20 means of 50,000 points each; false alarm 1.4e-4."""
    population = PaperGaussian()
    X, y = population.sample(100_000, random_state=0)
    means = np.stack([-X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)])
    assert (np.abs(means - population.mean) < 4.5 / np.sqrt(50_000)).all()


def test_sample_is_seeded():
    one, same = (PaperGaussian().sample(10, random_state=4)[0] for _ in range(2))
    np.testing.assert_array_equal(one, same)


def test_other_seed_gives_another_sample():
    one, other = (PaperGaussian().sample(10, random_state=seed)[0] for seed in (4, 5))
    assert (one != other).all()


@pytest.mark.parametrize(("n", "counts"), [(20, [10, 10]), (21, [11, 10]), (2, [1, 1])])
def test_sample_is_balanced(n, counts):
    assert np.bincount(PaperGaussian().sample(n, random_state=0)[1]).tolist() == counts


def test_classes_come_in_random_order():
    y = PaperGaussian().sample(40, random_state=0)[1]
    assert 0 < (np.diff(y) != 0).sum() < 39


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"bayes_error": 0.0}, "between 0 and 0.5; got 0.0"),
        ({"bayes_error": 0.5}, "between 0 and 0.5; got 0.5"),
        ({"bayes_error": np.nan}, "between 0 and 0.5; got nan"),
        ({"n_informative": 5}, "multiple of block; got 5 in blocks of 2"),
        ({"n_informative": 0}, "multiple of block; got 0"),
        ({"block": 0}, "multiple of block; got 6 in blocks of 0"),
        ({"rho": 1.0}, "positive definite; got 1.0"),
        ({"rho": -0.5, "block": 3}, "positive definite; got -0.5 in blocks of 3"),
        ({"n_noise": -1}, "n_noise"),
    ],
)
def test_parameters_without_a_model_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        PaperGaussian(**parameters)
