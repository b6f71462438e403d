"""What a Bayesian measure cannot use is refused before any sampling, and what makes it unsafe warns, with a remedy.

Nothing is compiled: where NUTS would be run, it is replaced by a function that fails or hands over numbers.
"""

from __future__ import annotations

import functools
import importlib.util
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import bayes_gresub as bg
from bayes_gresub.data.sample import Sample, read_sample
from bayes_gresub.models import discrete, gaussian, mixture, nuts, student_t
from bayes_gresub.models import user_model as custom
from bayes_gresub.models.class_draws import ComponentDraws
from bayes_gresub.models.fitted_classes import FittedClasses, sampling_problems
from bayes_gresub.models.nuts import NutsDraws

REGISTERED = [entry for entry in bg.estimators("measure") if isinstance(entry.make(), bg.Bayesian)]
COVARIANCES = ("full", "shared", "diagonal", "spherical")
every_registered = pytest.mark.parametrize("entry", REGISTERED, ids=lambda entry: entry.name)


@functools.cache
def sample(n=24, d=3, c=2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % c
    return rng.normal(size=(n, d)) + y[:, None], y


@functools.cache
def trained():
    return LogisticRegression().fit(*sample())


def gibbs(model=None, **given):
    return bg.Bayesian(model, **({"sampler": "gibbs", "random_state": 0} | given))


def conjugate(model=None, **given):
    model = bg.GaussianClasses(prior=prior()) if model is None else model
    return bg.Bayesian(model, **({"sampler": "conjugate", "draws": 20, "chains": 1, "random_state": 0} | given))


def prior(covariance="full", d=3, **changed):
    scale = {"diagonal": np.ones(d), "spherical": 1.0}.get(covariance, np.eye(d))
    return bg.NormalInverseWishart(**({"mean": np.zeros(d), "strength": 1.0, "dof": d + 2, "scale": scale} | changed))


@functools.cache
def fitted():
    return conjugate().fit(*sample())


@pytest.fixture
def sampling():
    """Let a test run the Gibbs sampler."""


@pytest.fixture(autouse=True)
def _no_sampling(monkeypatch, request):
    """Fail where chains are begun, in tests that are not about that."""
    if "sampling" in request.fixturenames:
        return

    def refuse(*args, **kwargs):
        raise AssertionError("sampling began before the input was checked")

    monkeypatch.setattr(gaussian, "run_gibbs", refuse)
    for module in (gaussian, student_t, mixture, discrete):
        monkeypatch.setattr(module, "run_nuts", refuse)
    monkeypatch.setattr(custom, "sample_model", refuse)


# Data


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@every_registered
def test_features_must_be_finite(entry, value):
    X, y = sample()
    X = X.copy()
    X[5, 1] = value
    with pytest.raises(ValueError, match=r"got 1 NaN or infinite values, the first in row 5\. Impute or drop them"):
        entry.make().fit(X, y)


@every_registered
def test_sparse_features_are_refused(entry):
    with pytest.raises(TypeError, match=r"X must be dense; got a sparse matrix .* Use X\.toarray\(\)"):
        entry.make().fit(sparse.csr_array(sample()[0]), sample()[1])


@every_registered
def test_one_class_is_refused(entry):
    with pytest.raises(ValueError, match=r"y must hold at least two classes; got only \[1\]"):
        entry.make().fit(sample()[0], np.ones(24, dtype=int))


@every_registered
def test_labels_of_another_length_are_refused(entry):
    X, y = sample()
    with pytest.raises(ValueError, match=r"one label per row of X; got shape \(23,\) for 24 rows"):
        entry.make().fit(X, y[:-1])


@every_registered
def test_weights_are_refused(entry):
    X, y = sample()
    with pytest.raises(ValueError, match=r"takes no sample_weight: its likelihood counts points\. Give class_prior"):
        entry.make().fit(X, y, sample_weight=np.ones(len(y)))


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_constant_column_is_refused_by_its_number(covariance):
    X, y = sample()
    X = np.column_stack([X, np.full(len(y), 3.0)])
    with pytest.raises(ValueError, match=r"features that vary within classes; feature 3 does not\. Drop such columns"):
        gibbs(bg.GaussianClasses(covariance)).fit(X, y)


def test_constant_column_of_a_frame_is_refused_by_its_name():
    X, y = sample()
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(height=1.0)
    with pytest.raises(ValueError, match=r"height does not\. Drop such columns, or use a measure without a model"):
        gibbs().fit(frame, y)


def test_column_constant_within_each_class_is_refused():
    X, y = sample()
    with pytest.raises(ValueError, match=r"feature 3 does not\. Drop such columns"):
        gibbs().fit(np.column_stack([X, 2.0 * y]), y)


def test_many_constant_columns_are_counted():
    X, y = sample()
    with pytest.raises(ValueError, match="feature 7 and 2 more do not"):
        gibbs().fit(np.column_stack([X, np.ones((len(y), 7))]), y)


@pytest.mark.parametrize("model", [bg.StudentTClasses(), bg.MixtureClasses(), bg.GaussianClasses(prior=prior(d=4))])
def test_constant_column_is_refused_by_every_model_of_numbers(model):
    X, y = sample()
    with pytest.raises(ValueError, match=r"feature 3 does not\. Drop such columns"):
        bg.Bayesian(model).fit(np.column_stack([X, np.ones(len(y))]), y)


def test_class_without_points_in_a_part_is_refused():
    """Such as a fold that holds no point of it."""
    whole = read_sample(*sample(c=3))
    kept = whole.codes != 1
    part = Sample(
        **{
            name: value[kept] if isinstance(value, np.ndarray) and len(value) == len(kept) else value
            for name, value in vars(whole).items()
        }
    )
    with pytest.raises(ValueError, match=r"needs points of every class; got none of \[1\]\. Fit with all classes"):
        conjugate().fit_sample(part, np.random.SeedSequence(0))


ODD = {
    "every row four times": lambda X, y: (np.repeat(X[:6], 4, axis=0), np.repeat(y[:6], 4)),
    "huge values": lambda X, y: (1e30 * X, y),
    "tiny values": lambda X, y: (1e-30 * X, y),
    "far from the origin": lambda X, y: (X + 1e9, y),
    "collinear features": lambda X, y: (np.column_stack([X, X[:, 0] + X[:, 1]]), y),
    "equal rows within a class": lambda X, y: (np.where(y[:, None] == 1, X[1], X), y),
    "a class of one point": lambda X, y: (X, np.where(np.arange(len(y)) == 0, 0, 1)),
}


@pytest.mark.usefixtures("sampling")
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("odd", ODD)
def test_odd_samples_have_finite_errors(odd, covariance):
    X, y = ODD[odd](*sample())
    measure = gibbs(bg.GaussianClasses(covariance), draws=30, tune=20, chains=2).fit(X, y)
    for rule in (DecisionTreeClassifier(max_depth=2, random_state=0), KNeighborsClassifier(1)):
        estimate = measure.error(rule.fit(X, y))
        assert np.isfinite(estimate.draws).all()
        assert 0.0 <= estimate.value <= 1.0


# Few points


def few(n, d):
    X, y = sample(n, d)
    return X, np.array(["ant", "bee"])[y]


@pytest.mark.usefixtures("sampling")
@pytest.mark.filterwarnings("ignore:the chains")
def test_fewer_points_than_features_warn_with_the_remedy():
    with pytest.warns(
        UserWarning, match=r"class 'ant' has 6 points for a covariance matrix of 8 features: .* Use covariance='shared'"
    ):
        gibbs(draws=10, tune=0, chains=1).fit(*few(12, 8))


@pytest.mark.usefixtures("sampling")
@pytest.mark.filterwarnings("ignore:the chains")
def test_fewer_points_than_features_together_warn_with_the_remedy():
    with pytest.warns(
        UserWarning, match=r"12 points are few for a covariance matrix of 12 features: .* Use covariance='diagonal'"
    ):
        gibbs(bg.GaussianClasses("shared"), draws=10, tune=0, chains=1).fit(*few(12, 12))


def test_fixed_prior_warns_of_few_points_too():
    with pytest.warns(UserWarning, match="the prior then decides"):
        conjugate(bg.GaussianClasses(prior=prior(d=8))).fit(*few(12, 8))


@pytest.mark.usefixtures("sampling")
@pytest.mark.filterwarnings("ignore:the chains")
@pytest.mark.parametrize("covariance", ["diagonal", "spherical"])
def test_few_points_are_enough_for_single_variances(covariance):
    gibbs(bg.GaussianClasses(covariance), draws=10, chains=1).fit(*few(12, 8))


def test_warning_points_at_the_line_of_the_user():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        conjugate(bg.GaussianClasses(prior=prior(d=8))).fit(*few(12, 8))
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.usefixtures("sampling")
@pytest.mark.parametrize("model", [bg.StudentTClasses(), bg.MixtureClasses(1)])
def test_models_for_nuts_warn_of_few_points_before_it_is_run(model, monkeypatch):
    class Begun(Exception):
        pass

    def begin(*args, **kwargs):
        raise Begun

    for module in (student_t, mixture):
        monkeypatch.setattr(module, "run_nuts", begin)
    with pytest.warns(UserWarning, match="Use covariance="), pytest.raises(Begun):
        bg.Bayesian(model).fit(*few(12, 8))


# Samplers and models


def test_unknown_sampler_lists_the_names():
    with pytest.raises(ValueError, match="unknown sampler 'nut'; the names are nuts, auto, conjugate, gibbs"):
        bg.Bayesian(sampler="nut").fit(*sample())


@pytest.mark.parametrize("given", ["hierarchical", bg.Hierarchical(strength=0.5)], ids=["name", "object"])
def test_conjugate_draws_of_a_hierarchical_prior_name_gibbs(given):
    with pytest.raises(ValueError, match=r"needs a fixed prior, NormalInverseWishart\(\.\.\.\).* Use sampler='gibbs'"):
        conjugate(bg.GaussianClasses(prior=given)).fit(*sample())


@pytest.mark.parametrize("given", [prior(), [prior(), prior()]], ids=["one", "list"])
def test_gibbs_of_a_fixed_prior_names_conjugate(given):
    with pytest.raises(ValueError, match=r"is for the hierarchical prior; .* Use sampler='conjugate'"):
        gibbs(bg.GaussianClasses(prior=given)).fit(*sample())


@pytest.mark.parametrize("sampler", ["gibbs", "conjugate"])
@pytest.mark.parametrize("model", [bg.StudentTClasses(), bg.MixtureClasses()])
def test_models_that_need_nuts_say_so(model, sampler):
    with pytest.raises(ValueError, match=f"must be one of 'nuts' for {type(model).__name__}; got '{sampler}'"):
        bg.Bayesian(model, sampler=sampler).fit(*sample())


@pytest.mark.parametrize("sampler", ["gibbs", "conjugate"])
def test_function_that_builds_a_model_needs_nuts(sampler):
    with pytest.raises(ValueError, match="must be one of 'nuts' for PyMCClasses"):
        bg.Bayesian(lambda X, y: None, sampler=sampler).fit(*sample())


def test_gibbs_of_cells_names_conjugate():
    with pytest.raises(ValueError, match="must be 'nuts' or 'conjugate' for DiscreteClasses; got 'gibbs'"):
        gibbs(bg.DiscreteClasses()).fit(*sample())


@pytest.mark.parametrize("covariance", ["full", "shared"])
@pytest.mark.parametrize(
    ("given", "instead"), [("hierarchical", "gibbs"), (prior(d=51), "conjugate")], ids=["hierarchical", "fixed"]
)
def test_nuts_of_large_matrices_is_refused_before_compiling(covariance, given, instead):
    X, y = sample(200, 51)
    with pytest.raises(
        ValueError, match=f"at most 50 features; got 51. Use covariance='diagonal', sampler='{instead}', or fewer"
    ):
        bg.Bayesian(bg.GaussianClasses(covariance, given), sampler="nuts").fit(X, y)


@pytest.mark.parametrize("model", [bg.StudentTClasses(), bg.StudentTClasses("shared"), bg.MixtureClasses()])
def test_nuts_of_large_matrices_is_refused_by_every_model(model):
    with pytest.raises(ValueError, match=r"at most 50 features; got 51\. Use covariance='diagonal', or fewer features"):
        bg.Bayesian(model).fit(*sample(400, 51))


@pytest.mark.usefixtures("sampling")
@pytest.mark.filterwarnings("ignore:the chains")
def test_gibbs_takes_large_matrices():
    measure = gibbs(draws=10, tune=0, chains=1).fit(*sample(200, 51))
    assert measure.posterior_.draws.means.shape[-1] == 51


@pytest.mark.parametrize("model", [3, "gaussian", bg.GaussianClasses], ids=["number", "name", "class"])
def test_model_must_be_a_model_or_a_function(model):
    with pytest.raises(TypeError, match=r"model must be a class model such as GaussianClasses\(\) or a function"):
        gibbs(model).fit(*sample())


@pytest.mark.parametrize(
    "model", [bg.GaussianClasses("fulll"), bg.StudentTClasses("fulll"), bg.MixtureClasses(covariance="fulll")]
)
def test_unknown_covariance_lists_the_names_nearest_first(model):
    with pytest.raises(ValueError, match="unknown covariance 'fulll'; the names are full, diagonal, shared, spherical"):
        bg.Bayesian(model).fit(*sample())


@pytest.mark.parametrize("backend", ["numpyro", "Nutpie", 3])
def test_unknown_backend_lists_the_names(backend):
    with pytest.raises(ValueError, match="backend must be 'nutpie', 'pymc' or None; got"):
        bg.Bayesian(backend=backend).fit(*sample())


def test_backend_that_is_not_installed_names_the_install_line(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'bayes_gresub\[nutpie\]', or use backend='pymc'"):
        bg.Bayesian(backend="nutpie").fit(*sample())


def test_backend_is_what_is_installed(monkeypatch):
    assert nuts.choose_backend(None) == "nutpie"
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert nuts.choose_backend(None) == "pymc"


# Numbers of the measure


@pytest.mark.parametrize(
    ("name", "value", "least"),
    [
        ("draws", 9, 10),
        ("draws", 100.0, 10),
        ("draws", None, 10),
        ("chains", 0, 1),
        ("chains", True, 1),
        ("tune", -1, 0),
        ("tune", "200", 0),
        ("n_points", 1, 2),
        ("n_points", 64.0, 2),
    ],
)
def test_numbers_of_the_sampler_are_checked(name, value, least):
    with pytest.raises(ValueError, match=f"{name} must be a whole number of at least {least}; got {value!r}"):
        gibbs(**{name: value}).fit(*sample())


def test_threads_are_checked():
    with pytest.raises(ValueError, match="n_jobs must be a whole number other than 0"):
        gibbs(n_jobs=0).fit(*sample())


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, [1.0, 0.0], "one", None, True])
def test_class_concentration_must_be_positive(value):
    with pytest.raises(ValueError, match="class_concentration must hold numbers above 0"):
        gibbs(class_concentration=value).fit(*sample())


@pytest.mark.parametrize("value", [[1.0, 1.0, 1.0], [[1.0, 1.0], [1.0, 1.0]]], ids=["three", "matrix"])
def test_class_concentration_must_have_one_number_or_one_per_class(value):
    with pytest.raises(ValueError, match="class_concentration must"):
        gibbs(class_concentration=value).fit(*sample())


@pytest.mark.parametrize("value", [[0.5, 0.6], {0: 1.0}, [1.0], {"ant": 0.5, "bee": 0.5}])
def test_class_prior_must_be_a_law_of_the_classes(value):
    with pytest.raises(ValueError, match="class_prior must"):
        gibbs(class_prior=value).fit(*sample())


def test_unknown_sampling_is_refused():
    with pytest.raises(ValueError, match="sampling must be 'mixture' or 'separate'"):
        gibbs(sampling="stratified").fit(*sample())


@pytest.mark.parametrize("seed", [-1, 1.5, "zero", np.random.default_rng(0)])
def test_bad_random_state_is_refused(seed):
    with pytest.raises(ValueError, match="random_state"):
        gibbs(random_state=seed).fit(*sample())


# Priors


def test_unknown_prior_names_the_valid_ones():
    with pytest.raises(ValueError, match=r"must be 'hierarchical', Hierarchical\(\.\.\.\) or NormalInverseWishart"):
        gibbs(bg.GaussianClasses(prior="flat")).fit(*sample())


@pytest.mark.parametrize("value", [3, None, [], [bg.Hierarchical()], bg.NormalInverseWishart], ids=str)
def test_prior_must_be_a_prior(value):
    with pytest.raises(TypeError, match=r"a list with one NormalInverseWishart per class; got"):
        gibbs(bg.GaussianClasses(prior=value)).fit(*sample())


@pytest.mark.parametrize("model", [bg.StudentTClasses(prior=prior()), bg.MixtureClasses(prior=prior())])
def test_other_models_have_the_hierarchical_prior_only(model):
    name = type(model).__name__
    with pytest.raises(
        ValueError, match=f"{name} has the hierarchical prior only; got NormalInverseWishart. Use Gauss"
    ):
        bg.Bayesian(model).fit(*sample())


@pytest.mark.parametrize("name", ["strength", "strength_spread", "center_spread", "extra_dof"])
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, True, "1"])
def test_numbers_of_the_hierarchical_prior_are_checked(name, value):
    with pytest.raises(ValueError, match=f"{name} of the hierarchical prior must be a number above 0; got {value!r}"):
        gibbs(bg.GaussianClasses(prior=bg.Hierarchical(**{name: value}))).fit(*sample())


@pytest.mark.parametrize("value", [[0.0, 1.0], np.zeros((3, 3)), np.nan])
def test_location_must_have_one_number_per_feature(value):
    with pytest.raises(ValueError, match=r"location of the prior must be finite, a number or one per feature \(3\)"):
        gibbs(bg.GaussianClasses(prior=bg.Hierarchical(location=value))).fit(*sample())


@pytest.mark.parametrize("value", [[1.0, 1.0], 0.0, [1.0, -1.0, 1.0], np.inf])
def test_scale_must_be_positive_for_every_feature(value):
    with pytest.raises(ValueError, match=r"scale of the prior must be finite and above 0, .* one per feature \(3\)"):
        gibbs(bg.GaussianClasses(prior=bg.Hierarchical(scale=value))).fit(*sample())


@pytest.mark.parametrize("name", ["location", "scale"])
def test_units_of_the_prior_must_be_numbers(name):
    with pytest.raises(ValueError, match=f"{name} of the prior must hold numbers; got 'metres'"):
        gibbs(bg.GaussianClasses(prior=bg.Hierarchical(**{name: "metres"}))).fit(*sample())


def test_spherical_covariances_have_one_unit():
    given = bg.Hierarchical(scale=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="must be one number for spherical covariances; got one per feature"):
        gibbs(bg.GaussianClasses("spherical", given)).fit(*sample())


@pytest.mark.parametrize("value", [np.zeros(2), np.zeros((3, 1)), [0.0, np.nan, 0.0], 0.0])
def test_mean_must_have_one_number_per_feature(value):
    with pytest.raises(ValueError, match="mean of the prior must hold 3 finite numbers, one per feature"):
        conjugate(bg.GaussianClasses(prior=prior(mean=value))).fit(*sample())


@pytest.mark.parametrize("name", ["mean", "scale"])
def test_fixed_prior_must_hold_numbers(name):
    with pytest.raises(ValueError, match=f"{name} of the prior must hold numbers; got 'big'"):
        conjugate(bg.GaussianClasses(prior=prior(**{name: "big"}))).fit(*sample())


@pytest.mark.parametrize("value", [0.0, -2.0, np.nan, np.inf, True, "1"])
def test_strength_must_be_positive(value):
    with pytest.raises(ValueError, match=f"strength of the prior must be a number above 0; got {value!r}"):
        conjugate(bg.GaussianClasses(prior=prior(strength=value))).fit(*sample())


@pytest.mark.parametrize(("covariance", "bound"), [("full", 2), ("shared", 2), ("diagonal", 0), ("spherical", 0)])
def test_dof_must_make_the_prior_proper(covariance, bound):
    with pytest.raises(ValueError, match=f"dof of the prior must be a number above {bound}; got {bound}"):
        conjugate(bg.GaussianClasses(covariance, prior(covariance, dof=bound))).fit(*sample())


@pytest.mark.parametrize("covariance", ["full", "shared"])
@pytest.mark.parametrize("value", [1.0, np.ones(3), np.eye(2), np.full((3, 3), np.nan)])
def test_scale_of_matrices_must_be_a_matrix(covariance, value):
    with pytest.raises(
        ValueError, match=rf"matrix of finite numbers of shape \(3, 3\) for {covariance} covariances; got shape"
    ):
        conjugate(bg.GaussianClasses(covariance, prior(scale=value))).fit(*sample())


@pytest.mark.parametrize("unit", [1e-10, 1.0, 1e10])
def test_scale_of_matrices_must_be_symmetric_in_any_unit(unit):
    with pytest.raises(ValueError, match="scale of the prior must be symmetric; got 0 and"):
        conjugate(bg.GaussianClasses(prior=prior(scale=unit * (np.eye(3) + np.tri(3))))).fit(*sample())


@pytest.mark.parametrize("value", [np.zeros((3, 3)), np.diag([1.0, -1.0, 1.0]), np.ones((3, 3))])
def test_scale_of_matrices_must_be_positive_definite(value):
    with pytest.raises(ValueError, match="scale of the prior must be positive definite"):
        conjugate(bg.GaussianClasses(prior=prior(scale=value))).fit(*sample())


@pytest.mark.parametrize("value", [1.0, np.eye(3), [1.0, 1.0], [1.0, 0.0, 1.0], [1.0, np.inf, 1.0]])
def test_scale_of_diagonals_must_be_a_number_per_feature(value):
    with pytest.raises(ValueError, match="must hold 3 positive numbers, one per feature, for diagonal covariances"):
        conjugate(bg.GaussianClasses("diagonal", prior(scale=value))).fit(*sample())


@pytest.mark.parametrize("value", [0.0, -1.0, np.inf, np.ones(3)])
def test_scale_of_spheres_must_be_one_number(value):
    with pytest.raises(ValueError, match="must be one positive number for spherical covariances; got"):
        conjugate(bg.GaussianClasses("spherical", prior(scale=value))).fit(*sample())


@pytest.mark.parametrize("count", [1, 3])
def test_list_of_priors_must_have_one_per_class(count):
    with pytest.raises(ValueError, match=f"one for each of 2 classes; got {count}"):
        conjugate(bg.GaussianClasses(prior=[prior()] * count)).fit(*sample())


@pytest.mark.parametrize("changed", [{"dof": 9.0}, {"scale": 2 * np.eye(3)}], ids=["dof", "scale"])
def test_shared_covariance_has_one_prior(changed):
    with pytest.raises(ValueError, match="share a covariance share its prior; got priors that differ in dof or scale"):
        conjugate(bg.GaussianClasses("shared", [prior(), prior(**changed)])).fit(*sample())


# Mixtures and cells


@pytest.mark.parametrize("value", [0, 2.0, None])
def test_number_of_parts_must_be_a_positive_whole_number(value):
    with pytest.raises(ValueError, match="n_parts must be a whole number of at least 1"):
        bg.Bayesian(bg.MixtureClasses(value)).fit(*sample())


def test_parts_share_no_covariance():
    with pytest.raises(ValueError, match="'full', 'diagonal' or 'spherical' for MixtureClasses; got 'shared'"):
        bg.Bayesian(bg.MixtureClasses(covariance="shared")).fit(*sample())


def test_parts_need_two_points_each():
    with pytest.raises(ValueError, match=r"two points for each of 7 parts .* has 12\. Lower n_parts, or use Gaussian"):
        bg.Bayesian(bg.MixtureClasses(7)).fit(*sample())


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, True, "1", None])
def test_concentration_of_cells_must_be_positive(value):
    with pytest.raises(ValueError, match="concentration must be a number above 0"):
        conjugate(bg.DiscreteClasses(value)).fit(*sample())


def whole_numbers(n=24, levels=2):
    X, y = sample(n)
    return np.clip(np.round(X), 0, levels - 1), y


def test_too_many_cells_are_refused():
    with pytest.raises(ValueError, match=r"at most 100,000 cells; the values of 3 features make .* Join values, drop"):
        conjugate(bg.DiscreteClasses()).fit(*sample(200))


def test_too_many_cells_for_nuts_name_conjugate():
    levels = [range(11)] * 3
    with pytest.raises(ValueError, match=r"takes at most 1,000 cells; got 1,331\. Use sampler='conjugate'"):
        bg.Bayesian(bg.DiscreteClasses(levels=levels), sampler="nuts").fit(*whole_numbers())


def test_value_that_is_no_level_is_named():
    with pytest.raises(ValueError, match=r"feature 1 must take values among its levels \[0.0\]; got 1.0. Give all"):
        conjugate(bg.DiscreteClasses(levels=[[0, 1], [0], [0, 1]])).fit(*whole_numbers())


def test_more_cells_than_points_warn():
    with pytest.warns(UserWarning, match=r"counts as 27 points, the smallest class has 12: .* Join values, or lower"):
        conjugate(bg.DiscreteClasses(levels=[[0, 1, 2]] * 3)).fit(*whole_numbers())


@pytest.mark.parametrize(
    "levels", [[[0, 1]], [[0, 1]] * 4, [[0, 1], [], [0, 1]]], ids=["too few", "too many", "an empty one"]
)
def test_levels_must_be_given_for_every_feature(levels):
    with pytest.raises(ValueError, match="levels must list the values of each of 3 features"):
        conjugate(bg.DiscreteClasses(levels=levels)).fit(*whole_numbers())


@pytest.mark.parametrize("levels", [5, [["a", "b"]] * 3], ids=["number", "text"])
def test_levels_must_be_lists_of_numbers(levels):
    with pytest.raises((TypeError, ValueError), match="levels must"):
        conjugate(bg.DiscreteClasses(levels=levels)).fit(*whole_numbers())


def test_cells_are_no_numbers_that_a_classifier_never_saw():
    """Points of another table are refused, not put into the nearest cell."""
    measure = conjugate(bg.DiscreteClasses(), draws=10).fit(*whole_numbers())
    with pytest.raises(ValueError, match=r"feature 0 must take values among its levels"):
        measure.posterior_.draws.log_density(np.array([[0.5, 0.0, 0.0]]))


# Models of users: a stand-in for PyMC's model, which only has to know its variables, and no sampling


def user_model(*names):
    return SimpleNamespace(unobserved_RVs=[SimpleNamespace(name=name) for name in names])


def hand_over(monkeypatch, **arrays):
    """Let sampling give these arrays for a single draw of a single chain."""
    posterior = {name: np.asarray(values, dtype=float)[None, None] for name, values in arrays.items()}
    posterior = {name: np.repeat(values, 10, axis=1) for name, values in posterior.items()}
    monkeypatch.setattr(custom, "sample_model", lambda *args: NutsDraws(posterior, {}))


@pytest.mark.parametrize("value", [None, {"means": 1}, "model"], ids=["None", "dict", "text"])
def test_function_must_return_a_model(value):
    with pytest.raises(TypeError, match=r"the function must return a pm\.Model; got a (NoneType|dict|str)"):
        bg.Bayesian(lambda X, y: value).fit(*sample())


@pytest.mark.parametrize("names", [("mu", "variances"), ("means",), ("means", "variances", "covariances"), ()])
def test_variables_of_a_model_must_have_the_right_names(names):
    with pytest.raises(ValueError, match=r"a variable `means` and one of covariances, .* Add pm\.Deterministic"):
        bg.Bayesian(lambda X, y: user_model(*names)).fit(*sample())


@pytest.mark.parametrize("shape", [(2,), (3, 3), (2, 2, 2, 3)])
def test_means_of_a_model_must_fit_the_classes(monkeypatch, shape):
    hand_over(monkeypatch, means=np.zeros(shape), variances=np.ones(2))
    with pytest.raises(ValueError, match=r"means must have shape \(c, d\) or \(c, parts, d\), with c=2 and d=3; got"):
        bg.Bayesian(lambda X, y: user_model("means", "variances")).fit(*sample())


def test_means_of_a_model_must_fit_the_features(monkeypatch):
    hand_over(monkeypatch, means=np.zeros((2, 4)), variances=np.ones(2))
    with pytest.raises(ValueError, match=r"means must have shape .* with c=2 and d=3; got \(2, 4\)"):
        bg.Bayesian(lambda X, y: user_model("means", "variances")).fit(*sample())


@pytest.mark.parametrize(
    "arrays",
    [
        {"means": np.zeros((2, 2, 3)), "variances": np.ones((2, 2))},
        {"means": np.zeros((2, 3)), "variances": np.ones(2), "weights": np.full((2, 2), 0.5)},
    ],
    ids=["no weights", "no parts"],
)
def test_parts_of_a_model_need_weights(monkeypatch, arrays):
    hand_over(monkeypatch, **arrays)
    with pytest.raises(ValueError, match=r"both means of shape \(c, parts, d\) and weights of shape \(c, parts\)"):
        bg.Bayesian(lambda X, y: user_model(*arrays)).fit(*sample())


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("covariances", (2, 2, 2)),
        ("covariance", (2, 2)),
        ("variances", (2, 2)),
        ("variances", (3,)),
    ],
)
def test_spread_of_a_model_must_fit_classes_and_features(monkeypatch, name, shape):
    values = np.ones(shape) + (np.eye(2) if shape[-2:] == (2, 2) else 0.0)
    hand_over(monkeypatch, means=np.zeros((2, 3)), **{name: values})
    with pytest.raises(ValueError, match=f"{name} must have shape"):
        bg.Bayesian(lambda X, y: user_model("means", name)).fit(*sample())


@pytest.mark.filterwarnings("ignore:the chains")
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("covariances", np.stack([np.eye(3)] * 2)),
        ("covariance", np.eye(3)),
        ("variances", np.ones((2, 3))),
        ("variances", np.ones(2)),
        ("variance", np.ones(3)),
    ],
)
def test_every_spread_of_a_model_is_understood(monkeypatch, name, values):
    """Standard normal classes two apart: LDA's boundary is known to lie where it lies."""
    hand_over(monkeypatch, means=np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]]), **{name: values})
    measure = bg.Bayesian(lambda X, y: user_model("means", name), class_prior=[0.5, 0.5], draws=10).fit(*sample())

    class Halfway:
        classes_ = np.array([0, 1])

        def predict(self, X):
            return (X[:, 0] > 1.0).astype(int)

    assert measure.error(Halfway()).value == pytest.approx(0.158655, abs=0.02)


# Questions


@pytest.mark.parametrize("given", [{"X": 0}, {"y": 1}, {"X": 0, "y": 1}, {"sample_weight": 1}], ids=str)
def test_points_in_error_are_refused(given):
    values = {name: sample()[index] for name, index in given.items()}
    with pytest.raises(ValueError, match=r"cannot be centred at points; .* Fit it to these points, or use TestSet"):
        fitted().error(trained(), **values)


UNFITTED = {
    "error": lambda measure: measure.error(trained()),
    "sample": lambda measure: measure.sample(3),
    "expectation": lambda measure: measure.expectation(lambda X, y: np.ones(len(y))),
    "probability": lambda measure: measure.probability(lambda X, y: y == 0),
    "check": lambda measure: measure.check(),
    "mse": lambda measure: measure.mse(0.1, trained()),
    "to_inference_data": lambda measure: measure.to_inference_data(),
}


@pytest.mark.parametrize("question", UNFITTED)
def test_unfitted_measure_is_refused(question):
    with pytest.raises(NotFittedError, match=r"this Bayesian is not fitted; call fit\(X, y\) first"):
        UNFITTED[question](conjugate())


def test_unfitted_classifier_is_refused():
    with pytest.raises(NotFittedError):
        fitted().error(LogisticRegression())


def test_classifier_of_other_features_is_refused():
    X, y = sample()
    with pytest.raises(ValueError, match="features"):
        fitted().error(LogisticRegression().fit(X[:, :2], y))


def test_classifier_that_guesses_is_refused():
    X, y = sample()
    with pytest.raises(ValueError, match="same"):
        fitted().error(DummyClassifier(strategy="stratified").fit(X, y))


def test_class_that_the_classifier_never_saw_is_refused():
    X, y = sample()
    with pytest.raises(ValueError, match="class"):
        conjugate(bg.GaussianClasses(prior=prior()), draws=10).fit(X, np.append(y[:-4], [2] * 4)).error(trained())


@pytest.mark.parametrize("n", [0, -1, 2.0, None])
def test_number_of_pairs_must_be_a_positive_whole_number(n):
    with pytest.raises(ValueError, match="n must be a whole number of at least 1"):
        fitted().sample(n)


@pytest.mark.parametrize("question", ["sample", "expectation", "probability"])
def test_pairs_need_class_probabilities(question):
    measure = conjugate(sampling="separate").fit(*sample())
    with pytest.raises(ValueError, match=r"which sampling='separate' does not learn\. Give class_prior to the measure"):
        UNFITTED[question](measure)


@pytest.mark.parametrize("loss", [lambda X, y: 1.0, lambda X, y: np.ones((len(y), 2)), lambda X, y: np.ones(3)])
def test_loss_of_another_shape_is_refused(loss):
    with pytest.raises(ValueError, match="one finite number per point; got shape"):
        fitted().expectation(loss)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_loss_that_is_not_finite_is_refused(value):
    with pytest.raises(ValueError, match="some of them not finite"):
        fitted().expectation(lambda X, y: np.full(len(y), value))


def test_event_must_be_boolean():
    with pytest.raises(TypeError, match=r"event must return booleans; got int64\. Use expectation for a loss"):
        fitted().probability(lambda X, y: y)


def test_mean_square_error_needs_the_noise_of_the_estimate():
    X, y = sample()
    estimate = bg.CrossValidation(3, random_state=0).error(LinearDiscriminantAnalysis(), X, y)
    with pytest.raises(ValueError, match="internal variance of this estimate is unknown; pass its value as a number"):
        fitted().mse(estimate, trained())


def test_mean_square_error_is_of_a_number():
    with pytest.raises(ValueError, match="estimate must be"):
        fitted().mse(np.nan, trained())


def test_mean_square_error_without_class_probabilities_is_refused():
    measure = conjugate(sampling="separate").fit(*sample())
    with pytest.raises(ValueError, match="needs the class probabilities"):
        measure.mse(0.1, trained())


@pytest.mark.parametrize("threshold", [-0.1, 1.1, "half", None, np.nan])
def test_threshold_must_be_an_error(threshold):
    with pytest.raises(ValueError, match="threshold must be an error between 0 and 1"):
        fitted().error(trained()).probability_below(threshold)


def test_unknown_interval_lists_the_names():
    with pytest.raises(ValueError, match="method must be 'equal-tailed' or 'hdi' for this estimate; got 'hpd'"):
        fitted().error(trained()).interval(method="hpd")


@pytest.mark.parametrize(
    "resampler",
    [
        lambda: bg.CrossValidation(3, measure=conjugate()),
        lambda: bg.Bootstrap(measure=conjugate()),
        lambda: bg.Calibrated(conjugate()),
    ],
    ids=["cross-validation", "bootstrap", "calibrated"],
)
def test_resamplers_cannot_centre_a_posterior(resampler):
    with pytest.raises(TypeError, match=r"measure must .* such as Empirical|measure must have kernels"):
        resampler().error(LinearDiscriminantAnalysis(), *sample())


# Several samples at once


def test_samples_side_by_side_must_have_one_shape():
    with pytest.raises(
        ValueError, match=r"the same numbers of features and classes; got \(features, classes\) \[\(3, 2\), \(3, 3\)"
    ):
        gibbs().fit_many([sample(), sample(c=3)])


def test_samples_side_by_side_need_as_many_seeds():
    with pytest.raises(ValueError, match="random_states must"):
        gibbs().fit_many([sample()], [1, 2])


def test_no_samples_give_no_measures():
    assert gibbs().fit_many([]) == []


@pytest.mark.filterwarnings("error")
def test_weights_have_no_place_side_by_side():
    with pytest.raises((TypeError, ValueError)):
        gibbs().fit_many([(*sample(), np.ones(24))])


# Sampling problems


def chains(means, **given):
    """Return a fitted model with these draws of a single mean."""
    shape = means.shape
    draws = ComponentDraws(
        np.stack([means, -means], axis=2)[..., None, None],
        np.ones((*shape, 2, 1, 1)),
        **{"hyper": {"log_strength": means}} | given,
    )
    return FittedClasses(SimpleNamespace(draws=draws), None, None, np.full((*shape, 2), 0.5), None, {})


def test_good_chains_have_no_problem():
    assert sampling_problems(chains(np.random.default_rng(0).normal(size=(4, 500)))) == []


def test_chains_that_disagree_are_told():
    values = np.random.default_rng(0).normal(size=(4, 500)) + np.arange(4)[:, None]
    (said,) = sampling_problems(chains(values))
    assert said.startswith("the chains disagree (R-hat 1.")
    assert said.endswith("Raise tune and draws.")


def test_few_effective_draws_are_told():
    (said,) = sampling_problems(chains(np.random.default_rng(0).normal(size=(2, 40))))
    assert "effective draws for some parameter: interval ends are unsure. Raise draws." in said


def test_divergences_are_counted():
    values = np.random.default_rng(0).normal(size=(4, 500))
    diverging = np.zeros((4, 500), dtype=bool)
    diverging[0, :3] = True
    (said,) = sampling_problems(chains(values, stats={"diverging": diverging}))
    assert said.startswith("3 of 2000 draws diverged: parts of the posterior may be missed. Raise tune, or use")


def test_notes_of_the_sampler_come_first():
    values = np.random.default_rng(0).normal(size=(4, 500))
    assert sampling_problems(chains(values, notes=("it stopped.",))) == ["it stopped."]


@pytest.mark.usefixtures("sampling")
def test_short_chains_warn_at_fit():
    with pytest.warns(UserWarning, match="Raise"):
        gibbs(draws=10, chains=2).fit(*sample())


@pytest.mark.usefixtures("sampling")
def test_exact_draws_never_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        conjugate(draws=10).fit(*sample())


# ArviZ


@pytest.mark.parametrize(
    "estimate",
    [
        lambda: bg.Bolstered().fit(*sample()).error(trained()),
        lambda: bg.ErrorEstimate.from_json(fitted().error(trained()).to_json()),
    ],
    ids=["another measure", "read back"],
)
def test_estimate_without_a_posterior_says_why(estimate):
    with pytest.raises(ValueError, match="not made by a Bayesian measure, or was read back from a file"):
        estimate().to_inference_data()


def test_estimate_under_other_class_probabilities_says_why_there_is_no_posterior():
    moved = fitted().error(trained()).with_class_prior([0.9, 0.1])
    with pytest.raises(ValueError, match="class_prior"):
        moved.to_inference_data()


@pytest.mark.parametrize("value", [-5, 2.5, "many"])
def test_number_of_prior_draws_must_be_whole(value):
    with pytest.raises(ValueError, match="prior must be a whole number"):
        fitted().to_inference_data(prior=value)


def test_unknown_group_is_refused():
    with pytest.raises(TypeError, match="posterior_predictiv"):
        fitted().to_inference_data(posterior_predictiv=True)


def variables(**shapes):
    """Return what stands for a PyMC model with variables of these names and shapes; it cannot be sampled."""
    made = [SimpleNamespace(name=name, type=SimpleNamespace(shape=shape)) for name, shape in shapes.items()]
    return SimpleNamespace(unobserved_RVs=made)


@pytest.mark.parametrize("name", ["error", "class_errors", "predicted"])
def test_variables_of_users_models_may_not_be_called_as_the_error(name):
    model = variables(means=(2, 3), variances=(2,), **{name: ()})
    with pytest.raises(ValueError, match=f"the model has a variable '{name}'. Rename it"):
        bg.Bayesian(lambda X, y: model).fit(*sample())


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ({"means": (3, 2), "variances": (2,)}, r"means must have shape .* with c=2 and d=3; got \(3, 2\)"),
        ({"means": (2, 3), "variances": (3,)}, r"variances must have shape \(2, 3\) or \(2,\); got \(3,\)"),
        ({"means": (2, 3), "covariance": (2, 3, 3)}, r"covariance must have shape \(3, 3\); got \(2, 3, 3\)"),
    ],
)
def test_shapes_of_users_models_are_checked_before_sampling(shapes, message):
    with pytest.raises(ValueError, match=message):
        bg.Bayesian(lambda X, y: variables(**shapes)).fit(*sample())


def test_parameters_set_after_fit_are_for_the_next_fit():
    X, y = sample()
    classifier = LinearDiscriminantAnalysis().fit(X, y)
    measure = conjugate(bg.GaussianClasses(prior=prior())).set_params(sampling="separate").fit(X, y)
    before = measure.error(classifier)
    measure.set_params(class_prior=[0.01, 0.99], model=bg.GaussianClasses("spherical"))
    after = measure.error(classifier)
    assert after.computation.estimator.startswith(before.computation.estimator[:-1].split("sampler")[0])
    with pytest.raises(ValueError, match="needs the class probabilities"):
        after.value  # noqa: B018
