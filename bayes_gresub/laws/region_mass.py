"""The mass of decision regions under components: exact where a formula pays, sampled elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.laws.components import Components
from bayes_gresub.laws.sampling import Sampler, sampling_method

COUNTED = "count of points"


class ExactMass(NamedTuple):
    """Masses by a formula, shape (scales, k, classes), and the formula in words."""

    values: Floats
    method: str


class Regions(Protocol):
    """The partition of feature space into the regions where a classifier predicts each class."""

    @property
    def n_classes(self) -> int:
        """Return the number of regions."""

    def predict(self, points: Floats) -> Ints:
        """Return the class code of points (m, d) by the classifier's own `predict`."""

    def labels(self, points: Floats) -> Ints:
        """Return the class code of points (m, d), by a quicker way where it is known to give the same."""

    def exact_mass(self, components: Components, scales: Sequence[float]) -> ExactMass | None:
        """Return the mass of every region where a formula gives it, else None."""


@dataclass(frozen=True, eq=False)
class RegionMass:
    """What the integral returns.

    Attributes
    ----------
    values : ndarray of shape (scales, replicates, k, c)
        Mass of each region under each component; one replicate where exact.
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
        The region that each centre lies in, where already known.
    spread : callable, optional
        Maps values so far to a standard error, for the sampler's `tol`.
    """
    k, c = len(components), regions.n_classes
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
        result = _sampled(components, regions, still, sampler, factors, spread)
    if center_labels is not None:
        # What predict says at the very point also settles centres that lie on a boundary.
        at_points = np.eye(c)[center_labels]
        if still.any():
            result.values[:, :, still] = at_points[still]
        if not factors.all():
            result.values[factors == 0] = at_points
    return result


def _sampled(
    components: Components,
    regions: Regions,
    still: np.ndarray,
    sampler: Sampler,
    scales: Floats,
    spread: Callable[[Floats], float] | None,
) -> RegionMass:
    """Sample the components that move; the caller fills in those that do not."""
    moving = np.flatnonzero(~still)
    k, c = len(components), regions.n_classes
    identity = np.eye(c)

    def whole(means: Floats) -> Floats:
        if len(moving) == k:
            return means
        values = np.zeros((*means.shape[:2], k, c))
        values[:, :, moving] = means
        return values

    def in_region(points: Floats, _: Ints) -> Floats:
        try:
            return identity[regions.labels(points)]
        except Exception as error:
            error.add_note(
                "raised by predict at points sampled about the training points: the kernels may leave the domain of "
                "the classifier. PosteriorProbability and Empirical predict at the data only."
            )
            raise

    spread_of_part = None if spread is None else lambda part: spread(whole(part))
    sampled = sampler.means(components.take(moving), in_region, scales.tolist(), spread_of_part)
    return RegionMass(whole(sampled.means), sampling_method(components), False, sampled.n_points)
