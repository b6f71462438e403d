"""Log densities of the PyMC models against SciPy: prior times likelihood of the raw rows, in the units of the features.

Every class model is asked to learn, but in place of NUTS there is a function that keeps the PyMC model and hands over
numbers of its free space; so that the way there and back is tested as a whole. Of the density of free numbers q with
parameters theta(q), log p(q) = log p(theta) + log p(X | theta) + log |d theta / dq|, the first two terms come from
SciPy and the last one from differences of the eighth order. Constants cancel between points. PyTensor runs the graphs
in Python: nothing is compiled. A model is built once for each shape, as the package does, and then handed other data.
"""

import numpy as np
import pytest
from scipy import special, stats

from bayes_gresub import (
    DiscreteClasses,
    GaussianClasses,
    Hierarchical,
    MixtureClasses,
    NormalInverseWishart,
    StudentTClasses,
)
from bayes_gresub.data.sample import Sample
from bayes_gresub.models import discrete, gaussian, mixture, student_t
from bayes_gresub.models.nuts import NutsDraws, SamplerSettings

UNITS = np.array([3.0, 0.2, 40.0])
LEVELS = ([0.0, 1.0, 2.0], [5.0, 7.0], [-1.0, 1.0])
SETTINGS = SamplerSettings(draws=10, tune=0, chains=1)
SEED = np.random.SeedSequence(1)
_BUILT = {}
N_POINTS = 5
STENCIL = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])
STEP = 0.02


def fixed_priors(covariance, d, c):
    """Return a fixed prior per class, different wherever the structure allows, in the units of the features."""
    rng = np.random.default_rng(7)
    root = UNITS[:d, None] * (np.eye(d) + 0.3 * rng.normal(size=(d, d)))
    priors = []
    for y in range(c):
        grown = 1.0 if covariance == "shared" else 1.0 + 0.5 * y
        scale = {"diagonal": grown * UNITS[:d] ** 2, "spherical": grown * 4.0}.get(covariance, grown * root @ root.T)
        dof = d + 2.5 + (0.0 if covariance == "shared" else y)
        priors.append(NormalInverseWishart(UNITS[:d] * rng.normal(size=d), 0.7 + y, dof, scale))
    return priors


def given_units(covariance, d):
    scale = 2.0 if covariance == "spherical" else 1.5 * UNITS[:d]
    return Hierarchical(0.3 * UNITS[:d], scale, strength=0.8, strength_spread=0.6, center_spread=2.0, extra_dof=1.5)


GAUSSIAN = [("gaussian", covariance) for covariance in ("full", "shared", "diagonal", "spherical")]
FIXED = [("fixed", covariance) for _, covariance in GAUSSIAN]
STUDENT = [("student", covariance) for _, covariance in GAUSSIAN]
MIXTURE = [("mixture", covariance) for _, covariance in GAUSSIAN if covariance != "shared"]
CLASS_MODELS = [*GAUSSIAN, *FIXED, *STUDENT, *MIXTURE, ("discrete", "cells")]


def class_model(kind, covariance, d, c):
    if kind == "gaussian":
        return GaussianClasses(covariance, given_units(covariance, d))
    if kind == "fixed":
        return GaussianClasses(covariance, fixed_priors(covariance, d, c))
    if kind == "student":
        return StudentTClasses(covariance, given_units(covariance, d))
    if kind == "mixture":
        return MixtureClasses(2, covariance, given_units(covariance, d))
    return DiscreteClasses(0.8, LEVELS[:d])


def sample(counts, d, kind="gaussian", seed=0):
    """Return correlated rows with far units, or cells, of classes with these counts."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    if kind == "discrete":
        features = np.stack([rng.choice(values, size=len(codes)) for values in LEVELS[:d]], axis=1)
    else:
        mixing = np.eye(d) + 0.4 * rng.normal(size=(d, d))
        features = UNITS[:d] * (rng.normal(size=(len(codes), d)) @ mixing + 0.8 * codes[:, None] + 10.0)
    return Sample.of_codes(features, codes, np.arange(len(counts)))


class InPlaceOfNuts:
    """Keeps how the PyMC model is built and from what; then answers with free numbers that are handed over."""

    def __init__(self, monkeypatch):
        self.answer = None
        for module in (gaussian, student_t, mixture, discrete):
            monkeypatch.setattr(module, "run_nuts", self)

    def __call__(self, build, inputs, key, settings, seed):
        self.build, self.inputs = build, inputs
        if self.answer is None:
            raise StopIteration
        return NutsDraws(self.answer, {})

    def seen(self, model, data):
        """Return what a model would have NUTS sample: a function that builds it, and its inputs."""
        self.answer = None
        with pytest.raises(StopIteration):
            model.learn(data, "nuts", SETTINGS, SEED)
        return self.build, self.inputs

    def draws(self, model, data, free):
        """Return the classes as the measure sees them, for free numbers (points, ...) by name."""
        self.answer = {}
        for name, values in free.items():
            inner = values
            if name.endswith("_log__"):
                inner = np.exp(values)
            elif name.endswith("_simplex__"):
                inner = special.softmax(np.concatenate([values, -values.sum(axis=-1, keepdims=True)], axis=-1), axis=-1)
            self.answer[name.removesuffix("_log__").removesuffix("_simplex__")] = inner[None]
        return model.learn(data, "nuts", SETTINGS, SEED).draws


@pytest.fixture
def sampler(monkeypatch):
    return InPlaceOfNuts(monkeypatch)


def density(sampler, kind, covariance, model, data):
    """Return the PyMC model of this shape, which now has these data, and its log density."""
    import pymc as pm
    from pytensor.compile.mode import Mode

    build, inputs = sampler.seen(model, data)
    key = (kind, covariance, inputs.n_features, inputs.n_classes)
    if key not in _BUILT:
        pm_model = build(inputs)
        _BUILT[key] = pm_model, pm_model.compile_logp(mode=Mode(linker="py", optimizer=None))
    pm_model, log_density = _BUILT[key]
    with pm_model:
        pm.set_data(dict(inputs.arrays))
    return pm_model, log_density


def free_points(pm_model, seed=3):
    rng = np.random.default_rng(seed)
    return {value.name: 0.6 * rng.normal(size=(N_POINTS, *value.type.shape)) for value in pm_model.value_vars}


def parameters(draws):
    """Return the parameters of each point by name, those above the classes included."""
    named = {name: values[0] for name, (_, values) in draws.parameters().items()}
    return named | {name: values[0] for name, values in draws.hyper.items()}


def coordinates(named):
    """Return as many numbers as there are free ones: half of a symmetric matrix, all but one probability."""
    parts = []
    for name, values in named.items():
        kept = values
        if name.startswith(("covariance", "scale")):
            rows, columns = np.tril_indices(values.shape[-1])
            kept = values[..., rows, columns]
        elif name in ("weights", "cell_probabilities"):
            kept = values[..., :-1]
        parts.append(kept.reshape(len(kept), -1))
    return np.concatenate(parts, axis=1)


def log_jacobians(sampler, model, data, points):
    """Return log |d theta / dq| at each point."""
    names = list(points)
    flat = np.concatenate([points[name].reshape(N_POINTS, -1) for name in names], axis=1)
    size = flat.shape[1]
    shifts = STEP * np.concatenate([np.arange(1, 5), -np.arange(1, 5)])
    moved = flat[:, None, None, :] + shifts[:, None, None] * np.eye(size)
    moved = moved.reshape(-1, size)
    free, begin = {}, 0
    for name in names:
        shape = points[name].shape[1:]
        length = int(np.prod(shape))
        free[name] = moved[:, begin : begin + length].reshape(-1, *shape)
        begin += length
    found = coordinates(parameters(sampler.draws(model, data, free))).reshape(N_POINTS, 8, size, -1)
    assert found.shape[3] == size
    slopes = np.einsum("s,psqt->pqt", np.concatenate([STENCIL, -STENCIL]) / STEP, found)
    return np.linalg.slogdet(slopes)[1]


def inverse_wishart(dof, scale):
    if len(scale) > 1:
        return stats.invwishart(dof, scale)
    # SciPy's takes no matrices of one row; a variance is then scale / chi-square(dof).
    return stats.invgamma(dof / 2, scale=scale[0, 0] / 2)


def log_spread_prior(covariance, spread, dof, scale):
    """Return log p of one class: of a matrix, of variances of features, or of one variance."""
    if covariance in ("full", "shared"):
        return float(np.squeeze(inverse_wishart(dof, scale).logpdf(spread)))
    return float(np.sum(stats.invgamma(dof / 2, scale=np.asarray(scale) / 2).logpdf(spread)))


def as_matrix(spread, d):
    return spread if np.ndim(spread) == 2 else np.diag(np.broadcast_to(spread, d))


def units_of(prior, data, covariance):
    """Return location and scale of a hierarchical prior, the sample's where it names none."""
    if prior.location is not None:
        return np.broadcast_to(prior.location, data.features.shape[1]), np.broadcast_to(
            prior.scale, data.features.shape[1]
        )
    classes = [data.of_class(y) for y in range(data.n_classes)]
    scatter = sum(((own - own.mean(axis=0)) ** 2).sum(axis=0) for own in classes)
    variance = scatter / (len(data.codes) - data.n_classes)
    if covariance == "spherical":
        variance = np.full_like(variance, variance.mean())
    return np.mean([own.mean(axis=0) for own in classes], axis=0), np.sqrt(variance)


def hierarchical_scale(covariance, dof, scale):
    """Return the scale under which the mean of a covariance is that of the prior's units."""
    d = len(scale)
    if covariance in ("full", "shared"):
        return (dof - d - 1) * np.diag(scale**2)
    return (dof - 2) * (scale[0] ** 2 if covariance == "spherical" else scale**2)


def log_posterior(kind, covariance, model, data, theta):
    """Return log prior plus log likelihood of the rows; parameters are in the units of the features."""
    if kind == "discrete":
        return log_posterior_of_cells(model, data, theta["cell_probabilities"])
    c, d = data.n_classes, data.features.shape[1]
    spreads = next(values for name, values in theta.items() if name.startswith(("covariance", "scale", "variance")))
    shared = covariance == "shared"
    spreads = [spreads] * c if shared else list(spreads)
    total = 0.0
    if kind == "fixed":
        for y, prior in enumerate(model.prior):
            if y == 0 or not shared:
                total += log_spread_prior(covariance, spreads[y], prior.dof, prior.scale)
            total += stats.multivariate_normal(prior.mean, as_matrix(spreads[y], d) / prior.strength).logpdf(
                theta["means"][y]
            )
        return total + gaussian_rows(data, theta["means"], spreads)
    prior = Hierarchical() if isinstance(model.prior, str) else model.prior
    location, scale = units_of(prior, data, covariance)
    total += stats.norm(location, prior.center_spread * scale).logpdf(theta["center"]).sum()
    dof = prior.extra_dof + (d + 1 if covariance in ("full", "shared") else 2)
    spread_scale = hierarchical_scale(covariance, dof, scale)
    if kind == "mixture":
        return total + log_posterior_of_parts(model, data, theta, spreads, (covariance, dof, spread_scale, scale))
    total += stats.norm(np.log(prior.strength * d), prior.strength_spread).logpdf(theta["log_strength"])
    for y in range(c):
        if y == 0 or not shared:
            total += log_spread_prior(covariance, spreads[y], dof, spread_scale)
        of_mean = as_matrix(spreads[y], d) / np.exp(theta["log_strength"])
        total += stats.multivariate_normal(theta["center"], of_mean).logpdf(theta["means"][y])
    if kind == "gaussian":
        return total + gaussian_rows(data, theta["means"], spreads)
    total += stats.gamma(2.0, scale=10.0).logpdf(theta["dof"]).sum()
    for y in range(c):
        law = stats.multivariate_t(theta["means"][y], as_matrix(spreads[y], d), df=theta["dof"][y])
        total += np.sum(law.logpdf(data.of_class(y)))
    return total


def gaussian_rows(data, means, spreads):
    d = data.features.shape[1]
    return sum(
        np.sum(stats.multivariate_normal(mean, as_matrix(spread, d)).logpdf(data.of_class(y)))
        for y, (mean, spread) in enumerate(zip(means, spreads, strict=True))
    )


def log_posterior_of_parts(model, data, theta, spreads, prior):
    covariance, dof, spread_scale, scale = prior
    d, parts = data.features.shape[1], model.n_parts
    total = stats.norm(0.0, 0.5).logpdf(theta["log_separation"])
    apart = np.exp(theta["log_separation"]) * scale
    for y in range(data.n_classes):
        weights = theta["weights"][y]
        total += stats.dirichlet(np.full(parts, 2.0)).logpdf(weights)
        each = []
        for k in range(parts):
            mean, spread = theta["means"][y, k], spreads[y][k]
            total += log_spread_prior(covariance, spread, dof, spread_scale / parts**2)
            total += stats.norm(theta["center"], apart).logpdf(mean).sum()
            law = stats.multivariate_normal(mean, as_matrix(spread, d))
            each.append(np.log(weights[k]) + np.atleast_1d(law.logpdf(data.of_class(y))))
        total += special.logsumexp(each, axis=0).sum()
    return total


def log_posterior_of_cells(model, data, probabilities):
    """Walk over the table cell by cell, the last feature fastest."""
    d = data.features.shape[1]
    grid = np.stack(np.meshgrid(*LEVELS[:d], indexing="ij"), axis=-1).reshape(-1, d)
    total = 0.0
    for y, own in enumerate(probabilities):
        total += stats.dirichlet(np.full(len(grid), model.concentration)).logpdf(own)
        counts = (data.of_class(y)[:, None] == grid).all(axis=2).sum(axis=0)
        total += stats.multinomial(counts.sum(), own).logpmf(counts)
    return total


def assert_density(sampler, kind, covariance, model, data):
    """Compare differences between points of free space, to eight digits of the largest."""
    pm_model, log_density = density(sampler, kind, covariance, model, data)
    points = free_points(pm_model)
    found = np.array([log_density({name: values[i] for name, values in points.items()}) for i in range(N_POINTS)])
    named = parameters(sampler.draws(model, data, points))
    theta = [{name: values[i] for name, values in named.items()} for i in range(N_POINTS)]
    expected = np.array([log_posterior(kind, covariance, model, data, one) for one in theta])
    expected += log_jacobians(sampler, model, data, points)
    assert np.isfinite(found).all()
    differences, wanted = found[1:] - found[0], expected[1:] - expected[0]
    np.testing.assert_allclose(differences, wanted, rtol=0, atol=1e-8 * np.abs(wanted).max())


# Two features and two classes are those of the test after this one.
@pytest.mark.parametrize(
    ("d", "c"), [pytest.param(2, 2, marks=pytest.mark.long), (3, 2), (1, 3)], ids=["d2c2", "d3c2", "d1c3"]
)
@pytest.mark.parametrize(("kind", "covariance"), CLASS_MODELS, ids=str)
def test_density_is_that_of_prior_and_rows(sampler, kind, covariance, d, c):
    model, data = class_model(kind, covariance, d, c), sample((7, 5, 6)[:c], d, kind)
    assert_density(sampler, kind, covariance, model, data)


@pytest.mark.parametrize(("kind", "covariance"), CLASS_MODELS, ids=str)
def test_model_of_one_sample_takes_one_of_another_size(sampler, kind, covariance):
    model = class_model(kind, covariance, 2, 2)
    density(sampler, kind, covariance, model, sample((7, 5), 2, kind))
    assert_density(sampler, kind, covariance, model, sample((6, 13), 2, kind, seed=1))


@pytest.mark.parametrize(("kind", "covariance"), [*GAUSSIAN, *STUDENT, *MIXTURE], ids=str)
def test_default_prior_is_in_units_of_the_sample(sampler, kind, covariance):
    model = class_model(kind, covariance, 2, 2).set_params(prior="hierarchical")
    assert_density(sampler, kind, covariance, model, sample((7, 5), 2, kind))


@pytest.mark.parametrize(("kind", "covariance"), [*GAUSSIAN, *FIXED, *STUDENT, *MIXTURE], ids=str)
def test_density_stays_right_with_no_more_points_than_features(sampler, kind, covariance):
    counts = (4, 4) if kind == "mixture" else (2, 1)
    assert_density(sampler, kind, covariance, class_model(kind, covariance, 3, 2), sample(counts, 3, kind))


@pytest.mark.parametrize(("kind", "covariance"), CLASS_MODELS, ids=str)
def test_what_is_compiled_depends_on_the_shape_only(sampler, kind, covariance):
    shapes = []
    for counts in ((7, 5), (6, 13)):
        _, inputs = sampler.seen(class_model(kind, covariance, 2, 2), sample(counts, 2, kind))
        shapes.append({name: inputs.static_shape(name) for name in inputs.arrays})
    assert shapes[0] == shapes[1]
