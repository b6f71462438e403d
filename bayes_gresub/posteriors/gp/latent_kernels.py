"""Kernels of the latent processes, made of GPyTorch's."""

from __future__ import annotations

import math
from typing import Any

import gpytorch
import torch
from torch import Tensor

_JITTER = 1e-8
"""On the diagonal, relative to the amplitude."""

_NORMALIZED = (1e-12, 1e4)
"""Least and greatest amplitude of the normalized kernel, which would overflow with many features."""


class LatentKernel(torch.nn.Module):
    r"""Covariances of the latents, :math:`a_y \exp(-|x - x'|^2 / 2 \ell_y^2)`, one for each.

    With two classes the one latent is the difference of two independent processes, whose covariances add up. Data
    determine the sum only, so both have the same length-scale and amplitude.

    Parameters
    ----------
    n_classes, n_features : int
    normalized : bool
        The amplitude is :math:`(2\pi\ell^2)^{-d/2}`, as the paper prints it.
    shared : bool
        One length-scale and amplitude for all classes.
    """

    def __init__(self, n_classes: int, n_features: int, *, normalized: bool, shared: bool) -> None:
        super().__init__()
        self.n_latents = 1 if n_classes == 2 else n_classes
        self.factor = 2.0 if n_classes == 2 else 1.0
        self.n_features, self.normalized = n_features, normalized
        self.n_kernels = 1 if shared else self.n_latents
        positive = gpytorch.constraints.Positive(transform=torch.exp, inv_transform=torch.log)
        batch = torch.Size([self.n_kernels])
        self.base = gpytorch.kernels.RBFKernel(batch_shape=batch, lengthscale_constraint=positive)
        self.scaled = gpytorch.kernels.ScaleKernel(self.base, batch_shape=batch, outputscale_constraint=positive)
        self.double()
        if normalized:
            self.scaled.raw_outputscale.requires_grad_(False)

    def start(self, lengthscale: Any, amplitude: Any) -> None:
        """Set length-scales and amplitudes, one or one for each kernel."""
        for parameter, value in ((self.base.raw_lengthscale, lengthscale), (self.scaled.raw_outputscale, amplitude)):
            given = torch.as_tensor(value, dtype=parameter.dtype, device=parameter.device).expand(self.n_kernels)
            parameter.data = given.log().reshape(parameter.shape).clone()

    @property
    def lengthscales(self) -> Tensor:
        """Return the length-scales (kernels,)."""
        return self.base.lengthscale.reshape(-1)

    @property
    def amplitudes(self) -> Tensor:
        """Return the amplitudes (kernels,): prior variances of the latents of classes."""
        if self.normalized:
            logarithms = -0.5 * self.n_features * (2 * math.pi * self.lengthscales**2).log()
            return logarithms.clamp(*(math.log(end) for end in _NORMALIZED)).exp()
        return self.scaled.outputscale.reshape(-1)

    def forward(self, x: Tensor, other: Tensor | None = None) -> Tensor:
        """Return covariances (latents, n, m)."""
        if self.normalized:
            covariances = self.amplitudes[:, None, None] * self.base(x, other).to_dense()
        else:
            covariances = self.scaled(x, other).to_dense()
        covariances = self.factor * covariances
        if other is None:
            covariances = covariances + _JITTER * self.factor * self.amplitudes[:, None, None] * torch.eye(
                len(x), dtype=x.dtype, device=x.device
            )
        return covariances.expand(self.n_latents, -1, -1)

    def variance(self) -> Tensor:
        """Return the prior variance of each latent at any point, (latents, 1)."""
        return (self.factor * self.amplitudes[:, None]).expand(self.n_latents, 1)
