"""Geometry read off fitted classifiers against their own predict, and refused wherever it could be wrong."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from bayes_gresub import Bolstered, Empirical, SphericalGaussian
from bayes_gresub.data.sample import Sample, read_features
from bayes_gresub.laws.halfspace import HalfSpace
from bayes_gresub.regions.geometry import KernelMachine, Neighbors, Tree
from bayes_gresub.regions.region import decision_region


def sample_of(X, classes):
    """Return points to read a region at; their labels do not matter."""
    features, form = read_features(X)
    n = len(features)
    return Sample(features, np.zeros(n, dtype=int), classes, np.full(n, 1 / n), np.arange(n), n, form)


def sample(n_classes=2, n=80, d=5, seed=0):
    """Return overlapping classes of unequal size with correlated features that are not centred."""
    rng = np.random.default_rng(seed)
    y = np.sort(rng.choice(n_classes, size=n, p=np.arange(1, n_classes + 1) / sum(range(n_classes + 1))))
    mixing = np.eye(d) + 0.3 * rng.normal(size=(d, d))
    return (rng.normal(size=(n, d)) + 0.9 * y[:, None]) @ mixing * np.linspace(0.5, 2.0, d) + 1.0, y


def region_of(classifier, X, y):
    return decision_region(classifier, sample_of(X, np.unique(y)), np.random.SeedSequence(0))


def fresh_points(X, n=5000, seed=99):
    """Return points about the data, most of them off the training points."""
    rng = np.random.default_rng(seed)
    return X[rng.integers(len(X), size=n)] + 1.5 * X.std(axis=0) * rng.standard_normal((n, X.shape[1]))


def assert_geometry(classifier, X, y, kind):
    region = region_of(classifier, X, y)
    points = fresh_points(X)
    assert isinstance(region.geometry, kind)
    said = classifier.predict(points)
    assert len(np.unique(said)) == len(np.unique(y))
    np.testing.assert_array_equal(classifier.classes_[region.geometry.labels(points)], said)
    np.testing.assert_array_equal(region.classes[region.labels(points)], said)


LINEAR = {
    "svc": SVC(kernel="linear"),
    "linear_svc": LinearSVC(),
    "logistic": LogisticRegression(),
    "lda": LinearDiscriminantAnalysis(),
    "ridge": RidgeClassifier(),
    "perceptron": Perceptron(),
    "sgd": SGDClassifier(loss="log_loss", random_state=0),
    "centroid": NearestCentroid(),
    "centroid_empirical": NearestCentroid(priors="empirical"),
}

BEFORE = {
    "alone": [],
    "standard": [StandardScaler()],
    "standard_no_mean": [StandardScaler(with_mean=False)],
    "standard_no_std": [StandardScaler(with_std=False)],
    "minmax": [MinMaxScaler((-1, 2))],
    "robust": [RobustScaler()],
    "maxabs": [MaxAbsScaler()],
    "pca": [PCA(3)],
    "pca_whiten": [PCA(4, whiten=True)],
    "kbest": [SelectKBest(k=3)],
    "passthrough": ["passthrough", FunctionTransformer()],
    "chain": [RobustScaler(), PCA(4, whiten=True), SelectKBest(k=2), MinMaxScaler()],
}


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("name", LINEAR)
def test_linear_classifier_behind_affine_steps_has_the_labels_of_predict(name, before):
    X, y = sample()
    classifier = make_pipeline(*[clone(s) if s != "passthrough" else s for s in BEFORE[before]], clone(LINEAR[name]))
    assert_geometry(classifier.fit(X, y), X, y, HalfSpace)


@pytest.mark.parametrize("name", LINEAR)
def test_linear_classifier_over_a_single_feature_has_the_labels_of_predict(name):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 1)) + 3.0 * y[:, None]
    assert_geometry(clone(LINEAR[name]).fit(X, y), X, y, HalfSpace)


@pytest.mark.parametrize("name", LINEAR)
def test_linear_classifier_makes_the_estimate_exact(name):
    X, y = sample()
    classifier = make_pipeline(StandardScaler(), clone(LINEAR[name])).fit(X, y)
    assert Bolstered().fit(X, y).error(classifier).computation.exact


@pytest.mark.parametrize("name", LINEAR)
def test_grid_search_has_the_geometry_of_its_best_estimator(name):
    X, y = sample()
    rng = np.random.default_rng(0)
    order = rng.permutation(len(X))
    search = GridSearchCV(make_pipeline(StandardScaler(), clone(LINEAR[name])), {}, cv=2).fit(X[order], y[order])
    assert_geometry(search, X, y, HalfSpace)


@pytest.mark.parametrize("name", LINEAR)
def test_frozen_estimator_has_the_geometry_of_what_it_holds(name):
    X, y = sample()
    assert_geometry(FrozenEstimator(clone(LINEAR[name]).fit(X, y)), X, y, HalfSpace)


WITH_PROBABILITIES = ["logistic", "lda", "sgd"]
# The decision function of NearestCentroid is over standardized features even where predict's is not.
WITH_DECISIONS = [name for name in LINEAR if name != "centroid"]


@pytest.mark.parametrize("pos_label", [None, 0, 1])
@pytest.mark.parametrize("before", ["alone", "standard", "pca_whiten"])
@pytest.mark.parametrize("name", WITH_PROBABILITIES)
def test_threshold_on_probabilities_has_the_labels_of_predict(name, before, pos_label):
    X, y = sample()
    inner = make_pipeline(*map(clone, BEFORE[before]), clone(LINEAR[name]))
    classifier = FixedThresholdClassifier(inner, threshold=0.3, pos_label=pos_label, response_method="predict_proba")
    assert_geometry(classifier.fit(X, y), X, y, HalfSpace)


@pytest.mark.parametrize("pos_label", [None, 0, 1])
@pytest.mark.parametrize("before", ["alone", "standard", "pca_whiten"])
@pytest.mark.parametrize("name", WITH_DECISIONS)
def test_threshold_on_decisions_has_the_labels_of_predict(name, before, pos_label):
    X, y = sample()
    inner = make_pipeline(*map(clone, BEFORE[before]), clone(LINEAR[name]))
    classifier = FixedThresholdClassifier(
        inner, threshold=0.25, pos_label=pos_label, response_method="decision_function"
    )
    assert_geometry(classifier.fit(X, y), X, y, HalfSpace)


@pytest.mark.parametrize("name", ["logistic", "ridge"])
def test_threshold_left_to_scikit_learn_has_the_labels_of_predict(name):
    X, y = sample()
    assert_geometry(FixedThresholdClassifier(clone(LINEAR[name])).fit(X, y), X, y, HalfSpace)


def test_threshold_inside_a_grid_search_has_the_labels_of_predict():
    X, y = sample()
    order = np.random.default_rng(0).permutation(len(X))
    inner = FixedThresholdClassifier(LogisticRegression(), response_method="predict_proba")
    search = GridSearchCV(inner, {"threshold": [0.2, 0.4]}, cv=2).fit(X[order], y[order])
    assert_geometry(search, X, y, HalfSpace)


@pytest.mark.parametrize(("threshold", "label"), [(0.0, 1), (1.0, 0), (1.2, 0), (-0.2, 1)])
def test_threshold_that_no_probability_passes_leaves_one_class(threshold, label):
    X, y = sample()
    classifier = FixedThresholdClassifier(
        LogisticRegression(), threshold=threshold, response_method="predict_proba"
    ).fit(X, y)
    value = Bolstered(random_state=0).fit(X, y).error(classifier).value
    assert value == pytest.approx(np.mean(y != label), abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_threshold_on_decisions_of_a_centroid_classifier_is_not_taken_for_its_predict(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(40) % 2
    # Within-class deviations next to 1: the two boundaries differ, but by little.
    X = rng.normal(size=(40, 2)) + 1.5 * y[:, None]
    classifier = FixedThresholdClassifier(NearestCentroid(), threshold=0.0, response_method="decision_function")
    region = region_of(classifier.fit(X, y), X, y)
    points = fresh_points(X)
    said = classifier.predict(points)
    assert region.geometry is None or (classifier.classes_[region.geometry.labels(points)] == said).all()


@pytest.mark.parametrize("before", ["alone", "standard", "minmax", "pca", "kbest", "chain"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_tree_behind_affine_steps_has_the_labels_of_predict(n_classes, before):
    X, y = sample(n_classes, n=160)
    tree = DecisionTreeClassifier(max_depth=6, random_state=0)
    assert_geometry(make_pipeline(*map(clone, BEFORE[before]), tree).fit(X, y), X, y, Tree)


@pytest.mark.parametrize("before", ["alone", "standard", "pca_whiten"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid"])
def test_kernel_machine_behind_affine_steps_has_the_labels_of_predict(kernel, n_classes, before):
    X, y = sample(n_classes, n=160)
    machine = SVC(kernel=kernel, gamma=0.05, coef0=0.5, class_weight="balanced")
    assert_geometry(make_pipeline(*map(clone, BEFORE[before]), machine).fit(X, y), X, y, KernelMachine)


def test_linear_kernel_machine_of_four_classes_has_the_labels_of_predict():
    X, y = sample(4, n=160)
    assert_geometry(SVC(kernel="linear").fit(X, y), X, y, KernelMachine)


@pytest.mark.parametrize("before", ["alone", "standard", "pca_whiten"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("k", [1, 3, 5])
def test_neighbours_behind_affine_steps_have_the_labels_of_predict(k, n_classes, before):
    X, y = sample(n_classes, n=160)
    neighbours = KNeighborsClassifier(k)
    assert_geometry(make_pipeline(*map(clone, BEFORE[before]), neighbours).fit(X, y), X, y, Neighbors)


def share_of_wrong_labels(classifier, X, y):
    """Return how often the region that a measure would use differs from predict about the data."""
    region = region_of(classifier, X, y)
    points = fresh_points(X)
    return np.mean(region.classes[region.labels(points)] != classifier.predict(points))


@pytest.mark.parametrize("C", [1e3, 1e6])
def test_kernel_machine_with_large_coefficients_keeps_the_labels_of_predict(C):
    """One label in a thousand may be lost to rounding; the default sampling noise is ten times that."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = (X[:, 0] + 0.3 * rng.normal(size=120) > 0).astype(int)
    assert share_of_wrong_labels(SVC(C=C, gamma=0.01).fit(X, y), X, y) < 1e-3


@pytest.mark.parametrize("k", [1, 3])
def test_neighbours_in_many_dimensions_keep_the_labels_of_predict(k):
    """One label in a thousand may be lost to rounding; the default sampling noise is ten times that."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 60))
    y = np.arange(400) % 2
    assert share_of_wrong_labels(KNeighborsClassifier(k).fit(X, y), X, y) < 1e-3


@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1e6])
@pytest.mark.parametrize("kind", ["rbf", "3nn"])
def test_labels_are_those_of_predict_whatever_the_units(kind, unit):
    X, y = sample(n=160)
    classifier = KNeighborsClassifier(3) if kind == "3nn" else SVC(gamma="scale")
    assert share_of_wrong_labels(classifier.fit(unit * X, y), unit * X, y) < 1e-3


@pytest.mark.parametrize("kind", [KNeighborsClassifier(3), SVC(gamma="scale")], ids=["3nn", "rbf"])
def test_geometry_is_found_whatever_the_units(kind):
    X, y = sample(n=160)
    assert region_of(clone(kind).fit(1e-6 * X, y), 1e-6 * X, y).geometry is not None


def test_neighbours_with_conflicting_duplicates_keep_the_labels_of_predict():
    X, y = sample(n=60)
    doubled, labels = np.vstack([X, X[:30]]), np.r_[y, 1 - y[:30]]
    assert share_of_wrong_labels(KNeighborsClassifier(1).fit(doubled, labels), doubled, labels) == 0


def test_neighbours_tied_at_the_training_points_keep_the_labels_of_predict():
    X, y = np.arange(40.0)[:, None], (np.arange(40) // 2) % 2
    classifier = KNeighborsClassifier(2).fit(X, y)
    np.testing.assert_array_equal(region_of(classifier, X, y).labels(X), classifier.predict(X))


def rounded_sample(seed, digits):
    """Return 30 points, some of them twice and with both labels."""
    rng = np.random.default_rng(seed)
    y = np.arange(30) % 2
    return np.round(rng.normal(size=(30, 2)) + 0.7 * y[:, None], digits), y


@pytest.mark.filterwarnings("ignore:every point of class:UserWarning")
@pytest.mark.parametrize(("seed", "digits", "k"), [(6, 1, 3), (9, 0, 3), (10, 1, 5), (55, 0, 5), (80, 1, 3)])
def test_neighbours_among_rows_with_both_labels_are_those_of_predict(seed, digits, k):
    X, y = rounded_sample(seed, digits)
    classifier = KNeighborsClassifier(k).fit(X, y)
    measure = Bolstered(random_state=0).fit(X, y)
    points, _ = measure.sample(4000, random_state=1)
    region = decision_region(classifier, measure.training_sample, np.random.SeedSequence(0))
    np.testing.assert_array_equal(region.labels(points), classifier.predict(points))


def test_neighbours_among_repeated_rows_with_one_label_keep_their_geometry():
    X, y = sample(n=60)
    doubled, labels = np.vstack([X, X[:30]]), np.r_[y, y[:30]]
    assert isinstance(region_of(KNeighborsClassifier(3).fit(doubled, labels), doubled, labels).geometry, Neighbors)


FAR = {
    "lda": LinearDiscriminantAnalysis(),
    "centroid": NearestCentroid(),
    "linear": make_pipeline(StandardScaler(), LogisticRegression()),
    "rbf": SVC(gamma=0.1),
    "3nn": KNeighborsClassifier(3),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
}


@pytest.mark.parametrize("name", FAR)
def test_single_precision_far_from_zero_is_estimated_as_it_is_predicted(name):
    """Features near 1e7 are rounded to whole numbers; 4.5 s.e. of 40,000 draws and of the points sampled.

    A false alarm in 1e-5 of seeds.
    """
    rng = np.random.default_rng(3)
    y = np.arange(60) % 2
    X = (1e7 + 0.6 * rng.normal(size=(60, 2)) + y[:, None]).astype(np.float32)
    classifier = clone(FAR[name]).fit(X, y)
    measure = Bolstered(SphericalGaussian(0.5, standardize=None), n_points=512, random_state=0).fit(X, y)
    estimate = measure.error(classifier)
    points, labels = measure.sample(40_000, random_state=1)
    assert points.dtype == np.float32
    share = np.mean(classifier.predict(points) != labels)
    noise = np.hypot(estimate.std_error, np.sqrt(share * (1 - share) / 40_000))
    assert abs(float(estimate) - share) < 4.5 * noise


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_near_zero_keep_their_formula_in_either_precision(dtype):
    X, y = sample()
    classifier = LinearDiscriminantAnalysis().fit(X.astype(dtype), y)
    assert Bolstered().fit(X.astype(dtype), y).error(classifier).computation.exact


@pytest.mark.parametrize("classifier", [SVC(), SVC(kernel="linear"), KNeighborsClassifier(3), LogisticRegression()])
def test_classifier_trained_on_a_sparse_matrix_is_measured_at_dense_points(classifier):
    X, y = sample()
    trained = clone(classifier).fit(sparse.csr_matrix(X), y)
    expected = Empirical().fit(X, y).error(clone(classifier).fit(X, y)).value
    assert Empirical().fit(X, y).error(trained).value == pytest.approx(expected, abs=1e-12)


class Contrary(LogisticRegression):
    """Says the other class everywhere."""

    def predict(self, X):
        return self.classes_[(self.decision_function(X) <= 0).astype(int)]


def test_subclass_that_says_the_opposite_is_sampled():
    X, y = sample()
    estimate = Bolstered(random_state=0).fit(X, y).error(Contrary().fit(X, y))
    assert not estimate.computation.exact


def rarely_other(base):
    """Return a subclass of `base` that says 0 in a thin slab, which holds about one point in two hundred."""

    class RarelyOther(base):
        def predict(self, X):
            said = super().predict(X)
            return np.where(np.abs(np.asarray(X)[:, 0] - self.slab) < 0.01, self.classes_[0], said)

    return RarelyOther


@pytest.mark.parametrize(
    "base",
    [
        LogisticRegression,
        LinearDiscriminantAnalysis,
        SVC,
        KNeighborsClassifier,
        DecisionTreeClassifier,
        NearestCentroid,
    ],
)
@pytest.mark.parametrize("seed", range(4))
def test_subclass_with_a_predict_of_its_own_is_asked_even_where_it_differs_rarely(base, seed):
    """A check at random points misses the slab about every other time."""
    X, y = sample(seed=seed)
    classifier = rarely_other(base)().fit(X, y)
    classifier.slab = np.sort(X[y == 1, 0])[20:22].mean()
    assert region_of(classifier, X, y).geometry is None


def test_object_with_a_predict_put_on_it_is_asked():
    X, y = sample()
    classifier = LogisticRegression().fit(X, y)
    original, slab = classifier.predict, np.sort(X[y == 1, 0])[20:22].mean()
    classifier.predict = lambda X: np.where(np.abs(X[:, 0] - slab) < 0.002, 0, original(X))
    assert region_of(classifier, X, y).geometry is None


class Shifted(LogisticRegression):
    """Has a decision function of its own, which the predict it inherits goes by."""

    def decision_function(self, X):
        return super().decision_function(X) + 0.01 * np.sin(np.asarray(X)[:, 0])


def test_subclass_with_a_decision_function_of_its_own_is_sampled():
    X, y = sample()
    assert region_of(Shifted().fit(X, y), X, y).geometry is None


@pytest.mark.parametrize(
    "step",
    [PolynomialFeatures(2), FunctionTransformer(np.tanh), MinMaxScaler(clip=True)],
    ids=["polynomial", "tanh", "clipped"],
)
@pytest.mark.parametrize(
    "last", [LogisticRegression(max_iter=5000), DecisionTreeClassifier()], ids=["logistic", "tree"]
)
def test_step_that_is_not_affine_means_sampling(step, last):
    X, y = sample()
    classifier = make_pipeline(StandardScaler(), clone(step), clone(last)).fit(X, y)
    estimate = Bolstered(random_state=0).fit(X, y).error(classifier)
    assert not estimate.computation.exact


@pytest.mark.parametrize("name", ["logistic", "lda", "ridge"])
def test_linear_classifier_of_three_classes_is_sampled(name):
    X, y = sample(3)
    assert not Bolstered(random_state=0).fit(X, y).error(clone(LINEAR[name]).fit(X, y)).computation.exact


LABELS = {
    "strings": np.array(["well", "ill"]),
    "objects": np.array(["well", "ill"], dtype=object),
    "signs": np.array([1, -1]),
    "negative": np.array([-5, -2]),
    "bool": np.array([True, False]),
    "floats": np.array([2.0, 0.0]),
}


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize(
    ("classifier", "kind"),
    [
        (LogisticRegression(), HalfSpace),
        (SVC(), KernelMachine),
        (KNeighborsClassifier(3), Neighbors),
        (DecisionTreeClassifier(max_depth=4, random_state=0), Tree),
        (FixedThresholdClassifier(LogisticRegression(), threshold=0.3, response_method="predict_proba"), HalfSpace),
    ],
    ids=["logistic", "rbf", "3nn", "tree", "threshold"],
)
def test_labels_of_any_type_keep_the_geometry(classifier, kind, labels):
    X, codes = sample()
    y = LABELS[labels][codes]
    model = clone(classifier)
    if isinstance(model, FixedThresholdClassifier):
        model.set_params(pos_label=LABELS[labels][1])
    assert_geometry(model.fit(X, y), X, y, kind)


@pytest.mark.parametrize("labels", LABELS)
def test_labels_of_any_type_give_the_same_error(labels):
    X, codes = sample()
    y = LABELS[labels][codes]
    value = Bolstered().fit(X, y).error(LogisticRegression().fit(X, y)).value
    expected = Bolstered().fit(X, codes).error(LogisticRegression().fit(X, codes)).value
    assert value == pytest.approx(expected, rel=1e-6)


class Reordered(ClassifierMixin, BaseEstimator):
    """A fitted classifier that lists its classes in another order."""

    def __init__(self, model, order):
        self.model = model
        self.classes_ = model.classes_[order]

    def predict(self, X):
        return self.model.predict(X)


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [1, 0, 2]])
def test_order_of_classes_does_not_change_the_errors_of_classes(order):
    X, codes = sample(3)
    y = np.array(["c", "a", "b"])[codes]
    classifier = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    said = classifier.predict(X)
    expected = {str(label): np.mean(said[y == label] != label) for label in np.unique(y)}
    measured = Empirical().fit(X, y).error(Reordered(classifier, order)).per_class
    assert {label: measured[label] for label in expected} == pytest.approx(expected)


def test_order_of_classes_does_not_change_the_confusion():
    X, codes = sample(3)
    y = np.array(["c", "a", "b"])[codes]
    classifier = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    measure = Empirical().fit(X, y)
    turned = measure.error(Reordered(classifier, [2, 0, 1]))
    assert turned.classes.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(turned.confusion, measure.error(classifier).confusion)


@pytest.mark.parametrize("measure", [Empirical(), Bolstered(random_state=0)], ids=["points", "kernels"])
def test_linear_classifier_that_lists_its_classes_backwards_has_the_same_confusion(measure):
    X, y = sample()
    forwards, backwards = LogisticRegression().fit(X, y), LogisticRegression().fit(X, y)
    backwards.classes_ = forwards.classes_[::-1].copy()
    backwards.coef_, backwards.intercept_ = -forwards.coef_, -forwards.intercept_
    np.testing.assert_array_equal(backwards.predict(X), forwards.predict(X))
    expected, turned = (measure.fit(X, y).error(classifier) for classifier in (forwards, backwards))
    assert turned.computation.exact
    np.testing.assert_allclose(turned.confusion, expected.confusion, atol=1e-12)
    assert expected.confusion[0, 1] != pytest.approx(expected.confusion[1, 0])
