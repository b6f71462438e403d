"""Large samples: time of the command line's default estimators by n, of a linear classifier, memory with a network."""

from __future__ import annotations

import tracemalloc
import warnings
from time import perf_counter, process_time

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

import bayes_gresub as bg
from bayes_gresub.cli.estimator_choice import DEFAULT
from benchmarks.grid import POPULATION
from benchmarks.tables import write_table

SIZES = (1_000, 10_000, 100_000)


def main() -> None:
    """Measure and write both tables."""
    write_default_estimators()
    write_large_samples()


def write_default_estimators() -> None:
    """Write the processor seconds and the standard error of each default estimator, for LDA at growing n."""
    cells: dict[str, list[str]] = {name: [name] for name in DEFAULT}
    totals = []
    for n in SIZES:
        rng = np.random.default_rng(0)
        y = rng.integers(2, size=n)
        X = rng.standard_normal((n, 10)) + 0.5 * y[:, None]
        started = process_time()
        for name in DEFAULT:
            begun = process_time()
            estimate = bg.compare(LinearDiscriminantAnalysis(), X, y, [name], random_state=0)[name]
            seconds = process_time() - begun
            noise = estimate.std_error
            known = "exact" if estimate.computation.exact else "?" if np.isnan(noise) else f"{noise:.5f}"
            cells[name] += [f"{seconds:.2f}", known]
        totals.append(process_time() - started)
    header = ["estimator"] + [text for n in SIZES for text in (f"n = {n:,}, s", "MC s.e.")]
    sums = ", ".join(f"{total:.1f} s at {n:,}" for n, total in zip(SIZES, totals, strict=True))
    notes = [
        f"- all of them: {sums} (bar 60 s at 100,000)",
        "- processor seconds of LDA's estimates in two Gaussian classes with 10 features; each includes the fit of the "
        "classifier and of the measure",
        "- bolstered-3nn-pp samples about every point up to 8,192 points, and about random subsamples beyond; its "
        "Monte-Carlo standard error covers that",
    ]
    write_table("scale_estimators", "Default estimators at growing n", header, list(cells.values()), notes)


def write_large_samples() -> None:
    """Write the time of a linear classifier, and the memory of a network."""
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
    measure = bg.Bolstered(max_centers=None, random_state=0).fit(X, y)
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
