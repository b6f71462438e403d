"""Labels by construction: rows and columns are those of the data set, and boundaries are of every shape."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.learn.cases import OfRealData, cases_of_population, source_of
from benchmarks.learn.constructed import draw_constructed
from benchmarks.learn.derived import LEAST_SHARE
from benchmarks.real_data.data_sets import embedded_sets

SETS = [data for data in embedded_sets() if data.name in ("wine", "iris", "breast_cancer")]


@pytest.fixture(scope="module")
def populations():
    rng = np.random.default_rng(0)
    return [draw_constructed(SETS, rng) for _ in range(60)]


def test_every_population_has_classes_that_can_be_learned(populations):
    for population in populations:
        shares = np.bincount(population.y) / len(population.y)
        assert 2 <= len(shares) <= 4
        assert shares.min() >= LEAST_SHARE
        assert (population.X.std(axis=0) > 0).all()


def test_columns_are_two_or_more_of_the_data_set_and_rows_stay_in_order(populations):
    for population in populations:
        columns = {tuple(column) for column in population.source.X.T.tolist()}
        assert population.X.shape[1] >= 2
        assert {tuple(column) for column in population.X.T.tolist()} <= columns


def test_all_data_sets_and_numbers_of_classes_occur(populations):
    assert {population.source.name for population in populations} == {"wine", "iris", "breast_cancer"}
    assert {int(population.y.max()) + 1 for population in populations} == {2, 3, 4}


def test_neighbours_are_far_better_than_linear_rules_on_some_populations_and_worse_on_others(populations):
    """Targets that are columns have nearly always a linear rule that is as good."""
    gains = []
    for population in populations[:30]:
        linear, near = (
            cross_val_score(make_pipeline(StandardScaler(), rule), population.X, population.y, cv=3).mean()
            for rule in (LogisticRegression(), KNeighborsClassifier(5))
        )
        gains.append(near - linear)
    assert max(gains) > 0.15
    assert min(gains) < -0.02


def test_cases_are_reproducible_and_carry_their_source():
    source = OfRealData("constructed", SETS, {data.name: data.name for data in SETS})
    first, again = (cases_of_population(source, 3) for _ in range(2))
    assert first[0]["clues"] == again[0]["clues"]
    assert {case["data"] for case in first} <= {"wine", "iris", "breast_cancer"}


def test_populations_of_real_data_need_a_folder():
    with pytest.raises(ValueError, match="need the folder DATA"):
        source_of("constructed", "")
    with pytest.raises(ValueError, match="constructed"):
        source_of("construct", "data")
