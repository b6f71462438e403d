"""Rescaling a column by a thousand, as when metres become millimetres."""

from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import bayes_gresub as bg

DEFAULTS = [
    pytest.param(entry, id=entry.name, marks=pytest.mark.long if entry.name == "bayesian-shared" else ())
    for entry in bg.estimators("measure")
    if not entry.name.startswith("paper-")
]
RULES = {
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(tol=1e-10)),
    "rbf": make_pipeline(StandardScaler(), SVC(tol=1e-9)),
    "3nn": make_pipeline(StandardScaler(), KNeighborsClassifier(3)),
    "tree": DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
}


@cache
def sample(factors):
    """Return points whose first columns are multiplied."""
    X, y = bg.datasets.PaperGaussian().sample(50, random_state=4)
    return X * np.pad(factors, (0, X.shape[1] - len(factors)), constant_values=1.0), y


@cache
def measured(entry, factors):
    return entry.make(random_state=0).fit(*sample(factors))


@cache
def estimated(entry, rule, factors):
    return measured(entry, factors).error(clone(RULES[rule]).fit(*sample(factors)))


@pytest.mark.parametrize("column", [0, *(pytest.param(column, marks=pytest.mark.long) for column in (1, 2))])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("entry", DEFAULTS)
def test_rescaling_a_column_by_a_thousand_changes_no_default_estimate(entry, rule, column):
    """Exact estimates agree to 1e-6 (trees compare in single precision), sampled ones within 4.5 standard errors.

    The same seed gives nearly the same points, so that the bound on sampled estimates is generous.
    """
    factors = tuple(1e3 if other == column else 1.0 for other in range(3))
    before, after = estimated(entry, rule, (1.0, 1.0, 1.0)), estimated(entry, rule, factors)
    allowed = 4.5 * np.hypot(before.std_error, after.std_error)
    assert after.value == pytest.approx(before.value, abs=max(1e-6, allowed))
