r"""Laplace's approximation of the latents: a Gaussian at the mode of their posterior (Rasmussen & Williams 2006).

With p the softmax at the mode and n_i the number of labels seen at point i, minus the second derivatives of the
log-likelihood are W = D - P P', D = n p on the diagonal, P_y = diag(n^{1/2} p_y) stacked over classes. Hence with
:math:`E_y = D_y^{1/2} (I + D_y^{1/2} K_y D_y^{1/2})^{-1} D_y^{1/2}` and R = (K + W^{-1})^{-1},

.. math:: R_{yj} &= E_y \delta_{yj} - E_y \Big(\sum_k E_k\Big)^{-1} E_j \\
          \log|I + KW| &= \sum_y \log|B_y| + \log\Big|\sum_y E_y\Big| - \sum_i \log n_i

Two classes have one latent, for which W is diagonal and R is E.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from linear_operator.utils.cholesky import psd_safe_cholesky
from torch import Tensor

_MOST_STEPS = 100


@dataclass
class LaplaceMode:
    """The mode, and the factors of the covariance there.

    Attributes
    ----------
    f, alpha : Tensor of shape (latents, n)
        The mode, and K^{-1} times it.
    probabilities : Tensor of shape (latents, n)
    e : Tensor of shape (latents, n, n)
        The matrices E.
    root : Tensor of shape (n, n) or None
        Lower triangular root of their sum; None with one latent.
    """

    f: Tensor
    alpha: Tensor
    probabilities: Tensor
    e: Tensor
    root: Tensor | None
    log_det: Tensor
    bound: Tensor
    converged: bool


def find_mode(covariance: Tensor, start: Tensor, counts: Tensor, tol: float) -> LaplaceMode:
    """Return the mode by Newton's method, which starts at K^{-1} f = `start` (latents, n)."""
    total = counts.sum(dim=1)
    alpha = start
    f = (covariance @ alpha[:, :, None])[:, :, 0]
    height = _log_likelihood(f, counts) - 0.5 * (alpha * f).sum()
    for _ in range(_MOST_STEPS):
        p = _probabilities(f)
        e, root, _ = _factors(covariance, p, total)
        b = _apply_w(p, total, f) + _targets(counts, len(f)) - total * p
        full_step = b - _apply_r(e, root, (covariance @ b[:, :, None])[:, :, 0])
        size = 1.0
        while True:
            new_alpha = (1 - size) * alpha + size * full_step
            new_f = (covariance @ new_alpha[:, :, None])[:, :, 0]
            new_height = _log_likelihood(new_f, counts) - 0.5 * (new_alpha * new_f).sum()
            if new_height >= height or size < 1e-6:
                break
            size /= 2
        gain = float(new_height - height)
        if gain > 0:
            alpha, f, height = new_alpha, new_f, new_height
        converged = gain <= tol * abs(float(height))
        if converged:
            break
    p = _probabilities(f)
    e, root, log_det = _factors(covariance, p, total)
    return LaplaceMode(f, alpha, p, e, root, log_det, height - 0.5 * log_det, converged)


def differentiate(probabilities: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
    """Return the slope of the log-likelihood (latents, n), and minus its second derivatives (n, latents, latents)."""
    p, total = probabilities, counts.sum(dim=1)
    if len(p) == 1:
        hessian = (total * p * (1 - p)).T[:, :, None]
    else:
        hessian = total[:, None, None] * (torch.diag_embed(p.T) - p.T[:, :, None] * p.T[:, None, :])
    return _targets(counts, len(p)) - total * p, hessian


def slope_of_bound(covariance: Tensor, mode: LaplaceMode, counts: Tensor) -> Tensor:
    r"""Return the derivative of the log evidence by the covariances, (latents, n, n).

    .. math:: \tfrac12 (\alpha\alpha' - R_{yy}) + u \alpha', \qquad u = s - R K s

    where s is minus half the derivative of log |I + KW| by the mode, which moves with K.
    """
    total = counts.sum(dim=1)
    p, e = mode.probabilities, mode.e
    projected = e @ covariance
    inner = covariance - covariance @ projected
    if mode.root is None:
        variance = inner.diagonal(dim1=1, dim2=2)
        s = -0.5 * variance * total * p * (1 - p) * (1 - 2 * p)
        blocks_of_r = e
    else:
        half = torch.linalg.solve_triangular(mode.root, projected, upper=False)
        blocks = torch.einsum("yki,jki->iyj", half, half)
        blocks.diagonal(dim1=1, dim2=2).add_(inner.diagonal(dim1=1, dim2=2).T)
        each = blocks.diagonal(dim1=1, dim2=2).T
        weighed = (blocks @ p.T[:, :, None])[:, :, 0].T
        traces = p * (each - (p * each).sum(dim=0) - 2 * weighed + 2 * (p * weighed).sum(dim=0))
        s = -0.5 * total * traces
        crossed = torch.linalg.solve_triangular(mode.root, e, upper=False)
        blocks_of_r = e - crossed.transpose(1, 2) @ crossed
    u = s - _apply_r(e, mode.root, (covariance @ s[:, :, None])[:, :, 0])
    alpha = mode.alpha
    return 0.5 * (alpha[:, :, None] * alpha[:, None, :] - blocks_of_r) + u[:, :, None] * alpha[:, None, :]


def predict(mode: LaplaceMode, across: Tensor, prior_variance: Tensor) -> tuple[Tensor, Tensor]:
    """Return means (latents, m) and roots of covariances (m, latents, latents), `across` being (latents, n, m)."""
    mean = (across.transpose(1, 2) @ mode.alpha[:, :, None])[:, :, 0]
    projected = mode.e @ across
    variance = (prior_variance - (across * projected).sum(dim=1)).clamp_min(0)
    blocks = torch.diag_embed(variance.T)
    if mode.root is not None:
        half = torch.linalg.solve_triangular(mode.root, projected, upper=False)
        blocks = blocks + torch.einsum("yki,jki->iyj", half, half)
    values, vectors = torch.linalg.eigh(blocks)
    return mean, vectors * values.clamp_min(0).sqrt()[:, None, :]


def draw(
    mode: LaplaceMode, covariance: Tensor, prior_root: Tensor, counts: Tensor, noise: Tensor, more: Tensor
) -> Tensor:
    """Return joint draws of the latents at the points (latents, n, draws), from two sets of standard normals.

    With u of covariance W and f a draw from the prior, (K^{-1} + W)^{-1} (K^{-1} f + u) has the covariance of the
    latents.
    """
    p, total = mode.probabilities[:, :, None], counts.sum(dim=1)[None, :, None]
    prior = prior_root @ noise
    if len(mode.f) == 1:
        u = (total * p * (1 - p)).sqrt() * more
        pulled = total * p * (1 - p) * prior
    else:
        u = total.sqrt() * (p.sqrt() * more - p * (p.sqrt() * more).sum(dim=0))
        pulled = total * (p * prior - p * (p * prior).sum(dim=0))
    vectors = u - pulled
    # (K^{-1} + W)^{-1} v = K v - K R K v
    moved = covariance @ vectors
    applied = mode.e @ moved
    if mode.root is not None:
        applied = applied - mode.e @ torch.cholesky_solve(applied.sum(dim=0), mode.root)
    return mode.f[:, :, None] + prior + moved - covariance @ applied


def _probabilities(f: Tensor) -> Tensor:
    return torch.sigmoid(f) if len(f) == 1 else torch.softmax(f, dim=0)


def _log_likelihood(f: Tensor, counts: Tensor) -> Tensor:
    if len(f) == 1:
        return (counts[:, 1] * f[0] - counts.sum(dim=1) * torch.nn.functional.softplus(f[0])).sum()
    return (counts.T * f).sum() - (counts.sum(dim=1) * torch.logsumexp(f, dim=0)).sum()


def _targets(counts: Tensor, latents: int) -> Tensor:
    return counts[:, 1:].T if latents == 1 else counts.T


def _factors(covariance: Tensor, p: Tensor, total: Tensor) -> tuple[Tensor, Tensor | None, Tensor]:
    """Return E, the root of their sum, and log |I + K W|."""
    weight = total * p * (1 - p) if len(p) == 1 else total * p
    scale = weight.clamp_min(1e-300).sqrt()
    b = scale[:, :, None] * covariance * scale[:, None, :]
    b.diagonal(dim1=1, dim2=2).add_(1.0)
    root = psd_safe_cholesky(b)
    half = torch.linalg.solve_triangular(root, torch.diag_embed(scale), upper=False)
    e = half.transpose(1, 2) @ half
    log_det = 2 * root.diagonal(dim1=1, dim2=2).log().sum()
    if len(p) == 1:
        return e, None, log_det
    together = psd_safe_cholesky(e.sum(dim=0))
    return e, together, log_det + 2 * together.diagonal().log().sum() - total.log().sum()


def _apply_r(e: Tensor, root: Tensor | None, vectors: Tensor) -> Tensor:
    """Return R v for stacked vectors (latents, n)."""
    applied = (e @ vectors[:, :, None])[:, :, 0]
    if root is None:
        return applied
    shared = torch.cholesky_solve(applied.sum(dim=0)[:, None], root)
    return applied - (e @ shared)[:, :, 0]


def _apply_w(p: Tensor, total: Tensor, f: Tensor) -> Tensor:
    """Return W f."""
    if len(p) == 1:
        return total * p * (1 - p) * f
    return total * (p * f - p * (p * f).sum(dim=0))
