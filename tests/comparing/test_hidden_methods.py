"""Rules that show `predict` only after `fit`, and rules whose parameters are not where scikit-learn keeps them."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import StackingClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bayes_gresub as bg


def sample(n=60):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + y[:, None], y


class ShowsLater(ClassifierMixin, BaseEstimator):
    """Gets its `predict` in `fit`."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.predict = LinearDiscriminantAnalysis().fit(X, y).predict
        return self


class Delegates:
    """No estimator of scikit-learn: passes on what the classifier inside has, once there is one."""

    _estimator_type = "classifier"

    def get_params(self, deep=True):
        return {}

    def set_params(self, **parameters):
        return self

    def fit(self, X, y):
        self.inside = LinearDiscriminantAnalysis().fit(X, y)
        return self

    def __getattr__(self, name):
        if name == "inside" or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.inside, name)


STACK = StackingClassifier([("lda", LinearDiscriminantAnalysis()), ("nb", GaussianNB())], cv=3)
RULES = {
    "stack": STACK,
    "last step": make_pipeline(StandardScaler(), STACK),
    "search": GridSearchCV(STACK, {"stack_method": ["auto"]}, cv=2),
    "instance": ShowsLater(),
    "delegate": Delegates(),
}
every_rule = pytest.mark.parametrize("name", RULES)
TWO_FOLDS = list(StratifiedKFold(2).split(*sample()))


@every_rule
def test_rule_that_shows_predict_after_fit_is_cross_validated(name):
    X, y = sample()
    assert not hasattr(RULES[name], "predict")
    expected = np.mean([np.mean(clone(RULES[name]).fit(X[a], y[a]).predict(X[b]) != y[b]) for a, b in TWO_FOLDS])
    estimate = bg.CrossValidation(2).error(RULES[name], X, y, indices=TWO_FOLDS)
    assert float(estimate) == pytest.approx(expected, abs=1e-12)


@every_rule
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_rule_that_shows_predict_after_fit_is_compared(name):
    X, y = sample()
    table = bg.compare(RULES[name], X, y, ["resub", "cv"], random_state=0)
    assert [row.message for row in table.rows] == ["", ""]
    expected = np.mean(clone(RULES[name]).fit(X, y).predict(X) != y)
    assert float(table["resub"]) == pytest.approx(expected, abs=1e-12)


def test_rule_that_never_shows_predict_is_refused_after_its_fit():
    class Never(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            return self

    with pytest.raises(TypeError, match="classifier must be a fitted object with a predict method"):
        bg.CrossValidation(2).error(Never(), *sample())


class Boosted:
    """As CatBoostClassifier: keeps parameters in a dict, lists some that it has no attribute for, and knows no tags."""

    def __init__(self, iterations=None, depth=None, random_state=None, verbose=None):
        given = {"iterations": iterations, "depth": depth, "random_state": random_state, "verbose": verbose}
        self._parameters = {name: value for name, value in given.items() if value is not None}

    def get_params(self, deep=True):
        return dict(self._parameters)

    def set_params(self, **parameters):
        self._parameters.update(parameters)
        return self

    def fit(self, X, y, sample_weight=None):
        self._classifier = GaussianNB().fit(X, y, sample_weight)
        self._labels = np.unique(y)
        return self

    @property
    def classes_(self):
        return self._labels if hasattr(self, "_labels") else np.array([])

    def predict(self, X):
        if not hasattr(self, "_classifier"):
            raise RuntimeError("there is no trained model")
        return self._classifier.predict(X)[:, None]

    def predict_proba(self, X):
        return self._classifier.predict_proba(X)


@pytest.mark.parametrize("is_fitted", [False, True])
def test_classifier_that_lists_parameters_it_lacks_is_compared(is_fitted):
    X, y = sample()
    classifier = Boosted(iterations=20, verbose=False)
    table = bg.compare(classifier.fit(X, y) if is_fitted else classifier, X, y, ["resub", "bolstered", "cv"])
    assert [row.message for row in table.rows] == ["", "", ""]
    assert float(table["resub"]) == pytest.approx(np.mean(GaussianNB().fit(X, y).predict(X) != y), abs=1e-12)
    assert "Boosted(iterations=20, verbose=False)" in repr(table)


def test_classifier_that_lists_parameters_it_lacks_is_resampled():
    X, y = sample()
    expected = np.mean(cross_val_predict(GaussianNB(), X, y, cv=2) != y)
    estimate = bg.CrossValidation(2).error(Boosted(iterations=20), X, y, indices=TWO_FOLDS)
    assert float(estimate) == pytest.approx(expected, abs=1e-12)


class TakesAnything(ClassifierMixin, BaseEstimator):
    """A trained classifier whose `get_params` fails, because its constructor names no parameters."""

    classes_ = np.array([0, 1])

    def __init__(self, **parameters):
        vars(self).update(parameters)

    def predict(self, X):
        return (X[:, 0] > 0.5).astype(int)


class Unstored(TakesAnything):
    """Names a parameter that it does not keep."""

    def __init__(self, depth=3):
        pass


@pytest.mark.parametrize("classifier", [TakesAnything(depth=3), Unstored()], ids=lambda one: type(one).__name__)
def test_trained_classifier_whose_parameters_cannot_be_listed_is_compared(classifier):
    X, y = sample()
    table = bg.compare(classifier, X, y, ["resub"])
    assert float(table["resub"]) == pytest.approx(np.mean(classifier.predict(X) != y), abs=1e-12)
