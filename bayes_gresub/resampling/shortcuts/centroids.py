"""Leave-one-out of nearest centroids: class means without the row's own block."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.estimate.reasons import Reason
from bayes_gresub.resampling.shortcuts.class_moments import class_moments
from bayes_gresub.resampling.shortcuts.left_out_labels import LeftOut, posterior_of
from bayes_gresub.resampling.shortcuts.refusals import SettingWithoutShortcut
from bayes_gresub.resampling.shortcuts.standardizing import standardizing
from bayes_gresub.resampling.shortcuts.training_rows import TrainingRows


def refuse_centroids(rule: Any, scaler: Any) -> Reason | None:
    """Return why this nearest-centroid rule has no shortcut."""
    if rule.shrink_threshold is not None:
        return SettingWithoutShortcut("NearestCentroid", "shrink_threshold", repr(rule.shrink_threshold))
    if rule.metric != "euclidean":
        return SettingWithoutShortcut("NearestCentroid", "metric", repr(rule.metric))
    return None


def leave_out_centroids(rule: Any, scaler: Any, whole: Any, rows: TrainingRows) -> LeftOut:
    r"""Return the classes of the nearest centroids of the rows outside of each row's block B.

    .. math:: \psi_{-B}(x) = \arg\min_c |x - \bar x_{c,-B}|^2

    in the units of a scaler without the block. With unequal class probabilities, and for the probabilities that
    scikit-learn computes in any case, features are divided by their pooled deviation s within classes without B:

    .. math:: \delta_c(x) = -\sum_j (x_j - \bar x_{cj,-B})^2 / s^2_{j,-B} + 2 \log \pi_c
    """
    scale = standardizing(rows, scaler).scale
    priors = _priors(rule, rows)
    uniform = np.asarray(np.isclose(priors, 1 / rows.n_classes).all(axis=1))
    codes = np.empty(len(rows.codes), dtype=np.intp)
    scores = np.empty((len(rows.codes), rows.n_classes))
    for part, means, variances in class_moments(rows):
        blocks = rows.block[part]
        squares = (rows.features[part, None] - means) ** 2
        within = (variances * rows.kept[blocks][:, :, None]).sum(axis=1)
        free = (len(rows.codes) - rows.sizes[blocks] - rows.n_classes)[:, None]
        pooled = np.divide(within, free, out=np.zeros_like(within), where=free > 0)
        # A feature without spread inside classes is not divided at all, also not by the scaler.
        units = np.where(pooled == 0, scale[blocks] ** 2, pooled)
        with np.errstate(divide="ignore"):
            decision = -(squares / units[:, None]).sum(axis=2) + 2 * np.log(priors[blocks])
        scores[part] = posterior_of(decision)
        nearest = (squares / scale[blocks][:, None] ** 2).sum(axis=2).argmin(axis=1)
        codes[part] = np.where(uniform[blocks], nearest, decision.argmax(axis=1))
    return LeftOut(codes, scores, True, True, "class means without the row")


def _priors(rule: Any, rows: TrainingRows) -> Floats:
    """Return the class probabilities that the rule uses without each block, shape (g, c)."""
    if isinstance(rule.priors, str):
        counts: Ints = rows.kept if rule.priors == "empirical" else np.ones_like(rows.kept)
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))
    given = np.asarray(rule.priors, dtype=float)
    return np.broadcast_to(given / given.sum(), rows.kept.shape)
