r"""The variational approximation through inducing points, for samples too large for n x n matrices.

The latents at M points u carry all that is learned. In coordinates in which the prior of u is N(0, I), with
:math:`A = L^{-1} K_{uf}` and :math:`L L' = K_{uu}`, sites of precision l give

.. math:: q(u) = N(b, B^{-1}), \quad B = I + A \,\mathrm{diag}(l) A', \quad
          2\,\mathrm{KL} = \log|B| + b'b - \sum_i l_i \, a_i' B^{-1} a_i

and the latents at the data have the means A'b and the variances :math:`k - |a_i|^2 + a_i' B^{-1} a_i`.
"""

from __future__ import annotations

import torch
from linear_operator.utils.cholesky import psd_safe_cholesky
from torch import Tensor

from bayes_gresub.posteriors.gp.newton import apply_hessian, solve_step
from bayes_gresub.posteriors.gp.softmax import expected_log_likelihood


class InducedGaussian:
    """A q with the mean b, its location.

    Parameters
    ----------
    a : Tensor of shape (latents, M, n)
    prior_variance : Tensor of shape (latents, 1)
    counts : Tensor of shape (n, c)
    location : Tensor of shape (latents, M)
    precision : Tensor of shape (latents, n)
    """

    def __init__(self, a: Tensor, prior_variance: Tensor, counts: Tensor, location: Tensor, precision: Tensor) -> None:
        self.a, self.prior_variance, self.counts = a, prior_variance, counts
        self.location, self.precision = location, precision
        b = (a * precision[:, None, :]) @ a.transpose(1, 2)
        b.diagonal(dim1=1, dim2=2).add_(1.0)
        self.root = psd_safe_cholesky(b)
        mean, variance, learned = self._evaluate(a)
        self.expectations = expected_log_likelihood(mean, variance, counts)
        log_det = 2 * self.root.diagonal(dim1=1, dim2=2).log().sum()
        divergence = 0.5 * (log_det + (location**2).sum() - (precision * learned).sum())
        self.bound = self.expectations.value.sum() - divergence

    def _evaluate(self, a: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return means, variances and the learned part of these at points that are projected to `a`."""
        half = torch.linalg.solve_triangular(self.root, a, upper=False)
        learned = (half**2).sum(dim=1)
        mean = (a.transpose(1, 2) @ self.location[:, :, None])[:, :, 0]
        return mean, self.prior_variance - (a**2).sum(dim=1) + learned, learned

    def at(self, location: Tensor, precision: Tensor) -> InducedGaussian:
        """Return the q with other numbers."""
        return InducedGaussian(self.a, self.prior_variance, self.counts, location, precision)

    def newton_step(self) -> Tensor:
        """Return the step of b."""

        def smooth(rest: Tensor) -> tuple[Tensor, Tensor]:
            z = torch.cholesky_solve(rest[:, :, None], self.root)[:, :, 0]
            return z, z

        def curve(z: Tensor) -> Tensor:
            at_data = (self.a.transpose(1, 2) @ z[:, :, None])[:, :, 0]
            return (self.a @ apply_hessian(self.expectations.hessian, at_data)[:, :, None])[:, :, 0]

        pulled = (self.a @ self.expectations.slope[:, :, None])[:, :, 0]
        return solve_step(pulled - self.location, smooth, curve)

    def linearise(self, a: Tensor, prior_variance: Tensor) -> Tensor:
        """Return a number whose derivative by what `a` is made of is that of the bound at the best q."""
        mean = (a.transpose(1, 2) @ self.location[:, :, None])[:, :, 0]
        half = torch.linalg.solve_triangular(self.root, a, upper=False)
        variance = prior_variance - (a**2).sum(dim=1) + (half**2).sum(dim=1)
        return (self.expectations.slope * mean - 0.5 * self.expectations.curvature * variance).sum()

    def predict(self, a: Tensor) -> tuple[Tensor, Tensor]:
        """Return means and deviations (latents, m) at points that are projected to `a`."""
        mean, variance, _ = self._evaluate(a)
        return mean, variance.clamp_min(0).sqrt()

    def draw(self, noise: Tensor, more: Tensor) -> Tensor:
        """Return draws at the data (latents, n, draws): what u explains by q, the rest independent between points."""
        moved = torch.linalg.solve_triangular(self.root.transpose(1, 2), noise, upper=True)
        rest = (self.prior_variance - (self.a**2).sum(dim=1)).clamp_min(0).sqrt()
        return self.a.transpose(1, 2) @ (self.location[:, :, None] + moved) + rest[:, :, None] * more
