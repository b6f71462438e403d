"""The space in which widths and neighbours are measured: as given, or in units of the within-class deviation."""

from __future__ import annotations

import numpy as np

from bayes_gresub.components import Floats, Ints

STANDARDIZE = ("within-class", None)


def check_standardize(standardize: str | None) -> None:
    """Raise unless `standardize` is one of the known choices."""
    if standardize not in STANDARDIZE:
        raise ValueError(
            f"standardize must be 'within-class' or None; got {standardize!r}. 'within-class' makes widths and "
            "neighbours independent of the units of the features."
        )


def feature_scale(features: Floats, codes: Ints, n_classes: int, standardize: str | None) -> Floats:
    r"""Return the unit of each feature, shape (d,).

    Under "within-class" it is the pooled within-class standard deviation,

    .. math:: s_f^2 = \frac{1}{n - c} \sum_i (X_{if} - \bar X_{Y_i f})^2

    and exactly 0 for a feature that is constant within every class; under None it is 1.
    """
    check_standardize(standardize)
    n, d = features.shape
    if standardize is None:
        return np.ones(d)
    counts = np.maximum(np.bincount(codes, minlength=n_classes), 1)
    total = np.zeros(d)
    largest = np.zeros(d)
    for code in range(n_classes):
        inside = features[codes == code]
        if len(inside):
            mean = inside.mean(axis=0)
            total += ((inside - mean) ** 2).sum(axis=0)
            largest = np.maximum(largest, np.abs(mean))
    scale = np.sqrt(total / max(1, n - np.count_nonzero(np.bincount(codes, minlength=n_classes))))
    # The mean of equal numbers is off by rounding; such a feature has no spread.
    scale[scale <= 8 * np.finfo(float).eps * largest * np.sqrt(counts.max())] = 0.0
    return scale


def to_units(features: Floats, scale: Floats) -> Floats:
    """Return features divided by their unit; those without one become 0."""
    return features * np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)


def describe_space(standardize: str | None) -> str:
    """Return the space in words."""
    if standardize is None:
        return "features as given"
    return "features over their pooled within-class standard deviation"
