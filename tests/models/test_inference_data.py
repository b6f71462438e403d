"""What ArviZ is handed: groups, dimensions, coordinates, values; and that its own functions take it."""

from __future__ import annotations

import functools
import warnings
from importlib import metadata
from importlib.metadata import version
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

import bayes_gresub as bg
from bayes_gresub.laws.confusion import class_errors
from bayes_gresub.models import user_model as custom
from bayes_gresub.models.nuts import NutsDraws

CHAINS, DRAWS, N = 2, 80, 40
NAMES = np.array(["ant", "bee"])
COLUMNS = ["length", "width", "weight"]
COVARIANCES = ("full", "shared", "diagonal", "spherical")

# Chains are kept short here on purpose.
pytestmark = pytest.mark.filterwarnings("ignore:the chains:UserWarning")


@pytest.fixture
def az():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        import arviz
    return arviz


@pytest.fixture
def version_one(az, monkeypatch):
    """ArviZ as it is since version 1, where the old name stands for xarray's tree."""
    if version("arviz") < "1":
        monkeypatch.setattr(az, "InferenceData", xr.DataTree)
        monkeypatch.setattr(metadata, "version", lambda name: {"arviz": "1.3.0"}.get(name) or version(name))


@functools.cache
def sample():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [25, 15])
    X = rng.normal(size=(N, 3)) @ (np.eye(3) + 0.4 * rng.normal(size=(3, 3))) + 1.5 * y[:, None]
    return pd.DataFrame(X * [3.0, 0.2, 40.0], columns=COLUMNS), NAMES[y]


@functools.cache
def fitted(covariance="full", sampling="mixture", class_prior=None):
    measure = bg.Bayesian(
        bg.GaussianClasses(covariance),
        sampler="gibbs",
        draws=DRAWS,
        chains=CHAINS,
        tune=20,
        sampling=sampling,
        class_prior=class_prior,
        random_state=3,
    )
    return measure.fit(*sample())


@functools.cache
def lda():
    return LinearDiscriminantAnalysis().fit(*sample())


@functools.cache
def estimate(covariance="full"):
    return fitted(covariance).error(lda())


@functools.cache
def handed_over(covariance="full"):
    return estimate(covariance).to_inference_data()


@functools.cache
def with_everything():
    return estimate().to_inference_data(log_likelihood=True, prior=60, posterior_predictive=True)


def groups_of(handed):
    """Return the names of the groups, of an InferenceData or of the DataTree of ArviZ 1."""
    return sorted(handed.children if isinstance(handed, xr.DataTree) else handed.groups())


class TestPosterior:
    """The group that is asked most."""

    def test_groups_are_those_that_need_no_asking(self):
        assert groups_of(handed_over()) == ["constant_data", "observed_data", "posterior"]

    def test_variables_are_named_as_in_the_documentation(self):
        expected = ["error", "class_errors", "predicted", "means", "covariances", "class_probabilities", "center"]
        assert list(handed_over().posterior.data_vars) == [*expected, "log_strength"]

    @pytest.mark.parametrize(
        ("name", "dims"),
        [
            ("error", ()),
            ("class_errors", ("class",)),
            ("predicted", ("class", "predicted_class")),
            ("means", ("class", "feature")),
            ("covariances", ("class", "feature", "other_feature")),
            ("class_probabilities", ("class",)),
            ("center", ("feature",)),
            ("log_strength", ()),
        ],
    )
    def test_dimensions_follow_chain_and_draw(self, name, dims):
        assert handed_over().posterior[name].dims == ("chain", "draw", *dims)

    @pytest.mark.parametrize(
        ("covariance", "name", "dims"),
        [
            ("shared", "covariance", ("feature", "other_feature")),
            ("diagonal", "variances", ("class", "feature")),
            ("spherical", "variances", ("class",)),
        ],
    )
    def test_spread_is_named_by_its_form(self, covariance, name, dims):
        assert handed_over(covariance).posterior[name].dims == ("chain", "draw", *dims)

    def test_coordinates_are_labels_and_column_names(self):
        posterior = handed_over().posterior
        assert posterior["class"].values.tolist() == ["ant", "bee"]
        assert posterior["predicted_class"].values.tolist() == ["ant", "bee"]
        assert posterior["feature"].values.tolist() == COLUMNS
        assert posterior["other_feature"].values.tolist() == COLUMNS
        assert posterior["chain"].values.tolist() == list(range(CHAINS))
        assert posterior["draw"].values.tolist() == list(range(DRAWS))

    def test_features_without_names_are_numbered(self):
        X, y = sample()
        measure = fitted().__class__(sampler="gibbs", draws=20, chains=1, tune=5, random_state=0).fit(X.to_numpy(), y)
        assert measure.to_inference_data().posterior["feature"].values.tolist() == [0, 1, 2]

    def test_error_is_that_of_the_estimate_chain_by_chain(self):
        np.testing.assert_array_equal(handed_over().posterior["error"], estimate().draws.reshape(CHAINS, DRAWS))

    def test_class_errors_are_those_of_the_confusion_draws(self):
        expected = class_errors(estimate().confusion_draws).reshape(CHAINS, DRAWS, 2)
        np.testing.assert_allclose(handed_over().posterior["class_errors"], expected, atol=1e-15)

    def test_error_is_the_class_errors_weighted_by_class_probabilities(self):
        posterior = handed_over().posterior
        weighted = (posterior["class_errors"] * posterior["class_probabilities"]).sum("class")
        np.testing.assert_allclose(weighted, posterior["error"], atol=1e-12)

    def test_predicted_is_a_law_of_labels_given_the_class(self):
        predicted = handed_over().posterior["predicted"]
        np.testing.assert_allclose(predicted.sum("predicted_class"), 1.0, atol=1e-12)
        wrong = predicted.sel({"class": "ant", "predicted_class": "bee"})
        np.testing.assert_allclose(wrong, handed_over().posterior["class_errors"].sel({"class": "ant"}), atol=1e-12)

    @pytest.mark.parametrize("covariance", COVARIANCES)
    def test_parameters_give_the_error_of_a_linear_classifier(self, covariance):
        """Masses of normal classes beyond a plane, by hand from what was handed over."""
        posterior = handed_over(covariance).posterior
        normal = xr.DataArray(lda().coef_[0], dims="feature", coords={"feature": COLUMNS})
        score = (posterior["means"] * normal).sum("feature") + lda().intercept_[0]
        if covariance in ("full", "shared"):
            matrix = posterior["covariances" if covariance == "full" else "covariance"]
            other = normal.rename(feature="other_feature")
            variance = (matrix * normal * other).sum(["feature", "other_feature"])
        else:
            variance = (posterior["variances"] * normal**2).sum("feature")
        ratio = (score / np.sqrt(variance)).transpose("chain", "draw", "class").to_numpy()
        errors = np.stack([stats.norm.cdf(ratio[..., 0]), stats.norm.cdf(-ratio[..., 1])], axis=2)
        np.testing.assert_allclose(posterior["class_errors"], errors, atol=1e-10)

    def test_measure_alone_hands_over_parameters_without_errors(self):
        posterior = fitted().to_inference_data().posterior
        assert "error" not in posterior
        np.testing.assert_array_equal(posterior["means"], handed_over().posterior["means"])

    def test_without_class_probabilities_there_is_no_overall_error(self):
        posterior = fitted(sampling="separate").error(lda()).to_inference_data().posterior
        assert "error" not in posterior
        assert "class_errors" in posterior

    def test_class_that_only_the_classifier_knows_is_a_prediction_only(self):
        X, y = sample()
        more = KNeighborsClassifier(3).fit(pd.concat([X, X[:5] + 9.0]), np.append(y, ["cow"] * 5))
        posterior = fitted().error(more).to_inference_data().posterior
        assert posterior["predicted_class"].values.tolist() == ["ant", "bee", "cow"]
        assert posterior["class"].values.tolist() == ["ant", "bee"]

    @pytest.mark.parametrize("log_likelihood", [False, True])
    def test_class_of_known_probability_zero_is_no_trouble(self, log_likelihood):
        """No warning, and errors of that class as in `per_class`."""
        known = fitted(class_prior=(1.0, 0.0)).error(lda())
        posterior = known.to_inference_data(log_likelihood=log_likelihood).posterior
        np.testing.assert_allclose(posterior["error"].mean(), known.value, atol=1e-12)


class TestOtherGroups:
    """Data, constants, and what is added on request."""

    def test_observed_data_are_those_given(self):
        observed = handed_over().observed_data
        np.testing.assert_allclose(observed["x"], sample()[0].to_numpy())
        assert observed["x"].dims == ("point", "feature")
        # Predictions are given the labels, so that ArviZ must not look for predicted ones.
        assert handed_over().constant_data["y"].values.tolist() == sample()[1].tolist()

    def test_constants_are_counts_prior_and_the_posterior_mean(self):
        constant = handed_over().constant_data
        assert constant["class_counts"].values.tolist() == [25, 15]
        assert constant["class_concentration"].values.tolist() == [1.0, 1.0]
        assert float(constant["posterior_mean_error"]) == estimate().value

    def test_known_class_probabilities_have_no_concentration(self):
        known = fitted(class_prior=(0.3, 0.7)).to_inference_data()
        assert "class_concentration" not in known.constant_data
        np.testing.assert_allclose(known.posterior["class_probabilities"].mean(["chain", "draw"]), [0.3, 0.7])

    def test_requested_groups_are_added(self):
        added = {"log_likelihood", "prior", "posterior_predictive"}
        assert set(groups_of(with_everything())) - set(groups_of(handed_over())) == added

    def test_log_likelihood_is_that_of_scipy(self):
        posterior, codes = with_everything().posterior, (sample()[1] == "bee").astype(int)
        found = with_everything().log_likelihood["xy"]
        assert found.dims == ("chain", "draw", "point")
        for chain, draw in [(0, 0), (1, 17), (1, DRAWS - 1)]:
            one = posterior.isel(chain=chain, draw=draw)
            for point in (0, 12, N - 1):
                law = stats.multivariate_normal(one["means"][codes[point]], one["covariances"][codes[point]])
                expected = law.logpdf(sample()[0].iloc[point]) + np.log(float(one["class_probabilities"][codes[point]]))
                assert float(found[chain, draw, point]) == pytest.approx(expected, rel=1e-10)

    @pytest.mark.parametrize("covariance", ["shared", "diagonal", "spherical"])
    def test_log_likelihood_follows_the_form_of_the_covariance(self, covariance):
        group = estimate(covariance).to_inference_data(log_likelihood=True)
        one = group.posterior.isel(chain=1, draw=5)
        spread = {"shared": "covariance"}.get(covariance, "variances")
        for point, code in ((0, 0), (N - 1, 1)):
            matrix = one[spread] if covariance == "shared" else np.eye(3) * one[spread][code].to_numpy()
            law = stats.multivariate_normal(one["means"][code], matrix)
            expected = law.logpdf(sample()[0].iloc[point]) + np.log(float(one["class_probabilities"][code]))
            assert float(group.log_likelihood["xy"][1, 5, point]) == pytest.approx(expected, rel=1e-10)

    def test_log_likelihood_does_not_depend_on_its_chunks(self, monkeypatch):
        monkeypatch.setattr("bayes_gresub.models.class_draws._LOG_DENSITY_ELEMENTS", 1000)
        again = estimate().to_inference_data(log_likelihood=True).log_likelihood["xy"]
        np.testing.assert_allclose(again, with_everything().log_likelihood["xy"], rtol=1e-12)

    def test_prior_has_the_parameters_of_the_posterior_in_one_chain(self):
        prior = with_everything().prior
        assert dict(prior.sizes)["chain"] == 1
        assert dict(prior.sizes)["draw"] == 60
        assert {"means", "covariances", "center", "log_strength"} <= set(prior.data_vars)
        assert prior["means"].dims == ("chain", "draw", "class", "feature")

    def test_prior_draws_have_the_moments_of_the_prior(self):
        """Mean and deviation of log k, N(log(1.5 d), 0.8^2), and of the centre: 4000 draws, 4.5 standard errors."""
        prior = fitted().to_inference_data(prior=4000).prior
        log_k, center = prior["log_strength"].to_numpy().ravel(), prior["center"].to_numpy()[0]
        coordinates = fitted().posterior_.coordinates
        assert abs(log_k.mean() - np.log(4.5)) < 4.5 * 0.8 / np.sqrt(4000)
        assert abs(log_k.std() - 0.8) < 4.5 * 0.8 / np.sqrt(8000)
        standard = (center - coordinates.location) / coordinates.scale / 3.0
        assert (np.abs(standard.mean(axis=0)) < 4.5 / np.sqrt(4000)).all()
        assert (np.abs(standard.std(axis=0) - 1.0) < 4.5 / np.sqrt(8000)).all()

    def test_prior_covariances_have_the_unit_of_the_prior_as_mean(self):
        """E[Sigma] is the squared scale; 20,000 draws with heavy tails, 4.5 of their own standard errors."""
        found = fitted().to_inference_data(prior=20_000).prior["covariances"].to_numpy()[0, :, 0]
        diagonal = np.einsum("ndd->nd", found) / fitted().posterior_.coordinates.scale ** 2
        assert (np.abs(diagonal.mean(axis=0) - 1.0) < 4.5 * diagonal.std(axis=0) / np.sqrt(20_000)).all()

    def test_predictive_data_sets_have_the_size_and_labels_of_the_sample(self):
        predictive = with_everything().posterior_predictive["x"]
        assert predictive.dims == ("chain", "draw", "point", "feature")
        assert predictive.shape == (CHAINS, DRAWS, N, 3)

    def test_predictive_data_sets_follow_their_draw(self):
        """Whitened by their own mean and covariance they are standard normal: 19,200 numbers, each class, 4.5 s.e."""
        posterior = with_everything().posterior
        points = with_everything().posterior_predictive["x"].to_numpy()
        for code, rows in ((0, slice(25)), (1, slice(25, None))):
            means = posterior["means"].to_numpy()[:, :, code, None, :]
            factor = np.linalg.cholesky(posterior["covariances"].to_numpy()[:, :, code])
            white = np.linalg.solve(factor, (points[:, :, rows] - means).swapaxes(-1, -2)).ravel()
            assert abs(white.mean()) < 4.5 / np.sqrt(white.size)
            assert abs(white.var() - 1.0) < 4.5 * np.sqrt(2 / white.size)

    def test_random_state_repeats_what_is_drawn(self):
        one, same, other = (
            fitted().to_inference_data(prior=5, posterior_predictive=True, random_state=seed) for seed in (1, 1, 2)
        )
        for group, name in (("prior", "means"), ("posterior_predictive", "x")):
            np.testing.assert_array_equal(one[group][name], same[group][name])
            assert not np.array_equal(one[group][name], other[group][name])

    def test_attributes_say_where_the_numbers_came_from(self):
        attrs = handed_over().posterior.attrs
        assert attrs["model"] == "GaussianClasses()"
        assert attrs["prior"] == "hierarchical"
        assert attrs["sampler"] == "gibbs"
        assert attrs["seed"] == "3"
        assert {"bayes_gresub_version", "numpy_version", "arviz_version"} <= set(attrs)


class TestArviz:
    """ArviZ's own functions."""

    def test_summary_has_the_mean_of_the_estimate(self, az):
        summary = az.summary(handed_over(), var_names=["error"], round_to="none")
        assert summary.loc["error", "mean"] == pytest.approx(estimate().value, abs=1e-12)

    def test_summary_has_the_monte_carlo_error_of_the_estimate(self, az):
        summary = az.summary(handed_over(), var_names=["error"], round_to="none")
        assert summary.loc["error", "mcse_mean"] == pytest.approx(estimate().std_error, rel=1e-6)

    def test_summary_names_classes_and_features(self, az):
        index = az.summary(handed_over(), var_names=["class_errors", "means"]).index
        assert {"class_errors[ant]", "means[bee, weight]"} <= set(index)

    def test_summary_of_sampled_errors_has_the_spread_of_the_estimate(self, az):
        sampled = fitted().error(KNeighborsClassifier(3).fit(*sample()))
        summary = az.summary(sampled.to_inference_data(), var_names=["error"], round_to="none")
        assert summary.loc["error", "sd"] == pytest.approx(sampled.draws.std(ddof=1), rel=1e-6)

    def test_trace_can_be_plotted(self, az):
        mpl.use("Agg")
        import matplotlib.pyplot as plt

        with warnings.catch_warnings():
            # Whatever ArviZ and matplotlib have to say to each other.
            warnings.simplefilter("ignore")
            drawn = az.plot_trace_dist if hasattr(az, "plot_trace_dist") else az.plot_trace
            drawn(handed_over(), var_names=["error"])
        assert len(plt.gcf().axes) == 2
        plt.close("all")

    def test_leave_one_out_takes_the_log_likelihood(self, az):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = az.loo(with_everything())
        # ArviZ 1 calls it elpd.
        assert np.isfinite(getattr(result, "elpd", None) or result.elpd_loo)

    @pytest.mark.parametrize(
        "labels",
        [NAMES, NAMES.astype(object), np.array([-3, 7]), np.array([False, True]), np.array([-1.0, 2.0])],
        ids=["strings", "objects", "ints", "bools", "floats"],
    )
    def test_file_gives_back_what_was_written(self, az, tmp_path, labels):
        X, y = sample()
        y = labels[(y == "bee").astype(int)]
        measure = bg.Bayesian(sampler="gibbs", draws=20, chains=2, tune=5, random_state=0).fit(X, y)
        written = measure.error(LinearDiscriminantAnalysis().fit(X, y)).to_inference_data(prior=3, log_likelihood=True)
        written.to_netcdf(str(tmp_path / "run.nc"))
        read = az.from_netcdf(str(tmp_path / "run.nc"))
        assert groups_of(read) == groups_of(written)
        for name in written.posterior.data_vars:
            np.testing.assert_array_equal(read.posterior[name], written.posterior[name])
        assert read.posterior["class"].values.tolist() == labels.tolist()
        assert read.posterior.attrs["sampler"] == "gibbs"

    def test_arviz_of_version_one_gets_a_tree(self, version_one):
        tree = estimate().to_inference_data(prior=3)
        assert isinstance(tree, xr.DataTree)
        assert groups_of(tree) == ["constant_data", "observed_data", "posterior", "prior"]
        np.testing.assert_array_equal(tree["posterior"]["error"], handed_over().posterior["error"])

    def test_tree_survives_a_file(self, version_one, tmp_path):
        estimate().to_inference_data().to_netcdf(tmp_path / "tree.nc", engine="h5netcdf")
        with xr.open_datatree(tmp_path / "tree.nc") as read:
            np.testing.assert_array_equal(read["posterior"]["means"], handed_over().posterior["means"])

    def test_installed_arviz_gets_what_it_works_with(self, az):
        assert type(handed_over()) is (xr.DataTree if version("arviz") >= "1" else az.InferenceData)


class TestOtherModels:
    """What they have instead of means and covariances."""

    def test_fixed_prior_has_no_centre_and_no_strength(self):
        prior = bg.NormalInverseWishart(np.zeros(3), 1.0, 6.0, np.diag([9.0, 0.04, 1600.0]))
        measure = bg.Bayesian(bg.GaussianClasses(prior=prior), sampler="conjugate", draws=20, chains=2, random_state=0)
        handed = measure.fit(*sample()).to_inference_data(prior=4)
        assert {"center", "log_strength"}.isdisjoint(handed.posterior.data_vars)
        assert "sample_stats" not in groups_of(handed)
        assert handed.posterior.attrs["prior"].startswith("NormalInverseWishart(")
        assert handed.prior["means"].shape == (1, 4, 2, 3)

    def test_cells_have_probabilities(self):
        X, y = sample()
        binary = X.gt(X.median()).astype(float)
        measure = bg.Bayesian(bg.DiscreteClasses(), sampler="conjugate", draws=30, chains=2, random_state=0)
        handed = measure.fit(binary, y).to_inference_data(log_likelihood=True, prior=4, posterior_predictive=True)
        cells = handed.posterior["cell_probabilities"]
        assert cells.dims == ("chain", "draw", "class", "cell")
        np.testing.assert_allclose(cells.sum("cell"), 1.0, atol=1e-12)
        assert handed.prior["cell_probabilities"].shape == (1, 4, 2, 8)
        assert set(np.unique(handed.posterior_predictive["x"])) == {0.0, 1.0}
        codes = (y == "bee").astype(int)
        cell = int(np.ravel_multi_index(tuple(binary.to_numpy(dtype=int)[7]), (2, 2, 2)))
        expected = np.log(cells[1, 9, codes[7], cell]) + np.log(handed.posterior["class_probabilities"][1, 9, codes[7]])
        assert float(handed.log_likelihood["xy"][1, 9, 7]) == pytest.approx(float(expected), rel=1e-12)

    def test_too_many_cells_are_left_out(self):
        rng = np.random.default_rng(0)
        X, y = rng.integers(10, size=(60, 5)).astype(float), np.arange(60) % 2
        model = bg.DiscreteClasses(levels=[range(10)] * 5)
        measure = bg.Bayesian(model, sampler="conjugate", draws=60, chains=1, random_state=0)
        with pytest.warns(UserWarning, match="the prior rules the estimate"):
            measure.fit(X, y)
        assert list(measure.to_inference_data().posterior.data_vars) == ["class_probabilities"]

    def test_models_of_users_hand_over_statistics_and_other_parameters(self, monkeypatch):
        """What NUTS would have drawn is given here."""
        shape = (CHAINS, DRAWS)
        rng = np.random.default_rng(0)
        drawn = {
            "means": rng.normal(size=(*shape, 2, 3)),
            "variances": np.ones((*shape, 2)),
            "class_probabilities": rng.dirichlet([3.0, 2.0], size=shape),
            "loadings": rng.normal(size=(*shape, 4, 2)),
        }
        stats_of_nuts = {"diverging": np.zeros(shape, dtype=bool), "energy": rng.normal(size=shape)}
        variables = SimpleNamespace(unobserved_RVs=[SimpleNamespace(name=name) for name in drawn])
        monkeypatch.setattr(custom, "sample_model", lambda *args: NutsDraws(drawn, stats_of_nuts))
        handed = bg.Bayesian(lambda X, y: variables, draws=DRAWS, random_state=0).fit(*sample()).to_inference_data()
        assert set(handed.sample_stats.data_vars) == {"diverging", "energy"}
        assert handed.posterior["loadings"].dims == ("chain", "draw", "loadings_dim_0", "loadings_dim_1")
        np.testing.assert_array_equal(handed.posterior["class_probabilities"], drawn["class_probabilities"])
        assert handed.posterior["class_probabilities"].dims == ("chain", "draw", "class")
