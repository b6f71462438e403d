"""Student-t classes: heavy tails, so that distant points weigh less."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayes_gresub.data.arrays import Floats
from bayes_gresub.data.sample import Sample
from bayes_gresub.models.class_draws import ComponentDraws
from bayes_gresub.models.class_model import ClassModel, ClassPosterior
from bayes_gresub.models.coordinates import Coordinates
from bayes_gresub.models.covariance import GaussianDraws, read_structure
from bayes_gresub.models.gaussian import GaussianPosterior, check_enough_points, collect_draws, note_interruption
from bayes_gresub.models.nuts import SamplerSettings, run_nuts
from bayes_gresub.models.priors import (
    Hierarchical,
    choose_coordinates,
    read_hierarchical,
    standardize_hierarchical,
)
from bayes_gresub.models.pymc_models import build_student
from bayes_gresub.models.whitening import prepare_student


class StudentTClasses(ClassModel):
    r"""Classes with multivariate Student-t densities, :math:`x \mid y \sim t_{\nu_y}(\mu_y, \Sigma_y)`.

    The degrees of freedom of each class are learned, with the prior Gamma(2, 0.1) of Juarez & Steel; means and scale
    matrices have the hierarchical prior of `GaussianClasses`. Sampler: "nuts".

    Parameters
    ----------
    covariance : "full" (default), "shared", "diagonal" or "spherical"
        The structure of the scale matrices.
    prior : "hierarchical" (default) or Hierarchical

    References
    ----------
    Juarez & Steel, Model-based clustering of non-Gaussian panel data based on skew-t distributions, Journal of Business
    & Economic Statistics 28 (2010).

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> bg.Bayesian(bg.StudentTClasses("shared"))
    Bayesian(model=StudentTClasses(covariance='shared'))
    """

    samplers = ("nuts",)
    adjective = "Student-t"
    misfit_remedy = "Try MixtureClasses, or a measure without a model such as BolsteredPosterior."

    def __init__(self, covariance: str = "full", prior: Any = "hierarchical") -> None:
        self.covariance = covariance
        self.prior = prior

    def check(self, data: Sample, sampler: str) -> None:
        """Raise if the prior or the covariance is unknown; warn if there are no more points than features."""
        structure = read_structure(self.covariance)
        self._coordinates(data)
        check_enough_points(data, structure, sampler)

    def learn(
        self, data: Sample, sampler: str, settings: SamplerSettings, seed: np.random.SeedSequence
    ) -> ClassPosterior:
        """Sample means, scale matrices and degrees of freedom."""
        structure = read_structure(self.covariance)
        coordinates = self._coordinates(data)
        prior = standardize_hierarchical(
            read_hierarchical(self.prior, "StudentTClasses"), structure, data.features.shape[1]
        )
        inputs, whitening = prepare_student(
            structure, coordinates.inward(data.features), data.codes, data.n_classes, prior
        )
        sampled = run_nuts(
            lambda inputs: build_student(inputs, structure.name), inputs, ("student", structure.name), settings, seed
        )
        means, spread = whitening.recover_draws(sampled.posterior)
        hyper = {
            "center": coordinates.outward(sampled.posterior["center"]),
            "log_strength": sampled.posterior["log_strength"],
        }
        shape = means.shape[:2]
        draws = collect_draws(
            structure,
            GaussianDraws(means, spread),
            coordinates,
            shape,
            dof=sampled.posterior["dof"],
            hyper=hyper,
            stats=sampled.stats,
            notes=note_interruption(shape[1], settings),
        )
        return StudentTPosterior(draws, structure, coordinates, prior)

    @property
    def learns_separation(self) -> bool:
        """Return True: the prior is hierarchical."""
        return True

    def _coordinates(self, data: Sample) -> Coordinates:
        prior: Hierarchical = read_hierarchical(self.prior, "StudentTClasses")
        return choose_coordinates(prior, data.features, data.codes, self.covariance == "spherical", data.feature_names)


class StudentTPosterior(GaussianPosterior):
    """Student-t classes after a sample."""

    def prior_draws(self, n: int, rng: np.random.Generator) -> ComponentDraws:
        """Draw classes as the Gaussian model does, and degrees of freedom."""
        gaussian = super().prior_draws(n, rng)
        dof: Floats = rng.gamma(2.0, 10.0, size=(1, n, gaussian.n_classes))
        return ComponentDraws(gaussian.means, gaussian.spread, None, dof, hyper=gaussian.hyper)
