"""Identical rows: which rows of X equal each other in all features. What follows from that is decided elsewhere."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import pairwise
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayes_gresub.data.arrays import Ints

_CHUNK_ELEMENTS = 2_000_000
"""Numbers that are hashed at a time."""


def identical_rows(X: Any) -> Ints | None:
    """Return a number for each row of X, the same for rows whose features are all equal; None if all rows differ.

    Labels play no part. Two missing values count as equal, and so do 0.0 and -0.0. Rows of numbers are compared by a
    hash first, so if no two hashes agree, no rows are compared; rows whose hashes agree are compared byte by byte.

    Parameters
    ----------
    X : array-like of shape (n, ...), DataFrame, sparse matrix, or a sequence of texts

    Returns
    -------
    ndarray of shape (n,) or None
        Numbers from 0, in the order in which different rows first appear.

    Examples
    --------
    >>> identical_rows([[1, 2], [3, 4], [1, 2]]).tolist()
    [0, 1, 0]
    >>> identical_rows([["a", 1.5], ["a", 2.5]]) is None
    True
    """
    if sparse.issparse(X):
        return _numbered(_sparse_keys(X))
    array = _columns_as_codes(X) if hasattr(X, "columns") and hasattr(X, "dtypes") else np.asarray(X)
    if array.dtype.kind not in "biuf":
        return _numbered(map(_key, array))
    rows = array.reshape(len(array), -1)
    hashes = _hashes(rows)
    _, inverse, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    alike = np.flatnonzero(counts[inverse] > 1)
    if len(alike) == 0:
        return None
    # Rows whose hash is unique differ from all others; only the rest are compared in full.
    names = np.arange(len(rows))
    whole = np.ascontiguousarray(_as_words(rows[alike]))
    keys = whole.view(np.dtype((np.void, whole.dtype.itemsize * whole.shape[1]))).ravel()
    _, first, same = np.unique(keys, return_index=True, return_inverse=True)
    names[alike] = alike[first][same.ravel()]
    return _in_order(names)


def _columns_as_codes(frame: Any) -> NDArray[Any]:
    """Return the columns of a DataFrame as numbers: as they are if all are numbers, otherwise codes of their values."""
    import pandas as pd

    if all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in frame.dtypes):
        return np.asarray(frame.to_numpy())
    columns = [frame.iloc[:, number] for number in range(frame.shape[1])]
    return np.column_stack([pd.factorize(column, use_na_sentinel=False)[0] for column in columns])


def _as_words(rows: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as 64-bit words that are equal if and only if the numbers are."""
    if rows.dtype.kind != "f":
        return rows.astype(np.int64 if rows.dtype.kind != "u" else np.uint64).view(np.uint64)
    values = rows.astype(np.float64) + 0.0  # -0.0 becomes 0.0
    values[np.isnan(values)] = np.nan  # all NaN get the same bits
    return values.view(np.uint64)


def _hashes(rows: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a hash of each row: a sum of its words, mixed and multiplied by fixed odd numbers, modulo 2^64."""
    n, d = rows.shape
    factors = np.random.default_rng(0).integers(2**63, size=d, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    hashes = np.empty(n, dtype=np.uint64)
    step = max(1, _CHUNK_ELEMENTS // max(1, d))
    for start in range(0, n, step):
        words = _as_words(rows[start : start + step])
        # Small whole numbers differ in the upper bits of a float only, which a product with an odd number keeps there.
        words = words ^ (words >> np.uint64(32))
        hashes[start : start + step] = (words * factors).sum(axis=1, dtype=np.uint64)
    return hashes


def _sparse_keys(X: Any) -> Iterable[Hashable]:
    rows = sparse.csr_array(X).copy()
    rows.sum_duplicates()
    rows.eliminate_zeros()
    for first, last in pairwise(rows.indptr):
        yield rows.indices[first:last].tobytes(), rows.data[first:last].tobytes()


def _key(row: Any) -> Hashable:
    """Return what equals that of another row if and only if the rows are equal."""
    values = tuple(np.ravel(row).tolist()) if isinstance(row, np.ndarray) else row
    try:
        hash(values)
        return tuple(map(_comparable, values)) if isinstance(values, tuple) else _comparable(values)
    except TypeError:
        pass
    try:
        return str(joblib.hash(row))
    except Exception as error:  # objects that cannot be pickled fail in many ways
        raise TypeError(
            f"rows of X must be comparable to find identical ones; got objects of type {type(row).__name__}. Use "
            "repeated_rows='apart'."
        ) from error


def _comparable(value: Any) -> Hashable:
    """Return a value by which missing ones are equal, whatever object stands for them, and 1 differs from True."""
    missing = value is None or value != value
    return None if missing is True else (type(value) is bool, value)


def _numbered(keys: Iterable[Hashable]) -> Ints | None:
    seen: dict[Hashable, int] = {}
    codes = np.array([seen.setdefault(key, len(seen)) for key in keys], dtype=np.intp)
    return codes if len(seen) < len(codes) else None


def _in_order(names: Ints) -> Ints | None:
    """Return names as numbers from 0 in the order of their first appearance; None if all differ."""
    _, first, inverse = np.unique(names, return_index=True, return_inverse=True)
    if len(first) == len(names):
        return None
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]
