"""Large samples: time of n = 100,000 with a linear classifier, and memory with a small network at 100 features."""

from __future__ import annotations

import tracemalloc
import warnings
from time import perf_counter

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

import bayes_gresub as bg
from benchmarks.grid import POPULATION
from benchmarks.tables import write_table


def main() -> None:
    """Measure and write the table."""
    rows, integral = [], {}
    for n in (25_000, 50_000, 100_000):
        X, y = POPULATION.sample(n, random_state=1)
        classifier = LogisticRegression().fit(X, y)
        started = perf_counter()
        measure = bg.Bolstered(random_state=0).fit(X, y)
        fitted = perf_counter()
        # The second of two runs, so caches are warm at every n.
        measure.error(classifier)
        judged = perf_counter()
        measure.error(classifier)
        integral[n] = perf_counter() - judged
        rows.append(["linear, d=10, exact", f"{n:,}", f"{fitted - started:.2f}", f"{integral[n]:.3f}", ""])
    n, d = 100_000, 100
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, d)) + 0.2 * y[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        network = MLPClassifier((32,), max_iter=20, random_state=0).fit(X[:5000], y[:5000])
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    started = perf_counter()
    measure = bg.Bolstered(random_state=0).fit(X, y)
    fitted = perf_counter()
    estimate = measure.error(network)
    judged = perf_counter()
    peak = (tracemalloc.get_traced_memory()[1] - before) / 1e6
    tracemalloc.stop()
    rows.append(
        ["network, d=100, sampled", f"{n:,}", f"{fitted - started:.2f}", f"{judged - fitted:.1f}", f"{peak:.0f}"]
    )
    notes = [
        f"- n = 100,000 with a linear classifier: {float(rows[2][2]) + float(rows[2][3]):.1f} s in all (bar 30 s)",
        f"- the integral at 4 times the points takes {integral[100_000] / integral[25_000]:.1f} times as long",
        f"- peak extra memory with a network: {peak:.0f} MB for {estimate.computation.n_predicted:,} points predicted "
        "(bar 500 MB)",
    ]
    header = ["case", "n", "fit, s", "error, s", "peak extra memory, MB"]
    write_table("scale", "Large samples", header, rows, notes)
