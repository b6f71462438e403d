"""What the simulator draws: true errors of three rules by kind of population, and a picture of each kind.

Run with `python -m benchmarks.learn.spread [populations of each kind] [seed]`; a few minutes with 20.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
import pandas as pd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from benchmarks.learn.kinds import KINDS
from benchmarks.learn.rules import train
from benchmarks.learn.simulator import draw_population
from benchmarks.learn.training_sets import draw_size, draw_training_set
from benchmarks.tables import RESULTS, write_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FOLDER = RESULTS / "learn"
N_TEST = 1000
QUANTILES = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0]
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#000000", "#999999", "#882255"]
"""Okabe and Ito's, and two more."""


def rules() -> dict[str, Any]:
    """Return the rules whose errors are looked at, unfitted."""
    return {
        "3NN": KNeighborsClassifier(3),
        "LDA": LinearDiscriminantAnalysis(),
        "CART": DecisionTreeClassifier(min_samples_leaf=5, random_state=0),
    }


def true_errors(n_populations: int, seed: int) -> pd.DataFrame:
    """Return one row a population: kind, numbers that describe it, size of the training set, and each rule's error.

    Errors are shares of N_TEST new points of the population.
    """
    rows = []
    for place, kind in enumerate(KINDS):
        for repetition in range(n_populations):
            rng = np.random.default_rng([seed, place, repetition])
            sample = draw_training_set(draw_population(rng, kind), draw_size(rng), rng)
            X, y = sample.population.sample(N_TEST, rng)
            errors = {}
            for name, rule in rules().items():
                classifier = train(rule, sample.X, sample.y)
                assert classifier is not None
                errors[name] = float(np.mean(classifier.predict(X) != y))
            rows.append({"kind": kind, "n": len(sample.y), **sample.population.description, **errors})
        print(kind, flush=True)
    return pd.DataFrame(rows)


def plot_errors(errors: pd.DataFrame, ax: Axes) -> Axes:
    """Plot the true error of each rule in each population, by kind."""
    offsets = dict(zip(rules(), (-0.25, 0.0, 0.25), strict=True))
    kinds = list(KINDS)
    place = errors["kind"].map(kinds.index).to_numpy()
    for colour, (name, offset) in zip(COLOURS, offsets.items(), strict=False):
        ax.scatter(errors[name], place + offset, s=8, color=colour, alpha=0.7, label=name)
    ax.set_yticks(range(len(kinds)), kinds)
    ax.invert_yaxis()
    ax.set_xlabel(f"true error (share of {N_TEST} new points)")
    ax.set_ylabel("kind of population")
    ax.legend(loc="lower right")
    return ax


def plot_kinds(seed: int) -> Figure:
    """Plot the first two features of 400 points of one population of each kind."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 13), layout="constrained")
    for place, (kind, ax) in enumerate(zip(KINDS, figure.subplots(4, 4).flat, strict=True)):
        rng = np.random.default_rng([seed, place])
        population = draw_population(rng, kind)
        X, y = population.sample(400, rng)
        ax.scatter(X[:, 0], X[:, 1], s=6, c=[COLOURS[code] for code in y])
        ax.set_title(
            f"{kind}: d={population.dim}, c={population.n_classes}, least {population.least_error:.2f}", size=9
        )
        ax.set_xlabel("feature 1")
        ax.set_ylabel("feature 2")
    return figure


def table_rows(errors: pd.DataFrame) -> list[list[str]]:
    """Return quantiles of the errors by kind and rule, and how far apart the rules are."""
    names = list(rules())
    rows = []
    for kind, part in errors.groupby("kind", sort=False):
        apart = part[names].max(axis=1) - part[names].min(axis=1)
        for name in ["least_error", *names]:
            quantiles = [f"{value:.3f}" for value in part[name].quantile(QUANTILES)]
            rows.append(
                [str(kind), "least error" if name == "least_error" else name, *quantiles, f"{apart.mean():.3f}"]
            )
    return rows


def main(n_populations: int, seed: int, folder: Path = FOLDER) -> None:
    """Draw, train, and write the table and both figures."""
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    errors = true_errors(n_populations, seed)
    write_table(
        "learn/spread",
        "True errors in simulated populations",
        ["kind", "rule", *[f"quantile {q}" for q in QUANTILES], "rules apart"],
        table_rows(errors),
        [
            f"{n_populations} populations of each kind, one training set of 20 to 500 points each, errors on {N_TEST} "
            "new points. Least error: of the best classifier of the structure, with label noise. Rules apart: mean of "
            "the largest minus the smallest of the three errors.",
        ],
    )
    figure = Figure(figsize=(8, 8), layout="constrained")
    plot_errors(errors, figure.subplots())
    figure.savefig(folder / "spread.png", dpi=80)
    plot_kinds(seed).savefig(folder / "kinds.png", dpi=70)


if __name__ == "__main__":
    matplotlib.use("Agg")
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
