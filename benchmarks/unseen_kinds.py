r"""Estimates and intervals on populations and rules that were fixed before any of them was tried, and never changed.

Usage: `python -m benchmarks.unseen_kinds COMBINATION_FILE [REPETITIONS] [WORKERS]`; it goes on after an interrupt.

Populations; classes are drawn at random, and training sets that have fewer than two points of a class are drawn again:

- skewed: two equally likely classes, ten independent log-normal features :math:`\exp(z)`, z standard normal; the first
  four are larger by 1 in the second class;
- heavy-tailed: two equally likely classes, ten features of multivariate Student t noise with 2 degrees of freedom; the
  means of the first four are 1 in the second class, 0 in the first;
- digits: the digits 3, 5, 8 and 9 of scikit-learn's 8 x 8 images, without replacement;
- paper: `bg.datasets.PaperGaussian(class_sizes="random")`.

Rules: LDA with shrinkage, a quadratic SVM without the linear and constant terms (which is a bad rule by itself), CART
with five points a leaf, 5NN and a random forest of 50 trees. Sizes: 30 and 100. The true error is that on 5,000 new
points, or on all other images. The training sets of a population and size are the same for all rules. Folds are
stratified unless every class has fewer points than there are folds, as mostly in 30 images.

Nothing here was used to choose an estimator or interval. But the combination behind `assess` may have learned from
populations like these: the simulator has kinds called skewed, heavy-tailed and gaussian, with other laws, and digits
are one of the real data sets. The page names what the combination file was trained on; `without-digits.npz` of
`make learn` has not seen the images.
"""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import bayes_gresub as bg
from bayes_gresub.data.seeds import ANSWERS, RULES, SAMPLES, as_int, child
from bayes_gresub.estimate.count_intervals import BOOTSTRAP_SHARES, CROSS_VALIDATION_SHARE
from bayes_gresub.regions.training import trained
from benchmarks.real_data import scores
from benchmarks.real_data.assessed import Assessed
from benchmarks.tables import markdown, write_table

RUN = Path("runs/unseen_kinds")
SEED = 20261120
SIZES = (30, 100)
N_NEW = 5000
LEAST = 2
"""Points of every class in a training set."""
FOLDS = 10
REPETITIONS = 100
"""Of a cell."""
CONSERVATIVE_REPETITIONS = 25
"""Of the conservative z, which needs 315 fits."""

Sample = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Training points, their labels, new points, their labels."""
Record = dict[str, Any]

ASSESSED = {"assess": 0, "assess, 10 refits": 10}
CLOPPER_PEARSON = "boot-632+, Clopper-Pearson"
CONSERVATIVE = "conservative-z"


def skewed(rng: np.random.Generator, n: int) -> Sample:
    """Return a training set of log-normal features and new points."""
    y = rng.integers(2, size=n + N_NEW)
    X = np.exp(rng.standard_normal((len(y), 10)))
    X[:, :4] += y[:, None]
    return X[:n], y[:n], X[n:], y[n:]


def heavy_tailed(rng: np.random.Generator, n: int) -> Sample:
    """Return a training set with Student t noise and new points."""
    y = rng.integers(2, size=n + N_NEW)
    X = rng.standard_normal((len(y), 10)) * np.sqrt(2 / rng.chisquare(2, size=(len(y), 1)))
    X[:, :4] += y[:, None]
    return X[:n], y[:n], X[n:], y[n:]


def digits(rng: np.random.Generator, n: int) -> Sample:
    """Return a training set of images and all other images."""
    X, y = load_digits(return_X_y=True)
    rows = rng.permutation(np.flatnonzero(np.isin(y, (3, 5, 8, 9))))
    return X[rows[:n]], y[rows[:n]], X[rows[n:]], y[rows[n:]]


def paper(rng: np.random.Generator, n: int) -> Sample:
    """Return a training set of the paper's model and new points."""
    X, y = bg.datasets.PaperGaussian(class_sizes="random").sample(n + N_NEW, random_state=rng)
    return X[:n], y[:n], X[n:], y[n:]


POPULATIONS: Mapping[str, Callable[[np.random.Generator, int], Sample]] = {
    "skewed": skewed,
    "heavy-tailed": heavy_tailed,
    "digits": digits,
    "paper": paper,
}
RULE_LIST: Mapping[str, Any] = {
    "forest": RandomForestClassifier(50),
    "LDA": LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    "quadratic SVM": make_pipeline(StandardScaler(), SVC(kernel="poly", degree=2, coef0=0)),
    "CART": DecisionTreeClassifier(min_samples_leaf=5),
    "5NN": KNeighborsClassifier(5),
}
"""The slowest first, so that no worker is left with it at the end."""
METHODS = (*ASSESSED, "cv", "boot-632+", CLOPPER_PEARSON, "corrected-t", CONSERVATIVE)


@dataclass(frozen=True)
class Cell:
    """A population, a rule and a size."""

    population: str
    rule: str
    n: int

    @property
    def file(self) -> str:
        """Return the name of its file."""
        return f"{self.population}-{self.rule}-{self.n}.json".replace(" ", "_")


def cells() -> list[Cell]:
    """Return all cells, the slowest first."""
    return [Cell(name, rule, n) for rule, n, name in product(RULE_LIST, sorted(SIZES, reverse=True), POPULATIONS)]


def main(combination: str, repetitions: int = REPETITIONS, workers: int = 1) -> None:
    """Do the repetitions that are missing and write the page."""
    run_all(RUN, combination, repetitions, workers)
    write_page(score_table(read_records(RUN, repetitions)), combination)


def run_all(run: Path, combination: str, repetitions: int, workers: int) -> None:
    """Do the repetitions that are missing, each cell in one process."""
    run.mkdir(parents=True, exist_ok=True)
    Parallel(workers)(delayed(run_cell)(run, cell, combination, repetitions) for cell in cells())


def run_cell(run: Path, cell: Cell, combination: str, repetitions: int) -> None:
    """Do the repetitions of a cell that its file lacks.

    Answers of another combination are computed anew, the rest stays.
    """
    path, mark = run / cell.file, hashlib.sha256(Path(combination).read_bytes()).hexdigest()
    stored: Record = json.loads(path.read_text()) if path.exists() else {"combination": mark, "records": []}
    records: list[Record] = stored["records"]
    if stored["combination"] != mark:
        for record in records:
            record["methods"] = {name: row for name, row in record["methods"].items() if name not in ASSESSED}
    for number in range(repetitions):
        known = records[number]["methods"] if number < len(records) else {}
        wanted = [name for name in METHODS if name != CONSERVATIVE or number < CONSERVATIVE_REPETITIONS]
        if missing := [name for name in wanted if name not in known]:
            record = one_record(cell, number, missing, combination)
            record["methods"] = {**known, **record["methods"]}
            records[number : number + 1] = [record]
            unfinished = path.with_suffix(".part")
            unfinished.write_text(json.dumps({"combination": mark, "cell": vars(cell), "records": records}))
            unfinished.rename(path)


def one_record(cell: Cell, repetition: int, names: list[str], combination: str) -> Record:
    """Return the true error of one classifier, and what some methods make of it."""
    seed = np.random.SeedSequence([SEED, list(POPULATIONS).index(cell.population), cell.n, repetition])
    rule = RULE_LIST[cell.rule]
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        X, y, X_new, y_new = draw(cell, np.random.default_rng(child(seed, SAMPLES)))
        classifier = trained(rule, X, y, None, child(seed, RULES))
        wrong = classifier.predict(X_new) != y_new
        methods = estimates(rule, classifier, X, y, names, as_int(child(seed, ANSWERS)), combination)
    return {"repetition": repetition, "truth": float(wrong.mean()), "n_test": len(y_new), "methods": methods}


def draw(cell: Cell, rng: np.random.Generator) -> Sample:
    """Return a training set with enough points of every class, and new points."""
    while True:
        X, y, X_new, y_new = POPULATIONS[cell.population](rng, cell.n)
        if min(np.sum(y == label) for label in np.unique(y_new)) >= LEAST:
            return X, y, X_new, y_new


def estimates(
    rule: Any, classifier: Any, X: np.ndarray, y: np.ndarray, names: list[str], seed: int, combination: str
) -> dict[str, Record]:
    """Return estimate, ends of the 95% interval and processor seconds of every method, or why it has none."""
    # Stratified folds need a class with a point for each.
    stratified = bool(np.unique(y, return_counts=True)[1].max() >= FOLDS)
    made: dict[str, Any] = {
        **{name: Assessed(refits, combination, seed) for name, refits in ASSESSED.items()},
        "cv": bg.CrossValidation(FOLDS, stratified=stratified, random_state=seed),
        "boot-632+": bg.Bootstrap("632+", 200, random_state=seed),
        "corrected-t": bg.make_estimator("corrected-t", random_state=seed),
        CONSERVATIVE: bg.make_estimator(CONSERVATIVE, random_state=seed),
    }
    rows: dict[str, Record] = {}
    for name, estimator in made.items():
        # One bootstrap has both of its intervals.
        own = [name, CLOPPER_PEARSON] if name == "boot-632+" else [name]
        if not set(own) & set(names):
            continue
        started = process_time()
        try:
            estimate = estimator.error(rule, X, y, classifier=classifier)
            value, ends = estimate.value, tuple(estimate.interval())
        except Exception as error:  # a method that fails on one training set is a row, not the end of hours of work
            rows |= {one: {"failed": f"{type(error).__name__}: {error}"} for one in own}
            continue
        row = {"estimate": value, "seconds": process_time() - started}
        rows[name] = row | {"low": ends[0], "high": ends[1]}
        if name == "boot-632+":
            low, high = scores.clopper_pearson(value, len(y))
            rows[CLOPPER_PEARSON] = row | {"low": float(low), "high": float(high), "seconds": 0.0}
    return rows


def read_records(run: Path, repetitions: int) -> Iterator[tuple[Cell, list[Record]]]:
    """Yield the cells that a folder has, and the records of so many repetitions."""
    for cell in cells():
        if (run / cell.file).exists():
            yield cell, json.loads((run / cell.file).read_text())["records"][:repetitions]


def score_table(records: Iterator[tuple[Cell, list[Record]]]) -> pd.DataFrame:
    """Return the scores of every method in every cell, a row each."""
    return pd.DataFrame([score(cell, rows, name) for cell, rows in records for name in METHODS])


def score(cell: Cell, records: list[Record], name: str) -> Record:
    """Return the scores of a method over the repetitions of a cell that it was wanted in."""
    records = [record for record in records if name in record["methods"]]

    def column(key: str) -> np.ndarray:
        return np.array([record["methods"][name].get(key, np.nan) for record in records], dtype=float)

    truth, n_test = (np.array([record[key] for record in records], dtype=float) for key in ("truth", "n_test"))
    estimate, low, high, seconds = map(column, ("estimate", "low", "high", "seconds"))
    return {
        **vars(cell),
        "method": name,
        "repetitions": len(records),
        "failed": int(np.isnan(estimate).sum()),
        "reason": next((r["methods"][name]["failed"] for r in records if "failed" in r["methods"][name]), ""),
        "truth": scores.bias(truth, np.zeros_like(truth)),
        "rms": scores.rms(estimate, truth, n_test),
        "bias": scores.bias(estimate, truth),
        "coverage": scores.coverage(low, high, truth),
        "width": scores.width(low, high),
        "interval score": scores.interval_score(low, high, truth),
        "hours": float(np.nansum(seconds)) / 3600,
    }


def write_page(table: pd.DataFrame, combination: str) -> None:
    """Write the means over cells, and coverage by population and by rule."""
    groups = table["population"] + table["rule"]
    rows = []
    for name in METHODS:
        here = table["method"] == name
        parts = [
            scores.mean_over_cells(table.loc[here, column], groups[here])
            for column in ("rms", "bias", "coverage", "width", "interval score")
        ]
        rows.append([name, *(f"{part.value:.3f} ({part.std_error:.3f})" for part in parts)])
    truth = table[table["method"] == METHODS[0]].pivot_table(index="population", columns="rule", values="truth")
    notes = [
        f"Means over {table[['population', 'rule', 'n']].drop_duplicates().shape[0]} cells (population, rule, n), of "
        f"{table['repetitions'].max()} repetitions each, {CONSERVATIVE} of the first {CONSERVATIVE_REPETITIONS}. "
        "Standard errors in brackets: jackknife over pairs of a population and a rule, both sizes of which are one "
        "observation. RMS has the noise of the observed true error taken off; coverage has not (5,000 new points, "
        f"about 650 for digits). Wilson's interval belongs to cv ({CROSS_VALIDATION_SHARE} n points) and boot-632+ "
        f"({BOOTSTRAP_SHARES['632+']} n).",
        *learned_from(combination),
        *failures(table),
        f"{table['hours'].sum():.2f} processor hours.",
        *(text for by in ("population", "rule", "n") for text in coverage_by(table, by)),
        "## Mean true error",
        "",
        markdown(truth.round(3).reset_index()),
    ]
    header = ["method", "RMS", "bias", "coverage of 95%", "width", "interval score"]
    write_table("unseen_kinds", "Populations and rules that nothing was tuned on", header, rows, notes)


def coverage_by(table: pd.DataFrame, by: str) -> list[str]:
    """Return a table of the coverage by one of the factors."""
    wide = table.pivot_table(index="method", columns=by, values="coverage").reindex(METHODS)
    return [f"\n## Coverage by {by}", "", markdown(wide.round(3).reset_index())]


def learned_from(combination: str) -> list[str]:
    """Return what the combination was trained on."""
    with np.load(combination) as arrays:
        names = ", ".join(f"{name} {count}" for name, count in zip(arrays["populations"], arrays["cases"], strict=True))
    return ["", f"assess: {Path(combination).name}, learned from cases of {names}.", ""]


def failures(table: pd.DataFrame) -> list[str]:
    """Return how often a method came to no estimate, and the first reason."""
    failed = table[table["failed"] > 0].groupby("method").agg({"failed": "sum", "reason": "first"})
    return [f"- {name} failed {row['failed']} times: {row['reason']}" for name, row in failed.iterrows()]


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit("Usage: python -m benchmarks.unseen_kinds COMBINATION_FILE [REPETITIONS] [WORKERS]")
    main(sys.argv[1], *(int(argument) for argument in sys.argv[2:4]))
