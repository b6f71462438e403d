"""The full-covariance Gaussian kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.covariance import ledoit_wolf_shrinkage

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.kernels.kernel import Kernel, Width, chi_median, mean_nearest_distance
from bayes_gresub.laws.components import Components


class FullGaussian(Kernel):
    r"""Normal kernel with the shape of the class covariance.

    .. math:: K_j = \kappa^2 \sigma_j^2 \Sigma_j, \qquad \sigma_j = \hat d_j / \alpha_d

    with the nearest-neighbour distance d_j measured in the Mahalanobis metric of Sigma_j. With `shrinkage=0` the
    kernel is equivariant under invertible linear maps of the features.

    Parameters
    ----------
    width : float, per class, of shape (n,) or (n, d, d), optional
        Multiple of the covariance's square root; estimated by default. With shape (n, d, d) it holds the
        covariance matrices of the kernels.
    covariance : ndarray of shape (d, d) or (c, d, d), optional
        Sigma_j in units of the space; the class covariance by default.
    shrinkage : "auto" or float in [0, 1]
        Weight of the class's mean variance times the identity in Sigma_j. "auto" is Ledoit and Wolf's, but at least
        1/n_j if a class has no more points than features; 0 needs more points than features.
    scale : float, default 1
        Factor kappa on the width.
    standardize : "within-class" or None
        The space in which the covariance is shrunk.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [5.0, 5.0], [7.0, 5.0], [5.0, 7.0], [7.0, 7.0]])
    >>> kernel = FullGaussian(shrinkage=0, standardize=None).fit(X, [0, 0, 0, 0, 1, 1, 1, 1])
    >>> kernel.widths_.round(3).tolist()
    [1.471, 1.471]
    """

    has_shape = True

    def __init__(
        self,
        width: Width = None,
        covariance: ArrayLike | None = None,
        shrinkage: str | float = "auto",
        scale: float = 1.0,
        standardize: str | None = "within-class",
    ) -> None:
        self.width = width
        self.covariance = covariance
        self.shrinkage = shrinkage
        self.scale = scale
        self.standardize = standardize

    def _width_shapes(self, d: int) -> list[tuple[int, ...]]:
        return [(), (d, d)]

    def _learn(self, units: Floats, codes: Ints, seed: np.random.SeedSequence) -> Floats:
        self._refuse_single_points(codes)
        groups = [units[codes == code] for code in range(len(self.classes_))]
        widths, errors = [], []
        for j, (group, factor) in enumerate(zip(groups, self.factors_, strict=True)):
            moving = factor.any(axis=1) & (self.feature_scale_ > 0)
            inverse = np.linalg.inv(factor[np.ix_(moving, moving)])
            distance = mean_nearest_distance(group[:, moving] @ inverse.T, seed, j)
            median = chi_median(max(1, int(moving.sum())))
            widths.append(distance.value / median)
            errors.append(distance.std_error / median)
        self.width_std_error_ = np.array(errors)
        return np.array(widths)

    def _learn_shape(self, units: Floats, codes: Ints, given: Floats | None) -> None:
        """Set `factors_`, shape (c, d, d): square roots of the class covariances in units of the space."""
        if self.shrinkage != "auto" and not (
            isinstance(self.shrinkage, int | float | np.number) and 0 <= float(self.shrinkage) <= 1
        ):
            raise ValueError(f"shrinkage must be 'auto' or a number from 0 to 1; got {self.shrinkage!r}.")
        if given is not None and given.ndim == 3:
            self.factors_ = np.stack([_cholesky(matrix, f"given at {i}") for i, matrix in enumerate(given)])
            return
        c, d = len(self.classes_), units.shape[1]
        if self.covariance is not None:
            covariance = np.asarray(self.covariance, dtype=float)
            if covariance.shape not in ((d, d), (c, d, d)):
                raise ValueError(f"covariance must have shape ({d}, {d}) or ({c}, {d}, {d}); got {covariance.shape}.")
            self.factors_ = np.stack([_cholesky(matrix, "given") for matrix in np.broadcast_to(covariance, (c, d, d))])
            return
        self.factors_ = np.zeros((c, d, d))
        remedy = "give the covariance" if self.width is not None else "give the width and covariance"
        self._refuse_single_points(codes, remedy)
        for code in range(c):
            group = units[codes == code]
            # A feature constant in the class keeps width 0 whatever the shrinkage.
            moving = np.ptp(group, axis=0) > 0
            if moving.any():
                origin = f"of class {self.classes_.tolist()[code]!r}"
                self.factors_[code][np.ix_(moving, moving)] = _cholesky(
                    self._class_covariance(group[:, moving]), origin
                )

    def _class_covariance(self, group: Floats) -> Floats:
        covariance = np.atleast_2d(np.cov(group, rowvar=False))
        if self.shrinkage == "auto":
            # Ledoit and Wolf's estimate may leave the covariance of very few points singular.
            least = 1.0 / len(group) if len(group) <= group.shape[1] else 0.0
            shrinkage = max(least, float(ledoit_wolf_shrinkage(group)))
        else:
            shrinkage = float(self.shrinkage)
        mean_variance = np.trace(covariance) / len(covariance)
        return np.asarray((1 - shrinkage) * covariance + shrinkage * mean_variance * np.eye(len(covariance)))

    def _build(self, centers: Floats, codes: Ints, group: Ints) -> Components:
        unit = self.scale * self.feature_scale_[:, None]
        if self.widths_.ndim == 3:
            factors = self.factors_
        elif len(self.widths_) == len(self.classes_):
            factors = self.widths_[:, None, None] * self.factors_
        else:
            factors = self.widths_[:, None, None] * self.factors_[codes]
        return Components(centers, unit * factors, group)


def _cholesky(covariance: Floats, origin: str) -> Floats:
    if not np.allclose(covariance, covariance.T):
        raise ValueError(f"a covariance matrix must be symmetric; the one {origin} is not.")
    try:
        factor = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        factor = np.zeros_like(covariance)
    # A pivot this small is rounding, not variance.
    if (np.diag(factor) <= 1e-7 * np.sqrt(np.diag(covariance))).any():
        raise ValueError(
            f"a covariance matrix must be positive definite; the one {origin} is singular. "
            "Raise shrinkage, or drop features that are combinations of others."
        )
    return np.asarray(factor, dtype=np.float64)
