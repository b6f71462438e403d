"""Exact mass of a half-space under spherically symmetric components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from bayes_gresub.data.arrays import Floats
from bayes_gresub.laws.components import Components, Normal, StudentT


class HalfSpace(Protocol):
    """The set where a'x + b > 0, a being its normal."""

    @property
    def normal(self) -> Floats:
        """Return a."""

    def scores(self, points: Floats) -> Floats:
        """Return a'x + b at points (m, d)."""


def linear_mass(components: Components, boundary: HalfSpace, scales: Sequence[float]) -> Floats:
    r"""Return the mass on both sides of a hyperplane, exactly.

    With x = X_i + kappa T_i z and z spherically symmetric, a'x + b is a'X_i + b plus kappa |T_i'a| times a coordinate
    of z, whose distribution function F is known:

    .. math:: \mu_i(a'x + b > 0) = F\left(\frac{a'X_i + b}{\kappa |T_i'a|}\right)

    For normal components with covariance K this is Phi((a'X + b) / sqrt(a'Ka)); the error mass at (X, Y) is thus
    Phi((-1)^Y (a'X + b) / sqrt(a'Ka)). The paper prints (-1)^(1-Y), which gives one minus it.

    Returns
    -------
    ndarray of shape (len(scales), k, 2)
        Components with no spread across the boundary go by the sign of a'X + b.

    Examples
    --------
    >>> import numpy as np
    >>> from bayes_gresub.regions.shapes import Linear
    >>> laws = Components(np.array([[1.0, 0.0]]), np.array([1.0]), np.array([0]))
    >>> linear_mass(laws, Linear(np.array([1.0, 0.0]), 0.0), [1.0]).round(4).tolist()
    [[[0.1587, 0.8413]]]
    """
    score = boundary.scores(components.centers)
    across = np.multiply.outer(np.asarray(scales, dtype=float), components.deviation_along(boundary.normal))
    # Rounding of the centre's own score is no distance to the boundary.
    flat = across == 0
    with np.errstate(over="ignore"):
        ratio = np.divide(score, across, out=np.zeros_like(across), where=~flat)
    result = np.empty((*across.shape, 2))
    result[..., 0] = components.law.marginal_cdf(-ratio, components.dim)
    result[..., 1] = components.law.marginal_cdf(ratio, components.dim)
    if flat.any():
        side = np.broadcast_to(score > 0, across.shape)[flat]
        result[flat] = np.stack([~side, side], axis=-1)
    return result


def linear_method(components: Components) -> str:
    """Return in words which distribution function gives the mass of a half-space."""
    if isinstance(components.law, Normal):
        return "normal distribution function at a linear boundary"
    if isinstance(components.law, StudentT):
        return "Student-t distribution function at a linear boundary"
    return "incomplete beta function at a linear boundary"
