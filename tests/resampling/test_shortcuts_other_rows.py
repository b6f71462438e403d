"""Shortcuts of trained classifiers hold for the rows of their training only; and refuse what scikit-learn refuses."""

import re

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import bayes_gresub as bg
from bayes_gresub.resampling.shortcuts import NoShortcutError, left_out, span

N = 60
SHUFFLED = np.random.default_rng(1).permutation(N)


def classes(n_classes):
    rng = np.random.default_rng(0)
    y = np.arange(N) % n_classes
    return rng.normal(size=(N, 4)) + rng.normal(size=(n_classes, 4))[y], y


ENSEMBLES = {
    "forest": RandomForestClassifier(20, random_state=0),
    "balanced forest of half the rows": RandomForestClassifier(
        20, max_samples=0.5, class_weight="balanced_subsample", random_state=0
    ),
    "extra trees": ExtraTreesClassifier(20, bootstrap=True, random_state=0),
    "bag of trees": BaggingClassifier(random_state=0),
    "bag of machines": BaggingClassifier(SVC(), max_features=0.5, random_state=0),
    "bag of logistic rules": BaggingClassifier(LogisticRegression(), random_state=0),
    "bag of neighbours": BaggingClassifier(KNeighborsClassifier(), random_state=0),
    "bag of discriminants": BaggingClassifier(LinearDiscriminantAnalysis(), random_state=0),
}
MACHINES = {"machine": SVC(), "line": SVC(kernel="linear"), "scaled machine": make_pipeline(StandardScaler(), SVC())}


@pytest.mark.parametrize("name", [*ENSEMBLES, *MACHINES])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_in_another_order_are_refused(name, n_classes):
    X, y = classes(n_classes)
    classifier = clone({**ENSEMBLES, **MACHINES}[name]).fit(X, y)
    assert len(left_out(classifier, X, y, approximate=True).codes) == N
    for rows in (SHUFFLED, np.arange(40), np.r_[np.arange(N), 0]):
        with pytest.raises(NoShortcutError, match="trained on other rows, or on these in another order"):
            left_out(classifier, X[rows], y[rows], approximate=True)


@pytest.mark.parametrize("name", ENSEMBLES)
def test_out_of_bag_refuses_rows_in_another_order(name):
    X, y = classes(2)
    classifier = clone(ENSEMBLES[name]).fit(X, y)
    with pytest.raises(ValueError, match="Pass the 60 rows in the order of the fit, or leave classifier out"):
        bg.OutOfBag().error(ENSEMBLES[name], X[SHUFFLED], y[SHUFFLED], classifier=classifier)


def test_neighbours_of_fewer_rows_are_refused():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2100, 2)), np.arange(2100) % 2
    with pytest.raises(NoShortcutError, match="trained on other rows"):
        left_out(KNeighborsClassifier().fit(X[:-1], y[:-1]), X, y, approximate=True)


def test_machine_trained_on_sparse_rows_is_the_same():
    X, y = classes(3)
    dense, sparse = (left_out(SVC().fit(rows, y), X, y, approximate=True) for rows in (X, csr_array(X)))
    np.testing.assert_allclose(dense.scores, sparse.scores, atol=1e-8)


def test_more_pairs_of_rows_than_are_held_are_refused(monkeypatch):
    monkeypatch.setattr(span, "_MOST_ROWS", N - 1)
    X, y = classes(2)
    with pytest.raises(NoShortcutError, match="holds all pairs of at most 59 rows; got 60"):
        left_out(SVC().fit(X, y), X, y, approximate=True)


REFUSED_SETTINGS = [
    SVC(class_weight="balance"),
    SVC(class_weight={0: 5, 7: 2}),
    SVC(gamma="foo"),
    RidgeClassifier(class_weight={0: 5, 7: 2}),
    RidgeClassifier(alpha=-1.0),
    GaussianNB(priors=[0.3, 0.9]),
    GaussianNB(priors=[0.2, 0.3, 0.5]),
    NearestCentroid(priors="foo"),
    LinearDiscriminantAnalysis(priors=[-0.5, 1.5]),
    LinearDiscriminantAnalysis(n_components=5),
    KNeighborsClassifier(2.7),
    KNeighborsClassifier(0),
]


@pytest.mark.parametrize("rule", REFUSED_SETTINGS, ids=repr)
def test_what_scikit_learn_refuses_is_refused_in_its_words(rule):
    X, y = classes(2)
    with pytest.raises(ValueError, match=r"\S") as by_refits:
        clone(rule).fit(X, y)
    with pytest.raises(ValueError, match=re.escape(str(by_refits.value))):
        bg.LeaveOneOut(shortcut=True).error(rule, X, y)


@pytest.mark.parametrize(
    "rule",
    [RidgeClassifier(alpha=0), RidgeClassifier(alpha=[1.0]), KNeighborsClassifier(metric="braycurtis")],
    ids=repr,
)
def test_settings_whose_refits_depend_on_rounding_are_refused(rule):
    X, y = classes(2)
    with pytest.raises(NoShortcutError, match=r"Use LeaveOneOut\(\)"):
        bg.LeaveOneOut(shortcut=True).error(rule, X, y)


def test_distances_that_are_not_defined_are_refused():
    X, y = classes(2)
    with pytest.raises(NoShortcutError, match="metric='correlation' at these rows"):
        bg.LeaveOneOut(shortcut=True).error(KNeighborsClassifier(metric="correlation"), X[:, :1], y)


def test_least_squares_drop_a_small_feature_as_refits_do():
    rng = np.random.default_rng(59)
    y = np.arange(N) % 2
    X = rng.normal(size=(N, 2)) * [1e-5, 1e4]
    X[:, 0] += 1.5e-5 * y
    rule = LinearDiscriminantAnalysis(solver="lsqr")
    by_formula, by_refits = (float(bg.LeaveOneOut(shortcut=way).error(rule, X, y)) for way in (True, False))
    assert by_formula == pytest.approx(by_refits)


def test_nothing_is_refitted_for_ties_if_an_approximation_will_do():
    rng = np.random.default_rng(0)
    X, y = rng.integers(3, size=(200, 3)).astype(float), np.arange(200) % 2
    groups = np.unique(X, axis=0, return_inverse=True)[1]
    exact, quick = (left_out(KNeighborsClassifier(5), X, y, groups, approximate=way) for way in (False, True))
    assert exact.n_fits > 0
    assert (quick.n_fits, quick.exact) == (0, False)
    assert np.mean(exact.codes != y) == pytest.approx(np.mean(quick.codes != y), abs=0.1)
