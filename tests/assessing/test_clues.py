"""Clues of an error agree with refits, with the measures they come from, and with what they must not depend on."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import bayes_gresub as bg
from bayes_gresub.assessing.bagged_trees import bagged_tree_clues
from bayes_gresub.assessing.clues import TrainedOn, clues
from bayes_gresub.assessing.neighbor_clues import neighborhood, ranks
from bayes_gresub.assessing.reference_clues import left_out_scores
from bayes_gresub.assessing.smoothing_clues import smoothing_clues
from bayes_gresub.assessing.tree_clues import leaf_votes
from bayes_gresub.data.sample import read_sample
from bayes_gresub.resampling.shortcuts import left_out

SEED = np.random.SeedSequence(0)


def points(n=40, d=3, c=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % c
    return rng.normal(size=(n, d)) + 0.9 * y[:, None], y


def equal_weights(n):
    return np.full(n, 1.0 / n)


@pytest.mark.parametrize("pairs", [False, True], ids=["single rows", "pairs"])
@pytest.mark.parametrize("k", [1, 3, 9])
def test_shares_are_those_of_a_neighbour_rule_trained_without_the_group(k, pairs):
    X, y = points()
    groups = np.arange(40) // 2 if pairs else np.arange(40)
    shares = neighborhood(X, y, groups, 3).shares[k]
    for row in range(0, 40, 3):
        others = groups != groups[row]
        expected = KNeighborsClassifier(k).fit(X[others], y[others]).predict_proba(X[[row]])
        np.testing.assert_allclose(shares[row], expected[0], atol=1e-12)


def test_votes_of_one_neighbour_are_the_leave_one_out_error_by_refits():
    X, y = points()
    found = neighborhood(X, y, np.arange(40), 3).clues(y, y, equal_weights(40))
    assert found["vote1"] == pytest.approx(float(bg.LeaveOneOut().error(KNeighborsClassifier(1), X, y)), abs=1e-12)


def test_point_without_neighbours_outside_its_group_has_equal_shares():
    X, y = points(n=6)
    assert neighborhood(X, y, np.zeros(6, dtype=int), 3).shares[3] == pytest.approx(np.full((6, 3), 1 / 3))


@pytest.mark.parametrize("pairs", [False, True], ids=["single rows", "pairs"])
def test_scores_of_the_reference_are_those_of_refits(pairs):
    X, y = points()
    groups = np.arange(40) // 2 if pairs else np.arange(40)
    kernel, targets = 1.0 + X @ X.T, np.eye(3)[y]
    scores = left_out_scores(kernel, targets, groups, 0.7)
    for row in range(0, 40, 7):
        others = np.flatnonzero(groups != groups[row])
        ridge = KernelRidge(alpha=0.7, kernel="precomputed").fit(kernel[np.ix_(others, others)], targets[others])
        np.testing.assert_allclose(scores[row], ridge.predict(kernel[[row]][:, others])[0], atol=1e-9)


def test_bolstered_clue_is_the_bolstered_error_with_the_same_widths():
    X, y = points(c=2)
    sample, classifier = read_sample(X, y), LinearDiscriminantAnalysis().fit(X, y)
    _, scale = np.unique(y), np.sqrt(((X - np.array([X[y == k].mean(axis=0) for k in y])) ** 2).sum(axis=0) / 38)
    near = neighborhood(X / scale, y, np.arange(40), 2)
    found, predicted = smoothing_clues(classifier, sample, near, SEED)
    for factor in (0.5, 1.0, 2.0):
        expected = bg.Bolstered(bg.SphericalGaussian(scale=factor)).fit(X, y).error(classifier)
        assert found[f"bolstered_{factor:g}"] == pytest.approx(expected.value, abs=1e-12)
    np.testing.assert_array_equal(predicted, classifier.predict(X))


def test_mass_that_changes_its_label_grows_with_the_scale():
    X, y = points(c=2)
    near = neighborhood(X, y, np.arange(40), 2)
    found, _ = smoothing_clues(LinearDiscriminantAnalysis().fit(X, y), read_sample(X, y), near, SEED)
    assert 0 < found["flipped_0.5"] < found["flipped_1"] < found["flipped_2"] < 0.5


def test_leaf_votes_are_counts_of_the_other_rows_in_the_leaf():
    X, y = points(n=60)
    tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=0).fit(X, y)
    votes, leaves = leaf_votes(tree, X, y, np.arange(60), 3), tree.apply(X)
    for row in range(60):
        others = (leaves == leaves[row]) & (np.arange(60) != row)
        assert votes[row] == np.bincount(y[others], minlength=3).argmax()


def test_row_alone_in_its_leaf_is_decided_by_the_node_above():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]]), np.array([0, 0, 0, 0, 1])
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert leaf_votes(tree, X, y, np.arange(5), 2).tolist() == [0, 0, 0, 0, 0]


def test_leaf_votes_leave_out_the_whole_group():
    X, y = np.repeat(np.array([[0.0], [1.0], [5.0]]), 2, axis=0), np.array([0, 0, 0, 0, 1, 1])
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert leaf_votes(tree, X, y, np.arange(6) // 2, 2)[4:].tolist() == [0, 0]


def test_only_trees_have_leaves():
    X, y = points()
    assert leaf_votes(SVC().fit(X, y), X, y, np.arange(40), 3) is None


def test_bagged_trees_do_not_learn_noise_from_copies_of_a_row():
    """Labels of 60 points are coin tosses; each point stands five times. 4.5 s.e.: false alarm 7e-6."""
    rng = np.random.default_rng(0)
    X, y = np.repeat(rng.normal(size=(60, 3)), 5, axis=0), np.repeat(np.arange(60) % 2, 5)
    found = bagged_tree_clues(X, y, np.repeat(np.arange(60), 5), y, equal_weights(300), 2, SEED)
    assert abs(found["tree_error"] - 0.5) < 4.5 * np.sqrt(0.25 / 60)
    assert bagged_tree_clues(X, y, np.arange(300), y, equal_weights(300), 2, SEED)["tree_error"] < 0.2


def every_clue(X, y, classifier, seed=SEED, groups=None):
    groups = np.arange(len(y)) if groups is None else groups
    subject = TrainedOn(classifier, read_sample(X, y), groups)
    return dict(clues(subject, left_out(classifier, X, y, groups=groups), seed))


def test_clues_do_not_depend_on_units():
    X, y = points()
    rule = make_pipeline(StandardScaler(), KNeighborsClassifier(3))
    here, there = (every_clue(Z, y, rule.fit(Z, y)) for Z in (X, X * [1e-3, 1.0, 1e4] + 5.0))
    assert here == pytest.approx(there, abs=1e-6)


def test_clues_do_not_depend_on_names_of_labels():
    X, y = points()
    rule = make_pipeline(StandardScaler(), KNeighborsClassifier(3))
    here, there = (every_clue(X, labels, rule.fit(X, labels)) for labels in (y, np.array(["a", "b", "c"])[y]))
    assert here == there


def test_ranks_do_not_depend_on_increasing_changes_of_features():
    X, _ = points()
    np.testing.assert_array_equal(ranks(X), ranks(np.exp(X)))


def test_own_error_is_that_of_the_shortcut():
    X, y = points()
    classifier = KNeighborsClassifier(3).fit(X, y)
    found = every_clue(X, y, classifier)
    expected = bg.LeaveOneOut(shortcut=True).error(KNeighborsClassifier(3), X, y)
    assert (found["own_error"], found["has_own"]) == (pytest.approx(expected.value, abs=1e-12), 1.0)


def test_all_clues_are_finite_for_constant_and_repeated_columns():
    X, y = points()
    X = np.column_stack([X, np.ones(40), X[:, 0], y])
    found = every_clue(X, y, KNeighborsClassifier(3).fit(X, y))
    assert np.isfinite(list(found.values())).all()


def test_large_samples_take_a_part_of_the_rows_and_all_of_the_leave_one_out():
    X, y = points(n=1500)
    classifier = KNeighborsClassifier(3).fit(X, y)
    found = every_clue(X, y, classifier)
    assert found["log_n"] == pytest.approx(np.log(1500))
    assert found["apparent"] == pytest.approx(np.mean(classifier.predict(X) != y), abs=1e-12)
    assert found["own_error"] == pytest.approx(float(bg.LeaveOneOut(shortcut=True).error(classifier, X, y)), abs=1e-12)
    small = every_clue(X[:900], y[:900], KNeighborsClassifier(3).fit(X[:900], y[:900]))
    assert found["smooth_error"] == pytest.approx(small["smooth_error"], abs=0.06)


def test_rows_that_every_tree_has_seen_are_left_out_of_the_own_error():
    X, y = points()
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    expected = bg.OutOfBag().error(forest, X, y, classifier=forest)
    found = every_clue(X, y, forest)
    assert expected.details["points_in_every_bag"] > 0
    assert found["own_error"] == pytest.approx(expected.value, abs=1e-12)
    assert np.isfinite(found["own_doubt"])


def test_class_that_only_the_classifier_has_is_an_error():
    X, y = points()
    classifier = KNeighborsClassifier(1).fit(np.vstack([X[4:], X[:4]]), np.r_[y[4:], [7] * 4])
    found = clues(TrainedOn(classifier, read_sample(X, y), np.arange(40)), None, SEED)
    assert found["apparent"] == pytest.approx(0.1)
    assert np.isfinite(list(found.values())).all()
