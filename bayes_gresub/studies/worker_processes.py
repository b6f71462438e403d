"""A process that does calls, one at a time: it can be stopped, its death is noticed, and it ends with its parent.

Here is how a process is started, called and stopped; what it is called for is elsewhere.
"""

from __future__ import annotations

import os
import pickle  # nosec B403
import queue
import signal
import subprocess  # nosec B404
import sys
import threading
from collections.abc import Callable
from multiprocessing.spawn import get_executable
from typing import Any, BinaryIO, NoReturn

_SIZE = 8
"""Bytes that hold the length of a message."""

_MOST_STARTS = 3
"""Attempts to start a process: memory may be short for a moment."""

_START = """
import runpy, sys
sys.path[:] = {path!r}
runpy.run_path({file!r})["serve"]({idle!r})
"""
"""This file alone, since importing the package takes seconds: a process whose parent dies meanwhile ends at once."""


class WorkerDied(Exception):
    """The process of a call ended before the call did.

    Attributes
    ----------
    code : int
        That the process ended with; negative for the signal that killed it.
    """

    def __init__(self, code: int) -> None:
        super().__init__(f"the process ended with code {code}")
        self.code = code


class WorkerTimeout(Exception):
    """A call took longer than it was given, and its process was stopped."""


class Worker:
    """A process that does calls; it is started when it is first needed, and again after its end.

    Parameters
    ----------
    first : tuple of a function and its arguments, optional
        A call to do first in every new process, in its own time.
    shared : tuple of int, default ()
        Descriptors of files that the process may read, where the system has these.
    idle : float, optional
        Seconds without a call after which the process ends; by default it waits as long as this one lives.
    """

    def __init__(
        self,
        first: tuple[Callable[..., Any], tuple[Any, ...]] | None = None,
        shared: tuple[int, ...] = (),
        idle: float | None = None,
    ) -> None:
        self.first, self.shared, self.idle = first, shared, idle
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._closed = False

    def call(self, function: Callable[..., Any], *arguments: Any, timeout: float | None = None) -> Any:
        """Return what a function returns there, or raise what it raises.

        Raises
        ------
        WorkerDied
            If the process ends meanwhile.
        WorkerTimeout
            If it takes more than `timeout` seconds.
        """
        process = self._started()
        stopped = threading.Event()

        def stop() -> None:
            stopped.set()
            _kill(process)

        timer = None if timeout is None else threading.Timer(timeout, stop)
        if timer is not None:
            timer.daemon = True
            timer.start()
        try:
            return self._answer(process, function, arguments)
        except WorkerDied as error:
            if stopped.is_set():
                raise WorkerTimeout(f"the call took more than {timeout:g} seconds") from error
            raise
        finally:
            if timer is not None:
                timer.cancel()
                timer.join()
                if stopped.is_set():
                    # It was done just in time, but its process is no more.
                    self._forget(process)

    def stop(self) -> None:
        """Stop the process, whatever it does, and start none again; a call under way in another thread raises."""
        with self._lock:
            self._closed = True
            process = self._process
        if process is not None:
            _kill(process)

    def close(self) -> None:
        """Stop the process and free what belongs to it; no call may be under way."""
        self.stop()
        if self._process is not None:
            self._forget(self._process)

    def _started(self) -> subprocess.Popen[bytes]:
        for attempt in range(_MOST_STARTS):
            with self._lock:
                if self._closed:
                    raise WorkerDied(0)
                if self._process is not None:
                    if self._process.poll() is None:
                        return self._process
                    self._forget(self._process)
                self._process = process = self._popen()
            try:
                if self.first is not None:
                    self._answer(process, self.first[0], self.first[1])
                return process
            except WorkerDied as error:
                if attempt == _MOST_STARTS - 1 and not self._closed:
                    raise RuntimeError(
                        f"processes for tasks must be able to start; one ended with code {error.code} before its first "
                        "task, more than once. Its messages are on standard error. Lower n_jobs if memory is short, or "
                        "use n_jobs=1."
                    ) from error
        raise WorkerDied(0)

    def _popen(self) -> subprocess.Popen[bytes]:
        flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        # A group of its own: Ctrl-C is for the parent alone, and the processes that it starts are stopped with it.
        apart: dict[str, Any] = {"process_group": 0, "pass_fds": self.shared}
        if sys.platform == "win32":
            apart = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
        start = _START.format(path=sys.path, file=__file__, idle=self.idle)
        return subprocess.Popen(  # nosec B603
            [os.fsdecode(get_executable()), *flags, "-c", start],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            **apart,
        )

    def _answer(self, process: subprocess.Popen[bytes], function: Callable[..., Any], arguments: Any) -> Any:
        import cloudpickle

        assert process.stdin is not None
        assert process.stdout is not None
        message = cloudpickle.dumps((function, arguments))
        try:
            _send(process.stdin, message)
            answer = _receive(process.stdout)
        except OSError:
            answer = None
        if answer is None:
            code = self._forget(process)
            raise WorkerDied(code)
        is_result, content = pickle.loads(answer)  # nosec B301
        if is_result:
            return content
        if function is (self.first or [None])[0]:
            # Without its first call it is of no use to later ones.
            self._forget(process)
        raise content

    def _forget(self, process: subprocess.Popen[bytes]) -> int:
        """Return the code that a process ended with."""
        _kill(process)
        code = process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    # What could not be sent is of no interest any more.
                    continue
        return code


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and those that it has started."""
    if sys.platform == "win32":
        process.kill()
        return
    try:
        # While it has not been waited for, its number is not given to another group.
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _send(pipe: BinaryIO | Any, message: bytes) -> None:
    pipe.write(len(message).to_bytes(_SIZE, "big") + message)
    pipe.flush()


def _receive(pipe: BinaryIO | Any) -> bytes | None:
    """Return the next message, or None at the end."""
    head = pipe.read(_SIZE)
    if len(head) < _SIZE:
        return None
    size = int.from_bytes(head, "big")
    message: bytes = pipe.read(size)
    return message if len(message) == size else None


def serve(idle: float | None = None) -> NoReturn:
    """Do the calls that the parent sends, until it ends or there are none for a while."""
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What a rule prints must not get among the answers, nor may it read the calls.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    calls: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(incoming, calls), daemon=True).start()
    while True:
        try:
            message = calls.get(timeout=idle)
        except (queue.Empty, KeyboardInterrupt):
            os._exit(0)
        try:
            _send(outgoing, _done(message))
        except OSError:
            os._exit(0)


def _listen(incoming: BinaryIO, calls: queue.SimpleQueue[bytes]) -> None:
    while (message := _receive(incoming)) is not None:
        calls.put(message)
    # The parent is gone: a call under way has nobody to answer to, nor have the processes that it has started.
    if sys.platform != "win32" and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def _done(message: bytes) -> bytes:
    import cloudpickle

    try:
        function, arguments = pickle.loads(message)  # nosec B301
        return bytes(cloudpickle.dumps((True, function(*arguments))))
    except BaseException as error:
        try:
            packed: bytes = cloudpickle.dumps((False, error))
            pickle.loads(packed)  # nosec B301
        except Exception:
            packed = pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))
        return packed
