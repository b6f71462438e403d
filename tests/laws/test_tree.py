"""The exact mass of a tree's regions against scikit-learn's own predict and leaf boxes worked out by hand."""

import math

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from bayes_gresub import Bolstered
from bayes_gresub.data.sample import Sample, read_features
from bayes_gresub.kernels import DiagonalGaussian, FullGaussian, SphericalGaussian, UniformBall
from bayes_gresub.laws.components import Components, StudentT, UnitBall
from bayes_gresub.laws.confusion import region_mass
from bayes_gresub.laws.sampling import Sampler
from bayes_gresub.regions.region import decision_region


def sample_of(X, classes):
    """Return points to read a region at; their labels do not matter."""
    features, form = read_features(X)
    n = len(features)
    return Sample(features, np.zeros(n, dtype=int), classes, np.full(n, 1 / n), np.arange(n), n, form)


def sample(n_classes=2, n=120, d=4, seed=0):
    """Return overlapping classes with correlated features of unequal units."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    mixing = rng.normal(size=(d, d))
    X = (rng.normal(size=(n, d)) + 0.9 * y[:, None]) @ mixing * rng.uniform(0.3, 4.0, size=d)
    return X, y


def mass_of(components, classifier, X, y, scales=(1.0,)):
    region = decision_region(classifier, sample_of(X, np.unique(y)), np.random.SeedSequence(0))
    return region_mass(components, region, Sampler(np.random.SeedSequence(1)), scales=scales)


def shares(classifier, center, spread, n_classes, n, rng):
    """Return how often the classifier says each class about a centre, by independent normal draws."""
    said = classifier.predict(center + rng.standard_normal((n, len(center))) * spread)
    return np.bincount(said, minlength=n_classes) / n


def assert_within_noise(ours, observed, n):
    """Compare within 4.5 standard errors, with one draw's worth of room where a mass is next to nothing."""
    noise = np.sqrt(ours * (1 - ours) / n)
    assert (np.abs(ours - observed) < 4.5 * noise + 1 / n).all()


BEFORE = {
    "alone": [],
    "scaled": [StandardScaler()],
    "selected": [SelectKBest(k=3)],
    "scaled and selected": [StandardScaler(), SelectKBest(k=3)],
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ["spherical", "diagonal"])
@pytest.mark.parametrize("before", BEFORE)
def test_mass_agrees_with_a_million_predictions(n_classes, kind, before):
    """Four components of 250,000 draws; 160 comparisons in all at 4.5 s.e.: a false alarm in 1e-3 of seeds."""
    X, y = sample(n_classes)
    classifier = make_pipeline(*BEFORE[before], DecisionTreeClassifier(max_depth=6, random_state=0)).fit(X, y)
    rng = np.random.default_rng(3)
    deviation = X.std(axis=0)
    spread = np.array([0.5, 1.5]) if kind == "spherical" else np.array([0.3, 0.8])[:, None] * deviation
    group = np.array([0, 1, 1, 0])
    result = mass_of(Components(X[:4], spread, group), classifier, X, y)
    assert result.exact
    for i in range(4):
        observed = shares(classifier, X[i], spread[group[i]], n_classes, 250_000, rng)
        assert_within_noise(result.values[0, 0, i], observed, 250_000)


@pytest.mark.parametrize("whiten", [False, True])
def test_spherical_kernel_stays_exact_behind_pca(whiten):
    """Four comparisons at 4.5 s.e. of a million draws: a false alarm in 3e-5 of seeds."""
    X, y = sample()
    tree = DecisionTreeClassifier(max_depth=5, random_state=0)
    classifier = make_pipeline(PCA(3, whiten=whiten), tree).fit(X, y)
    measure = Bolstered(SphericalGaussian(standardize=None)).fit(X, y)
    estimate = measure.error(classifier)
    assert estimate.computation.exact
    rng = np.random.default_rng(8)
    n = 1_000_000
    rows = rng.integers(len(X), size=n)
    points = X[rows] + measure.kernel_.widths_[y[rows]][:, None] * rng.standard_normal((n, X.shape[1]))
    said = classifier.predict(points)
    observed = np.array([[np.mean((y[rows] == i) & (said == j)) for j in (0, 1)] for i in (0, 1)])
    assert_within_noise(estimate.confusion, observed, n)


def cutoff_in_double(threshold):
    """Return the double up to which numbers, rounded to single precision, are at most the threshold."""
    low, high = threshold - 1e-3 * (1 + abs(threshold)), threshold + 1e-3 * (1 + abs(threshold))
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.float32(middle) <= threshold else (low, middle)
    return low


def leaf_boxes(tree, node=0, box=None):
    """Yield (class, box) of each leaf, a box being its lower and upper bounds per feature."""
    box = [(-np.inf, np.inf)] * tree.n_features if box is None else box
    if tree.children_left[node] < 0:
        yield int(np.argmax(tree.value[node, 0])), box
        return
    feature, cutoff = tree.feature[node], cutoff_in_double(tree.threshold[node])
    low, high = box[feature]
    below, above = box.copy(), box.copy()
    below[feature], above[feature] = (low, min(high, cutoff)), (max(low, cutoff), high)
    yield from leaf_boxes(tree, tree.children_left[node], below)
    yield from leaf_boxes(tree, tree.children_right[node], above)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kappa", [0.3, 1.0])
def test_mass_is_the_sum_over_leaf_boxes(n_classes, kappa):
    X, y = sample(n_classes)
    classifier = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    spread = 0.6 * X.std(axis=0)
    ours = mass_of(Components(X[:20], spread[None], np.zeros(20, int)), classifier, X, y, [kappa]).values[0, 0]
    expected = np.zeros((20, n_classes))
    for label, box in leaf_boxes(classifier.tree_):
        low, high = np.transpose(box)
        law = norm(X[:20], kappa * spread)
        expected[:, label] += (law.cdf(high) - law.cdf(low)).prod(axis=1)
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-12)


def test_masses_of_all_classes_sum_to_one_for_a_deep_tree():
    X, y = sample(3, n=400)
    classifier = DecisionTreeClassifier(random_state=0).fit(X, y + 3 * (X[:, 0] > 0))
    components = Components(X, X.std(axis=0)[None], np.zeros(len(X), int))
    ours = mass_of(components, classifier, X, np.unique(classifier.classes_)).values
    np.testing.assert_allclose(ours.sum(axis=-1), 1.0, rtol=0, atol=1e-12)


def test_features_without_spread_are_compared_with_the_cutoff():
    """Six comparisons at 4.5 s.e. of 300,000 draws: a false alarm in 4e-5 of seeds."""
    X, y = sample(3)
    classifier = DecisionTreeClassifier(max_depth=6, random_state=0).fit(X, y)
    spread = np.array([[0.0, 2.0, 0.0, 3.0]])
    components = Components(X[:2], spread, np.zeros(2, int))
    result = mass_of(components, classifier, X, y)
    rng = np.random.default_rng(4)
    for i in range(2):
        observed = shares(classifier, X[i], spread[0], 3, 300_000, rng)
        assert_within_noise(result.values[0, 0, i], observed, 300_000)


def test_component_without_any_spread_goes_by_predict():
    X, y = sample(3)
    classifier = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    components = Components(X, np.array([0.0, 1.0]), np.r_[np.zeros(60, int), np.ones(60, int)])
    ours = mass_of(components, classifier, X, y).values[0, 0]
    np.testing.assert_array_equal(ours[:60], np.eye(3)[classifier.predict(X[:60])])


def test_kappa_zero_equals_counting():
    X, y = sample(3)
    classifier = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    components = Components(X, np.ones(1), np.zeros(len(X), int))
    ours = mass_of(components, classifier, X, y, scales=(0.0, 1.0)).values[0, 0]
    np.testing.assert_array_equal(ours, np.eye(3)[classifier.predict(X)])


def test_several_scales_at_once_equal_separate_calls():
    X, y = sample(3)
    classifier = DecisionTreeClassifier(max_depth=5, random_state=0).fit(X, y)
    components = Components(X, np.ones(1), np.zeros(len(X), int))
    together = mass_of(components, classifier, X, y, scales=(0.5, 2.0)).values
    separate = [mass_of(components, classifier, X, y, scales=(kappa,)).values[0] for kappa in (0.5, 2.0)]
    np.testing.assert_array_equal(together, np.stack(separate))


def label_changes(classifier, low, high):
    """Return where predict changes its mind along the first feature, by a grid and bisection on predict alone."""

    def said_at(values):
        return classifier.predict(np.column_stack([values, np.zeros(len(values))]))

    grid = np.linspace(low, high, 20_001)
    said = said_at(grid)
    changes = np.flatnonzero(said[1:] != said[:-1])
    left, right = grid[changes], grid[changes + 1]
    for _ in range(50):
        middle = 0.5 * (left + right)
        before = said_at(middle) == said[changes]
        left, right = np.where(before, middle, left), np.where(before, right, middle)
    return right, said[np.r_[0, changes + 1]]


def mass_of_ones(classifier, X, sigma):
    """Return the mass of class 1 about each row of X, from where predict changes its mind along the first feature."""
    cutoffs, labels = label_changes(classifier, 1e6 - 10, 1e6 + 10)
    edges = np.r_[-np.inf, cutoffs, np.inf]
    return np.diff(norm.cdf((edges - X[:, :1]) / sigma), axis=1)[:, labels == 1].sum(axis=1)


@pytest.fixture
def far_from_zero():
    """Return points about 1e6, where single precision knows sixteenths only, and a tree with several cutoffs."""
    values = 1e6 + np.array([-2.0, -1.75, -1.5, -1.0, -0.875, -0.25, 0.0, 0.125, 0.5, 1.0, 1.25, 2.0])
    y = np.array([0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 0])
    return np.column_stack([values, np.zeros(len(values))]), y


@pytest.mark.parametrize("before", [[], [StandardScaler()]], ids=["alone", "scaled"])
def test_cutoffs_are_those_of_single_precision(far_from_zero, before):
    X, y = far_from_zero
    classifier = make_pipeline(*before, DecisionTreeClassifier(random_state=0)).fit(X, y)
    ours = mass_of(Components(X, np.array([0.4]), np.zeros(len(X), int)), classifier, X, y)
    assert ours.exact
    np.testing.assert_allclose(ours.values[0, 0, :, 1], mass_of_ones(classifier, X, 0.4), rtol=0, atol=1e-8)


def test_cutoffs_as_printed_by_the_tree_would_be_wrong_far_from_zero(far_from_zero):
    X, y = far_from_zero
    classifier = DecisionTreeClassifier(random_state=0).fit(X, y)
    printed = np.sort(classifier.tree_.threshold[classifier.tree_.feature >= 0])
    assert np.abs(label_changes(classifier, 1e6 - 10, 1e6 + 10)[0] - printed).max() > 0.03


def test_tree_over_a_single_feature_is_exact():
    X = np.array([[0.0], [1.0], [2.0], [4.0], [5.0], [8.0]])
    y = np.array([0, 0, 1, 1, 0, 0])
    classifier = DecisionTreeClassifier(random_state=0).fit(X, y)
    ours = mass_of(Components(X, np.array([0.7]), np.zeros(len(X), int)), classifier, X, y)
    assert ours.exact
    # Cutoffs at 1.5 and 4.5, exact in single precision but for half of its last digit.
    expected = norm.cdf((4.5 - X[:, 0]) / 0.7) - norm.cdf((1.5 - X[:, 0]) / 0.7)
    np.testing.assert_allclose(ours.values[0, 0, :, 1], expected, rtol=0, atol=1e-6)


def test_tree_that_is_a_single_leaf_gives_all_mass_to_its_class():
    X, y = sample()
    classifier = DecisionTreeClassifier(min_samples_split=1000).fit(X, np.where(np.arange(len(y)) < 5, 0, 1))
    ours = mass_of(Components(X, np.ones(1), np.zeros(len(X), int)), classifier, X, y)
    assert ours.exact
    assert (ours.values[0, 0] == [0.0, 1.0]).all()


@pytest.mark.parametrize("kernel", [SphericalGaussian(), DiagonalGaussian()], ids=["spherical", "diagonal"])
def test_kernels_with_independent_coordinates_are_exact(kernel):
    X, y = sample()
    assert Bolstered(kernel).fit(X, y).error(DecisionTreeClassifier(random_state=0).fit(X, y)).computation.exact


@pytest.mark.parametrize("kernel", [FullGaussian(), UniformBall()], ids=["full", "ball"])
def test_kernels_with_dependent_coordinates_are_sampled(kernel):
    X, y = sample()
    measure = Bolstered(kernel, random_state=0).fit(X, y)
    assert not measure.error(DecisionTreeClassifier(random_state=0).fit(X, y)).computation.exact


def test_standardized_kernel_behind_pca_is_sampled():
    X, y = sample()
    classifier = make_pipeline(PCA(3), DecisionTreeClassifier(random_state=0)).fit(X, y)
    assert not Bolstered(random_state=0).fit(X, y).error(classifier).computation.exact


@pytest.mark.parametrize("law", [UnitBall(), StudentT(3.0)], ids=["ball", "student"])
def test_laws_whose_coordinates_depend_on_each_other_are_sampled(law):
    X, y = sample()
    classifier = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert not mass_of(Components(X, np.ones(1), np.zeros(len(X), int), law), classifier, X, y).exact


def test_matrix_that_is_diagonal_after_all_is_integrated_exactly():
    X, y = sample()
    classifier = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    group = np.zeros(len(X), int)
    deviation = X.std(axis=0)
    matrix = mass_of(Components(X, np.diag(deviation)[None], group), classifier, X, y)
    diagonal = mass_of(Components(X, deviation[None], group), classifier, X, y)
    assert matrix.exact
    np.testing.assert_allclose(matrix.values, diagonal.values, rtol=0, atol=1e-14)


def test_sampled_mass_of_a_full_kernel_agrees_with_predictions():
    """One comparison at 4.5 combined s.e., the reported one from 64 replicates: a false alarm in 3e-5."""
    X, y = sample()
    classifier = DecisionTreeClassifier(max_depth=5, random_state=0).fit(X, y)
    measure = Bolstered(FullGaussian(), tol=3e-4, random_state=0).fit(X, y)
    estimate = measure.error(classifier)
    rng = np.random.default_rng(6)
    n = 1_000_000
    scale = np.sqrt(sum(((X[y == j] - X[y == j].mean(axis=0)) ** 2).sum(axis=0) for j in (0, 1)) / (len(X) - 2))
    wrong = 0
    for j in (0, 1):
        covariance = measure.kernel_.widths_[j] ** 2 * measure.kernel_.factors_[j] @ measure.kernel_.factors_[j].T
        rows = rng.choice(np.flatnonzero(y == j), size=n // 2)
        points = X[rows] + rng.multivariate_normal(np.zeros(X.shape[1]), covariance, size=n // 2) * scale
        wrong += np.count_nonzero(classifier.predict(points) != j)
    observed = wrong / n
    assert abs(estimate.value - observed) < 4.5 * math.hypot(
        estimate.std_error, math.sqrt(observed * (1 - observed) / n)
    )
