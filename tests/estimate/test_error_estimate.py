"""ErrorEstimate: readings off hand-made confusion masses, intervals of known draws, printing and JSON."""

import json

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import beta
from sklearn.neighbors import KNeighborsClassifier

import bayes_gresub as bg
from bayes_gresub.estimate.computation import Computation
from bayes_gresub.estimate.estimands import ThisClassifier
from bayes_gresub.estimate.intervals import Interval, NoInterval
from bayes_gresub.estimate.posterior_draws import PosteriorDraws
from bayes_gresub.estimate.reasons import ClassProbabilitiesUnknown, Missing, NotAdditive, TrainedOnThesePoints

THIS_CLASSIFIER = ThisClassifier()
NO_PRIOR = Missing(value=ClassProbabilitiesUnknown())

EXACT = Computation("Bolstered()", "normal distribution function", True, "features as given", 0, 1, 0.002)
SAMPLED = Computation("Bolstered()", "scrambled Sobol' points", False, "features as given", 640, 2, 0.002)

CONFUSION = np.array([[0.5, 0.1], [0.1, 0.3]])
"""Class masses 0.6 and 0.4, errors 1/6 and 1/4, overall 0.2."""


def estimate_of(*confusions, classes=(0, 1), computation=EXACT, **fields):
    confusions = np.array(confusions)
    fields = {"interval_method": NoInterval(TrainedOnThesePoints())} | fields
    values = np.array([c.sum() - np.trace(c) for c in confusions])
    return bg.ErrorEstimate(
        classes=np.array(classes),
        estimand=THIS_CLASSIFIER,
        computation=computation,
        replicate_values=values,
        replicate_confusions=confusions,
        **fields,
    )


def with_draws(errors, **fields):
    """Return an estimate with these posterior draws of the error."""
    draws = np.zeros((len(errors), 2, 2))
    draws[:, 0, 0], draws[:, 0, 1] = 1 - errors, errors
    return estimate_of(draws.mean(axis=0), interval_method=PosteriorDraws(THIS_CLASSIFIER, draws), **fields)


def product_form():
    return bg.ErrorEstimate(
        classes=np.array([0, 1]),
        estimand=THIS_CLASSIFIER,
        computation=EXACT,
        replicate_values=np.array([0.05]),
        interval_method=NoInterval(TrainedOnThesePoints()),
        missing=Missing(confusion=NotAdditive()),
    )


def rich_estimate():
    """Return an estimate with every field, its numbers without a short decimal form."""
    rng = np.random.default_rng(0)
    confusions = rng.dirichlet(np.ones(4), size=2).reshape(2, 2, 2)
    value = float(np.mean([c.sum() - np.trace(c) for c in confusions]))
    weights, deviations = rng.dirichlet(np.ones(7)), rng.random(7)
    return estimate_of(
        *confusions,
        computation=SAMPLED,
        interval_method=PosteriorDraws(THIS_CLASSIFIER, rng.dirichlet(np.ones(4), size=5).reshape(5, 2, 2)),
        contributions=value + 0.1 * (deviations - weights @ deviations),
        point_weights=weights,
    )


class TestReadings:
    """What is read off the confusion mass."""

    def test_value_is_the_mass_off_the_diagonal(self):
        assert estimate_of(CONFUSION).value == pytest.approx(0.2, abs=1e-15)

    def test_float_gives_the_value(self):
        assert float(estimate_of(CONFUSION)) == estimate_of(CONFUSION).value

    def test_value_is_the_mean_over_replicates(self):
        assert estimate_of(CONFUSION, np.diag([0.5, 0.5])).value == pytest.approx(0.1, abs=1e-15)

    def test_confusion_is_the_mean_over_replicates(self):
        other = np.array([[0.3, 0.3], [0.1, 0.3]])
        np.testing.assert_allclose(estimate_of(CONFUSION, other).confusion, [[0.4, 0.2], [0.1, 0.3]], rtol=1e-15)

    def test_per_class_errors_are_conditional_on_the_true_class(self):
        assert estimate_of(CONFUSION, classes=("no", "yes")).per_class == pytest.approx({"no": 1 / 6, "yes": 1 / 4})

    def test_per_class_error_of_a_class_without_mass_is_nan(self):
        assert np.isnan(estimate_of([[0.9, 0.1], [0.0, 0.0]]).per_class[1])

    def test_sensitivity_is_of_the_second_class(self):
        assert estimate_of(CONFUSION).sensitivity == pytest.approx(0.75, abs=1e-15)

    def test_specificity_is_of_the_first_class(self):
        assert estimate_of(CONFUSION).specificity == pytest.approx(5 / 6, abs=1e-15)

    @pytest.mark.parametrize("name", ["sensitivity", "specificity"])
    def test_sensitivity_and_specificity_of_three_classes_are_refused(self, name):
        with pytest.raises(ValueError, match=r"defined for two classes; got 3. Use per_class"):
            getattr(estimate_of(np.eye(3) / 3, classes=(0, 1, 2)), name)

    def test_balanced_error_is_the_mean_of_the_per_class_errors(self):
        assert estimate_of(CONFUSION).balanced_error == pytest.approx((1 / 6 + 1 / 4) / 2, abs=1e-15)

    def test_balanced_error_leaves_out_classes_without_mass(self):
        assert estimate_of([[0.9, 0.1], [0.0, 0.0]]).balanced_error == pytest.approx(0.1, abs=1e-15)

    def test_majority_class_error_is_the_mass_of_the_other_classes(self):
        three = np.array([[0.1, 0.1, 0.0], [0.0, 0.4, 0.1], [0.1, 0.0, 0.2]])
        assert estimate_of(three, classes=(0, 1, 2)).majority_class_error == pytest.approx(0.5, abs=1e-15)

    def test_cost_weighs_true_class_by_predicted_class(self):
        assert estimate_of([[0.5, 0.2], [0.1, 0.2]]).cost([[0, 1], [10, -1]]) == pytest.approx(1.0, abs=1e-15)

    def test_cost_of_zero_and_one_is_the_error(self):
        estimate = estimate_of(CONFUSION, [[0.3, 0.3], [0.1, 0.3]])
        assert estimate.cost([[0, 1], [1, 0]]) == pytest.approx(estimate.value, abs=1e-15)

    @pytest.mark.parametrize("matrix", [[0, 1], [[0, 1, 2], [1, 0, 2]], [[0, np.nan], [1, 0]]])
    def test_cost_matrix_of_other_shape_or_not_finite_is_refused(self, matrix):
        with pytest.raises(ValueError, match=r"finite matrix of shape \(2, 2\), true class by predicted class"):
            estimate_of(CONFUSION).cost(matrix)

    def test_tiny_errors_keep_their_digits(self):
        tiny = np.array([[0.5, 1e-20], [0.0, 0.5]])
        changed = estimate_of(tiny).with_class_prior([0.5, 0.5])
        assert changed.value == pytest.approx(1e-20, rel=1e-12)

    def test_standard_error_is_deviation_over_root_of_replicates(self):
        estimate = estimate_of(*(np.array([[1 - e, e], [0, 0]]) for e in (0.1, 0.2, 0.3, 0.6)))
        assert estimate.std_error == pytest.approx(np.sqrt(0.14 / 3) / 2, rel=1e-12)

    def test_internal_variance_is_the_square_of_the_standard_error(self):
        estimate = estimate_of(*(np.array([[1 - e, e], [0, 0]]) for e in (0.1, 0.2, 0.3, 0.6)))
        assert estimate.internal_variance == pytest.approx(0.14 / 12, rel=1e-12)

    def test_standard_error_of_one_exact_value_is_zero(self):
        assert estimate_of(CONFUSION).std_error == 0

    def test_there_are_no_draws_without_a_posterior(self):
        assert estimate_of(CONFUSION).draws is None

    def test_draws_are_the_errors_of_the_drawn_confusions(self):
        np.testing.assert_allclose(with_draws(np.array([0.1, 0.4])).draws, [0.1, 0.4], rtol=1e-15)


class TestClassPrior:
    """The same classifier under other class probabilities."""

    @pytest.mark.parametrize("prior", [[0.9, 0.1], {"yes": 0.1, "no": 0.9}])
    def test_value_weighs_the_per_class_errors(self, prior):
        changed = estimate_of(CONFUSION, classes=("no", "yes")).with_class_prior(prior)
        assert changed.value == pytest.approx(0.9 / 6 + 0.1 / 4, abs=1e-15)

    def test_class_masses_become_the_prior(self):
        changed = estimate_of(CONFUSION).with_class_prior([0.9, 0.1])
        np.testing.assert_allclose(changed.confusion.sum(axis=1), [0.9, 0.1], rtol=1e-14)

    def test_replicate_values_are_recomputed(self):
        changed = estimate_of(CONFUSION, [[0.3, 0.3], [0.1, 0.3]]).with_class_prior([0.5, 0.5])
        np.testing.assert_allclose(changed.replicate_values, [(1 / 6 + 1 / 4) / 2, (1 / 2 + 1 / 4) / 2], rtol=1e-14)

    def test_draws_are_recomputed(self):
        draws = np.array([CONFUSION, [[0.2, 0.6], [0.1, 0.1]]])
        changed = estimate_of(CONFUSION, interval_method=PosteriorDraws(THIS_CLASSIFIER, draws)).with_class_prior(
            [0.5, 0.5]
        )
        np.testing.assert_allclose(changed.draws, [(1 / 6 + 1 / 4) / 2, (3 / 4 + 1 / 2) / 2], rtol=1e-14)

    def test_contributions_are_dropped_since_their_mean_is_no_longer_the_value(self):
        estimate = estimate_of(CONFUSION, contributions=np.full(4, 0.2), point_weights=np.full(4, 0.25))
        assert estimate.with_class_prior([0.5, 0.5]).contributions is None

    def test_per_class_errors_stay_where_replicates_differ_in_class_mass(self):
        estimate = estimate_of([[0.3, 0.1], [0.2, 0.4]], [[0.5, 0.1], [0.1, 0.3]])
        assert estimate.with_class_prior([0.5, 0.5]).per_class == pytest.approx(estimate.per_class)

    def test_one_replicate_without_mass_of_a_class_does_not_hinder_a_prior(self):
        estimate = estimate_of([[0.9, 0.1], [0.0, 0.0]], [[0.6, 0.2], [0.1, 0.1]])
        assert estimate.with_class_prior([0.5, 0.5]).per_class == pytest.approx({0: 1 / 6, 1: 1 / 2})

    def test_prior_of_the_sample_changes_nothing(self):
        estimate = estimate_of(CONFUSION)
        np.testing.assert_allclose(estimate.with_class_prior([0.6, 0.4]).confusion, estimate.confusion, rtol=1e-14)

    def test_original_is_not_changed(self):
        estimate = estimate_of(CONFUSION)
        estimate.with_class_prior([0.9, 0.1])
        assert estimate.value == pytest.approx(0.2, abs=1e-15)

    def test_positive_prior_of_a_class_without_data_is_refused(self):
        with pytest.raises(ValueError, match="class_prior must be 0 for a class without mass"):
            estimate_of([[0.9, 0.1], [0.0, 0.0]]).with_class_prior([0.5, 0.5])

    def test_prior_zero_of_a_class_without_data_is_accepted(self):
        changed = estimate_of([[0.9, 0.1], [0.0, 0.0]]).with_class_prior([1.0, 0.0])
        assert changed.value == pytest.approx(0.1, abs=1e-15)

    @pytest.mark.parametrize(
        ("prior", "message"),
        [
            ([0.5, 0.6], "Divide them by their sum"),
            ([1.5, -0.5], "probabilities that sum to 1"),
            ([np.nan, 1.0], "probabilities that sum to 1"),
            ([1.0], r"one probability for each of \[0, 1\]; got shape \(1,\)"),
            ({0: 1.0}, r"must name each of \[0, 1\] once; got \[0\]"),
            ({0: 0.5, 1: 0.5, 2: 0.0}, r"must name each of \[0, 1\] once; got \[0, 1, 2\]"),
        ],
    )
    def test_what_is_no_prior_is_refused(self, prior, message):
        with pytest.raises(ValueError, match=message):
            estimate_of(CONFUSION).with_class_prior(prior)


class TestSeparateSampling:
    """Class probabilities fixed by design and not known."""

    @pytest.mark.parametrize(
        "question",
        [
            lambda e: e.value,
            float,
            lambda e: e.confusion,
            lambda e: e.cost([[0, 1], [1, 0]]),
            lambda e: e.majority_class_error,
            lambda e: e.draws,
            lambda e: e.interval(),
        ],
        ids=["value", "float", "confusion", "cost", "majority_class_error", "draws", "interval"],
    )
    def test_questions_that_need_class_probabilities_are_refused(self, question):
        estimate = estimate_of(
            CONFUSION, interval_method=PosteriorDraws(THIS_CLASSIFIER, CONFUSION[None]), missing=NO_PRIOR
        )
        with pytest.raises(ValueError, match=r"Use with_class_prior\(...\), or give class_prior to the measure"):
            question(estimate)

    def test_per_class_errors_need_no_class_probabilities(self):
        assert estimate_of(CONFUSION, missing=NO_PRIOR).per_class == pytest.approx({0: 1 / 6, 1: 1 / 4})

    def test_sensitivity_needs_no_class_probabilities(self):
        assert estimate_of(CONFUSION, missing=NO_PRIOR).sensitivity == pytest.approx(0.75)

    def test_balanced_error_needs_no_class_probabilities(self):
        assert estimate_of(CONFUSION, missing=NO_PRIOR).balanced_error == pytest.approx(5 / 24)

    def test_a_class_prior_makes_the_value_known(self):
        changed = estimate_of(CONFUSION, missing=NO_PRIOR).with_class_prior([0.5, 0.5])
        assert changed.value == pytest.approx(5 / 24, abs=1e-15)

    def test_printing_says_why_the_error_is_unknown(self):
        assert "use with_class_prior" in repr(estimate_of(CONFUSION, missing=NO_PRIOR))

    def test_json_holds_no_value(self):
        assert json.loads(estimate_of(CONFUSION, missing=NO_PRIOR).to_json())["value"] is None

    def test_json_round_trip_keeps_the_class_probabilities_unknown(self):
        back = bg.ErrorEstimate.from_json(estimate_of(CONFUSION, missing=NO_PRIOR).to_json())
        with pytest.raises(ValueError, match="with_class_prior"):
            _ = back.value


class TestProductForm:
    """An estimate without a confusion mass."""

    @pytest.mark.parametrize(
        "question",
        [
            lambda e: e.confusion,
            lambda e: e.per_class,
            lambda e: e.sensitivity,
            lambda e: e.balanced_error,
            lambda e: e.majority_class_error,
            lambda e: e.cost([[0, 1], [1, 0]]),
            lambda e: e.with_class_prior([0.5, 0.5]),
        ],
        ids=["confusion", "per_class", "sensitivity", "balanced_error", "majority_class_error", "cost", "class_prior"],
    )
    def test_questions_to_the_confusion_mass_are_refused_with_the_reason(self, question):
        with pytest.raises(ValueError, match="Use BolsteredPosterior"):
            question(product_form())

    def test_it_has_a_value(self):
        assert product_form().value == 0.05

    def test_it_prints_its_value(self):
        assert "0.0500, exact" in repr(product_form())

    def test_it_survives_json(self):
        assert bg.ErrorEstimate.from_json(product_form().to_json()).replicate_confusions is None


class TestInterval:
    """Credible intervals of draws laid out on the quantiles of a known law."""

    grid = (np.arange(20_000) + 0.5) / 20_000

    @pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
    def test_equal_tailed_interval_has_the_quantiles_of_the_draws(self, level):
        law = beta(3, 17)
        interval = with_draws(law.ppf(self.grid)).interval(level)
        assert tuple(interval) == pytest.approx(law.interval(level), abs=1e-4)

    def test_level_is_95_percent_by_default(self):
        law = beta(3, 17)
        assert tuple(with_draws(law.ppf(self.grid)).interval()) == pytest.approx(law.interval(0.95), abs=1e-4)

    @pytest.mark.parametrize("level", [0.5, 0.95])
    def test_hdi_of_a_decreasing_density_starts_at_zero(self, level):
        law = beta(1, 9)
        interval = with_draws(law.ppf(self.grid)).interval(level, method="hdi")
        assert tuple(interval) == pytest.approx((0, law.ppf(level)), abs=1e-4)

    def test_hdi_of_a_skewed_density_is_the_shortest_interval(self):
        law = beta(3, 17)
        best = minimize_scalar(lambda p: law.ppf(p + 0.9) - law.ppf(p), bounds=(0, 0.1), method="bounded").x
        interval = with_draws(law.ppf(self.grid)).interval(0.9, method="hdi")
        assert tuple(interval) == pytest.approx((law.ppf(best), law.ppf(best + 0.9)), abs=1e-3)

    def test_hdi_finds_the_denser_side_wherever_it_is(self):
        errors = 1 - beta(1, 9).ppf(self.grid)
        assert with_draws(errors).interval(0.9, method="hdi").high == pytest.approx(1, abs=1e-4)

    def test_order_of_the_draws_does_not_matter(self):
        errors = beta(3, 17).ppf(self.grid)
        shuffled = np.random.default_rng(0).permutation(errors)
        assert with_draws(shuffled).interval(method="hdi") == with_draws(errors).interval(method="hdi")

    def test_interval_says_what_it_holds(self):
        interval = with_draws(np.array([0.1, 0.2])).interval(0.8)
        assert interval == Interval(
            pytest.approx(0.11),
            pytest.approx(0.19),
            0.8,
            "equal-tailed credible interval",
            THIS_CLASSIFIER,
            "the model and its prior hold",
        )

    def test_without_draws_the_reason_is_given(self):
        with pytest.raises(
            ValueError, match=r"no interval is offered .* Points that the classifier never saw, or refitting it"
        ):
            estimate_of(CONFUSION).interval()

    @pytest.mark.parametrize("level", [0, 1, -0.5, 95, np.nan])
    def test_level_outside_of_zero_and_one_is_refused(self, level):
        with pytest.raises(ValueError, match="level must be between 0 and 1"):
            with_draws(np.array([0.1, 0.2])).interval(level)

    def test_unknown_method_is_refused(self):
        with pytest.raises(ValueError, match="'equal-tailed' or 'hdi' for this estimate; got 'normal'"):
            with_draws(np.array([0.1, 0.2])).interval(method="normal")


class TestPrinting:
    """The words that repr and HTML show."""

    @pytest.mark.parametrize("show", [repr, lambda e: e._repr_html_()], ids=["text", "html"])
    @pytest.mark.parametrize(
        "words",
        [
            "0.2000",
            "exact",
            "no: 0.1667",
            "yes: 0.2500",
            "0.4000",
            "Bolstered()",
            "features as given",
            str(THIS_CLASSIFIER),
        ],
    )
    def test_value_classes_space_and_estimand_are_shown(self, show, words):
        assert words in show(estimate_of(CONFUSION, classes=("no", "yes")))

    @pytest.mark.parametrize("show", [repr, lambda e: e._repr_html_()], ids=["text", "html"])
    def test_sampled_value_is_shown_with_its_standard_error(self, show):
        estimate = estimate_of(CONFUSION, [[0.5, 0.1], [0.2, 0.2]], computation=SAMPLED)
        assert "0.2500, sampled, Monte-Carlo standard error 0.05" in show(estimate)

    def test_exact_is_not_said_of_a_sampled_value(self):
        assert "exact" not in repr(estimate_of(CONFUSION, CONFUSION, computation=SAMPLED))

    def test_interval_is_shown_where_there_are_draws(self):
        assert "95% interval" in repr(with_draws(np.array([0.1, 0.2])))

    def test_markup_in_labels_is_escaped(self):
        assert "<b>" not in estimate_of(CONFUSION, classes=("<b>", "x"))._repr_html_()

    def test_escaped_label_is_still_readable(self):
        assert "&lt;b&gt;: 0.1667" in estimate_of(CONFUSION, classes=("<b>", "x"))._repr_html_()

    def test_many_classes_are_cut_short(self):
        assert "... 30 classes" in repr(estimate_of(np.eye(30) / 30, classes=range(30)))


class TestJson:
    """Estimates written and read back."""

    def test_dictionary_holds_only_what_json_can_hold(self):
        data = rich_estimate().to_dict()
        assert json.loads(json.dumps(data, allow_nan=False)) == data

    @pytest.mark.parametrize(
        "field", ["replicate_values", "replicate_confusions", "confusion_draws", "contributions", "point_weights"]
    )
    def test_numbers_survive_to_the_last_digit(self, field):
        estimate = rich_estimate()
        back = bg.ErrorEstimate.from_json(estimate.to_json())
        np.testing.assert_array_equal(getattr(back, field), getattr(estimate, field), strict=True)

    @pytest.mark.parametrize("classes", [("no", "yes"), (3, 7), (False, True)])
    def test_labels_survive_with_their_type(self, classes):
        back = bg.ErrorEstimate.from_json(estimate_of(CONFUSION, classes=classes).to_json())
        assert list(map(type, back.per_class)) == list(map(type, classes))

    @pytest.mark.parametrize("classes", [("no", "yes"), (3, 7), (False, True)])
    def test_labels_survive(self, classes):
        back = bg.ErrorEstimate.from_json(estimate_of(CONFUSION, classes=classes).to_json())
        assert tuple(back.per_class) == classes

    def test_labels_of_object_type_survive(self):
        estimate = estimate_of(CONFUSION, classes=np.array(["no", "yes"], dtype=object))
        assert bg.ErrorEstimate.from_json(estimate.to_json()).per_class == estimate.per_class

    def test_computation_survives(self):
        assert bg.ErrorEstimate.from_json(estimate_of(CONFUSION).to_json()).computation == EXACT

    def test_printed_form_survives(self):
        estimate = rich_estimate()
        assert repr(bg.ErrorEstimate.from_json(estimate.to_json())) == repr(estimate)

    def test_class_without_mass_survives(self):
        back = bg.ErrorEstimate.from_json(estimate_of([[0.9, 0.1], [0.0, 0.0]]).to_json())
        assert np.isnan(back.per_class[1])

    def test_estimate_of_a_measure_survives(self):
        X, y = np.random.default_rng(0).standard_normal((20, 2)), np.arange(20) % 2
        estimate = bg.Bolstered(random_state=0).fit(X, y).error(KNeighborsClassifier(3).fit(X, y))
        assert bg.ErrorEstimate.from_json(estimate.to_json()).to_dict() == estimate.to_dict()
