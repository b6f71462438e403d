"""Importing the package is light, its modules depend on each other one way, and what is public is documented."""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
from pathlib import Path

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

# Lowest first, one part a line but where parts do not know each other; a module may import from its own part and from
# those below.
LAYERS = [
    ["data", "progress"],
    ["laws"],
    ["regions"],
    ["estimate"],
    ["kernels", "posteriors", "models", "populations", "networks"],
    ["measures"],
    ["resampling"],
    ["registry"],
    ["comparing", "selection"],
    ["assessing"],
    ["studies"],
    ["paper"],
    ["cli"],
]
# The front door sees all; plots are imported inside functions only.
UNLAYERED = {"__init__", "datasets", "plots"}
LAYER = {name: level for level, names in enumerate(LAYERS) for name in names}
UNSAYING = {"utils", "helpers", "parts", "misc", "common", "base", "core", "tools"}


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


def named_in_registrations(path):
    """Return the parts that `made("part.Class")` will import when an estimator of that name is made."""
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    named = [node.args[0] for node in calls if isinstance(node.func, ast.Name) and node.func.id == "made"]
    return [place.value.split(".")[0] for place in named]


def _is_own(thing, module):
    return inspect.isfunction(thing) and thing.__module__ == module.__name__ and not thing.__name__.startswith("_")


PLACES = {"": bg, "datasets.": bg.datasets, "studies.": bg.studies, "paper.": bg.paper, "plots.": plots}
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


def test_imports_point_one_way():
    upward = []
    for path in MODULES:
        if part(path) in UNLAYERED:
            continue
        used = [name for inside in (False, True) for name in imports(path, inside) if name != "plots"]
        used += named_in_registrations(path)
        others = [name for name in used if name != part(path)]
        upward += [(part(path), path.name, name) for name in others if LAYER[name] >= LAYER[part(path)]]
    assert upward == []


def test_registrations_are_seen_as_imports():
    """What the registry makes is imported by name, when it is first made: an edge like any other."""
    assert {"measures", "resampling", "kernels"} <= set(named_in_registrations(ROOT / "registry.py"))
    assert "measures" in named_in_registrations(ROOT / "paper" / "names.py")


def test_plots_are_imported_inside_functions_only():
    outside = [path for path in MODULES if part(path) != "plots"]
    assert [path.name for path in outside if "plots" in imports(path, inside_functions=False)] == []


def test_plots_import_only_what_they_draw():
    drawn = {"data", "laws", "regions", "estimate", "plots"}
    files = sorted((ROOT / "plots").glob("*.py"))
    assert [path.name for path in files if not set(imports(path, inside_functions=False)) <= drawn] == []


def test_modules_are_named_after_what_they_hold():
    names = [path.stem for path in MODULES if path.stem != "__init__"]
    folders = [path.name for path in ROOT.rglob("*") if path.is_dir() and path.name != "__pycache__"]
    assert sorted(UNSAYING.intersection(names + folders)) == []
    assert sorted(name for name in set(names) if names.count(name) > 1) == []


def test_no_two_classes_have_one_name():
    nodes = [node for path in MODULES for node in ast.walk(ast.parse(path.read_text()))]
    names = [node.name for node in nodes if isinstance(node, ast.ClassDef)]
    assert sorted(name for name in set(names) if names.count(name) > 1) == []


def test_files_start_with_one_sentence():
    for path in FILES:
        docstring = ast.get_docstring(ast.parse(path.read_text()))
        assert docstring.split("\n\n")[0].endswith("."), path
        assert len(docstring.splitlines()[0]) <= 120, path


def test_public_names_exist():
    assert [name for name in bg.__all__ if not hasattr(bg, name)] == []


def test_public_names_have_a_docstring_with_an_example():
    example = "Examples\n--------\n>>> "
    assert [name for name, member in PUBLIC.items() if example not in (inspect.getdoc(member) or "")] == []


def test_public_docstring_is_its_own():
    classes = {name: member for name, member in PUBLIC.items() if inspect.isclass(member)}
    inherited = [
        name
        for name, member in classes.items()
        if member.__doc__ in [base.__doc__ for base in inspect.getmro(member)[1:]]
    ]
    assert inherited == []


def test_public_methods_have_docstrings():
    silent = [
        f"{name}.{attribute}"
        for name, member in PUBLIC.items()
        if inspect.isclass(member)
        for attribute, method in vars(member).items()
        if not attribute.startswith("_") and (inspect.isfunction(method) or isinstance(method, property))
        if not inspect.getdoc(method)
    ]
    assert silent == []
