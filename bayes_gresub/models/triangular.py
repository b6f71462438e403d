"""Many lower triangular matrices at once."""

from __future__ import annotations

import numpy as np

from bayes_gresub.data.arrays import Floats


def fill_lower(diagonal: Floats, below: Floats | None) -> Floats:
    """Return matrices (..., d, d) from diagonals (..., d) and what is below them, (..., d(d-1)/2) row by row."""
    d = diagonal.shape[-1]
    lower = np.zeros((*diagonal.shape, d))
    lower[..., range(d), range(d)] = diagonal
    if below is not None:
        lower[..., *np.tril_indices(d, -1)] = below
    return lower


def invert_lower(lower: Floats) -> Floats:
    """Return the inverses by substitution, a row of all matrices at a time; LAPACK takes the matrices one by one."""
    inverse = np.zeros_like(lower)
    for i in range(lower.shape[-1]):
        inverse[..., i, i] = 1.0 / lower[..., i, i]
        if i:
            above = np.matmul(lower[..., i, None, :i], inverse[..., :i, :i])[..., 0, :]
            inverse[..., i, :i] = -above * inverse[..., i, i, None]
    return inverse
