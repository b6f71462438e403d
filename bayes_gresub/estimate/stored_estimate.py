"""Check that a stored estimate is whole and agrees with itself. Estimates are written and read in error_estimate.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_gresub.data.arrays import Floats
from bayes_gresub.laws.confusion import error_mass

if TYPE_CHECKING:
    from bayes_gresub.estimate.error_estimate import ErrorEstimate

VERSION = 1
"""Of the form in which estimates are stored; raised when what was written can no longer be read."""

_ROUNDING = 1e-9
"""How far numbers that must agree may differ: sums of stored numbers, in another order."""

_REMEDY = "Read what to_dict or to_json wrote, unchanged."


def read_parts(parts: tuple[Field[Any], ...], data: Any) -> dict[str, Any]:
    """Return the fields of an estimate, each read as its metadata names, or raise if one cannot be read."""
    if not isinstance(data, Mapping):
        raise TypeError(f"an estimate is read from a dict; got a {type(data).__name__}. {_REMEDY}")
    if data.get("version") != VERSION:
        raise ValueError(
            f"a stored estimate must have version {VERSION}; got {data.get('version', 'none')!r}. Read it with the "
            "version of bayes_gresub that wrote it, or estimate again."
        )
    absent = [part.name for part in parts if part.name not in data]
    if absent:
        raise ValueError(
            f"a stored estimate must have the fields {[part.name for part in parts]}; {absent} are missing. {_REMEDY}"
        )
    values = {}
    for part in parts:
        try:
            values[part.name] = part.metadata["read"](data[part.name])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(
                f"the field {part.name!r} of a stored estimate must be as it was written; got "
                f"{_shorten(data[part.name])}. {_REMEDY}"
            ) from error
    return values


def check_stored(estimate: ErrorEstimate, data: Mapping[str, Any]) -> None:
    """Raise unless the parts of an estimate have matching shapes, lie in their ranges and agree with each other."""
    labels = estimate.classes.tolist()
    _need(estimate.classes.ndim == 1 and labels == data["classes"], "classes", "be labels of one type", labels)
    c = len(labels)
    _need(2 <= c == len(set(labels)), "classes", "be two or more different labels", labels)
    values, confusions = np.asarray(estimate.replicate_values, dtype=float), estimate.replicate_confusions
    _need(values.ndim == 1 and len(values) > 0, "replicate_values", "be a list of numbers", values.shape)
    _check_finite(values, "replicate_values")
    if estimate.prior_known:
        _need(_is_probability(values.mean()), "replicate_values", "have a mean between 0 and 1", float(values.mean()))
        _check_reading(data, "value", values.mean())
        _check_reading(data, "std_error", estimate.std_error)
    if confusions is not None:
        _need(
            confusions.shape == (len(values), c, c),
            "replicate_confusions",
            f"have shape ({len(values)}, {c}, {c}), by replicate, label and prediction",
            confusions.shape,
        )
        _check_mass(confusions.mean(axis=0), "replicate_confusions")
    if confusions is not None and estimate.prior_known:
        error = float(error_mass(confusions.mean(axis=0)))
        _need(_is_close(error, values.mean()), "replicate_confusions", f"have the error {values.mean():.9g}", error)
        _check_reading(data, "confusion", confusions.mean(axis=0))
    _check_points(estimate)
    draws = estimate.posterior_draws
    if draws is not None:
        shape = draws.confusions.shape
        _need(len(shape) == 3 and shape[1:] == (c, c), "interval_method", f"have draws of shape (*, {c}, {c})", shape)
        _check_mass(draws.confusions, "interval_method")
    elif estimate.no_interval is None:
        _check_interval(estimate)
    for name, number in estimate.details.items():
        _need(isinstance(number, int | float) and np.isfinite(number), f"details[{name!r}]", "be a number", number)
    computation = estimate.computation
    for name in ("n_predicted", "n_replicates", "n_refits", "seconds"):
        number = getattr(computation, name)
        _need(isinstance(number, int | float) and number >= 0, f"computation[{name!r}]", "be at least 0", number)
    _need(isinstance(computation.exact, bool), "computation['exact']", "be true or false", computation.exact)


def _check_points(estimate: ErrorEstimate) -> None:
    """Raise unless the contributions of the points are errors whose weighted mean is the value."""
    contributions, weights = estimate.contributions, estimate.point_weights
    if contributions is None or weights is None:
        _need(contributions is weights, "contributions", "come with point_weights", "one of the two")
        return
    shapes = contributions.shape, weights.shape
    _need(contributions.ndim == 1 and shapes[0] == shapes[1], "contributions", "be as many as point_weights", shapes)
    _need(_is_probability(contributions), "contributions", "lie between 0 and 1", _range(contributions))
    _need(_is_probability(weights), "point_weights", "lie between 0 and 1", _range(weights))
    _need(_is_close(weights.sum(), 1), "point_weights", "sum to 1", float(weights.sum()))
    if estimate.prior_known:
        mean, value = float(contributions @ weights), float(estimate.replicate_values.mean())
        _need(_is_close(mean, value), "contributions", f"have the weighted mean {value:.9g}, the value", mean)


def _check_interval(estimate: ErrorEstimate) -> None:
    """Raise unless what intervals are made of gives one."""
    try:
        low, high = estimate.interval(0.5)
    except (TypeError, ValueError, ZeroDivisionError):
        low, high = np.nan, np.nan
    _need(0 <= low <= high <= 1, "interval_method", "give an interval between 0 and 1", (float(low), float(high)))


def _check_mass(confusion: Floats, name: str) -> None:
    """Raise unless joint masses (..., c, c) are not negative and sum to 1."""
    _check_finite(confusion, name)
    _need(bool((confusion >= -_ROUNDING).all()), name, "be a mass of at least 0", _range(confusion))
    total = confusion.sum(axis=(-2, -1))
    _need(_is_close(total, 1), name, "be a mass that sums to 1", _range(np.atleast_1d(total)))


def _check_finite(values: Floats, name: str) -> None:
    _need(bool(np.isfinite(values).all()), name, "be finite", "NaN or infinity")


def _check_reading(data: Mapping[str, Any], name: str, expected: Any) -> None:
    """Raise if a number that is stored for readers differs from what the replicates give."""
    if data.get(name) is None:
        return
    try:
        stored = np.array(data[name], dtype=float)
        agrees = stored.shape == np.shape(expected) and _is_close(stored, expected)
    except (TypeError, ValueError):
        agrees = False
    _need(agrees, name, f"agree with the replicates, {_shorten(np.asarray(expected).tolist())}", data[name])


def _is_probability(values: Any) -> bool:
    return bool(((values >= -_ROUNDING) & (values <= 1 + _ROUNDING)).all())


def _is_close(first: Any, second: Any) -> bool:
    return bool(np.allclose(first, second, rtol=0, atol=_ROUNDING))


def _range(values: Floats) -> str:
    return f"{values.min():.6g} to {values.max():.6g}" if values.size else "nothing"


def _need(holds: bool, name: str, rule: str, got: Any) -> None:
    if not holds:
        raise ValueError(f"{name} of a stored estimate must {rule}; got {_shorten(got)}. {_REMEDY}")


def _shorten(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
