"""The examples in the docstrings run, and the page of errors is made of what was drawn."""

import doctest
import importlib
import pkgutil

import pytest

import benchmarks.learn
from benchmarks.learn.kinds import KINDS
from benchmarks.learn.spread import QUANTILES, rules, table_rows, true_errors

MODULES = [module.name for module in pkgutil.walk_packages(benchmarks.learn.__path__, "benchmarks.learn.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_table_has_a_row_for_each_kind_and_rule():
    rows = table_rows(true_errors(1, seed=0))
    assert len(rows) == len(KINDS) * (len(rules()) + 1)
    assert {len(row) for row in rows} == {2 + len(QUANTILES) + 1}
