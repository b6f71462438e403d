"""The test of fit uses some rows of large classes, all rows of small ones."""

import numpy as np

import bayes_gresub as bg
from bayes_gresub.data.sample import read_sample
from bayes_gresub.models.class_findings import MOST_TESTED, some_of_each_class


def sample_of(*sizes, seed=0):
    y = np.repeat(np.arange(len(sizes)), sizes)
    return read_sample(np.random.default_rng(seed).normal(size=(len(y), 2)) + y[:, None], y)


def test_large_classes_are_tested_on_some_rows_and_small_ones_on_all():
    data = sample_of(MOST_TESTED + 500, 40)
    part = some_of_each_class(data, np.random.default_rng(0))
    assert part.counts.tolist() == [MOST_TESTED, 40]
    assert {tuple(row) for row in part.features.tolist()} <= {tuple(row) for row in data.features.tolist()}


def test_small_samples_are_tested_whole():
    data = sample_of(60, 40)
    assert some_of_each_class(data, np.random.default_rng(0)) is data


def test_misfit_of_a_large_class_is_found():
    data = sample_of(5000, 5000)
    X = data.features.copy()
    X[:2500, 0] += 6
    measure = bg.Bayesian(sampler="gibbs", draws=100, random_state=0).fit(X, data.codes)
    fit = measure.check().to_frame().loc["fit"]
    assert fit["problem"]
    assert "class 0" in fit["sentence"]
