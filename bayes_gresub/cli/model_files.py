"""Trained models from files: skops, which runs no code, or pickle and joblib if the user trusts them."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from bayes_gresub.cli.loaded_trees import check_trees
from bayes_gresub.regions.training import is_fitted

MOST_UNPACKED = 2**32
"""Bytes that a model file may have when it is unpacked."""

SAFE_TYPES = frozenset(
    {
        # Nodes of trees, which `check_trees` looks at before anything is predicted.
        "sklearn.tree._tree.Tree",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        # Written and read as an empty array, without pickle.
        "numpy.dtype",
        # Classes of scikit-learn in Python that hold attributes, and run nothing when they are made.
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.compose._column_transformer._RemainderColsList",
        "sklearn.compose._column_transformer.make_column_selector",
        "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
        "sklearn.metrics._scorer._PassthroughScorer",
        "sklearn.model_selection._split.KFold",
        "sklearn.model_selection._split.StratifiedKFold",
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        "sklearn.utils._bunch.Bunch",
        *(
            f"sklearn._loss.link.{name}"
            for name in ("HalfLogitLink", "IdentityLink", "Interval", "LogLink", "LogitLink", "MultinomialLogit")
        ),
        *(
            f"sklearn._loss.{place}{name}"
            for place in ("loss.", "_loss.Cy")
            for name in ("ExponentialLoss", "HalfBinomialLoss", "HalfMultinomialLoss", "HalfSquaredError")
        ),
    }
)
"""Types in files of skops that run no code of their writer, besides those that skops itself trusts.

Trees, forests, boosting and pipelines with a ColumnTransformer hold no others.
"""


def load_model(path: str | Path, trust: bool = False) -> Any:
    """Return the trained classifier in a file.

    Parameters
    ----------
    path : str or Path
        Written by `skops.io.dump`; or by pickle or joblib.
    trust : bool, default False
        Whether to load files that can run code: pickle and joblib, and skops files with types that are neither
        trusted by skops nor in `SAFE_TYPES`.

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
    kind = type(model).__name__
    if isinstance(model, type) or not hasattr(model, "predict"):
        raise ValueError(f"{file.name} must hold a trained classifier with predict; it holds a {kind}.")
    if hasattr(model, "__sklearn_tags__") and get_tags(model).estimator_type not in ("classifier", None):
        raise ValueError(f"{file.name} must hold a classifier; {kind} predicts no classes. Save a classifier.")
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
        return X.to_numpy(), [_by_position(model, list(X.columns))]
    if lacking := [str(name) for name in names if name not in X.columns]:
        raise ValueError(f"the model was trained on columns that the table lacks: {', '.join(lacking[:8])}.")
    if extra := [str(name) for name in X.columns if name not in set(names)]:
        notes.append(f"Columns that the model was not trained on are left out: {', '.join(extra[:8])}.")
    return X[list(names)], notes


def _by_position(model: Any, columns: list[str]) -> str:
    """Return in words that columns are taken by position, or raise if not even their number is known."""
    n_features = getattr(model, "n_features_in_", None)
    if n_features is None:
        raise ValueError(
            f"the order of the columns must be known; the {type(model).__name__} in the file has neither their names "
            "(feature_names_in_) nor their number (n_features_in_). Train it on a DataFrame, or set one of them."
        )
    if n_features != len(columns):
        raise ValueError(
            f"the model was trained on {n_features} columns without names, and the table has {len(columns)} besides "
            "the target, so which is which cannot be known. Drop the others, or train it on a DataFrame."
        )
    more = f" and {len(columns) - 8} more" if len(columns) > 8 else ""
    return (
        "The model has no column names, so columns are taken by position. They must be in the order of its training: "
        f"{', '.join(columns[:8])}{more}."
    )


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
    with zipfile.ZipFile(file) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > MOST_UNPACKED:
        raise ValueError(
            f"a model file must have at most {MOST_UNPACKED // 2**20:,} MB when unpacked; {file.name} has "
            f"{size // 2**20:,}. Load it in Python, and judge it there."
        )
    try:
        types = io.get_untrusted_types(file=file)
    except Exception as error:  # what a file holds may be anything
        raise ValueError(f"{file.name} cannot be read as a skops file: {_named(error)}.") from error
    unknown = sorted(set(types) - SAFE_TYPES)
    if unknown and not trust:
        raise ValueError(
            f"{file.name} holds types that are not known to be safe: {', '.join(unknown)}. Loading them may "
            "run code of whoever wrote the file; allow it with --trust if that is you."
        )
    try:
        model = io.load(file, trusted=types)
    except Exception as error:  # with --trust code of the file runs, and may raise anything
        raise ValueError(f"{file.name} cannot be read as a skops file: {_named(error)}.") from error
    check_trees(model)
    return model


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
    message = str(error).rstrip(".")
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
