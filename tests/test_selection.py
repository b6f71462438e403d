"""Selection by a measure: one fit a candidate, the same random points for all, and scores that are too good."""

from __future__ import annotations

import functools
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import bayes_gresub as bg

MEASURES = [entry.name for entry in bg.estimators("measure")]
RESAMPLERS = [entry.name for entry in bg.estimators("resampler")]
SAMPLING = [name for name in MEASURES if "n_points" in bg.make_estimator(name).get_params(deep=False)]


def other_name(name):
    """Return whether a name differs by numbers or units only from another, which the same tests run over."""
    return name.startswith("paper-") or name in ("bayesian-shared", "repeated-cv", "calibrated-nb-bolstered")


def over(names):
    """Parametrize by names of estimators; those of classes that have another name are long."""
    long = pytest.mark.long
    return pytest.mark.parametrize("name", [pytest.param(n, marks=long if other_name(n) else ()) for n in names])


@functools.cache
def sample(n=40, seed=0):
    return bg.datasets.PaperGaussian().sample(n, random_state=seed)


class Centroid(ClassifierMixin, BaseEstimator):
    """Nearest class mean in one feature, which counts the fits and keeps the points of all its clones."""

    fits = 0
    asked: dict[int, list[bytes]] = {}  # noqa: RUF012

    def __init__(self, feature=0):
        self.feature = feature

    def fit(self, X, y):
        type(self).fits += 1
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == label, self.feature].mean() for label in self.classes_])
        return self

    def predict(self, X):
        self.asked.setdefault(self.feature, []).append(X.tobytes())
        return self.classes_[np.abs(X[:, [self.feature]] - self.means_).argmin(axis=1)]


@pytest.fixture(autouse=True)
def nothing_counted(monkeypatch):
    monkeypatch.setattr(Centroid, "fits", 0)
    monkeypatch.setattr(Centroid, "asked", {})


# The splitter


def test_whole_set_trains_and_scores_on_every_row():
    X, y = sample()
    ((train, test),) = bg.WholeSet().split(X, y)
    np.testing.assert_array_equal(train, np.arange(40))
    np.testing.assert_array_equal(test, np.arange(40))


@pytest.mark.parametrize("kind", ["frame", "list", "images"])
def test_whole_set_takes_what_has_rows(kind):
    X = sample()[0]
    given = {"frame": pd.DataFrame(X), "list": X.tolist(), "images": X.reshape(40, 5, 2)}[kind]
    ((train, _),) = bg.WholeSet().split(given)
    assert len(train) == 40


def test_whole_set_ignores_groups():
    assert len(list(bg.WholeSet().split(*sample(), groups=np.arange(40)))) == 1


def test_whole_set_is_one_split():
    assert bg.WholeSet().get_n_splits(*sample()) == 1


def test_whole_set_shows_as_it_is_written():
    assert repr(bg.WholeSet()) == "WholeSet()"


def test_whole_set_gives_cross_val_score_one_score():
    assert cross_val_score(GaussianNB(), *sample(), scoring=bg.scorer("resub"), cv=bg.WholeSet()).shape == (1,)


def test_ordinary_scorer_on_the_whole_set_is_resubstitution():
    X, y = sample()
    (score,) = cross_val_score(GaussianNB(), X, y, scoring="accuracy", cv=bg.WholeSet())
    assert score == np.mean(GaussianNB().fit(X, y).predict(X) == y)


# The score


@over(MEASURES)
def test_score_is_minus_the_error_of_the_measure(name):
    X, y = sample()
    classifier = SVC().fit(X, y)
    fewer = {"n_points": 32} if name in SAMPLING else {}
    error = bg.make_estimator(name, random_state=5, **fewer).fit(X, y).error(classifier).value
    assert bg.scorer(name, random_state=5)(classifier, X, y) == -error


def test_measure_of_the_user_scores_as_it_is():
    X, y = sample()
    classifier = SVC().fit(X, y)
    measure = bg.Bolstered(bg.DiagonalGaussian(), n_points=16, random_state=2)
    assert bg.scorer(measure)(classifier, X, y) == -clone(measure).fit(X, y).error(classifier).value


def test_measure_of_the_user_stays_unfitted():
    measure = bg.Bolstered()
    bg.scorer(measure)(GaussianNB().fit(*sample()), *sample())
    assert not hasattr(measure, "classes_")


def test_fitted_measure_is_fitted_anew_to_what_is_scored():
    X, y = sample()
    classifier = GaussianNB().fit(X, y)
    elsewhere = bg.Bolstered(random_state=0).fit(*sample(30, 9))
    assert bg.scorer(elsewhere)(classifier, X, y) == bg.scorer(bg.Bolstered(random_state=0))(classifier, X, y)


def test_better_classifier_has_the_greater_score():
    X, y = sample()
    good, bad = LinearDiscriminantAnalysis().fit(X, y), LinearDiscriminantAnalysis().fit(X, 1 - y)
    assert bg.scorer("bolstered")(good, X, y) > bg.scorer("bolstered")(bad, X, y)


@pytest.mark.parametrize("name", SAMPLING)
def test_named_measure_ranks_with_fewer_points(name):
    assert bg.scorer(name).measure.n_points == 32


def test_parameters_of_a_named_measure_are_handed_on():
    measure = bg.scorer("bolstered", n_points=128, class_prior=[0.5, 0.5]).measure
    assert (measure.n_points, measure.class_prior) == (128, [0.5, 0.5])


def test_scorer_shows_its_measure():
    assert repr(bg.scorer("3nn-pp")) == "MeasureScorer(PosteriorProbability(posterior=KNN()))"


def test_weights_reach_the_measure():
    X, y = sample()
    classifier = GaussianNB().fit(X, y)
    weights = 1.0 + np.arange(40) % 4
    wrong = classifier.predict(X) != y
    score = bg.scorer("resub")(classifier, X, y, sample_weight=weights)
    assert score == pytest.approx(-np.average(wrong, weights=weights), abs=1e-12)


def test_weights_given_to_a_search_reach_the_measure():
    X, y = sample()
    weights = 1.0 + np.arange(40) % 4
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9]}, scoring=bg.scorer("resub"), cv=bg.WholeSet())
    search.fit(X, y, sample_weight=weights)
    wrong = GaussianNB().fit(X, y, sample_weight=weights).predict(X) != y
    assert search.best_score_ == pytest.approx(-np.average(wrong, weights=weights), abs=1e-12)


# What is refused


@pytest.mark.parametrize("name", RESAMPLERS)
def test_name_of_a_resampler_is_refused(name):
    with pytest.raises(TypeError, match=r"estimator must be a measure.* give cv=10 to scikit-learn's own search"):
        bg.scorer(name)


@pytest.mark.parametrize("wrong", [bg.CrossValidation(), bg.Bolstered, GaussianNB(), 3, None], ids=repr)
def test_what_is_no_measure_is_refused(wrong):
    with pytest.raises(TypeError, match="estimator must be a measure, which refits nothing, or the name of one; got"):
        bg.scorer(wrong)


def test_unknown_name_lists_the_names():
    with pytest.raises(ValueError, match="unknown estimator 'bolsterd'; the names are bolstered, "):
        bg.scorer("bolsterd")


@pytest.mark.parametrize(
    "make",
    [lambda: bg.scorer(bg.Bolstered(sampling="separate")), lambda: bg.scorer("bolstered", sampling="separate")],
    ids=["object", "name"],
)
def test_separate_sampling_without_a_prior_is_refused(make):
    with pytest.raises(ValueError, match="a score needs an overall error; got sampling='separate' without class_prior"):
        make()


def test_separate_sampling_with_a_prior_scores():
    X, y = sample()
    measure = bg.Bolstered(sampling="separate", class_prior=[0.3, 0.7])
    assert -1.0 < bg.scorer(measure)(GaussianNB().fit(X, y), X, y) < 0.0


@pytest.mark.parametrize("surplus", [{"random_state": 0}, {"n_points": 8}], ids=["random_state", "parameters"])
def test_seed_or_parameters_beside_a_measure_are_refused(surplus):
    with pytest.raises(ValueError, match="are for a measure given by name; set them on the measure itself"):
        bg.scorer(bg.Bolstered(), **surplus)


def test_parameter_that_the_measure_has_not_is_refused():
    with pytest.raises(ValueError, match="Invalid parameter 'n_points' for estimator Empirical"):
        bg.scorer("resub", n_points=8)


# One fit a candidate


def test_grid_search_fits_each_candidate_once_and_the_winner_again():
    search = GridSearchCV(Centroid(), {"feature": range(6)}, scoring=bg.scorer("bolstered"), cv=bg.WholeSet())
    search.fit(*sample())
    assert Centroid.fits == 6 + 1


def test_grid_search_without_refit_fits_each_candidate_once():
    search = GridSearchCV(
        Centroid(), {"feature": range(6)}, scoring=bg.scorer("bolstered"), cv=bg.WholeSet(), refit=False
    )
    search.fit(*sample())
    assert Centroid.fits == 6


def test_randomized_search_fits_each_candidate_once():
    search = RandomizedSearchCV(
        Centroid(), {"feature": range(10)}, n_iter=4, scoring=bg.scorer("bolstered"), cv=bg.WholeSet(), random_state=0
    )
    search.fit(*sample())
    assert Centroid.fits == 4 + 1


@pytest.mark.parametrize(("direction", "fits"), [("forward", 5 + 4), ("backward", 5 + 4 + 3)])
def test_feature_selection_fits_each_candidate_once(direction, fits):
    X, y = sample()
    selector = SequentialFeatureSelector(
        Centroid(), n_features_to_select=2, direction=direction, scoring=bg.scorer("bolstered"), cv=bg.WholeSet()
    )
    selector.fit(X[:, :5], y)
    assert Centroid.fits == fits


def test_feature_selection_finds_the_features_that_tell_the_classes_apart():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 6))
    X[:, [1, 4]] += 1.5 * y[:, None]
    selector = SequentialFeatureSelector(
        GaussianNB(), n_features_to_select=2, scoring=bg.scorer("bolstered", random_state=0), cv=bg.WholeSet()
    )
    assert np.flatnonzero(selector.fit(X, y).get_support()).tolist() == [1, 4]


# The same random points


def test_candidates_are_asked_about_the_same_random_points():
    search = GridSearchCV(
        Centroid(), {"feature": range(4)}, scoring=bg.scorer("bolstered", random_state=0), cv=bg.WholeSet(), refit=False
    )
    search.fit(*sample())
    assert len(Centroid.asked) == 4
    # Smaller requests probe whether labels depend on the batch, in an order of the candidate's labels.
    sampled = [max(asked, key=len) for asked in Centroid.asked.values()]
    assert sampled == [sampled[0]] * 4


def scores_of_equal_candidates(random_state):
    """Return the scores of candidates that differ in their cache only."""
    grid = {"cache_size": [50, 100, 150]}
    search = GridSearchCV(SVC(), grid, scoring=bg.scorer("bolstered", random_state=random_state), cv=bg.WholeSet())
    return search.fit(*sample()).cv_results_["mean_test_score"]


@pytest.mark.parametrize("seed", [0, np.random.SeedSequence(0)], ids=["int", "sequence"])
def test_equal_candidates_have_equal_scores_with_a_seed(seed):
    assert len(set(scores_of_equal_candidates(seed))) == 1


def test_equal_candidates_differ_by_chance_without_a_seed():
    assert len(set(scores_of_equal_candidates(None))) > 1


# Searches of all kinds


def searched(X, y, n_jobs=None):
    grid = {"svc__C": [0.1, 1.0, 10.0], "svc__gamma": [0.01, 0.1]}
    rule = make_pipeline(StandardScaler(), SVC())
    search = GridSearchCV(rule, grid, scoring=bg.scorer("bolstered", random_state=0), cv=bg.WholeSet(), n_jobs=n_jobs)
    return search.fit(X, y)


@functools.cache
def searched_once():
    return searched(*sample())


def test_scores_of_a_search_are_those_of_the_measure():
    X, y = sample()
    search = searched_once()
    measure = bg.Bolstered(n_points=32, random_state=0).fit(X, y)
    expected = [
        -measure.error(clone(search.estimator).set_params(**given).fit(X, y)).value
        for given in search.cv_results_["params"]
    ]
    assert search.cv_results_["mean_test_score"].tolist() == expected


def test_processes_change_no_score():
    one, two = searched_once(), searched(*sample(), n_jobs=2)
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])


def test_frame_is_scored_like_an_array():
    X, y = sample()
    frame = pd.DataFrame(X, columns=[f"x{number}" for number in range(10)])
    np.testing.assert_allclose(
        searched(frame, y).cv_results_["mean_test_score"], searched_once().cv_results_["mean_test_score"], atol=1e-12
    )


def test_names_of_the_classes_do_not_matter():
    X, y = sample()
    renamed = searched(X, np.array(["bad", "good"])[y])
    np.testing.assert_allclose(
        renamed.cv_results_["mean_test_score"], searched_once().cv_results_["mean_test_score"], atol=1e-12
    )


@over(MEASURES)
def test_every_measure_can_guide_a_search(name):
    search = GridSearchCV(
        SVC(), {"C": [0.01, 1.0]}, scoring=bg.scorer(name, random_state=0), cv=bg.WholeSet(), error_score="raise"
    )
    assert -1.0 <= search.fit(*sample()).best_score_ <= 0.0


def test_measure_may_be_one_of_several_scores():
    scoring = {"bolstered": bg.scorer("bolstered", random_state=0), "apparent": "accuracy"}
    search = GridSearchCV(SVC(), {"C": [0.1, 1.0]}, scoring=scoring, cv=bg.WholeSet(), refit="bolstered")
    search.fit(*sample())
    assert {"mean_test_bolstered", "mean_test_apparent"} <= set(search.cv_results_)


def test_pickled_scorer_gives_the_same_score():
    X, y = sample()
    classifier, one = SVC().fit(X, y), bg.scorer("bolstered", random_state=0)
    assert pickle.loads(pickle.dumps(one))(classifier, X, y) == one(classifier, X, y)


def test_cloned_search_chooses_alike():
    assert clone(searched_once()).fit(*sample()).best_params_ == searched_once().best_params_


def test_whole_search_can_be_cross_validated():
    grid = {"feature": range(10)}
    search = GridSearchCV(Centroid(), grid, scoring=bg.scorer("bolstered", random_state=0), cv=bg.WholeSet())
    estimate = bg.CrossValidation(4, random_state=0).error(search, *sample())
    assert Centroid.fits == 4 * (10 + 1)
    assert 0.0 < estimate.value < 1.0


# The score of the winner

N_NOISE, RUNS = 24, 8


@functools.cache
def noise(seed):
    """Return features that owe nothing to the labels: every classifier errs at half of new points."""
    rng = np.random.default_rng([seed, 77])
    return rng.normal(size=(30, N_NOISE)), np.arange(30) % 2


def search_of_noise():
    return GridSearchCV(
        Centroid(), {"feature": range(N_NOISE)}, scoring=bg.scorer("bolstered", random_state=0), cv=bg.WholeSet()
    )


def mean_and_error(values):
    return np.mean(values), np.std(values, ddof=1) / np.sqrt(len(values))


def test_score_of_the_winner_is_too_good_on_noise():
    """The best of 24 noisy features in 8 samples: 4.5 s.e. below the truth of 0.5, and by a fifth of it.

    The mean lies tens of standard errors below, so that the test fails for less than 1 in a million seeds.
    """
    winners = [-search_of_noise().fit(*noise(seed)).best_score_ for seed in range(RUNS)]
    mean, error = mean_and_error(winners)
    assert mean + 4.5 * error < 0.5
    assert mean < 0.4


def test_cross_validating_the_whole_search_is_honest_on_noise():
    """8 samples of 30 points, within 4.5 s.e. of the truth of 0.5: false alarms in 3 of 1000 seeds (Student-t).

    Folds held out from 30 balanced points are unlike the rest, which biases the error of noise upward by little.
    """
    errors = [
        bg.CrossValidation(5, random_state=seed).error(search_of_noise(), *noise(seed)).value for seed in range(RUNS)
    ]
    mean, error = mean_and_error(errors)
    assert abs(mean - 0.5) < 4.5 * error
