"""What README shows is run: Python by doctest, commands here, links and make targets looked up."""

import re
import shlex
from pathlib import Path

import matplotlib as mpl
import pytest
from sklearn.datasets import load_breast_cancer
from typer.testing import CliRunner

from bayes_gresub.cli import app

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"(?ms)^```(\w*)\n(.*?)^```", README)
COMMANDS = [
    line.removeprefix("$ ")
    for language, block in BLOCKS
    if language == "console"
    for line in block.replace("\\\n", " ").splitlines()
    if line.startswith("$ ")
]
PAGES = [ROOT / "README.md", ROOT / ".github/CONTRIBUTING.md", *sorted((ROOT / "benchmarks/results").rglob("*.md"))]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Be in a folder with the files that README's commands read."""
    mpl.use("Agg")
    frame = load_breast_cancer(as_frame=True).frame.iloc[:, [0, 1, 20, 30]].rename(columns={"target": "diagnosis"})
    frame[:80].to_csv(tmp_path / "patients.csv", index=False)
    frame[80:120].to_csv(tmp_path / "later_patients.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_python_block_is_run_as_a_doctest():
    assert [block for language, block in BLOCKS if language == "python" and ">>> " not in block] == []


def test_there_are_no_blocks_that_nothing_runs():
    assert {language for language, _ in BLOCKS} == {"python", "console"}


@pytest.mark.parametrize("command", COMMANDS)
def test_command_runs(command, folder):
    program, *arguments = shlex.split(command)
    assert program == "bayes-gresub"
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("target", sorted(set(re.findall(r"(?m)(?:^    |`)make (\w[\w-]*)", README))))
def test_make_target_exists(target):
    assert re.search(rf"(?m)^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files(page):
    links = re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert missing == []
