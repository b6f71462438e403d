"""The mass of decision regions under components, exact where it pays, and its reduction to a joint confusion mass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.laws.components import Components, Normal, StudentT
from bayes_gresub.laws.halfspace import linear_mass
from bayes_gresub.laws.sampling import REPLICATES, sampled_means, sampling_method
from bayes_gresub.laws.tree import tree_components, tree_mass
from bayes_gresub.regions.region import Region
from bayes_gresub.regions.shapes import Linear, Tree


@dataclass(frozen=True, eq=False)
class Mass:
    """What the integral answers.

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


def mass(
    components: Components,
    region: Region,
    *,
    n_points: int,
    seed: np.random.SeedSequence,
    center_labels: Ints | None = None,
    scales: Sequence[float] = (1.0,),
    n_jobs: int | None = None,
    tol: float | None = None,
    spread: Callable[[Floats], float] | None = None,
    replicates: int = REPLICATES,
    arrange: bool = True,
) -> Mass:
    r"""Return the mass :math:`\mu_i(\{x: \psi(x) = j\})` that each component gives to each decision region.

    Point masses are counted; a verified linear boundary and a tree under independent normal coordinates are integrated
    exactly, unless points are clipped to bounds; everything else is sampled by `sampled_means`, whose parameters these
    are.

    Parameters
    ----------
    components : Components
    region : Region
    center_labels : ndarray of shape (k,), optional
        The region's labels at the centres, where already known.
    """
    k, c = len(components), region.n_classes
    factors = np.asarray(scales, dtype=float)
    still = components.is_still if factors.any() else np.ones(k, dtype=bool)
    predicted = 0
    if center_labels is None and (still.any() or not factors.all()):
        center_labels, predicted = region.predict(components.centers), k
    if still.all() and center_labels is not None:
        counted = np.broadcast_to(np.eye(c)[center_labels], (len(factors), 1, k, c))
        return Mass(counted, "count of points", True, predicted)

    # No formula knows of bounds.
    boundary = region.geometry if components.bounds is None else None
    if isinstance(boundary, Linear):
        values = np.zeros((len(factors), 1, k, c))
        values[..., region.codes_of_own] = linear_mass(components, boundary, scales)[:, None]
        result = Mass(values, _linear_method(components), True, predicted)
    elif isinstance(boundary, Tree) and (inside := tree_components(components, boundary)) is not None:
        values = np.zeros((len(factors), 1, k, c))
        values[..., region.codes_of_own] = tree_mass(inside, boundary, scales, len(region.codes_of_own))[:, None]
        result = Mass(values, "recursion down the tree with the normal distribution function", True, predicted)
    else:
        result = _sampled(components, region, still, n_points, seed, factors, n_jobs, tol, spread, replicates, arrange)
    if center_labels is not None:
        # What predict says at the very point also settles centres that lie on a boundary.
        at_points = np.eye(c)[center_labels]
        if still.any():
            result.values[:, :, still] = at_points[still]
        if not factors.all():
            result.values[factors == 0] = at_points
    return result


def joint(region_mass: Floats, weights: Floats, label_law: Floats) -> Floats:
    r"""Return the joint confusion mass :math:`C_{yj} = \sum_i w_i \, \eta_i(y) \, \mu_i(\psi = j)`.

    Parameters
    ----------
    region_mass : ndarray of shape (..., k, c)
        Leading axes may be scales, replicates or posterior draws.
    weights : ndarray of shape (k,) or (..., k)
        Mass of each component.
    label_law : ndarray of shape (k, c) or (..., k, c)
        Law of the label of each component: one-hot where it is known.

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


def _linear_method(components: Components) -> str:
    if isinstance(components.law, Normal):
        return "normal distribution function at a linear boundary"
    if isinstance(components.law, StudentT):
        return "Student-t distribution function at a linear boundary"
    return "incomplete beta function at a linear boundary"


def _sampled(
    components: Components,
    region: Region,
    still: np.ndarray,
    n_points: int,
    seed: np.random.SeedSequence,
    scales: Floats,
    n_jobs: int | None,
    tol: float | None,
    spread: Callable[[Floats], float] | None,
    replicates: int,
    arrange: bool,
) -> Mass:
    """Sample the components that move; the caller fills in those that do not."""
    moving = np.flatnonzero(~still)
    k, c = len(components), region.n_classes
    identity = np.eye(c)

    def whole(means: Floats) -> Floats:
        if len(moving) == k:
            return means
        values = np.zeros((*means.shape[:2], k, c))
        values[:, :, moving] = means
        return values

    def in_region(points: Floats, _: Ints) -> Floats:
        try:
            return identity[region.labels(points)]
        except Exception as error:
            error.add_note(
                "raised by predict at points sampled about the training points: the kernels may leave the domain of "
                "the classifier. PosteriorProbability and Empirical predict at the data only."
            )
            raise

    sampled = sampled_means(
        components.take(moving),
        in_region,
        n_points=n_points,
        seed=seed,
        scales=scales.tolist(),
        n_jobs=n_jobs,
        tol=tol,
        spread=None if spread is None else lambda part: spread(whole(part)),
        replicates=replicates,
        arrange=arrange,
    )
    return Mass(whole(sampled.means), sampling_method(components), False, sampled.n_points)
