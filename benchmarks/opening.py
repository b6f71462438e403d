"""The figure on top of README: RMS and coverage of every estimator on real data, beside the paper's model.

Usage: `python -m benchmarks.opening COMBINATION [REPETITIONS] [WORKERS]`. It reads the tables of `make real` and
`make headline`, and runs the answers of `assess` on the data sets of the latter with the combination in this file,
which must not have been trained on Gaussian kinds (`make combine` writes it as without-unseen.npz).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib
import numpy as np
import pandas as pd
from sklearn.svm import SVC

import bayes_gresub as bg
from bayes_gresub.plots.palette import BLUE, GREY, ORANGE
from benchmarks.headline import NAMES, PAGE, REPETITIONS, RULE, SIZE
from benchmarks.real_data.page import overall_table
from benchmarks.real_data.plan import answers
from benchmarks.real_data.scores import mean_over_cells
from benchmarks.tables import RESULTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

matplotlib.use("Agg")

RUN = Path("runs/opening")
ANSWERS = PAGE / "answers.csv"
PANELS = {"real": "14 real data sets, 13 rules,\nn = 30 to 120", "model": "the paper's model,\nn = 60, RBF-SVM"}
LABELS = {"assess": "assess", "assess-10": "assess, refits=10"}


def main(combination: str, repetitions: int = REPETITIONS, n_jobs: int = 2) -> None:
    """Run the answers on the paper's model, and draw the figure."""
    population = bg.datasets.PaperGaussian(bayes_error=0.2)
    study = bg.Study(population, {RULE: SVC()}, answers(combination), [SIZE], repetitions)
    results = study.run(RUN, n_jobs=n_jobs, progress=False)
    summary = results.summary(["bias", "variance", "rms", "coverage", "width"]).loc[RULE, SIZE]
    summary.to_csv(ANSWERS, float_format="%.5g")
    axes = draw(opening_table())
    for ending in ("svg", "png"):
        axes.figure.savefig(RESULTS / f"opening.{ending}", dpi=130)


def opening_table() -> pd.DataFrame:
    """Return RMS, its standard error and the coverage of the headline's estimators, real data and model apart.

    Estimators that take too long for the real data sets have no row.
    """
    cells = pd.read_csv(RESULTS / "real.csv.gz")
    overall = overall_table(cells)
    coverage = {
        name: mean_over_cells(rows["coverage_without_noise"], rows["group"]).value
        for name, rows in cells.groupby("estimator")
    }
    model = pd.concat([pd.read_csv(PAGE / "summary.csv"), pd.read_csv(ANSWERS)]).set_index("estimator")
    rows = []
    for name in [name for name in (*answers(), *NAMES) if name in overall.index]:
        row = {"estimator": name, "model_rms": model.at[name, "rms"], "model_rms_se": model.at[name, "rms_se"]}
        row["model_coverage"] = model.at[name, "coverage"]
        row |= {"real_rms": overall.at[name, "rms"], "real_rms_se": overall.at[name, "rms_se"]}
        row |= {"real_coverage": coverage[name], "time": overall.at[name, "time_cv"]}
        rows.append(row)
    table = pd.DataFrame(rows).set_index("estimator")
    table["refits"] = overall["refits"][table.index]
    return table.sort_values("real_rms")


def draw(table: pd.DataFrame) -> Axes:
    """Draw a row per estimator with its RMS on real data and on the model, and its numbers."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9.6, 0.9 + 0.34 * len(table)), sharey=True, sharex=True)
    figure.subplots_adjust(left=0.17, right=0.66, top=0.83, bottom=0.12, wspace=0.08)
    for ax, (panel, title) in zip(axes, PANELS.items(), strict=True):
        for row, (name, line) in enumerate(table.iterrows()):
            color = ORANGE if line["refits"] else BLUE
            marker = "D" if name in LABELS else "o"
            bar = 2 * np.nan_to_num(line[f"{panel}_rms_se"])
            ax.errorbar(line[f"{panel}_rms"], row, xerr=bar, fmt=marker, color=color, markersize=5)
        ax.set_title(title, fontsize=10)
        ax.set_xlim(0, None)
        ax.set_xlabel("RMS of estimate less true error", fontsize=9)
        ax.grid(axis="x", color="#dddddd")
        ax.set_axisbelow(True)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
    names = [LABELS.get(str(name), str(name)) for name in table.index]
    axes[0].set_yticks(range(len(table)), names, fontsize=9)
    for label in axes[0].get_yticklabels():
        label.set_fontweight("bold" if label.get_text() in LABELS.values() else "normal")
    axes[0].set_ylim(len(table) - 0.4, -0.6)
    columns = {
        "95% intervals\nhold, real": (1.42, [_percent(value) for value in table["real_coverage"]]),
        "same,\nmodel": (1.70, [_percent(value) for value in table["model_coverage"]]),
        "time /\nCV's, real": (1.98, [_rounded(value) for value in table["time"]]),
    }
    for title, (place, cells) in columns.items():
        across = {"transform": axes[1].get_yaxis_transform(), "ha": "right"}
        axes[1].text(place, -0.9, title, fontsize=8.5, color=GREY, **across)
        for row, cell in enumerate(cells):
            color = GREY if cell == "none" else "black"
            axes[1].text(place, row, cell, va="center", fontsize=9, color=color, **across)
    figure.suptitle("blue: no refits, orange: refits; bars: two standard errors", x=0.02, ha="left", fontsize=9)
    return axes[0]


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%" if np.isfinite(share) else "none"


def _rounded(number: float) -> str:
    if not np.isfinite(number):
        return ""
    return f"{number:.2f}" if number < 1 else f"{number:.1f}" if number < 10 else f"{number:.0f}"


if __name__ == "__main__":
    main(sys.argv[1], *(int(argument) for argument in sys.argv[2:]))
