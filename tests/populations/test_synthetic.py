"""The paper's Gaussian model and how samples of it come about, against closed forms, scipy and Monte Carlo."""

import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import pdist

from bayes_gresub.populations import HeavyTailed, PaperGaussian, Skewed

CHANCE = 7e-6
"""The level of tests of fit: what 4.5 standard errors of a normal estimate leave outside."""

PRIORS = [
    None,
    (0.3, 0.7),
    (0.2, 0.3, 0.5),
    (0.1, 0.2, 0.3, 0.4),
    (0.3, 0.25, 0.2, 0.15, 0.1),
]


def best_direction(population):
    return np.linalg.solve(population.covariance, population.means[1])


def of_classes(prior, **parameters):
    return PaperGaussian(prior=prior, n_classes=2 if prior is None else len(prior), **parameters)


def test_delta_for_bayes_error_of_one_fifth():
    assert PaperGaussian(bayes_error=0.2).delta_ == pytest.approx(0.3764, abs=5e-5)


def test_bayes_error_is_one_fifth_where_nothing_is_given():
    assert PaperGaussian().bayes_error_ == pytest.approx(0.2, rel=1e-12)


@pytest.mark.parametrize("bayes_error", [0.01, 0.2, 0.45])
@pytest.mark.parametrize(
    "shape",
    [{}, {"block": 1}, {"block": 3, "rho": -0.3}, {"n_informative": 1, "block": 1, "n_noise": 0}, {"sigma": 2.5}],
)
def test_error_of_the_best_direction_is_the_bayes_error(bayes_error, shape):
    population = PaperGaussian(bayes_error=bayes_error, **shape)
    assert population.linear_error(best_direction(population), 0.0) == pytest.approx(bayes_error, rel=1e-10)


def test_no_direction_beats_the_bayes_error():
    population = PaperGaussian()
    normals = best_direction(population) + np.random.default_rng(0).standard_normal((200, 10)) * 0.1
    assert min(population.linear_error(normal, 0.05) for normal in normals) > 0.2


def test_linear_error_agrees_with_monte_carlo():
    """The tolerance is 4.5 binomial standard errors of 300,000 points; false alarm 7e-6."""
    population = PaperGaussian(bayes_error=0.2)
    normal, offset = np.random.default_rng(1).standard_normal(10) + 0.5, 0.4
    expected = population.linear_error(normal, offset)
    X, y = population.sample(300_000, random_state=0)
    error = ((X @ normal + offset > 0) != y).mean()
    assert abs(error - expected) < 4.5 * np.sqrt(expected * (1 - expected) / 300_000)


def test_linear_error_does_not_depend_on_the_length_of_the_normal():
    population = PaperGaussian()
    normal = np.arange(10.0)
    assert population.linear_error(7 * normal, 7 * 0.3) == pytest.approx(population.linear_error(normal, 0.3))


@pytest.mark.parametrize("population", [PaperGaussian(n_classes=3), Skewed()], ids=["three classes", "no formula"])
def test_linear_error_without_a_formula_is_refused(population):
    with pytest.raises(ValueError, match=r"needs two classes whose laws have a formula; .* Use true_error"):
        population.linear_error(np.ones(10), 0.0)


@pytest.mark.parametrize("prior", [(0.3, 0.7), (0.7, 0.3), (0.05, 0.95), (0.5, 0.5)])
@pytest.mark.parametrize("delta", [0.1, 0.4, 1.5])
def test_bayes_error_of_two_unequal_classes_is_the_textbook_formula(prior, delta):
    """p0 Phi(-D/2 - log(p0/p1)/D) + p1 Phi(-D/2 + log(p0/p1)/D)."""
    population = of_classes(prior, delta=delta)
    apart = population.means[1] - population.means[0]
    distance = np.sqrt(apart @ np.linalg.solve(population.covariance, apart))
    shift = np.log(prior[0] / prior[1]) / distance
    expected = prior[0] * stats.norm.cdf(-distance / 2 - shift) + prior[1] * stats.norm.cdf(-distance / 2 + shift)
    assert population.bayes_error_ == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("prior", [*PRIORS[2:], *[(1 / c,) * c for c in (3, 4, 5)]])
def test_bayes_error_of_many_classes_is_the_multivariate_normal_probability(prior):
    """Class j wins where all its log-ratios, N(D^2/2 + log(p_j/p_l), D^2) of correlation 1/2, are positive."""
    population = of_classes(prior, delta=0.5, block=3, rho=0.4, sigma=1.3)
    distance = pdist(population.means, "mahalanobis", VI=np.linalg.inv(population.covariance))[0]
    correlation = (np.eye(len(prior) - 1) + 1) / 2
    correct = 0.0
    for j, p in enumerate(prior):
        margins = distance / 2 + np.log(p / np.delete(prior, j)) / distance
        correct += p * stats.multivariate_normal(cov=correlation, seed=0).cdf(margins)
    assert population.bayes_error_ == pytest.approx(1 - correct, abs=5e-5)  # the accuracy of that probability is 1e-5


@pytest.mark.parametrize("prior", [*PRIORS[1:], (0.25,) * 4])
def test_bayes_error_is_that_of_the_bayes_classifier(prior):
    """The tolerance is 4.5 binomial standard errors of 40,000 points; false alarm 7e-6 each."""
    population = of_classes(prior, delta=0.5, sigma=1.7, block=3, rho=0.4)
    X, y = population.sample(40_000, random_state=1)
    densities = [stats.multivariate_normal(mean, population.covariance).logpdf(X) for mean in population.means]
    said = (np.log(prior) + np.stack(densities, axis=1)).argmax(axis=1)
    expected = population.bayes_error_
    assert abs((said != y).mean() - expected) < 4.5 * np.sqrt(expected * (1 - expected) / len(y))


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize(
    ("bayes_error", "shape"),
    [(0.25, {}), (0.01, {"sigma": 3.0, "block": 3, "rho": -0.2})],
    ids=["paper", "other blocks"],
)
def test_bayes_error_of_the_delta_that_follows_is_the_one_given(prior, bayes_error, shape):
    delta = of_classes(prior, bayes_error=bayes_error, **shape).delta_
    assert of_classes(prior, delta=delta, **shape).bayes_error_ == pytest.approx(bayes_error, rel=1e-8)


@pytest.mark.parametrize("prior", PRIORS)
def test_delta_of_the_bayes_error_that_follows_is_the_one_given(prior):
    bayes_error = of_classes(prior, delta=0.45).bayes_error_
    assert of_classes(prior, bayes_error=bayes_error).delta_ == pytest.approx(0.45, rel=1e-8)


def test_delta_given_is_delta_and_half_the_distance_of_the_means():
    population = PaperGaussian(delta=0.7)
    assert (population.delta_, *np.diff(population.means[:, 0]) / 2) == (0.7, 0.7)


@pytest.mark.parametrize("bayes_error", [0.4, 0.499, 0.4999])
def test_equal_class_probabilities_may_be_spelled_out(bayes_error):
    spelled = PaperGaussian(prior=(0.5, 0.5), bayes_error=bayes_error).delta_
    assert spelled == pytest.approx(PaperGaussian(bayes_error=bayes_error).delta_, rel=1e-6)


def test_bayes_error_near_that_of_guessing_among_three_classes_has_a_delta():
    population = PaperGaussian(n_classes=3, bayes_error=0.6666)
    assert PaperGaussian(n_classes=3, delta=population.delta_).bayes_error_ == pytest.approx(0.6666, rel=1e-8)


@pytest.mark.parametrize("c", [2, 3, 4, 5, 7])
@pytest.mark.parametrize("shape", [{}, {"sigma": 1.7, "block": 3, "rho": 0.4}], ids=["paper", "other blocks"])
def test_means_are_equally_far_apart_in_the_metric_of_the_covariance(c, shape):
    population = PaperGaussian(n_classes=c, delta=0.5, **shape)
    distances = pdist(population.means, "mahalanobis", VI=np.linalg.inv(population.covariance))
    np.testing.assert_allclose(distances, population.distance, rtol=1e-10)


@pytest.mark.parametrize("c", [2, 3, 4, 5, 7])
def test_first_two_means_are_apart_as_the_two_of_the_paper(c):
    population = PaperGaussian(n_classes=c, delta=0.5)
    np.testing.assert_allclose(population.means[1] - population.means[0], [1.0] * 6 + [0.0] * 4, atol=1e-12)


@pytest.mark.parametrize("c", [2, 3, 5, 7])
def test_means_of_all_classes_have_the_origin_as_their_centre(c):
    np.testing.assert_allclose(PaperGaussian(n_classes=c, delta=0.5).means.sum(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize("c", [3, 5, 7])
def test_noise_features_have_mean_zero_in_all_of_many_classes(c):
    np.testing.assert_array_equal(PaperGaussian(n_classes=c, delta=0.5).means[:, 6:], 0)


def test_means_of_two_classes_are_minus_delta_and_delta_and_zero_in_the_noise_features():
    population = PaperGaussian()
    delta = population.delta_
    np.testing.assert_array_equal(population.means, [[-delta] * 6 + [0.0] * 4, [delta] * 6 + [0.0] * 4])


def test_covariance_is_the_block_matrix_of_the_paper():
    pair = np.array([[1.0, 0.2], [0.2, 1.0]])
    expected = np.eye(10)
    for start in (0, 2, 4):
        expected[start : start + 2, start : start + 2] = pair
    np.testing.assert_array_equal(PaperGaussian().covariance, expected)


def test_blocks_have_the_correlation_everywhere_off_the_diagonal():
    expected = [[1, 0.5, 0.5, 0], [0.5, 1, 0.5, 0], [0.5, 0.5, 1, 0], [0, 0, 0, 1]]
    np.testing.assert_array_equal(PaperGaussian(n_informative=3, n_noise=1, block=3, rho=0.5).covariance, expected)


def test_sigma_is_the_standard_deviation_of_every_feature():
    np.testing.assert_allclose(np.sqrt(np.diag(PaperGaussian(sigma=1.7).covariance)), 1.7)


def test_sample_has_the_class_means_of_the_model():
    """The tolerance is 4.5 standard errors of 20 means of 50,000 points each; false alarm 1.4e-4."""
    population = PaperGaussian()
    X, y = population.sample(100_000, random_state=0)
    means = np.stack([X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)])
    assert (np.abs(means - population.means) < 4.5 / np.sqrt(50_000)).all()


def test_distances_from_the_class_means_have_the_chi_square_law():
    """A Kolmogorov-Smirnov test at the level 7e-6."""
    population = PaperGaussian(n_classes=3, sigma=1.7, block=3, rho=0.4, delta=0.8)
    X, y = population.sample(6000, random_state=2)
    away = X - population.means[y]
    squares = np.einsum("nd,nd->n", away, np.linalg.solve(population.covariance, away.T).T)
    assert stats.kstest(squares, stats.chi2(10).cdf).pvalue > CHANCE


@pytest.mark.parametrize("seed", [4, np.int64(4), np.random.SeedSequence(4)], ids=["int", "int64", "SeedSequence"])
def test_same_seed_gives_the_same_sample(seed):
    (X, y), (again, labels) = (PaperGaussian().sample(10, random_state=seed) for _ in range(2))
    np.testing.assert_array_equal(np.column_stack([X, y]), np.column_stack([again, labels]))


def test_int_and_the_seed_sequence_of_it_give_the_same_sample():
    one, same = (PaperGaussian().sample(10, random_state=seed)[0] for seed in (4, np.random.SeedSequence(4)))
    np.testing.assert_array_equal(one, same)


def test_generators_in_the_same_state_give_the_same_sample():
    one, same = (PaperGaussian().sample(10, random_state=np.random.default_rng(4))[0] for _ in range(2))
    np.testing.assert_array_equal(one, same)


def test_one_generator_gives_another_sample_each_time():
    rng = np.random.default_rng(4)
    one, other = (PaperGaussian().sample(10, random_state=rng)[0] for _ in range(2))
    assert (one != other).all()


@pytest.mark.parametrize(
    ("first", "second"),
    [(4, 5), (None, None), (np.random.SeedSequence(4, spawn_key=(0,)), np.random.SeedSequence(4, spawn_key=(1,)))],
    ids=["int", "None", "SeedSequence"],
)
def test_other_seed_gives_another_sample(first, second):
    one, other = (PaperGaussian().sample(10, random_state=seed)[0] for seed in (first, second))
    assert (one != other).all()


def test_other_seed_gives_the_classes_in_another_order():
    one, other = (PaperGaussian().sample(40, random_state=seed)[1] for seed in (4, 5))
    assert (one != other).any()


def test_no_random_state_is_refused():
    with pytest.raises(ValueError, match=r"non-negative int.*got -1. Pass an int"):
        PaperGaussian().sample(4, random_state=-1)


def test_draw_gives_the_sample_of_the_same_seed():
    X, y, _ = PaperGaussian().draw(10, random_state=4)
    points, labels = PaperGaussian().sample(10, random_state=4)
    np.testing.assert_array_equal(np.column_stack([X, y]), np.column_stack([points, labels]))


def test_population_is_the_truth_of_what_it_draws():
    population = PaperGaussian()
    assert population.draw(10, random_state=4)[2] is population


@pytest.mark.parametrize(("n", "counts"), [(20, [10, 10]), (21, [11, 10]), (2, [1, 1])])
def test_sample_is_balanced(n, counts):
    assert np.bincount(PaperGaussian().sample(n, random_state=0)[1]).tolist() == counts


@pytest.mark.parametrize(
    ("prior", "n", "counts"),
    [
        ((0.3, 0.7), 20, [6, 14]),
        ((0.3, 0.7), 21, [6, 15]),
        ((0.2, 0.3, 0.5), 100, [20, 30, 50]),
        ((0.2, 0.3, 0.5), 7, [1, 2, 4]),
        ((0.1, 0.2, 0.3, 0.4), 5, [1, 1, 1, 2]),
        ((0.29, 0.71), 100, [29, 71]),
        ((1 / 3, 1 / 3, 1 / 3), 9, [3, 3, 3]),
        ((0.05, 0.95), 4, [0, 4]),
    ],
)
def test_fixed_class_sizes_are_n_times_the_prior_with_the_largest_remainders_rounded_up(prior, n, counts):
    y = of_classes(prior, delta=0.5).sample(n, random_state=0)[1]
    assert np.bincount(y, minlength=len(prior)).tolist() == counts


@pytest.mark.parametrize(("percent", "n"), [(45, 50), (29, 50), (19, 150), (35, 10), (5, 10)])
def test_fixed_class_sizes_that_tie_are_rounded_up_in_the_first_class(percent, n):
    y = PaperGaussian(prior=(percent / 100, 1 - percent / 100), delta=0.5).sample(n, random_state=0)[1]
    assert (y == 0).sum() == percent * n // 100 + 1


@pytest.mark.parametrize("n", [1, 2, 3, 10, 11, 97])
@pytest.mark.parametrize("prior", PRIORS)
def test_fixed_class_sizes_are_less_than_one_from_n_times_the_prior(prior, n):
    population = of_classes(prior, delta=0.5)
    y = population.sample(n, random_state=0)[1]
    wanted = n * population.class_probabilities
    assert np.abs(np.bincount(y, minlength=len(wanted)) - wanted).max() < 1


def test_fixed_class_sizes_are_the_same_for_all_seeds():
    population = PaperGaussian(prior=(0.3, 0.7), delta=0.5)
    assert {int(population.sample(13, random_state=seed)[1].sum()) for seed in range(20)} == {9}


def test_random_class_sizes_follow_the_multinomial_law():
    """A chi-square test over the ten outcomes of three points in three classes, at the level 7e-6."""
    prior = (0.2, 0.3, 0.5)
    population = of_classes(prior, delta=0.5, class_sizes="random")
    outcomes = [sizes for sizes in itertools.product(range(4), repeat=3) if sum(sizes) == 3]
    seen = dict.fromkeys(outcomes, 0)
    for seed in range(2000):
        seen[tuple(np.bincount(population.sample(3, random_state=seed)[1], minlength=3).tolist())] += 1
    expected = 2000 * stats.multinomial(3, prior).pmf(outcomes)
    assert stats.chisquare(list(seen.values()), expected).pvalue > CHANCE


def test_random_labels_are_independent_of_each_other():
    """A chi-square test over the four outcomes of two labels, at the level 7e-6."""
    population = PaperGaussian(prior=(0.3, 0.7), delta=0.5, class_sizes="random")
    seen = np.zeros((2, 2))
    for seed in range(2000):
        seen[tuple(population.sample(2, random_state=seed)[1])] += 1
    expected = 2000 * np.outer([0.3, 0.7], [0.3, 0.7])
    assert stats.chisquare(seen.ravel(), expected.ravel()).pvalue > CHANCE


def test_all_orders_of_fixed_class_sizes_are_equally_likely():
    """A chi-square test over the six orders of two and two, at the level 7e-6."""
    orders = {order: 0 for order in itertools.product((0, 1), repeat=4) if sum(order) == 2}
    for seed in range(2000):
        orders[tuple(PaperGaussian().sample(4, random_state=seed)[1].tolist())] += 1
    assert stats.chisquare(list(orders.values())).pvalue > CHANCE


@pytest.mark.parametrize("n", [0, -3, 10.0, True, "10"])
def test_sample_size_that_is_no_whole_number_is_refused(n):
    with pytest.raises(ValueError, match=r"n must be a whole number of at least 1; got"):
        PaperGaussian().sample(n)


def test_bayes_error_and_delta_together_are_refused():
    with pytest.raises(ValueError, match="give bayes_error or delta, not both: one follows from the other"):
        PaperGaussian(bayes_error=0.2, delta=0.4)


@pytest.mark.parametrize("prior", [(0.4, 0.6), (0.7, 0.3), (0.9, 0.1)])
def test_bayes_error_of_always_saying_the_most_frequent_class_is_refused(prior):
    """Rounding of one minus the largest probability must not let it through."""
    with pytest.raises(ValueError, match="the error of always predicting the most frequent class"):
        PaperGaussian(prior=prior, bayes_error=min(prior))


@pytest.mark.parametrize("model", [PaperGaussian, HeavyTailed, Skewed])
def test_default_bayes_error_that_always_saying_one_class_beats_is_refused(model):
    """One class of 0.9 leaves no best error of 0.2: the user must be told to give another, not what brentq found."""
    with pytest.raises(ValueError, match="delta"):
        model(prior=(0.9, 0.1)).sample(10, random_state=0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"bayes_error": 0.0}, r"between 0 and 0\.5, .*; got 0\.0"),
        ({"bayes_error": 0.5}, r"between 0 and 0\.5, .*; got 0\.5"),
        ({"bayes_error": np.nan}, r"between 0 and 0\.5, .*; got nan"),
        (
            {"bayes_error": 0.35, "prior": (0.7, 0.3)},
            r"between 0 and 0\.3, the error of always predicting the most frequent",
        ),
        ({"bayes_error": 0.7, "n_classes": 3}, r"between 0 and 0\.666667, .*; got 0\.7"),
        ({"delta": 0.0}, r"delta must be positive and finite; got 0\.0"),
        ({"delta": np.inf}, "delta must be positive and finite; got inf"),
        ({"delta": np.nan}, "delta must be positive and finite; got nan"),
        ({"sigma": 0.0}, r"sigma must be positive and finite; got 0\.0"),
        ({"sigma": -1.0}, r"sigma must be positive and finite; got -1\.0"),
        ({"n_informative": 5}, "multiple of block; got 5 in blocks of 2"),
        ({"n_informative": 0}, "n_informative must be a whole number of at least 1; got 0"),
        ({"n_informative": 6.0}, r"n_informative must be a whole number of at least 1; got 6\.0"),
        ({"block": 0}, "block must be a whole number of at least 1; got 0"),
        ({"rho": 1.0}, r"positive definite; got 1\.0"),
        ({"rho": -0.5, "block": 3}, r"positive definite; got -0\.5 in blocks of 3"),
        ({"rho": np.nan}, "positive definite; got nan"),
        ({"n_noise": -1}, "n_noise must be a whole number of at least 0; got -1"),
        ({"n_classes": 1}, "n_classes must be a whole number of at least 2; got 1"),
        ({"n_classes": 8}, r"at most n_informative \+ 1 .*; got 8 classes with 6 informative"),
        ({"prior": (0.5, 0.6)}, r"2 positive class probabilities with sum 1; got \(0\.5, 0\.6\)\. None means equal"),
        ({"prior": (0.0, 1.0)}, "2 positive class probabilities with sum 1"),
        ({"prior": (0.2, 0.3, 0.5)}, "2 positive class probabilities with sum 1"),
        ({"prior": (0.5, 0.5), "n_classes": 3}, "3 positive class probabilities with sum 1"),
        ({"prior": (np.nan, 0.5)}, "2 positive class probabilities with sum 1"),
        ({"class_sizes": "equal"}, r"class_sizes must be 'fixed' .* or 'random' .*; got 'equal'"),
    ],
)
def test_parameters_without_a_model_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        PaperGaussian(**parameters)
