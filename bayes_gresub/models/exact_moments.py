"""Posterior moments of a classifier's error in closed form: hyperplanes under Gaussian classes, and cells.

The posteriors themselves, and classifiers or models that need draws, are elsewhere. The results are those of Dalton and
Dougherty in IEEE Transactions on Signal Processing: Bayesian minimum mean-square error estimation for classification
error, Parts I (cells) and II (hyperplanes), 59(1), 2011; Exact sample conditioned MSE performance, 60(5), 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from bayes_gresub.data.arrays import Floats
from bayes_gresub.laws.halfspace import HalfSpace

_DROP = 41.0  # Integrals are cut off where the integrand has fallen by exp(-_DROP).
_FARTHEST = 300.0  # Integrals from there on count as 0; the squared cosh is still in range.
_CHUNK = 512
# The integrand is largest at the lower limit, and so the panels are shortest there.
_EDGES = np.linspace(0.0, 1.0, 11) ** 1.5
_LEGENDRE = np.polynomial.legendre.leggauss(16)
_NODES = (_EDGES[:-1, None] + np.diff(_EDGES)[:, None] * (0.5 + 0.5 * _LEGENDRE[0])).ravel()
_WEIGHTS = (np.diff(_EDGES)[:, None] * 0.5 * _LEGENDRE[1]).ravel()


def normal_inverse_wishart_moments(
    boundary: HalfSpace, means: ArrayLike, strengths: ArrayLike, dofs: ArrayLike, scales: ArrayLike, *, shared: bool
) -> ClassMoments | None:
    r"""Return the moments of the masses on both sides of a hyperplane; None if there is no closed form.

    Class y is N(mu, Sigma) with Sigma ~ IW(v, S) and mu | Sigma ~ N(m, Sigma / k). Two points drawn from one class are
    N(m, (1 + 1/k) Sigma) with correlation 1/(k + 1) given Sigma, and a'Sigma a is a'Sa divided by a chi-square, so

    .. math:: E[\epsilon] = T_\nu(h), \quad E[\epsilon^2] = T_\nu(h, h; 1/(k+1)), \quad
              h = (a'm + b) \Big/ \sqrt{a'Sa \frac{k+1}{k \nu}}, \quad \nu = v - d + 1

    for the side a'x + b > 0, and -h for the other. Classes that share Sigma have
    :math:`E[\epsilon_y \epsilon_z] = T_\nu(h_y, h_z; 0)`, not a product: one chi-square divides both. Under
    Sigma = sigma^2 I with sigma^2 ~ S / chi-square(v), nu is v and a'Sa is S a'a. With one such variance per feature
    there is a closed form only if a has a single coordinate. See Dalton and Dougherty (2011), Part II, and (2012).

    Parameters
    ----------
    boundary : HalfSpace
    means, strengths : array-like of shape (c, d) and (c,)
    dofs : array-like of shape (c,) or (1,), or with a last axis d for variances per feature
    scales : array-like of shape (c, d, d), (c, d) or (c,)
        Of covariance matrices, of variances per feature, or of one variance; also with a first axis of length 1.
    shared : bool
        Whether the classes have one covariance, the same draw, or independent ones.

    Returns
    -------
    ClassMoments of c classes and two regions, a'x + b <= 0 and a'x + b > 0, or None

    Examples
    --------
    >>> side, means, scale = HalfSpace(np.array([1.0, 0.0]), 0.0), [[-1, 0], [1, 0]], 9 * np.eye(2)
    >>> moments = normal_inverse_wishart_moments(side, means, [10, 10], [12], [scale], shared=True)
    >>> errors, covariance = moments.errors([0, 1])
    >>> errors.round(4).tolist(), np.sqrt(np.diag(covariance)).round(4).tolist()
    ([0.1572, 0.1572], [0.0902, 0.0902])
    """
    centers, k, v, s = (np.asarray(value, dtype=float) for value in (means, strengths, dofs, scales))
    c, d = centers.shape
    if k.shape != (c,) or not (k > 0).all():
        raise ValueError(f"strengths must be positive, one for each of {c} classes; got {k.tolist()}.")
    if s.shape[:1] not in ((1,), (c,)) or s.shape[1:] not in ((d, d), (d,), ()):
        raise ValueError(f"scales must have shape (c,), (c, d) or (c, d, d) with c={c} or 1, d={d}; got {s.shape}.")
    # Along a direction of length about 1, squares stay in the range of floats.
    size = float(np.abs(boundary.normal).max()) or 1.0
    normal = boundary.normal / size
    if s.ndim == 2:
        if np.count_nonzero(normal) > 1:
            return None
        f = int(np.abs(normal).argmax())
        square, nu = s[:, f] * normal[f] ** 2, v[:, f] if v.ndim == 2 else v
    elif s.ndim == 1:
        square, nu = s * (normal @ normal), v
    else:
        square, nu = np.einsum("gij,i,j->g", s, normal, normal), v - d + 1
    if nu.shape not in ((1,), (c,)) or not (nu > 0).all():
        least = f"above {d - 1}, the dimension less 1" if s.ndim == 3 else "positive"
        raise ValueError(f"dofs must be {least}, one for each of {c} classes or one; got {v.tolist()}.")
    if shared and (np.ptp(nu) > 0 or np.ptp(square) > 0):
        raise ValueError("dofs and scales of a shared covariance must be the same for all classes. Pass one of each.")
    nu = np.broadcast_to(nu, c)
    across = np.sqrt(np.maximum(square, 0.0) / nu * (1.0 + 1.0 / k))
    score = boundary.scores(centers) / size
    # Without spread across the boundary a class goes by its mean, which on the boundary is on side 0.
    ratio = np.divide(score, across, out=np.where(score > 0, np.inf, -np.inf), where=across > 0)
    return _side_moments(ratio, nu, k, shared)


def dirichlet_moments(concentrations: ArrayLike, labels: ArrayLike) -> ClassMoments:
    r"""Return the moments of the masses that a classifier gives to each class, in a model of cells.

    The cells of class y have probabilities p_y ~ Dirichlet(beta_y), independent between classes, and the cells that
    are given class j have together a Dirichlet law too (Dalton and Dougherty 2011, Part I), with
    :math:`B_{yj} = \sum_{x: \psi(x) = j} \beta_{yx}`:

    .. math:: E[P_{yj}] = B_{yj} / B_y, \quad
              Cov(P_{yi}, P_{yj}) = \frac{B_{yi} (\delta_{ij} B_y - B_{yj})}{B_y^2 (B_y + 1)}

    Parameters
    ----------
    concentrations : array-like of shape (c, J)
        beta, prior plus counts.
    labels : array-like of shape (J,)
        The class code that each cell is given.

    Returns
    -------
    ClassMoments of c classes and c regions: the class errors are `errors(range(c))`

    Examples
    --------
    >>> moments = dirichlet_moments([[6, 2, 1, 1], [1, 1, 3, 5]], [0, 0, 1, 1])
    >>> overall_moments(*moments.errors([0, 1]), alpha=[7, 7])
    ErrorMoments(mean=0.2, variance=0.0077...)
    """
    beta, codes = np.asarray(concentrations, dtype=float), np.asarray(labels, dtype=np.intp)
    if beta.ndim != 2 or not (beta >= 0).all() or not (beta.sum(axis=1) > 0).all():
        raise ValueError("concentrations must be at least 0, of shape (classes, cells), with a positive one per class.")
    c = len(beta)
    if codes.shape != beta.shape[1:] or (codes < 0).any() or (codes >= c).any():
        raise ValueError(f"labels must give a class code from 0 to {c - 1} for each of {beta.shape[1]} cells.")
    together = beta @ (codes[:, None] == np.arange(c))
    total = together.sum(axis=1, keepdims=True)
    first = together / total
    covariance, y = np.zeros((c, c, c, c)), np.arange(c)
    covariance[y, :, y, :] = first[:, :, None] * (np.eye(c) - first[:, None, :]) / (total[:, :, None] + 1.0)
    return ClassMoments(first, covariance)


def overall_moments(
    means: ArrayLike, covariance: ArrayLike, *, alpha: ArrayLike | None = None, prior: ArrayLike | None = None
) -> ErrorMoments:
    r"""Return mean and variance of the error, the sum of class errors weighted by class probabilities.

    With pi ~ Dirichlet(alpha) independent of the class errors, p = E[pi] and q = 1 / (sum alpha + 1), or q = 0 if
    pi = p is known (Dalton and Dougherty 2012 for two classes),

    .. math:: E[\epsilon] = \sum_y p_y m_y, \quad Var(\epsilon) = (1 - q) \sum_{yz} p_y p_z C_{yz}
              + q \sum_y p_y C_{yy} + q \sum_y p_y (m_y - E[\epsilon])^2

    Parameters
    ----------
    means, covariance : array-like of shape (c,) and (c, c)
    alpha, prior : array-like of shape (c,)
        Either the concentrations of the class probabilities, or the probabilities.

    Examples
    --------
    >>> overall_moments([0.1, 0.3], [[0.01, 0.0], [0.0, 0.04]], prior=[0.5, 0.5])
    ErrorMoments(mean=0.2, variance=0.0125)
    """
    m, within = np.asarray(means, dtype=float), np.asarray(covariance, dtype=float)
    if (alpha is None) == (prior is None):
        raise ValueError("pass either alpha, of uncertain class probabilities, or prior, known ones.")
    weights = np.asarray(prior if alpha is None else alpha, dtype=float)
    total = float(weights.sum())
    if weights.shape != m.shape or not (weights >= 0).all() or not total > 0:
        raise ValueError(f"alpha or prior must hold {len(m)} numbers of at least 0; got {weights.tolist()}.")
    if alpha is None and abs(total - 1.0) > 1e-8:
        raise ValueError(f"prior must sum to 1; got {weights.tolist()}. Divide it by its sum.")
    p, q = weights / total, 0.0 if alpha is None else 1.0 / (total + 1.0)
    mean = float(p @ m)
    return ErrorMoments(mean, float((1 - q) * (p @ within @ p) + q * (p @ (np.diag(within) + (m - mean) ** 2))))


def conditional_mse(mean: float, variance: float, estimate: float, internal_variance: float = 0.0) -> float:
    r"""Return the posterior mean of the squared deviation of an estimate from the error.

    .. math:: E[(\hat\epsilon - \epsilon)^2 | S] = Var(\epsilon | S) + (E[\epsilon | S] - \hat\epsilon)^2 + V

    with V the variance of a randomized estimate given the sample, whose mean is then `estimate`.

    Examples
    --------
    >>> round(conditional_mse(0.2, 0.01, 0.3), 6)
    0.02
    """
    return variance + (mean - estimate) ** 2 + internal_variance


@dataclass(frozen=True, eq=False)
class ClassMoments:
    """First and second posterior moments of the masses that each class has in each region.

    Attributes
    ----------
    first : ndarray of shape (c, r)
        E[mass of region i under class y].
    covariance : ndarray of shape (c, r, c, r)
        Kept rather than the second moment, in which a small variance would lose its digits.
    """

    first: Floats
    covariance: Floats

    def errors(self, labels: ArrayLike) -> tuple[Floats, Floats]:
        """Return means (c,) and covariance (c, c) of the class errors, where region i is given the class labels[i]."""
        codes, (c, r) = np.asarray(labels), self.first.shape
        if codes.shape != (r,):
            raise ValueError(f"labels must give one class code for each of {r} regions; got shape {codes.shape}.")
        wrong = (codes != np.arange(c)[:, None]).astype(float)
        return (self.first * wrong).sum(axis=1), np.einsum("yi,yizj,zj->yz", wrong, self.covariance, wrong)


class ErrorMoments(NamedTuple):
    """Posterior mean and variance of an error."""

    mean: float
    variance: float


def joint_tail(x: Floats, y: Floats, dof: Floats, r: Floats) -> Floats:
    r"""Return P(X > x, Y > y) of the bivariate t law with correlation r, for x and y at least 0.

    A disc of radius R about the origin has mass 1 - (1 + R^2/nu)^(-nu/2). From the origin, the quadrant beyond (x, y)
    consists of two sectors, one for each of its edges. With cot phi = (y - r x)/(x sqrt(1 - r^2))

    .. math:: P(X > x, Y > y) = Q(x, \phi_x) + Q(y, \phi_y), \quad
              Q(x, \phi) = \frac{1}{2\pi} \int_0^\phi \left(1 + \frac{x^2}{\nu \sin^2\theta}\right)^{-\nu/2} d\theta

    a sum of positive terms, exact to rounding however small. At infinite dof this is the formula of Simon and
    Divsalar (1998), IEEE Transactions on Communications 46(2).
    """
    edges = np.where(np.isinf(x) | np.isinf(y), np.inf, np.stack([x, y]))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        cot = (edges[::-1] / edges - r) / np.sqrt((1.0 - r) * (1.0 + r))
        cot = np.where(x == y, np.sqrt((1.0 - r) / (1.0 + r)), cot)
    start, dof = np.arcsinh(cot), np.broadcast_to(dof, edges.shape)
    near = np.fmin(np.abs(start), _FARTHEST)
    flat = [values.reshape(-1, 1) for values in (edges, near, dof)]
    parts = [_sector(*(values[i : i + _CHUNK] for values in flat)) for i in range(0, edges.size, _CHUNK)]
    sectors = np.where(near < _FARTHEST, np.concatenate([*parts, np.empty(0)]).reshape(edges.shape), 0.0)
    # Beyond a right angle, the half-plane less the rest, which is the smaller part: no digits are lost.
    return np.asarray(np.where(start < 0, t_cdf(dof, -edges) - sectors, sectors).sum(axis=0))


def t_cdf(dof: Floats, t: Floats) -> Floats:
    """Return the distribution function of Student's t."""
    # At one degree of freedom stdtr has half of the digits near 0 (SciPy 1.17).
    return np.where(dof == 1, np.arctan2(1.0, -t) / np.pi, stdtr(dof, t))


def _side_moments(ratio: Floats, dof: Floats, strengths: Floats, shared: bool) -> ClassMoments:
    """Return the moments of sides 0 and 1 of classes whose a'x + b has median divided by scale `ratio`."""
    first = np.stack([t_cdf(dof, -ratio), t_cdf(dof, ratio)], axis=1)
    # Both sides of a class have one variance; the side with less mass gives it without loss of digits.
    far, less = np.abs(ratio), first.min(axis=1)
    y, z = np.nonzero(np.eye(len(ratio)) + shared)
    correlation = np.where(y == z, 1.0 / (strengths[y] + 1.0), 0.0)
    between = np.zeros((len(ratio), len(ratio)))
    between[y, z] = np.maximum(joint_tail(far[y], far[z], dof[y], correlation) - less[y] * less[z], 0.0)
    sign = np.where(np.stack([ratio > 0, ratio <= 0], axis=1), 1.0, -1.0)
    return ClassMoments(first, np.einsum("yi,yz,zj->yizj", sign, between, sign))


def _sector(x: Floats, start: Floats, dof: Floats) -> Floats:
    r"""Return Q(x, phi) of columns, with sinh(start) = cot phi at least 0; see `joint_tail`.

    By cot theta = sinh s this is the integral of (1 + (x cosh s)^2/nu)^(-nu/2) / (2 pi cosh s) over s > start, which
    falls at least as exp(-s) and is analytic for :math:`|Im s| < \pi/2` whatever x and nu: few nodes suffice.
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        # Where the power has fallen by exp(-_DROP); the other factor does so within _DROP.
        grown = (x * np.cosh(start)) ** 2 * np.exp(2 * _DROP / dof) + dof * np.expm1(2 * _DROP / dof)
        length = np.fmin(np.arccosh(np.sqrt(grown) / x) - start, _DROP)
        growth = np.exp(start + length * _NODES)
        cosh = 0.5 * (growth + 1.0 / growth)
        values = np.exp(-0.5 * dof * np.log1p((x * cosh) ** 2 / dof)) / cosh
    return np.asarray((values @ _WEIGHTS) * length[:, 0] / (2 * np.pi))
