"""Class models that a user writes in PyMC."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayes_gresub.components import Floats
from bayes_gresub.models.base import ClassData, ClassModel, ClassPosterior
from bayes_gresub.models.draws import ClassDraws, ComponentDraws
from bayes_gresub.models.gaussian import interruption
from bayes_gresub.models.nuts import Settings, sample_model
from bayes_gresub.seeds import as_int, child

_SPREADS = ("covariances", "covariance", "scales", "scale", "variances", "variance")


class PyMCClasses(ClassModel):
    """Classes whose densities are those of a PyMC model that a function builds.

    The model must have variables (free or deterministic) of these names, for c classes and d features:

    - `means` (c, d), or (c, parts, d) where classes are mixtures;
    - one of `covariances` (c, d, d) or (c, parts, d, d), `covariance` (d, d) for all classes, `variances` (c, d) or
      (c,), or with parts after c; `scales` and `scale` are the same for Student-t classes;
    - `weights` (c, parts) for mixtures, `dof` (c,) for Student-t classes;
    - optionally `class_probabilities` (c,); else they are Dirichlet as in every other model.

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
    >>> bg.Bayesian(build).sampler
    'nuts'
    """

    samplers = ("nuts",)

    def __init__(self, build: Callable[..., Any]) -> None:
        self.build = build

    def check(self, data: ClassData, sampler: str) -> None:
        """Leave checks to the function and to the names of what it built."""

    def learn(self, data: ClassData, sampler: str, settings: Settings, seed: np.random.SeedSequence) -> ClassPosterior:
        """Build, check the names, sample."""
        model = self.build(data.features.copy(), data.codes.copy())
        names = {variable.name for variable in getattr(model, "unobserved_RVs", [])}
        if not hasattr(model, "unobserved_RVs"):
            raise TypeError(f"the function must return a pm.Model; got a {type(model).__name__}.")
        spreads = [name for name in _SPREADS if name in names]
        if "means" not in names or len(spreads) != 1:
            raise ValueError(
                f"the model must have a variable `means` and one of {', '.join(_SPREADS)}; its variables are "
                f"{', '.join(sorted(names))}. Add pm.Deterministic(name, ...) for what it calls otherwise."
            )
        found = sample_model(model, settings, seed)
        notes = interruption(found.posterior["means"].shape[1], settings)
        draws = _container(dict(found.posterior), spreads[0], data, found.stats, notes)
        return CustomPosterior(draws, model, seed, found.posterior.get("class_probabilities"))


class CustomPosterior(ClassPosterior):
    """A user's model after a sample."""

    draws: ComponentDraws

    def __init__(
        self, draws: ComponentDraws, model: Any, seed: np.random.SeedSequence, class_probabilities: Floats | None
    ) -> None:
        self.draws = draws
        self.model = model
        self.seed = seed
        self.class_probabilities = class_probabilities

    def prior_draws(self, n: int, rng: np.random.Generator) -> ClassDraws:
        """Let PyMC draw from the prior."""
        import pymc as pm

        with self.model:
            found = pm.sample_prior_predictive(n, random_seed=as_int(child(self.seed, 1)))
        posterior = {str(name): np.asarray(values) for name, values in found["prior"].data_vars.items()}
        spread = next(name for name in _SPREADS if name in posterior)
        return _container(posterior, spread, None, {})


def _container(
    posterior: dict[str, Floats], spread_name: str, data: ClassData | None, stats: Any, notes: tuple[str, ...] = ()
) -> ComponentDraws:
    means = posterior["means"]
    weights, dof = posterior.get("weights"), posterior.get("dof")
    has_parts = means.ndim == 5
    if means.ndim not in (4, 5) or (
        data is not None and (means.shape[2], means.shape[-1]) != (data.n_classes, data.features.shape[1])
    ):
        needed = "" if data is None else f", with c={data.n_classes} and d={data.features.shape[1]}"
        raise ValueError(f"means must have shape (c, d) or (c, parts, d){needed}; got {means.shape[2:]}.")
    if has_parts != (weights is not None):
        raise ValueError(
            "a model with parts must have both means of shape (c, parts, d) and weights of shape (c, parts)."
        )
    squared = posterior[spread_name]
    d = means.shape[-1]
    owner = () if spread_name in ("covariance", "scale", "variance") else means.shape[2:-1]
    inner = [(d,), ()] if spread_name.startswith("variance") else [(d, d)]
    if squared.shape[2:] not in [(*owner, *one) for one in inner]:
        wanted = " or ".join(str((*owner, *one)) for one in inner)
        raise ValueError(f"{spread_name} must have shape {wanted}; got {squared.shape[2:]}.")
    if not owner:
        squared = squared[:, :, None]
    is_matrix = not spread_name.startswith("variance")
    spread: Floats = np.asarray(np.linalg.cholesky(squared) if is_matrix else np.sqrt(squared))
    if not has_parts:
        means, spread = means[:, :, :, None], np.expand_dims(spread, 3)
    used = {"means", "weights", "dof", "class_probabilities", *_SPREADS}
    hyper = {name: values for name, values in posterior.items() if name not in used and not name.endswith("__")}
    return ComponentDraws(means, spread, weights, dof, hyper=hyper, stats=stats, notes=notes)
