"""Classification rules drawn with broad hyper-parameters, those that are slow to train less often."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from bayes_gresub.data.arrays import Floats, Labels

Rng = np.random.Generator


@dataclass(frozen=True)
class RuleLaw:
    """A random rule.

    Parameters
    ----------
    family : str
        Rules of one family learn alike.
    weight : float
        How often it is drawn, relative to others.
    draw : callable
        From a Generator, an unfitted classifier with its hyper-parameters and its own `random_state`.
    """

    family: str
    weight: float
    draw: Callable[[Rng], Any]


def draw_rule(rng: Rng) -> tuple[str, str, Any]:
    """Return the name, the family and an unfitted classifier of a random rule.

    Examples
    --------
    >>> name, family, rule = draw_rule(np.random.default_rng(0))
    >>> name, family, type(rule).__name__
    ('lda', 'linear', 'LinearDiscriminantAnalysis')
    """
    names = list(RULES)
    weights = np.array([RULES[name].weight for name in names])
    name = names[rng.choice(len(names), p=weights / weights.sum())]
    return name, RULES[name].family, RULES[name].draw(rng)


def train(rule: Any, X: Floats, y: Labels) -> Any | None:
    """Return a copy of the rule fitted to a sample, or None if the covariance of some class has no inverse.

    That is so for quadratic rules if a class has too few points, or only equal ones.

    Solvers that stop early and collinear features are part of what rules are like, so their warnings are not shown.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> train(KNeighborsClassifier(1), X, y).predict([[0.2]]).tolist()
    [0]
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "Variables are collinear", UserWarning)
        warnings.filterwarnings("ignore", "self.within_class_std_dev_ has at least 1 zero", UserWarning)
        warnings.filterwarnings("ignore", "Ill-conditioned matrix")
        warnings.filterwarnings("ignore", "The covariance matrix of class")
        try:
            return clone(rule).fit(X, y)
        except np.linalg.LinAlgError:
            return None


def _log_uniform(low: float, high: float, rng: Rng) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _seed(rng: Rng) -> int:
    return int(rng.integers(2**31))


def _class_weight(rng: Rng) -> str | None:
    return "balanced" if rng.random() < 0.1 else None


def _scaled(rule: Any) -> Any:
    return make_pipeline(StandardScaler(), rule)


def _maybe_scaled(rule: Any, probability: float, rng: Rng) -> Any:
    return _scaled(rule) if rng.random() < probability else rule


def _draw_linear_svm(rng: Rng) -> Any:
    return _scaled(SVC(kernel="linear", C=_log_uniform(0.01, 10, rng), class_weight=_class_weight(rng)))


def _draw_rbf_svm(rng: Rng) -> Any:
    gamma = "scale" if rng.random() < 0.6 else _log_uniform(1e-3, 1, rng)
    rule = SVC(C=_log_uniform(0.1, 1000, rng), gamma=gamma, class_weight=_class_weight(rng))
    return _maybe_scaled(rule, 0.7 if gamma == "scale" else 1.0, rng)


def _draw_poly_svm(rng: Rng) -> Any:
    degree, coef0 = int(rng.integers(2, 4)), float(rng.choice([0.0, 1.0]))
    return _scaled(SVC(kernel="poly", degree=degree, coef0=coef0, C=_log_uniform(0.1, 100, rng)))


def _draw_cart(rng: Rng) -> Any:
    depth = None if rng.random() < 0.6 else int(rng.integers(1, 8))
    return DecisionTreeClassifier(
        min_samples_leaf=int(rng.integers(1 if depth else 2, 11)),
        max_depth=depth,
        criterion=str(rng.choice(["gini", "entropy"])),
        class_weight=_class_weight(rng),
        random_state=_seed(rng),
    )


def _draw_unpruned_tree(rng: Rng) -> Any:
    return DecisionTreeClassifier(criterion=str(rng.choice(["gini", "entropy"])), random_state=_seed(rng))


def _draw_knn(rng: Rng) -> Any:
    weights = "distance" if rng.random() < 0.1 else "uniform"
    return _maybe_scaled(KNeighborsClassifier(int(rng.integers(1, 16)), weights=weights), 0.6, rng)


def _draw_logistic(rng: Rng) -> Any:
    return _scaled(LogisticRegression(C=_log_uniform(0.01, 100, rng), class_weight=_class_weight(rng), max_iter=500))


def _draw_lda(rng: Rng) -> Any:
    return LinearDiscriminantAnalysis()


def _draw_shrunken_lda(rng: Rng) -> Any:
    shrinkage = "auto" if rng.random() < 0.5 else float(rng.uniform(0.02, 0.98))
    return LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage)


def _draw_qda(rng: Rng) -> Any:
    return _scaled(QuadraticDiscriminantAnalysis(reg_param=float(rng.choice([0.0, rng.uniform(0.01, 0.5)]))))


def _draw_shrunken_qda(rng: Rng) -> Any:
    shrinkage = float(rng.uniform(0.05, 0.95))
    # Since scikit-learn 1.8 reg_param no longer serves classes of fewer points than features; shrinkage is new there.
    if "shrinkage" in inspect.signature(QuadraticDiscriminantAnalysis).parameters:
        return _scaled(QuadraticDiscriminantAnalysis(solver="eigen", shrinkage=shrinkage))
    return _scaled(QuadraticDiscriminantAnalysis(reg_param=shrinkage))


def _draw_gaussian_nb(rng: Rng) -> Any:
    return GaussianNB(var_smoothing=1e-9 if rng.random() < 0.7 else _log_uniform(1e-6, 0.1, rng))


def _draw_nearest_centroid(rng: Rng) -> Any:
    return _maybe_scaled(NearestCentroid(), 0.6, rng)


def _draw_ridge(rng: Rng) -> Any:
    return _scaled(RidgeClassifier(alpha=_log_uniform(0.01, 100, rng)))


def _draw_linear_svc(rng: Rng) -> Any:
    return _scaled(LinearSVC(C=_log_uniform(0.01, 10, rng), random_state=_seed(rng)))


def _draw_forest(rng: Rng) -> Any:
    leaf = int(rng.choice([1, 1, 2, 5]))
    return RandomForestClassifier(int(rng.integers(25, 101)), min_samples_leaf=leaf, random_state=_seed(rng))


def _draw_extra_trees(rng: Rng) -> Any:
    leaf = int(rng.choice([1, 1, 2, 5]))
    return ExtraTreesClassifier(int(rng.integers(25, 101)), min_samples_leaf=leaf, random_state=_seed(rng))


def _draw_boosting(rng: Rng) -> Any:
    return GradientBoostingClassifier(
        n_estimators=int(rng.integers(20, 61)),
        max_depth=int(rng.integers(1, 4)),
        learning_rate=_log_uniform(0.05, 0.5, rng),
        random_state=_seed(rng),
    )


def _draw_adaboost(rng: Rng) -> Any:
    return AdaBoostClassifier(n_estimators=int(rng.integers(10, 51)), random_state=_seed(rng))


def _draw_network(rng: Rng) -> Any:
    hidden = (int(rng.integers(4, 33)),)
    return _scaled(MLPClassifier(hidden, solver="lbfgs", alpha=_log_uniform(1e-4, 1, rng), random_state=_seed(rng)))


RULES = {
    "linear-svm": RuleLaw("linear", 0.09, _draw_linear_svm),
    "rbf-svm": RuleLaw("kernel", 0.14, _draw_rbf_svm),
    "poly-svm": RuleLaw("kernel", 0.04, _draw_poly_svm),
    "cart": RuleLaw("tree", 0.1, _draw_cart),
    "unpruned-tree": RuleLaw("tree", 0.06, _draw_unpruned_tree),
    "knn": RuleLaw("neighbours", 0.15, _draw_knn),
    "logistic": RuleLaw("linear", 0.09, _draw_logistic),
    "lda": RuleLaw("linear", 0.06, _draw_lda),
    "shrunken-lda": RuleLaw("linear", 0.04, _draw_shrunken_lda),
    "qda": RuleLaw("quadratic", 0.02, _draw_qda),
    "shrunken-qda": RuleLaw("quadratic", 0.03, _draw_shrunken_qda),
    "gaussian-nb": RuleLaw("naive-bayes", 0.06, _draw_gaussian_nb),
    "nearest-centroid": RuleLaw("centroid", 0.03, _draw_nearest_centroid),
    "ridge": RuleLaw("linear", 0.04, _draw_ridge),
    "linear-svc": RuleLaw("linear", 0.03, _draw_linear_svc),
    "forest": RuleLaw("forest", 0.04, _draw_forest),
    "extra-trees": RuleLaw("forest", 0.03, _draw_extra_trees),
    "boosting": RuleLaw("boosting", 0.015, _draw_boosting),
    "adaboost": RuleLaw("boosting", 0.01, _draw_adaboost),
    "network": RuleLaw("network", 0.04, _draw_network),
}
