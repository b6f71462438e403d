"""Leave-one-out of a network's tangent: agrees with training on from the same weights, with finite differences."""

from copy import deepcopy

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import bayes_gresub as bg
from bayes_gresub.assessing.clues import TrainedOn, clues
from bayes_gresub.assessing.network_clues import outputs_and_kernel, tangent_posteriors
from bayes_gresub.data.sample import read_sample

LOADERS = {"two classes": load_breast_cancer, "three classes": load_iris}


def sample_of(loader, n=50):
    X, y = loader(return_X_y=True)
    rows = np.random.default_rng(0).choice(len(y), n, replace=False)
    return StandardScaler().fit_transform(X[rows][:, :6]), y[rows]


def network(X, y, activation="tanh", hidden=(6, 4), alpha=1.0):
    return MLPClassifier(
        hidden, activation=activation, solver="lbfgs", alpha=alpha, max_iter=1000, tol=1e-8, random_state=0
    ).fit(X, y)


@pytest.mark.parametrize("loader", LOADERS.values(), ids=LOADERS)
def test_it_is_the_network_trained_on_without_the_row(loader):
    """The stronger the penalty, the nearer the tangent."""
    X, y = sample_of(loader)
    trained = network(X, y, alpha=3.0)
    left = tangent_posteriors(trained, X, y, np.arange(len(y)), len(np.unique(y)))
    differences = []
    for row in range(0, len(y), 4):
        others = np.arange(len(y)) != row
        again = deepcopy(trained).set_params(warm_start=True).fit(X[others], y[others])
        differences.append(np.abs(again.predict_proba(X[[row]])[0] - left[row]).max())
    own = np.abs(trained.predict_proba(X) - left).max(axis=1)
    assert np.median(differences) < 0.01
    assert np.mean(differences) < 0.2 * own.mean()


@pytest.mark.parametrize("activation", ["relu", "tanh", "logistic", "identity"])
def test_kernel_is_that_of_finite_differences(activation):
    X, y = sample_of(load_iris, 12)
    trained = network(X, y, activation)
    outputs, kernel = outputs_and_kernel(trained, X)
    columns = []
    for weights in [*trained.coefs_, *trained.intercepts_]:
        for place in np.ndindex(weights.shape):
            before, step = weights[place], 1e-6
            weights[place] = before + step
            above = outputs_and_kernel(trained, X)[0]
            weights[place] = before - step
            below = outputs_and_kernel(trained, X)[0]
            weights[place] = before
            columns.append((above - below).ravel() / (2 * step))
    jacobian = np.array(columns).T
    np.testing.assert_allclose(kernel, jacobian @ jacobian.T, rtol=1e-5, atol=1e-5)
    assert outputs.argmax(axis=1).tolist() == trained.predict(X).tolist()


def test_only_networks_have_it():
    X, y = sample_of(load_iris)
    assert tangent_posteriors(LogisticRegression().fit(X, y), X, y, np.arange(50), 3) is None
    behind = make_pipeline(StandardScaler(), network(X, y)).fit(X, y)
    assert tangent_posteriors(behind, X, y, np.arange(50), 3).shape == (50, 3)
    assert tangent_posteriors(make_pipeline(StandardScaler(), MLPClassifier()), X, y, np.arange(50), 3) is None


def test_points_may_be_sparse():
    """A network behind an encoder of categories sees what one trained on the dense columns sees."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (50, 6)).astype(float)
    y = (X[:, 0] + X[:, 1] > 5).astype(int)
    sparse = make_pipeline(
        OneHotEncoder(handle_unknown="ignore"), MLPClassifier((4,), solver="lbfgs", random_state=0)
    ).fit(X, y)
    dense = make_pipeline(
        OneHotEncoder(handle_unknown="ignore", sparse_output=False), MLPClassifier((4,), solver="lbfgs", random_state=0)
    )
    left = [tangent_posteriors(clf, X, y, np.arange(50), 2) for clf in (sparse, dense.fit(X, y))]
    np.testing.assert_allclose(*left, atol=1e-6)
    assert bg.assess(sparse, X, y).parts["has_tangent"] == 1


def test_clues_have_it_for_rows_that_stand_alone():
    X, y = sample_of(load_iris)
    trained, seed = network(X, y), np.random.SeedSequence(0)
    alone = clues(TrainedOn(trained, read_sample(X, y), np.arange(50)), None, seed)
    left = tangent_posteriors(trained, X, y, np.arange(50), 3)
    assert alone["has_tangent"] == 1
    assert alone["tangent_error"] == pytest.approx(np.mean(left.argmax(axis=1) != y))
    assert alone["tangent_doubt"] == pytest.approx(np.mean(1 - left[np.arange(50), y]))
    assert clues(TrainedOn(trained, read_sample(X, y), np.arange(50) // 2), None, seed)["has_tangent"] == 0
