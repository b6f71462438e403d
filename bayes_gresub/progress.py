"""Progress of long work: whether, when and where it is shown. NUTS shows its own.

All long work shows a bar if there is a terminal or a notebook to draw in. Elsewhere it shows nothing, or prints a line
every half minute if the user sets progress=True.
"""

from __future__ import annotations

import importlib
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from threading import Lock
from time import monotonic
from types import TracebackType
from typing import Any, TextIO

_EVERY = 30.0
"""Seconds between lines if there is no terminal to draw on."""

_REDRAWN = 0.5
"""Seconds between two drawings."""

_BAR = 24
"""Columns of a bar; its line fits into the remaining columns of 80."""

_WIDTH = 100
"""Columns of a drawing in a notebook."""


class Progress:
    """Shows how far some work has got, inside a with block.

    Parameters
    ----------
    name : str
        Name of the work, or "".
    total : int or None
        Number of steps; None if it is unknown.
    progress : bool or None
        None shows a bar in terminals and notebooks only. If there is neither, True prints a line now and then.
    unit : str
        Name of a step, singular.
    done : int, default 0
        Steps done earlier.
    below : callable, optional
        Returns what to draw below the bar, anything that Rich can render.
    file : text file, optional
        Standard error by default.
    """

    def __init__(
        self,
        name: str,
        total: int | None,
        progress: bool | None,
        *,
        unit: str,
        done: int = 0,
        below: Callable[[], Any] | None = None,
        file: TextIO | None = None,
    ) -> None:
        self.name, self.total, self.unit = name, total, unit
        self.done, self.begun = done, done
        self.below, self.file = below, file
        can_draw = in_terminal(file) or in_notebook()
        self.draws = can_draw and progress is not False
        self.prints = not can_draw and bool(progress)
        self.started = self.printed = monotonic()
        self.screen: _Screen | None = None

    def __enter__(self) -> Progress:
        self._draw()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.screen is not None:
            self.screen.remove(self)
        elif self.prints and self.done > self.begun:
            self._print()

    def update(self) -> None:
        """Count a step that has just been done."""
        self.done += 1
        self._draw()
        if self.prints and monotonic() - self.printed > _EVERY:
            self.printed = monotonic()
            self._print()

    def line(self) -> str:
        """Return the steps done and the time left, in words."""
        steps = f"{self.done} {self.unit}s" if self.total is None else f"{self.done} of {self.total} {self.unit}s"
        time_left = self._time_left()
        return (f"{self.name}: " if self.name else "") + steps + (f", {time_left}" if time_left else "")

    def rendered(self) -> Any:
        """Return the bar, its line and what is drawn below them, for Rich."""
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        head = Table.grid(padding=(0, 1))
        head.add_row(ProgressBar(total=self.total, completed=self.done, width=_BAR), Text(self.line()))
        return head if self.below is None else Group(head, self.below())

    def _draw(self) -> None:
        if not self.draws:
            return
        if self.screen is not None:
            self.screen.refresh()
        else:
            self.screen = _screen_of(self.file)
            self.screen.add(self)

    def _print(self) -> None:
        print(self.line(), file=sys.stderr if self.file is None else self.file, flush=True)

    def _time_left(self) -> str:
        steps = self.done - self.begun
        if self.total is None:
            return ""
        if self.done >= self.total:
            return "done"
        if not steps:
            return "time left not known yet"
        remaining = (monotonic() - self.started) / steps * (self.total - self.done)
        minutes, seconds = divmod(round(remaining), 60)
        return f"{minutes // 60} h {minutes % 60} min left" if minutes >= 60 else f"{minutes} min {seconds:02d} s left"


@contextmanager
def ticking(total: int | None, name: str, progress: bool, unit: str) -> Iterator[Callable[[], None] | None]:
    """Yield a function to call after each of `total` steps, or None if no progress is wanted."""
    if not progress:
        yield None
        return
    with Progress(name, total, progress, unit=unit) as bar:
        yield bar.update


def in_terminal(file: TextIO | None = None) -> bool:
    """Return whether a file, standard error by default, is a terminal that can redraw lines."""
    stream = sys.stderr if file is None else file
    # While Rich draws, it replaces standard error by a file that claims to be no terminal.
    stream = getattr(stream, "rich_proxied_file", stream)
    can_redraw = os.environ.get("TERM", "").lower() not in ("dumb", "unknown")
    return can_redraw and stream is not None and stream.isatty()


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook; IPython being loaded is not enough."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


class _Screen(ABC):
    """A place where bars are drawn, one below the other: work can be nested, or run in several threads."""

    def __init__(self) -> None:
        self.bars: list[Progress] = []
        self.lock = Lock()

    def add(self, bar: Progress) -> None:
        with self.lock:
            self.bars.append(bar)
            if len(self.bars) == 1:
                self.open()
        self.refresh()

    def remove(self, bar: Progress) -> None:
        with self.lock:
            self.bars.remove(bar)
            if not self.bars:
                self.close()

    def rendered(self) -> Any:
        from rich.console import Group

        return Group(*(bar.rendered() for bar in list(self.bars)))

    @abstractmethod
    def open(self) -> None: ...

    @abstractmethod
    def refresh(self) -> None: ...

    @abstractmethod
    def close(self) -> None: ...


class _Terminal(_Screen):
    """Bars below what is printed meanwhile, redrawn by a thread and removed at the end."""

    def __init__(self, file: TextIO | None) -> None:
        super().__init__()
        self.file = file
        self.live: Any = None

    def open(self) -> None:
        from rich.console import Console
        from rich.live import Live

        destination: dict[str, Any] = {"stderr": True} if self.file is None else {"file": self.file}
        self.live = Live(
            console=Console(**destination, force_terminal=True, force_interactive=True, force_jupyter=False),
            get_renderable=self.rendered,
            refresh_per_second=1 / _REDRAWN,
            transient=True,
            # Rich would redirect standard output to standard error, even if standard output is a pipe.
            redirect_stdout=in_terminal(sys.stdout),
        )
        self.live.start(refresh=True)

    def refresh(self) -> None:
        """Do nothing: a thread redraws."""

    def close(self) -> None:
        self.live.stop()


class _Notebook(_Screen):
    """Bars as text in an output of the cell; Rich itself would need ipywidgets."""

    def __init__(self) -> None:
        super().__init__()
        self.handle: Any = None
        self.drawn = 0.0

    def open(self) -> None:
        display: Any = importlib.import_module("IPython.display").display
        self.handle, self.drawn = display(_as_text(""), raw=True, display_id=True), 0.0

    def refresh(self) -> None:
        if monotonic() - self.drawn < _REDRAWN:
            return
        from rich.console import Console

        self.drawn = monotonic()
        text = StringIO()
        Console(file=text, width=_WIDTH, force_terminal=False, force_jupyter=False).print(self.rendered())
        self.handle.update(_as_text(text.getvalue()), raw=True)

    def close(self) -> None:
        self.handle.update(_as_text(""), raw=True)


_STANDARD_ERROR = _Terminal(None)
_CELL = _Notebook()


def _screen_of(file: TextIO | None) -> _Screen:
    if in_notebook():
        return _CELL
    return _STANDARD_ERROR if file is None else _Terminal(file)


def _as_text(text: str) -> dict[str, str]:
    return {"text/plain": text}
