"""The command line: parsing and printing only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="How wrong will a classifier be? Estimates from its training data alone, without retraining it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line."""
    app()


@app.command("list")
def list_estimators() -> None:
    """Name every estimator, with one line on when to use it."""
    from rich.console import Console
    from rich.table import Table

    from bayes_gresub.registry import estimators

    table = Table(box=None, pad_edge=False)
    for title in ("name", "kind", "what it is"):
        table.add_column(title)
    for entry in estimators():
        table.add_row(entry.name, entry.kind, entry.summary)
    Console().print(table)


@app.command()
def demo(
    plot: Annotated[Path, typer.Option(help="Where to write the figure.")] = Path("demo.png"),
    size: Annotated[int, typer.Option(min=20, max=400, help="Training points drawn from the data set.")] = 60,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the training set and of sampled points.")] = 0,
) -> None:
    """Estimate one classifier's error with every estimator, on data that come with scikit-learn."""
    from rich.console import Console
    from rich.table import Table

    from bayes_gresub.demo import breast_cancer_demo

    if plot.suffix not in (".png", ".svg", ".pdf") or not plot.absolute().parent.is_dir():
        raise typer.BadParameter(
            f"{plot} must end in .png, .svg or .pdf and lie in a folder that exists.", param_hint="--plot"
        )
    result = breast_cancer_demo(size=size, seed=seed)
    console = Console()
    console.print(f"Data: breast_cancer, {size} training points, {result.n_held_out} held out.")
    console.print("Classifier: StandardScaler and RBF-SVM. The estimators see the training points only.\n")
    table = Table(box=None, pad_edge=False)
    table.add_column("estimator", no_wrap=True)
    for title in ("error", "interval", "MC s.e.", "off by", "fits", "ms"):
        table.add_column(title, justify="right", no_wrap=True)
    truth = result.held_out
    for row in result.comparison.rows:
        estimate = row.estimate
        if estimate is None:
            table.add_row(row.name, "failed", "", "", "", "", "")
            continue
        if estimate is truth:
            table.add_section()
        how = estimate.computation
        interval, _ = row.interval(0.95)
        table.add_row(
            "held-out error" if estimate is truth else row.name,
            f"{estimate.value:.4f}",
            f"{interval.low:.2f}-{interval.high:.2f}" if interval else "",
            "exact" if how.exact else "?" if estimate.no_std_error else f"{estimate.std_error:.4f}",
            "" if estimate is truth else f"{estimate.value - truth.value:+.4f}",
            str(how.n_refits or ""),
            f"{row.seconds * 1e3:.0f}",
        )
    table.add_row("majority class", f"{result.comparison['resub'].majority_class_error:.4f}", "", "", "", "", "")
    console.print(table)
    for row in result.comparison.rows:
        if row.message:
            console.print(f"{row.name}: {row.message}", markup=False)
    console.print(
        "\ninterval: of 95%, where an argument supports one. MC s.e.: Monte-Carlo standard error given the sample; "
        "'?' where one random split does not tell. fits: how often the rule was trained anew."
    )
    console.print(
        "paper-...: widths and neighbours in the features as given, whose sizes differ here by a factor of 100,000."
    )
    console.print("boot-...: all three share one set of resamples, whose time each row shows.")
    result.plot(plot)
    console.print(f"Figure: {plot}", markup=False, highlight=False)
