"""Checks of a fitted class model: do chains agree, do classes look like the model, what does the prior claim."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayes_gresub.data.seeds import child
from bayes_gresub.models.check_report import Finding
from bayes_gresub.models.class_fit import FEWEST_POINTS, check_classes
from bayes_gresub.models.class_fit_power import power
from bayes_gresub.models.covariance_test import covariance_p_value
from bayes_gresub.models.diagnostics import ess, rhat
from bayes_gresub.models.discrete import DiscreteClasses, prior_points
from bayes_gresub.models.fitted_classes import HIGHEST_RHAT, LEAST_ESS, FittedClasses
from bayes_gresub.models.gaussian import GaussianClasses
from bayes_gresub.models.priors import Hierarchical, NormalInverseWishart, read_prior
from bayes_gresub.models.student_t import StudentTClasses
from bayes_gresub.models.user_model import PyMCClasses

LEVEL = 0.05
"""Chance of a false alarm about the fit, over all tests and classes."""

_PRIOR_DRAWS = 200
_PRIOR_POINTS = 400
_HARDLY_OVERLAPPING = 0.01
_FAR = 10.0
"""Factor between deviations of prior and sample from which units are doubted."""


def check_model(fitted: FittedClasses, seed: np.random.SeedSequence) -> list[Finding]:
    """Return what is found about sampling, the fit of each class, the power of that check, and the prior."""
    restricted = isinstance(fitted.model, GaussianClasses) and fitted.model.covariance != "full"
    # Two tests share the level where there are two.
    level = LEVEL / 2 if restricted else LEVEL
    findings = [sampling_finding(fitted), *feature_findings(fitted), *fit_findings(fitted, child(seed, 0), level)]
    if restricted:
        findings.append(covariance_finding(fitted, np.random.default_rng(child(seed, 2)), level))
    return [*findings, prior_finding(fitted, np.random.default_rng(child(seed, 1))), *scale_findings(fitted)]


def sampling_finding(fitted: FittedClasses) -> Finding:
    """Judge the chains by the parameters that have names: R-hat, effective draws, divergences."""
    draws = fitted.draws
    if not draws.hyper and not draws.stats:
        total = int(np.prod(draws.shape))
        return Finding("sampling", False, f"The {total} draws are independent and exact.", {"ess": total})
    numbers: dict[str, Any] = {}
    watched, what = fitted.watched()
    numbers["rhat"], numbers["ess"] = float(np.max(rhat(watched))), float(np.min(ess(watched)))
    diverging = int(draws.stats["diverging"].sum()) if "diverging" in draws.stats else 0
    numbers["divergences"] = diverging
    said = f"R-hat {numbers['rhat']:.3f}, {numbers['ess']:.0f} effective draws for {what}, {diverging} divergences"
    if numbers["rhat"] > HIGHEST_RHAT:
        return Finding("sampling", True, f"The chains disagree ({said}). Raise tune and draws.", numbers)
    if diverging:
        return Finding("sampling", True, f"Draws diverged ({said}): parts of the posterior may be missed.", numbers)
    if numbers["ess"] < LEAST_ESS:
        return Finding("sampling", True, f"The chains are short ({said}). Raise draws for interval ends.", numbers)
    return Finding("sampling", False, f"The chains agree ({said}).", numbers)


def feature_findings(fitted: FittedClasses) -> list[Finding]:
    """Find classes whose points do not fill the space: no density has that, and tests of fit leave it out."""
    data = fitted.data
    if isinstance(fitted.model, DiscreteClasses):
        return []
    found = []
    names = data.feature_names or tuple(str(f) for f in range(data.features.shape[1]))
    for code, label in enumerate(data.classes.tolist()):
        own = data.of_class(code)
        centered = own - own.mean(axis=0)
        still = np.ptp(own, axis=0) == 0
        if len(own) > 1 and still.any():
            listed = ", ".join(np.array(names, dtype=object)[still])
            found.append(f"feature {listed} does not vary in class {label!r}")
        elif len(own) > own.shape[1]:
            rank = int(np.linalg.matrix_rank(centered / centered.std(axis=0), tol=1e-8 * np.sqrt(own.size)))
            if rank < own.shape[1]:
                found.append(f"the {own.shape[1]} features of class {label!r} span {rank} dimensions only")
    if not found:
        return []
    said = "; ".join(found)
    sentence = (
        f"{said[0].upper()}{said[1:]}: no density does that, and the estimate may be far off. Drop such features, or "
        "use a measure without a model."
    )
    return [Finding("features", True, sentence)]


def scale_findings(fitted: FittedClasses) -> list[Finding]:
    """Find fixed priors that outweigh the sample, or whose scale is far from its spread, as in other units."""
    model, data = fitted.model, fitted.data
    if isinstance(model, DiscreteClasses):
        return _table_findings(fitted)
    prior = read_prior(model.prior) if isinstance(model, GaussianClasses) else None
    if prior is None or isinstance(prior, Hierarchical):
        return []
    priors = [prior] * data.n_classes if isinstance(prior, NormalInverseWishart) else list(prior)
    d = data.features.shape[1]
    names = data.feature_names or tuple(str(f) for f in range(d))
    for code, own in enumerate(priors):
        scale = np.asarray(own.scale, dtype=float)
        wanted = np.sqrt((np.diag(scale) if scale.ndim == 2 else np.broadcast_to(scale, d)) / own.dof)
        seen = data.of_class(code).std(axis=0)
        with np.errstate(divide="ignore"):
            away = np.abs(np.log(wanted / seen))
        worst = int(away.argmax())
        if seen[worst] > 0 and away[worst] > np.log(_FAR):
            sentence = (
                f"The prior scale gives feature {names[worst]} a deviation of about {wanted[worst]:.2g}; in class "
                f"{data.classes.tolist()[code]!r} it is {seen[worst]:.2g}. Is it in the units of the features?"
            )
            return [Finding("scale", True, sentence, {"prior": float(wanted[worst]), "sample": float(seen[worst])})]
    return []


def _table_findings(fitted: FittedClasses) -> list[Finding]:
    heavy = prior_points(fitted.model, fitted.data)
    least = int(fitted.data.counts.min())
    if heavy <= 2 * least:
        return []
    sentence = (
        f"The prior counts as {heavy:,.0f} points, the smallest class has {least}: the prior rules the estimate. Join "
        "values, or lower concentration."
    )
    return [Finding("scale", True, sentence, {"prior": heavy, "sample": least})]


def fit_findings(fitted: FittedClasses, seed: np.random.SeedSequence, level: float) -> list[Finding]:
    """Test whether the classes look like draws from the model, and say what the test would miss."""
    model, data = fitted.model, fitted.data
    if isinstance(model, DiscreteClasses):
        return [Finding("fit", False, "A table of cells fits any sample; there is nothing to test.")]
    checked = [code for code in range(data.n_classes) if data.counts[code] >= FEWEST_POINTS]
    if len(checked) < 2:
        sentence = f"Classes have fewer than {FEWEST_POINTS} points: whether the model fits cannot be tested."
        return [Finding("fit", True, sentence, {"n_points": data.counts.tolist()})]
    labels = data.classes.tolist()
    rows = np.isin(data.codes, checked)
    gaussian = isinstance(model, GaussianClasses)
    found = check_classes(
        data.features[rows],
        data.classes[data.codes[rows]],
        seed,
        simulate={labels[code]: model.null(data, fitted.posterior, code) for code in checked},
        feature_names=data.feature_names,
        gaussian=gaussian,
        level=level,
    )
    numbers: dict[str, Any] = {"p_value": found.p_value, "p_values": {str(y): p for y, p in found.p_values.items()}}
    small = [labels[code] for code in range(data.n_classes) if code not in checked]
    untested = f" Too few points to test: {', '.join(map(repr, small))}." if small else ""
    if found.misfits:
        classes = ", ".join(
            f"{label!r} (p={found.p_values[label]:.3f}; loudest: {found.classes[label].loudest})"
            for label in found.misfits
        )
        many = len(found.misfits) > 1
        sentence = (
            f"The {_name(model)} model does not fit class{'es' if many else ''} {classes}: the estimate may be off. "
            f"{_alternative(model)}{untested}"
        )
    else:
        sentence = f"No class departs visibly from the {_name(model)} model (p={found.p_value:.3f}).{untested}"
    findings = [Finding("fit", bool(found.misfits), sentence, numbers)]
    if gaussian:
        findings.append(power_finding(int(data.counts[checked].min()), data.features.shape[1]))
    return findings


def power_finding(n_points: int, d: int) -> Finding:
    """Say what the test of fit would miss in a class of this size; the shares are in the numbers."""
    seen = power(max(n_points, 15), max(d, 2))
    missed = [name for name, share in seen.items() if share < 0.5]
    found = [name for name, share in seen.items() if share >= 0.8]
    parts = [f"would miss in most samples: {', '.join(missed)}"] if missed else []
    parts += [f"would see in 8 of 10 or more: {', '.join(found)}"] if found else []
    sentence = f"With {n_points} points in {d} features the test of fit {'; it '.join(parts)}."
    return Finding("power", False, sentence + (" Look at histograms too." if missed else ""), seen)


def covariance_finding(fitted: FittedClasses, rng: np.random.Generator, level: float) -> Finding:
    """Test the form of the covariances against one matrix per class."""
    form = fitted.model.get_params()["covariance"]
    p_value = covariance_p_value(fitted.data, form, rng)
    if p_value is None:
        sentence = (
            f"Whether covariances are {form} cannot be tested: a class has too few points for a matrix of its own."
        )
        return Finding("covariance", False, sentence)
    numbers = {"p_value": p_value}
    if p_value <= level:
        sentence = f"The covariances are not {form} (p={p_value:.3f}): the estimate may be off. Try covariance='full'."
        return Finding("covariance", True, sentence, numbers)
    return Finding("covariance", False, f"Nothing speaks against {form} covariances (p={p_value:.3f}).", numbers)


def prior_finding(fitted: FittedClasses, rng: np.random.Generator) -> Finding:
    """Say what error the prior alone implies for the best classifier."""
    probabilities = fitted.probabilities.mean(axis=(0, 1))
    drawn = fitted.posterior.prior_draws(_PRIOR_DRAWS, rng)
    errors = drawn.best_errors(probabilities, _PRIOR_POINTS, rng)
    low, middle, high = (float(q) for q in np.quantile(errors, [0.05, 0.5, 0.95]))
    numbers = {"low": low, "median": middle, "high": high}
    said = f"a best possible error of {low:.3f} to {high:.3f} (90%), median {middle:.3f}"
    learned = not isinstance(fitted.model, PyMCClasses) and "center" in fitted.draws.hyper
    if middle < _HARDLY_OVERLAPPING and learned:
        # The separation is learned; what is left are covariances that differ by chance.
        sentence = (
            f"The prior alone implies {said}, through covariances that differ between classes, which only quadratic or "
            "more flexible rules could use. With many features covariance='shared' or 'diagonal' says less."
        )
        return Finding("prior", False, sentence, numbers)
    if middle < _HARDLY_OVERLAPPING:
        sentence = (
            f"The prior alone implies {said}: it claims that the classes hardly overlap, and pulls the estimate down. "
            f"{_weaker_claim(fitted.model)}"
        )
        return Finding("prior", True, sentence, numbers)
    return Finding("prior", False, f"The prior alone implies {said}.", numbers)


def _weaker_claim(model: Any) -> str:
    if isinstance(model, DiscreteClasses):
        return "Raise concentration."
    if isinstance(model, GaussianClasses):
        return "Raise its strength, or use prior='hierarchical'."
    return "Let its means lie closer together."


def _name(model: Any) -> str:
    names = {GaussianClasses: "Gaussian", StudentTClasses: "Student-t"}
    return names.get(type(model), "mixture" if type(model).__name__ == "MixtureClasses" else "given")


def _alternative(model: Any) -> str:
    if isinstance(model, GaussianClasses):
        return "Try StudentTClasses (heavy tails) or MixtureClasses (several modes, skewness)."
    if isinstance(model, StudentTClasses):
        return "Try MixtureClasses, or a measure without a model such as BolsteredPosterior."
    if isinstance(model, PyMCClasses):
        return "Change the model, or use a measure without one such as BolsteredPosterior."
    return "Try more parts, or a measure without a model such as BolsteredPosterior."
