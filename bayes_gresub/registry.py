"""The registry: every estimator by name, for the command line, comparisons, studies and the contract tests."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from bayes_gresub.data.validation import check_name


@dataclass(frozen=True)
class Entry:
    """One named estimator.

    Attributes
    ----------
    name : str
    kind : "measure" or "resampler"
        Its interface: `fit(X, y).error(classifier)`, or `error(rule, X, y)` if it refits.
    summary : str
        What it is and when to use it, in one line.
    make : callable
        Returns a new estimator; takes the constructor's keyword arguments.
    main : bool
        Whether it is meant for use, not only for comparison with the paper.
    """

    name: str
    kind: str
    summary: str
    make: Callable[..., Any]
    main: bool = True


_ENTRIES: dict[str, Entry] = {}

_ALIASES = {"bayes": "bayesian", "cv10": "cv"}
"""Other names that people try."""


def register(name: str, kind: str, summary: str, make: Callable[..., Any], main: bool = True) -> None:
    """Add an estimator to the registry; the contract tests then run over it.

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> register("resub", "measure", "again", bg.Empirical)
    Traceback (most recent call last):
    ValueError: an estimator named 'resub' is registered already. Choose another name.
    """
    if name in _ENTRIES or name in _ALIASES:
        raise ValueError(f"an estimator named {name!r} is registered already. Choose another name.")
    if kind not in ("measure", "resampler"):
        raise ValueError(f"kind must be 'measure' or 'resampler'; got {kind!r}.")
    _ENTRIES[name] = Entry(name, kind, summary, make, main)


def estimators(kind: str | None = None) -> list[Entry]:
    """Return the registered estimators, in the order of registration, of one kind or all.

    Examples
    --------
    >>> [entry.name for entry in estimators("measure")][:2]
    ['resub', 'bolstered']
    """
    if kind not in (None, "measure", "resampler"):
        raise ValueError(f"kind must be 'measure', 'resampler' or None; got {kind!r}.")
    return [entry for entry in _ENTRIES.values() if kind in (None, entry.kind)]


def make_estimator(name: str, **parameters: Any) -> Any:
    """Return a new estimator by name; `parameters` go to its constructor.

    "bayes" and "cv10" are other names for "bayesian" and "cv".

    Examples
    --------
    >>> make_estimator("3nn-pp")
    PosteriorProbability(posterior=KNN())
    """
    name = _ALIASES.get(name, name)
    if name not in _ENTRIES:
        more = "" if "bayes_gresub.paper" in sys.modules else "`import bayes_gresub.paper` adds names from the paper."
        check_name(name, _ENTRIES, "estimator", more)
    return _ENTRIES[name].make(**parameters)


def made(place: str, /, **fixed: Any) -> Callable[..., Any]:
    """Return a function that makes the class at this place; callables among the fixed parameters are called each time.

    The class is imported when it is first made, so names can be listed without loading any class.
    """
    module, _, name = place.rpartition(".")

    def make(**parameters: Any) -> Any:
        values = {key: value() if callable(value) else value for key, value in fixed.items()}
        return getattr(import_module(f"bayes_gresub.{module}"), name)(**(values | parameters))

    return make


register(
    "resub",
    "measure",
    "plain resubstitution: share of training points misclassified; optimistic",
    made("measures.Empirical"),
)
register(
    "bolstered",
    "measure",
    "a spherical Gaussian about each point: for smooth or regularised classifiers",
    made("measures.Bolstered"),
)
register(
    "semi-bolstered",
    "measure",
    "kernels at correctly classified points only: for classifiers that overfit, such as 3NN",
    made("measures.Bolstered", semi=True),
)
register(
    "ball-bolstered",
    "measure",
    "a uniform ball about each point: bounded kernels",
    made("measures.Bolstered", kernel=made("kernels.UniformBall")),
)
register(
    "nb-bolstered",
    "measure",
    "a width per class and feature (Naive-Bayes), the paper's choice for images; optimistic unless scaled up",
    made("measures.Bolstered", kernel=made("kernels.DiagonalGaussian")),
)
register(
    "full-bolstered",
    "measure",
    "kernels shaped like the class covariance: for correlated features and enough points",
    made("measures.Bolstered", kernel=made("kernels.FullGaussian")),
)
register(
    "3nn-pp",
    "measure",
    "posterior probability from 3 nearest neighbours: fastest, never sampled",
    made("measures.PosteriorProbability", posterior=made("posteriors.KNN", k=3)),
)
register(
    "gp-pp",
    "measure",
    "posterior probability from a Gaussian process: smooth, with draws; slower than 3nn-pp",
    made("measures.PosteriorProbability", posterior=made("posteriors.GaussianProcess")),
)
register(
    "bolstered-3nn-pp",
    "measure",
    "point and label both smoothed, spherical Gaussian and 3NN posterior, integrated: for flexible classifiers",
    made("measures.BolsteredPosterior", posterior=made("posteriors.KNN", k=3)),
)
register(
    "bayesian",
    "measure",
    "posterior of the error under Gaussian classes, one covariance each (Gibbs): has an interval; check() the model",
    made("measures.Bayesian", model=made("models.GaussianClasses"), sampler="gibbs", draws=500),
)
register(
    "bayesian-shared",
    "measure",
    "the same with one covariance for all classes: for few points per feature",
    made("measures.Bayesian", model=made("models.GaussianClasses", covariance="shared"), sampler="gibbs", draws=500),
)
register(
    "cv",
    "resampler",
    "10-fold cross-validation, stratified: nearly unbiased, variable",
    made("resampling.CrossValidation"),
)
register(
    "repeated-cv",
    "resampler",
    "10-fold cross-validation over 5 random partitions: less variable, 50 fits",
    made("resampling.CrossValidation", repeats=5),
)
register(
    "nested-cv",
    "resampler",
    "10-fold cross-validation with an interval from nested folds, repeated until its ends settle; 550 fits or more",
    made("resampling.CrossValidation", repeats="auto", interval="nested"),
    main=False,
)
register(
    "corrected-t",
    "resampler",
    "25 random subsamples of 90%, with the corrected resampled t of Nadeau & Bengio",
    made("resampling.Subsampling"),
    main=False,
)
register(
    "conservative-z",
    "resampler",
    "15 random subsamples of 90%, with an interval from 10 pairs of halves that is wide; 315 fits",
    made("resampling.Subsampling", n_splits=15, interval="conservative-z"),
    main=False,
)
register(
    "bolstered-cv",
    "resampler",
    "the paper's generalized cross-validation: kernels about the points held out; biased upward",
    made("resampling.CrossValidation", measure=made("measures.Bolstered")),
)
register("loo", "resampler", "leave-one-out: nearly unbiased, most variable, n fits", made("resampling.LeaveOneOut"))
register(
    "boot-zero",
    "resampler",
    "errors at the points that 200 resamples leave out; biased upward, has an interval",
    made("resampling.Bootstrap", kind="zero"),
)
register(
    "boot-632",
    "resampler",
    "zero bootstrap balanced by the apparent error; optimistic if a rule fits its points perfectly",
    made("resampling.Bootstrap", kind="632"),
)
register(
    "boot-632+",
    "resampler",
    ".632 with weights that follow the overfitting: the usual choice among bootstraps, 201 fits",
    made("resampling.Bootstrap", kind="632+"),
)
register(
    "calibrated-bolstered",
    "resampler",
    "bolstered, widths scaled until it agrees with held-out points; 6 fits",
    made("resampling.Calibrated", measure=made("measures.Bolstered")),
)
register(
    "calibrated-nb-bolstered",
    "resampler",
    "nb-bolstered, widths scaled the same way: the paper's choice for images; 6 fits",
    made("resampling.Calibrated", measure=made("measures.Bolstered", kernel=made("kernels.DiagonalGaussian"))),
)
