"""The demonstration behind `bayes-gresub demo`: one classifier, every registered estimator, held-out truth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bayes_gresub.estimate import ErrorEstimate
from bayes_gresub.registry import estimators
from bayes_gresub.seeds import seed_sequence


@dataclass(frozen=True)
class DemoResult:
    """Estimates by name, and the truth they aimed at."""

    estimates: dict[str, ErrorEstimate]
    held_out_error: float
    n_held_out: int
    majority_class_error: float

    @property
    def held_out_std_error(self) -> float:
        """Return the binomial standard error of the held-out error."""
        return float(np.sqrt(self.held_out_error * (1 - self.held_out_error) / self.n_held_out))

    def plot(self, path: Path) -> None:
        """Write the figure of all estimates to a file."""
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        from bayes_gresub.plots import plot_estimates

        figure, ax = plt.subplots(figsize=(7, 6), layout="constrained")
        plot_estimates(self.estimates, reference=self.held_out_error, ax=ax)
        ax.set_title("One RBF-SVM on breast_cancer: what each estimator says of it", fontsize="medium")
        figure.savefig(path, dpi=150)
        plt.close(figure)


def breast_cancer_demo(size: int = 60, seed: int = 0) -> DemoResult:
    """Train an RBF-SVM on a few points of breast_cancer and estimate its error with every measure.

    Examples
    --------
    >>> result = breast_cancer_demo(size=40)
    >>> result.n_held_out
    529
    """
    from sklearn.datasets import load_breast_cancer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(seed_sequence(seed)).permutation(len(y))
    train, rest = order[:size], order[size:]
    classifier = make_pipeline(StandardScaler(), SVC()).fit(X[train], y[train])
    estimates = {}
    for entry in estimators("measure"):
        measure = entry.make(random_state=seed).fit(X[train], y[train])
        estimates[entry.name] = measure.error(classifier)
    wrong = classifier.predict(X[rest]) != y[rest]
    return DemoResult(estimates, float(wrong.mean()), len(rest), estimates["resub"].majority_class_error)
