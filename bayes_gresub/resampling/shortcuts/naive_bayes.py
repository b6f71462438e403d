"""Leave-one-out of Gaussian naive Bayes: class means and variances without the row's own block."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayes_gresub.estimate.reasons import Reason
from bayes_gresub.resampling.shortcuts.class_moments import class_moments
from bayes_gresub.resampling.shortcuts.left_out_labels import LeftOut, posterior_of
from bayes_gresub.resampling.shortcuts.standardizing import moments, standardizing
from bayes_gresub.resampling.shortcuts.training_rows import TrainingRows


def refuse_naive_bayes(rule: Any, scaler: Any) -> Reason | None:
    """Return None: every Gaussian naive Bayes rule has a shortcut."""
    return None


def leave_out_naive_bayes(rule: Any, scaler: Any, whole: Any, rows: TrainingRows) -> LeftOut:
    r"""Return the posteriors of Gaussian naive Bayes trained on the rows outside of each row's block B.

    .. math:: \log P(c \mid x) = \log \pi_{c,-B} - \frac12 \sum_j \Big[\log v_{cj}
              + \frac{(x_j - \bar x_{cj,-B})^2}{v_{cj}}\Big] + \text{const}, \quad
              v_{cj} = s^2_{cj,-B} + \epsilon \max_k \frac{s^2_{k,-B}}{u_k^2} u_j^2

    where u are the units of a scaler without B, 1 if there is none, and epsilon is `var_smoothing`.
    """
    _, variances = moments(rows)
    units = standardizing(rows, scaler).scale ** 2
    smoothing = rule.var_smoothing * (variances / units).max(axis=1, keepdims=True) * units
    log_joint = np.empty((len(rows.codes), rows.n_classes))
    for part, means, class_variances in class_moments(rows):
        blocks = rows.block[part]
        spread = class_variances + smoothing[blocks][:, None]
        gaps = (rows.features[part, None] - means) ** 2 / spread
        log_joint[part] = -0.5 * (np.log(spread) + gaps).sum(axis=2)
    log_joint += log_priors(rule.priors, rows)[rows.block]
    return LeftOut(log_joint.argmax(axis=1), posterior_of(log_joint), True, True, "class moments without the row")


def log_priors(given: Any, rows: TrainingRows) -> Any:
    """Return the logarithms of the class probabilities without each block, shape (g, c)."""
    priors = rows.kept / rows.kept.sum(axis=1, keepdims=True)
    if given is not None:
        priors = np.broadcast_to(np.asarray(given, dtype=float) / np.sum(given), rows.kept.shape)
    with np.errstate(divide="ignore"):
        return np.log(priors)
