"""Data of the PyMC models, whitened by reference factors so that free numbers are of order one, and the way back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.models.covariance import ClassStatistics, CovarianceStructure, NormalInverseWishartLaw
from bayes_gresub.models.priors import HierarchicalLaw
from bayes_gresub.models.triangular import fill_lower, invert_lower


@dataclass(frozen=True, eq=False)
class PyMCInputs:
    """The shape of a PyMC model, and its data by name; those in `by_row` may change their length."""

    n_features: int
    n_classes: int
    n_groups: int
    n_parts: int
    arrays: Mapping[str, np.ndarray]
    by_row: tuple[str, ...] = ()

    def static_shape(self, name: str) -> tuple[int | None, ...]:
        """Return the shape of one array, its first length left open if it counts rows."""
        shape = self.arrays[name].shape
        return (None, *shape[1:]) if name in self.by_row else shape


@dataclass(frozen=True, eq=False)
class Whitening:
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

    def whiten(self, points: Floats, owner: Ints) -> Floats:
        """Return R'(x - mean) of each point with the factor and the mean of its owner."""
        centered = points - self.means[owner]
        factor = self.factor[np.minimum(owner, len(self.factor) - 1)]
        return np.einsum("nde,nd->ne", factor, centered) if self.is_matrix else factor * centered

    def recover_draws(self, posterior: Mapping[str, Floats]) -> tuple[Floats, Floats]:
        """Return means (chains, draws, m, d) and spread (chains, draws, g, ...) from the free numbers of a model."""
        diagonal, offset = np.exp(posterior["log_root_diagonal"]), posterior["offset"]
        shift = offset / self.root[:, None]
        if not self.is_matrix:
            spread = 1.0 / (self.factor * diagonal)
            means = self.means + shift / self.factor
            return means, spread if self.structure.n_axes else spread[..., 0]
        lower = fill_lower(diagonal, posterior.get("root_below"))
        inverse = self.inverse
        # (R B)^(-T) = R^(-T) B^(-T)
        spread = inverse.swapaxes(-1, -2) @ invert_lower(lower).swapaxes(-1, -2)
        return self.means + np.einsum("gde,...gd->...ge", self._for_all(inverse), shift), spread

    def _for_all(self, inverse: Floats) -> Floats:
        return np.broadcast_to(inverse, (len(self.means), *inverse.shape[1:]))


def prepare_gaussian(
    structure: CovarianceStructure, statistics: ClassStatistics, prior: HierarchicalLaw | NormalInverseWishartLaw
) -> tuple[PyMCInputs, Whitening]:
    """Return the data of `build_gaussian` and the whitening that recovers its draws."""
    c, d = statistics.means.shape
    groups = 1 if structure.is_shared else c
    scale, dofs = _covariance_prior(prior, statistics.scatter.shape, groups)
    whitening = _make_whitening(structure, statistics.means, statistics.scatter, scale, np.sqrt(statistics.counts))
    arrays = {
        "means": statistics.means,
        "per_root_count": 1.0 / whitening.root[:, None],
        "reference": whitening.factor,
        "powers": _powers(structure, dofs, statistics.counts, d)[1],
    }
    if isinstance(prior, HierarchicalLaw):
        arrays |= {
            "log_strength_mean": np.asarray(prior.log_strength),
            "per_log_strength_sd": np.asarray(1.0 / prior.log_strength_sd),
            "per_center_sd": np.asarray(1.0 / prior.center_sd),
        }
    else:
        arrays |= {"centers": prior.centers, "strengths": prior.strengths}
    return PyMCInputs(d, c, groups, 1, arrays), whitening


def prepare_student(
    structure: CovarianceStructure, features: Floats, codes: Ints, c: int, prior: HierarchicalLaw
) -> tuple[PyMCInputs, Whitening]:
    """Return the data of `build_student`, points included, and the whitening that recovers its draws."""
    statistics = structure.summarize(features, codes, c)
    inputs, whitening = prepare_gaussian(structure, statistics, prior)
    scale, _ = _covariance_prior(prior, statistics.scatter.shape, inputs.n_groups)
    arrays = {
        **inputs.arrays,
        "prior_factor": _prior_factor(whitening, scale),
        "codes": codes.astype(np.int64),
        "whitened": whitening.whiten(features, codes),
    }
    by_row = ("codes", "whitened")
    return PyMCInputs(inputs.n_features, c, inputs.n_groups, 1, arrays, by_row), whitening


def prepare_mixture(
    structure: CovarianceStructure,
    features: Floats,
    codes: Ints,
    labels: Ints,
    c: int,
    parts: int,
    prior: HierarchicalLaw,
) -> tuple[PyMCInputs, Whitening]:
    """Return the data of `build_mixture` about parts with these labels, and the whitening that recovers its draws."""
    statistics = structure.summarize(features, codes * parts + labels, c * parts)
    inputs, whitening = prepare_gaussian(structure, statistics, prior)
    whitened = [whitening.whiten(features, codes * parts + part) for part in range(parts)]
    diagonal = np.einsum("gdd->gd", whitening.factor) if whitening.is_matrix else whitening.factor
    log_reference = np.log(diagonal).sum(axis=1)
    if not structure.n_axes:
        log_reference = log_reference * features.shape[1]
    scale, dofs = _covariance_prior(prior, statistics.scatter.shape, c * parts)
    arrays = {
        "means": statistics.means,
        "per_root_count": inputs.arrays["per_root_count"],
        "center_sd": np.asarray(prior.center_sd),
        "prior_powers": _powers(structure, dofs, statistics.counts, features.shape[1])[0],
        "prior_factor": _prior_factor(whitening, scale),
        "inverse_reference": whitening.inverse,
        "log_reference": log_reference,
        "codes": codes.astype(np.int64),
        "whitened": np.stack(whitened, axis=1),
    }
    return PyMCInputs(inputs.n_features, c, c * parts, parts, arrays, ("codes", "whitened")), whitening


def _make_whitening(
    structure: CovarianceStructure, means: Floats, scatter: Floats, scale: Floats, root: Floats
) -> Whitening:
    """Return the factors of prior scale plus scatter (g, ...), with R lower triangular."""
    total = scale + scatter
    if total.ndim == 3:
        factor = np.linalg.cholesky(np.linalg.inv(total))
    else:
        factor = 1.0 / np.sqrt(total if total.ndim == 2 else total[:, None])
    return Whitening(structure, factor, means, root)


def _prior_factor(whitening: Whitening, scale: Floats) -> Floats:
    """Return the prior scale (g, ...) in whitened coordinates: C^(-1) R."""
    if whitening.is_matrix:
        return np.asarray(np.linalg.inv(np.linalg.cholesky(np.linalg.inv(scale))) @ whitening.factor)
    return np.asarray(np.sqrt(scale.reshape(whitening.factor.shape)) * whitening.factor)


def _powers(structure: CovarianceStructure, dofs: Floats, counts: Floats, d: int) -> tuple[Floats, Floats]:
    """Return the factors of log B_ii in the prior, and in prior times likelihood: (g, d) or (g, 1) each.

    One is added because the logarithm is the free number.
    """
    ranks: dict[int, Floats] = {2: np.arange(1.0, d + 1), 1: np.ones(d), 0: np.ones(1)}
    prior = dofs[:, None] - ranks[structure.n_axes] + 1
    # A factor |P| for every point and for the prior of every mean.
    times = counts + 1.0
    times = times.sum(keepdims=True) if structure.is_shared else times
    return prior, prior + times[:, None] * structure.dof_per_point(d)


def _covariance_prior(
    prior: HierarchicalLaw | NormalInverseWishartLaw, shape: tuple[int, ...], groups: int
) -> tuple[Floats, Floats]:
    """Return scale and degrees of freedom of every group."""
    if isinstance(prior, HierarchicalLaw):
        return np.broadcast_to(prior.scale, shape), np.full(groups, float(prior.dof))
    return np.broadcast_to(prior.scales, shape), np.asarray(prior.dofs, dtype=float)
