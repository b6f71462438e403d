"""One BLAS thread for loops over small matrix products. Tasks of studies are limited in studies/threads.py."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from threadpoolctl import ThreadpoolController

_LIMITING = Lock()
"""Held by the block that limits the process."""


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread inside a with block.

    Threads that wait for each other after every small product cost more than they save, and on a busy machine many
    times more. The number of threads belongs to the process: of blocks that run at the same time one sets and restores
    it, so that none takes the limit of another for the number to restore.

    Examples
    --------
    >>> import numpy as np
    >>> with one_blas_thread():
    ...     float((np.ones((2, 3)) @ np.ones((3, 2))).sum())
    12.0
    """
    if not _LIMITING.acquire(blocking=False):
        yield
        return
    try:
        with ThreadpoolController().limit(limits=1, user_api="blas"):
            yield
    finally:
        _LIMITING.release()
