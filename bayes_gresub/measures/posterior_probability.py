"""The posterior-probability measure: the training points kept, their labels smoothed."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

from bayes_gresub.data.arrays import Floats, Labels
from bayes_gresub.data.description import describe
from bayes_gresub.data.sample import Sample, encode_labels
from bayes_gresub.data.seeds import POSTERIOR, Seed, child
from bayes_gresub.data.validation import check_whole
from bayes_gresub.estimate.estimands import ThisClassifier
from bayes_gresub.estimate.posterior_draws import InSampleDraws, PosteriorDraws
from bayes_gresub.laws.components import Components
from bayes_gresub.laws.confusion_draws import confusion_draws
from bayes_gresub.laws.law import Law
from bayes_gresub.laws.sampling import Sampler
from bayes_gresub.measures.error_draws import ErrorDraws
from bayes_gresub.measures.measure import Measure
from bayes_gresub.posteriors import KNN, Posterior, as_posterior
from bayes_gresub.posteriors.posterior import checked_probabilities
from bayes_gresub.regions.region import Region


class PosteriorProbability(Measure):
    r"""Mass 1/n at every training point, its label drawn from an estimated posterior.

    .. math:: \hat\varepsilon = \frac1n \sum_i \hat P(\psi(X_i) \ne Y \mid X = X_i)

    Always a finite sum, never sampled; other points need no labels. Choices made before X was given, such as selected
    features, are not accounted for.

    A `GaussianProcess` has a posterior of the probabilities themselves. Each joint draw of them at the training points,
    with Dirichlet(1, ..., 1) weights on the points (the Bayesian bootstrap), is a draw of the error. These draws are
    conditional on the training points and the learned length-scales and amplitudes; their intervals are called
    in-sample, since they ignore that the classifier depends on the same points.

    Parameters
    ----------
    posterior : Posterior or classifier with `predict_proba`, optional
        `KNN(3)` by default; a classifier is wrapped in `ClassifierPosterior`, hence cloned and refitted out of fold.
    sampling : "mixture" or "separate"
        Whether class frequencies are random or were fixed by design; with "separate" an overall error needs
        `class_prior`.
    class_prior : dict or sequence, optional
        Known class probabilities, by label or in the order of the sorted labels.
    draws : int, default 1000
        Draws of the error, if the posterior has draws.
    random_state : int, SeedSequence or None
        For `sample`, and for draws.

    References
    ----------
    Lugosi & Pawlak, On the posterior-probability estimate of the error rate of nonparametric classification rules,
    IEEE Transactions on Information Theory 40 (1994).

    Examples
    --------
    >>> from sklearn.neighbors import NearestCentroid
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> measure = PosteriorProbability(KNN(3)).fit(X, y)
    >>> round(float(measure.error(NearestCentroid().fit(X, y))), 4)
    0.3333
    """

    needs_labels = False
    draws_at_training_points = True

    def __init__(
        self,
        posterior: Any = None,
        *,
        sampling: str = "mixture",
        class_prior: Any = None,
        draws: int = 1000,
        random_state: Seed = None,
    ) -> None:
        self.posterior = posterior
        self.draws = draws
        self.sampling = sampling
        self.class_prior = class_prior
        self.random_state = random_state

    @property
    def has_draws(self) -> bool:  # type: ignore[override]
        """Return whether `error` returns posterior draws, which depends on the posterior."""
        return isinstance(self.posterior, Posterior) and self.posterior.has_draws

    def _fit(self, sample: Sample, seed: np.random.SeedSequence) -> None:
        self.posterior_ = fitted_posterior(self.posterior, sample, seed)

    def law(self, at: Sample | None = None, region: Region | None = None) -> Law:
        """Return the points, their labels drawn from the posterior."""
        training = self.training_sample
        at = training if at is None else at
        if region is not None:
            self.posterior_.warn_if_same(region.classifier)
        if at is training:
            probabilities = self.posterior_.training_proba()
        else:
            probabilities = self.posterior_.predict_proba(self._restored(at.features))
        labels = over_classes(probabilities, self.posterior_, at.classes, len(at.features))
        return Law(Components.points(at.features), at.weights, labels, self._prior)

    def law_draws(self, seed: np.random.SeedSequence) -> Iterator[Law]:
        """Yield joint draws of the probabilities at the training points, with weights of the Bayesian bootstrap."""
        sample = self.training_sample
        n = len(sample.codes)
        rng = np.random.default_rng(child(seed, POSTERIOR))
        for block in self.posterior_.training_draws(self.draws, rng) or ():
            weights = rng.dirichlet(np.ones(n), size=len(block)) * (sample.weights * n)
            weights /= weights.sum(axis=1, keepdims=True)
            rows = block.reshape(-1, block.shape[2])
            flat = over_classes(rows, self.posterior_, sample.classes, len(block) * n)
            labels = flat.reshape(len(block), n, -1)
            yield Law(Components.points(sample.features), weights, labels, self._prior)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_whole(self.draws, "draws", 10)

    def _posterior_draws(self, region: Region, seed: np.random.SeedSequence) -> PosteriorDraws | None:
        sampler = Sampler(seed)
        blocks = [confusion_draws(law, region, sampler, region.center_labels).halves[0] for law in self.law_draws(seed)]
        if not blocks:
            return None
        attrs = {"model": describe(self.posterior_), "seed": str(seed.entropy)}
        return InSampleDraws(ThisClassifier(), np.concatenate(blocks), source=ErrorDraws(self.classes_, attrs))


def over_classes(law: Floats, posterior: Posterior, classes: Labels, n_points: int) -> Floats:
    """Return a law over the posterior's classes as a law over `classes`: part of a sample may lack a class."""
    if not posterior.is_checked:
        law = checked_probabilities(law, n_points, posterior.classes_, posterior)
    if law.shape[1] == len(classes):
        return law
    whole = np.zeros((len(law), len(classes)))
    whole[:, encode_labels(posterior.classes_, classes, "classes of the posterior", "")] = law
    return whole


def fitted_posterior(posterior: Any, sample: Sample, seed: np.random.SeedSequence) -> Posterior:
    """Return a fitted copy of the posterior, KNN(3) by default."""
    chosen: Posterior = KNN(3) if posterior is None else copy.copy(as_posterior(posterior))
    features = sample.format.restore(sample.features, sample.format.feature_names)
    # Weights with mean 1: a regularised estimator would take their sum for the size of the sample.
    weights = sample.weights * len(sample.weights) if sample.is_weighted else None
    return chosen.fit(features, sample.labels, weights, random_state=seed)
