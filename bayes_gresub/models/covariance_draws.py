"""What covariance structures take and give: statistics of a sample, the law of the classes, draws from it.

Everything may have leading axes (draws, chains, data sets).
"""

from __future__ import annotations

from dataclasses import dataclass

from bayes_gresub.data.arrays import Floats


@dataclass(frozen=True, eq=False)
class Statistics:
    """All that a Gaussian model sees of a sample.

    Attributes
    ----------
    counts : ndarray of shape (..., c)
    means : ndarray of shape (..., c, d)
    scatter : ndarray of shape (..., g, d, d), (..., g, d) or (..., g)
        Sums of squares about the class means, as far as the structure needs them; g is 1 where classes share one.
    """

    counts: Floats
    means: Floats
    scatter: Floats


@dataclass(frozen=True, eq=False)
class NormalInverseWishartLaw:
    """The law of (means, covariances): Sigma_g ~ IW(dof_g, scale_g), mu_y | Sigma ~ N(center_y, Sigma / strength_y).

    Attributes
    ----------
    centers : ndarray of shape (..., c, d)
    strengths : ndarray of shape (..., c)
    dofs : ndarray of shape (..., g)
    scales : ndarray, like the scatter of `Statistics`
    """

    centers: Floats
    strengths: Floats
    dofs: Floats
    scales: Floats


@dataclass(frozen=True, eq=False)
class Noise:
    """Standard random numbers of one draw: `square_roots` of chi-squares, and normals for covariances and means."""

    square_roots: Floats
    below: Floats | None
    means: Floats


@dataclass(frozen=True, eq=False)
class GaussianDraws:
    """Draws of the classes: `means` (..., c, d) and `spread`, whose product with its transpose is the covariance.

    The spread has shape (..., g, d, d), (..., g, d) or (..., g).
    """

    means: Floats
    spread: Floats
