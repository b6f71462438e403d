"""Half-spaces: the decision regions of binary linear classifiers, and their exact mass under any component."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.laws.components import Components
from bayes_gresub.laws.confusion import ExactMass

if TYPE_CHECKING:
    from bayes_gresub.regions.affine import AffineMap


@dataclass(frozen=True, eq=False)
class HalfSpace:
    """Class 1 where a'x + b > 0, class 0 elsewhere."""

    normal: Floats
    offset: float

    def scores(self, points: Floats) -> Floats:
        """Return a'x + b."""
        return points @ self.normal + self.offset

    def labels(self, points: Floats) -> Ints:
        """Return 0 or 1 per point."""
        return (self.scores(points) > 0).astype(np.intp)

    def doubtful(self, points: Floats, rtol: float) -> NDArray[np.bool_]:
        """Return where rounding decides the label."""
        size = np.abs(points) @ np.abs(self.normal) + np.abs(self.offset)
        return np.asarray(np.abs(self.scores(points)) <= rtol * size)

    def after(self, step: AffineMap) -> HalfSpace:
        """Return the geometry in the space before `step`."""
        return HalfSpace(step.pull_back(self.normal), float(self.offset + self.normal @ step.offset))

    def mass(self, components: Components, scales: Sequence[float]) -> ExactMass:
        r"""Return the mass on both sides, exactly.

        With x = X_i + kappa T_i z and z spherically symmetric, a'x + b is a'X_i + b plus kappa |T_i'a| times a
        coordinate of z, whose distribution function F is known:

        .. math:: \mu_i(a'x + b > 0) = F\left(\frac{a'X_i + b}{\kappa |T_i'a|}\right)

        For normal components with covariance K this is Phi((a'X + b) / sqrt(a'Ka)); the error mass at (X, Y) is thus
        Phi((-1)^Y (a'X + b) / sqrt(a'Ka)). The paper prints (-1)^(1-Y), which gives one minus this.

        Returns
        -------
        ExactMass
            Values of shape (len(scales), k, 2). Components without spread across the boundary are decided by the sign
            of a'X + b.

        Examples
        --------
        >>> import numpy as np
        >>> laws = Components(np.array([[1.0, 0.0]]), np.array([1.0]), np.array([0]))
        >>> HalfSpace(np.array([1.0, 0.0]), 0.0).mass(laws, [1.0]).values.round(4).tolist()
        [[[0.1587, 0.8413]]]
        """
        score = self.scores(components.centers)
        along = components.in_standard_space(self.normal)
        # Relative to the largest coordinate: squares of very large or small numbers overflow or underflow.
        size = np.maximum(np.abs(along).max(axis=1), np.finfo(float).tiny)
        deviation = size * np.sqrt(np.einsum("gp,gp->g", along / size[:, None], along / size[:, None]))
        across = np.multiply.outer(np.asarray(scales, dtype=float), deviation[components.group])
        # A rounding error in the score of the centre is not a distance to the boundary.
        flat = across == 0
        with np.errstate(over="ignore"):
            ratio = np.divide(score, across, out=np.zeros_like(across), where=~flat)
        result = np.empty((*across.shape, 2))
        result[..., 0] = components.law.marginal_cdf(-ratio, along.shape[1])
        result[..., 1] = components.law.marginal_cdf(ratio, along.shape[1])
        if flat.any():
            side = np.broadcast_to(score > 0, across.shape)[flat]
            result[flat] = np.stack([~side, side], axis=-1)
        return ExactMass(result, f"{components.law.distribution_function} at a linear boundary")
