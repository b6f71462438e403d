"""Posteriors: neighbour votes against scikit-learn and hand counts; classifiers out of fold, frozen and weighted."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

import bayes_gresub as bg
from bayes_gresub.regions import neighbors


def blobs(n=60, d=2, labels=(0, 1), seed=0):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % len(labels)
    return rng.standard_normal((n, d)) + codes[:, None], np.array(labels)[codes]


def integer_grid(seed=0):
    """Return a grid of 5 by 5 points, each twice, with three labels at random: many ties and duplicates."""
    grid = np.array([[i, j] for i in range(5) for j in range(5)], dtype=float)
    return np.concatenate([grid, grid]), np.random.default_rng(seed).integers(0, 3, 50)


class TestNeighbours:
    """The k-nearest-neighbour posterior."""

    @pytest.mark.parametrize("d", [1, 2, 30])
    @pytest.mark.parametrize("k", [1, 3, 8])
    def test_shares_equal_those_of_scikit_learn_where_nothing_is_tied(self, k, d):
        X, y = blobs(d=d, labels=("x", "y", "z"))
        queries = np.random.default_rng(1).standard_normal((200, d)) * 2
        expected = KNeighborsClassifier(k).fit(X, y).predict_proba(queries)
        np.testing.assert_allclose(
            bg.KNN(k, standardize=None).fit(X, y).predict_proba(queries), expected, rtol=0, atol=1e-12
        )

    def test_standardized_neighbours_are_those_in_units_of_the_pooled_deviation(self):
        X, y = blobs(labels=("x", "y", "z"))
        X = X * [1.0, 100.0]
        queries = X + np.random.default_rng(1).standard_normal(X.shape)
        centred = np.concatenate([X[y == label] - X[y == label].mean(axis=0) for label in "xyz"])
        unit = np.sqrt((centred**2).sum(axis=0) / (len(X) - 3))
        expected = KNeighborsClassifier(3).fit(X / unit, y).predict_proba(queries / unit)
        np.testing.assert_allclose(bg.KNN(3).fit(X, y).predict_proba(queries), expected, rtol=0, atol=1e-12)

    def test_columns_follow_the_sorted_labels(self):
        posterior = bg.KNN(1).fit([[0.0], [1.0], [5.0], [6.0]], ["z", "z", "a", "a"])
        assert posterior.predict_proba([[0.1]]).tolist() == [[0.0, 1.0]]

    def test_prediction_is_the_most_probable_label(self):
        posterior = bg.KNN(3).fit([[0.0], [1.0], [5.0], [6.0]], ["z", "z", "a", "a"])
        assert posterior.predict([[0.1], [5.5]]).tolist() == ["z", "a"]

    def test_one_neighbour_of_a_training_point_is_the_point_itself_among_duplicates(self):
        X, y = [[0.0], [0.0], [0.0], [5.0]], ["a", "b", "b", "b"]
        assert bg.KNN(1).fit(X, y).training_proba().tolist() == [[1, 0], [0, 1], [0, 1], [0, 1]]

    def test_duplicates_of_a_training_point_share_the_votes_that_it_leaves(self):
        X, y = [[0.0], [0.0], [0.0], [5.0]], ["a", "b", "b", "b"]
        np.testing.assert_allclose(bg.KNN(2).fit(X, y).training_proba()[:2], [[0.5, 0.5], [0.25, 0.75]], rtol=1e-12)

    def test_duplicates_share_the_vote_at_a_point_that_is_not_in_the_sample(self):
        posterior = bg.KNN(1).fit([[0.0], [0.0], [0.0], [5.0]], ["a", "b", "b", "b"])
        np.testing.assert_allclose(posterior.predict_proba([[0.0]]), [[1 / 3, 2 / 3]], rtol=1e-12)

    def test_points_tied_at_the_kth_distance_share_what_is_left(self):
        posterior = bg.KNN(2).fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])
        np.testing.assert_allclose(posterior.predict_proba([[1.0]]), [[0.75, 0.25]], rtol=1e-12)

    def test_four_neighbours_tied_about_a_grid_point_share_two_votes(self):
        X = [[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [3.0, 3.0]]
        posterior = bg.KNN(3, standardize=None).fit(X, ["a", "b", "b", "b", "a", "a"])
        np.testing.assert_allclose(posterior.predict_proba([[0.0, 0.0]]), [[0.5, 0.5]], rtol=1e-12)

    @pytest.mark.parametrize("standardize", ["within-class", None])
    @pytest.mark.parametrize("k", [1, 2, 4, 7])
    def test_order_of_the_rows_never_matters_at_training_points(self, k, standardize):
        X, y = integer_grid()
        order = np.random.default_rng(1).permutation(len(X))
        direct = bg.KNN(k, standardize).fit(X, y).training_proba()
        permuted = bg.KNN(k, standardize).fit(X[order], y[order]).training_proba()
        np.testing.assert_allclose(permuted, direct[order], rtol=0, atol=1e-12)

    @pytest.mark.parametrize("standardize", ["within-class", None])
    @pytest.mark.parametrize("k", [1, 2, 4, 7])
    def test_order_of_the_rows_never_matters_elsewhere(self, k, standardize):
        X, y = integer_grid()
        queries = np.array([[i, j] for i in np.arange(-1, 6, 0.5) for j in np.arange(-1, 6, 0.5)])
        order = np.random.default_rng(1).permutation(len(X))
        direct = bg.KNN(k, standardize).fit(X, y).predict_proba(queries)
        permuted = bg.KNN(k, standardize).fit(X[order], y[order]).predict_proba(queries)
        np.testing.assert_allclose(permuted, direct, rtol=0, atol=1e-12)

    @pytest.mark.parametrize("standardize", ["within-class", None])
    def test_mirrored_grid_gives_mirrored_shares(self, standardize):
        X, y = integer_grid()
        direct = bg.KNN(4, standardize).fit(X, y).training_proba()
        np.testing.assert_allclose(bg.KNN(4, standardize).fit(4 - X, y).training_proba(), direct, rtol=0, atol=1e-12)

    def test_weights_multiply_votes(self):
        posterior = bg.KNN(2).fit([[0.0], [1.0], [5.0]], ["a", "b", "b"], sample_weight=[1.0, 3.0, 1.0])
        np.testing.assert_allclose(posterior.predict_proba([[0.4]]), [[0.25, 0.75]], rtol=1e-12)

    def test_weights_multiply_the_shares_of_tied_points(self):
        posterior = bg.KNN(2).fit([[0.0], [1.0], [2.0], [9.0]], ["a", "a", "b", "b"], sample_weight=[1, 2, 3, 1])
        np.testing.assert_allclose(posterior.predict_proba([[1.0]]), [[2.5 / 4, 1.5 / 4]], rtol=1e-12)

    def test_equal_weights_change_nothing(self):
        X, y = integer_grid()
        weighted = bg.KNN(4).fit(X, y, sample_weight=np.full(50, 7.0)).training_proba()
        np.testing.assert_allclose(weighted, bg.KNN(4).fit(X, y).training_proba(), rtol=0, atol=1e-12)

    def test_points_of_weight_zero_are_no_neighbours(self):
        X, y, weights = [[0.0], [1.0], [2.0], [5.0], [6.0]], ["b", "a", "a", "b", "b"], [0.0, 1.0, 1.0, 1.0, 1.0]
        posterior = bg.KNN(1).fit(X, y, sample_weight=weights)
        assert posterior.predict_proba([[-9.0], [4.0]]).tolist() == [[1, 0], [0, 1]]

    def test_feature_that_separates_the_classes_without_spread_still_tells_neighbours_apart(self):
        posterior = bg.KNN(1).fit([[0.0], [0.0], [1.0], [1.0]], ["a", "a", "b", "b"])
        assert posterior.predict_proba([[0.0], [1.0]]).tolist() == [[1, 0], [0, 1]]

    @pytest.mark.parametrize("standardize", ["within-class", None])
    def test_large_offset_changes_no_neighbour(self, standardize):
        X, y = blobs(d=5)
        direct = bg.KNN(3, standardize).fit(X, y).training_proba()
        np.testing.assert_allclose(bg.KNN(3, standardize).fit(X + 1e6, y).training_proba(), direct, rtol=0, atol=1e-12)

    @pytest.mark.parametrize("standardize", ["within-class", None])
    @pytest.mark.parametrize("offset", [2000.0, 1e6])
    def test_large_offset_changes_no_tie(self, offset, standardize):
        X, y = integer_grid()
        direct = bg.KNN(4, standardize).fit(X, y).training_proba()
        shifted = bg.KNN(4, standardize).fit(X + offset, y).training_proba()
        np.testing.assert_allclose(shifted, direct, rtol=0, atol=1e-12)

    @pytest.mark.parametrize("standardize", ["within-class", None])
    def test_far_outlier_makes_no_ties_among_the_others(self, standardize):
        """An outlier such as a sentinel of a missing value; the query is never as near to it as to the others."""
        X, y = blobs(n=200)
        queries = np.random.default_rng(1).standard_normal((300, 2)) * [0.0, 1.0]
        outlier = np.concatenate([X * [0.0, 1.0], [[1e7, 0.0]]]), np.append(y, 1)
        expected = KNeighborsClassifier(3).fit(X[:, 1:], y).predict_proba(queries[:, 1:])
        actual = bg.KNN(3, standardize).fit(*outlier).predict_proba(queries)
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-12)

    @pytest.mark.parametrize("factor", [1e-9, 1e-3, 1e9])
    @pytest.mark.parametrize("question", ["predict_proba", "sampled_proba"])
    def test_common_unit_of_all_features_changes_no_neighbour(self, question, factor):
        X, y = blobs()
        plain = bg.KNN(3, standardize=None).fit(X, y)
        scaled = bg.KNN(3, standardize=None).fit(X * factor, y)
        np.testing.assert_allclose(
            getattr(scaled, question)((X + 0.3) * factor), getattr(plain, question)(X + 0.3), rtol=0, atol=1e-6
        )

    @pytest.mark.parametrize("standardize", ["within-class", None])
    def test_single_precision_makes_no_ties_among_features_of_unequal_size(self, standardize):
        """Distances that agree to seven digits may tie: among 3000 points drawn at random that is rare."""
        X, y = load_breast_cancer(return_X_y=True)
        posterior = bg.KNN(3, standardize).fit(X, y)
        rng = np.random.default_rng(0)
        points = X[rng.integers(0, len(X), 3000)] + 0.3 * X.std(axis=0) * rng.standard_normal((3000, X.shape[1]))
        apart = np.abs(posterior.sampled_proba(points) - posterior.predict_proba(points)).max(axis=1)
        assert (apart > 1e-5).mean() < 0.005

    def test_chunks_change_nothing(self, monkeypatch):
        X, y = integer_grid()
        posterior = bg.KNN(4).fit(X, y)
        at_once = posterior.training_proba(), posterior.predict_proba(X + 0.3)
        monkeypatch.setattr(neighbors, "CHUNK_ELEMENTS", 7 * len(X))
        np.testing.assert_array_equal(np.stack([posterior.training_proba(), posterior.predict_proba(X + 0.3)]), at_once)

    def test_as_many_neighbours_as_points_give_the_class_frequencies(self):
        X, y = blobs(n=9, labels=(0, 1, 1))
        posterior = bg.KNN(9).fit(X, y)
        expected = np.tile([1 / 3, 2 / 3], (9, 1))
        np.testing.assert_allclose([posterior.training_proba(), posterior.predict_proba(X * 5)], [expected] * 2)

    def test_images_are_compared_as_flat_vectors(self):
        X, y = blobs(d=6)
        flat = bg.KNN(3).fit(X, y).predict_proba(X + 0.3)
        images = bg.KNN(3).fit(X.reshape(-1, 2, 3), y).predict_proba((X + 0.3).reshape(-1, 2, 3))
        np.testing.assert_array_equal(images, flat)

    @pytest.mark.parametrize("k", [0, -1, 2.5, True])
    def test_k_that_is_no_positive_whole_number_is_refused(self, k):
        with pytest.raises(ValueError, match="k must be a whole number of at least 1"):
            bg.KNN(k).fit(*blobs())

    def test_more_neighbours_than_points_are_refused(self):
        with pytest.raises(ValueError, match=r"got k=11 with n=8. Lower k"):
            bg.KNN(11).fit(*blobs(n=8))

    def test_other_number_of_features_is_refused(self):
        with pytest.raises(ValueError, match="the 2 features seen in fit; got 3"):
            bg.KNN().fit(*blobs()).predict_proba(np.zeros((1, 3)))

    def test_prediction_before_fit_is_refused(self):
        with pytest.raises(NotFittedError, match="fit"):
            bg.KNN().predict_proba([[0.0]])


class NeverFitted(ClassifierMixin, BaseEstimator):
    """A classifier whose fit is a mistake."""

    def fit(self, X, y):
        raise RuntimeError("fitted before the parameters were checked")

    def predict_proba(self, X):
        raise RuntimeError("asked although never fitted")


class TestClassifiers:
    """The posterior of a scikit-learn classifier."""

    @pytest.mark.parametrize("labels", [(0, 1), ("no", "yes"), (False, True), ("x", "y", "z")])
    def test_training_probabilities_are_those_of_cross_val_predict(self, labels):
        X, y = blobs(labels=labels)
        expected = cross_val_predict(LogisticRegression(), X, y, cv=5, method="predict_proba")
        actual = bg.ClassifierPosterior(LogisticRegression()).fit(X, y).training_proba()
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-12)

    def test_splitter_is_used_as_given(self):
        X, y = blobs()
        folds = StratifiedKFold(3, shuffle=True, random_state=4)
        expected = cross_val_predict(GaussianNB(), X, y, cv=folds, method="predict_proba")
        actual = bg.ClassifierPosterior(GaussianNB(), cv=folds).fit(X, y).training_proba()
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-12)

    def test_without_folds_training_probabilities_are_in_sample(self):
        X, y = blobs()
        actual = bg.ClassifierPosterior(GaussianNB(), cv=None).fit(X, y).training_proba()
        np.testing.assert_allclose(actual, GaussianNB().fit(X, y).predict_proba(X), rtol=0, atol=1e-12)

    def test_other_points_get_the_probabilities_of_the_fit_on_the_whole_sample(self):
        X, y = blobs(labels=("no", "yes"))
        actual = bg.ClassifierPosterior(GaussianNB()).fit(X, y).predict_proba(X + 1)
        np.testing.assert_allclose(actual, GaussianNB().fit(X, y).predict_proba(X + 1), rtol=0, atol=1e-12)

    def test_estimator_passed_stays_unfitted(self):
        estimator = LogisticRegression()
        bg.ClassifierPosterior(estimator).fit(*blobs())
        with pytest.raises(NotFittedError, match="not fitted yet"):
            check_is_fitted(estimator)

    def test_frozen_estimator_is_used_as_it_is(self):
        elsewhere = GaussianNB().fit(*blobs(seed=1))
        X, y = blobs(seed=2)
        posterior = bg.ClassifierPosterior(FrozenEstimator(elsewhere)).fit(X, y)
        np.testing.assert_array_equal(posterior.training_proba(), elsewhere.predict_proba(X))

    def test_columns_of_a_frozen_estimator_of_more_classes_are_aligned_and_rescaled(self):
        elsewhere = GaussianNB().fit(*blobs(labels=("a", "b", "c"), seed=1))
        X, y = blobs(labels=("c", "a"), seed=2)
        columns = elsewhere.predict_proba(X)[:, [0, 2]]
        posterior = bg.ClassifierPosterior(FrozenEstimator(elsewhere)).fit(X, y)
        np.testing.assert_allclose(posterior.predict_proba(X), columns / columns.sum(axis=1, keepdims=True), rtol=1e-12)

    def test_frozen_estimator_that_gives_all_mass_to_other_classes_is_refused_there(self):
        X, y = blobs(labels=("a", "b"))
        elsewhere = DecisionTreeClassifier(random_state=0).fit(
            np.concatenate([X, X + 100]), np.concatenate([y, np.repeat("c", len(y))])
        )
        posterior = bg.ClassifierPosterior(FrozenEstimator(elsewhere)).fit(X, y)
        with pytest.raises(ValueError, match="gives all of it to other classes at 1 points"):
            posterior.predict_proba([[100.0, 100.0]])

    def test_frozen_estimator_without_a_class_of_the_sample_is_refused(self):
        elsewhere = GaussianNB().fit(*blobs(labels=("a", "b")))
        with pytest.raises(ValueError, match=r"got \['c'\]. The frozen model was trained without these classes"):
            bg.ClassifierPosterior(FrozenEstimator(elsewhere)).fit(*blobs(labels=("a", "b", "c")))

    def test_class_smaller_than_the_number_of_folds_is_refused_with_the_remedy(self):
        X, y = blobs(n=20)
        y[:] = 0
        y[:3] = 1
        with pytest.raises(ValueError, match=r"at least cv=5 points of every class; class 1 has 3. Lower cv"):
            bg.ClassifierPosterior(GaussianNB()).fit(X, y)

    def test_class_smaller_than_the_number_of_folds_is_refused_before_anything_is_fitted(self):
        X, y = blobs(n=20)
        y[:] = 0
        y[:3] = 1
        with pytest.raises(ValueError, match="Lower cv"):
            bg.ClassifierPosterior(NeverFitted()).fit(X, y)

    def test_fewer_folds_serve_a_small_class(self):
        X, y = blobs(n=20)
        y[:] = 0
        y[:3] = 1
        assert bg.ClassifierPosterior(GaussianNB(), cv=3).fit(X, y).training_proba().shape == (20, 2)

    def test_estimator_without_probabilities_is_refused_with_the_remedy(self):
        with pytest.raises(TypeError, match=r"LinearSVC has none. Wrap it in sklearn.calibration"):
            bg.ClassifierPosterior(LinearSVC()).fit(*blobs())

    def test_weights_for_an_estimator_that_takes_none_are_refused(self):
        X, y = blobs()
        with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight in fit"):
            bg.ClassifierPosterior(KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(len(X)))

    def test_weights_reach_the_fit_on_the_whole_sample(self):
        X, y = blobs()
        weights = np.linspace(0.5, 2, len(X))
        expected = LogisticRegression().fit(X, y, sample_weight=weights).predict_proba(X)
        actual = bg.ClassifierPosterior(LogisticRegression()).fit(X, y, sample_weight=weights).predict_proba(X)
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-12)

    def test_weights_reach_the_fits_on_the_folds(self):
        X, y = blobs()
        weights = np.linspace(0.5, 2, len(X))
        expected = cross_val_predict(
            LogisticRegression(), X, y, cv=5, method="predict_proba", params={"sample_weight": weights}
        )
        actual = bg.ClassifierPosterior(LogisticRegression()).fit(X, y, sample_weight=weights).training_proba()
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-12)


class TestInAMeasure:
    """Posteriors as parts of measures."""

    def test_bare_classifier_is_taken_out_of_fold(self):
        X, y = blobs(labels=("no", "yes"))
        judged = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
        out_of_fold = cross_val_predict(LogisticRegression(), X, y, cv=5, method="predict_proba")
        chosen = (judged.predict(X) == "yes").astype(int)
        expected = 1 - out_of_fold[np.arange(len(X)), chosen].mean()
        estimate = bg.PosteriorProbability(LogisticRegression()).fit(X, y).error(judged)
        assert float(estimate) == pytest.approx(expected, abs=1e-12)

    def test_something_without_probabilities_is_refused(self):
        with pytest.raises(TypeError, match=r"a Posterior such as KNN\(3\), or a classifier with predict_proba"):
            bg.PosteriorProbability(LinearSVC()).fit(*blobs())

    def test_equal_weights_change_nothing(self):
        X, y = blobs()
        judged = GaussianNB().fit(X, y)
        plain = bg.PosteriorProbability(LogisticRegression()).fit(X, y).error(judged)
        weighted = bg.PosteriorProbability(LogisticRegression()).fit(X, y, sample_weight=np.ones(len(X))).error(judged)
        assert float(weighted) == pytest.approx(float(plain), abs=1e-10)

    @pytest.mark.parametrize("measure", [bg.PosteriorProbability, bg.BolsteredPosterior])
    def test_frozen_posterior_that_is_the_classifier_judged_warns(self, measure):
        X, y = blobs()
        judged = GaussianNB().fit(X, y)
        fitted = measure(posterior=bg.ClassifierPosterior(FrozenEstimator(judged)), random_state=0).fit(X, y)
        with pytest.warns(UserWarning, match="the posterior is the classifier being judged"):
            fitted.error(judged)

    def test_warning_of_self_judgement_points_at_the_users_line(self):
        X, y = blobs()
        judged = GaussianNB().fit(X, y)
        fitted = bg.PosteriorProbability(bg.ClassifierPosterior(FrozenEstimator(judged))).fit(X, y)
        with pytest.warns(UserWarning, match="the posterior is the classifier being judged") as caught:
            fitted.error(judged)
        assert caught[0].filename == __file__

    def test_frozen_posterior_that_is_another_model_does_not_warn(self):
        X, y = blobs()
        fitted = bg.PosteriorProbability(bg.ClassifierPosterior(FrozenEstimator(GaussianNB().fit(X, y)))).fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fitted.error(LogisticRegression().fit(X, y))

    def test_classifier_of_the_same_kind_out_of_fold_does_not_warn(self):
        X, y = blobs()
        judged = GaussianNB().fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            bg.PosteriorProbability(judged).fit(X, y).error(judged)

    def test_frozen_calibrated_model_at_unlabelled_points_gives_the_mean_doubt_in_the_predictions(self):
        X, y = blobs(n=200, labels=("no", "yes"))
        judged = GaussianNB().fit(X[:100], y[:100])
        calibrated = CalibratedClassifierCV(FrozenEstimator(judged)).fit(X[100:], y[100:])
        unlabelled = blobs(n=70, seed=9)[0] + 0.5
        doubt = (
            1 - calibrated.predict_proba(unlabelled)[np.arange(70), (judged.predict(unlabelled) == "yes").astype(int)]
        )
        measure = bg.PosteriorProbability(bg.ClassifierPosterior(FrozenEstimator(calibrated))).fit(X[100:], y[100:])
        assert float(measure.error(judged, unlabelled)) == pytest.approx(doubt.mean(), abs=1e-12)

    def test_one_neighbour_gives_plain_resubstitution_on_duplicated_rows(self):
        X, y = integer_grid()
        judged = GaussianNB().fit(X, y)
        estimate = bg.PosteriorProbability(bg.KNN(1)).fit(X, y).error(judged)
        assert float(estimate) == pytest.approx((judged.predict(X) != y).mean(), abs=1e-12)
