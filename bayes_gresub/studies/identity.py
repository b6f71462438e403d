"""Objects as plain data, by which a run folder is compared with a design."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import sys
import threading
from collections.abc import Mapping
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

import joblib
import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from bayes_gresub.studies.code_identity import code_of, is_installed

_LONG = 50
"""Lists longer than this are compared by a digest."""

_UNLEARNED = ("cv_results_", "refit_time_")
"""Attributes of fitted searches that hold times; they predict nothing."""

_UNDER_WAY = threading.local()
"""The objects that are being described, by their ids, outermost first."""

Plain = Any
"""None, bool, int, float, str, and lists and dicts of these."""


def plain(thing: Any) -> Plain:
    """Return an object as data that JSON can hold; two objects that would act alike give the same.

    Estimators and dataclasses become their type and parameters, with a digest of their code unless it is installed, and
    what they have learned; arrays and functions become a digest.

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
        inside = [plain(item) for item in thing]
        return inside if len(thing) <= _LONG else {"list": digest(inside), "length": len(thing)}
    if isinstance(thing, set | frozenset):
        return {"set": sorted(json.dumps(plain(item), sort_keys=True) for item in thing)}
    if isinstance(thing, Mapping):
        return {str(key): plain(thing[key]) for key in sorted(thing, key=str)}
    # An object that holds itself is named by how far above it is.
    above: list[int] = _UNDER_WAY.__dict__.setdefault("above", [])
    if id(thing) in above:
        return {"above": len(above) - above.index(id(thing))}
    above.append(id(thing))
    try:
        return _described(thing)
    finally:
        above.pop()


def _described(thing: Any) -> Plain:
    """Return anything but numbers, text and collections as plain data."""
    if isinstance(thing, np.random.SeedSequence):
        return {"type": "SeedSequence", "entropy": str(thing.entropy), "spawn_key": list(thing.spawn_key)}
    if isinstance(thing, type):
        code = _code(thing)
        return {"class": _path(thing), **code} if code else _path(thing)
    if isinstance(thing, BaseEstimator) or (hasattr(thing, "get_params") and hasattr(thing, "fit")):
        parameters = thing.get_params(deep=False)
        return {**_kind(thing), **plain(parameters), **_learned(thing, parameters)}
    if dataclasses.is_dataclass(thing):
        values = {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)}
        return {**_kind(thing), **plain(values)}
    if hasattr(thing, "get_params"):
        return {**_kind(thing), **plain(thing.get_params())}
    if isinstance(thing, FunctionType | MethodType | CodeType | partial):
        return _function(thing)
    if sparse.issparse(thing):
        matrix: Any = thing
        rows = matrix.tocsr(copy=True)
        rows.sum_duplicates()
        return {"sparse": [plain(part) for part in (rows.data, rows.indices, rows.indptr)], "shape": list(rows.shape)}
    if hasattr(thing, "columns") and hasattr(thing, "dtypes"):
        return _frame(thing)
    if hasattr(thing, "__module__") and hasattr(thing, "__qualname__"):
        code = _code(thing)
        return {"function": _path(thing), **code} if code else _path(thing)
    if (torch := sys.modules.get("torch")) is not None:
        if isinstance(thing, torch.nn.Module):
            return _module(thing)
        if isinstance(thing, torch.Tensor):
            numbers = thing.detach().cpu().reshape(-1).view(torch.uint8).numpy()
            return {"tensor": plain(numbers)["array"], "shape": list(thing.shape), "dtype": str(thing.dtype)}
    kind: Any = type(thing)
    if not is_installed(kind) and hasattr(thing, "__dict__") and kind.__reduce__ is object.__reduce__:
        # What an object leaves out when it is packed is no part of it.
        own_state = kind.__getstate__ is not object.__getstate__
        return {**_kind(thing), "state": plain(thing.__getstate__() if own_state else vars(thing))}
    try:
        return {**_kind(thing), "content": joblib.hash(thing)}
    except Exception as error:
        raise TypeError(
            f"a study must be able to write its parts as plain data; it cannot for a {type(thing).__name__} ({error}). "
            "Make it a dataclass, or give it get_params."
        ) from error


def _kind(thing: Any) -> dict[str, Plain]:
    """Return the type of an object, and a digest of its code unless it is installed."""
    return {"type": _path(type(thing)), **_code(type(thing))}


def _code(thing: Any) -> dict[str, Plain]:
    code = code_of(thing, plain)
    return {"code": digest(code)} if code else {}


def _learned(thing: Any, parameters: Mapping[str, Any]) -> dict[str, Plain]:
    """Return what an estimator has learned; nothing for one that `clone` has made."""
    state = {name: value for name, value in vars(thing).items() if name not in parameters and name not in _UNLEARNED}
    return {"learned": digest(plain(state))} if state else {}


def _module(thing: Any) -> Plain:
    """Return a torch module by its tensors, its settings and the modules in it."""
    tensors = {**thing._parameters, **thing._buffers}
    settings = {name: value for name, value in vars(thing).items() if name[0] != "_" and name != "training"}
    return {**_kind(thing), **plain({"tensors": tensors, "settings": settings, "modules": thing._modules})}


def _function(thing: Any) -> Plain:
    """Return all that decides what a function does, as far as it can be seen."""
    if isinstance(thing, partial):
        return {"partial": plain(thing.func), "args": plain(thing.args), "keywords": plain(thing.keywords)}
    if isinstance(thing, MethodType):
        return {"method": thing.__func__.__qualname__, "of": plain(thing.__self__)}
    if isinstance(thing, CodeType):
        return [hashlib.sha256(thing.co_code).hexdigest()[:16], list(thing.co_names), plain(thing.co_consts)]
    cells = [cell.cell_contents for cell in thing.__closure__ or ()]
    # One that calls itself holds itself.
    closure = [plain(cell) for cell in cells if cell is not thing]
    code = digest([plain(thing.__code__), plain(thing.__defaults__), plain(thing.__kwdefaults__), closure])
    called = code_of(thing, plain)
    # A function that calls nothing of the user's is as folders of the first format have it.
    bodies = [body for group in called.values() for body in group]
    if len(bodies) < 2 and not any(body["constants"] for body in bodies):
        return {"function": _path(thing), "code": code}
    return {"function": _path(thing), "code": code, "calls": digest(called)}


def _frame(thing: Any) -> Plain:
    from pandas.util import hash_pandas_object

    content = hashlib.sha256(hash_pandas_object(thing).to_numpy().tobytes()).hexdigest()[:16]
    columns = [[str(name), str(kind)] for name, kind in zip(thing.columns, thing.dtypes, strict=True)]
    return {"frame": content, "rows": len(thing), "columns": plain(columns)}


def digest(data: Plain) -> str:
    """Return a digest of plain data."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


def differences(before: Plain, now: Plain, where: str = "") -> list[str]:
    """Return in words the differences between two pieces of plain data."""
    if isinstance(before, dict) and isinstance(now, dict):
        lines = []
        if before.get("type") != now.get("type"):
            # Parameters of another type cannot be compared.
            return [f"{where}.type was {_short(before.get('type'))}, is {_short(now.get('type'))}"]
        for key in sorted({*before, *now}):
            inside = f"{where}.{key}" if where else key
            if key not in before or key not in now:
                lines.append(f"{inside} is {'new' if key in now else 'gone'}")
            else:
                lines += differences(before[key], now[key], inside)
        return lines
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        pairs = enumerate(zip(before, now, strict=True))
        return [line for place, (old, new) in pairs for line in _inside(old, new, where, place)]
    return [] if json.dumps(before) == json.dumps(now) else [f"{where} was {_short(before)}, is {_short(now)}"]


def _inside(before: Plain, now: Plain, where: str, place: int) -> list[str]:
    """Return the differences between two items of a list; steps of a Pipeline go by their names."""
    named = all(isinstance(item, list) and len(item) == 2 and isinstance(item[0], str) for item in (before, now))
    if named and before[0] == now[0]:
        return differences(before[1], now[1], f"{where}.{before[0]}")
    return differences(before, now, f"{where}[{place}]")


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
    # Where a class of this package lives may change, its name may not.
    package, _, rest = thing.__module__.partition(".")
    place = package if package == "bayes_gresub" and rest else thing.__module__
    return f"{place}.{thing.__qualname__}"
