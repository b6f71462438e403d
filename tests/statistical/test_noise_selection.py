"""Features selected on all of the data, before any estimator sees them: all are fooled but those that select anew."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import bayes_gresub as bg

# Labels owe nothing to the features, so that every classifier errs at half of new points.
TRUTH = 0.5
FAR_BELOW = 0.32
SEEDS = range(3)
MEASURES = [entry.name for entry in bg.estimators("measure")]
RESAMPLERS = [entry.name for entry in bg.estimators("resampler")]
RULES = {"lda": LinearDiscriminantAnalysis(), "3nn": KNeighborsClassifier(3)}
# Fewer refits than by default, for speed.
AT_MOST = {"n_resamples": 20, "repeats": 2}


def other_name(name):
    """Return whether a name differs by numbers or units only from another, which the same tests run over."""
    return name.startswith("paper-") or name in ("bayesian-shared", "repeated-cv", "calibrated-nb-bolstered")


def over(names):
    """Parametrize by names of estimators; those of classes that have another name are long."""
    long = pytest.mark.long
    return pytest.mark.parametrize("name", [pytest.param(n, marks=long if other_name(n) else ()) for n in names])


mostly_linear = pytest.mark.parametrize("rule", ["lda", pytest.param("3nn", marks=pytest.mark.long)])


@functools.cache
def noise(seed):
    """Return 60 points with 2000 features of pure noise, half of them in each class."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(60, 2000)), rng.permutation(np.arange(60) % 2)


@functools.cache
def selected(seed):
    """Return the 12 features with the greatest F statistic on all points, and the labels."""
    X, y = noise(seed)
    return SelectKBest(f_classif, k=12).fit_transform(X, y), y


@functools.cache
def trained(rule, seed):
    return clone(RULES[rule]).fit(*selected(seed))


def small(name, **given):
    default = bg.make_estimator(name).get_params(deep=False)
    fewer = {
        key: most if default[key] == "auto" else min(default[key], most)
        for key, most in AT_MOST.items()
        if key in default
    }
    return bg.make_estimator(name, **fewer, **given)


@mostly_linear
@over(MEASURES)
def test_measure_is_fooled_by_features_selected_before(name, rule):
    """Mean over three samples below 0.32, where the truth is 0.5.

    Over ten samples the means are 0.03 to 0.18, with standard deviations up to 0.036: the bound is 7 s.e. above the
    nearest, which less than 1 in a million choices of the seeds exceeds.
    """
    errors = [
        bg.make_estimator(name, random_state=seed).fit(*selected(seed)).error(trained(rule, seed)) for seed in SEEDS
    ]
    assert np.mean([error.value for error in errors]) < FAR_BELOW


@mostly_linear
@over(RESAMPLERS)
def test_resampler_is_fooled_by_features_selected_before(name, rule):
    """Mean over three samples below 0.32, where the truth is 0.5.

    Over ten samples the means are 0.11 to 0.21, with standard deviations up to 0.06: the bound is 5 s.e. above the
    nearest, which less than 1 in 100 000 choices of the seeds exceeds.
    """
    errors = [small(name, random_state=seed).error(RULES[rule], *selected(seed)) for seed in SEEDS]
    assert np.mean([error.value for error in errors]) < FAR_BELOW


@functools.cache
def of_the_whole_pipeline(rule, n_seeds=8):
    """Return the errors of cross-validation that selects the features anew in each fold."""
    whole = make_pipeline(SelectKBest(f_classif, k=12), RULES[rule])
    return np.array(
        [bg.CrossValidation(5, random_state=seed).error(whole, *noise(seed)).value for seed in range(n_seeds)]
    )


@pytest.mark.parametrize("rule", RULES)
def test_cross_validation_of_the_whole_pipeline_is_right(rule):
    """Mean of 8 samples within 4.5 s.e. of the truth: false alarms in 3 of 1000 choices of the seeds (Student-t)."""
    errors = of_the_whole_pipeline(rule)
    assert abs(errors.mean() - TRUTH) < 4.5 * errors.std(ddof=1) / np.sqrt(len(errors))


@pytest.mark.parametrize("rule", RULES)
def test_mean_of_the_whole_pipeline_is_known_well_enough_to_tell(rule):
    """So that the test above would see the optimism of selecting before: 4.5 s.e. are less than half of it."""
    errors = of_the_whole_pipeline(rule)
    assert 4.5 * errors.std(ddof=1) / np.sqrt(len(errors)) < 0.15


@pytest.mark.parametrize("rule", RULES)
def test_same_cross_validation_says_far_less_where_features_were_selected_before(rule):
    """Paired over 3 samples; the gap is 0.37, standard deviation 0.056: 0.2 is 5 s.e. below, 1 in a million."""
    before = [bg.CrossValidation(5, random_state=seed).error(RULES[rule], *selected(seed)).value for seed in SEEDS]
    assert np.mean(of_the_whole_pipeline(rule)[: len(SEEDS)] - before) > 0.2


def test_comparison_of_all_says_that_choices_made_before_are_invisible():
    table = bg.compare(RULES["lda"], *selected(0), ["resub", "bolstered", "cv"], random_state=0)
    assert table.to_frame()["estimate"].max() < FAR_BELOW
    assert "Choices made before X was handed over (selected features, tuned parameters) are invisible" in repr(table)
