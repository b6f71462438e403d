r"""The full-rank Gaussian approximation of the latents that is nearest in Kullback-Leibler divergence.

The best q of a latent has the covariance (K^{-1} + diag(l))^{-1}: the likelihood acts as if each point had been
measured with precision l_i, a *site*. Its mean is K a. Both are moved to the largest bound

.. math:: \sum_i \mathrm E_q[\log p(y_i \mid f_i)] - \sum_y \mathrm{KL}(q_y \,\|\, N(0, K_y)), \qquad
          2\,\mathrm{KL} = \log|B| + a'Ka - \sum_i l_i v_i

Everything is written with B = I + S K S, S = diag(l)^{1/2}, whose eigenvalues are at least 1: K is never inverted.
"""

from __future__ import annotations

import torch
from linear_operator.utils.cholesky import psd_safe_cholesky
from torch import Tensor

from bayes_gresub.posteriors.gp.newton import apply_hessian, solve_step
from bayes_gresub.posteriors.gp.softmax import expected_log_likelihood


class FullRankGaussian:
    """A q with means K a, a being its location.

    Parameters
    ----------
    covariance : Tensor of shape (latents, n, n)
    counts : Tensor of shape (n, c)
    location, precision : Tensor of shape (latents, n)
    """

    def __init__(self, covariance: Tensor, counts: Tensor, location: Tensor, precision: Tensor) -> None:
        self.covariance, self.counts, self.location, self.precision = covariance, counts, location, precision
        self.scale = precision.sqrt()
        scaled = self.scale[:, :, None] * covariance
        b = scaled * self.scale[:, None, :]
        b.diagonal(dim1=1, dim2=2).add_(1.0)
        self.root = psd_safe_cholesky(b)
        self.half = torch.linalg.solve_triangular(self.root, scaled, upper=False)
        self.mean = _times(covariance, location)
        self.variance = covariance.diagonal(dim1=1, dim2=2) - (self.half**2).sum(dim=1)
        self.expectations = expected_log_likelihood(self.mean, self.variance, counts)
        log_det = 2 * self.root.diagonal(dim1=1, dim2=2).log().sum()
        divergence = 0.5 * (log_det + (self.mean * location).sum() - (precision * self.variance).sum())
        self.bound = self.expectations.value.sum() - divergence

    def at(self, location: Tensor, precision: Tensor) -> FullRankGaussian:
        """Return the q with other numbers."""
        return FullRankGaussian(self.covariance, self.counts, location, precision)

    def newton_step(self) -> Tensor:
        """Return the step of a."""
        of_q = self.covariance - self.half.transpose(1, 2) @ self.half

        def smooth(rest: Tensor) -> tuple[Tensor, Tensor]:
            z = _times(of_q, rest)
            return z, rest - self.precision * z

        hessian = self.expectations.hessian
        return solve_step(self.expectations.slope - self.location, smooth, lambda z: apply_hessian(hessian, z))

    def slope_of_bound(self) -> Tensor:
        r"""Return the derivative of the bound by the covariances, (latents, n, n).

        At the best q it is that with q held fixed, :math:`\tfrac12 (aa' - (K + L^{-1})^{-1})`, L having the sites'
        precisions on its diagonal.
        """
        half = torch.linalg.solve_triangular(self.root, torch.diag_embed(self.scale), upper=False)
        return 0.5 * (self.location[:, :, None] * self.location[:, None, :] - half.transpose(1, 2) @ half)

    def predict(self, across: Tensor, prior_variance: Tensor) -> tuple[Tensor, Tensor]:
        """Return means and deviations (latents, m) at points with covariances `across` (latents, n, m) to the data."""
        half = torch.linalg.solve_triangular(self.root, self.scale[:, :, None] * across, upper=False)
        mean = _times(across, self.location)
        return mean, (prior_variance - (half**2).sum(dim=1)).clamp_min(0).sqrt()

    def draw(self, prior: Tensor, noise: Tensor) -> Tensor:
        """Return joint draws at the data (latents, n, draws) from draws of the prior and standard normals.

        A draw from the prior is corrected by the sites: Matheron's rule.
        """
        scale = self.scale[:, :, None]
        gap = torch.cholesky_solve(scale * prior + noise, self.root)
        return self.mean[:, :, None] + prior - self.covariance @ (scale * gap)


def _times(symmetric: Tensor, vectors: Tensor) -> Tensor:
    # From the left, along the rows as they lie in memory: up to five times as fast.
    return (vectors[:, None, :] @ symmetric)[:, 0]
