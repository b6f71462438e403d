"""One interface for the approximations: the bound with its gradient, latents anywhere, joint draws at the data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from linear_operator.utils.cholesky import psd_safe_cholesky
from torch import Tensor

from bayes_gresub.posteriors.gp import laplace
from bayes_gresub.posteriors.gp.inducing import InducedGaussian
from bayes_gresub.posteriors.gp.latent_kernels import LatentKernel
from bayes_gresub.posteriors.gp.newton import ascend
from bayes_gresub.posteriors.gp.variational import FullRankGaussian

EXACT = 1e-8
"""Relative error of the bound; it is flat at the best q, so it is more exact than q."""


class Expansion(NamedTuple):
    """The latents at the data, and their log-likelihood there to second order.

    Attributes
    ----------
    factor : Tensor of shape (latents, m, n)
        The prior covariance of a latent is F'F, and `rest` on the diagonal.
    rest : Tensor of shape (latents, n)
    mean : Tensor of shape (latents, n)
    slope : Tensor of shape (latents, n)
    hessian : Tensor of shape (n, latents, latents)
        Minus the second derivatives.
    """

    factor: Tensor
    rest: Tensor
    mean: Tensor
    slope: Tensor
    hessian: Tensor


class LatentApproximation(ABC):
    """An approximation of the latents at points x (n, d) that were observed with `counts` (n, c) of the labels."""

    independent = True
    """Whether latents are independent of each other."""

    converged: bool
    """Whether the last fit converged."""

    def __init__(self, kernel: LatentKernel, x: Tensor, counts: Tensor) -> None:
        self.kernel, self.x, self.counts = kernel, x, counts

    @abstractmethod
    def ascend(self, tol: float = EXACT) -> Tensor:
        """Fit to the kernel as it is, from the last fit on, and return the bound, exact to `tol` of it."""

    @abstractmethod
    def surrogate(self) -> Tensor:
        """Return a number whose gradient by the kernel's parameters is that of the bound at the last fit."""

    @abstractmethod
    def predict(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return means (latents, m) and spread of the latents, as `expected_softmax` takes it."""

    @abstractmethod
    def expand(self) -> Expansion:
        """Return the last fit as it is at the data, with the expected log-likelihood; with "laplace" the one there."""

    @abstractmethod
    def draw(self, noise: Tensor, more: Tensor) -> Tensor:
        """Return joint draws of the latents at the data (latents, n, draws) from standard normals of that shape."""


class Variational(LatentApproximation):
    """The full-rank variational approximation."""

    def __init__(self, kernel: LatentKernel, x: Tensor, counts: Tensor) -> None:
        super().__init__(kernel, x, counts)
        self.location, self.precision = _start_values(counts, kernel.n_latents)
        self.mean = self.location

    def ascend(self, tol: float = EXACT) -> Tensor:
        """Return the bound at the best q."""
        self.covariance = self.kernel(self.x)
        with torch.no_grad():
            covariance = self.covariance.detach()
            location = _carry_over(self.location, self.mean, covariance)
            self.fit, self.converged = ascend(FullRankGaussian(covariance, self.counts, location, self.precision), tol)
        self.location, self.precision, self.mean = self.fit.location, self.fit.precision, self.fit.mean
        return self.fit.bound

    def surrogate(self) -> Tensor:
        """Return the product of the covariance with the bound's derivative by it."""
        with torch.no_grad():
            slope = self.fit.slope_of_bound()
        return (slope * self.covariance).sum()

    def predict(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return means and deviations."""
        return self.fit.predict(self.kernel(self.x, x), self.kernel.variance())

    def expand(self) -> Expansion:
        """Return means and expectations."""
        factor = psd_safe_cholesky(self.covariance).transpose(1, 2)
        expected = self.fit.expectations
        return Expansion(factor, torch.zeros_like(self.fit.mean), self.fit.mean, expected.slope, expected.hessian)

    def draw(self, noise: Tensor, more: Tensor) -> Tensor:
        """Return draws by Matheron's rule."""
        return self.fit.draw(psd_safe_cholesky(self.covariance) @ noise, more)


class Laplace(LatentApproximation):
    """Laplace's approximation."""

    independent = False

    def __init__(self, kernel: LatentKernel, x: Tensor, counts: Tensor) -> None:
        super().__init__(kernel, x, counts)
        self.start = self.mean = counts.new_zeros((kernel.n_latents, len(x)))

    def ascend(self, tol: float = EXACT) -> Tensor:
        """Return the log evidence after Newton's method."""
        self.covariance = self.kernel(self.x)
        with torch.no_grad():
            covariance = self.covariance.detach()
            self.fit = laplace.find_mode(covariance, _carry_over(self.start, self.mean, covariance), self.counts, tol)
        self.start, self.mean, self.converged = self.fit.alpha, self.fit.f, self.fit.converged
        return self.fit.bound

    def surrogate(self) -> Tensor:
        """Return the product of the covariance with the evidence's derivative by it."""
        with torch.no_grad():
            slope = laplace.slope_of_bound(self.covariance, self.fit, self.counts)
        return (slope * self.covariance).sum()

    def predict(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return means and roots of covariances."""
        return laplace.predict(self.fit, self.kernel(self.x, x), self.kernel.variance())

    def expand(self) -> Expansion:
        """Return the mode and the derivatives there."""
        factor = psd_safe_cholesky(self.covariance).transpose(1, 2)
        slope, hessian = laplace.differentiate(self.fit.probabilities, self.counts)
        return Expansion(factor, torch.zeros_like(self.fit.f), self.fit.f, slope, hessian)

    def draw(self, noise: Tensor, more: Tensor) -> Tensor:
        """Return draws."""
        root = psd_safe_cholesky(self.covariance)
        return laplace.draw(self.fit, self.covariance, root, self.counts, noise, more)


class Inducing(LatentApproximation):
    """The variational approximation through inducing points."""

    def __init__(self, kernel: LatentKernel, x: Tensor, counts: Tensor, points: Tensor) -> None:
        super().__init__(kernel, x, counts)
        self.points = points
        _, self.precision = _start_values(counts, kernel.n_latents)
        self.location = counts.new_zeros((kernel.n_latents, len(points)))

    def ascend(self, tol: float = EXACT) -> Tensor:
        """Return the bound at the best q."""
        self.root = psd_safe_cholesky(self.kernel(self.points))
        self.a, self.variance = self._project(self.x), self.kernel.variance()
        with torch.no_grad():
            start = InducedGaussian(self.a.detach(), self.variance.detach(), self.counts, self.location, self.precision)
            self.fit, self.converged = ascend(start, tol)
        self.location, self.precision = self.fit.location, self.fit.precision
        return self.fit.bound

    def _project(self, x: Tensor) -> Tensor:
        return torch.linalg.solve_triangular(self.root, self.kernel(self.points, x), upper=False)

    def surrogate(self) -> Tensor:
        """Return expected log-likelihoods to first order."""
        return self.fit.linearise(self.a, self.variance)

    def predict(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return means and deviations."""
        return self.fit.predict(self._project(x))

    def expand(self) -> Expansion:
        """Return means and expectations, the covariances being those that inducing points explain."""
        mean, _ = self.fit.predict(self.a)
        rest = (self.variance - (self.a**2).sum(dim=1)).clamp_min(0)
        return Expansion(self.a, rest, mean, self.fit.expectations.slope, self.fit.expectations.hessian)

    def draw(self, noise: Tensor, more: Tensor) -> Tensor:
        """Return draws."""
        return self.fit.draw(noise[:, : len(self.points)], more)


def _start_values(counts: Tensor, latents: int) -> tuple[Tensor, Tensor]:
    """Return a and the sites' precisions where all latents are 0."""
    total = counts.sum(dim=1)
    share = 1.0 / counts.shape[1]
    return counts.new_zeros((latents, len(counts))), (total * share * (1 - share)).expand(latents, -1).clone()


def _carry_over(location: Tensor, mean: Tensor, covariance: Tensor) -> Tensor:
    """Return a start for this kernel from the a of another: it keeps about the means K a, not a itself."""
    kept = (location * mean).sum(dim=1)
    now = (location * (location[:, None, :] @ covariance)[:, 0]).sum(dim=1)
    return location * torch.where(now > 0, kept / now, 1.0)[:, None]
