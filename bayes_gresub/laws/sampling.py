"""Randomised quasi-Monte-Carlo means under components. The caller supplies the function to average."""

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
"""Replicates kept separately; further scrambles are averaged into them."""

MAX_SCRAMBLES = 4096
"""Largest number of scrambles that are run to reach `tol`."""

MAX_SOBOL_DIMENSION = 200
"""Above it independent draws are as accurate as Sobol' points, and cheaper."""

CHUNK_ELEMENTS = 2**20
"""Numbers in one batch of points, so that memory does not grow with n (8 MiB per copy)."""

_CHUNK_INDEPENDENT = 2**18
"""The same for independent points, which are cheap to draw if they stay in the cache."""

_STRETCH = 64
"""Base-2 logarithm of the length of a component's stretch of the random stream, far more than it uses."""

PointFunction = Callable[[Floats, Ints], Floats]
"""Maps points (m, d) and the index of the component each was drawn from, (m,), to values (m, q)."""


def block_size(n_points: int, replicates: int = REPLICATES, sobol: bool = True) -> int:
    """Return the number of points per component and replicate: n_points / replicates, rounded up.

    For a Sobol' sequence it is a power of two.
    """
    if not sobol:
        return -(-n_points // replicates)
    return 1 << max(0, int(np.ceil(np.log2(n_points / replicates))))


def sampling_method(components: Components) -> str:
    """Return in words how these components are sampled."""
    points = "scrambled Sobol' points" if _has_sobol(components) else "independent random points"
    return points if components.bounds is None else f"{points}, clipped to the bounds"


def _has_sobol(components: Components) -> bool:
    return components.law.n_uniforms(components.dim) <= MAX_SOBOL_DIMENSION


def warn_of_tol(tol: float, error: float, n_scrambles: int, remedies: str = "tol or n_points") -> None:
    """Warn that the standard error is still above `tol` after the largest number of scrambles."""
    warnings.warn(
        f"tol={tol} was not reached: the Monte-Carlo standard error is {error:.2g} after {n_scrambles} scrambles. "
        f"Raise {remedies}.",
        ConvergenceWarning,
        stacklevel=3,
    )


@dataclass(frozen=True, eq=False)
class Sampled:
    """Means per scale, replicate and component, shape (scales, replicates, k, q), and the number of points used."""

    means: Floats
    n_points: int


@dataclass(frozen=True, eq=False)
class Sampler:
    """How points are sampled from components.

    Attributes
    ----------
    seed : SeedSequence
        Scramble r depends only on the seed and r.
    n_points : int
        Points per component, in `replicates` scrambles.
    tol : float, optional
        Add scrambles until the standard error is at most this.
    n_jobs : int, optional
        Threads; the results do not depend on it.
    replicates : int
        Initial number of scrambles.
    arrange : bool, default True
        Whether to order the components; False if similar ones are already adjacent.
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
        components in blocks. Each scramble is unbiased and scrambles are independent, so their spread gives a
        standard error. Similar components get neighbouring blocks, so that their points together are spread evenly too.
        In more than 200 dimensions the points are independent antithetic pairs.

        Parameters
        ----------
        components : Components
        function : callable
            Maps points (m, d) and owners (m,) to values (m, q).
        scales : sequence of float
            Factors kappa on the components' spread; all use the same standard draws.
        spread : callable, optional
            Maps the means so far to a standard error, which is compared with `tol`.

        Returns
        -------
        Sampled
            A replicate is one scramble, or if `tol` requires many, the mean of equally many scrambles.
        """
        sobol = _has_sobol(components)
        order, leading = _arrange(components) if self.arrange and sobol else (np.arange(len(components)), None)
        ordered = components.take(order)
        block = block_size(self.n_points, self.replicates, sobol)

        def run(first: int, last: int) -> Floats:
            scrambles_to_run = range(first, last)
            values = _run_replicates(
                ordered, order, leading, function, scrambles_to_run, block, self.seed, scales, self.n_jobs
            )
            result = np.empty_like(values)
            result[:, :, order] = values
            return result

        means, done = run(0, self.replicates), self.replicates
        while self.tol is not None and spread is not None and (error := spread(means)) > self.tol:
            if done >= MAX_SCRAMBLES:
                warn_of_tol(self.tol, error, done)
                break
            kept = means.shape[1]
            if kept < MAX_REPLICATES:
                means = np.concatenate([means, run(done, 2 * done)], axis=1)
            else:
                # The number of scrambles doubles; new ones are averaged into the replicates, so memory does not grow.
                added = sum(run(begin, begin + kept) for begin in range(done, 2 * done, kept))
                means = 0.5 * (means + added * (kept / done))
            done *= 2
        return Sampled(means, len(scales) * done * len(components) * block)


def _arrange(components: Components) -> tuple[Ints, Floats | None]:
    """Return the order in which components get their blocks, and the leading direction of each group.

    Components are ordered by group, then along the line from the overall centre to the group's centre, and that line
    becomes the first coordinate of the standard draws: classes differ most along it, and Sobol' points are most even in
    single coordinates. Neither step changes the law of any component's points.
    """
    group = components.group
    n_groups = len(components.spread)
    counts = np.bincount(group, minlength=n_groups)
    if n_groups * 2 > len(components):
        return np.arange(len(components)), None
    deviations = components.feature_deviations()[counts > 0].mean(axis=0)
    # Distances are in units of the spread, so that the order does not depend on the units of the features.
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


def _run_replicates(
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
    per_group = max(1, min(len(replicates), per_batch // k))
    step = min(k, per_batch)

    def batch(numbers: Sequence[int], begin: int) -> Floats:
        end = min(begin + step, k)
        part = components.take(slice(begin, end))
        seeds = [child(seed, POINTS, r) for r in numbers]
        if sobol:
            u = scrambles(size, begin * block, end * block, seeds)
            z = part.law.from_uniforms(u.reshape(len(numbers), end - begin, block, size), dim)
        else:
            z = _draw_independent(components, range(begin, end), block, seeds)
        if leading is not None:
            z = _lead(z, leading[part.group])
        owners = np.tile(np.repeat(owner[begin:end], block), len(numbers))
        means = []
        for scale in scales:
            points = part.place(z, scale).reshape(len(owners), -1)
            values = function(points, owners)
            means.append(values.reshape(len(numbers), end - begin, block, -1).mean(axis=2))
        return np.stack(means)

    groups = [replicates[i : i + per_group] for i in range(0, len(replicates), per_group)]
    tasks = [(group, begin) for group in groups for begin in range(0, k, step)]
    if n_jobs in (None, 1) or len(tasks) == 1:
        results = [batch(*task) for task in tasks]
    else:
        results = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(batch)(*task) for task in tasks)
    rows = len(range(0, k, step))
    by_group = [np.concatenate(results[i : i + rows], axis=2) for i in range(0, len(results), rows)]
    return np.concatenate(by_group, axis=1)


def _draw_independent(
    components: Components, numbers: range, block: int, seeds: Sequence[np.random.SeedSequence]
) -> Floats:
    """Return standard draws for the components with these numbers, shape (seeds, k, block, dim).

    Each component has its own stretch of the stream of each seed, so that its draws do not depend on other components.
    Standard laws are symmetric: half of the draws are the negatives of the others, at no cost.
    """
    z = np.empty((len(seeds), len(numbers), block, components.dim))
    laws = [components.law.take(slice(number, number + 1)) for number in numbers]
    half = -(-block // 2)
    for seed, draws in zip(seeds, z, strict=True):
        for number, law, component_draws in zip(numbers, laws, draws, strict=True):
            stream = np.random.PCG64(seed)
            stream.advance(number << _STRETCH)
            law.fill(component_draws[:half], np.random.Generator(stream))
    np.negative(z[:, :, : block - half], out=z[:, :, half:])
    return z
