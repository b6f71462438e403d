"""The one integral: the mass that a law gives to each pair of a label and a prediction, and what follows from it.

Most functions of C[y, j] accept leading axes, of replicates or posterior draws.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from bayes_gresub.data.arrays import Floats, Ints, Labels
from bayes_gresub.laws.components import Components
from bayes_gresub.laws.sampling import Sampler, sampling_method

if TYPE_CHECKING:
    from bayes_gresub.laws.law import Law


@dataclass(frozen=True, eq=False)
class Outcome:
    """Averages over components: errors (replicates,), confusions (replicates, c, c); and contributions (k,)."""

    values: Floats
    confusions: Floats
    contributions: Floats
    weights: Floats


@dataclass(frozen=True, eq=False)
class Confusion(ABC):
    r"""The mass :math:`C_{yj} = \nu(\{(x, y): \psi(x) = j\})`, per replicate, and per component until reduced.

    Attributes
    ----------
    weights : ndarray of shape (k,)
        Of the components.
    class_prior : ndarray of shape (c,) or None
        Class probabilities to rescale to.
    method : str
        How it was computed, in words.
    exact : bool
    n_predicted : int
        Points that were classified for it, besides the centres.
    replicates : ndarray, whose first axes are independent replicates (one if exact) and components
    """

    weights: Floats
    class_prior: Floats | None
    method: str
    exact: bool
    n_predicted: int
    replicates: Floats

    n_centers: ClassVar[int | None] = None
    """Number of components about which something was sampled, if it is a subsample of them; here it is None."""

    @abstractmethod
    def reduced(self, weights: Floats | None = None) -> Outcome:
        """Average over the components under the class prior, with other weights if given."""

    @abstractmethod
    def pairs_about(self) -> Floats:
        """Return the mean mass of each (label, prediction) about each component, (k, c, c)."""

    def rows_about(self) -> Floats | None:
        """Return the mean mass by prediction about each component, (k, c), if labels are certain, else None."""
        return None

    def in_replicates(self, count: int) -> Self:
        """Return the same masses as `count` replicates: means of blocks, or a single replicate repeated."""
        n_replicates = len(self.replicates)
        if n_replicates == 1:
            return replace(self, replicates=np.broadcast_to(self.replicates, (count, *self.replicates.shape[1:])))
        if n_replicates % count:
            raise ValueError(f"{n_replicates} replicates cannot be averaged to {count}.")
        blocks = self.replicates.reshape(count, n_replicates // count, *self.replicates.shape[1:])
        return replace(self, replicates=blocks.mean(axis=1))


def confusion(law: Law, regions: Regions, sampler: Sampler, center_labels: Ints | None = None) -> Confusion:
    r"""Return the mass that a law gives to each pair of a label and a prediction.

    .. math:: C_{yj} = \sum_i w_i \int_{\{x: \psi(x) = j\}} \eta_i(y \mid x) \, \mu_i(dx)

    Parameters
    ----------
    law : Law
        Over the classes of the regions.
    regions : Regions
        Where the classifier predicts each class.
    sampler : Sampler
        How points are sampled if no formula applies.
    center_labels : ndarray of shape (k,), optional
        Predictions at the centres of the components, if already known.

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
    >>> mass.reduced().confusions[0].round(4).tolist(), mass.method
    ([[0.3691, 0.1309], [0.1309, 0.3691]], 'normal distribution function at a linear boundary')
    """
    return confusions_at_scales(law, regions, sampler, (1.0,), center_labels)[0]


def confusions_at_scales(
    law: Law, regions: Regions, sampler: Sampler, scales: Sequence[float], center_labels: Ints | None = None
) -> Sequence[Confusion]:
    """Return one confusion per factor on the spread of all components, from the same standard draws."""
    if callable(law.labels):
        return _with_labels_of_points(law, regions, sampler, scales)
    weights, labels = law.weights, law.labels
    if law.class_prior is not None:
        weights, labels = reweighted(weights, labels, law.class_prior)

    def spread(values: Floats) -> float:
        return max(standard_error(errors) for errors in error_mass(joint(values, weights, labels)))

    mass = region_mass(law.components, regions, sampler, scales, center_labels, spread)
    return [
        RegionConfusion(
            law.weights,
            law.class_prior,
            mass.method if scale else COUNTED,
            mass.exact or scale == 0,
            mass.n_predicted,
            values,
            law.labels,
        )
        for values, scale in zip(mass.values, scales, strict=True)
    ]


def _with_labels_of_points(
    law: Law, regions: Regions, sampler: Sampler, scales: Sequence[float]
) -> Sequence[Confusion]:
    c, components = len(regions.classes), law.components
    identity = np.eye(c)

    def pairs(points: Floats, owners: Ints) -> Floats:
        labels = law.labels_at(points, owners)
        return (labels[:, :, None] * identity[regions.labels(points)][:, None, :]).reshape(len(points), -1)

    def confusions(means: Floats, method: str, exact: bool, n_predicted: int) -> list[PairConfusion]:
        return [
            PairConfusion(
                law.weights,
                law.class_prior,
                method if scale else COUNTED,
                exact or scale == 0,
                n_predicted,
                values.reshape(*values.shape[:2], c, c),
            )
            for values, scale in zip(means, scales, strict=True)
        ]

    def spread(means: Floats) -> float:
        return max(standard_error(mass.reduced().values) for mass in confusions(means, "", False, 0))

    if components.is_still.all() or not np.any(scales):
        at_centers = pairs(components.centers, np.arange(len(components)))
        return confusions(np.broadcast_to(at_centers, (len(scales), 1, *at_centers.shape)), COUNTED, True, 0)
    sampled = sampler.means(components, pairs, scales, spread)
    return confusions(sampled.means, sampling_method(components), False, sampled.n_points)


COUNTED = "count of points"


class ExactMass(NamedTuple):
    """Masses by a formula, shape (scales, k, classes), and the formula in words."""

    values: Floats
    method: str


class Regions(Protocol):
    """The partition of feature space into the regions where a classifier predicts each class."""

    @property
    def classes(self) -> Labels:
        """Return the class of each region."""

    def predict(self, points: Floats) -> Ints:
        """Return the class code of points (m, d) by the classifier's own `predict`."""

    def labels(self, points: Floats) -> Ints:
        """Return the class code of points (m, d), by a faster method if one is known to agree with `predict`."""

    def exact_mass(self, components: Components, scales: Sequence[float]) -> ExactMass | None:
        """Return the mass of every region if a formula gives it, else None."""


@dataclass(frozen=True, eq=False)
class RegionMass:
    """The result of the integral.

    Attributes
    ----------
    values : ndarray of shape (scales, replicates, k, c)
        Mass of each region under each component; one replicate if exact.
    method : str
        How it was computed, in words.
    exact : bool
    n_predicted : int
        Points that were classified for the integral itself.
    """

    values: Floats
    method: str
    exact: bool
    n_predicted: int


def region_mass(
    components: Components,
    regions: Regions,
    sampler: Sampler,
    scales: Sequence[float] = (1.0,),
    center_labels: Ints | None = None,
    spread: Callable[[Floats], float] | None = None,
    seen: Callable[[Floats, Ints, Ints], None] | None = None,
) -> RegionMass:
    r"""Return the mass :math:`\mu_i(\{x: \psi(x) = j\})` that each component gives to each decision region.

    Point masses are counted; a linear boundary and a tree under independent normal coordinates are integrated
    exactly, unless points are clipped to bounds; everything else is sampled.

    Parameters
    ----------
    components : Components
    regions : Regions
    sampler : Sampler
    scales : sequence of float
        Factors on the components' spread.
    center_labels : ndarray of shape (k,), optional
        The region that each centre lies in, if already known.
    spread : callable, optional
        Maps the values so far to a standard error, for the sampler's `tol`.
    seen : callable, optional
        Is handed the sampled points, the components they were drawn from and the regions they lie in, batch by batch.
    """
    k, c = len(components.centers), len(regions.classes)
    factors = np.asarray(scales, dtype=float)
    still = components.is_still if factors.any() else np.ones(k, dtype=bool)
    predicted = 0
    if center_labels is None and (still.any() or not factors.all()):
        center_labels, predicted = regions.predict(components.centers), k
    if still.all() and center_labels is not None:
        counted = np.broadcast_to(np.eye(c)[center_labels], (len(factors), 1, k, c))
        return RegionMass(counted, COUNTED, True, predicted)

    formula = regions.exact_mass(components, scales)
    if formula is not None:
        result = RegionMass(formula.values[:, None], formula.method, True, predicted)
    else:
        result = _sample_mass(components, regions, still, sampler, factors, spread, seen)
    if center_labels is not None:
        # The prediction at the centre itself also decides centres that lie on a boundary.
        at_points = np.eye(c)[center_labels]
        if still.any():
            result.values[:, :, still] = at_points[still]
        if not factors.all():
            result.values[factors == 0] = at_points
    return result


def _sample_mass(
    components: Components,
    regions: Regions,
    still: np.ndarray,
    sampler: Sampler,
    scales: Floats,
    spread: Callable[[Floats], float] | None,
    seen: Callable[[Floats, Ints, Ints], None] | None,
) -> RegionMass:
    """Sample the components with spread; the caller fills in the point masses."""
    moving = np.flatnonzero(~still)
    k, c = len(components.centers), len(regions.classes)
    identity = np.eye(c)

    def expand(means: Floats) -> Floats:
        if len(moving) == k:
            return means
        values = np.zeros((*means.shape[:2], k, c))
        values[:, :, moving] = means
        return values

    def in_region(points: Floats, owners: Ints) -> Floats:
        try:
            labels = regions.labels(points)
        except Exception as error:
            error.add_note(
                "raised by predict at points sampled about the training points: the kernels may leave the domain of "
                "the classifier. PosteriorProbability and Empirical predict at the data only."
            )
            raise
        if seen is not None:
            seen(points, moving[owners], labels)
        return identity[labels]

    spread_of_part = None if spread is None else lambda part: spread(expand(part))
    sampled = sampler.means(components.take(moving), in_region, scales.tolist(), spread_of_part)
    return RegionMass(expand(sampled.means), sampling_method(components), False, sampled.n_points)


@dataclass(frozen=True, eq=False)
class RegionConfusion(Confusion):
    """For labels that do not depend on the sampled point: mass of each region times law of the label.

    Attributes
    ----------
    replicates : ndarray of shape (replicates, k, c)
        Mass of each component in the region where the classifier predicts each class.
    labels : ndarray of shape (k, c)
        Law of the label of each component.
    """

    labels: Floats

    def reduced(self, weights: Floats | None = None) -> Outcome:
        """Average; under a prior the weight of a component depends on the law of its label."""
        weights, labels = self.weights if weights is None else weights, self.labels
        if self.class_prior is not None:
            weights, labels = reweighted(weights, labels, self.class_prior)
        confusions = joint(self.replicates, weights, labels)
        contributions = (self.replicates.mean(axis=0) * (1.0 - labels)).sum(axis=1)
        return Outcome(error_mass(confusions), confusions, contributions, weights)

    def rows_about(self) -> Floats | None:
        """Return the mean mass of the regions, or None if a label is uncertain."""
        return np.asarray(self.replicates.mean(axis=0)) if (self.labels.max(axis=1) == 1).all() else None

    def pairs_about(self) -> Floats:
        """Return the law of the label times the mass."""
        return np.asarray(self.labels[:, :, None] * self.replicates.mean(axis=0)[:, None, :])


@dataclass(frozen=True, eq=False)
class PairConfusion(Confusion):
    """For labels that depend on the sampled point: mass of each (label, prediction), (replicates, k, c, c)."""

    def reduced(self, weights: Floats | None = None) -> Outcome:
        """Average; under a prior every pair is multiplied by the prior ratio of its label."""
        weights = self.weights if weights is None else weights
        confusions = np.einsum("k,rkyj->ryj", weights, self.replicates)
        pairs = self.replicates.mean(axis=0)
        if self.class_prior is not None:
            ratio = prior_ratio(self.class_prior, class_mass(confusions.mean(axis=0)))
            confusions = replicates_with_prior(confusions, self.class_prior)
            pairs = pairs * ratio[:, None]
            weights = weights * pairs.sum(axis=(1, 2))
        total = pairs.sum(axis=(1, 2))
        contributions = np.divide(error_mass(pairs), total, out=np.zeros_like(total), where=total > 0)
        return Outcome(error_mass(confusions), confusions, contributions, weights)

    def pairs_about(self) -> Floats:
        """Return the mean over replicates."""
        return np.asarray(self.replicates.mean(axis=0))


def reweighted(weights: Floats, law: Floats, prior: Floats) -> tuple[Floats, Floats]:
    """Return the mass of each centre and the law of its label under these class probabilities."""
    weighted = law * weights[:, None]
    weighted *= prior_ratio(prior, weighted.sum(axis=0))
    weights = weighted.sum(axis=1)
    return weights, np.divide(weighted, weights[:, None], out=law.copy(), where=weights[:, None] > 0)


def joint(region_mass: Floats, weights: Floats, label_law: Floats) -> Floats:
    r"""Return the joint confusion mass :math:`C_{yj} = \sum_i w_i \, \eta_i(y) \, \mu_i(\psi = j)`.

    Parameters
    ----------
    region_mass : ndarray of shape (..., k, c)
        Leading axes may be scales, replicates or posterior draws.
    weights : ndarray of shape (k,) or (..., k)
        Mass of each component.
    label_law : ndarray of shape (k, c) or (..., k, c)
        Law of the label of each component: one-hot if it is known.

    Returns
    -------
    ndarray of shape (..., c, c)

    Examples
    --------
    >>> import numpy as np
    >>> joint(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0.5, 0.5]), np.eye(2)).tolist()
    [[0.45, 0.05], [0.1, 0.4]]
    """
    weighted = label_law * weights[..., None]
    return np.matmul(weighted.swapaxes(-1, -2), region_mass)


def error_mass(confusion: Floats) -> Floats:
    """Return the error, the mass off the diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> float(error_mass(np.array([[0.45, 0.05], [0.1, 0.4]])).round(6))
    0.15
    """
    # The sum off the diagonal, not one minus the trace: tiny errors keep their digits.
    off_diagonal = ~np.eye(confusion.shape[-1], dtype=bool)
    return np.asarray(confusion[..., off_diagonal].sum(axis=-1))


def class_mass(confusion: Floats) -> Floats:
    """Return the mass of each true class, shape (..., c)."""
    return np.asarray(confusion.sum(axis=-1))


def class_errors(confusion: Floats) -> Floats:
    """Return the error given each true class, shape (..., c); NaN for a class without mass."""
    total = class_mass(confusion)
    off_diagonal = confusion * ~np.eye(confusion.shape[-1], dtype=bool)
    return np.divide(off_diagonal.sum(axis=-1), total, out=np.full_like(total, np.nan), where=total > 0)


def expected_cost(confusion: Floats, cost: ArrayLike) -> Floats:
    """Return the mean of cost[y, j], the cost of predicting j when y is true."""
    c = confusion.shape[-1]
    try:
        matrix = np.asarray(cost, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"cost must be a matrix of numbers of shape ({c}, {c}); got {cost!r}.") from error
    if matrix.shape != (c, c) or not np.isfinite(matrix).all():
        raise ValueError(
            f"cost must be a finite matrix of shape ({c}, {c}), true class by predicted class; "
            f"got shape {matrix.shape}."
        )
    return np.asarray((confusion * matrix).sum(axis=(-2, -1)))


def with_prior(confusion: Floats, prior: Floats) -> Floats:
    """Return the confusion mass of the same classifier under these class probabilities, draw by draw."""
    return np.asarray(confusion * prior_ratio(prior, class_mass(confusion))[..., None])


def replicates_with_prior(confusions: Floats, prior: Floats) -> Floats:
    r"""Return replicates of a confusion mass, shape (replicates, c, c), under other class probabilities.

    Their mean is the mean of the given replicates with rows rescaled to the prior. Each is corrected for the deviation
    of its class masses (the linear part of the ratio), so that their spread gives the standard error of a ratio:

    .. math:: C'_r = \frac{\pi_y}{\bar m_y} \left(C_r - (m_r - \bar m) \frac{\bar C}{\bar m}\right)
    """
    mean = confusions.mean(axis=0)
    mass = class_mass(mean)
    rates = np.divide(mean, mass[:, None], out=np.zeros_like(mean), where=mass[:, None] > 0)
    moved = confusions - (class_mass(confusions) - mass)[..., None] * rates
    return np.asarray(moved * prior_ratio(prior, mass)[:, None])


def prior_ratio(prior: Floats, class_masses: Floats) -> Floats:
    """Return the factor on the mass of each class that gives the prior, shape (..., c)."""
    if ((class_masses <= 0) & (prior > 0)).any():
        raise ValueError("class_prior must be 0 for a class without mass; no data show the classifier's errors there.")
    target = np.broadcast_to(prior, class_masses.shape)
    return np.divide(target, class_masses, out=np.zeros_like(class_masses), where=class_masses > 0)


def standard_error(replicates: Floats) -> float:
    """Return the standard error of the mean of independent replicates; 0 for a single one, the exact value."""
    if len(replicates) == 1:
        return 0.0
    return float(replicates.std(ddof=1) / np.sqrt(len(replicates)))
