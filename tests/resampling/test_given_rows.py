"""Rules are handed the rows of X as they were given, and what they prepare themselves is not refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import bayes_gresub as bg


def sample(n=48):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 3)) + 0.8 * y[:, None], y


def with_holes():
    X, y = sample()
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    return X, y


def mixed_frame():
    X, y = sample()
    rng = np.random.default_rng(2)
    words = np.where(y + rng.normal(size=len(y)) > 0.5, "high", "low")
    return pd.DataFrame({"size": X[:, 0], "count": rng.integers(0, 3, len(y)), "word": words}), y


def by_type():
    """Columns are told apart by their types, which must therefore arrive as they were."""
    whole = make_column_selector(dtype_include="int64")
    parts = [("words", OneHotEncoder(), ["word"]), ("counts", StandardScaler(), whole)]
    return make_pipeline(ColumnTransformer(parts), LinearDiscriminantAnalysis())


def texts():
    _, y = sample()
    rng = np.random.default_rng(3)
    return ["good day" if label != (rng.random() < 0.2) else "bad day" for label in y], y


CASES = {
    "missing values": (make_pipeline(SimpleImputer(), LinearDiscriminantAnalysis()), with_holes),
    "missing values in a search": (
        GridSearchCV(make_pipeline(SimpleImputer(), LogisticRegression()), {"logisticregression__C": [0.1, 1.0]}, cv=2),
        with_holes,
    ),
    "missing values of an estimator that takes them": (
        HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5, random_state=0),
        with_holes,
    ),
    "columns of several types": (by_type(), mixed_frame),
    "texts": (make_pipeline(CountVectorizer(), LogisticRegression()), texts),
    "sparse": (LogisticRegression(), lambda: (sparse.csr_matrix(sample()[0]), sample()[1])),
}
every_case = pytest.mark.parametrize("case", CASES)


@every_case
def test_cross_validation_is_that_of_scikit_learn(case):
    rule, data = CASES[case]
    X, y = data()
    # There are two different texts only, too few to be kept together.
    resampler = bg.CrossValidation(4, repeated_rows="apart", random_state=0)
    estimate = resampler.error(rule, X, y)
    expected = 1 - cross_val_score(rule, X, y, cv=resampler.indices_).mean()
    assert estimate.value == pytest.approx(expected, abs=1e-12)


@every_case
def test_bootstrap_takes_what_the_rule_takes(case):
    rule, data = CASES[case]
    resampler = bg.Bootstrap("632+", 5, repeated_rows="apart", random_state=0)
    assert 0 < resampler.error(rule, *data()).value < 0.7


def test_rule_that_does_not_prepare_missing_values_is_refused_as_in_a_measure():
    with pytest.raises(ValueError, match=r"X must be finite; got .* in a step of its Pipeline"):
        bg.CrossValidation(4).error(LinearDiscriminantAnalysis(), *with_holes())


def test_smoothed_measure_needs_numbers_whatever_the_rule_takes():
    rule, data = CASES["missing values"]
    with pytest.raises(ValueError, match="X must be finite"):
        bg.CrossValidation(4, measure=bg.Bolstered()).error(rule, *data())


def test_compare_has_a_message_where_a_measure_cannot_use_what_the_rule_can():
    rule, data = CASES["missing values of an estimator that takes them"]
    table = bg.compare(rule, *data(), ["bolstered", "cv"], random_state=0)
    assert [row.message[:30] for row in table.rows] == ["ValueError: X must be finite; ", ""]
