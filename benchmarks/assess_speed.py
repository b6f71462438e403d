"""Time of `assess` over that of scikit-learn's 10-fold cross-validation of the same classifier, in one run."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import cross_val_score

import bayes_gresub as bg
from benchmarks.real_data.plan import ASSESSED, rules
from benchmarks.shortcuts import sample
from benchmarks.speed import interleaved
from benchmarks.tables import write_table

SIZES = (30, 60, 120)
LOADERS: dict[str, Callable[..., object]] = {
    "breast cancer": load_breast_cancer,
    "digits 0 to 2": partial(load_digits, n_class=3),
    "paper": lambda **_: bg.datasets.PaperGaussian().sample(1000, random_state=0),
}
ROUNDS = 5
GOALS = {"assess": "at most 0.6, none above 2", "assess-10": "at most 1.6"}


def main() -> None:
    """Measure every cell and write the table."""
    rows: list[list[str]] = []
    found: dict[str, dict[str, list[float]]] = {name: {} for name in ASSESSED}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for rule_name, rule in rules().items():
            for data, load in LOADERS.items():
                for n in SIZES:
                    X, y = sample(load, n, seed=n)
                    classifier = clone(rule).fit(X, y)
                    jobs: dict[str, Callable[[], object]] = {"cv": partial(cross_val_score, rule, X, y, cv=10)}
                    jobs |= {
                        name: partial(bg.assess, classifier, X, y, refits=refits, random_state=0)
                        for name, refits in ASSESSED.items()
                    }
                    seconds = interleaved(jobs, ROUNDS)
                    ratios = {name: seconds[name] / seconds["cv"] for name in ASSESSED}
                    for name, ratio in ratios.items():
                        found[name].setdefault(rule_name, []).append(ratio)
                    times = [f"{1e3 * value:.0f}" for value in seconds.values()]
                    rows.append([rule_name, data, str(n), *times, *(f"{ratio:.2f}" for ratio in ratios.values())])
    notes = [f"Median of {ROUNDS} rounds, in turn. Each rule is trained once before; that is not counted.", ""]
    for name, by_rule in found.items():
        means = {rule_name: float(np.exp(np.mean(np.log(ratios)))) for rule_name, ratios in by_rule.items()}
        over_all = float(np.exp(np.mean(np.log(list(means.values())))))
        slowest = max(means, key=lambda rule_name: means[rule_name])
        notes.append(
            f"- {name}: geometric mean {over_all:.2f} ({GOALS[name]}); slowest rule {slowest}, "
            f"{means[slowest]:.2f}; largest cell {max(max(ratios) for ratios in by_rule.values()):.2f}"
        )
    header = ["rule", "data", "n", "CV, ms", *(f"{name}, ms" for name in ASSESSED), *(f"{n} / CV" for n in ASSESSED)]
    write_table("assess_speed", "Time of assess over that of cross_val_score(cv=10)", header, rows, notes)
