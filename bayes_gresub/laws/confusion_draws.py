"""Confusion masses of posterior draws of a law: exact, or sampled until the noise is small beside the posterior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.seeds import HALF, child
from bayes_gresub.laws.components import Components, Normal, StudentT
from bayes_gresub.laws.confusion import Regions, error_mass, joint, region_mass, with_prior
from bayes_gresub.laws.densities import Densities
from bayes_gresub.laws.law import Law
from bayes_gresub.laws.sampling import Sampler

MOST_NOISE = 0.1
"""Noise variance that is small enough, as a share of the posterior variance."""

MAX_SWEEPS = 4
"""How often points are drawn for all draws, if once is not enough."""

FEW_FEATURES = 20
"""Features beyond which sharing points costs more than drawing points MAX_SWEEPS times."""

LEAST_POOL, MOST_POOL = 1024, 16384
"""Points of a class that are used for all of its draws, to begin with and at most."""

MOST_FEATURES = 40
"""Features beyond which draws of a full covariance matrix have too little in common to share points."""

_LEAST_WEIGHT = 0.02
_CENTERS = 64
_COLLECTED_ELEMENTS = 2**23
_DENSITY_ELEMENTS = 2**21


@dataclass(frozen=True, eq=False)
class ConfusionDraws:
    """Joint confusion masses of posterior draws.

    Attributes
    ----------
    halves : ndarray of shape (1, draws, c, c) where exact, else (2, draws, c, c)
        Two estimates of each draw, whose noise is independent.
    separate : ndarray of shape (draws, c, c)
        Estimates from points of each draw's own, whose noise is independent between draws.
    method : str
    exact : bool
    n_predicted : int
    noise_share : float
        Variance of the noise in the mean of the halves, divided by the posterior variance of the error.
    """

    halves: Floats
    separate: Floats
    method: str
    exact: bool
    n_predicted: int
    noise_share: float = 0.0


def confusion_draws(law: Law, regions: Regions, sampler: Sampler, center_labels: Ints | None = None) -> ConfusionDraws:
    r"""Return the joint confusion mass of every draw of a posterior over laws, exact or twice with independent noise.

    Sampled masses are averages of two estimates. The first counts the points drawn from each draw's own law. The second
    uses the points of all draws for each of them. Let :math:`p_s(x)` be the density of a class under draw s times the
    class's probability, and :math:`q(x)` that of the N points drawn of this class, the mean over draws. The mass of
    any region but the class's main one, where most of its centres lie, is

    .. math:: \frac1N \sum_{i:\, x_i \in R} \frac{p_s(x_i)}{q(x_i)},

    the balance heuristic of multiple importance sampling. Where draws are alike, this has far less noise. The weight
    of the two estimates minimises the noise, which the halves reveal. While it is more than a tenth of the
    posterior variance, more points are drawn, in at most four sweeps. With more than 20 features and full covariance
    matrices, points are shared only if four sweeps of the draws' own points would not be enough: the densities then
    cost more than the points.

    References
    ----------
    Veach & Guibas, Optimally combining sampling techniques for Monte Carlo rendering, SIGGRAPH (1995).
    """
    law = law.over(len(regions.classes))
    # Computed once for all sweeps, and only if there is no formula.
    densities = cache(lambda: [Densities(law.components.take(rows), np.float32) for rows in _rows_of_classes(law)])
    sweeps: list[_Sweep] = []
    shares_points = len(law.components) == law.weights.size and _can_share(law)
    for number in range(MAX_SWEEPS):
        latest = _sweep_points(law, regions, sampler, number, center_labels, densities if shares_points else None)
        shares_points = bool(latest.pools)
        sweeps.append(latest)
        if latest.exact:
            halves, share = latest.separate, 0.0
            break
        halves, share = _combined(sweeps)
        if share <= MOST_NOISE:
            break
    separate = np.mean([sweep.separate.mean(axis=0) for sweep in sweeps], axis=0)
    if law.class_prior is not None:
        halves, separate = with_prior(halves, law.class_prior), with_prior(separate, law.class_prior)
    n_predicted = sum(sweep.n_predicted for sweep in sweeps)
    return ConfusionDraws(halves, separate, sweeps[0].method, sweeps[0].exact, n_predicted, share)


@dataclass(frozen=True, eq=False)
class _Sweep:
    """Masses from the draws' own points, (1 or 2, draws, c, c), and for each half the pools of its classes."""

    separate: Floats
    pools: list[list[_Pool]]
    method: str
    exact: bool
    n_predicted: int


def _sweep_points(
    law: Law,
    regions: Regions,
    sampler: Sampler,
    number: int,
    center_labels: Ints | None,
    densities: Callable[[], list[Densities]] | None,
) -> _Sweep:
    """Return the masses of one sweep, exact or in two halves; `densities` are those for sharing points, if at all.

    In the second half draws take their points in another order. In the same order their noise would be correlated:
    neighbouring stretches of a Sobol' sequence are shifts of each other, by the same bits in every scramble.
    """
    draws, k = law.weights.shape
    components, labels = law.components, _component_labels(law)
    has_own_components = len(components) == draws * k
    values, collectors, n_predicted = [], [], 0
    for half in range(2):
        seed = child(sampler.seed, HALF, 2 * number + half)
        order = np.arange(len(components))
        if half == 1:
            rng = np.random.default_rng(child(sampler.seed, HALF, *([] if number == 0 else [2 * number, 0])))
            order = (np.arange(k)[:, None] * draws + rng.permutation(draws)).ravel()
        collector = None
        if densities is not None:
            collector = _Collector(law, len(order) * sampler.n_points, _main_regions(law, regions), child(seed, 0))
        taken = components if half == 0 else components.take(order)
        mass = region_mass(taken, regions, replace(sampler, seed=seed), center_labels=center_labels, seen=collector)
        n_predicted += mass.n_predicted
        in_place = np.empty_like(mass.values[0])
        in_place[:, order] = mass.values[0]
        values.append(in_place[0])
        if mass.exact:
            break
        if collector is not None:
            collectors.append(collector)
    by_draw = np.stack(values)
    by_draw = by_draw.reshape(len(by_draw), k, draws, -1).swapaxes(1, 2) if has_own_components else by_draw[:, None]
    separate = joint(by_draw, law.weights, labels)
    pools = []
    if densities is not None and collectors and not (number == 0 and _own_points_suffice(components, separate)):
        pools = [collector.pools(densities()) for collector in collectors]
    return _Sweep(separate, pools, mass.method, mass.exact, n_predicted)


def _main_regions(law: Law, regions: Regions) -> Ints:
    """Return for each class the region that most centres of its components lie in, of some draws spread evenly."""
    rows = _rows_of_classes(law)
    chosen = [members[np.linspace(0, len(members) - 1, _CENTERS).astype(np.intp)] for members in rows]
    labels = regions.labels(law.components.centers[np.concatenate(chosen)]).reshape(len(rows), _CENTERS)
    return np.array([np.bincount(row).argmax() for row in labels])


def _own_points_suffice(components: Components, separate: Floats) -> bool:
    """Return whether more points of the draws' own are enough, and cheaper than sharing these points."""
    if components.spread.ndim < 3 or components.dim <= FEW_FEATURES:
        return False
    noise, signal = _noise_and_signal(separate)
    # The variance of the noise is known to some percent only.
    return bool(noise.sum() <= 0.8 * MAX_SWEEPS * MOST_NOISE * signal)


def _combined(sweeps: list[_Sweep]) -> tuple[Floats, float]:
    """Return the two halves of all sweeps, own and shared points combined, and the share of noise in their mean."""
    separate = combined = np.mean([sweep.separate for sweep in sweeps], axis=0)
    pools = [half for sweep in sweeps for half in sweep.pools]
    sizes = np.full(len(pools[0]) if pools else 0, LEAST_POOL)
    while pools:
        shared = np.mean([[_shared_masses(half, sizes) for half in sweep.pools] for sweep in sweeps], axis=0)
        c = shared.shape[2]
        weights = np.array([_weight(separate[:, :, y], shared[:, :, y], y) for y in range(c)])
        combined = separate.copy()
        combined[:, :, :c] += weights[:, None] * (shared - separate[:, :, :c])
        noise, signal = _noise_and_signal(combined)
        if noise.sum() <= MOST_NOISE / 2 * signal:
            break
        # Twice the points of the classes that have more than their part of the noise, if more points would help.
        most = np.minimum(np.max([[pool.n_points for pool in half] for half in pools], axis=0), MOST_POOL)
        larger = (noise[:c] > MOST_NOISE / 2 * signal / c) & (sizes < most) & (weights > _LEAST_WEIGHT)
        if not larger.any():
            break
        sizes = np.where(larger, 2 * sizes, sizes)
    noise, signal = _noise_and_signal(combined)
    if not noise.any():
        return combined, 0.0
    return combined, float(noise.sum() / signal) if signal > 0 else np.inf


class _Collector:
    """Keeps the sampled points outside the main region of their class, with class and region, in bounded memory."""

    def __init__(self, law: Law, n_points: int, main_regions: Ints, seed: np.random.SeedSequence) -> None:
        self._law, self._main_regions, self._seed = law, main_regions, seed
        self._draws = len(law.weights)
        self._class_of_component = _component_labels(law).argmax(axis=1)
        # Beyond this size, points of every second draw, every third and so on.
        self._stride = -(-n_points * law.components.centers.shape[1] // _COLLECTED_ELEMENTS)
        self._n_regions = _component_labels(law).shape[1]
        self._batches: list[tuple[int, Floats, Ints, Ints, Ints]] = []

    def __call__(self, points: Floats, owners: Ints, regions: Ints) -> None:
        """Take a batch of points with the components they were drawn from and the regions they lie in."""
        if self._stride > 1:
            rows = np.flatnonzero(owners % self._draws % self._stride == 0)
            points, owners, regions = points[rows], owners[rows], regions[rows]
        classes = self._class_of_component[owners // self._draws]
        n = self._n_regions
        counts = np.bincount(classes * n + regions, minlength=n * n).reshape(n, n)
        kept = np.flatnonzero(self._main_regions[classes] != regions)
        first = int(owners[0]) if len(owners) else -1
        self._batches.append((first, points[kept], classes[kept], regions[kept], counts))

    def pools(self, densities: list[Densities]) -> list[_Pool]:
        """Return the points of each class."""
        # Threads hand in batches in any order.
        batches = sorted(self._batches, key=lambda batch: batch[0])
        points, classes, regions = (np.concatenate([batch[i] for batch in batches]) for i in (1, 2, 3))
        counts = np.sum([batch[4] for batch in batches], axis=0)
        rng = np.random.default_rng(self._seed)
        result = []
        for code, density in enumerate(densities):
            rows = np.flatnonzero(classes == code)
            weights = self._law.weights[:, self._class_of_component == code]
            main = int(self._main_regions[code])
            result.append(_Pool(main, points[rows], regions[rows], counts[code], weights, density, rng))
        return result


class _Pool:
    """Points of one class outside its main region, drawn under all draws alike, and the masses that they give to each.

    The mass of the main region is what the others leave. `counts` are all points by region.
    """

    def __init__(
        self,
        main: int,
        points: Floats,
        regions: Ints,
        counts: Ints,
        weights: Floats,
        densities: Densities,
        rng: np.random.Generator,
    ) -> None:
        self._main, n_regions = main, len(counts)
        order = rng.permutation(len(points))
        # Points of rare regions come early, so that a part of the points represents all regions.
        order = order[np.argsort(_ranks(regions[order]), kind="stable")]
        self._points, self._regions = points[order], regions[order]
        self._shares = counts / counts.sum()
        self._weights, self._densities = weights, densities
        self._used = 0
        # Of f(x) / q(x), with f the density of each component and q their mean.
        self._sums = np.zeros((n_regions, weights.size))

    @property
    def n_points(self) -> int:
        """Return the number of points outside the main region."""
        return len(self._points)

    def masses(self, size: int) -> Floats:
        """Return the joint masses of the regions under every draw, (draws, regions), from the first `size` points."""
        end = min(size, len(self._points))
        step = max(1, _DENSITY_ELEMENTS // self._weights.size)
        for begin in range(self._used, end, step):
            rows = slice(begin, min(end, begin + step))
            densities = self._densities(self._points[rows])
            densities -= densities.max(axis=1, keepdims=True)
            np.exp(densities, out=densities)
            inside = self._regions[rows] == np.arange(len(self._shares))[:, None]
            self._sums += (inside / densities.mean(axis=1)) @ densities
        self._used = max(self._used, end)
        used = np.bincount(self._regions[: self._used], minlength=len(self._shares))
        draws, parts = self._weights.shape
        by_part = self._sums.reshape(-1, parts, draws)
        result = np.einsum("rps,sp->sr", by_part, self._weights) * (self._shares / np.maximum(used, 1))
        result[:, self._main] = self._weights.sum(axis=1) - result.sum(axis=1)
        return np.asarray(result)


def _ranks(regions: Ints) -> Floats:
    """Return for each point its place among those of its region, divided by their number."""
    ranks = np.empty(len(regions))
    for region in np.unique(regions):
        members = np.flatnonzero(regions == region)
        ranks[members] = np.arange(len(members)) / len(members)
    return ranks


def _component_labels(law: Law) -> Floats:
    assert not callable(law.labels), "labels of posterior draws are those of their components"
    return law.labels


def _can_share(law: Law) -> bool:
    """Return whether each component has one label and a density that is cheap to compute."""
    components, labels = law.components, _component_labels(law)
    return (
        labels.ndim == 2
        and bool((labels.max(axis=1) == 1).all())
        and isinstance(components.law, Normal | StudentT)
        and not components.is_still.any()
        and (components.spread.ndim < 3 or components.dim <= MOST_FEATURES)
    )


def _rows_of_classes(law: Law) -> list[Ints]:
    """Return the components of each class, in the order (part, draw)."""
    classes = np.repeat(_component_labels(law).argmax(axis=1), len(law.weights))
    return [np.flatnonzero(classes == code) for code in range(classes.max() + 1)]


def _shared_masses(pools: list[_Pool], sizes: Ints) -> Floats:
    """Return the joint masses of regions under every draw and class, (draws, c, regions), from so many points each."""
    return np.stack([pool.masses(int(size)) for pool, size in zip(pools, sizes, strict=True)], axis=1)


def _weight(separate: Floats, shared: Floats, code: int) -> float:
    """Return the weight of the shared points that gives the error of a class least noise; both (2, draws, regions)."""
    wrong = np.arange(separate.shape[2]) != code
    first, second = (half[0, :, wrong].sum(axis=0) - half[1, :, wrong].sum(axis=0) for half in (separate, shared))
    noise = np.cov(first, second)
    gain = noise[0, 0] - noise[0, 1]
    total = noise[0, 0] + noise[1, 1] - 2 * noise[0, 1]
    return float(np.clip(gain / total, 0.0, 1.0)) if total > 0 else 0.0


def _noise_and_signal(halves: Floats) -> tuple[Floats, float]:
    """Return the noise variance of each class's part of the error, mean of two halves, and the variance without it."""
    wrong = halves.sum(axis=3) - np.diagonal(halves, axis1=2, axis2=3)
    noise = np.var(wrong[0] - wrong[1], axis=0) / 4
    first, second = error_mass(halves)
    return noise, float(np.mean((first - first.mean()) * (second - second.mean())))
