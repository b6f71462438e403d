"""The spherical Gaussian kernel."""

from __future__ import annotations

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.kernels.kernel import Kernel, Width, chi_median
from bayes_gresub.laws.components import Components


class SphericalGaussian(Kernel):
    r"""Normal kernel with one width per class, the same in all directions.

    The width makes the median distance of a draw from the kernel's centre match the mean distance to the nearest
    neighbour in the class,

    .. math:: \sigma_j = \kappa \hat d_j / \alpha_d, \qquad
              \hat d_j = \frac{1}{n_j} \sum_i |X_{ij} - X'_{ij}|

    with alpha_d the median of the chi distribution.

    Parameters
    ----------
    width : float, per class, or of shape (n,), optional
        Standard deviation; estimated by default.
    scale : float, default 1
        Factor kappa on the width.
    standardize : "within-class" or None
        Measure distances in units of the pooled within-class standard deviation of each feature (features constant
        within classes have no spread and do not count in d), or in the features as given, as the paper does.

    References
    ----------
    Braga-Neto & Dougherty, Bolstered error estimation, Pattern Recognition 37 (2004).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [10.0], [12.0]])
    >>> SphericalGaussian(standardize=None).fit(X, [0, 0, 1, 1]).widths_.round(3).tolist()
    [1.483, 2.965]
    """

    def __init__(self, width: Width = None, scale: float = 1.0, standardize: str | None = "within-class") -> None:
        self.width = width
        self.scale = scale
        self.standardize = standardize

    def _learn(self, units: Floats, codes: Ints, seed: np.random.SeedSequence) -> Floats:
        distances, errors = self._nearest_distances(units, codes, seed)
        median = chi_median(max(1, int(np.count_nonzero(self.feature_scale_))))
        self.width_std_error_ = errors / median
        return distances / median

    def _build(self, centers: Floats, codes: Ints, group: Ints) -> Components:
        spread = self.scale * self.widths_
        if self.standardize is not None:
            spread = spread[:, None] * self.feature_scale_
        return Components(centers, spread, group)
