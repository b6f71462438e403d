"""Means and variances of every class without a block of rows, by subtraction."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.resampling.shortcuts.standardizing import LOST_DIGITS
from bayes_gresub.resampling.shortcuts.training_rows import TrainingRows


def class_moments(rows: TrainingRows) -> Iterator[tuple[Ints, Floats, Floats]]:
    r"""Return rows (q,) with the class means and variances without each one's block B, (q, c, d), in chunks.

    With residuals r from the mean of their class, which has n_c rows and m_c of them in B,

    .. math:: \bar x_{c,-B} = \bar x_c - \frac{\sum_B r_i}{n_c - m_c}, \qquad
              s^2_{c,-B} = \frac{\sum_c r_i^2 - \sum_B r_i^2}{n_c - m_c} - \Big(\frac{\sum_B r_i}{n_c - m_c}\Big)^2

    where sums over B are over its rows of class c. Differences without digits are computed anew.
    """
    X, c = rows.features, rows.n_classes
    means = np.array([X[rows.codes == code].mean(axis=0) for code in range(c)])
    residuals = X - means[rows.codes]
    squares = np.array([(residuals[rows.codes == code] ** 2).sum(axis=0) for code in range(c)])
    for part, members in rows.by_size(2 * c * X.shape[1]):
        weights = rows.membership[members].swapaxes(1, 2)
        left = rows.kept[rows.block[part]][:, :, None]
        shift = weights @ residuals[members] / left
        variances = (squares - weights @ residuals[members] ** 2) / left - shift**2
        means_left = means - shift
        lost = (variances * left <= LOST_DIGITS * squares) & (rows.removed[rows.block[part]] > 0)[:, :, None]
        for place, code in np.argwhere(lost.any(axis=2)):
            values = X[(rows.codes == code) & (rows.block != rows.block[part[place]])]
            means_left[place, code], variances[place, code] = values.mean(axis=0), values.var(axis=0)
        yield part, means_left, variances
