"""What the tests of the command line share: small tables, and a way to run it."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from bayes_gresub.cli import app


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def run():
    """Return a function that runs a command line and returns what it did."""
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])


def small_table(n=30):
    rng = np.random.default_rng(0)
    label = np.arange(n) % 2
    return pd.DataFrame(
        {"size": rng.normal(2 * label), "weight": rng.normal(size=n), "kind": np.array(["a", "b"])[label]}
    )


@pytest.fixture(scope="session")
def flowers_file(tmp_path_factory):
    """Return a CSV file of two numeric columns and two classes, for tests that do not change it."""
    path = tmp_path_factory.mktemp("data") / "flowers.csv"
    small_table().to_csv(path, index=False)
    return path


@pytest.fixture
def flowers(flowers_file):
    """Return a copy of it in the current folder."""
    return Path(shutil.copy(flowers_file, "flowers.csv"))


@pytest.fixture(scope="session")
def mixed_file(tmp_path_factory):
    """Return a CSV file with a text column, a missing number and a constant column."""
    data = small_table(40)
    data["colour"] = np.array(["red", "green", "blue"])[np.arange(40) % 3]
    data["same"] = 1
    data.loc[3, "weight"] = np.nan
    path = tmp_path_factory.mktemp("data") / "mixed.csv"
    data.to_csv(path, index=False)
    return path


@pytest.fixture
def mixed(mixed_file):
    """Return a copy of it in the current folder."""
    return Path(shutil.copy(mixed_file, "mixed.csv"))
