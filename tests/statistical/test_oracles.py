"""Measures against integrals that the package does not have: orthants, quadratic forms, and brute force."""

import math
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi, multivariate_normal, norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from bayes_gresub import Bolstered
from bayes_gresub.kernels import SphericalGaussian
from bayes_gresub.registry import estimators, make_estimator


def sample(n_classes=2, n=60, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    shifts = rng.normal(size=(n_classes, d))
    return (rng.normal(size=(n, d)) * rng.uniform(0.6, 1.6, size=(n_classes, d))[y]) + 1.2 * shifts[y], y


def orthant_mass(classifier, center, sigma, label):
    """Return P(score of `label` is the largest) about a centre, from the joint law of the differences of scores."""
    others = [j for j in range(len(classifier.classes_)) if j != label]
    differences = classifier.coef_[label] - classifier.coef_[others]
    mean = differences @ center + classifier.intercept_[label] - classifier.intercept_[others]
    return multivariate_normal(np.zeros(len(others)), sigma**2 * differences @ differences.T).cdf(mean)


def assert_close(estimate, expected):
    assert not estimate.computation.exact
    assert estimate.computation.n_replicates >= 32
    assert abs(estimate.value - expected) < 4.5 * estimate.std_error


@pytest.mark.parametrize("rule", [LinearDiscriminantAnalysis(), LogisticRegression()], ids=["lda", "logistic"])
def test_linear_classifier_of_three_classes_has_the_error_of_orthants(rule):
    """One comparison at 4.5 s.e. of 32 scrambles or more for each rule: a false alarm in 1e-4 of seeds."""
    X, y = sample(3)
    classifier = rule.fit(X, y)
    measure = Bolstered(SphericalGaussian(standardize=None), tol=4e-4, random_state=1).fit(X, y)
    sigma = measure.kernel_.widths_
    correct = [orthant_mass(classifier, X[i], sigma[y[i]], y[i]) for i in range(len(X))]
    assert_close(measure.error(classifier), 1 - np.mean(correct))


def test_linear_classifier_of_three_classes_has_the_confusion_of_orthants():
    """Nine comparisons at 4.5 s.e. of 32 scrambles or more: a false alarm in 1e-3 of seeds."""
    X, y = sample(3)
    classifier = LinearDiscriminantAnalysis().fit(X, y)
    measure = Bolstered(SphericalGaussian(standardize=None), tol=4e-4, random_state=2).fit(X, y)
    sigma = measure.kernel_.widths_
    expected = np.zeros((3, 3))
    for i in range(len(X)):
        expected[y[i]] += [orthant_mass(classifier, X[i], sigma[y[i]], j) / len(X) for j in range(3)]
    replicates = measure.error(classifier).replicate_confusions
    noise = replicates.std(axis=0, ddof=1) / math.sqrt(len(replicates))
    # scipy's bivariate integral is good to 1e-5.
    assert (np.abs(replicates.mean(axis=0) - expected) < 4.5 * noise + 1e-5).all()


def quadratic_of(function, d):
    """Return A, b, c with function(x) = x'Ax + b'x + c, from its values alone."""
    rng = np.random.default_rng(0)
    rows, columns = np.triu_indices(d)
    points = rng.normal(size=(200, d))
    design = np.hstack([points[:, rows] * points[:, columns], points, np.ones((200, 1))])
    solution, *_ = np.linalg.lstsq(design, function(points), rcond=None)
    np.testing.assert_allclose(design @ solution, function(points), rtol=1e-8, atol=1e-8)
    A = np.zeros((d, d))
    A[rows, columns] = solution[: len(rows)]
    return (A + A.T) / 2, solution[len(rows) : -1], solution[-1]


def positive_by_slices(A, b, c, center, sigma):
    """Return P(q(x) > 0) for x normal in the plane: where q is positive along each vertical line, averaged."""
    z = np.linspace(-8, 8, 8001)
    first = center[0] + sigma * z
    # q = square * t^2 + slope * t + level in the second coordinate t.
    square = A[1, 1]
    slope = 2 * A[0, 1] * first + b[1]
    level = A[0, 0] * first**2 + b[0] * first + c
    root = np.sqrt(np.maximum(slope**2 - 4 * square * level, 0.0))
    low, high = np.sort([(-slope - root) / (2 * square), (-slope + root) / (2 * square)], axis=0)
    between = norm.cdf((high - center[1]) / sigma) - norm.cdf((low - center[1]) / sigma)
    inside = between if square < 0 else 1 - between
    return np.trapezoid(inside * norm.pdf(z), z)


def positive_by_imhof(A, b, c, center, sigma):
    """Return P(q(x) > 0) for x normal: Imhof's integral for a weighted sum of noncentral chi-squares (1961)."""
    weights, axes = np.linalg.eigh(sigma**2 * A)
    slope = axes.T @ (sigma * (2 * A @ center + b))
    shift = slope / (2 * weights)
    threshold = -(center @ A @ center + b @ center + c) + (weights * shift**2).sum()

    def integrand(u):
        wu = weights * u
        angle = 0.5 * (np.arctan(wu) + shift**2 * wu / (1 + wu**2)).sum() - 0.5 * threshold * u
        size = np.prod((1 + wu**2) ** 0.25) * np.exp(0.5 * ((shift * wu) ** 2 / (1 + wu**2)).sum())
        return np.sin(angle) / (u * size)

    # Beyond the last u the integrand is below u^(-1-d/2) and oscillates.
    reach = 400 / np.abs(weights).max()
    edges = np.r_[1e-12, np.geomspace(1e-3 * reach, reach, 12)]
    parts = [quad(integrand, low, high, limit=400)[0] for low, high in pairwise(edges)]
    return 0.5 + sum(parts) / math.pi


def test_the_two_oracles_of_quadratic_forms_agree():
    A, b, c = np.array([[1.0, 0.4], [0.4, -0.7]]), np.array([0.3, -0.5]), -0.2
    center = np.array([0.4, 0.9])
    assert positive_by_imhof(A, b, c, center, 0.8) == pytest.approx(positive_by_slices(A, b, c, center, 0.8), abs=1e-4)


@pytest.mark.parametrize(("d", "oracle"), [(2, positive_by_slices), (4, positive_by_imhof)], ids=["slices", "imhof"])
def test_quadratic_classifier_has_the_error_of_a_quadratic_form(d, oracle):
    """One comparison at 4.5 s.e. of 32 scrambles or more for each oracle: a false alarm in 1e-4 of seeds."""
    X, y = sample(d=d, n=40, seed=3)
    classifier = QuadraticDiscriminantAnalysis().fit(X, y)
    measure = Bolstered(SphericalGaussian(standardize=None), tol=4e-4, random_state=1).fit(X, y)
    A, b, c = quadratic_of(classifier.decision_function, d)
    ones = np.array([oracle(A, b, c, X[i], measure.kernel_.widths_[y[i]]) for i in range(len(X))])
    assert_close(measure.error(classifier), np.mean(np.where(y == 1, 1 - ones, ones)))


MEASURES = [entry.name for entry in estimators("measure")]
WITH_A_LAW = [name for name in MEASURES if not name.endswith("product")]
BY_SAMPLING = ["bolstered-3nn-pp", "paper-bolstered-3nn-pp"]
N_DRAWS = 1_000_000


def other_name(name):
    """Return whether a name differs by numbers or units only from another, which the same tests run over."""
    return name.startswith("paper-") or name in ("bayesian-shared", "repeated-cv", "calibrated-nb-bolstered")


def over(names):
    """Parametrize by names of estimators; those of classes that have another name are long."""
    long = pytest.mark.long
    return pytest.mark.parametrize("name", [pytest.param(n, marks=long if other_name(n) else ()) for n in names])


@pytest.mark.parametrize("name", [n for n in MEASURES if n not in BY_SAMPLING and not make_estimator(n).has_draws])
def test_registered_measure_is_exact_for_a_linear_classifier(name):
    X, y = sample()
    estimate = make_estimator(name).fit(X, y).error(LogisticRegression().fit(X, y))
    assert estimate.computation.exact


@pytest.mark.parametrize("rule", [LogisticRegression(), DecisionTreeClassifier(max_depth=2)], ids=["logistic", "tree"])
@over(WITH_A_LAW)
def test_error_is_the_share_of_a_million_draws_from_the_measure_itself(name, rule):
    """One comparison at 4.5 combined s.e. for each measure and rule, 26 in all: a false alarm in 2e-4 of seeds.

    Where the error is sampled itself, 8 scrambles are few: they are raised by `tol` to what a million draws give.
    """
    X, y = sample(seed=5)
    classifier = rule.fit(X, y)
    measure = make_estimator(name, random_state=3)
    if "tol" in measure.get_params():
        measure.set_params(tol=5e-4)
    estimate = measure.fit(X, y).error(classifier)
    points, labels = measure.sample(N_DRAWS, classifier=classifier, random_state=4)
    observed = np.mean(classifier.predict(points) != labels)
    noise = math.sqrt(observed * (1 - observed) / N_DRAWS)
    assert abs(estimate.value - observed) <= 4.5 * math.hypot(noise, estimate.std_error)


@pytest.mark.parametrize("name", ["bolstered", "semi-bolstered"])
def test_bolstered_error_is_the_share_of_a_million_draws_made_by_hand(name):
    """Widths, scales and draws in numpy alone; one comparison at 4.5 s.e. each: a false alarm in 7e-6 of seeds."""
    X, y = sample(seed=6)
    X = X * [1.0, 50.0, 0.01]
    classifier = LinearDiscriminantAnalysis().fit(X, y)
    residuals = np.concatenate([X[y == j] - X[y == j].mean(axis=0) for j in (0, 1)])
    unit = np.sqrt((residuals**2).sum(axis=0) / (len(X) - 2))
    sigma = np.empty(2)
    for j in (0, 1):
        group = X[y == j] / unit
        distances = np.sqrt(((group[:, None] - group[None]) ** 2).sum(axis=2))
        distances[np.eye(len(group), dtype=bool)] = np.inf
        sigma[j] = distances.min(axis=1).mean() / chi(3).median()
    rng = np.random.default_rng(12)
    rows = rng.integers(len(X), size=N_DRAWS)
    spread = sigma[y[rows]][:, None] * unit
    if name == "semi-bolstered":
        spread = spread * (classifier.predict(X) == y)[rows][:, None]
    points = X[rows] + spread * rng.standard_normal((N_DRAWS, 3))
    observed = np.mean(classifier.predict(points) != y[rows])
    estimate = make_estimator(name).fit(X, y).error(classifier)
    assert abs(estimate.value - observed) < 4.5 * math.sqrt(observed * (1 - observed) / N_DRAWS)


@cache
def error_in(unit, name):
    X, y = sample(seed=7)
    classifier = KNeighborsClassifier(3).fit(unit * X, y)
    return make_estimator(name, random_state=0).fit(unit * X, y).error(classifier).value


@pytest.mark.parametrize("unit", [1e-9, *(pytest.param(u, marks=pytest.mark.long) for u in (1e-5, 1e-3)), 1e5])
@over(WITH_A_LAW)
def test_common_unit_of_all_features_does_not_change_the_error(name, unit):
    """The seed is the same, so only rounding at ties and boundaries may differ."""
    assert error_in(unit, name) == pytest.approx(error_in(1.0, name), abs=2e-3)
