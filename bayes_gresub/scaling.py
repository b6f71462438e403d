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
    if standardize is None:
        return np.ones(features.shape[1])
    groups = [features[codes == code] for code in range(n_classes)]
    return pooled_deviation([group for group in groups if len(group)])


def pooled_deviation(groups: list[Floats]) -> Floats:
    """Return the pooled standard deviation of each feature within groups of points, shape (d,).

    Exactly 0 for a feature that is constant in every group, however large; neither offsets nor units of the features
    cost digits.
    """
    # Differences from a group's first row: a constant leaves exact zeros, an offset cancels.
    centered = [group - group[0] for group in groups]
    largest = np.max([np.abs(part).max(axis=0) for part in centered], axis=0)
    inverse = np.divide(1.0, largest, out=np.zeros_like(largest), where=largest > 0)
    total = np.zeros_like(largest)
    for part in centered:
        scaled = part * inverse
        scaled -= scaled.mean(axis=0)
        total += np.einsum("nd,nd->d", scaled, scaled)
    freedom = max(1, sum(map(len, groups)) - len(groups))
    return np.asarray(largest * np.sqrt(total / freedom))


def to_units(features: Floats, scale: Floats) -> Floats:
    """Return features divided by their unit; those without one become 0."""
    return features * np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)


def describe_space(standardize: str | None) -> str:
    """Return the space in words."""
    if standardize is None:
        return "features as given"
    return "features over their pooled within-class standard deviation"
