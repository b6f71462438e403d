"""Notebooks run from the first cell to the last, and are kept with the outputs that their prose speaks of."""

import importlib.util
import re
from pathlib import Path

import nbformat
import pytest

FOLDER = Path(__file__).parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
QUESTIONS = ("01", "02", "03", "04", "05", "06", "07")

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def runner():
    spec = importlib.util.spec_from_file_location("run_notebooks", FOLDER / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]


def outputs(notebook):
    return [output for cell in code_cells(notebook) for output in cell.outputs]


def text_of(output):
    """Return what an output shows as text; pictures have none."""
    data = output.get("data", {})
    parts = [output.get("text", ""), *(value for kind, value in data.items() if kind.startswith("text/"))]
    return "\n".join("".join(part) for part in parts)


def test_every_question_has_its_notebook():
    assert tuple(path.name[:2] for path in NOTEBOOKS) == QUESTIONS


@every_notebook
def test_notebook_runs_in_quick_mode(path):
    executed = runner().execute(path, quick=True)
    assert [output for output in outputs(executed) if output.output_type == "error"] == []


@every_notebook
def test_notebook_is_kept_executed_in_order(path):
    cells = code_cells(nbformat.read(path, as_version=4))
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))


@every_notebook
def test_notebook_shows_figures(path):
    pictures = [
        output for output in outputs(nbformat.read(path, as_version=4)) if "image/png" in output.get("data", {})
    ]
    assert len(pictures) >= 2


@every_notebook
def test_notebook_names_no_folder_of_the_machine_it_ran_on(path):
    shown = "\n".join(text_of(output) for output in outputs(nbformat.read(path, as_version=4)))
    assert re.findall(r"(?<![\w.])/(?:home|root|tmp|work|Users|usr|opt)/\S*", shown) == []


@every_notebook
def test_cells_can_be_copied_into_a_script(path):
    for cell in code_cells(nbformat.read(path, as_version=4)):
        compile(cell.source, path.name, "exec")
