"""Seeds: turn `random_state` into reproducible streams. Nothing here draws numbers for an estimate."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

_PACKAGE = 0x6267_7265
"""Separates the package's child streams from those that a user spawns from the same SeedSequence."""

PROBES, POINTS, DRAWS, WIDTHS, POSTERIOR, SPLITS, RULES, PARTS, TRUTH, SAMPLES, ANSWERS, GLOBALS = range(12)
CLASSES, CHECKS, HALF, CENTERS = range(12, 16)
"""Purposes of child streams: checks of geometry, integrals, `sample`, subsamples for widths, posteriors; in resampling:
splits, refitted rules, measures of the parts; in studies: test points, samples, estimates, the process; in class
models: class probabilities, checks, halves of integrals; subsamples of centres."""

Seed: TypeAlias = int | np.integer | np.random.SeedSequence | np.random.Generator | None


def seed_sequence(random_state: Seed) -> np.random.SeedSequence:
    """Turn `random_state` into a SeedSequence.

    An int or a SeedSequence always gives the same streams; None gives fresh ones; a Generator is advanced,
    as it would be by drawing from it.
    """
    if isinstance(random_state, np.random.SeedSequence):
        return random_state
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(random_state.integers(2**32, size=4).tolist())
    if random_state is None:
        return np.random.SeedSequence()
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0:
        return np.random.SeedSequence(int(random_state))
    raise ValueError(
        "random_state must be a non-negative int, a numpy SeedSequence, a numpy Generator or None; "
        f"got {random_state!r}. Pass an int for reproducible results."
    )


def as_int(seed: np.random.SeedSequence) -> int:
    """Return an int that scikit-learn accepts as `random_state`."""
    return int(seed.generate_state(1)[0] >> 1)


def child(seed: np.random.SeedSequence, *key: int) -> np.random.SeedSequence:
    """Return the child stream of `seed` named by `key`, without changing `seed` as `spawn` would."""
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, _PACKAGE, *key), pool_size=seed.pool_size)
