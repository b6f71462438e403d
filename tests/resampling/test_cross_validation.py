"""Cross-validation and leave-one-out against plain loops over the splits, which use nothing of the package."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneGroupOut, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import bayes_gresub as bg

MEASURES = {"bolstered": bg.Bolstered(), "posterior probability": bg.PosteriorProbability(bg.KNN(5))}

every_measure = pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)


class AlwaysFirst(ClassifierMixin, BaseEstimator):
    """Says the first class that it saw, whatever the point."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class AlwaysWrong(AlwaysFirst):
    """Says the other class, which it reads off the last feature."""

    def predict(self, X):
        return 1 - X[:, -1].astype(int)


def overlapping(n=40, d=3, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, d))
    X[:, 0] += y
    return X, y


def in_folds(n, folds, seed=0):
    """Return the splits of one partition; the folds differ in size where n is no multiple."""
    return list(KFold(folds, shuffle=True, random_state=seed).split(np.zeros(n)))


def one_at_a_time(n):
    return [(np.delete(np.arange(n), i), np.array([i])) for i in range(n)]


def some_weights(n, seed=0):
    return np.random.default_rng(seed).uniform(0.1, 4.0, size=n)


def predictions(rule, X, y, splits, weights=None, argument="sample_weight"):
    """Return what the rule, refitted to each training part, says of the points held out.

    The fit takes the weights under the name `argument`, or does without where that is None.
    """
    said = []
    for train, test in splits:
        extra = {} if weights is None or argument is None else {argument: weights[train]}
        said.append(clone(rule).fit(X[train], y[train], **extra).predict(X[test]))
    return said


def fold_errors(rule, X, y, splits):
    said = predictions(rule, X, y, splits)
    return [np.mean(labels != y[test]) for labels, (_, test) in zip(said, splits, strict=True)]


def weighted_error(rule, X, y, splits, weights, argument="sample_weight"):
    """Return the mean of the weighted fold errors, a fold counting as much as its mean weight."""
    masses, errors = [], []
    for said, (_, test) in zip(predictions(rule, X, y, splits, weights, argument), splits, strict=True):
        masses.append(weights[test].mean())
        errors.append(np.average(said != y[test], weights=weights[test]))
    return np.average(errors, weights=masses)


def test_value_is_the_mean_over_folds_of_unequal_size():
    X, y = overlapping(23)
    splits = in_folds(23, 4)
    estimate = bg.CrossValidation().error(KNeighborsClassifier(3), X, y, indices=splits)
    errors = fold_errors(KNeighborsClassifier(3), X, y, splits)
    assert estimate.value == pytest.approx(np.mean(errors), abs=1e-12)


def test_value_is_not_the_mean_over_points_where_folds_differ_in_size():
    X, y = overlapping(9)
    splits = [(np.arange(1, 9), np.array([0])), (np.array([0, 1]), np.arange(2, 9))]
    estimate = bg.CrossValidation().error(KNeighborsClassifier(1), X, y, indices=splits)
    first, second = fold_errors(KNeighborsClassifier(1), X, y, splits)
    assert estimate.value == pytest.approx((first + second) / 2, abs=1e-12)


def test_value_is_one_minus_the_mean_of_cross_val_score():
    X, y = overlapping(23)
    splits = in_folds(23, 4)
    scores = cross_val_score(LinearDiscriminantAnalysis(), X, y, cv=splits)
    estimate = bg.CrossValidation().error(LinearDiscriminantAnalysis(), X, y, indices=splits)
    assert estimate.value == pytest.approx(1 - scores.mean(), abs=1e-12)


def test_leave_one_out_is_the_share_of_points_misclassified_without_them():
    X, y = overlapping(25)
    errors = fold_errors(KNeighborsClassifier(3), X, y, one_at_a_time(25))
    estimate = bg.LeaveOneOut().error(KNeighborsClassifier(3), X, y)
    assert estimate.value == pytest.approx(np.mean(errors), abs=1e-12)


def test_split_errors_are_those_of_the_folds():
    X, y = overlapping(23)
    splits = in_folds(23, 4)
    resampler = bg.CrossValidation()
    resampler.error(KNeighborsClassifier(3), X, y, indices=splits)
    expected = fold_errors(KNeighborsClassifier(3), X, y, splits)
    np.testing.assert_allclose(resampler.split_errors_, expected, rtol=0, atol=1e-12)


def test_random_folds_hold_out_every_point_once_a_repeat():
    X, y = overlapping(23)
    resampler = bg.CrossValidation(4, repeats=3, random_state=0)
    resampler.error(KNeighborsClassifier(3), X, y)
    held_out = np.concatenate([test for _, test in resampler.indices_])
    np.testing.assert_array_equal(np.bincount(held_out), np.full(23, 3))


def test_random_folds_keep_the_class_proportions():
    X, y = overlapping(40)
    resampler = bg.CrossValidation(5, random_state=0)
    resampler.error(KNeighborsClassifier(3), X, y)
    assert [np.bincount(y[test]).tolist() for _, test in resampler.indices_] == [[4, 4]] * 5


@pytest.mark.parametrize("resampler", [bg.CrossValidation(4, repeats=3, random_state=1), bg.LeaveOneOut()])
def test_replayed_splits_give_the_same_value(resampler):
    X, y = overlapping(23)
    drawn = resampler.error(KNeighborsClassifier(3), X, y)
    replayed = clone(resampler).error(KNeighborsClassifier(3), X, y, indices=resampler.indices_)
    assert replayed.value == pytest.approx(drawn.value, abs=1e-12)


def test_rows_to_train_on_alone_hold_out_all_others():
    X, y = overlapping(20)
    splits = in_folds(20, 4)
    pairs = bg.CrossValidation().error(KNeighborsClassifier(3), X, y, indices=splits)
    alone = bg.CrossValidation().error(KNeighborsClassifier(3), X, y, indices=[train for train, _ in splits])
    assert alone.value == pairs.value


def test_replicates_are_the_estimates_of_the_repeats():
    X, y = overlapping(23)
    resampler = bg.CrossValidation(4, repeats=3, random_state=0)
    estimate = resampler.error(KNeighborsClassifier(3), X, y)
    errors = np.reshape(fold_errors(KNeighborsClassifier(3), X, y, resampler.indices_), (3, 4))
    np.testing.assert_allclose(estimate.replicate_values, errors.mean(axis=1), rtol=0, atol=1e-12)


def test_standard_error_is_the_spread_of_the_repeats_over_the_root_of_their_number():
    X, y = overlapping(23)
    resampler = bg.CrossValidation(4, repeats=5, random_state=0)
    estimate = resampler.error(KNeighborsClassifier(3), X, y)
    errors = np.reshape(fold_errors(KNeighborsClassifier(3), X, y, resampler.indices_), (5, 4)).mean(axis=1)
    assert estimate.std_error == pytest.approx(errors.std(ddof=1) / math.sqrt(5), abs=1e-12)


def test_standard_error_of_one_partition_is_unknown():
    X, y = overlapping()
    assert math.isnan(bg.CrossValidation(4, random_state=0).error(KNeighborsClassifier(3), X, y).std_error)


def test_standard_error_of_leave_one_out_is_zero():
    X, y = overlapping(15)
    assert bg.LeaveOneOut().error(KNeighborsClassifier(3), X, y).std_error == 0


def test_weighted_value_has_folds_in_proportion_to_their_mean_weight():
    X, y = overlapping(23)
    weights, splits = some_weights(23), in_folds(23, 4)
    expected = weighted_error(GaussianNB(), X, y, splits, weights)
    estimate = bg.CrossValidation().error(GaussianNB(), X, y, sample_weight=weights, indices=splits)
    assert estimate.value == pytest.approx(expected, abs=1e-12)


def test_weighted_value_of_repeats_is_that_of_all_their_folds():
    X, y = overlapping(23)
    weights = some_weights(23)
    resampler = bg.CrossValidation(4, repeats=3, random_state=0)
    estimate = resampler.error(GaussianNB(), X, y, sample_weight=weights)
    assert estimate.value == pytest.approx(weighted_error(GaussianNB(), X, y, resampler.indices_, weights), abs=1e-12)


def test_weighted_repeats_of_a_rule_that_always_errs_all_say_one():
    X, y = overlapping(23)
    splits = bg.CrossValidation(4, repeats=5, stratified=False, random_state=0)
    estimate = splits.error(AlwaysWrong(), np.column_stack([X, y]), y, sample_weight=some_weights(23))
    np.testing.assert_allclose(estimate.replicate_values, np.ones(5), rtol=0, atol=1e-12)


def test_weighted_repeats_each_have_confusions_that_sum_to_one():
    X, y = overlapping(23)
    splits = bg.CrossValidation(4, repeats=5, stratified=False, random_state=0)
    estimate = splits.error(GaussianNB(), X, y, sample_weight=some_weights(23))
    np.testing.assert_allclose(estimate.replicate_confusions.sum(axis=(1, 2)), np.ones(5), rtol=0, atol=1e-12)


def test_weighted_leave_one_out_weighs_each_point_by_its_weight():
    X, y = overlapping(25)
    weights = some_weights(25)
    said = np.concatenate(predictions(GaussianNB(), X, y, one_at_a_time(25), weights))
    estimate = bg.LeaveOneOut().error(GaussianNB(), X, y, sample_weight=weights)
    assert estimate.value == pytest.approx(np.average(said != y, weights=weights), abs=1e-12)


SEARCHED = {"var_smoothing": [1e-9, 0.3]}

WEIGHTED_RULES = {
    "plain": (GaussianNB(), "sample_weight"),
    "pipeline": (make_pipeline(StandardScaler(), GaussianNB()), "gaussiannb__sample_weight"),
    "search": (GridSearchCV(GaussianNB(), SEARCHED, cv=2), "sample_weight"),
    "search of a pipeline": (
        GridSearchCV(
            make_pipeline(StandardScaler(), GaussianNB()),
            {f"gaussiannb__{name}": values for name, values in SEARCHED.items()},
            cv=2,
        ),
        "gaussiannb__sample_weight",
    ),
    "pipeline with a search": (
        make_pipeline(StandardScaler(), GridSearchCV(GaussianNB(), SEARCHED, cv=2)),
        "gridsearchcv__sample_weight",
    ),
}


@pytest.mark.parametrize(("rule", "argument"), WEIGHTED_RULES.values(), ids=WEIGHTED_RULES)
def test_weights_reach_the_fit_of_the_rule(rule, argument):
    """So unequal by class that fits without them give another value."""
    X, y = overlapping(24)
    weights, splits = some_weights(24) * np.where(y == 1, 5.0, 0.5), in_folds(24, 2)
    expected = weighted_error(rule, X, y, splits, weights, argument)
    assert expected != weighted_error(rule, X, y, splits, weights, argument=None)
    estimate = bg.CrossValidation().error(rule, X, y, sample_weight=weights, indices=splits)
    assert estimate.value == pytest.approx(expected, abs=1e-12)


class RecordsWeights(AlwaysFirst):
    """Keeps the weights that it was fitted with where a test can see them."""

    seen: list[np.ndarray] = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        self.seen.append(np.asarray(sample_weight))
        return super().fit(X, y)


def test_rule_gets_the_weights_as_they_were_given():
    X, y = overlapping(12)
    weights, splits = some_weights(12), in_folds(12, 3)
    RecordsWeights.seen.clear()
    bg.CrossValidation().error(RecordsWeights(), X, y, sample_weight=weights, indices=splits)
    expected = np.concatenate([weights[train] for train, _ in splits])
    np.testing.assert_allclose(np.concatenate(RecordsWeights.seen), expected, rtol=1e-14)


def test_weights_with_a_rule_that_takes_none_are_refused():
    X, y = overlapping()
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight in fit"):
        bg.CrossValidation().error(KNeighborsClassifier(), X, y, sample_weight=np.ones(len(y)))


@pytest.mark.parametrize("resampler", [bg.CrossValidation(4, repeats=2, random_state=0), bg.LeaveOneOut()])
def test_rows_of_weight_zero_are_as_if_absent(resampler):
    X, y = overlapping(30)
    kept = np.arange(30) % 7 != 3
    weights = some_weights(30)
    zeroed = resampler.error(GaussianNB(), X, y, sample_weight=np.where(kept, weights, 0.0))
    dropped = resampler.error(GaussianNB(), X[kept], y[kept], sample_weight=weights[kept])
    assert zeroed.value == pytest.approx(dropped.value, abs=1e-12)


def test_rows_of_weight_zero_are_on_no_side_of_a_split():
    X, y = overlapping(30)
    kept = np.arange(30) % 7 != 3
    resampler = bg.CrossValidation(4, random_state=0)
    resampler.error(GaussianNB(), X, y, sample_weight=kept.astype(float))
    for train, test in resampler.indices_:
        np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.flatnonzero(kept))


def test_rows_of_weight_zero_are_passed_over_in_replayed_splits():
    X, y = overlapping(30)
    kept = np.arange(30) % 7 != 3
    splits = in_folds(30, 4)
    weighted = bg.CrossValidation().error(GaussianNB(), X, y, sample_weight=kept.astype(float), indices=splits)
    cut = [(train[kept[train]], test[kept[test]]) for train, test in splits]
    assert weighted.value == pytest.approx(np.mean(fold_errors(GaussianNB(), X, y, cut)), abs=1e-12)


def test_groups_of_rows_of_weight_zero_do_not_count():
    X, y = overlapping(30)
    groups = np.arange(30) // 5
    weights = (groups != 2).astype(float)
    resampler = bg.LeaveOneOut()
    resampler.error(GaussianNB(), X, y, sample_weight=weights, groups=groups)
    assert sorted(np.unique(groups[test]).tolist() for _, test in resampler.indices_) == [[0], [1], [3], [4], [5]]


def confusion_of(rule, X, y, splits):
    """Return the mean over splits of the confusion shares."""
    said = predictions(rule, X, y, splits)
    shares = [
        confusion_matrix(y[test], labels, labels=np.unique(y), normalize="all")
        for labels, (_, test) in zip(said, splits, strict=True)
    ]
    return np.mean(shares, axis=0)


def test_confusion_is_the_mean_over_folds_of_their_confusions():
    X, y = overlapping(31, n_classes=3)
    splits = in_folds(31, 4)
    estimate = bg.CrossValidation().error(GaussianNB(), X, y, indices=splits)
    np.testing.assert_allclose(estimate.confusion, confusion_of(GaussianNB(), X, y, splits), rtol=0, atol=1e-12)


def test_confusion_of_leave_one_out_counts_every_point_once():
    X, y = overlapping(31, n_classes=3)
    said = np.concatenate(predictions(GaussianNB(), X, y, one_at_a_time(31)))
    estimate = bg.LeaveOneOut().error(GaussianNB(), X, y)
    np.testing.assert_allclose(estimate.confusion, confusion_matrix(y, said) / 31, rtol=0, atol=1e-12)


def test_per_class_errors_are_those_of_the_confusion():
    X, y = overlapping(31, n_classes=3)
    splits = in_folds(31, 4)
    confusion = confusion_of(GaussianNB(), X, y, splits)
    estimate = bg.CrossValidation().error(GaussianNB(), X, y, indices=splits)
    expected = dict(enumerate(1 - np.diag(confusion) / confusion.sum(axis=1)))
    assert estimate.per_class == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("sampling", ["mixture", "separate"])
def test_class_prior_weighs_the_per_class_errors(sampling, repeats):
    X, y = overlapping(31, n_classes=3)
    resampler = bg.CrossValidation(4, repeats, sampling=sampling, class_prior=[0.5, 0.3, 0.2], random_state=0)
    estimate = resampler.error(GaussianNB(), X, y)
    confusion = confusion_of(GaussianNB(), X, y, resampler.indices_)
    expected = [0.5, 0.3, 0.2] @ (1 - np.diag(confusion) / confusion.sum(axis=1))
    assert estimate.value == pytest.approx(expected, abs=1e-12)


def test_class_prior_by_label_weighs_the_per_class_errors_of_leave_one_out():
    X, y = overlapping(30)
    y = np.array(["sick", "well"])[y]
    said = np.concatenate(predictions(GaussianNB(), X, y, one_at_a_time(30)))
    estimate = bg.LeaveOneOut(class_prior={"well": 0.9, "sick": 0.1}).error(GaussianNB(), X, y)
    expected = sum(p * np.mean(said[y == label] != label) for label, p in (("well", 0.9), ("sick", 0.1)))
    assert estimate.value == pytest.approx(expected, abs=1e-12)


def test_separate_sampling_alone_offers_no_overall_error():
    X, y = overlapping()
    estimate = bg.CrossValidation(4, sampling="separate", random_state=0).error(GaussianNB(), X, y)
    with pytest.raises(ValueError, match="needs the class probabilities"):
        _ = estimate.value


def test_separate_sampling_alone_offers_the_per_class_errors():
    X, y = overlapping(31, n_classes=3)
    resampler = bg.CrossValidation(4, sampling="separate", random_state=0)
    estimate = resampler.error(GaussianNB(), X, y)
    confusion = confusion_of(GaussianNB(), X, y, resampler.indices_)
    assert list(estimate.per_class.values()) == pytest.approx(1 - np.diag(confusion) / confusion.sum(axis=1), abs=1e-12)


def test_separate_sampling_draws_folds_within_classes():
    X, y = overlapping(40, n_classes=4)
    resampler = bg.CrossValidation(5, sampling="separate", random_state=0)
    resampler.error(GaussianNB(), X, y)
    assert [np.bincount(y[test]).tolist() for _, test in resampler.indices_] == [[2, 2, 2, 2]] * 5


def test_string_labels_change_nothing():
    X, y = overlapping(23)
    splits = in_folds(23, 4)
    numbers = bg.CrossValidation().error(GaussianNB(), X, y, indices=splits)
    words = bg.CrossValidation().error(GaussianNB(), X, np.array(["no", "yes"])[y], indices=splits)
    assert words.per_class == {"no": numbers.per_class[0], "yes": numbers.per_class[1]}


@pytest.mark.parametrize("resampler", [bg.CrossValidation(4, random_state=0), bg.LeaveOneOut()])
def test_rule_that_asks_for_columns_by_name_gets_them(resampler):
    """A scaler of one named column cannot be fitted to an array, nor can its rule predict on one."""
    X, y = overlapping(23)
    frame = pd.DataFrame(X, columns=["a", "b", "c"], index=np.arange(100, 123))
    rule = make_pipeline(ColumnTransformer([("one", StandardScaler(), ["a"])]), GaussianNB())
    estimate = resampler.error(rule, frame, y)
    expected = [
        np.mean(clone(rule).fit(frame.iloc[train], y[train]).predict(frame.iloc[test]) != y[test])
        for train, test in resampler.indices_
    ]
    assert estimate.value == pytest.approx(np.mean(expected), abs=1e-12)


def flattened(images):
    if images.shape[1:] != (4, 3) or images.dtype != np.uint8:
        raise ValueError(f"not an image: {images.shape}, {images.dtype}")
    return images.reshape(len(images), -1)


def test_rule_for_images_gets_images():
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    images = rng.integers(0, 200, size=(30, 4, 3)).astype(np.uint8)
    images[:, 0, 0] += (40 * y).astype(np.uint8)
    rule = make_pipeline(FunctionTransformer(flattened), GaussianNB())
    splits = in_folds(30, 4)
    estimate = bg.CrossValidation().error(rule, images, y, indices=splits)
    assert estimate.value == pytest.approx(np.mean(fold_errors(rule, images, y, splits)), abs=1e-12)


def measured(measure, rule, X, y, splits, weights=None):
    """Return the error of each fold under a measure fitted to the training part and centred at the fold."""
    errors = []
    for train, test in splits:
        some = {} if weights is None else {"sample_weight": weights[train]}
        other = {} if weights is None else {"sample_weight": weights[test]}
        classifier = clone(rule).fit(X[train], y[train], **some)
        fitted = clone(measure).fit(X[train], y[train], **some)
        errors.append(fitted.error(classifier, X=X[test], y=y[test], **other).value)
    return errors


@every_measure
def test_smoothed_value_is_that_of_measures_fitted_to_the_training_parts(measure):
    X, y = overlapping(31)
    splits = in_folds(31, 4)
    estimate = bg.CrossValidation(measure=measure).error(LinearDiscriminantAnalysis(), X, y, indices=splits)
    expected = np.mean(measured(measure, LinearDiscriminantAnalysis(), X, y, splits))
    assert estimate.value == pytest.approx(expected, abs=1e-12)


@every_measure
def test_generalized_leave_one_out_is_that_of_measures_fitted_to_the_other_points(measure):
    X, y = overlapping(20)
    estimate = bg.LeaveOneOut(measure=measure).error(LinearDiscriminantAnalysis(), X, y)
    expected = np.mean(measured(measure, LinearDiscriminantAnalysis(), X, y, one_at_a_time(20)))
    assert estimate.value == pytest.approx(expected, abs=1e-12)


@every_measure
def test_generalized_leave_one_out_is_exact_for_a_linear_rule(measure):
    X, y = overlapping(20)
    assert bg.LeaveOneOut(measure=measure).error(LinearDiscriminantAnalysis(), X, y).computation.exact


@every_measure
def test_weights_reach_the_measures_of_the_folds(measure):
    X, y = overlapping(31)
    weights, splits = some_weights(31), in_folds(31, 4)
    rule = LogisticRegression(C=0.1)
    estimate = bg.CrossValidation(measure=measure).error(rule, X, y, sample_weight=weights, indices=splits)
    errors = measured(measure, rule, X, y, splits, weights)
    expected = np.average(errors, weights=[weights[test].mean() for _, test in splits])
    assert estimate.value == pytest.approx(expected, abs=1e-12)


@every_measure
def test_smoothed_confusion_sums_to_one(measure):
    X, y = overlapping(31)
    estimate = bg.CrossValidation(4, measure=measure, random_state=0).error(LinearDiscriminantAnalysis(), X, y)
    assert estimate.confusion.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("rule", [KNeighborsClassifier(1), DecisionTreeClassifier(random_state=0)], ids=["1nn", "tree"])
def test_points_of_a_class_that_the_training_part_lacks_count_as_errors(rule):
    X, y = overlapping(12)
    both = np.flatnonzero(y == 1)
    splits = [(np.flatnonzero(y == 0), both), (np.arange(9), np.arange(9, 12))]
    estimate = bg.CrossValidation().error(rule, X, y, indices=splits)
    assert estimate.contributions[both[:-2]] == pytest.approx(np.ones(len(both) - 2))


def test_value_where_a_training_part_lacks_a_class_is_that_of_the_loop():
    X, y = overlapping(12, n_classes=3)
    splits = [(np.flatnonzero(y != 2), np.flatnonzero(y == 2)), (np.arange(9), np.arange(9, 12))]
    estimate = bg.CrossValidation().error(KNeighborsClassifier(1), X, y, indices=splits)
    expected = np.mean(fold_errors(KNeighborsClassifier(1), X, y, splits))
    assert estimate.value == pytest.approx(expected, abs=1e-12)


def test_leave_one_out_of_a_class_of_one_point_counts_it_as_an_error():
    X, y = overlapping(11)
    y = np.where(np.arange(11) == 4, 2, y)
    assert bg.LeaveOneOut().error(KNeighborsClassifier(1), X, y).contributions[4] == 1


@pytest.mark.parametrize("weighted", [False, True], ids=["equal weights", "weights"])
@pytest.mark.parametrize(
    "resampler", [bg.CrossValidation(4, repeats=3, random_state=0), bg.LeaveOneOut()], ids=["folds", "leave-one-out"]
)
def test_contributions_average_to_the_value(resampler, weighted):
    X, y = overlapping(23)
    weights = some_weights(23) if weighted else None
    estimate = resampler.error(GaussianNB(), X, y, sample_weight=weights)
    assert estimate.point_weights @ estimate.contributions == pytest.approx(estimate.value, abs=1e-12)


def test_point_weights_sum_to_one():
    X, y = overlapping(23)
    estimate = bg.CrossValidation(4, random_state=0).error(GaussianNB(), X, y, sample_weight=some_weights(23))
    assert estimate.point_weights.sum() == pytest.approx(1, abs=1e-12)


def test_contribution_of_a_point_is_its_mean_error_over_the_repeats():
    X, y = overlapping(20)
    resampler = bg.CrossValidation(4, repeats=3, random_state=0)
    estimate = resampler.error(KNeighborsClassifier(3), X, y)
    wrong = np.zeros(20)
    said = predictions(KNeighborsClassifier(3), X, y, resampler.indices_)
    for labels, (_, test) in zip(said, resampler.indices_, strict=True):
        wrong[test] += (labels != y[test]) / 3
    np.testing.assert_allclose(estimate.contributions, wrong, rtol=0, atol=1e-12)


GROUPED = {
    "folds": bg.CrossValidation(4, repeats=2, random_state=0),
    "folds without strata": bg.CrossValidation(4, repeats=2, stratified=False, random_state=0),
    "leave-one-out": bg.LeaveOneOut(),
    "bootstrap": bg.Bootstrap("zero", n_resamples=20, random_state=0),
    "calibrated": bg.Calibrated(bg.Bolstered(), repeats=4, random_state=0),
}


def in_groups(n=48):
    """Return a sample with groups of two to seven points, scattered over the rows, each of both classes."""
    X, y = overlapping(n)
    groups = np.repeat(np.array(list("abcdefghijkl")), [2, 3, 4, 5, 6, 7, 2, 3, 4, 5, 3, 4])
    return X, y, np.random.default_rng(1).permutation(groups)


@pytest.mark.parametrize("resampler", GROUPED.values(), ids=GROUPED)
def test_no_group_is_on_both_sides_of_a_split(resampler):
    X, y, groups = in_groups()
    resampler.error(LinearDiscriminantAnalysis(), X, y, groups=groups)
    shared = [set(groups[train]) & set(groups[test]) for train, test in resampler.indices_]
    assert shared == [set()] * len(shared)


@pytest.mark.parametrize("resampler", GROUPED.values(), ids=GROUPED)
def test_every_point_is_on_one_side_of_each_split_of_groups(resampler):
    X, y, groups = in_groups()
    resampler.error(LinearDiscriminantAnalysis(), X, y, groups=groups)
    sides = [sorted([*np.unique(train).tolist(), *test.tolist()]) for train, test in resampler.indices_]
    assert sides == [list(range(48))] * len(sides)


def test_leave_one_out_with_groups_leaves_out_each_group_once():
    X, y, groups = in_groups()
    resampler = bg.LeaveOneOut()
    resampler.error(GaussianNB(), X, y, groups=groups)
    left_out = sorted(np.unique(groups[test]).tolist() for _, test in resampler.indices_)
    assert left_out == [[name] for name in "abcdefghijkl"]


def test_leave_one_out_with_groups_is_the_mean_over_groups():
    X, y, groups = in_groups()
    scores = cross_val_score(GaussianNB(), X, y, groups=groups, cv=LeaveOneGroupOut())
    estimate = bg.LeaveOneOut().error(GaussianNB(), X, y, groups=groups)
    assert estimate.value == pytest.approx(1 - scores.mean(), abs=1e-12)


def test_bootstrap_draws_whole_groups():
    X, y, groups = in_groups()
    resampler = bg.Bootstrap("zero", n_resamples=20, random_state=0)
    resampler.error(GaussianNB(), X, y, groups=groups)
    for train, _ in resampler.indices_:
        drawn = np.bincount(train, minlength=48)
        assert all(np.ptp(drawn[groups == name]) == 0 for name in np.unique(groups))


@pytest.mark.parametrize("resampler", [bg.CrossValidation(), bg.LeaveOneOut(), bg.Bootstrap("zero")])
def test_replayed_splits_that_cut_a_group_are_refused(resampler):
    X, y, groups = in_groups()
    with pytest.raises(ValueError, match="groups must not straddle a split; entry 0"):
        resampler.error(GaussianNB(), X, y, groups=groups, indices=in_folds(48, 4))


def test_more_folds_than_groups_are_refused():
    X, y, groups = in_groups()
    with pytest.raises(ValueError, match="at most the number of groups; got folds=13 with 12"):
        bg.CrossValidation(13).error(GaussianNB(), X, y, groups=groups)


def noise_with_many_features(n=40, d=500):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), np.arange(n) % 2


def test_feature_selection_in_a_pipeline_is_done_anew_in_each_fold():
    X, y = noise_with_many_features()
    rule = make_pipeline(SelectKBest(k=5), LinearDiscriminantAnalysis())
    splits = in_folds(40, 5)
    estimate = bg.CrossValidation().error(rule, X, y, indices=splits)
    expected = []
    for train, test in splits:
        best = SelectKBest(k=5).fit(X[train], y[train]).get_support()
        classifier = LinearDiscriminantAnalysis().fit(X[train][:, best], y[train])
        expected.append(np.mean(classifier.predict(X[test][:, best]) != y[test]))
    assert estimate.value == pytest.approx(np.mean(expected), abs=1e-12)


def test_feature_selection_before_resampling_is_not_seen():
    """The labels are noise, so half of the points must be misclassified; selected on all, the features say less."""
    X, y = noise_with_many_features()
    splits = in_folds(40, 5)
    whole = make_pipeline(SelectKBest(k=5), LinearDiscriminantAnalysis())
    honest = bg.CrossValidation().error(whole, X, y, indices=splits)
    chosen = SelectKBest(k=5).fit_transform(X, y)
    peeked = bg.CrossValidation().error(LinearDiscriminantAnalysis(), chosen, y, indices=splits)
    # Under honest selection each fold's error is a coin's: 4.5 s.e. of 40 points.
    assert abs(honest.value - 0.5) < 4.5 * math.sqrt(0.25 / 40)
    assert peeked.value < 0.5 - 0.3


def test_bolstering_held_out_points_of_an_rbf_svm_adds_upward_bias():
    """Paired differences over 24 samples: the effect is 0.06 or 10 s.e., so a false alarm comes in 1e-7 of seeds.

    The same folds are used for both, as they depend on the seed alone.
    """
    population = bg.datasets.PaperGaussian()
    differences = []
    for seed in range(24):
        X, y = population.sample(40, random_state=seed)
        plain = bg.CrossValidation(5, random_state=seed).error(SVC(), X, y)
        bolstered = bg.CrossValidation(5, measure=bg.Bolstered(), random_state=seed).error(SVC(), X, y)
        differences.append(bolstered.value - plain.value)
    assert np.mean(differences) > 4.5 * np.std(differences, ddof=1) / math.sqrt(len(differences))
