"""What a StandardScaler learns if a block of rows is left out, for all blocks at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_gresub.data.arrays import Floats
from bayes_gresub.resampling.shortcuts.training_rows import TrainingRows

LOST_DIGITS = 1e-4
"""Share of a sum of squares below which what is left after a subtraction is computed anew."""


@dataclass(frozen=True, eq=False)
class Standardizing:
    """The centre and scale of every feature without each block, shapes (g, d)."""

    center: Floats
    scale: Floats


def moments(rows: TrainingRows) -> tuple[Floats, Floats]:
    r"""Return mean and variance of each feature without each block B, shapes (g, d).

    With deviations u from the mean of all n rows and m rows in B,

    .. math:: \bar x_{-B} = \bar x - \frac{\sum_{i \in B} u_i}{n - m}, \qquad
              s^2_{-B} = \frac{\sum_i u_i^2 - \sum_{i \in B} u_i^2}{n - m}
                         - \Big(\frac{\sum_{i \in B} u_i}{n - m}\Big)^2

    If a block holds nearly all of a feature's variance, the difference has no digits left and is computed anew.
    """
    mean = rows.features.mean(axis=0)
    deviations = rows.features - mean
    left = (len(rows.codes) - rows.sizes)[:, None]
    squares = (deviations**2).sum(axis=0)
    shift = rows.sums(deviations) / left
    variances = (squares - rows.sums(deviations**2)) / left - shift**2
    means = mean - shift
    for block, feature in np.argwhere(variances * left <= LOST_DIGITS * squares):
        values = rows.features[rows.block != block, feature]
        means[block, feature], variances[block, feature] = values.mean(), values.var()
    return means, variances


def standardizing(rows: TrainingRows, scaler: Any) -> Standardizing:
    """Return what the scaler subtracts and divides by without each block; without a scaler nothing changes."""
    shape = (len(rows.sizes), rows.features.shape[1])
    if scaler is None or not (scaler.with_mean or scaler.with_std):
        return Standardizing(np.zeros(shape), np.ones(shape))
    means, variances = moments(rows)
    scale = np.ones(shape)
    if scaler.with_std:
        # The bound under which scikit-learn takes a feature for constant.
        n_left = (len(rows.codes) - rows.sizes)[:, None]
        unit = np.finfo(np.float64).eps
        is_constant = variances <= n_left * unit * variances + (n_left * means * unit) ** 2
        scale = np.where(is_constant, 1.0, np.sqrt(np.maximum(variances, 0.0)))
    return Standardizing(means if scaler.with_mean else np.zeros(shape), scale)
