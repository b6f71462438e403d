"""Draws of a Bayesian error against brute force over the same parameter draws, and the time that they take."""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import bayes_gresub as bg
from bayes_gresub.laws import confusion_draws
from benchmarks.tables import write_table

COMPARED, POINTS = 100, 20_000
ROUNDS = 5


def main() -> None:
    """Compare ten pairs of classifier and data."""
    rows, worst = [], {"correlation": 1.0, "ends": 0.0, "ratio": 0.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for name, rule_name, rule, X, y in pairs():
            measure = bg.Bayesian(sampler="gibbs", draws=500, random_state=0).fit(X, y)
            classifier = rule.fit(X, y)
            estimate = measure.error(classifier)
            alone, shared = seconds(measure, classifier)
            draws = np.random.default_rng(1).choice(len(estimate.draws), COMPARED, replace=False)
            expected, noise = brute_force(measure, classifier, draws)
            ours = estimate.draws[draws]
            # Brute force has noise of its own, which lowers the correlation.
            reliability = np.sqrt(1 - noise.mean() / expected.var())
            correlation = float(np.corrcoef(ours, expected)[0, 1] / reliability)
            ends, true_ends = np.quantile([ours, expected], [0.025, 0.975], axis=1).T
            gap = float(np.abs(ends - true_ends).max() / np.ptp(true_ends))
            ratio = shared / alone
            worst = {
                "correlation": min(worst["correlation"], correlation),
                "ends": max(worst["ends"], gap),
                "ratio": max(worst["ratio"], ratio),
            }
            numbers = [f"{estimate.value:.4f}", f"{ours.std():.4f}", f"{expected.std():.4f}", f"{correlation:.3f}"]
            rows.append(
                [name, rule_name, str(len(y)), str(X.shape[1]), *numbers, f"{gap:.3f}", f"{shared:.2f}", f"{ratio:.2f}"]
            )
    notes = [
        f"Gaussian classes, 4 x 500 Gibbs draws. Brute force: {POINTS:,} points of each class under each of {COMPARED} "
        "draws; the correlation is corrected for its noise. Ends: largest gap between the ends of the 95% intervals, "
        "divided by the width. Time: of `error`, and divided by that with points of each draw's own only.",
        "",
        f"- correlation with brute force: at least {worst['correlation']:.3f} (bar 0.95)",
        f"- ends of the interval: within {worst['ends']:.3f} of its width (bar 0.1)",
        f"- time: at most {worst['ratio']:.2f} times that without shared points (bar 3)",
    ]
    header = ["data", "rule", "n", "d", "error", "sd", "sd, brute force", "correlation", "ends", "time, s", "ratio"]
    write_table("draws", "Draws of a Bayesian error against brute force", header, rows, notes)


def pairs() -> list[tuple[str, str, Any, np.ndarray, np.ndarray]]:
    """Return name of the data, name of the rule, rule, features and labels of each pair."""
    iris, wine = load_iris(return_X_y=True), load_wine(return_X_y=True)
    cancer, labels = load_breast_cancer(return_X_y=True)
    some = np.random.default_rng(0).permutation(len(labels))[:349]
    digits, values = load_digits(return_X_y=True)
    few = np.flatnonzero(values < 4)[:300]
    axes = PCA(12).fit_transform(digits[few])
    neighbours = make_pipeline(StandardScaler(), KNeighborsClassifier(3))
    machine = make_pipeline(StandardScaler(), SVC())
    forest = RandomForestClassifier(20, random_state=0)
    gaussian = bg.datasets.PaperGaussian(bayes_error=0.1, n_informative=4, n_noise=4).sample(60, random_state=0)
    skewed = bg.datasets.Skewed(n_informative=2, n_noise=0).sample(150, random_state=0)
    return [
        ("iris", "3NN", neighbours, *iris),
        ("iris", "RBF-SVM", machine, *iris),
        ("wine", "naive Bayes", GaussianNB(), *wine),
        ("wine", "forest", forest, *wine),
        ("breast cancer, 9 features", "naive Bayes", GaussianNB(), cancer[some, :9], labels[some]),
        ("breast cancer, 9 features", "3NN", neighbours, cancer[some, :9], labels[some]),
        ("breast cancer, 30 features", "RBF-SVM", machine, cancer[some], labels[some]),
        ("digits 0 to 3, 12 components", "3NN", neighbours, axes, values[few]),
        ("paper's Gaussian classes", "RBF-SVM", machine, *gaussian),
        ("skewed classes", "forest", forest, *skewed),
    ]


def seconds(measure: bg.Bayesian, classifier: Any) -> tuple[float, float]:
    """Return the median time of `error` with points of each draw's own only, and as it is; in turn."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        no_sharing = patch.object(confusion_draws, "_can_share", return_value=False)
        with no_sharing, patch.object(confusion_draws, "MAX_SWEEPS", 1):
            started = perf_counter()
            measure.error(classifier)
            times[0].append(perf_counter() - started)
        started = perf_counter()
        measure.error(classifier)
        times[1].append(perf_counter() - started)
    return float(np.median(times[0])), float(np.median(times[1]))


def brute_force(measure: bg.Bayesian, classifier: Any, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the errors of these draws, from points drawn anew, and the variances of their noise."""
    fitted, rng = measure._fitted(), np.random.default_rng(2)
    probabilities = fitted.flat_probabilities[draws]
    wrong = np.empty_like(probabilities)
    for row, draw in enumerate(draws):
        for code, label in enumerate(measure.classes_):
            points = fitted.draws.points(np.full(POINTS, draw), np.full(POINTS, code), rng)
            wrong[row, code] = np.mean(classifier.predict(points) != label)
    return (probabilities * wrong).sum(axis=1), (probabilities**2 * wrong * (1 - wrong)).sum(axis=1) / POINTS
