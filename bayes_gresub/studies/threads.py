"""One thread for a task: sums in parallel depend on the number of threads in their last digits."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from threadpoolctl import ThreadpoolController

Result = TypeVar("Result")

_ONE_AT_A_TIME = threading.Lock()
"""Numbers of threads and warning filters belong to the process, so its tasks take turns."""

_known: tuple[int, ThreadpoolController] | None = None


def on_one_thread(work: Callable[[], Result]) -> Result:
    """Return what `work` returns when BLAS, OpenMP and torch have one thread each.

    Work that was the first to load a library with threads is done again, since part of it was done on many.
    """
    with _ONE_AT_A_TIME:
        while True:
            before = _pools()
            with _limited():
                result = work()
            if _pools() == before:
                return result


@contextmanager
def _limited() -> Iterator[None]:
    torch = sys.modules.get("torch")
    threads = None if torch is None else torch.get_num_threads()
    try:
        if torch is not None:
            torch.set_num_threads(1)
        with _controller().limit(limits=1):
            yield
    finally:
        if torch is not None:
            torch.set_num_threads(threads)


def _pools() -> tuple[set[str], bool]:
    paths = {str(pool.filepath) for pool in _controller().lib_controllers}
    return paths, "torch" in sys.modules


def _controller() -> ThreadpoolController:
    """Return a controller of the libraries loaded; looking for them takes milliseconds, so only after new imports."""
    global _known
    if _known is None or _known[0] != len(sys.modules):
        _known = len(sys.modules), ThreadpoolController()
    return _known[1]
