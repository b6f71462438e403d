"""Widths of kernels: against hand computations, brute force over pairs, and draws from the fitted kernels."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chi

import bayes_gresub as bg
from bayes_gresub.kernels import kernel as kernel_module

SPACES = ("within-class", None)
ESTIMATED_BY_DISTANCE = (bg.SphericalGaussian, bg.UniformBall, bg.FullGaussian)
KERNELS = (*ESTIMATED_BY_DISTANCE, bg.DiagonalGaussian)
ONE_NUMBER = (bg.SphericalGaussian, bg.UniformBall, bg.DiagonalGaussian)

N_DRAWS = 200_000
HALF_TOLERANCE = 4.5 * 0.5 / np.sqrt(N_DRAWS)
"""4.5 standard errors of a share of one half; a false alarm has probability 7e-6 per share."""

TINY_X = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 6.0], [10.0, 0.0], [10.0, 1.0]])
TINY_Y = np.array(["a", "a", "a", "b", "b"])
"""Nearest neighbours in class a are at 5, 2 and 2 (mean 3); in class b at 1 and 1."""


def two_classes(n_each=30, d=3, seed=0):
    rng = np.random.default_rng(seed)
    mixing = np.diag(np.geomspace(1, 5, d)) + 0.3 * rng.standard_normal((d, d))
    X = rng.standard_normal((2 * n_each, d)) @ mixing
    y = np.repeat(["a", "b"], n_each)
    X[y == "b"] = 2 * X[y == "b"] + 3
    return X, y


def pooled_deviation(X, y):
    """Return the pooled within-class standard deviation of each feature, from the classes' own variances."""
    labels = np.unique(y)
    squares = sum(X[y == label].var(axis=0, ddof=1) * ((y == label).sum() - 1) for label in labels)
    return np.sqrt(squares / (len(X) - len(labels)))


def unit_of(X, y, space):
    return pooled_deviation(X, y) if space == "within-class" else np.ones(X.shape[1])


def mean_nearest(points):
    """Return the mean distance to the nearest other point, by brute force over pairs."""
    apart = [
        min(np.linalg.norm(one - other) for j, other in enumerate(points) if j != i) for i, one in enumerate(points)
    ]
    return np.mean(apart)


def components_of(kernel, X, y):
    return kernel.components(X, np.searchsorted(kernel.classes_, y), at_training_points=True)


def deviations(kernel, X, y):
    """Return the scale of every coordinate under every component, shape (n, d)."""
    components = components_of(kernel, X, y)
    return components.feature_deviations()[components.group]


def covariances(kernel, X, y):
    components = components_of(kernel, X, y)
    return components.covariance_shape()[components.group]


def draws_about(kernel, X, y, row, seed=1):
    """Return draws from the component of one training point, relative to that point."""
    rows = np.full(N_DRAWS, row)
    return components_of(kernel, X, y).draw(rows, np.random.default_rng(seed)) - X[row]


def test_spherical_width_is_mean_nearest_distance_over_median_of_chi():
    widths = bg.SphericalGaussian(standardize=None).fit(TINY_X, TINY_Y).widths_
    np.testing.assert_allclose(widths, np.array([3.0, 1.0]) / np.sqrt(2 * np.log(2)), rtol=1e-12)


def test_ball_radius_is_mean_nearest_distance_times_root_of_two():
    widths = bg.UniformBall(standardize=None).fit(TINY_X, TINY_Y).widths_
    np.testing.assert_allclose(widths, np.array([3.0, 1.0]) * np.sqrt(2), rtol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 3, 10])
def test_ball_radius_follows_dimension(d):
    X = np.zeros((4, d))
    X[:, 0] = [0, 1, 5, 6]
    widths = bg.UniformBall(standardize=None).fit(X, [0, 0, 1, 1]).widths_
    np.testing.assert_allclose(widths, 2 ** (1 / d), rtol=1e-12)


@pytest.mark.parametrize(("d", "alpha"), [(1, 0.674), (2, 1.177), (3, 1.538), (4, 1.832), (5, 2.086)])
def test_dimensionality_corrections_are_those_of_the_paper(d, alpha):
    X = np.zeros((4, d))
    X[:, 0] = [0, 1, 5, 6]
    widths = bg.SphericalGaussian(standardize=None).fit(X, [0, 0, 1, 1]).widths_
    np.testing.assert_allclose(1 / widths, alpha, atol=5e-4)


def test_chi_median_matches_scipy_in_high_dimension():
    assert kernel_module.chi_median(784) == pytest.approx(chi.median(784), rel=1e-10)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("kernel", [bg.SphericalGaussian, bg.UniformBall])
def test_half_of_a_kernels_draws_are_nearer_than_the_mean_nearest_neighbour(kernel, space):
    """The median distance is the mean nearest-neighbour distance; false alarm 7e-6 per case."""
    X, y = two_classes()
    unit = unit_of(X, y, space)
    apart = np.linalg.norm(draws_about(kernel(standardize=space).fit(X, y), X, y, row=0) / unit, axis=1)
    assert abs((apart < mean_nearest(X[y == "a"] / unit)).mean() - 0.5) < HALF_TOLERANCE


@pytest.mark.parametrize("space", SPACES)
def test_half_of_full_gaussian_draws_are_nearer_than_the_mean_neighbour_in_mahalanobis_metric(space):
    """The median distance is the mean nearest-neighbour distance; false alarm 7e-6 per case."""
    X, y = two_classes()
    inverse = np.linalg.inv(np.linalg.cholesky(np.cov(X[y == "b"], rowvar=False)))
    moved = draws_about(bg.FullGaussian(shrinkage=0, standardize=space).fit(X, y), X, y, row=len(X) - 1)
    apart = np.linalg.norm(moved @ inverse.T, axis=1)
    assert abs((apart < mean_nearest(X[y == "b"] @ inverse.T)).mean() - 0.5) < HALF_TOLERANCE


def test_ball_beside_a_constant_feature_is_a_ball_in_the_features_that_vary():
    """Half of the draws are nearer than the mean nearest neighbour; false alarm 7e-6."""
    X, y = two_classes(d=2)
    padded = np.insert(X, 1, 7.0, axis=1)
    moved = draws_about(bg.UniformBall().fit(padded, y), padded, y, row=0)[:, [0, 2]] / pooled_deviation(X, y)
    target = mean_nearest(X[y == "a"] / pooled_deviation(X, y))
    assert abs((np.linalg.norm(moved, axis=1) < target).mean() - 0.5) < HALF_TOLERANCE


@pytest.mark.parametrize("space", SPACES)
def test_naive_bayes_width_takes_the_nearest_different_value_of_each_feature(space):
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 9, (24, 3)) ** 2.0, np.repeat([0, 1], 12)
    expected = np.zeros((2, 3))
    for code in (0, 1):
        for feature in range(3):
            values = X[y == code, feature]
            nearest = [min(abs(v - w) for w in values if w != v) for v in values]
            expected[code, feature] = np.mean(nearest) / 0.6744897501960817
    kernel = bg.DiagonalGaussian(standardize=space).fit(X, y)
    np.testing.assert_allclose(deviations(kernel, X, y), expected[y], rtol=1e-12)


@pytest.mark.parametrize("space", SPACES)
def test_naive_bayes_width_with_zero_ties_takes_the_nearest_other_point_in_each_feature(space):
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 9, (24, 3)) ** 2.0, np.repeat([0, 1], 12)
    expected = np.zeros((2, 3))
    for code in (0, 1):
        for feature in range(3):
            values = X[y == code, feature]
            nearest = [min(abs(v - w) for j, w in enumerate(values) if j != i) for i, v in enumerate(values)]
            expected[code, feature] = np.mean(nearest) / 0.6744897501960817
    kernel = bg.DiagonalGaussian(ties="zero", standardize=space).fit(X, y)
    np.testing.assert_allclose(deviations(kernel, X, y), expected[y], rtol=1e-12)


def test_the_data_of_the_tie_tests_have_ties_in_every_class():
    """Guards the two tests above: without ties they could not tell the two rules apart."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 9, (24, 3)) ** 2.0
    assert all(max(Counter(part[:, f]).values()) > 1 for part in (X[:12], X[12:]) for f in range(3))


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("ties", ["different", "zero"])
def test_feature_constant_in_one_class_has_naive_bayes_width_zero_there_only(ties, space):
    X = np.array([[0.1, 0.0], [0.1, 2.0], [0.1, 5.0], [1.0, 1.0], [2.0, 4.0], [4.0, 6.0]])
    widths = bg.DiagonalGaussian(ties=ties, standardize=space).fit(X, [0, 0, 0, 1, 1, 1]).widths_
    np.testing.assert_array_equal(widths > 0, [[False, True], [True, True]])


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_class_of_identical_points_has_width_zero(kernel, space):
    X = np.concatenate([np.full((4, 2), 0.1), np.random.default_rng(0).standard_normal((6, 2))])
    y = np.repeat([0, 1], [4, 6])
    assert (deviations(kernel(standardize=space).fit(X, y), X, y)[:4] == 0).all()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("constant", [0.0, 0.1, 1e9 + 0.1])
def test_adding_a_constant_column_changes_no_component(kernel, constant):
    X, y = two_classes()
    padded = np.insert(X, 1, constant, axis=1)
    plain = deviations(kernel().fit(X, y), X, y)
    np.testing.assert_allclose(
        deviations(kernel().fit(padded, y), padded, y), np.insert(plain, 1, 0.0, axis=1), rtol=1e-10
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_rescaling_a_column_changes_only_its_unit(kernel):
    X, y = two_classes()
    factors = np.array([1.0, 1e-3, 1e4])
    plain = deviations(kernel().fit(X, y), X, y)
    np.testing.assert_allclose(deviations(kernel().fit(X * factors, y), X * factors, y), plain * factors, rtol=1e-10)


@pytest.mark.parametrize("d", [3, 20])
@pytest.mark.parametrize("kernel", ESTIMATED_BY_DISTANCE)
def test_all_pairs_and_neighbour_search_give_the_same_width(kernel, d, monkeypatch):
    X, y = two_classes(d=d)
    dense = kernel().fit(X, y).widths_
    monkeypatch.setattr(kernel_module, "DENSE_LIMIT", 10)
    np.testing.assert_allclose(kernel().fit(X, y).widths_, dense, rtol=1e-10)


@pytest.mark.parametrize("offset", [1e6, 1e8])
def test_neighbour_search_is_accurate_far_from_the_origin(offset, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 20)), np.repeat([0, 1], 40)
    near = bg.SphericalGaussian(standardize=None).fit(X, y).widths_
    monkeypatch.setattr(kernel_module, "DENSE_LIMIT", 10)
    far = bg.SphericalGaussian(standardize=None).fit(X + offset, y).widths_
    np.testing.assert_allclose(far, near, rtol=1e-6)


@pytest.mark.parametrize("kernel", ESTIMATED_BY_DISTANCE)
def test_width_from_a_subsample_is_within_its_standard_error_of_the_full_width(kernel, monkeypatch):
    """The tolerance is 4.5 recorded standard errors; false alarm 7e-6 per width."""
    X, y = two_classes(n_each=600)
    full = kernel().fit(X, y).widths_
    monkeypatch.setattr(kernel_module, "DENSE_LIMIT", 10)
    monkeypatch.setattr(kernel_module, "QUERY_LIMIT", 500)
    monkeypatch.setattr(kernel_module, "SUBSAMPLE", 150)
    fitted = kernel().fit(X, y, random_state=0)
    assert (np.abs(fitted.widths_ - full) < 4.5 * fitted.width_std_error_).all()


def test_recorded_standard_error_is_the_deviation_over_subsamples(monkeypatch):
    """The deviation over 60 seeds has a standard error of 9.2%; 4.5 of them are 0.42, a false alarm 7e-6."""
    points = np.random.default_rng(0).standard_normal((300, 2))
    monkeypatch.setattr(kernel_module, "DENSE_LIMIT", 10)
    monkeypatch.setattr(kernel_module, "QUERY_LIMIT", 100)
    monkeypatch.setattr(kernel_module, "SUBSAMPLE", 150)
    means = [kernel_module.mean_nearest_distance(points, np.random.SeedSequence(seed)) for seed in range(60)]
    recorded = np.mean([mean.std_error for mean in means])
    assert np.std([mean.value for mean in means], ddof=1) == pytest.approx(recorded, rel=0.42)


def test_standard_errors_of_ball_and_gaussian_are_the_same_share_of_the_width(monkeypatch):
    X, y = two_classes(n_each=200)
    monkeypatch.setattr(kernel_module, "DENSE_LIMIT", 10)
    monkeypatch.setattr(kernel_module, "QUERY_LIMIT", 100)
    monkeypatch.setattr(kernel_module, "SUBSAMPLE", 50)
    ball, gaussian = (kernel().fit(X, y, random_state=0) for kernel in (bg.UniformBall, bg.SphericalGaussian))
    np.testing.assert_allclose(
        ball.width_std_error_ / ball.widths_, gaussian.width_std_error_ / gaussian.widths_, rtol=1e-12
    )


def test_subsample_of_query_points_is_seeded(monkeypatch):
    X, y = two_classes(n_each=200)
    monkeypatch.setattr(kernel_module, "DENSE_LIMIT", 10)
    monkeypatch.setattr(kernel_module, "QUERY_LIMIT", 100)
    monkeypatch.setattr(kernel_module, "SUBSAMPLE", 50)
    one, same, other = (bg.SphericalGaussian().fit(X, y, random_state=seed).widths_ for seed in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).all()


@pytest.mark.parametrize("kernel", ESTIMATED_BY_DISTANCE)
def test_width_from_all_points_has_standard_error_zero(kernel):
    X, y = two_classes()
    assert (kernel().fit(X, y).width_std_error_ == 0).all()


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("kernel", ONE_NUMBER)
def test_width_given_as_a_number_holds_for_every_point(kernel, space):
    X, y = two_classes()
    expected = np.broadcast_to(0.5 * unit_of(X, y, space), X.shape)
    np.testing.assert_allclose(deviations(kernel(0.5, standardize=space).fit(X, y), X, y), expected, rtol=1e-12)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("kernel", ONE_NUMBER)
@pytest.mark.parametrize("width", [[0.5, 2.0], {"b": 2.0, "a": 0.5}], ids=["sequence", "dict"])
def test_width_given_per_class_holds_for_the_points_of_the_class(kernel, width, space):
    X, y = two_classes()
    expected = np.where(y == "a", 0.5, 2.0)[:, None] * unit_of(X, y, space)
    np.testing.assert_allclose(deviations(kernel(width, standardize=space).fit(X, y), X, y), expected, rtol=1e-12)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("kernel", ONE_NUMBER)
def test_width_given_per_point_holds_for_that_point(kernel, space):
    X, y = two_classes()
    width = np.linspace(0, 1, len(X))
    expected = width[:, None] * unit_of(X, y, space)
    np.testing.assert_allclose(deviations(kernel(width, standardize=space).fit(X, y), X, y), expected, rtol=1e-12)


@pytest.mark.parametrize("space", SPACES)
def test_width_given_per_point_and_feature_holds_for_them(space):
    X, y = two_classes()
    width = np.random.default_rng(0).random(X.shape)
    kernel = bg.DiagonalGaussian(width, standardize=space).fit(X, y)
    np.testing.assert_allclose(deviations(kernel, X, y), width * unit_of(X, y, space), rtol=1e-12)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("as_dict", [False, True])
def test_width_given_per_class_and_feature_holds_for_them(space, as_dict):
    X, y = two_classes()
    width = np.array([[0.1, 0.2, 0.3], [4.0, 5.0, 6.0]])
    given = {"b": width[1], "a": width[0]} if as_dict else width
    kernel = bg.DiagonalGaussian(given, standardize=space).fit(X, y)
    expected = width[(y == "b").astype(int)] * unit_of(X, y, space)
    np.testing.assert_allclose(deviations(kernel, X, y), expected, rtol=1e-12)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("width", [0.5, {"a": 0.5, "b": 2.0}, "per point"], ids=["number", "per class", "per point"])
def test_width_of_full_gaussian_multiplies_the_class_covariance(width, space):
    X, y = two_classes()
    each = {"a": 0.5, "b": 2.0} if isinstance(width, dict) else {"a": 0.5, "b": 0.5}
    factors = np.array([each[label] for label in y])
    if width == "per point":
        width = factors = np.linspace(0, 1, len(X))
    kernel = bg.FullGaussian(width, shrinkage=0, standardize=space).fit(X, y)
    shapes = {label: np.cov(X[y == label], rowvar=False) for label in "ab"}
    expected = np.array([factor**2 * shapes[label] for factor, label in zip(factors, y, strict=True)])
    np.testing.assert_allclose(covariances(kernel, X, y), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("space", SPACES)
def test_covariance_given_per_point_is_that_of_the_component(space):
    X, y = two_classes()
    roots = np.random.default_rng(0).standard_normal((len(X), 3, 3))
    given = roots @ roots.swapaxes(1, 2) + 0.1 * np.eye(3)
    unit = unit_of(X, y, space)
    kernel = bg.FullGaussian(given, standardize=space).fit(X, y)
    np.testing.assert_allclose(covariances(kernel, X, y), given * np.outer(unit, unit), rtol=1e-10, atol=1e-12)


def test_covariance_given_per_class_by_label_is_that_of_the_component():
    X, y = two_classes()
    given = {"b": np.diag([1.0, 2.0, 3.0]), "a": np.eye(3) + 0.5}
    kernel = bg.FullGaussian(given, standardize=None).fit(X, y)
    np.testing.assert_allclose(covariances(kernel, X, y), [given[label] for label in y], rtol=1e-12, atol=1e-15)


def test_draws_have_the_covariance_given_for_their_point():
    """Entries of a sample covariance have standard error sqrt((K_ij^2 + K_ii K_jj)/n); false alarm 4e-5."""
    X, y = two_classes(d=2)
    given = np.repeat([[[4.0, 1.0], [1.0, 0.5]]], len(X), axis=0) * np.linspace(1, 2, len(X))[:, None, None]
    moved = draws_about(bg.FullGaussian(given, standardize=None).fit(X, y), X, y, row=5)
    K = given[5]
    tolerance = 4.5 * np.sqrt((K**2 + np.outer(np.diag(K), np.diag(K))) / N_DRAWS)
    assert (np.abs(np.cov(moved, rowvar=False) - K) < tolerance).all()


@pytest.mark.parametrize("space", SPACES)
def test_full_gaussian_without_shrinkage_is_affinely_equivariant(space):
    X, y = two_classes()
    A = np.random.default_rng(5).standard_normal((3, 3))
    moved = X @ A.T + 100
    plain, mapped = (bg.FullGaussian(shrinkage=0, standardize=space).fit(Z, y) for Z in (X, moved))
    np.testing.assert_allclose(covariances(mapped, moved, y), A @ covariances(plain, X, y) @ A.T, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("shape", ["one", "per class"])
def test_width_is_measured_in_the_metric_of_a_given_covariance(shape):
    X, y = two_classes()
    given = np.stack([np.diag([1.0, 4.0, 9.0]), np.eye(3) + 0.5])
    given = given[:1].repeat(2, axis=0) if shape == "one" else given
    kernel = bg.FullGaussian(covariance=given[0] if shape == "one" else given, standardize=None).fit(X, y)
    whitened = [X[y == label] @ np.linalg.inv(np.linalg.cholesky(K)).T for label, K in zip("ab", given, strict=True)]
    np.testing.assert_allclose(kernel.widths_, [mean_nearest(Z) / chi.median(3) for Z in whitened], rtol=1e-10)


def test_constant_column_changes_no_width_beside_a_given_covariance():
    X, y = two_classes()
    plain = bg.FullGaussian(covariance=np.eye(3)).fit(X, y).widths_
    padded = bg.FullGaussian(covariance=np.eye(4)).fit(np.insert(X, 1, 7.0, axis=1), y).widths_
    np.testing.assert_allclose(padded, plain, rtol=1e-10)


def test_given_covariance_is_the_shape_of_the_components():
    X, y = two_classes()
    given = np.eye(3) + 0.5
    kernel = bg.FullGaussian(2.0, covariance=given, standardize=None).fit(X, y)
    np.testing.assert_allclose(covariances(kernel, X, y), np.broadcast_to(4 * given, (len(X), 3, 3)), rtol=1e-12)


def test_shrinkage_mixes_the_covariance_with_its_mean_variance():
    X, y = two_classes()
    kernel = bg.FullGaussian(1.0, shrinkage=0.25, standardize=None).fit(X, y)
    K = np.cov(X[y == "a"], rowvar=False)
    expected = 0.75 * K + 0.25 * np.trace(K) / 3 * np.eye(3)
    np.testing.assert_allclose(covariances(kernel, X, y)[0], expected, rtol=1e-12)


@pytest.mark.parametrize("number", [np.int64(1), np.float32(0.5)])
def test_shrinkage_may_be_a_numpy_number(number):
    X, y = two_classes()
    fitted = bg.FullGaussian(shrinkage=number).fit(X, y)
    np.testing.assert_allclose(fitted.widths_, bg.FullGaussian(shrinkage=float(number)).fit(X, y).widths_, rtol=1e-6)


def test_automatic_shrinkage_serves_classes_with_fewer_points_than_features():
    X, y = two_classes(n_each=5, d=12)
    assert np.isfinite(bg.FullGaussian().fit(X, y).widths_).all()


@pytest.mark.parametrize("X", [np.arange(24.0).reshape(6, 4) ** 1.5, np.arange(6.0)[:, None] ** 2 @ [[1.0, 2.0]]])
def test_singular_class_covariance_is_refused_with_the_remedy(X):
    with pytest.raises(ValueError, match=r"the one of class 'a' is singular. Raise shrinkage"):
        bg.FullGaussian(shrinkage=0).fit(X, list("aaabbb"))


def test_within_class_unit_is_the_pooled_deviation():
    X = np.array([[0.0], [2.0], [10.0], [14.0]])
    kernel = bg.SphericalGaussian(width=1.0).fit(X, [0, 0, 1, 1])
    np.testing.assert_allclose(deviations(kernel, X, np.array([0, 0, 1, 1])), np.full((4, 1), np.sqrt(5)), rtol=1e-12)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_scale_multiplies_every_component(kernel, space):
    X, y = two_classes()
    plain, scaled = (deviations(kernel(scale=s, standardize=space).fit(X, y), X, y) for s in (1.0, 2.5))
    np.testing.assert_allclose(scaled, 2.5 * plain, rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_scale_multiplies_given_widths(kernel):
    X, y = two_classes()
    plain, scaled = (deviations(kernel(width=0.3, scale=s).fit(X, y), X, y) for s in (1.0, 2.5))
    np.testing.assert_allclose(scaled, 2.5 * plain, rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_order_of_the_rows_changes_no_width(kernel):
    X, y = two_classes()
    order = np.random.default_rng(0).permutation(len(X))
    np.testing.assert_allclose(kernel().fit(X[order], y[order]).widths_, kernel().fit(X, y).widths_, rtol=1e-10)


@pytest.mark.parametrize("kernel", KERNELS)
def test_class_of_one_point_is_refused_where_widths_are_estimated(kernel):
    with pytest.raises(ValueError, match=r"class 'b' has 1. Add points of this class"):
        kernel().fit([[0.0], [1.0], [5.0]], ["a", "a", "b"])


@pytest.mark.parametrize("kernel", ONE_NUMBER)
def test_class_of_one_point_is_served_where_the_width_is_given(kernel):
    assert kernel(width=0.5).fit([[0.0], [1.0], [5.0]], ["a", "a", "b"]).widths_.tolist() == [0.5, 0.5]


def test_full_gaussian_of_given_width_names_covariance_as_the_remedy_for_a_class_of_one_point():
    with pytest.raises(ValueError, match=r"class 'b' has 1.*covariance"):
        bg.FullGaussian(width=0.5).fit([[0.0], [1.0], [5.0]], ["a", "a", "b"])


def test_full_gaussian_of_given_width_and_covariance_serves_a_class_of_one_point():
    kernel = bg.FullGaussian(width=0.5, covariance=[[1.0]]).fit([[0.0], [1.0], [5.0]], ["a", "a", "b"])
    assert kernel.widths_.tolist() == [0.5, 0.5]


def test_widths_per_training_point_are_refused_at_other_points():
    X, y = two_classes()
    kernel = bg.SphericalGaussian(np.ones(len(X))).fit(X, y)
    with pytest.raises(ValueError, match="Give a width per class"):
        kernel.components(X[:3], np.zeros(3, dtype=int), at_training_points=False)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (bg.SphericalGaussian(width=-1.0), "finite and not negative"),
        (bg.SphericalGaussian(width=np.nan), "finite and not negative"),
        (bg.SphericalGaussian(width=[1.0, 2.0, 3.0]), r"one per class \(2\) or one per training point \(60\)"),
        (bg.SphericalGaussian(width=np.ones((60, 3))), r"got shape \(60, 3\)"),
        (bg.DiagonalGaussian(width=np.ones((60, 2))), r"or of shape \(n, 3\)"),
        (bg.FullGaussian(width=np.ones((60, 3))), r"or of shape \(n, 3, 3\)"),
        (bg.SphericalGaussian(width={"a": 1.0}), r"width must name every class; \['b'\] missing"),
        (bg.SphericalGaussian(width={"a": 1.0, "b": 1.0, "z": 1.0}), r"got \['z'\]"),
        (bg.SphericalGaussian(scale=-1), "Use 0 for no smoothing"),
        (bg.SphericalGaussian(scale=np.inf), "Use 0 for no smoothing"),
        (bg.SphericalGaussian(standardize="z-score"), "'within-class' or None; got 'z-score'"),
        (bg.DiagonalGaussian(ties="same"), "'different' or 'zero'; got 'same'"),
        (bg.FullGaussian(shrinkage=1.5), "a number from 0 to 1; got 1.5"),
        (bg.FullGaussian(covariance=np.eye(2)), r"shape \(3, 3\) or \(2, 3, 3\); got \(2, 2\)"),
        (bg.FullGaussian(covariance=np.triu(np.ones((3, 3)))), "must be symmetric"),
    ],
)
def test_unusable_parameters_are_refused_with_what_was_got(kernel, message):
    with pytest.raises(ValueError, match=message):
        kernel.fit(*two_classes())


def test_widths_that_could_be_per_class_or_per_point_are_refused():
    with pytest.raises(ValueError, match="Pass a dict from label to width"):
        bg.SphericalGaussian(width=[1.0, 2.0]).fit([[0.0], [1.0]], ["a", "b"])
