"""Processes that run tasks: one that dies or takes too long costs its own task only, and none outlives its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import cloudpickle
import numpy as np
import psutil
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import bayes_gresub as bg
from bayes_gresub.studies import engines, worker_processes
from bayes_gresub.studies.shared_objects import SharedObject, load
from bayes_gresub.studies.worker_processes import Worker, WorkerDied, WorkerTimeout

# Other processes cannot import a test module, so its classes and functions are sent to them whole.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are killed as POSIX does it")

POPULATION = bg.datasets.PaperGaussian(n_informative=2, n_noise=2)
LDA = LinearDiscriminantAnalysis()


class Doing(LinearDiscriminantAnalysis):
    """LDA, which does something else first when it is trained on 16 points."""

    def __init__(self, what=None, home=0):
        super().__init__()
        self.what = what
        self.home = home

    def fit(self, X, y):
        if len(X) == 16 and os.getpid() != self.home:
            self.what()
        return super().fit(X, y)


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def sleep_long():
    time.sleep(100)


def leave():
    sys.exit("enough")


def study(rules, **given):
    return bg.Study(
        POPULATION, rules, **({"estimators": ["resub"], "sample_sizes": [12, 16], "repetitions": 2} | given)
    )


def numbers(results):
    return results.to_xarray().drop_vars("seconds")


# In a study


@pytest.mark.parametrize(
    ("act", "timeout", "message"),
    [
        (die, 100, r"a task must leave its process alive; 2 processes .* by SIGKILL: the rule .* brought them down"),
        (sleep_long, 2, r"a task must end within timeout=2 seconds; .* was stopped\. Raise timeout.*retry_failed=True"),
    ],
    ids=["dies", "takes too long"],
)
def test_a_task_whose_process_must_be_replaced_is_rows_with_the_reason_and_costs_no_other(
    tmp_path, monkeypatch, act, timeout, message
):
    monkeypatch.setattr(engines, "_MOST_DEATHS", 2)
    made = study({"doing": Doing(act), "LDA": LDA}, repetitions=1)
    results = made.run(tmp_path, timeout=timeout)
    failed = results.failures()
    assert failed[["rule", "n", "estimator"]].values.tolist() == [["doing", 16, "(true error)"], ["doing", 16, "resub"]]
    assert failed["message"].str.fullmatch(rf"{message}.*").all()
    whole = numbers(study({"doing": Doing(act, os.getpid()), "LDA": LDA}, repetitions=1).run())
    found = numbers(results)
    assert found.sel(rule=["LDA"]).identical(whole.sel(rule=["LDA"]))
    assert found.sel(n=[12]).identical(whole.sel(n=[12]))
    assert numbers(made.run(tmp_path)).identical(found), "the reason is not kept"


@pytest.mark.long
def test_a_timeout_needs_no_number_of_processes():
    made = study({"LDA": LDA}, repetitions=1)
    assert numbers(made.run(timeout=100)).identical(numbers(made.run()))


def test_an_estimator_that_takes_too_long_leaves_what_was_found_before(tmp_path):
    made = study({"LDA": LDA}, sample_sizes=[12], repetitions=1)
    first = made.run(tmp_path)
    both = study({"LDA": LDA}, estimators={"resub": "resub", "slow": Slow()}, sample_sizes=[12], repetitions=1)
    found = both.run(tmp_path, timeout=1)
    assert found.failures()["estimator"].tolist() == ["slow"]
    assert numbers(found).sel(estimator=["resub"]).identical(numbers(first))


class Slow(bg.Empirical):
    """A measure that takes its time."""

    def fit(self, X, y, sample_weight=None):
        time.sleep(100)
        return super().fit(X, y, sample_weight)


@pytest.mark.long
def test_tasks_that_took_too_long_are_done_again_when_asked_to(tmp_path):
    flag = tmp_path / "flag"
    flag.touch()
    made = study({"waiting": Waiting(str(flag))}, sample_sizes=[12], repetitions=1)
    assert len(made.run(tmp_path / "run", timeout=1).failures()) == 2
    flag.unlink()
    found = made.run(tmp_path / "run", timeout=100, retry_failed=True)
    assert found.failures().empty
    assert numbers(found).identical(numbers(made.run()))


class Waiting(LinearDiscriminantAnalysis):
    """LDA, which waits while a file is there."""

    def __init__(self, flag=""):
        super().__init__()
        self.flag = flag

    def fit(self, X, y):
        while Path(self.flag).exists():
            time.sleep(0.1)
        return super().fit(X, y)


def test_a_rule_that_leaves_python_is_rows_with_the_reason():
    results = study({"leaving": Doing(leave)}).run()
    assert set(results.failures()["n"]) == {16}
    assert results.failures()["message"].str.contains("must not leave Python; SystemExit: enough was raised").all()


@pytest.mark.long
def test_a_worker_that_another_kills_changes_no_number(tmp_path):
    """Each task waits until it has been killed once."""
    made = study({"LDA": KilledOnce(str(tmp_path))}, repetitions=1)
    found = made.run(tmp_path / "run", n_jobs=1, timeout=100)
    assert len(list(tmp_path.glob("killed-*"))) == 2
    assert found.failures().empty
    assert numbers(found).identical(numbers(made.run()))


class KilledOnce(LinearDiscriminantAnalysis):
    """LDA, which kills its process when it first sees so many points."""

    def __init__(self, folder=""):
        super().__init__()
        self.folder = folder

    def fit(self, X, y):
        mark = Path(self.folder) / f"killed-{len(X)}"
        if not mark.exists():
            mark.touch()
            die()
        return super().fit(X, y)


class Unloadable:
    """A step that other processes cannot load."""

    def __reduce__(self):
        return fail, ()

    def __call__(self):
        raise AssertionError


def fail():
    raise ImportError("no such step here")


@pytest.mark.long
def test_a_study_that_other_processes_cannot_load_is_a_clear_error():
    made = study({"doing": Doing()})
    made.rules["doing"].what = Unloadable()
    with pytest.raises(
        RuntimeError, match=r"must be able to load the study; they cannot \(ImportError: no such step here"
    ):
        made.run(n_jobs=2)


def test_processes_that_cannot_start_are_a_clear_error(monkeypatch):
    monkeypatch.setattr(worker_processes, "_START", "raise SystemExit(3)")
    with pytest.raises(RuntimeError, match=r"must be able to start; one ended with code 3 .*Lower n_jobs"):
        study({"LDA": LDA}).run(n_jobs=2)


# One process


@pytest.fixture(scope="module")
def worker():
    made = Worker()
    yield made
    made.close()


def test_a_call_returns_what_the_function_returns(worker):
    assert worker.call(sum, [1, 2, 3]) == 6
    assert worker.call(os.getpid) != os.getpid()


def test_a_call_raises_what_the_function_raises(worker):
    with pytest.raises(ZeroDivisionError, match="division"):
        worker.call(divmod, 1, 0)


def hard_to_pack():
    error = RuntimeError("with a lock")
    error.lock = threading.Lock()
    raise error


def test_an_error_that_cannot_be_packed_is_raised_in_words(worker):
    with pytest.raises(RuntimeError, match="RuntimeError: with a lock"):
        worker.call(hard_to_pack)


def printed():
    sys.stdout.write("this is no answer")
    sys.stdout.flush()
    os.write(1, b"nor is this")
    return sys.stdin.read()


def test_what_a_function_prints_does_not_get_among_the_answers(worker):
    assert worker.call(printed) == ""
    assert worker.call(sum, [1, 2]) == 3


def test_a_process_does_many_calls(worker):
    assert worker.call(os.getpid) == worker.call(os.getpid)


def test_the_end_of_a_process_is_noticed_and_another_is_started(worker):
    first = worker.call(os.getpid)
    with pytest.raises(WorkerDied, match="the process ended with code 5") as death:
        worker.call(os._exit, 5)
    assert death.value.code == 5
    assert worker.call(os.getpid) != first


def start_another():
    return subprocess.Popen(["sleep", "100"]).pid


def is_gone(pid, patience=10.0):
    """Return whether a process ends within some seconds; one that nobody waits for counts as ended."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.05)
    return False


def test_a_call_that_takes_too_long_is_stopped_with_the_processes_it_has_started(worker):
    first, started = worker.call(os.getpid), worker.call(start_another)
    before = time.monotonic()
    with pytest.raises(WorkerTimeout, match=r"more than 0\.5 seconds"):
        worker.call(time.sleep, 100, timeout=0.5)
    assert time.monotonic() - before < 10
    assert is_gone(first)
    assert is_gone(started)


def test_a_process_that_has_nothing_to_do_for_long_ends():
    idle = Worker(idle=2.0)
    first = idle.call(os.getpid)
    assert is_gone(first)
    assert idle.call(os.getpid) != first
    idle.close()


PARENT = """
import os, runpy, time
Worker = runpy.run_path({place!r})["Worker"]
idle, busy = Worker(), Worker()
print(idle.call(os.getpid), busy.call(os.getpid), flush=True)
busy.call(time.sleep, 100)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_idle_and_busy_processes_end_within_seconds_of_the_death_of_their_parent(number):
    place = worker_processes.__file__
    with subprocess.Popen([sys.executable, "-c", PARENT.format(place=place)], stdout=subprocess.PIPE) as parent:
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2
        assert all(psutil.pid_exists(pid) for pid in pids)
        os.kill(parent.pid, number)
    assert all(is_gone(pid, 5.0) for pid in pids)


# Objects that processes share


def test_a_shared_object_is_loaded_as_it_was():
    thing = {"large": np.arange(2.0**18).reshape(512, 512), "small": np.arange(3), "text": "a"}
    with SharedObject(thing) as shared:
        load.cache_clear()
        found = load(shared.path)
    load.cache_clear()
    np.testing.assert_array_equal(found["large"], thing["large"])
    np.testing.assert_array_equal(found["small"], thing["small"])
    assert found["text"] == "a"
    assert found["small"].flags.writeable
    assert not found["large"].flags.writeable, "it is a copy"
    assert found["large"].ctypes.data % 64 == 0
