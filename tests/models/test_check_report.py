"""What checks of a Bayesian measure say, and that they say it where it is true: plain and spoilt classes."""

from __future__ import annotations

import functools
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

import bayes_gresub as bg
from bayes_gresub.models.check_report import CheckReport, Finding
from bayes_gresub.models.class_fit_power import look_up_power

GOOD = Finding("sampling", False, "The chains agree.", {"rhat": 1.0})
BAD = Finding("fit", True, "The model does not fit <class 'b'> & more.", {"p_value": 0.002})
MODEL_TOPICS = ["sampling", "fit", "power", "prior"]
ERROR_TOPICS = ["error", "sensitivity", "model-free"]


class TestCheckReport:
    """How findings are shown and read."""

    def test_is_true_where_nothing_is_a_problem(self):
        assert CheckReport((GOOD,))
        assert not CheckReport((GOOD, BAD))

    def test_headline_of_no_problem(self):
        assert str(CheckReport((GOOD,))).splitlines()[0] == "No problems found"

    def test_headline_counts_and_names_problems(self):
        two = CheckReport((BAD, GOOD, Finding("prior", True, "It claims much.")))
        assert str(two).splitlines()[0] == "2 problems found: fit, prior"
        assert str(CheckReport((BAD,))).splitlines()[0] == "1 problem found: fit"

    def test_each_finding_is_a_line_with_its_mark(self):
        lines = str(CheckReport((GOOD, BAD))).splitlines()[1:]
        assert lines[0] == "  ok       sampling  The chains agree."
        assert lines[1].startswith("  PROBLEM  fit       The model")

    def test_long_sentences_are_wrapped_under_themselves(self):
        lines = str(CheckReport((Finding("fit", False, "word " * 60),))).splitlines()[1:]
        assert len(lines) > 1
        assert max(map(len, lines)) <= 118
        assert all(line.startswith(" " * 16 + "word") for line in lines[1:])

    def test_problems_are_those_findings(self):
        assert CheckReport((GOOD, BAD)).problems == (BAD,)

    def test_topic_gives_its_finding(self):
        assert CheckReport((GOOD, BAD))["fit"] is BAD

    def test_unknown_topic_lists_the_topics(self):
        with pytest.raises(KeyError, match="nothing about 'chains'; the topics are sampling, fit"):
            CheckReport((GOOD, BAD))["chains"]

    def test_frame_has_a_row_per_finding(self):
        frame = CheckReport((GOOD, BAD)).to_frame()
        expected = pd.DataFrame(
            {"problem": [False, True], "sentence": [GOOD.sentence, BAD.sentence]},
            index=pd.Index(["sampling", "fit"], name="topic"),
        )
        pd.testing.assert_frame_equal(frame, expected)

    def test_dict_has_everything(self):
        assert CheckReport((GOOD,)).to_dict() == {
            "sampling": {"problem": False, "sentence": "The chains agree.", "numbers": {"rhat": 1.0}}
        }

    def test_numbers_are_named_by_topic(self):
        assert CheckReport((GOOD, BAD)).numbers == {"sampling/rhat": 1.0, "fit/p_value": 0.002}

    def test_html_marks_problems_and_escapes(self):
        shown = CheckReport((GOOD, BAD))._repr_html_()
        assert "<b>problem</b>" in shown
        assert "&lt;class &#x27;b&#x27;&gt; &amp; more" in shown
        assert shown.count("<tr>") == 2


@functools.cache
def sample(kind="plain", n=120, d=2, seed=0):
    """Return two Gaussian classes, or such of which class "b" has two modes, heavy tails, or another covariance."""
    rng = np.random.default_rng(seed)
    y = np.repeat(["a", "b"], n // 2)
    X = rng.normal(size=(n, d))
    second = y == "b"
    X[second, 0] += 2.0
    if kind == "bimodal":
        X[second, 1] += 3.0 * rng.choice([-1.0, 1.0], size=n // 2)
    elif kind == "heavy":
        X[second] = rng.standard_t(2, size=(n // 2, d)) + [2.0] + [0.0] * (d - 1)
    elif kind == "spread":
        X[second] *= 3.0
    elif kind == "correlated":
        X[:, 1] += 2.0 * X[:, 0]
    return X, y


def gibbs(covariance="full", **given):
    model = bg.GaussianClasses(covariance)
    return bg.Bayesian(model, **({"sampler": "gibbs", "draws": 800, "chains": 2, "random_state": 0} | given))


@functools.cache
def fitted(kind="plain", covariance="full"):
    return gibbs(covariance).fit(*sample(kind))


@functools.cache
def lda(kind="plain"):
    return LinearDiscriminantAnalysis().fit(*sample(kind))


@functools.cache
def report(kind="plain", covariance="full"):
    return fitted(kind, covariance).check(lda(kind))


def fixed(strength, d=2, **given):
    prior = bg.NormalInverseWishart(np.full(d, 1.0), strength, d + 3.0, 2.0 * np.eye(d))
    model = bg.GaussianClasses(given.pop("covariance", "full"), prior)
    return bg.Bayesian(model, **({"sampler": "conjugate", "draws": 1000, "chains": 2, "random_state": 0} | given))


class TestTopics:
    """What is looked at."""

    def test_model_alone_has_its_own_topics(self):
        assert [one.topic for one in fitted().check().findings] == MODEL_TOPICS

    def test_classifier_adds_what_is_about_its_error(self):
        assert [one.topic for one in report().findings] == MODEL_TOPICS + ERROR_TOPICS

    @pytest.mark.parametrize("covariance", ["shared", "diagonal", "spherical"])
    def test_restricted_covariances_are_a_topic(self, covariance):
        topics = [one.topic for one in fitted(covariance=covariance).check().findings]
        assert topics == ["sampling", "fit", "power", "covariance", "prior"]

    def test_everything_can_be_written_as_json(self):
        assert json.loads(json.dumps(report().to_dict())) == report().to_dict()

    def test_same_seed_gives_the_same_verdict(self):
        assert str(fitted().check(lda(), random_state=5)) == str(fitted().check(lda(), random_state=5))

    def test_check_leaves_the_estimate_as_it_was(self):
        before = fitted().error(lda()).value
        fitted().check(lda())
        assert fitted().error(lda()).value == before


class TestPlain:
    """Gaussian classes, seen as such."""

    @pytest.mark.parametrize("covariance", ["full", "shared", "diagonal", "spherical"])
    def test_nothing_is_found(self, covariance):
        """The fit has 5% false alarms over all tests; this seed has none."""
        assert report(covariance=covariance), report(covariance=covariance)

    def test_sentences_are_calm(self):
        assert report()["sampling"].sentence.startswith("The chains agree (R-hat 1.00")
        assert report()["fit"].sentence.startswith("No class departs visibly from the Gaussian model (p=")
        assert report()["prior"].sentence.startswith("The prior alone implies a best possible error of")
        assert report()["error"].sentence.startswith("The chains agree on the error")
        assert report()["sensitivity"].sentence.startswith("The prior strength matters little")
        assert report()["model-free"].sentence.startswith("Estimates without a model agree with the interval")

    def test_power_is_told_for_the_smallest_class(self):
        X, y = sample()
        found = gibbs(draws=400).fit(X[:-20], y[:-20]).check()["power"]
        assert found.sentence.startswith("With 40 points in 2 features the test of fit would miss in most samples: ")
        assert not found.is_problem

    def test_power_is_that_of_the_table(self):
        assert report()["power"].numbers == look_up_power(60, 2)

    def test_convergence_is_that_of_the_error(self):
        from bayes_gresub.models.diagnostics import ess, rhat

        draws = fitted().error(lda()).draws.reshape(2, -1)
        numbers = report()["error"].numbers
        assert numbers["rhat"] == pytest.approx(float(rhat(draws)), rel=1e-12)
        assert numbers["ess"] == pytest.approx(float(ess(draws)), rel=1e-12)
        assert numbers["mcse"] == pytest.approx(fitted().error(lda()).std_error, rel=1e-3)

    def test_separate_samples_can_be_checked(self):
        found = gibbs(sampling="separate").fit(*sample()).check(lda())
        assert found["model-free"].sentence.startswith("Without class probabilities there is no overall error")
        assert not found["error"].is_problem


class TestFit:
    """Classes that do not follow the model."""

    def test_two_modes_are_flagged_with_a_remedy(self):
        found = report("bimodal")["fit"]
        assert found.is_problem
        assert found.sentence.startswith("The Gaussian model does not fit class 'b' (p=0.00")
        assert "the estimate may be off. Try StudentTClasses (heavy tails) or MixtureClasses" in found.sentence

    def test_class_that_fits_is_not_accused(self):
        assert report("bimodal")["fit"].numbers["p_values"]["a"] > 0.05
        assert "'a'" not in report("bimodal")["fit"].sentence

    def test_feature_is_named(self):
        X, y = sample("bimodal")
        frame = pd.DataFrame(X, columns=["height", "age"])
        assert "loudest: age" in gibbs().fit(frame, y).check()["fit"].sentence

    def test_heavy_tails_are_flagged(self):
        assert report("heavy")["fit"].is_problem

    @pytest.mark.parametrize(
        ("kind", "covariance"), [("spread", "shared"), ("correlated", "diagonal"), ("correlated", "spherical")]
    )
    def test_covariances_of_another_form_are_flagged(self, kind, covariance):
        found = fitted(kind, covariance).check()["covariance"]
        assert found.is_problem
        assert found.sentence.startswith(f"The covariances are not {covariance} (p=0.00")
        assert found.sentence.endswith("Try covariance='full'.")

    def test_covariances_of_too_few_points_are_not_tested(self):
        X, y = sample(n=16, d=8)
        found = gibbs("diagonal", draws=400).fit(X, y).check()["covariance"]
        assert not found.is_problem
        assert "cannot be tested: a class has too few points" in found.sentence

    @pytest.mark.filterwarnings("ignore:the chains")
    def test_too_few_points_for_any_test_are_a_problem(self):
        X, y = sample(n=10)
        found = gibbs(draws=100).fit(X, y).check()["fit"]
        assert found.is_problem
        assert found.sentence == "Classes have fewer than 6 points: whether the model fits cannot be tested."
        assert found.numbers == {"n_points": [5, 5]}

    @pytest.mark.filterwarnings("ignore:the chains")
    def test_small_class_beside_large_ones_is_not_passed_over_in_silence(self):
        X, y = sample()
        X, y = np.vstack([X, X[:4] + 4.0]), np.append(y, ["c"] * 4)
        found = gibbs(draws=100).fit(X, y).check()["fit"]
        assert "'c'" in found.sentence

    def test_cells_fit_any_sample(self):
        X, y = sample()
        measure = bg.Bayesian(bg.DiscreteClasses(), sampler="conjugate", draws=300, chains=2, random_state=0)
        found = measure.fit((X > 0.5).astype(float), y).check()
        assert [one.topic for one in found.findings] == ["sampling", "fit", "prior"]
        assert found["fit"].sentence == "A table of cells fits any sample; there is nothing to test."


class Shifted(bg.GaussianClasses):
    """A class model that the package does not know, with a finding of its own."""

    adjective = "shifted"

    def findings(self, data, posterior, class_probabilities, seed):
        shared = super().findings(data, posterior, class_probabilities, seed)
        return [*shared, Finding("shift", True, f"{data.n_classes} classes are shifted.")]


class TestNewModel:
    """A class model brings its own findings; nothing else is edited."""

    def test_its_findings_are_in_the_report(self):
        report = bg.Bayesian(Shifted(), draws=800, chains=2, random_state=0).fit(*sample()).check(lda())
        assert report["shift"].sentence == "2 classes are shifted."
        assert report["fit"].sentence.startswith("No class departs visibly from the shifted model")
        assert [finding.topic for finding in report.findings] == [*MODEL_TOPICS, "shift", *ERROR_TOPICS]


class TestStrength:
    """The variant of a model whose prior is stronger."""

    def test_of_a_hierarchical_prior(self):
        assert bg.GaussianClasses("shared").with_strength_times(2.0).prior.strength == 3.0

    def test_of_fixed_priors(self):
        prior = bg.NormalInverseWishart(np.zeros(2), 4.0, 6.0, np.eye(2))
        assert bg.GaussianClasses(prior=prior).with_strength_times(0.5).prior.strength == 2.0
        both = bg.GaussianClasses(prior=[prior, prior]).with_strength_times(0.5).prior
        assert [each.strength for each in both] == [2.0, 2.0]

    def test_of_cells_is_their_concentration(self):
        stronger = bg.DiscreteClasses(3.0, levels=[[0, 1]]).with_strength_times(2.0)
        assert (stronger.concentration, stronger.levels) == (6.0, [[0, 1]])

    def test_is_none_without_a_strength(self):
        assert bg.MixtureClasses().with_strength_times(2.0) is None


class TestPrior:
    """What a prior claims."""

    def test_tiny_strength_is_flagged_with_a_remedy(self):
        """A prior that looks vague, and claims that the classes hardly overlap."""
        found = fixed(0.01).fit(*sample()).check()["prior"]
        assert found.is_problem
        assert "it claims that the classes hardly overlap, and pulls the estimate down" in found.sentence
        assert "Raise its strength, or use prior='hierarchical'." in found.sentence
        assert found.numbers["median"] < 0.01

    @staticmethod
    def about_the_prior(covariance, d):
        """Return what is said of the default prior alone; chains are of no importance to that."""
        measure = gibbs(covariance, draws=10, chains=1, tune=0).fit(*sample(d=d))
        fitted = measure._classes
        class_probabilities = fitted.probabilities.mean(axis=(0, 1))
        return fitted.model.prior_finding(fitted.posterior, class_probabilities, np.random.default_rng(0))

    @pytest.mark.filterwarnings("ignore:the chains")
    @pytest.mark.parametrize("covariance", ["full", "shared"])
    @pytest.mark.parametrize("d", [2, 10])
    def test_default_is_not_flagged(self, d, covariance):
        found = self.about_the_prior(covariance, d)
        assert not found.is_problem, found

    @pytest.mark.filterwarnings("ignore:the chains")
    @pytest.mark.parametrize("d", [2, 10])
    def test_default_believes_in_classes_that_overlap_whatever_the_number_of_features(self, d):
        """As its documentation says of the best possible error, where classes differ in their means."""
        numbers = self.about_the_prior("shared", d).numbers
        assert 0.05 < numbers["low"] < numbers["median"] < 0.4

    @pytest.mark.filterwarnings("ignore:the chains")
    def test_default_is_not_told_to_use_the_default(self):
        """Covariances of their own tell many features apart, whatever the means do."""
        assert "use prior='hierarchical'" not in self.about_the_prior("full", 30).sentence

    def test_error_that_a_prior_implies_is_that_of_its_classes(self):
        """Strength and dof so large that there is nothing left to draw: means equal, hence an error of one half."""
        numbers = fixed(1e9).set_params(class_prior=[0.5, 0.5]).fit(*sample()).check()["prior"].numbers
        assert numbers["median"] > 0.1
        far = [bg.NormalInverseWishart([0.0, 0.0], 1e6, 1e6, 1e6 * np.eye(2))]
        far.append(bg.NormalInverseWishart([2.0, 0.0], 1e6, 1e6, 1e6 * np.eye(2)))
        measure = fixed(1.0).set_params(model=bg.GaussianClasses(prior=far), class_prior=[0.5, 0.5])
        numbers = measure.fit(*sample()).check()["prior"].numbers
        # Phi(-1), seen with 2 x 400 points for each of 200 draws.
        assert numbers["median"] == pytest.approx(0.15866, abs=4.5 * 0.013 / np.sqrt(200) + 2e-3)

    def test_strength_that_decides_is_flagged(self):
        """Ten points and a strong prior elsewhere."""
        X, y = sample(n=16, d=2)
        found = fixed(20.0).fit(X, y).check(LinearDiscriminantAnalysis().fit(X, y))["sensitivity"]
        assert found.is_problem
        assert found.sentence.startswith("The prior matters: half the strength gives an error of")
        assert found.sentence.endswith("Justify its strength, or report the range.")

    def test_half_and_double_strength_are_those_of_refits(self):
        """Draws of the refits, 2000 each: within 4.5 standard errors of their closed forms."""
        found = fixed(4.0).fit(*sample()).check(lda())["sensitivity"]
        for name, strength in (("half", 2.0), ("double", 8.0)):
            other = fixed(strength).fit(*sample()).error(lda())
            noise = other.posterior_sd / np.sqrt(2000)
            assert found.numbers[name] == pytest.approx(other.value, abs=4.5 * noise)

    def test_reweighted_chains_agree_with_refitted_ones(self):
        """Double the strength by weights, against chains under that prior: 4.5 combined Monte-Carlo errors.

        Weights leave fewer effective draws, taken here as a third.
        """
        found = fitted().check(lda())["sensitivity"].numbers
        for name, strength in (("half", 0.75), ("double", 3.0)):
            model = bg.GaussianClasses(prior=bg.Hierarchical(strength=strength))
            other = clone(fitted()).set_params(model=model).fit(*sample()).error(lda())
            noise = np.hypot(np.sqrt(3) * fitted().error(lda()).std_error, other.std_error)
            assert found[name] == pytest.approx(other.value, abs=4.5 * noise)

    def test_strength_of_cells_is_their_concentration(self):
        X, y = sample()
        X = (X > 0.5).astype(float)
        classifier = LinearDiscriminantAnalysis().fit(X, y)

        def measure(concentration):
            model = bg.DiscreteClasses(concentration)
            return bg.Bayesian(model, sampler="conjugate", draws=2000, chains=2, random_state=0).fit(X, y)

        numbers = measure(1.0).check(classifier)["sensitivity"].numbers
        for name, concentration in (("half", 0.5), ("double", 2.0)):
            right = measure(concentration).error(classifier)
            assert numbers[name] == pytest.approx(right.value, abs=4.5 * right.posterior_sd / np.sqrt(4000))

    def test_cells_that_outnumber_the_points_are_a_problem(self):
        rng = np.random.default_rng(0)
        X, y = rng.integers(4, size=(40, 4)).astype(float), np.arange(40) % 2
        measure = bg.Bayesian(bg.DiscreteClasses(), sampler="conjugate", draws=50, random_state=0)
        with pytest.warns(UserWarning, match="the prior rules the estimate"):
            measure.fit(X, y)
        assert "the prior rules the estimate" in measure.check()["scale"].sentence

    @pytest.mark.parametrize("concentration", [1e-4, 0.01, 1.0])
    def test_prior_of_cells_implies_possible_errors(self, concentration):
        """The best error of two classes cannot exceed the smaller class probability."""
        rng = np.random.default_rng(0)
        X, y = rng.integers(3, size=(40, 2)).astype(float), np.arange(40) % 2
        model = bg.DiscreteClasses(concentration)
        numbers = bg.Bayesian(model, sampler="conjugate", draws=50, random_state=0).fit(X, y).check()["prior"].numbers
        assert 0 <= numbers["low"] <= numbers["high"] <= 0.53

    def test_scale_in_other_units_is_a_problem(self):
        X, y = sample()
        d = X.shape[1]
        for factor, is_problem in ((1.0, False), (1e6, True), (1e-6, True)):
            prior = bg.NormalInverseWishart(np.zeros(d), 1.0, d + 3, np.eye(d))
            measure = bg.Bayesian(bg.GaussianClasses(prior=prior), sampler="conjugate", draws=50, random_state=0)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                report = measure.fit(X * factor, y).check()
            assert ("scale" in [finding.topic for finding in report.findings]) == is_problem


class TestFeatures:
    """Classes whose points do not fill the space."""

    def test_feature_that_does_not_vary_in_one_class(self):
        X, y = sample()
        X = X.copy()
        X[y == y[0], 1] = 7.0
        report = bg.Bayesian(sampler="gibbs", draws=100, random_state=0).fit(X, y).check()
        assert f"Feature 1 does not vary in class {y[0].item()!r}" in report["features"].sentence

    def test_features_that_depend_on_each_other(self):
        X, y = sample()
        X = np.column_stack([X, X.sum(axis=1)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            report = bg.Bayesian(sampler="gibbs", draws=100, random_state=0).fit(X, y).check()
        d = X.shape[1]
        assert f"span {d - 1} dimensions only" in report["features"].sentence


class TestSampling:
    """Chains that are too short, and draws that need no chains."""

    def test_exact_draws_are_said_to_be_exact(self):
        found = fixed(1.0).fit(*sample()).check()["sampling"]
        assert (found.is_problem, found.sentence) == (False, "The 2000 draws are independent and exact.")

    @pytest.mark.filterwarnings("ignore:the chains")
    def test_short_chains_are_flagged(self):
        found = gibbs(draws=60).fit(*sample()).check()["sampling"]
        assert found.is_problem
        assert "Raise" in found.sentence

    @pytest.mark.filterwarnings("ignore:the chains")
    def test_short_chains_are_flagged_for_the_error_too(self):
        found = gibbs(draws=60).fit(*sample()).check(lda())["error"]
        assert found.is_problem
        assert found.sentence.endswith("Raise draws.")

    def test_exact_estimate_from_few_draws_is_not_called_a_disagreement_of_chains(self):
        """Independent draws cannot disagree; they can only be few."""
        found = fixed(1.0, draws=150).fit(*sample()).check(lda())["error"]
        assert "do not agree" not in found.sentence


class TestModelFree:
    """Where the points contradict the model."""

    def test_gap_is_told_with_the_numbers(self):
        """A strong prior that puts the classes apart where they overlap."""
        X, y = sample()
        X = X.copy()
        X[y == "b", 0] -= 1.7
        far = [bg.NormalInverseWishart([m, 0.0], 1e5, 1e5, 1e5 * np.eye(2)) for m in (-6.0, 6.0)]
        measure = fixed(1.0).set_params(model=bg.GaussianClasses(prior=far)).fit(X, y)
        found = measure.check(LinearDiscriminantAnalysis().fit(X, y))["model-free"]
        assert found.is_problem
        assert found.sentence.startswith("The model and the points disagree: the model gives")
        assert found.sentence.endswith("Trust neither until the fit is understood.")
        assert found.numbers["gap"] > found.numbers["allowed"]

    def test_small_errors_that_differ_by_a_factor_are_a_problem(self):
        """Far less than a hundredth against two or three hundredths, which n=350 points can tell apart."""
        rng = np.random.default_rng(0)
        y = np.arange(350) % 2
        X = rng.normal(size=(350, 2))
        X[:, 0] += 4.0 * y
        apart = [bg.NormalInverseWishart([m, 0.0], 1e5, 1e5, 1e5 * np.eye(2)) for m in (-1.0, 5.0)]
        measure = fixed(1.0).set_params(model=bg.GaussianClasses(prior=apart)).fit(X, y)
        finding = measure.check(LinearDiscriminantAnalysis().fit(X, y))["model-free"]
        assert finding.numbers["model"] < 0.005
        assert 0.015 < finding.numbers["semi_bolstered"] < 0.05
        assert finding.is_problem

    def test_rivals_are_the_measures_they_are_named_after(self):
        X, y = sample()
        knn = KNeighborsClassifier(3).fit(X, y)
        numbers = fitted().check(knn)["model-free"].numbers
        semi = bg.Bolstered(semi=True, random_state=1).fit(X, y).error(knn)
        both = bg.BolsteredPosterior(posterior=bg.KNN(3), random_state=1).fit(X, y).error(knn)
        assert numbers["semi_bolstered"] == pytest.approx(semi.value, abs=4.5 * np.sqrt(2) * semi.std_error)
        assert numbers["posterior_probability"] == pytest.approx(both.value, abs=4.5 * np.sqrt(2) * both.std_error)
