"""The command line starts light, and names every estimator and classifier."""

import json
import subprocess
import sys

import pytest

import bayes_gresub as bg
from bayes_gresub.cli.named_rules import named_rules

HEAVY = {"sklearn", "scipy", "pandas", "torch", "matplotlib", "pymc", "arviz", "xarray", "joblib"}

RUN = """
import json, sys
from bayes_gresub.cli import app
try:
    app(sys.argv[1:])
except SystemExit as end:
    code = end.code
print("\\n" + json.dumps([code, sorted({name.split(".")[0] for name in sys.modules})]))
"""


@pytest.mark.parametrize(
    "arguments", [["--help"], ["list"], ["estimate", "--help"], ["study", "--help"], ["--version"]]
)
def test_nothing_heavy_is_imported_to_tell_about_itself(arguments):
    result = subprocess.run([sys.executable, "-c", RUN, *arguments], capture_output=True, text=True, check=True)
    code, modules = json.loads(result.stdout.splitlines()[-1])
    assert (code, HEAVY & set(modules)) == (0, set())


def first_words(output):
    return [line.split()[0] for line in output.splitlines() if line.split()]


def test_list_names_every_estimator(run):
    assert {entry.name for entry in bg.estimators()} <= set(first_words(run("list").output))


def test_list_names_every_classifier(run):
    assert {rule.name for rule in named_rules()} <= set(first_words(run("list", "--classifiers").output))


def test_list_fits_in_80_columns(run):
    assert max(len(line) for line in run("list").output.splitlines()) <= 80


def test_version_is_that_of_the_package(run):
    assert run("--version").output == f"bayes-gresub {bg.__version__}\n"


def test_no_command_shows_the_help(run):
    assert "estimate" in run().output
