"""`compare`: many estimators on one classifier, what they share, and the table they make."""

from __future__ import annotations

import functools
from html.parser import HTMLParser

import matplotlib as mpl
import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import bayes_gresub as bg
from bayes_gresub.estimate.reasons import ClassProbabilitiesUnknown

MEASURES = [entry.name for entry in bg.estimators("measure")]
RESAMPLERS = [entry.name for entry in bg.estimators("resampler")]
COLUMNS = [
    "kind",
    "estimate",
    "low",
    "high",
    "std_error",
    "seconds",
    "n_refits",
    "n_predicted",
    "exact",
    "interval",
    "no_interval",
    "estimand",
    "message",
]


@functools.cache
def sample(n=40, seed=0):
    return bg.datasets.PaperGaussian().sample(n, random_state=seed)


class Counted(ClassifierMixin, BaseEstimator):
    """Nearest centroid in one feature, which counts its fits over all clones."""

    fits = 0

    def __init__(self, feature=0):
        self.feature = feature

    def fit(self, X, y):
        type(self).fits += 1
        self.classes_ = np.unique(y)
        self.centers_ = np.array([X[y == label, self.feature].mean() for label in self.classes_])
        return self

    def predict(self, X):
        return self.classes_[np.abs(X[:, [self.feature]] - self.centers_).argmin(axis=1)]


class Stopped(Counted):
    """Counted, which raises at one of its fits."""

    stop_at = 0
    raises: type[BaseException] = KeyboardInterrupt

    def fit(self, X, y):
        super().fit(X, y)
        if type(self).fits == type(self).stop_at:
            raise type(self).raises("at fit <b>seven</b> & more")
        return self


@pytest.fixture(autouse=True)
def nothing_counted(monkeypatch):
    monkeypatch.setattr(Counted, "fits", 0)
    monkeypatch.setattr(Stopped, "fits", 0)


class Broken(bg.Empirical):
    """A measure that fails."""

    def error(self, *args, **kwargs):
        raise RuntimeError("this measure <i>fails</i> & says so")


def bootstraps(n_resamples=8, **given):
    return {kind: bg.Bootstrap(kind, n_resamples, **given) for kind in ("zero", "632", "632+")}


# The choice of estimators


def test_each_estimator_is_a_row_in_the_order_given():
    table = bg.compare(LinearDiscriminantAnalysis(), *sample(), ["loo", "resub", "bolstered"])
    assert [row.name for row in table.rows] == ["loo", "resub", "bolstered"]


def test_measures_means_every_registered_measure():
    table = bg.compare(LinearDiscriminantAnalysis(), *sample(), "measures", random_state=0)
    assert [row.name for row in table.rows] == MEASURES


def test_resamplers_means_every_registered_resampler():
    table = bg.compare(Counted(), *sample(), "resamplers", random_state=0)
    assert [row.name for row in table.rows] == RESAMPLERS


def test_all_means_every_registered_estimator():
    table = bg.compare(Counted(), *sample(), "all", random_state=0)
    assert [row.name for row in table.rows] == [entry.name for entry in bg.estimators()]


def test_default_leaves_out_what_is_there_for_the_paper_only():
    table = bg.compare(Counted(), *sample(), random_state=0)
    assert [row.name for row in table.rows] == [entry.name for entry in bg.estimators() if entry.main]
    assert not any(row.name.startswith("paper-") for row in table.rows)


def test_no_registered_estimator_fails_on_an_ordinary_sample():
    table = bg.compare(Counted(), *sample(), "all", random_state=0)
    assert {row.name: row.message for row in table.rows if row.message} == {}


def test_dict_names_the_rows():
    chosen = {"mine": bg.Bolstered(), "by name": "resub"}
    table = bg.compare(LinearDiscriminantAnalysis(), *sample(), chosen)
    assert [row.name for row in table.rows] == ["mine", "by name"]


def test_estimators_in_a_list_are_named_by_their_parameters():
    chosen = [bg.Empirical(), bg.CrossValidation(4), "resub"]
    table = bg.compare(LinearDiscriminantAnalysis(), *sample(), chosen)
    assert [row.name for row in table.rows] == ["Empirical()", "CrossValidation(folds=4)", "resub"]


@pytest.mark.parametrize("one", ["resub", bg.Empirical(), bg.LeaveOneOut()], ids=["name", "measure", "resampler"])
def test_single_estimator_needs_no_list(one):
    assert len(bg.compare(Counted(), *sample(), one).rows) == 1


def test_iterator_of_names_will_do():
    table = bg.compare(Counted(), *sample(), iter(["resub", "bolstered"]))
    assert [row.name for row in table.rows] == ["resub", "bolstered"]


def test_unknown_name_lists_the_names():
    with pytest.raises(ValueError, match="unknown estimator 'bolsterd'; the names are bolstered, ") as raised:
        bg.compare(Counted(), *sample(), ["bolsterd"])
    assert all(name in str(raised.value) for name in MEASURES + RESAMPLERS)


@pytest.mark.parametrize("twice", [["resub", "resub"], [bg.Bolstered(), bg.Bolstered()]], ids=["names", "objects"])
def test_two_rows_of_one_name_are_refused(twice):
    with pytest.raises(ValueError, match=r"different names; got '.*' twice. Rename one"):
        bg.compare(Counted(), *sample(), twice)


def test_row_named_like_that_of_the_test_set_is_refused():
    with pytest.raises(ValueError, match=r"different names; got 'test set' twice"):
        bg.compare(Counted(), *sample(), {"test set": "resub"}, test=sample(30, 1))


@pytest.mark.parametrize("nothing", [[], {}, ()], ids=repr)
def test_no_estimator_at_all_is_refused(nothing):
    with pytest.raises(ValueError, match="estimators must name at least one; got none"):
        bg.compare(Counted(), *sample(), nothing)


@pytest.mark.parametrize("wrong", [3, None, bg.Bolstered], ids=["number", "none", "class"])
def test_what_holds_no_estimators_is_refused(wrong):
    with pytest.raises(TypeError, match="estimators must be names, estimators or a dict of them; got"):
        bg.compare(Counted(), *sample(), wrong)


@pytest.mark.parametrize("wrong", [bg.Bolstered, GaussianNB()], ids=["class", "classifier"])
def test_what_is_no_estimator_is_refused_in_a_list(wrong):
    with pytest.raises(TypeError, match="estimators must hold measures and resamplers or their names; got"):
        bg.compare(Counted(), *sample(), [wrong])


@pytest.mark.parametrize("wrong", [bg.Bolstered, GaussianNB()], ids=["class", "classifier"])
def test_what_is_no_estimator_is_refused_in_a_dict(wrong):
    with pytest.raises(TypeError, match="estimators must hold measures and resamplers or their names; got"):
        bg.compare(Counted(), *sample(), {"wrong": wrong})


def test_test_set_among_the_estimators_is_sent_to_its_argument():
    with pytest.raises(TypeError, match="A TestSet goes to test="):
        bg.compare(Counted(), *sample(), {"held out": bg.TestSet(*sample(30, 1))})


def test_estimators_of_the_user_stay_as_they_are():
    mine = bg.Bolstered()
    bg.compare(LinearDiscriminantAnalysis(), *sample(), [mine], random_state=0)
    assert mine.random_state is None
    assert not hasattr(mine, "classes_")


# What is fitted, and how often


def test_rule_is_fitted_once_for_all_measures():
    bg.compare(Counted(), *sample(), "measures", random_state=0)
    assert Counted.fits == 1


def test_rule_of_the_user_stays_unfitted():
    rule = Counted()
    bg.compare(rule, *sample(), ["resub"])
    assert not hasattr(rule, "classes_")


def test_bootstrap_kinds_share_their_resamples():
    """One fit to all points, eight resamples, and none for the apparent error of each kind."""
    bg.compare(Counted(), *sample(), bootstraps(8), random_state=0)
    assert Counted.fits == 1 + 8


@pytest.mark.parametrize("order", [("zero", "632+"), ("632+", "zero"), ("632", "zero")], ids="-".join)
def test_bootstrap_kinds_share_their_resamples_in_any_order(order):
    bg.compare(Counted(), *sample(), {kind: bg.Bootstrap(kind, 8) for kind in order}, random_state=0)
    assert Counted.fits == 1 + 8


def test_bootstraps_that_differ_in_more_than_kind_do_not_share():
    chosen = {"few": bg.Bootstrap("zero", 5), "more": bg.Bootstrap("632", 7)}
    bg.compare(Counted(), *sample(), chosen, random_state=0)
    assert Counted.fits == 1 + 5 + 7


def test_bootstraps_with_seeds_of_their_own_do_not_share():
    chosen = {"one": bg.Bootstrap("zero", 5, random_state=1), "other": bg.Bootstrap("632", 5, random_state=2)}
    bg.compare(Counted(), *sample(), chosen, random_state=0)
    assert Counted.fits == 1 + 5 + 5


def test_fits_are_counted_in_the_table():
    """The fit to all points is no row's own."""
    chosen = {"cv": bg.CrossValidation(4), "zero": bg.Bootstrap("zero", 6), "calibrated": bg.Calibrated(bg.Bolstered())}
    table = bg.compare(Counted(), *sample(), chosen, random_state=0)
    assert table.to_frame()["n_refits"].sum() == Counted.fits - 1


def test_fitted_classifier_is_not_fitted_again_for_measures():
    classifier = Counted().fit(*sample())
    bg.compare(classifier, *sample(), "measures", random_state=0)
    assert Counted.fits == 1


@pytest.mark.parametrize("name", ["resub", "bolstered", "3nn-pp"])
def test_fitted_classifier_is_judged_as_it_is(name):
    X, y = sample()
    trained_otherwise = LinearDiscriminantAnalysis().fit(X, 1 - y)
    table = bg.compare(trained_otherwise, X, y, [name], random_state=0)
    assert table[name].value == bg.make_estimator(name, random_state=0).fit(X, y).error(trained_otherwise).value


def test_rows_that_refit_use_a_clone_of_a_fitted_classifier():
    X, y = sample()
    trained_otherwise = LinearDiscriminantAnalysis().fit(X, 1 - y)
    table = bg.compare(trained_otherwise, X, y, ["cv"], random_state=0)
    assert table["cv"].value == bg.CrossValidation(random_state=0).error(LinearDiscriminantAnalysis(), X, y).value


def test_note_says_that_the_classifier_came_fitted():
    table = bg.compare(GaussianNB().fit(*sample()), *sample(), ["resub"])
    assert "The classifier was already fitted" in repr(table)


def test_no_note_says_so_of_a_rule():
    assert "already fitted" not in repr(bg.compare(GaussianNB(), *sample(), ["resub"]))


@pytest.mark.parametrize("wrap", [FrozenEstimator, lambda one: make_pipeline(StandardScaler(), one)])
def test_wrapped_classifiers_are_judged(wrap):
    X, y = sample()
    classifier = wrap(GaussianNB().fit(X, y))
    if not isinstance(classifier, FrozenEstimator):
        classifier = classifier.fit(X, y)
    table = bg.compare(classifier, X, y, ["resub"])
    assert table["resub"].value == np.mean(classifier.predict(X) != y)


def test_frozen_classifier_fails_in_the_rows_that_refit_only():
    table = bg.compare(FrozenEstimator(GaussianNB().fit(*sample())), *sample(), ["resub", "cv"], random_state=0)
    messages = table.to_frame()["message"]
    assert messages["resub"] == ""
    assert "a FrozenEstimator does not" in messages["cv"]


# The numbers


@pytest.mark.parametrize("name", ["resub", "bolstered", "nb-bolstered", "bolstered-3nn-pp", "paper-3nn-pp"])
def test_measure_says_what_it_says_by_hand(name):
    X, y = sample()
    by_hand = bg.make_estimator(name, random_state=3).fit(X, y).error(SVC().fit(X, y))
    assert bg.compare(SVC(), X, y, [name], random_state=3)[name].value == by_hand.value


BY_HAND = {
    "cv": bg.CrossValidation(4, repeats=2),
    "bolstered cv": bg.CrossValidation(4, measure=bg.Bolstered()),
    "loo": bg.LeaveOneOut(),
    "zero": bg.Bootstrap("zero", 8),
    "632": bg.Bootstrap("632", 8),
    "632+": bg.Bootstrap("632+", 8),
    "calibrated": bg.Calibrated(bg.Bolstered()),
}


@functools.cache
def compared_resamplers():
    return bg.compare(SVC(), *sample(), BY_HAND, random_state=3)


@pytest.mark.parametrize("name", BY_HAND)
def test_resampler_says_what_it_says_by_hand(name):
    by_hand = BY_HAND[name].error(SVC(), *sample(), random_state=3)
    assert compared_resamplers()[name].value == by_hand.value


@pytest.mark.parametrize("name", ["zero", "632"])
def test_interval_of_shared_resamples_is_that_by_hand(name):
    chosen = bootstraps(150)
    by_hand = chosen[name].error(Counted(), *sample(), random_state=3)
    assert tuple(bg.compare(Counted(), *sample(), chosen, random_state=3)[name].interval()) == tuple(by_hand.interval())


def test_seed_of_an_estimator_is_its_own():
    own = bg.CrossValidation(4, random_state=11)
    table = bg.compare(SVC(), *sample(), {"own": own}, random_state=3)
    assert table["own"].value == own.error(SVC(), *sample()).value


def test_random_state_makes_the_table_reproducible():
    chosen = ["bolstered", "bolstered-3nn-pp", "cv"]
    one, other = (bg.compare(SVC(), *sample(), chosen, random_state=5).to_frame()["estimate"] for _ in range(2))
    assert one.equals(other)


def test_random_state_reaches_rules_without_a_seed():
    rule = DecisionTreeClassifier(splitter="random", max_features=1)
    one, other = (bg.compare(rule, *sample(), ["bolstered", "cv"], random_state=5).to_frame() for _ in range(2))
    assert one["estimate"].equals(other["estimate"])


def test_another_random_state_gives_other_numbers():
    one, other = (bg.compare(SVC(), *sample(), ["bolstered"], random_state=seed)["bolstered"] for seed in (5, 6))
    assert one.value != other.value


def test_processes_change_no_number():
    one, two = (
        bg.compare(LinearDiscriminantAnalysis(), *sample(), bootstraps(8), random_state=0, n_jobs=n_jobs).to_frame()
        for n_jobs in (1, 2)
    )
    assert one["estimate"].equals(two["estimate"])


def test_weights_reach_measures():
    X, y = sample()
    weights = 1.0 + np.arange(len(y)) % 4
    table = bg.compare(GaussianNB(), X, y, ["resub"], sample_weight=weights)
    wrong = GaussianNB().fit(X, y, sample_weight=weights).predict(X) != y
    assert table["resub"].value == pytest.approx(np.average(wrong, weights=weights), abs=1e-12)


@pytest.mark.parametrize("name", ["cv", "632+"])
def test_weights_reach_resamplers(name):
    X, y = sample()
    weights = 1.0 + np.arange(len(y)) % 4
    table = bg.compare(LogisticRegression(), X, y, BY_HAND, sample_weight=weights, random_state=3)
    by_hand = BY_HAND[name].error(LogisticRegression(), X, y, sample_weight=weights, random_state=3)
    assert table[name].value == by_hand.value


def test_rows_of_zero_weight_are_not_trained_on():
    X, y = sample()
    kept = np.arange(len(y)) % 5 != 2
    one = bg.compare(GaussianNB(), X, y, ["resub", "loo"], sample_weight=kept.astype(float))
    other = bg.compare(GaussianNB(), X[kept], y[kept], ["resub", "loo"])
    np.testing.assert_allclose(one.to_frame()["estimate"], other.to_frame()["estimate"], atol=1e-12)


def test_weights_for_a_rule_that_takes_none_are_refused():
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight in fit"):
        bg.compare(KNeighborsClassifier(), *sample(), ["resub"], sample_weight=np.ones(40))


def test_groups_reach_resamplers():
    table = bg.compare(Counted(), *sample(), ["loo"], groups=np.repeat(np.arange(8), 5))
    assert table["loo"].computation.n_refits == 8


def test_groups_reach_shared_resamples():
    X, y = sample()
    groups = np.repeat(np.arange(10), 4)
    table = bg.compare(Counted(), X, y, bootstraps(8), groups=groups, random_state=3)
    by_hand = bg.Bootstrap("zero", 8).error(Counted(), X, y, groups=groups, random_state=3)
    assert table["zero"].value == by_hand.value


# The test set


def test_test_points_are_the_last_row():
    table = bg.compare(GaussianNB(), *sample(), ["resub"], test=sample(30, 1))
    assert [(row.name, row.kind) for row in table.rows][-1] == ("test set", "test set")


def test_test_row_is_the_share_of_test_points_misclassified():
    X_test, y_test = sample(30, 1)
    table = bg.compare(GaussianNB(), *sample(), ["resub"], test=(X_test, y_test))
    wrong = GaussianNB().fit(*sample()).predict(X_test) != y_test
    assert table["test set"].value == pytest.approx(wrong.mean(), abs=1e-12)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_test_row_has_the_interval_of_clopper_and_pearson(level):
    X_test, y_test = sample(30, 1)
    table = bg.compare(GaussianNB(), *sample(), ["resub"], test=[X_test, y_test], level=level)
    wrong = int((GaussianNB().fit(*sample()).predict(X_test) != y_test).sum())
    expected = binomtest(wrong, 30).proportion_ci(level, method="exact")
    row = table.to_frame().loc["test set"]
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high), abs=1e-10)
    assert row["interval"] == "Clopper-Pearson"


def test_test_set_may_be_made_by_the_user():
    held_out = bg.TestSet(*sample(30, 1), bg.Bolstered().fit(*sample()), random_state=4)
    table = bg.compare(GaussianNB(), *sample(), ["resub"], test=held_out)
    assert table["test set"].value == held_out.error(GaussianNB().fit(*sample())).value


def test_random_state_reaches_a_test_set_that_has_none():
    held_out = bg.TestSet(*sample(30, 1), bg.Bolstered())
    one, other = (bg.compare(SVC(), *sample(), ["resub"], test=held_out, random_state=0) for _ in range(2))
    assert one["test set"].value == other["test set"].value


@pytest.mark.parametrize("wrong", [sample()[0], 3, (sample()[0],)], ids=["array", "number", "single"])
def test_test_that_is_no_pair_is_refused(wrong):
    with pytest.raises(TypeError, match=r"test must be a TestSet or a pair \(X_test, y_test\); got"):
        bg.compare(GaussianNB(), *sample(), ["resub"], test=wrong)


# What fails


def test_failing_estimator_is_a_row_with_its_message():
    table = bg.compare(GaussianNB(), *sample(), {"bad": Broken(), "good": "resub"})
    assert table.to_frame().loc["bad", "message"] == "RuntimeError: this measure <i>fails</i> & says so"
    assert table.to_frame().loc["good", "message"] == ""


def test_failing_estimator_leaves_the_others_alone():
    table = bg.compare(GaussianNB(), *sample(), {"bad": Broken(), "good": "resub"})
    assert table["good"].value == bg.Empirical().fit(*sample()).error(GaussianNB().fit(*sample())).value


def test_failing_row_has_no_number():
    row = bg.compare(GaussianNB(), *sample(), {"bad": Broken()}).to_frame().loc["bad"]
    assert np.isnan([row["estimate"], row["low"], row["high"], row["std_error"]]).all()


def test_asking_for_a_failed_estimate_repeats_its_message():
    table = bg.compare(GaussianNB(), *sample(), {"bad": Broken()})
    with pytest.raises(ValueError, match="bad failed: RuntimeError: this measure"):
        _ = table["bad"]


def test_asking_for_an_unknown_row_lists_the_rows():
    table = bg.compare(GaussianNB(), *sample(), ["resub", "bolstered"])
    with pytest.raises(KeyError, match="no row 'cv'; the rows are resub, bolstered"):
        _ = table["cv"]


def test_too_few_points_for_folds_fail_in_their_row():
    table = bg.compare(Counted(), *sample(8), {"cv": bg.CrossValidation(20), "resub": "resub"})
    assert "folds must be at most the number of points" in table.to_frame().loc["cv", "message"]


def test_rule_that_fails_on_a_part_fails_with_the_split(monkeypatch):
    monkeypatch.setattr(Stopped, "stop_at", 4)
    monkeypatch.setattr(Stopped, "raises", RuntimeError)
    table = bg.compare(Stopped(), *sample(), {"cv": bg.CrossValidation(5)}, random_state=0)
    assert "(in split 2: 32 points to train on, 8 held out.)" in table.to_frame().loc["cv", "message"]


def test_bootstrap_that_fails_leaves_the_kinds_that_can_be_computed():
    """Without class probabilities .632+ has no no-information rate; the zero bootstrap needs none."""
    table = bg.compare(Counted(), *sample(), bootstraps(8, sampling="separate"), random_state=0)
    failed = {row.name for row in table.rows if row.estimate is None}
    assert failed == {"632+"}


def test_failing_bootstrap_is_not_tried_again_for_each_kind(monkeypatch):
    """One fit to all points; then the third of eight resamples fails, for all three rows."""
    monkeypatch.setattr(Stopped, "stop_at", 4)
    monkeypatch.setattr(Stopped, "raises", RuntimeError)
    bg.compare(Stopped(), *sample(), bootstraps(8), random_state=0)
    assert Stopped.fits == 4


def test_unknown_class_probabilities_give_a_message_instead_of_a_number():
    table = bg.compare(Counted(), *sample(), {"separate": bg.Bolstered(sampling="separate")}, random_state=0)
    row = table.to_frame().loc["separate"]
    assert np.isnan(row["estimate"])
    assert row["message"] == ClassProbabilitiesUnknown().short


# What is refused before any row


BAD_INPUT = {
    "missing values": ({"X": np.full((40, 3), np.nan)}, "X must be finite"),
    "flat X": ({"X": np.arange(40.0)}, "X must have shape"),
    "short y": ({"y": np.arange(5) % 2}, "y must have one label per row of X"),
    "one class": ({"y": np.zeros(40, dtype=int)}, "y must hold at least two classes"),
    "negative weights": ({"sample_weight": -np.ones(40)}, "sample_weight must be finite and not negative"),
    "level": ({"level": 95}, "level must be between 0 and 1; got 95"),
    "random_state": ({"random_state": -1}, "random_state must be a non-negative int"),
    "short groups": ({"groups": [0, 1]}, "groups must name one group per row of X"),
}


@pytest.mark.parametrize("kind", BAD_INPUT)
def test_bad_input_is_refused_before_any_fit(kind):
    arguments, message = BAD_INPUT[kind]
    given = {"X": sample()[0], "y": sample()[1], "estimators": ["resub", "cv"], **arguments}
    with pytest.raises(ValueError, match=message):
        bg.compare(Counted(), **given)
    assert Counted.fits == 0


def test_class_in_place_of_a_classifier_is_refused():
    with pytest.raises(TypeError, match="rule must be an estimator with fit and predict"):
        bg.compare(GaussianNB, *sample(), ["resub"])


# Interrupts


@functools.cache
def partial_of_an_interrupt():
    """Return what was raised where the third fold of cross-validation was interrupted, after two rows."""
    Stopped.fits, Stopped.stop_at = 0, 4
    chosen = {"resub": "resub", "bolstered": "bolstered", "cv": bg.CrossValidation(5), "loo": "loo"}
    try:
        # The base class, since an escaping KeyboardInterrupt would end the whole test run.
        with pytest.raises(KeyboardInterrupt, match="stopped after 2 of 4 rows") as stopped:
            bg.compare(Stopped(), *sample(), chosen, random_state=0)
    finally:
        Stopped.stop_at = 0
    return stopped.value


def test_interrupt_is_told_as_such():
    assert isinstance(partial_of_an_interrupt(), bg.Interrupted)


def test_interrupt_leaves_the_rows_that_are_done():
    assert [row.name for row in partial_of_an_interrupt().partial.rows] == ["resub", "bolstered"]


def test_rows_left_by_an_interrupt_have_their_numbers():
    partial = partial_of_an_interrupt().partial
    whole = bg.compare(Counted(), *sample(), ["resub", "bolstered"], random_state=0)
    assert partial.to_frame()["estimate"].equals(whole.to_frame()["estimate"])


def test_partial_table_says_that_it_is_partial():
    assert "Interrupted: 2 of 4 rows done." in repr(partial_of_an_interrupt().partial)


# The table


@functools.cache
def table():
    """Return a table with a measure, sampled and exact, rows that refit, one that fails, and a test set."""
    chosen = {
        "resub": "resub",
        "sampled": bg.Bolstered(),
        "cv": bg.CrossValidation(4),
        "zero": bg.Bootstrap("zero", 100),
        "bad": Broken(),
    }
    return bg.compare(Counted(), *sample(), chosen, test=sample(30, 1), random_state=0)


def test_frame_has_a_row_for_each_estimator():
    frame = table().to_frame()
    assert frame.index.tolist() == ["resub", "sampled", "cv", "zero", "bad", "test set"]
    assert frame.index.name == "estimator"


def test_frame_has_the_columns_documented():
    assert table().to_frame().columns.tolist() == COLUMNS


@pytest.mark.parametrize("column", ["estimate", "low", "high", "std_error", "seconds"])
def test_numbers_in_the_frame_are_floats(column):
    assert table().to_frame()[column].dtype == float


@pytest.mark.parametrize("column", ["n_refits", "n_predicted"])
def test_counts_in_the_frame_are_whole_numbers(column):
    assert table().to_frame()[column].dtype == np.int64


def test_exact_in_the_frame_is_boolean():
    assert table().to_frame()["exact"].dtype == bool


@pytest.mark.parametrize("column", ["kind", "interval", "estimand", "message"])
def test_words_in_the_frame_are_strings(column):
    assert all(isinstance(cell, str) for cell in table().to_frame()[column])


def test_frame_has_the_dtypes_even_where_everything_failed():
    frame = bg.compare(GaussianNB(), *sample(), {"bad": Broken()}).to_frame()
    assert frame[["estimate", "std_error"]].dtypes.tolist() == [float, float]
    assert frame["n_refits"].dtype == np.int64


def test_frame_tells_kinds_apart():
    kinds = table().to_frame()["kind"].to_dict()
    assert kinds == {
        "resub": "measure",
        "sampled": "measure",
        "cv": "resampler",
        "zero": "resampler",
        "bad": "measure",
        "test set": "test set",
    }


@pytest.mark.parametrize("name", ["resub", "sampled"])
def test_empty_interval_has_its_reason(name):
    row = table().to_frame().loc[name]
    assert np.isnan([row["low"], row["high"]]).all()
    assert row["interval"] == ""
    assert row["no_interval"] == str(table()[name].no_interval)


@pytest.mark.parametrize("name", ["zero", "test set"])
def test_interval_in_the_frame_is_that_of_the_estimate(name):
    row, interval = table().to_frame().loc[name], table()[name].interval(0.95)
    assert (row["low"], row["high"], row["interval"]) == (interval.low, interval.high, interval.method)


def test_level_is_that_of_the_intervals():
    wide, narrow = (
        bg.compare(Counted(), *sample(), {"zero": bg.Bootstrap("zero", 100)}, level=level, random_state=0).to_frame()
        for level in (0.99, 0.5)
    )
    assert wide.loc["zero", "low"] < narrow.loc["zero", "low"] < narrow.loc["zero", "high"] < wide.loc["zero", "high"]


def test_estimands_tell_the_rule_from_the_classifier():
    estimands = table().to_frame()["estimand"]
    assert estimands["resub"].startswith("error of this classifier")
    assert estimands["cv"].startswith("average error of the rule when trained on 30 points")


def test_text_has_a_line_for_each_row():
    lines = repr(table()).splitlines()
    assert all(sum(line.startswith(f"{row.name} ") for line in lines) == 1 for row in table().rows)


def test_text_shows_the_error_to_four_digits():
    assert f"{table()['cv'].value:.4f}" in repr(table())


def test_text_names_the_classifier_and_the_number_of_points():
    assert repr(table()).startswith("Error of Counted() on 40 points\n")


class Bare(ClassifierMixin, BaseEstimator):
    """A rule without a constructor of its own."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.where(X[:, 0] > 0, self.classes_[1], self.classes_[0])


def test_rule_without_a_constructor_is_named():
    assert repr(bg.compare(Bare(), *sample(), ["resub"])).startswith("Error of Bare() on 40 points\n")


def test_text_names_the_steps_of_a_pipeline():
    compared = bg.compare(make_pipeline(StandardScaler(), GaussianNB()), *sample(), ["resub"])
    assert repr(compared).startswith("Error of StandardScaler and GaussianNB on 40 points\n")


def test_text_tells_why_a_row_failed():
    assert "failed" in repr(table())
    assert "RuntimeError: this measure <i>fails</i> & says so" in repr(table())


@pytest.mark.parametrize(("level", "shown"), [(0.9, "90%"), (0.95, "95%"), (0.999, "99.9%")])
def test_text_names_the_level(level, shown):
    compared = bg.compare(GaussianNB(), *sample(), ["resub"], level=level)
    assert f" {shown} interval" in repr(compared)


def test_lines_of_the_text_are_aligned():
    compared = bg.compare(Counted(), *sample(), ["resub", "cv"], random_state=0)
    header, *rows = repr(compared).splitlines()[2:5]
    assert {len(line) for line in rows} == {len(header)}


INVISIBLE = (
    "Choices made before X was handed over (selected features, tuned parameters) are invisible to every row that"
)


@pytest.mark.parametrize("show", [repr, lambda table: table._repr_html_()], ids=["text", "html"])
def test_note_on_invisible_choices_is_shown(show):
    assert INVISIBLE in show(table())


class Reader(HTMLParser):
    """Reads HTML, keeping the text of cells and items, and the tags that were opened but not closed."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data.strip())


def read(html):
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader


def test_html_is_well_formed():
    assert read(table()._repr_html_()).open == []


def test_html_has_a_row_for_each_estimator():
    assert {row.name for row in table().rows} <= set(read(table()._repr_html_()).text)


def test_html_shows_messages_whole_and_escaped():
    reader = read(table()._repr_html_())
    assert "RuntimeError: this measure <i>fails</i> & says so" in reader.text
    assert "i" not in reader.tags


def test_html_escapes_names():
    reader = read(bg.compare(GaussianNB(), *sample(), {"<b>bold</b>": "resub"})._repr_html_())
    assert "<b>bold</b>" in reader.text


class Told(Counted):
    """Counted, with a parameter that looks like HTML."""

    def __init__(self, word="plain", feature=0):
        super().__init__(feature)
        self.word = word


def test_html_escapes_the_classifier():
    reader = read(bg.compare(Told("<script>"), *sample(), ["resub"])._repr_html_())
    assert "script" not in reader.tags
    assert "Error of Told(word='<script>') on 40 points" in reader.text


def test_html_shows_the_reason_of_an_empty_interval_whole():
    notes = read(table()._repr_html_()).text
    assert f"Why no interval: {table().to_frame().loc['resub', 'no_interval']} (resub" in " ".join(notes)


# The figure


@pytest.fixture
def axes(monkeypatch):
    """Return new axes in a figure without a window, closed afterwards."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    def forbidden(*args, **kwargs):
        raise AssertionError("a plot must not show itself")

    monkeypatch.setattr(plt, "show", forbidden)
    _, ax = plt.subplots()
    yield ax
    plt.close("all")


def test_plot_returns_axes(axes):
    assert isinstance(table().plot(), mpl.axes.Axes)


def test_plot_draws_into_the_axes_given(axes):
    assert table().plot(ax=axes) is axes


def test_plot_opens_no_figure_where_axes_are_given(axes):
    import matplotlib.pyplot as plt

    table().plot(ax=axes)
    assert len(plt.get_fignums()) == 1


def test_plot_labels_both_axes(axes):
    ax = table().plot(ax=axes)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("estimated error (probability)", "estimator")


def test_plot_has_a_row_for_each_estimate_that_there_is(axes):
    labels = [label.get_text() for label in table().plot(ax=axes).get_yticklabels()]
    assert labels == ["resub", "sampled", "cv", "zero", "test set"]


def test_plot_puts_the_first_estimate_on_top(axes):
    low, high = table().plot(ax=axes).get_ylim()
    assert low > high


def test_plot_puts_the_estimates_at_their_values(axes):
    ax = table().plot(ax=axes)
    drawn = [float(container.lines[0].get_xdata()[0]) for container in ax.containers]
    assert drawn == [row.estimate.value for row in table().rows if row.estimate is not None]


def test_plot_draws_the_intervals_of_the_level(axes):
    compared = bg.compare(GaussianNB(), *sample(), ["resub"], test=sample(30, 1), level=0.8)
    ax = compared.plot(ax=axes)
    ends = [
        tuple(path.vertices[:, 0]) for line in ax.collections for path in line.get_paths() if len(path.vertices) == 2
    ]
    assert pytest.approx(tuple(compared["test set"].interval(0.8))) in ends


def test_plot_marks_a_reference(axes):
    ax = table().plot(reference=0.123, ax=axes)
    assert any(line.get_xdata()[0] == 0.123 for line in ax.lines if len(line.get_xdata()) == 2)


def test_plot_of_failures_only_is_empty(axes):
    ax = bg.compare(GaussianNB(), *sample(), {"bad": Broken()}).plot(ax=axes)
    assert ax.containers == []


def test_plot_leaves_out_unknown_class_probabilities(axes):
    chosen = {"separate": bg.Bolstered(sampling="separate"), "resub": "resub"}
    ax = bg.compare(GaussianNB(), *sample(), chosen, random_state=0).plot(ax=axes)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["resub"]


class Unmarked(ClassifierMixin, BaseEstimator):
    """A classifier whose fit leaves no attribute with an underscore, so that scikit-learn takes it for unfitted."""

    def fit(self, X, y):
        self.model = GaussianNB().fit(X, y)
        return self

    def predict(self, X):
        return self.model.predict(X)


def test_fitted_classifier_that_does_not_mark_its_fit_is_judged_as_it_is():
    X, y = sample()
    turned = Unmarked().fit(X, 1 - y)
    assert bg.compare(turned, X, y, ["resub"])["resub"].value == bg.Empirical().fit(X, y).error(turned).value


def test_test_points_among_the_training_points_get_a_note():
    X, y = sample()
    table = bg.compare(GaussianNB(), X, y, ["resub"], test=(X[:10], y[:10]))
    assert "10 of 10 test points are training points too" in repr(table)


def test_independent_test_points_get_no_such_note():
    assert "training points too" not in repr(table())
