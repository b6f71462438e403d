"""`estimate --model`: a trained model is judged as it is, and files that can run code need --trust."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from skops import io

import bayes_gresub as bg
from bayes_gresub.cli import model_files
from bayes_gresub.cli.loaded_trees import check_trees
from bayes_gresub.data.exact_digits import exact_digits


class Own(ClassifierMixin, BaseEstimator):
    """A classifier that skops does not know."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[0], len(X))


def saved(model, flowers, columns=("size", "weight")):
    data = pd.read_csv(flowers, **exact_digits())
    io.dump(model.fit(data[list(columns)], data["kind"]), "model.skops")
    return model


@pytest.fixture
def judge(run, flowers):
    return lambda *options: run("estimate", flowers, "--target", "kind", "--estimators", "resub,bolstered", *options)


def words(result):
    return " ".join(result.stdout.split())


def test_model_is_judged_as_it_is(judge, flowers):
    model = saved(LinearDiscriminantAnalysis(), flowers)
    assert judge("--model", "model.skops", "--csv", "out.csv").exit_code == 0
    data = pd.read_csv(flowers, **exact_digits())
    expected = bg.Bolstered().fit(data[["size", "weight"]], data["kind"]).error(model).value
    assert pd.read_csv("out.csv", **exact_digits())["estimate"][1] == expected


def test_refits_of_a_model_are_said_to_train_a_clone(judge, flowers):
    saved(LinearDiscriminantAnalysis(), flowers)
    assert "Estimates with refits train a clone" in judge("--model", "model.skops").stdout


def test_columns_that_the_model_does_not_know_are_left_out(judge, flowers):
    saved(NearestCentroid(), flowers, ["weight"])
    assert "not trained on are left out: size" in words(judge("--model", "model.skops"))


def test_pipeline_that_prepares_texts_is_judged_behind_its_preparation(run, mixed):
    data = pd.read_csv(mixed, **exact_digits())[["size", "colour", "kind"]]
    data.to_csv("texts.csv", index=False)
    encoder = make_column_transformer((OneHotEncoder(sparse_output=False), ["colour"]), remainder="passthrough")
    io.dump(make_pipeline(encoder, NearestCentroid()).fit(data[["size", "colour"]], data["kind"]), "model.skops")
    result = run("estimate", "texts.csv", "--target", "kind", "--model", "model.skops", "--estimators", "bolstered,cv")
    assert "bolstered: judged at the prepared columns (4)" in words(result)
    assert result.exit_code == 0


def refused(result):
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    return result.stderr


def test_pickle_is_refused_with_the_reason(judge):
    Path("model.pkl").write_bytes(pickle.dumps(NearestCentroid()))
    assert "runs whatever code its writer put there" in refused(judge("--model", "model.pkl"))


def test_refused_pickle_is_not_loaded(judge, tmp_path):
    Path("model.pkl").write_bytes(b"cos\nmkdir\n(S'ran'\ntR.")
    judge("--model", "model.pkl")
    assert not (tmp_path / "ran").exists()


def test_trusted_pickle_is_loaded(judge, flowers):
    data = pd.read_csv(flowers, **exact_digits())
    model = NearestCentroid().fit(data[["size", "weight"]], data["kind"])
    Path("model.pkl").write_bytes(pickle.dumps(model))
    assert judge("--model", "model.pkl", "--trust").exit_code == 0


def test_unknown_types_are_named(judge, flowers):
    saved(Own(), flowers)
    said = refused(judge("--model", "model.skops"))
    assert "Own" in said
    assert "--trust" in said


def test_file_that_is_no_model(judge):
    Path("model.pkl").write_text("nothing of the kind")
    assert "cannot be read as pickle or joblib" in refused(judge("--model", "model.pkl", "--trust"))


def test_object_that_is_no_classifier(judge):
    Path("model.pkl").write_bytes(pickle.dumps({"a": 1}))
    assert "must hold a trained classifier with predict; it holds a dict" in refused(
        judge("--model", "model.pkl", "--trust")
    )


def test_untrained_model(judge):
    io.dump(NearestCentroid(), "model.skops")
    assert "is not trained" in refused(judge("--model", "model.skops"))


def test_missing_model_file(judge):
    assert "there is no model file 'none.skops'" in refused(judge("--model", "none.skops"))


def test_model_of_other_columns(run, flowers):
    data = pd.read_csv(flowers, **exact_digits())
    saved(NearestCentroid(), flowers)
    data[["size", "kind"]].to_csv("fewer.csv", index=False)
    result = run("estimate", "fewer.csv", "--target", "kind", "--model", "model.skops")
    assert "columns that the table lacks: weight" in refused(result)


def test_model_of_other_labels(run, flowers):
    saved(NearestCentroid(), flowers)
    data = pd.read_csv(flowers).replace({"kind": {"a": "c"}})
    data.to_csv("other.csv", index=False)
    assert "the table has c as well" in refused(
        run("estimate", "other.csv", "--target", "kind", "--model", "model.skops")
    )


def test_model_and_classifier_exclude_each_other(judge, flowers):
    saved(NearestCentroid(), flowers)
    assert "Leave --classifier and --prepare out" in refused(judge("--model", "model.skops", "--classifier", "lda"))


def trained_without_names(model, flowers):
    data = pd.read_csv(flowers, **exact_digits())
    io.dump(model.fit(data[["size", "weight"]].to_numpy(), data["kind"]), "model.skops")
    return model


def test_columns_taken_by_position_are_said(judge, flowers):
    trained_without_names(NearestCentroid(), flowers)
    printed = words(judge("--model", "model.skops"))
    assert "no column names, so columns are taken by position" in printed
    assert "in the order of its training: size, weight." in printed


def test_columns_with_names_are_not_said_to_be_by_position(judge, flowers):
    saved(NearestCentroid(), flowers)
    assert "by position" not in words(judge("--model", "model.skops"))


def test_more_columns_than_an_unnamed_model_has_are_refused(run, flowers):
    trained_without_names(NearestCentroid(), flowers)
    pd.read_csv(flowers).assign(age=range(30)).to_csv("more.csv", index=False)
    said = refused(run("estimate", "more.csv", "--target", "kind", "--model", "model.skops"))
    assert "2 columns without names, and the table has 3 besides the target" in said


def test_a_model_that_knows_neither_names_nor_number_of_columns_is_refused(judge, flowers):
    saved(Own(), flowers)
    said = refused(judge("--model", "model.skops", "--trust"))
    assert "the order of the columns must be known; the Own in the file has neither" in said


def behind_columns(classifier, **options):
    return make_pipeline(
        make_column_transformer((OneHotEncoder(sparse_output=False), ["colour"]), **options), classifier
    )


COMMON = {
    "tree": DecisionTreeClassifier(),
    "forest": RandomForestClassifier(3),
    "extra trees": ExtraTreesClassifier(3),
    "boosting": GradientBoostingClassifier(n_estimators=3),
    "histogram boosting": HistGradientBoostingClassifier(max_iter=3),
    "AdaBoost": AdaBoostClassifier(n_estimators=3),
    "bagging": BaggingClassifier(n_estimators=3, max_features=1),
    "columns and forest": behind_columns(RandomForestClassifier(3), remainder="passthrough"),
    "columns and boosting": behind_columns(GradientBoostingClassifier(n_estimators=3), remainder=StandardScaler()),
    "selected columns": make_pipeline(
        make_column_transformer(
            (make_pipeline(SimpleImputer(), StandardScaler()), make_column_selector(dtype_include="number")),
            (OneHotEncoder(sparse_output=False), make_column_selector(dtype_exclude="number")),
        ),
        HistGradientBoostingClassifier(max_iter=3),
    ),
}


@pytest.mark.parametrize("name", COMMON)
def test_common_models_load_without_trust(run, mixed, name):
    data = pd.read_csv(mixed, **exact_digits())[
        ["size", "colour", "kind"] if "columns" in name else ["size", "same", "kind"]
    ]
    data.to_csv("data.csv", index=False)
    io.dump(COMMON[name].fit(data.drop(columns="kind"), data["kind"]), "model.skops")
    result = run("estimate", "data.csv", "--target", "kind", "--model", "model.skops", "--estimators", "resub")
    assert (result.exit_code, result.stderr) == (0, "")


def test_unknown_types_are_all_listed_and_known_ones_are_not(judge, flowers):
    saved(BaggingClassifier(Own(), n_estimators=2), flowers)
    said = refused(judge("--model", "model.skops"))
    assert "not known to be safe" in said
    assert "Own" in said
    saved(make_pipeline(StandardScaler(), DecisionTreeClassifier()), flowers)
    assert judge("--model", "model.skops").exit_code == 0


def test_types_of_other_packages_are_never_known_to_be_safe():
    assert all(name.startswith(("sklearn.", "numpy.dtype")) for name in model_files.SAFE_TYPES)


def changed_tree(**values):
    """Return a trained tree whose root has other values."""
    X, y = np.arange(20.0).reshape(10, 2), [0, 1] * 5
    model = DecisionTreeClassifier(max_depth=3).fit(X, y)
    state = model.tree_.__getstate__()
    for name, value in values.items():
        if name in state:
            state[name] = value
        else:
            state["nodes"][name][0] = value
    model.tree_.__setstate__(state)
    return model


CHANGES = [
    {"left_child": 10**9},
    {"left_child": 0},
    {"left_child": -7},
    {"right_child": 1},
    {"feature": 2},
    {"feature": -2},
    {"max_depth": 0},
]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_trees_that_lead_elsewhere_are_refused(change):
    with pytest.raises(ValueError, match="must lead from node to node of their own"):
        check_trees(changed_tree(**change))


@pytest.mark.parametrize("change", CHANGES[:2], ids=str)
def test_files_with_such_trees_are_refused(judge, flowers, change):
    model = changed_tree(**change)
    model.classes_ = np.array(["a", "b"])
    io.dump(model, "model.skops")
    assert "must lead from node to node" in refused(judge("--model", "model.skops"))


def test_trees_for_more_columns_than_their_forest_are_refused():
    forest = RandomForestClassifier(2).fit(np.arange(20.0).reshape(10, 2), [0, 1] * 5)
    forest.n_features_in_ = 1
    with pytest.raises(ValueError, match="must lead from node to node of their own"):
        check_trees(forest)


@pytest.mark.parametrize(("field", "value"), [("left", 10**6), ("right", 0), ("feature_idx", 9), ("is_categorical", 1)])
def test_histogram_trees_that_lead_elsewhere_are_refused(field, value):
    X = np.arange(100.0).reshape(100, 1)
    model = HistGradientBoostingClassifier(max_iter=1).fit(X, X[:, 0] > 50)
    model._predictors[0][0].nodes[field][0] = value
    with pytest.raises(ValueError, match="must lead from node to node of their own"):
        check_trees(model)


def test_model_files_stop_at_the_stated_size(judge, flowers, monkeypatch):
    saved(NearestCentroid(), flowers)
    monkeypatch.setattr(model_files, "MOST_UNPACKED", 100)
    assert "when unpacked; model.skops has" in refused(judge("--model", "model.skops"))
