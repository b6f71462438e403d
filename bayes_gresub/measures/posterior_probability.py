"""The posterior-probability measure: the training points kept, their labels smoothed."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_gresub.data.arrays import Floats, Labels
from bayes_gresub.data.description import describe
from bayes_gresub.data.sample import Sample, encode_labels
from bayes_gresub.data.seeds import POSTERIOR, Seed, child
from bayes_gresub.data.validation import check_whole
from bayes_gresub.estimate.estimands import ThisClassifier
from bayes_gresub.estimate.posterior_draws import InSampleDraws, PosteriorDraws
from bayes_gresub.laws.components import Components
from bayes_gresub.laws.confusion import with_prior
from bayes_gresub.measures.error_draws import ErrorDraws
from bayes_gresub.measures.parts import Centers, Judged
from bayes_gresub.measures.smoothed import SmoothedMeasure
from bayes_gresub.posteriors import KNN, Posterior, as_posterior


class PosteriorProbability(SmoothedMeasure):
    r"""Mass 1/n at every training point, its label drawn from an estimated posterior.

    .. math:: \hat\varepsilon = \frac1n \sum_i \hat P(\psi(X_i) \ne Y \mid X = X_i)

    Always a finite sum, never sampled; other points need no labels. It does not see choices made before X was handed
    over, such as selected features.

    A `GaussianProcess` has a posterior of the probabilities themselves. Each joint draw of them at the training points,
    with Dirichlet(1, ..., 1) weights on the points (the Bayesian bootstrap), is a draw of the error. These draws are
    given the training points and the learned length-scales and amplitudes; their intervals are called in-sample, since
    they do not know how the classifier depends on the same points.

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
        Draws of the error, where the posterior has draws.
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

    n_points = 1
    tol = None
    n_jobs = None
    _moves = False
    _needs_labels = False
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
        """Whether `error` gives posterior draws: that is a matter of the posterior."""
        return isinstance(self.posterior, Posterior) and self.posterior.has_draws

    def _learn(self, sample: Sample, weighted: bool, seed: np.random.SeedSequence) -> None:
        self.posterior_ = fitted_posterior(self.posterior, sample, weighted, seed)

    def _components(self, centers: Centers, correct: NDArray[np.bool_] | None) -> Components:
        return Components.points(centers.features)

    def _law_at_centers(self, centers: Centers) -> Floats:
        law = proba_at(self.posterior_, centers, self._restored(centers.features))
        return over_classes(law, self.posterior_, self.classes_)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_whole(self.draws, "draws", 10)

    def _posterior_draws(self, centers: Centers, judged: Judged, seed: np.random.SeedSequence) -> PosteriorDraws | None:
        if not centers.are_training:
            return None
        rng = np.random.default_rng(child(seed, POSTERIOR))
        blocks = self.posterior_.training_draws(self.draws, rng)
        if blocks is None:
            return None
        said = np.eye(judged.region.n_classes)[judged.at_centers]
        prior = self._prior_over(judged)
        found = []
        for block in blocks:
            weights = rng.dirichlet(np.ones(len(said)), size=len(block)) * (centers.weights * len(said))
            weights /= weights.sum(axis=1, keepdims=True)
            law = over_classes(block.reshape(-1, block.shape[2]), self.posterior_, self.classes_)
            law = judged.over_region(law).reshape(len(block), len(said), -1)
            confusions = np.einsum("sny,nj->syj", weights[:, :, None] * law, said, optimize=True)
            found.append(confusions if prior is None else with_prior(confusions, prior))
        confusions = np.concatenate(found)
        attrs = {"model": describe(self.posterior_), "seed": str(seed.entropy)}
        return InSampleDraws(ThisClassifier(), confusions, source=ErrorDraws(self.classes_, attrs))

    def _before_judging(self, classifier: Any) -> None:
        self.posterior_.warn_if_same(classifier)

    def _describe(self) -> tuple[str, str]:
        return describe(self, posterior=self.posterior_), self.posterior_.space


def proba_at(posterior: Posterior, centers: Centers, points: Any) -> Floats:
    """Return the posterior at the points that a measure is centred at."""
    return posterior.training_proba() if centers.are_training else posterior.predict_proba(points)


def over_classes(law: Floats, posterior: Posterior, classes: Labels) -> Floats:
    """Return a law over the posterior's classes as one over the measure's: part of a sample may lack a class."""
    if law.shape[1] == len(classes):
        return law
    whole = np.zeros((len(law), len(classes)))
    whole[:, encode_labels(posterior.classes_, classes, "classes of the posterior", "")] = law
    return whole


def fitted_posterior(posterior: Any, sample: Sample, weighted: bool, seed: np.random.SeedSequence) -> Posterior:
    """Return a fitted copy of the posterior, KNN(3) by default."""
    chosen: Posterior = KNN(3) if posterior is None else copy.copy(as_posterior(posterior))
    features = sample.format.restore(sample.features, sample.format.feature_names)
    # Weights with mean 1: a regularised estimator would take their size for the size of the sample.
    weights = sample.weights * len(sample.weights) if weighted else None
    return chosen.fit(features, sample.labels, weights, random_state=seed)
