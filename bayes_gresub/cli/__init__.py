"""The command line `bayes-gresub`: parsing and printing only. Nothing heavy is imported before a command runs."""

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
    app()


__all__ = ["app", "main"]
