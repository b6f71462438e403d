"""The space of widths and neighbours: features as given, or divided by their within-class deviation."""

from __future__ import annotations

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints

SPACES = {
    "within-class": "features divided by their pooled within-class standard deviation",
    None: "features as given",
}
"""The values of `standardize`, and each space in words."""


def standardized(features: Floats, codes: Ints, standardize: str | None) -> tuple[Floats, Floats]:
    r"""Return features in units of the space, and the unit of each feature, shape (d,).

    Under "within-class" the unit is the pooled within-class standard deviation,

    .. math:: s_f^2 = \frac{1}{n - c} \sum_i (X_{if} - \bar X_{Y_i f})^2

    It is exactly 0 for a feature that is constant within every class, and such a feature becomes 0. Under None it is 1.
    """
    if standardize not in SPACES:
        raise ValueError(
            f"standardize must be 'within-class' or None; got {standardize!r}. 'within-class' makes widths and "
            "neighbours independent of the units of the features."
        )
    if standardize is None:
        return features, np.ones(features.shape[1])
    scale = pooled_deviation(features, codes)
    return features * np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0), scale


def pooled_deviation(features: Floats, codes: Ints) -> Floats:
    """Return the pooled standard deviation of each feature within the groups defined by `codes`, shape (d,).

    Exactly 0 for a feature that is constant in every group, however large; offsets and units of the features do not
    reduce precision.
    """
    order = np.argsort(codes, kind="stable")
    _, starts, counts = np.unique(codes[order], return_index=True, return_counts=True)
    ordered = features[order]
    # Differences from a group's first row: a constant leaves exact zeros, an offset cancels.
    ordered -= np.repeat(ordered[starts], counts, axis=0)
    largest = np.maximum(ordered.max(axis=0), -ordered.min(axis=0))
    ordered *= np.divide(1.0, largest, out=np.zeros_like(largest), where=largest > 0)
    ordered -= np.repeat(np.add.reduceat(ordered, starts) / counts[:, None], counts, axis=0)
    freedom = max(1, len(features) - len(starts))
    return np.asarray(largest * np.sqrt(np.einsum("nd,nd->d", ordered, ordered) / freedom))


def to_units(features: Floats, scale: Floats) -> Floats:
    """Return features divided by their unit; features with unit 0 become 0."""
    return features * np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
