"""Trained models from files: skops, which runs no code, or pickle and joblib if the user trusts them."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from bayes_gresub.regions.training import is_fitted


def load_model(path: str | Path, trust: bool = False) -> Any:
    """Return the trained classifier in a file.

    Parameters
    ----------
    path : str or Path
        Written by `skops.io.dump`; or by pickle or joblib.
    trust : bool, default False
        Whether to load files that can run code: pickle and joblib, and skops files with types that skops
        does not trust.

    Raises
    ------
    FileNotFoundError, ValueError
        With the problem and the remedy.

    Examples
    --------
    >>> import pathlib, pickle, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.pkl"
    >>> _ = path.write_bytes(pickle.dumps({}))
    >>> load_model(path)
    Traceback (most recent call last):
    ValueError: model.pkl is not a skops file. Loading pickle or joblib runs whatever code ...
    """
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(f"there is no model file {str(file)!r}.")
    model = _from_skops(file, trust) if _is_skops(file) else _from_pickle(file, trust)
    if isinstance(model, type) or not hasattr(model, "predict"):
        raise ValueError(f"{file.name} must hold a trained classifier with predict; it holds a {type(model).__name__}.")
    return model


def columns_for(model: Any, X: Any, y: Any) -> tuple[Any, list[str]]:
    """Return the columns of a table that a model was trained on, in its order, and in words the columns left out.

    Parameters
    ----------
    model : fitted classifier
    X : DataFrame
    y : ndarray of shape (n,)
        Labels, which must be classes of the model.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.neighbors import NearestCentroid
    >>> X, y = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 3.0, 2.0]}), [0, 0, 1, 1]
    >>> model = NearestCentroid().fit(X[["b"]], y)
    >>> columns, words = columns_for(model, X, y)
    >>> list(columns), words
    (['b'], ['Columns that the model was not trained on are left out: a.'])
    """
    notes: list[str] = []
    if not is_fitted(model, X[:1]):
        raise ValueError(f"the model must have been trained; the {type(model).__name__} in the file is not trained.")
    known = getattr(model, "classes_", None)
    if known is not None and (new := sorted(set(np.unique(y).tolist()) - set(np.asarray(known).tolist()), key=str)):
        raise ValueError(
            f"all labels must be classes of the model; these are {', '.join(map(str, known))}, and the table has "
            f"{', '.join(map(str, new))} as well. Was it trained on these data, with this target?"
        )
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        wanted = getattr(model, "n_features_in_", X.shape[1])
        if wanted != X.shape[1]:
            raise ValueError(
                f"the model was trained on {wanted} columns, and the table has {X.shape[1]} besides the target. Drop "
                "those that are no classes of it."
            )
        return X.to_numpy(), notes
    if lacking := [str(name) for name in names if name not in X.columns]:
        raise ValueError(f"the model was trained on columns that the table lacks: {', '.join(lacking[:8])}.")
    if extra := [str(name) for name in X.columns if name not in set(names)]:
        notes.append(f"Columns that the model was not trained on are left out: {', '.join(extra[:8])}.")
    return X[list(names)], notes


def _is_skops(file: Path) -> bool:
    if not zipfile.is_zipfile(file):
        return False
    with zipfile.ZipFile(file) as archive:
        return "schema.json" in archive.namelist()


def _from_skops(file: Path, trust: bool) -> Any:
    try:
        from skops import io  # type: ignore[import-untyped]
    except ImportError as error:
        raise ValueError(f"{file.name} is a skops file, which needs skops: pip install skops.") from error
    try:
        unknown = io.get_untrusted_types(file=file)
        if unknown and not trust:
            raise ValueError(
                f"{file.name} holds types that skops does not trust: {', '.join(unknown)}. Loading them may "
                "run code of whoever wrote the file; allow it with --trust if that is you."
            )
        return io.load(file, trusted=unknown)
    except (OSError, KeyError, TypeError, AttributeError, ImportError, zipfile.BadZipFile) as error:
        raise ValueError(f"{file.name} cannot be read as a skops file: {_named(error)}.") from error


def _from_pickle(file: Path, trust: bool) -> Any:
    if not trust:
        raise ValueError(
            f"{file.name} is not a skops file. Loading pickle or joblib runs whatever code its writer put there: save "
            "the model with skops.io.dump(model, 'model.skops'), or allow it with --trust if you wrote the file."
        )
    import joblib

    try:
        return joblib.load(file)
    except Exception as error:  # code in a file may raise anything
        raise ValueError(f"{file.name} cannot be read as pickle or joblib: {_named(error)}.") from error


def _named(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).rstrip('.')}"
