"""Estimates of every registered estimator as dictionaries: written, read, and written again."""

import json
from functools import cache

import pytest
from sklearn.svm import SVC

import bayes_gresub as bg
from bayes_gresub import paper  # noqa: F401 - its estimators are registered too
from bayes_gresub.resampling import Resampler

CHAINS = {"draws": 50, "tune": 20, "chains": 2}
SHORT = {
    "bayesian": CHAINS,
    "bayesian-shared": CHAINS,
    "gp-pp": {"draws": 30},
    "boot-zero": {"n_resamples": 50},
    "boot-632": {"n_resamples": 50},
    "boot-632+": {"n_resamples": 50},
}


@cache
def estimated(name):
    X, y = bg.datasets.PaperGaussian().sample(40, random_state=0)
    estimator = bg.make_estimator(name, random_state=0, **SHORT.get(name, {}))
    if isinstance(estimator, Resampler):
        return estimator.error(SVC(), X, y)
    return estimator.fit(X, y).error(SVC().fit(X, y))


every_estimator = pytest.mark.parametrize("name", [entry.name for entry in bg.estimators()])


@every_estimator
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_estimate_survives_a_dictionary(name):
    data = estimated(name).to_dict()
    assert bg.ErrorEstimate.from_dict(json.loads(json.dumps(data, allow_nan=False))).to_dict() == data


@every_estimator
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_reasons_and_intervals_survive_as_values(name):
    estimate, back = estimated(name), bg.ErrorEstimate.from_dict(estimated(name).to_dict())
    assert (back.estimand, back.missing, back.no_interval) == (
        estimate.estimand,
        estimate.missing,
        estimate.no_interval,
    )
    if estimate.no_interval is None:
        assert back.interval(0.8) == estimate.interval(0.8)


@every_estimator
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_text_survives(name):
    assert repr(bg.ErrorEstimate.from_dict(estimated(name).to_dict())) == repr(estimated(name))
