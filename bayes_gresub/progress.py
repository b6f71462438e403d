"""A progress bar for long work of our own, and whether there is a notebook to show it in; NUTS has its own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def ticking(total: int | None, what: str, shown: bool, unit: str) -> Iterator[Callable[[], None] | None]:
    """Yield a function to call after each of `total` steps, or None where nothing is to be shown."""
    if not shown:
        yield None
        return
    from tqdm.auto import tqdm

    with tqdm(total=total, desc=what, unit=unit) as bar:
        yield lambda: (bar.update(), None)[1]


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook; to have loaded what runs kernels is not enough."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")
