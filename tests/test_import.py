"""Importing the package is light, its modules depend on each other one way, and what is public is documented."""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

import bayes_gresub as bg
from bayes_gresub import plots

ROOT = Path(bg.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
FILES = [
    *MODULES,
    *(path for name in ("tests", "benchmarks", "notebooks") for path in (ROOT.parent / name).rglob("*.py")),
]

HEAVY = ["pymc", "torch", "gpytorch", "arviz", "matplotlib", "xarray", "dask", "distributed"]

WATCH_IMPORTS = f"""
import json, sys

class Watcher:
    tried = []

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {HEAVY!r}:
            self.tried.append(name)
        return None

sys.meta_path.insert(0, Watcher())
import bayes_gresub
loaded = sorted(name for name in sys.modules if name.split(".")[0] in {HEAVY!r})
print(json.dumps([Watcher.tried, loaded]))
"""

# Lowest first; a module may import from its own layer and those below.
LAYERS = [
    [
        "seeds",
        "checks",
        "progress",
        "components",
        "readings",
        "scaling",
        "description",
        "intervals",
        "computation",
        "rendering",
        "estimate",
        "classifiers",
    ],
    ["integration"],
    ["kernels", "posteriors", "models", "datasets"],
    ["measures"],
    ["resampling"],
    ["registry"],
    ["selection", "comparing"],
    ["studies"],
    ["demo", "model_files", "assessment"],
    ["cli"],
]
# The front door sees all; plots are below nothing, since they are imported inside functions only.
UNLAYERED = {"__init__", "__main__", "plots"}
LAYER = {name: level for level, names in enumerate(LAYERS) for name in names}


def part(path):
    """Return the part of the package that a file belongs to: a folder, or a module at the top."""
    relative = path.relative_to(ROOT)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imports(path, inside_functions):
    """Return the parts of the package that a file imports, at its top or inside functions."""
    tree = ast.parse(path.read_text())
    # What only type checkers see is no dependency.
    for_types = [node for node in tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)]
    tree.body = [node for node in tree.body if node not in for_types]
    inside = {
        node
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
    }
    found = []
    for node in ast.walk(tree):
        if (node in inside) != inside_functions:
            continue
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            found += (
                [f"{node.module}.{alias.name}" for alias in node.names] if node.module == ROOT.name else [node.module]
            )
    parts = [name.split(".")[1] for name in found if name.startswith(f"{ROOT.name}.")]
    return [name for name in parts if name != "__version__"]


def relative_name(path):
    return str(path.relative_to(ROOT))


def _is_own(thing, module):
    return inspect.isfunction(thing) and thing.__module__ == module.__name__ and not thing.__name__.startswith("_")


PLACES = {"": bg, "datasets.": bg.datasets, "studies.": bg.studies, "studies.paper.": bg.studies.paper, "plots.": plots}
PUBLIC = {
    f"{place}{name}": getattr(module, name)
    for place, module in PLACES.items()
    for name in getattr(module, "__all__", [name for name, one in vars(module).items() if _is_own(one, module)])
    if not inspect.ismodule(getattr(module, name))
}


def test_importing_the_package_tries_no_heavy_library():
    result = subprocess.run([sys.executable, "-c", WATCH_IMPORTS], capture_output=True, text=True, check=True)
    assert json.loads(result.stdout) == [[], []]


def test_every_module_has_a_layer():
    assert {part(path) for path in MODULES} - UNLAYERED <= LAYER.keys()


@pytest.mark.parametrize("path", [path for path in MODULES if part(path) not in UNLAYERED], ids=relative_name)
def test_imports_point_one_way(path):
    own = LAYER[part(path)]
    used = [name for inside in (False, True) for name in imports(path, inside) if name != "plots"]
    assert [name for name in used if LAYER[name] > own] == []


@pytest.mark.parametrize("path", [path for path in MODULES if part(path) != "plots"], ids=relative_name)
def test_plots_are_imported_inside_functions_only(path):
    assert "plots" not in imports(path, inside_functions=False)


@pytest.mark.parametrize("path", sorted((ROOT / "plots").glob("*.py")), ids=relative_name)
def test_plots_import_only_what_they_draw(path):
    assert set(imports(path, inside_functions=False)) <= {*LAYERS[0], "plots"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT.parent)))
def test_files_start_with_one_sentence(path):
    docstring = ast.get_docstring(ast.parse(path.read_text()))
    first = docstring.split("\n\n")[0].replace("\n", " ")
    assert first.endswith(".")
    assert len(docstring.splitlines()[0]) <= 120


@pytest.mark.parametrize("name", bg.__all__)
def test_public_names_exist(name):
    assert hasattr(bg, name)


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_have_a_docstring_with_an_example(name):
    docstring = inspect.getdoc(PUBLIC[name]) or ""
    assert "Examples\n--------\n>>> " in docstring


@pytest.mark.parametrize("name", PUBLIC)
def test_public_docstring_is_its_own(name):
    member = PUBLIC[name]
    inherited = [base.__doc__ for base in inspect.getmro(member)[1:]] if inspect.isclass(member) else []
    assert member.__doc__ not in inherited


@pytest.mark.parametrize("name", [name for name, one in PUBLIC.items() if inspect.isclass(one)])
def test_public_methods_have_docstrings(name):
    own = [
        method
        for attribute, method in vars(PUBLIC[name]).items()
        if not attribute.startswith("_") and (inspect.isfunction(method) or isinstance(method, property))
    ]
    assert [method for method in own if not inspect.getdoc(method)] == []
