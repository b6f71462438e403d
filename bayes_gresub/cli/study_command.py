"""`bayes-gresub study`: how good estimators are, on the paper's populations or on a table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayes_gresub.cli import console
from bayes_gresub.cli.estimate_command import (
    DEFAULT_CLASSIFIER,
    DropOption,
    PrepareOption,
    SeedOption,
    SeparatorOption,
    TargetOption,
)
from bayes_gresub.cli.files import listed

if TYPE_CHECKING:
    from bayes_gresub.cli.tables import Table
    from bayes_gresub.populations import FiniteData
    from bayes_gresub.studies import Study, StudyResults

ESTIMATORS = "resub,bolstered,semi-bolstered,3nn-pp,bolstered-3nn-pp,cv"
SIZES = (20, 40, 60, 80, 100)


def study(
    population: Annotated[
        str, typer.Argument(metavar="POPULATION", help="synthetic, mnist, digits (the paper's), or a CSV file.")
    ],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where results are kept, and a stopped study goes on.")],
    repetitions: Annotated[int, typer.Option(min=1, help="Training sets of each size.")] = 200,
    target: TargetOption = None,
    classifier: Annotated[
        str | None, typer.Option(metavar="NAMES", help="For a table: comma-separated; rbf-svm by default.")
    ] = None,
    estimators: Annotated[
        str | None, typer.Option(metavar="NAMES", help=f"For a table: comma-separated; {ESTIMATORS} by default.")
    ] = None,
    sizes: Annotated[
        str | None, typer.Option(metavar="NUMBERS", help="For a table: rows to train on, such as 20,40,60.")
    ] = None,
    prepare: PrepareOption = False,
    drop: DropOption = None,
    separator: SeparatorOption = None,
    mnist_folder: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="With the MNIST files; or the variable BAYES_GRESUB_MNIST.")
    ] = None,
    seed: SeedOption = 0,
    jobs: Annotated[int | None, typer.Option(metavar="N", help="Processes; -1 for all cores.")] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler, such as tcp://host:8786, instead.")
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Stop a task that takes longer; it counts as failed.")
    ] = None,
) -> None:
    """Compare estimates with the true error, over many training sets.

    Run the same command again to go on after an interrupt; more repetitions, classifiers, estimators or sizes are
    added to the results in the folder.

    bayes-gresub study synthetic --repetitions 200 --out runs/paper --jobs 2
    """
    table_options = {
        "--target": target,
        "--classifier": classifier,
        "--estimators": estimators,
        "--sizes": sizes,
        "--drop": drop,
        "--separator": separator,
        "--prepare": prepare,
    }
    given = [option for option, value in table_options.items() if value is not None and value is not False]
    if population in ("synthetic", "mnist", "digits"):
        if given:
            raise ValueError(
                f"{population} is the paper's experiment as it was published; {', '.join(given)} are for a table, such "
                "as a CSV file."
            )
        made = _published(population, repetitions, seed, mnist_folder)
    else:
        from bayes_gresub.cli.named_rules import make_rule
        from bayes_gresub.cli.tables import read_table
        from bayes_gresub.studies import Study

        named = listed(DEFAULT_CLASSIFIER if classifier is None else classifier)
        rules = {name: make_rule(name) for name in named}
        table = read_table(population, target, drop=drop or (), separator=separator)
        points = _population(table, prepare)
        names = listed(ESTIMATORS if estimators is None else estimators)
        made = Study(points, rules, names, _sizes(sizes, len(table)), repetitions, seed)
    _print_head(made, population)
    with _client(cluster) as client, _noted() as warned:
        results = made.run(out, n_jobs=jobs, client=client, timeout=timeout)
    _print_summary(results)
    _save(results, out)
    for text in dict.fromkeys(warned):
        console.note(f"Warning: {text}")


def _published(population: str, repetitions: int, seed: int, folder: Path | None) -> Study:
    from bayes_gresub import paper, populations

    if population == "synthetic":
        return paper.synthetic_study(repetitions, seed)
    images = populations.digits() if population == "digits" else paper.mnist(folder)
    return paper.image_study(repetitions, seed, population=images)


def _population(table: Table, prepare: bool) -> FiniteData:
    from bayes_gresub.populations import FiniteData

    X: Any = table.X
    about = [("Note", text) for text in table.notes]
    about += [("Warning", f"{text[0].upper()}{text[1:]} (--drop)") for text in table.doubts()]
    if obstacles := table.obstacles():
        if not prepare:
            raise ValueError(
                f"the columns cannot be used as they are: {'; '.join(obstacles)}. Give --prepare to impute, encode and "
                "leave out, or --drop COLUMN."
            )
        step, words = table.preparation()
        # The prepared rows are the population; its training sets and its truth are made of them alike.
        X = step.fit_transform(table.X)
        about.append(("Prepared", f"{'; '.join(words)}. The population is the prepared rows."))
    console.facts(about)
    return FiniteData(X, table.y, name=table.name)


def _sizes(text: str | None, rows: int) -> list[int]:
    if text is None:
        numbers = [n for n in SIZES if n <= rows / 2]
        if not numbers:
            raise ValueError(
                f"the table must have at least {2 * SIZES[0]} rows, half of which are kept to judge by; it has {rows}. "
                "Give --sizes."
            )
        return numbers
    try:
        numbers = [int(part) for part in listed(text)]
    except ValueError as error:
        raise ValueError(f"--sizes must be whole numbers, such as 20,40,60; got {text!r}.") from error
    if max(numbers, default=0) > rows - 2:
        raise ValueError(f"--sizes must leave at least two of the {rows} rows to judge by; got {max(numbers)}.")
    return numbers


@contextmanager
def _client(address: str | None) -> Iterator[Any]:
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise ValueError("--cluster needs dask.distributed: pip install 'bayes_gresub[cluster]'.") from error
    import logging

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=10)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise ValueError(
            f"no scheduler responds at {address}: {error}. Start one with dask scheduler, or leave --cluster out."
        ) from error
    try:
        yield client
    finally:
        client.close()  # type: ignore[no-untyped-call]


@contextmanager
def _noted() -> Iterator[list[str]]:
    """Yield a list that fills with warnings, which do not go to the screen."""
    import warnings

    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield texts
        finally:
            texts += [" ".join(str(warning.message).split()) for warning in caught if warning.category is UserWarning]


def _print_head(made: Study, population: str) -> None:
    names = {"synthetic": "the paper's Gaussian model, Bayes error 0.2", "mnist": "MNIST", "digits": "8 x 8 digits"}
    console.facts(
        [
            ("Population", names.get(population, population)),
            ("Classifiers", ", ".join(made.rules)),
            ("Sizes", ", ".join(str(n) for n in made.sample_sizes)),
            ("Tasks", f"{len(made.tasks)}: {made.repetitions} training sets a size, {len(made.estimators)} estimators"),
        ]
    )
    typer.echo()


def _print_summary(results: StudyResults) -> None:
    rms = results.summary("rms")["rms"]
    grid = results.grid
    if len(grid.rules) == 1:
        shown = rms.loc[grid.rules[0]].unstack("n")
        titles = [f"n={n}" for n in grid.sample_sizes]
        heading = f"RMS of estimate less true error, {grid.rules[0]}, by the size n of the training set"
    else:
        shown = rms.groupby(["estimator", "rule"], sort=False).mean().unstack("rule")[list(grid.rules)]
        titles = list(grid.rules)
        heading = "RMS of estimate less true error, mean over the sizes"
    rows = [[name, *(f"{value:.3f}" for value in shown.loc[name])] for name in grid.estimators]
    typer.echo(f"{heading}\n")
    console.table([("estimator", "left"), *((title, "right") for title in titles)], rows)
    typer.echo()


def _save(results: StudyResults, out: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    results.save(out)
    console.note(f"{out / 'summary.csv'}: bias, variance, RMS, coverage and their standard errors", "")
    console.note(f"{out / 'timing.csv'}: milliseconds of each estimate", "")
    console.note(f"{out / 'rms.png'}, bias, variance, true_error (.png, .svg): figures", "")
    console.note(f"In Python: bg.StudyResults.load({str(out)!r})", "")
    if len(failures := results.failures()):
        first = failures.iloc[0]
        console.note(
            f"{int(failures['count'].sum())} estimates failed, such as {first['estimator']} of {first['rule']} at "
            f"n={first['n']}: {first['message']}"
        )
    if len(table := results.warnings()):
        console.note(f"Warning in {int(table['tasks'].max())} tasks: {table.iloc[0]['message'][:200]}")
