"""A task depends on its seed alone: not on what a rule does to X, to global generators, or to its process."""

from __future__ import annotations

import random
import sys
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import bayes_gresub as bg

POPULATION = bg.datasets.PaperGaussian(n_informative=2, n_noise=2)
ESTIMATORS = ["resub", "bolstered"]


def numbers(results):
    return results.to_xarray().drop_vars("seconds")


def study(rule, estimators=ESTIMATORS, *, population=POPULATION, n=20, repetitions=3, **more):
    return bg.Study(population, {"rule": rule}, estimators, [n], repetitions, **more)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_rule_that_writes_into_its_training_points_is_judged_on_them_as_they_were(n_jobs):
    kept, written = (
        study(make_pipeline(StandardScaler(copy=copy), SVC())).run(n_jobs=n_jobs) for copy in (True, False)
    )
    assert numbers(kept).identical(numbers(written))


SHUFFLED = GridSearchCV(
    DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3]}, cv=StratifiedKFold(3, shuffle=True)
)


def test_rules_that_draw_from_the_global_generator_give_the_same_numbers_whatever_its_state():
    found = []
    for seed in (0, 1):
        np.random.seed(seed)  # noqa: NPY002 - it is the global generator that is tested
        found.append(numbers(study(SHUFFLED, ["resub"]).run()))
    assert found[0].identical(found[1])


def test_global_generators_are_left_as_they_were():
    np.random.seed(3)  # noqa: NPY002 - as above
    random.seed(3)
    expected = np.random.random(), random.random()  # noqa: NPY002 - as above
    np.random.seed(3)  # noqa: NPY002 - as above
    random.seed(3)
    study(SHUFFLED, ["resub"], repetitions=1).run()
    assert (np.random.random(), random.random()) == expected  # noqa: NPY002 - as above


def test_floating_point_errors_are_set_alike_in_all_processes():
    with np.errstate(all="raise"):
        alone, together = (study(SVC(), ["resub", "bolstered"]).run(n_jobs=n_jobs) for n_jobs in (1, 2))
    assert numbers(alone).identical(numbers(together))


class Seeds(ClassifierMixin, BaseEstimator):
    """A constant classifier that keeps the seeds it was trained with."""

    seen: list = []  # noqa: RUF012 - shared by all clones on purpose

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.n_features_in_ = np.shape(X)[1]
        Seeds.seen.append(self.random_state)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_every_refit_of_a_random_rule_has_a_seed_of_its_own():
    Seeds.seen.clear()
    study(Seeds(), {"cv": bg.CrossValidation(5)}, repetitions=1).run()
    assert len(set(Seeds.seen)) == len(Seeds.seen) == 6


def test_processes_of_a_rule_are_left_to_the_study():
    made = study(make_pipeline(StandardScaler(), RandomForestClassifier(3, n_jobs=2)))
    assert made.rules["rule"].get_params()["randomforestclassifier__n_jobs"] == 1


def test_the_number_of_processes_of_a_rule_is_no_part_of_the_design():
    forests = [study(RandomForestClassifier(3, n_jobs=n_jobs)).design() for n_jobs in (None, 2)]
    assert forests[0] == forests[1]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_sample_of_one_class_is_a_failed_row_with_a_true_error(n_jobs):
    population = bg.datasets.PaperGaussian(n_informative=2, n_noise=0, class_sizes="random")
    estimators = {"resub": bg.Empirical(), "1nn-pp": bg.PosteriorProbability(bg.KNN(1))}
    results = study(KNeighborsClassifier(1), estimators, population=population, n=3, repetitions=12).run(n_jobs=n_jobs)
    failed = results.failures()
    assert failed["message"].str.contains("at least two classes").all()
    assert 0 < failed["count"].sum() < 24
    assert np.isfinite(results.to_xarray()["true_error"]).all()


def test_a_sample_that_cannot_be_drawn_is_a_failed_row():
    class Broken(bg.datasets.PaperGaussian):
        def draw(self, n, random_state=None):
            if random_state.spawn_key[-1] == 1:
                raise RuntimeError("out of points")
            return super().draw(n, random_state)

    results = study(LinearDiscriminantAnalysis(), population=Broken()).run()
    assert set(results.failures()["message"]) == {"no sample could be drawn: RuntimeError: out of points"}
    assert np.isfinite(results.to_xarray()["estimate"]).sum() == 4


def test_reruns_of_an_estimator_with_its_own_seed_tell_nothing():
    estimators = {"seeded": bg.CrossValidation(4, random_state=0), "free": bg.CrossValidation(4)}
    std_error = study(LinearDiscriminantAnalysis(), estimators, reruns=2).run().to_xarray()["std_error"].squeeze()
    assert np.isnan(std_error.sel(estimator="seeded")).all()
    assert np.isfinite(std_error.sel(estimator="free")).all()


def test_reruns_can_be_asked_for_some_estimators_only():
    estimators = {"once": bg.CrossValidation(4), "again": bg.CrossValidation(4)}
    results = study(LinearDiscriminantAnalysis(), estimators, reruns={"again": 1}).run()
    std_error = results.to_xarray()["std_error"].squeeze()
    assert np.isnan(std_error.sel(estimator="once")).all()
    assert np.isfinite(std_error.sel(estimator="again")).all()


# No constant of the rule's code, which would make it another rule.
mood = ["fail"]


class Moody(ClassifierMixin, BaseEstimator):
    """Fails, or predicts one class or the other, as the test wills."""

    def fit(self, X, y):
        if mood[0] == "fail":
            raise MemoryError("too much")
        self.classes_ = np.unique(y)
        self.n_features_in_ = np.shape(X)[1]
        self.says_ = self.classes_[int(mood[0])]
        return self

    def predict(self, X):
        return np.full(len(X), self.says_)


@pytest.fixture
def moody():
    yield clone(Moody())
    mood[0] = "fail"


def test_what_failed_is_tried_again_where_that_is_asked_for(tmp_path, moody):
    study(moody).run(tmp_path)
    mood[0] = 0
    assert len(study(moody).run(tmp_path).failures()) > 0
    assert len(study(moody).run(tmp_path, retry_failed=True).failures()) == 0


UNEVEN = bg.datasets.PaperGaussian(n_informative=2, n_noise=2, delta=0.4, prior=(0.3, 0.7))


def test_a_classifier_that_comes_out_otherwise_is_judged_anew_by_all_estimators(tmp_path, moody):
    mood[0] = 0
    study(moody, ["resub"], population=UNEVEN).run(tmp_path)
    mood[0] = 1
    with pytest.warns(UserWarning, match="3 tasks in .* have another true error than when they were begun"):
        grown = study(moody, ["resub", "3nn-pp"], population=UNEVEN).run(tmp_path)
    fresh = study(moody, ["resub", "3nn-pp"], population=UNEVEN).run()
    assert numbers(grown).identical(numbers(fresh))


def test_a_classifier_that_comes_out_the_same_is_not_judged_anew(tmp_path):
    study(LinearDiscriminantAnalysis(), ["resub"]).run(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        study(LinearDiscriminantAnalysis(), ["resub", "3nn-pp"]).run(tmp_path)


def test_a_study_says_what_it_is():
    assert repr(study(LinearDiscriminantAnalysis())).startswith("Study: PaperGaussian(bayes_error=None, block=2")


class FakeTorch:
    """Stands for torch, as far as a study asks it."""

    def __init__(self):
        self.threads, self.state, self.seen = 4, "of the user", []

    def get_num_threads(self):
        return self.threads

    def set_num_threads(self, number):
        self.threads = number

    def get_rng_state(self):
        return self.state

    def set_rng_state(self, state):
        self.state = state

    def manual_seed(self, seed):
        self.state = seed


@pytest.fixture
def torch(monkeypatch):
    made = FakeTorch()
    monkeypatch.setitem(sys.modules, "torch", made)
    return made


class AsksTorch(ClassifierMixin, BaseEstimator):
    """A constant classifier that notes how torch is set while it is trained."""

    def fit(self, X, y):
        fake = sys.modules["torch"]
        fake.seen.append((fake.threads, fake.state))
        self.classes_ = np.unique(y)
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_torch_has_one_thread_and_a_seed_of_its_own_in_every_task(torch):
    study(AsksTorch(), ["resub"]).run()
    assert {threads for threads, _ in torch.seen} == {1}
    assert len({state for _, state in torch.seen}) == 3


def test_torch_is_left_as_it_was(torch):
    study(AsksTorch(), ["resub"]).run()
    assert (torch.threads, torch.state) == (4, "of the user")
