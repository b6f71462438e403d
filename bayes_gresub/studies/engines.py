"""Where tasks run: in this process, in others on this machine, or on a cluster (dask.distributed)."""

from __future__ import annotations

import queue
import signal
import threading
import uuid
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from numbers import Real
from time import monotonic, perf_counter, sleep
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import BACKENDS, get_active_backend

from bayes_gresub.studies.shared_objects import SharedObject, load
from bayes_gresub.studies.tasks import Job, Record, Task, run_task, stopped_record
from bayes_gresub.studies.worker_processes import Worker, WorkerDied, WorkerTimeout

_AHEAD = 1000
"""Tasks that a cluster gets before the first is done: enough to keep many workers busy."""

_MOST_WAITED = 300.0
"""Seconds that a cluster may be without workers: they come back when they are started again, if ever."""

_LOOK_EVERY = 2.0

_MOST_DEATHS = 3
"""Deaths of its process after which a task is given up: the first ones may be the fault of others, such as a lack of
memory."""

_IDLE = 60.0
"""Seconds that the process of a worker of a cluster waits for the next task."""

_BESIDE = threading.local()
"""On a worker of a cluster the process beside each of its threads, there the job that all its tasks need."""

Wanted = tuple[Task, list[str]]
"""A task and the estimators that it lacks."""


def records(
    job: Job, wanted: Sequence[Wanted], n_jobs: int | None, client: Any, timeout: float | None
) -> Generator[Record]:
    """Yield the records of the tasks wanted, as they are done, in any order."""
    if not wanted:
        return
    n_workers = effective_n_jobs(n_jobs)
    if client is not None:
        yield from _on_cluster(job, wanted, client, timeout)
    elif n_workers == 1 and timeout is None:
        for task, names in wanted:
            yield run_task(job, task, names)
    elif n_workers == 1 or uses_processes():
        yield from _in_processes(job, wanted, n_workers, timeout)
    else:
        yield from _by_joblib(job, wanted, n_jobs)


def uses_processes() -> bool:
    """Return whether joblib would start processes, as it does unless the user has chosen otherwise."""
    return isinstance(get_active_backend()[0], BACKENDS["loky"])


def _by_joblib(job: Job, wanted: Sequence[Wanted], n_jobs: int | None) -> Generator[Record]:
    calls = (delayed(run_task)(job, task, names) for task, names in wanted)
    records = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(calls)
    try:
        for record in records:  # noqa: UP028 - joblib's own end must come in `finally`
            yield record
    finally:
        with warnings.catch_warnings():
            # Joblib warns that tasks under way are given up, which is intended.
            warnings.simplefilter("ignore")
            records.close()


def _in_processes(job: Job, wanted: Sequence[Wanted], n_workers: int, timeout: float | None) -> Generator[Record]:
    """Run tasks in processes of our own: each does one task at a time, so its death costs that task only."""
    done: queue.SimpleQueue[Record | BaseException] = queue.SimpleQueue()
    with SharedObject(job) as shared:
        left = iter(wanted)
        taking = threading.Lock()

        def attend(worker: Worker) -> None:
            try:
                while True:
                    with taking:
                        following = next(left, None)
                    if following is None:
                        return
                    done.put(_guarded(worker, following, timeout, _run_shared, shared.path))
            except BaseException as error:  # raised in the thread that waits
                done.put(error)

        # In new processes the job is loaded before the time of a task begins.
        workers = [
            Worker((_load_shared, (shared.path,)), shared.descriptors) for _ in range(min(n_workers, len(wanted)))
        ]
        threads = [threading.Thread(target=attend, args=(worker,), daemon=True) for worker in workers]
        try:
            for thread in threads:
                thread.start()
            for _ in wanted:
                outcome = _next(done)
                if isinstance(outcome, BaseException):
                    raise outcome
                yield outcome
        finally:
            with taking:
                left = iter(())
            for worker in workers:
                worker.stop()
            for worker, thread in zip(workers, threads, strict=True):
                thread.join()
                worker.close()


def _next(done: queue.SimpleQueue[Any]) -> Any:
    while True:
        try:
            # Windows cannot interrupt a wait without end.
            return done.get(timeout=1.0)
        except queue.Empty:
            continue


def _guarded(
    worker: Worker, wanted: Wanted, timeout: float | None, function: Callable[..., Record], *arguments: Any
) -> Record:
    """Return the record of a task that a worker runs; one with the reason if it takes too long or kills processes."""
    started = perf_counter()
    task, names = wanted
    code = 0
    for _ in range(_MOST_DEATHS):
        try:
            record: Record = worker.call(function, *arguments, task, names, timeout=timeout)
            return record
        except WorkerTimeout:
            message = (
                f"a task must end within timeout={timeout:g} seconds; this one did not, and was stopped. Raise "
                "timeout, and run again with retry_failed=True."
            )
            return stopped_record(task, names, message, perf_counter() - started)
        except WorkerDied as death:
            code = death.code
    message = (
        f"a task must leave its process alive; {_MOST_DEATHS} processes ended in this one, the last {_ended(code)}: "
        "the rule or an estimator brought them down, or memory ran out. If it is short, run again with fewer n_jobs "
        "and retry_failed=True."
    )
    return stopped_record(task, names, message, perf_counter() - started)


def _ended(code: int) -> str:
    known = {-number.value: number.name for number in signal.Signals}
    return f"by {known[code]}" if code in known else f"with code {code}"


def _load_shared(path: str) -> None:
    try:
        load(path)
    except Exception as error:
        raise RuntimeError(
            f"other processes must be able to load the study; they cannot ({type(error).__name__}: {error}). Define "
            "its classes and functions in a module that can be imported, or use n_jobs=1."
        ) from error


def _run_shared(path: str, task: Task, names: list[str]) -> Record:
    return run_task(load(path), task, names)


def check_timeout(timeout: Any, n_jobs: int | None, client: Any) -> float | None:
    """Return the seconds that a task may take; raise unless tasks run where they can be stopped."""
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, Real) or not 0 < float(timeout) < float("inf"):
        raise ValueError(f"timeout must be a positive number of seconds, or None; got {timeout!r}.")
    if client is None and effective_n_jobs(n_jobs) > 1 and not uses_processes():
        raise ValueError(
            "timeout must be None if joblib runs tasks in another way than in its usual processes, since they cannot "
            f"be stopped there; got {timeout!r}. Leave out joblib's parallel_config, or timeout."
        )
    return float(timeout)


def check_client(client: Any) -> None:
    """Raise unless a client is one of dask.distributed that can be waited for."""
    if isinstance(client, type) or not (hasattr(client, "submit") and hasattr(client, "nthreads")):
        raise TypeError(f"client must be a distributed.Client; got {client!r}.")
    if getattr(client, "status", "running") != "running":
        raise ValueError(f"client must be connected to its cluster; this one is {client.status}. Make a new one.")
    if client.asynchronous:
        raise ValueError("client must not be asynchronous; got one that is. Make it without asynchronous=True.")


def _on_cluster(job: Job, wanted: Sequence[Wanted], client: Any, timeout: float | None) -> Generator[Record]:
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

    def submitted(some: Sequence[Wanted], run: Callable[..., Record], *settings: Any) -> Iterator[tuple[Any, Wanted]]:
        for number, (task, names) in enumerate(some):
            key = f"task-{tag}-{run.__name__}-{number}"
            arguments = (shared, rules[task.rule], task, names, *settings)
            yield client.submit(run, *arguments, key=key, retries=2), (task, names)

    killed: list[Wanted] = []
    lost: list[str] = []
    try:
        if timeout is None:
            yield from _stream(submitted(wanted, _run_packed), client, killed, lost)
        else:
            killed += wanted
        # Each in a process of its own beside the worker, which lives on if the task kills it.
        yield from _stream(submitted(killed, _run_apart, timeout), client, None, lost)
    finally:
        client.cancel([*rules.values(), shared])
    if lost:
        raise RuntimeError(
            f"{len(lost)} of {len(wanted)} tasks could not be done on the cluster; the first because of {lost[0]}. The "
            "others are kept: run again to try these once more."
        )


def _stream(
    left: Iterator[tuple[Any, Wanted]], client: Any, killed: list[Wanted] | None, lost: list[str]
) -> Generator[Record]:
    """Yield records as they are done; note the tasks whose workers died, and the errors of others that are lost."""
    waiting = dict(islice(left, _AHEAD))
    if not waiting:
        return
    completed = _completed(list(waiting))
    try:
        for future, result in _as_done(completed, client):
            task = waiting.pop(future)
            if future.status == "finished":
                yield result
            elif killed is not None and _was_killed(result):
                killed.append(task)
            else:
                lost.append(_why(result))
            for following in islice(left, 1):
                waiting.update([following])
                completed.add(following[0])
    finally:
        client.cancel(list(waiting))


def _was_killed(result: Any) -> bool:
    from distributed import KilledWorker

    error = result[1] if isinstance(result, tuple) and len(result) > 1 else result
    return isinstance(error, KilledWorker)


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


def _run_apart(job: bytes, rule: bytes, task: Task, names: list[str], timeout: float | None) -> Record:
    """Run a task in a process beside the worker of a cluster."""
    kept: tuple[bytes, Worker] | None = getattr(_BESIDE, "kept", None)
    if kept is None or kept[0] != job:
        if kept is not None:
            kept[1].close()
        kept = _BESIDE.kept = job, Worker((_keep, (job,)), idle=_IDLE)
    return _guarded(kept[1], (task, names), timeout, _run_kept, rule)


def _keep(job: bytes) -> None:
    _BESIDE.job = job


def _run_kept(rule: bytes, task: Task, names: list[str]) -> Record:
    return _run_packed(_BESIDE.job, rule, task, names)


@lru_cache(maxsize=8)
def _unpacked(packed: bytes) -> Any:
    import cloudpickle

    return cloudpickle.loads(packed)
