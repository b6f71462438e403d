"""Where tasks run: in this process, in others on this machine (joblib), or on a cluster (dask.distributed)."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Generator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from time import monotonic, sleep
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs
from joblib.externals.loky.process_executor import TerminatedWorkerError

from bayes_gresub.studies.tasks import Job, Record, Task, run_task

_AHEAD = 1000
"""Tasks that a cluster gets before the first is done: enough to keep many workers busy."""

_MOST_WAITED = 300.0
"""Seconds that a cluster may be without workers: they come back when they are started again, if ever."""

_LOOK_EVERY = 2.0

Wanted = tuple[Task, list[str]]
"""A task and the estimators that it lacks."""


def records(job: Job, wanted: Sequence[Wanted], n_jobs: int | None, client: Any) -> Generator[Record]:
    """Yield the records of the tasks wanted, as they are done, in any order."""
    if not wanted:
        return
    if client is not None:
        yield from _on_cluster(job, wanted, client)
    elif effective_n_jobs(n_jobs) == 1:
        for task, names in wanted:
            yield run_task(job, task, names)
    else:
        yield from _in_processes(job, wanted, n_jobs)


def _in_processes(job: Job, wanted: Sequence[Wanted], n_jobs: int | None) -> Generator[Record]:
    calls = (delayed(run_task)(job, task, names) for task, names in wanted)
    records = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(calls)
    try:
        for record in records:  # noqa: UP028 - joblib's own end must come in `finally`
            yield record
    except TerminatedWorkerError as error:
        raise RuntimeError(
            "a process that ran tasks has died: it was killed, ran out of memory, or a rule brought it down. Finished "
            "tasks are kept in the run folder, if there is one: run again to go on, with fewer n_jobs if memory is "
            "short."
        ) from error
    finally:
        with warnings.catch_warnings():
            # Joblib warns that tasks under way are given up, which is intended.
            warnings.simplefilter("ignore")
            records.close()


def check_client(client: Any) -> None:
    """Raise unless a client is one of dask.distributed that can be waited for."""
    if isinstance(client, type) or not (hasattr(client, "submit") and hasattr(client, "nthreads")):
        raise TypeError(f"client must be a distributed.Client; got {client!r}.")
    if getattr(client, "status", "running") != "running":
        raise ValueError(f"client must be connected to its cluster; this one is {client.status}. Make a new one.")
    if client.asynchronous:
        raise ValueError("client must not be asynchronous; got one that is. Make it without asynchronous=True.")


def _on_cluster(job: Job, wanted: Sequence[Wanted], client: Any) -> Generator[Record]:
    import cloudpickle

    workers = client.nthreads()
    if crowded := [name for name, threads in workers.items() if threads > 1]:
        warnings.warn(
            f"{len(crowded)} of {len(workers)} workers have several threads, but run one task at a time, so all "
            "numbers stay the same. Start them with threads_per_worker=1 to use every core.",
            stacklevel=4,
        )
    tag = uuid.uuid4().hex[:8]
    # Packed, since workers that cannot unpack an argument die without a message; rules apart, so a rule that workers
    # lack stops no other; and as tasks, so they are computed again if their worker is lost.
    shared = client.submit(_same, cloudpickle.dumps(replace(job, rules={})), key=f"job-{tag}")
    rules = {
        name: client.submit(_same, cloudpickle.dumps(rule), key=f"rule-{tag}-{number}")
        for number, (name, rule) in enumerate(job.rules.items())
    }
    left = (
        client.submit(_run_packed, shared, rules[task.rule], task, names, key=f"task-{tag}-{number}", retries=2)
        for number, (task, names) in enumerate(wanted)
    )
    lost: list[str] = []
    futures = list(islice(left, _AHEAD))
    completed = _completed(futures)
    try:
        for future, result in _as_done(completed, client):
            if future.status == "finished":
                yield result
            else:
                lost.append(_why(result))
            futures.remove(future)
            for following in islice(left, 1):
                futures.append(following)
                completed.add(following)
    finally:
        client.cancel([*futures, *rules.values(), shared])
    if lost:
        raise RuntimeError(
            f"{len(lost)} of {len(wanted)} tasks could not be done on the cluster; the first because of {lost[0]}. The "
            "others are kept: run again to try these once more."
        )


def _completed(futures: list[Any]) -> Any:
    from distributed import as_completed

    in_order: Any = as_completed
    return in_order(futures, with_results=True, raise_errors=False)


def _as_done(completed: Any, client: Any) -> Generator[tuple[Any, Any]]:
    """Yield futures and results as they are done; raise if no worker is left to do them."""
    looked = alive = monotonic()
    while not completed.is_empty():
        if completed.has_ready():
            yield next(completed)
            alive = monotonic()
        elif (now := monotonic()) - looked < _LOOK_EVERY:
            sleep(0.02)
        else:
            looked = now
            if client.nthreads():
                alive = now
            elif now - alive > _MOST_WAITED:
                raise RuntimeError(
                    f"the cluster has had no workers for {_MOST_WAITED:g} seconds: they were killed and not started "
                    "again, or have not come yet (client.wait_for_workers waits for them). What is done is kept in "
                    "the run folder, if there is one: run again to go on."
                )


def _why(result: Any) -> str:
    error = result[1] if isinstance(result, tuple) and len(result) > 1 else result
    return f"{type(error).__name__}: {error}"


def _same(packed: bytes) -> bytes:
    return packed


def _run_packed(job: bytes, rule: bytes, task: Task, names: list[str]) -> Record:
    whole: Job = replace(_unpacked(job), rules={task.rule: _unpacked(rule)})
    return run_task(whole, task, names)


@lru_cache(maxsize=8)
def _unpacked(packed: bytes) -> Any:
    import cloudpickle

    return cloudpickle.loads(packed)
