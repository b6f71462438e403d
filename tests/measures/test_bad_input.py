"""Input that no measure can use is refused before any work, with a message that says what to do.

Data and parameters are checked in one place for all measures: all bad values are tried with one of them, the first bad
value with each class. `make test-long` tries all values with every registered name.
"""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import bayes_gresub as bg

# Measures of points; those with a model have rules of their own (test_bayesian_bad_input.py).
MEASURES = {entry.name: entry for entry in bg.estimators("measure") if not isinstance(entry.make(), bg.Bayesian)}
KERNELS = [bg.SphericalGaussian, bg.DiagonalGaussian, bg.FullGaussian, bg.UniformBall]

CLASSES = {type(entry.make()): name for name, entry in reversed(MEASURES.items())}.values()
long = pytest.mark.long


def over_pairs(second, values, names=tuple(MEASURES), ids=None):
    """Parametrize by pairs; all are long but those of each class with the first value and of one with each value."""
    labels = ids or [str(value) for value in values]
    pairs = [
        pytest.param(
            name,
            value,
            id=f"{name}-{label}",
            marks=() if name == "bolstered" or (name in CLASSES and i == 0) else long,
        )
        for name in names
        for i, (value, label) in enumerate(zip(values, labels, strict=True))
    ]
    return pytest.mark.parametrize(("name", second), pairs)


every_measure = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in CLASSES else long) for name in MEASURES]
)
every_kernel = pytest.mark.parametrize("kernel", KERNELS)


@functools.cache
def sample(n=24, d=3):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    return rng.normal(size=(n, d)) + y[:, None], y


@functools.cache
def trained():
    return LogisticRegression().fit(*sample())


class Forbidden:
    """A classifier that must not be asked."""

    classes_ = np.array([0, 1])

    def predict(self, X):
        raise AssertionError("predict was called before the input was checked")


def spoilt(value):
    X = sample()[0].copy()
    X[5, 1] = value
    return X


# Features


@over_pairs("value", [np.nan, np.inf, -np.inf])
def test_features_must_be_finite(name, value):
    with pytest.raises(ValueError, match=r"got 1 NaN or infinite values, the first in row 5\. Impute or drop them"):
        MEASURES[name].make().fit(spoilt(value), sample()[1])


def test_features_of_other_points_must_be_finite():
    measure = bg.Bolstered().fit(*sample())
    with pytest.raises(ValueError, match=r"NaN or infinite values, the first in row 5\. Impute or drop them"):
        measure.error(Forbidden(), spoilt(np.nan), sample()[1])


@every_measure
def test_sparse_features_are_refused(name):
    with pytest.raises(TypeError, match=r"X must be dense; got a sparse matrix .* Use X\.toarray\(\)"):
        MEASURES[name].make().fit(sparse.csr_array(sample()[0]), sample()[1])


@every_measure
def test_one_dimensional_features_are_refused(name):
    X, y = sample()
    with pytest.raises(ValueError, match=r"got shape \(24,\)\. Use X\.reshape\(-1, 1\) for one feature"):
        MEASURES[name].make().fit(X[:, 0], y)


@pytest.mark.parametrize("shape", [(0, 3), (24, 0)])
def test_empty_features_are_refused(shape):
    with pytest.raises(ValueError, match="X must hold at least one point and one feature"):
        bg.Empirical().fit(np.empty(shape), np.arange(shape[0]) % 2)


def test_text_columns_are_refused():
    X, y = sample()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(colour="red")
    with pytest.raises(
        ValueError, match=r"X must be numeric; .* in colour. Kernels and neighbours need numbers: encode"
    ):
        bg.Bolstered().fit(frame, y)


def test_text_that_looks_like_numbers_is_refused():
    X, y = sample()
    with pytest.raises((TypeError, ValueError), match="X must be numeric"):
        bg.Bolstered().fit(X.astype(str), y)


def test_complex_features_are_refused():
    X, y = sample()
    with pytest.raises((TypeError, ValueError), match="X must be numeric"):
        bg.Bolstered().fit(X + 1j, y)


def test_dates_are_refused():
    X, y = sample()
    with pytest.raises((TypeError, ValueError), match="X must be numeric"):
        bg.Bolstered().fit((1e6 * X).astype("datetime64[s]"), y)


# Labels


@every_measure
def test_one_class_is_refused(name):
    with pytest.raises(ValueError, match=r"y must hold at least two classes; got only \[1\]"):
        MEASURES[name].make().fit(sample()[0], np.ones(24, dtype=int))


@every_measure
def test_labels_of_another_length_are_refused(name):
    X, y = sample()
    with pytest.raises(ValueError, match=r"one label per row of X; got shape \(23,\) for 24 rows"):
        MEASURES[name].make().fit(X, y[:-1])


def test_labels_of_other_points_of_another_length_are_refused():
    X, y = sample()
    with pytest.raises(ValueError, match=r"one label per row of X; got shape \(23,\) for 24 rows"):
        bg.Bolstered().fit(X, y).error(Forbidden(), X, y[:-1])


def test_one_hot_labels_are_refused():
    X, y = sample()
    with pytest.raises(ValueError, match=r"one label per row of X; got shape \(24, 2\)"):
        bg.Bolstered().fit(X, np.eye(2)[y])


@every_measure
def test_regression_target_is_refused(name):
    X, y = sample()
    with pytest.raises(ValueError, match=r"fractional numbers such as .*0\.5.* Is this a regression target\?"):
        MEASURES[name].make().fit(X, y + 0.5)


@pytest.mark.parametrize(
    "missing",
    [
        np.where(np.arange(24) == 3, np.nan, sample()[1]),
        np.array([None, *(["a", "b"] * 12)[1:]], dtype=object),
        np.array([np.nan, *(["a", "b"] * 12)[1:]], dtype=object),
        np.array([np.nan, *([0, 1] * 12)[1:]], dtype=object),
    ],
    ids=["nan", "none among strings", "nan among strings", "nan among objects"],
)
def test_missing_labels_are_refused(missing):
    with pytest.raises((TypeError, ValueError), match=r"[Dd]rop"):
        bg.Bolstered().fit(sample()[0], missing)


def test_labels_that_the_classifier_cannot_predict_are_refused():
    X, y = sample()
    measure = bg.Bolstered().fit(X, np.where(np.arange(24) % 6 == 5, 7, y))
    with pytest.raises(ValueError, match=r"got \[7\]\. The classifier was trained without these classes"):
        measure.error(trained())


def test_labels_that_the_measure_never_saw_are_refused():
    X, y = sample()
    with pytest.raises(ValueError, match=r"got \[9\]\. The measure was fitted without these classes"):
        bg.Bolstered().fit(X, y).error(Forbidden(), X, np.where(np.arange(24) == 0, 9, y))


def test_labels_of_another_type_are_refused():
    X, y = sample()
    measure = bg.Bolstered().fit(X, y.astype(str))
    with pytest.raises(ValueError, match=r"labels in y must be among \[0, 1\]; got \['0', '1'\]"):
        measure.error(trained())


# Widths, kernels and neighbours


@every_kernel
def test_width_of_a_class_of_one_point_cannot_be_estimated(kernel):
    X, y = sample()
    lonely = np.where(np.arange(24) == 0, 2, y)
    with pytest.raises(ValueError, match=r"class 2 has 1\. Add points of this class, or give the"):
        bg.Bolstered(kernel()).fit(X, lonely)


@pytest.mark.parametrize(
    "kernel",
    [
        bg.SphericalGaussian(0.5),
        bg.UniformBall({0: 0.5, 1: 0.5, 2: 0.1}),
        bg.DiagonalGaussian([0.5, 0.5, 0.1]),
        bg.FullGaussian(0.5, covariance=np.eye(3)),
        bg.FullGaussian(np.tile(np.eye(3), (24, 1, 1))),
        bg.FullGaussian({0: np.eye(3), 1: np.eye(3), 2: np.eye(3)}),
    ],
    ids=["spherical", "ball", "diagonal", "full", "covariance of each point", "covariance of each class"],
)
def test_class_of_one_point_is_fine_where_the_width_is_given(kernel):
    X, y = sample()
    lonely = np.where(np.arange(24) == 0, 2, y)
    classifier = DecisionTreeClassifier(random_state=0).fit(X, lonely)
    assert 0.0 <= bg.Bolstered(kernel, random_state=0).fit(X, lonely).error(classifier).value <= 1.0


@pytest.mark.parametrize("measure", [bg.Empirical(), bg.PosteriorProbability()], ids=["resub", "3nn-pp"])
def test_class_of_one_point_is_fine_where_no_width_is_needed(measure):
    X, y = sample()
    lonely = np.where(np.arange(24) == 0, 2, y)
    classifier = DecisionTreeClassifier(random_state=0).fit(X, lonely)
    assert 0.0 <= measure.fit(X, lonely).error(classifier).value <= 1.0


@pytest.mark.parametrize("scale", [-0.1, np.nan, np.inf, "1", None])
@every_kernel
def test_scale_must_be_a_number_of_at_least_zero(kernel, scale):
    with pytest.raises(ValueError, match=r"scale \(kappa\) must be a finite number of at least 0"):
        bg.Bolstered(kernel(scale=scale)).fit(*sample())


@pytest.mark.parametrize("scales", [[-1.0], [], [np.nan], [[1.0]], 1.0])
def test_scales_must_be_a_sequence_of_numbers_of_at_least_zero(scales):
    with pytest.raises(ValueError, match="scales must be a sequence of finite numbers of at least 0"):
        bg.Bolstered().fit(*sample()).errors_at_scales(Forbidden(), scales)


@pytest.mark.parametrize("width", [[1.0, 2.0, 3.0], np.ones((24, 2)), np.ones((3, 3, 3))], ids=["3", "24x2", "3x3x3"])
@every_kernel
def test_width_of_another_shape_is_refused(kernel, width):
    with pytest.raises(ValueError, match=r"one per class \(2\) or one per training point \(24\)"):
        bg.Bolstered(kernel(width)).fit(*sample())


@pytest.mark.parametrize("width", [-1.0, np.nan, [1.0, -1.0], {0: 1.0, 1: -1.0}])
@every_kernel
def test_width_must_not_be_negative(kernel, width):
    with pytest.raises(ValueError, match=r"width must be finite and not negative; .* Use 0 for no smoothing"):
        bg.Bolstered(kernel(width)).fit(*sample())


def test_width_must_be_a_number():
    with pytest.raises((TypeError, ValueError), match="width must be"):
        bg.Bolstered(bg.SphericalGaussian("wide")).fit(*sample())


@every_kernel
def test_width_must_name_every_class(kernel):
    with pytest.raises(ValueError, match=r"width must name every class; \[1\] missing"):
        bg.Bolstered(kernel({0: 1.0})).fit(*sample())


@every_kernel
def test_width_of_an_unknown_class_is_refused(kernel):
    with pytest.raises(ValueError, match=r"the keys of width must be among \[0, 1\]; got \[2\]"):
        bg.Bolstered(kernel({0: 1.0, 1: 1.0, 2: 1.0})).fit(*sample())


@every_kernel
def test_widths_per_point_cannot_be_centred_elsewhere(kernel):
    X, y = sample()
    measure = bg.Bolstered(kernel(np.full(24, 0.5))).fit(X, y)
    with pytest.raises(ValueError, match=r"cannot be centred at other points; .* Give a width per class"):
        measure.error(trained(), X[:10], y[:10])


def test_covariance_of_a_point_must_be_symmetric():
    width = np.tile(np.eye(3), (24, 1, 1))
    width[0, 0, 1] = 0.5
    with pytest.raises(ValueError, match="must be symmetric"):
        bg.Bolstered(bg.FullGaussian(width)).fit(*sample())


def test_singular_class_covariance_is_refused_without_shrinkage():
    X, y = sample()
    with pytest.raises(ValueError, match=r"is singular\. Raise shrinkage, or drop features"):
        bg.Bolstered(bg.FullGaussian(shrinkage=0)).fit(np.column_stack([X, X @ [1.0, 2.0, 3.0]]), y)


@pytest.mark.parametrize("covariance", [np.eye(2), np.ones((5, 3, 3))], ids=["2x2", "5x3x3"])
def test_covariance_of_another_shape_is_refused(covariance):
    with pytest.raises(ValueError, match=r"covariance must have shape \(3, 3\) or \(2, 3, 3\)"):
        bg.Bolstered(bg.FullGaussian(covariance=covariance)).fit(*sample())


@pytest.mark.parametrize("shrinkage", [-0.1, 1.1, "ledoit", None, np.nan])
def test_unknown_shrinkage_is_refused(shrinkage):
    with pytest.raises(ValueError, match="shrinkage must be 'auto' or a number from 0 to 1"):
        bg.Bolstered(bg.FullGaussian(shrinkage=shrinkage)).fit(*sample())


@pytest.mark.parametrize("width", [None, 0.5], ids=["estimated", "given"])
def test_unknown_ties_are_refused(width):
    with pytest.raises(ValueError, match="ties must be 'different' or 'zero'"):
        bg.Bolstered(bg.DiagonalGaussian(width, ties="half")).fit(*sample())


@every_kernel
def test_unknown_space_of_a_kernel_is_refused(kernel):
    with pytest.raises(ValueError, match="standardize must be 'within-class' or None; got 'z-score'"):
        bg.Bolstered(kernel(standardize="z-score")).fit(*sample())


def test_unknown_space_of_neighbours_is_refused():
    with pytest.raises(ValueError, match="standardize must be 'within-class' or None; got True"):
        bg.PosteriorProbability(bg.KNN(3, standardize=True)).fit(*sample())


@pytest.mark.parametrize("measure", [bg.PosteriorProbability, bg.BolsteredPosterior])
def test_more_neighbours_than_points_are_refused(measure):
    with pytest.raises(ValueError, match=r"got k=25 with n=24\. Lower k"):
        measure(posterior=bg.KNN(25)).fit(*sample())


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "3", None])
def test_number_of_neighbours_must_be_a_positive_whole_number(k):
    with pytest.raises(ValueError, match="k must be a whole number of at least 1"):
        bg.PosteriorProbability(bg.KNN(k)).fit(*sample())


@pytest.mark.parametrize("kernel", [bg.SphericalGaussian, "spherical", SVC()], ids=["class", "name", "classifier"])
def test_kernel_must_be_a_kernel(kernel):
    with pytest.raises(TypeError, match=r"kernel must be a Kernel such as SphericalGaussian\(\)"):
        bg.Bolstered(kernel).fit(*sample())


@pytest.mark.parametrize("posterior", ["3nn", LinearSVC(), 3], ids=["name", "no probabilities", "number"])
def test_posterior_must_give_probabilities(posterior):
    with pytest.raises(TypeError, match=r"posterior must be a Posterior such as KNN\(3\), or a classifier with"):
        bg.PosteriorProbability(posterior).fit(*sample())


def test_posterior_must_be_an_instance():
    with pytest.raises(TypeError, match="instance"):
        bg.PosteriorProbability(bg.KNN).fit(*sample())


def test_more_folds_than_points_of_a_class_are_refused():
    X, y = sample()
    rare = np.where(np.arange(24) < 3, 2, y)
    with pytest.raises(ValueError, match=r"class 2 has 3\. Lower cv"):
        bg.PosteriorProbability(LogisticRegression()).fit(X, rare)


# Parameters of measures


@every_measure
def test_unknown_sampling_is_refused(name):
    with pytest.raises(ValueError, match="sampling must be 'mixture' or 'separate'; got 'stratified'"):
        MEASURES[name].make(sampling="stratified").fit(*sample())


BAD_PRIORS = {
    "sum": ([0.5, 0.6], "sum to 1.* Divide them by their sum"),
    "sum below": ([0.3, 0.3], r"sum to 1; got \[0.3, 0.3\]. Divide them by their sum"),
    "negative": ([1.5, -0.5], "must hold probabilities that sum to 1"),
    "nan": ([np.nan, 1.0], "must hold probabilities that sum to 1"),
    "length": ([0.2, 0.3, 0.5], r"one probability for each of \[0, 1\]"),
    "number": (0.5, r"one probability for each of \[0, 1\]"),
    "missing": ({0: 1.0}, r"must name each of \[0, 1\] once"),
    "unknown": ({0: 0.5, "b": 0.5}, r"must name each of \[0, 1\] once"),
}


@over_pairs("prior", BAD_PRIORS, ["resub", "bolstered", "3nn-pp", "bolstered-3nn-pp"])
def test_bad_class_prior_is_refused_in_fit(name, prior):
    value, message = BAD_PRIORS[prior]
    with pytest.raises(ValueError, match=message):
        MEASURES[name].make(class_prior=value).fit(*sample())


@pytest.mark.parametrize("prior", BAD_PRIORS)
def test_bad_class_prior_is_refused_by_the_estimate(prior):
    value, message = BAD_PRIORS[prior]
    estimate = bg.Bolstered().fit(*sample()).error(trained())
    with pytest.raises(ValueError, match=message):
        estimate.with_class_prior(value)


def test_class_prior_must_be_numbers():
    with pytest.raises((TypeError, ValueError), match="class_prior must"):
        bg.Bolstered(class_prior="balanced").fit(*sample())


class SaysNoSecondClass(DummyClassifier):
    """Gives the second class no probability at all."""

    def predict_proba(self, X):
        return np.tile([1.0, 0.0], (len(X), 1))


MEAN_QUESTIONS = {
    "error": lambda measure: measure.error(trained()),
    "expectation": lambda measure: measure.expectation(lambda X, y: np.ones(len(y))),
    "sample": lambda measure: measure.sample(3),
}


@pytest.mark.parametrize("question", MEAN_QUESTIONS)
@pytest.mark.parametrize("measure", [bg.PosteriorProbability, bg.BolsteredPosterior])
def test_class_without_mass_cannot_have_a_prior(measure, question):
    posterior = bg.ClassifierPosterior(SaysNoSecondClass(), cv=None)
    fitted = measure(posterior=posterior, class_prior=[0.5, 0.5], random_state=0).fit(*sample())
    with pytest.raises(ValueError, match="class_prior must be 0 for a class without"):
        MEAN_QUESTIONS[question](fitted)


@pytest.mark.parametrize("measure", [bg.PosteriorProbability, bg.BolsteredPosterior])
def test_mean_under_a_prior_of_zero_for_a_class_without_mass_is_finite(measure):
    posterior = bg.ClassifierPosterior(SaysNoSecondClass(), cv=None)
    fitted = measure(posterior=posterior, class_prior=[1.0, 0.0], random_state=0).fit(*sample())
    assert fitted.expectation(lambda X, y: np.ones(len(y))).value == pytest.approx(1.0, abs=1e-12)


@over_pairs("seed", [-1, 1.5, "seed", True, np.random.RandomState(0)])
def test_bad_random_state_is_refused_in_fit(name, seed):
    with pytest.raises(ValueError, match=r"random_state must be .* Pass an int for reproducible results"):
        MEASURES[name].make(random_state=seed).fit(*sample())


@pytest.mark.parametrize("seed", [-1, 1.5, "seed"])
def test_bad_random_state_is_refused_in_the_call(seed):
    with pytest.raises(ValueError, match=r"random_state must be .* Pass an int for reproducible results"):
        bg.Bolstered().fit(*sample()).error(Forbidden(), random_state=seed)


def test_generator_is_refused_in_the_constructor():
    """The same measure must give the same number twice, and a generator is advanced by every use."""
    with pytest.raises(ValueError, match="random_state"):
        bg.Bolstered(random_state=np.random.default_rng(0)).fit(*sample())


SAMPLED = [name for name in MEASURES if "n_points" in MEASURES[name].make().get_params()]


@over_pairs("n_points", [0, -8, 64.0, True, "64", None], SAMPLED)
def test_number_of_sampled_points_must_be_a_positive_whole_number(name, n_points):
    with pytest.raises(ValueError, match="n_points must be a whole number of at least 1"):
        MEASURES[name].make(n_points=n_points).fit(*sample())


@over_pairs("tol", [0.0, -0.1, np.nan], SAMPLED)
def test_tolerance_must_be_positive(name, tol):
    with pytest.raises(ValueError, match="tol must be positive or None"):
        MEASURES[name].make(tol=tol).fit(*sample())


def test_tolerance_must_be_a_number():
    with pytest.raises((TypeError, ValueError), match="tol must be"):
        bg.Bolstered(tol="0.01").fit(*sample())


@pytest.mark.parametrize("n", [0, -3, 2.5, True, None])
def test_number_of_draws_must_be_a_positive_whole_number(n):
    with pytest.raises(ValueError, match="n must be a whole number of at least 1"):
        bg.Bolstered().fit(*sample()).sample(n)


BAD_WEIGHTS = {
    "length": (np.ones(23), r"one weight per row of X; got shape \(23,\) for 24 rows"),
    "negative": (np.where(np.arange(24) == 0, -1.0, 1.0), r"got a minimum of -1\.0\. Use 0 to leave a point out"),
    "nan": (np.where(np.arange(24) == 0, np.nan, 1.0), "sample_weight must be finite and not negative"),
    "zeros": (np.zeros(24), "positive for at least one point; got zeros only"),
}


@over_pairs("weights", BAD_WEIGHTS)
def test_bad_weights_are_refused_in_fit(name, weights):
    value, message = BAD_WEIGHTS[weights]
    with pytest.raises(ValueError, match=message):
        MEASURES[name].make().fit(*sample(), sample_weight=value)


@pytest.mark.parametrize("weights", BAD_WEIGHTS)
def test_bad_weights_of_other_points_are_refused(weights):
    value, message = BAD_WEIGHTS[weights]
    with pytest.raises(ValueError, match=message):
        bg.Bolstered().fit(*sample()).error(Forbidden(), *sample(), sample_weight=value)


def test_weights_that_leave_one_class_are_refused():
    X, y = sample()
    with pytest.raises(ValueError, match="y must hold at least two classes"):
        bg.Bolstered().fit(X, y, sample_weight=y)


# Classifiers


@pytest.mark.parametrize(
    "classifier",
    [
        LogisticRegression(),
        DecisionTreeClassifier(),
        SVC(),
        KNeighborsClassifier(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(StandardScaler(), SVC()),
    ],
    ids=["logistic", "tree", "svc", "knn", "logistic pipeline", "svc pipeline"],
)
@pytest.mark.parametrize("name", ["resub", "bolstered", "3nn-pp", "bolstered-3nn-pp"])
def test_unfitted_classifier_is_refused(name, classifier):
    with pytest.raises(NotFittedError, match=r"classifier must be fitted; .* Call its fit\(X, y\) first"):
        MEASURES[name].make().fit(*sample()).error(classifier)


@over_pairs("classifier", [LogisticRegression, StandardScaler(), "svc", None])
def test_classifier_must_be_an_object_with_predict(name, classifier):
    with pytest.raises(TypeError, match="classifier must be a fitted object with a predict method"):
        MEASURES[name].make().fit(*sample()).error(classifier)


@over_pairs("seed", [None, 0])
def test_classifier_that_guesses_is_refused(name, seed):
    X, y = sample()
    classifier = DummyClassifier(strategy="uniform", random_state=seed).fit(X, y)
    with pytest.raises(
        ValueError, match=r"predict must be a function of the point; .* make its predictions deterministic"
    ):
        MEASURES[name].make(random_state=0).fit(X, y).error(classifier)


@every_measure
def test_classifier_of_other_features_is_refused(name):
    X, y = sample()
    classifier = LogisticRegression().fit(X[:, :2], y)
    with pytest.raises(
        ValueError, match=r"trained on 2 features, X has 3\. Put the feature selection into the classifier's Pipeline"
    ):
        MEASURES[name].make().fit(X, y).error(classifier)


class SaysMaybe:
    """Says a label that is in no data, and does not list its classes."""

    def predict(self, X):
        return np.where(X[:, 0] > 0, "maybe", "no")


def test_labels_that_predict_invents_are_refused():
    X, y = sample()
    with pytest.raises(ValueError, match=r"got \['maybe'\]\. Give the classifier a `classes_` attribute"):
        bg.Bolstered().fit(X, np.array(["no", "yes"])[y]).error(SaysMaybe())


class SaysTwoThings:
    """Gives two answers per point."""

    def predict(self, X):
        return np.zeros((len(X), 2), dtype=int)


def test_more_than_one_label_per_point_is_refused():
    with pytest.raises(ValueError, match="predict must return one label per point; got shape"):
        bg.Bolstered().fit(*sample()).error(SaysTwoThings())


def test_classifier_of_several_outputs_is_refused():
    X, y = sample()
    classifier = DecisionTreeClassifier().fit(X, np.column_stack([y, np.arange(24) % 3]))
    with pytest.raises(ValueError, match="one label per point"):
        bg.Bolstered().fit(X, y).error(classifier)


@every_measure
def test_other_order_of_columns_than_the_classifier_saw_is_refused(name):
    X, y = sample()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    classifier = LogisticRegression().fit(frame, y)
    with pytest.raises(ValueError, match=r"X has \['c', 'a', 'b'\]\. Reorder the columns of X"):
        MEASURES[name].make().fit(frame[["c", "a", "b"]], y).error(classifier)


@pytest.mark.parametrize("trained_on", ["frame", "array"])
def test_other_order_of_columns_at_other_points_is_refused(trained_on):
    X, y = sample()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    classifier = LogisticRegression().fit(frame if trained_on == "frame" else X, y)
    measure = bg.Bolstered().fit(frame, y)
    with pytest.raises(ValueError, match="columns"):
        measure.error(classifier, frame[["c", "a", "b"]], y)


# Other points, and questions about the law


@every_measure
def test_other_points_of_another_shape_are_refused(name):
    X, y = sample()
    with pytest.raises(ValueError, match=r"the shape seen in fit, \(n, 3\); got \(n, 2\)"):
        MEASURES[name].make().fit(X, y).error(Forbidden(), X[:, :2], y)


def test_flattened_images_are_refused_after_images():
    X, y = sample(24, 4)
    measure = bg.Bolstered().fit(X.reshape(24, 2, 2), y)
    with pytest.raises(ValueError, match=r"the shape seen in fit, \(n, 2, 2\); got \(n, 4\)"):
        measure.error(Forbidden(), X, y)


@over_pairs("given", [{"y": sample()[1]}, {"sample_weight": np.ones(24)}], ids=["y", "weights"])
def test_labels_or_weights_without_points_are_refused(name, given):
    with pytest.raises(ValueError, match=r"got them without X\. Pass X too, or none of them"):
        MEASURES[name].make().fit(*sample()).error(Forbidden(), **given)


UNFITTED_QUESTIONS = {
    "error": lambda measure: measure.error(Forbidden()),
    "sample": lambda measure: measure.sample(3, classifier=Forbidden()),
    "expectation": lambda measure: measure.expectation(lambda X, y: y, classifier=Forbidden()),
    "probability": lambda measure: measure.probability(lambda X, y: y > 0, classifier=Forbidden()),
}


@over_pairs("question", UNFITTED_QUESTIONS)
def test_unfitted_measure_is_refused(name, question):
    with pytest.raises(NotFittedError, match=r"is not fitted; call fit\(X, y\) first"):
        UNFITTED_QUESTIONS[question](MEASURES[name].make())


def test_failed_refit_leaves_the_measure_as_it_was():
    X, y = sample()
    measure = bg.BolsteredPosterior(posterior=bg.KNN(10), random_state=0).fit(X, y)
    before = measure.error(trained()).value
    with pytest.raises(ValueError, match=r"got k=10 with n=8\. Lower k"):
        measure.fit(5.0 * X[:8], y[:8])
    assert measure.error(trained()).value == before


ASKABLE = ["resub", "bolstered", "3nn-pp", "bolstered-3nn-pp"]


@pytest.mark.parametrize(
    "loss",
    [lambda X, y: 1.0, lambda X, y: np.ones((len(y), 2)), lambda X, y: np.ones(len(y) + 1)],
    ids=["scalar", "matrix", "too long"],
)
@pytest.mark.parametrize("name", ASKABLE)
def test_loss_of_another_shape_is_refused(name, loss):
    with pytest.raises(ValueError, match="one finite number per point; got shape"):
        MEASURES[name].make(random_state=0).fit(*sample()).expectation(loss)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", ASKABLE)
def test_loss_that_is_not_finite_is_refused(name, value):
    with pytest.raises(ValueError, match=r"one finite number per point; .* some of them not finite"):
        MEASURES[name].make(random_state=0).fit(*sample()).expectation(lambda X, y: np.full(len(y), value))


@pytest.mark.parametrize("name", ASKABLE)
def test_event_must_be_boolean(name):
    with pytest.raises(TypeError, match=r"event must return booleans; .* Use expectation for a loss"):
        MEASURES[name].make(random_state=0).fit(*sample()).probability(lambda X, y: y)


# Odd samples that are no errors

ODD = {
    "constant feature": lambda X, y: np.column_stack([X, np.full(24, 7.0)]),
    "feature constant in each class": lambda X, y: np.column_stack([X, 0.1 * y]),
    "feature constant in one class": lambda X, y: np.column_stack([X, np.where(y == 1, X[:, 0], 0.1)]),
    "every row four times": lambda X, y: np.repeat(X[:6], 4, axis=0),
    "equal rows within a class": lambda X, y: np.where(y[:, None] == 1, X, 0.3),
    "equal rows within both classes": lambda X, y: np.column_stack([y, y]) * 0.1,
    "equal rows": lambda X, y: np.full((24, 3), 0.1),
    "huge values": lambda X, y: 1e25 * X,
    "tiny values": lambda X, y: 1e-25 * X,
    "far from the origin": lambda X, y: X + 1e9,
    "collinear features": lambda X, y: np.column_stack([X, X @ [1.0, 2.0, 3.0]]),
    "more features than points": lambda X, y: np.random.default_rng(1).normal(size=(24, 40)) + y[:, None],
}


RULES = {"tree": DecisionTreeClassifier(random_state=0), "3nn": KNeighborsClassifier(3)}
# Widths are estimated in another way by each kernel, and masses of a tree's boxes are exact for most.
WIDTHS = ["bolstered", "ball-bolstered", "nb-bolstered", "full-bolstered"]
OFTEN = [*((name, "3nn") for name in [*CLASSES, "gp-pp"]), *((name, rule) for name in WIDTHS for rule in RULES)]


@pytest.mark.filterwarnings("ignore:every point of class")
@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(
    ("name", "rule"),
    [pytest.param(name, rule, marks=() if (name, rule) in OFTEN else long) for name in MEASURES for rule in RULES],
)
def test_odd_samples_have_finite_errors(name, odd, rule):
    X, y = sample()
    features = ODD[odd](X, y)
    estimate = MEASURES[name].make(random_state=0).fit(features, y).error(RULES[rule].fit(features, y))
    assert 0.0 <= estimate.value <= 1.0
    assert np.isfinite(estimate.contributions).all()


def test_class_of_duplicates_only_gets_a_warning():
    X, y = sample()
    with pytest.warns(UserWarning, match=r"the kernel width is 0 and nothing is smoothed there\. Drop the duplicates"):
        bg.Bolstered().fit(np.concatenate([X, X]), np.concatenate([y, y]))


@pytest.mark.parametrize("name", [name for name in MEASURES if not name.startswith("paper-")])
def test_constant_feature_changes_no_error(name):
    """4.5 standard errors where sampled: false alarms for 3 in 1000 seeds. The paper's alpha_d counts all features."""
    X, y = sample()
    narrow, wide = (
        MEASURES[name].make(random_state=0).fit(features, y).error(scaled_logistic().fit(features, y))
        for features in (X, np.column_stack([X, np.full(24, 7.0)]))
    )
    noise = np.hypot(narrow.std_error, wide.std_error)
    assert abs(narrow.value - wide.value) <= max(4.5 * noise, 1e-8)


def scaled_logistic():
    return make_pipeline(StandardScaler(), LogisticRegression(tol=1e-10))
