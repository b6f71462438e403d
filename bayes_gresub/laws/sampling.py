"""Randomised quasi-Monte-Carlo means under components. What is averaged is the caller's business."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.seeds import POINTS, child
from bayes_gresub.laws.components import Components
from bayes_gresub.laws.sobol import scrambles

REPLICATES = 8
"""Independent scrambles of the Sobol' sequence; their spread gives the standard error."""

MAX_REPLICATES = 64
"""Replicates kept apart; scrambles beyond that are averaged into them."""

MAX_SCRAMBLES = 4096
"""Where adding scrambles for the sake of `tol` stops."""

MAX_SOBOL_DIMENSION = 200
"""Above it independent draws do as well as Sobol' points and cost less."""

CHUNK_ELEMENTS = 2**20
"""Numbers in one batch of points, so that memory does not grow with n (8 MiB a copy)."""

_CHUNK_INDEPENDENT = 2**18
"""The same where points are independent: they are cheap to draw, if they stay in the cache."""

_STRETCH = 64
"""Logarithm of the length of a component's stretch of the random stream, far more than it uses."""

PointFunction = Callable[[Floats, Ints], Floats]
"""Maps points (m, d) and the index of the component each was drawn from, (m,), to values (m, q)."""


def block_size(n_points: int, replicates: int = REPLICATES, sobol: bool = True) -> int:
    """Return the points a component gets from each replicate: n_points / replicates, rounded up.

    Those of a Sobol' sequence are a power of two.
    """
    if not sobol:
        return -(-n_points // replicates)
    return 1 << max(0, int(np.ceil(np.log2(n_points / replicates))))


def sampling_method(components: Components) -> str:
    """Return in words what points are used for these components."""
    points = "scrambled Sobol' points" if _has_sobol(components) else "independent random points"
    return points if components.bounds is None else f"{points}, clipped to the bounds"


def _has_sobol(components: Components) -> bool:
    return components.law.n_uniforms(components.dim) <= MAX_SOBOL_DIMENSION


@dataclass(frozen=True, eq=False)
class Sampled:
    """Means per scale, replicate and component, shape (scales, replicates, k, q), and the points behind them."""

    means: Floats
    n_points: int


@dataclass(frozen=True, eq=False)
class Sampler:
    """How points are sampled from components.

    Attributes
    ----------
    seed : SeedSequence
        Scramble r depends on this and r alone.
    n_points : int
        Points per component, in `replicates` scrambles.
    tol : float, optional
        Add scrambles until the standard error is at most this.
    n_jobs : int, optional
        Threads; the numbers do not depend on it.
    replicates : int
        Scrambles to begin with.
    arrange : bool, default True
        Whether to order the components; False where similar ones stand next to each other already.
    """

    seed: np.random.SeedSequence
    n_points: int = 64
    tol: float | None = None
    n_jobs: int | None = None
    replicates: int = REPLICATES
    arrange: bool = True

    def means(
        self,
        components: Components,
        function: PointFunction,
        scales: Sequence[float] = (1.0,),
        spread: Callable[[Floats], float] | None = None,
    ) -> Sampled:
        r"""Return the mean of a function under every component, once per replicate and scale.

        For scramble r and component i the mean is over a block of b points,

        .. math:: \frac1b \sum_{m=1}^{b} f(c_i + \kappa T_i z_{r, ib+m}),

        where z_r is one long Sobol' sequence (random linear matrix scramble and digital shift) that is dealt to the
        components in blocks. Each scramble is unbiased and they are independent, so a standard error comes from
        their spread. Similar components get neighbouring blocks, so that together they are spread evenly too. In more
        than 200 dimensions the points are independent, in pairs of opposite ones.

        Parameters
        ----------
        components : Components
        function : callable
            Maps points (m, d) and owners (m,) to values (m, q).
        scales : sequence of float
            Factors kappa on the components' spread; all use the same standard draws.
        spread : callable, optional
            Maps the means so far to a standard error, which `tol` is compared with.

        Returns
        -------
        Sampled
            A replicate is one scramble, or where `tol` wants many, the mean of as many of them as of any other.
        """
        sobol = _has_sobol(components)
        order, leading = _arrangement(components) if self.arrange and sobol else (np.arange(len(components)), None)
        ordered = components.take(order)
        block = block_size(self.n_points, self.replicates, sobol)

        def run(first: int, last: int) -> Floats:
            scrambles_to_run = range(first, last)
            values = _replicates(
                ordered, order, leading, function, scrambles_to_run, block, self.seed, scales, self.n_jobs
            )
            result = np.empty_like(values)
            result[:, :, order] = values
            return result

        means, done = run(0, self.replicates), self.replicates
        while self.tol is not None and spread is not None and (error := spread(means)) > self.tol:
            if done >= MAX_SCRAMBLES:
                warnings.warn(
                    f"tol={self.tol} was not reached: the Monte-Carlo standard error is {error:.2g} after "
                    f"{done} scrambles. Raise tol or n_points.",
                    ConvergenceWarning,
                    stacklevel=2,
                )
                break
            kept = means.shape[1]
            if kept < MAX_REPLICATES:
                means = np.concatenate([means, run(done, 2 * done)], axis=1)
            else:
                # As many scrambles again, added to the replicates there are: memory stays where it is.
                more = sum(run(begin, begin + kept) for begin in range(done, 2 * done, kept))
                means = 0.5 * (means + more * (kept / done))
            done *= 2
        return Sampled(means, len(scales) * done * len(components) * block)


def _arrangement(components: Components) -> tuple[Ints, Floats | None]:
    """Return the order in which components get their blocks, and per group the direction that leads.

    Components are ordered by group, then along the line from the centre of all to the group's centre, and that line
    is made the first coordinate of the standard draws: classes differ most along it, and Sobol' points are most even in
    single coordinates. Neither changes the law of any component's points.
    """
    group = components.group
    n_groups = len(components.spread)
    counts = np.bincount(group, minlength=n_groups)
    if n_groups * 2 > len(components):
        return np.arange(len(components)), None
    deviations = components.feature_deviations()[counts > 0].mean(axis=0)
    # Distances count in units of the spread, so that nothing here depends on the units of the features.
    per_unit = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=deviations > 0)
    middle = components.centers.mean(axis=0)
    position = np.empty(len(components))
    leading = np.zeros((n_groups, components.dim))
    leading[:, 0] = 1.0
    for g in np.flatnonzero(counts):
        members = np.flatnonzero(group == g)
        inside = components.centers[members]
        outward = (inside.mean(axis=0) - middle) * per_unit
        position[members] = (inside * per_unit) @ outward
        along = components.in_standard_space(outward * per_unit)[g]
        if (length := np.linalg.norm(along)) > 0:
            leading[g] = along / length
    return np.lexsort((position, group)), leading


def _lead(z: Floats, leading: Floats) -> Floats:
    """Reflect draws z (..., k, m, p): the first axis becomes the direction `leading` (k, p) of each component."""
    mirror = leading.copy()
    mirror[:, 0] -= 1.0
    length = np.linalg.norm(mirror, axis=1, keepdims=True)
    mirror = np.divide(mirror, length, out=np.zeros_like(mirror), where=length > 1e-12)
    return z - 2.0 * (z @ mirror[:, :, None]) * mirror[:, None, :]


def _replicates(
    components: Components,
    owner: Ints,
    leading: Floats | None,
    function: PointFunction,
    replicates: range,
    block: int,
    seed: np.random.SeedSequence,
    scales: Sequence[float],
    n_jobs: int | None,
) -> Floats:
    """Return the means of these replicates, shape (scales, replicates, k, q), in batches of bounded size."""
    k, dim = len(components), components.dim
    size = components.law.n_uniforms(dim)
    width = max(size, components.centers.shape[1])
    if components.spread.ndim == 3 and len(components.spread) > 1:
        width = max(width, dim * components.centers.shape[1] // block)
    sobol = _has_sobol(components)
    per_batch = max(1, (CHUNK_ELEMENTS if sobol else _CHUNK_INDEPENDENT) // (block * width))
    together = max(1, min(len(replicates), per_batch // k))
    step = min(k, per_batch)

    def batch(some: Sequence[int], begin: int) -> Floats:
        end = min(begin + step, k)
        part = components.take(slice(begin, end))
        seeds = [child(seed, POINTS, r) for r in some]
        if sobol:
            u = scrambles(size, begin * block, end * block, seeds)
            z = part.law.from_uniforms(u.reshape(len(some), end - begin, block, size), dim)
        else:
            z = _independent(components, range(begin, end), block, seeds)
        if leading is not None:
            z = _lead(z, leading[part.group])
        owners = np.tile(np.repeat(owner[begin:end], block), len(some))
        means = []
        for scale in scales:
            points = part.place(z, scale).reshape(len(owners), -1)
            values = function(points, owners)
            means.append(values.reshape(len(some), end - begin, block, -1).mean(axis=2))
        return np.stack(means)

    groups = [replicates[i : i + together] for i in range(0, len(replicates), together)]
    tasks = [(some, begin) for some in groups for begin in range(0, k, step)]
    if n_jobs in (None, 1) or len(tasks) == 1:
        results = [batch(*task) for task in tasks]
    else:
        results = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(batch)(*task) for task in tasks)
    rows = len(range(0, k, step))
    by_group = [np.concatenate(results[i : i + rows], axis=2) for i in range(0, len(results), rows)]
    return np.concatenate(by_group, axis=1)


def _independent(components: Components, numbers: range, block: int, seeds: Sequence[np.random.SeedSequence]) -> Floats:
    """Return standard draws for the components with these numbers, shape (seeds, k, block, dim).

    Each component has a stretch of its own in the stream of each seed, so that its draws depend on no other's. Standard
    laws are symmetric: half of the draws are the others' opposites, which have the same law and cost nothing.
    """
    z = np.empty((len(seeds), len(numbers), block, components.dim))
    laws = [components.law.take(slice(number, number + 1)) for number in numbers]
    half = -(-block // 2)
    for seed, some in zip(seeds, z, strict=True):
        for number, law, place in zip(numbers, laws, some, strict=True):
            stream = np.random.PCG64(seed)
            stream.advance(number << _STRETCH)
            law.fill(place[:half], np.random.Generator(stream))
    np.negative(z[:, :, : block - half], out=z[:, :, half:])
    return z
