"""The Bayesian measure: posterior draws of the class densities, hence the posterior of any classifier's error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from bayes_gresub.data.arrays import Floats, Labels
from bayes_gresub.data.description import describe
from bayes_gresub.data.sample import Sample, read_class_prior, read_sample
from bayes_gresub.data.seeds import CHECKS, CLASSES, DRAWS, POSTERIOR, Seed, child, seed_sequence
from bayes_gresub.data.validation import check_name, check_whole, warn_user
from bayes_gresub.estimate.computation import Computation
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.estimate.estimands import ThisClassifier
from bayes_gresub.estimate.posterior_draws import PosteriorDraws
from bayes_gresub.estimate.reasons import ClassProbabilitiesUnknown, Missing, ShortChains
from bayes_gresub.estimate.text import NO_SPACE
from bayes_gresub.laws.confusion import error_mass
from bayes_gresub.laws.confusion_draws import MOST_NOISE, ConfusionDraws, confusion_draws
from bayes_gresub.laws.denoised_draws import denoised
from bayes_gresub.laws.law import Law
from bayes_gresub.laws.sampling import Sampler
from bayes_gresub.measures.bayesian_check import check_error
from bayes_gresub.measures.measure import Measure, MeasuredValue, PointFunction, checked_losses
from bayes_gresub.models.check_report import CheckReport
from bayes_gresub.models.class_model import SAMPLERS, ClassModel, ClassPosterior
from bayes_gresub.models.diagnostics import mcse
from bayes_gresub.models.exact_moments import conditional_mse
from bayes_gresub.models.fitted_classes import FittedClasses, joint_confusion, sampling_problems
from bayes_gresub.models.gaussian import GaussianClasses
from bayes_gresub.models.model_check import check_model
from bayes_gresub.models.nuts import SamplerSettings, choose_backend
from bayes_gresub.regions.region import Region, decision_region

_REPLICATES = 8
_NO_CENTERS = (
    "a Bayesian measure cannot be centred at points; got X, y or sample_weight. Fit it to these "
    "points, or use TestSet for points that the classifier did not see."
)
_TUNE = {"nuts": 1000, "gibbs": 200, "conjugate": 0}


class Bayesian(Measure):
    r"""A posterior over the law of (x, y): the error of a classifier then has a posterior too.

    With a model of the class densities, its posterior draws theta_s, and class probabilities pi_s,

    .. math:: \varepsilon_s = \sum_y \pi_{sy} \, P_{\theta_s}(\psi(x) \ne y \mid y), \qquad
              \hat\varepsilon = E[\varepsilon \mid S_n] \approx \frac1S \sum_s \varepsilon_s

    The estimate is the posterior mean, which minimises the mean-square error given the sample, if the model and its
    prior hold: `check` looks for signs that they do not. The mass of the error region is exact for binary linear
    boundaries and trees (the latter for diagonal covariances), else estimated with two halves of Sobol' points for
    every draw. Choices made before X was given, such as selected features, are not accounted for.

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
        Draws discarded at the start of each chain: 1000 for NUTS, 200 for Gibbs by default.
    backend : "nutpie" or "pymc", optional
        The package that runs NUTS; nutpie by default if it is installed. Other samplers do not use it.
    n_points : int, default 64
        Points per class and draw if the mass is sampled.
    class_concentration : float or array-like of shape (c,), default 1.0
        Concentration of the Dirichlet prior on the class probabilities.
    sampling : "mixture" or "separate"
        With "separate" class probabilities are not learned, and an overall error needs `class_prior`.
    class_prior : dict or sequence, optional
        Known class probabilities, by label or in the order of the sorted labels.
    n_jobs : int, optional
        Threads for the integration.
    progress : bool, optional
        Whether the sampler shows a progress bar; off by default.
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

    has_draws = True
    is_centred = False
    # The law is smooth in x, so its mass lies away from the points of the sample.
    moves_points = True

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

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Sample the posterior; warn of sampling problems. `sample_weight` is refused: a likelihood counts points."""
        if sample_weight is not None:
            raise ValueError(
                "a Bayesian measure takes no sample_weight: its likelihood counts points. Give class_prior for other "
                "class probabilities, or use a measure without a model."
            )
        super().fit(X, y)
        self._warn()
        return self

    def fit_many(
        self, samples: Sequence[tuple[ArrayLike, ArrayLike]], random_states: Sequence[Seed] | None = None
    ) -> list[Self]:
        """Return a fitted copy for each of several samples; the results are those of fitting them one by one.

        Gibbs chains of all samples run side by side, several times faster than one after another; memory grows with
        the number of samples. All must have the same numbers of features and classes.

        Parameters
        ----------
        samples : sequence of pairs (X, y)
        random_states : sequence of int or SeedSequence, optional
            One per sample; the measure's own by default.

        Examples
        --------
        >>> import numpy as np
        >>> import bayes_gresub as bg
        >>> population = bg.datasets.Gaussian(np.array([[0.0, 0.0], [2.0, 0.0]]), np.eye(2))
        >>> samples = [population.sample(30, random_state=r) for r in range(3)]
        >>> fitted = bg.Bayesian(sampler="gibbs", draws=200).fit_many(samples, random_states=[0, 1, 2])
        >>> len(fitted), fitted[0].posterior_.draws.shape
        (3, (4, 200))
        """
        states = [self.random_state] * len(samples) if random_states is None else list(random_states)
        if len(states) != len(samples):
            raise ValueError(f"random_states must have one entry per sample, {len(samples)}; got {len(states)}.")
        if not samples:
            return []
        copies: list[Self] = [clone(self).set_params(random_state=state) for state in states]
        read_samples = []
        for (X, y), copy in zip(samples, copies, strict=True):
            copy._check_parameters()
            read_samples.append(read_sample(X, y))
            if copy.class_prior is not None:
                read_class_prior(copy.class_prior, read_samples[-1].classes)
        shapes = {(sample.features.shape[1], len(sample.classes)) for sample in read_samples}
        if len(shapes) != 1:
            raise ValueError(
                f"samples must have the same numbers of features and classes; got (features, classes) {sorted(shapes)}."
            )
        for copy, sample in zip(copies, read_samples, strict=True):
            copy.sampler_ = copy._choose_sampler()
            copy._check_sample(sample)
        seeds = [seed_sequence(state) for state in states]
        children = [child(seed, POSTERIOR) for seed in seeds]
        posteriors = copies[0]._model().learn_many(read_samples, copies[0].sampler_, copies[0]._settings(), children)
        for copy, sample, posterior, seed in zip(copies, read_samples, posteriors, seeds, strict=True):
            copy._keep(sample, posterior, seed)
            copy._remember(sample)
            copy._warn()
        return copies

    def law(self, at: Sample | None = None, region: Region | None = None) -> Law:
        """Return all posterior draws as one law, with weights of shape (draws, k); it is not centred at points."""
        if at is not None and at is not self.training_sample:
            raise ValueError(_NO_CENTERS)
        classes = self._fitted()
        return next(classes.draws.laws(classes.flat_probabilities, at_once=True))

    def law_draws(self, seed: np.random.SeedSequence | None = None) -> Iterator[Law]:
        """Yield the posterior draws of the law in blocks."""
        classes = self._fitted()
        return classes.draws.laws(classes.flat_probabilities)

    def error(
        self,
        classifier: Any,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        random_state: Seed = None,
    ) -> ErrorEstimate:
        """Return the posterior of the error of a trained classifier; the parameters are not sampled again.

        Parameters
        ----------
        classifier : fitted object with `predict`
        X, y, sample_weight : None
            A posterior cannot be centred at points.
        random_state : int, SeedSequence, Generator or None
            For the points of the integration; overrides the measure's own.
        """
        started = perf_counter()
        fitted = self._fitted()
        if X is not None or y is not None or sample_weight is not None:
            raise ValueError(_NO_CENTERS)
        seed = seed_sequence(self.random_state if random_state is None else random_state)
        region = decision_region(classifier, self.training_sample, seed)
        mass = self._confusion_draws(region, seed)
        halves = fitted.given_class(mass.halves)
        confusions = mass.halves[0]
        if not mass.exact:
            confusions = joint_confusion(denoised(halves), fitted.flat_probabilities, region.n_classes)
        moments = fitted.moments(region)
        chains = fitted.draws.shape
        mean = confusions.mean(axis=0)[None] if moments is None else moments.confusion[None]
        behind = replace(
            fitted, halves=None if mass.exact else halves, separate=fitted.given_class(mass.separate[None])[0]
        )
        noise = behind.noise_under(fitted.flat_probabilities)
        if mass.noise_share > MOST_NOISE:
            warn_user(
                f"the posterior draws of the error are noisy: the variance of their integration noise is "
                f"{mass.noise_share:.2g} of the posterior variance, more than {MOST_NOISE:g}. Intervals allow for it, "
                "single draws are uncertain. Raise n_points.",
                ConvergenceWarning,
            )
        method = f"{mass.method}, for each of {chains[0]} x {chains[1]} posterior draws"
        return ErrorEstimate(
            classes=region.classes,
            estimand=ThisClassifier(),
            computation=Computation(
                described=describe(self, model=fitted.model, sampler=fitted.attrs["sampler"]),
                method=method if moments is None else f"posterior mean in closed form; {method}",
                exact=moments is not None,
                space=NO_SPACE,
                n_predicted=len(self.training_sample.features) + mass.n_predicted,
                n_replicates=len(mass.halves),
                seconds=perf_counter() - started,
            ),
            replicate_values=error_mass(mean),
            replicate_confusions=mean,
            interval_method=PosteriorDraws(
                ThisClassifier(),
                confusions,
                std_error=noise if moments is None and np.isfinite(noise) else None,
                exact_sd=None if moments is None else float(np.sqrt(moments.variance)),
                noise_share=mass.noise_share,
                source=behind,
            ),
            missing=Missing(
                value=None if fitted.prior_known else ClassProbabilitiesUnknown(),
                std_error=None if moments is not None or np.isfinite(noise) else ShortChains(),
            ),
        )

    def errors_at_scales(self, classifier: Any, scales: Sequence[float], *args: Any, **kwargs: Any) -> Any:
        """Raise: class densities have no widths."""
        raise ValueError("a Bayesian measure has no kernel widths to scale; use Bolstered or BolsteredPosterior.")

    def check(self, classifier: Any = None, *, random_state: Seed = None) -> CheckReport:
        """Return signs that the model is wrong, and with a classifier, that the estimate of its error is.

        Of the model: whether the chains agree; whether each class fits the model (Henze-Zirkler and univariate tests on
        features, principal axes and the direction between classes; 5% false alarms over all of them) and what these
        tests would miss with so few points; the error that the prior alone implies. With a classifier: the convergence
        of its error, its sensitivity to the prior strength, and the gap to an estimate without a model.

        Parameters
        ----------
        classifier : fitted object with `predict`, optional
        random_state : int, SeedSequence, Generator or None
            For simulated data sets; overrides the measure's own.
        """
        fitted = self._fitted()
        seed = child(seed_sequence(self.random_state if random_state is None else random_state), CHECKS)
        findings = check_model(fitted, seed)
        if classifier is not None:
            estimate = self.error(classifier, random_state=random_state)
            findings += check_error(self, classifier, estimate, child(seed, 2))
        return CheckReport(tuple(findings))

    def mse(self, estimate: ErrorEstimate | float, classifier: Any) -> float:
        r"""Return the mean-square error of an estimate of this classifier's error, given the sample.

        .. math:: E[(\hat\varepsilon - \varepsilon)^2 \mid S] = \mathrm{Var}(\varepsilon \mid S)
                  + (E[\varepsilon \mid S] - \hat\varepsilon)^2 + V_{int}

        with V_int the variance of a randomised estimate given the sample. Both moments are exact if there is a
        closed form, else those of the draws. The Bayesian estimate minimises this by definition, under its own
        model: the value measures how far other estimates are from it, not which is right.

        Parameters
        ----------
        estimate : ErrorEstimate or float
        classifier : fitted object with `predict`
            The classifier whose error is estimated.
        """
        if not isinstance(estimate, ErrorEstimate | int | float | np.number) or isinstance(estimate, bool):
            raise TypeError(f"estimate must be an ErrorEstimate or a number; got {estimate!r}.")
        value = float(estimate)
        internal = estimate.internal_variance if isinstance(estimate, ErrorEstimate) else 0.0
        if not np.isfinite(value):
            raise ValueError(f"estimate must be a finite number; got {value}.")
        if np.isnan(internal):
            raise ValueError("the internal variance of this estimate is unknown; pass its value as a number instead.")
        bayesian = self.error(classifier)
        return conditional_mse(bayesian.value, (bayesian.posterior_sd or 0.0) ** 2, value, internal)

    def to_inference_data(self, **groups: Any) -> Any:
        """Return the posterior of all parameters for ArviZ; see `FittedClasses.to_inference_data`."""
        return self._fitted().to_inference_data(None, **groups)

    def sample(self, n: int, *, classifier: Any = None, random_state: Seed = None) -> tuple[Any, Labels]:
        """Draw n independent pairs (x, y) from the posterior predictive law: a draw of the parameters, then a pair."""
        fitted = self._fitted()
        size = check_whole(n, "n", 1)
        self._need_class_probabilities()
        seed = seed_sequence(self.random_state if random_state is None else random_state)
        rng = np.random.default_rng(child(seed, DRAWS))
        points, codes = fitted.pairs(rng.integers(fitted.n_draws, size=size), rng)
        return self._restored(points), self.classes_[codes]

    def expectation(self, loss: PointFunction, *, classifier: Any = None, random_state: Seed = None) -> MeasuredValue:
        """Return the posterior predictive mean of `loss(X, y)`, from eight pairs for every posterior draw."""
        fitted = self._fitted()
        self._need_class_probabilities()
        seed = child(seed_sequence(self.random_state if random_state is None else random_state), DRAWS)
        values = np.zeros(fitted.n_draws)
        for r in range(_REPLICATES):
            points, codes = fitted.pairs(np.arange(fitted.n_draws), np.random.default_rng(child(seed, r)))
            values += checked_losses(loss, self._restored(points), self.classes_[codes]) / _REPLICATES
        return MeasuredValue(float(values.mean()), float(mcse(values.reshape(fitted.draws.shape))))

    def _fit(self, sample: Sample, seed: np.random.SeedSequence) -> None:
        self.sampler_ = self._choose_sampler()
        self._check_sample(sample)
        posterior = self._model().learn(sample, self.sampler_, self._settings(), child(seed, POSTERIOR))
        self._keep(sample, posterior, seed)

    def _confusion_draws(self, region: Region, seed: np.random.SeedSequence) -> ConfusionDraws:
        """Return the confusion mass of all posterior draws, exact or in two halves with independent noise."""
        draws = self._fitted().draws
        # Half of the points for each half, in one scramble; draws of one class are already adjacent.
        sampler = Sampler(seed, -(-self.n_points // 2), n_jobs=self.n_jobs, replicates=1, arrange=False)
        labels, n_predicted = draws.center_labels(region)
        blocks = [confusion_draws(law, region, sampler, labels) for law in self.law_draws()]
        n_predicted += sum(block.n_predicted for block in blocks)
        if len(blocks) == 1:
            return replace(blocks[0], n_predicted=n_predicted)
        halves = np.concatenate([block.halves for block in blocks], axis=1)
        separate = np.concatenate([block.separate for block in blocks])
        return ConfusionDraws(halves, separate, blocks[0].method, blocks[0].exact, n_predicted)

    def _choose_sampler(self) -> str:
        """Return the sampler, with "auto" the cheapest one that gives the model's posterior."""
        return self._model().cheapest_sampler() if self.sampler == "auto" else self.sampler

    def _check_sample(self, data: Sample) -> None:
        """Raise if the model cannot learn from a sample."""
        model = self._model()
        empty = [label for label, count in zip(data.classes.tolist(), data.counts, strict=True) if not count]
        if empty:
            raise ValueError(f"a class model needs points of every class; got none of {empty}. Fit with all classes.")
        if np.shape(self.class_concentration) not in ((), (data.n_classes,)):
            raise ValueError(
                f"class_concentration must be a number, or one number for each of {data.n_classes} classes; "
                f"got shape {np.shape(self.class_concentration)}."
            )
        model.check(data, self.sampler_)
        if self.sampler_ not in model.samplers:
            raise ValueError(
                f"sampler must be one of {', '.join(map(repr, model.samplers))} for {type(model).__name__}; "
                f"got {self.sampler_!r}."
            )

    def _settings(self) -> SamplerSettings:
        tune = _TUNE[self.sampler_] if self.tune is None else self.tune
        return SamplerSettings(self.draws, tune, self.chains, self.backend, progress=bool(self.progress))

    def _keep(self, data: Sample, posterior: ClassPosterior, seed: np.random.SeedSequence) -> None:
        # A copy: parameters set after fit apply to the next fit.
        model = clone(self._model())
        probabilities, alpha = self._class_probabilities(data, posterior, child(seed, CLASSES))
        self.posterior_ = posterior
        self._classes = FittedClasses(
            posterior=posterior,
            model=model,
            data=data,
            probabilities=probabilities,
            concentration=alpha,
            prior_known=self.sampling == "mixture" or self.class_prior is not None,
            attrs={
                "model": describe(model),
                "sampler": self.sampler_,
                "backend": choose_backend(self.backend) if self.sampler_ == "nuts" else "",
                "seed": str(seed.entropy),
            },
        )

    def _class_probabilities(
        self, data: Sample, posterior: ClassPosterior, seed: np.random.SeedSequence
    ) -> tuple[Floats, Floats | None]:
        """Return class probabilities of every draw, and the concentration of their posterior if they are learned."""
        c, shape = data.n_classes, posterior.draws.shape
        if self.class_prior is not None:
            return np.broadcast_to(read_class_prior(self.class_prior, data.classes), (*shape, c)), None
        if self.sampling == "separate":
            return np.broadcast_to(data.counts / data.counts.sum(), (*shape, c)), None
        if posterior.class_probabilities is not None:
            return posterior.class_probabilities, None
        alpha = np.broadcast_to(np.asarray(self.class_concentration, dtype=float), c) + data.counts.astype(float)
        return np.random.default_rng(seed).dirichlet(alpha, size=shape), alpha

    def _model(self) -> ClassModel:
        if self.model is None:
            return GaussianClasses()
        if isinstance(self.model, ClassModel):
            return self.model
        if isinstance(self.model, type) or not callable(self.model):
            raise TypeError(
                f"model must be a class model such as GaussianClasses() or a function that builds a pm.Model; "
                f"got {self.model!r}."
            )
        from bayes_gresub.models.user_model import PyMCClasses

        return PyMCClasses(self.model)

    def _warn(self) -> None:
        for problem in sampling_problems(self._classes):
            warn_user(problem)

    def _fitted(self) -> FittedClasses:
        if not hasattr(self, "_classes"):
            self.training_sample  # noqa: B018 - raises
        return self._classes

    def _check_parameters(self) -> None:
        check_whole(self.n_points, "n_points", 2)
        super()._check_parameters()
        check_name(self.sampler, ("auto", *SAMPLERS), "sampler")
        check_whole(self.draws, "draws", 10)
        check_whole(self.chains, "chains", 1)
        if self.tune is not None:
            check_whole(self.tune, "tune", 0)
        concentration = np.asarray(self.class_concentration)
        if concentration.dtype.kind not in "iuf" or not (np.isfinite(concentration) & (concentration > 0)).all():
            raise ValueError(f"class_concentration must hold numbers above 0; got {self.class_concentration!r}.")
        self._model()
        if self.backend is not None or self._choose_sampler() == "nuts":
            choose_backend(self.backend)
