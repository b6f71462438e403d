"""The demonstration behind `bayes-gresub demo`: one classifier, every registered estimator, held-out truth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayes_gresub.comparing import Comparison, compare
from bayes_gresub.data.seeds import seed_sequence
from bayes_gresub.estimate.error_estimate import ErrorEstimate


@dataclass(frozen=True)
class DemoResult:
    """The comparison, whose last row is the held-out truth that the others aimed at."""

    comparison: Comparison
    n_held_out: int

    @property
    def held_out(self) -> ErrorEstimate:
        """Return the estimate at the points held out."""
        return self.comparison["test set"]

    def plot(self, path: Path) -> None:
        """Write the figure of all estimates to a file."""
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, ax = plt.subplots(figsize=(7, 10), layout="constrained")
        self.comparison.plot(reference=self.held_out.value, ax=ax)
        ax.set_title("One RBF-SVM on breast_cancer: what each estimator says of it", fontsize="medium")
        figure.savefig(path, dpi=150)
        plt.close(figure)


def breast_cancer_demo(size: int = 60, seed: int = 0, estimators: Any = "all") -> DemoResult:
    """Train an RBF-SVM on a few points of breast_cancer and estimate its error with many estimators, all by default.

    Examples
    --------
    >>> result = breast_cancer_demo(size=40, estimators=["resub", "bolstered"])
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
    rule = make_pipeline(StandardScaler(), SVC())
    table = compare(rule, X[train], y[train], estimators=estimators, test=(X[rest], y[rest]), random_state=seed)
    return DemoResult(table, len(rest))
