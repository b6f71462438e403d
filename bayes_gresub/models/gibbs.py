"""The blocked Gibbs sampler of Gaussian classes under the hierarchical prior, for many chains and data sets at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bayes_gresub.data.arrays import Floats
from bayes_gresub.models.covariance import ClassStatistics, CovarianceStructure, NormalInverseWishartLaw, StandardNoise
from bayes_gresub.models.priors import HierarchicalLaw

_PROPOSAL_DOF = 5.0
_NEWTON_STEPS = 12
_BLOCK = 50
"""Sweeps whose random numbers are drawn at once."""


@dataclass(frozen=True, eq=False)
class GibbsDraws:
    """Draws of all chains, with axes (chain, draw, ...), in standardised coordinates."""

    means: Floats
    spread: Floats
    center: Floats
    log_strength: Floats


def run_gibbs(
    structure: CovarianceStructure,
    statistics: ClassStatistics,
    prior: HierarchicalLaw,
    generators: Sequence[np.random.Generator],
    draws: int,
    tune: int,
    tick: Callable[[], None] | None = None,
) -> GibbsDraws:
    r"""Draw from the posterior of Gaussian classes whose common centre and strength are learned.

    .. math:: \log k \sim N(a, s^2), \quad m \sim N(0, t^2 I), \quad \Sigma_y \sim IW(v, S), \quad
              \mu_y \mid \Sigma_y \sim N(m, \Sigma_y / k)

    A sweep draws all (mu_y, Sigma_y) at once from their Normal-inverse-Wishart law given m and k; then m, which is
    normal given the rest; then log k, whose density given the rest,

    .. math:: p(u) \propto \exp\left(\tfrac{cd}{2} u - \tfrac12 e^u Q - \tfrac{(u - a)^2}{2 s^2}\right), \qquad
              Q = \sum_y (\mu_y - m)' \Sigma_y^{-1} (\mu_y - m),

    is log-concave: a Metropolis step proposes from a Student-t about its mode.

    Parameters
    ----------
    statistics : ClassStatistics
        With one leading axis, the chains; chains of different data sets may stand side by side.
    generators : sequence of Generator
        One per chain: the numbers of a chain do not depend on those beside it.
    draws, tune : int
        Sweeps that are kept, and that are thrown away before, per chain.
    tick : callable, optional
        Called after each sweep. KeyboardInterrupt ends sampling; whole sweeps drawn so far are returned.
    """
    counts, xbar = statistics.counts, statistics.means
    chains, c, d = xbar.shape
    groups = 1 if structure.is_shared else c
    scale = np.broadcast_to(prior.scale, statistics.scatter.shape)
    dofs = np.full((chains, groups), float(prior.dof))
    posterior_dofs = dofs + structure.dof_per_point(d) * structure.pool(counts, axis=-1)
    center = np.zeros((chains, d))
    log_k = np.full(chains, prior.log_strength)
    kept: list[tuple[Floats, Floats, Floats, Floats]] = []
    try:
        for sweep in range(tune + draws):
            if sweep % _BLOCK == 0:
                noises, others = _draw_random_numbers(structure, generators, posterior_dofs, c, d)
            inside = sweep % _BLOCK
            noise = StandardNoise(
                noises.square_roots[:, inside],
                None if noises.below is None else noises.below[:, inside],
                noises.means[:, inside],
            )
            strengths = np.repeat(np.exp(log_k)[:, None], c, axis=1)
            law = NormalInverseWishartLaw(center[:, None, :], strengths, dofs, scale)
            given = structure.update(law, statistics)
            drawn, whitener = structure.draw_with_whitener(given, noise)
            precision = structure.precision(whitener)
            center = _draw_center(precision, drawn.means, np.exp(log_k), prior.center_sd, others[0][:, inside])
            distance = (structure.whiten(whitener, drawn.means - center[:, None, :]) ** 2).sum(axis=(1, 2))
            log_k = _move_log_strength(log_k, distance, c * d, prior, others[1][:, inside], others[2][:, inside])
            if sweep >= tune:
                kept.append((drawn.means, drawn.spread, center, log_k))
            if tick is not None:
                tick()
    except KeyboardInterrupt:
        if not kept:
            raise
    means, spread, centers, strengths = (np.stack(part, axis=1) for part in zip(*kept, strict=True))
    return GibbsDraws(means, spread, centers, strengths)


def _draw_random_numbers(
    structure: CovarianceStructure, generators: Sequence[np.random.Generator], dofs: Floats, c: int, d: int
) -> tuple[StandardNoise, tuple[Floats, Floats, Floats]]:
    """Return the random numbers of a block of sweeps, shape (chains, sweeps, ...), each chain's from its generator."""
    noises, others = [], []
    for rng, chain_dofs in zip(generators, dofs, strict=True):
        noises.append(structure.draw_noise(rng, chain_dofs, c, d, _BLOCK))
        others.append(
            (rng.standard_normal((_BLOCK, d)), rng.standard_t(_PROPOSAL_DOF, size=_BLOCK), rng.exponential(size=_BLOCK))
        )
    below = None if noises[0].below is None else np.stack([noise.below for noise in noises if noise.below is not None])
    noise_of_all = StandardNoise(
        np.stack([noise.square_roots for noise in noises]), below, np.stack([noise.means for noise in noises])
    )
    normal, student, exponential = (np.stack(part) for part in zip(*others, strict=True))
    return noise_of_all, (normal, student, exponential)


def _draw_center(precision: Floats, means: Floats, strengths: Floats, sd: float, noise: Floats) -> Floats:
    """Draw the common centre given the classes: precision I / sd^2 + k sum of Sigma_y^(-1)."""
    d = means.shape[-1]
    c = means.shape[1]
    if precision.ndim == 4:
        whole = np.broadcast_to(precision, (len(means), c, d, d))
        matrix = strengths[:, None, None] * whole.sum(axis=1) + np.eye(d) / sd**2
        pulled = strengths[:, None] * np.matmul(whole, means[..., None])[..., 0].sum(axis=1)
        factor = np.linalg.cholesky(matrix)
        half = np.linalg.solve(factor, pulled[..., None]) + noise[..., None]
        return np.asarray(np.linalg.solve(factor.swapaxes(-1, -2), half)[..., 0])
    total = strengths[:, None] * precision.sum(axis=1) + 1 / sd**2
    pulled = strengths[:, None] * (precision * means).sum(axis=1)
    return np.asarray(pulled / total + noise / np.sqrt(total))


def _move_log_strength(
    current: Floats, distance: Floats, n_terms: int, prior: HierarchicalLaw, student: Floats, exponential: Floats
) -> Floats:
    """Move log k by one Metropolis step whose proposal does not depend on where it is."""
    a, precision = prior.log_strength, prior.log_strength_sd**-2

    def log_density(u: Floats) -> Floats:
        return 0.5 * n_terms * u - 0.5 * np.exp(u) * distance - 0.5 * precision * (u - a) ** 2

    # Newton's method from the right of the mode stays there and falls to it: the derivative is concave.
    mode = np.maximum(a, np.log(n_terms / np.maximum(distance, 1e-300)))
    for _ in range(_NEWTON_STEPS):
        pull = 0.5 * np.exp(mode) * distance
        mode = mode + (0.5 * n_terms - pull - precision * (mode - a)) / (pull + precision)
    width = 1.1 / np.sqrt(0.5 * np.exp(mode) * distance + precision)

    def log_proposal(u: Floats) -> Floats:
        return -0.5 * (_PROPOSAL_DOF + 1) * np.log1p(((u - mode) / width) ** 2 / _PROPOSAL_DOF)

    proposed = mode + width * student
    gain = log_density(proposed) - log_density(current) - log_proposal(proposed) + log_proposal(current)
    return np.where(-exponential < gain, proposed, current)
