"""A classifier whose labels depend on the other points of a batch is found, and one that only rounds is not."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import bayes_gresub as bg


def sample(n=80, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 3)) + y[:, None], y


class Wrapped:
    """A trained classifier behind a `predict` of its own, which counts its calls."""

    classes_ = np.array([0, 1])

    def __init__(self):
        self.classifier = LinearDiscriminantAnalysis().fit(*sample())
        self.sizes = []

    def predict(self, X):
        self.sizes.append(len(X))
        return self.labels(X)

    def labels(self, X):
        return self.classifier.predict(X)


class CentresBatch(Wrapped):
    """Takes the mean of the batch for that of the population."""

    def labels(self, X):
        return (X.sum(axis=1) > X.sum(axis=1).mean()).astype(int)


class ScalesBatch(Wrapped):
    """Standardises by the batch, as a network with batch normalisation in training mode does."""

    def labels(self, X):
        return self.classifier.predict((X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9) + 0.5)


class RanksBatch(Wrapped):
    """Calls the larger half of the batch class 1."""

    def labels(self, X):
        return (X[:, 0].argsort().argsort() >= len(X) / 2).astype(int)


class DriftsSlightly(Wrapped):
    """Moves its threshold by a tenth of the mean of the batch."""

    def labels(self, X):
        return (X.sum(axis=1) - 1.5 > 0.2 * (X.sum(axis=1).mean() - 1.5)).astype(int)


class FailsAlone(Wrapped):
    """Predicts class 0 for a single point, as if an axis had been squeezed away."""

    def labels(self, X):
        return np.zeros(1, dtype=int) if len(X) == 1 else super().labels(X)


class RemembersLast(Wrapped):
    """Gives every point the label of the point before it."""

    def labels(self, X):
        return np.roll(super().labels(X), 1)


DEPENDENT = (CentresBatch, ScalesBatch, RanksBatch, DriftsSlightly, FailsAlone, RemembersLast)


@pytest.mark.parametrize("measure", [bg.Empirical(), bg.Bolstered(), bg.PosteriorProbability()], ids=repr)
@pytest.mark.parametrize("kind", DEPENDENT)
def test_classifier_that_depends_on_the_batch_is_refused(kind, measure):
    with pytest.raises(ValueError, match=r"predict must be a function of the point.* (Make|make) it"):
        measure.fit(*sample()).error(kind())


def test_message_names_how_the_points_were_predicted_and_how_many_labels_changed():
    with pytest.raises(ValueError, match=r"FailsAlone changed \d+ of 32 labels when .* predicted one by one\. Make it"):
        bg.Empirical().fit(*sample()).error(FailsAlone())


def test_step_of_a_pipeline_that_centres_the_batch_is_refused():
    X, y = sample()
    pipeline = make_pipeline(FunctionTransformer(lambda points: points - points.mean(axis=0)), GaussianNB()).fit(X, y)
    with pytest.raises(ValueError, match=r"this Pipeline changed \d+ of \d+ labels .* in other company"):
        bg.Bolstered().fit(X, y).error(pipeline)


def test_sorted_rows_hide_no_dependence_on_the_batch():
    X, y = sample(2000)
    order = np.argsort(y, kind="stable")
    with pytest.raises(ValueError, match="predict must be a function of the point"):
        bg.Empirical().fit(X[order], y[order]).error(CentresBatch())


class RarelyRounds(Wrapped):
    """Changes one label of the first of the four parts that 256 points are predicted in, as rounding may."""

    def labels(self, X):
        labels = super().labels(X)
        if self.sizes.count(64) == 1 and len(X) == 64:
            labels[0] = 1 - labels[0]
        return labels


def test_few_labels_may_change_with_the_company_as_rounding_does():
    X, y = sample(300)
    rounding = RarelyRounds()
    estimate = bg.Empirical().fit(X, y).error(rounding)
    assert rounding.sizes.count(64) == 4
    assert float(estimate) == pytest.approx(np.mean(rounding.classifier.predict(X) != y), abs=1e-12)


def test_classifier_of_the_point_alone_is_accepted():
    X, y = sample()
    wrapped = Wrapped()
    expected = np.mean(wrapped.classifier.predict(X) != y)
    assert float(bg.Empirical().fit(X, y).error(wrapped)) == pytest.approx(expected, abs=1e-12)


def test_probe_asks_for_few_points_whatever_the_sample():
    X, y = sample(5000)
    wrapped = Wrapped()
    bg.Empirical().fit(X, y).error(wrapped)
    assert wrapped.sizes[0] == 5000
    assert len(wrapped.sizes) < 40
    assert sum(wrapped.sizes[1:]) < 600


class CountedForest(RandomForestClassifier):
    """Counts its predictions; its name and module are those of scikit-learn's forest."""

    calls = 0

    def predict(self, X):
        type(self).calls += 1
        return super().predict(X)


CountedForest.__name__, CountedForest.__module__ = "RandomForestClassifier", RandomForestClassifier.__module__


@pytest.mark.parametrize(("measure", "most"), [(bg.Empirical(), 1), (bg.Bolstered(n_points=8), 3)], ids=repr)
def test_known_classifier_is_not_asked_in_other_company(measure, most):
    X, y = sample()
    forest = CountedForest(5, random_state=0).fit(X, y)
    measure.fit(X, y)
    CountedForest.calls = 0
    measure.error(forest)
    assert CountedForest.calls <= most


class ConstantRule(ClassifierMixin, BaseEstimator):
    """Learns nothing and counts its predictions."""

    sizes = ()

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        type(self).sizes = (*type(self).sizes, len(X))
        return np.zeros(len(X), dtype=int)


def test_refits_are_not_probed():
    ConstantRule.sizes = ()
    bg.CrossValidation(5, random_state=0).error(ConstantRule(), *sample())
    assert ConstantRule.sizes == (16,) * 5
