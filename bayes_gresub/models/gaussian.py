"""Gaussian classes: means and covariances under a hierarchical or a fixed Normal-inverse-Wishart prior."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.sample import Sample
from bayes_gresub.data.seeds import child
from bayes_gresub.data.validation import warn_user
from bayes_gresub.laws.halfspace import HalfSpace
from bayes_gresub.models.check_report import Finding
from bayes_gresub.models.class_draws import ComponentDraws
from bayes_gresub.models.class_findings import (
    LEVEL,
    check_covariances,
    describe_power,
    feature_names,
    find_flat_classes,
)
from bayes_gresub.models.class_model import ClassModel, ClassPosterior
from bayes_gresub.models.class_nulls import Simulate, fit_gaussian_null
from bayes_gresub.models.coordinates import Coordinates
from bayes_gresub.models.covariance import (
    ClassStatistics,
    CovarianceStructure,
    GaussianDraws,
    NormalInverseWishartLaw,
    read_structure,
)
from bayes_gresub.models.exact_moments import ClassMoments, normal_inverse_wishart_moments
from bayes_gresub.models.gibbs import run_gibbs
from bayes_gresub.models.nuts import SamplerSettings, run_nuts
from bayes_gresub.models.priors import (
    Hierarchical,
    HierarchicalLaw,
    NormalInverseWishart,
    choose_coordinates,
    read_prior,
    standardize_fixed,
    standardize_hierarchical,
)
from bayes_gresub.models.pymc_models import build_gaussian
from bayes_gresub.models.whitening import prepare_gaussian
from bayes_gresub.progress import ticking
from bayes_gresub.regions.region import Region

MOST_FEATURES = 50
"""Features up to which NUTS samples full covariance matrices."""

_FAR = 10.0
"""Factor between deviations of prior and sample from which units are doubted."""


class GaussianClasses(ClassModel):
    r"""Classes with normal densities, :math:`x \mid y \sim N(\mu_y, \Sigma_y)`.

    Samplers: "nuts" with any prior, "gibbs" with the hierarchical one, "conjugate" with a fixed one. All of them
    use only counts, means and scatter of the classes, so the cost does not grow with n.

    Parameters
    ----------
    covariance : "full" (default), "shared", "diagonal" or "spherical"
        One matrix per class, one matrix for all, one variance per class and feature, or one variance per class.
    prior : "hierarchical" (default), Hierarchical, NormalInverseWishart or a list of these
        A list has one Normal-inverse-Wishart prior for each class, in the order of the sorted labels.

    References
    ----------
    Dalton & Dougherty, Bayesian minimum mean-square error estimation for classification error, Part II: linear
    classification of Gaussian models, IEEE Transactions on Signal Processing 59 (2011).

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> X, y = load_iris(return_X_y=True)
    >>> measure = bg.Bayesian(bg.GaussianClasses("shared"), sampler="gibbs", random_state=0).fit(X, y)
    >>> round(measure.error(LinearDiscriminantAnalysis().fit(X, y)).value, 2)
    0.02
    """

    adjective = "Gaussian"
    misfit_remedy = "Try StudentTClasses (heavy tails) or MixtureClasses (several modes, skewness)."
    prior_remedy = "Raise its strength, or use prior='hierarchical'."

    def __init__(self, covariance: str = "full", prior: Any = "hierarchical") -> None:
        self.covariance = covariance
        self.prior = prior

    @property
    def samplers(self) -> tuple[str, ...]:  # type: ignore[override]
        """Return the samplers for this prior."""
        return ("nuts", "gibbs") if isinstance(read_prior(self.prior), Hierarchical) else ("nuts", "conjugate")

    def check(self, data: Sample, sampler: str) -> None:
        """Raise if the sampler is not for this prior, or the prior is wrong; warn if points are fewer than features."""
        structure = read_structure(self.covariance)
        prior = read_prior(self.prior)
        if isinstance(prior, Hierarchical):
            if sampler == "conjugate":
                raise ValueError(
                    "sampler='conjugate' needs a fixed prior, NormalInverseWishart(...): under the hierarchical one no "
                    "independent draws exist. Use sampler='gibbs', which is as quick."
                )
        elif sampler == "gibbs":
            raise ValueError(
                "sampler='gibbs' is for the hierarchical prior; a fixed NormalInverseWishart has exact draws. Use "
                "sampler='conjugate'."
            )
        self._standardize_prior(self._coordinates(data), data)
        check_enough_points(data, structure, sampler, self.cheapest_sampler())

    def learn(
        self, data: Sample, sampler: str, settings: SamplerSettings, seed: np.random.SeedSequence
    ) -> ClassPosterior:
        """Sample means and covariances."""
        if sampler == "gibbs":
            return self.learn_many([data], sampler, settings, [seed])[0]
        structure = read_structure(self.covariance)
        coordinates = self._coordinates(data)
        statistics = structure.summarize(coordinates.inward(data.features), data.codes, data.n_classes)
        prior = self._standardize_prior(coordinates, data)
        if isinstance(prior, NormalInverseWishartLaw):
            law = structure.update(prior, statistics)
            if sampler == "conjugate":
                draws = _draw_exactly(structure, law, coordinates, settings, seed)
            else:
                draws = _sample_by_nuts(structure, statistics, prior, coordinates, settings, seed)
            return GaussianPosterior(draws, structure, coordinates, prior, law)
        draws = _sample_by_nuts(structure, statistics, prior, coordinates, settings, seed)
        return GaussianPosterior(draws, structure, coordinates, prior)

    def learn_many(
        self, data: Sequence[Sample], sampler: str, settings: SamplerSettings, seeds: Sequence[np.random.SeedSequence]
    ) -> list[ClassPosterior]:
        """Run the Gibbs chains of all samples side by side; they must have as many features and classes."""
        if sampler != "gibbs":
            return super().learn_many(data, sampler, settings, seeds)
        structure = read_structure(self.covariance)
        coordinates = [self._coordinates(sample) for sample in data]
        prior = self._standardize_prior(coordinates[0], data[0])
        if not isinstance(prior, HierarchicalLaw):
            raise AssertionError("Gibbs sampling is for the hierarchical prior")
        statistics = [
            structure.summarize(units.inward(sample.features), sample.codes, sample.n_classes)
            for units, sample in zip(coordinates, data, strict=True)
        ]
        drawn = _sample_by_gibbs(structure, statistics, prior, coordinates, settings, seeds)
        return [
            GaussianPosterior(draws, structure, units, prior) for draws, units in zip(drawn, coordinates, strict=True)
        ]

    def with_strength_times(self, factor: float) -> Self:
        """Return the model with the strength of every prior multiplied."""
        prior = read_prior(self.prior)
        priors = [prior] if isinstance(prior, Hierarchical | NormalInverseWishart) else prior
        stronger = [clone(each).set_params(strength=each.strength * factor) for each in priors]
        return clone(self).set_params(prior=stronger if prior is priors else stronger[0])

    @property
    def learns_separation(self) -> bool:
        """Return whether the prior is the hierarchical one."""
        return isinstance(read_prior(self.prior), Hierarchical)

    def findings(
        self, data: Sample, posterior: ClassPosterior, class_probabilities: Floats, seed: np.random.SeedSequence
    ) -> list[Finding]:
        """Return the default findings, and those about power, the form of the covariances and a fixed prior's scale."""
        restricted = self.covariance != "full"
        # Two tests share the level.
        level = LEVEL / 2 if restricted else LEVEL
        findings = [
            *find_flat_classes(data),
            self.fit_finding(data, posterior, child(seed, 0), gaussian=True, level=level),
            *describe_power(data),
        ]
        if restricted:
            findings.append(check_covariances(data, self.covariance, np.random.default_rng(child(seed, 2)), level))
        prior = self.prior_finding(posterior, class_probabilities, np.random.default_rng(child(seed, 1)))
        return [*findings, prior, *self._find_far_scale(data)]

    def make_null(self, data: Sample, posterior: ClassPosterior, code: int) -> Simulate:
        """Simulate normal points; no statistic of the check depends on where and how large the class is."""
        return fit_gaussian_null(data.of_class(code))

    def _find_far_scale(self, data: Sample) -> list[Finding]:
        """Find a fixed prior whose scale is far from the spread of a class, as it is in other units."""
        prior = read_prior(self.prior)
        if isinstance(prior, Hierarchical):
            return []
        priors = [prior] * data.n_classes if isinstance(prior, NormalInverseWishart) else prior
        names, labels = feature_names(data), data.classes.tolist()
        for code, class_prior in enumerate(priors):
            scale = np.asarray(class_prior.scale, dtype=float)
            squared = np.diag(scale) if scale.ndim == 2 else np.broadcast_to(scale, len(names))
            believed = np.sqrt(squared / class_prior.dof)
            seen = data.of_class(code).std(axis=0)
            with np.errstate(divide="ignore"):
                distance = np.abs(np.log(believed / seen))
            worst = int(distance.argmax())
            if seen[worst] > 0 and distance[worst] > np.log(_FAR):
                sentence = (
                    f"The prior scale gives feature {names[worst]} a deviation of about {believed[worst]:.2g}; in "
                    f"class {labels[code]!r} it is {seen[worst]:.2g}. Is it in the units of the features?"
                )
                numbers = {"prior": float(believed[worst]), "sample": float(seen[worst])}
                return [Finding("scale", True, sentence, numbers)]
        return []

    def _coordinates(self, data: Sample) -> Coordinates:
        one_unit = self.covariance == "spherical"
        return choose_coordinates(read_prior(self.prior), data.features, data.codes, one_unit, data.feature_names)

    def _standardize_prior(self, coordinates: Coordinates, data: Sample) -> HierarchicalLaw | NormalInverseWishartLaw:
        structure = read_structure(self.covariance)
        prior = read_prior(self.prior)
        if isinstance(prior, Hierarchical):
            return standardize_hierarchical(prior, structure, data.features.shape[1])
        fixed: NormalInverseWishart | Sequence[NormalInverseWishart] = prior
        return standardize_fixed(fixed, structure, coordinates, data.n_classes)


class GaussianPosterior(ClassPosterior):
    """Gaussian classes after a sample."""

    draws: ComponentDraws

    def __init__(
        self,
        draws: ComponentDraws,
        structure: CovarianceStructure,
        coordinates: Coordinates,
        prior: HierarchicalLaw | NormalInverseWishartLaw,
        law: NormalInverseWishartLaw | None = None,
    ) -> None:
        self.draws = draws
        self.structure = structure
        self.coordinates = coordinates
        self.prior = prior
        self.law = law

    def moments(self, region: Region) -> tuple[ClassMoments, Ints] | None:
        """Return the moments under a fixed prior at a linear boundary (none for diagonal covariances)."""
        if self.law is None or not isinstance(region.geometry, HalfSpace):
            return None
        moments = normal_inverse_wishart_moments(
            region.geometry,
            self.coordinates.outward(self.law.centers),
            self.law.strengths,
            self.law.dofs,
            self.structure.rescale(self.law.scales, self.coordinates.scale),
            shared=self.structure.is_shared,
        )
        return None if moments is None else (moments, region.codes_of_own)

    def prior_draws(self, n: int, rng: np.random.Generator) -> ComponentDraws:
        """Draw hyper-parameters, then classes."""
        c, d = self.draws.means.shape[2], self.draws.means.shape[4]
        groups = 1 if self.structure.is_shared else c
        if isinstance(self.prior, NormalInverseWishartLaw):
            law, hyper = self.prior, {}
        else:
            center = rng.standard_normal((n, d)) * self.prior.center_sd
            log_strength = self.prior.log_strength + self.prior.log_strength_sd * rng.standard_normal(n)
            strengths = np.repeat(np.exp(log_strength)[:, None], c, axis=1)
            shape = (groups, *np.shape(self.prior.scale))
            law = NormalInverseWishartLaw(
                center[:, None, :], strengths, np.full(groups, self.prior.dof), np.broadcast_to(self.prior.scale, shape)
            )
            hyper = {"center": self.coordinates.outward(center)[None], "log_strength": log_strength[None]}
        noise = self.structure.draw_noise(rng, law.dofs, c, d, n)
        return collect_draws(self.structure, self.structure.draw(law, noise), self.coordinates, (1, n), hyper=hyper)

    def strength_weights(self, factor: float) -> Floats | None:
        r"""Return :math:`p(k \mid \rho f) / p(k \mid \rho)` for each draw of the strength k."""
        if not isinstance(self.prior, HierarchicalLaw):
            return None
        log_k = self.draws.hyper["log_strength"].reshape(-1)
        here = (log_k - self.prior.log_strength) / self.prior.log_strength_sd
        there = here - np.log(factor) / self.prior.log_strength_sd
        weights = np.exp(0.5 * (here**2 - there**2) - np.max(0.5 * (here**2 - there**2)))
        return np.asarray(weights / weights.sum())


def collect_draws(
    structure: CovarianceStructure, drawn: GaussianDraws, coordinates: Coordinates, shape: tuple[int, ...], **more: Any
) -> ComponentDraws:
    """Return draws in the units of the features, with axes (chain, draw, class, part, ...) for one part per class."""
    means = coordinates.outward(drawn.means)
    spread = structure.rescale_spread(drawn.spread, coordinates.scale)
    c, d = means.shape[-2:]
    axes = structure.n_axes
    groups = spread.shape[spread.ndim - axes - 1]
    inner = spread.shape[spread.ndim - axes :]
    return ComponentDraws(means.reshape(*shape, c, 1, d), spread.reshape(*shape, groups, 1, *inner), **more)


def note_interruption(drawn: int, settings: SamplerSettings) -> tuple[str, ...]:
    """Return a note if sampling was interrupted."""
    if drawn == settings.draws:
        return ()
    return (f"sampling was interrupted after {drawn} of {settings.draws} draws a chain; these are kept.",)


def check_enough_points(data: Sample, structure: CovarianceStructure, sampler: str, cheaper: str | None = None) -> None:
    """Raise if matrices are too large for NUTS; warn if one has no more points than features."""
    d, counts = data.features.shape[1], data.counts
    if sampler == "nuts" and structure.n_axes == 2 and d > MOST_FEATURES:
        remedies = ["covariance='diagonal'", *([] if cheaper is None else [f"sampler={cheaper!r}"])]
        raise ValueError(
            f"sampler='nuts' takes covariance matrices of at most {MOST_FEATURES} features; got {d}. Use "
            f"{', '.join(remedies)}, or fewer features."
        )
    if structure.name == "full" and (counts <= d).any():
        least = int(counts.argmin())
        warn_user(
            f"class {data.classes.tolist()[least]!r} has {int(counts[least])} points for a covariance matrix of {d} "
            "features: the prior then decides, and in simulations no interval was right. Use covariance='shared' "
            "or 'diagonal', or fewer features.",
        )
    elif structure.name == "shared" and counts.sum() - len(counts) <= d:
        warn_user(
            f"{int(counts.sum())} points are few for a covariance matrix of {d} features: the prior then decides. "
            "Use covariance='diagonal', or fewer features.",
        )


def _draw_exactly(
    structure: CovarianceStructure,
    law: NormalInverseWishartLaw,
    coordinates: Coordinates,
    settings: SamplerSettings,
    seed: np.random.SeedSequence,
) -> ComponentDraws:
    c, d = law.centers.shape
    total = settings.chains * settings.draws
    noise = structure.draw_noise(np.random.default_rng(child(seed, 0)), law.dofs, c, d, total)
    return collect_draws(structure, structure.draw(law, noise), coordinates, (settings.chains, settings.draws))


def _sample_by_gibbs(
    structure: CovarianceStructure,
    statistics: Sequence[ClassStatistics],
    prior: HierarchicalLaw,
    coordinates: Sequence[Coordinates],
    settings: SamplerSettings,
    seeds: Sequence[np.random.SeedSequence],
) -> list[ComponentDraws]:
    """Return the draws of each sample; chains are numbered within samples, so none depends on the others."""
    chains = settings.chains

    def stacked(name: str) -> Floats:
        return np.repeat(np.stack([getattr(each, name) for each in statistics]), chains, axis=0)

    side_by_side = ClassStatistics(stacked("counts"), stacked("means"), stacked("scatter"))
    generators = [np.random.default_rng(child(seed, chain)) for seed in seeds for chain in range(chains)]
    with ticking(settings.tune + settings.draws, "gibbs", settings.progress, "sweep") as tick:
        chains_drawn = run_gibbs(structure, side_by_side, prior, generators, settings.draws, settings.tune, tick=tick)
    result = []
    for number, units in enumerate(coordinates):
        rows = slice(number * chains, (number + 1) * chains)
        shape = chains_drawn.log_strength[rows].shape
        drawn = GaussianDraws(chains_drawn.means[rows], chains_drawn.spread[rows])
        hyper = {
            "center": units.outward(chains_drawn.center[rows]),
            "log_strength": chains_drawn.log_strength[rows],
        }
        notes = note_interruption(shape[1], settings)
        result.append(collect_draws(structure, drawn, units, shape, hyper=hyper, notes=notes))
    return result


def _sample_by_nuts(
    structure: CovarianceStructure,
    statistics: ClassStatistics,
    prior: HierarchicalLaw | NormalInverseWishartLaw,
    coordinates: Coordinates,
    settings: SamplerSettings,
    seed: np.random.SeedSequence,
) -> ComponentDraws:
    inputs, whitening = prepare_gaussian(structure, statistics, prior)
    hierarchical = isinstance(prior, HierarchicalLaw)
    key = ("gaussian", structure.name, hierarchical)
    sampled = run_nuts(lambda inputs: build_gaussian(inputs, structure.name, hierarchical), inputs, key, settings, seed)
    means, spread = whitening.recover_draws(sampled.posterior)
    hyper = {}
    if hierarchical:
        hyper = {
            "center": coordinates.outward(sampled.posterior["center"]),
            "log_strength": sampled.posterior["log_strength"],
        }
    shape = means.shape[:2]
    drawn = GaussianDraws(means, spread)
    return collect_draws(
        structure,
        drawn,
        coordinates,
        shape,
        hyper=hyper,
        stats=sampled.stats,
        notes=note_interruption(shape[1], settings),
    )
