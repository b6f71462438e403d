"""Data sets of the real-data benchmark: how files are read, which tables are copies, how training sets are drawn."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier

from benchmarks.real_data.data_sets import DataSet, copy_groups, embedded_sets, is_copy, read_folder, read_table
from benchmarks.real_data.plan import RIVAL_INTERVALS, estimators, parts_of, rules, sizes_of
from benchmarks.real_data.population import as_population


def table_of(sizes, name="table", d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    return DataSet(name, rng.normal(size=(len(y), d)), y)


def test_rows_with_missing_values_are_dropped_and_counted(tmp_path):
    path = tmp_path / "holes.csv"
    path.write_text("a,b,y\n1,2,u\n,3,v\n4,5,v\n6,7,\n")
    data = read_table(path)
    assert data.X.tolist() == [[1, 2], [4, 5]]
    assert data.y.tolist() == ["u", "v"]
    assert data.n_dropped == 2


def test_a_column_of_words_becomes_one_column_per_value(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("a,b,y\n1,red,0\n2,blue,1\n3,red,1\n")
    assert read_table(path).X.tolist() == [[1, 0, 1], [2, 1, 0], [3, 0, 1]]


def test_packed_and_plain_files_are_read_by_name(tmp_path):
    import gzip

    (tmp_path / "b.csv").write_text("x,y\n1,0\n2,1\n")
    with gzip.open(tmp_path / "a.csv.gz", "wt") as stream:
        stream.write("x,y\n1,0\n2,1\n")
    (tmp_path / "notes.txt").write_text("no data")
    assert [data.name for data in read_folder(tmp_path)] == ["a", "b"]


def test_two_files_of_one_name_are_refused(tmp_path):
    import gzip

    (tmp_path / "a.csv").write_text("x,y\n1,0\n2,1\n")
    with gzip.open(tmp_path / "a.csv.gz", "wt") as stream:
        stream.write("x,y\n1,0\n2,1\n")
    with pytest.raises(ValueError, match="Rename one file"):
        read_folder(tmp_path)


def test_a_folder_without_tables_is_refused(tmp_path):
    with pytest.raises(ValueError, match="holds none"):
        read_folder(tmp_path)


def test_labels_of_one_class_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,0\n2,0\n")
    with pytest.raises(ValueError, match="at least two classes"):
        read_folder(tmp_path)


def test_a_rounded_shuffled_copy_with_other_labels_is_a_copy():
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    copy = DataSet("wdbc", X.round(3)[order], np.where(y == 1, "B", "M")[order])
    assert is_copy(DataSet("breast_cancer", X, y), copy)


def test_a_table_of_the_same_shape_with_other_values_is_no_copy():
    first, second = table_of([200, 200]), table_of([200, 200])
    shifted = DataSet("shifted", second.X + np.array([0, 0, 1]), second.y)
    assert is_copy(first, second)
    assert not is_copy(first, shifted)


def test_tables_with_other_class_sizes_are_no_copies():
    first = table_of([200, 200])
    assert not is_copy(first, DataSet("other", first.X, np.arange(400) < 150))


def test_copies_have_the_group_of_the_first():
    sets = embedded_sets()
    cancer = next(data for data in sets if data.name == "breast_cancer")
    groups = copy_groups([DataSet("wdbc", cancer.X.round(3), cancer.y), *sets])
    assert groups == {"wdbc": "wdbc", "breast_cancer": "wdbc", "digits": "digits", "iris": "iris", "wine": "wine"}


def test_a_size_needs_300_rows_left():
    assert sizes_of(table_of([183, 182])) == (30, 60)
    assert sizes_of(table_of([100, 108])) == ()


def test_a_size_needs_two_expected_points_of_the_rarest_class():
    assert sizes_of(table_of([960, 40])) == (60, 120)


def test_every_class_of_a_training_set_has_two_points():
    population = as_population(table_of([900, 40, 60]))
    for seed in range(30):
        X, y, rest = population.draw(50, random_state=seed)
        assert np.unique(y, return_counts=True)[1].min() >= 2
        assert (len(X), len(rest.rows)) == (50, 950)
        assert not np.isin(X[:, 0], population.X[rest.rows, 0]).any()


def test_the_same_seed_draws_the_same_training_set():
    population = as_population(table_of([900, 40, 60]))
    first, second = (population.draw(50, random_state=7)[0] for _ in range(2))
    assert np.array_equal(first, second)


def test_a_training_set_that_cannot_have_all_classes_raises():
    with pytest.raises(ValueError, match="leave the data set out"):
        replace(as_population(table_of([400, 1])), most_draws=20).draw(30, random_state=0)


def test_parts_hold_every_estimator_of_every_rule_once_and_few_repetitions_where_refits_are_slow():
    data, names = table_of([300, 300]), ["resub", "cv", "loo", "boot-632+"]
    wanted = {}
    for part in parts_of(data, [30, 60], list(rules()), names, 20):
        for rule in part.rules:
            for name in part.estimators:
                assert (rule, name) not in wanted
                wanted[rule, name] = part.repetitions
    assert len(wanted) == len(rules()) * len(names)
    few = {key for key, repetitions in wanted.items() if repetitions == 5}
    assert few == {(rule, name) for rule in ("random forest", "MLP") for name in ("loo", "boot-632+")}
    assert set(wanted.values()) == {5, 20}


def test_what_takes_too_long_gets_few_repetitions_on_every_rule():
    names = ["cv", "bayesian", "nested-cv-2", "conservative-z", "corrected-t"]
    parts = list(parts_of(table_of([300, 300]), [30], ["LDA", "MLP"], names, 20))
    few = {(rule, name) for part in parts if part.repetitions == 5 for rule in part.rules for name in part.estimators}
    assert few == {("MLP", "corrected-t"), *((rule, name) for rule in ("LDA", "MLP") for name in names[1:4])}
    assert {name for part in parts if part.repetitions == 20 for name in part.estimators} == {"cv", "corrected-t"}


def test_intervals_that_others_recommend_are_made_with_their_refits():
    made = estimators()
    X, y = table_of([30, 30]).X, table_of([30, 30]).y
    fits = {name: made[name].error(DummyClassifier(), X, y).computation.n_refits for name in RIVAL_INTERVALS}
    assert fits == {"corrected-t": 25, "conservative-z": 315, "nested-cv-2": 2 * (10 + 45)}


def test_folds_are_stratified_only_where_every_sample_has_a_class_with_ten_points():
    data = table_of([200, 200, 200, 200])
    parts = list(parts_of(data, [30, 60], ["LDA"], ["cv", "resub"], 1))
    assert {part.sizes: part.stratified for part in parts} == {(60,): True, (30,): False}
    assert {part.study().estimators["cv"].stratified for part in parts} == {True, False}
    assert len({part.folder for part in parts}) == 2
