"""`bayes-gresub demo`: the answer and every main estimator on data that come with scikit-learn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayes_gresub.cli import console
from bayes_gresub.cli.files import check_figure, check_outputs, replacing, save_figure
from bayes_gresub.cli.report import print_answer

if TYPE_CHECKING:
    from bayes_gresub.assessing import Answer
    from bayes_gresub.comparing import Comparison

_COLUMNS = ("name", "error", "interval", "fits", "ms")


def demo(
    plot: Annotated[Path, typer.Option(help="Where to write the figure.")] = Path("demo.png"),
    size: Annotated[int, typer.Option(min=20, max=400, help="Training points drawn from the data set.")] = 60,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the training set and of sampled points.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace the figure if it exists.")] = False,
) -> None:
    """Print the answer and every main estimator on data of scikit-learn, and draw them."""
    check_figure(plot, "--plot")
    check_outputs({"--plot": plot}, force=force)
    console.facts(
        [
            ("Data", f"breast_cancer, {size} training points; the other {569 - size} are held out"),
            ("Classifier", "StandardScaler and RBF-SVM. The estimators see the training points only."),
        ]
    )
    answer = assess_on_breast_cancer(size, seed)
    comparison = compare_on_breast_cancer(size, seed)
    typer.echo()
    print_answer(answer, comparison["resub"].majority_class_error, "the larger class")
    _print_table(comparison)
    typer.echo()
    for row in comparison.rows:
        if row.message:
            console.note(f"{row.name}: {row.message}")
    for text in (
        "interval: if an argument supports one. fits: how often the rule was trained again.",
        "boot-...: all three share one set of resamples, whose time each row shows.",
    ):
        console.note(text)
    title = "One RBF-SVM on breast_cancer: its error by each estimator"
    with replacing(plot, force) as beside:
        save_figure(comparison, beside, title, reference=comparison["test set"].value, answer=answer)
    console.note(f"Figure: {plot}")


def assess_on_breast_cancer(size: int = 60, seed: int = 0) -> Answer:
    """Return the answer for an RBF-SVM trained on a few points of breast_cancer, without refits.

    Examples
    --------
    >>> assess_on_breast_cancer(size=40).n_refits
    0
    """
    from bayes_gresub.assessing import assess

    rule, X, y, _, _ = _breast_cancer(size, seed)
    return assess(rule, X, y, random_state=seed)


def compare_on_breast_cancer(size: int = 60, seed: int = 0, estimators: Any = "main") -> Comparison:
    """Train an RBF-SVM on a few points of breast_cancer and compare estimators; the last row is the held-out error.

    Examples
    --------
    >>> [row.name for row in compare_on_breast_cancer(size=40, estimators=["resub", "bolstered"]).rows]
    ['resub', 'bolstered', 'test set']
    """
    from bayes_gresub.comparing import compare

    rule, X, y, X_rest, y_rest = _breast_cancer(size, seed)
    return compare(rule, X, y, estimators=estimators, test=(X_rest, y_rest), random_state=seed)


def _breast_cancer(size: int, seed: int) -> tuple[Any, Any, Any, Any, Any]:
    """Return the rule, its training points and labels, and those of the other points."""
    import numpy as np
    from sklearn.datasets import load_breast_cancer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    from bayes_gresub.data.seeds import seed_sequence

    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(seed_sequence(seed)).permutation(len(y))
    train, rest = order[:size], order[size:]
    return make_pipeline(StandardScaler(), SVC()), X[train], y[train], X[rest], y[rest]


def _print_table(comparison: Comparison) -> None:
    """Print the estimates, how far each is from the held-out error, and the numbers to compare with."""
    truth = comparison["test set"].value
    titles, *rows = comparison.text_table(_COLUMNS)
    for cells, row in zip(rows, comparison.rows, strict=True):
        cells.append("" if row.estimate is None else f"{row.estimate.value - truth:+.4f}")
    rows[-1] = ["held-out error", *rows[-1][1:-1], ""]
    majority = f"{comparison['resub'].majority_class_error:.4f}"
    rows.append(["majority class", majority, *[""] * (len(titles) - 1)])
    sides = ["left", *["right"] * len(titles)]
    console.table(zip([*titles, "off by"], sides, strict=True), rows, last=2)
