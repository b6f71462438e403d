"""Measures on learned features: collapsed features warn, held-out and out-of-fold ones come near the truth."""

import warnings

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import bayes_gresub as bg

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def world():
    """200 digits with the rest of them, and a network trained on each."""
    X, y, rest = bg.datasets.digits().draw(200, 0)
    others, labels = (rest.sample.restored(rest.rows), rest.sample.labels[rest.rows])
    own = bg.paper.LeNet5(random_state=0).fit(X, y)
    foreign = bg.paper.LeNet5(random_state=0).fit(others[:600], labels[:600])
    return X, y, others[600:], labels[600:], own, foreign


def true_error(head, extractor, X, y):
    return float((head.predict(extractor.features().transform(X)) != y).mean())


def test_features_of_training_points_have_collapsed_and_it_warns(world):
    X, y, others, labels, own, _ = world
    truth = true_error(own.head(), own, others, labels)
    with pytest.warns(UserWarning, match=r"may have been trained on these points.*held_out=True, or use out-of-fold"):
        measure = bg.on_features(bg.Bolstered(random_state=0), own).fit(X, y)
    assert measure.error(own.head()).value < 0.4 * truth


@pytest.mark.long
def test_extractor_of_other_data_gives_estimates_near_the_truth():
    """On average over three samples, each with an extractor of its own; the head is a regularised one."""
    measures = {
        "spherical": bg.Bolstered(random_state=0),
        "diagonal": bg.Bolstered(bg.DiagonalGaussian(), random_state=0),
        "posterior": bg.PosteriorProbability(),
        "both": bg.BolsteredPosterior(random_state=0),
    }
    deviations = {name: [] for name in measures}
    for seed in range(3):
        X, y, rest = bg.datasets.digits().draw(200, seed)
        others, labels = rest.sample.restored(rest.rows), rest.sample.labels[rest.rows]
        extractor = bg.paper.LeNet5(random_state=seed).fit(others[:600], labels[:600])
        head = LogisticRegression(C=0.01, max_iter=5000).fit(extractor.features().transform(X), y)
        truth = true_error(head, extractor, others[600:], labels[600:])
        for name, measure in measures.items():
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                estimate = bg.on_features(measure, extractor, held_out=True).fit(X, y).error(head)
            deviations[name].append(estimate.value - truth)
    means = {name: abs(np.mean(found)) for name, found in deviations.items()}
    assert max(means.values()) < 0.03, means


def test_gaussian_process_and_bayesian_measure_work_there(world):
    X, y, others, labels, _, foreign = world
    both, classes = X[y < 2], y[y < 2]
    extractor = bg.TorchFeatures(foreign.module_[:-3])
    inside = PCA(3).fit(extractor.transform(others))

    def features(points):
        return inside.transform(extractor.transform(points))

    head = LinearDiscriminantAnalysis().fit(features(both), classes)
    truth = float((head.predict(features(others[labels < 2])) != labels[labels < 2]).mean())
    for measure in (
        bg.PosteriorProbability(bg.GaussianProcess(tol=0.01), random_state=0),
        bg.Bayesian(bg.GaussianClasses(), sampler="gibbs", draws=200, random_state=0),
    ):
        fitted = bg.on_features(measure, features, held_out=True).fit(both, classes)
        assert fitted.has_draws
        estimate = fitted.error(head)
        assert len(estimate.draws) >= 800
        assert abs(estimate.value - truth) < 0.05


def test_out_of_fold_features_come_nearer_than_those_of_an_extractor_trained_on_the_points():
    """Discriminants of 25 features and 90 points: mean distances from the truth over 4 samples, 0.05 against 0.27.

    Their standard deviations are 0.035 and 0.03, so that half of the larger is over 4.5 s.e. above the smaller: a false
    alarm in 1 of 100 000 choices of the seeds.
    """
    inside, outside = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y = np.arange(20_090) % 3
        X = rng.normal(size=(len(y), 25))
        X[:, :2] += 1.2 * np.array([[0, 0], [1, 0], [0, 1]])[y]
        few, classes = X[:90], y[:90]
        extractor = LinearDiscriminantAnalysis().fit(few, classes)
        head = LogisticRegression().fit(extractor.transform(few), classes)
        truth = float((head.predict(extractor.transform(X[90:])) != y[90:]).mean())
        for distances, given in ((inside, {"held_out": True}), (outside, {"cv": 5})):
            measure = bg.on_features(bg.Bolstered(random_state=0), extractor, **given).fit(few, classes)
            distances.append(abs(measure.error(head).value - truth))
    assert np.mean(outside) < 0.5 * np.mean(inside)


@pytest.mark.long
def test_out_of_fold_features_come_nearer_than_collapsed_ones(world):
    X, y, others, labels, own, _ = world
    truth = true_error(own.head(), own, others, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        measure = bg.on_features(bg.Bolstered(random_state=0), own, cv=4).fit(X, y)
    assert abs(measure.error(own.head()).value - truth) < 0.06


def test_out_of_fold_features_of_a_fixed_map_are_those_of_the_map():
    """What copies of an extractor that learns nothing say is mapped onto itself."""
    from sklearn.preprocessing import FunctionTransformer

    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 3)) + y[:, None]
    extractor = FunctionTransformer(lambda points: 2 * points).fit(X)
    head = LogisticRegression().fit(2 * X, y)
    folds = bg.on_features(bg.Bolstered(), extractor, cv=3).fit(X, y).error(head)
    whole = bg.Bolstered().fit(2 * X, y).error(head)
    assert folds.value == pytest.approx(whole.value, abs=1e-3)


def test_it_is_the_measure_on_the_features(world):
    X, y, others, labels, _, foreign = world
    features = foreign.features().transform
    head = LogisticRegression(max_iter=5000).fit(features(X), y)
    wrapped = bg.on_features(bg.Bolstered(random_state=0), features, held_out=True).fit(X, y)
    plain = bg.Bolstered(random_state=0).fit(features(X).astype(float), y)
    assert wrapped.error(head).value == plain.error(head).value
    elsewhere = (others[:50], labels[:50])
    assert wrapped.error(head, *elsewhere).value == plain.error(head, features(elsewhere[0]), elsewhere[1]).value
    points, drawn = wrapped.sample(7, random_state=1)
    np.testing.assert_array_equal(points, plain.sample(7, random_state=1)[0])
    assert len(drawn) == 7
    norm = wrapped.expectation(lambda z, _: (z**2).sum(axis=1))
    assert norm.value == plain.expectation(lambda z, _: (z**2).sum(axis=1)).value
    np.testing.assert_array_equal(wrapped.classes_, np.unique(y))


def test_weights_reach_the_measure(world):
    X, y, _, _, _, foreign = world
    weights = np.random.default_rng(0).random(200)
    head = LogisticRegression(max_iter=5000).fit(foreign.features().transform(X), y)
    wrapped = bg.on_features(bg.Empirical(), foreign, held_out=True).fit(X, y, sample_weight=weights)
    wrong = head.predict(foreign.features().transform(X)) != y
    assert wrapped.error(head).value == pytest.approx(weights[wrong].sum() / weights.sum())


class TestBadInput:
    """Errors before any work."""

    X, y = np.arange(24.0).reshape(12, 2), np.arange(12) % 2

    @pytest.mark.parametrize("extractor", [None, 3, PCA])
    def test_extractors(self, extractor):
        with pytest.raises(TypeError, match="extractor must be a fitted transformer"):
            bg.on_features(bg.Bolstered(), extractor, held_out=True).fit(self.X, self.y)

    def test_measures(self):
        with pytest.raises(TypeError, match="measure must be a measure"):
            bg.on_features(bg.CrossValidation(), PCA().fit(self.X)).fit(self.X, self.y)

    def test_folds_of_held_out_features(self):
        with pytest.raises(ValueError, match=r"cv or held_out=True, not both"):
            bg.on_features(bg.Bolstered(), PCA().fit(self.X), cv=3, held_out=True).fit(self.X, self.y)

    def test_folds_of_what_cannot_be_refitted(self):
        with pytest.raises(TypeError, match="needs fit and get_params; got function"):
            bg.on_features(bg.Bolstered(), lambda X: X, cv=3).fit(self.X, self.y)

    def test_features_that_are_no_rows(self):
        with pytest.raises(ValueError, match="one row of features per point; got shape"):
            bg.on_features(bg.Bolstered(), lambda X: X.sum(), held_out=True).fit(self.X, self.y)

    def test_resampling(self):
        measure = bg.on_features(bg.Bolstered(), PCA().fit(self.X), held_out=True)
        with pytest.raises(TypeError):
            bg.CrossValidation(3, measure=measure).error(LogisticRegression(), self.X, self.y)

    def test_not_fitted(self):
        with pytest.raises(NotFittedError, match="not fitted"):
            bg.on_features(bg.Bolstered(), PCA().fit(self.X)).error(LogisticRegression())

    def test_held_out(self):
        with pytest.raises(ValueError, match="held_out must be True or False"):
            bg.on_features(bg.Bolstered(), PCA().fit(self.X), held_out="yes").fit(self.X, self.y)


def test_comparison_gives_it_a_seed_and_keeps_its_extractor():
    """The features have as many columns as X, so that one classifier takes both."""
    X, y = bg.datasets.PaperGaussian().sample(60, random_state=0)
    extractor = PCA().fit(X)
    head = KNeighborsClassifier(3).fit(extractor.transform(X), y)
    measure = bg.on_features(bg.Bolstered(), extractor, held_out=True)
    tables = [bg.compare(head, X, y, {"features": measure}, random_state=0) for _ in range(2)]
    seed = np.random.SeedSequence(0)
    expected = bg.Bolstered(random_state=seed).fit(extractor.transform(X), y).error(head)
    assert [table["features"].value for table in tables] == [expected.value, expected.value]
