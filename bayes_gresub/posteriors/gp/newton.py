"""The best Gaussian q for given kernels: Newton steps for its means, natural-gradient steps for its covariances.

Means of different classes depend on each other through the softmax, so steps class by class would oscillate. A Newton
step for all of them is solved by conjugate gradients, preconditioned with the covariances of q.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, Self, TypeVar

import torch
from torch import Tensor

from bayes_gresub.posteriors.gp.softmax import Expectations

_MOST_STEPS = 200
_LEAST_PRECISION = 1e-10
_MEMORY = 6
_CG_STEPS, _CG_TOLERANCE = 10, 0.2
"""More conjugate-gradient steps would help only at amplitudes that the search will step back from."""


class GaussianFit(Protocol):
    """A Gaussian q with its bound; `location` determines its means, `precision` (latents, n) is that of the sites."""

    bound: Tensor
    location: Tensor
    precision: Tensor
    expectations: Expectations

    def at(self, location: Tensor, precision: Tensor) -> Self:
        """Return the q with other numbers."""

    def newton_step(self) -> Tensor:
        """Return the step of the location to where the bound, to second order, is largest."""


Q = TypeVar("Q", bound=GaussianFit)


def ascend(best: Q, tol: float) -> tuple[Q, bool]:
    """Return the best q that steps from this one find, and whether a step changed the bound by less than `tol` of it.

    The best precisions depend on the variances that they lead to, so plain steps of them converge slowly. Each step is
    mixed with those before so that the rest would vanish to first order (Anderson). If mixing lowers the bound, it
    starts anew with a plain step, which is halved if it lowers the bound too.
    """
    size, history = 1.0, _StepHistory()
    for _ in range(_MOST_STEPS):
        target = best.expectations.curvature.clamp_min(_LEAST_PRECISION)
        step = torch.cat([best.newton_step().reshape(-1), (target / best.precision).log().reshape(-1)])
        point = torch.cat([best.location.reshape(-1), best.precision.log().reshape(-1)])
        candidate = _move(best, history.mix(point, step) if size == 1.0 else point + size * step)
        gain = float(candidate.bound - best.bound)
        small = abs(gain) <= tol * abs(float(best.bound))
        if gain > 0 or small:
            best, size = candidate, min(1.0, 2 * size)
        elif len(history):
            history = _StepHistory()
        else:
            size /= 2
        if small or size < 1e-6:
            return best, small
    return best, False


def apply_hessian(hessian: Tensor, vectors: Tensor) -> Tensor:
    """Return the product of the blocks (n, latents, latents) with vectors (latents, n)."""
    return torch.einsum("nij,jn->in", hessian, vectors)


def solve_step(
    residual: Tensor, smooth: Callable[[Tensor], tuple[Tensor, Tensor]], curve: Callable[[Tensor], Tensor]
) -> Tensor:
    """Return P d for the solution d of (P + W) d = residual by conjugate gradients, P being the prior precision.

    Parameters
    ----------
    smooth : callable
        Returns z = (P + L)^{-1} r and P z, where L is near W.
    curve : callable
        Returns W z.
    """
    rest = residual
    z, pz = smooth(rest)
    direction, p_direction = z, pz
    solution = torch.zeros_like(residual)
    power = (rest * z).sum()
    if not float(power) > 0:  # nothing to solve for, to rounding
        return solution
    stop = _CG_TOLERANCE**2 * power
    for _ in range(_CG_STEPS):
        applied = p_direction + curve(direction)
        length = power / (direction * applied).sum()
        solution = solution + length * p_direction
        rest = rest - length * applied
        z, pz = smooth(rest)
        power, old = (rest * z).sum(), power
        if not float(power) > float(stop):
            break
        direction, p_direction = z + (power / old) * direction, pz + (power / old) * p_direction
    return solution


def _move(q: Q, point: Tensor) -> Q:
    location = point[: q.location.numel()].reshape(q.location.shape)
    return q.at(location, point[q.location.numel() :].reshape(q.precision.shape).clamp(-25.0, 25.0).exp())


class _StepHistory:
    """The last points and steps of an iteration."""

    def __init__(self) -> None:
        self.points: list[Tensor] = []
        self.steps: list[Tensor] = []

    def __len__(self) -> int:
        return len(self.points) - 1

    def mix(self, point: Tensor, step: Tensor) -> Tensor:
        """Return the next point, from the combination of points whose combined step is shortest."""
        self.points, self.steps = [*self.points, point][-_MEMORY:], [*self.steps, step][-_MEMORY:]
        if len(self.points) == 1:
            return point + step
        moves = torch.stack([point - old for old in self.points[:-1]])
        changes = torch.stack([step - old for old in self.steps[:-1]])
        gram = changes @ changes.T
        gram.diagonal().add_(1e-10 * gram.diagonal().max().clamp_min(1e-300))
        weights = torch.linalg.solve(gram, changes @ step)
        return point + step - weights @ (moves + changes)
