"""A terminal shows how far `estimate` has got, and Ctrl-C leaves the rows that are done."""

import os
import pty
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pandas as pd
import pytest

COMMAND = [sys.executable, "-c", "from bayes_gresub.cli import main; main()"]
LONG = ["--classifier", "forest", "--estimators", "resub,loo"]
"""An estimator that takes no time, and one that fits a forest to every part of hundreds of rows."""

SECONDS = 90
"""To wait for at most, on a busy machine."""


@pytest.fixture
def long_table(flowers):
    pd.concat([pd.read_csv(flowers)] * 15).to_csv("long.csv", index=False)
    return "long.csv"


def interrupted_on_a_terminal(arguments):
    """Run a command until its bar counts the first estimator, send Ctrl-C; return exit code, output and terminal."""
    parent, terminal = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "80"}
    process = subprocess.Popen(
        [*COMMAND, *arguments], stdin=terminal, stdout=subprocess.PIPE, stderr=terminal, env=environment
    )
    os.close(terminal)
    shown, started = b"", time.monotonic()
    while b"1 of 2 estimators" not in shown and time.monotonic() - started < SECONDS:
        shown += os.read(parent, 4096)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=SECONDS)
    os.set_blocking(parent, False)
    # Reading fails once the process has closed its end and nothing is left.
    with suppress(OSError):
        shown += os.read(parent, 65536)
    os.close(parent)
    return process.returncode, output.decode(), shown.decode()


def test_interrupt_on_a_terminal_prints_the_rows_that_are_done(long_table):
    code, output, shown = interrupted_on_a_terminal(["estimate", long_table, "--target", "kind", *LONG])
    assert code == 130
    assert [line.split()[0] for line in output.splitlines() if line.startswith(("resub", "loo"))] == ["resub"]
    assert "stopped after 1 of 2 rows" in shown
    assert "left" in shown


def test_no_bar_is_drawn_if_standard_error_is_no_terminal(run, flowers):
    result = run("estimate", flowers, "--target", "kind", "--classifier", "lda", "--estimators", "resub,cv")
    assert result.stderr == ""
