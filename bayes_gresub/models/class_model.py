"""The interface of class models: what a Bayesian measure needs of one, whatever its densities and samplers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.sample import Sample
from bayes_gresub.data.seeds import child
from bayes_gresub.models.check_report import Finding
from bayes_gresub.models.class_draws import ClassDraws
from bayes_gresub.models.class_findings import (
    LEVEL,
    PRIOR_DRAWS,
    find_flat_classes,
    find_misfit,
    judge_prior,
    some_of_each_class,
)
from bayes_gresub.models.class_nulls import Simulate
from bayes_gresub.models.exact_moments import ClassMoments
from bayes_gresub.models.nuts import SamplerSettings
from bayes_gresub.regions.region import Region

SAMPLERS = ("conjugate", "gibbs", "nuts")
"""From cheap to expensive."""


class ClassModel(BaseEstimator, ABC):
    """A parametric model of the classes, with its prior.

    A subclass brings `check` and `learn`; its sentences in a check, `adjective` and the two remedies; and, if it has
    more to test than the defaults, its own `findings`.
    """

    samplers: ClassVar[tuple[str, ...]]
    adjective: ClassVar[str] = "given"
    misfit_remedy: ClassVar[str] = "Change the model, or use a measure without one such as BolsteredPosterior."
    prior_remedy: ClassVar[str] = "Let its means lie closer together."

    @abstractmethod
    def check(self, data: Sample, sampler: str) -> None:
        """Raise if the model cannot be fitted to these data by this sampler; warn of what makes it unsafe."""

    @abstractmethod
    def learn(
        self, data: Sample, sampler: str, settings: SamplerSettings, seed: np.random.SeedSequence
    ) -> ClassPosterior:
        """Return the posterior; `check` has passed."""

    def learn_many(
        self, data: Sequence[Sample], sampler: str, settings: SamplerSettings, seeds: Sequence[np.random.SeedSequence]
    ) -> list[ClassPosterior]:
        """Return the posteriors of several samples, the same as one by one."""
        return [self.learn(sample, sampler, settings, seed) for sample, seed in zip(data, seeds, strict=True)]

    def cheapest_sampler(self) -> str:
        """Return the cheapest sampler that gives the posterior under this prior: conjugate, else Gibbs, else NUTS."""
        return next(sampler for sampler in SAMPLERS if sampler in self.samplers)

    def with_strength_times(self, factor: float) -> Self | None:
        """Return the model with the strength of its prior multiplied; None if the prior has no strength."""
        return None

    @property
    def learns_separation(self) -> bool:
        """Return whether the prior learns from the sample how far apart the classes are."""
        return False

    def findings(
        self, data: Sample, posterior: ClassPosterior, class_probabilities: Floats, seed: np.random.SeedSequence
    ) -> list[Finding]:
        """Return the findings about the model: whether points fill the space, the fit of the classes, and the prior.

        Parameters
        ----------
        data : Sample
        posterior : ClassPosterior
            Of these data.
        class_probabilities : ndarray of shape (c,)
            Posterior means.
        seed : SeedSequence
        """
        return [
            *find_flat_classes(data),
            self.fit_finding(data, posterior, child(seed, 0)),
            self.prior_finding(posterior, class_probabilities, np.random.default_rng(child(seed, 1))),
        ]

    def fit_finding(
        self,
        data: Sample,
        posterior: ClassPosterior,
        seed: np.random.SeedSequence,
        *,
        gaussian: bool = False,
        level: float = LEVEL,
    ) -> Finding:
        """Test whether the classes look like draws from the model; of large classes, some rows."""
        tested = some_of_each_class(data, np.random.default_rng(child(seed, 0)))
        return find_misfit(
            tested,
            lambda code: self.make_null(tested, posterior, code),
            seed,
            adjective=self.adjective,
            remedy=self.misfit_remedy,
            gaussian=gaussian,
            level=level,
        )

    def prior_finding(
        self, posterior: ClassPosterior, class_probabilities: Floats, rng: np.random.Generator
    ) -> Finding:
        """Find the error of the best classifier that the prior alone implies."""
        draws = posterior.prior_draws(PRIOR_DRAWS, rng)
        return judge_prior(
            draws, class_probabilities, rng, learns_separation=self.learns_separation, remedy=self.prior_remedy
        )

    def make_null(self, data: Sample, posterior: ClassPosterior, code: int) -> Simulate:
        """Return a function (n_sims, rng) -> (n_sims, n_y, d) that simulates a class under the fitted model."""
        n_points = int(data.counts[code])
        total = int(np.prod(posterior.draws.shape))

        def simulate(n_sims: int, rng: np.random.Generator) -> Floats:
            draws = np.repeat(rng.integers(total, size=n_sims), n_points)
            points = posterior.draws.points(draws, np.full(len(draws), code), rng)
            return np.asarray(points.reshape(n_sims, n_points, -1))

        return simulate


class ClassPosterior(ABC):
    """A class model that has learned from a sample.

    Attributes
    ----------
    draws : ClassDraws
    class_probabilities : ndarray of shape (chains, draws, c) or None
        Draws of them, if the model learns them itself.
    """

    draws: ClassDraws
    class_probabilities: Floats | None = None

    def moments(self, region: Region) -> tuple[ClassMoments, Ints] | None:
        """Return posterior moments of the masses of regions and the class each region is given, or None."""
        return None

    @abstractmethod
    def prior_draws(self, n: int, rng: np.random.Generator) -> ClassDraws:
        """Return independent draws from the prior, in one chain."""

    def strength_weights(self, factor: float) -> Floats | None:
        """Return weights (draws,) that turn the draws into those under a prior with the strength times `factor`.

        None if the prior has no strength that weights could change.
        """
        return None
