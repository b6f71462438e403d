"""Short descriptions of parametrised objects: what was changed from the defaults."""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator


def describe(estimator: Any, **parts: Any) -> str:
    """Return `Name(part, changed=value)`; `parts` replace parameters of that name by what they became.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> describe(KNeighborsClassifier(3, weights="distance"))
    "KNeighborsClassifier(n_neighbors=3, weights='distance')"
    """
    shown = []
    kind: Any = type(estimator)
    for name, default in _defaults(kind).items():
        value = parts.get(name, getattr(estimator, name))
        if name in ("random_state", "n_jobs") or (value is default) or _same(value, default):
            continue
        if isinstance(value, BaseEstimator):
            shown.append(describe(value) if name in parts else f"{name}={describe(value)}")
        elif isinstance(value, np.ndarray | list | tuple | dict):
            is_short = len(value) <= 5 and not isinstance(value, np.ndarray)
            shown.append(f"{name}={value!r}" if is_short else f"{name}=<{len(value)} values>")
        else:
            shown.append(f"{name}={value!r}")
    return f"{type(estimator).__name__}({', '.join(shown)})"


def name_of(classifier: Any) -> str:
    """Return what a classifier or a rule is called in tables: the steps of a Pipeline, or what was changed in it.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> name_of(make_pipeline(StandardScaler(), SVC()))
    'StandardScaler and SVC'
    """
    steps = getattr(classifier, "steps", None)
    if steps:
        return " and ".join(type(step).__name__ for _, step in steps)
    return describe(classifier) if hasattr(classifier, "get_params") else type(classifier).__name__


_ANY = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


@lru_cache(maxsize=256)
def _defaults(kind: Any) -> dict[str, Any]:
    parameters = inspect.signature(kind.__init__).parameters.values()
    return {p.name: p.default for p in parameters if p.name != "self" and p.kind not in _ANY}


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and not isinstance(value, np.ndarray) and bool(value == default)
