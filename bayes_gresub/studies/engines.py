"""Where tasks run: in this process, in others on this machine (joblib), or on a cluster (dask.distributed)."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs

from bayes_gresub.studies.tasks import Job, Record, Task, run_task

_AHEAD = 1000
"""Tasks that a cluster is handed before the first is done: enough to keep many workers busy."""

Wanted = tuple[Task, list[str]]
"""A task and the estimators that it lacks."""


def records(job: Job, wanted: Sequence[Wanted], n_jobs: int | None, client: Any) -> Iterator[Record]:
    """Return the records of the tasks wanted, as they are done, in any order."""
    if not wanted:
        return iter(())
    if client is not None:
        return _on_cluster(job, wanted, client)
    if effective_n_jobs(n_jobs) == 1:
        return (run_task(job, task, names) for task, names in wanted)
    calls = (delayed(run_task)(job, task, names) for task, names in wanted)
    found: Iterator[Record] = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(calls)
    return found


def check_client(client: Any) -> None:
    """Raise unless a client is one of dask.distributed that can be waited for."""
    if isinstance(client, type) or not (hasattr(client, "submit") and hasattr(client, "nthreads")):
        raise TypeError(f"client must be a distributed.Client; got {client!r}.")
    if client.asynchronous:
        raise ValueError("client must not be asynchronous; got one that is. Make it without asynchronous=True.")


def _on_cluster(job: Job, wanted: Sequence[Wanted], client: Any) -> Iterator[Record]:
    workers = client.nthreads()
    if crowded := [name for name, threads in workers.items() if threads > 1]:
        warnings.warn(
            f"{len(crowded)} of {len(workers)} workers have several threads, but run one task at a time, so that all "
            "numbers stay the same. Start them with threads_per_worker=1 to use every core.",
            stacklevel=4,
        )
    tag = uuid.uuid4().hex[:8]
    # A task of its own, so that it is computed again where the worker that held it is lost.
    shared = client.submit(_same, job, key=f"job-{tag}")
    left = (
        client.submit(run_task, shared, task, names, key=f"task-{tag}-{number}", retries=2)
        for number, (task, names) in enumerate(wanted)
    )
    lost: list[str] = []
    futures = list(islice(left, _AHEAD))
    completed = _completed(futures)
    try:
        for future, result in completed:
            if future.status == "finished":
                yield result
            else:
                lost.append(_why(result))
            futures.remove(future)
            for following in islice(left, 1):
                futures.append(following)
                completed.add(following)
    finally:
        client.cancel([*futures, shared])
    if lost:
        raise RuntimeError(
            f"{len(lost)} of {len(wanted)} tasks could not be done on the cluster; the first because of {lost[0]}. The "
            "others are kept: run again to try these once more."
        )


def _completed(futures: list[Any]) -> Any:
    from distributed import as_completed

    in_order: Any = as_completed
    return in_order(futures, with_results=True, raise_errors=False)


def _why(result: Any) -> str:
    error = result[1] if isinstance(result, tuple) and len(result) > 1 else result
    return f"{type(error).__name__}: {error}"


def _same(job: Job) -> Job:
    return job
