"""The check of a fitted class model: whether its chains agree, and what the model finds about itself."""

from __future__ import annotations

import numpy as np

from bayes_gresub.models.check_report import Finding
from bayes_gresub.models.diagnostics import ess, rhat
from bayes_gresub.models.fitted_classes import HIGHEST_RHAT, LEAST_ESS, FittedClasses


def check_model(fitted: FittedClasses, seed: np.random.SeedSequence) -> list[Finding]:
    """Return the findings about sampling, and those of the class model."""
    class_probabilities = fitted.probabilities.mean(axis=(0, 1))
    return [
        check_sampling(fitted),
        *fitted.model.findings(fitted.data, fitted.posterior, class_probabilities, seed),
    ]


def check_sampling(fitted: FittedClasses) -> Finding:
    """Judge the chains by the parameters that have names: R-hat, effective draws, divergences."""
    draws = fitted.draws
    if not draws.hyper and not draws.stats:
        total = int(np.prod(draws.shape))
        return Finding("sampling", False, f"The {total} draws are independent and exact.", {"ess": total})
    watched, parameters = fitted.watched()
    divergences = int(draws.stats["diverging"].sum()) if "diverging" in draws.stats else 0
    numbers = {"rhat": float(np.max(rhat(watched))), "ess": float(np.min(ess(watched))), "divergences": divergences}
    values = (
        f"R-hat {numbers['rhat']:.3f}, {numbers['ess']:.0f} effective draws for {parameters}, {divergences} divergences"
    )
    if numbers["rhat"] > HIGHEST_RHAT:
        return Finding("sampling", True, f"The chains disagree ({values}). Raise tune and draws.", numbers)
    if divergences:
        return Finding("sampling", True, f"Draws diverged ({values}): parts of the posterior may be missed.", numbers)
    if numbers["ess"] < LEAST_ESS:
        return Finding("sampling", True, f"The chains are short ({values}). Raise draws for interval ends.", numbers)
    return Finding("sampling", False, f"The chains agree ({values}).", numbers)
