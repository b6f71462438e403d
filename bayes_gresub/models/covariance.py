"""Covariance structures of Gaussian classes: statistics of a sample, the Normal-inverse-Wishart update, exact draws.

Everything may have leading axes (draws, chains, data sets). Coordinates and priors are chosen elsewhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.validation import check_name
from bayes_gresub.models.triangular import fill_lower, invert_lower


def read_structure(name: str) -> CovarianceStructure:
    """Return a covariance structure by name."""
    return STRUCTURES[check_name(name, STRUCTURES, "covariance")]


@dataclass(frozen=True, eq=False)
class ClassStatistics:
    """The sufficient statistics of a sample for Gaussian classes.

    Attributes
    ----------
    counts : ndarray of shape (..., c)
    means : ndarray of shape (..., c, d)
    scatter : ndarray of shape (..., g, d, d), (..., g, d) or (..., g)
        Sums of squares about the class means, in the shape of the structure; g is 1 if classes share a covariance.
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
    scales : ndarray, like the scatter of `ClassStatistics`
    """

    centers: Floats
    strengths: Floats
    dofs: Floats
    scales: Floats


@dataclass(frozen=True, eq=False)
class StandardNoise:
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


class CovarianceStructure(ABC):
    """A form that the covariances of the classes have."""

    name: ClassVar[str]
    n_axes: ClassVar[int]
    """Axes of features in a spread: 2 for matrices, 1 for deviations, 0 for one deviation."""

    is_shared: ClassVar[bool] = False

    @abstractmethod
    def square(self, vectors: Floats) -> Floats:
        """Return the scatter of one vector: its outer product, its squares, or their sum."""

    @abstractmethod
    def scatter_of(self, centered: Floats) -> Floats:
        """Return the sum of `square` over points (n, d)."""

    @abstractmethod
    def dof_per_point(self, d: int) -> int:
        """Return how many degrees of freedom one point adds."""

    @abstractmethod
    def draw_noise(self, rng: np.random.Generator, dofs: Floats, c: int, d: int, size: int) -> StandardNoise:
        """Return the random numbers of `size` draws from a law with these dofs (g,)."""

    @abstractmethod
    def draw(self, law: NormalInverseWishartLaw, noise: StandardNoise) -> GaussianDraws:
        """Return draws from the law, one for each set of random numbers; made for thousands at once."""

    def draw_with_whitener(self, law: NormalInverseWishartLaw, noise: StandardNoise) -> tuple[GaussianDraws, Floats]:
        """Return a few draws, and the inverses, transposed, of their spread."""
        drawn = self.draw(law, noise)
        return drawn, 1.0 / drawn.spread

    @abstractmethod
    def whiten(self, whitener: Floats, vectors: Floats) -> Floats:
        """Return Sigma_y^(-1/2) v_y for vectors (..., c, d)."""

    @abstractmethod
    def precision(self, whitener: Floats) -> Floats:
        """Return Sigma_g^(-1), a matrix or the diagonal of one: (..., g, d, d) or (..., g, d or 1)."""

    @abstractmethod
    def prior_scale(self, dof: float, d: int) -> Floats:
        """Return the scale under which the mean of the covariance is the identity."""

    @abstractmethod
    def least_dof(self, d: int) -> float:
        """Return the dof above which the covariance has a mean."""

    @abstractmethod
    def proper_dof(self, d: int) -> float:
        """Return the dof above which the law of the covariance is proper."""

    @abstractmethod
    def rescale(self, scale: Floats, factor: Floats) -> Floats:
        """Return the scale (..., as in a law) of features that are multiplied by `factor` (d,)."""

    @abstractmethod
    def rescale_spread(self, spread: Floats, factor: Floats) -> Floats:
        """Return the spread of features that are multiplied by `factor` (d,)."""

    @abstractmethod
    def check_scale(self, scale: Floats, d: int) -> None:
        """Raise unless a user's scale has the shape of this structure and is positive definite."""

    def pool(self, values: Floats, axis: int) -> Floats:
        """Return values of classes (along an axis), summed if classes share a covariance."""
        return np.asarray(values.sum(axis=axis, keepdims=True)) if self.is_shared else values

    def summarize(self, features: Floats, codes: Ints, c: int) -> ClassStatistics:
        """Return the statistics of a sample; every class must have a point."""
        counts = np.bincount(codes, minlength=c).astype(float)
        means = np.stack([features[codes == y].mean(axis=0) for y in range(c)])
        centered = features - means[codes]
        scatter = np.stack([self.scatter_of(centered[codes == y]) for y in range(c)])
        return ClassStatistics(counts, means, self.pool(scatter, axis=0))

    def update(self, prior: NormalInverseWishartLaw, statistics: ClassStatistics) -> NormalInverseWishartLaw:
        r"""Return the law given the sample.

        .. math:: k_n = k_0 + n, \quad m_n = \frac{k_0 m_0 + n \bar x}{k_n}, \quad v_n = v_0 + n, \quad
                  S_n = S_0 + F + \frac{k_0 n}{k_n} (\bar x - m_0)(\bar x - m_0)'

        with F the scatter. Classes that share a covariance add up their scatter, counts and last terms.
        """
        d = statistics.means.shape[-1]
        counts, strengths = np.broadcast_arrays(statistics.counts, prior.strengths)
        total = strengths + counts
        share = counts / total
        gap = statistics.means - prior.centers
        between = self.square(gap * np.sqrt(strengths * share)[..., None])
        scales = prior.scales + statistics.scatter + self.pool(between, axis=counts.ndim - 1)
        dofs = prior.dofs + self.dof_per_point(d) * self.pool(counts, axis=-1)
        return NormalInverseWishartLaw(prior.centers + share[..., None] * gap, total, dofs, scales)


class Full(CovarianceStructure):
    """One covariance matrix per class."""

    name = "full"
    n_axes = 2

    def square(self, vectors: Floats) -> Floats:
        """Return outer products."""
        return np.asarray(vectors[..., :, None] * vectors[..., None, :])

    def scatter_of(self, centered: Floats) -> Floats:
        """Return the scatter matrix."""
        return np.asarray(centered.T @ centered)

    def dof_per_point(self, d: int) -> int:
        """Return 1."""
        return 1

    def draw_noise(self, rng: np.random.Generator, dofs: Floats, c: int, d: int, size: int) -> StandardNoise:
        """Return the numbers of Bartlett's decomposition."""
        roots = np.sqrt(rng.chisquare(dofs[:, None] - np.arange(d), size=(size, len(dofs), d)))
        below = rng.standard_normal((size, len(dofs), d * (d - 1) // 2))
        return StandardNoise(roots, below, rng.standard_normal((size, c, d)))

    def draw(self, law: NormalInverseWishartLaw, noise: StandardNoise) -> GaussianDraws:
        r"""Return draws by Bartlett's decomposition.

        With A lower triangular, A_ii^2 chi-square with v - i degrees of freedom (i from 0) and standard normals
        below, A A' is Wishart(v, I). So with L L' the scale, :math:`\Sigma = T T'` for :math:`T = L A^{-\top}`.
        """
        lower = fill_lower(noise.square_roots, noise.below)
        return self._about(law, noise, np.linalg.cholesky(law.scales) @ invert_lower(lower).swapaxes(-1, -2))

    def draw_with_whitener(self, law: NormalInverseWishartLaw, noise: StandardNoise) -> tuple[GaussianDraws, Floats]:
        """Return draws and L^(-T) A; for few matrices LAPACK's inverse is quicker."""
        lower, factor = fill_lower(noise.square_roots, noise.below), np.linalg.cholesky(law.scales)
        drawn = self._about(law, noise, factor @ np.linalg.inv(lower).swapaxes(-1, -2))
        return drawn, np.linalg.inv(factor).swapaxes(-1, -2) @ lower

    @staticmethod
    def _about(law: NormalInverseWishartLaw, noise: StandardNoise, spread: Floats) -> GaussianDraws:
        moved = np.matmul(spread, noise.means[..., None])[..., 0]
        return GaussianDraws(law.centers + moved / np.sqrt(law.strengths)[..., None], spread)

    def whiten(self, whitener: Floats, vectors: Floats) -> Floats:
        """Return T^(-1) v."""
        return np.asarray(np.matmul(whitener.swapaxes(-1, -2), vectors[..., None])[..., 0])

    def precision(self, whitener: Floats) -> Floats:
        """Return the inverse covariance matrix."""
        return np.asarray(whitener @ whitener.swapaxes(-1, -2))

    def prior_scale(self, dof: float, d: int) -> Floats:
        """Return (dof - d - 1) I."""
        return (dof - d - 1) * np.eye(d)

    def least_dof(self, d: int) -> float:
        """Return d + 1."""
        return d + 1.0

    def proper_dof(self, d: int) -> float:
        """Return d - 1."""
        return d - 1.0

    def rescale(self, scale: Floats, factor: Floats) -> Floats:
        """Return rows and columns multiplied."""
        return np.asarray(scale * factor[:, None] * factor)

    def rescale_spread(self, spread: Floats, factor: Floats) -> Floats:
        """Return rows multiplied."""
        return np.asarray(spread * factor[:, None])

    def check_scale(self, scale: Floats, d: int) -> None:
        """Raise unless it is a positive definite matrix."""
        if scale.shape != (d, d) or not np.isfinite(scale).all():
            raise ValueError(
                f"scale of the prior must be a matrix of finite numbers of shape ({d}, {d}) for {self.name} "
                f"covariances; got shape {scale.shape}."
            )
        gap = np.abs(scale - scale.T)
        if (gap > 1e-8 * np.abs(scale).max()).any():
            pair = np.unravel_index(int(gap.argmax()), gap.shape)
            raise ValueError(f"scale of the prior must be symmetric; got {scale[pair]:g} and {scale.T[pair]:g} across.")
        try:
            np.linalg.cholesky(scale)
        except np.linalg.LinAlgError as error:
            raise ValueError("scale of the prior must be positive definite; got a matrix that is not.") from error


class Shared(Full):
    """One covariance matrix for all classes."""

    name = "shared"
    is_shared = True


class Diagonal(CovarianceStructure):
    """One variance per class and feature: sigma^2 ~ scale / chi-square(dof)."""

    name = "diagonal"
    n_axes = 1

    def square(self, vectors: Floats) -> Floats:
        """Return squares."""
        return np.asarray(vectors**2)

    def scatter_of(self, centered: Floats) -> Floats:
        """Return the sum of squares of each feature."""
        return np.asarray(np.einsum("nd,nd->d", centered, centered))

    def dof_per_point(self, d: int) -> int:
        """Return 1."""
        return 1

    def draw_noise(self, rng: np.random.Generator, dofs: Floats, c: int, d: int, size: int) -> StandardNoise:
        """Return a chi-square per class and feature."""
        roots = np.sqrt(rng.chisquare(dofs[:, None], size=(size, len(dofs), d)))
        return StandardNoise(roots, None, rng.standard_normal((size, c, d)))

    def draw(self, law: NormalInverseWishartLaw, noise: StandardNoise) -> GaussianDraws:
        """Return draws; the variances are independent given the scale."""
        spread = np.sqrt(law.scales) / noise.square_roots
        means = law.centers + spread * noise.means / np.sqrt(law.strengths)[..., None]
        return GaussianDraws(means, spread)

    def whiten(self, whitener: Floats, vectors: Floats) -> Floats:
        """Return v divided by the deviations."""
        return np.asarray(vectors * whitener)

    def precision(self, whitener: Floats) -> Floats:
        """Return the inverse variances."""
        return np.asarray(whitener**2)

    def prior_scale(self, dof: float, d: int) -> Floats:
        """Return (dof - 2) for each feature."""
        return np.full(d, dof - 2.0)

    def least_dof(self, d: int) -> float:
        """Return 2."""
        return 2.0

    def proper_dof(self, d: int) -> float:
        """Return 0."""
        return 0.0

    def rescale(self, scale: Floats, factor: Floats) -> Floats:
        """Return variances in the new units."""
        return np.asarray(scale * factor**2)

    def rescale_spread(self, spread: Floats, factor: Floats) -> Floats:
        """Return deviations in the new units."""
        return np.asarray(spread * factor)

    def check_scale(self, scale: Floats, d: int) -> None:
        """Raise unless it is a positive number per feature."""
        if scale.shape != (d,) or not np.isfinite(scale).all() or (scale <= 0).any():
            raise ValueError(
                f"scale of the prior must hold {d} positive numbers, one per feature, for diagonal covariances; "
                f"got {scale.tolist()!r}."
            )


class Spherical(CovarianceStructure):
    """One variance per class: sigma^2 ~ scale / chi-square(dof)."""

    name = "spherical"
    n_axes = 0

    def square(self, vectors: Floats) -> Floats:
        """Return squared lengths."""
        return np.asarray((vectors**2).sum(axis=-1))

    def scatter_of(self, centered: Floats) -> Floats:
        """Return the total sum of squares."""
        return np.asarray((centered**2).sum())

    def dof_per_point(self, d: int) -> int:
        """Return d: every coordinate adds to the one variance."""
        return d

    def draw_noise(self, rng: np.random.Generator, dofs: Floats, c: int, d: int, size: int) -> StandardNoise:
        """Return a chi-square per class."""
        roots = np.sqrt(rng.chisquare(dofs, size=(size, len(dofs))))
        return StandardNoise(roots, None, rng.standard_normal((size, c, d)))

    def draw(self, law: NormalInverseWishartLaw, noise: StandardNoise) -> GaussianDraws:
        """Return draws."""
        spread = np.sqrt(law.scales) / noise.square_roots
        means = law.centers + noise.means * (spread / np.sqrt(law.strengths))[..., None]
        return GaussianDraws(means, spread)

    def whiten(self, whitener: Floats, vectors: Floats) -> Floats:
        """Return v divided by the deviation."""
        return np.asarray(vectors * whitener[..., None])

    def precision(self, whitener: Floats) -> Floats:
        """Return the inverse variance."""
        return np.asarray(whitener[..., None] ** 2)

    def prior_scale(self, dof: float, d: int) -> Floats:
        """Return dof - 2."""
        return np.asarray(dof - 2.0)

    def least_dof(self, d: int) -> float:
        """Return 2."""
        return 2.0

    def proper_dof(self, d: int) -> float:
        """Return 0."""
        return 0.0

    def rescale(self, scale: Floats, factor: Floats) -> Floats:
        """Return the variance in the new unit, the same for all features."""
        return np.asarray(scale * factor[0] ** 2)

    def rescale_spread(self, spread: Floats, factor: Floats) -> Floats:
        """Return the deviation in the new unit, the same for all features."""
        return np.asarray(spread * factor[0])

    def check_scale(self, scale: Floats, d: int) -> None:
        """Raise unless it is one positive number."""
        if scale.shape != () or not 0 < float(scale) < np.inf:
            raise ValueError(
                f"scale of the prior must be one positive number for spherical covariances; got {scale.tolist()!r}."
            )


STRUCTURES: dict[str, CovarianceStructure] = {each.name: each for each in (Full(), Shared(), Diagonal(), Spherical())}
