"""LeaveOneOut(shortcut=True) and OutOfBag as estimators: what they return, and what they refuse."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import bayes_gresub as bg
from bayes_gresub.resampling.shortcuts import NoShortcutError, has_shortcut, left_out
from bayes_gresub.resampling.shortcuts.refusals import (
    ClassLeftEmpty,
    RuleWithoutShortcut,
    SettingWithoutShortcut,
    StepsWithoutShortcut,
)

X, y = load_iris(return_X_y=True)
X, y = X[::2], np.array(["setosa", "versicolor", "virginica"])[y[::2]]
LOO = bg.LeaveOneOut(shortcut=True)


def assert_same(first, second):
    assert float(first) == pytest.approx(float(second))
    np.testing.assert_allclose(first.confusion, second.confusion)
    assert first.estimand == second.estimand


def test_estimate_equals_that_of_refits():
    for rule in (KNeighborsClassifier(3), GaussianNB(), make_pipeline(StandardScaler(), RidgeClassifier())):
        shortcut, refitted = LOO.error(rule, X, y), bg.LeaveOneOut().error(rule, X, y)
        assert_same(shortcut, refitted)
        np.testing.assert_allclose(shortcut.contributions, refitted.contributions)
        np.testing.assert_allclose(shortcut.point_weights, refitted.point_weights)
        assert shortcut.computation.exact
        assert shortcut.no_interval == refitted.no_interval


def test_groups_count_the_same_as_with_refits():
    groups = np.r_[np.zeros(7), np.arange(1, 69)]
    shortcut = LOO.error(GaussianNB(), X, y, groups=groups)
    assert_same(shortcut, bg.LeaveOneOut().error(GaussianNB(), X, y, groups=groups))
    np.testing.assert_allclose(shortcut.point_weights[:7].sum(), shortcut.point_weights[7])


@pytest.mark.parametrize("repeated_rows", ["together", "apart"])
def test_repeated_rows_are_left_out_as_with_refits(repeated_rows):
    rows = np.r_[np.arange(75), [0, 0, 30, 60]]
    shortcut, refitted = (
        bg.LeaveOneOut(shortcut=short, repeated_rows=repeated_rows).error(KNeighborsClassifier(1), X[rows], y[rows])
        for short in (True, False)
    )
    assert_same(shortcut, refitted)
    np.testing.assert_allclose(shortcut.point_weights, refitted.point_weights)
    assert shortcut.details == refitted.details


def test_class_prior_is_used():
    prior = {"setosa": 0.2, "versicolor": 0.2, "virginica": 0.6}
    shortcut = bg.LeaveOneOut(shortcut=True, class_prior=prior).error(GaussianNB(), X, y)
    assert_same(shortcut, bg.LeaveOneOut(class_prior=prior).error(GaussianNB(), X, y))


def test_separate_sampling_has_no_overall_error():
    estimate = bg.LeaveOneOut(shortcut=True, sampling="separate").error(GaussianNB(), X, y)
    with pytest.raises(ValueError, match="class probabilities"):
        float(estimate)


def test_approximation_is_called_so_and_fits_once():
    rule = LogisticRegression(max_iter=1000)
    estimate = LOO.error(rule, X, y)
    assert not estimate.computation.exact
    assert estimate.computation.n_refits == 1
    assert LOO.error(rule, X, y, classifier=clone(rule).fit(X, y)).computation.n_refits == 0


def test_rule_that_is_fitted_to_other_points_is_trained_anew():
    rule = LogisticRegression(max_iter=1000)
    elsewhere = clone(rule).fit(X[::-1] * 2, y)
    np.testing.assert_array_equal(LOO.error(elsewhere, X, y).contributions, LOO.error(rule, X, y).contributions)


def test_estimate_survives_json():
    for estimate in (LOO.error(GaussianNB(), X, y), bg.OutOfBag(random_state=0).error(RandomForestClassifier(9), X, y)):
        assert float(bg.ErrorEstimate.from_json(estimate.to_json())) == float(estimate)


REFUSED = {
    "type": (DecisionTreeClassifier(), RuleWithoutShortcut),
    "lda": (LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"), SettingWithoutShortcut),
    "lda priors": (LinearDiscriminantAnalysis(solver="lsqr", priors=[0.2, 0.3, 0.5]), SettingWithoutShortcut),
    "metric": (KNeighborsClassifier(metric=lambda a, b: abs(a - b).sum()), SettingWithoutShortcut),
    "weights": (KNeighborsClassifier(weights=lambda d: 1 / (1 + d)), SettingWithoutShortcut),
    "threshold": (NearestCentroid(shrink_threshold=0.1), SettingWithoutShortcut),
    "median": (NearestCentroid(metric="manhattan"), SettingWithoutShortcut),
    "positive": (RidgeClassifier(positive=True), SettingWithoutShortcut),
    "sag": (RidgeClassifier(solver="sag"), SettingWithoutShortcut),
    "kernel": (SVC(kernel="precomputed"), SettingWithoutShortcut),
    "stopped": (SVC(max_iter=10), SettingWithoutShortcut),
    "l1": (LogisticRegression(l1_ratio=1.0, solver="saga"), SettingWithoutShortcut),
    "hinge": (LinearSVC(loss="hinge"), SettingWithoutShortcut),
    "other scaler": (make_pipeline(MinMaxScaler(), GaussianNB()), StepsWithoutShortcut),
}

if "shrinkage" in QuadraticDiscriminantAnalysis().get_params():  # since scikit-learn 1.8
    REFUSED["qda"] = (QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=0.1), SettingWithoutShortcut)


@pytest.mark.parametrize("name", REFUSED)
def test_rule_without_a_shortcut_is_refused_with_a_reason(name):
    rule, reason = REFUSED[name]
    assert isinstance(has_shortcut(rule), reason)
    with pytest.raises(NoShortcutError, match=r"Use LeaveOneOut\(\)") as raised:
        LOO.error(rule, X, y)
    assert raised.value.reason == has_shortcut(rule)


def test_subclass_may_do_anything_so_it_has_no_shortcut():
    class Other(GaussianNB):
        """The same rule by another name."""

    assert has_shortcut(Other()) == RuleWithoutShortcut("Other")


def test_class_left_empty_is_refused():
    with pytest.raises(NoShortcutError, match="class 'rare' has no points left") as raised:
        LOO.error(GaussianNB(), X, np.append(y[:-1], "rare"))
    assert raised.value.reason == ClassLeftEmpty("'rare'")


def test_too_few_neighbours_are_refused():
    with pytest.raises(NoShortcutError, match="n_neighbors=75 needs as many points; 74 are left"):
        LOO.error(KNeighborsClassifier(75), X, y)


def test_weights_indices_and_measures_are_refused():
    with pytest.raises(NoShortcutError, match="no sample_weight"):
        LOO.error(GaussianNB(), X, y, sample_weight=np.ones(75))
    with pytest.raises(ValueError, match="takes no indices"):
        LOO.error(GaussianNB(), X, y, indices=[[0, 1]])
    with pytest.raises(ValueError, match=r"must be Empirical\(\)"):
        bg.LeaveOneOut(measure=bg.Bolstered(), shortcut=True).error(GaussianNB(), X, y)
    with pytest.raises(ValueError, match="shortcut must be True or False; got 'yes'"):
        bg.LeaveOneOut(shortcut="yes").error(GaussianNB(), X, y)


def test_forest_is_sent_to_out_of_bag():
    with pytest.raises(NoShortcutError, match=r"see OutOfBag\(\)"):
        LOO.error(RandomForestClassifier(), X, y)


def test_classifier_of_other_rows_is_refused():
    fitted = LogisticRegression(max_iter=1000).fit(X[:, :2], y)
    with pytest.raises(ValueError, match="trained on the rows given; got one for classes"):
        left_out(fitted, X, y)


ENSEMBLES = [
    RandomForestClassifier(60, oob_score=True, random_state=0),
    ExtraTreesClassifier(60, bootstrap=True, oob_score=True, random_state=0),
    BaggingClassifier(n_estimators=60, oob_score=True, random_state=0),
    BaggingClassifier(RidgeClassifier(), n_estimators=60, max_features=0.5, oob_score=True, random_state=0),
]


@pytest.mark.parametrize("ensemble", ENSEMBLES, ids=str)
def test_out_of_bag_equals_the_score_of_scikit_learn(ensemble):
    fitted = clone(ensemble).fit(X, y)
    estimate = bg.OutOfBag().error(ensemble, X, y, classifier=fitted)
    assert float(estimate) == pytest.approx(1 - fitted.oob_score_)
    assert estimate.computation.n_refits == 0
    assert estimate.estimand.n_total == 60
    assert 15 <= estimate.estimand.n_members <= 28
    result = left_out(fitted, X, y)
    np.testing.assert_allclose(result.scores, fitted.oob_decision_function_)
    assert (result.exact, result.probabilities, result.n_fits) == (False, True, 0)


def test_out_of_bag_fits_once_and_is_reproducible():
    first, second = (bg.OutOfBag(random_state=3).error(RandomForestClassifier(20), X, y) for _ in range(2))
    assert first.computation.n_refits == 1
    np.testing.assert_array_equal(first.contributions, second.contributions)


def test_points_in_every_bag_are_dropped_and_counted():
    forest = RandomForestClassifier(2, random_state=0).fit(X, y)
    estimate = bg.OutOfBag().error(forest, X, y, classifier=forest)
    bags = [np.isin(np.arange(75), bag) for bag in forest.estimators_samples_]
    assert estimate.details["points_in_every_bag"] == np.logical_and(*bags).sum() > 0
    assert (estimate.point_weights == 0).sum() == estimate.details["points_in_every_bag"]
    assert (left_out(forest, X, y).codes == -1).sum() == estimate.details["points_in_every_bag"]


def test_members_that_saw_a_row_of_the_group_do_not_count():
    rng = np.random.default_rng(0)
    noise, labels = np.repeat(rng.normal(size=(40, 3)), 2, axis=0), np.repeat(np.arange(40) % 2, 2)
    forest = RandomForestClassifier(200, random_state=0).fit(noise, labels)
    alone = bg.OutOfBag().error(forest, noise, labels, classifier=forest)
    together = bg.OutOfBag().error(forest, noise, labels, groups=np.arange(80) // 2, classifier=forest)
    assert float(alone) < 0.2
    assert float(together) > 0.35


def test_out_of_bag_behind_a_scaler_changes_nothing_for_trees():
    forest = RandomForestClassifier(30, random_state=0)
    behind = bg.OutOfBag().error(make_pipeline(StandardScaler(), forest), X, y)
    assert float(behind) == pytest.approx(float(bg.OutOfBag().error(forest, X, y)), abs=0.03)


@pytest.mark.parametrize(
    "rule",
    [RandomForestClassifier(bootstrap=False), ExtraTreesClassifier(), GaussianNB(), DecisionTreeClassifier()],
    ids=str,
)
def test_out_of_bag_refuses_rules_without_bags(rule):
    with pytest.raises(ValueError, match=r"OutOfBag needs a random forest.*Use CrossValidation\(\)"):
        bg.OutOfBag().error(rule, X, y)


def test_out_of_bag_refuses_weights_of_zero_for_a_trained_forest():
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="got 1 rows of weight 0"):
        bg.OutOfBag().error(forest, X, y, sample_weight=np.r_[0, np.ones(74)], classifier=forest)
