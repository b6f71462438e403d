"""Components: batches of laws on x, each a centre plus a linear map of a standard law. No classifiers here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, chdtri, ndtr, ndtri, stdtr

from bayes_gresub.data.arrays import Floats, Ints

_FEW_GROUPS = 32
"""Number of groups up to which one product per group is faster than gathering a matrix per component."""


class StandardLaw(Protocol):
    """A spherically symmetric law on R^p; components are shifted and stretched versions of it."""

    distribution_function: ClassVar[str]
    """The name of `marginal_cdf` in words."""

    def marginal_cdf(self, t: Floats, dim: int) -> Floats:
        """Return P(z_1 <= t), the law of any unit direction, for z in R^dim."""

    def n_uniforms(self, dim: int) -> int:
        """Return the number of uniforms that one draw in R^dim takes."""

    def from_uniforms(self, u: Floats, dim: int) -> Floats:
        """Map uniforms of shape (..., k, m, n_uniforms(dim)), m points for each component, to (..., k, m, dim)."""

    def fill(self, draws: Floats, rng: np.random.Generator) -> None:
        """Fill an array (m, dim) with independent draws; this must be the law of a single component."""

    def take(self, rows: Ints | slice) -> StandardLaw:
        """Return the law of the components with these indices."""


@dataclass(frozen=True)
class Normal:
    """The standard normal law N(0, I)."""

    distribution_function: ClassVar[str] = "normal distribution function"

    def take(self, rows: Ints | slice) -> Normal:
        """Return itself: the law has no parameters."""
        return self

    def marginal_cdf(self, t: Floats, dim: int) -> Floats:
        """Return Phi(t)."""
        return np.asarray(ndtr(t))

    def n_uniforms(self, dim: int) -> int:
        """Return `dim`."""
        return dim

    def from_uniforms(self, u: Floats, dim: int) -> Floats:
        """Map by the normal quantile function."""
        return np.asarray(ndtri(u))

    def fill(self, draws: Floats, rng: np.random.Generator) -> None:
        """Fill with normal numbers, at a third of the cost of their quantile function."""
        rng.standard_normal(out=draws)


@dataclass(frozen=True)
class UnitBall:
    """The uniform law on the ball of radius 1."""

    distribution_function: ClassVar[str] = "incomplete beta function"

    def take(self, rows: Ints | slice) -> UnitBall:
        """Return itself: the law has no parameters."""
        return self

    def marginal_cdf(self, t: Floats, dim: int) -> Floats:
        """Return I_{1-t^2}((dim+1)/2, 1/2)/2 for t < 0, mirrored for t > 0 (regularized incomplete beta)."""
        clipped = np.clip(t, -1.0, 1.0)
        tail = 0.5 * betainc((dim + 1) / 2, 0.5, (1.0 - clipped) * (1.0 + clipped))
        # Near 0, 1 - t^2 loses the digits of t.
        half = 0.5 * np.sign(clipped) * betainc(0.5, (dim + 1) / 2, clipped**2)
        return np.where(np.abs(clipped) < 0.5, 0.5 + half, np.where(clipped < 0, tail, 1.0 - tail))

    def n_uniforms(self, dim: int) -> int:
        """Return `dim + 1`: a direction and a radius."""
        return dim + 1

    def from_uniforms(self, u: Floats, dim: int) -> Floats:
        """Map to a normal direction times a radius distributed as U^(1/dim)."""
        direction = ndtri(u[..., :dim])
        direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
        return np.asarray(direction * u[..., dim:] ** (1.0 / dim))

    def fill(self, draws: Floats, rng: np.random.Generator) -> None:
        """Fill with normal directions times radii."""
        rng.standard_normal(out=draws)
        radius = rng.random((len(draws), 1)) ** (1.0 / draws.shape[1])
        draws *= radius / np.linalg.norm(draws, axis=1, keepdims=True)


@dataclass(frozen=True, eq=False)
class StudentT:
    """The multivariate Student-t law with identity scale; `dof` is one number, or one per component."""

    distribution_function: ClassVar[str] = "Student-t distribution function"

    dof: float | Floats

    def take(self, rows: Ints | slice) -> StudentT:
        """Return the law with the degrees of freedom of these components."""
        return self if np.ndim(self.dof) == 0 else StudentT(np.asarray(self.dof)[rows])

    def marginal_cdf(self, t: Floats, dim: int) -> Floats:
        """Return the Student-t distribution function."""
        # At exactly one degree of freedom SciPy's function loses half its digits near 0.
        return np.where(np.equal(self.dof, 1.0), 0.5 + np.arctan(t) / np.pi, stdtr(self.dof, t))

    def n_uniforms(self, dim: int) -> int:
        """Return `dim + 1`: a normal vector and a chi-square."""
        return dim + 1

    def from_uniforms(self, u: Floats, dim: int) -> Floats:
        """Map to a normal vector divided by the square root of chi-square/dof."""
        dof = np.asarray(self.dof, dtype=float)[..., None, None]
        return np.asarray(ndtri(u[..., :dim]) / np.sqrt(chdtri(dof, u[..., dim:]) / dof))

    def fill(self, draws: Floats, rng: np.random.Generator) -> None:
        """Fill with normal numbers divided by roots of chi-squares."""
        dof = float(np.asarray(self.dof).reshape(-1)[0])
        rng.standard_normal(out=draws)
        draws /= np.sqrt(rng.chisquare(dof, (len(draws), 1)) / dof)


@dataclass(frozen=True, eq=False)
class Components:
    """k laws on R^d: component i is the law of `centers[i] + T_i z`, z from one standard law.

    Parameters
    ----------
    centers : ndarray of shape (k, d)
    spread : ndarray of shape (g,), (g, d) or (g, d, p)
        The maps T: a multiple of the identity, a diagonal, or a full matrix, one per group.
    group : ndarray of shape (k,)
        Position in `spread` of each component's map.
    law : StandardLaw
    bounds : (ndarray, ndarray), optional
        Least and greatest value of every feature; points outside are moved to the nearest point inside.

    Examples
    --------
    >>> import numpy as np
    >>> laws = Components(np.zeros((3, 2)), np.array([0.5, 2.0]), np.array([0, 1, 1]))
    >>> laws.in_standard_space(np.array([3.0, 4.0])).tolist()
    [[1.5, 2.0], [6.0, 8.0]]
    """

    centers: Floats
    spread: Floats
    group: Ints
    law: StandardLaw = Normal()
    bounds: tuple[Floats, Floats] | None = None

    @classmethod
    def points(cls, centers: Floats) -> Components:
        """Return point masses at `centers`."""
        return cls(centers, np.zeros(1), np.zeros(len(centers), dtype=np.intp))

    @property
    def dim(self) -> int:
        """Return the dimension p of the standard law."""
        return self.spread.shape[2] if self.spread.ndim == 3 else self.centers.shape[1]

    @property
    def is_still(self) -> NDArray[np.bool_]:
        """Return, per component, whether it is a point mass."""
        moves = np.count_nonzero(self.spread.reshape(len(self.spread), -1), axis=1) > 0
        return np.asarray(~moves[self.group])

    def __len__(self) -> int:
        return len(self.centers)

    def take(self, rows: Ints | slice) -> Components:
        """Return the components with these indices."""
        return replace(self, centers=self.centers[rows], group=self.group[rows], law=self.law.take(rows))

    def stilled(self, rows: NDArray[np.bool_]) -> Components:
        """Return the components, those in the mask `rows` turned into point masses."""
        no_spread = np.zeros((1, *self.spread.shape[1:]))
        return replace(
            self,
            spread=np.concatenate([self.spread, no_spread]),
            group=np.where(rows, len(self.spread), self.group),
        )

    def in_standard_space(self, direction: Floats) -> Floats:
        """Return T' a for each group, shape (g, p): how a'x depends on the standard draw."""
        if self.spread.ndim == 1:
            return self.spread[:, None] * direction
        return self.spread * direction if self.spread.ndim == 2 else np.einsum("gdp,d->gp", self.spread, direction)

    def feature_deviations(self) -> Floats:
        """Return the scale of each coordinate per group, shape (g, d)."""
        if self.spread.ndim == 1:
            return np.repeat(self.spread[:, None], self.centers.shape[1], axis=1)
        return self.spread if self.spread.ndim == 2 else np.linalg.norm(self.spread, axis=2)

    def covariance_shape(self) -> Floats:
        """Return T T' per group, shape (g, d, d)."""
        if self.spread.ndim == 3:
            return np.einsum("gdp,gep->gde", self.spread, self.spread)
        return np.einsum("gd,de->gde", self.feature_deviations() ** 2, np.eye(self.centers.shape[1]))

    def place(self, z: Floats, scale: float = 1.0) -> Floats:
        """Map standard draws z of shape (..., k, m, p) to draws from the components, shape (..., k, m, d)."""
        if self.spread.ndim == 1:
            moved = z * (scale * self.spread[self.group])[:, None, None]
        elif self.spread.ndim == 2:
            moved = z * (scale * self.spread[self.group])[:, None, :]
        elif len(self.spread) == 1:
            moved = z @ (scale * self.spread[0].T)
        elif len(self.spread) <= _FEW_GROUPS:
            moved = np.empty((*z.shape[:-1], self.centers.shape[1]))
            for g in np.unique(self.group):
                members = self.group == g
                moved[..., members, :, :] = z[..., members, :, :] @ (scale * self.spread[g].T)
        else:
            moved = z @ self.spread[self.group].swapaxes(1, 2)
            moved *= scale
        moved += self.centers[:, None, :]
        return moved if self.bounds is None else np.clip(moved, *self.bounds, out=moved)

    def draw(self, rows: Ints, rng: np.random.Generator) -> Floats:
        """Draw one point from each of the components `rows`, independently: shape (len(rows), d)."""
        u = rng.random((len(rows), 1, self.law.n_uniforms(self.dim)))
        # random() may return 0, whose normal quantile is infinite.
        chosen = self.take(rows)
        return chosen.place(chosen.law.from_uniforms(np.maximum(u, 2.0**-60), self.dim))[:, 0, :]
