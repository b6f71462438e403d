"""Posterior draws as an interval method: what it reads off them, and what other class probabilities leave of it."""

import json

import numpy as np
import pytest

from bayes_gresub.estimate.estimands import ThisClassifier
from bayes_gresub.estimate.intervals import IntervalMethod, NoInterval
from bayes_gresub.estimate.posterior_draws import InSampleDraws, PosteriorDraws, shortest
from bayes_gresub.estimate.reasons import TrainedOnThesePoints

ERRORS = np.random.default_rng(0).beta(2, 8, size=500)


def draws(kind=PosteriorDraws, **fields):
    confusions = np.zeros((len(ERRORS), 2, 2))
    confusions[:, 0, 0], confusions[:, 0, 1], confusions[:, 1, 1] = 0.6 - 0.6 * ERRORS, 0.6 * ERRORS, 0.4
    return kind(ThisClassifier(), confusions, **fields)


class Source:
    """Something that draws were made by, which knows their noise."""

    def noise_under(self, probabilities):
        return float(probabilities[0]) / 10


def test_equal_tailed_interval_is_the_first_choice():
    method = draws()
    assert method.interval(0.8) == method.interval(0.8, method.choices[0])
    assert [*method.interval(0.8)] == pytest.approx(np.quantile(method.errors, [0.1, 0.9]))


def test_hdi_is_the_shortest_interval_of_the_draws():
    assert [*draws().interval(0.8, "hdi")] == [*shortest(draws().errors, 0.8)]


@pytest.mark.parametrize(
    ("kind", "words"), [(PosteriorDraws, "hdi credible interval"), (InSampleDraws, "hdi in-sample credible interval")]
)
def test_interval_names_its_method(kind, words):
    assert draws(kind).interval(0.8, "hdi").method == words


def test_only_draws_under_a_model_assume_one():
    methods = [draws(), draws(InSampleDraws), NoInterval(TrainedOnThesePoints())]
    assert [method.assumes_class_model for method in methods] == [True, False, False]


def test_unknown_choice_lists_the_names():
    with pytest.raises(ValueError, match="method must be 'equal-tailed' or 'hdi' for this estimate; got 'delta'"):
        draws().interval(0.8, "delta")


def test_only_draws_have_a_posterior():
    assert draws().posterior is not None
    assert NoInterval(TrainedOnThesePoints()).posterior is None


def test_exact_standard_deviation_goes_before_that_of_the_draws():
    assert draws(exact_sd=0.25).sd == 0.25
    assert draws().sd == pytest.approx(draws().errors.std())


@pytest.mark.parametrize("kind", [PosteriorDraws, InSampleDraws])
def test_draws_survive_json(kind):
    method = draws(kind, std_error=0.0123456789, exact_sd=1 / 3)
    back = IntervalMethod.from_dict(json.loads(json.dumps(method.to_dict())))
    assert type(back) is kind
    assert (back.std_error, back.exact_sd, back.target) == (method.std_error, method.exact_sd, method.target)
    np.testing.assert_array_equal(back.confusions, method.confusions)


@pytest.mark.parametrize("kind", [PosteriorDraws, InSampleDraws])
def test_other_class_probabilities_give_draws_of_the_same_kind(kind):
    target = ThisClassifier(class_probabilities=((0, 0.5), (1, 0.5)))
    changed = draws(kind).with_class_prior(np.array([0.5, 0.5]), target)
    assert (type(changed), changed.target) == (kind, target)
    np.testing.assert_allclose(changed.errors, 0.5 * ERRORS, rtol=1e-12)


def test_noise_under_other_class_probabilities_is_that_of_the_source():
    changed = draws(std_error=0.01, source=Source()).with_class_prior(np.array([0.5, 0.5]), ThisClassifier())
    assert changed.std_error == pytest.approx(0.05)


def test_noise_under_other_class_probabilities_is_unknown_without_a_source():
    assert draws(std_error=0.01).with_class_prior(np.array([0.5, 0.5]), ThisClassifier()).std_error is None
