"""One process at a time: a lock on a file that the system frees when its holder dies."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import sleep

_WITHOUT_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)
"""Errors of file systems that have no locks, such as some that clusters share."""

_RETRY = 0.02
"""Seconds between two attempts where waiting for a lock is not offered."""


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock of a file, which is made if it is not there and stays; wait until it is free.

    If the file system has no locks, warn and go on.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            _lock(descriptor)
        except OSError as error:
            if error.errno not in _WITHOUT_LOCKS:
                raise
            warnings.warn(
                f"the file system of {path.parent} must have locks, so that several runs can share the folder; it has "
                "none. Let one run end before another begins.",
                stacklevel=2,
            )
        yield
    finally:
        # Closing a file frees its lock.
        os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        while True:
            try:
                return msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            except OSError as error:
                if error.errno not in (errno.EACCES, errno.EDEADLK):
                    raise
                sleep(_RETRY)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
