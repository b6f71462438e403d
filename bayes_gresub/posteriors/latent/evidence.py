"""Length-scales and amplitudes by the largest bound on the evidence, with a prior on amplitudes: L-BFGS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import Bounds, minimize

from bayes_gresub.components import Floats
from bayes_gresub.posteriors.latent.engines import Engine
from bayes_gresub.posteriors.latent.kernels import AMPLITUDES, LENGTHSCALES

_UNIT = 4.0
"""L-BFGS begins with a step of length 1: a quarter of a logarithm."""

_ON_THE_WAY = 0.1
"""Of the search's tolerance: how exact the bound must be before the end."""


@dataclass(frozen=True)
class LogNormal:
    """A log-normal law: its median, and the deviation of the logarithm."""

    median: float
    spread: float


@dataclass(frozen=True)
class Learned:
    """The end of the search."""

    bound: float
    n_iter: int
    converged: bool


def learn(
    engine: Engine,
    free: dict[str, bool],
    lengthscale_prior: LogNormal,
    amplitude_prior: LogNormal,
    tol: float,
    max_iter: int,
    tick: Callable[[], None] | None = None,
) -> Learned:
    """Move the free parameters of the engine's kernel to the largest bound plus log prior; leave the engine fitted.

    Parameters
    ----------
    free : dict
        Whether "lengthscale" and "amplitude" are learned.
    tol : float
        Stop when the bound's relative change in a step is below this.
    """
    kernel = engine.kernel
    parameters = [
        (kernel.base.raw_lengthscale, lengthscale_prior, LENGTHSCALES) if free["lengthscale"] else None,
        (kernel.scaled.raw_outputscale, amplitude_prior, AMPLITUDES) if free["amplitude"] else None,
    ]
    chosen = [one for one in parameters if one is not None]
    if not chosen:
        return Learned(float(engine.ascend()), 0, True)
    sizes = [parameter.numel() for parameter, _, _ in chosen]

    def put(scaled: Floats) -> None:
        flat = scaled / _UNIT
        for (parameter, _, _), part in zip(chosen, np.split(flat, np.cumsum(sizes)[:-1]), strict=True):
            parameter.data = torch.as_tensor(part, dtype=parameter.dtype, device=parameter.device).reshape(
                parameter.shape
            )

    def objective(scaled: Floats) -> tuple[float, Floats]:
        put(scaled)
        bound = engine.ascend(_ON_THE_WAY * tol)
        kernel.zero_grad()
        engine.surrogate().backward()  # type: ignore[no-untyped-call]
        value, slopes = float(bound), []
        for parameter, prior, _ in chosen:
            away = (parameter.data - np.log(prior.median)) / prior.spread
            value -= 0.5 * float((away**2).sum())
            slopes.append((parameter.grad - away / prior.spread).reshape(-1).cpu().numpy())
        return -value, -np.concatenate(slopes) / _UNIT

    start = _UNIT * np.concatenate([parameter.data.reshape(-1).cpu().numpy() for parameter, _, _ in chosen])
    low, high = (np.repeat([_UNIT * np.log(ends[k]) for _, _, ends in chosen], sizes) for k in range(2))
    found = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(low, high),
        callback=None if tick is None else lambda _: tick(),
        options={"maxiter": max_iter, "ftol": tol, "gtol": 0.0, "maxls": 20},
    )
    put(found.x)
    return Learned(float(engine.ascend()), int(found.nit), bool(found.nit < max_iter))
