"""NUTS against the closed form and Gibbs, compiling once, interrupts, and models of users.

Two models are compiled, both for two features and two classes: Gaussian classes under a fixed prior, and a user's; the
hierarchical prior, whose density test_pymc_models.py has, in `make test-long`. PyMC's own sampler runs here in Python,
without compiling. Chains are compared at four
Monte-Carlo standard errors, from batch means: 1e-4 false alarms per number, below 0.02 for the 110 of this file; seeds
are fixed, so that an alarm would be seen once and stay.
"""

import sys
import warnings
from collections import OrderedDict

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

import bayes_gresub as bg
from bayes_gresub.models import nuts
from bayes_gresub.models import user_model as custom
from bayes_gresub.models.nuts import NutsDraws

N_BATCHES = 20
MEAN, STRENGTH, DOF, SCALE = np.array([0.5, -1.0]), 0.8, 6.0, np.array([2.0, 3.0])


def sample(seed, counts=(20, 20), units=(1.0, 1.0)):
    """Return two correlated Gaussian classes, of other counts and in other units for every seed that is asked."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1], counts))
    mixing = np.eye(2) + 0.4 * rng.normal(size=(2, 2))
    return np.asarray(units) * (rng.normal(size=(len(y), 2)) @ mixing + 1.2 * y[:, None]), y


def batch_error(values):
    """Return mean and Monte-Carlo standard error of numbers (chains, draws, ...) from the means of batches."""
    chains, draws = values.shape[:2]
    length = draws // N_BATCHES
    means = values[:, : length * N_BATCHES].reshape(chains * N_BATCHES, length, *values.shape[2:]).mean(axis=1)
    return values.mean(axis=(0, 1)), means.std(axis=0, ddof=1) / np.sqrt(len(means))


def fixed_prior(units=(1.0, 1.0)):
    """Return two priors that differ, so that classes could not be mixed up."""
    root = np.diag(units) @ np.array([[1.2, 0.0], [0.4, 0.9]])
    return [
        bg.NormalInverseWishart(units * np.array([-0.5, 0.3]), 0.5, 5.0, 2 * root @ root.T),
        bg.NormalInverseWishart(units * np.array([1.0, 1.5]), 3.0, 7.5, 4 * root @ root.T),
    ]


def fixed(units=(1.0, 1.0), **given):
    return bg.Bayesian(bg.GaussianClasses("full", fixed_prior(np.asarray(units))), **{"sampler": "nuts"} | given)


def user_model(X, y):
    """Return the diagonal Gaussian model as a user would write it."""
    import pymc as pm
    import pytensor.tensor as pt

    with pm.Model() as model:
        spread = pm.InverseGamma("spread", DOF / 2, SCALE / 2, shape=(2, 2))
        means = pm.Normal("means", MEAN, pt.sqrt(spread / STRENGTH), shape=(2, 2))
        pm.Deterministic("covariances", spread[:, :, None] * np.eye(2))
        pm.Normal("x", means[y], pt.sqrt(spread)[y], observed=X)
    return model


@pytest.fixture(scope="module")
def user_fit():
    X, y = sample(11, (30, 25))
    return bg.Bayesian(user_model, random_state=0).fit(X, y), LinearDiscriminantAnalysis().fit(X, y), X, y


CASES = [
    (0, (6, 6), (1.0, 1.0)),
    (1, (20, 20), (1.0, 1.0)),
    (2, (35, 5), (100.0, 0.01)),
    (3, (100, 300), (1.0, 1.0)),
    (4, (3, 9), (5.0, 5.0)),
]


@pytest.mark.parametrize(("seed", "counts", "units"), CASES)
def test_error_of_linear_classifier_agrees_with_closed_form(seed, counts, units):
    X, y = sample(seed, counts, units)
    classifier = LinearDiscriminantAnalysis().fit(X, y)
    estimate = fixed(units, random_state=seed).fit(X, y).error(classifier)
    errors = estimate.draws.reshape(4, 1000)
    mean, variance = estimate.value, estimate.posterior_sd**2
    assert estimate.computation.exact
    for values, expected in ((errors, mean), ((errors - mean) ** 2, variance)):
        found, error = batch_error(values)
        assert abs(found - expected) < 4 * error


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:. of 4000 draws diverged")  # With few points one in some thousand does.
@pytest.mark.parametrize(("seed", "counts", "units"), CASES[:4])
def test_hierarchical_posterior_agrees_with_gibbs(seed, counts, units):
    X, y = sample(seed, counts, units)
    classifier = LinearDiscriminantAnalysis().fit(X, y)
    both = []
    for sampler, draws in (("nuts", 1000), ("gibbs", 4000)):
        measure = bg.Bayesian(sampler=sampler, draws=draws, random_state=seed).fit(X, y)
        errors = measure.error(classifier).draws.reshape(4, draws)
        drawn = measure.posterior_.draws
        covariances = drawn.parameters()["covariances"][1]
        both.append(
            {
                "error": errors,
                "means": drawn.means[:, :, :, 0],
                "covariances": covariances[..., *np.tril_indices(2)],
                "center": drawn.hyper["center"],
                "log_strength": drawn.hyper["log_strength"],
            }
        )
    middle = both[0]["error"].mean()
    for draws in both:
        draws["spread of error"] = (draws["error"] - middle) ** 2
    for name in both[0]:
        (left, left_error), (right, right_error) = (batch_error(draws[name]) for draws in both)
        z = (left - right) / np.hypot(left_error, right_error)
        assert (np.abs(z) < 4).all(), name


def test_data_of_the_same_shape_are_fitted_without_compiling(monkeypatch):
    import nutpie

    fixed(random_state=0, draws=100, tune=300).fit(*sample(0))
    calls = []
    compile_model = nutpie.compile_pymc_model
    monkeypatch.setattr(
        nutpie, "compile_pymc_model", lambda *args, **given: calls.append(1) or compile_model(*args, **given)
    )
    remembered = len(nuts._COMPILED)
    for seed, counts in enumerate([(20, 20), (5, 50)]):
        fixed(random_state=seed, draws=200, tune=300).fit(*sample(seed, counts))
    assert not calls
    assert len(nuts._COMPILED) == remembered


class Compiled:
    """Stands for a compiled model."""

    def with_data(self, **arrays):
        return self


@pytest.fixture
def compiled(monkeypatch):
    """Return the list of models that were asked to be compiled; sampling is stopped."""
    asked = []
    monkeypatch.setattr(nuts, "_COMPILED", OrderedDict())
    monkeypatch.setattr(nuts, "_compile", lambda model: asked.append(model) or Compiled())

    def stop(compiled, settings, seed):
        raise StopIteration

    monkeypatch.setattr(nuts, "sample_nutpie", stop)
    return asked


def stopped(model, X, y):
    with pytest.raises(StopIteration):
        bg.Bayesian(model, sampler="nuts", backend="nutpie", random_state=0).fit(X, y)


@pytest.mark.parametrize("model", [bg.GaussianClasses(), bg.StudentTClasses("shared"), bg.MixtureClasses()], ids=str)
def test_samples_of_other_sizes_share_a_compiled_model(compiled, model):
    for counts in ((20, 20), (9, 31)):
        stopped(model, *sample(0, counts))
    assert len(compiled) == 1


def test_another_structure_prior_or_shape_is_compiled_anew(compiled):
    X, y = sample(0)
    models = [
        bg.GaussianClasses(),
        bg.GaussianClasses("diagonal"),
        bg.GaussianClasses("full", fixed_prior()),
        bg.StudentTClasses(),
        bg.MixtureClasses(),
        bg.MixtureClasses(3),
    ]
    for model in models:
        stopped(model, X, y)
    stopped(bg.GaussianClasses(), np.column_stack([X, X[:, 0] ** 2]), y)
    assert len(compiled) == len(models) + 1


def test_compiled_models_that_were_not_used_for_long_are_dropped(compiled, monkeypatch):
    monkeypatch.setattr(nuts, "_MOST_COMPILED", 2)
    X, y = sample(0)
    for covariance in ("full", "diagonal", "full", "spherical", "full"):
        stopped(bg.GaussianClasses(covariance), X, y)
    assert len(compiled) == 3
    stopped(bg.GaussianClasses("diagonal"), X, y)
    assert len(compiled) == 4


def test_same_seed_gives_same_draws():
    X, y = sample(0)
    first, again, other = (
        fixed(random_state=seed, draws=100, tune=300).fit(X, y).posterior_.draws.means for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_short_chains_warn():
    with pytest.warns(UserWarning, match=r"diverged|chains disagree|effective draws"):
        fixed(draws=20, tune=5, random_state=0).fit(*sample(0))


def test_inference_data_tell_of_divergences():
    measure = fixed(random_state=0, draws=100, tune=300).fit(*sample(0))
    stats = measure.to_inference_data()["sample_stats"]
    assert stats["diverging"].dims == ("chain", "draw")
    assert stats["diverging"].shape == (4, 100)
    assert stats["diverging"].dtype == bool


@pytest.fixture
def interrupted(monkeypatch):
    """Return a function after which sampling is interrupted as soon as `ready(draws so far by chain)`."""
    import nutpie

    background = sys.modules[nutpie.sample.__module__]._BackgroundSampler

    def when(ready):
        def wait(self, *, timeout=None):
            while True:
                with warnings.catch_warnings():
                    # ArviZ wonders about chains without draws.
                    warnings.simplefilter("ignore")
                    found = self.inspect()["posterior"]["offset"].values
                if ready([int(np.isfinite(chain).all(axis=(1, 2)).sum()) for chain in found]):
                    raise KeyboardInterrupt

        monkeypatch.setattr(background, "wait", wait)

    return when


def test_interrupt_keeps_draws_and_warns(interrupted):
    interrupted(lambda drawn: len(drawn) == 2 and min(drawn) > 300)
    X, y = sample(0)
    with pytest.warns(UserWarning, match=r"interrupted after \d+ of 1000000 draws"):
        measure = fixed(draws=1_000_000, tune=300, chains=2, random_state=0).fit(X, y)
    n_chains, n_draws = measure.posterior_.draws.shape
    assert 300 < n_draws < 1_000_000
    assert np.isfinite(measure.error(LinearDiscriminantAnalysis().fit(X, y)).draws).all()
    assert measure.to_inference_data()["sample_stats"]["diverging"].shape == (n_chains, n_draws)


def test_interrupt_keeps_draws_of_chains_that_have_run_when_others_have_not_begun(interrupted):
    """With more chains than cores the last ones start after the first have ended."""
    interrupted(lambda drawn: max(drawn, default=0) > 300)
    X, y = sample(0)
    with pytest.warns(UserWarning, match="interrupted after"):
        measure = fixed(draws=1_000_000, tune=300, chains=16, random_state=0).fit(X, y)
    assert measure.posterior_.draws.shape[1] >= 10
    assert np.isfinite(measure.error(LinearDiscriminantAnalysis().fit(X, y)).draws).all()


def test_interrupt_while_tuning_is_not_swallowed(interrupted):
    interrupted(lambda drawn: True)
    with pytest.raises(KeyboardInterrupt):
        fixed(draws=1000, tune=1_000_000, chains=2, random_state=0).fit(*sample(0))


def test_interrupt_of_a_users_model_warns(monkeypatch):
    def short(model, settings, seed):
        rng = np.random.default_rng(0)
        names = {"means": (2, 2), "covariances": (2, 2, 2)}
        posterior = {name: rng.normal(size=(4, 300, *shape)) for name, shape in names.items()}
        posterior["covariances"] = posterior["covariances"] @ posterior["covariances"].swapaxes(-1, -2) + np.eye(2)
        return NutsDraws(posterior, {"diverging": np.zeros((4, 300), dtype=bool)})

    monkeypatch.setattr(custom, "sample_model", short)
    with pytest.warns(UserWarning, match="interrupted after 300 of 1000 draws"):
        bg.Bayesian(user_model, random_state=0).fit(*sample(0))


def test_users_model_gives_the_error_that_the_package_gives(user_fit):
    measure, classifier, X, y = user_fit
    prior = bg.NormalInverseWishart(MEAN, STRENGTH, DOF, SCALE)
    exact = bg.Bayesian(
        bg.GaussianClasses("diagonal", prior), sampler="conjugate", draws=10_000, chains=4, random_state=0
    ).fit(X, y)
    left, right = measure.error(classifier).draws.reshape(4, -1), exact.error(classifier).draws.reshape(4, -1)
    middle = right.mean()
    for values in (lambda errors: errors, lambda errors: (errors - middle) ** 2):
        (mine, error), (theirs, other_error) = batch_error(values(left)), batch_error(values(right))
        assert abs(mine - theirs) < 4 * np.hypot(error, other_error)


def test_users_model_is_checked(user_fit):
    measure, classifier, _, _ = user_fit
    verdict = measure.check(classifier, random_state=0)
    assert not verdict["sampling"].is_problem
    assert not verdict["error"].is_problem
    assert {"fit", "prior"} <= {finding.topic for finding in verdict.findings}


def test_users_model_takes_any_classifier(user_fit):
    measure, _, X, y = user_fit
    estimate = measure.error(KNeighborsClassifier(3).fit(X, y))
    low, high = estimate.interval(0.95)
    assert 0 < low < estimate.value < high < 1


def test_users_model_reaches_arviz(user_fit):
    measure, classifier, X, _ = user_fit
    data = measure.error(classifier).to_inference_data(log_likelihood=True, prior=50, posterior_predictive=True)
    assert {"error", "means", "covariances", "spread", "class_probabilities"} <= set(data["posterior"].data_vars)
    assert data["prior"]["covariances"].shape == (1, 50, 2, 2, 2)
    assert data["log_likelihood"]["xy"].shape == (4, 1000, len(X))
    assert data["posterior_predictive"]["x"].shape == (4, 1000, *X.shape)
    assert "diverging" in data["sample_stats"]


def test_users_prior_is_drawn_from(user_fit):
    measure, _, _, _ = user_fit
    drawn = measure.posterior_.prior_draws(2000, np.random.default_rng(0))
    inverse = 1 / np.einsum("sndd->snd", drawn.parameters()["covariances"][1][0])
    # The inverse of a variance is Gamma(dof / 2, rate scale / 2), with mean dof / scale.
    error = inverse.std(axis=0) / np.sqrt(len(inverse))
    assert (np.abs(inverse.mean(axis=0) - DOF / SCALE) < 4.5 * error).all()


def test_pymc_samples_without_nutpie():
    import pytensor

    rng = np.random.default_rng(0)
    X, y = rng.integers(2, size=(30, 1)).astype(float), np.repeat([0, 1], 15)
    settings = {"sampler": "nuts", "backend": "pymc", "draws": 40, "tune": 40, "chains": 2, "random_state": 0}
    with pytensor.config.change_flags(cxx="", mode="FAST_COMPILE"), pytest.warns(UserWarning, match="chains"):
        measure = bg.Bayesian(bg.DiscreteClasses(), **settings).fit(X, y)
    data = measure.to_inference_data()
    assert data["posterior"]["cell_probabilities"].shape == (2, 40, 2, 2)
    assert data["sample_stats"]["diverging"].shape == (2, 40)
    assert data["posterior"].attrs["backend"] == "pymc"
