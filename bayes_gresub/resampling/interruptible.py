"""Long work in parts: done in order or in parallel, with progress shown, and kept if it is interrupted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs

from bayes_gresub.progress import Progress

_SHOWN_AFTER = 2.0
"""Seconds of work before a progress bar appears."""


class Interrupted(KeyboardInterrupt):
    """Work was interrupted; `partial` is the result of the parts done so far, or None if they have none yet.

    It is computed when it is first read, so the interrupt itself takes no time.

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> stop = bg.Interrupted("stopped after 3 of 10 fits", lambda: 0.25)
    >>> stop.partial
    0.25
    """

    def __init__(self, message: str, partial: Callable[[], Any] | None = None) -> None:
        super().__init__(message)
        self._partial = partial

    @property
    def partial(self) -> Any:
        """Return the result of the parts done so far, or None."""
        return None if self._partial is None else self._partial()

    def __reduce__(self) -> tuple[Any, ...]:
        return _interrupted, (str(self), self.partial)


@dataclass(eq=False)
class Work:
    """A function to be called on each of some tasks, with the results so far.

    Attributes
    ----------
    function : callable
        Takes the number of a task and the task. It must not depend on other tasks, so that neither their order nor
        the process they run in matters.
    tasks : sequence
    name : str
        Name of the work, for the progress bar.
    in_parent : int
        How many of the first tasks run in this process, because they need something that is not sent to others.
    results : list
        Of the tasks done, in order.
    seconds : float
        Spent so far.
    unit : str
        Name of a task, singular, for the progress bar.
    """

    function: Callable[[int, Any], Any]
    tasks: Sequence[Any]
    name: str
    in_parent: int = 0
    results: list[Any] = field(default_factory=list)
    seconds: float = 0.0
    unit: str = "fit"

    @property
    def is_done(self) -> bool:
        """Return whether all tasks are done."""
        return len(self.results) == len(self.tasks)

    def run(self, n_jobs: int | None, progress: bool | None) -> None:
        """Do the tasks left; an interrupt keeps the results so far."""
        started, before = perf_counter(), self.seconds
        bar: Progress | None = None
        with ExitStack() as stack:
            if progress:
                bar = stack.enter_context(self._make_bar(progress))
            for result in self._stream(n_jobs):
                self.results.append(result)
                self.seconds = before + perf_counter() - started
                if bar is not None:
                    bar.update()
                elif progress is None and self.seconds - before > _SHOWN_AFTER:
                    bar = stack.enter_context(self._make_bar(progress))

    def _make_bar(self, progress: bool | None) -> Progress:
        return Progress(self.name, len(self.tasks), progress, unit=self.unit, done=len(self.results))

    def _stream(self, n_jobs: int | None) -> Iterator[Any]:
        first, last = len(self.results), len(self.tasks)
        alone = effective_n_jobs(n_jobs) == 1 or last - first == 1
        shared = last if alone else max(first, self.in_parent)
        yield from (self.function(number, self.tasks[number]) for number in range(first, shared))
        if shared < last:
            calls = (delayed(self.function)(number, self.tasks[number]) for number in range(shared, last))
            yield from Parallel(n_jobs=n_jobs, return_as="generator")(calls)


def _interrupted(message: str, partial: Any) -> Interrupted:
    return Interrupted(message, lambda: partial)
