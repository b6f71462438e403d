"""The uniform ball kernel."""

from __future__ import annotations

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.kernels.kernel import Kernel, Width
from bayes_gresub.laws.components import Components, UnitBall


class UniformBall(Kernel):
    r"""Uniform kernel on a ball, with one radius per class.

    Half of a ball's mass lies within 2^(-1/d) times its radius, so the radius that makes the median distance match the
    mean nearest-neighbour distance is

    .. math:: r_j = \kappa \hat d_j \, 2^{1/d}

    Parameters
    ----------
    width : float, per class, or of shape (n,), optional
        Radius; estimated by default.
    scale : float, default 1
        Factor kappa on the radius.
    standardize : "within-class" or None
        As for `SphericalGaussian`; with "within-class" the balls are ellipsoids in the features as given.

    References
    ----------
    Braga-Neto & Dougherty, Bolstered error estimation, Pattern Recognition 37 (2004).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [10.0], [12.0]])
    >>> UniformBall(standardize=None).fit(X, [0, 0, 1, 1]).widths_.tolist()
    [2.0, 4.0]
    """

    def __init__(self, width: Width = None, scale: float = 1.0, standardize: str | None = "within-class") -> None:
        self.width = width
        self.scale = scale
        self.standardize = standardize

    def _learn(self, units: Floats, codes: Ints, seed: np.random.SeedSequence) -> Floats:
        distances, errors = self._nearest_distances(units, codes, seed)
        factor = 2.0 ** (1.0 / max(1, int(np.count_nonzero(self.feature_scale_))))
        self.width_std_error_ = errors * factor
        return distances * factor

    def _build(self, centers: Floats, codes: Ints, group: Ints) -> Components:
        radius = self.scale * self.widths_
        active = np.flatnonzero(self.feature_scale_)
        if self.standardize is None:
            return Components(centers, radius, group, UnitBall())
        if len(active) == len(self.feature_scale_):
            return Components(centers, radius[:, None] * self.feature_scale_, group, UnitBall())
        # A ball in the features that vary: constant features must not take up any of its radius.
        stretch = np.zeros((centers.shape[1], max(1, len(active))))
        stretch[active, np.arange(len(active))] = self.feature_scale_[active]
        return Components(centers, radius[:, None, None] * stretch, group, UnitBall())
