"""The command group: global options, and errors and interrupts in one line."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from bayes_gresub.cli.console import printable

# Typer carries a copy of click of its own in some versions: the class is taken from an error that typer raises.
_CLICK_ERROR: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

_LONGEST_MESSAGE = 4000
"""Names in a file, which messages quote, may be of any length."""


class OneLineGroup(TyperGroup):
    """Commands whose errors are one line and exit code 2, unless --debug is given, which shows the traceback."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the global options."""
        try:
            return super().parse_args(ctx, args)
        except _CLICK_ERROR as error:
            _refuse(error)
            raise
        except BrokenPipeError as error:
            _stop_if_unread(error)
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except _CLICK_ERROR as error:
            _refuse(error)
            raise
        except KeyboardInterrupt as stop:
            # The message of the interrupted work may name what is kept.
            _say(str(stop) or "stopped.")
            raise typer.Exit(130) from stop
        except (typer.Exit, typer.Abort):
            raise
        except Exception as error:
            if isinstance(error, BrokenPipeError):
                _stop_if_unread(error)
            if ctx.params.get("debug"):
                raise
            expected = isinstance(error, ValueError | OSError)
            name = "" if expected else f"{type(error).__name__}: "
            remedy = "" if expected else " (bayes-gresub --debug ... shows where)"
            _say(f"Error: {name}{error}{remedy}")
            raise typer.Exit(2) from error


def _refuse(error: Any) -> None:
    """Raise for a wrong option in one line; if there is none at all, its help is shown instead."""
    if type(error).__name__ == "NoArgsIsHelpError":
        return
    _say(f"Error: {error.format_message()}")
    raise typer.Exit(2) from error


def _say(message: str) -> None:
    line = printable(" ".join(message.split()))
    try:
        typer.echo(line if len(line) <= _LONGEST_MESSAGE else f"{line[:_LONGEST_MESSAGE]}...", err=True)
    except OSError:
        # Nobody reads it; the exit code is still that of the error.
        _discard(sys.stderr)


def _stop_if_unread(error: BrokenPipeError) -> None:
    """End quietly if the reader of the output has stopped, as head does; pipes between processes break as well."""
    try:
        # Only writing shows whether it is this pipe; the end of a line does no harm if it is another.
        typer.echo()
    except BrokenPipeError:
        _discard(sys.stdout)
        # The code of a program that the signal of a broken pipe ended.
        raise typer.Exit(141) from error


def _discard(stream: Any) -> None:
    """Send what is left in a stream nowhere, since it is written once more at the end of the program."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


app = typer.Typer(
    cls=OneLineGroup,
    help="How wrong will a classifier be? Estimates from its training data, most without retraining it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from bayes_gresub import __version__

        typer.echo(f"bayes-gresub {__version__}")
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """How wrong will a classifier be? Estimates from its training data, most without retraining it."""
    import bayes_gresub.paper  # noqa: F401 - its estimators have names here too
