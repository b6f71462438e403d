"""Cases to learn from are reproducible, and their estimates are those of the package."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import bayes_gresub as bg
from benchmarks.learn.cases import one_case

POPULATION = bg.datasets.PaperGaussian()
X, y = POPULATION.sample(50, random_state=0)
X_TRUTH, Y_TRUTH = POPULATION.sample(400, random_state=1)


def case_of(rule, seed=0):
    return one_case(rule, X, y, X_TRUTH, Y_TRUTH, seed)


def without_seconds(case):
    return {name: value for name, value in case.items() if "seconds" not in name}


def test_same_seed_gives_the_same_case():
    rule = DecisionTreeClassifier(random_state=0)
    assert without_seconds(case_of(rule)) == without_seconds(case_of(rule))


def test_errors_at_the_truth_are_counted():
    case = case_of(KNeighborsClassifier(3))
    assert case["n_wrong"] == np.sum(KNeighborsClassifier(3).fit(X, y).predict(X_TRUTH) != Y_TRUTH)
    assert (case["n"], case["n_truth"]) == (50, 400)


def test_estimates_are_those_of_the_package():
    case = case_of(KNeighborsClassifier(3), seed=4)
    classifier = KNeighborsClassifier(3).fit(X, y)
    refitted = bg.Bootstrap(n_resamples=10, random_state=4).errors(
        KNeighborsClassifier(3), X, y, ["zero", "632+"], classifier=classifier
    )
    assert case["clues"]["zero"] == pytest.approx(float(refitted["zero"]), abs=1e-12)
    assert case["clues"]["plus"] == pytest.approx(float(refitted["632+"]), abs=1e-12)
    assert case["clues"]["own_error"] == pytest.approx(
        float(bg.LeaveOneOut().error(KNeighborsClassifier(3), X, y)), abs=1e-12
    )
