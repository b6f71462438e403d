"""Fingerprints: the same for what acts alike, in any process; others for anything that changes numbers."""

from __future__ import annotations

import functools
import importlib.machinery
import json
import os
import subprocess
import sys
import threading
import types
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import bayes_gresub as bg
from bayes_gresub.studies.identity import differences, digest, plain

SCRIPT = """
import functools, json
import numpy as np, pandas as pd
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
import torch
import warnings
import bayes_gresub as bg
from bayes_gresub.studies.identity import plain

warnings.simplefilter("ignore")
torch.manual_seed(0)
module = torch.nn.Linear(2, 3)

FACTOR = 2.0

def scaled(X):
    return X * FACTOR

class Rule(LinearDiscriminantAnalysis):
    kinds = frozenset({"a", "b", "c"})

    def __init__(self, power=1):
        super().__init__()
        self.power = power

    def fit(self, X, y):
        return super().fit(scaled(X) ** self.power, y)

def with_inner(X):
    return np.array([(lambda v: v + 1)(row) for row in X])

def with_set(X):
    return X if "a" in {"a", "b", "c", "d"} else -X

X = np.arange(12.0).reshape(6, 2)
y = np.array([0, 1, 0, 1, 0, 1])
THINGS = {
    "number": 0.1, "array": X, "strings": np.array(["a", "b"]), "objects": np.array(["a", 1, None], dtype=object),
    "frame": pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), "sparse": sparse.csr_array(X), "set": {"a", "b", "c"},
    "weights": {0: 1.0, 1: 2.0}, "rule": RandomForestClassifier(3, class_weight={0: 1, 1: 2}),
    "pipeline": make_pipeline(StandardScaler(), SVC(C=2)), "measure": bg.Bolstered(), "resampler": bg.Bootstrap("632"),
    "population": bg.datasets.PaperGaussian(), "data": bg.datasets.FiniteData(X, y),
    "table": bg.datasets.FiniteData(pd.DataFrame({"a": X[:, 0], "b": list("uvuvuv")}), np.array(list("nynyny"))),
    "function": FunctionTransformer(lambda X: X**2 + 0.5), "ufunc": FunctionTransformer(np.log1p),
    "partial": functools.partial(np.sum, axis=0), "inner function": FunctionTransformer(with_inner),
    "set in a function": FunctionTransformer(with_set), "seed": np.random.SeedSequence(3, spawn_key=(1, 2)),
    "type": LinearDiscriminantAnalysis, "user's rule": Rule(2), "user's class": Rule,
    "fitted": FrozenEstimator(make_pipeline(StandardScaler(), RandomForestClassifier(3, random_state=0)).fit(X, y)),
    "search": FrozenEstimator(GridSearchCV(SVC(), {"C": [1, 2]}, cv=2).fit(X, y)),
    "network": FrozenEstimator(MLPClassifier((2,), max_iter=2, random_state=0).fit(X, y)),
    "extractor": bg.on_features(bg.Bolstered(), PCA(1).fit(X), held_out=True),
    "torch extractor": bg.on_features(bg.Bolstered(), bg.TorchFeatures(torch.nn.Sequential(module, torch.nn.ReLU()))),
}
"""
NAMES = [
    "number", "array", "strings", "objects", "frame", "sparse", "set", "weights", "rule", "pipeline", "measure",
    "resampler", "population", "data", "table", "function", "ufunc", "partial", "inner function", "set in a function",
    "seed", "type", "user's rule", "user's class", "fitted", "search", "network", "extractor", "torch extractor",
]  # fmt: skip


@pytest.fixture(scope="module")
def two_processes():
    """Return what this process and another say of the same things; strings hash differently in the other."""
    command = [sys.executable, "-c", f"{SCRIPT}print(json.dumps({{name: plain(one) for name, one in THINGS.items()}}))"]
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    there = subprocess.run(command, capture_output=True, check=True, env=environment, timeout=120)
    here: dict[str, Any] = {"__name__": "__main__"}
    with warnings.catch_warnings():
        exec(SCRIPT, here)
    return {name: plain(one) for name, one in here["THINGS"].items()}, json.loads(there.stdout)


@pytest.mark.parametrize("name", NAMES)
def test_a_thing_is_the_same_in_another_process(two_processes, name):
    first, second = two_processes
    assert differences(first[name], second[name], name) == []


def test_all_things_are_compared_between_processes(two_processes):
    assert list(two_processes[0]) == NAMES


def data(shift=0.0):
    return np.arange(12.0).reshape(6, 2) + shift


def frame(**changed):
    return pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"], **changed})


def multiplied(factor):
    return lambda X: X * factor


def by_default(factor):
    def multiply(X, factor=factor):
        return X * factor

    return multiply


class Scaling:
    """Multiplies by a number of its own."""

    def __init__(self, factor):
        self.factor = factor

    def transform(self, X):
        return X * self.factor


def chain(C=1.0, k=3):
    inner = Pipeline(
        [("scale", StandardScaler()), ("vote", VotingClassifier([("svc", SVC(C=C)), ("nb", GaussianNB())]))]
    )
    return Pipeline([("inner", inner), ("knn", KNeighborsClassifier(k))])


def fitted(estimator, shift=0.0):
    turned = data() * np.array([1.0, 1.0 + shift]) + np.sin(np.arange(12.0)).reshape(6, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(turned, np.arange(6) % 2)


FITTED = [
    LinearDiscriminantAnalysis(),
    KNeighborsClassifier(1),
    SVC(),
    DecisionTreeClassifier(random_state=0),
    RandomForestClassifier(3, random_state=0),
    GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, cv=2),
    make_pipeline(StandardScaler(), LogisticRegression()),
    MLPClassifier((2,), max_iter=2, random_state=0),
]


def network(seed):
    torch.manual_seed(seed)
    return bg.TorchFeatures(torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU()))


ALIKE = {
    **{f"frozen {type(rule).__name__}": lambda rule=rule: FrozenEstimator(fitted(clone(rule))) for rule in FITTED},
    "extractors": lambda: bg.on_features(bg.Bolstered(), fitted(PCA(1)), held_out=True),
    "torch extractors": lambda: bg.on_features(bg.Bolstered(), network(0), held_out=True),
    "objects of a user": lambda: Scaling(2.0),
    "numbers": lambda: 0.1,
    "arrays": data,
    "frames": frame,
    "rules": lambda: RandomForestClassifier(5, random_state=3),
    "nested Pipelines": chain,
    "searches": lambda: GridSearchCV(SVC(), {"C": np.logspace(-1, 1, 3)}),
    "measures": lambda: bg.Bolstered(),
    "resamplers": lambda: bg.Calibrated(bg.Bolstered(), random_state=3),
    "populations": lambda: bg.datasets.PaperGaussian(bayes_error=0.1),
    "data sets": lambda: bg.datasets.FiniteData(data(), np.arange(6) % 2),
    "functions": lambda: multiplied(2.0),
    "partial functions": lambda: functools.partial(np.sum, axis=0),
    "sparse matrices": lambda: sparse.csr_array(data()),
    "dicts": lambda: {"b": 1, "a": [2, (3.0, None)]},
    "seeds": lambda: np.random.SeedSequence(5),
}


@pytest.mark.parametrize("make", ALIKE.values(), ids=ALIKE)
def test_two_that_act_alike_are_the_same(make):
    assert plain(make()) == plain(make())


@pytest.mark.parametrize("make", ALIKE.values(), ids=ALIKE)
def test_what_a_file_says_is_the_same(make):
    """Text that JSON reads back must not differ from what was written."""
    said = plain(make())
    assert differences(json.loads(json.dumps(said, allow_nan=False)), said) == []


def test_a_sparse_matrix_is_the_same_after_it_was_used():
    matrix = sparse.csr_array(data())
    before = plain(matrix)
    _ = matrix.has_sorted_indices, matrix[[0, 1]].sum()
    assert plain(matrix) == before


def test_the_order_of_numbers_in_memory_does_not_matter():
    assert plain(np.asfortranarray(data())) == plain(data())


def test_a_study_of_a_fitted_rule_is_that_of_the_rule_before():
    """A study trains rules anew."""
    rule = LinearDiscriminantAnalysis()

    def design():
        return bg.Study(bg.datasets.PaperGaussian(), {"LDA": rule}, ["resub"], [20]).design()

    before = design()
    rule.fit(data(), np.arange(6) % 2)
    assert design() == before


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_json_lacks_are_told_apart_and_kept(value):
    said = plain({"missing": value})
    assert json.loads(json.dumps(said, allow_nan=False)) == said
    assert said != plain({"missing": 0.0})


APART = {
    "numbers": (0.1, 0.1 + 1e-16),
    "a whole number and a float": (DecisionTreeClassifier(max_features=1), DecisionTreeClassifier(max_features=1.0)),
    "None and its name": (SVC(random_state=None), SVC(random_state="None")),
    "parameters": (KNeighborsClassifier(3), KNeighborsClassifier(5)),
    "types": (LinearDiscriminantAnalysis(), GaussianNB()),
    "parameters deep in Pipelines": (chain(C=1.0), chain(C=2.0)),
    "last steps of Pipelines": (chain(k=3), chain(k=4)),
    "names of steps": (Pipeline([("a", SVC())]), Pipeline([("b", SVC())])),
    "orders of steps": (
        make_pipeline(StandardScaler(), FunctionTransformer(np.log1p), SVC()),
        make_pipeline(FunctionTransformer(np.log1p), StandardScaler(), SVC()),
    ),
    "arrays": (data(), data(1e-9)),
    "shapes": (data(), data().reshape(2, 6)),
    "types of numbers": (np.zeros(4, np.float32), np.zeros(2, np.float64)),
    "arrays of strings": (np.array(["a", "b"]), np.array(["a", "c"])),
    "arrays of objects": (np.array(["a", 1], dtype=object), np.array(["a", 2], dtype=object)),
    "values of frames": (frame(), frame(a=[1.0, 3.0])),
    "strings of frames": (frame(), frame(b=["x", "z"])),
    "names of columns": (frame(), frame().rename(columns={"a": "c"})),
    "sparse matrices": (sparse.csr_array(data()), sparse.csr_array(data(1.0))),
    "class weights": (SVC(class_weight={0: 1, 1: 2}), SVC(class_weight={0: 1, 1: 3})),
    "functions": (lambda X: X + 1, lambda X: X - 1),
    "constants in functions": (lambda X: X * 2.0, lambda X: X * 3.0),
    "names that functions call": (lambda X: np.sin(X), lambda X: np.cos(X)),
    "what functions close over": (multiplied(2.0), multiplied(3.0)),
    "defaults of functions": (by_default(2.0), by_default(3.0)),
    "functions of NumPy": (np.sin, np.cos),
    "built-in functions": (max, min),
    "partial functions": (functools.partial(np.sum, axis=0), functools.partial(np.sum, axis=1)),
    "objects of methods": (Scaling(2.0).transform, Scaling(3.0).transform),
    "objects": (Scaling(2.0), Scaling(3.0)),
    "populations": (bg.datasets.PaperGaussian(bayes_error=0.1), bg.datasets.PaperGaussian(bayes_error=0.2)),
    "data sets": tuple(bg.datasets.FiniteData(data(shift), np.arange(6) % 2) for shift in (0.0, 1.0)),
    "labels of data sets": tuple(bg.datasets.FiniteData(data(), (np.arange(6) + k) % 2) for k in (0, 1)),
    "measures": (bg.Bolstered(n_points=8), bg.Bolstered(n_points=16)),
    "measures of resamplers": (bg.Calibrated(bg.Bolstered()), bg.Calibrated(bg.Bolstered(n_points=8))),
    "seeds": (np.random.SeedSequence(5), np.random.SeedSequence(5, spawn_key=(1,))),
    "a fitted rule and an unfitted one": (GaussianNB(), fitted(GaussianNB())),
    "fitted rules": (fitted(GaussianNB()), fitted(GaussianNB(), 1.0)),
    **{
        f"frozen {type(rule).__name__}": tuple(FrozenEstimator(fitted(clone(rule), shift)) for shift in (0.0, 1.0))
        for rule in FITTED
    },
    "frozen steps of Pipelines": tuple(
        make_pipeline(FrozenEstimator(fitted(PCA(1), shift)), SVC()) for shift in (0.0, 1.0)
    ),
    "extractors of measures": tuple(
        bg.on_features(bg.Bolstered(), fitted(PCA(1), shift), held_out=True) for shift in (0.0, 1.0)
    ),
    "torch extractors": tuple(bg.on_features(bg.Bolstered(), network(seed), held_out=True) for seed in (0, 1)),
    "settings of torch modules": (torch.nn.LeakyReLU(0.1), torch.nn.LeakyReLU(0.2)),
    "kinds of torch modules": (torch.nn.ReLU(), torch.nn.Tanh()),
    "tensors": (torch.zeros(3), torch.ones(3)),
    "tensors of no axes": (torch.tensor(1.0), torch.tensor(2.0)),
}


@pytest.mark.parametrize(("one", "other"), APART.values(), ids=APART)
def test_two_that_act_differently_are_told_apart(one, other):
    """As text that a file holds, and as `differences` compares it."""
    assert differences(json.loads(json.dumps(plain(one))), plain(other), "it") != []


# In words


def test_a_difference_names_the_path_to_a_nested_parameter():
    found = differences(plain({"rules": {"SVM": SVC(C=1)}}), plain({"rules": {"SVM": SVC(C=2)}}))
    assert found == ["rules.SVM.C was 1, is 2"]


def test_a_difference_inside_a_pipeline_names_the_step():
    found = differences(
        plain(make_pipeline(StandardScaler(), SVC(C=1))), plain(make_pipeline(StandardScaler(), SVC(C=2)))
    )
    (line,) = found
    assert "svc" in line
    assert line.endswith("C was 1, is 2")


def test_a_difference_starts_at_the_path_given():
    assert differences({"a": 1}, {"a": 2}, "seed") == ["seed.a was 1, is 2"]


def test_what_is_new_and_what_is_gone_are_named():
    assert differences({"a": 1, "b": {"c": 1}}, {"b": {}, "d": 2}) == ["a is gone", "b.c is gone", "d is new"]


def test_no_difference_is_no_words():
    assert differences(plain(SVC()), plain(SVC())) == []


def test_long_values_are_cut_short():
    (line,) = differences("a" * 500, "b" * 500, "names")
    assert len(line) < 160


def test_digests_of_equal_data_are_equal_and_of_others_differ():
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest({"a": 1}) != digest({"a": 2})


def test_a_class_of_the_package_is_named_without_its_module():
    """Run folders stay valid if a class moves to another module."""
    assert plain(bg.Empirical())["type"] == "bayes_gresub.Empirical"


class Holding:
    """Holds itself, and a lock that it does not pack."""

    def __init__(self, number):
        self.number = number
        self.whole = self
        self.lock = threading.Lock()

    def __getstate__(self):
        return {"number": self.number, "whole": self.whole}


def test_an_object_that_holds_itself_and_packs_less_than_it_has_is_described():
    assert plain(Holding(1)) == plain(Holding(1))
    assert plain(Holding(1)) != plain(Holding(2))


# Edited code

MODULE = """
import functools
from dataclasses import dataclass
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils.metaestimators import available_if

FACTOR = 2.0
calls = 0

class Plan:
    fits = 0

def scaled(X):
    return X * FACTOR

def counted(method):
    @functools.wraps(method)
    def inside(self, X, y):
        global calls
        calls += 1
        Plan.fits += 1
        return method(self, X, y)
    return inside

class Base(LinearDiscriminantAnalysis):
    power = 1
    seen = 0

    def _turned(self, X):
        return X ** 1

class Rule(Base):
    '''Trains on scaled points.'''

    @counted
    def fit(self, X, y):
        # Points are scaled first.
        Rule.seen = Rule.seen + len(X)
        return super().fit(scaled(self._turned(X)) + self.shift, y)

    @property
    def shift(self):
        return 0.5

    @available_if(lambda self: True)
    def extra(self):
        return 7

def function(X):
    return scaled(X)

@dataclass(frozen=True)
class Setting:
    size: int = 3

    def doubled(self):
        return 2 * self.size
"""


def loaded(text, monkeypatch):
    """Return the module of this text, as if a user had saved it and started Python again."""
    module = types.ModuleType("module_of_a_user")
    module.__file__ = "module_of_a_user.py"
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(text, module.__file__, "exec"), vars(module))
    return module


EDITS = {
    "the method of a rule": ("+ self.shift, y)", "- self.shift, y)", "Rule"),
    "a number in a method": ("X ** 1", "X ** 2", "Rule"),
    "an attribute of a class": ("power = 1", "power = 2", "Rule"),
    "a property": ("return 0.5", "return 0.25", "Rule"),
    "a method that is shown if a condition holds": ("return 7", "return 8", "Rule"),
    "a decorator": ("return method(self, X, y)", "return method(self, -X, y)", "Rule"),
    "a function that a method calls": ("return X * FACTOR", "return X / FACTOR", "Rule"),
    "a constant that a method reads": ("FACTOR = 2.0", "FACTOR = 3.0", "Rule"),
    "a function that a function calls": ("return X * FACTOR", "return X / FACTOR", "function"),
    "a constant that a function reads": ("FACTOR = 2.0", "FACTOR = 3.0", "function"),
    "the method of a dataclass": ("2 * self.size", "3 * self.size", "Setting"),
}


@pytest.mark.parametrize(("old", "new", "name"), EDITS.values(), ids=EDITS)
def test_edited_code_is_told_apart(monkeypatch, old, new, name):
    assert MODULE.count(old) == 1
    before, after = (getattr(loaded(text, monkeypatch), name) for text in (MODULE, MODULE.replace(old, new)))
    for thing, other in ((before, after), *([(before(), after())] if isinstance(before, type) else [])):
        assert differences(plain(thing), plain(other), "it") != []


HARMLESS = {
    "nothing": ("", ""),
    "a comment": ("# Points are scaled first.", "# First, points are scaled."),
    "the docstring of a class": ("Trains on scaled points.", "It trains on points that are scaled."),
    "lines": ("calls = 0", "calls = 0\n\n\n\n"),
    "a counter": ("calls = 0", "calls = 17"),
    "a counter in another class": ("fits = 0", "fits = 17"),
}


@pytest.mark.parametrize(("old", "new"), HARMLESS.values(), ids=HARMLESS)
def test_code_that_acts_alike_is_the_same(monkeypatch, old, new):
    before, after = (loaded(text, monkeypatch) for text in (MODULE, MODULE.replace(old, new)))
    for name in ("Rule", "function", "Setting"):
        assert plain(getattr(before, name)) == plain(getattr(after, name))


def test_a_rule_that_counts_its_fits_is_the_same_after_it_was_used(monkeypatch):
    rule = loaded(MODULE, monkeypatch).Rule()
    before = plain(rule)
    clone(rule).fit(data() + np.sin(np.arange(12.0)).reshape(6, 2), np.arange(6) % 2)
    assert plain(rule) == before


def test_what_cannot_be_read_is_refused():
    with pytest.raises(TypeError, match=r"must be able to write its parts as plain data; .* lock.*Make it a dataclass"):
        plain(FunctionTransformer(kw_args={"lock": threading.Lock()}))


def test_fitted_state_that_cannot_be_read_is_refused():
    frozen = FrozenEstimator(fitted(GaussianNB()))
    frozen.estimator.lock_ = threading.Lock()
    with pytest.raises(TypeError, match=r"must be able to write its parts as plain data; .* lock"):
        plain(frozen)


def test_compiled_code_that_is_not_installed_goes_by_its_file(tmp_path, monkeypatch):
    path = tmp_path / f"compiled{importlib.machinery.EXTENSION_SUFFIXES[0]}"
    module = types.ModuleType("compiled_by_a_user")
    module.__file__ = str(path)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    rule = type("Rule", (GaussianNB,), {"__module__": module.__name__})
    path.write_bytes(b"first")
    before = plain(rule())
    path.write_bytes(b"second")
    assert [line.partition(" ")[0] for line in differences(before, plain(rule()), "rule")] == ["rule.code"]


class Callable:
    """A function without code that Python can read."""

    def __init__(self):
        self.__module__, self.__qualname__ = "nowhere", "call"


def test_code_that_cannot_be_read_is_refused():
    with pytest.raises(TypeError, match=r"must be able to read the code of its parts; it cannot for call of nowhere"):
        plain(Callable())


def test_rules_and_measures_of_installed_packages_are_as_the_first_format_has_them():
    """Folders that were begun before code and fitted state counted go on."""
    assert set(plain(GaussianNB())) == {"type", "priors", "var_smoothing"}
    assert not {"code", "learned"} & set(plain(bg.Bolstered()))
    assert set(plain(multiplied(2.0))) == {"function", "code"}
