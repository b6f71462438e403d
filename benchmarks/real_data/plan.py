"""The design of the benchmark: rules, sizes, estimators, repetitions. `benchmarks/results/real.md` has it in words."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import bayes_gresub as bg
from benchmarks.real_data.assessed import Assessed
from benchmarks.real_data.data_sets import DataSet
from benchmarks.real_data.population import as_population

SIZES = (30, 60, 120)
REPETITIONS = 20
FEW_REPETITIONS = 5
"""Of estimators with many refits on slow rules, and of those that take too long on all rules."""
BLOCK = 5
"""Repetitions that a data set gets before the next one has its turn."""
FOLDS = 10
LEAST_LEFT = 300
LEAST_EXPECTED = 2
"""Expected points of the rarest class in a training set."""

SLOW_RULES = ("random forest", "MLP")
ASSESSED = {"assess": 0, "assess-10": 10}
"""Answers, and their refits."""
BOOTSTRAPS = ("boot-zero", "boot-632", "boot-632+")
CALIBRATED = ("calibrated-bolstered", "calibrated-nb-bolstered")
MANY_REFITS = ("repeated-cv", "loo", "corrected-t", "bolstered-cv", *CALIBRATED, *BOOTSTRAPS)
"""Or so many predicted points for each of a few refits that they take as long."""
RIVAL_INTERVALS: dict[str, Callable[[], Any]] = {
    "corrected-t": bg.Subsampling,
    "conservative-z": lambda: bg.Subsampling(n_splits=15, interval="conservative-z"),
    "nested-cv-2": lambda: bg.CrossValidation(FOLDS, repeats=2, interval="nested"),
}
"""Estimators that others recommend for their intervals."""
ALWAYS_FEW = ("bayesian", "bayesian-shared", "conservative-z", "nested-cv-2")

KINDS = {
    "gp-pp": "gp",
    "bayesian": "bayesian",
    "bayesian-shared": "bayesian",
    "cv": "cv",
    "repeated-cv": "cv",
    "bolstered-cv": "cv",
    **dict.fromkeys(CALIBRATED, "calibrated"),
    "loo": "loo",
    **dict.fromkeys(RIVAL_INTERVALS, "rival intervals"),
    **dict.fromkeys(BOOTSTRAPS, "bootstraps"),
    **dict.fromkeys(ASSESSED, "assess"),
}
"""Groups of estimators in the table of expected hours; all others go by the kind that the registry has."""


def rules() -> dict[str, Any]:
    """Return the rules, unfitted; those that depend on units come behind a StandardScaler."""

    def scaled(rule: Any) -> Any:
        return make_pipeline(StandardScaler(), rule)

    return {
        "linear SVM": scaled(SVC(kernel="linear")),
        "RBF-SVM": scaled(SVC()),
        "RBF-SVM, C=100": scaled(SVC(C=100)),
        "CART": DecisionTreeClassifier(min_samples_leaf=5),
        "unpruned tree": DecisionTreeClassifier(),
        "1NN": scaled(KNeighborsClassifier(1)),
        "3NN": scaled(KNeighborsClassifier(3)),
        "9NN": scaled(KNeighborsClassifier(9)),
        "logistic": scaled(LogisticRegression(max_iter=1000)),
        "LDA": LinearDiscriminantAnalysis(),
        "naive Bayes": GaussianNB(),
        "random forest": RandomForestClassifier(100),
        "MLP": scaled(MLPClassifier((16,), solver="lbfgs", alpha=0.01, max_iter=200)),
    }


def estimators(stratified: bool = True) -> dict[str, Any]:
    """Return every main estimator of the registry by name, and those that others recommend for their intervals.

    Among them are repeated cross-validation and .632+ with 200 resamples.

    Parameters
    ----------
    stratified : bool, default True
        Whether folds and subsamples are.
    """
    made = {entry.name: entry.make() for entry in bg.estimators() if entry.main}
    made |= {name: make() for name, make in RIVAL_INTERVALS.items()}
    if not stratified:
        for estimator in made.values():
            if isinstance(estimator, bg.CrossValidation | bg.Subsampling):
                estimator.set_params(stratified=False)
    return made


def answers(combination: str | None = None) -> dict[str, Any]:
    """Return the answers of `bg.assess` as estimators, with the combination in this file."""
    return {name: Assessed(refits, combination) for name, refits in ASSESSED.items()}


def kind_of(estimator: str) -> str:
    """Return the group of an estimator in the table of expected hours."""
    known = {entry.name: "measures" if entry.kind == "measure" else "other refits" for entry in bg.estimators()}
    return KINDS.get(estimator) or known[estimator]


def refits(estimator: str) -> bool:
    """Return whether an estimator trains the rule again."""
    if estimator in ASSESSED:
        return ASSESSED[estimator] > 0
    return (
        estimator in RIVAL_INTERVALS or {entry.name: entry.kind for entry in bg.estimators()}[estimator] == "resampler"
    )


def sizes_of(data: DataSet, sizes: Sequence[int] = SIZES) -> tuple[int, ...]:
    """Return the sample sizes of a data set: 300 points must be left, and two of every class must be expected."""
    total, rarest = len(data.y), data.class_sizes.min()
    return tuple(n for n in sizes if total - n >= LEAST_LEFT and n * rarest >= LEAST_EXPECTED * total)


def is_stratified(data: DataSet, n: int) -> bool:
    """Return whether every sample of n points has a class with as many points as folds, as stratified folds need."""
    return n > (FOLDS - 1) * len(data.class_sizes)


def folders_of(name: str) -> tuple[str, str, str]:
    """Return the run folders of a data set: of the sizes with stratified folds, of those without, and of answers."""
    return name, f"{name}-unstratified", f"{name}-assess"


def seed_of(data: DataSet) -> int:
    """Return the seed of a data set's study: by name, so copies of one data set get other training sets."""
    return int.from_bytes(hashlib.sha256(data.name.encode()).digest()[:4], "big")


@dataclass(frozen=True)
class Part:
    """Rules, sizes and estimators of one data set that share a number of repetitions and the kind of folds."""

    data: DataSet
    sizes: tuple[int, ...]
    rules: tuple[str, ...]
    estimators: tuple[str, ...]
    repetitions: int
    stratified: bool = True
    combination: str | None = None

    @property
    def are_answers(self) -> bool:
        """Return whether the estimators are answers of `bg.assess`."""
        return set(self.estimators) <= set(ASSESSED)

    @property
    def folder(self) -> str:
        """Return the name of the run folder; parts with the same kind of folds share it."""
        return folders_of(self.data.name)[2 if self.are_answers else 0 if self.stratified else 1]

    def study(self) -> bg.Study:
        """Return the study of these tasks."""
        made = answers(self.combination) if self.are_answers else estimators(self.stratified)
        return bg.Study(
            as_population(self.data),
            {name: rule for name, rule in rules().items() if name in self.rules},
            {name: estimator for name, estimator in made.items() if name in self.estimators},
            self.sizes,
            self.repetitions,
            seed_of(self.data),
        )


def parts_of(
    data: DataSet,
    sizes: Sequence[int],
    rule_names: Sequence[str],
    names: Sequence[str],
    repetitions: int,
    combination: str | None = None,
) -> Iterator[Part]:
    """Yield the parts of a data set that have anything to do; `combination` is the file that answers use."""
    usable = sizes_of(data, sizes)
    wanted_answers = tuple(name for name in names if name in ASSESSED)
    names = [name for name in names if name not in ASSESSED]
    if usable and wanted_answers and rule_names:
        yield Part(data, usable, tuple(rule_names), wanted_answers, repetitions, combination=combination)
    for stratified, slow in product((True, False), (False, True)):
        here = tuple(n for n in usable if is_stratified(data, n) == stratified)
        chosen = tuple(name for name in rule_names if (name in SLOW_RULES) == slow)
        wanted: dict[int, tuple[str, ...]] = {}
        for name in names:
            often = repetitions_of(name, slow, repetitions)
            wanted[often] = (*wanted.get(often, ()), name)
        if here and chosen:
            yield from (Part(data, here, chosen, some, often, stratified) for often, some in wanted.items())


def repetitions_of(estimator: str, slow: bool, most: int) -> int:
    """Return how many training sets an estimator gets, on slow rules or on the others."""
    is_few = estimator in ALWAYS_FEW or (slow and estimator in MANY_REFITS)
    return min(most, FEW_REPETITIONS) if is_few else most
