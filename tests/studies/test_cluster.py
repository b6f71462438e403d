"""Studies on a real Dask cluster of two worker processes: the same numbers, the same files, and nothing left behind.

`make test` runs one study there, and `make test-long` the rest.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
import time
import warnings
from pathlib import Path

import cloudpickle
import pytest
from distributed import Client, LocalCluster
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_info

import bayes_gresub as bg
from bayes_gresub.studies import engines

# Workers cannot import a test module, so its classes are sent to them whole.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

LDA = LinearDiscriminantAnalysis()
RULES = {"LDA": LDA, "3NN": KNeighborsClassifier(3), "tree": DecisionTreeClassifier(max_features=1)}


def study(**given):
    design = {
        "population": bg.datasets.PaperGaussian(n_informative=2, n_noise=2),
        "rules": RULES,
        "estimators": {"resub": "resub", "bolstered": "bolstered", "3nn-pp": "3nn-pp", "cv": bg.CrossValidation(3)},
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
def client():
    with (
        # Port 0 is any that is free: another cluster on this machine may have the usual one.
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as made,
    ):
        yield made


@pytest.fixture(scope="module")
def reference():
    return numbers(study().run(n_jobs=1))


class Failing(LinearDiscriminantAnalysis):
    """LDA, which warns, and cannot be trained on 16 points."""

    def fit(self, X, y):
        warnings.warn("this fit is doubtful", RuntimeWarning, stacklevel=2)
        if len(X) == 16:
            raise RuntimeError("no fit on 16 points")
        return super().fit(X, y)


class OneThread(LinearDiscriminantAnalysis):
    """LDA, which fails where a library has several threads."""

    def fit(self, X, y):
        if crowded := [pool["prefix"] for pool in threadpool_info() if pool["num_threads"] != 1]:
            raise RuntimeError(f"{crowded} have several threads")
        return super().fit(X, y)


class Slow(LinearDiscriminantAnalysis):
    """LDA, which takes its time."""

    def fit(self, X, y):
        time.sleep(0.1)
        return super().fit(X, y)


def is_idle(client):
    """Return whether the cluster has nothing to do and keeps nothing, within a few seconds."""
    for _ in range(100):
        if not client.futures and not any(client.processing().values()) and not any(client.has_what().values()):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.long
def test_a_cluster_gives_the_same_numbers_as_one_process(client, reference):
    assert numbers(study().run(client=client)).identical(reference)


def test_a_cluster_with_a_folder_gives_the_same_numbers(client, reference, tmp_path):
    assert numbers(study().run(tmp_path, client=client)).identical(reference)
    assert len(parts(tmp_path)) == 18


@pytest.mark.long
def test_a_cluster_computes_nothing_that_is_in_the_folder(client, tmp_path):
    study().run(tmp_path, n_jobs=1)
    before = parts(tmp_path)
    study().run(tmp_path, client=client)
    assert parts(tmp_path) == before


@pytest.mark.long
def test_a_study_begun_on_one_machine_is_ended_on_a_cluster(client, reference, tmp_path):
    study(repetitions=1, estimators=["resub"]).run(tmp_path, n_jobs=1)
    assert numbers(study().run(tmp_path, client=client)).identical(reference)


@pytest.mark.long
def test_a_study_begun_on_a_cluster_is_ended_on_one_machine(client, reference, tmp_path):
    study(sample_sizes=[16], rules={"LDA": LDA}).run(tmp_path, client=client)
    before = parts(tmp_path)
    assert numbers(study().run(tmp_path, n_jobs=1)).identical(reference)
    assert before.items() <= parts(tmp_path).items()


@pytest.mark.long
def test_failures_and_warnings_on_a_cluster_are_those_of_one_process(client):
    made = study(rules={"LDA": LDA, "bad": Failing()})
    there, here = made.run(client=client), made.run(n_jobs=1)
    order = ["rule", "n", "estimator"]
    assert len(here.failures()) == 5
    assert (
        there.failures()
        .sort_values(order, ignore_index=True)
        .equals(here.failures().sort_values(order, ignore_index=True))
    )
    assert there.warnings().to_dict("records") == [
        {"rule": "bad", "message": "RuntimeWarning: this fit is doubtful", "tasks": 6}
    ]
    assert numbers(there).identical(numbers(here))


@pytest.mark.long
def test_a_task_on_a_worker_runs_with_one_thread_in_every_library(client):
    assert study(rules={"LDA": OneThread()}).run(client=client).failures().empty


@pytest.mark.long
def test_a_study_leaves_nothing_on_the_cluster(client):
    study(repetitions=1).run(client=client)
    assert is_idle(client)


@pytest.mark.long
def test_two_studies_on_a_cluster_do_not_mix(client, reference):
    """Tasks of both have the same rules, sizes and repetitions."""
    other = numbers(study(seed=2, repetitions=1).run(client=client))
    assert numbers(study().run(client=client)).identical(reference)
    assert other.identical(numbers(study(seed=2, repetitions=1).run(n_jobs=1)))


@pytest.mark.long
def test_an_interrupt_keeps_what_is_done_and_frees_the_cluster(client, tmp_path, monkeypatch):
    made = study(rules={"slow": Slow()}, estimators=["resub"], repetitions=5)
    write, written = bg.studies.store.RunFolder.write, []

    def interrupted(self, record):
        whole = write(self, record)
        written.append(record)
        if len(written) == 3:
            raise KeyboardInterrupt
        return whole

    monkeypatch.setattr(bg.studies.store.RunFolder, "write", interrupted)
    with pytest.raises(KeyboardInterrupt, match=r"stopped after 3 of 10 tasks; they are kept in .*; run again") as stop:
        made.run(tmp_path, client=client)
    monkeypatch.undo()
    assert isinstance(stop.value, bg.Interrupted)
    assert len(stop.value.partial.records) == len(parts(tmp_path)) == 3
    del stop
    assert is_idle(client)
    assert numbers(made.run(tmp_path, client=client)).identical(numbers(made.run(n_jobs=1)))


@pytest.mark.long
def test_a_full_disk_keeps_what_is_written_and_frees_the_cluster(client, tmp_path, monkeypatch):
    made = study(rules={"slow": Slow()}, estimators=["resub"])
    write, written = Path.write_text, []

    def full(self, text, *args, **kwargs):
        written.append(self)
        # The design and two parts.
        if len(written) > 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(self, text, *args, **kwargs)

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match=r"No space left on device.*run again to go on"):
        made.run(tmp_path, client=client)
    monkeypatch.undo()
    assert len(parts(tmp_path)) == 2
    assert is_idle(client)


@pytest.fixture
def crowded():
    """Return a client of a worker with two threads, which share this process as those of a worker process share it."""
    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as made,
    ):
        yield made


@pytest.mark.long
def test_workers_of_several_threads_give_the_same_numbers_with_a_warning(crowded, reference):
    with pytest.warns(UserWarning, match=r"1 of 1 workers have several threads.*threads_per_worker=1"):
        found = numbers(study().run(client=crowded))
    assert found.identical(reference)


@pytest.mark.long
def test_the_warning_of_several_threads_points_at_the_call_of_run(crowded):
    with pytest.warns(UserWarning, match="workers have several threads") as caught:
        study(repetitions=1).run(client=crowded)
    assert [one.filename for one in caught] == [__file__]


@pytest.mark.long
def test_a_client_that_is_closed_is_refused_before_any_work(crowded, tmp_path):
    crowded.close()
    with pytest.raises((RuntimeError, ValueError), match=r"[Cc]lient"):
        study().run(tmp_path / "run", client=crowded)
    assert not (tmp_path / "run").exists()


@pytest.mark.long
def test_n_jobs_and_a_client_together_are_refused(client, tmp_path):
    with pytest.raises(ValueError, match=r"give n_jobs or client, not both: a cluster has its own number of workers"):
        study().run(tmp_path / "run", client=client, n_jobs=2)
    assert not (tmp_path / "run").exists()


@pytest.mark.long
def test_a_cluster_that_stays_without_workers_is_a_clear_error(monkeypatch):
    monkeypatch.setattr(engines, "_MOST_WAITED", 0.5)
    monkeypatch.setattr(engines, "_LOOK_EVERY", 0.1)
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as nobody,
        pytest.raises(RuntimeError, match=r"no workers for 0.5 seconds.*wait_for_workers.*run again to go on"),
    ):
        study().run(client=nobody, progress=False)


@pytest.mark.long
def test_workers_that_come_later_are_waited_for(monkeypatch, reference):
    monkeypatch.setattr(engines, "_LOOK_EVERY", 0.1)
    with LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster, Client(cluster) as early:
        coming = threading.Timer(0.5, cluster.scale, args=[1])
        coming.start()
        found = study().run(client=early, progress=False)
        coming.join()
    assert numbers(found).identical(reference)
