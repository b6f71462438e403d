"""Leave-one-out by formulas against refits, in every setting with a formula: twenty samples, one in make test."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from bayes_gresub.resampling.shortcuts import left_out

NEAR_A_TIE = 1e-4


def scaled(rule, **settings):
    return make_pipeline(StandardScaler(**settings), rule)


def draw(seed):
    """Return a sample of 2 to 4 unequal classes in 1 to 6 features of different units, a few rows repeated."""
    rng = np.random.default_rng(seed)
    c, d = int(rng.integers(2, 5)), int(rng.integers(1, 7))
    codes = np.repeat(np.arange(c), rng.integers(d + 5, d + 10, size=c))
    X = rng.normal(size=(len(codes), d)) + 1.5 * rng.normal(size=(c, d))[codes]
    X = X * rng.uniform(0.5, 10, size=d) + 5 * rng.normal(size=d)
    repeated = rng.choice(len(codes), 6, replace=False)
    X[repeated[:3]] = X[repeated[3:]]
    order = rng.permutation(len(codes))
    return X[order], np.array(["ape", "bee", "cat", "dog"])[codes[order]], rng


def blocks_of(n, rng):
    """Return groups of one to four rows."""
    groups = np.arange(n)
    for _ in range(4):
        members = rng.choice(n, int(rng.integers(2, 5)), replace=False)
        groups[members] = groups[members[0]]
    return groups


def refits(rule, X, y, groups):
    """Return labels and scores (n, c) of each row by the rule refitted without its group."""
    labels, scores = np.empty_like(y), None
    for group in np.unique(groups):
        inside = groups == group
        with config_context(assume_finite=True, skip_parameter_validation=True):
            classifier = clone(rule).fit(X[~inside], y[~inside])
        labels[inside] = classifier.predict(X[inside])
        has_proba = hasattr(classifier, "predict_proba")
        values = classifier.predict_proba(X[inside]) if has_proba else classifier.decision_function(X[inside])
        if values.ndim == 1:
            values = np.column_stack([-values, values])
        if scores is None:
            scores = np.empty((len(y), values.shape[1]))
        scores[inside] = values
    return labels, scores


def far_from_ties(scores):
    best = np.sort(scores, axis=1)
    return best[:, -1] - best[:, -2] > NEAR_A_TIE


EXACT = {
    "knn": KNeighborsClassifier(3),
    "knn by distance": KNeighborsClassifier(4, weights="distance"),
    "knn manhattan": KNeighborsClassifier(5, p=1),
    "knn minkowski": KNeighborsClassifier(5, p=3, algorithm="brute"),
    "knn cosine": KNeighborsClassifier(5, metric="cosine"),
    "scaled knn": scaled(KNeighborsClassifier(3)),
    "scaled knn by distance": scaled(KNeighborsClassifier(4, weights="distance")),
    "scaled knn chebyshev": scaled(KNeighborsClassifier(3, metric="chebyshev")),
    "scaled knn cosine": scaled(KNeighborsClassifier(5, metric="cosine")),
    "centroid": NearestCentroid(),
    "centroid, empirical priors": NearestCentroid(priors="empirical"),
    "scaled centroid": scaled(NearestCentroid()),
    "naive Bayes": GaussianNB(),
    "smoothed naive Bayes": GaussianNB(var_smoothing=0.1),
    "scaled naive Bayes": scaled(GaussianNB(var_smoothing=0.1)),
    "lda": LinearDiscriminantAnalysis(),
    "lda lsqr": LinearDiscriminantAnalysis(solver="lsqr"),
    "lda eigen": LinearDiscriminantAnalysis(solver="eigen"),
    "scaled lda": scaled(LinearDiscriminantAnalysis()),
    "qda": QuadraticDiscriminantAnalysis(),
    "scaled qda": scaled(QuadraticDiscriminantAnalysis()),
    "ridge": RidgeClassifier(),
    "ridge without intercept": RidgeClassifier(5.0, fit_intercept=False),
    "balanced ridge": RidgeClassifier(class_weight="balanced"),
    "scaled ridge": scaled(RidgeClassifier(3.0)),
    "scaled balanced ridge": scaled(RidgeClassifier(class_weight="balanced")),
}
MACHINES = {
    "rbf": SVC(tol=1e-6),
    "rbf, fixed gamma": SVC(gamma=0.02, C=10, tol=1e-6),
    "scaled rbf": scaled(SVC(tol=1e-6)),
    "balanced rbf": SVC(gamma=0.05, class_weight="balanced", break_ties=True, tol=1e-6),
    "scaled poly": scaled(SVC(kernel="poly", degree=2, coef0=1.0, tol=1e-6)),
    "linear": SVC(kernel="linear", C=0.01, tol=1e-6),
}
if "shrinkage" not in QuadraticDiscriminantAnalysis().get_params():
    # Before 1.8 scikit-learn cannot predict labels of text in this setting.
    del EXACT["knn minkowski"]
SHARED_VOTES = [name for name in EXACT if "knn" in name]


def counts_votes(rule):
    neighbors = [step for step in getattr(rule, "named_steps", {"rule": rule}).values() if hasattr(step, "n_neighbors")]
    return any(step.weights == "uniform" for step in neighbors)


def check_against_refits(rule, seeds, grouped, with_scores):
    for seed in seeds:
        X, y, rng = draw(seed)
        groups = blocks_of(len(y), rng) if grouped else np.arange(len(y))
        result = left_out(rule, X, y, groups)
        labels, scores = refits(rule, X, y, groups)
        assert result.exact
        # Ties of whole votes are decided as the rule decides them.
        clear = np.full(len(y), True) if counts_votes(rule) else far_from_ties(scores)
        assert (np.unique(y)[result.codes] == labels)[clear].all(), f"sample {seed}"
        assert clear.mean() > 0.9
        if with_scores:
            np.testing.assert_allclose(result.scores, scores, atol=1e-7)


SAMPLES = pytest.mark.parametrize(
    "samples", [range(1), pytest.param(range(1, 20), marks=pytest.mark.long)], ids=["one", "nineteen"]
)


@SAMPLES
@pytest.mark.parametrize("name", EXACT)
def test_formula_equals_refits(name, samples):
    check_against_refits(EXACT[name], samples, False, name not in SHARED_VOTES)


@SAMPLES
@pytest.mark.parametrize("name", EXACT)
def test_formula_equals_refits_without_whole_groups(name, samples):
    check_against_refits(EXACT[name], [100 + seed for seed in samples], True, name not in SHARED_VOTES)


@SAMPLES
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("name", MACHINES)
def test_support_vector_machine_equals_refits(name, grouped, samples):
    check_against_refits(MACHINES[name], [200 * grouped + seed for seed in samples], grouped, False)


def test_rows_that_are_no_support_vectors_are_not_refitted():
    X, y, _ = draw(3)
    rule = SVC(gamma=0.02)
    result = left_out(rule, X, y)
    assert result.n_fits == 1 + len(rule.fit(X, y).support_)


def test_votes_of_neighbours_equal_refits_without_ties():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 3
    for rule in (KNeighborsClassifier(4, weights="distance"), scaled(KNeighborsClassifier(5))):
        np.testing.assert_allclose(left_out(rule, X, y).scores, refits(rule, X, y, np.arange(40))[1], atol=1e-12)


def test_neighbours_on_a_grid_are_tied_as_the_rule_ties_them():
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 4, size=(60, 2)).astype(float), rng.integers(0, 3, size=60)
    rule = KNeighborsClassifier(3)
    result = left_out(rule, X, y)
    assert result.n_fits > 0
    np.testing.assert_array_equal(result.codes, refits(rule, X, y, np.arange(60))[0])


@pytest.mark.parametrize(
    "rule",
    [
        LinearDiscriminantAnalysis(),
        scaled(LinearDiscriminantAnalysis()),
        GaussianNB(),
        scaled(KNeighborsClassifier(3)),
        RidgeClassifier(),
        scaled(RidgeClassifier()),
        scaled(NearestCentroid(priors="uniform")),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:self.within_class_std_dev_ has at least 1 zero:UserWarning")
def test_more_features_than_rows_and_constant_features(rule):
    X, y = load_digits(n_class=3, return_X_y=True)
    X, y = X[:45], y[:45]
    result = left_out(rule, X, y)
    labels, scores = refits(rule, X, y, np.arange(45))
    clear = far_from_ties(scores)
    np.testing.assert_array_equal(result.codes[clear], labels[clear])


@pytest.mark.parametrize(
    "rule", [scaled(GaussianNB()), scaled(KNeighborsClassifier(1)), scaled(RidgeClassifier())], ids=str
)
def test_feature_that_is_constant_without_one_row(rule):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    X[:, 1] = 0.1
    X[7, 1] = 3.0
    np.testing.assert_array_equal(left_out(rule, X, y).codes, refits(rule, X, y, np.arange(20))[0])


@pytest.mark.long
@pytest.mark.parametrize("settings", [{"with_mean": False}, {"with_std": False}], ids=str)
@pytest.mark.parametrize("rule", [KNeighborsClassifier(3), SVC(tol=1e-6), GaussianNB()], ids=str)
def test_scaler_that_does_half_of_its_work(rule, settings):
    check_against_refits(scaled(rule, **settings), range(2), False, False)


def test_large_blocks_equal_refits():
    X, y, _ = draw(5)
    groups = np.arange(len(y)) % 4
    for rule in (LinearDiscriminantAnalysis(), GaussianNB(), RidgeClassifier(), scaled(KNeighborsClassifier(3))):
        np.testing.assert_array_equal(np.unique(y)[left_out(rule, X, y, groups).codes], refits(rule, X, y, groups)[0])
