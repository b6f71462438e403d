"""What every registered measure promises, whatever it is made of.

All promises are tested for each class with each part that it can be made of; other names of the same classes, with
other units or numbers, are tested once for what an estimate is, and in full by `make test-long`.
"""

from __future__ import annotations

import functools
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import bayes_gresub as bg
from bayes_gresub.models.diagnostics import mcse

RULES = {
    "logistic": (2, make_pipeline(StandardScaler(), LogisticRegression(tol=1e-10))),
    "tree": (3, DecisionTreeClassifier(max_depth=4, random_state=0)),
    "svc": (3, SVC()),
    "3nn": (2, KNeighborsClassifier(3)),
}

MEASURES = {entry.name: entry for entry in bg.estimators("measure")}


def parameters(name):
    return MEASURES[name].make().get_params()


# The paper's product form is not additive: it has a value and contributions only.
PRODUCTS = [name for name in MEASURES if isinstance(MEASURES[name].make(), bg.paper.ProductForm)]
ADDITIVE = [name for name in MEASURES if name not in PRODUCTS]
# Semi-bolstering depends on the classifier, which every question about the law must then be given.
SEMI = [name for name in MEASURES if parameters(name).get("semi")]
THREADED = [name for name in MEASURES if "n_jobs" in parameters(name)]
# The "paper-" measures take the features as given, in whatever units.
UNIT_FREE = [name for name in MEASURES if not name.startswith("paper-")]
# A posterior is a law of its own, sampled in `fit`: there are no points that it is centred at, hence no contributions
# and no weights, and what is random in it is not what is random in `error`.
POSTERIORS = [name for name in MEASURES if isinstance(MEASURES[name].make(), bg.Bayesian)]
CENTRED = [name for name in MEASURES if name not in POSTERIORS]
ADDITIVE_AND_CENTRED = [name for name in ADDITIVE if name in CENTRED]
WITH_TOLERANCE = [name for name in MEASURES if "tol" in parameters(name)]
LABEL_FREE = [name for name in MEASURES if isinstance(MEASURES[name].make(), bg.PosteriorProbability)]
LABEL_BOUND = [name for name in CENTRED if name not in LABEL_FREE]


def made_of(name):
    """Return the class of a measure, those of its parts, and the options that make it another law."""
    given = MEASURES[name].make().get_params(deep=False)
    kernel = given.get("kernel") or bg.SphericalGaussian()
    parts = (type(part) for part in (kernel, given.get("posterior"), given.get("model")))
    return type(MEASURES[name].make()), given.get("semi"), given.get("form"), *parts


# The first name of each; the others differ from it by numbers and units only.
FIRST_NAMES = {made_of(name): name for name in reversed(MEASURES)}.values()
long = pytest.mark.long


def over(names):
    """Parametrize by names of measures; those that share what they are made of with an earlier one are long."""
    return pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in FIRST_NAMES else long) for n in names])


def over_pairs(second, names, values):
    """Parametrize by pairs; all are long but those of each class with the first value and of one with each value."""
    every = next((name for name in names if name == "bolstered"), names[0])
    pairs = [
        pytest.param(
            name,
            value,
            id=f"{name}-{value}",
            marks=() if name == every or (name in FIRST_NAMES and i == 0) else long,
        )
        for name in names
        for i, value in enumerate(values)
    ]
    return pytest.mark.parametrize(("name", second), pairs)


every_name = pytest.mark.parametrize("name", MEASURES)
every_additive_name = pytest.mark.parametrize("name", ADDITIVE)
every_centred_name = pytest.mark.parametrize("name", CENTRED)
every_measure = over(MEASURES)
every_additive_measure = over(ADDITIVE)
every_centred_measure = over(CENTRED)
every_posterior = over(POSTERIORS)
# A linear boundary and the boxes of a tree are integrated exactly, other regions by sampling.
every_rule = pytest.mark.parametrize("rule", ["logistic", "tree", "svc", pytest.param("3nn", marks=long)])
sampled_rule = pytest.mark.parametrize("rule", [pytest.param("logistic", marks=long), "svc"])

pytestmark = [
    # Chains are kept short here on purpose.
    pytest.mark.filterwarnings("ignore:the chains:UserWarning"),
    # Images have more pixels than there are images of a class.
    pytest.mark.filterwarnings("ignore:.* for a covariance matrix of 16 features:UserWarning"),
]

QUICK = {"draws": 60, "tune": 20, "chains": 2}
# The search for hyper-parameters takes most of a Gaussian process's time; it is tested with the process itself.
FIXED = {"posterior": bg.GaussianProcess(lengthscale=2.0, amplitude=4.0)}


def make(name, **given):
    """Make the measure, its chains short and its hyper-parameters fixed where it has any."""
    short = QUICK if name in POSTERIORS else FIXED if name == "gp-pp" else {}
    return MEASURES[name].make(**{**short, **given})


@functools.cache
def points(n_classes, n=36, d=3, seed=0):
    """Overlapping Gaussian classes of unequal size and spread, features correlated; no two rows are equal."""
    rng = np.random.default_rng([seed, n_classes])
    y = np.minimum(np.arange(n) % (n_classes + 1), n_classes - 1)
    X = rng.normal(size=(n, d)) * (1.0 + 0.3 * y[:, None])
    X[:, -1] += 2.0 * X[:, 0]
    X[:, 0] += 1.2 * y
    return X, y


def sample_for(rule):
    return points(RULES[rule][0])


@functools.cache
def trained(rule):
    return clone(RULES[rule][1]).fit(*sample_for(rule))


@functools.cache
def rescaled(rule, column, factor):
    """Return the sample with one column, or all, in another unit, and the classifier trained on that."""
    X, y = sample_for(rule)
    X = X.copy()
    X[:, column] *= factor
    return X, y, clone(RULES[rule][1]).fit(X, y)


@functools.cache
def framed(rule):
    """Return the sample as a frame, and the classifier trained on that."""
    X, y = sample_for(rule)
    frame = pd.DataFrame(X, columns=["first", "second", "third"])
    return frame, clone(RULES[rule][1]).fit(frame, y)


@functools.cache
def fitted(name, rule):
    return make(name, random_state=0).fit(*sample_for(rule))


@functools.cache
def estimated(name, rule):
    return fitted(name, rule).error(trained(rule))


def law_arguments(name, classifier):
    """Return what sample, probability and expectation of this measure must be given."""
    return {"classifier": classifier} if name in SEMI else {}


def assert_agree(one, other, exact=1e-10):
    """Two computations of one number: equal where exact, within 4.5 combined standard errors where sampled.

    With 8 replicates behind a standard error a comparison of right numbers fails for 3 in 1000 seeds (Student-t). That
    of short chains is as rough.
    """
    noise = np.hypot(one.std_error, other.std_error)
    assert abs(float(one) - float(other)) <= max(4.5 * noise, exact)


@every_rule
@every_name
def test_error_is_a_probability(name, rule):
    assert 0.0 <= estimated(name, rule).value <= 1.0


@every_rule
@every_additive_name
def test_confusion_is_a_probability_law(name, rule):
    confusion = estimated(name, rule).confusion
    assert (confusion >= 0).all()
    assert confusion.sum() == pytest.approx(1.0, abs=1e-12)


@every_rule
@every_additive_measure
def test_error_is_what_lies_off_the_diagonal(name, rule):
    estimate = estimated(name, rule)
    assert estimate.value == pytest.approx(1.0 - np.trace(estimate.confusion), abs=1e-12)


@every_rule
@every_additive_measure
def test_per_class_errors_average_to_the_error(name, rule):
    estimate = estimated(name, rule)
    average = np.dot(estimate.confusion.sum(axis=1), list(estimate.per_class.values()))
    assert average == pytest.approx(estimate.value, abs=1e-12)


@every_rule
@every_centred_name
def test_error_is_the_weighted_mean_of_the_contributions(name, rule):
    estimate = estimated(name, rule)
    assert np.dot(estimate.point_weights, estimate.contributions) == pytest.approx(estimate.value, abs=1e-12)


@every_rule
@every_centred_measure
def test_each_point_contributes_a_probability(name, rule):
    contributions = estimated(name, rule).contributions
    assert len(contributions) == len(sample_for(rule)[0])
    assert contributions.min() >= 0.0
    assert contributions.max() <= 1.0 + 1e-12


@every_rule
@every_centred_measure
def test_point_weights_sum_to_one(name, rule):
    assert estimated(name, rule).point_weights.sum() == pytest.approx(1.0, abs=1e-12)


@every_rule
@every_posterior
def test_posterior_has_no_points_to_contribute(name, rule):
    estimate = estimated(name, rule)
    assert estimate.contributions is None
    assert estimate.point_weights is None


@every_rule
@every_posterior
def test_every_posterior_draw_is_a_probability_law(name, rule):
    draws = estimated(name, rule).confusion_draws
    assert draws.min() >= 0.0
    np.testing.assert_allclose(draws.sum(axis=(1, 2)), 1.0, atol=1e-12)


@every_rule
@every_posterior
def test_error_is_the_mean_of_its_posterior_draws(name, rule):
    estimate = estimated(name, rule)
    assert estimate.draws.shape == (QUICK["chains"] * QUICK["draws"],)
    assert estimate.draws.mean() == pytest.approx(estimate.value, abs=1e-12)


@every_rule
@every_posterior
def test_posterior_offers_an_interval(name, rule):
    estimate = estimated(name, rule)
    low, high = estimate.interval(0.9)
    assert 0.0 <= low < estimate.value < high <= 1.0


@every_rule
@every_measure
def test_standard_error_is_zero_only_where_nothing_was_sampled(name, rule):
    estimate = estimated(name, rule)
    assert (estimate.std_error == 0.0) == estimate.computation.exact


@sampled_rule
@every_name
def test_same_random_state_gives_the_same_number(name, rule):
    X, y = sample_for(rule)
    again = make(name, random_state=0).fit(X, y).error(trained(rule))
    assert again.value == estimated(name, rule).value


@sampled_rule
@every_measure
def test_asking_twice_gives_the_same_number(name, rule):
    assert fitted(name, rule).error(trained(rule)).value == estimated(name, rule).value


@sampled_rule
@every_centred_measure
def test_random_state_of_the_call_overrides_that_of_the_measure(name, rule):
    X, y = sample_for(rule)
    by_call = fitted(name, rule).error(trained(rule), random_state=7)
    by_measure = make(name, random_state=7).fit(X, y).error(trained(rule))
    assert by_call.value == by_measure.value


@every_rule
@every_centred_measure
def test_another_random_state_moves_sampled_estimates_only(name, rule):
    one, other = estimated(name, rule), fitted(name, rule).error(trained(rule), random_state=7)
    assert np.array_equal(one.replicate_values, other.replicate_values) == one.computation.exact


@every_rule
@every_posterior
def test_random_state_of_the_call_moves_the_integration_only(name, rule):
    """The draws of the classes were made in fit; at a linear boundary nothing else is random."""
    one, other = estimated(name, rule), fitted(name, rule).error(trained(rule), random_state=7)
    assert np.array_equal(one.draws, other.draws) == (rule == "logistic")
    assert_agree(one, other)


@sampled_rule
@every_posterior
def test_another_random_state_of_a_posterior_draws_anew(name, rule):
    """False alarms as in `assert_agree`."""
    other = make(name, random_state=7).fit(*sample_for(rule)).error(trained(rule))
    assert not np.array_equal(other.draws, estimated(name, rule).draws)
    assert_agree(other, estimated(name, rule))


@every_measure
def test_generator_in_the_call_gives_fresh_draws_each_time(name):
    generator = np.random.default_rng(0)
    one, other = (fitted(name, "svc").error(trained("svc"), random_state=generator) for _ in range(2))
    assert np.array_equal(one.replicate_values, other.replicate_values) == one.computation.exact


@over(THREADED)
def test_threads_change_no_number(name, monkeypatch):
    # Small batches, so that there are several to share out.
    monkeypatch.setattr("bayes_gresub.laws.sampling.CHUNK_ELEMENTS", 512)
    X, y = sample_for("svc")
    one, two = (make(name, random_state=0, n_jobs=n_jobs).fit(X, y).error(trained("svc")) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.replicate_values, two.replicate_values)


@over(THREADED)
def test_batches_change_no_number(name, monkeypatch):
    monkeypatch.setattr("bayes_gresub.laws.sampling.CHUNK_ELEMENTS", 512)
    in_batches = fitted(name, "svc").error(trained("svc"))
    np.testing.assert_allclose(in_batches.replicate_values, estimated(name, "svc").replicate_values, atol=1e-12)


@over(WITH_TOLERANCE)
def test_tol_bounds_the_standard_error(name):
    tol = 0.6 * estimated(name, "svc").std_error
    estimate = make(name, random_state=0, tol=tol).fit(*sample_for("svc")).error(trained("svc"))
    assert 0.0 < estimate.std_error <= tol


@sampled_rule
@every_measure
def test_clone_gives_the_same_estimate(name, rule):
    again = clone(fitted(name, rule)).fit(*sample_for(rule)).error(trained(rule))
    assert again.value == estimated(name, rule).value


@sampled_rule
@every_measure
def test_pickled_fitted_measure_gives_the_same_estimate(name, rule):
    again = pickle.loads(pickle.dumps(fitted(name, rule))).error(trained(rule))
    assert again.value == estimated(name, rule).value


@every_measure
def test_set_params_takes_what_get_params_gives(name):
    X, y = sample_for("svc")
    given = make(name, random_state=0).get_params()
    again = make(name).set_params(**given).fit(X, y).error(trained("svc"))
    assert again.value == estimated(name, "svc").value


@every_measure
def test_seed_sequence_gives_the_number_of_its_entropy(name):
    X, y = sample_for("svc")
    measure = clone(make(name, random_state=np.random.SeedSequence(0))).fit(X, y)
    assert measure.error(trained("svc")).value == estimated(name, "svc").value


@every_measure
def test_fit_returns_self(name):
    measure = make(name)
    assert measure.fit(*points(2)) is measure


@every_measure
def test_fit_leaves_constructor_parameters_alone(name):
    measure = make(name, random_state=3)
    before = measure.get_params(deep=False)
    described = repr(measure)
    measure.fit(*points(2))
    after = measure.get_params(deep=False)
    assert all(after[key] is before[key] for key in before)
    assert repr(measure) == described


@every_measure
def test_refitting_forgets_the_first_sample(name):
    X, y = sample_for("svc")
    measure = make(name, random_state=0).fit(*points(2, n=20, d=2, seed=5)).fit(X, y)
    assert measure.error(trained("svc")).value == estimated(name, "svc").value


@every_measure
def test_classifier_is_never_retrained(name, monkeypatch):
    def forbidden(self, *args, **kwargs):
        raise AssertionError("the classifier was refitted")

    classifier = trained("svc")
    monkeypatch.setattr(SVC, "fit", forbidden)
    assert fitted(name, "svc").error(classifier).value == estimated(name, "svc").value


@every_measure
def test_data_are_left_as_they_were(name):
    X, y = (array.copy() for array in sample_for("svc"))
    make(name, random_state=0).fit(X, y).error(trained("svc"), *((X, y) if name in CENTRED else ()))
    np.testing.assert_array_equal(X, sample_for("svc")[0])
    np.testing.assert_array_equal(y, sample_for("svc")[1])


# Labels of other types, in the order of 0, 1, 2: classifiers that break ties by the order of labels are unchanged.
RENAMED = {
    "strings": np.array(["ant", "bee", "cow"]),
    "objects": np.array(["ant", "bee", "cow"], dtype=object),
    "negative": np.array([-7, -2, 40]),
    "floats": np.array([-1.0, 0.0, 5.0]),
    "bools": np.array([False, True]),
}


@over_pairs("kind", list(MEASURES), RENAMED)
def test_names_of_the_classes_do_not_matter(name, kind):
    rule, names = "logistic" if kind == "bools" else "tree", RENAMED[kind]
    X, y = sample_for(rule)
    classifier = clone(RULES[rule][1]).fit(X, names[y])
    estimate = make(name, random_state=0).fit(X, names[y]).error(classifier)
    assert estimate.value == pytest.approx(estimated(name, rule).value, abs=1e-12)


@over_pairs("kind", list(MEASURES), RENAMED)
def test_estimate_names_the_classes_as_the_data_do(name, kind):
    X, y = points(2)
    names = RENAMED[kind][:2]
    estimate = make(name, random_state=0).fit(X, names[y]).error(KNeighborsClassifier(3).fit(X, names[y]))
    assert estimate.classes.tolist() == names.tolist()


class Renamed:
    """A trained classifier that says other names for its classes, given by a permutation of them."""

    def __init__(self, classifier, order):
        self.classifier = classifier
        self.order = np.array(order)
        self.classes_ = np.arange(len(order))

    def predict(self, X):
        return self.order[self.classifier.predict(X)]


@over_pairs("order", ADDITIVE, [(1, 2, 0), (0, 2, 1), (2, 1, 0)])
def test_permuting_the_classes_permutes_the_confusion(name, order):
    """Where sampled, within 4.5 standard errors of the noisiest entry: false alarms as in `assert_agree`.

    The Gaussian process's search for length-scales ends elsewhere by rounding.
    """
    X, y = sample_for("svc")
    original = estimated(name, "svc")
    renamed = make(name, random_state=2).fit(X, np.array(order)[y]).error(Renamed(trained("svc"), order))
    noise = np.hypot(largest_standard_error(original), largest_standard_error(renamed))
    permuted = renamed.confusion[np.ix_(order, order)]
    exact = 1e-5 if name == "gp-pp" else 1e-12
    np.testing.assert_allclose(permuted, original.confusion, atol=max(4.5 * noise, exact))


def largest_standard_error(estimate):
    """Return the largest Monte-Carlo standard error in the confusion, 0 where it is exact."""
    if estimate.computation.exact:
        return 0.0
    if estimate.confusion_draws is not None:
        chains = estimate.confusion_draws.reshape(QUICK["chains"], QUICK["draws"], -1)
        return mcse(chains).max()
    replicates = estimate.replicate_confusions
    return replicates.std(axis=0, ddof=1).max() / np.sqrt(len(replicates))


@every_measure
def test_exact_linear_error_does_not_depend_on_which_class_comes_first(name):
    X, y = sample_for("logistic")
    classifier = clone(RULES["logistic"][1]).fit(X, 1 - y)
    assert_agree(make(name, random_state=0).fit(X, 1 - y).error(classifier), estimated(name, "logistic"), 1e-8)


@every_rule
@every_measure
def test_order_of_the_rows_does_not_matter(name, rule):
    """False alarms as in `assert_agree`."""
    X, y = sample_for(rule)
    rows = np.random.default_rng(3).permutation(len(y))
    permuted = make(name, random_state=1).fit(X[rows], y[rows]).error(trained(rule))
    assert_agree(permuted, estimated(name, rule))


@pytest.mark.parametrize("rule", ["logistic", "svc"])
@every_centred_measure
def test_contributions_follow_the_rows(name, rule):
    """Contributions have no standard errors of their own: those of 256 points a kernel are within 0.15 of the truth."""
    X, y = sample_for(rule)
    rows = np.random.default_rng(3).permutation(len(y))
    more = {"n_points": 256} if "n_points" in parameters(name) else {}
    original = make(name, random_state=0, **more).fit(X, y).error(trained(rule))
    permuted = make(name, random_state=1, **more).fit(X[rows], y[rows]).error(trained(rule))
    tolerance = 1e-10 if original.computation.exact else 0.15
    np.testing.assert_allclose(permuted.contributions, original.contributions[rows], atol=tolerance)


# Trees round thresholds to single precision, so only a power of two leaves them exactly where they were.
UNITS = {
    "a thousand in the first": ("logistic", 0, 1e3),
    "a thousandth in the first": ("logistic", 0, 1e-3),
    "a thousand in the last": ("logistic", 2, 1e3),
    "a thousandth in the last": ("logistic", 2, 1e-3),
    "of a tree's first": ("tree", 0, 2.0**10),
    "of a tree's last": ("tree", 2, 2.0**10),
}


@over_pairs("unit", UNIT_FREE, UNITS)
def test_units_of_a_feature_do_not_matter(name, unit):
    """False alarms as in `assert_agree`."""
    rule, column, factor = UNITS[unit]
    X, y, classifier = rescaled(rule, column, factor)
    estimate = make(name, random_state=1).fit(X, y).error(classifier)
    assert_agree(estimate, estimated(name, rule), exact=1e-8)


# Powers of two change no digit of a product or a sum. Not for trees, to which features within 1e-7 are constant.
@pytest.mark.parametrize("factor", [2.0**80, 2.0**-80], ids=["huge", "tiny"])
@pytest.mark.parametrize("rule", ["logistic", pytest.param("3nn", marks=long)])
@every_measure
def test_common_unit_of_all_features_does_not_matter(name, rule, factor):
    """False alarms as in `assert_agree`."""
    X, y, classifier = rescaled(rule, ..., factor)
    estimate = make(name, random_state=0).fit(X, y).error(classifier)
    assert_agree(estimate, estimated(name, rule))


@sampled_rule
@every_measure
def test_single_precision_features_give_nearly_the_same(name, rule):
    """False alarms as in `assert_agree`."""
    X, y = sample_for(rule)
    estimate = make(name, random_state=0).fit(X.astype(np.float32), y).error(trained(rule))
    assert_agree(estimate, estimated(name, rule), exact=1e-5)


@sampled_rule
@every_measure
def test_whole_numbers_count_as_floats(name, rule):
    X, y = sample_for(rule)
    whole = np.round(4 * X).astype(np.int16)
    classifier = clone(RULES[rule][1]).fit(whole.astype(float), y)
    as_ints, as_floats = (
        make(name, random_state=0).fit(features, y).error(classifier) for features in (whole, whole.astype(float))
    )
    assert as_ints.value == as_floats.value


@every_measure
def test_lists_count_as_arrays(name):
    X, y = sample_for("svc")
    estimate = make(name, random_state=0).fit(X.tolist(), y.tolist()).error(trained("svc"))
    assert estimate.value == estimated(name, "svc").value


@sampled_rule
@over_pairs("seen", list(MEASURES), ["frame, frame", "frame, array", "array, frame"])
def test_frames_and_arrays_mix_without_a_warning(name, rule, seen):
    """False alarms as in `assert_agree`."""
    measure_sees, classifier_sees = seen.split(", ")
    X, y = sample_for(rule)
    frame, trained_on_frame = framed(rule)
    classifier = trained_on_frame if classifier_sees == "frame" else trained(rule)
    estimate = make(name, random_state=0).fit(frame if measure_sees == "frame" else X, y).error(classifier)
    assert_agree(estimate, estimated(name, rule))


@over([name for name in ADDITIVE if name not in SEMI])
def test_sample_of_a_frame_is_a_frame_with_its_columns(name):
    X, y = points(2)
    drawn, _ = make(name, random_state=0).fit(pd.DataFrame(X, columns=["a", "b", "c"]), y).sample(5)
    assert list(drawn.columns) == ["a", "b", "c"]


class PickyAboutImages:
    """Says whether an image is bright, and refuses images of another shape or dtype than it was made for."""

    classes_ = np.array([0, 1])

    def __init__(self, dtype):
        self.dtype = dtype

    def predict(self, images):
        assert images.shape[1:] == (4, 4)
        assert images.dtype == self.dtype
        return (images.sum(axis=(1, 2)) > 8.0).astype(int)


@functools.cache
def images(dtype):
    rng = np.random.default_rng(1)
    y = np.arange(24) % 2
    return (rng.uniform(0.0, 1.0, size=(24, 4, 4)) + 0.1 * (y[:, None, None] - 0.5)).astype(dtype), y


@over_pairs("dtype", list(MEASURES), ["float32", "float64"])
def test_images_reach_the_classifier_in_their_shape_and_dtype(name, dtype):
    X, y = images(dtype)
    assert 0.0 <= make(name, random_state=0).fit(X, y).error(PickyAboutImages(dtype)).value <= 1.0


@every_additive_measure
def test_drawn_images_have_their_shape_and_dtype(name):
    X, y = images(np.float32)
    measure = make(name, random_state=0).fit(X, y)
    drawn, _ = measure.sample(5, **law_arguments(name, PickyAboutImages(np.float32)))
    assert drawn.shape == (5, 4, 4)
    assert drawn.dtype == np.float32


@every_rule
@every_additive_measure
def test_classifier_errs_on_draws_as_often_as_estimated(name, rule):
    """Within 4.5 standard errors, of 3000 Bernoulli draws and the estimate: false alarms in 1 of 100 000 seeds."""
    n, classifier, estimate = 3000, trained(rule), estimated(name, rule)
    X, y = fitted(name, rule).sample(n, random_state=11, **law_arguments(name, classifier))
    share = np.mean(classifier.predict(X) != y)
    variance = max(estimate.value * (1 - estimate.value), 1 / n) / n
    assert abs(share - estimate.value) <= 4.5 * np.hypot(np.sqrt(variance), estimate.std_error)


@every_additive_measure
def test_classifier_errs_on_draws_as_often_as_estimated_under_a_class_prior(name):
    """Within 4.5 standard errors, of 3000 Bernoulli draws and the estimate: false alarms in 1 of 100 000 seeds."""
    n, classifier = 3000, trained("svc")
    X, y = sample_for("svc")
    measure = make(name, random_state=0, class_prior=[0.7, 0.1, 0.2]).fit(X, y)
    estimate = measure.error(classifier)
    drawn, labels = measure.sample(n, random_state=11, **law_arguments(name, classifier))
    share = np.mean(classifier.predict(drawn) != labels)
    variance = estimate.value * (1 - estimate.value) / n
    assert abs(share - estimate.value) <= 4.5 * np.hypot(np.sqrt(variance), estimate.std_error)


@every_additive_measure
def test_draws_have_the_class_prior(name):
    """Each class within 4.5 binomial standard errors: false alarms in 2 of 100 000 seeds."""
    n, prior = 3000, np.array([0.7, 0.1, 0.2])
    measure = make(name, random_state=0, class_prior=prior).fit(*sample_for("svc"))
    _, labels = measure.sample(n, random_state=11, **law_arguments(name, trained("svc")))
    shares = np.bincount(labels, minlength=3) / n
    assert (np.abs(shares - prior) <= 4.5 * np.sqrt(prior * (1 - prior) / n) + 0.01).all()


@every_additive_measure
def test_draws_repeat_with_the_random_state(name):
    arguments = law_arguments(name, trained("svc"))
    one, other = (fitted(name, "svc").sample(20, random_state=4, **arguments) for _ in range(2))
    np.testing.assert_array_equal(one[0], other[0])
    np.testing.assert_array_equal(one[1], other[1])


@pytest.mark.parametrize("prior", [pytest.param(None, marks=long), [0.7, 0.3]], ids=["mixture", "prior"])
@pytest.mark.parametrize("rule", ["logistic", "3nn"])
@every_additive_measure
def test_probability_of_being_misclassified_is_the_error(name, rule, prior):
    """False alarms as in `assert_agree`."""
    classifier = trained(rule)
    measure = make(name, random_state=0, class_prior=prior).fit(*sample_for(rule))
    wrong = measure.probability(
        lambda X, y: classifier.predict(X) != y, random_state=5, **law_arguments(name, classifier)
    )
    assert_agree(wrong, measure.error(classifier))


@every_additive_measure
def test_probability_of_a_confusion_agrees_with_the_estimate(name):
    """False alarms as in `assert_agree`."""
    classifier = trained("svc")
    event = fitted(name, "svc").probability(
        lambda X, y: (y == 2) & (classifier.predict(X) == 1), random_state=5, **law_arguments(name, classifier)
    )
    estimate = estimated(name, "svc")
    noise = np.hypot(largest_standard_error(estimate), event.std_error)
    assert abs(event.value - estimate.confusion[2, 1]) <= max(4.5 * noise, 1e-12)


@pytest.mark.parametrize("rule", ["logistic", "tree", pytest.param("3nn", marks=long)])
@every_additive_measure
def test_expected_brier_loss_is_a_number_between_its_bounds(name, rule):
    classifier = trained(rule)

    def brier(X, y):
        return ((classifier.predict_proba(X) - np.eye(RULES[rule][0])[y]) ** 2).sum(axis=1)

    loss = fitted(name, rule).expectation(brier, **law_arguments(name, classifier))
    assert 0.0 < loss.value < 2.0


@pytest.mark.parametrize("prior", [pytest.param(None, marks=long), [0.5, 0.2, 0.3]], ids=["mixture", "prior"])
@every_additive_measure
def test_expectation_of_one_is_one(name, prior):
    measure = make(name, random_state=0, class_prior=prior).fit(*sample_for("svc"))
    mean = measure.expectation(lambda X, y: np.ones(len(y)), **law_arguments(name, trained("svc")))
    assert mean.value == pytest.approx(1.0, abs=1e-12)
    assert mean.std_error == pytest.approx(0.0, abs=1e-12)


QUESTIONS = {
    "sample": lambda measure: measure.sample(3),
    "probability": lambda measure: measure.probability(lambda X, y: y == 0),
    "expectation": lambda measure: measure.expectation(lambda X, y: np.ones(len(y))),
}


@pytest.mark.parametrize("question", QUESTIONS)
@over(SEMI)
def test_semi_bolstered_law_needs_the_classifier(name, question):
    with pytest.raises(ValueError, match=r"Pass classifier=\.\.\., or use semi=False"):
        QUESTIONS[question](fitted(name, "svc"))


@pytest.mark.parametrize("question", QUESTIONS)
@over(PRODUCTS)
def test_product_form_is_no_law_to_ask(name, question):
    with pytest.raises(ValueError, match=r"it is not a measure.*Use BolsteredPosterior"):
        QUESTIONS[question](fitted(name, "svc"))


READINGS = {
    "confusion": lambda estimate: estimate.confusion,
    "per_class": lambda estimate: estimate.per_class,
    "balanced_error": lambda estimate: estimate.balanced_error,
    "sensitivity": lambda estimate: estimate.sensitivity,
    "cost": lambda estimate: estimate.cost(1 - np.eye(2)),
    "with_class_prior": lambda estimate: estimate.with_class_prior([0.5, 0.5]),
}


@pytest.mark.parametrize("reading", READINGS)
@over(PRODUCTS)
def test_product_form_has_no_confusion_to_read(name, reading):
    with pytest.raises(ValueError, match="Use BolsteredPosterior"):
        READINGS[reading](estimated(name, "logistic"))


@every_additive_measure
def test_zero_one_cost_is_the_error(name):
    estimate = estimated(name, "svc")
    assert estimate.cost(1 - np.eye(3)) == pytest.approx(estimate.value, abs=1e-12)


@sampled_rule
@every_centred_measure
def test_integer_weights_of_other_points_count_repeats(name, rule):
    """Widths and posteriors stay those of the fit, so this holds for all. False alarms as in `assert_agree`."""
    X, y = points(RULES[rule][0], n=12, seed=9)
    counts = 1 + np.arange(12) % 3
    weighted = fitted(name, rule).error(trained(rule), X, y, sample_weight=counts)
    repeated = fitted(name, rule).error(trained(rule), np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert_agree(weighted, repeated)


@sampled_rule
@every_centred_measure
def test_zero_weight_of_other_points_leaves_them_out(name, rule):
    X, y = points(RULES[rule][0], n=12, seed=9)
    kept = np.arange(12) % 4 != 3
    weighted = fitted(name, rule).error(trained(rule), X, y, sample_weight=kept.astype(float))
    assert weighted.value == pytest.approx(fitted(name, rule).error(trained(rule), X[kept], y[kept]).value, abs=1e-12)


@sampled_rule
@every_centred_measure
def test_zero_weight_in_fit_leaves_points_out(name, rule):
    X, y = sample_for(rule)
    kept = np.arange(len(y)) % 5 != 2
    weighted = make(name, random_state=0).fit(X, y, sample_weight=2.0 * kept).error(trained(rule))
    dropped = make(name, random_state=0).fit(X[kept], y[kept]).error(trained(rule))
    assert weighted.value == pytest.approx(dropped.value, abs=1e-12)


@every_centred_measure
def test_points_of_zero_weight_keep_their_row_in_the_contributions(name):
    X, y = sample_for("svc")
    kept = np.arange(len(y)) % 5 != 2
    weighted = make(name, random_state=0).fit(X, y, sample_weight=2.0 * kept).error(trained("svc"))
    dropped = make(name, random_state=0).fit(X[kept], y[kept]).error(trained("svc"))
    np.testing.assert_allclose(weighted.contributions[kept], dropped.contributions, atol=1e-12)
    assert not weighted.point_weights[~kept].any()


@every_centred_measure
def test_weights_matter_up_to_a_factor_only(name):
    X, y = sample_for("svc")
    weights = 1.0 + np.arange(len(y)) % 3
    one, tenfold = (
        make(name, random_state=0).fit(X, y, sample_weight=factor * weights).error(trained("svc")) for factor in (1, 10)
    )
    assert one.value == pytest.approx(tenfold.value, abs=1e-12)


@every_posterior
def test_posterior_takes_no_weights(name):
    X, y = sample_for("svc")
    with pytest.raises(ValueError, match=r"its likelihood counts points\. Give class_prior"):
        make(name).fit(X, y, sample_weight=np.ones(len(y)))


@pytest.mark.parametrize("given", ["X", "y", "sample_weight"])
@every_posterior
def test_posterior_is_centred_at_no_points(name, given):
    X, y = sample_for("svc")
    values = {"X": X, "y": y, "sample_weight": np.ones(len(y))}
    with pytest.raises(ValueError, match=r"cannot be centred at points; .* Fit it to these points, or use TestSet"):
        fitted(name, "svc").error(trained("svc"), **{given: values[given]})


# Estimated widths and neighbours see repeated rows but not weights; where nothing of the kind is learned from the
# rows, weights must count as repeats.
LEARNS_NO_NEIGHBOURS = {
    "resub": bg.Empirical,
    "bolstered of given width": lambda **given: bg.Bolstered(bg.SphericalGaussian(0.5, standardize=None), **given),
    "semi-bolstered of given width": lambda **given: bg.Bolstered(
        bg.SphericalGaussian(0.5, standardize=None), semi=True, **given
    ),
    "ball of given width": lambda **given: bg.Bolstered(bg.UniformBall(0.5, standardize=None), **given),
    "diagonal of given width": lambda **given: bg.Bolstered(
        bg.DiagonalGaussian({0: [0.1, 0.5, 1.0], 1: [0.2, 0.2, 0.2]}, standardize=None), **given
    ),
    "full of given covariance": lambda **given: bg.Bolstered(
        bg.FullGaussian(0.5, covariance=np.eye(3) + 0.3, standardize=None), **given
    ),
    "posterior refitted with weights": lambda **given: bg.PosteriorProbability(
        bg.ClassifierPosterior(GaussianNB(var_smoothing=0), cv=None), **given
    ),
    "posterior trained elsewhere": lambda **given: bg.PosteriorProbability(
        bg.ClassifierPosterior(FrozenEstimator(GaussianNB().fit(*points(2, seed=8)))), **given
    ),
    "both smoothed": lambda **given: bg.BolsteredPosterior(
        bg.SphericalGaussian(0.5, standardize=None),
        bg.ClassifierPosterior(GaussianNB(var_smoothing=0), cv=None),
        **given,
    ),
}


@pytest.mark.parametrize("rule", ["logistic", "3nn"])
@pytest.mark.parametrize("made", LEARNS_NO_NEIGHBOURS)
def test_integer_weights_count_repeats_where_no_neighbours_are_learned(made, rule):
    """False alarms as in `assert_agree`."""
    X, y = sample_for(rule)
    counts = 1 + np.arange(len(y)) % 3
    weighted = LEARNS_NO_NEIGHBOURS[made](random_state=0).fit(X, y, sample_weight=counts).error(trained(rule))
    repeated = LEARNS_NO_NEIGHBOURS[made](random_state=0).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert_agree(weighted, repeated.error(trained(rule)))


PRIOR = {0: 0.5, 1: 0.2, 2: 0.3}


@over(ADDITIVE_AND_CENTRED)
def test_class_prior_of_measure_and_of_estimate_agree(name):
    """The integrated bolstered posterior divides by sampled class masses: false alarms as in `assert_agree`."""
    X, y = sample_for("tree")
    of_measure = make(name, random_state=0, class_prior=PRIOR).fit(X, y).error(trained("tree"))
    assert_agree(of_measure, estimated(name, "tree").with_class_prior(PRIOR), exact=1e-12)


@every_posterior
def test_class_prior_of_posterior_and_of_estimate_agree(name):
    """They weight the same draws otherwise. False alarms as in `assert_agree`.

    Masses below 0 are cut off, by some 1e-10: those of draws come from densities in single precision.
    """
    X, y = sample_for("tree")
    of_measure = make(name, random_state=0, class_prior=PRIOR).fit(X, y).error(trained("tree"))
    of_estimate = estimated(name, "tree").with_class_prior(PRIOR)
    assert abs(of_estimate.value - of_measure.value) <= 4.5 * of_measure.std_error
    assert of_estimate.draws.mean() == pytest.approx(of_measure.value, abs=1e-9)


@every_additive_measure
def test_class_prior_is_the_mass_of_the_true_classes(name):
    X, y = sample_for("svc")
    estimate = make(name, random_state=0, class_prior=PRIOR).fit(X, y).error(trained("svc"))
    np.testing.assert_allclose(estimate.confusion.sum(axis=1), list(PRIOR.values()), atol=1e-12)


@every_centred_measure
def test_error_under_a_class_prior_is_the_weighted_mean_of_the_contributions(name):
    X, y = sample_for("svc")
    estimate = make(name, random_state=0, class_prior=PRIOR).fit(X, y).error(trained("svc"))
    assert np.dot(estimate.point_weights, estimate.contributions) == pytest.approx(estimate.value, abs=1e-12)
    assert estimate.point_weights.sum() == pytest.approx(1.0, abs=1e-12)


@every_measure
def test_class_prior_by_label_and_in_order_agree(name):
    X, y = sample_for("svc")
    by_label, in_order = (
        make(name, random_state=0, class_prior=prior).fit(X, y).error(trained("svc"))
        for prior in (dict(reversed(PRIOR.items())), list(PRIOR.values()))
    )
    assert by_label.value == in_order.value


@every_measure
def test_separate_sampling_gives_no_overall_error(name):
    estimate = make(name, random_state=0, sampling="separate").fit(*sample_for("svc")).error(trained("svc"))
    with pytest.raises(ValueError, match=r"Use with_class_prior\(\.\.\.\), or give class_prior to the measure"):
        _ = estimate.value


@over(ADDITIVE_AND_CENTRED)
def test_separate_sampling_gives_the_errors_of_each_class(name):
    estimate = make(name, random_state=0, sampling="separate").fit(*sample_for("svc")).error(trained("svc"))
    assert estimate.per_class == estimated(name, "svc").per_class


@every_posterior
def test_separate_posterior_gives_the_errors_of_each_class(name):
    """The same draws of the classes, each counted once. False alarms as in `assert_agree`."""
    separate = make(name, random_state=0, sampling="separate").fit(*sample_for("svc")).error(trained("svc"))
    mixture = estimated(name, "svc")
    noise = largest_standard_error(mixture) / mixture.confusion.sum(axis=1).min()
    for label, error in mixture.per_class.items():
        assert abs(separate.per_class[label] - error) <= 4.5 * noise


@every_measure
def test_separate_sampling_with_a_class_prior_gives_the_overall_error(name):
    X, y = sample_for("svc")
    separate, mixture = (
        make(name, random_state=0, sampling=sampling, class_prior=PRIOR).fit(X, y).error(trained("svc"))
        for sampling in ("separate", "mixture")
    )
    assert separate.value == mixture.value


@over(ADDITIVE_AND_CENTRED)
def test_separate_estimate_becomes_whole_with_a_class_prior(name):
    estimate = make(name, random_state=0, sampling="separate").fit(*sample_for("svc")).error(trained("svc"))
    assert estimate.with_class_prior(PRIOR).value == estimated(name, "svc").with_class_prior(PRIOR).value


@every_posterior
def test_separate_posterior_becomes_whole_with_a_class_prior(name):
    X, y = sample_for("svc")
    separate = make(name, random_state=0, sampling="separate").fit(X, y).error(trained("svc"))
    known = make(name, random_state=0, class_prior=PRIOR).fit(X, y).error(trained("svc"))
    assert separate.with_class_prior(PRIOR).value == pytest.approx(known.value, abs=1e-12)
    np.testing.assert_allclose(separate.with_class_prior(PRIOR).draws, known.draws, atol=1e-12)


@every_additive_measure
def test_separate_sampling_gives_no_law_to_draw_from(name):
    measure = make(name, random_state=0, sampling="separate").fit(*sample_for("svc"))
    with pytest.raises(ValueError, match="Give class_prior to the measure"):
        measure.sample(3, **law_arguments(name, trained("svc")))


@every_rule
@every_centred_measure
def test_training_points_given_anew_give_the_same_error(name, rule):
    """No two rows are equal, so each is its own nearest neighbour. False alarms as in `assert_agree`."""
    again = fitted(name, rule).error(trained(rule), *sample_for(rule))
    assert_agree(again, estimated(name, rule))


@every_centred_measure
def test_other_points_each_contribute(name):
    X, y = points(3, n=13, seed=9)
    estimate = fitted(name, "svc").error(trained("svc"), X, y)
    assert estimate.contributions.shape == (13,)
    assert np.dot(estimate.point_weights, estimate.contributions) == pytest.approx(estimate.value, abs=1e-12)


@every_additive_measure
def test_classifier_may_know_more_classes_than_the_sample(name):
    X, y = points(2)
    estimate = make(name, random_state=0).fit(X, y).error(trained("tree"))
    assert estimate.classes.tolist() == [0, 1, 2]
    assert estimate.confusion[2].sum() == 0.0


@over(LABEL_FREE)
def test_posterior_probability_needs_no_labels_at_other_points(name):
    X, y = points(3, n=13, seed=9)
    measure = fitted(name, "svc")
    assert measure.error(trained("svc"), X).value == measure.error(trained("svc"), X, y).value


@over(LABEL_BOUND)
def test_kernels_about_other_points_need_their_labels(name):
    with pytest.raises(ValueError, match=r"got X without y\. Pass y, or use PosteriorProbability"):
        fitted(name, "svc").error(trained("svc"), points(3, n=13, seed=9)[0])


@every_rule
@every_centred_measure
def test_estimate_says_how_it_was_computed(name, rule):
    how = estimated(name, rule).computation
    assert how.n_replicates == 1 if how.exact else how.n_replicates >= 8
    assert how.n_predicted >= len(sample_for(rule)[0])


@every_rule
@every_posterior
def test_posterior_says_how_it_was_computed(name, rule):
    how = estimated(name, rule).computation
    assert how.n_replicates == (1 if rule == "logistic" else 2)
    assert how.n_predicted >= len(sample_for(rule)[0])
    assert how.method.endswith(f"for each of {QUICK['chains']} x {QUICK['draws']} posterior draws")


@sampled_rule
@every_measure
def test_estimate_survives_json(name, rule):
    estimate = estimated(name, rule)
    again = bg.ErrorEstimate.from_json(estimate.to_json())
    assert again.to_dict() == estimate.to_dict()
    assert repr(again) == repr(estimate)
