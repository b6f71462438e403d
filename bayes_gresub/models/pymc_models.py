"""The class models as PyMC models, prior times likelihood: one compiled model serves any data of its shape.

Data come in as `pm.Data`, already in standardised coordinates and multiplied by a reference factor; what is compiled
depends only on the shape. `whitening.py` makes these data and recovers draws from theirs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayes_gresub.models.whitening import PyMCInputs

PART_CONCENTRATION = 2.0
SEPARATION_SD = 0.5


def build_gaussian(inputs: PyMCInputs, structure: str, hierarchical: bool) -> Any:
    r"""Return the PyMC model of Gaussian classes, of sufficient statistics only.

    The precision is P P' with P = R B, R R' the inverse of prior scale plus scatter (a constant), and B lower
    triangular; means are :math:`\bar x + R^{-\top} u / \sqrt n`. So all free numbers are of order one. With
    :math:`A = C^{-1} P`, C C' the inverse of the prior scale, A A' is Wishart(v, I), hence

    .. math:: \log p(B) &= \sum_i (v - i) \log B_{ii} - \tfrac12 |A|^2, \quad i = 1, \dots, d \\
              \log p(\mu \mid B) &= \sum_i \log B_{ii} + \tfrac d2 \log k - \tfrac k2 |P'(\mu - m)|^2 \\
              \log p(X \mid \mu, B) &= n \sum_i \log B_{ii} - \tfrac12 |P'F|^2 - \tfrac n2 |P'(\bar x - \mu)|^2

    up to constants, F F' being the scatter. By the choice of R, :math:`|A|^2 + |P'F|^2 = |B|^2`; and the last square is
    :math:`|B'u|^2`. With one variance per feature B is its diagonal.

    Most of the time of a first fit goes into compiling this, kernel by kernel, so as much as possible is computed
    before.
    """
    import pymc as pm
    import pytensor.tensor as pt

    d, c = inputs.n_features, inputs.n_classes
    with pm.Model() as model:
        data = _declare_data(inputs)
        root, log_diagonal = _declare_roots(structure, inputs)
        offset = pm.Flat("offset", shape=(c, d))
        if hierarchical:
            center, log_strength, total = _declare_hyper(data, d)
            total += 0.5 * c * d * log_strength
            strengths = pt.exp(log_strength)
        else:
            center, strengths, total = data["centers"], data["strengths"][:, None], 0.0
        from_center = data["per_root_count"] * offset + _times(data["reference"], data["means"] - center)
        squares = _times(root, offset) ** 2 + strengths * _times(root, from_center) ** 2
        total += (data["powers"] * log_diagonal).sum() - 0.5 * ((root**2).sum() + squares.sum())
        pm.Potential("posterior", total)
    return model


def build_student(inputs: PyMCInputs, structure: str) -> Any:
    r"""Return the PyMC model of Student-t classes; scale matrices and means as in `build_gaussian`.

    .. math:: \log p(x \mid y) = \log\Gamma(\tfrac{\nu+d}2) - \log\Gamma(\tfrac\nu2) - \tfrac d2 \log(\pi\nu)
              + \log|P| - \tfrac{\nu+d}2 \log(1 + |P'(x - \mu)|^2 / \nu), \qquad \nu \sim \Gamma(2, 0.1)

    The prior of the degrees of freedom is that of Juarez & Steel (2010).
    """
    import pymc as pm
    import pytensor.tensor as pt

    d, c = inputs.n_features, inputs.n_classes
    with pm.Model() as model:
        data = _declare_data(inputs)
        root, log_diagonal = _declare_roots(structure, inputs)
        offset = pm.Flat("offset", shape=(c, d))
        dof = pm.Gamma("dof", 2.0, 0.1, shape=c)
        center, log_strength, total = _declare_hyper(data, d)
        moved = data["per_root_count"] * offset
        from_center = moved + _times(data["reference"], data["means"] - center)
        total += 0.5 * c * d * log_strength - 0.5 * pt.exp(log_strength) * (_times(root, from_center) ** 2).sum()
        total += (data["powers"] * log_diagonal).sum() - 0.5 * (_apply(data["prior_factor"], root) ** 2).sum()
        codes = data["codes"]
        inside = _times_of_owner(root, codes if inputs.n_groups > 1 else None, data["whitened"] - moved[codes])
        v = dof[codes]
        tails = -0.5 * (v + d) * pt.log1p((inside**2).sum(axis=-1) / v)
        constants = pt.gammaln((v + d) / 2) - pt.gammaln(v / 2) - 0.5 * d * pt.log(v)
        pm.Potential("posterior", total + (tails + constants).sum())
    return model


def build_mixture(inputs: PyMCInputs, structure: str) -> Any:
    r"""Return the PyMC model of classes that are mixtures of Gaussian parts; which part a point is of is summed out.

    .. math:: p(x \mid y) = \sum_k w_{yk} N(x; \mu_{yk}, \Sigma_{yk}), \quad w_y \sim \mathrm{Dirichlet}(2), \quad
              \mu_{yk} \sim N(m, \omega^2 I), \quad \log \omega \sim N(0, 0.5^2)

    Covariances of the parts are as in `build_gaussian`, about references from k-means.
    """
    import pymc as pm
    import pytensor.tensor as pt

    d, c, parts = inputs.n_features, inputs.n_classes, inputs.n_parts
    with pm.Model() as model:
        data = _declare_data(inputs)
        root, log_diagonal = _declare_roots(structure, inputs)
        offset = pm.Flat("offset", shape=(c * parts, d))
        weights = pm.Dirichlet("weights", np.full((c, parts), PART_CONCENTRATION))
        center = pm.Normal("center", 0.0, data["center_sd"], shape=d)
        log_separation = pm.Normal("log_separation", 0.0, SEPARATION_SD)
        moved = data["per_root_count"] * offset
        # The inverse factor turns offsets, which are of order one, into shifts of the means.
        means = data["means"] + _times(data["inverse_reference"], moved)
        log_det = log_diagonal.sum(axis=1) * (d if structure == "spherical" else 1)
        spread = ((means - center) ** 2).sum() * pt.exp(-2.0 * log_separation)
        means_prior = -c * parts * d * log_separation - 0.5 * spread
        covariance_prior = (data["prior_powers"] * log_diagonal).sum()
        covariance_prior -= 0.5 * (_apply(data["prior_factor"], root) ** 2).sum()
        pm.Potential("prior", covariance_prior + means_prior)
        codes = data["codes"]
        each = []
        for part in range(parts):
            owner = codes * parts + part
            inside = _times_of_owner(root, owner, data["whitened"][:, part] - moved[owner])
            log_size = data["log_reference"][owner] + log_det[owner]
            each.append(pt.log(weights[codes, part]) + log_size - 0.5 * (inside**2).sum(axis=-1))
        pm.Potential("likelihood", pt.logsumexp(pt.stack(each), axis=0).sum())
    return model


def build_discrete(inputs: PyMCInputs) -> Any:
    """Return the PyMC model of cells: p_y ~ Dirichlet(concentration), the counts of a class multinomial."""
    import pymc as pm
    import pytensor.tensor as pt

    with pm.Model() as model:
        data = _declare_data(inputs)
        shape = inputs.arrays["concentration"].shape
        cells = pm.Dirichlet("cell_probabilities", data["concentration"], shape=shape)
        pm.Potential("likelihood", (data["cell_counts"] * pt.log(cells)).sum())
    return model


def _declare_data(inputs: PyMCInputs) -> dict[str, Any]:
    """Return the data as PyMC variables; lengths that never change are compiled in."""
    import pymc as pm

    return {name: pm.Data(name, value, shape=inputs.static_shape(name)) for name, value in inputs.arrays.items()}


def _declare_roots(structure: str, inputs: PyMCInputs) -> tuple[Any, Any]:
    """Return B and the logarithm of its diagonal: (groups, d, d) and (groups, d); both (groups, d) or (groups, 1)."""
    import pymc as pm
    import pytensor.tensor as pt

    d, groups = inputs.n_features, inputs.n_groups
    log_diagonal = pm.Flat("log_root_diagonal", shape=(groups, 1 if structure == "spherical" else d))
    diagonal = pt.exp(log_diagonal)
    if structure in ("spherical", "diagonal"):
        return diagonal, log_diagonal
    # One gather compiles quicker than two assignments into zeros.
    entries, position = [diagonal, pt.zeros((groups, 1))], np.full((d, d), d)
    position[np.diag_indices(d)] = np.arange(d)
    if d > 1:
        entries.append(pm.Flat("root_below", shape=(groups, d * (d - 1) // 2)))
        position[np.tril_indices(d, -1)] = d + 1 + np.arange(d * (d - 1) // 2)
    return pt.concatenate(entries, axis=1)[:, position.ravel()].reshape((groups, d, d)), log_diagonal


def _declare_hyper(data: dict[str, Any], d: int) -> tuple[Any, Any, Any]:
    """Return the centre of the classes, the logarithm of the strength, and their log density."""
    import pymc as pm

    center = pm.Flat("center", shape=d)
    log_strength = pm.Flat("log_strength")
    # Distributions of PyMC would check their parameters at every step.
    squares = (data["per_center_sd"] * center) ** 2
    away = data["per_log_strength_sd"] * (log_strength - data["log_strength_mean"])
    return center, log_strength, -0.5 * (squares.sum() + away**2)


def _apply(factor: Any, root: Any) -> Any:
    """Return factor times B, matrix by matrix, or elementwise."""
    # Sums of products compile twice as quickly as batched matrix products, and d is small.
    return (factor[:, :, :, None] * root[:, None, :, :]).sum(axis=2) if root.ndim == 3 else factor * root


def _times(root: Any, vectors: Any) -> Any:
    """Return B' v for vectors (c, d), or the elementwise product."""
    return (root * vectors[:, :, None]).sum(axis=1) if root.ndim == 3 else root * vectors


def _times_of_owner(root: Any, owner: Any, vectors: Any) -> Any:
    """Return B_y' v for vectors (n, d), each with the B of its owner, or all with the one there is."""
    if root.ndim == 2 and root.type.shape[1] == 1 and owner is not None:
        # Older pytensor forgets, when rows are gathered, that there is one column.
        roots = root[:, 0][owner][:, None]
    else:
        roots = root if owner is None else root[owner]
    return (roots * vectors[:, :, None]).sum(axis=1) if root.ndim == 3 else roots * vectors
