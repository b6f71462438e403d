"""Identical rows are found whatever X is made of, and nothing is found where all rows differ."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from bayes_gresub.data.repeated_rows import identical_rows

ROWS = [[1, 0], [2, 5], [1, 0], [3, 0], [2, 5]]
EXPECTED = [0, 1, 0, 2, 1]

FORMS = {
    "list": ROWS,
    "integers": np.array(ROWS),
    "floats": np.array(ROWS, dtype=float),
    "single precision": np.array(ROWS, dtype=np.float32),
    "unsigned": np.array(ROWS, dtype=np.uint8),
    "images": np.array(ROWS).reshape(5, 1, 2),
    "objects": np.array(ROWS, dtype=object),
    "frame": pd.DataFrame(ROWS, columns=["a", "b"]),
    "mixed frame": pd.DataFrame({"a": [f"x{row[0]}" for row in ROWS], "b": [row[1] for row in ROWS]}),
    "categories": pd.DataFrame({"a": pd.Categorical([row[0] for row in ROWS]), "b": [row[1] for row in ROWS]}),
    "repeated column names": pd.DataFrame([[f"x{a}", b] for a, b in ROWS], columns=["a", "a"]),
    "sparse": sparse.csr_matrix(ROWS),
    "sparse columns": sparse.csc_array(np.array(ROWS)),
    "texts": [f"{a} and {b}" for a, b in ROWS],
    "dicts": [{"a": a, "b": b} for a, b in ROWS],
}


@pytest.mark.parametrize("X", FORMS.values(), ids=FORMS)
def test_identical_rows_have_one_number(X):
    assert identical_rows(X).tolist() == EXPECTED


@pytest.mark.parametrize("form", [name for name in FORMS if name not in ("texts", "dicts", "list")])
def test_nothing_is_found_where_all_rows_differ(form):
    X = FORMS[form]
    assert identical_rows(X.iloc[[0, 1, 3]] if isinstance(X, pd.DataFrame) else X[[0, 1, 3]]) is None


def test_zeros_of_both_signs_are_equal():
    assert identical_rows(np.array([[0.0], [-0.0]])).tolist() == [0, 0]


@pytest.mark.parametrize(
    "X", [np.array([[np.nan], [1.0], [np.nan]]), np.array([[None], [1.0], [np.nan]], dtype=object)]
)
def test_missing_values_are_equal(X):
    assert identical_rows(X).tolist() == [0, 1, 0]


def test_large_whole_numbers_that_one_float_stands_for_differ():
    assert identical_rows(np.array([[2**53], [2**53 + 1]])) is None


def test_stored_zeros_of_a_sparse_matrix_are_zeros():
    stored = sparse.csr_matrix((np.array([0.0, 1.0, 1.0]), ([0, 0, 1], [0, 1, 1])), shape=(2, 2))
    assert identical_rows(stored).tolist() == [0, 0]


def test_rows_that_cannot_be_compared_are_refused_with_a_remedy():
    X = np.empty(2, dtype=object)
    X[:] = [[lambda: 0], [lambda: 1]]
    with pytest.raises(TypeError, match="Use repeated_rows='apart'"):
        identical_rows(X)


@given(
    rows=st.lists(st.tuples(*[st.sampled_from([-1.0, 0.0, 0.5, 1e-300, 1e300, 3.0])] * 3), min_size=1, max_size=30),
    dtype=st.sampled_from([float, object]),
)
@settings(max_examples=100, deadline=None)
def test_numbers_agree_with_comparing_all_pairs(rows, dtype):
    codes = identical_rows(np.array(rows, dtype=dtype).reshape(len(rows), 3))
    codes = np.arange(len(rows)) if codes is None else codes
    for i in range(len(rows)):
        assert [codes[i] == code for code in codes] == [rows[i] == row for row in rows]
