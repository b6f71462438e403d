"""What the Bayesian measure answers, against closed forms, quadrature and brute force.

Independent draws are compared at 4.5 standard errors: 7e-6 false alarms per number. Chains are compared at 4.5
Monte-Carlo errors from their effective size, which is itself estimated: below 1e-4 per number. There are some two
hundred such numbers, so that a right program fails this file for 1 in 50 choices of its seeds; they are fixed.
"""

from __future__ import annotations

import copy
import functools
import pickle
import tracemalloc
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import bayes_gresub as bg
from bayes_gresub.laws.confusion import error_mass
from bayes_gresub.laws.denoised_draws import denoised
from bayes_gresub.models import diagnostics, gaussian

COVARIANCES = ("full", "shared", "diagonal", "spherical")
UNITS = np.array([3.0, 0.2, 40.0])
Z = 4.5

every_covariance = pytest.mark.parametrize("covariance", COVARIANCES)


@functools.cache
def sample(c=2, n=48, d=3, seed=0):
    """Return overlapping Gaussian classes of unequal size, in unequal units."""
    rng = np.random.default_rng([seed, c, d])
    y = rng.permutation(np.minimum(np.arange(n) % (c + 1), c - 1))
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d)))
    X[:, 0] += 1.3 * y
    return UNITS[:d] * X + 5.0, y


@functools.cache
def linear(c=2):
    return LinearDiscriminantAnalysis().fit(*sample(c))


@functools.cache
def another():
    return LinearDiscriminantAnalysis().fit(*sample(seed=1))


@functools.cache
def neighbours(c=2):
    return KNeighborsClassifier(3).fit(*sample(c))


class OnlyPredicts:
    """A classifier that hides its geometry, so that masses are sampled."""

    def __init__(self, classifier):
        self.classifier = classifier
        self.classes_ = classifier.classes_

    def predict(self, X):
        return self.classifier.predict(X)


def fixed_priors(covariance, c=2, d=3):
    """Return a fixed prior per class, in the units of the features; they differ in all that may differ."""
    rng = np.random.default_rng(7)
    root = UNITS[:d, None] * (np.eye(d) + 0.3 * rng.normal(size=(d, d)))
    priors = []
    for y in range(c):
        grown = 1.0 if covariance == "shared" else 1.0 + 0.5 * y
        scale = {"diagonal": 4 * grown * UNITS[:d] ** 2, "spherical": 90.0 * grown}.get(
            covariance, 4 * grown * root @ root.T
        )
        dof = d + 2.5 + (0.0 if covariance == "shared" else y)
        priors.append(bg.NormalInverseWishart(5.0 + UNITS[:d] * rng.normal(size=d), 0.7 + y, dof, scale))
    return priors


def exact(covariance="full", prior=None, **given):
    """Return an unfitted measure with independent draws."""
    model = bg.GaussianClasses(covariance, fixed_priors(covariance) if prior is None else prior)
    return bg.Bayesian(model, **({"sampler": "conjugate", "draws": 1500, "chains": 2, "random_state": 0} | given))


def gibbs(model=None, **given):
    return bg.Bayesian(model, **({"sampler": "gibbs", "draws": 400, "chains": 3, "random_state": 0} | given))


@functools.cache
def fitted_exact(covariance="full", sampling="mixture"):
    return exact(covariance, sampling=sampling).fit(*sample())


@functools.cache
def fitted_gibbs(covariance="full", c=2):
    return gibbs(bg.GaussianClasses(covariance)).fit(*sample(c))


def assert_mean_of_draws(draws, expected, z=Z):
    """Compare the mean of independent draws with what it should be."""
    assert abs(draws.mean() - expected) < z * draws.std(ddof=1) / np.sqrt(len(draws))


def assert_variance_of_draws(draws, expected, z=Z):
    """Compare the variance of independent draws with what it should be; its own variance is (m4 - v^2)/n."""
    squares = (draws - draws.mean()) ** 2
    assert abs(draws.var() - expected) < z * squares.std(ddof=1) / np.sqrt(len(draws))


def assert_same_draws(draws, expected):
    """Compare draws of an error with the errors of those very draws: correlation, and ends of the 95% interval."""
    assert np.corrcoef(draws, expected)[0, 1] > 0.95
    ends, expected_ends = np.quantile([draws, expected], [0.025, 0.975], axis=1).T
    assert np.abs(ends - expected_ends).max() < 0.1 * np.ptp(expected_ends)


def assert_mean_of_chains(values, expected, z=Z):
    """Compare the mean of chains (chains, draws) with what it should be."""
    assert abs(values.mean() - expected) < z * diagnostics.mcse(values)


def updated(prior, members, covariance):
    """Return strength, mean, dof and scale after the points of one class, textbook formulas in the user's units."""
    n, d = members.shape
    mean, k = np.asarray(prior.mean), prior.strength
    gap = members.mean(axis=0) - mean
    scatter = np.cov(members.T, ddof=0) * n + k * n / (k + n) * np.outer(gap, gap)
    if covariance == "diagonal":
        scatter = np.diag(scatter)
    elif covariance == "spherical":
        scatter = np.trace(scatter)
    freedom = n * d if covariance == "spherical" else n
    return k + n, mean + n / (k + n) * gap, prior.dof + freedom, prior.scale + scatter


def closed_form_errors(covariance, X, y, priors, normal, offset):
    """Return the posterior mean error of both classes at normal'x + offset > 0: Student-t masses (not "diagonal")."""
    d = X.shape[1]
    laws = [updated(prior, X[y == label], covariance) for label, prior in enumerate(priors)]
    if covariance == "shared":
        dof = priors[0].dof + len(y)
        scale = priors[0].scale + sum(law[3] - prior.scale for law, prior in zip(laws, priors, strict=True))
        laws = [(k, mean, dof, scale) for k, mean, _, _ in laws]
    errors = []
    for label, (k, mean, dof, scale) in enumerate(laws):
        nu = dof if covariance == "spherical" else dof - d + 1
        along = scale * normal @ normal if covariance == "spherical" else normal @ scale @ normal
        score = (normal @ mean + offset) / np.sqrt(along * (k + 1) / (k * nu))
        errors.append(stats.t.cdf(-score if label else score, nu))
    return np.array(errors)


class TestClosedForm:
    """A fixed prior at a linear boundary."""

    @pytest.mark.parametrize("covariance", ["full", "shared", "spherical"])
    def test_estimate_is_the_posterior_mean_of_the_textbook(self, covariance):
        (X, y), lda = sample(), linear()
        errors = closed_form_errors(covariance, X, y, fixed_priors(covariance), lda.coef_[0], lda.intercept_[0])
        estimate = fitted_exact(covariance).error(lda)
        weights = (1 + np.bincount(y)) / (2 + len(y))
        np.testing.assert_allclose(list(estimate.per_class.values()), errors, rtol=1e-9)
        assert estimate.value == pytest.approx(weights @ errors, rel=1e-9)

    @pytest.mark.parametrize("covariance", ["full", "shared", "spherical"])
    def test_draws_have_the_mean_of_the_closed_form(self, covariance):
        estimate = fitted_exact(covariance).error(linear())
        assert_mean_of_draws(estimate.draws, estimate.value)

    @pytest.mark.parametrize("covariance", ["full", "shared", "spherical"])
    def test_draws_have_the_variance_of_the_closed_form(self, covariance):
        estimate = fitted_exact(covariance).error(linear())
        assert_variance_of_draws(estimate.draws, estimate.posterior_sd**2)

    @pytest.mark.parametrize("covariance", ["full", "shared", "spherical"])
    def test_exact_estimate_says_so(self, covariance):
        estimate = fitted_exact(covariance).error(linear())
        assert estimate.computation.exact
        assert estimate.std_error == 0.0
        assert estimate.computation.method.startswith("posterior mean in closed form")

    def test_diagonal_covariances_have_one_along_a_single_feature(self):
        """The law of one feature is that of a full covariance of one feature."""
        (X, y), priors = sample(), fixed_priors("diagonal")
        stump = LinearDiscriminantAnalysis().fit(X[:, :1], y)
        only_first = clone(linear())
        only_first.fit(X, y)
        only_first.coef_ = np.array([[stump.coef_[0, 0], 0.0, 0.0]])
        only_first.intercept_ = stump.intercept_
        alone = [bg.NormalInverseWishart(p.mean[:1], p.strength, p.dof, [[p.scale[0]]]) for p in priors]
        expected = exact("full", alone).fit(X[:, :1], y).error(stump)
        estimate = fitted_exact("diagonal").error(only_first)
        assert estimate.computation.exact
        assert estimate.value == pytest.approx(expected.value, rel=1e-9)
        assert estimate.posterior_sd == pytest.approx(expected.posterior_sd, rel=1e-9)

    def test_diagonal_covariances_agree_with_draws_made_here(self):
        """Both means of independent draws; 2 errors of 1e5 draws each."""
        (X, y), lda, rng, n = sample(), linear(), np.random.default_rng(5), 100_000
        estimate = fitted_exact("diagonal").error(lda)
        assert not estimate.computation.exact
        for label, prior in enumerate(fixed_priors("diagonal")):
            k, mean, dof, scale = updated(prior, X[y == label], "diagonal")
            variance = scale / rng.chisquare(dof, size=(n, 3))
            means = mean + np.sqrt(variance / k) * rng.standard_normal((n, 3))
            score = (means @ lda.coef_[0] + lda.intercept_[0]) / np.sqrt(variance @ lda.coef_[0] ** 2)
            own = stats.norm.cdf(-score if label else score)
            confusions = estimate.confusion_draws
            theirs = confusions[:, label, 1 - label] / confusions[:, label].sum(axis=1)
            noise = np.hypot(own.std() / np.sqrt(n), theirs.std() / np.sqrt(len(theirs)))
            assert abs(theirs.mean() - own.mean()) < Z * noise

    def test_many_points_tell_the_error_of_the_truth(self):
        """The prior is forgotten; 3 errors of 20,000 points, within 4.5 binomial standard errors."""
        X, y = sample(n=20_000)
        estimate = exact().fit(X, y).error(linear())
        share = np.mean(linear().predict(X) != y)
        assert abs(estimate.value - share) < Z * np.sqrt(share * (1 - share) / len(y))


class TestGibbs:
    """The hierarchical prior: against quadrature, and where it becomes a fixed one."""

    @staticmethod
    def quadrature(X, y, shared, normal, offset, numbers):
        """Return posterior means of the error, log k and the centre for one feature, over a grid of centre and log k.

        In units of location and scale, with the class parameters integrated out by hand.
        """
        rho, spread, center_sd, extra = numbers
        z, c = X[:, 0], 2
        v = 2.0 + extra
        scale = v - 2.0
        u = np.linspace(np.log(rho) - 7 * spread, np.log(rho) + 7 * spread, 241)[:, None]
        m = np.linspace(-6 * center_sd, 6 * center_sd, 401)[None, :]
        k = np.exp(u)
        log_p = stats.norm.logpdf(u, np.log(rho), spread) + stats.norm.logpdf(m, 0.0, center_sd)
        counts = np.bincount(y)
        sums = []
        for label in range(c):
            own = z[y == label]
            n = counts[label]
            between = ((own - own.mean()) ** 2).sum() + k * n / (k + n) * (own.mean() - m) ** 2
            sums.append(between)
            log_p = log_p + 0.5 * np.log(k / (k + n))
        if shared:
            dofs, scales = [v + len(y)] * c, [scale + sum(sums)] * c
            log_p = log_p - 0.5 * dofs[0] * np.log(scales[0])
        else:
            dofs, scales = v + counts, [scale + s for s in sums]
            for dof, s in zip(dofs, scales, strict=True):
                log_p = log_p - 0.5 * dof * np.log(s)
        weights = np.exp(log_p - log_p.max())
        weights /= weights.sum()
        # The grid cuts nothing off.
        assert max(weights[0].sum(), weights[-1].sum(), weights[:, 0].sum(), weights[:, -1].sum()) < 1e-8
        error = 0.0
        for label in range(c):
            own, n = z[y == label], counts[label]
            mean = (k * m + n * own.mean()) / (k + n)
            along = normal**2 * scales[label] * (k + n + 1) / ((k + n) * dofs[label])
            score = (normal * mean + offset) / np.sqrt(along)
            mass = stats.t.cdf(-score if label else score, dofs[label])
            error = error + (1 + n) / (2 + len(y)) * mass
        return (weights * error).sum(), (weights * u).sum(), (weights * m).sum()

    @pytest.mark.parametrize("covariance", COVARIANCES)
    def test_one_feature_agrees_with_quadrature(self, covariance):
        """Error, log k and centre under a prior that matters: few points, and classes that lie off its location."""
        rng = np.random.default_rng(3)
        y = np.repeat([0, 1], [7, 5])
        X = rng.normal(size=(12, 1)) + 1.5 * y[:, None] + 1.0
        numbers = (0.8, 0.9, 1.2, 1.5)
        prior = bg.Hierarchical(
            0.0, 1.0, strength=numbers[0], strength_spread=numbers[1], center_spread=numbers[2], extra_dof=numbers[3]
        )
        lda = LinearDiscriminantAnalysis().fit(X, y)
        measure = gibbs(bg.GaussianClasses(covariance, prior), draws=2500, chains=2).fit(X, y)
        shared = covariance == "shared"
        expected = self.quadrature(X, y, shared, lda.coef_[0, 0], lda.intercept_[0], numbers)
        hyper = measure.posterior_.draws.hyper
        found = measure.error(lda).draws.reshape(2, -1), hyper["log_strength"], hyper["center"][..., 0]
        for values, value in zip(found, expected, strict=True):
            assert_mean_of_chains(values, value)

    @every_covariance
    def test_prior_that_leaves_nothing_to_learn_is_a_fixed_one(self, covariance):
        """Centre and strength held at their prior medians: then the posterior mean has a closed form."""
        X, y = sample()
        d, extra, strength = 3, 2.0, 0.6
        location, unit = np.full(d, 5.0), np.full(d, 4.0) if covariance == "spherical" else 1.3 * UNITS
        held = bg.Hierarchical(
            location,
            4.0 if covariance == "spherical" else unit,
            strength=strength / d,
            strength_spread=1e-6,
            center_spread=1e-6,
            extra_dof=extra,
        )
        if covariance in ("full", "shared"):
            dof, scale = d + 1 + extra, extra * np.diag(unit**2)
        else:
            dof, scale = 2 + extra, extra * unit**2
            scale = scale[0] if covariance == "spherical" else scale
        fixed = bg.NormalInverseWishart(location, strength, dof, scale)
        measure = gibbs(bg.GaussianClasses(covariance, held), draws=1500, chains=2).fit(X, y)
        draws = measure.error(linear()).draws.reshape(2, -1)
        expected = exact(covariance, fixed, draws=20_000).fit(X, y).error(linear())
        noise = np.hypot(diagnostics.mcse(draws), 0.0 if expected.computation.exact else expected.std_error)
        assert abs(draws.mean() - expected.value) < Z * noise

    @pytest.mark.filterwarnings("ignore:the chains")
    @every_covariance
    def test_units_of_features_change_no_draw(self, covariance):
        """Spherical covariances have one unit for all features."""
        X, y = sample()
        factor = 7.0 if covariance == "spherical" else np.array([1e3, 1e-3, 7.0])
        moved = X * factor - 4.0
        one = gibbs(bg.GaussianClasses(covariance), draws=100, tune=20).fit(X, y)
        other = gibbs(bg.GaussianClasses(covariance), draws=100, tune=20).fit(moved, y)
        np.testing.assert_allclose(
            other.error(LinearDiscriminantAnalysis().fit(moved, y)).draws,
            one.error(LinearDiscriminantAnalysis().fit(X, y)).draws,
            rtol=1e-6,
        )

    @pytest.mark.filterwarnings("ignore:the chains")
    def test_numbers_of_a_chain_do_not_depend_on_chains_beside_it(self):
        two, four = (gibbs(draws=60, tune=10, chains=n).fit(*sample()).posterior_.draws for n in (2, 4))
        np.testing.assert_array_equal(four.means[:2], two.means)
        np.testing.assert_array_equal(four.spread[:2], two.spread)

    @pytest.mark.filterwarnings("ignore:the chains")
    @every_covariance
    def test_samples_fitted_side_by_side_give_the_numbers_of_each_alone(self, covariance):
        samples = [sample(seed=seed, n=n) for seed, n in ((0, 48), (1, 30), (2, 48))]
        measure = gibbs(bg.GaussianClasses(covariance), draws=60, tune=10, chains=2)
        together = measure.fit_many(samples, [5, 6, 7])
        for one, (X, y), seed in zip(together, samples, (5, 6, 7), strict=True):
            alone = clone(measure).set_params(random_state=seed).fit(X, y)
            np.testing.assert_allclose(one.error(linear()).draws, alone.error(linear()).draws, rtol=0, atol=1e-12)
            assert one.error(neighbours()).value == pytest.approx(alone.error(neighbours()).value, abs=1e-12)

    def test_fit_many_leaves_the_measure_unfitted(self):
        measure = exact(draws=10)
        measure.fit_many([sample()])
        assert not hasattr(measure, "posterior_")

    def test_fit_many_works_for_exact_draws_too(self):
        measure = exact(draws=50)
        (one, other) = measure.fit_many([sample(), sample(seed=1)])
        assert other.error(linear()).value == clone(measure).fit(*sample(seed=1)).error(linear()).value
        assert one.error(linear()).value == clone(measure).fit(*sample()).error(linear()).value


@contextmanager
def _stopping(after):
    calls = 0

    def tick():
        nonlocal calls
        calls += 1
        if calls == after:
            raise KeyboardInterrupt

    yield tick


class TestDefaultSampler:
    """The cheapest sampler that gives the posterior, and no other numbers than if it is named."""

    @pytest.mark.parametrize(
        ("model", "sampler"),
        [
            (None, "gibbs"),
            (bg.GaussianClasses("shared", bg.Hierarchical(strength=1.0)), "gibbs"),
            (bg.GaussianClasses(prior=bg.NormalInverseWishart(np.zeros(3), 1.0, 6.0, np.eye(3))), "conjugate"),
        ],
        ids=["default", "hierarchical", "fixed"],
    )
    def test_is_that_of_the_prior(self, model, sampler):
        settings = {"draws": 400, "chains": 2, "random_state": 0}
        measure = bg.Bayesian(model, **settings).fit(*sample())
        named = bg.Bayesian(model, sampler=sampler, **settings).fit(*sample())
        assert measure.sampler_ == sampler
        assert measure.sampler == "auto"
        np.testing.assert_array_equal(measure.posterior_.draws.means, named.posterior_.draws.means)

    def test_of_cells_is_conjugate(self):
        X, y = sample()
        measure = bg.Bayesian(bg.DiscreteClasses(), draws=50, random_state=0).fit(np.sign(X), y)
        assert measure.sampler_ == "conjugate"

    @pytest.mark.parametrize("model", [bg.StudentTClasses(), bg.MixtureClasses(), bg.PyMCClasses(print)])
    def test_of_other_models_is_nuts(self, model):
        assert model.cheapest_sampler() == "nuts"

    def test_is_named_by_the_estimate(self):
        X, y = sample()
        measure = bg.Bayesian(draws=400, chains=2, random_state=0).fit(X, y)
        estimate = measure.error(LinearDiscriminantAnalysis().fit(X, y))
        assert "sampler='gibbs'" in estimate.computation.estimator
        assert measure.to_inference_data()["posterior"].attrs["sampler"] == "gibbs"

    def test_serves_many_samples_at_once(self):
        measures = bg.Bayesian(draws=400, chains=2, random_state=0).fit_many([sample(), sample()])
        assert [measure.sampler_ for measure in measures] == ["gibbs", "gibbs"]


class TestInterrupt:
    """Stopping the Gibbs sampler."""

    @staticmethod
    def stop_after(monkeypatch, sweeps):
        monkeypatch.setattr(gaussian, "ticking", lambda *args: _stopping(sweeps))

    @pytest.mark.filterwarnings("ignore:the chains")
    def test_interrupt_keeps_what_was_drawn(self, monkeypatch):
        whole = gibbs(tune=20).fit(*sample()).posterior_.draws.means
        self.stop_after(monkeypatch, 20 + 150)
        with pytest.warns(UserWarning, match="interrupted after 150 of 400 draws a chain; these are kept"):
            measure = gibbs(tune=20).fit(*sample())
        np.testing.assert_array_equal(measure.posterior_.draws.means, whole[:, :150])
        assert measure.error(linear()).draws.shape == (3 * 150,)

    def test_interrupt_before_the_first_draw_stops(self, monkeypatch):
        self.stop_after(monkeypatch, 10)
        measure = gibbs(tune=20)
        with pytest.raises(KeyboardInterrupt):
            measure.fit(*sample())
        assert not hasattr(measure, "posterior_")

    @pytest.mark.filterwarnings("ignore:the chains")
    @pytest.mark.parametrize("kept", [1, 2, 3, 5])
    def test_interrupt_after_few_draws_keeps_them_too(self, monkeypatch, kept):
        self.stop_after(monkeypatch, 20 + kept)
        with pytest.warns(UserWarning, match=f"interrupted after {kept} of 400 draws"):
            measure = gibbs(tune=20).fit(*sample())
        assert 0.0 < measure.error(linear()).value < 1.0

    @pytest.mark.filterwarnings("ignore:the chains")
    def test_progress_bar_counts_sweeps(self, capsys):
        gibbs(draws=30, tune=10, progress=True).fit(*sample())
        assert "gibbs: 40 of 40 sweeps, done" in capsys.readouterr().err

    @pytest.mark.filterwarnings("ignore:the chains")
    def test_no_progress_bar_unless_asked(self, capsys):
        gibbs(draws=30, tune=10).fit(*sample())
        assert capsys.readouterr().err == ""


class TestReadings:
    """What an estimate with draws tells: all from the same draws."""

    @functools.cached_property
    def estimate(self):
        return fitted_gibbs().error(neighbours())

    def test_value_is_the_mean_of_the_draws(self):
        assert self.estimate.value == pytest.approx(self.estimate.draws.mean(), abs=1e-12)

    def test_draws_are_the_error_mass_of_the_confusion_draws(self):
        np.testing.assert_allclose(self.estimate.draws, error_mass(self.estimate.confusion_draws), atol=1e-15)

    def test_posterior_sd_is_that_of_the_draws(self):
        assert self.estimate.posterior_sd == pytest.approx(self.estimate.draws.std(), rel=1e-12)

    @pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
    def test_equal_tailed_interval_leaves_equal_shares_outside(self, level):
        low, high = self.estimate.interval(level)
        assert self.estimate.probability_below(low) == pytest.approx((1 - level) / 2, abs=1e-3)
        assert self.estimate.probability_below(high) == pytest.approx((1 + level) / 2, abs=1e-3)

    @pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
    def test_hdi_is_no_longer_than_the_equal_tailed_interval(self, level):
        hdi, tails = self.estimate.interval(level, "hdi"), self.estimate.interval(level)
        assert hdi.high - hdi.low <= tails.high - tails.low + 1e-12
        inside = (self.estimate.draws >= hdi.low) & (self.estimate.draws <= hdi.high)
        assert inside.mean() >= level

    def test_interval_says_what_it_assumes(self):
        assert self.estimate.interval().assumptions == "the model and its prior hold"

    def test_repr_shows_the_credible_interval(self):
        low, high = self.estimate.interval()
        assert f"{low:.4f} to {high:.4f}, equal-tailed credible interval" in repr(self.estimate)

    def test_standard_error_is_that_of_chains(self):
        """The chains' own noise, more than that of as many independent draws."""
        independent = self.estimate.draws.std() / np.sqrt(len(self.estimate.draws))
        assert independent < self.estimate.std_error < 5 * independent

    def test_cost_of_the_mean_is_the_mean_cost(self):
        matrix = np.array([[0.0, 1.0], [5.0, 0.0]])
        costs = (self.estimate.confusion_draws * matrix).sum(axis=(1, 2))
        assert self.estimate.cost(matrix) == pytest.approx(costs.mean(), rel=1e-12)


class TestOtherClassifiers:
    """One posterior, any classifier."""

    def test_nothing_is_sampled_again(self, monkeypatch):
        measure = fitted_gibbs()
        before = measure.posterior_

        def refuse(*args, **kwargs):
            raise AssertionError("the posterior was sampled again")

        monkeypatch.setattr(gaussian, "run_gibbs", refuse)
        measure.error(DecisionTreeClassifier(random_state=0).fit(*sample()))
        assert measure.posterior_ is before

    def test_estimates_of_two_classifiers_carry_the_same_parameters(self):
        one, other = (fitted_gibbs().error(classifier) for classifier in (linear(), neighbours()))
        assert one.posterior.draws is other.posterior.draws
        assert one.posterior.probabilities is other.posterior.probabilities

    def test_classifier_that_exchanges_the_classes_errs_where_the_first_is_right(self):
        class Contrary(OnlyPredicts):
            def predict(self, X):
                return 1 - self.classifier.predict(X)

        right, wrong = (fitted_gibbs().error(one) for one in (OnlyPredicts(neighbours()), Contrary(neighbours())))
        np.testing.assert_allclose(wrong.draws, 1.0 - right.draws, atol=1e-12)

    def test_classifier_of_one_answer_errs_on_all_other_classes(self):
        class Always(OnlyPredicts):
            def predict(self, X):
                return np.zeros(len(X), dtype=int)

        estimate = fitted_gibbs().error(Always(linear()))
        assert estimate.per_class == {0: 0.0, 1: 1.0}
        np.testing.assert_allclose(estimate.draws, fitted_gibbs()._classes.probabilities.reshape(-1, 2)[:, 1])

    @pytest.mark.parametrize("covariance", ["diagonal", "spherical"])
    def test_exact_masses_of_a_tree_agree_with_sampled_ones(self, covariance):
        """Differences of single draws are noise of their points alone; 4.5 standard errors of their mean."""
        tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(*sample())
        measure = fitted_gibbs(covariance)
        assert "recursion down the tree" in measure.error(tree).computation.method
        self.assert_sampled_agrees(measure, tree)

    @every_covariance
    def test_exact_masses_of_a_line_agree_with_sampled_ones(self, covariance):
        """As for trees."""
        assert "linear boundary" in fitted_gibbs(covariance).error(linear()).computation.method
        self.assert_sampled_agrees(fitted_gibbs(covariance), linear())

    @staticmethod
    def assert_sampled_agrees(measure, classifier):
        """Draw by draw, and in the mean within 4.5 binomial standard errors of all points together."""
        known = measure.error(classifier)
        sampled = measure.error(OnlyPredicts(classifier))
        assert known.posterior.halves is None
        assert_same_draws(sampled.draws, known.draws)
        rows = known.confusion_draws / known.confusion_draws.sum(axis=2, keepdims=True)
        for half in sampled.posterior.halves:
            gaps = (half - rows)[:, [0, 1], [0, 1]].mean(axis=0)
            rates = rows[:, [0, 1], [0, 1]].mean(axis=0)
            assert (np.abs(gaps) < Z * np.sqrt(rates * (1 - rates) / (32 * len(rows)))).all()

    @pytest.mark.parametrize("covariance", ["full", pytest.param("shared", marks=pytest.mark.long)])
    @pytest.mark.parametrize("c", [2, *(pytest.param(c, marks=pytest.mark.long) for c in (3, 4))])
    def test_points_dealt_to_draws_are_no_noisier_than_random_ones(self, c, covariance):
        """Standard deviation over 20 seeds of the integration, at most 1.5 times that of independent points.

        Of independent points this would be exceeded for 1 in 700 choices of seeds (chi-square); Sobol' points are to
        do better, the more so the more draws there are.
        """
        n_points, classifier = 8, neighbours(c)
        measure = copy.copy(fitted_gibbs(covariance, c)).set_params(n_points=n_points)
        estimates = [measure.error(classifier, random_state=seed) for seed in range(20)]
        shares = measure._classes.probabilities.mean(axis=(0, 1))
        rates = np.array(list(fitted_gibbs(covariance, c).error(classifier).per_class.values()))
        plain = np.sqrt((shares**2 * rates * (1 - rates)).sum() / (n_points * len(estimates[0].draws)))
        assert np.std([float(one) for one in estimates], ddof=1) < 1.5 * plain

    def test_fewest_points_still_give_an_unbiased_error(self):
        """One point in each half, 3600 in all: within 4.5 binomial standard errors of many points."""
        few = copy.copy(fitted_gibbs()).set_params(n_points=2).error(neighbours())
        many = fitted_gibbs().error(neighbours())
        noise = np.hypot(np.sqrt(many.value * (1 - many.value) / (2 * len(few.draws))), many.std_error)
        assert abs(few.value - many.value) < Z * noise


class TestUnits:
    """Standardising is a change of coordinates."""

    @every_covariance
    def test_fixed_prior_moves_along_with_the_features(self, covariance):
        """The same numbers in metres and in millimetres, draw by draw; spherical covariances have one unit."""
        (X, y), shift = sample(), np.array([10.0, -3.0, 0.5])
        factor = np.full(3, 7.0) if covariance == "spherical" else np.array([0.5, 20.0, 0.1])
        moved_priors = []
        for prior in fixed_priors(covariance):
            squares = {"diagonal": factor**2, "spherical": factor[0] ** 2}.get(covariance, np.outer(factor, factor))
            moved_priors.append(
                bg.NormalInverseWishart(prior.mean * factor + shift, prior.strength, prior.dof, prior.scale * squares)
            )
        moved = X * factor + shift
        for rule in (LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()):
            one = exact(covariance, draws=100).fit(X, y).error(clone(rule).fit(X, y))
            other = exact(covariance, moved_priors, draws=100).fit(moved, y).error(clone(rule).fit(moved, y))
            assert other.value == pytest.approx(one.value, rel=1e-7)
            np.testing.assert_allclose(other.draws, one.draws, rtol=1e-6, atol=1e-12)

    def test_parameters_are_in_the_units_of_the_features(self):
        """Means of independent draws of the class means, whose posterior mean is known."""
        X, y = sample()
        found = fitted_exact().posterior_.draws.means[..., 0, :].reshape(-1, 2, 3)
        for label, prior in enumerate(fixed_priors("full")):
            _, mean, _, _ = updated(prior, X[y == label], "full")
            noise = found[:, label].std(axis=0, ddof=1) / np.sqrt(len(found))
            assert (np.abs(found[:, label].mean(axis=0) - mean) < Z * noise).all()

    @pytest.mark.parametrize("covariance", ["full", "shared"])
    def test_covariances_are_in_the_units_of_the_features(self, covariance):
        """Means of independent draws of covariance matrices against S_n / (v_n - d - 1)."""
        X, y = sample()
        draws = fitted_exact(covariance).posterior_.draws.parameters()
        name = "covariance" if covariance == "shared" else "covariances"
        found = draws[name][1].reshape(-1, *draws[name][1].shape[2:])
        laws = [updated(prior, X[y == k], covariance) for k, prior in enumerate(fixed_priors(covariance))]
        if covariance == "shared":
            prior = fixed_priors("shared")[0]
            expected = (prior.scale + sum(law[3] - prior.scale for law in laws)) / (prior.dof + len(y) - 4)
        else:
            expected = np.stack([scale / (dof - 4) for _, _, dof, scale in laws])
        noise = found.std(axis=0, ddof=1) / np.sqrt(len(found))
        assert (np.abs(found.mean(axis=0) - expected) < Z * noise).all()


class TestClassProbabilities:
    """Learned, known, or left open."""

    def test_learned_ones_are_dirichlet(self):
        """Mean and variance of independent draws."""
        _, y = sample()
        alpha = 1.0 + np.bincount(y)
        drawn = fitted_exact()._classes.probabilities.reshape(-1, 2)[:, 0]
        law = stats.beta(*alpha)
        assert_mean_of_draws(drawn, law.mean())
        assert_variance_of_draws(drawn, law.var())

    def test_concentration_counts_as_points(self):
        X, y = sample()
        estimate = exact(class_concentration=[30.0, 70.0]).fit(X, y).error(linear())
        expected = (np.array([30.0, 70.0]) + np.bincount(y)) / (100 + len(y))
        np.testing.assert_allclose(estimate.confusion.sum(axis=1), expected, rtol=1e-12)

    def test_one_concentration_is_for_all_classes(self):
        X, y = sample()
        one, other = (exact(class_concentration=value, draws=20).fit(X, y) for value in (3.0, [3.0, 3.0]))
        np.testing.assert_array_equal(one._classes.probabilities, other._classes.probabilities)

    @pytest.mark.parametrize("prior", [{0: 0.9, 1: 0.1}, [0.9, 0.1]])
    def test_known_ones_are_the_same_in_every_draw(self, prior):
        estimate = exact(class_prior=prior).fit(*sample()).error(linear())
        np.testing.assert_allclose(estimate.confusion_draws.sum(axis=2), [[0.9, 0.1]] * 3000, atol=1e-12)
        assert estimate.value == pytest.approx(np.dot([0.9, 0.1], list(estimate.per_class.values())), abs=1e-12)

    def test_known_ones_leave_less_variance(self):
        X, y = sample()
        shares = np.bincount(y) / len(y)
        known = exact(class_prior=shares).fit(X, y).error(linear())
        assert known.posterior_sd < fitted_exact().error(linear()).posterior_sd

    def test_exact_variance_under_known_ones_is_that_of_the_draws(self):
        estimate = exact(class_prior=[0.9, 0.1]).fit(*sample()).error(linear())
        assert_variance_of_draws(estimate.draws, estimate.posterior_sd**2)

    @pytest.mark.parametrize(
        "question",
        ["value", "std_error", "draws", "confusion", "interval", "probability_below", "majority_class_error"],
    )
    def test_separate_samples_give_no_overall_answer(self, question):
        estimate = fitted_exact(sampling="separate").error(neighbours())
        asked = {"interval": lambda: estimate.interval(), "probability_below": lambda: estimate.probability_below(0.1)}
        with pytest.raises(ValueError, match=r"Use with_class_prior\(\.\.\.\), or give class_prior to the measure"):
            asked.get(question, lambda: getattr(estimate, question))()

    def test_separate_samples_give_class_errors(self):
        separate, mixture = (fitted_exact(sampling=kind).error(linear()) for kind in ("separate", "mixture"))
        assert separate.per_class == pytest.approx(mixture.per_class, abs=1e-12)

    def test_separate_estimate_with_probabilities_is_that_of_the_measure_with_them(self):
        separate = fitted_exact(sampling="separate").error(neighbours()).with_class_prior([0.3, 0.7])
        known = exact(class_prior=[0.3, 0.7]).fit(*sample()).error(neighbours())
        assert separate.value == pytest.approx(known.value, abs=1e-12)
        np.testing.assert_allclose(separate.draws, known.draws, atol=1e-12)

    def test_estimate_without_probabilities_keeps_back_the_spread_of_an_overall_error(self):
        """It would be that of the class sizes, which were fixed by design."""
        assert "posterior_sd" not in fitted_exact(sampling="separate").error(neighbours()).details

    @pytest.mark.parametrize("classifier", [linear, neighbours], ids=["exact", "sampled"])
    def test_other_probabilities_have_their_own_posterior_sd(self, classifier):
        """Within 4.5 standard errors of the standard deviation of 3000 draws, about 1.5% each."""
        moved = fitted_exact().error(classifier()).with_class_prior([0.9, 0.1])
        assert moved.posterior_sd == pytest.approx(moved.draws.std(), rel=0.07)

    def test_other_probabilities_move_value_and_draws_alike(self):
        """The value weights draws by their class probabilities, the draws do not: equal but for chance."""
        moved = fitted_gibbs().error(neighbours()).with_class_prior([0.9, 0.1])
        assert_mean_of_chains(moved.draws.reshape(3, -1), moved.value)


class TestPriors:
    """One fixed prior or one per class."""

    def test_list_gives_each_class_its_own(self):
        priors = fixed_priors("full")
        errors = exact("full", priors, draws=10).fit(*sample()).error(linear()).per_class
        for label, prior in enumerate(priors):
            alone = exact("full", prior, draws=10).fit(*sample()).error(linear()).per_class
            assert errors[label] == pytest.approx(alone[label], rel=1e-12)

    def test_single_prior_is_that_of_all_classes(self):
        prior = fixed_priors("full")[0]
        one, other = (exact("full", given, draws=30).fit(*sample()) for given in (prior, [prior, prior]))
        np.testing.assert_array_equal(one.posterior_.draws.means, other.posterior_.draws.means)

    def test_shared_covariance_takes_means_and_strengths_per_class(self):
        """Closed form against independent draws, with priors that differ in mean and strength."""
        estimate = fitted_exact("shared").error(linear())
        assert_mean_of_draws(estimate.draws, estimate.value)

    @pytest.mark.parametrize("change", [{"dof": 9.0}, {"scale": 5 * np.diag(UNITS**2)}])
    def test_shared_covariance_has_one_prior(self, change):
        one, other = fixed_priors("shared")
        with pytest.raises(
            ValueError, match="share a covariance share its prior; got priors that differ in dof or scale"
        ):
            exact("shared", [one, other.set_params(**change)]).fit(*sample())

    def test_strong_prior_decides(self):
        """A strength and dof of 1e7 points: the classes are those of the prior."""
        dof, lda = 1e7, linear()
        means = np.array([[4.0, 5.0, 6.0], [9.0, 5.1, 8.0]])
        priors = [bg.NormalInverseWishart(m, 1e7, dof, np.diag(UNITS**2) * (dof - 4)) for m in means]
        errors = exact("full", priors, draws=10).fit(*sample()).error(lda).per_class
        deviation = np.sqrt(lda.coef_[0] ** 2 @ UNITS**2)
        scores = (means @ lda.coef_[0] + lda.intercept_[0]) / deviation
        np.testing.assert_allclose(list(errors.values()), stats.norm.cdf([scores[0], -scores[1]]), atol=1e-4)

    def test_location_and_scale_of_the_hierarchical_prior_are_used(self):
        """A prior about a far place, in small units, pulls otherwise than that of the sample."""
        default = fitted_gibbs().error(linear())
        moved = gibbs(bg.GaussianClasses(prior=bg.Hierarchical(np.full(3, 50.0), 0.1 * UNITS)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            other = moved.fit(*sample()).error(linear())
        assert abs(other.value - default.value) > Z * np.hypot(other.std_error, default.std_error)


class TestQuestions:
    """sample, probability and expectation ask the same posterior predictive law."""

    N = 20_000

    def test_drawn_pairs_have_the_mean_that_is_expected(self):
        """Independent pairs against the mean over draws, 4.5 combined standard errors."""
        X, y = fitted_gibbs().sample(self.N, random_state=1)
        loss = np.tanh(X[:, 0] - 7.0) * (1 + y)
        expected = fitted_gibbs().expectation(lambda X, y: np.tanh(X[:, 0] - 7.0) * (1 + y), random_state=2)
        noise = np.hypot(loss.std() / np.sqrt(self.N), expected.std_error)
        assert abs(loss.mean() - expected.value) < Z * noise

    def test_probability_is_the_mean_of_an_indicator(self):
        event = fitted_gibbs().probability(lambda X, y: X[:, 0] > 7.0, random_state=2)
        mean = fitted_gibbs().expectation(lambda X, y: (X[:, 0] > 7.0).astype(float), random_state=2)
        assert (event.value, event.std_error) == (mean.value, mean.std_error)

    def test_share_of_drawn_pairs_is_the_probability(self):
        X, _ = fitted_gibbs().sample(self.N, random_state=1)
        share = np.mean(X[:, 0] > 7.0)
        event = fitted_gibbs().probability(lambda X, y: X[:, 0] > 7.0, random_state=2)
        assert abs(share - event.value) < Z * np.hypot(np.sqrt(share * (1 - share) / self.N), event.std_error)

    def test_posterior_predictive_law_under_a_fixed_prior_is_student_t(self):
        """Kolmogorov-Smirnov at 1e-5, for each class along one direction."""
        X, y = sample()
        drawn, labels = exact(draws=20_000, chains=1).fit(X, y).sample(self.N, random_state=3)
        direction = 1.0 / UNITS
        for label, prior in enumerate(fixed_priors("full")):
            k, mean, dof, scale = updated(prior, X[y == label], "full")
            nu = dof - 2
            law = stats.t(nu, mean @ direction, np.sqrt(direction @ scale @ direction * (k + 1) / (k * nu)))
            assert stats.kstest(drawn[labels == label] @ direction, law.cdf).pvalue > 1e-5

    def test_probability_of_an_error_is_the_error(self):
        classifier = neighbours()
        event = fitted_gibbs().probability(lambda X, y: classifier.predict(X) != y, random_state=2)
        estimate = fitted_gibbs().error(classifier)
        assert abs(event.value - estimate.value) < Z * np.hypot(event.std_error, estimate.std_error)

    def test_drawn_labels_are_those_of_the_data(self):
        X, y = sample()
        names = np.array(["cat", "dog"])
        _, labels = exact(draws=20).fit(X, names[y]).sample(50, random_state=0)
        assert set(labels) == {"cat", "dog"}


class TestMeanSquareError:
    """mse: variance, squared distance from the posterior mean, and the noise of the estimate."""

    def test_number_is_judged_by_its_distance_from_the_mean(self):
        own = fitted_exact().error(linear())
        expected = own.posterior_sd**2 + (0.3 - own.value) ** 2
        assert fitted_exact().mse(0.3, linear()) == pytest.approx(expected, rel=1e-12)

    def test_estimate_adds_its_own_noise(self):
        X, y = sample()
        other = bg.Bolstered(random_state=0).fit(X, y).error(neighbours())
        own = fitted_exact().error(neighbours())
        expected = own.draws.var() + (other.value - own.value) ** 2 + other.std_error**2
        assert other.std_error > 0
        assert fitted_exact().mse(other, neighbours()) == pytest.approx(expected, rel=1e-9)

    def test_is_the_mean_squared_distance_of_the_draws(self):
        """Independent draws, 4.5 standard errors."""
        squares = (fitted_exact().error(linear()).draws - 0.3) ** 2
        assert_mean_of_draws(squares, fitted_exact().mse(0.3, linear()))

    def test_posterior_mean_has_the_least(self):
        own = fitted_exact().error(linear()).value
        best = fitted_exact().mse(own, linear())
        assert all(fitted_exact().mse(own + gap, linear()) > best for gap in (-0.05, -0.001, 0.001, 0.05))

    def test_own_exact_estimate_has_the_posterior_variance(self):
        own = fitted_exact().error(linear())
        assert fitted_exact().mse(own, linear()) == pytest.approx(own.posterior_sd**2, rel=1e-12)


def synthetic_halves(c=3, regions=3, draws=4000, points=40, seed=0):
    """Return the masses of draws, far from 0 and 1, and two noisy counts of each."""
    rng = np.random.default_rng(seed)
    base = np.full((c, regions), 1.0)
    base[np.arange(c), np.arange(c)] = 3.0
    truth = np.stack([rng.dirichlet(20 * row, size=draws) for row in base], axis=1)
    halves = rng.multinomial(points, truth, size=(2, draws, c)) / points
    return truth, halves


class TestDenoisedDraws:
    """The spread of stored draws is that of the masses, not of the points behind them."""

    @pytest.mark.parametrize(("c", "regions"), [(2, 2), (3, 3), (3, 5), (5, 5)])
    def test_class_errors_have_the_covariance_between_the_halves(self, c, regions):
        _, halves = synthetic_halves(c, regions)
        wrong = [1.0 - half[:, range(c), range(c)] for half in halves]
        between = np.cov(np.hstack(wrong).T)[:c, c:]
        errors = 1.0 - denoised(halves)[:, range(c), range(c)]
        np.testing.assert_allclose(np.cov(errors.T), 0.5 * (between + between.T), rtol=1e-3, atol=2e-5)

    @pytest.mark.parametrize("weights", [[0.2, 0.3, 0.5], [0.9, 0.05, 0.05]])
    def test_weighted_error_has_the_covariance_between_its_halves(self, weights):
        _, halves = synthetic_halves()
        a, b = (1.0 - half[:, range(3), range(3)] @ weights for half in halves)
        errors = 1.0 - denoised(halves)[:, range(3), range(3)] @ weights
        assert errors.var(ddof=1) == pytest.approx(np.cov(a, b)[0, 1], rel=2e-3)

    def test_covariance_between_halves_is_the_variance_of_the_masses(self):
        """4.5 standard errors of the mean product of 4000 draws."""
        truth, halves = synthetic_halves()
        exact_errors = 1.0 - truth[:, 0, 0]
        a, b = (1.0 - half[:, 0, 0] for half in halves)
        products = (a - a.mean()) * (b - b.mean())
        assert_mean_of_draws(products, exact_errors.var())

    def test_mean_stays(self):
        _, halves = synthetic_halves()
        np.testing.assert_allclose(denoised(halves).mean(axis=0), halves.mean(axis=(0, 1)), atol=1e-3)

    @pytest.mark.parametrize("points", [1, 2, 16])
    def test_rows_are_probability_laws(self, points):
        _, halves = synthetic_halves(points=points)
        rows = denoised(halves)
        assert rows.min() >= 0.0
        np.testing.assert_allclose(rows.sum(axis=2), 1.0, atol=1e-12)

    def test_masses_without_noise_stay_as_they_are(self):
        truth, _ = synthetic_halves(draws=200)
        np.testing.assert_allclose(denoised(np.stack([truth, truth])), truth, atol=1e-9)

    def test_noise_alone_leaves_no_spread(self):
        """One law for all draws: what differs is noise. Its covariance is 0 within 4.5 standard errors."""
        rng = np.random.default_rng(1)
        halves = rng.multinomial(50, [[0.8, 0.2], [0.3, 0.7]], size=(2, 4000, 2)) / 50
        noise = halves[0, :, 0, 1].var() / np.sqrt(4000)
        errors = 1.0 - denoised(halves)[:, [0, 1], [0, 1]]
        assert (errors.var(axis=0) < Z * noise).all()

    def test_constant_masses_are_no_trouble(self):
        halves = np.broadcast_to(np.eye(3), (2, 50, 3, 3))
        np.testing.assert_array_equal(denoised(halves), halves[0])

    def test_spread_of_sampled_draws_agrees_with_many_points(self):
        """The variance of the same draws' errors with 64 and with 512 points each, at 4.5 standard errors.

        That of the former is the standard error of a covariance, between two halves with noise of their own.
        """
        few = fitted_gibbs(c=3).error(neighbours(3))
        many = copy.copy(fitted_gibbs(c=3)).set_params(n_points=512).error(neighbours(3))
        one, other = few.posterior.errors_twice(few)
        products = (one - one.mean()) * (other - other.mean())
        assert few.draws.var() == pytest.approx(many.draws.var(), abs=Z * products.std() / np.sqrt(len(products)))

    def test_noise_of_halves_is_independent(self):
        """Against masses without noise: over 16 seeds the covariance of the noise is 0 within 4.5 standard errors.

        Draws that took their points in the same order twice had noise with correlations of 0.2 to 0.4.
        """
        known = fitted_gibbs().error(linear()).confusion_draws
        right = known[:, [0, 1], [0, 1]] / known.sum(axis=2)
        products = []
        for seed in range(16):
            halves = fitted_gibbs().error(OnlyPredicts(linear()), random_state=seed).posterior.halves
            noise = halves[:, :, [0, 1], [0, 1]] - right
            noise -= noise.mean(axis=1, keepdims=True)
            products.append((noise[0] * noise[1]).mean(axis=0))
        mean, spread = np.mean(products, axis=0), np.std(products, axis=0, ddof=1)
        assert (np.abs(mean) < Z * spread / np.sqrt(len(products))).all()

    def test_spread_of_sampled_draws_agrees_with_exact_masses(self):
        """As above, against masses without noise."""
        known, sampled = (fitted_gibbs().error(one) for one in (linear(), OnlyPredicts(linear())))
        squares = (known.draws - known.draws.mean()) ** 2
        tolerance = Z * 0.5 * squares.std() / np.sqrt(len(squares))
        assert sampled.draws.var() == pytest.approx(known.draws.var(), abs=tolerance)
        raw = error_mass(sampled.posterior.halves.mean(axis=0)).var()
        assert raw > sampled.draws.var()


@functools.cache
def table(n=200, seed=0):
    """Return points on a table of 3 x 2 cells."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    X = np.stack([rng.binomial(2, 0.3 + 0.4 * y), rng.binomial(1, 0.6 - 0.3 * y)], axis=1).astype(float)
    return X, y


@functools.cache
def cell_tree():
    return DecisionTreeClassifier(max_depth=3, random_state=0).fit(*table())


def cells(model=None, **given):
    model = bg.DiscreteClasses() if model is None else model
    return bg.Bayesian(model, **({"sampler": "conjugate", "draws": 3000, "chains": 2, "random_state": 0} | given))


@functools.cache
def fitted_cells():
    return cells().fit(*table())


class TestDiscrete:
    """Cells with Dirichlet priors."""

    def test_estimate_is_the_sum_over_cells(self):
        """The posterior mean of a cell is (count + 1) / (n_y + number of cells)."""
        X, y = table()
        expected = 0.0
        for label in (0, 1):
            members = X[y == label]
            wrong = 0.0
            for a in (0.0, 1.0, 2.0):
                for b in (0.0, 1.0):
                    count = np.sum((members == [a, b]).all(axis=1))
                    wrong += (count + 1) * (cell_tree().predict([[a, b]])[0] != label)
            expected += (1 + len(members)) / (2 + len(y)) * wrong / (len(members) + 6)
        assert fitted_cells().error(cell_tree()).value == pytest.approx(expected, rel=1e-12)

    def test_draws_have_mean_and_variance_of_the_closed_form(self):
        estimate = fitted_cells().error(cell_tree())
        assert estimate.computation.exact
        assert_mean_of_draws(estimate.draws, estimate.value)
        assert_variance_of_draws(estimate.draws, estimate.posterior_sd**2)

    def test_variance_agrees_with_draws_made_here(self):
        """200,000 draws of the cells and class probabilities by numpy's own Dirichlet."""
        (X, y), rng, n = table(), np.random.default_rng(9), 200_000
        grid = np.array([[a, b] for a in (0.0, 1.0, 2.0) for b in (0.0, 1.0)])
        said = cell_tree().predict(grid)
        errors = []
        for label in (0, 1):
            counts = [(X[y == label] == cell).all(axis=1).sum() for cell in grid]
            errors.append(rng.dirichlet(1.0 + np.array(counts), size=n)[:, said != label].sum(axis=1))
        draws = (rng.dirichlet(1.0 + np.bincount(y), size=n) * np.stack(errors, axis=1)).sum(axis=1)
        assert_variance_of_draws(draws, fitted_cells().error(cell_tree()).posterior_sd ** 2)

    def test_each_cell_is_asked_once(self):
        X, y = table()
        asked = []

        class Counts(OnlyPredicts):
            def predict(self, X):
                asked.append(len(X))
                return super().predict(X)

        cells(draws=20).fit(X, y).error(Counts(cell_tree()))
        assert asked.count(6) == 1

    def test_concentration_is_a_number_of_points_in_each_cell(self):
        X, y = table()
        estimate = cells(bg.DiscreteClasses(100.0), draws=20, class_prior=[0.5, 0.5])
        with pytest.warns(UserWarning, match="the prior rules the estimate"):
            estimate.fit(X, y)
        grid = np.array([[a, b] for a in (0.0, 1.0, 2.0) for b in (0.0, 1.0)])
        said = cell_tree().predict(grid)
        counts = np.array([[(X[y == k] == cell).all(axis=1).sum() for cell in grid] for k in (0, 1)])
        rates = [(100 + counts[k])[said != k].sum() / (600 + counts[k].sum()) for k in (0, 1)]
        assert estimate.error(cell_tree()).value == pytest.approx(np.mean(rates), rel=1e-12)

    def test_levels_that_no_point_has_get_prior_mass(self):
        X, y = table()
        levels = [[0, 1, 2, 3], [0, 1]]
        more = cells(bg.DiscreteClasses(levels=levels), draws=20).fit(X, y)
        assert more.posterior_.draws.n_cells == 8
        assert set(map(tuple, more.sample(4000, random_state=0)[0].tolist())) == {
            (a, b) for a in levels[0] for b in levels[1]
        }

    def test_levels_of_the_sample_are_the_default(self):
        X, y = table()
        given = cells(bg.DiscreteClasses(levels=[[2, 1, 0], [0, 1]]), draws=20).fit(X, y)
        np.testing.assert_array_equal(
            given.error(cell_tree()).draws, cells(draws=20).fit(X, y).error(cell_tree()).draws
        )

    def test_drawn_points_have_the_frequencies_of_the_posterior_mean(self):
        """6 cells of one class, 4.5 binomial standard errors plus what 6000 posterior draws leave open."""
        X, y = table()
        drawn, labels = fitted_cells().sample(20_000, random_state=2)
        grid = np.array([[a, b] for a in (0.0, 1.0, 2.0) for b in (0.0, 1.0)])
        own = drawn[labels == 1]
        counts = np.array([(X[y == 1] == cell).all(axis=1).sum() for cell in grid])
        expected = (counts + 1) / (counts.sum() + 6)
        found = np.array([(own == cell).all(axis=1).mean() for cell in grid])
        noise = np.sqrt(expected * (1 - expected) * (1 / len(own) + 1 / (6000 * 100)))
        assert (np.abs(found - expected) < Z * noise).all()

    def test_classifier_of_more_classes_is_judged_by_draws(self):
        X, y = table()
        third = DecisionTreeClassifier(random_state=0).fit(np.vstack([X, [[2.0, 1.0]] * 60]), np.append(y, [2] * 60))
        estimate = fitted_cells().error(third)
        assert estimate.confusion[:, 2].sum() > 0
        assert not estimate.computation.exact

    def test_a_hundred_thousand_cells_stay_within_memory(self):
        """All draws together would take 96 MB."""
        rng = np.random.default_rng(0)
        X, y = rng.integers(10, size=(300, 5)).astype(float), np.arange(300) % 2
        classifier = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
        measure = cells(bg.DiscreteClasses(levels=[range(10)] * 5), draws=60, chains=1)
        with pytest.warns(UserWarning, match="The prior counts as 100,000 points"):
            measure.fit(X, y)
        tracemalloc.start()
        estimate = measure.error(classifier)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 70e6
        assert estimate.draws.shape == (60,)

    def test_draws_are_the_same_whenever_they_are_made(self):
        one, other = (fitted_cells().error(cell_tree()).draws for _ in range(2))
        np.testing.assert_array_equal(one, other)

    def test_fitted_measure_keeps_no_classifier(self):
        """A classifier that cannot be pickled must not spoil the measure that judged it."""
        measure = cells(draws=20).fit(*table())

        class Local(OnlyPredicts):
            pass

        measure.error(Local(cell_tree()))
        again = pickle.loads(pickle.dumps(measure))
        assert again.error(cell_tree()).value == measure.error(cell_tree()).value


def autoregressive(phi, chains, draws, seed=0, shifted=0.0):
    rng = np.random.default_rng([seed, chains, draws])
    values = np.empty((chains, draws))
    values[:, 0] = rng.standard_normal(chains)
    for t in range(1, draws):
        values[:, t] = phi * values[:, t - 1] + np.sqrt(1 - phi**2) * rng.standard_normal(chains)
    return values + shifted * np.arange(chains)[:, None]


CHAINS = [
    (0.0, 4, 500, 0.0),
    (0.5, 4, 251, 0.0),
    (0.9, 2, 1000, 0.0),
    (0.97, 3, 400, 0.0),
    (-0.6, 4, 300, 0.0),
    (0.3, 1, 200, 0.0),
    (0.0, 2, 12, 0.0),
]
# Their autocorrelations never fall to 0 within the draws, where ArviZ leaves the last ones out.
STUCK = [(0.5, 4, 100, 1.0), (0.99, 2, 50, 0.3)]


class TestDiagnostics:
    """Convergence numbers are ArviZ's."""

    @pytest.fixture
    def az(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            import arviz
        return arviz

    @pytest.mark.parametrize(("phi", "chains", "draws", "shifted"), [case for case in CHAINS if case[1] > 1] + STUCK)
    def test_rhat_is_that_of_arviz(self, az, phi, chains, draws, shifted):
        values = autoregressive(phi, chains, draws, shifted=shifted)
        assert float(diagnostics.rhat(values)) == pytest.approx(float(az.rhat(values)), rel=1e-10)

    @pytest.mark.parametrize(
        ("phi", "chains", "draws", "shifted"), CHAINS + STUCK + [(0.9, 4, draws, 0.0) for draws in (4, 5, 7, 9)]
    )
    def test_ess_is_that_of_arviz(self, az, phi, chains, draws, shifted):
        values = autoregressive(phi, chains, draws, shifted=shifted)
        assert float(diagnostics.ess(values)) == pytest.approx(float(az.ess(values, method="mean")), rel=1e-9)

    @pytest.mark.parametrize(("phi", "chains", "draws", "shifted"), CHAINS)
    def test_mcse_is_that_of_arviz(self, az, phi, chains, draws, shifted):
        values = autoregressive(phi, chains, draws, shifted=shifted)
        assert float(diagnostics.mcse(values)) == pytest.approx(np.ravel(az.mcse(values, method="mean"))[0], rel=1e-9)

    def test_heavy_tails_are_no_trouble(self, az):
        values = np.random.default_rng(3).standard_cauchy((4, 300))
        assert float(diagnostics.rhat(values)) == pytest.approx(float(az.rhat(values)), rel=1e-10)

    def test_many_numbers_are_judged_one_by_one(self):
        values = np.stack([autoregressive(phi, 3, 200) for phi in (0.0, 0.5, 0.9)], axis=2)
        for judge in (diagnostics.rhat, diagnostics.ess, diagnostics.mcse):
            np.testing.assert_allclose(judge(values), [judge(values[..., i]) for i in range(3)], rtol=1e-12)

    def test_what_never_moves_has_converged(self):
        still = np.full((4, 100), 0.25)
        assert diagnostics.rhat(still) == 1.0
        assert diagnostics.ess(still) == 400.0
        assert diagnostics.mcse(still) == 0.0


class TestElsewhere:
    """Comparing, selecting and studying with a posterior."""

    def test_two_classifiers_are_compared_by_joint_draws(self):
        compared = bg.compare_classifiers(linear(), another(), by=fitted_gibbs())
        gaps = fitted_gibbs().error(linear()).draws - fitted_gibbs().error(another()).draws
        assert compared.probability == pytest.approx(np.mean(gaps < 0), abs=1e-12)
        np.testing.assert_allclose(tuple(compared.interval), np.quantile(gaps, [0.025, 0.975]))
        assert compared.p_value is None

    def test_noise_of_sampled_points_does_not_widen_a_difference(self):
        """Masses of two linear classifiers, exact and sampled: 64 points a draw have twenty times the variance."""
        exact = bg.compare_classifiers(linear(), another(), by=fitted_gibbs())
        sampled = bg.compare_classifiers(OnlyPredicts(linear()), OnlyPredicts(another()), by=fitted_gibbs())
        assert sampled.probability == pytest.approx(exact.probability, abs=0.05)
        width = exact.interval.high - exact.interval.low
        np.testing.assert_allclose(tuple(sampled.interval), tuple(exact.interval), atol=0.15 * width)

    def test_hidden_geometry_makes_no_difference(self):
        compared = bg.compare_classifiers(linear(), OnlyPredicts(linear()), by=fitted_gibbs())
        low, high = compared.interval
        assert low < 0 < high
        assert high - low < 0.2 * np.ptp(list(compared.estimates[0].interval()))
        assert compared.better is None

    def test_classifier_is_no_better_than_itself(self):
        compared = bg.compare_classifiers(neighbours(), neighbours(), by=fitted_gibbs())
        assert (compared.difference, compared.probability, compared.better) == (0.0, 0.5, None)

    def test_difference_is_less_uncertain_than_the_errors(self):
        """Both errors share their draws, so that what moves both cancels."""
        compared = bg.compare_classifiers(linear(), neighbours(), by=fitted_gibbs())
        one, other = (estimate.draws.std() for estimate in compared.estimates)
        gaps = compared.estimates[0].draws - compared.estimates[1].draws
        assert gaps.std() < np.hypot(one, other)

    @pytest.mark.parametrize("by", [fitted_gibbs, fitted_exact], ids=["sampled", "closed form"])
    def test_difference_is_that_of_the_two_estimates(self, by):
        other = LinearDiscriminantAnalysis().fit(*sample(seed=1))
        compared = bg.compare_classifiers(linear(), other, by=by())
        one, two = (estimate.value for estimate in compared.estimates)
        assert compared.difference == pytest.approx(one - two, abs=1e-12)

    def test_unfitted_measure_cannot_compare(self):
        from sklearn.exceptions import NotFittedError

        with pytest.raises(NotFittedError, match=r"call fit\(X, y\) first"):
            bg.compare_classifiers(linear(), neighbours(), by=gibbs())

    def test_compare_has_a_row_with_an_interval(self):
        X, y = sample()
        comparison = bg.compare(LinearDiscriminantAnalysis(), X, y, ["resub", "bayesian"], random_state=0)
        row = comparison.rows[1]
        assert row.estimate.interval().low < row.estimate.value < row.estimate.interval().high
        frame = comparison.to_frame()
        assert frame.loc["bayesian", "n_refits"] == 0
        assert np.isfinite(frame.loc["bayesian", "estimate"])

    def test_compare_gives_the_estimate_of_the_measure(self):
        X, y = sample()
        measure = gibbs(random_state=4)
        comparison = bg.compare(linear(), X, y, {"mine": measure})
        assert comparison["mine"].value == clone(measure).fit(X, y).error(linear()).value

    def test_study_runs_and_covers(self, tmp_path):
        """Five data sets: the interval holds the truth in at least one, but for 3 in 10 million studies."""
        population = bg.datasets.PaperGaussian(n_informative=2, n_noise=0)
        study = bg.Study(
            population,
            {"LDA": LinearDiscriminantAnalysis()},
            {"bayesian": gibbs(draws=150, chains=2, random_state=None), "resub": "resub"},
            [30],
            repetitions=5,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            results = study.run(tmp_path / "study", n_jobs=1)
        data = results.to_xarray()
        estimates = data["estimate"].sel(estimator="bayesian")
        assert estimates.size == 5
        assert np.isfinite(estimates).all()
        low, high = (data[name].sel(estimator="bayesian") for name in ("low", "high"))
        assert ((low <= data["true_error"]) & (data["true_error"] <= high)).any()

    def test_scorer_guides_a_search(self):
        X, y = sample()
        scorer = bg.scorer(gibbs(draws=100, chains=2, tune=50))
        search = GridSearchCV(SVC(), {"C": [1e-4, 1.0]}, scoring=scorer, cv=bg.WholeSet())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            assert search.fit(X, y).best_params_ == {"C": 1.0}

    def test_score_of_a_named_posterior_is_minus_its_error(self):
        X, y = sample()
        scorer = bg.scorer("bayesian", random_state=3, draws=300)
        expected = bg.make_estimator("bayesian", random_state=3, draws=300, n_points=32).fit(X, y).error(neighbours())
        assert scorer(neighbours(), X, y) == -expected.value

    def test_estimate_survives_pickling(self):
        estimate = fitted_gibbs().error(neighbours())
        again = pickle.loads(pickle.dumps(estimate))
        np.testing.assert_array_equal(again.draws, estimate.draws)
        assert again.to_inference_data().posterior["error"].shape == (3, 400)
