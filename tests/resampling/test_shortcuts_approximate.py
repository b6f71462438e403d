"""Leave-one-out by one Newton step and by the span rule: exact where theory says so, near refits elsewhere."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from bayes_gresub.resampling.shortcuts import NoShortcutError, left_out

PRECISE = {"tol": 1e-8, "max_iter": 10_000}


def overlapping(c, n=60, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.sort(rng.integers(0, c, size=n))
    return rng.normal(size=(n, d)) + 1.2 * rng.normal(size=(c, d))[y], y


def refits(rule, X, y, groups=None):
    """Return the decision values of each row by the rule refitted without its group."""
    groups = np.arange(len(y)) if groups is None else groups
    values = {}
    for group in np.unique(groups):
        inside = groups == group
        decision = clone(rule).fit(X[~inside], y[~inside]).decision_function(X[inside])
        values |= dict(zip(np.flatnonzero(inside), decision, strict=True))
    return np.array([values[row] for row in range(len(y))])


def logit(probabilities):
    return np.log(probabilities[:, 1] / probabilities[:, 0])


@pytest.mark.parametrize("c", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_newton_step_is_a_newton_step_of_the_left_out_likelihood(c, class_weight):
    """By numerical derivatives of scikit-learn's objective, written out here."""
    X, y = overlapping(c, n=30, d=2)
    rule = LogisticRegression(C=0.5, class_weight=class_weight, **PRECISE).fit(X, y)
    k = 1 if c == 2 else c
    start = np.column_stack([rule.coef_, rule.intercept_]).ravel()
    row = 4
    rest = np.arange(30) != row
    counts = np.bincount(y[rest], minlength=c)
    weights = rest.sum() / (c * counts) if class_weight else np.ones(c)

    def predictors(theta, points):
        return points @ theta.reshape(k, 3)[:, :2].T + theta.reshape(k, 3)[:, 2]

    def objective(theta):
        eta = predictors(theta, X[rest])
        eta = np.hstack([np.zeros_like(eta), eta]) if k == 1 else eta
        losses = np.log(np.exp(eta).sum(axis=1)) - eta[np.arange(len(eta)), y[rest]]
        return 0.5 * (weights[y[rest]] * losses).sum() + 0.5 * (theta.reshape(k, 3)[:, :2] ** 2).sum()

    h, steps = 1e-4, np.eye(len(start)) * 1e-4
    gradient = np.array([objective(start + s) - objective(start - s) for s in steps]) / (2 * h)
    hessian = np.array(
        [
            [
                objective(start + s + t)
                - objective(start + s - t)
                - objective(start - s + t)
                + objective(start - s - t)
                for t in steps
            ]
            for s in steps
        ]
    ) / (4 * h * h)
    moved = start - np.linalg.lstsq(hessian, gradient, rcond=1e-5)[0]
    eta = predictors(moved, X[[row]])[0]
    expected = np.exp(np.append(0, eta) if k == 1 else eta)
    result = left_out(rule, X, y).scores[row]
    np.testing.assert_allclose(result, expected / expected.sum(), atol=2e-5)


@pytest.mark.parametrize("c", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_logistic_regression_is_near_refits(c, class_weight):
    X, y = overlapping(c)
    rule = LogisticRegression(class_weight=class_weight, **PRECISE)
    result = left_out(rule, X, y)
    classes = refits(rule, X, y)
    labels = (classes > 0).astype(int) if c == 2 else classes.argmax(axis=1)
    assert np.mean(result.codes != labels) <= 0.04
    assert not result.exact
    assert result.probabilities


def test_difference_from_refits_vanishes_with_many_rows():
    rng, rule, gaps = np.random.default_rng(0), LogisticRegression(**PRECISE), []
    for n in (40, 400):
        y = np.arange(n) % 2
        X = rng.normal(size=(n, 2)) + y[:, None]
        # The rows after the first forty are left out in few groups, to save refits.
        groups = np.where(np.arange(n) < 40, np.arange(n), 40 + np.arange(n) % 2)
        gaps.append(np.abs(logit(left_out(rule, X, y).scores) - refits(rule, X, y, groups))[:40].mean())
    assert gaps[1] < gaps[0] / 10


def test_logistic_blocks_are_near_refits():
    X, y = overlapping(2)
    groups = np.arange(60) // 2
    rule = LogisticRegression(C=0.3, **PRECISE)
    np.testing.assert_allclose(logit(left_out(rule, X, y, groups).scores), refits(rule, X, y, groups), atol=0.1)


def test_logistic_regression_with_more_features_than_rows():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 80)), np.arange(30) % 2
    rule = LogisticRegression(C=0.01, **PRECISE)
    np.testing.assert_allclose(logit(left_out(rule, X, y).scores), refits(rule, X, y), atol=0.05)


@pytest.mark.parametrize("c", [2, 3])
def test_linear_machine_is_exact_while_nobody_enters_or_leaves_the_margin(c):
    """With a tiny C all rows stay inside the margin, so the loss is quadratic and one step reaches the minimum."""
    X, y = overlapping(c)
    rule = LinearSVC(C=1e-4, dual=False, tol=1e-12, max_iter=100_000)
    result = left_out(rule, X, y)
    expected = refits(rule, X, y)
    np.testing.assert_allclose(result.scores[:, 1] if c == 2 else result.scores, expected, atol=1e-8)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_linear_machine_is_near_refits(class_weight):
    X, y = overlapping(3)
    rule = LinearSVC(dual=False, class_weight=class_weight, tol=1e-10, max_iter=100_000)
    assert np.mean(left_out(rule, X, y).codes != refits(rule, X, y).argmax(axis=1)) <= 0.05


def kinds(machine, n):
    """Return 0 for rows that are no support vectors, 1 for free ones and 3 for those at the bound."""
    result = np.zeros(n)
    result[machine.support_] = np.sign(np.abs(machine.dual_coef_[0]) - (1 - 1e-7)) + 2
    return result


def test_span_rule_equals_refits_if_all_other_support_vectors_stay_of_their_kind():
    rule, checked = SVC(gamma=0.1, C=1.0, tol=1e-9), []
    for seed in range(12):
        X, y = overlapping(2, n=30, seed=seed)
        whole = kinds(clone(rule).fit(X, y), 30)
        approximate = left_out(rule, X, y, approximate=True).scores[:, 1]
        for row in np.flatnonzero(whole):
            rest = np.arange(30) != row
            part = clone(rule).fit(X[rest], y[rest])
            if (kinds(part, 29) == whole[rest]).all():
                assert approximate[row] == pytest.approx(part.decision_function(X[[row]])[0], abs=1e-5)
                checked.append(whole[row])
    assert checked.count(1) >= 2
    assert checked.count(3) >= 2


def test_span_rule_of_a_pair_is_that_of_its_rows_alone():
    X, y = overlapping(2, n=50)
    rule = SVC(gamma=0.1)
    groups = np.arange(50)
    groups[[3, 11]] = 3
    together = left_out(rule, X, y, groups, approximate=True)
    alone = left_out(rule, X, y, approximate=True)
    np.testing.assert_allclose(np.delete(together.scores, [3, 11], axis=0), np.delete(alone.scores, [3, 11], axis=0))


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_span_rule_of_several_classes_is_near_refits(load):
    X, y = load(return_X_y=True)
    rule = make_pipeline(StandardScaler(), SVC())
    span, exact = left_out(rule.fit(X, y), X, y, approximate=True), left_out(rule, X, y)
    assert span.n_fits == 0
    assert not span.exact
    assert np.mean(span.codes != exact.codes) <= 0.02


def test_a_fitted_classifier_is_not_fitted_again():
    X, y = overlapping(2)
    rule = LogisticRegression()
    fresh, fitted = left_out(rule, X, y), left_out(clone(rule).fit(X, y), X, y)
    assert (fresh.n_fits, fitted.n_fits) == (1, 0)
    np.testing.assert_allclose(fresh.scores, fitted.scores)


def test_liblinear_penalizes_the_intercept():
    X, y = overlapping(2)
    X = X + 3
    rule = LogisticRegression(solver="liblinear", C=0.1, tol=1e-10, max_iter=10_000)
    np.testing.assert_allclose(logit(left_out(rule, X, y).scores), refits(rule, X, y), atol=0.05)


def test_unpenalized_objective_is_that_of_maximum_likelihood():
    """The left-out predictors solve the likelihood equations of the rest nearly, by an independent minimizer."""
    X, y = overlapping(2, n=50, d=1)
    rule = LogisticRegression(C=np.inf, **PRECISE)
    rest = np.arange(50) != 0

    def loss(theta):
        eta = X[rest, 0] * theta[0] + theta[1]
        return np.sum(np.logaddexp(0, eta) - y[rest] * eta)

    best = minimize(loss, np.zeros(2), method="BFGS", options={"gtol": 1e-9}).x
    assert logit(left_out(rule, X, y).scores)[0] == pytest.approx(X[0, 0] * best[0] + best[1], abs=0.05)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("pairs", [False, True], ids=["single rows", "pairs"])
def test_search_of_the_trained_neighbours_gives_the_votes_of_refits(weights, pairs):
    """More than 2,000 rows are searched; without ties and scaler both ways have the same votes."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2100, 3)), np.arange(2100) % 3
    groups = np.arange(2100) // 2 if pairs else np.arange(2100)
    rule = KNeighborsClassifier(4, weights=weights)
    exact, searched = (left_out(rule.fit(X, y), X, y, groups, approximate=approximate) for approximate in (False, True))
    assert (exact.exact, searched.exact) == (True, False)
    np.testing.assert_allclose(searched.scores, exact.scores, atol=1e-9)


@pytest.mark.parametrize(("n", "d"), [(60, 80), (60, 30), (50, 12)], ids=["more features", "half", "few"])
@pytest.mark.parametrize("c", [2, 3])
def test_linear_discriminants_without_refits_are_near_those_with(n, d, c):
    """Some features have a spread in one row only, one has none; features stay in units of all rows, so not exact."""
    n_different, errors = 0, np.zeros(2)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y = np.arange(n) % c
        X = rng.normal(size=(n, d)) + 0.5 * y[:, None] * rng.normal(size=d)
        X[:, :3] = 0
        X[rng.integers(n, size=2), [0, 1]] = 1
        rule = LinearDiscriminantAnalysis()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exact, quick = left_out(rule, X, y), left_out(rule.fit(X, y), X, y, approximate=True)
        assert quick.n_fits == 0
        n_different += np.sum(exact.codes != quick.codes)
        errors += [np.mean(exact.codes != y) / 5, np.mean(quick.codes != y) / 5]
    assert n_different <= 0.03 * 5 * n
    assert errors[1] == pytest.approx(errors[0], abs=0.02)


def test_regularised_quadratic_discriminants_have_no_shortcut_without_refits():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    rule = QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X, y)
    with pytest.raises(NoShortcutError, match="no shortcut with reg_param"):
        left_out(rule, X, y, approximate=True)


def test_quadratic_discriminants_of_classes_that_nearly_lose_their_rank_are_not_refitted():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 9)), np.arange(20) % 2
    with pytest.raises(NoShortcutError, match="the scatter of a class is nearly singular without some rows"):
        left_out(QuadraticDiscriminantAnalysis().fit(X, y), X, y, approximate=True)
