"""`estimate --test FILE`: rows that nothing has seen, however the file writes them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from skops import io


def table(n, seed):
    rng = np.random.default_rng(seed)
    label = np.arange(n) % 2
    return pd.DataFrame({"size": rng.normal(2 * label), "weight": rng.normal(size=n), "kind": label})


SEEN, UNSEEN = table(40, 0), table(20, 1)


@pytest.fixture
def judge(run):
    """Return a function that writes both files, runs the command and returns what it did."""

    def run_on(seen, unseen, *options):
        for name, data in (("seen.csv", seen), ("unseen.csv", unseen)):
            data.to_csv(name, index=False)
        files = ("seen.csv", "--target", "kind", "--test", "unseen.csv", "--json", "out.json", "--force")
        return run("estimate", *files, "--estimators", "resub", "--refits", "0", *options)

    return run_on


def counted():
    return json.loads(Path("out.json").read_text())["answer"]["test"]["n_points"]


def said(result):
    return " ".join((result.stdout + result.stderr).split())


@pytest.mark.parametrize(
    ("in_training", "held_out"),
    [(["false", "true"], ["false", "true"]), ([False, True], ["false", "true"]), (["0.0", "1.0"], ["0.0", "1.0"])],
)
def test_labels_are_compared_by_value(judge, in_training, held_out):
    seen = SEEN.assign(kind=np.array(in_training)[SEEN["kind"]])
    result = judge(seen, UNSEEN.assign(kind=np.array(held_out)[UNSEEN["kind"]]))
    assert result.exit_code == 0, said(result)
    assert counted() == 20


def test_one_class_is_enough(judge):
    result = judge(SEEN, UNSEEN[UNSEEN["kind"] == 1])
    assert result.exit_code == 0, said(result)
    assert counted() == 10


def test_model_takes_its_own_columns(judge):
    seen, unseen = (data.assign(more=1.5 * np.arange(len(data))) for data in (SEEN, UNSEEN))
    columns = ["weight", "size"]
    io.dump(LinearDiscriminantAnalysis().fit(seen[columns], seen["kind"]), "model.skops")
    result = judge(seen, unseen, "--model", "model.skops")
    assert result.exit_code == 0, said(result)
    wrong = LinearDiscriminantAnalysis().fit(seen[columns], seen["kind"]).predict(unseen[columns]) != unseen["kind"]
    assert json.loads(Path("out.json").read_text())["answer"]["test"] == {"n_wrong": wrong.sum(), "n_points": 20}


def test_codes_that_look_like_numbers_stay_texts(judge):
    seen = SEEN.assign(place=np.array(["1", "2", "x"])[np.arange(40) % 3])
    result = judge(seen, UNSEEN.assign(place=1), "--prepare")
    assert result.exit_code == 0, said(result)


def without_label(data):
    return data.assign(kind=data["kind"].astype(float).where(data.index != 3))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: SEEN, "equal a training row in all features"),
        (
            without_label,
            "unseen.csv lacks 1 in column 'kind', the first in row 4",
        ),
        (
            lambda data: data.assign(size=data["size"].where(data.index != 2)),
            "unseen.csv must be complete, as in seen.csv",
        ),
        (lambda data: data.assign(size="big"), "must hold numbers, as in seen.csv; row 1 has"),
    ],
)
def test_what_cannot_be_counted_is_told_by_file_column_and_row(judge, change, message):
    result = judge(SEEN, change(UNSEEN))
    assert result.exit_code != 0
    assert message in said(result)


def test_groups_of_both_files_must_differ(judge):
    seen, unseen = SEEN.assign(who=np.arange(40) // 2), UNSEEN.assign(who=19 + np.arange(20))
    result = judge(seen, unseen, "--groups", "who")
    assert result.exit_code != 0
    assert "unseen.csv and seen.csv share 19 in column 'who'" in said(result)
    assert judge(seen, unseen.assign(who=40 + np.arange(20)), "--groups", "who").exit_code == 0
