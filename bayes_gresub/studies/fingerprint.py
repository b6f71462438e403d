"""What an object is, in plain data: so that a run folder can tell whether it was made by the same design."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any

import joblib
import numpy as np
from sklearn.base import BaseEstimator

Plain = Any
"""None, bool, int, float, str, and lists and dicts of these."""


def plain(thing: Any) -> Plain:
    """Return an object as data that JSON can hold; two objects that would act alike give the same.

    Estimators and dataclasses become their type and parameters, arrays and functions a digest.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> plain(KNeighborsClassifier(3))["n_neighbors"]
    3
    """
    if thing is None or isinstance(thing, bool | int | str):
        return thing
    if isinstance(thing, np.generic):
        return plain(thing.item())
    if isinstance(thing, float):
        return thing if np.isfinite(thing) else str(thing)
    if isinstance(thing, np.ndarray) and thing.dtype.kind in "biufU":
        content = hashlib.sha256(np.ascontiguousarray(thing).tobytes()).hexdigest()[:16]
        return {"array": content, "shape": list(thing.shape), "dtype": thing.dtype.str}
    if isinstance(thing, list | tuple):
        return [plain(one) for one in thing]
    if isinstance(thing, Mapping):
        return {str(key): plain(thing[key]) for key in sorted(thing, key=str)}
    if isinstance(thing, np.random.SeedSequence):
        return {"type": "SeedSequence", "entropy": str(thing.entropy), "spawn_key": list(thing.spawn_key)}
    if isinstance(thing, type):
        return _path(thing)
    if isinstance(thing, BaseEstimator) or (hasattr(thing, "get_params") and hasattr(thing, "fit")):
        return {"type": _path(type(thing)), **plain(thing.get_params(deep=False))}
    if dataclasses.is_dataclass(thing):
        values = {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)}
        return {"type": _path(type(thing)), **plain(values)}
    if hasattr(thing, "get_params"):
        return {"type": _path(type(thing)), **plain(thing.get_params())}
    if hasattr(thing, "__code__"):
        content = hashlib.sha256(thing.__code__.co_code + repr(thing.__code__.co_consts).encode()).hexdigest()[:16]
        return {"function": _path(thing), "code": content}
    return {"type": _path(type(thing)), "content": joblib.hash(thing)}


def digest(data: Plain) -> str:
    """Return a digest of plain data."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


def differences(before: Plain, now: Plain, where: str = "") -> list[str]:
    """Return in words what differs between two pieces of plain data."""
    if isinstance(before, dict) and isinstance(now, dict):
        found = []
        for key in sorted({*before, *now}):
            inside = f"{where}.{key}" if where else key
            if key not in before or key not in now:
                found.append(f"{inside} is {'new' if key in now else 'gone'}")
            else:
                found += differences(before[key], now[key], inside)
        return found
    return [] if before == now else [f"{where} was {_short(before)}, is {_short(now)}"]


def words(data: Plain) -> str:
    """Return the plain data of an object in one line.

    Examples
    --------
    >>> words({"type": "somewhere.Thing", "size": 3})
    'Thing(size=3)'
    """
    inside = ", ".join(f"{name}={value}" for name, value in data.items() if name != "type")
    return f"{str(data.get('type', '')).rpartition('.')[2]}({inside})"


def _short(data: Plain) -> str:
    text = json.dumps(data)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _path(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"
