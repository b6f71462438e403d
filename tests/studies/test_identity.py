"""Fingerprints: the same for what acts alike, in any process; others for anything that changes numbers."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
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
import bayes_gresub as bg
from bayes_gresub.studies.identity import plain

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
    "type": LinearDiscriminantAnalysis,
}
"""
NAMES = [
    "number", "array", "strings", "objects", "frame", "sparse", "set", "weights", "rule", "pipeline", "measure",
    "resampler", "population", "data", "table", "function", "ufunc", "partial", "inner function", "set in a function",
    "seed", "type",
]  # fmt: skip


@pytest.fixture(scope="module")
def two_processes():
    """Return what this process and another say of the same things; strings hash differently in the other."""
    command = [sys.executable, "-c", f"{SCRIPT}print(json.dumps({{name: plain(one) for name, one in THINGS.items()}}))"]
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    there = subprocess.run(command, capture_output=True, check=True, env=environment, timeout=120)
    here: dict[str, Any] = {"__name__": "__main__"}
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


ALIKE = {
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


def test_a_fitted_rule_is_the_same_as_before():
    rule = LinearDiscriminantAnalysis()
    before = plain(rule)
    rule.fit(data(), np.arange(6) % 2)
    assert plain(rule) == before


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
