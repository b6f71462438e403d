"""Expectations of the softmax, and of its logarithm, under Gaussian latents: fixed nodes, so that nothing is random.

Two classes have one latent, the difference f of the two: the softmax is then 1 / (1 + exp(-f)), and Gauss-Hermite
nodes do. More classes have one latent each, and nodes of a Sobol' sequence in as many dimensions.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from scipy.special import ndtri
from scipy.stats import qmc
from torch import Tensor

N_HERMITE = 100
N_FIT = 128
"""Nodes of a point while fitting; more are used for probabilities."""

N_STRETCHES = 64
"""Points have different nodes while fitting, 64 sets in turn, so that their errors do not add up in the bound."""

_CHUNK = 4_000_000
"""Numbers held at once."""


class Expectations(NamedTuple):
    """Expected log-likelihood of points and its derivatives.

    Attributes
    ----------
    value : Tensor of shape (n,)
    slope : Tensor of shape (latents, n)
        By the means.
    curvature : Tensor of shape (latents, n)
        Minus twice the derivatives by the variances.
    hessian : Tensor of shape (n, latents, latents)
        Minus the second derivatives by the means.
    """

    value: Tensor
    slope: Tensor
    curvature: Tensor
    hessian: Tensor


def expected_log_likelihood(mean: Tensor, variance: Tensor, counts: Tensor) -> Expectations:
    r"""Return the expected log-likelihood of points that were seen with these labels.

    .. math:: \sum_y n_{iy} \mathrm E[f_{iy}] - n_i \mathrm E\Big[\log \sum_j e^{f_{ij}}\Big]

    Its derivative by a mean is :math:`n_{iy} - n_i \mathrm E[p_{iy}]`, that by a variance
    :math:`-\tfrac12 n_i \mathrm E[p_{iy}(1 - p_{iy})]`. With few nodes the latter is taken as
    :math:`-\tfrac12 n_i \mathrm E[p_{iy} z] / \sqrt v` for :math:`f = m + \sqrt v z`, its equal by Stein's lemma: this
    is the derivative of what is computed, without which the bound and its derivative would not agree.

    Parameters
    ----------
    mean, variance : Tensor of shape (latents, n)
    counts : Tensor of shape (n, c)
    """
    total = counts.sum(dim=1)
    if len(mean) == 1:
        nodes, weights = (one.to(mean.device) for one in _hermite())
        f = mean[0, :, None] + variance[0, :, None].clamp_min(0).sqrt() * nodes
        p = torch.sigmoid(f)
        value = counts[:, 1] * mean[0] - total * (torch.nn.functional.softplus(f) @ weights)
        slope = counts[:, 1] - total * (p @ weights)
        curvature = total * ((p * (1 - p)) @ weights)
        return Expectations(value, slope[None], curvature[None], curvature[:, None, None])
    stretches = _stretches(len(mean)).to(mean.device)
    log_sum, first, crossed, products = [], [], [], []
    rows = max(1, _CHUNK // stretches[0].numel())
    deviation = variance.clamp_min(1e-12).sqrt()
    for begin in range(0, mean.shape[1], rows):
        some = slice(begin, begin + rows)
        nodes = stretches[torch.arange(begin, begin + mean.T[some].shape[0], device=mean.device) % N_STRETCHES]
        f = mean.T[some, :, None] + deviation.T[some, :, None] * nodes
        largest = f.amax(dim=1, keepdim=True)
        p = torch.exp(f - largest)
        together = p.sum(dim=1, keepdim=True)
        log_sum.append((largest + together.log()).mean(dim=(1, 2)))
        p = p / together
        first.append(p.mean(dim=2))
        crossed.append((p * nodes).mean(dim=2))
        products.append(p @ p.transpose(1, 2) / N_FIT)
    p = torch.cat(first)
    value = (counts.T * mean).sum(dim=0) - total * torch.cat(log_sum)
    curvature = total * torch.cat(crossed).T / deviation
    hessian = total[:, None, None] * (torch.diag_embed(p) - torch.cat(products))
    return Expectations(value, counts.T - total * p.T, curvature, hessian)


def expected_softmax(mean: Tensor, spread: Tensor) -> Tensor:
    """Return the expected probabilities (m, c) at points whose latents are Gaussian.

    Parameters
    ----------
    mean : Tensor of shape (latents, m)
    spread : Tensor of shape (latents, m) or (m, latents, latents)
        Standard deviations, or lower triangular roots of the covariances.
    """
    if len(mean) == 1:
        nodes, weights = (one.to(mean.device) for one in _hermite())
        deviation = spread if spread.ndim == 2 else spread[:, :, 0].T
        p = torch.sigmoid(mean[0, :, None] + deviation[0, :, None] * nodes) @ weights
        return torch.stack([1 - p, p], dim=1)
    nodes = _sobol(len(mean), 1024 if len(mean) <= 5 else 2048).to(mean.device)
    rows, found = max(1, _CHUNK // nodes.numel()), []
    for begin in range(0, mean.shape[1], rows):
        some = slice(begin, begin + rows)
        moved = spread.T[some, :, None] * nodes if spread.ndim == 2 else spread[some] @ nodes
        found.append(torch.softmax(mean.T[some, :, None] + moved, dim=1).mean(dim=2))
    return torch.cat(found) if found else mean.new_zeros((0, len(mean)))


@lru_cache(maxsize=1)
def _hermite() -> tuple[Tensor, Tensor]:
    nodes, weights = np.polynomial.hermite_e.hermegauss(N_HERMITE)
    return torch.as_tensor(nodes), torch.as_tensor(weights / weights.sum())


@lru_cache(maxsize=16)
def _stretches(latents: int) -> Tensor:
    """Return nodes (N_STRETCHES, latents, N_FIT): stretches of one Sobol' sequence, and their opposites."""
    half = ndtri(qmc.Sobol(latents, seed=np.random.default_rng(0)).random(N_STRETCHES * N_FIT // 2))
    sets = half.reshape(N_STRETCHES, N_FIT // 2, latents).transpose(0, 2, 1)
    return torch.as_tensor(np.concatenate([sets, -sets], axis=2))


@lru_cache(maxsize=32)
def _sobol(latents: int, n: int) -> Tensor:
    """Return standard normal nodes (latents, n): half of them a scrambled Sobol' sequence, the others opposite."""
    half = ndtri(qmc.Sobol(latents, seed=np.random.default_rng(0)).random(n // 2))
    return torch.as_tensor(np.concatenate([half, -half]).T.copy())
