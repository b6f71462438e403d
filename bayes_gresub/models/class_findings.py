"""Findings that class models share: flat features, the fit of the classes and its power, covariances, the prior.

A class model puts its own check together from these; what only one model has is beside that model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayes_gresub.data.arrays import Floats
from bayes_gresub.data.sample import Sample
from bayes_gresub.models.check_report import Finding
from bayes_gresub.models.class_draws import ClassDraws
from bayes_gresub.models.class_fit import FEWEST_POINTS, check_classes
from bayes_gresub.models.class_fit_power import look_up_power
from bayes_gresub.models.class_nulls import Simulate
from bayes_gresub.models.covariance_test import covariance_p_value

LEVEL = 0.05
"""Chance of a false alarm about the fit, over all tests and classes."""

MOST_TESTED = 2000
"""Rows of a class that the test of its fit uses; its time grows with them."""

PRIOR_DRAWS = 200
_PRIOR_POINTS = 400
_HARDLY_OVERLAPPING = 0.01
_MISSED, _SEEN = 0.5, 0.8
"""Shares of samples below which the test of fit misses a departure, and from which it sees one."""

_LEAST_POWER_POINTS, _LEAST_POWER_FEATURES = 15, 2


def find_flat_classes(data: Sample) -> list[Finding]:
    """Find classes whose points do not fill the space: no density does that, and tests of fit leave it out."""
    names = feature_names(data)
    sentences = []
    for code, label in enumerate(data.classes.tolist()):
        points = data.of_class(code)
        n, d = points.shape
        constant = np.ptp(points, axis=0) == 0
        if n > 1 and constant.any():
            listed = ", ".join(np.array(names, dtype=object)[constant])
            sentences.append(f"Feature {listed} does not vary in class {label!r}.")
        elif n > d:
            centered = points - points.mean(axis=0)
            rank = int(np.linalg.matrix_rank(centered / centered.std(axis=0), tol=1e-8 * np.sqrt(points.size)))
            if rank < d:
                sentences.append(f"The {d} features of class {label!r} span {rank} dimensions only.")
    if not sentences:
        return []
    consequence = (
        "No density does that, and the estimate may be far off. Drop such features, or use a measure without a model."
    )
    return [Finding("features", True, " ".join([*sentences, consequence]))]


def some_of_each_class(data: Sample, rng: np.random.Generator) -> Sample:
    """Return the sample with at most 2,000 random rows of each class: a misfit that these do not show is slight."""
    if data.counts.max() <= MOST_TESTED:
        return data
    members = [np.flatnonzero(data.codes == code) for code in range(data.n_classes)]
    chosen = [rows if len(rows) <= MOST_TESTED else rng.choice(rows, MOST_TESTED, replace=False) for rows in members]
    return data.part(np.sort(np.concatenate(chosen)))


def find_misfit(
    data: Sample,
    simulate: Callable[[int], Simulate],
    seed: np.random.SeedSequence,
    *,
    adjective: str,
    remedy: str,
    gaussian: bool,
    level: float,
) -> Finding:
    """Test whether the classes look like draws from the model.

    Parameters
    ----------
    simulate : callable
        Returns for the code of a class the function that draws data sets of it.
    adjective, remedy : str
        Of the model, for the sentence.
    gaussian, level
        As for `check_classes`.
    """
    codes = _testable_classes(data)
    if len(codes) < 2:
        sentence = f"Classes have fewer than {FEWEST_POINTS} points: whether the model fits cannot be tested."
        return Finding("fit", True, sentence, {"n_points": data.counts.tolist()})
    labels = data.classes.tolist()
    rows = np.isin(data.codes, codes)
    fit = check_classes(
        data.features[rows],
        data.classes[data.codes[rows]],
        seed,
        simulate={labels[code]: simulate(code) for code in codes},
        feature_names=data.feature_names,
        gaussian=gaussian,
        level=level,
    )
    numbers: dict[str, Any] = {"p_value": fit.p_value, "p_values": {str(y): p for y, p in fit.p_values.items()}}
    small = [repr(labels[code]) for code in range(data.n_classes) if code not in codes]
    untested = f" Too few points to test: {', '.join(small)}." if small else ""
    if not fit.misfits:
        sentence = f"No class departs visibly from the {adjective} model (p={fit.p_value:.3f}).{untested}"
        return Finding("fit", False, sentence, numbers)
    classes = ", ".join(
        f"{label!r} (p={fit.p_values[label]:.3f}; loudest: {fit.classes[label].loudest})" for label in fit.misfits
    )
    noun = "classes" if len(fit.misfits) > 1 else "class"
    sentence = f"The {adjective} model does not fit {noun} {classes}: the estimate may be off. {remedy}{untested}"
    return Finding("fit", True, sentence, numbers)


def describe_power(data: Sample) -> list[Finding]:
    """Return what the test of Gaussian fit would miss in the smallest class it tests; nothing if it tests none."""
    codes = _testable_classes(data)
    if len(codes) < 2:
        return []
    n_points, d = int(data.counts[codes].min()), data.features.shape[1]
    power = look_up_power(max(n_points, _LEAST_POWER_POINTS), max(d, _LEAST_POWER_FEATURES))
    missed = [departure for departure, share in power.items() if share < _MISSED]
    seen = [departure for departure, share in power.items() if share >= _SEEN]
    parts = [f"would miss in most samples: {', '.join(missed)}"] if missed else []
    parts += [f"would see in 8 of 10 or more: {', '.join(seen)}"] if seen else []
    advice = " Look at histograms too." if missed else ""
    sentence = f"With {n_points} points in {d} features the test of fit {'; it '.join(parts)}.{advice}"
    return [Finding("power", False, sentence, power)]


def check_covariances(data: Sample, covariance: str, rng: np.random.Generator, level: float) -> Finding:
    """Test "shared", "diagonal" or "spherical" covariances against one matrix per class."""
    p_value = covariance_p_value(data, covariance, rng)
    if p_value is None:
        sentence = (
            f"Whether covariances are {covariance} cannot be tested: a class has too few points for a matrix of its "
            "own."
        )
        return Finding("covariance", False, sentence)
    numbers = {"p_value": p_value}
    if p_value <= level:
        sentence = (
            f"The covariances are not {covariance} (p={p_value:.3f}): the estimate may be off. Try covariance='full'."
        )
        return Finding("covariance", True, sentence, numbers)
    return Finding("covariance", False, f"No sign against {covariance} covariances (p={p_value:.3f}).", numbers)


def judge_prior(
    draws: ClassDraws, class_probabilities: Floats, rng: np.random.Generator, *, learns_separation: bool, remedy: str
) -> Finding:
    """Find the error of the best classifier that the prior alone implies.

    Parameters
    ----------
    draws : ClassDraws
        From the prior.
    class_probabilities : ndarray of shape (c,)
    learns_separation : bool
        Whether the distance between the classes is learned from the sample.
    remedy : str
        Advice for a prior that claims too much.
    """
    errors = draws.best_errors(class_probabilities, _PRIOR_POINTS, rng)
    low, median, high = (float(q) for q in np.quantile(errors, [0.05, 0.5, 0.95]))
    numbers = {"low": low, "median": median, "high": high}
    implied = f"The prior alone implies a best possible error of {low:.3f} to {high:.3f} (90%), median {median:.3f}"
    if median >= _HARDLY_OVERLAPPING:
        return Finding("prior", False, f"{implied}.", numbers)
    if learns_separation:
        # What is left are covariances that differ by chance.
        sentence = (
            f"{implied}, through covariances that differ between classes, which only quadratic or more flexible rules "
            "could use. With many features covariance='shared' or 'diagonal' claims less."
        )
        return Finding("prior", False, sentence, numbers)
    sentence = f"{implied}: it claims that the classes hardly overlap, and pulls the estimate down. {remedy}"
    return Finding("prior", True, sentence, numbers)


def feature_names(data: Sample) -> tuple[str, ...]:
    """Return the names of the features; without names, their positions."""
    return data.feature_names or tuple(str(f) for f in range(data.features.shape[1]))


def _testable_classes(data: Sample) -> list[int]:
    return [code for code in range(data.n_classes) if data.counts[code] >= FEWEST_POINTS]
