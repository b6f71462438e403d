"""A progress bar for samplers of our own; NUTS has its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def ticking(total: int, what: str, shown: bool) -> Iterator[Callable[[], None] | None]:
    """Yield a function to call after each of `total` steps, or None where nothing is to be shown."""
    if not shown:
        yield None
        return
    from tqdm.auto import tqdm

    with tqdm(total=total, desc=what, unit="sweep") as bar:
        yield lambda: (bar.update(), None)[1]
