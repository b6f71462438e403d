"""Interrupts during a task: they end it, though the libraries that it calls catch KeyboardInterrupt.

PyMC, nutpie, our Gibbs sampler and scikit-learn's networks return what they have so far after Ctrl-C. In a study such a
number must not pass for one that is done.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

Result = TypeVar("Result")


class _Stop(BaseException):
    """Ends a task; no KeyboardInterrupt, so code that catches only those lets it pass."""


def ended_by_interrupts(work: Callable[[], Result]) -> Result:
    """Return what `work` returns, or raise if SIGINT came meanwhile, even if `work` went on.

    Only the main thread of a process is interrupted by signals; in others this changes nothing. A handler that the user
    has set is called, and if it raises nothing, the work goes on.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler):
        # Ignored, as in a process that a shell has started in the background.
        return work()
    raised: list[BaseException] = []
    under_way = False

    def stop(number: int, frame: FrameType | None) -> None:
        try:
            handler(number, frame)
        except BaseException as error:
            raised.append(error)
            if under_way:
                raise _Stop from error

    signal.signal(signal.SIGINT, stop)
    try:
        try:
            under_way = True
            result = work()
        finally:
            under_way = False
    except BaseException:
        if not raised:
            raise
    finally:
        signal.signal(signal.SIGINT, handler)
    if raised:
        raise raised[0]
    return result
