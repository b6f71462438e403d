"""Running a study: the same numbers however it is run, going on after an interrupt, and what fails or is refused."""

from __future__ import annotations

import random
import sys
import types
import warnings
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Any

import cloudpickle
import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.frozen import FrozenEstimator
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_info, threadpool_limits

import bayes_gresub as bg
from bayes_gresub.populations.population import Population, TrueError
from bayes_gresub.studies import study as study_module
from bayes_gresub.studies import threads

# Worker processes cannot import a test module, so its classes are sent to them whole.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

POPULATION = bg.datasets.PaperGaussian(n_informative=2, n_noise=2)
LDA = LinearDiscriminantAnalysis()
RULES = {"LDA": LDA, "3NN": KNeighborsClassifier(3)}
ESTIMATORS = {"resub": "resub", "bolstered": "bolstered", "3nn-pp": "3nn-pp", "cv": bg.CrossValidation(3)}


def study(**given):
    design = {
        "population": POPULATION,
        "rules": RULES,
        "estimators": ESTIMATORS,
        "sample_sizes": [12, 16],
        "repetitions": 3,
        "seed": 1,
    }
    return bg.Study(**(design | given))


def numbers(results):
    """Return all that must not depend on how a study is run."""
    return results.to_xarray().drop_vars("seconds")


def parts(folder):
    """Return when each part file in a folder was written."""
    return {path: path.stat().st_mtime_ns for path in Path(folder).glob("tasks/*/*/*.json")}


@pytest.fixture(scope="module")
def reference():
    return numbers(study().run(n_jobs=1))


class Plan:
    """What the rules of this module do, and what they saw."""

    fits = 0
    stop_at: int | None = None
    data: dict[tuple[str, int], list[bytes]] = {}  # noqa: RUF012 - emptied before every test


@pytest.fixture(autouse=True)
def _no_plan(monkeypatch):
    monkeypatch.setattr(Plan, "fits", 0)
    monkeypatch.setattr(Plan, "stop_at", None)
    monkeypatch.setattr(Plan, "data", {})


class Counted(LinearDiscriminantAnalysis):
    """LDA, which counts its fits and is interrupted at one of them."""

    def fit(self, X, y):
        Plan.fits += 1
        if Plan.fits == Plan.stop_at:
            raise KeyboardInterrupt("stop, says the test")
        return super().fit(X, y)


class Flagged(LinearDiscriminantAnalysis):
    """LDA, which is interrupted at 16 points while a file is there."""

    def __init__(self, flag=""):
        super().__init__()
        self.flag = flag

    def fit(self, X, y):
        if len(X) == 16 and Path(self.flag).exists():
            raise KeyboardInterrupt("stop, says the test")
        return super().fit(X, y)


class Failing(LinearDiscriminantAnalysis):
    """LDA, which cannot be trained on 16 points."""

    def fit(self, X, y):
        if len(X) == 16:
            error = RuntimeError("no fit on 16 points")
            error.add_note("says the test")
            raise error
        return super().fit(X, y)


class Doubtful(LinearDiscriminantAnalysis):
    """LDA, which warns when it is trained on 16 points."""

    def __init__(self, message="this fit\nis doubtful"):
        super().__init__()
        self.message = message

    def fit(self, X, y):
        if len(X) == 16:
            warnings.warn(self.message, RuntimeWarning, stacklevel=2)
        return super().fit(X, y)


class Remembering(LinearDiscriminantAnalysis):
    """LDA, which remembers the data that it was trained on; other names see the same class."""

    def __init__(self, name="a"):
        super().__init__()
        self.name = name

    def fit(self, X, y):
        seen = Plan.data.setdefault((self.name, len(X)), [])
        content = X.tobytes() + y.tobytes()
        if content not in seen:
            seen.append(content)
        return super().fit(X, y)


class OneThread(LinearDiscriminantAnalysis):
    """LDA, which fails where a library has several threads."""

    def fit(self, X, y):
        if crowded := [pool["prefix"] for pool in threadpool_info() if pool["num_threads"] != 1]:
            raise RuntimeError(f"{crowded} have several threads")
        return super().fit(X, y)


class Broken(bg.Empirical):
    """A measure that fails at 16 points."""

    def error(self, classifier, *args, **kwargs):
        if self.n_ == 16:
            raise RuntimeError("this measure fails at 16 points")
        return super().error(classifier, *args, **kwargs)

    def fit(self, X, y, sample_weight=None):
        self.n_ = len(X)
        return super().fit(X, y, sample_weight)


@dataclass(frozen=True)
class Truth:
    """A truth that answers with what it was given."""

    answer: Any

    def true_error(self, classifier, *, n_test=0, random_state=None):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@dataclass(frozen=True)
class WithTruth(Population):
    """The Gaussian population, with another truth."""

    answer: Any

    def draw(self, n, random_state=None):
        X, y, _ = POPULATION.draw(n, random_state)
        return X, y, Truth(self.answer)


def interrupted(made, stop_at, *args, **kwargs):
    """Interrupt a run at this fit and return what was raised; later fits are not interrupted."""
    Plan.fits, Plan.stop_at = 0, stop_at
    # Any KeyboardInterrupt is caught: one that escaped would end the test run.
    with pytest.raises(KeyboardInterrupt, match="stopped after") as stop:
        made.run(*args, **kwargs)
    Plan.fits, Plan.stop_at = 0, None
    assert isinstance(stop.value, bg.Interrupted), f"got a bare {type(stop.value).__name__}"
    return stop.value


# The same numbers


def test_a_second_run_of_the_same_study_gives_the_same_numbers():
    made = study()
    assert numbers(made.run()).identical(numbers(made.run()))


def test_two_processes_give_the_same_numbers_as_one(reference):
    assert numbers(study().run(n_jobs=2)).identical(reference)


@pytest.mark.long
def test_two_processes_give_the_same_numbers_for_a_rule_that_draws_random_numbers():
    made = study(rules={"tree": DecisionTreeClassifier(max_features=1)})
    assert numbers(made.run(n_jobs=2)).identical(numbers(made.run(n_jobs=1)))


def test_threads_of_joblib_give_the_same_numbers_as_one_process(reference):
    with joblib.parallel_config("threading", n_jobs=2):
        results = study().run()
    assert numbers(results).identical(reference)


def test_a_timeout_is_refused_where_joblib_runs_threads():
    with (
        joblib.parallel_config("threading", n_jobs=2),
        pytest.raises(ValueError, match=r"cannot be stopped there; got 5\. Leave out joblib's parallel_config"),
    ):
        study().run(timeout=5)


def test_a_folder_does_not_change_numbers(reference, tmp_path):
    assert numbers(study().run(tmp_path)).identical(reference)


@pytest.mark.long
def test_two_processes_with_a_folder_give_the_same_numbers(reference, tmp_path):
    assert numbers(study().run(tmp_path, n_jobs=2)).identical(reference)


def test_numbers_read_back_from_a_folder_are_the_same_bit_for_bit(reference, tmp_path):
    study().run(tmp_path)
    assert numbers(study().run(tmp_path)).identical(reference)


def test_order_of_rules_and_sizes_does_not_matter(reference):
    other = study(rules=dict(reversed(RULES.items())), sample_sizes=[16, 12])
    found = numbers(other.run()).sel(rule=list(RULES), n=[12, 16])
    assert found.identical(reference)


def test_order_of_estimators_does_not_matter(reference):
    found = numbers(study(estimators=dict(reversed(ESTIMATORS.items()))).run())
    assert found.sel(estimator=list(ESTIMATORS)).identical(reference)


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.long)])
def test_order_of_tasks_does_not_matter(reference, monkeypatch, n_jobs):
    in_order = study_module.records_of

    def shuffled(job, wanted, *args):
        return in_order(job, random.Random(0).sample(wanted, len(wanted)), *args)

    monkeypatch.setattr(study_module, "records_of", shuffled)
    assert numbers(study().run(n_jobs=n_jobs)).identical(reference)


@pytest.mark.parametrize("user_threads", [1, 3])
def test_threads_that_the_user_sets_do_not_matter(reference, user_threads):
    with threadpool_limits(user_threads):
        found = numbers(study().run())
    assert found.identical(reference)


def test_two_processes_give_the_same_numbers_for_data_that_they_share_in_memory():
    """Arrays of more than a megabyte are mapped by all processes."""
    rng = np.random.default_rng(0)
    y = np.arange(4000) % 2
    X = rng.normal(size=(4000, 40)) + y[:, None] / 4
    made = study(population=bg.datasets.FiniteData(X, y), estimators=["resub", "bolstered"], sample_sizes=[60])
    assert X.nbytes > 2**20
    assert numbers(made.run(n_jobs=2)).identical(numbers(made.run(n_jobs=1)))


def test_another_seed_gives_other_numbers(reference):
    found = numbers(study(seed=2).run())
    assert not np.array_equal(found["estimate"], reference["estimate"])


# One thread a task


def test_a_task_runs_with_one_thread_in_every_library():
    with threadpool_limits(2):
        results = study(rules={"LDA": OneThread()}).run()
    assert results.failures().empty


@pytest.mark.long
def test_a_task_in_another_process_runs_with_one_thread_in_every_library(monkeypatch):
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "2")
    assert study(rules={"LDA": OneThread()}).run(n_jobs=2).failures().empty


def test_threads_that_the_user_set_are_as_before_after_a_run():
    with threadpool_limits(2):
        before = [pool["num_threads"] for pool in threadpool_info()]
        study(repetitions=1).run()
        assert [pool["num_threads"] for pool in threadpool_info()] == before


class Torch(types.ModuleType):
    """Stands for torch: it has a number of threads."""

    def __init__(self, n_threads):
        super().__init__("torch")
        self.n_threads = n_threads

    def get_num_threads(self):
        return self.n_threads

    def set_num_threads(self, n_threads):
        self.n_threads = n_threads


def test_torch_has_one_thread_in_a_task_and_its_own_number_afterwards(monkeypatch):
    torch = Torch(5)
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert threads.on_one_thread(torch.get_num_threads) == 1
    assert torch.n_threads == 5


def test_torch_has_its_own_number_of_threads_again_after_a_task_that_fails(monkeypatch):
    torch = Torch(5)
    monkeypatch.setitem(sys.modules, "torch", torch)
    with pytest.raises(ZeroDivisionError, match="division"):
        threads.on_one_thread(lambda: 1 / 0)
    assert torch.n_threads == 5


def test_work_that_loads_a_library_with_threads_is_done_again_on_one(monkeypatch):
    torch, seen = Torch(5), []

    def work():
        monkeypatch.setitem(sys.modules, "torch", torch)
        seen.append(torch.n_threads)
        return torch.n_threads

    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert threads.on_one_thread(work) == 1
    assert seen == [5, 1]


# What is done is not done again


@pytest.mark.usefixtures("reference")
def test_rerun_in_a_folder_fits_nothing(tmp_path):
    made = study(rules={"LDA": Counted()})
    made.run(tmp_path)
    Plan.fits = 0
    made.run(tmp_path)
    assert Plan.fits == 0


def test_rerun_in_a_folder_writes_nothing(tmp_path):
    study().run(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    study().run(tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


ADDED = {
    "rules": {"rules": {"3NN": RULES["3NN"]}},
    "estimators": {"estimators": {"cv": ESTIMATORS["cv"], "bolstered": "bolstered"}},
    "sizes": {"sample_sizes": [16]},
    "repetitions": {"repetitions": 1},
    "everything": {"rules": {"LDA": LDA}, "estimators": ["resub"], "sample_sizes": [12], "repetitions": 2},
}
every_addition = pytest.mark.parametrize("first", ADDED.values(), ids=ADDED)


@every_addition
def test_what_is_added_in_a_later_run_gives_the_same_numbers_as_all_at_once(reference, tmp_path, first):
    study(**first).run(tmp_path)
    assert numbers(study().run(tmp_path)).identical(reference)


@every_addition
def test_a_run_that_asks_for_less_gives_that_part_of_the_same_numbers(reference, tmp_path, first):
    study().run(tmp_path)
    found = numbers(study(**first).run(tmp_path))
    assert found.identical(reference.sel({name: found[name].values for name in found.dims}))


@every_addition
def test_a_folder_keeps_what_a_later_run_does_not_ask_for(tmp_path, first):
    study().run(tmp_path)
    before = parts(tmp_path)
    study(**first).run(tmp_path)
    assert parts(tmp_path) == before


@pytest.mark.parametrize("name", ["rules", "sizes", "repetitions"])
def test_tasks_that_are_done_are_left_alone_when_others_are_added(tmp_path, name):
    study(**ADDED[name]).run(tmp_path)
    before = parts(tmp_path)
    study().run(tmp_path)
    assert before.items() <= parts(tmp_path).items()


@pytest.mark.usefixtures("reference")
def test_an_added_measure_costs_one_fit_a_task(tmp_path):
    """Cross-validation, which is there already, is not done again."""
    rules = {"LDA": Counted()}
    study(rules=rules, estimators={"cv": bg.CrossValidation(3)}).run(tmp_path)
    Plan.fits = 0
    study(rules=rules, estimators={"cv": bg.CrossValidation(3), "resub": "resub"}).run(tmp_path)
    assert Plan.fits == 6


class Slow(bg.Bolstered):
    """A measure that counts its fits, of which each warns and takes a while."""

    def fit(self, X, y, sample_weight=None):
        Plan.fits += 1
        warnings.warn("this measure is slow", RuntimeWarning, stacklevel=2)
        sleep(0.05)
        return super().fit(X, y, sample_weight)


def test_a_measure_is_fitted_once_for_all_rules_on_a_training_set(reference):
    results = study(estimators={"bolstered": Slow()}).run()
    assert Plan.fits == 6
    assert numbers(results)["estimate"].identical(reference["estimate"].sel(estimator=["bolstered"]))


def test_the_time_and_the_warnings_of_a_shared_fit_belong_to_every_rule():
    results = study(estimators={"bolstered": Slow()}).run()
    assert results.to_xarray()["seconds"].min() >= 0.05
    assert results.warnings()["tasks"].tolist() == [6, 6]


@pytest.mark.long
def test_an_added_estimator_is_added_to_the_others_in_two_processes(reference, tmp_path):
    study(**ADDED["estimators"]).run(tmp_path, n_jobs=2)
    assert numbers(study().run(tmp_path, n_jobs=2)).identical(reference)


def test_bootstraps_that_share_resamples_say_the_same_when_one_is_added_later(tmp_path):
    kinds = {kind: bg.Bootstrap(kind, 6) for kind in ("zero", "632", "632+")}
    at_once = numbers(study(rules={"LDA": LDA}, estimators=kinds).run())
    study(rules={"LDA": LDA}, estimators={"632": kinds["632"]}).run(tmp_path)
    assert numbers(study(rules={"LDA": LDA}, estimators=kinds).run(tmp_path)).identical(at_once)


# Interruption


@pytest.mark.parametrize("stop_at", [1, 2, 9, 24])
def test_numbers_after_an_interrupt_and_a_rerun_are_those_of_an_uninterrupted_run(tmp_path, stop_at):
    """A task has four fits, of which cross-validation does three: the interrupts hit both."""
    made = study(rules={"LDA": Counted()})
    whole = numbers(made.run())
    interrupted(made, stop_at, tmp_path)
    assert numbers(made.run(tmp_path)).identical(whole)


def test_a_run_can_be_interrupted_twice(tmp_path):
    made = study(rules={"LDA": Counted()})
    whole = numbers(made.run())
    interrupted(made, 6, tmp_path)
    interrupted(made, 9, tmp_path)
    assert numbers(made.run(tmp_path)).identical(whole)


@pytest.mark.usefixtures("reference")
def test_rerun_after_an_interrupt_does_only_what_is_missing(tmp_path):
    made = study(rules={"LDA": Counted()})
    interrupted(made, 14, tmp_path)
    made.run(tmp_path)
    assert Plan.fits == 4 * (6 - 3)


@pytest.mark.usefixtures("reference")
def test_an_interrupt_keeps_the_tasks_that_are_done(tmp_path):
    interrupted(study(rules={"LDA": Counted()}), 14, tmp_path)
    assert len(parts(tmp_path)) == 3


@pytest.mark.usefixtures("reference")
def test_partial_of_an_interrupt_holds_the_results_so_far(tmp_path):
    made = study(rules={"LDA": Counted()})
    whole = numbers(made.run())
    partial = numbers(interrupted(made, 14, tmp_path).partial)
    done = np.array([[[1, 1, 0], [1, 0, 0]]], dtype=bool)
    np.testing.assert_array_equal(partial["true_error"], np.where(done, whole["true_error"], np.nan))
    np.testing.assert_array_equal(partial["estimate"], np.where(done[:, :, None], whole["estimate"], np.nan))


@pytest.mark.usefixtures("reference")
def test_an_interrupt_with_a_folder_says_how_to_go_on(tmp_path):
    stop = interrupted(study(rules={"LDA": Counted()}), 14, tmp_path)
    assert str(stop) == f"stopped after 3 of 6 tasks; they are kept in {tmp_path}; run again to go on."


@pytest.mark.usefixtures("reference")
def test_an_interrupt_without_a_folder_hands_over_what_is_done():
    stop = interrupted(study(rules={"LDA": Counted()}), 14)
    assert str(stop) == "stopped after 3 of 6 tasks; partial has them."
    assert len(stop.partial.records) == 3


def test_an_interrupt_counts_the_tasks_of_earlier_runs(tmp_path):
    made = study(rules={"LDA": Counted()})
    study(rules={"LDA": Counted()}, repetitions=1).run(tmp_path)
    stop = interrupted(made, 6, tmp_path)
    assert str(stop).startswith("stopped after 3 of 6 tasks")
    assert len(stop.partial.records) == 3


def test_an_interrupt_in_another_process_keeps_what_is_done_and_the_rerun_gives_the_same_numbers(tmp_path):
    flag = tmp_path / "flag"
    made = study(rules={"LDA": Flagged(str(flag))})
    whole = numbers(made.run())
    flag.touch()
    with pytest.raises(bg.Interrupted, match=r"stopped after \d of 6 tasks; they are kept"):
        made.run(tmp_path / "run", n_jobs=2)
    flag.unlink()
    assert numbers(made.run(tmp_path / "run")).identical(whole)


# What fails in a task


def test_a_rule_that_cannot_be_trained_is_rows_with_its_message():
    results = study(rules={"LDA": LDA, "bad": Failing()}).run()
    found = results.failures()
    assert set(found["message"]) == {
        "the rule could not be trained: RuntimeError: no fit on 16 points says the test",
    }
    assert set(found["estimator"]) == {*ESTIMATORS, "(true error)"}
    assert set(found["rule"]) == {"bad"}
    assert set(found["n"]) == {16}
    assert set(found["count"]) == {3}


def test_a_rule_that_cannot_be_trained_leaves_other_tasks_as_they_are(reference):
    found = numbers(study(rules={**RULES, "bad": Failing()}).run())
    assert found.sel(rule=list(RULES)).identical(reference)


def test_a_rule_that_cannot_be_trained_at_one_size_is_judged_at_the_others():
    """Other subclasses of LDA say the same: nothing is read off subclasses, so they are compared with each other."""
    whole, found = (numbers(study(rules={"LDA": rule}).run()) for rule in (Counted(), Failing()))
    assert found.sel(n=[12]).identical(whole.sel(n=[12]))


def test_a_rule_that_cannot_be_trained_has_no_numbers():
    found = numbers(study(rules={"bad": Failing()}).run()).sel(n=16)
    assert found[["estimate", "true_error", "low", "high", "std_error"]].isnull().all().to_array().all()


def test_a_failing_estimator_is_rows_with_its_message():
    found = study(estimators={"resub": "resub", "broken": Broken()}).run().failures()
    assert set(found["estimator"]) == {"broken"}
    assert set(found["message"]) == {"RuntimeError: this measure fails at 16 points"}
    assert set(found["n"]) == {16}
    assert found["count"].tolist() == [3, 3]


def test_a_failing_estimator_leaves_the_others_as_they_are(reference):
    found = numbers(study(estimators={"broken": Broken(), **ESTIMATORS}).run())
    assert found.sel(estimator=list(ESTIMATORS)).identical(reference)


def test_a_failing_truth_is_a_row_with_its_message():
    found = study(population=WithTruth(RuntimeError("the truth is out"))).run().failures()
    assert set(found["estimator"]) == {"(true error)"}
    assert set(found["message"]) == {"RuntimeError: the truth is out"}
    assert found["count"].sum() == 12


def test_a_failing_truth_leaves_the_estimates_as_they_are(reference):
    found = numbers(study(population=WithTruth(RuntimeError("the truth is out"))).run())
    assert found["estimate"].identical(reference["estimate"])
    assert found["true_error"].isnull().all()


def test_failures_are_kept_in_a_folder(tmp_path):
    made = study(rules={"bad": Failing()}, estimators={"broken": Broken(), "resub": "resub"})
    first = made.run(tmp_path)
    again = made.run(tmp_path)
    assert again.failures().equals(first.failures())
    assert numbers(again).identical(numbers(first))


@pytest.mark.long
def test_failures_in_another_process_are_the_same():
    made = study(rules={"LDA": LDA, "bad": Failing()})
    ordered = ["rule", "n", "estimator"]
    here, there = (made.run(n_jobs=n_jobs).failures().sort_values(ordered, ignore_index=True) for n_jobs in (1, 2))
    assert here.equals(there)


@pytest.mark.parametrize("with_folder", [False, True])
@pytest.mark.parametrize(
    "answer",
    [TrueError(float("nan"), 0.0, 0, "nowhere"), TrueError(np.float32(0.25), np.float32(0), np.int64(7), "single")],
    ids=["NaN", "NumPy numbers"],
)
def test_any_numbers_of_a_truth_can_be_kept(tmp_path, answer, with_folder):
    """A population that a user made may hand back what NumPy gives it."""
    found = numbers(study(population=WithTruth(answer)).run(tmp_path if with_folder else None))
    np.testing.assert_array_equal(found["true_error"], np.full((2, 2, 3), answer.value))


def test_a_truth_that_is_no_true_error_is_a_row_with_its_message():
    results = study(population=WithTruth(0.25)).run()
    assert set(results.failures()["estimator"]) == {"(true error)"}


def test_a_sample_of_one_class_is_rows_with_a_message():
    """Labels drawn independently are all the same in one of 2^(n-1) samples, and these rules can be trained on them."""
    made = study(
        population=bg.datasets.PaperGaussian(n_informative=2, n_noise=2, class_sizes="random"),
        rules={"1NN": KNeighborsClassifier(1)},
        estimators=["resub"],
        sample_sizes=[3],
        repetitions=12,
    )
    results = made.run()
    failed = results.failures()
    assert failed["message"].str.contains("two classes").all()
    estimated = int(results.to_xarray()["estimate"].notnull().sum())
    assert 0 < estimated == 12 - failed.loc[failed["estimator"] == "resub", "count"].sum() < 12


# Warnings in a task


def test_warnings_in_tasks_are_recorded_and_not_shown(recwarn):
    found = study(rules={"LDA": LDA, "doubtful": Doubtful()}).run().warnings()
    assert found.to_dict("records") == [{"rule": "doubtful", "message": "RuntimeWarning: this fit", "tasks": 3}]
    assert not recwarn


def test_warnings_in_other_processes_are_recorded_and_not_shown(capfd):
    found = study(rules={"doubtful": Doubtful()}).run(n_jobs=2).warnings()
    assert found.to_dict("records") == [{"rule": "doubtful", "message": "RuntimeWarning: this fit", "tasks": 3}]
    assert "this fit" not in capfd.readouterr().err


def test_a_warning_without_words_is_recorded_by_its_kind():
    found = study(rules={"doubtful": Doubtful("")}).run().warnings()
    assert found["message"].str.startswith("RuntimeWarning").all()
    assert found["tasks"].tolist() == [3]


def test_warnings_do_not_change_numbers():
    calm, doubtful = (numbers(study(rules={"LDA": rule}).run()) for rule in (Counted(), Doubtful()))
    assert doubtful.identical(calm)


# Which data, which seeds


def test_all_rules_see_the_same_training_sets():
    study(rules={"a": Remembering("a"), "b": Remembering("b")}, estimators=["resub"]).run()
    assert Plan.data["a", 12] == Plan.data["b", 12]
    assert Plan.data["a", 16] == Plan.data["b", 16]


def test_training_sets_differ_between_repetitions():
    study(rules={"a": Remembering()}, estimators=["resub"]).run()
    assert [len(Plan.data["a", n]) for n in (12, 16)] == [3, 3]


def test_a_smaller_training_set_is_no_part_of_a_larger_one():
    """Else the errors at different sizes would depend on each other."""
    study(rules={"a": Remembering()}, estimators=["resub"]).run()
    points = [{row.tobytes() for one in Plan.data["a", n] for row in unpacked(one, n)} for n in (12, 16)]
    assert [len(one) for one in points] == [36, 48]
    assert not points[0] & points[1]


def unpacked(content, n):
    return np.frombuffer(content, count=4 * n).reshape(n, 4)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_numbers_of_an_estimator_do_not_depend_on_the_others(reference, name):
    found = numbers(study(estimators={name: ESTIMATORS[name]}).run())
    assert found.identical(reference.sel(estimator=[name]))


@pytest.mark.parametrize("kind", ["zero", "632", "632+"])
def test_numbers_of_a_bootstrap_do_not_depend_on_those_it_shares_resamples_with(kind):
    kinds = {kind: bg.Bootstrap(kind, 6) for kind in ("zero", "632", "632+")}
    together = numbers(study(rules={"LDA": LDA}, estimators=kinds).run())
    assert numbers(study(rules={"LDA": LDA}, estimators={kind: kinds[kind]}).run()).identical(
        together.sel(estimator=[kind])
    )


@pytest.mark.parametrize("name", RULES)
def test_numbers_of_a_rule_do_not_depend_on_the_others(reference, name):
    found = numbers(study(rules={name: RULES[name]}).run())
    assert found.identical(reference.sel(rule=[name]))


def test_names_of_rules_do_not_change_numbers(reference):
    found = numbers(study(rules={"another name": LinearDiscriminantAnalysis()}).run())
    np.testing.assert_array_equal(found["estimate"], reference.sel(rule=["LDA"])["estimate"])


def test_plain_cross_validation_has_no_standard_error(reference):
    assert reference.sel(estimator="cv")["std_error"].isnull().all()


def test_reruns_give_plain_cross_validation_its_standard_error(reference):
    results = study(rules={"LDA": LDA}, reruns=3).run()
    for task, record in results.records.items():
        row = record["rows"]["cv"]
        said = results.to_xarray().sel(rule=task.rule, n=task.n, repetition=task.repetition, estimator="cv")
        assert len(row["reruns"]) == 3
        assert said["std_error"] == np.std([row["estimate"], *row["reruns"]], ddof=1)


def test_reruns_use_other_random_numbers():
    results = study(rules={"LDA": LDA}, reruns=3).run()
    assert (results.to_xarray()["std_error"].sel(estimator="cv") > 0).any()


def test_reruns_change_no_estimate(reference):
    found = numbers(study(rules={"LDA": LDA}, reruns=2).run())
    assert found.drop_vars("std_error").identical(reference.sel(rule=["LDA"]).drop_vars("std_error"))


def test_reruns_leave_standard_errors_that_are_known(reference):
    found = numbers(study(rules={"LDA": LDA}, reruns=2).run())["std_error"]
    known = reference.sel(rule=["LDA"])["std_error"]
    assert known.notnull().any()
    np.testing.assert_array_equal(found.values[known.notnull().values], known.values[known.notnull().values])


def test_reruns_can_be_asked_of_one_estimator_only():
    both, one = (
        study(rules={"LDA": LDA}, estimators={"cv": bg.CrossValidation(3), "4cv": bg.CrossValidation(4)}, reruns=reruns)
        for reruns in (2, {"cv": 2})
    )
    both, one = numbers(both.run())["std_error"], numbers(one.run())["std_error"]
    assert one.sel(estimator="cv").identical(both.sel(estimator="cv"))
    assert both.sel(estimator="4cv").notnull().all()
    assert one.sel(estimator="4cv").isnull().all()


def test_an_estimator_with_reruns_can_be_added_to_one_without(tmp_path):
    study(rules={"LDA": LDA}, estimators=["resub"]).run(tmp_path)
    made = study(rules={"LDA": LDA}, estimators={"resub": "resub", "cv": bg.CrossValidation(3)}, reruns={"cv": 2})
    assert numbers(made.run(tmp_path)).identical(numbers(made.run()))


def test_reruns_in_a_folder_are_those_without(tmp_path):
    made = study(rules={"LDA": LDA}, reruns=2)
    made.run(tmp_path)
    assert numbers(made.run(tmp_path)).identical(numbers(made.run()))


def test_a_study_keeps_the_rule_as_it_was_given(reference):
    rule = LinearDiscriminantAnalysis()
    made = study(rules={"LDA": rule})
    rule.set_params(solver="lsqr", shrinkage=0.9)
    assert numbers(made.run()).identical(reference.sel(rule=["LDA"]))


def test_a_study_leaves_the_rule_and_the_estimator_it_was_given_alone():
    rule, estimator = LinearDiscriminantAnalysis(), bg.CrossValidation(3, n_jobs=2, progress=True)
    study(rules={"LDA": rule}, estimators={"cv": estimator}).run()
    assert not hasattr(rule, "coef_")
    assert (estimator.n_jobs, estimator.progress) == (2, True)


def test_estimators_have_no_processes_or_progress_of_their_own(reference, capfd):
    made = study(estimators={"cv": bg.CrossValidation(3, n_jobs=2, progress=True)})
    assert numbers(made.run()).identical(reference.sel(estimator=["cv"]))
    assert capfd.readouterr().err == ""


# What is refused


class NotCloneable(ClassifierMixin, BaseEstimator):
    """A rule whose constructor changes what it is given."""

    def __init__(self, k=(3,)):
        self.k = list(k)

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


TRAINED = LinearDiscriminantAnalysis().fit(*POPULATION.sample(12, 0))
BAD = {
    "population that is None": ({"population": None}, TypeError, "population must be a Population, .* got NoneType"),
    "population that is data": ({"population": POPULATION.sample(12, 0)}, TypeError, r"FiniteData\(X, y\); got tuple"),
    "population that is a class": ({"population": bg.datasets.PaperGaussian}, TypeError, "must be a Population, such"),
    "rules that are None": (
        {"rules": None},
        TypeError,
        "rules must be unfitted classifiers, or a dict .* got NoneType",
    ),
    "rules that are a number": ({"rules": 5}, TypeError, "rules must be unfitted classifiers, or a dict .* got int"),
    "rules that are a name": ({"rules": "LDA"}, TypeError, "with fit and predict; got an object of type str. Pass"),
    "a rule that is None": ({"rules": [None]}, TypeError, "got an object of type NoneType. Pass an unfitted"),
    "a rule that is a class": ({"rules": [LinearDiscriminantAnalysis]}, TypeError, "got <class .*Pass an unfitted"),
    "rules that are a class": ({"rules": LinearDiscriminantAnalysis}, TypeError, "got <class .*Pass an unfitted"),
    "a rule that does not predict": ({"rules": {"s": StandardScaler()}}, TypeError, "got an object of type Standard"),
    "a rule that cannot be cloned": ({"rules": {"n": NotCloneable()}}, TypeError, "can clone; got NotCloneable"),
    "a frozen rule": ({"rules": {"f": FrozenEstimator(TRAINED)}}, TypeError, "FrozenEstimator does not.*Pass the"),
    "a frozen rule in a Pipeline": (
        {"rules": {"f": make_pipeline(StandardScaler(), FrozenEstimator(TRAINED))}},
        TypeError,
        "FrozenEstimator does not.*Pass the",
    ),
    "no rules": ({"rules": []}, ValueError, "rules must hold at least one; got none"),
    "no rules in a dict": ({"rules": {}}, ValueError, "rules must hold at least one; got none"),
    "a rule twice": (
        {"rules": [KNeighborsClassifier(3), KNeighborsClassifier(3)]},
        ValueError,
        r"different names; got 'KNeighborsClassifier\(n_neighbors=3\)' twice. Rename one, in a dict",
    ),
    "a name twice": ({"rules": {1: LDA, "1": RULES["3NN"]}}, ValueError, "different names; got '1' twice"),
    "estimators that are None": ({"estimators": None}, TypeError, "must be names, estimators or a dict .* got None"),
    "estimators that are a number": ({"estimators": 5}, TypeError, "must be names, estimators or a dict .* got 5"),
    "an estimator that is unknown": ({"estimators": ["bolsterd"]}, ValueError, "unknown estimator 'bolsterd'; .*bolst"),
    "an estimator that is a class": ({"estimators": [bg.Bolstered]}, TypeError, "got the class Bolstered"),
    "an estimator that is None": ({"estimators": [None]}, TypeError, "measures and resamplers .*; got a NoneType"),
    "an estimator that is a rule": ({"estimators": [LDA]}, TypeError, "got a LinearDiscriminantAnalysis"),
    "no estimators": ({"estimators": []}, ValueError, "estimators must name at least one; got none"),
    "an estimator twice": ({"estimators": ["cv", "cv"]}, ValueError, "different names; got 'cv' twice. Rename one"),
    "sizes that are None": ({"sample_sizes": None}, TypeError, "sample_sizes must be .*got None"),
    "sizes that are a float": ({"sample_sizes": 12.0}, (TypeError, ValueError), "sample.size.* must be .*got 12.0"),
    "sizes that are a string": ({"sample_sizes": "12"}, (TypeError, ValueError), "sample.size.* must be .*got '1"),
    "no sizes": ({"sample_sizes": []}, ValueError, r"sample_sizes must be .* at least one; got \[\]"),
    "a size twice": ({"sample_sizes": [12, 16, 12]}, ValueError, r"must be different .*; got \[12, 16, 12\]"),
    "a size of one": ({"sample_sizes": [1]}, ValueError, "size must be a whole number of at least 2; got 1"),
    "a negative size": ({"sample_sizes": [12, -16]}, ValueError, "a whole number of at least 2; got -16"),
    "a size that is not whole": ({"sample_sizes": [12.5]}, ValueError, "a whole number of at least 2; got 12.5"),
    "a size that is a truth value": ({"sample_sizes": [True]}, ValueError, "a whole number of at least 2; got True"),
    "no repetitions": ({"repetitions": 0}, ValueError, "repetitions must be a whole number of at least 1; got 0"),
    "negative repetitions": ({"repetitions": -1}, ValueError, "repetitions must be a whole .* at least 1; got -1"),
    "repetitions that are a float": ({"repetitions": 3.0}, ValueError, "repetitions must be a whole .*; got 3.0"),
    "repetitions that are a list": ({"repetitions": [3]}, ValueError, r"repetitions must be a whole .*; got \[3\]"),
    "a negative seed": ({"seed": -1}, ValueError, "seed must be a whole number of at least 0; got -1"),
    "a seed that is None": ({"seed": None}, ValueError, "seed must be a whole number of at least 0; got None"),
    "a level of 0": ({"level": 0}, ValueError, "level must be between 0 and 1; got 0"),
    "a level in per cent": ({"level": 95}, ValueError, "level must be between 0 and 1; got 95"),
    "a level that is not a number": ({"level": float("nan")}, ValueError, "level must be between 0 and 1; got nan"),
    "a level that is None": ({"level": None}, (TypeError, ValueError), "level must be .*got None"),
    "a level that is a string": ({"level": "0.9"}, (TypeError, ValueError), "level must be .*got '0.9'"),
    "one test point": ({"n_test": 1}, ValueError, "n_test must be a whole number of at least 2; got 1"),
    "test points that are a float": ({"n_test": 1e4}, ValueError, "n_test must be a whole number .*; got 10000.0"),
    "negative reruns": ({"reruns": -1}, ValueError, "reruns must be a whole number of at least 0; got -1"),
    "reruns of an unknown estimator": (
        {"reruns": {"cw": 2}},
        ValueError,
        r"must name estimators .*'cw', not in \['resub",
    ),
    "negative reruns of an estimator": ({"reruns": {"cv": -1}}, ValueError, "at least 0; got -1"),
    "reruns that are a truth value": ({"reruns": True}, ValueError, "reruns must be a whole number .*; got True"),
}


@pytest.mark.parametrize(("given", "kind", "message"), BAD.values(), ids=BAD)
def test_a_bad_design_is_refused(given, kind, message):
    with pytest.raises(kind, match=message):
        study(**given)


def test_a_test_set_as_estimator_is_refused_without_naming_an_argument_that_a_study_lacks():
    test_set = bg.TestSet(*POPULATION.sample(12, 0))
    with pytest.raises(TypeError, match="got a TestSet") as refused:
        study(estimators={"test": test_set})
    assert "test=" not in str(refused.value)


BAD_RUNS = {
    "no jobs": ({"n_jobs": 0}, ValueError, "n_jobs must be a whole number other than 0, or None; got 0"),
    "jobs that are a float": ({"n_jobs": 2.0}, ValueError, "n_jobs must be a whole number .*; got 2.0"),
    "jobs that are a truth value": ({"n_jobs": True}, ValueError, "n_jobs must be a whole number .*; got True"),
    "jobs that are a string": ({"n_jobs": "2"}, ValueError, "n_jobs must be a whole number .*; got '2'"),
    "a client that is an address": (
        {"client": "tcp://a:1"},
        TypeError,
        "client must be a distributed.Client; got 'tcp",
    ),
    "a timeout of 0": ({"timeout": 0}, ValueError, "timeout must be a positive number of seconds, or None; got 0"),
    "a timeout that is a truth value": ({"timeout": True}, ValueError, "timeout must be a positive .*; got True"),
    "a timeout that is not a number": ({"timeout": "5"}, ValueError, "timeout must be a positive .*; got '5'"),
    "a timeout without end": ({"timeout": float("inf")}, ValueError, "timeout must be a positive .*; got inf"),
    "a timeout that is NaN": ({"timeout": float("nan")}, ValueError, "timeout must be a positive .*; got nan"),
    "jobs and a client": ({"client": object(), "n_jobs": 2}, ValueError, "give n_jobs or client, not both"),
    "one job and a client": ({"client": object(), "n_jobs": 1}, ValueError, "give n_jobs or client, not both"),
}


@pytest.mark.parametrize(("given", "kind", "message"), BAD_RUNS.values(), ids=BAD_RUNS)
def test_a_bad_argument_of_run_is_refused_before_any_work(tmp_path, given, kind, message):
    with pytest.raises(kind, match=message):
        study(rules={"LDA": Counted()}).run(tmp_path / "run", **given)
    assert Plan.fits == 0
    assert not (tmp_path / "run").exists()


def test_a_folder_that_is_no_path_is_refused_before_any_work():
    with pytest.raises(TypeError, match=r"str.*PathLike.*int"):
        study(rules={"LDA": Counted()}).run(5)
    assert Plan.fits == 0


@pytest.mark.parametrize("class_sizes", ["random", "fixed"])
def test_a_size_that_a_data_set_cannot_give_is_refused_before_any_work(tmp_path, class_sizes):
    data = bg.datasets.FiniteData(*POPULATION.sample(18, 0), class_sizes)
    made = study(population=data, rules={"LDA": Counted()}, sample_sizes=[12, 17])
    with pytest.raises(ValueError, match=r"at least two points to judge by; got n=17 of 18\. Lower n"):
        made.run(tmp_path / "run")
    assert Plan.fits == 0
    assert not (tmp_path / "run").exists()


def test_fewer_test_points_than_a_population_needs_are_refused_before_any_work():
    with pytest.raises(ValueError, match="n_test must give every class two test points or more; got 3"):
        study(rules={"LDA": Counted()}, n_test=3)


@pytest.mark.parametrize("level", [np.float32(0.9), np.float64(0.9)], ids=["float32", "float64"])
def test_a_level_that_is_a_numpy_number_can_be_kept_in_a_folder(tmp_path, level):
    assert len(study(level=level, repetitions=1).run(tmp_path).records) == 4


@pytest.mark.parametrize(
    "given",
    [{"sample_sizes": np.array([12, 16])}, {"sample_sizes": (n for n in (12, 16))}, {"repetitions": np.int64(3)}],
    ids=["sizes in an array", "sizes from a generator", "repetitions from an array"],
)
def test_numbers_from_numpy_and_iterables_are_taken(reference, tmp_path, given):
    assert numbers(study(**given).run(tmp_path)).identical(reference)


def test_one_size_and_one_rule_need_no_list(reference):
    found = numbers(study(rules=LinearDiscriminantAnalysis(), sample_sizes=12).run())
    assert found["rule"].values.tolist() == ["LinearDiscriminantAnalysis()"]
    np.testing.assert_array_equal(found["estimate"], reference.sel(rule=["LDA"], n=[12])["estimate"])
