"""The interface of class models: what a Bayesian measure asks of one, whatever its densities and samplers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.sample import Sample
from bayes_gresub.models.class_draws import ClassDraws
from bayes_gresub.models.exact_moments import ClassMoments
from bayes_gresub.models.nuts import SamplerSettings
from bayes_gresub.regions.region import Region

SAMPLERS = ("nuts", "gibbs", "conjugate")


class ClassPosterior(ABC):
    """A class model that has learned from a sample.

    Attributes
    ----------
    draws : ClassDraws
    class_probabilities : ndarray of shape (chains, draws, c) or None
        Where the model learns them itself.
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

        None where the prior has no strength that could be changed so.
        """
        return None


class ClassModel(BaseEstimator, ABC):
    """A parametric model of the classes, with its prior."""

    samplers: ClassVar[tuple[str, ...]]

    @abstractmethod
    def check(self, data: Sample, sampler: str) -> None:
        """Raise where the model cannot be fitted to these data by this sampler; warn of what makes it unsafe."""

    @abstractmethod
    def learn(
        self, data: Sample, sampler: str, settings: SamplerSettings, seed: np.random.SeedSequence
    ) -> ClassPosterior:
        """Return the posterior; `check` has passed."""

    def learn_many(
        self, data: Sequence[Sample], sampler: str, settings: SamplerSettings, seeds: Sequence[np.random.SeedSequence]
    ) -> list[ClassPosterior]:
        """Return the posteriors of several samples, the same as one by one."""
        return [self.learn(one, sampler, settings, seed) for one, seed in zip(data, seeds, strict=True)]

    def null(self, data: Sample, posterior: ClassPosterior, code: int) -> Any:
        """Return a function (n_sims, rng) -> (n_sims, n_y, d) that simulates a class under the fitted model."""
        n_points = int(data.counts[code])
        total = int(np.prod(posterior.draws.shape))

        def simulate(n_sims: int, rng: np.random.Generator) -> Floats:
            draws = np.repeat(rng.integers(total, size=n_sims), n_points)
            points = posterior.draws.points(draws, np.full(len(draws), code), rng)
            return np.asarray(points.reshape(n_sims, n_points, -1))

        return simulate
