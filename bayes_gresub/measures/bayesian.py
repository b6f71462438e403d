"""The Bayesian measure: posterior draws of the class densities, and so the posterior of any classifier's error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_gresub.data.arrays import Labels
from bayes_gresub.data.description import describe
from bayes_gresub.data.seeds import CHECKS, DRAWS, Seed, child
from bayes_gresub.data.validation import check_whole
from bayes_gresub.estimate.computation import Computation
from bayes_gresub.estimate.error_estimate import THIS_CLASSIFIER, ErrorEstimate
from bayes_gresub.estimate.text import NO_SPACE
from bayes_gresub.laws.confusion import error_mass
from bayes_gresub.laws.denoised_draws import denoised
from bayes_gresub.measures.bayesian_check import check_error
from bayes_gresub.measures.measure import MeasuredValue, PointFunction
from bayes_gresub.measures.model_measure import ModelMeasure
from bayes_gresub.models.check_report import CheckReport
from bayes_gresub.models.class_model import ClassModel
from bayes_gresub.models.diagnostics import mcse
from bayes_gresub.models.exact_moments import conditional_mse
from bayes_gresub.models.fitted_classes import joint_confusion
from bayes_gresub.models.model_check import check_model
from bayes_gresub.regions.region import Region, decision_region

_REPLICATES = 8


class Bayesian(ModelMeasure):
    r"""A posterior over the law of (x, y): the error of a classifier then has a posterior too.

    With a model of the class densities, its posterior draws theta_s, and class probabilities pi_s,

    .. math:: \varepsilon_s = \sum_y \pi_{sy} \, P_{\theta_s}(\psi(x) \ne y \mid y), \qquad
              \hat\varepsilon = E[\varepsilon \mid S_n] \approx \frac1S \sum_s \varepsilon_s

    The estimate is the posterior mean, which minimises the mean-square error given the sample, if the model and its
    prior hold: `check` tells of signs that they do not. The mass of the error region is exact for binary linear
    boundaries and trees (the latter for diagonal covariances), else estimated with two halves of Sobol' points for
    every draw. It does not see choices made before X was handed over, such as selected features.

    ================  =====================  ===============================================
    model             prior                  samplers, the default first
    ================  =====================  ===============================================
    GaussianClasses   hierarchical           "gibbs", "nuts" (the same posterior, slower)
    GaussianClasses   NormalInverseWishart   "conjugate" (independent exact draws), "nuts"
    StudentTClasses   hierarchical           "nuts"
    MixtureClasses    hierarchical           "nuts"
    DiscreteClasses   Dirichlet              "conjugate" (independent exact draws), "nuts"
    a function        its own                "nuts"
    ================  =====================  ===============================================

    Parameters
    ----------
    model : ClassModel or callable, optional
        `GaussianClasses()` by default. A function `build(X, y)`, with y as codes 0..c-1, must return a `pm.Model`; see
        `PyMCClasses`.
    sampler : "auto" (default), "conjugate", "gibbs" or "nuts"
        "auto" takes the cheapest sampler that gives the model's posterior: conjugate, else Gibbs, else NUTS. The
        estimate names the one that was used.
    draws, chains : int, default 1000 and 4
        Draws per chain, and chains.
    tune : int, optional
        Draws thrown away at the start of each chain: 1000 for NUTS, 200 for Gibbs by default.
    backend : "nutpie" or "pymc", optional
        What runs NUTS; by default nutpie if it is installed. Other samplers do not use it.
    n_points : int, default 64
        Points per class and draw where the mass is sampled.
    class_concentration : float or array-like of shape (c,), default 1.0
        Of the Dirichlet prior of the class probabilities.
    sampling : "mixture" or "separate"
        With "separate" class probabilities are not learned, and an overall error needs `class_prior`.
    class_prior : dict or sequence, optional
        Known class probabilities, by label or in the order of the sorted labels.
    n_jobs : int, optional
        Threads for the integration.
    progress : bool, optional
        Whether the sampler shows a progress bar; by default not.
    random_state : int, SeedSequence or None

    Attributes
    ----------
    sampler_ : str
        The sampler that was used.

    References
    ----------
    Dalton & Dougherty, Bayesian minimum mean-square error estimation for classification error, Parts I and II, IEEE
    Transactions on Signal Processing 59 (2011).

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> measure = bg.Bayesian(bg.GaussianClasses(), draws=250, random_state=0).fit(X, y)
    >>> measure.sampler_
    'gibbs'
    >>> estimate = measure.error(SVC().fit(X, y))
    >>> 0.03 < estimate.value < 0.06, estimate.probability_below(0.1) > 0.9
    (True, True)
    """

    def __init__(
        self,
        model: ClassModel | Callable[..., Any] | None = None,
        *,
        sampler: str = "auto",
        draws: int = 1000,
        tune: int | None = None,
        chains: int = 4,
        backend: str | None = None,
        n_points: int = 64,
        class_concentration: float | ArrayLike = 1.0,
        sampling: str = "mixture",
        class_prior: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
        random_state: Seed = None,
    ) -> None:
        self.model = model
        self.sampler = sampler
        self.draws = draws
        self.tune = tune
        self.chains = chains
        self.backend = backend
        self.n_points = n_points
        self.class_concentration = class_concentration
        self.sampling = sampling
        self.class_prior = class_prior
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def error(
        self,
        classifier: Any,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        random_state: Seed = None,
    ) -> ErrorEstimate:
        """Return the posterior of the error of a trained classifier; nothing is sampled anew.

        Parameters
        ----------
        classifier : fitted object with `predict`
        X, y, sample_weight : None
            A posterior is centred at no points.
        random_state : int, SeedSequence, Generator or None
            For the points of the integration; overrides the measure's own.
        """
        started = perf_counter()
        fitted = self._fitted()
        if X is not None or y is not None or sample_weight is not None:
            raise ValueError(
                "a Bayesian measure is a law of its own and cannot be centred at points; got X, y or sample_weight. "
                "Fit it to these points, or use TestSet for points that the classifier did not see."
            )
        seed = self._seed(random_state)
        region = self._region(classifier, seed)
        mass = fitted.draws.region_mass(region, self.n_points, seed, self.n_jobs)
        raw = mass.values.mean(axis=0)
        rows = raw if len(mass.values) == 1 else denoised(mass.values)
        probabilities = fitted.probabilities.reshape(-1, len(self.classes_))
        confusions = joint_confusion(rows, probabilities, region.n_classes)
        moments = fitted.moments(region)
        chains = fitted.draws.shape
        mean = confusions.mean(axis=0)[None] if moments is None else moments.confusion[None]
        noise = float(mcse(error_mass(joint_confusion(raw, probabilities, region.n_classes)).reshape(chains)))
        how = f"{mass.method}, for each of {chains[0]} x {chains[1]} posterior draws"
        return ErrorEstimate(
            classes=region.classes,
            estimand=THIS_CLASSIFIER,
            computation=Computation(
                estimator=describe(self, model=fitted.model, sampler=fitted.attrs["sampler"]),
                method=how if moments is None else f"posterior mean in closed form; {how}",
                exact=moments is not None,
                space=NO_SPACE,
                n_predicted=len(self._fitted_sample().features) + mass.n_predicted,
                n_replicates=len(mass.values),
                seconds=perf_counter() - started,
            ),
            replicate_values=error_mass(mean),
            replicate_confusions=mean,
            prior_known=fitted.prior_known,
            confusion_draws=confusions,
            draws_std_error=noise if moments is None and np.isfinite(noise) else None,
            no_std_error="" if moments is not None or np.isfinite(noise) else "the chains are too short",
            exact_sd=None if moments is None else float(np.sqrt(moments.variance)),
            posterior=replace(fitted, halves=mass.values if len(mass.values) > 1 else None),
        )

    def check(self, classifier: Any = None, *, random_state: Seed = None) -> CheckReport:
        """Return signs that the model is wrong, and with a classifier, that the estimate of its error is.

        Of the model: do the chains agree; does each class look like the model (Henze-Zirkler and univariate tests on
        features, principal axes and the direction between classes; 5% false alarms over all of them) and what would
        that miss with so few points; what error does the prior alone imply. With a classifier: the convergence of its
        error, its sensitivity to the prior strength, and the gap to an estimate without a model.

        Parameters
        ----------
        classifier : fitted object with `predict`, optional
        random_state : int, SeedSequence, Generator or None
            For simulated data sets; overrides the measure's own.
        """
        fitted = self._fitted()
        seed = child(self._seed(random_state), CHECKS)
        findings = check_model(fitted, seed)
        if classifier is not None:
            estimate = self.error(classifier, random_state=random_state)
            findings += check_error(self, classifier, estimate, child(seed, 2))
        return CheckReport(tuple(findings))

    def mse(self, estimate: ErrorEstimate | float, classifier: Any) -> float:
        r"""Return the mean-square error of an estimate of this classifier's error, given the sample.

        .. math:: E[(\hat\varepsilon - \varepsilon)^2 \mid S] = \mathrm{Var}(\varepsilon \mid S)
                  + (E[\varepsilon \mid S] - \hat\varepsilon)^2 + V_{int}

        with V_int the variance of a randomised estimate given the sample. Both moments are exact where there is a
        closed form, else those of the draws. The Bayesian estimate minimises this by definition, under its own
        model: it says how far others are from it, not which is right.

        Parameters
        ----------
        estimate : ErrorEstimate or float
        classifier : fitted object with `predict`
            The classifier that the estimate is of.
        """
        if not isinstance(estimate, ErrorEstimate | int | float | np.number) or isinstance(estimate, bool):
            raise TypeError(f"estimate must be an ErrorEstimate or a number; got {estimate!r}.")
        value = float(estimate)
        internal = estimate.internal_variance if isinstance(estimate, ErrorEstimate) else 0.0
        if not np.isfinite(value):
            raise ValueError(f"estimate must be a finite number; got {value}.")
        if np.isnan(internal):
            raise ValueError("the internal variance of this estimate is unknown; pass its value as a number instead.")
        own = self.error(classifier)
        return conditional_mse(own.value, (own.posterior_sd or 0.0) ** 2, value, internal)

    def to_inference_data(self, **groups: Any) -> Any:
        """Return the posterior of all parameters for ArviZ; see `FittedClasses.to_inference_data`."""
        return self._fitted().to_inference_data(None, **groups)

    def sample(self, n: int, *, classifier: Any = None, random_state: Seed = None) -> tuple[Any, Labels]:
        """Draw n independent pairs (x, y) from the posterior predictive law: a draw of the parameters, then a pair."""
        fitted = self._fitted()
        check_whole(n, "n", 1)
        rng = np.random.default_rng(child(self._seed(random_state), DRAWS))
        total = int(np.prod(fitted.draws.shape))
        self._need_probabilities()
        points, codes = fitted.pairs(rng.integers(total, size=int(n)), rng)
        form = self._fitted_sample().format
        return form.restore(points, form.feature_names), self.classes_[codes]

    def expectation(self, loss: PointFunction, *, classifier: Any = None, random_state: Seed = None) -> MeasuredValue:
        """Return the posterior predictive mean of `loss(X, y)`, from eight pairs for every posterior draw."""
        fitted = self._fitted()
        seed = child(self._seed(random_state), DRAWS)
        form = self._fitted_sample().format
        total = int(np.prod(fitted.draws.shape))
        self._need_probabilities()
        values = np.zeros(total)
        for r in range(_REPLICATES):
            points, codes = fitted.pairs(np.arange(total), np.random.default_rng(child(seed, r)))
            found = np.asarray(loss(form.restore(points, form.feature_names), self.classes_[codes]), dtype=float)
            if found.shape != (total,) or not np.isfinite(found).all():
                raise ValueError(
                    f"loss(X, y) must return one finite number per point; got shape {found.shape} for {total} points"
                    f"{'' if np.isfinite(found).all() else ', some of them not finite'}."
                )
            values += found / _REPLICATES
        return MeasuredValue(float(values.mean()), float(mcse(values.reshape(fitted.draws.shape))))

    def _region(self, classifier: Any, seed: np.random.SeedSequence) -> Region:
        sample = self._fitted_sample()
        return decision_region(classifier, self.classes_, sample.format, sample.features, seed)[0]

    def _need_probabilities(self) -> None:
        if not self._fitted().prior_known:
            raise ValueError(
                "pairs (x, y) need the class probabilities, which sampling='separate' does not learn. Give class_prior "
                "to the measure."
            )
