"""A fitted model with its class probabilities: what estimates carry, and what ArviZ is handed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.sample import Sample
from bayes_gresub.data.seeds import Seed, child, seed_sequence
from bayes_gresub.data.validation import check_whole
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.laws.confusion import class_errors, error_mass
from bayes_gresub.models.class_draws import ClassDraws
from bayes_gresub.models.class_model import ClassModel, ClassPosterior
from bayes_gresub.models.diagnostics import ess, mcse, rhat
from bayes_gresub.models.exact_moments import overall_moments
from bayes_gresub.regions.region import Region

if TYPE_CHECKING:
    import xarray as xr

HIGHEST_RHAT, ALARMING_RHAT = 1.01, 1.05
LEAST_ESS, ALARMING_ESS = 400.0, 100.0
"""What `check` asks for (Vehtari et al. 2021), and what `fit` warns of: beyond that intervals are unreliable."""

FEWEST_DRAWS = 10
"""Per chain, for diagnostics to mean anything."""

_PACKAGES = ("bayes_gresub", "numpy", "pymc", "nutpie", "arviz")


@dataclass(frozen=True, eq=False)
class ExactMoments:
    """Posterior variance of the error, and posterior mean of the joint confusion mass, in closed form."""

    variance: float
    confusion: Floats


@dataclass(frozen=True, eq=False)
class FittedClasses:
    """Posterior draws of the classes and of their probabilities.

    Attributes
    ----------
    posterior : ClassPosterior
    model : ClassModel
    data : Sample
    probabilities : ndarray of shape (chains, draws, c)
    concentration : ndarray of shape (c,) or None
        Of the posterior of the class probabilities, where they are learned.
    attrs : mapping
        Model, sampler and seed in words; what is slow to say is said when asked for.
    prior_known : bool
        Whether class probabilities were given or learned.
    halves : ndarray of shape (2, draws, c, regions) or None
        The two estimates of the masses behind one estimate, before their noise was taken out.
    separate : ndarray of shape (draws, c, regions) or None
        The same masses from points of each draw's own, or exact ones.
    """

    posterior: ClassPosterior
    model: ClassModel
    data: Sample
    probabilities: Floats
    concentration: Floats | None
    attrs: Mapping[str, str]
    prior_known: bool = True
    halves: Floats | None = None
    separate: Floats | None = None

    @property
    def draws(self) -> ClassDraws:
        """Return the draws of the classes."""
        return self.posterior.draws

    @property
    def n_draws(self) -> int:
        """Return the number of draws of all chains."""
        return int(np.prod(self.draws.shape))

    @property
    def flat_probabilities(self) -> Floats:
        """Return the class probabilities of all draws, chains joined: shape (draws, c)."""
        return self.probabilities.reshape(-1, self.data.n_classes)

    def given_class(self, confusions: Floats) -> Floats:
        """Return joint confusion masses (..., draws, regions, regions) as masses given the class, (..., c, regions).

        A class without probability is taken to be classified right, which changes no error.
        """
        c = self.data.n_classes
        rows = confusions[..., :c, :]
        mass = np.broadcast_to(self.flat_probabilities[:, :, None], rows.shape)
        right = np.broadcast_to(np.eye(c, confusions.shape[-1]), rows.shape)
        return np.divide(rows, mass, out=right.copy(), where=mass > 0)

    def watched(self) -> tuple[Floats, str]:
        """Return the numbers whose convergence is judged, shape (chains, draws, q), and what they are in words.

        They are hyper-parameters, means and degrees of freedom. Parts of mixtures may change places from chain to
        chain, which the log-likelihood does not see: there it is judged alone.
        """
        draws = self.draws
        parameters = draws.parameters()
        if "weights" in parameters:
            return self.log_likelihood().sum(axis=2)[..., None], "the log-likelihood"
        named = [parameters[name][1] for name in ("means", "dof", "cell_probabilities") if name in parameters]
        every = [values.reshape(*draws.shape, -1) for values in [*draws.hyper.values(), *named]]
        return np.concatenate(every, axis=2), "means and hyper-parameters"

    def moments(self, region: Region) -> ExactMoments | None:
        """Return mean and variance of the error and the mean confusion in closed form, or None."""
        found = self.posterior.moments(region)
        if found is None:
            return None
        moments, labels = found
        alpha = self.concentration
        known = np.asarray(self.probabilities[0, 0] if alpha is None else alpha / alpha.sum())
        overall = overall_moments(*moments.errors(labels), alpha=alpha, prior=known if alpha is None else None)
        rows = np.zeros((1, len(known), region.n_classes))
        rows[0][:, labels] = moments.first
        return ExactMoments(overall.variance, joint_confusion(rows, known[None], region.n_classes)[0])

    def errors_twice(self, estimate: ErrorEstimate) -> Floats:
        """Return the draws of an error as they were estimated, twice where by sampled points: shape (2, draws)."""
        if self.halves is None:
            return np.stack([np.asarray(estimate.draws)] * 2)
        probabilities, n_regions = self.flat_probabilities, self.halves.shape[-1]
        return np.stack([error_mass(joint_confusion(half, probabilities, n_regions)) for half in self.halves])

    def noise_under(self, probabilities: Floats) -> float:
        """Return the Monte-Carlo standard error of the mean error, given class probabilities (c,) or (draws, c).

        It comes from points of each draw's own: points that draws share have noise that all draws have in common.
        """
        assert self.separate is not None, "an estimate has masses"
        c, n_regions = self.separate.shape[1:]
        known = np.broadcast_to(np.asarray(probabilities)[..., :c], (len(self.separate), c))
        errors = error_mass(joint_confusion(self.separate, known, n_regions))
        return float(mcse(errors.reshape(self.draws.shape)))

    def pairs(self, draws: Ints, rng: np.random.Generator) -> tuple[Floats, Ints]:
        """Draw one pair (x, y) under each of these draws: points and codes."""
        edges = np.cumsum(self.flat_probabilities[draws], axis=1)[:, :-1]
        codes = (rng.random((len(draws), 1)) > edges).sum(axis=1)
        return self.draws.points(draws, codes, rng), codes

    def log_likelihood(self) -> Floats:
        """Return log p(x_i | y_i) + log pi_{y_i} for every draw and point, shape (chains, draws, n)."""
        codes = self.data.codes
        density = self.draws.log_density(self.data.features)[:, np.arange(len(codes)), codes]
        shape = self.draws.shape
        with np.errstate(divide="ignore"):
            log_probabilities = np.log(self.probabilities)
        return np.asarray(density.reshape(*shape, -1) + log_probabilities[..., codes])

    def to_inference_data(
        self,
        estimate: ErrorEstimate | None,
        *,
        log_likelihood: bool = False,
        prior: int = 0,
        posterior_predictive: bool = False,
        random_state: Seed = 0,
    ) -> Any:
        """Return an `arviz.InferenceData` (or the `DataTree` of ArviZ 1).

        Groups: posterior (where there is an estimate: error, class_errors, and predicted, the probability of each
        answer given the class; means, covariances or what the model has instead, class_probabilities, center,
        log_strength), sample_stats (NUTS), observed_data (x), constant_data (y, on which predictions are conditioned),
        and on request log_likelihood, prior and posterior_predictive.

        Parameters
        ----------
        estimate : ErrorEstimate or None
        log_likelihood : bool, default False
            Add log p(x_i, y_i) of every draw and point.
        prior : int, default 0
            Draws from the prior to add.
        posterior_predictive : bool, default False
            Add a data set of the sample's size and labels for every draw.
        random_state : int, SeedSequence, Generator or None
            For the last two.
        """
        import xarray as xr

        if prior:
            check_whole(prior, "prior", 0)
        seed = seed_sequence(random_state)
        groups: dict[str, xr.Dataset] = {"posterior": self._posterior(estimate)}
        if self.draws.stats:
            groups["sample_stats"] = self._dataset({n: ((), v) for n, v in self.draws.stats.items()})
        observed = {"x": (("point", "feature"), self.data.features)}
        groups["observed_data"] = xr.Dataset(observed, coords=self._coords(("point", "feature")), attrs=self._attrs())
        constant: dict[str, Any] = {
            "y": (("point",), self.data.classes[self.data.codes]),
            "class_counts": (("class",), self.data.counts),
        }
        if self.concentration is not None:
            constant["class_concentration"] = (("class",), self.concentration - self.data.counts)
        if estimate is not None:
            constant["posterior_mean_error"] = ((), estimate.value if estimate.prior_known else np.nan)
        groups["constant_data"] = xr.Dataset(constant, coords=self._coords(("class",)), attrs=self._attrs())
        if log_likelihood:
            groups["log_likelihood"] = self._dataset({"xy": (("point",), self.log_likelihood())})
        if prior:
            drawn = self.posterior.prior_draws(int(prior), np.random.default_rng(child(seed, 0)))
            named = drawn.parameters() | {name: self._hyper(name, values) for name, values in drawn.hyper.items()}
            groups["prior"] = self._dataset(named)
        if posterior_predictive:
            groups["posterior_predictive"] = self._predictive(np.random.default_rng(child(seed, 1)))
        return wrapped(groups)

    def _posterior(self, estimate: ErrorEstimate | None) -> xr.Dataset:
        shape = self.draws.shape
        named = {} if estimate is None else error_variables(estimate, shape, self.data.n_classes)
        named |= self.draws.parameters()
        named["class_probabilities"] = (("class",), np.asarray(self.probabilities))
        named |= {name: self._hyper(name, values) for name, values in self.draws.hyper.items()}
        extra = {} if estimate is None else {"predicted_class": estimate.classes}
        return self._dataset(named, extra)

    def _hyper(self, name: str, values: Floats) -> tuple[tuple[str, ...], Floats]:
        if name == "center" and values.shape[2:] == (self.data.features.shape[1],):
            return ("feature",), values
        return tuple(f"{name}_dim_{axis}" for axis in range(values.ndim - 2)), values

    def _predictive(self, rng: np.random.Generator) -> xr.Dataset:
        total, n = int(np.prod(self.draws.shape)), len(self.data.codes)
        draws = np.repeat(np.arange(total), n)
        points = self.draws.points(draws, np.tile(self.data.codes, total), rng)
        return self._dataset({"x": (("point", "feature"), points.reshape(*self.draws.shape, n, -1))})

    def _dataset(
        self, named: Mapping[str, tuple[tuple[str, ...], np.ndarray]], extra: Mapping[str, Any] | None = None
    ) -> xr.Dataset:
        import xarray as xr

        used = {dim for dims, _ in named.values() for dim in dims}
        coords = self._coords(tuple(used)) | {k: v for k, v in (extra or {}).items() if k in used}
        first = next(iter(named.values()))[1]
        coords |= {"chain": np.arange(first.shape[0]), "draw": np.arange(first.shape[1])}
        data = {name: (("chain", "draw", *dims), np.asarray(values)) for name, (dims, values) in named.items()}
        return xr.Dataset(data, coords=coords, attrs=self._attrs())

    def _coords(self, dims: tuple[str, ...]) -> dict[str, Any]:
        d = self.data.features.shape[1]
        features = list(self.data.feature_names) if self.data.feature_names else list(range(d))
        known: dict[str, Any] = {"class": self.data.classes, "feature": features, "other_feature": features}
        return {dim: known[dim] for dim in dims if dim in known}

    def _attrs(self) -> dict[str, str]:
        return {**self.attrs, "prior": _in_words(getattr(self.model, "prior", "")), **versions(_PACKAGES)}


def versions(packages: tuple[str, ...]) -> dict[str, str]:
    """Return the versions of those packages that are installed."""
    found = {}
    for package in packages:
        try:
            found[f"{package}_version"] = version(package)
        except PackageNotFoundError:
            continue
    return found


def error_variables(
    estimate: ErrorEstimate, shape: tuple[int, ...], c: int
) -> dict[str, tuple[tuple[str, ...], Floats]]:
    """Return the draws of an estimate by name, with their dimensions after (chain, draw); c classes have mass."""
    named: dict[str, tuple[tuple[str, ...], Floats]] = {}
    confusions = estimate.confusion_draws
    if confusions is None:
        return named
    if estimate.prior_known and estimate.draws is not None:
        named["error"] = ((), estimate.draws.reshape(shape))
    named["class_errors"] = (("class",), class_errors(confusions)[:, :c].reshape(*shape, c))
    mass = confusions[:, :c].sum(axis=2, keepdims=True)
    rows = np.divide(confusions[:, :c], mass, out=np.full_like(confusions[:, :c], np.nan), where=mass > 0)
    named["predicted"] = (("class", "predicted_class"), rows.reshape(*shape, c, -1))
    return named


def joint_confusion(rows: Floats, probabilities: Floats, n_regions: int) -> Floats:
    """Return the joint confusion mass of every draw; classes that only the classifier knows have no mass."""
    draws, c = probabilities.shape
    whole = np.zeros((draws, n_regions, n_regions))
    whole[:, :c] = rows * probabilities[:, :, None]
    return whole


def sampling_problems(fitted: FittedClasses) -> list[str]:
    """Return what is wrong with the chains, in sentences; nothing for independent draws."""
    draws = fitted.draws
    found = list(draws.notes)
    diverging = int(draws.stats["diverging"].sum()) if "diverging" in draws.stats else 0
    if diverging:
        found.append(
            f"{diverging} of {int(np.prod(draws.shape))} draws diverged: parts of the posterior may be missed. Raise "
            "tune, or use sampler='gibbs' where the model has it."
        )
    if not draws.hyper and not draws.stats:
        return found
    if draws.shape[1] < FEWEST_DRAWS:
        return [*found, f"the chains of {draws.shape[1]} draws are too short to tell whether they agree. Raise draws."]
    watched, _ = fitted.watched()
    high, few = float(np.max(rhat(watched))), float(np.min(ess(watched)))
    if high > ALARMING_RHAT:
        found.append(f"the chains disagree (R-hat {high:.2f}): they have not converged. Raise tune and draws.")
    elif few < ALARMING_ESS:
        found.append(
            f"the chains hold only {few:.0f} effective draws for some parameter: interval ends are unsure. Raise draws."
        )
    return found


def _in_words(prior: Any) -> str:
    if isinstance(prior, list | tuple):
        return "; ".join(_in_words(one) for one in prior)
    return str(prior) if isinstance(prior, str) else " ".join(repr(prior).split())


def wrapped(groups: Mapping[str, xr.Dataset]) -> Any:
    """Return what this ArviZ works with: InferenceData before version 1, a DataTree since."""
    import warnings
    from importlib.metadata import version

    # ArviZ 1 answers to the name InferenceData too, with another class.
    if int(version("arviz").split(".")[0]) >= 1:
        import xarray as xr

        return xr.DataTree.from_dict(dict(groups))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning, module="arviz")
        import arviz as az
    return az.InferenceData(**groups)
