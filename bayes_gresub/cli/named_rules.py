"""Named rules: classifiers that the command line has by name, and the steps that make a table's columns numeric.

Nothing is trained here, and scikit-learn is imported when a rule is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from bayes_gresub.data.validation import check_name


@dataclass(frozen=True)
class NamedRule:
    """One named rule.

    Attributes
    ----------
    name : str
    summary : str
        What it is, in one line.
    make : callable
        Returns the unfitted classifier, in a Pipeline with a StandardScaler if units matter to it. Its seeds are
        left open: whatever trains it gives them.
    """

    name: str
    summary: str
    make: Callable[[], Any]


def named_rules() -> list[NamedRule]:
    """Return all named rules.

    Examples
    --------
    >>> [rule.name for rule in named_rules()][:3]
    ['lda', 'qda', 'logistic']
    """
    return list(_RULES.values())


def make_rule(name: str) -> Any:
    """Return a new rule by name.

    Examples
    --------
    >>> make_rule("rbf-svm").steps[-1][0]
    'svc'
    >>> make_rule("rbf")
    Traceback (most recent call last):
    ValueError: unknown classifier 'rbf'; the names are rbf-svm, ...
    """
    check_name(name, _RULES, "classifier")
    return _RULES[name].make()


def preparing(numbers: Sequence[str], incomplete: Sequence[str], texts: Sequence[str]) -> Any:
    """Return a ColumnTransformer that makes these columns of a table numeric; all others are dropped.

    Parameters
    ----------
    numbers : sequence of str
        Columns that stay as they are.
    incomplete : sequence of str
        Columns of numbers whose missing values become the median.
    texts : sequence of str
        Columns of texts, each of which becomes a column of 0 and 1 for every text but the first; a missing text is a
        text of its own, and all beyond the 20 most frequent count as one.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": [1.0, None, 3.0], "colour": ["red", "blue", "red"]})
    >>> preparing([], ["size"], ["colour"]).fit_transform(frame).tolist()
    [[1.0, 1.0], [2.0, 0.0], [3.0, 1.0]]
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    # All categories add up to one, and a covariance with such columns has no inverse, so the first is dropped.
    encoder = OneHotEncoder(
        drop="first", handle_unknown="ignore", max_categories=MOST_CATEGORIES + 1, sparse_output=False
    )
    steps = [
        ("numbers", "passthrough", list(numbers)),
        # Folds may see no value of a column at all; they must give as many columns as the others.
        ("medians", SimpleImputer(strategy="median", keep_empty_features=True), list(incomplete)),
        (
            "texts",
            make_pipeline(
                SimpleImputer(missing_values=None, strategy="constant", fill_value="(missing)"),
                encoder,
            ),
            list(texts),
        ),
    ]
    return ColumnTransformer([step for step in steps if step[2]], verbose_feature_names_out=False)


MOST_CATEGORIES = 20
"""Texts of a column that get columns."""


def behind(preparation: Any, rule: Any) -> Any:
    """Return one rule that prepares and then classifies, so refits refit both.

    Examples
    --------
    >>> [name for name, _ in behind(preparing(["a"], [], []), make_rule("rbf-svm")).steps]
    ['prepare', 'standardscaler', 'svc']
    """
    from sklearn.pipeline import Pipeline

    steps = rule.steps if isinstance(rule, Pipeline) else [(type(rule).__name__.lower(), rule)]
    return Pipeline([("prepare", preparation), *steps])


def _made(place: str, /, *, scaled: bool, **parameters: Any) -> Callable[[], Any]:
    """Return a maker of the scikit-learn class at this place, which is imported when it is first made."""
    module, _, name = place.rpartition(".")

    def make() -> Any:
        classifier = getattr(import_module(f"sklearn.{module}"), name)(**parameters)
        if not scaled:
            return classifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        return make_pipeline(StandardScaler(), classifier)

    return make


_RULES = {
    rule.name: rule
    for rule in (
        NamedRule(
            "lda",
            "linear discriminant analysis: Gaussian classes with one covariance",
            _made("discriminant_analysis.LinearDiscriminantAnalysis", scaled=False),
        ),
        NamedRule(
            "qda",
            "quadratic discriminant analysis: a covariance each, more rows than features in every class",
            _made("discriminant_analysis.QuadraticDiscriminantAnalysis", scaled=False),
        ),
        NamedRule(
            "logistic",
            "logistic regression on standardised features, L2 penalty with C=1",
            _made("linear_model.LogisticRegression", scaled=True, max_iter=1000),
        ),
        NamedRule(
            "naive-bayes",
            "Gaussian naive Bayes: independent features within each class",
            _made("naive_bayes.GaussianNB", scaled=False),
        ),
        NamedRule(
            "linear-svm",
            "linear support vector machine on standardised features, C=1",
            _made("svm.SVC", scaled=True, kernel="linear"),
        ),
        NamedRule(
            "rbf-svm",
            "support vector machine with a Gaussian kernel on standardised features, C=1",
            _made("svm.SVC", scaled=True),
        ),
        NamedRule(
            "3nn",
            "3 nearest neighbours on standardised features",
            _made("neighbors.KNeighborsClassifier", scaled=True, n_neighbors=3),
        ),
        NamedRule(
            "11nn",
            "11 nearest neighbours on standardised features: smoother than 3nn",
            _made("neighbors.KNeighborsClassifier", scaled=True, n_neighbors=11),
        ),
        NamedRule(
            "cart",
            "decision tree with at least 5 points in a leaf, as in the paper",
            _made("tree.DecisionTreeClassifier", scaled=False, min_samples_leaf=5),
        ),
        NamedRule(
            "forest",
            "random forest of 100 trees",
            _made("ensemble.RandomForestClassifier", scaled=False),
        ),
        NamedRule(
            "boosting",
            "gradient-boosted trees on histograms: for hundreds of rows and more",
            _made("ensemble.HistGradientBoostingClassifier", scaled=False),
        ),
        NamedRule(
            "mlp",
            "network with one hidden layer of 50 units on standardised features",
            _made("neural_network.MLPClassifier", scaled=True, hidden_layer_sizes=(50,), max_iter=1000),
        ),
    )
}
