"""`assess`: one number with one interval, what it notices, and what held-out points and refits change."""

import json

import arviz as az
import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import bayes_gresub as bg
from bayes_gresub.assessing.far_rows import far_rows
from bayes_gresub.assessing.notices import (
    HeldOutDisagrees,
    NoErrors,
    OneColumnDecides,
    RepeatedRows,
    SizeOutside,
    TrainedElsewhere,
    UnlikeLearned,
    WorseThanMajority,
)

X_ALL, Y_ALL = load_breast_cancer(return_X_y=True)
ORDER = np.random.default_rng(0).permutation(len(Y_ALL))
X, y = X_ALL[ORDER[:80]], Y_ALL[ORDER[:80]]
X_REST, Y_REST = X_ALL[ORDER[80:]], Y_ALL[ORDER[80:]]
SVM = make_pipeline(StandardScaler(), SVC()).fit(X, y)


@pytest.fixture(scope="module")
def answer():
    return bg.assess(SVM, X, y)


def noticed(answer, kind):
    return [notice for notice in answer.notices if isinstance(notice, kind)]


def test_answer_is_near_the_error_on_the_rest(answer):
    truth = np.mean(SVM.predict(X_REST) != Y_REST)
    low, high = answer.interval()
    assert low <= truth <= high
    assert answer.error == pytest.approx(truth, abs=0.08)


def test_it_refits_nothing_and_leaves_the_classifier_alone(answer):
    class Counting(LinearDiscriminantAnalysis):
        fits = 0

        def fit(self, X, y):
            type(self).fits += 1
            return super().fit(X, y)

    classifier = Counting().fit(X, y)
    bg.assess(classifier, X, y)
    assert Counting.fits == 1
    assert answer.n_refits == 0


def test_refits_are_as_many_as_allowed():
    class Counting(LinearDiscriminantAnalysis):
        fits = 0

        def fit(self, X, y):
            type(self).fits += 1
            return super().fit(X, y)

    classifier = Counting().fit(X[:, :5], y)
    assert bg.assess(classifier, X[:, :5], y, refits=12).n_refits == 12
    assert Counting.fits == 13


def test_interval_is_that_of_the_beta_distribution(answer):
    a, b = answer.error * answer.n_points, (1 - answer.error) * answer.n_points
    assert list(answer.interval(0.9)) == pytest.approx(list(beta.interval(0.9, a, b)), abs=1e-9)
    assert answer.probability_below(0.1) == pytest.approx(beta.cdf(0.1, a, b), abs=1e-12)


def test_draws_have_its_mean_and_spread(answer):
    """Standard errors of mean and deviation of 4,000 draws; 4.5 of them, one false alarm in 100,000."""
    a, b = answer.error * answer.n_points, (1 - answer.error) * answer.n_points
    sd = beta.std(a, b)
    assert answer.draws.mean() == pytest.approx(answer.error, abs=4.5 * sd / np.sqrt(4000))
    assert answer.draws.std() == pytest.approx(sd, rel=4.5 / np.sqrt(2 * 4000) * 1.5)


def test_arviz_gets_the_draws(answer):
    posterior = answer.to_inference_data().posterior
    assert posterior["error"].shape == (4, 1000)
    assert float(az.rhat(posterior.to_dataset() if hasattr(posterior, "to_dataset") else posterior)["error"]) < 1.01


def test_same_seed_gives_the_same_answer():
    first, second = (bg.assess(SVM, X, y, refits=5, random_state=3) for _ in range(2))
    assert (first.error, first.n_points) == (second.error, second.n_points)
    np.testing.assert_array_equal(first.draws, second.draws)


def test_processes_change_nothing():
    one, two = (bg.assess(SVM, X, y, refits=6, n_jobs=jobs) for jobs in (1, 2))
    assert (one.error, one.n_points) == (two.error, two.n_points)


def test_order_of_the_rows_hardly_matters():
    """Sampled points differ with the order, so numbers agree to their noise only."""
    order = np.random.default_rng(1).permutation(len(y))
    classifier = LinearDiscriminantAnalysis().fit(X[:, :4], y)
    first = bg.assess(classifier, X[:, :4], y)
    second = bg.assess(classifier, X[order][:, :4], y[order])
    assert first.error == pytest.approx(second.error, abs=0.02)


@pytest.mark.parametrize("labels", [np.array(["no", "yes"]), np.array([5, 3])], ids=["text", "numbers"])
def test_names_of_the_labels_do_not_matter(labels):
    named = labels[y]
    classifier = KNeighborsClassifier(3)
    plain = bg.assess(classifier.fit(X[:, :4], y), X[:, :4], y)
    other = bg.assess(classifier.fit(X[:, :4], named), X[:, :4], named)
    assert other.error == pytest.approx(plain.error, abs=0.02)


def test_held_out_points_are_added_as_counts(answer):
    n = 30
    with_test = bg.assess(SVM, X, y, test=(X_REST[:n], Y_REST[:n]))
    n_wrong = int(np.sum(SVM.predict(X_REST[:n]) != Y_REST[:n]))
    total = answer.n_points + n
    assert with_test.test == (n_wrong, n)
    assert with_test.n_points == pytest.approx(total)
    assert with_test.error == pytest.approx((answer.error * answer.n_points + n_wrong) / total)


def test_many_held_out_points_are_used_alone():
    alone = bg.assess(SVM, X, y, test=(X_REST, Y_REST))
    n_wrong = int(np.sum(SVM.predict(X_REST) != Y_REST))
    assert alone.test_alone
    assert alone.error == pytest.approx((n_wrong + 0.5) / (len(Y_REST) + 1))
    low, high = alone.interval()
    assert [low, high] == pytest.approx(list(beta.interval(0.95, n_wrong + 0.5, len(Y_REST) - n_wrong + 0.5)))


def test_held_out_points_of_another_population_are_noticed():
    flipped = bg.assess(SVM, X, y, test=(X_REST[:40], 1 - Y_REST[:40]))
    assert noticed(flipped, HeldOutDisagrees)
    assert flipped.test_alone


def test_repeated_rows_change_nothing_and_are_noticed():
    """Every row of a diabetes table five times, 3NN: counted apart, no row seems to be misclassified."""
    table, target = load_diabetes(return_X_y=True)
    rows, labels = table[:150], (target[:150] > 140).astype(int)
    rule = make_pipeline(StandardScaler(), KNeighborsClassifier(3))
    once = bg.assess(clone_fitted(rule, rows, labels), rows, labels)
    repeated = np.repeat(rows, 5, axis=0), np.repeat(labels, 5)
    five = bg.assess(clone_fitted(rule, *repeated), *repeated, refits=5)
    assert noticed(five, RepeatedRows) == [RepeatedRows(600, 750)]
    assert not noticed(once, RepeatedRows)
    assert five.error > 0.2
    assert five.interval().high - five.interval().low > 0.05


def clone_fitted(rule, X, y):
    from sklearn.base import clone

    return clone(rule).fit(X, y)


def test_groups_are_left_out_together():
    rng = np.random.default_rng(0)
    centers, labels = rng.normal(size=(30, 4)), np.arange(30) % 2
    rows = np.repeat(centers, 4, axis=0) + 1e-3 * rng.normal(size=(120, 4))
    copies, batch = np.repeat(labels, 4), np.repeat(np.arange(30), 4)
    classifier = KNeighborsClassifier(3).fit(rows, copies)
    apart, together = (bg.assess(classifier, rows, copies, groups=groups) for groups in (None, batch))
    assert apart.error < 0.15
    assert together.error > 0.3


def test_error_above_that_of_the_majority_class_is_noticed():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(100, 5)), (rng.random(100) < 0.15).astype(int)
    assert noticed(bg.assess(DecisionTreeClassifier(random_state=0).fit(rows, labels), rows, labels), WorseThanMajority)


def test_column_that_gives_the_labels_is_named():
    table = pd.DataFrame(X[:, :3], columns=["a", "b", "c"]).assign(leak=y + 0.0)
    assert noticed(bg.assess(LogisticRegression().fit(table, y), table, y), OneColumnDecides) == [
        OneColumnDecides("leak")
    ]


def test_no_errors_at_all_have_an_upper_end():
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 2
    rows = rng.normal(size=(60, 3)) + 40 * labels[:, None]
    answer = bg.assess(KNeighborsClassifier(1).fit(rows, labels), rows, labels)
    assert noticed(answer, NoErrors)
    assert 0 < answer.interval().high < 0.2


def test_one_tree_without_training_errors_is_not_said_to_have_none():
    rows, labels = load_iris(return_X_y=True)
    assert not noticed(bg.assess(DecisionTreeClassifier(random_state=0).fit(rows, labels), rows, labels), NoErrors)


def test_strange_data_widen_the_interval_and_are_noticed():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(60, 7000)), np.arange(60) % 2
    answer = bg.assess(KNeighborsClassifier(3).fit(rows, labels), rows, labels)
    assert noticed(answer, UnlikeLearned)


def test_large_samples_rest_on_rows_left_out():
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=4000)
    rows = rng.normal(size=(4000, 2)) + labels[:, None]
    classifier = LinearDiscriminantAnalysis().fit(rows, labels)
    answer = bg.assess(classifier, rows, labels)
    assert noticed(answer, SizeOutside)
    assert answer.error == pytest.approx(float(bg.LeaveOneOut(shortcut=True).error(classifier, rows, labels)), abs=0.01)
    assert answer.n_points == pytest.approx(0.6 * 4000)


def test_weights_count():
    weights = np.where(y == 1, 3.0, 1.0)
    rule = LogisticRegression(max_iter=5000)
    classifier = rule.fit(X[:, :3], y, sample_weight=weights)
    assert bg.assess(classifier, X[:, :3], y, sample_weight=weights).error != bg.assess(classifier, X[:, :3], y).error


def test_rule_is_trained_first():
    rule = LinearDiscriminantAnalysis()
    assert bg.assess(rule, X[:, :5], y).error == bg.assess(rule.fit(X[:, :5], y), X[:, :5], y).error


def test_pipeline_with_missing_values_is_assessed_at_its_prepared_columns():
    rows = X[:, :4].copy()
    rows[::7, 1] = np.nan
    pipeline = make_pipeline(SimpleImputer(), StandardScaler(), KNeighborsClassifier(3)).fit(rows, y)
    held_out = X_REST[:30, :4].copy()
    held_out[0, 0] = np.nan
    answer = bg.assess(pipeline, rows, y, refits=5, test=(held_out, Y_REST[:30]))
    assert 0 < answer.error < 0.5
    assert answer.test[0] == np.sum(pipeline.predict(held_out) != Y_REST[:30])


@pytest.mark.parametrize(
    "rule",
    [
        make_pipeline(StandardScaler(), MLPClassifier((4,), solver="lbfgs", max_iter=50, random_state=0)),
        DecisionTreeClassifier(random_state=0),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=["network", "tree", "logistic"],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_sort_of_rule_has_an_answer(rule, n_classes):
    rows, labels = load_iris(return_X_y=True)
    kept = labels >= 3 - n_classes
    answer = bg.assess(rule.fit(rows[kept], labels[kept]), rows[kept], labels[kept])
    assert 0.005 < answer.error < 0.2


def test_json_holds_everything(answer):
    data = json.loads(json.dumps(answer.to_dict()))
    assert data["error"] == answer.error
    assert set(data["parts"]) == set(answer.parts)
    assert data["low"] < data["error"] < data["high"]


def test_parts_hold_the_package_s_own_numbers(answer):
    assert answer.parts["apparent"] == pytest.approx(float(bg.Empirical().fit(X, y).error(SVM)))


def test_text_names_number_interval_and_remedy(answer):
    text = str(answer)
    assert text.startswith(f"StandardScaler and SVC on 80 points: error {answer.error:.3f}, 95% interval ")
    assert "refits=10" in text


def test_html_is_escaped(answer):
    assert answer._repr_html_().startswith("<p><b>StandardScaler and SVC on 80 points: error")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"refits": 3}, "refits must be 0, or 5 or more; got 3"),
        ({"refits": -1}, "refits must be a whole number"),
        ({"level": 1.5}, "level must be"),
        ({"groups": [0, 1]}, "groups"),
        ({"test": X_REST}, "test must be a TestSet or a pair"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        bg.assess(SVM, X, y, **arguments)


def test_probability_of_no_share_is_refused(answer):
    with pytest.raises(ValueError, match="between 0 and 1; got 10"):
        answer.probability_below(10)


def test_rows_in_another_order_than_those_of_training_are_noticed():
    """A forest numbers the rows of its bags; in another order its own leave-one-out would be that of other rows."""
    rng = np.random.default_rng(1)
    rows, labels = rng.normal(size=(100, 5)), rng.integers(2, size=100)
    for rule in (RandomForestClassifier(50, random_state=0), SVC(C=10)):
        classifier, order = rule.fit(rows, labels), rng.permutation(100)
        straight, shuffled = bg.assess(classifier, rows, labels), bg.assess(classifier, rows[order], labels[order])
        assert not noticed(straight, TrainedElsewhere)
        assert noticed(shuffled, TrainedElsewhere)
        assert (straight.parts["has_own"], shuffled.parts["has_own"]) == (1, 0)


def test_equal_weights_change_nothing():
    classifier = LinearDiscriminantAnalysis().fit(X[:, :3], y)
    assert bg.assess(classifier, X[:, :3], y, sample_weight=np.full(80, 2.0)).error == (
        bg.assess(classifier, X[:, :3], y).error
    )


def test_unequal_weights_tell_less():
    """Five rows with nearly all of the weight are worth about five."""
    weights = np.where(np.arange(80) < 5, 1000.0, 1.0)
    classifier = LogisticRegression(max_iter=5000).fit(X[:, :3], y, sample_weight=weights)
    answer = bg.assess(classifier, X[:, :3], y, sample_weight=weights)
    assert np.exp(answer.parts["log_n"]) == pytest.approx(5.1, abs=0.1)
    assert answer.n_points < 0.5 * bg.assess(classifier, X[:, :3], y).n_points


def test_classifier_that_predicts_the_largest_class_is_not_worse_than_that():
    rows, labels = np.random.default_rng(0).normal(size=(60, 3)), (np.arange(60) < 20).astype(int)
    assert not noticed(bg.assess(DummyClassifier().fit(rows, labels), rows, labels), WorseThanMajority)


def test_class_of_one_row_is_not_given_by_columns_of_noise():
    rng = np.random.default_rng(0)
    labels = (np.arange(60) == 0).astype(int)
    for _ in range(5):
        rows = rng.normal(size=(60, 30))
        assert not noticed(bg.assess(KNeighborsClassifier(3).fit(rows, labels), rows, labels), OneColumnDecides)


def test_prepared_column_that_gives_the_labels_is_named():
    table = pd.DataFrame({"first": X[:, 0], "site": np.where(y == 1, "north", "south")})
    encode = ColumnTransformer([("texts", OneHotEncoder(drop="first"), ["site"])], remainder="passthrough")
    rule = make_pipeline(encode, LogisticRegression()).fit(table, y)
    assert noticed(bg.assess(rule, table, y), OneColumnDecides) == [OneColumnDecides("texts__site_south")]


def test_as_many_classes_as_rows_are_refused():
    with pytest.raises(ValueError, match="at least two rows of some class; got 12 classes in as many rows"):
        bg.assess(KNeighborsClassifier(1).fit(X[:12], range(12)), X[:12], range(12))


def test_refits_are_proposed_only_where_they_are_possible():
    class Trained:
        classes_ = np.array([0, 1])

        def predict(self, X):
            return (X[:, 0] < 15).astype(int)

    assert "refits=10" not in str(bg.assess(Trained(), X, y))


def test_row_whose_own_interval_holds_the_answer_is_not_far():
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 2
    rows = rng.normal(size=(60, 3)) + 40 * labels[:, None]
    classifier = KNeighborsClassifier(3).fit(rows, labels)
    answer = bg.assess(classifier, rows, labels)
    assert answer.interval().low > 0
    assert far_rows(answer, bg.compare(classifier, rows, labels, ["resub", "cv"], random_state=0)) is None
