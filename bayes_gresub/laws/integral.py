"""The one integral: what a law gives to each pair of a label and a prediction of a classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.seeds import HALF, child
from bayes_gresub.laws.confusion import error_mass, joint, standard_error, with_prior
from bayes_gresub.laws.law import Law
from bayes_gresub.laws.point_masses import Outcome, PairedMasses, PointMasses, SeparateMasses, reweighted
from bayes_gresub.laws.region_mass import COUNTED, RegionMass, Regions, region_mass
from bayes_gresub.laws.sampling import Sampler, sampling_method


@dataclass(frozen=True, eq=False)
class Confusion:
    r"""The mass :math:`C_{yj} = \nu(\{(x, y): \psi(x) = j\})`, about each component until it is reduced.

    Attributes
    ----------
    masses : PointMasses
    law : Law
        Over the classes of the regions.
    method : str
        How it was computed, in words.
    exact : bool
    n_predicted : int
        Points that were classified for it, beside the centres.
    """

    masses: PointMasses
    law: Law
    method: str
    exact: bool
    n_predicted: int

    @cached_property
    def reduced(self) -> Outcome:
        """Return errors, confusions and contributions with the weights and the class prior of the law."""
        return self.masses.outcome(self.law.weights, self.law.class_prior)


def confusion(law: Law, regions: Regions, sampler: Sampler, center_labels: Ints | None = None) -> Confusion:
    r"""Return what a law gives to each pair of a label and a prediction.

    .. math:: C_{yj} = \sum_i w_i \int_{\{x: \psi(x) = j\}} \eta_i(y \mid x) \, \mu_i(dx)

    Parameters
    ----------
    law : Law
    regions : Regions
        Where the classifier predicts each class.
    sampler : Sampler
        How points are sampled where no formula applies.
    center_labels : ndarray of shape (k,), optional
        Predictions at the centres of the components, where already known.

    Examples
    --------
    >>> import numpy as np
    >>> import bayes_gresub as bg
    >>> from sklearn.neighbors import NearestCentroid
    >>> from bayes_gresub.regions import decision_region
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> measure = bg.Bolstered().fit(X, y)
    >>> seed = np.random.SeedSequence(0)
    >>> region = decision_region(NearestCentroid().fit(X, y), measure.training_sample, seed)
    >>> mass = confusion(measure.law(), region, Sampler(seed), region.center_labels)
    >>> mass.reduced.confusions[0].round(4).tolist(), mass.method
    ([[0.3691, 0.1309], [0.1309, 0.3691]], 'normal distribution function at a linear boundary')
    """
    return confusions_at_scales(law, regions, sampler, (1.0,), center_labels)[0]


def confusions_at_scales(
    law: Law, regions: Regions, sampler: Sampler, scales: Sequence[float], center_labels: Ints | None = None
) -> list[Confusion]:
    """Return one confusion per factor on the spread of all components, from the same standard draws."""
    law = law.over(regions.n_classes)
    table = law.table
    if table is not None:
        masses, integral = _with_labels_of_components(law, table, regions, sampler, scales, center_labels)
    else:
        masses, integral = _with_labels_of_points(law, regions, sampler, scales)
    return [
        Confusion(
            point_masses,
            law,
            integral.method if scale else COUNTED,
            integral.exact or scale == 0,
            integral.n_predicted,
        )
        for point_masses, scale in zip(masses, scales, strict=True)
    ]


def _with_labels_of_components(
    law: Law,
    table: Floats,
    regions: Regions,
    sampler: Sampler,
    scales: Sequence[float],
    center_labels: Ints | None,
) -> tuple[list[PointMasses], RegionMass]:
    weights, labels = reweighted(law.weights, table, law.class_prior)

    def spread(values: Floats) -> float:
        return max(standard_error(errors) for errors in error_mass(joint(values, weights, labels)))

    integral = region_mass(law.components, regions, sampler, scales, center_labels, spread)
    return [SeparateMasses(values, table) for values in integral.values], integral


def _with_labels_of_points(
    law: Law, regions: Regions, sampler: Sampler, scales: Sequence[float]
) -> tuple[list[PointMasses], RegionMass]:
    c, components = regions.n_classes, law.components
    identity = np.eye(c)

    def pairs(points: Floats, owners: Ints) -> Floats:
        labels = law.labels_at(points, owners)
        return (labels[:, :, None] * identity[regions.labels(points)][:, None, :]).reshape(len(points), -1)

    def as_masses(means: Floats) -> list[PointMasses]:
        return [PairedMasses(values.reshape(*values.shape[:2], c, c)) for values in means]

    def spread(means: Floats) -> float:
        errors = [masses.outcome(law.weights, law.class_prior).values for masses in as_masses(means)]
        return max(standard_error(values) for values in errors)

    if components.is_still.all() or not np.any(scales):
        once = pairs(components.centers, np.arange(len(components)))
        means = np.broadcast_to(once, (len(scales), 1, *once.shape))
        return as_masses(means), RegionMass(means, COUNTED, True, 0)
    sampled = sampler.means(components, pairs, scales, spread)
    return as_masses(sampled.means), RegionMass(sampled.means, sampling_method(components), False, sampled.n_points)


@dataclass(frozen=True, eq=False)
class ConfusionDraws:
    """Joint confusion masses of posterior draws: (1, draws, c, c) where exact, else two estimates of each draw."""

    halves: Floats
    method: str
    exact: bool
    n_predicted: int


def confusion_draws(law: Law, regions: Regions, sampler: Sampler, center_labels: Ints | None = None) -> ConfusionDraws:
    """Return the joint confusion mass of every draw of a posterior over laws, exact or twice with independent noise.

    In the second half draws take their points in another order. In the same order their noise would hang together:
    neighbouring stretches of a Sobol' sequence are shifts of each other, by the same bits in every scramble.
    """
    law = law.over(regions.n_classes)
    table = law.table
    assert table is not None, "labels of posterior draws are those of their components"
    draws, k = law.weights.shape
    components = law.components
    has_own_components = len(components) == draws * k

    def half(number: int, order: Ints | None) -> RegionMass:
        own_points = replace(sampler, seed=child(sampler.seed, HALF, number))
        taken = components if order is None else components.take(order)
        return region_mass(taken, regions, own_points, center_labels=center_labels)

    first = half(0, None)
    values, n_predicted = first.values[0], first.n_predicted
    if not first.exact:
        rng = np.random.default_rng(child(sampler.seed, HALF))
        order = (np.arange(k)[:, None] * draws + rng.permutation(draws)).ravel()
        second = half(1, order)
        again = np.empty_like(values)
        again[:, order] = second.values[0]
        values, n_predicted = np.concatenate([values, again]), n_predicted + second.n_predicted
    values = values.reshape(len(values), k, draws, -1).swapaxes(1, 2) if has_own_components else values[:, None]
    halves = joint(values, law.weights, table)
    if law.class_prior is not None:
        halves = with_prior(halves, law.class_prior)
    return ConfusionDraws(halves, first.method, first.exact, n_predicted)
