"""Variance of the sampler: against plain Monte Carlo, and against the estimator's variance over data sets."""

from __future__ import annotations

import numpy as np

import bayes_gresub as bg
from benchmarks.grid import POPULATION, SIZES, rules
from benchmarks.tables import write_table

DATA_SETS = 200


def main() -> None:
    """Write both tables."""
    against_plain()
    added_variance()


def against_plain() -> None:
    """Compare the mean internal variance with that of plain Monte Carlo at as many predicted points.

    Plain Monte Carlo's variance is known: the mean of p(1 - p) over the points, over n times the points per component;
    p comes from a long run.
    """
    rows, ratios = [], []
    for rule_name in ("RBF-SVM", "3NN"):
        for n in (20, 60, 100):
            plain, ours = [], {points: [] for points in (64, 128, 256)}
            for k in range(60):
                X, y = POPULATION.sample(n, random_state=(1000 * n + k))
                classifier = rules()[rule_name].fit(X, y)
                long = bg.Bolstered(n_points=8192, random_state=k).fit(X, y).error(classifier).contributions
                plain.append((long * (1 - long)).mean() / n)
                for points in ours:
                    measure = bg.Bolstered(n_points=points).fit(X, y)
                    seeds = range(8 * k, 8 * k + 8)
                    ours[points] += [measure.error(classifier, random_state=s).internal_variance for s in seeds]
            row = {points: points * np.mean(values) / np.mean(plain) for points, values in ours.items()}
            noise = {
                points: points * np.std(values) / np.sqrt(len(values)) / np.mean(plain)
                for points, values in ours.items()
            }
            ratios.append(row)
            rows.append([rule_name, str(n)] + [f"{row[m]:.2f} ± {noise[m]:.2f}" for m in row])
    notes = [
        "Mean internal variance over 60 data sets and 8 seeds, over plain Monte Carlo's; ± its standard error.",
        "",
    ]
    for name, part in (("RBF-SVM", ratios[:3]), ("3NN", ratios[3:])):
        means = ", ".join(f"{np.mean([row[m] for row in part]):.2f} at {m} points" for m in (64, 128, 256))
        notes.append(f"- {name}, mean over n: {means} (bar 0.65)")
    header = ["rule", "n", "64 points", "128 points", "256 points"]
    write_table("sampler", "Variance of the sampler over plain Monte Carlo's", header, rows, notes)


def added_variance() -> None:
    """Compare the internal variance at the default number of points with the variance over data sets."""
    rows, shares = [], []
    names = ("bolstered", "semi-bolstered", "bolstered-3nn-pp")
    for rule_name in rules():
        for n in SIZES:
            row = [rule_name, str(n)]
            for name in names:
                estimates = []
                for k in range(DATA_SETS):
                    X, y = POPULATION.sample(n, random_state=(7000 * n + k))
                    classifier = rules()[rule_name].fit(X, y)
                    estimates.append(bg.make_estimator(name, random_state=k).fit(X, y).error(classifier))
                internal = np.mean([estimate.internal_variance for estimate in estimates])
                total = np.var([estimate.value for estimate in estimates], ddof=1)
                share = internal / (total - internal)
                row.append("exact" if internal == 0 else f"{100 * share:.1f}%")
                shares.append(share)
            rows.append(row)
    notes = [
        "Internal variance at the default of 64 points per training point (32 for bolstered-3nn-pp), over the variance",
        f"of the estimator over {DATA_SETS} data sets.",
        "",
        f"- at most {100 * max(shares):.1f}% (bar 5%)",
    ]
    header = ["rule", "n", *names]
    write_table("added_variance", "What sampling adds to an estimator's variance", header, rows, notes)
