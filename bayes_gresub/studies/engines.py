"""Where tasks run: in this process, in others on this machine (joblib), or on a cluster (dask.distributed)."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs

from bayes_gresub.studies.tasks import Job, Record, Task, run_task

Wanted = tuple[Task, list[str]]
"""A task and the estimators that it lacks."""


def records(job: Job, wanted: Sequence[Wanted], n_jobs: int | None, client: Any) -> Iterator[Record]:
    """Return the records of the tasks wanted, as they are done, in any order."""
    if not wanted:
        return iter(())
    jobs = {rule: job.only(rule) for rule in job.rules}
    if client is not None:
        return _on_cluster(jobs, wanted, client)
    if effective_n_jobs(n_jobs) == 1:
        return (run_task(jobs[task.rule], task, names) for task, names in wanted)
    calls = (delayed(run_task)(jobs[task.rule], task, names) for task, names in wanted)
    found: Iterator[Record] = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(calls)
    return found


def check_client(client: Any) -> None:
    """Raise unless a client is one of dask.distributed that can be waited for."""
    if isinstance(client, type) or not (hasattr(client, "submit") and hasattr(client, "nthreads")):
        raise TypeError(f"client must be a distributed.Client; got {client!r}.")
    if client.asynchronous:
        raise ValueError("client must not be asynchronous; got one that is. Make it without asynchronous=True.")


def _on_cluster(jobs: dict[str, Job], wanted: Sequence[Wanted], client: Any) -> Iterator[Record]:
    workers = client.nthreads()
    if crowded := [name for name, threads in workers.items() if threads > 1]:
        warnings.warn(
            f"{len(crowded)} of {len(workers)} workers have several threads, but run one task at a time, so that all "
            "numbers stay the same. Start them with threads_per_worker=1 to use every core.",
            stacklevel=4,
        )
    tag = uuid.uuid4().hex[:8]
    # A task of its own, so that it is computed again where the worker that held it is lost.
    shared = {
        rule: client.submit(_same, job, key=f"job-{tag}-{number}") for number, (rule, job) in enumerate(jobs.items())
    }
    futures = [
        client.submit(run_task, shared[task.rule], task, names, key=f"task-{tag}-{number}", retries=2)
        for number, (task, names) in enumerate(wanted)
    ]
    lost: list[str] = []
    try:
        for future, result in _completed(futures):
            if future.status == "finished":
                yield result
            else:
                lost.append(_why(result))
            future.release()
    finally:
        client.cancel([*futures, *shared.values()])
    if lost:
        raise RuntimeError(
            f"{len(lost)} of {len(wanted)} tasks could not be done on the cluster; the first because of {lost[0]}. The "
            "others are kept: run again to try these once more."
        )


def _completed(futures: list[Any]) -> Iterator[tuple[Any, Any]]:
    from distributed import as_completed

    in_order: Any = as_completed
    found: Iterator[tuple[Any, Any]] = in_order(futures, with_results=True, raise_errors=False)
    return found


def _why(result: Any) -> str:
    error = result[1] if isinstance(result, tuple) and len(result) > 1 else result
    return f"{type(error).__name__}: {error}"


def _same(job: Job) -> Job:
    return job
