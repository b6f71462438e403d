"""The figure of decision regions: colours against predictions, outlines against draws from the measure."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

import bayes_gresub as bg
from bayes_gresub.plots.palette import FILLS

N_DRAWS = 40_000


def sample(c=2, n=15, names=None, seed=0):
    """Return c correlated classes of n points each, the second feature in units a hundred times smaller."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(c), n)
    X = rng.standard_normal((c * n, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]]) + 2.0 * np.column_stack([y % 3, y // 3])
    return X * [1.0, 100.0], y if names is None else np.array(names)[y]


def fitted(kernel, semi=False, **parts):
    X, y = sample(**parts)
    return LinearDiscriminantAnalysis().fit(X, y), X, y, bg.Bolstered(kernel, semi, random_state=0).fit(X, y)


def outlines(ax):
    """Return the outlines of the kernels, an array (kernels, corners, 2) for each curve drawn."""
    return [
        np.stack([path.vertices[:-1] for path in collection.get_paths()])
        for collection in ax.collections
        if isinstance(collection, PolyCollection)
    ]


def scatter(ax, label):
    return next(one for one in ax.collections if one.get_label() == label)


def shape_of(outline, center):
    """Return the matrix S of the ellipse x' S^-1 x = 1 through the corners, which lie evenly along it."""
    away = outline - center
    return 2 * away.T @ away / len(away)


def drawn_covariance(measure, X, y, label):
    """Return the kernel's covariance for a class from draws of the measure: that of the draws less that of centres."""
    points, labels = measure.sample(N_DRAWS, random_state=1)
    return np.cov(points[labels == label].T, ddof=0) - np.cov(X[y == label].T, ddof=0)


def tolerance(measure, X, y, label):
    """Return 5 standard errors of each entry of a covariance from draws; one false alarm in 10^5 checks or so."""
    points, labels = measure.sample(N_DRAWS, random_state=1)
    away = points[labels == label] - points[labels == label].mean(axis=0)
    products = away[:, :, None] * away[:, None, :]
    return 5 * products.std(axis=0) / np.sqrt(len(away)) * 1.5


def within(got, wanted, slack):
    return bool((np.abs(got - wanted) <= slack).all())


GAUSSIANS = {
    "spherical": bg.SphericalGaussian,
    "spherical, as given": lambda: bg.SphericalGaussian(standardize=None),
    "diagonal": bg.DiagonalGaussian,
    "full": bg.FullGaussian,
    "full, twice as wide": lambda: bg.FullGaussian(scale=2.0),
}


@pytest.mark.parametrize("kernel", GAUSSIANS.values(), ids=GAUSSIANS)
def test_inner_ellipses_are_one_standard_deviation_of_the_measures_draws(kernel):
    lda, X, y, measure = fitted(kernel())
    inner, _ = outlines(bg.plot_regions(lda, X, y, measure, resolution=5))
    got = shape_of(inner[20], X[20])
    assert within(got, drawn_covariance(measure, X, y, y[20]), tolerance(measure, X, y, y[20]))


def test_spherical_half_axes_are_the_width_times_the_scale_of_each_feature():
    lda, X, y, measure = fitted(bg.SphericalGaussian())
    inner, _ = outlines(bg.plot_regions(lda, X, y, measure, resolution=5))
    within_class = np.concatenate([X[y == label] - X[y == label].mean(axis=0) for label in (0, 1)])
    deviation = np.sqrt((within_class**2).sum(axis=0) / (len(X) - 2))
    half_axes = np.ptp(inner, axis=1) / 2
    # 72 corners, among them those on the axes.
    np.testing.assert_allclose(half_axes, measure.kernel_.widths_[y][:, None] * deviation, rtol=1e-9)


def test_outer_ellipses_are_twice_as_wide():
    lda, X, y, measure = fitted(bg.FullGaussian())
    inner, outer = outlines(bg.plot_regions(lda, X, y, measure, resolution=5))
    np.testing.assert_allclose(outer - X[:, None], 2 * (inner - X[:, None]), rtol=1e-9, atol=1e-9)


def test_ball_is_drawn_by_its_edge():
    """The covariance of a uniform law on an ellipse is a quarter of the ellipse's matrix."""
    lda, X, y, measure = fitted(bg.UniformBall())
    (edge,) = outlines(bg.plot_regions(lda, X, y, measure, resolution=5))
    got = shape_of(edge[20], X[20]) / 4
    assert within(got, drawn_covariance(measure, X, y, y[20]), tolerance(measure, X, y, y[20]))


def test_ball_in_one_varying_feature_is_a_segment():
    X, y = sample()
    X[:, 1] = 3.0
    knn = KNeighborsClassifier(3).fit(X, y)
    measure = bg.Bolstered(bg.UniformBall()).fit(X, y)
    (edge,) = outlines(bg.plot_regions(knn, X, y, measure, resolution=5))
    assert np.ptp(edge[..., 1]) == 0
    np.testing.assert_allclose(
        np.ptp(edge[..., 0], axis=1), 2 * measure.kernel_.widths_[y] * measure.kernel_.feature_scale_[0]
    )


def test_kernels_end_at_the_bounds():
    X, y = sample()
    low, high = X.min(axis=0), X.max(axis=0)
    measure = bg.Bolstered(bounds=(low, high)).fit(X, y)
    ax = bg.plot_regions(NearestCentroid().fit(X, y), X, y, measure, resolution=5)
    corners = np.concatenate([outline.reshape(-1, 2) for outline in outlines(ax)])
    assert ((corners >= low) & (corners <= high)).all()


def test_semi_bolstering_draws_kernels_at_correct_points_only():
    lda, X, y, measure = fitted(None, semi=True)
    inner, _ = outlines(bg.plot_regions(lda, X, y, measure, resolution=5))
    correct = lda.predict(X) == y
    assert 0 < correct.sum() < len(y)
    np.testing.assert_allclose(inner.mean(axis=1), X[correct], rtol=1e-9)


def test_kernels_have_the_colours_of_their_classes():
    lda, X, y, measure = fitted(None, c=4)
    ax = bg.plot_regions(lda, X, y, measure, resolution=5)
    first = next(one for one in ax.collections if isinstance(one, PolyCollection))
    assert [tuple(color[:3]) for color in first.get_edgecolors()] == [to_rgb(FILLS[code]) for code in y]


@pytest.mark.parametrize("measure", [bg.Empirical(), bg.PosteriorProbability()], ids=lambda one: type(one).__name__)
def test_measures_that_stay_at_the_points_draw_no_kernels(measure):
    X, y = sample()
    assert outlines(bg.plot_regions(NearestCentroid().fit(X, y), X, y, measure.fit(X, y), resolution=5)) == []


@pytest.mark.parametrize("names", [None, ["no", "yes", "perhaps", "never"]], ids=["numbers", "strings"])
@pytest.mark.parametrize("c", [2, 4])
def test_regions_have_the_colour_of_what_the_classifier_says(c, names):
    X, y = sample(c, names=names)
    knn = KNeighborsClassifier(3).fit(X, y)
    ax = bg.plot_regions(knn, X, y, resolution=30)
    (image,) = ax.images
    left, right, bottom, top = image.get_extent()
    columns = left + (right - left) * (np.arange(30) + 0.5) / 30
    rows = bottom + (top - bottom) * (np.arange(30) + 0.5) / 30
    said = knn.predict(np.array([[x, up] for up in rows for x in columns])).reshape(30, 30)
    colors = [to_rgb(FILLS[code]) for code in range(c)]
    wanted = np.array([[colors[np.flatnonzero(knn.classes_ == label)[0]] for label in row] for row in said])
    np.testing.assert_allclose((np.asarray(image.get_array()) - 0.72) / 0.28, wanted, atol=1e-9)
    assert len(np.unique(said)) == c


def test_regions_cover_all_points_and_outlines():
    lda, X, y, measure = fitted(bg.FullGaussian())
    ax = bg.plot_regions(lda, X, y, measure, resolution=5)
    corners = np.concatenate([X, *(outline.reshape(-1, 2) for outline in outlines(ax))])
    left, right, bottom, top = ax.images[0].get_extent()
    assert (corners > [left, bottom]).all()
    assert (corners < [right, top]).all()
    assert (ax.get_xlim(), ax.get_ylim()) == ((left, right), (bottom, top))


def test_points_are_drawn_by_class():
    X, y = sample(4, names=["a", "b", "c", "d"])
    ax = bg.plot_regions(NearestCentroid().fit(X, y), X, y, resolution=5)
    for label in "abcd":
        np.testing.assert_array_equal(scatter(ax, f"class {label}").get_offsets(), X[y == label])


def test_misclassified_points_have_a_ring():
    X, y = sample()
    lda = LinearDiscriminantAnalysis().fit(X, y)
    wrong = lda.predict(X) != y
    ax = bg.plot_regions(lda, X, y, resolution=5)
    assert wrong.any()
    np.testing.assert_array_equal(scatter(ax, f"misclassified: {wrong.sum()} of 30").get_offsets(), X[wrong])


def test_regions_of_more_classes_than_colours_are_named_inside():
    X, y = sample(9, n=6)
    knn = KNeighborsClassifier(1).fit(X, y)
    ax = bg.plot_regions(knn, X, y, resolution=60)
    assert sorted(text.get_text() for text in ax.texts) == [str(code) for code in range(9)]
    assert [str(knn.predict([text.get_position()])[0]) for text in ax.texts] == [t.get_text() for t in ax.texts]


class Recording:
    """A classifier that remembers in what form it was asked."""

    def predict(self, X):
        self.asked = X
        return (np.asarray(X)[:, 0] > 1).astype(int)


def test_classifier_gets_the_columns_of_the_frame_back():
    X, y = sample()
    classifier = Recording()
    ax = bg.plot_regions(classifier, pd.DataFrame(X, columns=["length", "width"]), y, resolution=5)
    assert list(classifier.asked.columns) == ["length", "width"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length", "width")


def test_axes_without_names_are_labelled_by_column():
    X, y = sample()
    ax = bg.plot_regions(NearestCentroid().fit(X, y), X, y, resolution=5)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("column 0 of X", "column 1 of X")


def test_integer_features_are_asked_about_between_the_integers():
    X, y = np.array([[0, 0], [1, 0], [2, 0], [3, 1]]), np.array([0, 0, 1, 1])
    ax = bg.plot_regions(KNeighborsClassifier(1).fit(X, y), X, y, resolution=50)
    left, right, _, _ = ax.images[0].get_extent()
    first = np.asarray(ax.images[0].get_array())[0, :, 0]
    boundary = left + (right - left) * (np.flatnonzero(np.diff(first))[0] + 1) / 50
    assert abs(boundary - 1.5) < (right - left) / 50


def test_axes_given_are_drawn_on_and_no_other_figure_opened():
    X, y = sample()
    _, ax = plt.subplots()
    assert bg.plot_regions(NearestCentroid().fit(X, y), X, y, ax=ax, resolution=5) is ax
    assert len(plt.get_fignums()) == 1


def wide(X):
    return np.column_stack([X, X[:, 0]])


BAD = {
    "three features": (
        lambda X, y: bg.plot_regions(NearestCentroid().fit(wide(X), y), wide(X), y),
        ValueError,
        "got 3. Choose two",
    ),
    "not fitted": (
        lambda X, y: bg.plot_regions(NearestCentroid().fit(X, y), X, y, bg.Bolstered()),
        NotFittedError,
        "call fit",
    ),
    "classifier not fitted": (lambda X, y: bg.plot_regions(NearestCentroid(), X, y), NotFittedError, "must be fitted"),
    "Bayesian": (
        lambda X, y: bg.plot_regions(NearestCentroid().fit(X, y), X, y, bg.Bayesian(sampler="gibbs")),
        TypeError,
        "no kernels to draw. Leave it out; a posterior of the error is drawn by plot_error_posterior",
    ),
    "other points": (
        lambda X, y: bg.plot_regions(NearestCentroid().fit(X, y), X, y, bg.Bolstered().fit(X + 1, y)),
        ValueError,
        "not the same. Pass the X and y that it was fitted to",
    ),
    "fewer points": (
        lambda X, y: bg.plot_regions(NearestCentroid().fit(X, y), X, y, bg.Bolstered().fit(X[5:], y[5:])),
        ValueError,
        "it has 25 points, X has 30",
    ),
    "resolution": (
        lambda X, y: bg.plot_regions(NearestCentroid().fit(X, y), X, y, resolution=1),
        ValueError,
        "at least 2",
    ),
}


@pytest.mark.parametrize(("call", "kind", "message"), BAD.values(), ids=BAD)
def test_what_cannot_be_drawn_says_what_to_do(call, kind, message):
    with pytest.raises(kind, match=message):
        call(*sample())
