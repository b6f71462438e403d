"""The figure on top of README: how far each estimator is from the true error, and where all of them fail.

The paper's model, 60 points, RBF-SVM, 1,000 data sets: about half an hour on two cores; interrupt it and run it again
to go on: `python -m benchmarks.headline [repetitions] [jobs]`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import joblib
import matplotlib
import numpy as np
import pandas as pd
from scipy.stats import gaussian_kde
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import bayes_gresub as bg
from bayes_gresub.measures.measure import Measure
from bayes_gresub.plots.palette import BLUE, GREEN, GREY, ORANGE
from benchmarks.tables import RESULTS, markdown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

matplotlib.use("Agg")

RUN, PAGE = Path("runs/headline"), RESULTS / "headline"
RULE, SIZE, REPETITIONS = "RBF-SVM", 60, 1000
NAMES = (
    "resub",
    "bolstered",
    "3nn-pp",
    "bolstered-3nn-pp",
    "gp-pp",
    "bayesian",
    "calibrated-bolstered",
    "cv",
    "nested-cv",
    "boot-632",
    "boot-632+",
)
WHOLE = "cv of the whole pipeline"
N_NOISE, N_KEPT, NOISE_REPETITIONS = 2000, 12, 100
TIMED = 20

TEXT = """# Every estimator beside the truth

The paper's model (10 features, Bayes error 0.2), {size} points, {rule} with scikit-learn's defaults, {repetitions} data
sets; `python -m benchmarks.headline` runs it anew. All estimators see the same data sets; the truth is the error of
the classifier at hand. Deviation: estimate less true error. Monte-Carlo standard errors in brackets; for the coverage
of 95% intervals the exact binomial 95% interval. Milliseconds: processor time of one core, median over {timed} data
sets, fits of the rule included; {rule} itself takes {fit_ms:.1f}.

![figure](headline.svg)

{table}

## Where they all fail

{noise_repetitions} data sets of {size} points and {n_noise} features of pure noise; the best {n_kept} features are kept
by F test, and the estimators see those only. The truth is 0.5 whatever the classifier. No estimator sees a choice that
was made before the data were handed over, whether it refits the classifier or not; with the selection inside the rule,
cross-validation refits it too and is right.

{noise}
"""


def main(repetitions: int = REPETITIONS, n_jobs: int = 2) -> None:
    """Run the missing tasks and write figure, tables and page."""
    population = bg.datasets.PaperGaussian(bayes_error=0.2)
    study = bg.Study(population, {RULE: SVC()}, list(NAMES), [SIZE], repetitions)
    results = study.run(RUN, n_jobs=n_jobs, progress=True)
    noise = noise_features(n_jobs)
    with threadpool_limits(1):
        milliseconds = times(population)
    write_page(results, noise, milliseconds)


def noise_features(n_jobs: int) -> pd.DataFrame:
    """Return every estimate after selection, a row a data set; kept beside the study's records."""
    path = RUN / "noise.csv"
    if not path.exists():
        rows = joblib.Parallel(n_jobs)(joblib.delayed(after_selection)(k) for k in range(NOISE_REPETITIONS))
        pd.DataFrame(rows).to_csv(path, index=False)
    return pd.read_csv(path)


def after_selection(repetition: int) -> dict[str, float]:
    """Return every estimate of a rule on the best of many noise features; the truth is 0.5."""
    rng = np.random.default_rng(repetition)
    X, y = rng.standard_normal((SIZE, N_NOISE)), rng.permutation(np.arange(SIZE) % 2)
    best = SelectKBest(k=N_KEPT).fit_transform(X, y)
    table = bg.compare(SVC(), best, y, list(NAMES), random_state=repetition, progress=False)
    whole = make_pipeline(SelectKBest(k=N_KEPT), SVC())
    honest = bg.CrossValidation(10, random_state=repetition).error(whole, X, y)
    return {name: table[name].value for name in NAMES} | {WHOLE: honest.value}


def times(population: bg.datasets.Population) -> pd.Series:
    """Return the milliseconds of processor time of every estimator, and of one fit of the rule."""
    rows = []
    for number in range(TIMED + 1):
        X, y = population.sample(SIZE, random_state=number)
        row = {}
        started = process_time()
        classifier = SVC().fit(X, y)
        row[RULE] = process_time() - started
        for name in NAMES:
            estimator: Any = bg.make_estimator(name, random_state=0)
            started = process_time()
            if isinstance(estimator, Measure):
                estimator.fit(X, y).error(classifier)
            else:
                estimator.error(SVC(), X, y)
            row[name] = process_time() - started
        rows.append(row)
    # The first one also loads libraries.
    return 1e3 * pd.DataFrame(rows[1:]).median()


def write_page(results: bg.StudyResults, noise: pd.DataFrame, milliseconds: pd.Series) -> None:
    """Write the tables, the figure and the page."""
    summary = results.summary(["bias", "variance", "rms", "correlation", "coverage", "width"]).loc[RULE, SIZE]
    records = list(results.records.values())
    summary["refits"] = [
        int(np.median([record["rows"][name]["n_refits"] for record in records])) for name in summary.index
    ]
    summary["milliseconds"] = milliseconds[summary.index]
    PAGE.mkdir(parents=True, exist_ok=True)
    summary.to_csv(PAGE / "summary.csv", float_format="%.5g")
    noise.describe().loc[["mean", "std"]].T.to_csv(PAGE / "noise.csv", float_format="%.4g")
    deviations = {name: _deviations(results, name) for name in NAMES}
    draw(summary, deviations, noise, len(records))
    page = TEXT.format(
        size=SIZE,
        rule=RULE,
        repetitions=len(records),
        timed=TIMED,
        fit_ms=milliseconds[RULE],
        table=markdown(_table(summary)),
        noise_repetitions=len(noise),
        n_noise=N_NOISE,
        n_kept=N_KEPT,
        noise=markdown(_noise_table(noise)),
    )
    (PAGE / "README.md").write_text(page, encoding="utf-8")
    print(page)


def draw(summary: pd.DataFrame, deviations: dict[str, np.ndarray], noise: pd.DataFrame, repetitions: int) -> None:
    """Draw a row per estimator with the density of its deviation and its numbers; below, the noise features."""
    import matplotlib.pyplot as plt

    figure, (top, below) = plt.subplots(
        2, 1, figsize=(9.6, 7.4), height_ratios=[len(NAMES), 2.4], gridspec_kw={"hspace": 0.42}
    )
    figure.subplots_adjust(left=0.19, right=0.60, top=0.88, bottom=0.09)
    columns = {"RMS": 1.11, "95% coverage": 1.39, "correlation": 1.62, "refits": 1.80, "ms": 1.95}
    for row, name in enumerate(NAMES):
        line = summary.loc[name]
        color = ORANGE if line["refits"] else BLUE
        _ridge(top, deviations[name], row, color)
        coverage = f"{100 * line['coverage']:.0f}%" if np.isfinite(line["coverage"]) else "no interval"
        cells = (f"{line['rms']:.3f}", coverage, f"{line['correlation']:.2f}", f"{line['refits']:.0f}")
        for place, cell in zip(columns.values(), (*cells, _rounded(line["milliseconds"])), strict=True):
            faint = cell == "no interval"
            top.text(
                place,
                row,
                cell,
                transform=top.get_yaxis_transform(),
                ha="right",
                va="center",
                fontsize=9,
                color=GREY if faint else "black",
            )
    for title, place in columns.items():
        top.text(place, -1.0, title, transform=top.get_yaxis_transform(), ha="right", fontsize=9, color=GREY)
    _finish(top, list(NAMES), (-0.32, 0.22))
    top.set_xlabel("estimate less true error")
    top.set_ylim(len(NAMES) - 0.5, -0.85)
    figure.suptitle(
        f"How far is each estimate from the true error of the classifier? {repetitions:,} data sets\n"
        f"(paper's model, n = {SIZE}, {RULE}; blue: no refits, orange: refits)",
        fontsize=11,
        x=0.02,
        ha="left",
    )
    fooled = noise[list(NAMES)].to_numpy().ravel() - 0.5
    _ridge(below, fooled, 0, GREY)
    _ridge(below, noise[WHOLE].to_numpy() - 0.5, 1, GREEN)
    titles = {0: "all of the above,\nafter the selection", 1: "cross-validation of\nthe whole pipeline"}
    _finish(below, list(titles.values()), (-0.56, 0.22))
    below.set_ylim(1.5, -0.85)
    below.set_title(
        f"Best {N_KEPT} of {N_NOISE} noise features kept first: who was not told of it is fooled",
        fontsize=10,
        loc="left",
    )
    for row, values in enumerate((fooled, noise[WHOLE].to_numpy() - 0.5)):
        rms = f"RMS {np.sqrt((values**2).mean()):.3f}"
        below.text(1.10, row, rms, transform=below.get_yaxis_transform(), ha="left", va="center", fontsize=9)
    below.set_xlabel("estimate less true error")
    for ending in ("svg", "png"):
        figure.savefig(PAGE / f"headline.{ending}", dpi=130)
    plt.close(figure)


def _ridge(ax: Axes, values: np.ndarray, row: int, color: str) -> None:
    """Draw a density above the row's line, with the mean as a dot."""
    reach = np.linspace(values.min() - 0.05, values.max() + 0.05, 300)
    density = gaussian_kde(values)(reach)
    ax.fill_between(reach, row + 0.3, row + 0.3 - 0.95 * density / density.max(), color=color, alpha=0.35, linewidth=0)
    ax.plot(reach, row + 0.3 - 0.95 * density / density.max(), color=color, linewidth=1)
    ax.plot(values.mean(), row + 0.3, "o", color=color, markersize=4, clip_on=False)


def _finish(ax: Axes, names: list[str], limits: tuple[float, float]) -> None:
    ax.axvline(0, color="black", linewidth=0.9, zorder=0)
    ax.set_yticks(range(len(names)), names, fontsize=9)
    ax.tick_params(axis="y", length=0)
    ax.set_xlim(limits)
    ax.grid(axis="x", color="#dddddd")
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)


def _rounded(number: float) -> str:
    return f"{number:.1f}" if number < 10 else f"{number:.0f}"


def _deviations(results: bg.StudyResults, name: str) -> np.ndarray:
    data = results.repetitions(RULE, SIZE, name)
    return np.asarray(data.deviation[data.is_known])


def _table(summary: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for name, line in summary.iterrows():
        coverage = "no interval"
        if np.isfinite(line["coverage"]):
            ends = f"{line['coverage_low']:.3f} to {line['coverage_high']:.3f}"
            coverage = f"{line['coverage']:.3f} ({ends})"
        rows.append(
            {
                "estimator": name,
                "bias": f"{line['bias']:+.4f} ({line['bias_se']:.4f})",
                "deviation": f"{np.sqrt(line['variance']):.4f}",
                "RMS": f"{line['rms']:.4f} ({line['rms_se']:.4f})",
                "95% coverage": coverage,
                "correlation": f"{line['correlation']:.2f} ({line['correlation_se']:.2f})",
                "refits": int(line["refits"]),
                "ms": _rounded(line["milliseconds"]),
            }
        )
    return pd.DataFrame(rows)


def _noise_table(noise: pd.DataFrame) -> pd.DataFrame:
    rows = [
        {
            "estimator": name,
            "mean": f"{noise[name].mean():.3f} ({noise[name].std() / np.sqrt(len(noise)):.3f})",
            "standard deviation": f"{noise[name].std():.3f}",
        }
        for name in noise.columns
    ]
    return pd.DataFrame(rows)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
