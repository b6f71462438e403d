"""Data of the PyMC models, multiplied by reference factors that make free numbers of order one, and the way back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.models.covariance import ClassStatistics, CovarianceStructure, NormalInverseWishartLaw
from bayes_gresub.models.triangular import fill_lower, invert_lower


@dataclass(frozen=True)
class HierarchicalLaw:
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
            "per_log_strength_sd": np.asarray(1.0 / self.log_strength_sd),
            "per_center_sd": np.asarray(1.0 / self.center_sd),
        }


@dataclass(frozen=True, eq=False)
class PyMCInputs:
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
        diagonal, offset = np.exp(posterior["log_root_diagonal"]), posterior["offset"]
        shift = offset / self.root[:, None]
        if not self.is_matrix:
            spread = 1.0 / (self.factor * diagonal)
            means = self.means + shift / self.factor
            return means, spread[..., 0] if self.structure.name == "spherical" else spread
        lower = fill_lower(diagonal, posterior.get("root_below"))
        inverse = self.inverse
        # (R B)^(-T) = R^(-T) B^(-T)
        spread = inverse.swapaxes(-1, -2) @ invert_lower(lower).swapaxes(-1, -2)
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


def _prior_factor(about: Reference, scale: Floats) -> Floats:
    """Return how the prior scale (g, ...) looks from the reference: C^(-1) R."""
    if about.is_matrix:
        return np.asarray(np.linalg.inv(np.linalg.cholesky(np.linalg.inv(scale))) @ about.factor)
    return np.asarray(np.sqrt(scale.reshape(about.factor.shape)) * about.factor)


def _powers(structure: CovarianceStructure, dofs: Floats, counts: Floats, d: int) -> tuple[Floats, Floats]:
    """Return what log B_ii is multiplied by in the prior, and in prior times likelihood: (g, d) or (g, 1) each.

    One is added for the logarithm being the free number.
    """
    rank = (
        np.arange(1, d + 1)
        if structure.name in ("full", "shared")
        else np.ones(1 if structure.name == "spherical" else d)
    )
    prior = dofs[:, None] - rank + 1
    # A factor |P| for every point and for the prior of every mean.
    times = counts + 1.0
    times = times.sum(keepdims=True) if structure.is_shared else times
    return prior, prior + times[:, None] * (d if structure.name == "spherical" else 1)


def prepare_gaussian(
    structure: CovarianceStructure, statistics: ClassStatistics, prior: HierarchicalLaw | NormalInverseWishartLaw
) -> tuple[PyMCInputs, Reference]:
    """Return the data of `build_gaussian` and the reference to read its draws with."""
    c, d = statistics.means.shape
    groups = 1 if structure.is_shared else c
    scale, dofs = _covariance_prior(prior, statistics.scatter.shape, groups)
    about = reference(structure, statistics.means, statistics.scatter, scale, np.sqrt(statistics.counts))
    arrays = {
        "means": statistics.means,
        "per_root_count": 1.0 / about.root[:, None],
        "reference": about.factor,
        "powers": _powers(structure, dofs, statistics.counts, d)[1],
    }
    if isinstance(prior, HierarchicalLaw):
        arrays |= prior.arrays()
    else:
        arrays |= {"centers": prior.centers, "strengths": prior.strengths}
    return PyMCInputs(d, c, groups, 1, arrays), about


def _covariance_prior(
    prior: HierarchicalLaw | NormalInverseWishartLaw, shape: tuple[int, ...], groups: int
) -> tuple[Floats, Floats]:
    """Return scale and degrees of freedom of every group."""
    if isinstance(prior, HierarchicalLaw):
        return np.broadcast_to(prior.scale, shape), np.full(groups, float(prior.dof))
    return np.broadcast_to(prior.scales, shape), np.asarray(prior.dofs, dtype=float)


def prepare_student(
    structure: CovarianceStructure, features: Floats, codes: Ints, c: int, prior: HierarchicalLaw
) -> tuple[PyMCInputs, Reference]:
    """Return the data of `build_student`, points included, and the reference to read its draws with."""
    statistics = structure.summarize(features, codes, c)
    inputs, about = prepare_gaussian(structure, statistics, prior)
    scale, _ = _covariance_prior(prior, statistics.scatter.shape, inputs.n_groups)
    arrays = {
        **inputs.arrays,
        "prior_factor": _prior_factor(about, scale),
        "codes": codes.astype(np.int64),
        "whitened": about.whitened(features, codes),
    }
    by_row = ("codes", "whitened")
    return PyMCInputs(inputs.n_features, c, inputs.n_groups, 1, arrays, by_row), about


def prepare_mixture(
    structure: CovarianceStructure,
    features: Floats,
    codes: Ints,
    labels: Ints,
    c: int,
    parts: int,
    prior: HierarchicalLaw,
) -> tuple[PyMCInputs, Reference]:
    """Return the data of `build_mixture` about parts with these labels, and the reference to read its draws with."""
    statistics = structure.summarize(features, codes * parts + labels, c * parts)
    inputs, about = prepare_gaussian(structure, statistics, prior)
    whitened = [about.whitened(features, codes * parts + part) for part in range(parts)]
    log_reference = np.log(np.einsum("gdd->gd", about.factor) if about.is_matrix else about.factor).sum(axis=1)
    if structure.name == "spherical":
        log_reference = log_reference * features.shape[1]
    scale, dofs = _covariance_prior(prior, statistics.scatter.shape, c * parts)
    arrays = {
        "means": statistics.means,
        "per_root_count": inputs.arrays["per_root_count"],
        "center_sd": np.asarray(prior.center_sd),
        "prior_powers": _powers(structure, dofs, statistics.counts, features.shape[1])[0],
        "prior_factor": _prior_factor(about, scale),
        "inverse_reference": about.inverse,
        "log_reference": log_reference,
        "codes": codes.astype(np.int64),
        "whitened": np.stack(whitened, axis=1),
    }
    return PyMCInputs(inputs.n_features, c, c * parts, parts, arrays, ("codes", "whitened")), about
