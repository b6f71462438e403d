"""The security page states what the code does, and bandit finds nothing that the page does not exempt."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import bayes_gresub as bg
from bayes_gresub.cli import model_files, table_files

ROOT = Path(bg.__file__).parents[1]
PAGE = (ROOT / ".github" / "SECURITY.md").read_text()


def test_readme_links_to_the_page():
    assert "(.github/SECURITY.md)" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("topic", ["What is loaded from where", "`--trust`", "Dask moves pickles", "How to report"])
def test_the_page_has_a_section_on(topic):
    assert re.search(f"^## .*{re.escape(topic)}", PAGE, re.MULTILINE)


@pytest.mark.parametrize(
    "size", [table_files.MOST_UNPACKED, model_files.MOST_UNPACKED, table_files.LONGEST_LINE], ids=str
)
def test_the_page_states_the_limits_of_the_code(size):
    assert f"at {size // 2**20:,} MB" in PAGE


@pytest.mark.parametrize("path", re.findall(r"`(bayes_gresub/[\w/]+\.py)`", PAGE))
def test_files_that_the_page_names_exist(path):
    assert (ROOT / path).is_file()


def test_every_exemption_of_bandit_has_its_reason():
    skipped = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["bandit"]["skips"]
    assert [code for code in skipped if f"| {code}, " not in PAGE] == []


def test_every_exemption_in_the_code_is_on_the_page():
    for path in (ROOT / "bayes_gresub").rglob("*.py"):
        for code in re.findall(r"# nosec (B\d+)", path.read_text()):
            reasons = [row for row in PAGE.splitlines() if code in row and path.name in row]
            assert reasons, f"{code} in {path.name}"


def test_lint_runs_bandit():
    assert "bandit" in (ROOT / "Makefile").read_text()


def test_bandit_finds_nothing():
    command = [sys.executable, "-m", "bandit", "-q", "-c", "pyproject.toml", "-r", "bayes_gresub"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (0, "")
