"""Sampled means against known means, plain Monte Carlo and the spread that they report of themselves."""

import math

import numpy as np
import pytest
from scipy.stats import f as f_law
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from bayes_gresub import Bolstered
from bayes_gresub.kernels import SphericalGaussian
from bayes_gresub.laws import sampling
from bayes_gresub.laws.components import Components, Normal, StudentT, UnitBall
from bayes_gresub.laws.sampling import Sampler, sampling_method, scrambles


def sobol(dim, start, stop, seed=0):
    return scrambles(dim, start, stop, [np.random.SeedSequence(seed)])[0]


def one_component(dim, law):
    return Components(np.zeros((1, dim)), np.ones(1), np.zeros(1, int), law)


def sampled(components, function, *, scales=(1.0,), **options):
    return Sampler(**options).means(components, function, scales)


def means_of(components, function, **options):
    """Return the array of means alone."""
    return sampled(components, function, **options).means


def pooled_means(components, function, n_points=64, n_seeds=60):
    """Return means and standard errors over all scrambles of many seeds, each of shape (k, q)."""
    replicates = np.concatenate(
        [
            means_of(components, function, n_points=n_points, seed=np.random.SeedSequence(seed))[0]
            for seed in range(n_seeds)
        ]
    )
    return replicates.mean(axis=0), replicates.std(axis=0, ddof=1) / math.sqrt(len(replicates))


@pytest.mark.parametrize("dim", [1, 3, 40, 200])
@pytest.mark.parametrize(("start", "size"), [(0, 256), (256, 256), (512, 64), (24, 8)])
def test_aligned_blocks_are_nets_in_every_coordinate(dim, start, size):
    points = sobol(dim, start, start + size)
    strata = np.sort((points * size).astype(int), axis=0)
    np.testing.assert_array_equal(strata, np.repeat(np.arange(size)[:, None], dim, axis=1))


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 4, 5, 6])
def test_two_coordinates_fill_every_dyadic_rectangle_once(rows):
    points = sobol(2, 0, 64, seed=3)
    cells = (points * [2**rows, 2 ** (6 - rows)]).astype(int)
    assert len(np.unique(cells, axis=0)) == 64


def test_points_are_midpoints_of_cells_and_so_never_zero_or_one():
    halves = sobol(20, 0, 4096) * 2.0**31
    assert (halves % 2 == 1).all()


@pytest.mark.parametrize(("start", "stop"), [(0, 1), (0, 300), (5, 6), (37, 200), (255, 257), (256, 300), (100, 700)])
def test_any_stretch_is_the_same_as_in_the_whole(start, stop):
    np.testing.assert_array_equal(sobol(7, start, stop), sobol(7, 0, 1000)[start:stop])


def test_stretch_far_along_is_the_same_whatever_its_length():
    np.testing.assert_array_equal(sobol(3, 1_000_003, 1_000_005), sobol(3, 999_000, 1_000_500)[1003:1005])


def test_several_seeds_at_once_equal_one_at_a_time():
    together = scrambles(4, 10, 90, [np.random.SeedSequence(seed) for seed in (1, 2)])
    np.testing.assert_array_equal(together, np.stack([sobol(4, 10, 90, 1), sobol(4, 10, 90, 2)]))


def test_different_seeds_give_different_points():
    assert not np.isin(sobol(2, 0, 64, 0), sobol(2, 0, 64, 1)).any()


def test_same_seed_gives_the_same_points():
    np.testing.assert_array_equal(sobol(5, 0, 64, 9), sobol(5, 0, 64, 9))


def test_every_single_point_is_uniform_over_seeds():
    """Mean and second moment of 12 numbers over 2000 seeds, 24 comparisons at 4.5 s.e.: a false alarm in 2e-4."""
    points = scrambles(3, 5, 9, [np.random.SeedSequence(seed) for seed in range(2000)]).reshape(2000, -1)
    assert np.abs(points.mean(axis=0) - 1 / 2).max() < 4.5 * math.sqrt(1 / 12 / 2000)
    assert np.abs((points**2).mean(axis=0) - 1 / 3).max() < 4.5 * math.sqrt(4 / 45 / 2000)


def test_points_of_a_seed_are_independent_between_coordinates():
    """Three correlations over 2000 seeds at 4.5 s.e.: a false alarm in 2e-5 of seeds."""
    points = scrambles(3, 6, 7, [np.random.SeedSequence(seed) for seed in range(2000)])[:, 0]
    correlations = np.corrcoef(points.T)[np.triu_indices(3, 1)]
    assert np.abs(correlations).max() < 4.5 / math.sqrt(2000)


def test_mean_over_seeds_is_unbiased():
    """One comparison at 4.5 s.e. of 1000 scrambles: a false alarm in 7e-6 of seeds."""
    points = scrambles(4, 8, 16, [np.random.SeedSequence(seed) for seed in range(1000)])
    means = np.exp(points.sum(axis=2)).mean(axis=1)
    assert abs(means.mean() - (math.e - 1) ** 4) < 4.5 * means.std(ddof=1) / math.sqrt(1000)


LAWS = {
    "normal": (Normal(), 1.0),
    "ball": (UnitBall(), 1 / 7),
    "student": (StudentT(9.0), 9 / 7),
}


@pytest.mark.parametrize("name", LAWS)
def test_second_moments_are_those_of_the_law(name):
    """Fifteen moments in d=5 at 4.5 s.e. of 480 scrambles: a false alarm in 1e-4 of seeds for each law."""
    law, variance = LAWS[name]

    def products(points, _):
        return (points[:, :, None] * points[:, None, :]).reshape(len(points), -1)

    means, errors = pooled_means(one_component(5, law), products)
    assert (np.abs(means[0] - variance * np.eye(5).ravel()) < 4.5 * errors[0] + 1e-12).all()


@pytest.mark.parametrize("dim", [1, 2, 7])
def test_radius_of_the_ball_is_a_power_of_a_uniform_number(dim):
    """Four shares at 4.5 s.e. of 480 scrambles: a false alarm in 3e-5 of seeds for each dimension."""
    shares = np.array([0.1, 0.35, 0.6, 0.9])

    def inside(points, _):
        return (np.linalg.norm(points, axis=1)[:, None] <= shares ** (1 / dim)).astype(float)

    means, errors = pooled_means(one_component(dim, UnitBall()), inside)
    assert (np.abs(means[0] - shares) < 4.5 * errors[0] + 1e-12).all()


def test_squared_radius_of_the_student_law_has_an_f_law():
    """Four shares at 4.5 s.e. of 480 scrambles: a false alarm in 3e-5 of seeds."""
    shares = np.array([0.1, 0.35, 0.6, 0.9])
    quantiles = f_law(4, 2.5).ppf(shares)

    def inside(points, _):
        return ((points**2).sum(axis=1)[:, None] / 4 <= quantiles).astype(float)

    means, errors = pooled_means(one_component(4, StudentT(2.5)), inside)
    assert (np.abs(means[0] - shares) < 4.5 * errors[0]).all()


SHAPES = {"sphere": (2,), "diagonal": (2, 3), "full": (2, 3, 3), "flat": (2, 3, 2), "one_full": (1, 3, 3)}


def mixed_components(kind="diagonal", law=None, seed=0, k=12, d=3):
    rng = np.random.default_rng(seed)
    spread = rng.normal(size=SHAPES[kind]) if len(SHAPES[kind]) == 3 else rng.uniform(0.5, 2.0, size=SHAPES[kind])
    return Components(rng.normal(size=(k, d)), spread, rng.integers(len(spread), size=k), law or Normal())


def test_owner_of_a_point_is_the_component_it_was_drawn_from():
    components = mixed_components()
    means = means_of(
        components, lambda _, owners: owners[:, None].astype(float), n_points=64, seed=np.random.SeedSequence(0)
    )
    np.testing.assert_array_equal(means[0, :, :, 0], np.tile(np.arange(12.0), (8, 1)))


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize(
    ("law", "variances"),
    [(Normal(), {2: 1.0, 3: 1.0}), (UnitBall(), {2: 1 / 4, 3: 1 / 5}), (StudentT(9.0), {2: 9 / 7, 3: 9 / 7})],
    ids=["normal", "ball", "student"],
)
def test_means_are_about_each_component_in_the_order_given(law, variances, kind):
    """Centres and second moments, 144 comparisons each at 4.5 s.e. of 240 scrambles: a false alarm in 2e-3 of seeds."""
    components = mixed_components(kind, law)
    centers, spread = components.centers, components.spread[components.group]
    maps = spread if spread.ndim == 3 else np.array([np.diag(np.broadcast_to(one, 3)) for one in spread])
    covariances = variances[maps.shape[2]] * np.einsum("kdp,kep->kde", maps, maps)

    def moments(points, _):
        return np.hstack([points, (points[:, :, None] * points[:, None, :]).reshape(len(points), -1)])

    means, errors = pooled_means(components, moments, n_seeds=30)
    second = covariances + centers[:, :, None] * centers[:, None, :]
    expected = np.hstack([centers, second.reshape(len(centers), -1)])
    assert (np.abs(means - expected) < 4.5 * errors).all()


def test_all_scales_use_the_same_standard_draws():
    components = mixed_components()

    def run(scales):
        return means_of(components, lambda x, _: x, n_points=32, seed=np.random.SeedSequence(0), scales=scales)

    together = run([0.5, 2.0])
    np.testing.assert_allclose(together[1] - components.centers, 4 * (together[0] - components.centers), atol=1e-12)


def test_several_scales_at_once_equal_separate_calls():
    components = mixed_components()

    def run(scales):
        return means_of(components, lambda x, _: x, n_points=32, seed=np.random.SeedSequence(0), scales=scales)

    np.testing.assert_array_equal(run([0.5, 2.0]), np.concatenate([run([0.5]), run([2.0])]))


def error_of(classifier, X, y, **parameters):
    return (
        Bolstered(SphericalGaussian(standardize=None), **{"random_state": 0, **parameters}).fit(X, y).error(classifier)
    )


def sample(n=40, d=5, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, d)) + 0.6 * y[:, None], y


def set_chunk(monkeypatch, chunk):
    """Set the size of batches, of Sobol' points and of independent ones."""
    for name in ("CHUNK_ELEMENTS", "_CHUNK_INDEPENDENT"):
        monkeypatch.setattr(sampling, name, chunk)


CLASSIFIERS = {"rbf": SVC(C=2.0, gamma=0.3), "3nn": KNeighborsClassifier(3)}


@pytest.mark.parametrize("chunk", [2**8, 2**11, 2**20])
@pytest.mark.parametrize("d", [5, 250])
def test_number_of_threads_changes_no_number(monkeypatch, chunk, d):
    set_chunk(monkeypatch, chunk)
    X, y = sample(d=d)
    classifier = SVC(gamma=0.1).fit(X, y)
    one, two = (error_of(classifier, X, y, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.replicate_confusions, two.replicate_confusions)


@pytest.mark.parametrize("chunk", [1, 2**8, 2**11])
@pytest.mark.parametrize("d", [5, 250])
def test_size_of_batches_changes_no_number(monkeypatch, chunk, d):
    X, y = sample(d=d)
    classifier = SVC(gamma=0.1).fit(X, y)
    whole = error_of(classifier, X, y)
    set_chunk(monkeypatch, chunk)
    np.testing.assert_array_equal(error_of(classifier, X, y).replicate_confusions, whole.replicate_confusions)


def test_size_of_batches_changes_no_mean_of_a_full_kernel(monkeypatch):
    components = mixed_components("full")

    def run():
        return means_of(components, lambda x, _: x**2, n_points=64, seed=np.random.SeedSequence(0))

    whole = run()
    monkeypatch.setattr(sampling, "CHUNK_ELEMENTS", 64)
    np.testing.assert_allclose(run(), whole, rtol=1e-12)


def test_first_scrambles_stay_the_same_when_more_are_added(monkeypatch):
    monkeypatch.setattr(sampling, "MAX_REPLICATES", 10**6)
    X, y = sample()
    classifier = SVC(gamma=0.3).fit(X, y)
    few, many = error_of(classifier, X, y), error_of(classifier, X, y, tol=1e-3)
    assert many.computation.n_replicates > 8
    np.testing.assert_array_equal(many.replicate_values[:8], few.replicate_values)


@pytest.mark.parametrize("tol", [2e-3, 5e-4])
def test_tol_is_met_by_adding_scrambles(tol):
    X, y = sample()
    estimate = error_of(SVC(gamma=0.3).fit(X, y), X, y, tol=tol)
    assert estimate.std_error <= tol
    assert estimate.computation.n_replicates > 8


def test_tol_that_is_met_at_once_adds_nothing():
    X, y = sample()
    assert error_of(SVC(gamma=0.3).fit(X, y), X, y, tol=0.1).computation.n_replicates == 8


def error_at_the_cap(monkeypatch, most_replicates):
    """Return the estimate from 128 scrambles, kept in at most so many replicates."""
    monkeypatch.setattr(sampling, "MAX_SCRAMBLES", 128)
    monkeypatch.setattr(sampling, "MAX_REPLICATES", most_replicates)
    X, y = sample()
    classifier = SVC(gamma=0.3).fit(X, y)
    message = r"tol=1e-07 was not reached.*after 128 scrambles.*Raise tol or n_points"
    with pytest.warns(ConvergenceWarning, match=message):
        return error_of(classifier, X, y, tol=1e-7)


def test_tol_out_of_reach_warns_at_the_cap(monkeypatch):
    assert error_at_the_cap(monkeypatch, 1000).computation.n_replicates == 128


def test_replicates_that_hold_several_scrambles_have_the_same_mean(monkeypatch):
    apart, together = (error_at_the_cap(monkeypatch, most) for most in (1000, 16))
    assert together.computation.n_replicates == 16
    assert together.value == pytest.approx(apart.value, rel=1e-12)


def test_replicates_that_hold_several_scrambles_report_the_same_standard_error(monkeypatch):
    """Two estimates of one number, with 127 and 15 degrees of freedom, at 4.5 deviations: a false alarm in 1e-5."""
    apart, together = (error_at_the_cap(monkeypatch, most) for most in (1000, 16))
    assert abs(math.log(together.internal_variance / apart.internal_variance)) < 4.5 * math.sqrt(2 / 15)


@pytest.fixture(scope="module", params=CLASSIFIERS)
def repeated(request):
    """Return a classifier, its sample, and its estimates over 200 seeds."""
    X, y = sample()
    classifier = clone(CLASSIFIERS[request.param]).fit(X, y)
    measure = Bolstered(SphericalGaussian(standardize=None)).fit(X, y)
    estimates = [measure.error(classifier, random_state=seed) for seed in range(200)]
    return classifier, measure, X, y, estimates


def test_reported_standard_error_is_the_spread_over_seeds(repeated):
    """Variance of 200 values (199 degrees of freedom) over mean reported variance (1400), within 4.5 deviations.

    The logarithm of the ratio has deviation sqrt(2/199 + 2/1400) = 0.107: a false alarm in 1e-5 of seeds.
    """
    *_, estimates = repeated
    spread = np.var([estimate.value for estimate in estimates], ddof=1)
    reported = np.mean([estimate.internal_variance for estimate in estimates])
    assert abs(math.log(spread / reported)) < 4.5 * math.sqrt(2 / 199 + 2 / 1400)


def test_estimate_is_unbiased_against_plain_monte_carlo(repeated):
    """One comparison at 4.5 combined s.e. for each classifier: a false alarm in 7e-6 of seeds."""
    classifier, measure, X, y, estimates = repeated
    values = np.array([estimate.value for estimate in estimates])
    rng = np.random.default_rng(17)
    n = 800_000
    rows = rng.integers(len(X), size=n)
    points = X[rows] + measure.kernel_.widths_[y[rows]][:, None] * rng.standard_normal((n, X.shape[1]))
    observed = np.mean(classifier.predict(points) != y[rows])
    noise = math.hypot(math.sqrt(observed * (1 - observed) / n), values.std(ddof=1) / math.sqrt(len(values)))
    assert abs(values.mean() - observed) < 4.5 * noise


def test_sobol_points_are_less_noisy_than_independent_ones(repeated):
    """The ratio of variances is about 0.6 and known to a tenth of itself: a false alarm in 1e-5 of seeds."""
    *_, estimates = repeated
    contributions = np.mean([estimate.contributions for estimate in estimates], axis=0)
    independent = np.mean(contributions * (1 - contributions)) / len(contributions) / 64
    assert np.var([estimate.value for estimate in estimates], ddof=1) < independent


def test_many_dimensions_use_independent_points():
    components = one_component(sampling.MAX_SOBOL_DIMENSION + 1, Normal())
    assert sampling_method(components) == "independent random points"


def test_fewer_dimensions_use_sobol_points():
    components = one_component(sampling.MAX_SOBOL_DIMENSION, Normal())
    assert sampling_method(components) == "scrambled Sobol' points"


@pytest.mark.parametrize(("law", "variance"), [(Normal(), 1.0), (UnitBall(), 1 / 252), (StudentT(9.0), 9 / 7)])
def test_many_dimensions_have_the_right_mean_square(law, variance):
    """One comparison at 4.5 s.e. of 480 replicates for each law: a false alarm in 2e-5 of seeds."""

    def mean_square(points, _):
        return (points**2).mean(axis=1, keepdims=True)

    means, errors = pooled_means(one_component(250, law), mean_square)
    assert abs(means[0, 0] - variance) < 4.5 * errors[0, 0]


def test_components_in_many_dimensions_do_not_share_points():
    components = Components(np.zeros((2, 250)), np.ones(1), np.zeros(2, int))
    means = means_of(components, lambda x, _: x, n_points=8, seed=np.random.SeedSequence(0))
    assert not np.isin(means[0, :, 0], means[0, :, 1]).any()


def test_independent_points_are_as_many_as_asked_for():
    """No power of two is needed: 8 replicates of 13."""
    wide = Components(np.zeros((3, 300)), np.ones(1), np.zeros(3, int))
    asked = []

    def count(points, owners):
        asked.append(len(points))
        return np.ones((len(points), 1))

    found = sampled(wide, count, n_points=100, seed=np.random.SeedSequence(0))
    assert sum(asked) == found.n_points == 3 * 104


@pytest.mark.parametrize("law", [Normal(), UnitBall(), StudentT(7.0)], ids=["normal", "ball", "t"])
def test_independent_points_come_in_opposite_pairs(law):
    wide = one_component(300, law)
    seen = []

    def keep(points, _):
        seen.append(points.copy())
        return points[:, :1]

    means_of(wide, keep, n_points=40, seed=np.random.SeedSequence(0))
    blocks = np.concatenate(seen).reshape(-1, 5, 300)
    np.testing.assert_array_equal(blocks[:, 3:], -blocks[:, :2])
    half = blocks[:, :3].reshape(-1, 300)
    correlations = np.corrcoef(half)[np.triu_indices(len(half), 1)]
    # Independent directions in 300 dimensions: a standard deviation of 0.058, and 276 pairs.
    assert np.abs(correlations).max() < 0.3


def test_opposite_pairs_report_the_right_standard_error():
    """Over 150 seeds, the spread of a mean against what it says of itself; 4.5 standard errors."""
    wide = Components(np.full((4, 250), 0.3), np.ones(1), np.zeros(4, int))
    direction = np.random.default_rng(0).normal(size=250) / 16

    def above(points, _):
        return (points @ direction > 0.5)[:, None].astype(float)

    values, errors = [], []
    for seed in range(150):
        means = means_of(wide, above, n_points=32, seed=np.random.SeedSequence(seed))[0].mean(axis=(1, 2))
        values.append(means.mean())
        errors.append(means.std(ddof=1) / np.sqrt(8))
    ratio = np.mean(np.square(errors)) / np.var(values, ddof=1)
    assert abs(np.log(ratio)) < 4.5 * np.sqrt(2 / 149 + 2 / (7 * 150))
