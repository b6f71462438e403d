"""Named rules: each is trained and judged, and the preparation gives numbers whatever a fold holds."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from bayes_gresub.cli.named_rules import behind, make_rule, named_rules, preparing

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("name", [rule.name for rule in named_rules()])
def test_every_rule_learns_iris(name):
    rule = make_rule(name)
    if "mlpclassifier" in getattr(rule, "named_steps", {}):
        rule.set_params(mlpclassifier__random_state=0)
    assert rule.fit(X, Y).score(X, Y) > 0.9


@pytest.mark.parametrize("name", ["logistic", "linear-svm", "rbf-svm", "3nn", "11nn", "mlp"])
def test_rules_to_which_units_matter_scale_them(name):
    assert make_rule(name).steps[0][0] == "standardscaler"


def test_a_new_rule_is_made_each_time():
    assert make_rule("lda") is not make_rule("lda")


def test_unknown_names_list_the_valid_ones_nearest_first():
    with pytest.raises(ValueError, match=r"unknown classifier 'logistics'; the names are logistic, "):
        make_rule("logistics")


FRAME = pd.DataFrame(
    {
        "size": [1.0, np.nan, 3.0, 5.0],
        "colour": pd.Series(["red", None, "blue", "red"], dtype=object),
    }
)


def test_missing_numbers_become_the_median():
    assert preparing([], ["size"], []).fit_transform(FRAME).ravel().tolist() == [1.0, 3.0, 3.0, 5.0]


def test_missing_texts_are_a_text_of_their_own():
    columns = preparing([], [], ["colour"]).fit_transform(FRAME)
    assert columns[1].sum() == 0  # "(missing)" sorts first, and is what the others are told apart from
    assert columns.shape == (4, 2)


def test_columns_that_are_not_named_are_dropped():
    assert preparing(["size"], [], []).fit_transform(FRAME).shape == (4, 1)


@pytest.mark.filterwarnings("ignore:Found unknown categories:UserWarning")
def test_texts_that_a_fold_did_not_hold_are_no_error():
    step = preparing([], [], ["colour"]).fit(FRAME[:3])
    new = FRAME.assign(colour=pd.Series(["green"] * 4, dtype=object))
    assert (step.transform(new) == 0).all()


def test_a_column_that_a_fold_lacks_keeps_its_place():
    step = preparing([], ["size"], []).fit(FRAME.assign(size=np.nan))
    assert step.transform(FRAME).shape == (4, 1)


def test_refitting_refits_the_preparation():
    rule = behind(preparing([], ["size"], []), make_rule("3nn").set_params(kneighborsclassifier__n_neighbors=1))
    fitted = clone(rule).fit(FRAME[:3], [0, 1, 1])
    assert fitted.named_steps["prepare"].named_transformers_["medians"].statistics_.tolist() == [2.0]
