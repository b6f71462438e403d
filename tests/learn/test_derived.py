"""Populations derived from real data: their rows are those of the data set, training and truth are apart."""

import numpy as np
import pytest

from benchmarks.learn.cases import Derived, Simulated, cases_of_population
from benchmarks.learn.derived import LEAST_LEFT, draw_derived
from benchmarks.learn.training_sets import SMALLEST
from benchmarks.real_data.data_sets import embedded_sets

SETS = [data for data in embedded_sets() if data.name in ("wine", "iris", "digits")]


@pytest.fixture(scope="module")
def populations():
    rng = np.random.default_rng(0)
    return [draw_derived(SETS, rng) for _ in range(60)]


def rows_of(X):
    return {tuple(row) for row in np.asarray(X).tolist()}


def test_every_population_has_classes_that_can_be_learned(populations):
    for population in populations:
        counts = np.bincount(population.y)
        assert len(counts) >= 2
        assert counts.min() >= 0.03 * len(population.y)
        assert (population.X.std(axis=0) > 0).all()


def test_all_sources_and_targets_of_one_to_ten_classes_occur(populations):
    assert {population.source.name for population in populations} == {"wine", "iris", "digits"}
    assert {int(population.y.max()) + 1 for population in populations} >= {2, 3, 4}


def test_columns_are_columns_of_the_data_set(populations):
    for population in populations[:20]:
        columns = rows_of(np.sort(population.source.X, axis=0).T)
        if len(population.y) == len(population.source.y):
            assert rows_of(np.sort(population.X, axis=0).T) <= columns


def test_training_set_and_truth_are_apart():
    X = np.arange(400.0).reshape(200, 2)
    population = draw_derived(SETS, np.random.default_rng(3))
    population = type(population)(population.source, X, np.arange(200) % 2)
    X_train, y_train, X_truth, _ = population.draw(np.random.default_rng(0), 1000)
    assert not rows_of(X_train) & rows_of(X_truth)
    assert SMALLEST <= len(y_train) <= 200 - LEAST_LEFT
    assert len(X_train) + len(X_truth) == 200


def test_cases_carry_their_source():
    source = Derived(SETS, {data.name: data.name for data in SETS})
    derived, simulated = cases_of_population(source, 1), cases_of_population(Simulated(), 1)
    assert {case["data"] for case in derived} == {case["kind"] for case in derived}
    assert not any("data" in case for case in simulated)
    assert {case["clues"].keys() == derived[0]["clues"].keys() for case in [*derived, *simulated]} == {True}
    assert cases_of_population(source, 1)[0]["clues"] == derived[0]["clues"]
