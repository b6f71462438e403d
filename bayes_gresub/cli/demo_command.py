"""`bayes-gresub demo`: every estimator on data that come with scikit-learn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayes_gresub.cli import console
from bayes_gresub.cli.files import FIGURES, check_output


def demo(
    plot: Annotated[Path, typer.Option(help="Where to write the figure.")] = Path("demo.png"),
    size: Annotated[int, typer.Option(min=20, max=400, help="Training points drawn from the data set.")] = 60,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the training set and of sampled points.")] = 0,
) -> None:
    """Run every estimator on data of scikit-learn, and draw them."""
    check_output(plot, "--plot", FIGURES)
    from bayes_gresub.cli.breast_cancer import breast_cancer_demo

    console.facts(
        [
            ("Data", f"breast_cancer, {size} training points; the other {569 - size} are held out"),
            ("Classifier", "StandardScaler and RBF-SVM. The estimators see the training points only."),
        ]
    )
    result = breast_cancer_demo(size=size, seed=seed)
    truth = result.held_out
    rows = []
    for row in result.comparison.rows:
        estimate = row.estimate
        if estimate is None:
            rows.append([row.name, "failed", "", "", "", "", ""])
            continue
        how = estimate.computation
        interval, _ = row.interval(0.95)
        rows.append(
            [
                "held-out error" if estimate is truth else row.name,
                f"{estimate.value:.4f}",
                f"{interval.low:.2f}-{interval.high:.2f}" if interval else "",
                "exact" if how.exact else "?" if estimate.no_std_error else f"{estimate.std_error:.4f}",
                "" if estimate is truth else f"{estimate.value - truth.value:+.4f}",
                str(how.n_refits or ""),
                f"{row.seconds * 1e3:.0f}",
            ]
        )
    rows.append(["majority class", f"{result.comparison['resub'].majority_class_error:.4f}", "", "", "", "", ""])
    typer.echo()
    titles = ("error", "interval", "MC s.e.", "off by", "fits", "ms")
    console.table([("estimator", "left"), *((title, "right") for title in titles)], rows, last=2)
    typer.echo()
    for row in result.comparison.rows:
        if row.message:
            console.note(f"{row.name}: {row.message}")
    for text in (
        "interval: of 95%, where an argument supports one. MC s.e.: Monte-Carlo standard error given the sample; ? "
        "where one random split does not tell. fits: how often the rule was trained anew.",
        "paper-...: widths and neighbours in the features as given, whose sizes differ here by a factor of 100,000.",
        "boot-...: all three share one set of resamples, whose time each row shows.",
    ):
        console.note(text)
    result.plot(plot)
    console.note(f"Figure: {plot}")
