"""Data of the PyMC models, multiplied by reference factors that make free numbers of order one, and the way back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bayes_gresub.components import Floats, Ints
from bayes_gresub.models.structures import CovarianceStructure, NormalInverseWishartLaw, Statistics


@dataclass(frozen=True)
class HierarchicalNumbers:
    """The hierarchical prior in numbers, in standardised coordinates.

    Attributes
    ----------
    log_strength, log_strength_sd : float
        log k ~ N(log_strength, log_strength_sd^2).
    center_sd : float
        The common centre is N(0, center_sd^2 I).
    dof : float
    scale : ndarray
        Of the covariances, as the structure takes it.
    """

    log_strength: float
    log_strength_sd: float
    center_sd: float
    dof: float
    scale: Floats

    def arrays(self) -> dict[str, Floats]:
        """Return what the PyMC models know of it, apart from dof and scale."""
        return {
            "log_strength_mean": np.asarray(self.log_strength),
            "log_strength_sd": np.asarray(self.log_strength_sd),
            "center_sd": np.asarray(self.center_sd),
        }


@dataclass(frozen=True, eq=False)
class Inputs:
    """What a PyMC model is built from: its shape, and its data by name; those in `by_row` may change their length."""

    n_features: int
    n_classes: int
    n_groups: int
    n_parts: int
    arrays: Mapping[str, np.ndarray]
    by_row: tuple[str, ...] = ()

    def static_shape(self, name: str) -> tuple[int | None, ...]:
        """Return the shape of one array, its first length left open where it counts rows."""
        shape = self.arrays[name].shape
        return (None, *shape[1:]) if name in self.by_row else shape


@dataclass(frozen=True, eq=False)
class Reference:
    """Constant factors: `factor` R with R R' near the precision, `means` near the means; offsets are divided by `root`.

    Attributes
    ----------
    factor : ndarray of shape (g, d, d), (g, d) or (g, 1)
    means : ndarray of shape (m, d)
        m is the number of classes, or of all parts of all classes.
    root : ndarray of shape (m,)
    """

    structure: CovarianceStructure
    factor: Floats
    means: Floats
    root: Floats

    @property
    def is_matrix(self) -> bool:
        """Return whether factors are matrices."""
        return self.factor.ndim == 3

    @property
    def inverse(self) -> Floats:
        """Return the inverses of the factors."""
        return np.asarray(np.linalg.inv(self.factor) if self.is_matrix else 1.0 / self.factor)

    def whitened(self, points: Floats, owner: Ints) -> Floats:
        """Return R'(x - mean) of each point with the factor and the mean of its owner."""
        centered = points - self.means[owner]
        own = self.factor[np.minimum(owner, len(self.factor) - 1)]
        return np.einsum("nde,nd->ne", own, centered) if self.is_matrix else own * centered

    def draws(self, posterior: Mapping[str, Floats]) -> tuple[Floats, Floats]:
        """Return means (chains, draws, m, d) and spread (chains, draws, g, ...) from the free numbers of a model."""
        diagonal, offset = posterior["root_diagonal"], posterior["offset"]
        shift = offset / self.root[:, None]
        if not self.is_matrix:
            spread = 1.0 / (self.factor * diagonal)
            means = self.means + shift / self.factor
            return means, spread[..., 0] if self.structure.name == "spherical" else spread
        d = diagonal.shape[-1]
        lower = np.zeros((*diagonal.shape, d))
        lower[..., range(d), range(d)] = diagonal
        if d > 1:
            lower[..., *np.tril_indices(d, -1)] = posterior["root_below"]
        inverse = self.inverse
        # (R B)^(-T) = R^(-T) B^(-T)
        spread = inverse.swapaxes(-1, -2) @ np.linalg.inv(lower).swapaxes(-1, -2)
        return self.means + np.einsum("gde,...gd->...ge", self._for_all(inverse), shift), spread

    def _for_all(self, inverse: Floats) -> Floats:
        return np.broadcast_to(inverse, (len(self.means), *inverse.shape[1:]))


def reference(structure: CovarianceStructure, means: Floats, scatter: Floats, scale: Floats, root: Floats) -> Reference:
    """Return the factors of prior scale plus scatter (g, ...), with R lower triangular."""
    total = scale + scatter
    if total.ndim == 3:
        factor = np.linalg.cholesky(np.linalg.inv(total))
    else:
        factor = 1.0 / np.sqrt(total if total.ndim == 2 else total[:, None])
    return Reference(structure, factor, means, root)


def factors(about: Reference, scatter: Floats, scale: Floats) -> dict[str, Floats]:
    """Return the data that say how prior scale and scatter look from the reference: C^(-1) R and F'R."""
    factor = about.factor
    if about.is_matrix:
        values, vectors = np.linalg.eigh(scatter)
        # Scatter may be singular; its eigenvalues, but for rounding, are not negative.
        root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        inverse_prior = np.linalg.inv(np.linalg.cholesky(np.linalg.inv(scale)))
        return {
            "reference": factor,
            "prior_factor": np.broadcast_to(inverse_prior @ factor, factor.shape).copy(),
            "data_factor": root.swapaxes(1, 2) @ factor,
        }
    shape = factor.shape
    return {
        "reference": factor,
        "prior_factor": np.sqrt(np.broadcast_to(scale, scatter.shape).reshape(shape)) * factor,
        "data_factor": np.sqrt(scatter.reshape(shape)) * factor,
    }


def gaussian_inputs(
    structure: CovarianceStructure, statistics: Statistics, prior: HierarchicalNumbers | NormalInverseWishartLaw
) -> tuple[Inputs, Reference]:
    """Return the data of `gaussian_density` and the reference to read its draws with."""
    c, d = statistics.means.shape
    groups = 1 if structure.is_shared else c
    scale = prior.scale if isinstance(prior, HierarchicalNumbers) else prior.scales
    scale = np.broadcast_to(scale, statistics.scatter.shape)
    dofs = np.full(groups, prior.dof) if isinstance(prior, HierarchicalNumbers) else prior.dofs
    about = reference(structure, statistics.means, statistics.scatter, scale, np.sqrt(statistics.counts))
    arrays = {"counts": statistics.counts, "means": statistics.means, "dofs": np.asarray(dofs, dtype=float)}
    arrays |= factors(about, statistics.scatter, scale)
    if isinstance(prior, HierarchicalNumbers):
        arrays |= prior.arrays()
    else:
        arrays |= {"centers": prior.centers, "strengths": prior.strengths}
    return Inputs(d, c, groups, 1, arrays), about


def student_inputs(
    structure: CovarianceStructure, features: Floats, codes: Ints, c: int, prior: HierarchicalNumbers
) -> tuple[Inputs, Reference]:
    """Return the data of `student_density`, points included, and the reference to read its draws with."""
    inputs, about = gaussian_inputs(structure, structure.statistics(features, codes, c), prior)
    arrays = {
        **{name: inputs.arrays[name] for name in inputs.arrays if name != "data_factor"},
        "codes": codes.astype(np.int64),
        "whitened": about.whitened(features, codes),
    }
    by_row = ("codes", "whitened")
    return Inputs(inputs.n_features, c, inputs.n_groups, 1, arrays, by_row), about


def mixture_inputs(
    structure: CovarianceStructure,
    features: Floats,
    codes: Ints,
    labels: Ints,
    c: int,
    parts: int,
    prior: HierarchicalNumbers,
) -> tuple[Inputs, Reference]:
    """Return the data of `mixture_density` about parts with these labels, and the reference to read its draws with."""
    statistics = structure.statistics(features, codes * parts + labels, c * parts)
    inputs, about = gaussian_inputs(structure, statistics, prior)
    whitened = [about.whitened(features, codes * parts + part) for part in range(parts)]
    log_reference = np.log(np.einsum("gdd->gd", about.factor) if about.is_matrix else about.factor).sum(axis=1)
    if structure.name == "spherical":
        log_reference = log_reference * features.shape[1]
    names = ("counts", "means", "dofs", "prior_factor", "center_sd")
    arrays = {
        **{name: inputs.arrays[name] for name in names},
        "inverse_reference": about.inverse,
        "log_reference": log_reference,
        "codes": codes.astype(np.int64),
        "whitened": np.stack(whitened, axis=1),
    }
    return Inputs(inputs.n_features, c, c * parts, parts, arrays, ("codes", "whitened")), about
