"""Measures that sample a class model: how they read, check and fit it. What is asked of the posterior is elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from bayes_gresub.data.arrays import Floats
from bayes_gresub.data.description import describe
from bayes_gresub.data.sample import Sample, read_sample
from bayes_gresub.data.seeds import CLASSES, POSTERIOR, Seed, child, seed_sequence
from bayes_gresub.data.validation import check_jobs, check_name, check_whole, warn_user
from bayes_gresub.laws.confusion import read_prior
from bayes_gresub.measures.measure import Measure
from bayes_gresub.models.class_model import SAMPLERS, ClassModel, ClassPosterior
from bayes_gresub.models.fitted_classes import FittedClasses, sampling_problems
from bayes_gresub.models.gaussian import GaussianClasses
from bayes_gresub.models.nuts import SamplerSettings, choose_backend

_TUNE = {"nuts": 1000, "gibbs": 200, "conjugate": 0}


class ModelMeasure(Measure):
    """A measure whose law is a class model with parameters drawn from their posterior."""

    model: ClassModel | Callable[..., Any] | None
    sampler: str
    draws: int
    tune: int | None
    chains: int
    backend: str | None
    n_points: int
    class_concentration: float | ArrayLike
    n_jobs: int | None
    progress: bool | None
    sampler_: str

    has_draws = True

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Sample the posterior; sampling problems warn. `sample_weight` is refused: a likelihood counts points."""
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
        """Return a fitted copy for each of several samples; the numbers are those of fitting them one by one.

        Gibbs chains of all samples run side by side, several times quicker than one after the other; memory grows with
        the number of samples. All must have as many features and classes.

        Parameters
        ----------
        samples : sequence of pairs (X, y)
        random_states : sequence of int or SeedSequence, optional
            One per sample; by default each has the measure's own.

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
            raise ValueError(f"random_states must have one for each of {len(samples)} samples; got {len(states)}.")
        if not samples:
            return []
        copies: list[Self] = [clone(self).set_params(random_state=state) for state in states]
        read = []
        for (X, y), copy in zip(samples, copies, strict=True):
            copy._check_parameters()
            read.append(read_sample(X, y))
            if copy.class_prior is not None:
                read_prior(copy.class_prior, read[-1].classes)
        shapes = {(sample.features.shape[1], len(sample.classes)) for sample in read}
        if len(shapes) != 1:
            raise ValueError(
                f"samples must have as many features and classes each; got (features, classes) {sorted(shapes)}."
            )
        for copy, sample in zip(copies, read, strict=True):
            copy.sampler_ = copy._choose_sampler()
            copy._check_sample(sample)
        seeds = [seed_sequence(state) for state in states]
        children = [child(seed, POSTERIOR) for seed in seeds]
        first = copies[0]
        found = first._model().learn_many(read, first.sampler_, first._settings(), children)
        for copy, sample, posterior, seed in zip(copies, read, found, seeds, strict=True):
            copy._keep(sample, posterior, seed)
            copy._remember(sample)
            copy._warn()
        return copies

    def _learn(self, sample: Sample, weighted: bool, seed: np.random.SeedSequence) -> None:
        self.sampler_ = self._choose_sampler()
        self._check_sample(sample)
        posterior = self._model().learn(sample, self.sampler_, self._settings(), child(seed, POSTERIOR))
        self._keep(sample, posterior, seed)

    def _choose_sampler(self) -> str:
        """Return the sampler that was named; by default the cheapest one that gives the model's posterior."""
        return self._model().cheapest_sampler() if self.sampler == "auto" else self.sampler

    def _check_sample(self, data: Sample) -> None:
        """Raise where the model cannot learn from a sample."""
        model = self._model()
        empty = [label for label, count in zip(data.classes.tolist(), data.counts, strict=True) if not count]
        if empty:
            raise ValueError(f"a model of the classes needs points of each; got none of {empty}. Fit with all classes.")
        if np.shape(self.class_concentration) not in ((), (data.n_classes,)):
            raise ValueError(
                f"class_concentration must be a number or one for each of {data.n_classes} classes; "
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
        # A copy: parameters set after fit are for the next one.
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
        """Return class probabilities of every draw, and the concentration of their posterior where they are learned."""
        c, shape = data.n_classes, posterior.draws.shape
        if self.class_prior is not None:
            return np.broadcast_to(read_prior(self.class_prior, data.classes), (*shape, c)), None
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
        self._fitted_sample()
        return self._classes

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_name(self.sampler, ("auto", *SAMPLERS), "sampler")
        check_whole(self.draws, "draws", 10)
        check_whole(self.chains, "chains", 1)
        if self.tune is not None:
            check_whole(self.tune, "tune", 0)
        check_whole(self.n_points, "n_points", 2)
        check_jobs(self.n_jobs)
        concentration = np.asarray(self.class_concentration)
        if concentration.dtype.kind not in "iuf" or not (np.isfinite(concentration) & (concentration > 0)).all():
            raise ValueError(f"class_concentration must hold numbers above 0; got {self.class_concentration!r}.")
        self._model()
        if self._choose_sampler() == "nuts" or self.backend is not None:
            choose_backend(self.backend)
