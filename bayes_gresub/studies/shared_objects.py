"""An object in a file that several processes read: its large arrays are mapped, so there is one copy in memory."""

from __future__ import annotations

import mmap
import os
import pickle  # nosec B403
import sys
import tempfile
from functools import lru_cache
from types import TracebackType
from typing import Any

_LARGE = 2**20
"""Bytes from which an array is mapped; smaller ones are copied, and can be written to."""

_ALIGNED = 64
"""Arrays begin at multiples of this, as those in memory do."""


class SharedObject:
    """An object that other processes can load, while this is entered.

    Attributes
    ----------
    path : str
        To give to `load`.
    descriptors : tuple of int
        Those that a process must inherit to load it.
    """

    path: str
    descriptors: tuple[int, ...]

    def __init__(self, thing: Any) -> None:
        import cloudpickle

        large: list[pickle.PickleBuffer] = []

        def is_small(buffer: pickle.PickleBuffer) -> bool:
            if buffer.raw().nbytes >= _LARGE:
                large.append(buffer)
                return False
            return True

        packed = cloudpickle.dumps(thing, protocol=5, buffer_callback=is_small)
        head = pickle.dumps([len(packed), *(buffer.raw().nbytes for buffer in large)])
        self._file = _new_file()
        self._file.write(len(head).to_bytes(8, "big") + head)
        for part in (packed, *(buffer.raw() for buffer in large)):
            self._file.seek(-self._file.tell() % _ALIGNED, os.SEEK_CUR)
            self._file.write(part)
        self._file.flush()
        self.path, self.descriptors = str(self._file.name), ()
        if sys.platform != "win32":
            self.path, self.descriptors = f"/dev/fd/{self._file.fileno()}", (self._file.fileno(),)

    def __enter__(self) -> SharedObject:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        if sys.platform == "win32":
            os.unlink(self.path)


def _new_file() -> Any:
    if sys.platform == "win32":
        return tempfile.NamedTemporaryFile(delete=False)
    # A file without a name is gone when its last reader is, even if all are killed.
    return tempfile.TemporaryFile()


@lru_cache(maxsize=1)
def load(path: str) -> Any:
    """Return the object in a file; the same one when it is asked for again."""
    with open(path, "rb") as file:
        content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    start = 8 + int.from_bytes(content[:8], "big")
    parts = []
    for size in pickle.loads(content[8:start]):  # nosec B301
        start += -start % _ALIGNED
        parts.append(content[start : start + size])
        start += size
    return pickle.loads(parts[0], buffers=parts[1:])  # nosec B301
