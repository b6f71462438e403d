"""Studies whose processes are killed, interrupted or run out of disk: nothing that was done is lost, no number changes.

The studies run in processes of their own, from a folder with a script and a module of rules, as a user's would.
"""

from __future__ import annotations

import errno
import importlib
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from distributed import Client, LocalCluster
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import bayes_gresub as bg
from bayes_gresub.studies.store import RunFolder
from bayes_gresub.studies.tasks import Task

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are found and limited as Linux does it"),
]

PATIENCE = 180.0
"""Seconds after which something is thought never to happen; the machine may be busy."""

MODULE = '''
import os
import signal
import time

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis


class Slow(LinearDiscriminantAnalysis):
    """LDA, which takes its time and writes down that it was trained."""

    def fit(self, X, y):
        if log := os.environ.get("FITS"):
            with open(log, "a") as file:
                file.write("fit\\n")
        time.sleep(0.05)
        return super().fit(X, y)


class Sleeper(LinearDiscriminantAnalysis):
    """LDA, which sleeps when it is trained on 16 points."""

    def __init__(self, home=0):
        super().__init__()
        self.home = home

    def fit(self, X, y):
        if len(X) == 16 and os.getpid() != self.home:
            time.sleep(100)
        return super().fit(X, y)


class Killer(LinearDiscriminantAnalysis):
    """LDA, which kills its process when it is trained on 16 points."""

    def __init__(self, home=0):
        super().__init__()
        self.home = home

    def fit(self, X, y):
        if len(X) == 16 and os.getpid() != self.home:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y)
'''

SCRIPT = """
import pickle
import signal
import sys

from sklearn.neighbors import KNeighborsClassifier

import bayes_gresub as bg
from rules_of_faults import Slow

# A shell that starts the tests in the background has them ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
folder, out, n_jobs = sys.argv[1:]
study = bg.Study(
    bg.datasets.PaperGaussian(n_informative=2, n_noise=2),
    {"slow": Slow(), "3NN": KNeighborsClassifier(3)},
    {"resub": "resub", "bolstered": "bolstered", "cv": bg.CrossValidation(3)},
    [12, 16],
    repetitions=10,
    seed=1,
)
results = study.run(folder, n_jobs=int(n_jobs))
with open(out, "wb") as file:
    pickle.dump(results.to_xarray().drop_vars("seconds"), file)
"""
N_TASKS = 40


class Project:
    """A folder with a script that runs a study, and the processes that run it."""

    def __init__(self, path):
        self.path = path
        self.processes = []
        (path / "rules_of_faults.py").write_text(MODULE)
        (path / "script.py").write_text(SCRIPT)

    def start(self, folder, n_jobs=2):
        """Start the script in a session of its own, so that all its processes can be found."""
        command = [sys.executable, "script.py", str(folder), str(self.out(folder)), str(n_jobs)]
        # The package that is tested, which need not be the one that is installed.
        places = os.pathsep.join([str(self.path), str(Path(bg.__file__).parents[1])])
        environment = {**os.environ, "PYTHONPATH": places, "FITS": f"{folder}.fits"}
        made = subprocess.Popen(
            command, cwd=self.path, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        self.processes.append(made)
        return made

    def finish(self, folder, n_jobs=2):
        """Run the script to its end and return the numbers of the study."""
        _, said = self.start(folder, n_jobs).communicate(timeout=PATIENCE)
        assert self.out(folder).exists(), said
        return pickle.loads(self.out(folder).read_bytes())

    def out(self, folder):
        return Path(f"{folder}.pickle")

    def fits(self, folder):
        log = Path(f"{folder}.fits")
        return len(log.read_text().splitlines()) if log.exists() else 0

    def close(self):
        for process in self.processes:
            for one in session(process):
                one.kill()
            process.wait(PATIENCE)
            process.stderr.close()


@pytest.fixture
def project(tmp_path):
    made = Project(tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return the numbers of the study when nothing happens to it, in one process."""
    made = Project(tmp_path_factory.mktemp("whole"))
    try:
        return made.finish(made.path / "run", n_jobs=1)
    finally:
        made.close()


@pytest.fixture
def rules(tmp_path, monkeypatch):
    """Return the module of rules, as this process has it."""
    (tmp_path / "rules_of_faults.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "rules_of_faults", raising=False)
    yield importlib.import_module("rules_of_faults")
    sys.modules.pop("rules_of_faults", None)


def session(process):
    """Return the processes that a process started with its session has left, itself too while it lives."""
    found = []
    for one in psutil.process_iter():
        try:
            if os.getsid(one.pid) == process.pid and one.status() != psutil.STATUS_ZOMBIE:
                found.append(one)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


def parts(folder):
    """Return when each part file in a folder was written."""
    return {path: path.stat().st_mtime_ns for path in Path(folder).glob("tasks/*/*/*.json")}


def wait_for(happens, what, patience=PATIENCE):
    end = time.monotonic() + patience
    while not happens():
        assert time.monotonic() < end, f"{what} did not happen within {patience:g} s"
        time.sleep(0.02)


def wait_for_parts(folder, count, process=None):
    def enough():
        assert process is None or process.poll() is None, f"the run ended early: {process.communicate()[1]}"
        return len(parts(folder)) >= count

    wait_for(enough, f"part {count}")


def numbers(results):
    """Return all that must not depend on how a study is run."""
    return results.to_xarray().drop_vars("seconds")


# Killed


def test_two_processes_undisturbed_give_the_numbers_of_one(project, whole):
    assert project.finish(project.path / "run").identical(whole)


def test_a_run_that_is_killed_loses_only_the_tasks_in_flight(project, whole):
    folder = project.path / "run"
    killed = project.start(folder)
    wait_for_parts(folder, 8, killed)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait(PATIENCE)
    before, fits = parts(folder), project.fits(folder)
    assert 8 <= len(before) < N_TASKS
    assert project.finish(folder).identical(whole)
    assert before.items() <= parts(folder).items(), "what was done before the kill was done again"
    done = sum("slow" in str(path) for path in before)
    assert project.fits(folder) - fits <= 4 * (20 - done) + 8, "fits were repeated"


def test_a_run_that_is_killed_28_times_ends_with_the_same_numbers(project, whole):
    folder = project.path / "run"
    for count in range(1, 29):
        killed = project.start(folder)
        wait_for_parts(folder, count, killed)
        before = parts(folder)
        os.kill(killed.pid, signal.SIGKILL)
        killed.wait(PATIENCE)
        assert before.keys() <= parts(folder).keys()
    assert project.finish(folder).identical(whole)
    assert len(parts(folder)) == N_TASKS


def test_two_runs_in_one_folder_at_the_same_time_do_no_harm(project, whole):
    folder, other = project.path / "run", project.path / "link"
    first = project.start(folder)
    wait_for_parts(folder, 2, first)
    other.symlink_to(folder)
    assert project.finish(other, n_jobs=1).identical(whole)
    _, said = first.communicate(timeout=PATIENCE)
    assert first.returncode == 0, said
    assert pickle.loads(project.out(folder).read_bytes()).identical(whole)


# Interrupted


@pytest.fixture(scope="module", params=["the process", "its group"])
def interrupted(request, tmp_path_factory):
    """Return a project, its run after Ctrl-C and what that said; a terminal interrupts the whole group."""
    project = Project(tmp_path_factory.mktemp("interrupted"))
    run = project.start(project.path / "run")
    wait_for_parts(project.path / "run", 8, run)
    (os.kill if request.param == "the process" else os.killpg)(run.pid, signal.SIGINT)
    _, said = run.communicate(timeout=PATIENCE)
    yield project, run, said
    project.close()


def test_an_interrupt_says_how_to_go_on(interrupted):
    project, run, said = interrupted
    assert run.returncode != 0
    assert "Interrupted: stopped after" in said
    assert f"they are kept in {project.path / 'run'}; run again to go on.\n" in said


def test_an_interrupt_says_nothing_of_the_tasks_that_joblib_dropped(interrupted):
    _, _, said = interrupted
    assert "tasks which were still being processed" not in said
    assert "Exception ignored" not in said


def test_an_interrupt_leaves_no_worker_processes_behind(interrupted):
    _, run, _ = interrupted
    wait_for(lambda: not session(run), "the end of the worker processes", 60)


def test_an_interrupt_keeps_what_is_done_and_the_rerun_gives_the_same_numbers(interrupted, whole):
    project, _, _ = interrupted
    folder = project.path / "run"
    before = parts(folder)
    assert 8 <= len(before) < N_TASKS
    assert project.finish(folder).identical(whole)
    assert before.items() <= parts(folder).items()


# A full disk


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_files_that_cannot_grow_stop_a_run_which_goes_on_afterwards(project, whole, n_jobs):
    """The limit of the size of files stands for a full disk: half a file is written, and then no more."""
    folder = project.path / "run"
    run = project.start(folder, n_jobs)
    wait_for_parts(folder, 8, run)
    resource.prlimit(run.pid, resource.RLIMIT_FSIZE, (200, resource.RLIM_INFINITY))
    _, said = run.communicate(timeout=PATIENCE)
    before = parts(folder)
    assert run.returncode != 0
    assert f"cannot write to the run folder ({os.strerror(errno.EFBIG)})" in said
    assert "run again to go on" in said
    assert [path.name for path in folder.rglob(".*")] == [".lock"]
    assert 8 <= len(before) < N_TASKS
    done = [Task(rule, n, r) for rule in ("slow", "3NN") for n in (12, 16) for r in range(10)]
    records, damaged = RunFolder(folder).read(done)
    assert (len(records), damaged) == (len(before), 0)
    assert project.finish(folder, n_jobs).identical(whole)
    assert before.items() <= parts(folder).items()


# A rule that kills its process


def study(rules, **given):
    design = {"estimators": ["resub", "bolstered"], "sample_sizes": [12, 16], "repetitions": 4, "seed": 1}
    return bg.Study(bg.datasets.PaperGaussian(n_informative=2, n_noise=2), rules, **(design | given))


def test_a_rule_that_kills_its_process_costs_its_own_tasks_only(rules, tmp_path):
    folder, killer = tmp_path / "run", rules.Killer(os.getpid())
    made = study({"killer": killer, "LDA": LinearDiscriminantAnalysis()})
    results = made.run(folder, n_jobs=2)
    failed = results.failures()
    assert set(failed["rule"]) == {"killer"}
    assert set(failed["n"]) == {16}
    assert failed["message"].str.contains("a task must leave its process alive; 3 processes ended").all()
    others = numbers(study({"LDA": LinearDiscriminantAnalysis()}).run())
    assert numbers(results).sel(rule=["LDA"]).identical(others)
    small = study({"killer": killer}, sample_sizes=[12])
    assert numbers(results).sel(rule=["killer"], n=[12]).identical(numbers(small.run()))
    assert RunFolder(folder).read(made.tasks)[1] == 0


def test_processes_that_are_killed_again_and_again_change_no_number(project, whole):
    """Every kill hits one of the two processes that run tasks."""
    folder = project.path / "run"
    run = project.start(folder)
    for count in (4, 8, 12, 16, 20, 24, 28):
        wait_for_parts(folder, count, run)
        children = psutil.Process(run.pid).children()
        children[count // 4 % len(children)].kill()
    _, said = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0, said
    assert pickle.loads(project.out(folder).read_bytes()).identical(whole)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_process_outlives_a_run_that_is_killed_by_more_than_seconds(project, number):
    folder = project.path / "run"
    run = project.start(folder)
    wait_for_parts(folder, 4, run)
    assert len(session(run)) == 3
    os.kill(run.pid, number)
    run.wait(PATIENCE)
    wait_for(lambda: not session(run), "the end of the worker processes", 5)


# On a cluster


@contextmanager
def cluster_of_two():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as made,
    ):
        yield made


@pytest.fixture
def client():
    with cluster_of_two() as made:
        yield made


def test_a_worker_that_is_killed_changes_no_number(rules, client, tmp_path):
    made = study({"slow": rules.Slow(), "LDA": LinearDiscriminantAnalysis()}, repetitions=20)
    pids = sorted(client.run(os.getpid).values())

    def kill():
        wait_for_parts(tmp_path / "run", 10)
        os.kill(pids[0], signal.SIGKILL)

    killing = threading.Thread(target=kill)
    killing.start()
    found = numbers(made.run(tmp_path / "run", client=client))
    killing.join()
    assert not psutil.pid_exists(pids[0])
    assert found.identical(numbers(made.run(n_jobs=1)))


def test_both_workers_killed_one_after_the_other_change_no_number(rules, client, tmp_path):
    made = study({"slow": rules.Slow()}, repetitions=30)

    def kill():
        for count in (5, 30):
            wait_for_parts(tmp_path / "run", count)
            # Not asked of the workers: one that is just starting again may never answer.
            for worker in list(client.cluster.workers.values()):
                if worker.pid is not None:
                    os.kill(worker.pid, signal.SIGKILL)

    killing = threading.Thread(target=kill)
    killing.start()
    found = numbers(made.run(tmp_path / "run", client=client))
    killing.join()
    assert found.identical(numbers(made.run(n_jobs=1)))


def test_a_rule_that_kills_its_worker_costs_its_own_tasks_only(rules, client, tmp_path):
    """Tasks that Dask gives up are done once more, beside the workers.

    Dask may fail to start a worker again that is killed as soon as it has started, so here is one such task.
    """
    made = study({"killer": rules.Killer(os.getpid()), "LDA": LinearDiscriminantAnalysis()}, repetitions=1)
    found = made.run(tmp_path / "run", client=client)
    assert found.failures()[["rule", "n", "count"]].values.tolist() == [["killer", 16, 1]] * 3
    rest = study({"LDA": LinearDiscriminantAnalysis()}, repetitions=1)
    assert numbers(found).sel(rule=["LDA"]).identical(numbers(rest.run()))


def test_a_timeout_on_a_cluster_costs_its_own_tasks_only(rules, client, tmp_path):
    made = study({"sleeper": rules.Sleeper(os.getpid()), "killer": rules.Killer(os.getpid()), "slow": rules.Slow()})
    found = made.run(tmp_path / "run", client=client, timeout=3)
    failed = found.failures()
    assert set(failed["n"]) == {16}
    assert set(failed["rule"]) == {"sleeper", "killer"}
    assert failed.loc[failed["rule"] == "sleeper", "message"].str.contains("must end within timeout=3 seconds").all()
    whole = study({"slow": rules.Slow()}).run()
    assert numbers(found).sel(rule=["slow"]).identical(numbers(whole))
    assert len(client.nthreads()) == 2


def test_a_rule_of_a_module_that_workers_lack_is_a_clear_error_and_all_others_are_done(client, rules, tmp_path):
    """The workers started before the module could be found."""
    made = study({"slow": rules.Slow(), "LDA": LinearDiscriminantAnalysis()})
    raised = []

    def run():
        try:
            made.run(tmp_path / "run", client=client)
        except Exception as error:  # told apart below; one that waits for ever must not stop the tests
            raised.append(error)

    running = threading.Thread(target=run, daemon=True)
    running.start()
    running.join(60)
    assert not running.is_alive(), "the run waits for ever"
    assert "No module named 'rules_of_faults'" in str(raised[0])
    assert len(parts(tmp_path / "run")) == 8
