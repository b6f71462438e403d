"""Class models that a user writes in PyMC."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_gresub.data.arrays import Floats
from bayes_gresub.data.sample import Sample
from bayes_gresub.data.seeds import as_int, child
from bayes_gresub.models.class_draws import ClassDraws, ComponentDraws
from bayes_gresub.models.class_model import ClassModel, ClassPosterior
from bayes_gresub.models.gaussian import note_interruption
from bayes_gresub.models.nuts import SamplerSettings, sample_model

_RESERVED = ("error", "class_errors", "predicted")
"""Names of the posterior of an error, beside the model's variables."""


class PyMCClasses(ClassModel):
    """Classes whose densities are those of a PyMC model that a function builds.

    The model must have variables (free or deterministic) of these names, for c classes and d features:

    - `means` (c, d), or (c, parts, d) if classes are mixtures;
    - one of `covariances` (c, d, d) or (c, parts, d, d), `covariance` (d, d) for all classes, `variances` (c, d) or
      (c,), or with parts after c; `scales` and `scale` are the same for Student-t classes;
    - `weights` (c, parts) for mixtures, `dof` (c,) for Student-t classes;
    - optionally `class_probabilities` (c,); else they are Dirichlet as in every other model.

    Other variables are handed on to ArviZ under their names, which may not be `error`, `class_errors` or `predicted`.

    Parameters
    ----------
    build : callable
        `build(X, y)` returns a `pm.Model`; X are the features as given, y the codes of the sorted labels.

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> def build(X, y):
    ...     import pymc as pm
    ...
    ...     with pm.Model() as model:
    ...         means = pm.Normal("means", 0, 10, shape=(2, X.shape[1]))
    ...         deviation = pm.HalfNormal("deviation", 5)
    ...         pm.Deterministic("variances", deviation**2 * np.ones(2))
    ...         pm.Normal("x", means[y], deviation, observed=X)
    ...     return model
    >>> bg.PyMCClasses(build).cheapest_sampler()
    'nuts'
    """

    samplers = ("nuts",)

    def __init__(self, build: Callable[..., Any]) -> None:
        self.build = build

    def check(self, data: Sample, sampler: str) -> None:
        """Do nothing: `learn` checks the model that the function builds."""

    def learn(
        self, data: Sample, sampler: str, settings: SamplerSettings, seed: np.random.SeedSequence
    ) -> ClassPosterior:
        """Build, check the names, sample."""
        model = self.build(data.features.copy(), data.codes.copy())
        names = {variable.name for variable in getattr(model, "unobserved_RVs", [])}
        if not hasattr(model, "unobserved_RVs"):
            raise TypeError(f"the function must return a pm.Model; got a {type(model).__name__}.")
        spreads = [spread for spread in _SPREADS if spread.name in names]
        if "means" not in names or len(spreads) != 1:
            allowed = ", ".join(spread.name for spread in _SPREADS)
            raise ValueError(
                f"the model must have a variable `means` and one of {allowed}; its variables are "
                f"{', '.join(sorted(names))}. Add pm.Deterministic(name, ...) for a variable with another name."
            )
        taken = [name for name in _RESERVED if name in names]
        if taken:
            raise ValueError(
                f"the names {', '.join(_RESERVED)} are those of the posterior of an error; the model has a variable "
                f"{taken[0]!r}. Rename it."
            )
        _check_shapes(model, spreads[0], data)
        sampled = sample_model(model, settings, seed)
        notes = note_interruption(sampled.posterior["means"].shape[1], settings)
        draws = _collect_draws(dict(sampled.posterior), spreads[0], data, sampled.stats, notes)
        return PyMCPosterior(draws, self.build, data, seed, sampled.posterior.get("class_probabilities"))


class PyMCPosterior(ClassPosterior):
    """A user's model after a sample."""

    draws: ComponentDraws

    def __init__(
        self,
        draws: ComponentDraws,
        build: Callable[..., Any],
        data: Sample,
        seed: np.random.SeedSequence,
        class_probabilities: Floats | None,
    ) -> None:
        self.draws = draws
        # Not the model itself: PyMC's cannot be pickled.
        self.build, self.data = build, data
        self.seed = seed
        self.class_probabilities = class_probabilities

    def prior_draws(self, n: int, rng: np.random.Generator) -> ClassDraws:
        """Let PyMC draw from the prior."""
        import pymc as pm

        logger = logging.getLogger("pymc")
        level = logger.level
        logger.setLevel(logging.WARNING)
        try:
            with self.build(self.data.features.copy(), self.data.codes.copy()):
                trace = pm.sample_prior_predictive(n, random_seed=as_int(child(self.seed, 1)))
        finally:
            logger.setLevel(level)
        posterior = {str(name): np.asarray(values) for name, values in trace["prior"].data_vars.items()}
        spread = next(spread for spread in _SPREADS if spread.name in posterior)
        return _collect_draws(posterior, spread, None, {})


def _check_shapes(model: Any, spread: _SpreadVariable, data: Sample) -> None:
    """Raise if shapes that are known before sampling are wrong."""
    shapes = {
        variable.name: tuple(variable.type.shape) for variable in model.unobserved_RVs if hasattr(variable, "type")
    }
    known = {name: shape for name, shape in shapes.items() if None not in shape}
    if "means" in known:
        _check_means(known["means"], data)
        if spread.name in known:
            _check_spread(spread, known[spread.name], known["means"])


def _check_means(shape: tuple[int, ...], data: Sample | None) -> None:
    c_and_d = None if data is None else (data.n_classes, data.features.shape[1])
    if len(shape) not in (2, 3) or (c_and_d is not None and (shape[0], shape[-1]) != c_and_d):
        needed = "" if c_and_d is None else f", with c={c_and_d[0]} and d={c_and_d[1]}"
        raise ValueError(f"means must have shape (c, d) or (c, parts, d){needed}; got {shape}.")


def _check_spread(spread: _SpreadVariable, shape: tuple[int, ...], means: tuple[int, ...]) -> None:
    d = means[-1]
    owner = () if spread.is_shared else means[:-1]
    allowed = [(*owner, *inner) for inner in ([(d, d)] if spread.is_matrix else [(d,), ()])]
    if shape not in allowed:
        raise ValueError(f"{spread.name} must have shape {' or '.join(map(str, allowed))}; got {shape}.")


def _collect_draws(
    posterior: dict[str, Floats],
    variable: _SpreadVariable,
    data: Sample | None,
    stats: Any,
    notes: tuple[str, ...] = (),
) -> ComponentDraws:
    means = posterior["means"]
    weights, dof = posterior.get("weights"), posterior.get("dof")
    has_parts = means.ndim == 5
    _check_means(means.shape[2:], data)
    if has_parts != (weights is not None):
        raise ValueError(
            "a model with parts must have both means of shape (c, parts, d) and weights of shape (c, parts)."
        )
    squared = posterior[variable.name]
    _check_spread(variable, squared.shape[2:], means.shape[2:])
    if variable.is_shared:
        squared = squared[:, :, None]
    spread: Floats = np.asarray(np.linalg.cholesky(squared) if variable.is_matrix else np.sqrt(squared))
    if not has_parts:
        means, spread = means[:, :, :, None], np.expand_dims(spread, 3)
    used = {"means", "weights", "dof", "class_probabilities", *(known.name for known in _SPREADS)}
    hyper = {name: values for name, values in posterior.items() if name not in used and not name.endswith("__")}
    return ComponentDraws(means, spread, weights, dof, hyper=hyper, stats=stats, notes=notes)


@dataclass(frozen=True)
class _SpreadVariable:
    """A variable of a user's model that holds the spread: matrices or variances, of each class or shared by all."""

    name: str
    is_matrix: bool
    is_shared: bool


_SPREADS = (
    _SpreadVariable("covariances", is_matrix=True, is_shared=False),
    _SpreadVariable("covariance", is_matrix=True, is_shared=True),
    _SpreadVariable("scales", is_matrix=True, is_shared=False),
    _SpreadVariable("scale", is_matrix=True, is_shared=True),
    _SpreadVariable("variances", is_matrix=False, is_shared=False),
    _SpreadVariable("variance", is_matrix=False, is_shared=True),
)
