"""Labels as pandas has them give every registered estimator the numbers that codes give."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import bayes_gresub as bg

pytestmark = [
    pytest.mark.filterwarnings("ignore:the chains:UserWarning"),  # kept short here on purpose
    pytest.mark.filterwarnings("ignore:kappa reached max_kappa:UserWarning"),
]

NAMES = ["ant", "bee"]
# Labels in the order of the codes 0 and 1.
DTYPES = {
    "object": lambda y: pd.Series([NAMES[code] for code in y], dtype=object),
    "string": lambda y: pd.Series([NAMES[code] for code in y], dtype="string"),
    "category": lambda y: pd.Series([NAMES[code] for code in y], dtype="category"),
    "ordered category": lambda y: pd.Series(pd.Categorical.from_codes(y, NAMES, ordered=True)),
    "bool": lambda y: pd.Series(y == 1),
    "nullable bool": lambda y: pd.Series(y == 1, dtype="boolean"),
    "nullable integer": lambda y: pd.Series(3 + y, dtype="Int64"),
}
ENTRIES = {entry.name: entry for entry in bg.estimators()}
SHORT = {"draws": 30, "tune": 9, "chains": 2, "folds": 4, "n_resamples": 7, "repeats": 2, "max_kappa": 2.0, "step": 1.0}
# One of each kind sees every dtype in `make test`, the others the one that a CSV gives; `make test-long` tries all.
IN_FULL = ("bolstered", "bolstered-3nn-pp", "bayesian", "cv", "calibrated-bolstered")
PAIRS = [
    pytest.param(name, dtype, marks=() if name in IN_FULL or dtype == "object" else pytest.mark.long)
    for name in ENTRIES
    for dtype in DTYPES
]


@functools.cache
def sample(n=24, d=3):
    rng = np.random.default_rng(0)
    y = (np.arange(n) % 5 > 2).astype(int)
    return pd.DataFrame(rng.normal(size=(n, d)) + 1.5 * y[:, None]), y


def estimated(name, rule, X, y):
    """Return the estimate of a rule by a registered estimator with few draws and refits."""
    default = ENTRIES[name].make().get_params(deep=False)
    made = ENTRIES[name].make(random_state=0, **{key: value for key, value in SHORT.items() if key in default})
    if name == "gp-pp":
        made.set_params(posterior=bg.GaussianProcess(lengthscale=2.0, amplitude=4.0))
    return made.error(rule, X, y) if ENTRIES[name].kind == "resampler" else made.fit(X, y).error(rule.fit(X, y))


def tree():
    return DecisionTreeClassifier(max_depth=3, random_state=0)


@functools.cache
def of_codes(name):
    return estimated(name, tree(), *sample())


@pytest.mark.parametrize(("name", "dtype"), PAIRS)
def test_numbers_are_those_of_codes(name, dtype):
    X, codes = sample()
    expected, estimate = of_codes(name), estimated(name, tree(), X, DTYPES[dtype](codes))
    assert estimate.value == pytest.approx(expected.value, abs=1e-12)
    np.testing.assert_allclose(estimate.replicate_values, expected.replicate_values, atol=1e-12)
    if expected.replicate_confusions is not None:
        np.testing.assert_allclose(estimate.confusion, expected.confusion, atol=1e-12)


@pytest.mark.parametrize(("name", "dtype"), PAIRS)
def test_estimate_names_the_labels_and_survives_json(name, dtype):
    X, codes = sample()
    y = DTYPES[dtype](codes)
    estimate = estimated(name, GaussianNB(), X, y)
    assert estimate.classes.tolist() == sorted(set(y.tolist()))
    again = bg.ErrorEstimate.from_json(estimate.to_json())
    assert again.classes.tolist() == estimate.classes.tolist()
    assert repr(again) == repr(estimate)


@pytest.mark.parametrize("dtype", DTYPES)
def test_fewer_points_than_features_warn_with_the_label(dtype):
    X, codes = sample(10, 6)
    y = DTYPES[dtype](codes)
    rare = sorted(set(y.tolist()))[1]
    with pytest.warns(UserWarning, match=f"class {rare!r} has 4 points for a covariance matrix of 6 features"):
        bg.Bayesian(draws=20, chains=2, random_state=0).fit(X, y)


@pytest.mark.parametrize("dtype", DTYPES)
def test_check_and_inference_data_name_the_labels(dtype):
    X, codes = sample(60)
    y = DTYPES[dtype](codes)
    measure = bg.Bayesian(draws=40, chains=2, random_state=0).fit(X, y)
    handed = measure.error(LinearDiscriminantAnalysis().fit(X, y)).to_inference_data()
    assert handed.posterior["class"].values.tolist() == sorted(set(y.tolist()))
    assert str(measure.check())


@pytest.mark.parametrize("dtype", DTYPES)
def test_comparison_takes_them(dtype):
    X, codes = sample()
    y = DTYPES[dtype](codes)
    table = bg.compare(LinearDiscriminantAnalysis(), X, y, estimators=["resub", "cv"], progress=False, random_state=0)
    expected = bg.compare(
        LinearDiscriminantAnalysis(), X, codes, estimators=["resub", "cv"], progress=False, random_state=0
    )
    pd.testing.assert_series_equal(table.to_frame()["estimate"], expected.to_frame()["estimate"])


@pytest.mark.parametrize("dtype", ["object", "string", "category", "nullable bool", "nullable integer"])
def test_missing_labels_are_refused_with_the_remedy(dtype):
    X, codes = sample()
    y = DTYPES[dtype](codes)
    y[3] = None
    with pytest.raises(ValueError, match="must not hold missing, NaN or infinite labels"):
        bg.Bolstered().fit(X, y)
