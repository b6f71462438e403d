"""The zero bootstrap from its judgements: value, noise of the resampling, and influence of each point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.laws.confusion import RegionConfusion, error_mass, joint
from bayes_gresub.resampling.refit import Judgement
from bayes_gresub.resampling.resampler import check_same_classes


@dataclass(frozen=True, eq=False)
class ZeroEstimate:
    r"""The zero (leave-one-out) bootstrap, averaged per point.

    .. math:: \hat\varepsilon_0 = \sum_i w_i \hat E_i, \qquad \hat E_i = \frac{\sum_b I_{ib} Q_{ib}}{\sum_b I_{ib}}

    where I_ib is 1 if resample b leaves point i out, and Q_ib is the error mass about it under that classifier.
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
    check_same_classes(judgements)
    n = len(weights)
    left_out = np.zeros(n)
    losses = np.zeros(n)
    for judgement in judgements:
        left_out[judgement.points] += 1
        losses[judgement.points] += judgement.contributions
    was_left_out = left_out > 0
    share = np.where(was_left_out, weights, 0.0) / weights[was_left_out].sum()
    mean_loss = np.divide(losses, left_out, out=np.zeros(n), where=was_left_out)
    # A resample moves a point's ratio by its deviation from the point's mean, divided by the times it was left out.
    per_time = np.divide(share, left_out, out=np.zeros(n), where=was_left_out)
    confusions = _confusions(judgements, left_out, per_time)
    return ZeroEstimate(error_mass(confusions), confusions, mean_loss, share, int((~was_left_out).sum()))


def _confusions(judgements: list[Judgement], left_out: Floats, per_time: Floats) -> Floats:
    """Return one confusion mass per resample, (B, c, c), whose mean is that of the zero bootstrap."""
    blocks = [judgement.mass.rows_about() for judgement in judgements]
    if any(block is None for block in blocks):
        # If labels are smoothed, a point's mass has a row for each label.
        blocks = [judgement.mass.pairs_about() for judgement in judgements]
    masses = [np.asarray(block) for block in blocks]
    means = np.zeros((len(left_out), *masses[0].shape[1:]))
    for judgement, mass in zip(judgements, masses, strict=True):
        means[judgement.points] += mass
    per_point = left_out.reshape(-1, *[1] * (means.ndim - 1))
    np.divide(means, per_point, out=means, where=per_point > 0)

    def add_up(judgement: Judgement, mass: Floats) -> Floats:
        weights = per_time[judgement.points]
        if mass.ndim == 3:
            return np.asarray(np.tensordot(weights, mass, axes=1))
        # Labels are certain, so each mass is one row: that of its label.
        assert isinstance(judgement.mass, RegionConfusion), "only RegionConfusion has rows"
        return joint(mass, weights, judgement.mass.labels)

    sums = [add_up(judgement, mass) for judgement, mass in zip(judgements, masses, strict=True)]
    center = np.sum(sums, axis=0)
    expected = [add_up(judgement, means[judgement.points]) for judgement in judgements]
    return np.asarray(center + len(judgements) * (np.array(sums) - np.array(expected)))


def influence(
    zero: ZeroEstimate, judgements: list[Judgement], counts: Ints, units: Ints | None = None
) -> tuple[Floats, float]:
    r"""Return how much each unit moves the zero bootstrap, and the Monte-Carlo part of the sum of their squares.

    Units are what is drawn: points, groups, or sets of identical rows. The derivative of the zero bootstrap with
    respect to the weight of unit i, divided by their number m, is (Efron & Tibshirani 1997, who have equal weights w)

    .. math:: D_i = w_i (\hat E_i - \hat\varepsilon_0) + \frac{m w_i \hat E_i - \hat\varepsilon_0}{m - 1}
              + \frac{\sum_b (N_{ib} - \bar N_i)\, q_b}{\sum_b I_{ib}}, \qquad q_b = \sum_i w_i I_{ib} Q_{ib}

    where N_ib is how often unit i is in resample b, and w_i is the share of the points that are in it. With single
    points the first two terms are (2 + 1/(n-1)) (E_i - epsilon_0)/n. The last term is a covariance over B resamples, so
    it has noise that does not vanish with n; the expected sum of its squares is returned too, to be subtracted:

    .. math:: \sum_i \frac{\sum_b (N_{ib} - \bar N_i)^2 (q_b - \bar q)^2}{(\sum_b I_{ib})^2}

    Parameters
    ----------
    zero : ZeroEstimate
        Of points of equal weight.
    judgements : list of Judgement
    counts : ndarray of shape (B, m)
        How often each resample holds each unit.
    units : ndarray of shape (n,), optional
        The unit of each point, from 0; by default each point is one.

    References
    ----------
    Efron & Tibshirani, Improvements on cross-validation: the .632+ bootstrap method, JASA 92 (1997).
    Wager, Hastie & Efron, Confidence intervals for random forests, JMLR 15 (2014), for the noise.
    """
    n, m = len(zero.contributions), counts.shape[1]
    left_out = (counts == 0).sum(axis=0)
    losses = np.array([judgement.contributions.sum() for judgement in judgements]) / n
    counts_centred = counts - counts.mean(axis=0)
    losses = losses - losses.mean()
    covariance = np.divide(counts_centred.T @ losses, left_out, out=np.zeros(m), where=left_out > 0)
    noise = np.divide((counts_centred**2).T @ losses**2, left_out**2, out=np.zeros(m), where=left_out > 0)
    units = np.arange(n) if units is None else units
    mass = np.bincount(units, weights=zero.contributions) / n
    share = np.bincount(units) / n
    # A unit that was never left out has no mean of its own, and is taken to have that of all.
    mass = np.where(left_out > 0, mass, share * zero.value)
    own = mass - share * zero.value + (m * mass - zero.value) / (m - 1)
    return own + covariance, float(noise.sum())
