r"""Expectations of the softmax, and of its logarithm, under Gaussian latents: nothing is random.

With independent standard Gumbel noises :math:`G_j`,

.. math:: \log \sum_j e^{f_j} = \mathrm E[\max_j (f_j + G_j)] - \gamma, \qquad
          \frac{e^{f_y}}{\sum_j e^{f_j}} = P(f_y + G_y \text{ is the largest})

So for independent Gaussian latents both expectations are integrals over one number, the largest:

.. math:: \mathrm E \log \sum_j e^{f_j} = \int u \, dH(u) - \gamma, \qquad
          \mathrm E\, p_y = \int \frac{F_y'}{F_y} H \, du, \qquad
          \mathrm E\, p_y p_j = \int \frac{F_y'}{F_y} \frac{F_j'}{F_j} H \, du, \qquad H = \prod_j F_j

where :math:`F_j` is the distribution function of :math:`f_j + G_j`. The Gumbel law is a mixture of normal ones to 5e-5,
hence so is :math:`F_j`, and the integrals are sums over values of u, which converge geometrically. If deviations of
latents differ much, so do the scales on which the integrands change. But :math:`F_j` is still below 1 only up to a few
of its own deviations beyond :math:`u_0 = \max_j (\text{least of } f_j + G_j)`, below which H is 0: steps that grow in
proportion to the distance from :math:`u_0` are fine enough for each. Two classes have one latent, their difference f:
then :math:`p = P(L < f)` with a logistic noise L, a mixture of normal ones to 1e-7, and there is no integral left.

Latents that depend on each other, Laplace's, have nodes of a Sobol' sequence instead.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from scipy.special import ndtri
from scipy.stats import qmc
from torch import Tensor

from bayes_gresub.posteriors.gp.normal_mixtures import GUMBEL, LOGISTIC

N_FIT, N_PREDICT = 40, 64
"""Values u of the largest number."""

_NEAR = 6.0
"""Distance from the least u within which steps are about equal; beyond it they grow in proportion to the distance."""

_N_SOBOL, _N_SOBOL_MANY = 4096, 16384
"""Nodes up to five classes, and beyond."""

_CHUNK = 1_000_000
"""Numbers held at once."""

_FARTHEST = 25.0
"""Deviations from a mean: farther out densities are so small that arithmetic becomes slow."""

_SMALLEST = 1e-17
"""Below rounding; distribution functions are computed as differences from 1/2, which is quicker."""


class Expectations(NamedTuple):
    """Expected log-likelihood of points and its derivatives.

    Attributes
    ----------
    value : Tensor of shape (n,)
    slope : Tensor of shape (latents, n)
        By the means.
    curvature : Tensor of shape (latents, n)
        Minus twice the derivatives by the variances: the diagonal of `hessian`.
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
    :math:`-\tfrac12 n_i \mathrm E[p_{iy}(1 - p_{iy})]`.

    Parameters
    ----------
    mean, variance : Tensor of shape (latents, n)
    counts : Tensor of shape (n, c)
    """
    total = counts.sum(dim=1)
    if len(mean) == 1:
        softplus, p, both = _two_classes(mean[0], variance[0])
        value = counts[:, 1] * mean[0] - total * softplus
        curvature = total * both
        return Expectations(value, (counts[:, 1] - total * p[1])[None], curvature[None], curvature[:, None, None])
    log_sum, p, both = _many_classes(mean, variance, N_FIT, pairs=True)
    value = (counts.T * mean).sum(dim=0) - total * log_sum
    hessian = total[:, None, None] * both
    return Expectations(value, counts.T - total * p, hessian.diagonal(dim1=1, dim2=2).T, hessian)


def expected_softmax(mean: Tensor, spread: Tensor) -> Tensor:
    """Return the expected probabilities (m, c) at points whose latents are Gaussian.

    Parameters
    ----------
    mean : Tensor of shape (latents, m)
    spread : Tensor of shape (latents, m) or (m, latents, latents)
        Standard deviations, or roots of the covariances.
    """
    if len(mean) == 1:
        deviation = spread if spread.ndim == 2 else spread[:, :, 0].T
        return _two_classes(mean[0], deviation[0] ** 2)[1].T
    if spread.ndim == 2:
        return _many_classes(mean, spread**2, N_PREDICT, pairs=False)[1].T
    nodes = _sobol(len(mean), _N_SOBOL if len(mean) <= 5 else _N_SOBOL_MANY).to(mean.device)
    rows = max(1, _CHUNK // nodes.numel())
    # Filled in place: pieces in a list would lie between the large arrays, whose memory could not be used again.
    probabilities = mean.new_empty(mean.T.shape)
    for begin in range(0, len(probabilities), rows):
        chunk = slice(begin, begin + rows)
        probabilities[chunk] = torch.softmax(mean.T[chunk, :, None] + spread[chunk] @ nodes, dim=1).mean(dim=2)
    return probabilities


def _two_classes(mean: Tensor, variance: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return E log(1 + e^f), E (1 - p, p) of shape (2, n), and E p(1 - p)."""
    weights, _, noise = _mixture(LOGISTIC, mean.device)
    deviation = (variance.clamp_min(0)[:, None] + noise**2).sqrt()
    z = mean[:, None] / deviation
    density = _normal_density(z)
    p = torch.special.ndtr(torch.stack([-z, z])) @ weights
    softplus = (deviation * density + mean[:, None] * torch.special.ndtr(z)) @ weights
    return softplus, p, (density / deviation) @ weights


def _many_classes(mean: Tensor, variance: Tensor, n_values: int, pairs: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Return E log sum e^f (n,), E p (latents, n), and E[diag(p) - pp'] (n, latents, latents) if `pairs`."""
    latents, n = mean.shape
    rows = max(1, _CHUNK // (latents * n_values * len(GUMBEL)))
    log_sum, p, both = mean.new_empty(n), mean.new_empty((latents, n)), mean.new_empty((n, latents, latents))
    for begin in range(0, n, rows):
        chunk = slice(begin, begin + rows)
        log_sum[chunk], p[:, chunk], pair = _integrate(mean[:, chunk], variance[:, chunk].clamp_min(0), n_values, pairs)
        if pair is not None:
            both[chunk] = pair
    return log_sum, p, both


def _integrate(mean: Tensor, variance: Tensor, n_values: int, pairs: bool) -> tuple[Tensor, Tensor, Tensor | None]:
    weights, shift, noise = _mixture(GUMBEL, mean.device)
    reach = 5.0 * variance.sqrt()
    # The largest number is hardly below any of them; a Gumbel noise is hardly below -2.6 or above 13.
    low, high = (mean - reach - 2.6).amax(dim=0), (mean + reach + 13.0).amax(dim=0)
    length = torch.log1p((high - low) / _NEAR)[:, None]
    away = _NEAR * torch.expm1(length * torch.linspace(0.0, 1.0, n_values, dtype=mean.dtype, device=mean.device))
    steps = (away + _NEAR) * (length / (n_values - 1))
    u = low[:, None] + away
    precision = (variance[:, :, None] + noise**2).rsqrt()
    # In place where it can be: to get memory for these takes as long as to compute them.
    z = u[:, :, None] - (mean[:, :, None] + shift)[:, :, None, :]
    z.mul_(precision[:, :, None, :]).clamp_(-_FARTHEST, _FARTHEST)
    values = (z * math.sqrt(0.5)).erf_()
    below = (0.5 + 0.5 * (values @ weights)).clamp_min(_SMALLEST)
    values = torch.mul(z, z, out=values).mul_(-0.5).exp_()
    density = (values @ (precision * weights / math.sqrt(2 * math.pi))[:, :, :, None])[:, :, :, 0]
    all_below = below.log().sum(dim=0).exp()
    ratio = density / below
    shares = ratio * (all_below * steps)
    p = shares.sum(dim=2)
    log_sum = low + (away * shares.sum(dim=0)).sum(dim=1) - np.euler_gamma
    if not pairs:
        return log_sum, p, None
    both = -(shares.permute(1, 0, 2) @ ratio.permute(1, 2, 0))
    both.diagonal(dim1=1, dim2=2).zero_()
    both.diagonal(dim1=1, dim2=2).sub_(both.sum(dim=2))
    return log_sum, p, both


def _normal_density(z: Tensor) -> Tensor:
    return torch.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)


def _mixture(rows: tuple[tuple[float, ...], ...], device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    weights, means, deviations = torch.tensor(rows, dtype=torch.float64, device=device).T
    return weights / weights.sum(), means, deviations


@lru_cache(maxsize=32)
def _sobol(latents: int, n: int) -> Tensor:
    """Return standard normal nodes (latents, n): half of them a scrambled Sobol' sequence, the others opposite."""
    half = ndtri(qmc.Sobol(latents, seed=np.random.default_rng(0)).random(n // 2))
    return torch.as_tensor(np.concatenate([half, -half]).T.copy())
