"""The paper's synthetic grid: four classification rules, five sample sizes, ten features."""

from __future__ import annotations

from typing import Any

from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from bayes_gresub.populations import PaperGaussian

POPULATION = PaperGaussian(bayes_error=0.2)
SIZES = (20, 40, 60, 80, 100)


def rules() -> dict[str, Any]:
    """Return the paper's rules, unfitted."""
    return {
        "linear SVM": SVC(kernel="linear"),
        "RBF-SVM": SVC(),
        "CART": DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
        "3NN": KNeighborsClassifier(3),
    }
