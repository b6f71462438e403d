"""Held-out rows beside an answer: what is counted, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.tree import DecisionTreeClassifier

import bayes_gresub as bg
from bayes_gresub.assessing.notices import NoErrors
from bayes_gresub.estimate.intervals import clopper_pearson

NAMES = list("abcd")


def two_classes(n, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    return rng.normal(size=(n, 4)) + labels[:, None] * [0.8, 0.4, 0.0, 0.0], labels


X, y = two_classes(60)
X_NEW, Y_NEW = two_classes(140, seed=1)
LDA = LinearDiscriminantAnalysis().fit(X, y)


def test_wrong_rows_are_counted():
    answer = bg.assess(LDA, X, y, test=(X_NEW, Y_NEW))
    assert answer.test == (np.sum(LDA.predict(X_NEW) != Y_NEW), 140)


def test_rows_of_one_class_are_counted():
    ones = Y_NEW == 1
    answer = bg.assess(LDA, X, y, test=(X_NEW[ones], Y_NEW[ones]))
    assert answer.test == (np.sum(LDA.predict(X_NEW[ones]) != 1), 70)


def test_label_that_the_classifier_never_saw_is_an_error():
    labels = np.where(np.arange(140) < 10, 7, Y_NEW)
    assert bg.assess(LDA, X, y, test=(X_NEW, labels)).test[0] == np.sum(LDA.predict(X_NEW) != labels)


def test_rows_that_the_classifier_was_trained_on_are_refused():
    with pytest.raises(ValueError, match="60 of 60 equal a training row in all features, while 0 of the 60"):
        bg.assess(LDA, X, y, test=(X, y))


def test_a_part_of_them_is_refused():
    with pytest.raises(ValueError, match="20 of 160 equal a training row"):
        bg.assess(LDA, X, y, test=(np.vstack([X[:20], X_NEW]), np.r_[y[:20], Y_NEW]))


def test_rows_of_few_values_may_repeat():
    """Coarse rows equal each other in any sample, new or not."""
    coarse, new = np.sign(X), np.sign(X_NEW)
    assert bg.assess(LinearDiscriminantAnalysis().fit(coarse, y), coarse, y, test=(new, Y_NEW)).test[1] == 140


def test_columns_in_another_order_are_refused():
    table, new = pd.DataFrame(X, columns=NAMES), pd.DataFrame(X_NEW, columns=NAMES)
    with pytest.raises(ValueError, match="held-out rows: X must have the columns seen in fit, in the same order"):
        bg.assess(LDA, table, y, test=(new[NAMES[::-1]], Y_NEW))


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"sample_weight": np.ones(140)}, "each must weigh the same"), ({"measure": bg.Bolstered()}, "that smooths")],
)
def test_test_sets_that_do_not_count_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        bg.assess(LDA, X, y, test=bg.TestSet(X_NEW, Y_NEW, **settings))


def test_labels_of_another_type_are_refused():
    with pytest.raises(ValueError, match="labels of held-out rows must be those of y"):
        bg.assess(LDA, X, y, test=(X_NEW, Y_NEW.astype(str)))


def test_missing_values_are_told_as_those_of_held_out_rows():
    with pytest.raises(ValueError, match="held-out rows: X must be finite"):
        bg.assess(LDA, X, y, test=(np.where(X_NEW > 2, np.nan, X_NEW), Y_NEW))


def test_errors_at_held_out_rows_end_the_note_that_there_are_none():
    rows = X + 40 * y[:, None]
    classifier = DecisionTreeClassifier(random_state=0).fit(rows, y)
    lda = LinearDiscriminantAnalysis().fit(rows, y)
    assert any(isinstance(notice, NoErrors) for notice in bg.assess(lda, rows, y).notices)
    for one in (classifier, lda):
        answer = bg.assess(one, rows, y, test=(X_NEW + 40 * (1 - Y_NEW[:, None]), Y_NEW))
        assert answer.test == (140, 140)
        assert not any(isinstance(notice, NoErrors) for notice in answer.notices)


def test_more_rows_are_asked_for_if_there_are_some():
    assert "more held-out rows as test=(X, y)" in str(bg.assess(LDA, X, y, test=(X_NEW, Y_NEW)))
    assert " more held-out" not in str(bg.assess(LDA, X, y))


def test_test_set_of_one_class_has_its_share_of_errors():
    ones = Y_NEW == 1
    estimate = bg.TestSet(X_NEW[ones], Y_NEW[ones]).error(LDA)
    assert float(estimate) == pytest.approx(np.mean(LDA.predict(X_NEW[ones]) != 1))
    assert list(estimate.interval()) == pytest.approx(list(clopper_pearson(round(70 * float(estimate)), 70, 0.95)))
