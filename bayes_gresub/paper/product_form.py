"""The product form of bolstered posterior-probability, as the paper prints it. It is no measure: it has no law."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_gresub.data.arrays import Floats
from bayes_gresub.data.description import describe
from bayes_gresub.data.sample import Sample
from bayes_gresub.data.seeds import Seed, seed_sequence
from bayes_gresub.estimate.computation import Computation
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.estimate.estimands import ThisClassifier
from bayes_gresub.estimate.intervals import NoInterval
from bayes_gresub.estimate.reasons import (
    ClassProbabilitiesUnknown,
    IndependenceUnknown,
    Missing,
    NotAdditive,
    TrainedOnThesePoints,
)
from bayes_gresub.kernels import Kernel
from bayes_gresub.laws.confusion import region_mass, reweighted, standard_error
from bayes_gresub.laws.law import Law
from bayes_gresub.laws.sampling import Sampler
from bayes_gresub.measures import Bolstered, PosteriorProbability
from bayes_gresub.measures.measure import Measure
from bayes_gresub.regions.region import Region, decision_region


class ProductForm(Measure):
    r"""The error mass of a kernel about each point times the posterior probability of an error there.

    .. math:: \hat\varepsilon = \frac1n \sum_i \mu_i(\psi \ne Y_i)\, \hat P(\psi(X_i) \ne Y \mid X = X_i)

    The product is not additive in the set, so it is no measure: it has a value and contributions, but no confusion mass
    and nothing else of a law. It is strongly optimistic, and the paper's claims do not hold for it; it is here to
    show that.

    Parameters
    ----------
    kernel : Kernel, optional
        `SphericalGaussian()` by default.
    posterior : Posterior or classifier with `predict_proba`, optional
        `KNN(3)` by default.
    n_points, tol, n_jobs, bounds, sampling, class_prior, random_state
        As in `BolsteredPosterior`.

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> from sklearn.neighbors import NearestCentroid
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> classifier = NearestCentroid().fit(X, y)
    >>> product = bg.paper.ProductForm().fit(X, y).error(classifier)
    >>> bool(product.value < bg.BolsteredPosterior(random_state=0).fit(X, y).error(classifier).value)
    True
    """

    moves_points = True
    least_per_class = 2
    is_centred = False

    def __init__(
        self,
        kernel: Kernel | None = None,
        posterior: Any = None,
        *,
        n_points: int = 32,
        tol: float | None = None,
        n_jobs: int | None = None,
        bounds: Any = None,
        sampling: str = "mixture",
        class_prior: Any = None,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.posterior = posterior
        self.n_points = n_points
        self.tol = tol
        self.n_jobs = n_jobs
        self.bounds = bounds
        self.sampling = sampling
        self.class_prior = class_prior
        self.random_state = random_state

    def law(self, at: Sample | None = None, region: Region | None = None) -> Law:
        """Raise: there is none."""
        raise ValueError(f"{NotAdditive()}.")

    def error(
        self,
        classifier: Any,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        random_state: Seed = None,
    ) -> ErrorEstimate:
        """Return the mean of the products; parameters as in `Measure.error`."""
        started = perf_counter()
        at = self.training_sample
        if X is not None or y is not None or sample_weight is not None:
            at = self._others(X, y, sample_weight)
        seed = seed_sequence(self.random_state if random_state is None else random_state)
        region = decision_region(classifier, at, seed)
        kernels = self._bolstered.law(at, region).over(region.n_classes)
        smoothed = self._smoothed_labels.law(at, region).over(region.n_classes)
        everyone = np.arange(len(at.codes))
        labels = kernels.labels_at(at.features, everyone)
        predicted = np.eye(region.n_classes)[region.center_labels]
        doubt = _error_given_label(predicted, smoothed.labels_at(at.features, everyone))
        weights = kernels.weights
        if kernels.class_prior is not None:
            weights, _ = reweighted(weights, labels, kernels.class_prior)

        def spread(values: Floats) -> float:
            return max(standard_error(errors) for errors in (_error_given_label(values, labels) * doubt) @ weights)

        sampler = Sampler(seed, self.n_points, self.tol, self.n_jobs)
        mass = region_mass(kernels.components, region, sampler, center_labels=region.center_labels, spread=spread)
        known = self.sampling == "mixture" or self.class_prior is not None
        products = _error_given_label(mass.values[0], labels) * doubt
        return ErrorEstimate(
            classes=region.classes,
            estimand=ThisClassifier(),
            computation=Computation(
                described=describe(self, kernel=self.kernel_, posterior=self.posterior_),
                method=mass.method,
                exact=mass.exact,
                space=self.space_,
                n_predicted=len(at.features) + mass.n_predicted,
                n_replicates=len(products),
                seconds=perf_counter() - started,
            ),
            replicate_values=products @ weights,
            contributions=at.at_given_rows(products.mean(axis=0)),
            point_weights=at.at_given_rows(weights),
            interval_method=NoInterval(TrainedOnThesePoints() if at is self._sample else IndependenceUnknown()),
            missing=Missing(value=None if known else ClassProbabilitiesUnknown(), confusion=NotAdditive()),
        )

    def _fit(self, sample: Sample, seed: np.random.SeedSequence) -> None:
        given = {"sampling": self.sampling, "class_prior": self.class_prior}
        bolstered = Bolstered(self.kernel, bounds=self.bounds, **given).fit_sample(sample, seed)
        smoothed_labels = PosteriorProbability(self.posterior, **given).fit_sample(sample, seed)
        self._bolstered, self._smoothed_labels = bolstered, smoothed_labels
        self.kernel_, self.posterior_ = bolstered.kernel_, smoothed_labels.posterior_


def _error_given_label(region_mass: Floats, labels: Floats) -> Floats:
    """Return the error mass of each component whose label has this law: sum over j of mass_j (1 - label_j)."""
    return np.asarray((region_mass * (1.0 - labels)).sum(axis=-1))
