"""The zero bootstrap from its judgements: value, noise of the resampling, and standard error over samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.laws.confusion import RegionConfusion, error_mass, joint
from bayes_gresub.resampling.refit import Judgement
from bayes_gresub.resampling.resampler import same_classes


@dataclass(frozen=True, eq=False)
class ZeroEstimate:
    r"""The zero (leave-one-out) bootstrap, averaged per point.

    .. math:: \hat\varepsilon_0 = \sum_i w_i \hat E_i, \qquad \hat E_i = \frac{\sum_b I_{ib} Q_{ib}}{\sum_b I_{ib}}

    where I_ib says that resample b leaves point i out, and Q_ib is the error mass about it under that classifier.
    A point that was never left out is dropped.

    Attributes
    ----------
    values : ndarray of shape (B,)
        One replicate per resample, whose mean is the estimate and whose spread is that of the linearised ratio.
    confusions : ndarray of shape (B, c, c)
    contributions, point_weights : ndarray of shape (n,)
    n_dropped : int
    """

    values: Floats
    confusions: Floats
    contributions: Floats
    point_weights: Floats
    n_dropped: int

    @property
    def value(self) -> float:
        """Return the estimate."""
        return float(self.values.mean())


def zero_estimate(judgements: list[Judgement], weights: Floats) -> ZeroEstimate:
    """Return the zero bootstrap of points with these weights."""
    same_classes(judgements)
    n = len(weights)
    left_out = np.zeros(n)
    losses = np.zeros(n)
    for one in judgements:
        left_out[one.points] += 1
        losses[one.points] += one.contributions
    seen = left_out > 0
    share = np.where(seen, weights, 0.0) / weights[seen].sum()
    mean_loss = np.divide(losses, left_out, out=np.zeros(n), where=seen)
    # Each resample moves the ratio of a point by its deviation from the point's mean over the times it was left out.
    per_time = np.divide(share, left_out, out=np.zeros(n), where=seen)
    confusions = _confusions(judgements, left_out, per_time)
    return ZeroEstimate(error_mass(confusions), confusions, mean_loss, share, int((~seen).sum()))


def _confusions(judgements: list[Judgement], left_out: Floats, per_time: Floats) -> Floats:
    """Return one confusion mass per resample, (B, c, c), whose mean is that of the zero bootstrap."""
    about = [one.mass.rows_about() for one in judgements]
    if any(one is None for one in about):
        # Where labels are smoothed, a point's mass has a row for each label.
        about = [one.mass.pairs_about() for one in judgements]
    masses = [np.asarray(one) for one in about]
    means = np.zeros((len(left_out), *masses[0].shape[1:]))
    for one, mass in zip(judgements, masses, strict=True):
        means[one.points] += mass
    per_point = left_out.reshape(-1, *[1] * (means.ndim - 1))
    np.divide(means, per_point, out=means, where=per_point > 0)

    def summed(one: Judgement, mass: Floats) -> Floats:
        weights = per_time[one.points]
        if mass.ndim == 3:
            return np.asarray(np.tensordot(weights, mass, axes=1))
        # Labels are certain: the law that the masses carry says whose row each is.
        assert isinstance(one.mass, RegionConfusion), "only these have rows"
        return joint(mass, weights, one.mass.labels)

    whole = [summed(one, mass) for one, mass in zip(judgements, masses, strict=True)]
    center = np.sum(whole, axis=0)
    usual = [summed(one, means[one.points]) for one in judgements]
    return np.asarray(center + len(judgements) * (np.array(whole) - np.array(usual)))


def influence(zero: ZeroEstimate, judgements: list[Judgement], counts: Ints) -> tuple[Floats, float]:
    r"""Return how much each point moves the zero bootstrap, and the Monte-Carlo part of the sum of their squares.

    The derivative of the zero bootstrap in the weight of point i, over n (Efron & Tibshirani 1997):

    .. math:: D_i = \left(2 + \frac{1}{n-1}\right) \frac{\hat E_i - \hat\varepsilon_0}{n}
              + \frac{\sum_b (N_{ib} - \bar N_i)\, q_b}{\sum_b I_{ib}}, \qquad q_b = \frac1n \sum_i I_{ib} Q_{ib}

    N_ib being how often point i is in resample b. Of the second term, a covariance over B resamples, noise is left
    that does not vanish with n; the expected sum of its squares is returned too, to be taken off:

    .. math:: \sum_i \frac{\sum_b (N_{ib} - \bar N_i)^2 (q_b - \bar q)^2}{(\sum_b I_{ib})^2}

    Parameters
    ----------
    zero : ZeroEstimate
        Of points of equal weight.
    judgements : list of Judgement
    counts : ndarray of shape (B, n)
        How often each resample holds each point.

    References
    ----------
    Efron & Tibshirani, Improvements on cross-validation: the .632+ bootstrap method, JASA 92 (1997).
    Wager, Hastie & Efron, Confidence intervals for random forests, JMLR 15 (2014), for the noise.
    """
    n = counts.shape[1]
    left_out = (counts == 0).sum(axis=0)
    wrong = np.array([one.contributions.sum() for one in judgements]) / n
    around = counts - counts.mean(axis=0)
    wrong = wrong - wrong.mean()
    moved = np.divide(around.T @ wrong, left_out, out=np.zeros(n), where=left_out > 0)
    own = np.where(left_out > 0, zero.contributions - zero.value, 0.0)
    noise = np.divide((around**2).T @ wrong**2, left_out**2, out=np.zeros(n), where=left_out > 0)
    return (2 + 1 / (n - 1)) * own / n + moved, float(noise.sum())
