"""Densities of many components at the same points, by one matrix product. Regions have no part in this."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import gammaln

from bayes_gresub.data.arrays import Floats
from bayes_gresub.laws.components import Components, StudentT


class Densities:
    r"""Log densities of normal or Student-t components, prepared for many points.

    With :math:`A_i = (T_i T_i')^{-1}` the squared distance of a point from component i is a linear function of the
    products of its coordinates,

    .. math:: q_i(x) = |T_i^{-1}(x - c_i)|^2 = x' A_i x - 2 c_i' A_i x + c_i' A_i c_i,

    so the distances of all points from all components are one matrix product. Then :math:`\log f_i(x)` is
    :math:`-\tfrac12 q - \log|T| - \tfrac d2 \log 2\pi` for a normal component, and for one with v degrees of freedom
    :math:`\log\frac{\Gamma((v+d)/2)}{\Gamma(v/2) (\pi v)^{d/2} |T|} - \tfrac{v+d}2 \log(1 + q/v)`.

    Parameters
    ----------
    components : Components
        None of them a point mass.
    dtype : np.float64 or np.float32
        In which distances are computed and returned. Single precision takes half the time; its error in a log density
        is about 1e-6 of the squared distance.

    Examples
    --------
    >>> import numpy as np
    >>> normal = Components(np.zeros((1, 2)), np.ones(1), np.zeros(1, dtype=int))
    >>> Densities(normal)(np.zeros((1, 2))).round(4).tolist()  # -log(2 pi)
    [[-1.8379]]
    """

    def __init__(self, components: Components, dtype: type[np.floating[Any]] = np.float64) -> None:
        self._dim = components.centers.shape[1]
        self._is_diagonal = components.spread.ndim < 3
        used, group = np.unique(components.group, return_inverse=True)
        components = replace(components, spread=components.spread[used], group=group)
        # Near the origin and of unit size no digits are lost when the three terms are added up.
        self._middle = components.centers.mean(axis=0)
        self._unit = _typical_map(components)
        centers = self._standard(components.centers)
        if self._is_diagonal:
            deviations = components.feature_deviations() / self._unit
            log_volumes = np.log(deviations).sum(axis=1)[group]
            precision = (deviations**-2.0)[group]
            linear = precision * centers
            quadratic = precision
        else:
            inverse = np.linalg.inv((np.linalg.inv(self._unit) @ components.spread).astype(dtype, copy=False))
            log_volumes = -np.linalg.slogdet(inverse)[1][group]
            matrices = inverse.swapaxes(1, 2) @ inverse
            linear = (matrices[group] @ centers[:, :, None])[:, :, 0]
            self._first, self._second = np.triu_indices(self._dim)
            both = np.where(self._first == self._second, 1.0, 2.0)
            quadratic = (matrices[:, self._first, self._second] * both)[group]
        constant = (linear * centers).sum(axis=1, keepdims=True)
        self._coefficients = np.ascontiguousarray(np.hstack([quadratic, -2.0 * linear, constant]).T, dtype=dtype)
        log_volumes = log_volumes + _log_volume(self._unit)
        d = self._dim
        self._dof: Any = components.law.dof if isinstance(components.law, StudentT) else None
        if self._dof is None:
            heights = -log_volumes - 0.5 * d * np.log(2 * np.pi)
        else:
            v = self._dof
            heights = gammaln((v + d) / 2) - gammaln(v / 2) - 0.5 * d * np.log(np.pi * v) - log_volumes
            self._dof = np.asarray(v, dtype=dtype)
        self._log_heights = heights.astype(dtype)

    def __call__(self, points: Floats) -> Floats:
        """Return the log density at points (m, d) of every component, shape (m, k)."""
        z = self._standard(points).astype(self._coefficients.dtype, copy=False)
        products = z * z if self._is_diagonal else z[:, self._first] * z[:, self._second]
        squares = np.hstack([products, z, np.ones((len(z), 1), z.dtype)]) @ self._coefficients
        np.maximum(squares, 0.0, out=squares)
        if self._dof is None:
            squares *= -0.5
        else:
            squares /= self._dof
            np.log1p(squares, out=squares)
            squares *= -0.5 * (self._dof + self._dim)
        squares += self._log_heights
        return squares

    def _standard(self, points: Floats) -> Floats:
        centered = points - self._middle
        return centered / self._unit if self._is_diagonal else np.linalg.solve(self._unit, centered.T).T


def _typical_map(components: Components) -> Floats:
    """Return deviations (d,), or the Cholesky factor (d, d) of the mean covariance of the groups."""
    if components.spread.ndim < 3:
        return np.sqrt((components.feature_deviations() ** 2).mean(axis=0))
    return np.linalg.cholesky(components.covariance_shape().mean(axis=0))


def _log_volume(unit: Floats) -> float:
    return float(np.log(unit if unit.ndim == 1 else np.diag(unit)).sum())
