"""An estimate from labels predicted once for every point, by classifiers that did not see it."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.sample import Sample, read_class_prior
from bayes_gresub.estimate.computation import Computation
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.estimate.estimands import Estimand
from bayes_gresub.estimate.intervals import NoInterval
from bayes_gresub.estimate.reasons import ClassProbabilitiesUnknown, Missing, Reason
from bayes_gresub.laws.confusion import error_mass, replicates_with_prior


def counted_estimate(
    codes: Ints,
    sample: Sample,
    point_weights: Floats,
    *,
    estimand: Estimand,
    computation: Computation,
    no_interval: Reason,
    sampling: str,
    class_prior: Any,
    details: dict[str, float] | None = None,
) -> ErrorEstimate:
    r"""Return the share of points misclassified, as an estimate.

    .. math:: C_{yj} = \sum_i w_i I(Y_i = y, \hat Y_i = j) \Big/ \sum_i w_i

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Predicted class of every point of the sample; -1 for a point to be dropped.
    sample : Sample
    point_weights : ndarray of shape (n,)
    estimand, computation, no_interval, sampling, class_prior, details
        As the estimator has them.
    """
    counted = codes >= 0
    weights = np.where(counted, point_weights, 0.0) / point_weights[counted].sum()
    c = len(sample.classes)
    confusion = np.zeros((1, c, c))
    np.add.at(confusion[0], (sample.codes[counted], codes[counted]), weights[counted])
    has_prior = class_prior is not None
    if has_prior:
        confusion = replicates_with_prior(confusion, read_class_prior(class_prior, sample.classes))
    is_wrong = ((codes != sample.codes) & counted).astype(float)
    known = sampling == "mixture" or has_prior
    return ErrorEstimate(
        classes=sample.classes,
        estimand=estimand,
        computation=computation,
        replicate_values=error_mass(confusion),
        interval_method=NoInterval(no_interval),
        replicate_confusions=confusion,
        contributions=None if has_prior else sample.at_given_rows(is_wrong),
        point_weights=None if has_prior else sample.at_given_rows(weights),
        missing=Missing(value=None if known else ClassProbabilitiesUnknown()),
        details=details or {},
    )
