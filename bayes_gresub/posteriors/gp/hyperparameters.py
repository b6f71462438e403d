"""Length-scales and amplitudes that maximise the bound on the evidence times their priors, by L-BFGS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.optimize import minimize

from bayes_gresub.data.arrays import Floats
from bayes_gresub.posteriors.gp.approximations import LatentApproximation

_ON_THE_WAY = (0.1, 1e-4)
"""How exact the bound must be during the search, relative to its tolerance; and if that was not enough."""

_LENGTHSCALE_UNIT = 3.0
_FARTHEST = (np.log(100.0), 7.0)
"""From the medians of the priors: logarithms of length-scales, and of amplitudes divided by squared length-scales."""


@dataclass(frozen=True)
class LogNormal:
    """A log-normal law: its median, and the deviation of the logarithm."""

    median: float
    spread: float

    def log_density(self, logarithms: Floats) -> tuple[float, Floats]:
        """Return the log density of logarithms, up to a constant, and its gradient."""
        away = (logarithms - np.log(self.median)) / self.spread
        return -0.5 * float(away @ away), -away / self.spread


@dataclass(frozen=True)
class SearchResult:
    """The bound at the end of the search, its steps, and whether it converged."""

    bound: float
    n_iter: int
    converged: bool


def learn_hyperparameters(
    approximation: LatentApproximation,
    lengthscale_prior: LogNormal | None,
    amplitude_prior: LogNormal | None,
    tol: float,
    max_iter: int,
    tick: Callable[[], None] | None = None,
) -> SearchResult:
    """Move the kernel of the latents to the largest bound plus log prior; leave them fitted.

    Parameters
    ----------
    lengthscale_prior, amplitude_prior : LogNormal or None
        None for a parameter that is given, not learned; the search begins at the medians.
    tol : float
        Stop when the bound's relative change in a step is below this.
    """
    kernel = approximation.kernel
    parameters = (kernel.base.raw_lengthscale, kernel.scaled.raw_outputscale)
    priors = (lengthscale_prior, amplitude_prior)
    coordinates = _SearchCoordinates(*priors, kernel.n_kernels)
    if lengthscale_prior is None and amplitude_prior is None:
        return _finish(approximation, 0, True)

    def set_parameters(x: Floats) -> tuple[Floats | None, Floats | None]:
        logarithms = coordinates.logarithms(x)
        for parameter, values in zip(parameters, logarithms, strict=True):
            if values is not None:
                parameter.data = torch.as_tensor(values, device=parameter.device).reshape(parameter.shape)
        return logarithms

    def objective(x: Floats, exactness: float) -> tuple[float, Floats]:
        logarithms = set_parameters(x)
        value = float(approximation.ascend(exactness * tol))
        kernel.zero_grad()
        approximation.surrogate().backward()  # type: ignore[no-untyped-call]
        slopes: list[Any] = [None, None]
        for k, (parameter, prior, values) in enumerate(zip(parameters, priors, logarithms, strict=True)):
            if prior is not None and values is not None:
                log_density, slope = prior.log_density(values)
                value += log_density
                slopes[k] = parameter.grad.reshape(-1).cpu().numpy() + slope
        return -value, -coordinates.gradient(*slopes)

    bounds = coordinates.bounds()
    x, steps, settled = np.zeros(len(bounds)), 0, False
    for exactness in _ON_THE_WAY:
        search = minimize(
            objective,
            x,
            args=(exactness,),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            callback=None if tick is None else lambda _: tick(),
            options={"maxiter": max_iter - steps, "ftol": tol, "gtol": 1e-6, "maxls": 20},
        )
        x, steps, settled = search.x, steps + int(search.nit), bool(search.success)
        if settled or steps >= max_iter:
            break
    set_parameters(x)
    return _finish(approximation, steps, settled)


def _finish(approximation: LatentApproximation, n_iter: int, converged: bool) -> SearchResult:
    # Without gradients nothing of the search is kept, and the fit can be copied.
    with torch.no_grad():
        bound = float(approximation.ascend())
    return SearchResult(bound, n_iter, converged and approximation.converged)


@dataclass(frozen=True)
class _SearchCoordinates:
    """The coordinates of L-BFGS: length-scales, and amplitudes divided by squared length-scales.

    If a latent hardly bends within the data, they determine its slope only, :math:`a / l^2`. In these coordinates the
    ridge that follows is straight, and half as many steps are needed.
    """

    lengthscale: LogNormal | None
    amplitude: LogNormal | None
    n_kernels: int

    @property
    def slant(self) -> float:
        """Return the power of the length-scale that amplitudes are divided by."""
        return 0.0 if self.lengthscale is None else 2.0

    def bounds(self) -> list[tuple[float, float]]:
        """Return the least and greatest of every coordinate."""
        units = [_LENGTHSCALE_UNIT] * (self.lengthscale is not None) + [1.0] * (self.amplitude is not None)
        ends = [_FARTHEST[0]] * (self.lengthscale is not None) + [_FARTHEST[1]] * (self.amplitude is not None)
        return [(-unit * end, unit * end) for unit, end in zip(units, ends, strict=True) for _ in range(self.n_kernels)]

    def logarithms(self, x: Floats) -> tuple[Floats | None, Floats | None]:
        """Return the logarithms of length-scales and amplitudes, None for those that are given."""
        moved = None if self.lengthscale is None else x[: self.n_kernels] / _LENGTHSCALE_UNIT
        amplitudes = None
        if self.amplitude is not None:
            amplitudes = np.log(self.amplitude.median) + x[-self.n_kernels :]
            amplitudes = amplitudes + (0.0 if moved is None else self.slant * moved)
        return (None if moved is None else moved + np.log(self.lengthscale.median)), amplitudes  # type: ignore[union-attr]

    def gradient(self, by_lengthscale: Floats | None, by_amplitude: Floats | None) -> Floats:
        """Return the gradient by the coordinates from those by the logarithms."""
        parts = []
        if by_lengthscale is not None:
            through = 0.0 if by_amplitude is None else self.slant * by_amplitude
            parts.append((by_lengthscale + through) / _LENGTHSCALE_UNIT)
        if by_amplitude is not None:
            parts.append(by_amplitude)
        return np.concatenate(parts)
