"""The Gaussian-process posterior: log loss and time against scikit-learn's, the prior of amplitudes, large samples.

`python -m benchmarks.gaussian_process prior` compares priors of the amplitude (about twenty minutes); `python -m
benchmarks.gaussian_process study` holds the estimator against cross-validation on the paper's model (about half an hour
on two cores; finished tasks are kept in runs/gp).
"""

from __future__ import annotations

import resource
import sys
import warnings
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bayes_gresub as bg
from benchmarks.tables import write_table

SETS = {
    "iris": (load_iris, 100),
    "wine": (load_wine, 100),
    "breast_cancer": (load_breast_cancer, 150),
    "digits": (load_digits, 200),
}
SPLITS = 10


def rival() -> Any:
    """Return scikit-learn's classifier with the same kind of kernel, one against the rest."""
    return make_pipeline(StandardScaler(), GaussianProcessClassifier(ConstantKernel(1.0) * RBF(1.0)))


def splits(name: str, first: int, count: int = SPLITS) -> list[list[np.ndarray]]:
    load, n = SETS[name]
    X, y = load(return_X_y=True)
    return [train_test_split(X, y, train_size=n, random_state=first + r, stratify=y) for r in range(count)]


def scored(model: Any, split: list[np.ndarray]) -> tuple[float, float]:
    """Return log loss on the points held out, and the seconds of the fit."""
    X, X_rest, y, y_rest = split
    started = perf_counter()
    model.fit(X, y)
    seconds = perf_counter() - started
    return float(log_loss(y_rest, model.predict_proba(X_rest))), seconds


def with_error(values: np.ndarray) -> str:
    return f"{values.mean():.3f} ({values.std(ddof=1) / np.sqrt(len(values)):.3f})"


def main() -> None:
    """Log loss and time on the same splits."""
    rows = []
    for name in SETS:
        models = {
            "variational": lambda: bg.GaussianProcess(random_state=0),
            "laplace": lambda: bg.GaussianProcess(approximation="laplace", random_state=0),
            "scikit-learn": rival,
        }
        found = {key: np.array([scored(make(), split) for split in splits(name, 100)]) for key, make in models.items()}
        theirs = found["scikit-learn"]
        rows.append(
            [
                name,
                *(with_error(found[key][:, 0]) for key in models),
                f"{found['variational'][:, 0].mean() / theirs[:, 0].mean():.2f}",
                *(f"{np.median(found[key][:, 1]):.2f} s" for key in models),
                *(f"{np.median(found[key][:, 1] / theirs[:, 1]):.2f}" for key in ("variational", "laplace")),
            ]
        )
        print(rows[-1], flush=True)
    header = ["data", "log loss, variational", "laplace", "scikit-learn", "ratio"]
    header += ["seconds, variational", "laplace", "scikit-learn", "time ratio, variational", "laplace"]
    notes = [
        f"Means over {SPLITS} stratified splits (standard error); 100 training points of iris and wine, 150 of",
        "breast_cancer, 200 of digits; the rest is held out. scikit-learn: GaussianProcessClassifier with a scaled RBF",
        "kernel behind StandardScaler, which fits one Laplace approximation per class. Times are medians of fits, their",
        "ratios medians over splits. To hold: log loss at most scikit-learn's everywhere and at most 2/3 of it with three",
        "or more classes; time ratios at most 5 and 3.",
    ]
    write_table("gp", "Gaussian process", header, rows, notes)
    large()


def large() -> None:
    """Fit samples of 500, 1,000 and 2,000 digits."""
    X, y = load_digits(return_X_y=True)
    X = np.concatenate([X, X + np.random.default_rng(0).normal(scale=0.5, size=X.shape)])
    y = np.concatenate([y, y])
    rows = []
    for n in (500, 1000, 2000):
        rng = np.random.default_rng(n)
        keep = rng.permutation(len(y))[:n]
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = perf_counter()
        gp = bg.GaussianProcess(random_state=0).fit(X[keep], y[keep])
        seconds = perf_counter() - started
        started = perf_counter()
        gp.predict_proba(X[keep][:1000])
        asked = perf_counter() - started
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        rows.append(
            [
                str(n),
                f"{seconds:.0f} s",
                f"{asked:.1f} s",
                f"{peak / 2**20:.2f} GB",
                f"{(peak - before) / 2**20:.2f} GB",
            ]
        )
        print(rows[-1], flush=True)
    notes = ["Digits, 10 classes; inducing points above 500. Memory is the peak of the whole process (bar 4 GB)."]
    header = ["points", "fit", "1,000 probabilities", "memory", "of which new"]
    write_table("gp_large", "Gaussian process: large samples", header, rows, notes)


def prior() -> None:
    """Priors of the amplitude by held-out log loss, on splits that the other table does not use."""
    import bayes_gresub.posteriors.gaussian_process as module

    candidates = [(median, spread) for median in (1.0, 4.0, 10.0, 25.0, 60.0) for spread in (0.5, 1.0, 2.0)] + [
        (25.0, 50.0)
    ]
    population = bg.datasets.PaperGaussian(bayes_error=0.2)
    rows = []
    for median, spread in candidates:
        module.AMPLITUDE_PRIOR = (median, spread)
        losses: dict[str, list[float]] = {}
        for name in SETS:
            losses[name] = [scored(bg.GaussianProcess(), split)[0] for split in splits(name, 0, 5)]
        losses["paper's model"] = []
        for r in range(5):
            X, y = population.sample(1060, random_state=r)
            losses["paper's model"].append(scored(bg.GaussianProcess(), [X[:60], X[60:], y[:60], y[60:]])[0])
        rows.append([f"{median:g}", f"{spread:g}", *(with_error(np.array(values)) for values in losses.values())])
        print(rows[-1], flush=True)
    notes = [
        "Held-out log loss, means over 5 splits (standard error; the same splits in every row). The prior of an amplitude",
        "is log-normal with this median and this deviation of its logarithm; 50 is no prior. The paper's model has 60",
        "training points, a Bayes error of 0.2.",
    ]
    header = ["median", "spread", *SETS, "paper's model"]
    write_table("gp_prior", "Gaussian process: prior of the amplitude", header, rows, notes)


def study(repetitions: int = 50) -> None:
    """Bias and RMS on the paper's model."""
    from bayes_gresub.studies.paper import SAMPLE_SIZES, rules

    names = ["resub", "3nn-pp", "gp-pp", "bolstered-3nn-pp", "cv"]
    population = bg.datasets.PaperGaussian(bayes_error=0.2)
    results = bg.Study(population, rules(), names, SAMPLE_SIZES, repetitions, seed=7).run("runs/gp", n_jobs=2)
    table = results.summary()
    table.to_csv("/tmp/gp_study.csv")
    print(table)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    {"prior": prior, "study": study, "large": large}.get(sys.argv[1] if len(sys.argv) > 1 else "", main)()
