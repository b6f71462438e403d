"""The Bayesian measure: time of a first fit, a refit, exact draws and large samples, as ratios measured in one run."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
import warnings
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import cross_val_score

import bayes_gresub as bg
from benchmarks.tables import write_table

SETTINGS = {"draws": 1000, "chains": 4}
NUTS = SETTINGS | {"sampler": "nuts"}


def sample(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([seed, n, d])
    y = np.arange(n) % 2
    mixing = np.linalg.cholesky(0.6 * np.eye(d) + 0.4)
    return rng.normal(size=(n, d)) @ mixing.T + 0.8 * y[:, None] / np.sqrt(d), y


def textbook(n: int, d: int) -> None:
    """Sample the model that a PyMC user writes: LKJ factors, normal means, one MvNormal over the rows of each class."""
    import pymc as pm

    X, y = sample(n, d)
    with pm.Model():
        for k in range(2):
            factor, _, _ = pm.LKJCholeskyCov(f"factor_{k}", n=d, eta=2.0, sd_dist=pm.HalfNormal.dist(2.5, size=d))
            mean = pm.Normal(f"mean_{k}", 0.0, 10.0, shape=d)
            pm.MvNormal(f"x_{k}", mean, chol=factor, observed=X[y == k])
        pm.sample(tune=1000, random_seed=0, progressbar=False, **SETTINGS)


def first_fit(n: int, d: int) -> None:
    X, y = sample(n, d)
    bg.Bayesian(random_state=0, **NUTS).fit(X, y)


def _in_new_process(task: str, n: int, d: int, warm: bool) -> float:
    """Return the seconds that a new Python process takes for it, its compiler cache empty or filled by a run before."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTENSOR_FLAGS": f"base_compiledir={folder}"}
        command = [sys.executable, "-m", "benchmarks.bayesian", task, str(n), str(d)]
        for _ in range(1 + warm):
            started = perf_counter()
            subprocess.run(command, env=environment, check=True, capture_output=True)
            seconds = perf_counter() - started
    return seconds


def _median(function: Any, times: int) -> float:
    seconds = []
    for _ in range(times):
        started = perf_counter()
        function()
        seconds.append(perf_counter() - started)
    return float(np.median(seconds))


def main() -> None:
    rows = []

    def add(title: str, seconds: float, against: str, rival_seconds: float, bar: str) -> None:
        rows.append(
            [title, f"{seconds:.3g} s", against, f"{rival_seconds:.3g} s", f"{seconds / rival_seconds:.3g}", bar]
        )
        print(rows[-1], flush=True)

    fresh = {}
    for warm in (False, True):
        cache = "filled" if warm else "empty"
        fresh[10, cache] = _in_new_process("first_fit", 100, 10, warm)
        textbook = _in_new_process("textbook", 100, 10, warm)
        title = f"first NUTS fit, n=100, d=10, {cache} compiler cache"
        add(title, fresh[10, cache], "textbook PyMC model, likewise", textbook, "" if warm else "0.5")

    for d in (2, 10):
        if d == 2:
            fresh[d, "empty"], fresh[d, "filled"] = (
                _in_new_process("first_fit", 100, d, warm) for warm in (False, True)
            )
        bg.Bayesian(random_state=0, **NUTS).fit(*sample(100, d, 1))
        X, y = sample(100, d, 2)
        again = _median(lambda X=X, y=y: bg.Bayesian(random_state=1, **NUTS).fit(X, y), 5)
        for cache in ("empty", "filled"):
            against = f"first fit, {cache} compiler cache"
            add(f"NUTS refit with new data, d={d}", again, against, fresh[d, cache], "0.05" if cache == "empty" else "")
    X, y = sample(100, 10, 3)
    gibbs = _median(lambda: bg.Bayesian(sampler="gibbs", random_state=0, **SETTINGS).fit(X, y), 5)
    add("Gibbs fit, d=10", gibbs, "NUTS refit, d=10", again, "")

    X, y = sample(60, 10)
    rule = LinearDiscriminantAnalysis()
    classifier = rule.fit(X, y)
    prior = bg.NormalInverseWishart(X.mean(axis=0), 10.0, 14.0, 3 * np.diag(X.var(axis=0)))
    for covariance in ("full", "shared"):
        exact = bg.Bayesian(bg.GaussianClasses(covariance, prior), sampler="conjugate", draws=500, random_state=0)
        ours = _median(lambda exact=exact: exact.fit(X, y).error(classifier), 31)
        theirs = _median(lambda: cross_val_score(rule, X, y, cv=10), 31)
        add(
            f"2,000 conjugate draws and the error of LDA, d=10, n=60, {covariance}",
            ours,
            "cross_val_score(LDA, cv=10)",
            theirs,
            "1",
        )

    for name, sampler in (("Gibbs", "gibbs"), ("NUTS refit", "nuts")):
        seconds = {}
        for n in (1_000, 100_000):
            X, y = sample(n, 10)
            measure = bg.Bayesian(sampler=sampler, random_state=0, **SETTINGS)
            seconds[n] = _median(lambda measure=measure, X=X, y=y: measure.fit(X, y), 5)
        add(f"{name}, n=100,000, d=10", seconds[100_000], f"{name}, n=1,000", seconds[1_000], "1.5")

    notes = [
        "Two Gaussian classes; 4 chains of 1,000 draws where not said otherwise (NUTS: 1,000 more to tune). First fits",
        "are timed in new processes, start of Python and imports included. PyTensor and numba keep part of what they",
        "compile on disk: that cache is empty, or filled by the same fit in a process before. The textbook model has",
        "LKJ priors, one MvNormal over the rows of each class, and is sampled by `pm.sample` on two cores.",
    ]
    write_table("bayesian", "Bayesian measure", ["what", "time", "against", "time", "ratio", "at most"], rows, notes)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    logging.disable(logging.INFO)
    if len(sys.argv) > 1:
        {"textbook": textbook, "first_fit": first_fit}[sys.argv[1]](int(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
