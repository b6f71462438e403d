"""The command line `bayes-gresub`: parsing and printing only. Nothing heavy is imported before a command runs."""

import io
import os
import sys

from bayes_gresub.cli.app import app
from bayes_gresub.cli.demo_command import demo
from bayes_gresub.cli.estimate_command import estimate
from bayes_gresub.cli.listing import list_names
from bayes_gresub.cli.study_command import study

app.command()(estimate)
app.command()(study)
app.command()(demo)
app.command("list")(list_names)


def main() -> None:
    """Run the command line."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            # Closed by the caller: the next file opened would otherwise get its number, and what is printed.
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - stays open till the end
        elif isinstance(stream, io.TextIOWrapper):
            # Labels may hold letters that the terminal lacks.
            stream.reconfigure(errors="backslashreplace")
    app()


__all__ = ["app", "main"]
