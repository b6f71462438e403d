"""Averages over splits: the estimate of cross-validation and leave-one-out from their judgements."""

from __future__ import annotations

import numpy as np

from bayes_gresub.data.arrays import Floats
from bayes_gresub.resampling.refit import Judgement
from bayes_gresub.resampling.resampler import Combined, same_classes


def mean_over_splits(judgements: list[Judgement], weights: Floats, n_repeats: int = 1) -> Combined:
    r"""Return the mean over splits of the mass that each puts on the set of errors.

    .. math:: \hat\varepsilon = \frac1R \sum_i \nu_i(\{\psi_i(x) \ne y\})

    With weights w of the points, split i with n_i points held out has the mass

    .. math:: \frac{1}{n_i}\sum_{j \in i} w_j

    up to a common factor: 1/R where all weights are equal, and w_i for leave-one-out.

    Parameters
    ----------
    judgements : list of Judgement
        Of the splits of one partition after the other.
    weights : ndarray of shape (n,)
    n_repeats : int
        Partitions, which become the replicates; with 1 the replicates are those of the measure's own sampling.
    """
    same_classes(judgements)
    given = [weights[one.points] / len(one.points) for one in judgements]
    total = sum(float(some.sum()) for some in given)
    given = [some / total for some in given]
    contributions, point_weights = np.zeros(len(weights)), np.zeros(len(weights))
    for one, some in zip(judgements, given, strict=True):
        contributions[one.points] += some * one.contributions
        point_weights[one.points] += some
    np.divide(contributions, point_weights, out=contributions, where=point_weights > 0)
    values, confusions = _reduced(judgements, given)
    if n_repeats > 1:
        values, confusions = _by_repeat(judgements, given, n_repeats)
    return Combined(values, confusions, contributions, point_weights)


def _by_repeat(judgements: list[Judgement], weights: list[Floats], n_repeats: int) -> tuple[Floats, Floats]:
    """Return one replicate per partition, each of mass 1, whose mean is the estimate.

    Under unequal weights the masses of partitions differ a little; each is moved by that times the mean, the linear
    part of the ratio, which leaves the mean as it is.
    """
    found, masses = [], []
    for block in np.array_split(np.arange(len(judgements)), n_repeats):
        some = [weights[i] * n_repeats for i in block]
        found.append(_reduced([judgements[i] for i in block], some, averaged=True))
        masses.append(sum(float(part.sum()) for part in some))
    excess = np.array(masses) - np.mean(masses)
    values = np.concatenate([values for values, _ in found])
    values = values - excess * values.mean()
    confusions = np.concatenate([part for _, part in found])
    return values, confusions - excess[:, None, None] * confusions.mean(axis=0)


def _reduced(judgements: list[Judgement], weights: list[Floats], averaged: bool = False) -> tuple[Floats, Floats]:
    """Return the summed errors and confusions of some splits, per replicate of the measure or averaged over them."""
    several = [one.mass.n_replicates for one in judgements if one.mass.n_replicates > 1]
    count = min(several, default=1)
    outcomes = [one.mass.in_replicates(count).reduced(some) for one, some in zip(judgements, weights, strict=True)]
    values = np.sum([outcome.values for outcome in outcomes], axis=0)
    confusions = np.sum([outcome.confusions for outcome in outcomes], axis=0)
    if averaged:
        values, confusions = values.mean(axis=0, keepdims=True), confusions.mean(axis=0, keepdims=True)
    return values, confusions
