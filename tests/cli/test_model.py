"""`estimate --model`: a trained model is judged as it is, and files that can run code need --trust."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from skops import io

import bayes_gresub as bg


class Own(ClassifierMixin, BaseEstimator):
    """A classifier that skops does not know."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[0], len(X))


def saved(model, flowers, columns=("size", "weight")):
    data = pd.read_csv(flowers)
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
    data = pd.read_csv(flowers)
    expected = bg.Bolstered().fit(data[["size", "weight"]], data["kind"]).error(model).value
    assert pd.read_csv("out.csv")["estimate"][1] == expected


def test_refits_of_a_model_are_said_to_train_a_clone(judge, flowers):
    saved(LinearDiscriminantAnalysis(), flowers)
    assert "Estimates with refits train a clone" in judge("--model", "model.skops").stdout


def test_columns_that_the_model_does_not_know_are_left_out(judge, flowers):
    saved(NearestCentroid(), flowers, ["weight"])
    assert "not trained on are left out: size" in words(judge("--model", "model.skops"))


def test_pipeline_that_prepares_texts_is_judged_behind_its_preparation(run, mixed):
    data = pd.read_csv(mixed)[["size", "colour", "kind"]]
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
    data = pd.read_csv(flowers)
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
    data = pd.read_csv(flowers)
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
