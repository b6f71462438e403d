"""The corrected resampled t of Nadeau & Bengio: an interval from the errors of splits that share training points."""

from __future__ import annotations

import numpy as np

from bayes_gresub.data.arrays import Floats
from bayes_gresub.estimate.estimands import Estimand
from bayes_gresub.estimate.intervals import CorrectedInterval
from bayes_gresub.estimate.reasons import EqualSplits, OneSplit, Reason
from bayes_gresub.resampling.splits import Split

_ROUNDING = 1e-12


def corrected_t(
    errors: Floats, splits: list[Split], center: float, target: Estimand
) -> CorrectedInterval | tuple[str, Reason]:
    """Return the corrected resampled t about a mean over splits, or its name and the reason why it does not apply.

    Parameters
    ----------
    errors : ndarray of shape (J,)
        Of each split.
    splits : list of Split
    center : float
        Their mean, weighted if points are.
    target : Estimand
    """
    if len(errors) < 2:
        return CorrectedInterval.name, OneSplit()
    if np.ptp(errors) <= _ROUNDING:
        return CorrectedInterval.name, EqualSplits()
    n_train, n_test = np.mean([[len(split.train), len(split.test)] for split in splits], axis=0)
    return CorrectedInterval(target, center, corrected_std_error(errors, n_train, n_test), len(errors) - 1)


def corrected_std_error(errors: Floats, n_train: float, n_test: float) -> float:
    r"""Return the standard error of a mean over splits that share training points (Nadeau & Bengio 2003).

    .. math:: \sqrt{\left(\tfrac1J + \tfrac{n_{test}}{n_{train}}\right) S^2}

    with S^2 the variance of the errors of J splits. The second term stands for the correlation of two splits, taken to
    be the share of the points held out.

    References
    ----------
    Nadeau & Bengio, Inference for the generalization error, Machine Learning 52 (2003).

    Examples
    --------
    >>> round(corrected_std_error(np.array([0.1, 0.2, 0.3]), 90, 10), 4)
    0.0667
    """
    return float(np.sqrt((1 / len(errors) + n_test / n_train) * np.var(errors, ddof=1)))
