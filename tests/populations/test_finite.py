"""Data sets as populations: what is drawn, what is left, and what the rest says of a classifier."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from bayes_gresub.populations import FiniteData

CHANCE = 7e-6
"""The level of tests of fit: what 4.5 standard errors of a normal estimate leave outside."""

N = 50
NUMBERED = np.column_stack([np.arange(N, dtype=float), np.random.default_rng(0).standard_normal(N)])
"""Points that tell their row by their first feature."""
LABELS = (np.arange(N) % 5 < 2).astype(int)
NAMES = np.array(["dog", "cat"])[LABELS]
FRAME = pd.DataFrame(
    {"row": np.arange(N), "weight": NUMBERED[:, 1], "colour": np.array(["red", "blue"])[np.arange(N) % 2]},
    index=[f"r{i}" for i in range(N)],
)


def rows_of(X):
    return X[:, 0].astype(int)


class Recorder:
    """Says the same of every point and keeps what it was asked about."""

    def __init__(self, said):
        self.said = said

    def predict(self, X):
        self.seen = X
        return np.full(len(X), self.said)


def asked(rest, said=1):
    """Return the points that the truth asks a classifier about."""
    recorder = Recorder(said)
    rest.true_error(recorder)
    return recorder.seen


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "animals.csv"
    FRAME.assign(kind=NAMES).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("class_sizes", ["random", "fixed"])
@pytest.mark.parametrize("n", [1, 7, 20, 48])
def test_no_point_is_drawn_twice(class_sizes, n):
    X, _, _ = FiniteData(NUMBERED, LABELS, class_sizes).draw(n, random_state=0)
    assert len(set(rows_of(X).tolist())) == n


@pytest.mark.parametrize("class_sizes", ["random", "fixed"])
@pytest.mark.parametrize("n", [1, 7, 20, 48])
def test_drawn_and_rest_together_are_the_data(class_sizes, n):
    X, _, rest = FiniteData(NUMBERED, LABELS, class_sizes).draw(n, random_state=0)
    together = np.concatenate([X, asked(rest)])
    np.testing.assert_array_equal(together[np.argsort(together[:, 0])], NUMBERED)


@pytest.mark.parametrize("class_sizes", ["random", "fixed"])
def test_points_keep_their_labels(class_sizes):
    X, y, _ = FiniteData(NUMBERED, LABELS, class_sizes).draw(20, random_state=0)
    np.testing.assert_array_equal(y, LABELS[rows_of(X)])


def test_sample_is_the_draw_of_the_same_seed():
    population = FiniteData(NUMBERED, LABELS)
    X, y, _ = population.draw(20, random_state=3)
    points, labels = population.sample(20, random_state=3)
    np.testing.assert_array_equal(np.column_stack([X, y]), np.column_stack([points, labels]))


@pytest.mark.parametrize("seed", [3, np.random.SeedSequence(3)], ids=["int", "SeedSequence"])
def test_same_seed_draws_the_same_points(seed):
    one, same = (FiniteData(NUMBERED, LABELS).sample(20, random_state=seed)[0] for _ in range(2))
    np.testing.assert_array_equal(one, same)


def test_other_seed_draws_other_points():
    one, other = (set(rows_of(FiniteData(NUMBERED, LABELS).sample(20, random_state=seed)[0])) for seed in (3, 4))
    assert one != other


def test_one_generator_draws_other_points_each_time():
    rng = np.random.default_rng(3)
    one, other = (set(rows_of(FiniteData(NUMBERED, LABELS).sample(20, random_state=rng)[0])) for _ in range(2))
    assert one != other


def test_all_sets_of_points_are_equally_likely_with_random_class_sizes():
    """A chi-square test over the ten pairs of five points, at the level 7e-6."""
    population = FiniteData(NUMBERED[:5], [0, 0, 0, 1, 1])
    seen = dict.fromkeys(itertools.combinations(range(5), 2), 0)
    for seed in range(1500):
        seen[tuple(sorted(rows_of(population.sample(2, random_state=seed)[0]).tolist()))] += 1
    assert stats.chisquare(list(seen.values())).pvalue > CHANCE


def test_all_sets_of_points_within_a_class_are_equally_likely_with_fixed_class_sizes():
    """A chi-square test over three times three pairs of one point each, at the level 7e-6."""
    population = FiniteData(NUMBERED[:6], [0, 0, 0, 1, 1, 1], "fixed")
    seen = dict.fromkeys(itertools.product((0, 1, 2), (3, 4, 5)), 0)
    for seed in range(1500):
        seen[tuple(sorted(rows_of(population.sample(2, random_state=seed)[0]).tolist()))] += 1
    assert stats.chisquare(list(seen.values())).pvalue > CHANCE


def test_all_orders_of_fixed_class_sizes_are_equally_likely():
    """A chi-square test over the six orders of two and two, at the level 7e-6."""
    population = FiniteData(NUMBERED[:8], [0, 1] * 4, "fixed")
    orders = {order: 0 for order in itertools.product((0, 1), repeat=4) if sum(order) == 2}
    for seed in range(1500):
        orders[tuple(population.sample(4, random_state=seed)[1].tolist())] += 1
    assert stats.chisquare(list(orders.values())).pvalue > CHANCE


@pytest.mark.parametrize(("n", "sizes"), [(5, [3, 2]), (10, [6, 4]), (11, [7, 4]), (12, [7, 5]), (48, [29, 19])])
def test_fixed_class_sizes_are_the_share_of_each_class_in_the_data(n, sizes):
    y = FiniteData(NUMBERED, LABELS, "fixed").sample(n, random_state=0)[1]
    assert np.bincount(y).tolist() == sizes


def test_random_class_sizes_follow_the_hypergeometric_law():
    """A chi-square test of the number of class 1 among 4 of 10 points, at the level 7e-6."""
    population = FiniteData(NUMBERED[:10], LABELS[:10])
    sizes = [int(population.sample(4, random_state=seed)[1].sum()) for seed in range(1500)]
    expected = 1500 * stats.hypergeom(10, 4, 4).pmf(range(5))
    assert stats.chisquare(np.bincount(sizes, minlength=5), expected).pvalue > CHANCE


def test_true_error_is_the_share_of_the_rest_that_is_wrong():
    population = FiniteData(NUMBERED, LABELS)
    X, y, rest = population.draw(20, random_state=0)
    classifier = DecisionTreeClassifier(random_state=0).fit(X, y)
    left = np.setdiff1d(np.arange(N), rows_of(X))
    expected = (classifier.predict(NUMBERED[left]) != LABELS[left]).mean()
    assert rest.true_error(classifier).value == pytest.approx(expected, rel=1e-12)


def test_true_error_of_a_constant_classifier_is_the_share_of_the_other_class_in_the_rest():
    """Ten points of 30 and 20 take 6 and 4; the rest has 24 and 16."""
    X, y, rest = FiniteData(NUMBERED, LABELS, "fixed").draw(10, random_state=0)
    assert rest.true_error(DummyClassifier().fit(X, y)).value == pytest.approx(0.4, rel=1e-12)


def test_all_of_the_rest_are_test_points_whatever_number_is_asked_for():
    X, y, rest = FiniteData(NUMBERED, LABELS).draw(20, random_state=0)
    assert rest.true_error(DummyClassifier().fit(X, y), n_test=7).n_test == 30


def test_true_error_of_the_rest_does_not_depend_on_the_seed():
    X, y, rest = FiniteData(NUMBERED, LABELS).draw(20, random_state=0)
    classifier = KNeighborsClassifier(1).fit(X, y)
    assert rest.true_error(classifier, random_state=1) == rest.true_error(classifier, random_state=2)


def test_standard_error_is_that_of_the_mean_of_as_many_independent_mistakes():
    X, y, rest = FiniteData(NUMBERED, LABELS).draw(20, random_state=0)
    classifier = DecisionTreeClassifier(random_state=0).fit(X, y)
    left = np.setdiff1d(np.arange(N), rows_of(X))
    wrong = classifier.predict(NUMBERED[left]) != LABELS[left]
    assert rest.true_error(classifier).std_error == pytest.approx(stats.sem(wrong), rel=1e-12)


def test_standard_error_is_the_spread_over_data_sets_of_one_population():
    """Data of independent labels of probability 0.3, and a constant classifier of error 0.3.

    The tolerance is 4.5 standard errors 1 / sqrt(2 * 599) of a standard deviation; false alarm 7e-6.
    """
    rng = np.random.default_rng(5)
    truths = []
    for seed in range(600):
        population = FiniteData(NUMBERED, rng.random(N) < 0.3)
        truths.append(population.draw(10, random_state=seed)[2].true_error(Recorder(False)))
    spread = np.std([truth.value for truth in truths], ddof=1)
    said = np.sqrt(np.mean([truth.std_error**2 for truth in truths]))
    assert abs(spread / said - 1) < 4.5 / np.sqrt(2 * 599)


def test_classifier_that_never_saw_a_class_is_wrong_on_all_of_it():
    """The three points drawn are of class 0; all 20 of class 1 are among the 47 left."""
    population = FiniteData(NUMBERED, LABELS)
    draws = (population.draw(3, random_state=seed) for seed in range(100))
    X, y, rest = next((X, y, rest) for X, y, rest in draws if not y.any())
    assert rest.true_error(KNeighborsClassifier(1).fit(X, y)).value == pytest.approx(20 / 47, rel=1e-12)


def test_three_classes_have_a_true_error():
    labels = np.arange(N) % 3
    X, y, rest = FiniteData(NUMBERED, labels, "fixed").draw(30, random_state=0)
    classifier = LinearDiscriminantAnalysis().fit(X, y)
    left = np.setdiff1d(np.arange(N), rows_of(X))
    expected = (classifier.predict(NUMBERED[left]) != labels[left]).mean()
    assert rest.true_error(classifier).value == pytest.approx(expected, rel=1e-12)


def test_labels_may_be_a_column_of_predictions():
    class Column(Recorder):
        def predict(self, X):
            return super().predict(X)[:, None]

    rest = FiniteData(NUMBERED, LABELS).draw(20, random_state=0)[2]
    assert rest.true_error(Column(1)).value == rest.true_error(Recorder(1)).value


@pytest.mark.parametrize("labels", [NAMES, NAMES.astype(object), pd.Series(NAMES), NAMES.tolist()])
def test_string_labels_stay_strings(labels):
    X, y, _ = FiniteData(NUMBERED, labels).draw(20, random_state=0)
    assert y.tolist() == NAMES[rows_of(X)].tolist()


@pytest.mark.parametrize("labels", [NAMES, NAMES.astype(object)], ids=["str", "object"])
def test_true_error_with_string_labels_is_that_with_numbers(labels):
    rule = DecisionTreeClassifier(random_state=0)
    X, y, rest = FiniteData(NUMBERED, 1 - LABELS).draw(20, random_state=0)
    expected = rest.true_error(clone(rule).fit(X, y)).value
    X, y, rest = FiniteData(NUMBERED, labels).draw(20, random_state=0)
    assert rest.true_error(clone(rule).fit(X, y)).value == expected


def test_drawn_rows_of_a_data_frame_are_its_rows():
    X, _, _ = FiniteData(FRAME, LABELS).draw(20, random_state=0)
    pd.testing.assert_frame_equal(X, FRAME.loc[X.index])


def test_classifiers_are_asked_about_rows_of_the_data_frame():
    X, _, rest = FiniteData(FRAME, LABELS).draw(20, random_state=0)
    left = asked(rest)
    pd.testing.assert_frame_equal(left.sort_index(), FRAME.drop(X.index).sort_index())


def test_rule_that_encodes_text_columns_has_a_true_error():
    X, y, rest = FiniteData(FRAME, LABELS).draw(20, random_state=0)
    rule = make_pipeline(OneHotEncoder(handle_unknown="ignore"), DecisionTreeClassifier(random_state=0)).fit(X, y)
    left = FRAME.drop(X.index)
    expected = (rule.predict(left) != LABELS[left["row"]]).mean()
    assert rest.true_error(rule).value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
def test_images_keep_their_shape_and_type(dtype):
    images = np.random.default_rng(1).integers(0, 255, size=(N, 4, 3)).astype(dtype)
    X, _, _ = FiniteData(images, LABELS).draw(20, random_state=0)
    assert (X.shape, X.dtype) == ((20, 4, 3), np.dtype(dtype))


def test_classifiers_are_asked_about_images_in_their_shape():
    images = np.random.default_rng(1).random((N, 4, 3, 2))
    assert asked(FiniteData(images, LABELS).draw(20, random_state=0)[2]).shape == (30, 4, 3, 2)


def test_true_error_of_a_rule_on_images_is_the_share_of_the_rest_that_is_wrong():
    images = np.random.default_rng(1).random((N, 4, 3))
    images[:, 0, 0] = np.arange(N)
    X, y, rest = FiniteData(images, LABELS).draw(20, random_state=0)
    flatten = FunctionTransformer(lambda points: points.reshape(len(points), -1))
    rule = make_pipeline(flatten, KNeighborsClassifier(1)).fit(X, y)
    left = np.setdiff1d(np.arange(N), X[:, 0, 0].astype(int))
    expected = (rule.predict(images[left]) != LABELS[left]).mean()
    assert rest.true_error(rule).value == pytest.approx(expected, rel=1e-12)


def test_rows_may_be_lists():
    X, y, _ = FiniteData(NUMBERED.tolist(), LABELS.tolist()).draw(20, random_state=0)
    np.testing.assert_array_equal(y, LABELS[rows_of(X)])


def test_length_is_the_number_of_points():
    assert len(FiniteData(NUMBERED, LABELS)) == N


def test_repr_does_not_hold_the_data():
    assert repr(FiniteData(NUMBERED, LABELS, name="animals")) == "FiniteData(class_sizes='random', name='animals')"


def test_csv_gives_all_other_columns_as_features(csv):
    X, _, _ = FiniteData.from_csv(csv, "kind").draw(20, random_state=0)
    assert list(X.columns) == ["row", "weight", "colour"]


def test_csv_gives_the_labels_of_its_rows(csv):
    X, y, _ = FiniteData.from_csv(csv, "kind").draw(20, random_state=0)
    assert y.tolist() == NAMES[X["row"]].tolist()


def test_csv_draws_what_its_data_frame_draws(csv):
    X, _, _ = FiniteData.from_csv(csv, "kind", class_sizes="fixed").draw(20, random_state=0)
    expected, _, _ = FiniteData(FRAME, NAMES, "fixed").draw(20, random_state=0)
    pd.testing.assert_frame_equal(X.reset_index(drop=True), expected.reset_index(drop=True))


def test_csv_with_string_labels_has_a_true_error(csv):
    X, y, rest = FiniteData.from_csv(csv, "kind", usecols=["row", "weight", "kind"]).draw(20, random_state=0)
    classifier = DecisionTreeClassifier(random_state=0).fit(X, y)
    left = FRAME[["row", "weight"]].drop(FRAME.index[X["row"]])
    expected = (classifier.predict(left) != NAMES[left["row"]]).mean()
    assert rest.true_error(classifier).value == pytest.approx(expected, rel=1e-12)


def test_csv_is_named_by_its_file(csv):
    assert FiniteData.from_csv(str(csv), "kind").name == "animals.csv"


def test_csv_options_are_those_of_pandas(tmp_path):
    path = tmp_path / "semicolons.csv"
    FRAME.assign(kind=LABELS).to_csv(path, index=False, sep=";")
    X, _, _ = FiniteData.from_csv(path, "kind", sep=";", usecols=["weight", "kind"]).draw(20, random_state=0)
    assert list(X.columns) == ["weight"]


def test_csv_without_the_target_is_refused_with_the_columns_that_it_has(csv):
    with pytest.raises(ValueError, match=r"got 'species'\. The columns are \['row', 'weight', 'colour', 'kind'\]"):
        FiniteData.from_csv(csv, "species")


def test_csv_that_lacks_labels_is_refused_with_how_many(tmp_path):
    path = tmp_path / "gaps.csv"
    kinds = NAMES.astype(object)
    kinds[[3, 7]] = None
    FRAME.assign(kind=kinds).to_csv(path, index=False)
    with pytest.raises(
        ValueError, match=r"every point must have a label; column 'kind' of .* lacks 2\. Drop those rows"
    ):
        FiniteData.from_csv(path, "kind")


def test_missing_labels_are_refused():
    labels = NAMES.astype(object)
    labels[3] = None
    with pytest.raises(ValueError, match=r"y must not hold missing.*Drop those rows"):
        FiniteData(NUMBERED, labels)


def test_labels_of_one_class_only_are_refused():
    with pytest.raises(ValueError, match=r"at least two classes; got only \[1\]"):
        FiniteData(NUMBERED, np.ones(N, dtype=int))


def test_labels_of_other_length_are_refused():
    with pytest.raises(ValueError, match=r"one label per row of X; got shape \(49,\) for 50 rows"):
        FiniteData(NUMBERED, LABELS[1:])


def test_fractional_labels_are_refused():
    with pytest.raises(ValueError, match=r"fractional numbers .* regression target"):
        FiniteData(NUMBERED, NUMBERED[:, 1])


def test_unknown_class_sizes_are_refused():
    with pytest.raises(ValueError, match="class_sizes must be 'fixed' or 'random'; got 'stratified'"):
        FiniteData(NUMBERED, LABELS, "stratified")


@pytest.mark.parametrize("n", [49, 50, 51, 1000])
def test_draw_that_leaves_too_few_points_to_judge_by_is_refused(n):
    with pytest.raises(ValueError, match=rf"leave at least two points to judge by; got n={n} of 50\. Lower n"):
        FiniteData(NUMBERED, LABELS).draw(n)


@pytest.mark.parametrize("n", [0, -1, 2.5, True])
def test_sample_size_that_is_no_whole_number_is_refused(n):
    with pytest.raises(ValueError, match="n must be a whole number of at least 1; got"):
        FiniteData(NUMBERED, LABELS).draw(n)


def test_what_cannot_predict_is_refused():
    rest = FiniteData(NUMBERED, LABELS).draw(20, random_state=0)[2]
    with pytest.raises(TypeError, match=r"fitted object with a predict method; got .*KNeighborsClassifier"):
        rest.true_error(KNeighborsClassifier)


def test_predictions_that_are_not_one_a_point_are_refused():
    class Probabilities(Recorder):
        def predict(self, X):
            return np.full((len(X), 2), 0.5)

    rest = FiniteData(NUMBERED, LABELS).draw(20, random_state=0)[2]
    with pytest.raises(ValueError, match=r"one label per point; got shape \(30, 2\)"):
        rest.true_error(Probabilities(1))


def test_labels_are_compared_with_numbers_of_another_type():
    """A classifier may return 1.0 where the label is 1, as one that was trained on floats does."""
    rest = FiniteData(NUMBERED, LABELS).draw(20, random_state=0)[2]
    assert rest.true_error(Recorder(1.0)).value == rest.true_error(Recorder(1)).value
