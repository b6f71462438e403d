"""Smoothed measures against points drawn from their printed formula, over samples and classifiers of many kinds.

The points are drawn here, from centres and widths, not by `sample`. With the classifier held fixed, an estimate e with
standard error s must agree with a share of N = 20,000 points. They disagree if the exact binomial interval of the share
and the interval of the estimate do not meet, each at level 1 - alpha/2, where alpha is 1e-3 divided by the number of
examples: over all of them a false alarm has a probability of at most 1e-3. Examples are the same in every run.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import bayes_gresub as bg

N = 20_000
FALSE_ALARMS = 1e-3
EXAMPLES, LONG_EXAMPLES = 60, 2000

MEASURES = {
    "spherical": lambda **given: bg.Bolstered(**given),
    "semi": lambda **given: bg.Bolstered(semi=True, **given),
    "diagonal": lambda **given: bg.Bolstered(bg.DiagonalGaussian(), **given),
    "full": lambda **given: bg.Bolstered(bg.FullGaussian(), **given),
    "ball": lambda **given: bg.Bolstered(bg.UniformBall(), **given),
    "posterior": lambda **given: bg.BolsteredPosterior(posterior=bg.KNN(3), **given),
}
RULES = {
    "linear": LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1),
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "svc": make_pipeline(StandardScaler(), SVC()),
    "3nn": KNeighborsClassifier(3),
    "1nn behind a scaler": make_pipeline(StandardScaler(), KNeighborsClassifier(1)),
    "logistic behind a scaler": make_pipeline(StandardScaler(), LogisticRegression()),
}

pytestmark = [
    pytest.mark.filterwarnings("ignore:every point of class"),
    pytest.mark.filterwarnings("ignore:.*covariance"),
]


@st.composite
def cases(draw):
    """Draw a sample, weights, a class prior, a rule and a measure."""
    c = draw(st.integers(2, 3))
    n, d = draw(st.integers(2 * c, 60)), draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shares = rng.dirichlet(np.full(c, draw(st.sampled_from([0.5, 5.0]))))
    y = np.concatenate([np.repeat(np.arange(c), 2), rng.choice(c, size=n - 2 * c, p=shares)])
    X = rng.normal(size=(n, d)) * rng.uniform(0.2, 5.0, size=d)
    X[:, 0] += draw(st.floats(0.0, 3.0)) * y
    if draw(st.booleans()):
        X = np.round(X)  # ties, and rows that repeat
    if draw(st.booleans()):
        X[rng.integers(n, size=n // 3)] = X[rng.integers(n, size=n // 3)]
    scale = 10.0 ** draw(st.integers(-6, 6))
    X = (X + draw(st.sampled_from([0.0, -3.0, 1e3]))) * scale
    weights = draw(st.sampled_from([None, rng.uniform(0.1, 3.0, size=n), rng.integers(1, 4, size=n).astype(float)]))
    prior = draw(st.sampled_from([None, rng.dirichlet(np.full(c, 5.0))]))
    return X, y, weights, prior, draw(st.sampled_from(sorted(RULES))), draw(st.sampled_from(sorted(MEASURES)))


def drawn(measure, classifier, X, y, weights, prior):
    """Return N pairs of the law: a centre by its weight, a point about it, and a label.

    Under a class prior each pair counts by the ratio of the prior to the mass of its class: the ratios are returned.
    """
    rng = np.random.default_rng(0)
    weights = np.full(len(y), 1 / len(y)) if weights is None else weights / weights.sum()
    laws = measure.components(classifier)
    owners = rng.choice(len(y), size=N, p=weights)
    z = rng.normal(size=(N, laws.dim))
    if "Ball" in repr(laws.law):
        z *= (rng.random((N, 1)) ** (1 / laws.dim)) / np.linalg.norm(z, axis=1, keepdims=True)
    spread = laws.spread[laws.group[owners]]
    moved = np.einsum("ndp,np->nd", spread, z) if spread.ndim == 3 else spread.reshape(N, -1) * z
    points = X[owners] + moved
    if isinstance(measure, bg.BolsteredPosterior):
        probabilities = measure.posterior_.predict_proba(points)
        labels = (rng.random((N, 1)) > np.cumsum(probabilities, axis=1)[:, :-1]).sum(axis=1)
        masses = probabilities.mean(axis=0)
    else:
        labels = y[owners]
        masses = np.bincount(y, weights=weights)
    return points, labels, np.ones(N) if prior is None else (prior / masses)[labels]


def share_interval(wrong, ratios, alpha):
    """Return an interval of the share of wrong points: exact without ratios, else Bernstein's for bounded numbers."""
    if (ratios == 1).all():
        interval = stats.binomtest(int(wrong.sum()), N).proportion_ci(1 - alpha, method="exact")
        return interval.low, interval.high
    values, most, log = wrong * ratios, ratios.max(), np.log(4 / alpha)
    half = np.sqrt(2 * values.var() * log / N) + 7 * most * log / (3 * (N - 1))
    return values.mean() - half, values.mean() + half


def estimate_interval(estimate, n, weights, alpha):
    """Return an interval of the estimate: Student's t over its 8 replicates, and what so few points can miss."""
    if estimate.computation.exact:
        return estimate.value, estimate.value
    heaviest = 1 / n if weights is None else weights.max() / weights.sum()
    # A mass that none of the sampled points met.
    unseen = np.log(2 / alpha) * heaviest * n / estimate.computation.n_predicted
    half = stats.t.ppf(1 - alpha / 4, 7) * estimate.std_error + unseen
    return estimate.value - half, estimate.value + half


def check(case, examples):
    X, y, weights, prior, rule, name = case
    classifier = RULES[rule].fit(X, y)
    made = {"random_state": 0, "class_prior": prior}
    measure = MEASURES[name](**made).fit(X, y, weights)
    estimate = measure.error(classifier)
    assert 0.0 <= estimate.value <= 1.0
    assert estimate.confusion.sum() == pytest.approx(1.0, abs=1e-9)
    points, labels, ratios = drawn(measure, classifier, X, y, weights, prior)
    wrong = classifier.predict(points) != labels
    alpha = FALSE_ALARMS / examples / 2
    low, high = share_interval(wrong, ratios, alpha)
    least, most = estimate_interval(estimate, len(y), weights, alpha)
    # Where points are far from 0, rounding moves some of them over the boundary.
    assert least <= high + 1e-9
    assert low - 1e-9 <= most
    threads = MEASURES[name](**made, n_jobs=2).fit(X, y, weights).error(classifier)
    assert threads.value == estimate.value
    if estimate.computation.exact:
        order = np.random.default_rng(1).permutation(len(y))
        turned = MEASURES[name](**made).fit(X[order], y[order], None if weights is None else weights[order])
        assert turned.error(classifier).value == pytest.approx(estimate.value, abs=1e-7)


@given(cases())
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True)
def test_estimates_agree_with_their_formula(case):
    check(case, EXAMPLES)


@pytest.mark.long
@given(cases())
@settings(max_examples=LONG_EXAMPLES, deadline=None, derandomize=True)
def test_many_estimates_agree_with_their_formula(case):
    check(case, LONG_EXAMPLES)
