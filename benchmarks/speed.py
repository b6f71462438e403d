"""Time of fit and error together, over that of scikit-learn's 10-fold cross-validation on the same data."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np
from sklearn.model_selection import cross_val_score

import bayes_gresub as bg
from benchmarks.grid import POPULATION, SIZES, rules
from benchmarks.tables import write_table

ESTIMATORS = ("resub", "bolstered", "semi-bolstered", "nb-bolstered", "3nn-pp", "bolstered-3nn-pp")
ROUNDS = 30


def main() -> None:
    """Measure every cell and write the table."""
    rows, all_ratios, sampled, linear, tree, neighbours = [], [], [], [], [], []
    for rule_name, rule in rules().items():
        for n in SIZES:
            X, y = POPULATION.sample(n, random_state=n)
            classifier = rule.fit(X, y)

            def estimate(name: str, X=X, y=y, classifier=classifier) -> bg.ErrorEstimate:
                return bg.make_estimator(name, random_state=0).fit(X, y).error(classifier)

            jobs: dict[str, Callable[[], object]] = {
                "cv": lambda rule=rule, X=X, y=y: cross_val_score(rule, X, y, cv=10)
            }
            jobs |= {name: (lambda name=name, estimate=estimate: estimate(name)) for name in ESTIMATORS}
            seconds = interleaved(jobs)
            ratios = {name: seconds[name] / seconds["cv"] for name in ESTIMATORS}
            exact = {name: estimate(name).computation.exact for name in ESTIMATORS}
            rows.append(
                [rule_name, str(n), f"{1e3 * seconds['cv']:.1f}"]
                + [f"{ratios[name]:.3f}{'' if exact[name] else ' s'}" for name in ESTIMATORS]
            )
            all_ratios += ratios.values()
            sampled += [ratios[name] for name in ESTIMATORS if not exact[name]]
            bolstered = [ratios[name] for name in ("bolstered", "semi-bolstered", "nb-bolstered")]
            linear += bolstered if rule_name == "linear SVM" else []
            tree += bolstered if rule_name == "CART" else []
            neighbours.append(ratios["3nn-pp"])
    notes = [
        "s: sampled, 64 points per training point (32 for bolstered-3nn-pp); the rest is exact. Median of "
        f"{ROUNDS} rounds, cross-validation and estimators in turn.",
        "",
        f"- exact linear: at most {max(linear):.3f} (bar 0.05)",
        f"- exact tree: at most {max(tree):.3f} (bar 0.1)",
        f"- sampled: at most {max(sampled):.3f} (bar 0.3)",
        f"- kNN posterior: at most {max(neighbours):.3f} (bar 0.1)",
        f"- median over all cells: {np.median(all_ratios):.3f} (bar 0.15)",
    ]
    header = ["rule", "n", "CV, ms", *ESTIMATORS]
    write_table("speed", "Time over that of cross_val_score(cv=10)", header, rows, notes)


def interleaved(jobs: dict[str, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, float]:
    """Return the median seconds of each job, run in turn, so a busy machine slows all alike."""
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for job in jobs.values():
        job()
    for _ in range(rounds):
        for name, job in jobs.items():
            started = perf_counter()
            job()
            seconds[name].append(perf_counter() - started)
    return {name: float(np.median(values)) for name, values in seconds.items()}
