"""Classes that are mixtures of Gaussian parts: several modes, skewness."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayes_gresub.data.sample import Sample
from bayes_gresub.data.seeds import as_int, child
from bayes_gresub.data.validation import check_whole, warn_user
from bayes_gresub.models.class_draws import ComponentDraws
from bayes_gresub.models.class_model import ClassModel, ClassPosterior
from bayes_gresub.models.coordinates import Coordinates
from bayes_gresub.models.covariance import CovarianceStructure, NormalInverseWishartLaw, read_structure
from bayes_gresub.models.gaussian import check_enough_points, note_interruption
from bayes_gresub.models.nuts import SamplerSettings, run_nuts
from bayes_gresub.models.priors import HierarchicalLaw, choose_coordinates, read_hierarchical, standardize_hierarchical
from bayes_gresub.models.pymc_models import PART_CONCENTRATION, SEPARATION_SD, build_mixture
from bayes_gresub.models.whitening import prepare_mixture


class MixtureClasses(ClassModel):
    r"""Classes that are mixtures of normal parts, :math:`x \mid y \sim \sum_k w_{yk} N(\mu_{yk}, \Sigma_{yk})`.

    Which part a point belongs to is summed out. In units of the prior's location and scale,

    .. math:: w_y \sim \mathrm{Dirichlet}(2, \dots, 2), \quad \mu_{yk} \sim N(m, \omega^2 I), \quad
              m \sim N(0, t^2 I), \quad \log\omega \sim N(0, 0.5^2), \quad \Sigma_{yk} \sim IW(v, S)

    where the mean of a covariance is the identity divided by the squared number of parts. The parts have no names and
    may change places between chains, so convergence is judged by the error and the likelihood. Sampler: "nuts".

    Parameters
    ----------
    n_parts : int, default 2
        Of every class.
    covariance : "full" (default), "diagonal" or "spherical"
        Of every part.
    prior : "hierarchical" (default) or Hierarchical
        Its strength is not used.

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> bg.Bayesian(bg.MixtureClasses(3, "diagonal"))
    Bayesian(model=MixtureClasses(covariance='diagonal', n_parts=3))
    """

    samplers = ("nuts",)
    adjective = "mixture"
    misfit_remedy = "Try more parts, or a measure without a model such as BolsteredPosterior."

    def __init__(self, n_parts: int = 2, covariance: str = "full", prior: Any = "hierarchical") -> None:
        self.n_parts = n_parts
        self.covariance = covariance
        self.prior = prior

    def check(self, data: Sample, sampler: str) -> None:
        """Raise if a class has fewer than two points per part; warn if parts have no more points than features."""
        parts = check_whole(self.n_parts, "n_parts", 1)
        structure = read_structure(self.covariance)
        if structure.is_shared:
            raise ValueError("covariance must be 'full', 'diagonal' or 'spherical' for MixtureClasses; got 'shared'.")
        self._coordinates(data)
        if (data.counts < 2 * parts).any():
            raise ValueError(
                f"MixtureClasses needs at least two points for each of {parts} parts of a class; the smallest class "
                f"has {int(data.counts.min())}. Lower n_parts, or use GaussianClasses."
            )
        d = data.features.shape[1]
        if structure.name == "full" and (data.counts < parts * (d + 1)).any():
            warn_user(
                f"the smallest class has {int(data.counts.min())} points for {parts} covariance matrices of {d} "
                "features: the prior then decides. Use covariance='diagonal', fewer parts or fewer features.",
            )
        else:
            check_enough_points(data, structure, sampler)

    def learn(
        self, data: Sample, sampler: str, settings: SamplerSettings, seed: np.random.SeedSequence
    ) -> ClassPosterior:
        """Sample weights, means and covariances of all parts, starting about those that k-means finds."""
        structure = read_structure(self.covariance)
        coordinates = self._coordinates(data)
        d, c, parts = data.features.shape[1], data.n_classes, self.n_parts
        numbers = self._numbers(structure, d)
        inside = coordinates.inward(data.features)
        labels = _assign_parts(inside, data, parts, seed)
        inputs, whitening = prepare_mixture(structure, inside, data.codes, labels, c, parts, numbers)
        sampled = run_nuts(
            lambda inputs: build_mixture(inputs, structure.name), inputs, ("mixture", structure.name), settings, seed
        )
        means, spread = whitening.recover_draws(sampled.posterior)
        shape = means.shape[:2]
        spread = structure.rescale_spread(spread, coordinates.scale)
        hyper = {
            "center": coordinates.outward(sampled.posterior["center"]),
            "log_separation": sampled.posterior["log_separation"],
        }
        draws = ComponentDraws(
            coordinates.outward(means).reshape(*shape, c, parts, d),
            spread.reshape(*shape, c, parts, *spread.shape[3:]),
            sampled.posterior["weights"],
            hyper=hyper,
            stats=sampled.stats,
            notes=note_interruption(shape[1], settings),
        )
        return MixturePosterior(draws, structure, coordinates, numbers)

    @property
    def learns_separation(self) -> bool:
        """Return True: the prior is hierarchical."""
        return True

    def _coordinates(self, data: Sample) -> Coordinates:
        prior = read_hierarchical(self.prior, "MixtureClasses")
        return choose_coordinates(prior, data.features, data.codes, self.covariance == "spherical", data.feature_names)

    def _numbers(self, structure: CovarianceStructure, d: int) -> HierarchicalLaw:
        numbers = standardize_hierarchical(read_hierarchical(self.prior, "MixtureClasses"), structure, d)
        # Parts are narrower than the class that they make up.
        return HierarchicalLaw(
            numbers.log_strength,
            numbers.log_strength_sd,
            numbers.center_sd,
            numbers.dof,
            numbers.scale / self.n_parts**2,
        )


class MixturePosterior(ClassPosterior):
    """Mixtures after a sample."""

    draws: ComponentDraws

    def __init__(
        self, draws: ComponentDraws, structure: CovarianceStructure, coordinates: Coordinates, prior: HierarchicalLaw
    ) -> None:
        self.draws = draws
        self.structure = structure
        self.coordinates = coordinates
        self.prior = prior

    def prior_draws(self, n: int, rng: np.random.Generator) -> ComponentDraws:
        """Draw the parts of all classes."""
        _, _, c, parts, d = self.draws.means.shape
        center = rng.standard_normal((n, d)) * self.prior.center_sd
        log_separation = SEPARATION_SD * rng.standard_normal(n)
        scales = np.broadcast_to(self.prior.scale, (c * parts, *np.shape(self.prior.scale)))
        law = NormalInverseWishartLaw(
            np.zeros((c * parts, d)), np.ones(c * parts), np.full(c * parts, self.prior.dof), scales
        )
        noise = self.structure.draw_noise(rng, law.dofs, c * parts, d, n)
        means = center[:, None] + np.exp(log_separation)[:, None, None] * noise.means
        spread = self.structure.rescale_spread(self.structure.draw(law, noise).spread, self.coordinates.scale)
        return ComponentDraws(
            self.coordinates.outward(means).reshape(1, n, c, parts, d),
            spread.reshape(1, n, c, parts, *spread.shape[2:]),
            rng.dirichlet(np.full(parts, PART_CONCENTRATION), size=(1, n, c)),
            hyper={"center": self.coordinates.outward(center)[None], "log_separation": log_separation[None]},
        )


def _assign_parts(features: np.ndarray, data: Sample, parts: int, seed: np.random.SeedSequence) -> np.ndarray:
    """Return a part for each point, by k-means within its class: chains start there."""
    from sklearn.cluster import KMeans

    labels = np.zeros(len(features), dtype=np.intp)
    for code in range(data.n_classes):
        rows = np.flatnonzero(data.codes == code)
        clusters = KMeans(parts, n_init=5, random_state=as_int(child(seed, 2, code))).fit_predict(features[rows])
        # Duplicated points may leave a part empty.
        labels[rows] = clusters if len(np.unique(clusters)) == parts else np.arange(len(rows)) % parts
    return labels
