"""Checks of parameters that measures and resamplers share. Data are checked where they are read."""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from bayes_gresub.data.seeds import seed_sequence


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside the package that led to this call."""
    level, frame = 2, sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__", "")).startswith("bayes_gresub"):
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(message, category, stacklevel=level)


def check_whole(value: Any, name: str, least: int) -> int:
    """Return a parameter that must be a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {value!r}.")
    return int(value)


def check_name(name: str, valid: Iterable[str], kind: str, remedy: str = "") -> str:
    """Return a name that must be one of `valid`; the message lists them, nearest first, and ends with the remedy."""
    names = list(valid)
    if name not in names:
        near = difflib.get_close_matches(str(name), names, n=len(names), cutoff=0.4)
        distant = sorted(set(names) - set(near))
        listed = f"unknown {kind} {name!r}; the names are {', '.join([*near, *distant])}."
        raise ValueError(f"{listed} {remedy}" if remedy else listed)
    return name


def check_settings(**given: Any) -> None:
    """Raise if one of the given parameters, which many estimators share, is invalid."""
    sampling = given.get("sampling", "mixture")
    if sampling not in ("mixture", "separate"):
        raise ValueError(
            f"sampling must be 'mixture' or 'separate'; got {sampling!r}. 'separate' means that the number of points "
            "in each class was fixed by design."
        )
    random_state = given.get("random_state")
    if isinstance(random_state, np.random.Generator):
        raise ValueError(
            "random_state of an estimator must be an int, a SeedSequence or None; got a Generator, which every call "
            "would advance. Pass it to error instead."
        )
    seed_sequence(random_state)
    n_jobs = given.get("n_jobs")
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0):
        raise ValueError(f"n_jobs must be a whole number other than 0, or None; got {n_jobs!r}.")
    n_points = given.get("n_points", 1)
    if isinstance(n_points, bool) or not isinstance(n_points, int | np.integer) or n_points < 1:
        raise ValueError(f"n_points must be a whole number of at least 1; got {n_points!r}.")
    tol = given.get("tol")
    if tol is not None and not (isinstance(tol, int | float | np.number) and tol > 0):
        raise ValueError(f"tol must be positive or None; got {tol!r}.")
    most = given.get("max_centers")
    if most is not None and (isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 2):
        raise ValueError(f"max_centers must be a whole number of at least 2, or None; got {most!r}.")
    progress = given.get("progress")
    if progress not in (None, True, False):
        raise ValueError(f"progress must be True, False or None; got {progress!r}.")
    semi = given.get("semi", False)
    if not isinstance(semi, bool | np.bool_):
        raise ValueError(f"semi must be True or False; got {semi!r}.")


def check_level(level: float) -> None:
    """Raise unless a level is a probability between 0 and 1."""
    if not isinstance(level, int | float | np.number) or not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1; got {level!r}.")
