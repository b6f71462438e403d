"""Measures in their limits: no smoothing, one neighbour, all neighbours, and the parts they are products of."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import bayes_gresub as bg

KERNELS = {
    "spherical": bg.SphericalGaussian,
    "diagonal": bg.DiagonalGaussian,
    "full": bg.FullGaussian,
    "ball": bg.UniformBall,
}

RULES = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "tree": DecisionTreeClassifier(max_depth=2, random_state=0),
    "svc": SVC(),
    "3nn": KNeighborsClassifier(3),
    "qda": QuadraticDiscriminantAnalysis(),
}

every_kernel = pytest.mark.parametrize("kernel", KERNELS)
every_rule = pytest.mark.parametrize("rule", RULES)


def overlapping(n=40, d=2, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, d))
    X[:, 0] += y
    return X, y


def with_twins(seed=0):
    """Every other row stands twice, the second time with the other label."""
    X, y = overlapping(seed=seed)
    return np.concatenate([X, X[::2]]), np.concatenate([y, 1 - y[::2]])


def resubstitution(classifier, X, y):
    return np.mean(classifier.predict(X) != y)


@pytest.mark.parametrize("semi", [False, True], ids=["bolstered", "semi-bolstered"])
@every_rule
@every_kernel
def test_bolstered_of_scale_zero_is_plain_resubstitution(kernel, rule, semi):
    X, y = overlapping()
    classifier = clone(RULES[rule]).fit(X, y)
    estimate = bg.Bolstered(KERNELS[kernel](scale=0), semi=semi).fit(X, y).error(classifier)
    assert estimate.value == pytest.approx(resubstitution(classifier, X, y), abs=1e-15)


@pytest.mark.parametrize("n_classes", [2, 3])
@every_rule
@every_kernel
def test_bolstered_tends_to_plain_resubstitution_as_scale_vanishes(kernel, rule, n_classes):
    X, y = overlapping(n_classes=n_classes)
    classifier = clone(RULES[rule]).fit(X, y)
    estimate = bg.Bolstered(KERNELS[kernel](scale=1e-12), random_state=0).fit(X, y).error(classifier)
    assert estimate.value == pytest.approx(resubstitution(classifier, X, y), abs=1e-12)


@every_kernel
def test_bolstered_tends_to_plain_resubstitution_as_given_width_vanishes(kernel):
    X, y = overlapping()
    classifier = LinearDiscriminantAnalysis().fit(X, y)
    estimate = bg.Bolstered(KERNELS[kernel](width=1e-12)).fit(X, y).error(classifier)
    assert estimate.value == pytest.approx(resubstitution(classifier, X, y), abs=1e-12)


@every_rule
@every_kernel
def test_bolstered_confusion_of_scale_zero_counts_points(kernel, rule):
    X, y = overlapping(n_classes=3)
    classifier = clone(RULES[rule]).fit(X, y)
    estimate = bg.Bolstered(KERNELS[kernel](scale=0)).fit(X, y).error(classifier)
    counted = confusion_matrix(y, classifier.predict(X), normalize="all")
    np.testing.assert_allclose(estimate.confusion, counted, atol=1e-15)


@every_rule
def test_one_neighbour_gives_plain_resubstitution(rule):
    X, y = overlapping(n_classes=3)
    classifier = clone(RULES[rule]).fit(X, y)
    estimate = bg.PosteriorProbability(bg.KNN(1)).fit(X, y).error(classifier)
    assert estimate.value == pytest.approx(resubstitution(classifier, X, y), abs=1e-15)


@pytest.mark.parametrize("standardize", ["within-class", None])
def test_one_neighbour_gives_plain_resubstitution_where_rows_have_twins(standardize):
    X, y = with_twins()
    classifier = KNeighborsClassifier(3).fit(X, y)
    estimate = bg.PosteriorProbability(bg.KNN(1, standardize=standardize)).fit(X, y).error(classifier)
    # Point by point: the twins of a pair would make up for each other in the mean.
    np.testing.assert_array_equal(estimate.contributions, classifier.predict(X) != y)


def test_twins_at_the_last_place_share_its_vote():
    X = np.array([[0.0], [1.0], [1.0], [5.0], [5.1]])
    posterior = bg.KNN(2, standardize=None).fit(X, ["a", "a", "b", "b", "b"])
    np.testing.assert_allclose(posterior.training_proba()[0], [0.75, 0.25])


def test_as_many_neighbours_as_points_give_the_class_frequencies():
    X, y = overlapping(n=30, n_classes=3)
    y[:6] = 0
    proba = bg.KNN(30).fit(X, y).training_proba()
    np.testing.assert_allclose(proba, np.tile(np.bincount(y) / 30, (30, 1)), atol=1e-15)


def test_as_many_neighbours_as_points_give_the_error_of_guessing_by_frequency():
    X, y = overlapping(n=30)
    y[:9] = 0
    classifier = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    said = np.bincount(classifier.predict(X), minlength=2) / 30
    estimate = bg.PosteriorProbability(bg.KNN(30)).fit(X, y).error(classifier)
    assert estimate.value == pytest.approx(1.0 - said @ (np.bincount(y) / 30), abs=1e-12)


@every_rule
def test_empirical_confusion_counts_points(rule):
    X, y = overlapping(n_classes=3)
    classifier = clone(RULES[rule]).fit(X, y)
    counted = confusion_matrix(y, classifier.predict(X), normalize="all")
    np.testing.assert_allclose(bg.Empirical().fit(X, y).error(classifier).confusion, counted, atol=1e-15)


POSTERIORS = {
    "3nn": bg.KNN(3),
    "3nn in given units": bg.KNN(3, standardize=None),
    "bayes": bg.ClassifierPosterior(GaussianNB(), cv=None),
}


@pytest.mark.parametrize("posterior", POSTERIORS)
@pytest.mark.parametrize("rule", ["logistic", "svc"])
@every_kernel
def test_bolstered_posterior_tends_to_posterior_probability_as_scale_vanishes(kernel, rule, posterior):
    X, y = overlapping(n_classes=3)
    classifier = clone(RULES[rule]).fit(X, y)
    smoothed = bg.BolsteredPosterior(KERNELS[kernel](scale=1e-9), POSTERIORS[posterior], random_state=0).fit(X, y)
    still = bg.PosteriorProbability(POSTERIORS[posterior]).fit(X, y)
    assert smoothed.error(classifier).value == pytest.approx(still.error(classifier).value, abs=1e-6)


@every_kernel
def test_bolstered_posterior_of_scale_zero_is_posterior_probability(kernel):
    X, y = overlapping(n_classes=3)
    classifier = SVC().fit(X, y)
    smoothed = bg.BolsteredPosterior(KERNELS[kernel](scale=0), random_state=0).fit(X, y).error(classifier)
    assert smoothed.value == pytest.approx(bg.PosteriorProbability().fit(X, y).error(classifier).value, abs=1e-12)


@pytest.mark.parametrize("standardize", ["within-class", None])
def test_bolstered_posterior_of_scale_zero_is_posterior_probability_where_a_point_is_far_out(standardize):
    """Neighbours must be told apart however far other points lie."""
    X, y = overlapping(n=60)
    X[0] = [3000.0, 0.0]
    classifier = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    posterior = bg.KNN(3, standardize=standardize)
    smoothed = bg.BolsteredPosterior(bg.SphericalGaussian(scale=0), posterior, random_state=0).fit(X, y)
    still = bg.PosteriorProbability(posterior).fit(X, y)
    assert smoothed.error(classifier).value == pytest.approx(still.error(classifier).value, abs=1e-6)


def test_bolstered_posterior_with_the_true_labels_as_posterior_is_bolstered():
    """Far apart classes: the posterior is the label wherever a kernel reaches. 4.5 s.e., 3 false alarms in 1000."""
    X, y = overlapping()
    X[:, 0] += 100 * y
    classifier = SVC(gamma=0.1).fit(X, 1 - y)
    both = bg.BolsteredPosterior(random_state=0).fit(X, y).error(classifier)
    bolstered = bg.Bolstered(random_state=1).fit(X, y).error(classifier)
    assert abs(both.value - bolstered.value) <= 4.5 * np.hypot(both.std_error, bolstered.std_error) + 1e-12


@every_rule
@every_kernel
def test_misclassified_point_contributes_one_to_semi_bolstered(kernel, rule):
    X, y = overlapping(n_classes=3)
    classifier = clone(RULES[rule]).fit(X, y)
    wrong = classifier.predict(X) != y
    contributions = bg.Bolstered(KERNELS[kernel](), semi=True, random_state=0).fit(X, y).error(classifier).contributions
    assert wrong.any()
    assert (contributions[wrong] == 1.0).all()


@pytest.mark.parametrize("rule", ["logistic", "tree"])
@pytest.mark.parametrize("kernel", ["spherical", "diagonal"])
def test_rightly_classified_point_contributes_as_bolstered_to_semi_bolstered(kernel, rule):
    X, y = overlapping()
    classifier = clone(RULES[rule]).fit(X, y)
    right = classifier.predict(X) == y
    semi, whole = (
        bg.Bolstered(KERNELS[kernel](), semi=semi).fit(X, y).error(classifier).contributions for semi in (True, False)
    )
    np.testing.assert_allclose(semi[right], whole[right], atol=1e-12)


@every_rule
@every_kernel
def test_semi_bolstered_is_at_least_plain_resubstitution(kernel, rule):
    X, y = overlapping(n_classes=3)
    classifier = clone(RULES[rule]).fit(X, y)
    estimate = bg.Bolstered(KERNELS[kernel](), semi=True, random_state=0).fit(X, y).error(classifier)
    assert estimate.value >= resubstitution(classifier, X, y)


@pytest.mark.parametrize("prior", [None, [0.8, 0.2]], ids=["mixture", "prior"])
@pytest.mark.parametrize("posterior", ["3nn", "bayes"])
@pytest.mark.parametrize("rule", ["logistic", "tree", "svc"])
@every_kernel
def test_product_form_multiplies_bolstered_and_posterior_contributions(kernel, rule, posterior, prior):
    X, y = overlapping()
    classifier = clone(RULES[rule]).fit(X, y)
    given = {"class_prior": prior, "random_state": 3, "n_points": 64}
    product = bg.paper.ProductForm(KERNELS[kernel](), POSTERIORS[posterior], **given).fit(X, y)
    bolstered = bg.Bolstered(KERNELS[kernel](), **given).fit(X, y).error(classifier)
    doubted = bg.PosteriorProbability(POSTERIORS[posterior]).fit(X, y).error(classifier)
    expected = np.dot(bolstered.point_weights, bolstered.contributions * doubted.contributions)
    assert product.error(classifier).value == pytest.approx(expected, abs=1e-12)


SCALES = [0.0, 0.25, 1.0, 3.0]


@pytest.mark.parametrize("semi", [False, True], ids=["bolstered", "semi-bolstered"])
@every_rule
@every_kernel
def test_errors_at_scales_are_those_of_kernels_with_that_scale(kernel, rule, semi):
    """Exact and sampled alike: the draws are shared, so even sampled numbers agree to rounding."""
    X, y = overlapping()
    classifier = clone(RULES[rule]).fit(X, y)
    together = bg.Bolstered(KERNELS[kernel](), semi=semi, random_state=0).fit(X, y).errors_at_scales(classifier, SCALES)
    alone = [
        bg.Bolstered(KERNELS[kernel](scale=scale), semi=semi, random_state=0).fit(X, y).error(classifier)
        for scale in SCALES
    ]
    np.testing.assert_allclose([e.value for e in together], [e.value for e in alone], atol=1e-12)


@pytest.mark.parametrize("rule", ["logistic", "svc"])
def test_errors_at_scales_multiply_the_scale_of_the_kernel(rule):
    X, y = overlapping()
    classifier = clone(RULES[rule]).fit(X, y)
    half = bg.Bolstered(bg.SphericalGaussian(scale=0.5), random_state=0).fit(X, y)
    doubled, kept = half.errors_at_scales(classifier, [2.0, 1.0])
    assert doubled.value == pytest.approx(bg.Bolstered(random_state=0).fit(X, y).error(classifier).value, abs=1e-12)
    assert kept.value == half.error(classifier).value


def test_errors_at_scales_share_their_draws():
    """Independent draws would put replicates of nearby scales apart by their own spread."""
    X, y = overlapping()
    one, nearby = bg.Bolstered(random_state=0).fit(X, y).errors_at_scales(SVC().fit(X, y), [1.0, 1.0 + 1e-9])
    np.testing.assert_allclose(one.replicate_values, nearby.replicate_values, atol=1e-12)
    assert one.std_error > 0


def test_errors_at_scales_do_not_depend_on_which_others_are_asked():
    X, y = overlapping()
    measure, classifier = bg.Bolstered(random_state=0).fit(X, y), SVC().fit(X, y)
    assert measure.errors_at_scales(classifier, [0.5, 1.0, 2.0])[1].value == measure.error(classifier).value


@pytest.mark.parametrize("width", ["by label", "by class", "by point"])
def test_given_covariance_matrices_are_those_of_the_kernels(width):
    """Four times the identity is the covariance of a spherical kernel of width 2."""
    X, y = overlapping()
    classifier = LinearDiscriminantAnalysis().fit(X, y)
    matrix = 4.0 * np.eye(2)
    given = {
        "by label": {0: matrix, 1: matrix},
        "by class": np.stack([matrix] * 2),
        "by point": np.stack([matrix] * 40),
    }
    full = bg.Bolstered(bg.FullGaussian(given[width], standardize=None)).fit(X, y).error(classifier)
    spherical = bg.Bolstered(bg.SphericalGaussian(2.0, standardize=None)).fit(X, y).error(classifier)
    assert full.value == pytest.approx(spherical.value, abs=1e-12)


@every_kernel
def test_zero_weight_leaves_out_a_point_with_its_own_width(kernel):
    X, y = overlapping()
    kept = np.arange(len(y)) % 5 != 2
    widths = np.linspace(0.1, 2.0, len(y))
    classifier = LinearDiscriminantAnalysis().fit(X, y)
    shape = {"covariance": np.eye(2)} if kernel == "full" else {}
    weighted = bg.Bolstered(KERNELS[kernel](widths, **shape)).fit(X, y, sample_weight=kept.astype(float))
    dropped = bg.Bolstered(KERNELS[kernel](widths[kept], **shape)).fit(X[kept], y[kept])
    assert weighted.error(classifier).value == pytest.approx(dropped.error(classifier).value, abs=1e-12)
