"""The separation of a structure at which the best classifier has a given error."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from bayes_gresub.data.arrays import Floats
from benchmarks.learn.structure import Structure

S = TypeVar("S", bound=Structure)

N_TUNING = 400


def tune(structure: S, target: float, rng: np.random.Generator, n: int = N_TUNING) -> S:
    """Return the structure separated so that E[1 - max_y eta_y(x)] is about `target`.

    The mean is taken over the same n draws at every separation. The separation is doubled or halved until the target
    lies between two of them, then bisected on the logarithmic scale; a target out of reach gives the nearest end.
    """
    seed = int(rng.integers(2**63))

    def error_of(candidate: S) -> float:
        X, _ = candidate.sample(n, np.random.default_rng(seed))
        return best_error(candidate.posterior(X))

    best = structure
    upward = error_of(structure) > target
    factor = 4.0 if upward else 0.25
    other = structure
    for _ in range(5):
        separation = min(best.separation * factor, structure.most_separated)
        other, best = best, best.separated(separation)
        if (error_of(best) > target) != upward or separation == structure.most_separated:
            break
    low, high = sorted((other, best), key=lambda candidate: candidate.separation)
    for _ in range(6):
        middle = low.separated(np.sqrt(low.separation * high.separation))
        if error_of(middle) > target:
            low = middle
        else:
            high = middle
    return high


def best_error(posterior: Floats) -> float:
    """Return the mean of 1 - max_y eta_y over rows of posteriors (n, c)."""
    return float(np.mean(1 - posterior.max(axis=1)))
