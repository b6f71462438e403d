"""The Gaussian-process estimator against cross-validation on the paper's synthetic model, by the study engine.

Takes about half an hour on two cores; interrupt it and run it again to go on: `python -m benchmarks.gp_study [jobs]`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

import bayes_gresub as bg
from bayes_gresub.paper.synthetic_experiment import SAMPLE_SIZES, rules
from bayes_gresub.studies import StudyResults
from benchmarks.tables import RESULTS, markdown

RUN = Path("runs/gp")
REPETITIONS = 200
ESTIMATORS = {"gp-pp": "Gaussian process", "3nn-pp": "3NN posterior", "resub": "resubstitution", "cv": "10-fold CV"}

TEXT = """# Gaussian-process posterior probability on the paper's synthetic model

`bg.PosteriorProbability(bg.GaussianProcess())` ("gp-pp"), the 3-nearest-neighbour posterior, resubstitution and 10-fold
cross-validation, all on the same samples: 4 rules, 5 sample sizes, {repetitions} repetitions, Bayes error 0.2, as in
[the paper's experiment](paper/README.md). Monte-Carlo standard errors in brackets.

## RMS

{rms}

Mean over the {cells} cells: {means}. Gaussian process less cross-validation: {gap:+.4f} ({gap_se:.4f}). {verdict}

## Bias per rule

Means over the sample sizes.

{bias}

## Coverage of the 95% interval

How often the interval of the Gaussian process's draws holds the true error; in brackets the exact binomial 95% interval
of that share.

{coverage}

Over all cells {covered:.3f}; the smallest is {least:.3f}. {label}
"""


def with_error(row: pd.Series, metric: str) -> str:
    return f"{row[metric]:.3f} ({row[f'{metric}_se']:.3f})"


def page(results: StudyResults) -> str:
    table = results.summary(["bias", "rms", "coverage"])
    cells = list(dict.fromkeys((rule, n) for rule, n, _ in table.index))
    names = list(dict.fromkeys(rule for rule, _ in cells))
    rms = pd.DataFrame(
        [
            {"rule": rule, "n": n}
            | {title: with_error(table.loc[(rule, n, name)], "rms") for name, title in ESTIMATORS.items()}
            for rule, n in cells
        ]
    )
    means = {name: table.xs(name, level=2)["rms"].mean() for name in ESTIMATORS}
    gaps = results.difference("gp-pp", "cv", "rms")
    gap, gap_se = float(gaps["difference"].mean()), float(np.sqrt((gaps["se"] ** 2).sum()) / len(gaps))
    bias = []
    for rule in names:
        row = {"rule": rule}
        for name, title in ESTIMATORS.items():
            chosen = table.loc[rule].xs(name, level=1)
            error = np.sqrt((chosen["bias_se"] ** 2).sum()) / len(chosen)
            row[title] = f"{chosen['bias'].mean():+.3f} ({error:.3f})"
        bias.append(row)
    process = table.xs("gp-pp", level=2)
    coverage = pd.DataFrame(
        [
            {"rule": rule}
            | {
                f"n = {n}": "{coverage:.2f} ({coverage_low:.2f} to {coverage_high:.2f})".format(
                    **process.loc[(rule, n)]
                )
                for n in dict.fromkeys(n for _, n in cells)
            }
            for rule in names
        ]
    )
    covered, least = float(process["coverage"].mean()), float(process["coverage"].min())
    return TEXT.format(
        repetitions=REPETITIONS,
        rms=markdown(rms),
        cells=len(cells),
        means=", ".join(f"{ESTIMATORS[name]} {value:.4f}" for name, value in means.items()),
        gap=gap,
        gap_se=gap_se,
        verdict="It is to be below 0: " + ("it is." if gap < 0 else "it is not."),
        bias=markdown(pd.DataFrame(bias)),
        coverage=markdown(coverage),
        covered=covered,
        least=least,
        label='Intervals are called "in-sample" unless it is 0.90 or more: they are.'
        if covered < 0.9
        else "It is 0.90 or more.",
    )


def main(jobs: int = 2) -> None:
    population = bg.datasets.PaperGaussian(bayes_error=0.2)
    study = bg.Study(population, rules(), list(ESTIMATORS), SAMPLE_SIZES, REPETITIONS, seed=7)
    results = study.run(RUN, n_jobs=jobs)
    text = page(results)
    (RESULTS / "gp_study.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
