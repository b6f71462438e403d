"""The paper's MNIST experiment with LeNet-5, run as far as wanted, and the page with the claims that it bears out.

Takes about 80 minutes for 30 repetitions on two cores; interrupt it and run it again to go on:
`python -m benchmarks.mnist FOLDER [repetitions] [jobs]`, FOLDER having the MNIST files. More repetitions are added to
those that are done, whose records are kept beside the page. Without a folder, or with a dash, the page is written from
what is done.
"""

from __future__ import annotations

import sys

import matplotlib
import numpy as np
import pandas as pd

import bayes_gresub as bg
from bayes_gresub.paper.claim_tests import to_frame
from bayes_gresub.paper.image_claims import image_claims
from bayes_gresub.paper.image_experiment import HOLD_OUT, with_hold_out
from bayes_gresub.plots import plot_images
from bayes_gresub.studies import StudyResults
from benchmarks.tables import RESULTS, markdown

matplotlib.use("Agg")

PAGE = RESULTS / "mnist"
RUN = PAGE / "run"  # kept with the page: what took hours is not run twice
SHOWN = ("standard_resub", "NB_bolster", "11NNpp", "NB_bolster-11NNpp", "NB_bolster-11NNpp (integrated)")
CALIBRATED = ("standard_resub", "NB_bolster", *HOLD_OUT.values())
FIGURES = ("bias", "variance", "rms")

HEAD = """# The paper's MNIST experiment, rerun

LeNet-5 trained on random subsets of MNIST's 60,000 training images, the others being the truth: {sizes} images,
{repetitions} (the paper has 200), all from `bg.paper.image_study()`; `make mnist` runs it anew. The
numbers of this page are generated from that run.

Where the paper is silent we chose: tanh and average pooling, stochastic gradient descent with a rate of 0.1, initial
weights of Glorot & Bengio, grey values standardised by their overall mean and deviation inside the network, the last
weights kept; widths as printed but to the nearest *different* grey value, since equal ones, at distance 0, make nearly
all widths 0; no clipping. Integrals use 16 Monte-Carlo images for each training image, and more until the standard
error is 0.002 (the paper: 100). Kappa is looked for on the paper's grid by bisection, with 16 images and splits that
keep the class proportions. {failures}

## Mean errors

{means}

## What the paper claims

Every sentence is tested at every sample size with paired z-scores, since all estimators see the same samples
(successive sizes are compared unpaired); where several rivals are named, a size has the z-score against the strongest.
A size is for the claim at z >= 2, against it at z <= -2 (further where there are several rivals: Bonferroni), else
open. Where a bias is near 0, |bias| is not normal: read such rows with care. "As printed" is the product form of the
bolstered posterior-probability estimator, "integrated" the one that is a measure.

{claims}

## Figures

Bias, variance and RMS of the deviation (bars: two Monte-Carlo standard errors), first without calibration:

![bias](bias.svg)
![variance](variance.svg)
![RMS](rms.svg)

Calibrated, with the mean of the calibration's own held-out errors beside it, which needs no kernels at all:

![calibrated, bias](bias-calibrated.svg)
![calibrated, variance](variance-calibrated.svg)
![calibrated, RMS](rms-calibrated.svg)

Monte-Carlo images at kappa = 0, 1 and kappa* = {kappa:g}, found with r = 1 from 600 images:

![images](images.png)

## All numbers

{table}

Standard errors in brackets; more metrics are in [summary.csv](summary.csv).

## Kappa and time

{kappas}

Seconds of one thread, of machines that did other work at times.
"""


def main(folder: str | None, repetitions: int, n_jobs: int) -> None:
    """Run the missing tasks and write the page."""
    study = bg.paper.image_study(repetitions, folder=folder)
    results = study.run(RUN, n_jobs=n_jobs, progress=True)
    draw_images(study.population)
    write_page(results)


def draw_images(population: bg.datasets.Population) -> None:
    """Draw Monte-Carlo images as the paper does, about images of the first sample of 600."""
    X, y = population.sample(600, random_state=0)
    calibrated = bg.Calibrated(
        bg.Bolstered(bg.DiagonalGaussian(standardize=None), n_points=16), repeats=1, search="bisection", random_state=0
    )
    calibrated.error(bg.paper.LeNet5(), X, y)
    rows = [int(np.flatnonzero(y == digit)[0]) for digit in range(10)]
    images = bg.paper.noisy_images(X, y, rows, [0.0, 1.0, calibrated.kappa_], random_state=0)
    PAGE.mkdir(parents=True, exist_ok=True)
    figure = plot_images(images, ["κ = 0", "κ = 1", f"κ* = {calibrated.kappa_:g}"])
    figure.savefig(PAGE / "images.png", dpi=80)
    (PAGE / "kappa.txt").write_text(f"{calibrated.kappa_:g}\n", encoding="utf-8")


def write_page(plain: StudyResults) -> None:
    """Write tables, figures and the page."""
    import matplotlib.pyplot as plt

    results = with_hold_out(plain)
    PAGE.mkdir(parents=True, exist_ok=True)
    summary = results.summary()
    summary.to_csv(PAGE / "summary.csv", float_format="%.5g")
    claims = to_frame(image_claims(plain))
    claims.round(2).to_csv(PAGE / "claims.csv", index=False)
    for quantity in FIGURES:
        for ending, names in (("", SHOWN), ("-calibrated", (*CALIBRATED, *HOLD_OUT))):
            figure = results.plot(quantity, estimators=list(names))
            for kind in ("svg", "png"):
                figure.savefig(PAGE / f"{quantity}{ending}.{kind}", dpi=80)
            plt.close(figure)
    shown = claims.drop(columns=["cells_against"]).round({"z_min": 1, "z_median": 1, "z_max": 1})
    page = HEAD.format(
        sizes=", ".join(str(n) for n in results.grid.sample_sizes),
        repetitions=_repetitions(plain),
        failures=_failures(plain),
        means=markdown(_means(summary)),
        claims=markdown(shown),
        kappa=float((PAGE / "kappa.txt").read_text(encoding="utf-8")),
        table=markdown(_table(summary)),
        kappas=markdown(_kappas(plain)),
    )
    (PAGE / "README.md").write_text(page, encoding="utf-8")
    print(claims.drop(columns=["cells_against", "claim"]).to_string())


def _repetitions(results: StudyResults) -> str:
    wanted = results.grid.repetitions
    done = min(sum(task.n == n for task in results.records) for n in results.grid.sample_sizes)
    return f"{wanted} repetitions each" if done == wanted else f"{done} repetitions each so far, of {wanted}"


def _failures(results: StudyResults) -> str:
    warned = sum("failed to learn" in message for record in results.records.values() for message in record["warnings"])
    return f"Training failed to learn, restarts included, in {warned} of {len(results.records)} tasks."


def _means(summary: pd.DataFrame) -> pd.DataFrame:
    first = summary.xs("standard_resub", level="estimator")
    rows = []
    for (_, n), row in first.iterrows():
        truth = f"{row['true_mean']:.3f} ({row['true_mean_se']:.3f})"
        rows.append({"n": n, "repetitions": int(row["repetitions"]), "mean true error": truth})
    return pd.DataFrame(rows)


def _table(summary: pd.DataFrame) -> pd.DataFrame:
    rows = []
    for (_, n, estimator), row in summary.iterrows():
        rows.append(
            {
                "n": n,
                "estimator": estimator,
                "bias": f"{row['bias']:+.3f} ({row['bias_se']:.3f})",
                "deviation": f"{np.sqrt(row['variance']):.3f}",
                "RMS": f"{row['rms']:.3f} ({row['rms_se']:.3f})",
            }
        )
    return pd.DataFrame(rows)


def _kappas(results: StudyResults) -> pd.DataFrame:
    rows = []
    for n in results.grid.sample_sizes:
        records = [record for task, record in results.records.items() if task.n == n]
        for name in HOLD_OUT.values():
            kappas = [record["rows"][name]["details"]["kappa"] for record in records]
            seconds = [record["rows"][name]["seconds"] for record in records]
            rows.append(
                {
                    "n": n,
                    "estimator": name,
                    "kappa, median": f"{np.median(kappas):.1f}",
                    "kappa, 10% to 90%": " to ".join(f"{q:.1f}" for q in np.quantile(kappas, [0.1, 0.9])),
                    "seconds, median": f"{np.median(seconds):.0f}",
                    "of which one fit": f"{np.median([record['fit_seconds'] for record in records]):.1f}",
                }
            )
    return pd.DataFrame(rows)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if not arguments or arguments[0] == "-":
        write_page(StudyResults.load(RUN))
    else:
        main(arguments[0], *(int(arguments[k]) if len(arguments) > k else default for k, default in ((1, 30), (2, 2))))
