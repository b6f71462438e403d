"""Scrambled Sobol' sequences: any stretch, many scrambles at once. sampling.py assigns the points to components."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from bayes_gresub.data.arrays import Floats

_BITS = 30
_DIGITS = np.left_shift(np.uint32(1), np.arange(_BITS - 1, -1, -1, dtype=np.uint32))


def scrambles(dim: int, start: int, stop: int, seeds: Sequence[np.random.SeedSequence]) -> Floats:
    """Return points start..stop of one scrambled Sobol' sequence per seed, shape (seeds, stop - start, dim).

    The sequence is scrambled as Matousek (1998) proposed: the digits of every coordinate are multiplied by a random
    lower triangular binary matrix and shifted. Any stretch can be computed without the points before it. All
    points lie in the open unit cube.

    Examples
    --------
    >>> import numpy as np
    >>> u = scrambles(1, 0, 4, [np.random.SeedSequence(0)])
    >>> sorted((4 * u[0, :, 0]).astype(int).tolist())
    [0, 1, 2, 3]
    """
    log_size = max(1, int(stop - 1).bit_length())
    words = np.stack([seed.generate_state(dim * (1 + _BITS)) for seed in seeds]) >> (32 - _BITS)
    words = words.reshape(len(seeds), dim, 1 + _BITS)
    shift, rows = words[:, None, :, 0], words[:, :, 1:]
    rows = (rows & ~(2 * _DIGITS - 1)) | _DIGITS
    parity = np.bitwise_count(rows[..., None] & _directions(dim, log_size)[:, None, :]) & 1
    scrambled = (parity * _DIGITS[:, None]).sum(axis=2, dtype=np.uint32)

    low = min(log_size, max(1, int(stop - start - 1).bit_length()))
    points = np.empty((len(seeds), 1 << low, dim), dtype=np.uint32)
    points[:, :1] = shift
    for j in range(low):
        np.bitwise_xor(points[:, : 1 << j], scrambled[:, None, :, j], out=points[:, 1 << j : 2 << j])
    parts = []
    for high in range(start >> low, ((stop - 1) >> low) + 1):
        begin, end = max(start - (high << low), 0), min(stop - (high << low), 1 << low)
        chosen = [low + j for j in range(high.bit_length()) if high >> j & 1]
        parts.append(points[:, begin:end] ^ np.bitwise_xor.reduce(scrambled[..., chosen], axis=2)[:, None])
    digits = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
    return (digits.astype(np.float64) + 0.5) * 2.0**-_BITS


@lru_cache(maxsize=64)
def _directions(dim: int, log_size: int) -> NDArray[np.uint32]:
    """Return the Sobol' direction numbers, shape (dim, log_size), read off scipy's unscrambled sequence."""
    engine = qmc.Sobol(dim, scramble=False, bits=_BITS)
    directions = np.empty((dim, log_size), dtype=np.uint32)
    position = 0
    for j in range(log_size):
        # scipy walks in Gray-code order, in which point 2^(j+1) - 1 is direction number j itself.
        target = 2 ** (j + 1) - 1
        engine.fast_forward(target - position)
        directions[:, j] = np.round(engine.random(1)[0] * 2**_BITS)
        position = target + 1
    return directions
