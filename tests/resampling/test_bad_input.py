"""Input that no resampler can use is refused before any fit, with a message that says what to do.

Resamplers share their checks: all bad values are tried with one of them, the first bad value with each class.
`make test-long` tries all values with each.
"""

from __future__ import annotations

import functools
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import bayes_gresub as bg

FITS = []

# Those that judge points held out by any measure; Calibrated takes other measures and its prior from them.
JUDGES = {
    "cross-validation": lambda **given: bg.CrossValidation(**({"folds": 4, "random_state": 0} | given)),
    "leave-one-out": lambda **given: bg.LeaveOneOut(**({"random_state": 0} | given)),
    "bootstrap": lambda **given: bg.Bootstrap(**({"kind": "632", "n_resamples": 3, "random_state": 0} | given)),
}
RESAMPLERS = JUDGES | {
    "calibrated": lambda **given: bg.Calibrated(
        **({"measure": bg.Bolstered(), "repeats": 2, "random_state": 0} | given)
    ),
}

every_judge = pytest.mark.parametrize("name", JUDGES)
every_resampler = pytest.mark.parametrize("name", RESAMPLERS)


def over_pairs(second, values, names=tuple(RESAMPLERS)):
    """Parametrize by pairs; all are long but those of each resampler with the first value and of one with each."""
    pairs = [
        pytest.param(name, value, marks=() if i == 0 or name == "cross-validation" else pytest.mark.long)
        for name in names
        for i, value in enumerate(values)
    ]
    return pytest.mark.parametrize(("name", second), pairs)


class Counted(ClassifierMixin, BaseEstimator):
    """Says class 0 on one side and class 1 on the other, and counts how often it is trained."""

    def fit(self, X, y, sample_weight=None):
        FITS.append(len(X))
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return (X[:, 0] > 0.5).astype(int)


class Forbidden:
    """A classifier that must not be asked."""

    classes_ = np.array([0, 1])

    def predict(self, X):
        raise AssertionError("predict was called before the input was checked")


@contextmanager
def refused(error, match):
    """Expect an error whose message matches, before anything is trained."""
    FITS.clear()
    with pytest.raises(error, match=match):
        yield
    assert len(FITS) == 0, f"{len(FITS)} fits were made before the input was refused"


@functools.cache
def sample(n=24, d=3):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    return rng.normal(size=(n, d)) + y[:, None], y


@functools.cache
def trained():
    return LinearDiscriminantAnalysis().fit(*sample())


def spoilt(value):
    X = sample()[0].copy()
    X[5, 1] = value
    return X


def test_counted_rule_counts():
    """Else the tests here would see no fit where there are some."""
    FITS.clear()
    bg.CrossValidation(4).error(Counted(), *sample())
    assert FITS == [18] * 4


# Features


@over_pairs("value", [np.nan, np.inf])
def test_features_must_be_finite(name, value):
    with refused(ValueError, r"got 1 NaN or infinite values, the first in row 5\. Impute or drop them"):
        RESAMPLERS[name]().error(Counted(), spoilt(value), sample()[1])


@every_resampler
def test_sparse_features_are_refused(name):
    with refused(TypeError, r"X must be dense; got a sparse matrix .* Use X\.toarray\(\)"):
        RESAMPLERS[name]().error(Counted(), sparse.csr_array(sample()[0]), sample()[1])


@every_resampler
def test_one_dimensional_features_are_refused(name):
    X, y = sample()
    with refused(ValueError, r"got shape \(24,\)\. Use X\.reshape\(-1, 1\) for one feature"):
        RESAMPLERS[name]().error(Counted(), X[:, 0], y)


@over_pairs("shape", [(0, 3), (24, 0)])
def test_empty_features_are_refused(name, shape):
    with refused(ValueError, "X must hold at least one point and one feature"):
        RESAMPLERS[name]().error(Counted(), np.empty(shape), np.arange(shape[0]) % 2)


@every_resampler
def test_text_columns_are_refused(name):
    frame = pd.DataFrame(sample()[0], columns=["a", "b", "c"]).assign(colour="red")
    with refused(ValueError, r"X must be numeric; .* in colour\. .* encode these columns"):
        RESAMPLERS[name]().error(Counted(), frame, sample()[1])


# Labels


@every_resampler
def test_one_class_is_refused(name):
    with refused(ValueError, r"y must hold at least two classes; got only \[1\]"):
        RESAMPLERS[name]().error(Counted(), sample()[0], np.ones(24, dtype=int))


@every_resampler
def test_labels_of_another_length_are_refused(name):
    X, y = sample()
    with refused(ValueError, r"one label per row of X; got shape \(23,\) for 24 rows"):
        RESAMPLERS[name]().error(Counted(), X, y[:-1])


@every_resampler
def test_one_hot_labels_are_refused(name):
    X, y = sample()
    with refused(ValueError, r"one label per row of X; got shape \(24, 2\)"):
        RESAMPLERS[name]().error(Counted(), X, np.eye(2)[y])


@every_resampler
def test_regression_target_is_refused(name):
    X, y = sample()
    with refused(ValueError, r"fractional numbers such as .*0\.5.* Is this a regression target\?"):
        RESAMPLERS[name]().error(Counted(), X, y + 0.5)


@every_resampler
def test_missing_labels_are_refused(name):
    X, y = sample()
    with refused(ValueError, r"y must not hold missing, NaN or infinite labels\. Drop those rows"):
        RESAMPLERS[name]().error(Counted(), X, np.where(np.arange(24) == 3, np.nan, y))


# Weights

BAD_WEIGHTS = {
    "length": (np.ones(23), r"one weight per row of X; got shape \(23,\) for 24 rows"),
    "negative": (np.where(np.arange(24) == 0, -1.0, 1.0), r"got a minimum of -1\.0\. Use 0 to leave a point out"),
    "nan": (np.where(np.arange(24) == 0, np.nan, 1.0), "sample_weight must be finite and not negative"),
    "zeros": (np.zeros(24), "positive for at least one point; got zeros only"),
    "one class": (sample()[1], "y must hold at least two classes; got only"),
    "text": ("balanced", "sample_weight must"),
}


@over_pairs("weights", BAD_WEIGHTS)
def test_bad_weights_are_refused(name, weights):
    value, message = BAD_WEIGHTS[weights]
    with refused(ValueError, message):
        RESAMPLERS[name]().error(Counted(), *sample(), sample_weight=value)


WEIGHTLESS = {
    "knn": KNeighborsClassifier(),
    "pipeline": make_pipeline(StandardScaler(), KNeighborsClassifier()),
    "grid search": GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}),
}


@over_pairs("rule", WEIGHTLESS)
def test_weights_are_refused_for_a_rule_whose_fit_takes_none(name, rule):
    with refused(ValueError, r"KNeighborsClassifier takes no sample_weight in fit\. Use an estimator that does"):
        RESAMPLERS[name]().error(WEIGHTLESS[rule], *sample(), sample_weight=np.ones(24))


# Groups

BAD_GROUPS = {
    "length": (np.arange(23), r"one group per row of X; got shape \(23,\) for 24 rows"),
    "matrix": (np.ones((24, 2)), r"one group per row of X; got shape \(24, 2\)"),
    "one": (np.ones(24), "groups must hold at least two groups; got one"),
    "nan": (np.where(np.arange(24) < 4, np.nan, np.arange(24) // 4), "groups must not"),
    "mixture": (np.array([None, *"abcdef" * 3, 1, 2, 3, 4, 5], dtype=object), "groups must"),
}


@over_pairs("groups", BAD_GROUPS)
def test_bad_groups_are_refused(name, groups):
    value, message = BAD_GROUPS[groups]
    with refused((TypeError, ValueError), message):
        RESAMPLERS[name]().error(Counted(), *sample(), groups=value)


def test_groups_of_several_classes_cannot_be_drawn_within_classes():
    with refused(ValueError, r"each group must lie in one class; .* Leave groups out, or use sampling='mixture'"):
        bg.Bootstrap("632", sampling="separate").error(Counted(), *sample(), groups=np.arange(24) // 4)


# Splits that are named

BAD_INDICES = {
    "overlap": ([([1, 2, 3], [3, 4])], r"that are not trained on; entry 0 has row 3 on both sides"),
    "second entry": ([([1, 2], [3]), ([1, 2], [2])], r"entry 1 has row 2 on both sides"),
    "beyond": ([[0, 1, 24]], r"row numbers from 0 to 23, .* entry 0 does not"),
    "negative": ([[0, 1, -1]], r"row numbers from 0 to 23, .* entry 0 does not"),
    "float": ([np.arange(12.0)], r"row numbers from 0 to 23, .* entry 0 does not"),
    "mask": ([np.arange(24) < 12], r"row numbers from 0 to 23, .* entry 0 does not"),
    "flat": (np.arange(12), r"row numbers from 0 to 23, .* entry 0 does not"),
    "text": (["abc"], r"row numbers from 0 to 23, .* entry 0 does not"),
    "triple": ([([1, 2], [3], [4])], r"indices must hold row numbers .* entry 0 does not"),
    "all rows": ([np.arange(24)], "points to train on and points held out; entry 0 lacks them"),
    "nothing held out": ([(np.arange(12), np.arange(0))], "points held out; entry 0 lacks them"),
    "nothing held out, lists": ([([0, 1, 2, 3], [])], "points held out; entry 0 lacks them"),
    "nothing to train on": ([(np.arange(0), np.arange(12))], "points to train on .* entry 0 lacks them"),
    "none": ([], "indices must hold at least one split; got none"),
    "splitter": (KFold(4), "indices must"),
    "number": (4, "indices must"),
}


@over_pairs("indices", BAD_INDICES)
def test_bad_indices_are_refused(name, indices):
    value, message = BAD_INDICES[indices]
    with refused((TypeError, ValueError), message):
        RESAMPLERS[name]().error(Counted(), *sample(), indices=value)


@every_resampler
def test_indices_that_straddle_groups_are_refused(name):
    with refused(ValueError, r"groups must not straddle a split; entry 0 of indices has one on both sides"):
        RESAMPLERS[name]().error(Counted(), *sample(), indices=[np.arange(3)], groups=np.arange(24) // 2)


@every_resampler
def test_indices_of_points_without_weight_only_are_refused(name):
    weights = (np.arange(24) < 20).astype(float)
    with refused(ValueError, "entry 0 lacks them"):
        RESAMPLERS[name]().error(Counted(), *sample(), sample_weight=weights, indices=[np.arange(20)])


# The rule


class Uncloneable:
    """Can be fitted but not cloned."""

    def fit(self, X, y):
        FITS.append(len(X))
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


class ChangesItsParameter(Counted):
    """Breaks scikit-learn's rule that a constructor stores what it is given."""

    def __init__(self, width=1.0):
        self.width = float(width) * 2


NOT_A_RULE = {
    "class": Counted,
    "no fit": Forbidden(),
    "no predict": StandardScaler(),
    "pipeline without predict": Pipeline([("scale", StandardScaler()), ("last", "passthrough")]),
    "text": "svc",
    "nothing": None,
}


@over_pairs("rule", NOT_A_RULE)
def test_rule_must_have_fit_and_predict(name, rule):
    with refused(TypeError, r"rule must be an estimator with fit and predict; got .* Pass an unfitted"):
        RESAMPLERS[name]().error(NOT_A_RULE[rule], *sample())


@every_resampler
def test_rule_that_cannot_be_cloned_is_refused(name):
    with refused(TypeError, r"that scikit-learn can clone; got Uncloneable .* Give it get_params, or use a measure"):
        RESAMPLERS[name]().error(Uncloneable(), *sample())


@every_resampler
def test_rule_that_changes_its_parameters_is_refused(name):
    with refused(TypeError, r"that scikit-learn can clone; got ChangesItsParameter .* modifies parameter width"):
        RESAMPLERS[name]().error(ChangesItsParameter(), *sample())


FROZEN = {
    "alone": lambda: FrozenEstimator(trained()),
    "last step": lambda: make_pipeline(StandardScaler(), FrozenEstimator(trained())),
    "last step of the last step": lambda: make_pipeline(
        StandardScaler(), make_pipeline(StandardScaler(), FrozenEstimator(trained()))
    ),
}


@over_pairs("rule", FROZEN)
def test_frozen_rule_is_refused(name, rule):
    with refused(TypeError, r"rule must learn from the points .* Pass the estimator inside it, or use a measure"):
        RESAMPLERS[name]().error(FROZEN[rule](), *sample())


BAD_CLASSIFIERS = {
    "unfitted": (LinearDiscriminantAnalysis(), NotFittedError, r"classifier must be fitted; .* Call its fit\(X, y\)"),
    "class": (LinearDiscriminantAnalysis, TypeError, "classifier must be a fitted object with a predict method"),
    "other features": (
        LinearDiscriminantAnalysis().fit(sample()[0][:, :2], sample()[1]),
        ValueError,
        r"trained on 2 features, X has 3|X has 3 features, but LinearDiscriminantAnalysis is expecting 2",
    ),
}


@pytest.mark.parametrize("classifier", BAD_CLASSIFIERS)
@pytest.mark.parametrize("name", ["bootstrap", "calibrated"])
def test_bad_classifier_is_refused_where_it_is_used(name, classifier):
    value, error, message = BAD_CLASSIFIERS[classifier]
    with refused(error, message):
        RESAMPLERS[name]().error(Counted(), *sample(), classifier=value)


# The measure

NOT_A_MEASURE = {
    "classifier": LinearDiscriminantAnalysis(),
    "class": bg.Bolstered,
    "text": "bolstered",
    "resampler": bg.CrossValidation(),
}


@over_pairs("measure", NOT_A_MEASURE, tuple(JUDGES))
def test_measure_must_be_one_that_can_be_centred(name, measure):
    with refused(TypeError, r"centred at the points held out, such as Empirical\(\) or Bolstered\(\); got "):
        JUDGES[name](measure=NOT_A_MEASURE[measure]).error(Counted(), *sample())


@pytest.mark.parametrize("given", [{"class_prior": [0.5, 0.5]}, {"sampling": "separate"}], ids=["prior", "sampling"])
@over_pairs("measure", [bg.Empirical, bg.Bolstered], tuple(JUDGES))
def test_measure_inside_a_resampler_must_have_no_prior_of_its_own(name, measure, given):
    with refused(ValueError, "sampling and class_prior must be given to .*, not to the measure inside it"):
        JUDGES[name](measure=measure(**given)).error(Counted(), *sample())


BAD_PARTS = {
    "points": (bg.Bolstered(n_points=0), "n_points must be a whole number of at least 1; got 0"),
    "seed": (bg.Bolstered(random_state=-1), "random_state must be .* Pass an int"),
    "kernel": (bg.Bolstered("gauss"), r"kernel must be a Kernel such as SphericalGaussian\(\); got 'gauss'"),
    "scale": (bg.Bolstered(bg.SphericalGaussian(scale=-1)), "must be a finite number of at least 0; got -1"),
    "width": (bg.Bolstered(bg.SphericalGaussian(width=-1.0)), "width must be finite and not negative"),
}


@over_pairs("part", BAD_PARTS)
def test_bad_parameters_of_the_measure_are_refused(name, part):
    measure, message = BAD_PARTS[part]
    with refused((TypeError, ValueError), message):
        RESAMPLERS[name](measure=measure).error(Counted(), *sample())


@every_judge
def test_widths_per_point_are_refused_because_held_out_points_have_none(name):
    with refused(ValueError, r"widths per training point cannot be centred at points held out; .* width per class"):
        JUDGES[name](measure=bg.Bolstered(bg.SphericalGaussian(np.full(24, 0.5)))).error(Counted(), *sample())


@every_judge
def test_product_form_is_refused_because_it_has_no_law(name):
    with refused(TypeError, "measure must be one that can be centred at the points held out"):
        JUDGES[name](measure=bg.paper.ProductForm()).error(Counted(), *sample())


# Parameters of all resamplers


@over_pairs("sampling", ["stratified", None, 1], tuple(JUDGES))
def test_unknown_sampling_is_refused(name, sampling):
    with refused(ValueError, r"sampling must be 'mixture' or 'separate'; got .* fixed by design"):
        JUDGES[name](sampling=sampling).error(Counted(), *sample())


BAD_PRIORS = {
    "sum": ([0.5, 0.6], r"must hold probabilities that sum to 1; got \[0\.5, 0\.6\]\. Divide them by their sum"),
    "negative": ([-0.5, 1.5], r"must hold probabilities that sum to 1; got \[-0\.5, 1\.5\]"),
    "length": ([1.0], r"one probability for each of \[0, 1\]; got shape \(1,\)"),
    "missing": ({0: 1.0}, r"must name each of \[0, 1\] once; got \[0\]"),
    "unknown": ({0: 0.5, "b": 0.5}, r"must name each of \[0, 1\] once; got \[0, 'b'\]"),
    "text": ("balanced", r"one number for each of \[0, 1\]; got 'balanced'"),
}


@over_pairs("prior", BAD_PRIORS, tuple(JUDGES))
def test_bad_class_prior_is_refused(name, prior):
    value, message = BAD_PRIORS[prior]
    with refused(ValueError, message):
        JUDGES[name](class_prior=value).error(Counted(), *sample())


@pytest.mark.parametrize("prior", BAD_PRIORS)
def test_bad_class_prior_of_a_calibrated_measure_is_refused(prior):
    value, message = BAD_PRIORS[prior]
    with refused(ValueError, message):
        bg.Calibrated(bg.Bolstered(class_prior=value)).error(Counted(), *sample())


@over_pairs("n_jobs", [0, 1.5, "2", True])
def test_bad_number_of_jobs_is_refused(name, n_jobs):
    with refused(ValueError, "n_jobs must be a whole number other than 0, or None; got"):
        RESAMPLERS[name](n_jobs=n_jobs).error(Counted(), *sample())


@every_resampler
def test_unknown_progress_is_refused(name):
    with refused(ValueError, "progress must be True, False or None; got 'yes'"):
        RESAMPLERS[name](progress="yes").error(Counted(), *sample())


@pytest.mark.parametrize("seed", [-1, 1.5, "seed", True, np.random.RandomState(0)], ids=str)
@every_resampler
def test_bad_random_state_is_refused(name, seed):
    with refused(ValueError, r"random_state must be .* Pass an int for reproducible results"):
        RESAMPLERS[name](random_state=seed).error(Counted(), *sample())


@over_pairs("seed", [-1, 1.5, "seed"])
def test_bad_random_state_is_refused_in_the_call(name, seed):
    with refused(ValueError, r"random_state must be .* Pass an int for reproducible results"):
        RESAMPLERS[name]().error(Counted(), *sample(), random_state=seed)


@every_resampler
def test_generator_is_refused_in_the_constructor(name):
    """The same resampler must give the same number twice, and a generator is advanced by every use."""
    with refused(ValueError, r"got a Generator, which every call would advance\. Pass it to error instead"):
        RESAMPLERS[name](random_state=np.random.default_rng(0)).error(Counted(), *sample())


# Cross-validation


@pytest.mark.parametrize("folds", [1, 0, -3, 2.0, True, "10", None])
def test_folds_must_be_a_whole_number_of_at_least_two(folds):
    with refused(ValueError, "folds must be a whole number of at least 2; got"):
        bg.CrossValidation(folds).error(Counted(), *sample())


@pytest.mark.parametrize("repeats", [0, -1, 1.5, True, None])
def test_repeats_must_be_a_positive_whole_number(repeats):
    with refused(ValueError, "repeats must be a whole number of at least 1; got"):
        bg.CrossValidation(4, repeats).error(Counted(), *sample())


@pytest.mark.parametrize("stratified", [True, False])
def test_more_folds_than_points_are_refused(stratified):
    with refused(ValueError, r"folds must be at most the number of points; got folds=25 with 24\. Lower folds"):
        bg.CrossValidation(25, stratified=stratified).error(Counted(), *sample())


@pytest.mark.parametrize("stratified", [True, False])
def test_more_folds_than_groups_are_refused(stratified):
    with refused(ValueError, r"folds must be at most the number of groups; got folds=4 with 3\. Lower folds"):
        bg.CrossValidation(4, stratified=stratified).error(Counted(), *sample(), groups=np.arange(24) // 8)


def test_more_folds_than_points_of_any_class_are_refused_in_the_words_of_this_package():
    with refused(ValueError, r"folds.*folds=20.*(Lower folds|stratified=False)"):
        bg.CrossValidation(20).error(Counted(), *sample())


def test_groups_too_unequal_for_the_folds_are_refused():
    groups = np.repeat([0, 1, 2], [1, 3, 20])
    y = np.repeat([0, 1, 0, 1], [1, 3, 10, 10])
    with refused(ValueError, r"leaves a fold empty, because the groups are too unequal to share out\. Lower folds"):
        bg.CrossValidation(3, random_state=0).error(Counted(), sample()[0], y, groups=groups)


@pytest.mark.parametrize("stratified", ["yes", None, 1])
def test_stratified_must_be_true_or_false(stratified):
    with refused(ValueError, "stratified must be True or False; got"):
        bg.CrossValidation(4, stratified=stratified).error(Counted(), *sample())


def test_separate_sampling_needs_strata():
    with refused(ValueError, r"draws folds within classes; got stratified=False\. Use stratified=True"):
        bg.CrossValidation(4, sampling="separate", stratified=False).error(Counted(), *sample())


def test_unknown_interval_is_refused():
    with refused(ValueError, "interval must be 'nested' or None; got 'bates'"):
        bg.CrossValidation(4, interval="bates").error(Counted(), *sample())


@pytest.mark.parametrize(
    "given", [{"groups": np.arange(24) // 2}, {"sample_weight": np.ones(24)}], ids=["groups", "weights"]
)
def test_nested_interval_needs_independent_points_of_equal_weight(given):
    with refused(ValueError, r"independent points of equal weight; got groups or sample_weight\. Use interval=None"):
        bg.CrossValidation(4, interval="nested").error(Counted(), *sample(), **given)


@pytest.mark.parametrize(
    "given",
    [{"measure": bg.Bolstered()}, {"class_prior": [0.5, 0.5]}, {"sampling": "separate"}],
    ids=["measure", "prior", "sampling"],
)
def test_nested_interval_is_for_losses_of_single_points(given):
    with refused(ValueError, r"for the losses of single points: the empirical measure, .* Use interval=None"):
        bg.CrossValidation(4, interval="nested", **given).error(Counted(), *sample())


def test_nested_interval_needs_three_folds():
    with refused(ValueError, r"needs at least 3 folds; got folds=2"):
        bg.CrossValidation(2, interval="nested").error(Counted(), *sample())


def test_nested_interval_needs_two_points_a_fold():
    with refused(ValueError, r"at least 2 points per fold; got 24 points for folds=13\. Lower folds"):
        bg.CrossValidation(13, interval="nested", stratified=False).error(Counted(), *sample())


def test_nested_interval_draws_its_own_splits():
    with refused(ValueError, r"draws its own splits; got indices\. Use one of the two"):
        bg.CrossValidation(4, interval="nested").error(Counted(), *sample(), indices=[np.arange(12)])


# Bootstrap


@pytest.mark.parametrize("kind", ["0.632", ".632+", "plus", 632, None, ["632"]], ids=str)
def test_unknown_kind_is_refused(kind):
    with refused(ValueError, r"kind must be 'zero', '632' or '632\+'; got"):
        bg.Bootstrap(kind).error(Counted(), *sample())


@pytest.mark.parametrize("n_resamples", [1, 0, -5, 20.0, True, None])
def test_resamples_must_be_a_whole_number_of_at_least_two(n_resamples):
    with refused(ValueError, "n_resamples must be a whole number of at least 2; got"):
        bg.Bootstrap("632", n_resamples).error(Counted(), *sample())


@pytest.mark.parametrize("clip", ["efron", None, True])
@pytest.mark.parametrize("kind", ["zero", "632+"])
def test_unknown_clip_is_refused(kind, clip):
    with refused(ValueError, "clip must be one of 'efron-tibshirani', 'ipred', 'none'; got"):
        bg.Bootstrap(kind, clip=clip).error(Counted(), *sample())


def test_632_plus_needs_class_probabilities():
    with refused(ValueError, r"which sampling='separate' does not learn\. Give class_prior, or use kind='632'"):
        bg.Bootstrap("632+", sampling="separate").error(Counted(), *sample())


@pytest.mark.parametrize("kinds", [["zero", "0.632"], ["633"]], ids=str)
def test_unknown_kind_among_several_is_refused(kinds):
    with refused(ValueError, r"kind must be 'zero', '632' or '632\+'; got '(0\.632|633)'"):
        bg.Bootstrap().errors(Counted(), *sample(), kinds=kinds)


@pytest.mark.parametrize("kinds", [[], "632"], ids=["none", "text"])
def test_kinds_must_be_a_sequence_of_kinds(kinds):
    with refused((TypeError, ValueError), "kinds must"):
        bg.Bootstrap("632", 3).errors(Counted(), *sample(), kinds=kinds)


def test_class_too_small_for_the_measure_of_resamples_is_refused():
    X, _ = sample()
    with refused(ValueError, r"at least 2 different points of every class; class 1 has 1 in all\. Add points"):
        bg.Bootstrap("632", measure=bg.Bolstered()).error(Counted(), X, np.arange(24) // 23)


def test_class_that_every_resample_loses_is_refused():
    X, y = sample()
    with refused(ValueError, r"resamples in a row lost class .* or left no point out\. Add points of this class"):
        bg.Bootstrap("632").error(Counted(), X[:2], y[:2])


# Calibration


@pytest.mark.parametrize(
    "measure",
    [None, bg.Empirical(), bg.PosteriorProbability(), bg.Bolstered, "bolstered"],
    ids=["none", "resub", "3nn-pp", "class", "text"],
)
def test_calibration_needs_a_measure_with_kernels(measure):
    with refused(TypeError, r"kernels whose widths can be scaled: Bolstered\(\.\.\.\) or BolsteredPosterior.*; got"):
        bg.Calibrated(measure).error(Counted(), *sample())


def test_calibration_needs_class_probabilities():
    with refused(ValueError, r"which sampling='separate' does not give .* Give class_prior to the measure"):
        bg.Calibrated(bg.Bolstered(sampling="separate")).error(Counted(), *sample())


@pytest.mark.parametrize("repeats", [0, -1, 1.5, True, None])
def test_calibration_repeats_must_be_a_positive_whole_number(repeats):
    with refused(ValueError, "repeats must be a whole number of at least 1; got"):
        bg.Calibrated(bg.Bolstered(), repeats).error(Counted(), *sample())


@pytest.mark.parametrize("test_size", [0, 1, -0.1, 5, np.nan, "0.2", None, True])
def test_share_held_out_must_be_between_zero_and_one(test_size):
    with refused(ValueError, "test_size must be a number between 0 and 1; got"):
        bg.Calibrated(bg.Bolstered(), test_size=test_size).error(Counted(), *sample())


@pytest.mark.parametrize("test_size", [0.01, 0.99])
def test_share_too_small_for_the_sample_is_refused_with_the_share_that_was_given(test_size):
    with refused(ValueError, f"test_size=0.{round(100 * test_size):02d}"):
        bg.Calibrated(bg.Bolstered(), test_size=test_size).error(Counted(), *sample())


@pytest.mark.parametrize("step", [0, -0.1, np.inf, np.nan, "0.1", None, True])
def test_step_of_kappa_must_be_positive(step):
    with refused(ValueError, "step must be a number between 0 and inf; got"):
        bg.Calibrated(bg.Bolstered(), step=step).error(Counted(), *sample())


@pytest.mark.parametrize("patience", [0, -1, 1.5, True, None])
def test_patience_must_be_a_positive_whole_number(patience):
    with refused(ValueError, "patience must be a whole number of at least 1; got"):
        bg.Calibrated(bg.Bolstered(), patience=patience).error(Counted(), *sample())


@pytest.mark.parametrize("max_kappa", [1, 0.5, np.inf, np.nan, None])
def test_largest_kappa_must_exceed_one(max_kappa):
    with refused(ValueError, "max_kappa must be a number between 1 and inf; got"):
        bg.Calibrated(bg.Bolstered(), max_kappa=max_kappa).error(Counted(), *sample())


@pytest.mark.parametrize("stratified", ["yes", None, 1])
def test_calibration_stratified_must_be_true_or_false(stratified):
    with refused(ValueError, "stratified must be True or False; got"):
        bg.Calibrated(bg.Bolstered(), stratified=stratified).error(Counted(), *sample())


def test_class_too_small_for_stratified_calibration_is_refused():
    X, y = sample()
    with refused(ValueError, r"at least 3 points of every class; class 0 has 2\. Add points, or use stratified=False"):
        bg.Calibrated(bg.Bolstered()).error(Counted(), X[:4], y[:4])


# The test set

BAD_TEST_SETS = {
    "nan": ((spoilt(np.nan), sample()[1]), ValueError, r"the first in row 5\. Impute or drop them"),
    "sparse": ((sparse.csr_array(sample()[0]), sample()[1]), TypeError, r"X must be dense; .* Use X\.toarray\(\)"),
    "one feature": ((sample()[0][:, 0], sample()[1]), ValueError, r"Use X\.reshape\(-1, 1\)"),
    "length": ((sample()[0], sample()[1][:-1]), ValueError, r"one label per row of X; got shape \(23,\) for 24 rows"),
    "regression": ((sample()[0], sample()[1] + 0.5), ValueError, r"Is this a regression target\?"),
    "missing labels": ((sample()[0], np.full(24, np.nan)), ValueError, "must not hold missing, NaN or infinite labels"),
    "no labels": ((sample()[0], None), (TypeError, ValueError), "label"),
}


@pytest.mark.parametrize("case", BAD_TEST_SETS)
@pytest.mark.parametrize("fitted", [False, True], ids=["measure learns", "measure is fitted"])
def test_bad_test_points_are_refused(case, fitted):
    points, error, message = BAD_TEST_SETS[case]
    measure = bg.Bolstered().fit(*sample()) if fitted else bg.Bolstered()
    with pytest.raises(error, match=message):
        bg.TestSet(*points, measure).error(Forbidden())


def test_test_points_of_one_class_are_refused_where_the_measure_learns_from_them():
    with pytest.raises(ValueError, match=r"y must hold at least two classes; got only \[1\]"):
        bg.TestSet(sample()[0], np.ones(24, dtype=int), bg.Bolstered()).error(Forbidden())


@pytest.mark.parametrize("weights", [name for name in BAD_WEIGHTS if name != "one class"])
@pytest.mark.parametrize("fitted", [False, True], ids=["measure learns", "measure is fitted"])
def test_bad_weights_of_test_points_are_refused(weights, fitted):
    value, message = BAD_WEIGHTS[weights]
    measure = bg.Empirical().fit(*sample()) if fitted else bg.Empirical()
    with pytest.raises(ValueError, match=message):
        bg.TestSet(*sample(), measure, sample_weight=value).error(Forbidden())


@pytest.mark.parametrize("measure", NOT_A_MEASURE)
def test_measure_of_a_test_set_must_be_one_that_can_be_centred(measure):
    with pytest.raises(TypeError, match=r"centred at test points, such as Empirical\(\) or Bolstered\(\); got "):
        bg.TestSet(*sample(), NOT_A_MEASURE[measure]).error(Forbidden())


@pytest.mark.parametrize("prior", BAD_PRIORS)
def test_bad_class_prior_of_the_measure_of_a_test_set_is_refused(prior):
    value, message = BAD_PRIORS[prior]
    with pytest.raises(ValueError, match=message):
        bg.TestSet(*sample(), bg.Empirical(class_prior=value)).error(Forbidden())


@pytest.mark.parametrize("classifier", BAD_CLASSIFIERS)
def test_bad_classifier_is_refused_by_the_test_set(classifier):
    value, error, message = BAD_CLASSIFIERS[classifier]
    with pytest.raises(error, match=message):
        bg.TestSet(*sample()).error(value)


def test_labels_that_the_classifier_cannot_predict_are_refused_by_the_test_set():
    X, y = sample()
    with pytest.raises(ValueError, match=r"labels in y must be among \[0, 1\]; got \[7\]"):
        bg.TestSet(X, np.where(y == 1, 7, 0)).error(trained())


@pytest.mark.parametrize("seed", [-1, 1.5, "seed", True])
def test_bad_random_state_of_a_test_set_is_refused(seed):
    with pytest.raises(ValueError, match=r"random_state must be .* Pass an int for reproducible results"):
        bg.TestSet(*sample(), random_state=seed).error(Forbidden())


@pytest.mark.parametrize("fitted", [False, True], ids=["measure learns", "measure is fitted"])
def test_generator_is_refused_in_the_constructor_of_a_test_set(fitted):
    measure = bg.Bolstered().fit(*sample()) if fitted else bg.Bolstered()
    test_set = bg.TestSet(*sample(), measure, random_state=np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"got a Generator, which every call would advance\. Pass it to error"):
        test_set.error(trained())


RARE = np.random.default_rng(0).normal(size=(12, 2)), np.array([0] * 10 + [1] * 2)


@pytest.mark.parametrize("kind", [bg.CrossValidation, bg.LeaveOneOut])
def test_class_too_small_for_widths_in_some_part_is_refused(kind):
    with refused(ValueError, "at least 2 points of every class to learn from; split .* leaves 1 of class 1"):
        kind(measure=bg.Bolstered(), random_state=0).error(Counted(), *RARE)


@pytest.mark.filterwarnings("ignore:the bootstrap tests a class:UserWarning")
def test_bootstrap_draws_until_a_class_is_large_enough_for_widths():
    resampler = bg.Bootstrap("zero", 5, measure=bg.Bolstered(), random_state=0)
    resampler.error(Counted(), *RARE)
    assert all(len(np.unique(train[RARE[1][train] == 1])) == 2 for train, _ in resampler.indices_)
