"""Short descriptions of estimators: the parameters that differ from their defaults."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

_PARTS = ("kernel", "posterior", "model")
"""Parameters that are shown without their names."""

_UNSHOWN = ("random_state", "n_jobs")


@dataclass(frozen=True, eq=False)
class Description:
    """An estimator as `Name(part, changed=value)`; the text is built only when it is needed.

    Attributes
    ----------
    kind : type
    parameters : mapping
        Of its constructor; a part that the estimator chose itself may be given as its type.
    suffix : str
    """

    kind: Any
    parameters: Mapping[str, Any]
    suffix: str = ""

    def __str__(self) -> str:
        arguments = []
        for name, default in _defaults(self.kind).items():
            value = self.parameters[name]
            if name in _UNSHOWN or value is default or _is_same(value, default):
                continue
            text = _format_value(value)
            arguments.append(text if name in _PARTS else f"{name}={text}")
        return f"{self.kind.__name__}({', '.join(arguments)}){self.suffix}"


def describe(estimator: Any, **parts: Any) -> str:
    """Return `Name(part, changed=value)`; `parts` replaces parameters of these names by the values used.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> describe(KNeighborsClassifier(3, weights="distance"))
    "KNeighborsClassifier(n_neighbors=3, weights='distance')"
    """
    kind: Any = type(estimator)
    # Some libraries keep parameters elsewhere than in attributes, or list some that they do not have.
    try:
        given = estimator.get_params(deep=False)
    except (AttributeError, RuntimeError, TypeError):
        given = {}
    values = {name: given.get(name, getattr(estimator, name, value)) for name, value in _defaults(kind).items()}
    return str(Description(kind, values | parts))


def _format_value(value: Any) -> str:
    if isinstance(value, type):
        return f"{value.__name__}()"
    if isinstance(value, BaseEstimator):
        return describe(value)
    if isinstance(value, np.ndarray) or (isinstance(value, list | tuple | dict) and len(value) > 5):
        return f"<{len(value)} values>"
    return repr(value)


def name_of(classifier: Any) -> str:
    """Return the name of a classifier or rule in tables: the steps of a Pipeline, or its changed parameters.

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


_VARIADIC = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


@lru_cache(maxsize=256)
def _defaults(kind: Any) -> dict[str, Any]:
    parameters = inspect.signature(kind.__init__).parameters.values()
    return {p.name: p.default for p in parameters if p.name != "self" and p.kind not in _VARIADIC}


def _is_same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and not isinstance(value, np.ndarray) and bool(value == default)
