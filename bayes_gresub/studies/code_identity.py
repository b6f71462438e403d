"""The code behind a class or a function as a digest: a rule that was edited is another rule.

Code of installed packages goes by their versions, which the run folder records; all other code by its bytecode: that is
what runs, whatever the file on disk holds by now.
"""

from __future__ import annotations

import dis
import hashlib
import importlib.machinery
import sys
from collections.abc import Callable, Iterator
from functools import cached_property, partialmethod
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

Plain = Any

_BY_VERSION = ("bayes_gresub", "builtins")
_PACKAGES = ("site-packages", "dist-packages")
_SIMPLE = (bool, int, float, complex, str, bytes, tuple, frozenset, np.ndarray, np.generic, type(None))
"""Types of constants."""


def code_of(thing: Any, plain: Callable[[Any], Plain]) -> dict[str, Plain]:
    """Return the code of a class or function and of all that it calls, by name; without what is installed.

    Constants count: those of a class that its methods do not set, and those of a module whose names are in capitals.
    Other globals, and attributes of other classes, may be counters and caches, which change while a study runs.

    Parameters
    ----------
    thing : type or function
    plain : callable
        Makes data plain.
    """
    read: dict[str, Plain] = {}
    seen: set[int] = set()
    left = [thing]
    while left:
        following = left.pop()
        for piece in following.__mro__ if isinstance(following, type) else [following]:
            if id(piece) not in seen and not is_installed(piece):
                seen.add(id(piece))
                body, used = _own(piece, plain)
                # Functions in one place may share a name, as lambdas do.
                read.setdefault(f"{piece.__module__}.{piece.__qualname__}", []).append(body)
                left += used
    if isinstance(thing, type):
        for piece in thing.__mro__:
            if id(piece) in seen:
                constants = {name: plain(value) for name, value in _constants(piece)}
                read[f"constants of {piece.__module__}.{piece.__qualname__}"] = constants
    return read


def is_installed(thing: Any) -> bool:
    """Return whether the code of a class or function is of a package with a version, or of Python itself."""
    module = thing.__module__ or "builtins"
    package = module.partition(".")[0]
    if package == "__main__":
        return False
    if package in _BY_VERSION or package in sys.stdlib_module_names:
        return True
    return any(part in _PACKAGES for part in Path(getattr(sys.modules.get(module), "__file__", None) or "").parts)


def _own(piece: Any, plain: Callable[[Any], Plain]) -> tuple[Plain, list[Any]]:
    """Return the code of one class or function, without what it calls, and the classes and functions that it calls."""
    file = getattr(sys.modules.get(piece.__module__), "__file__", None)
    if file is not None and file.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES)):
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16], []
    if isinstance(piece, type):
        return _class(piece, plain)
    if not isinstance(piece, FunctionType):
        raise TypeError(
            f"a study must be able to read the code of its parts; it cannot for {piece.__qualname__} of "
            f"{piece.__module__}. Write it in Python, or install it as a package."
        )
    return _function(piece, plain)


def _class(piece: type, plain: Callable[[Any], Plain]) -> tuple[Plain, list[Any]]:
    body: dict[str, Plain] = {}
    used: list[Any] = []
    for name, value in vars(piece).items():
        functions = [function for function in _functions(value) if function.__code__.co_filename != "<string>"]
        for number, function in enumerate(functions):
            body[f"{name} {number}"], more = _function(function, plain)
            used += more
        if isinstance(value, type):
            used.append(value)
    return body, used


def _constants(piece: type) -> list[tuple[str, Any]]:
    """Return the data in a class that none of its methods sets."""
    functions = [function for value in vars(piece).values() for function in _functions(value)]
    set_inside = {name for function in functions for name in _attributes_set(function.__code__)}
    names = [name for name in vars(piece) if not name.startswith("__") and name not in set_inside]
    return [(name, vars(piece)[name]) for name in names if isinstance(vars(piece)[name], _SIMPLE)]


def _attributes_set(code: CodeType) -> set[str]:
    here = {str(step.argval) for step in dis.get_instructions(code) if step.opname == "STORE_ATTR"}
    return here.union(*(_attributes_set(constant) for constant in code.co_consts if isinstance(constant, CodeType)))


def _functions(value: Any) -> Iterator[FunctionType]:
    """Yield the functions in an attribute of a class, whatever wraps them."""
    if isinstance(value, FunctionType):
        yield value
        yield from _functions(getattr(value, "__wrapped__", None))
    elif isinstance(value, property):
        for part in (value.fget, value.fset, value.fdel):
            yield from _functions(part)
    elif isinstance(value, staticmethod | classmethod | MethodType):
        yield from _functions(value.__func__)
    elif isinstance(value, cached_property | partialmethod):
        yield from _functions(value.func)
    elif not isinstance(value, type) and hasattr(value, "__wrapped__"):
        yield from _functions(value.__wrapped__)
    elif isinstance(getattr(value, "fn", None), FunctionType):
        # The methods that scikit-learn shows if a condition holds.
        yield from _functions(value.fn)


def _function(function: FunctionType, plain: Callable[[Any], Plain]) -> tuple[Plain, list[Any]]:
    used: list[Any] = []
    inside: list[Plain] = []
    for cell in function.__closure__ or ():
        try:
            value = cell.cell_contents
        except ValueError:  # not filled yet
            continue
        if isinstance(value, type | FunctionType):
            used.append(value)
        else:
            inside.append(plain(value))
    constants = {}
    for name, value in _globals(function):
        if isinstance(value, type | FunctionType):
            used.append(value)
        elif name.isupper() and isinstance(value, _SIMPLE):
            constants[name] = plain(value)
    defaults = plain(function.__defaults__), plain(function.__kwdefaults__)
    return {"code": plain(function.__code__), "defaults": defaults, "inside": inside, "constants": constants}, used


def _globals(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the global names that a function reads, with their values; those of modules one level deep."""
    names = _names(function.__code__)
    for name in sorted(names):
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType):
            yield from ((inner, vars(value)[inner]) for inner in sorted(names) if inner in vars(value))
        elif value is not None:
            yield name, value


def _names(code: CodeType) -> set[str]:
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(_names, inner))
