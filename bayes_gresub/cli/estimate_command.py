"""`bayes-gresub estimate`: a table, a classifier, and estimates of its error."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayes_gresub.cli import console
from bayes_gresub.cli.files import check_figure, check_outputs, listed, replacing, save_figure
from bayes_gresub.cli.report import as_json, print_answer, print_table

if TYPE_CHECKING:
    from bayes_gresub.assessing import Answer
    from bayes_gresub.cli.tables import Table
    from bayes_gresub.comparing import Comparison

DataArgument = Annotated[
    str, typer.Argument(metavar="DATA", help="A CSV or parquet file, or iris, wine, breast_cancer, digits.")
]
TargetOption = Annotated[str | None, typer.Option(metavar="COLUMN", help="The column with the labels.")]
DropOption = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="A column that is no feature; may be given several times.")
]
SeparatorOption = Annotated[str | None, typer.Option(metavar="MARK", help="Between values of a CSV file.")]
PrepareOption = Annotated[
    bool,
    typer.Option(
        "--prepare", help="Impute missing numbers, encode text columns, leave out empty and constant columns."
    ),
]
SeedOption = Annotated[int, typer.Option(min=0, help="Seed of all random numbers.")]
JobsOption = Annotated[int | None, typer.Option(metavar="N", help="Processes for refits; -1 for all cores.")]

DEFAULT_CLASSIFIER = "rbf-svm"
DEFAULT_REFITS = 10


def estimate(
    data: DataArgument,
    target: TargetOption = None,
    classifier: Annotated[
        str | None, typer.Option(metavar="NAME", help="See list --classifiers; rbf-svm by default.")
    ] = None,
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A model trained on these data, saved with skops, instead.")
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Load a model file that can run code: pickle, joblib, unknown types.")
    ] = False,
    estimators: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Comma-separated (see list), or main, or all; six by default."),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A file with rows that nothing has seen, with the same columns."),
    ] = None,
    refits: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Refits for the answer; 10 by default, none with --model."),
    ] = None,
    prepare: PrepareOption = False,
    drop: DropOption = None,
    groups: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Rows with the same value here stay together in refits; no feature."),
    ] = None,
    separator: SeparatorOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = None,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write everything as JSON.")] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the table as CSV.")] = None,
    netcdf: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the posterior of the error for ArviZ.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the table: .png, .svg or .pdf.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace output files that exist.")] = False,
) -> None:
    """Estimate the error of a classifier from its own data.

    bayes-gresub estimate flowers.csv --target species --classifier lda
    """
    outputs = {"--json": json, "--csv": csv, "--netcdf": netcdf, "--plot": plot}
    check_figure(plot, "--plot")
    check_outputs(outputs, {"the data file": Path(data), "the model file": model}, force)
    if model is not None and (classifier is not None or prepare):
        raise ValueError("--model brings its own classifier and preparation. Leave --classifier and --prepare out.")
    from bayes_gresub.cli.estimator_choice import check_draws, check_folds, default_estimators
    from bayes_gresub.cli.tables import read_table
    from bayes_gresub.comparing.compare import read_estimators
    from bayes_gresub.data.validation import check_settings

    named = None if estimators is None else _estimators(estimators)
    if named is not None:
        read_estimators(named)
    table = read_table(data, target, drop=drop or (), separator=separator, groups=groups)
    names, left_out = (named, []) if named is not None else default_estimators(table)
    if netcdf is not None:
        check_draws(names)
        _check_netcdf()
    held_out = None if test is None else _held_out(test, target, table, drop, separator, groups)
    n_refits = (DEFAULT_REFITS if model is None else 0) if refits is None else refits
    name = DEFAULT_CLASSIFIER if classifier is None else classifier
    if model is None:
        rule, X, about = named_classifier(table, name, prepare)
    else:
        rule, X, about = _model(table, model, trust)
        if held_out is not None:
            from bayes_gresub.cli.model_files import columns_for

            held_out = columns_for(rule, *held_out)[0], held_out[1]
    # Files are written even if nobody reads what is printed, as behind `| head -1`.
    unread = suppress(BrokenPipeError) if any(outputs.values()) else nullcontext()
    with unread:
        _print_head(table, about, left_out)
    settings = {
        "data": data,
        "classifier": None if model else name,
        "model": None if model is None else str(model),
        "estimators": names,
        "test": test,
        "refits": n_refits,
        "prepare": prepare,
        "drop": drop or [],
        "groups": groups,
        "seed": seed,
        "jobs": jobs,
    }
    check_settings(n_jobs=jobs)
    check_folds(read_estimators(names), table.y)
    answer = _assess(rule, X, table, held_out, n_refits, jobs, seed)
    largest = max(table.counts, key=lambda label: table.counts[label])
    with unread:
        # At once: the table may take longer.
        print_answer(answer, table.majority_class_error, largest)
    comparison, warnings = _compare(rule, X, table, names, held_out, answer, jobs, seed)
    if all(row.estimate is None for row in comparison.rows):
        raise ValueError(f"no estimator returned a number. {comparison.rows[0].message}")
    try:
        # Before anything is printed: whoever reads that may stop, and the work would be lost.
        written = _write(comparison, table, answer, settings, warnings, outputs, force)
    finally:
        print_table(comparison, table, answer, warnings)
    typer.echo()
    for text in written:
        console.note(text, "")


def _held_out(
    test: str, target: str | None, table: Table, drop: list[str] | None, separator: str | None, groups: str | None
) -> tuple[Any, Any]:
    """Return features and labels of the rows that nothing has seen."""
    from bayes_gresub.cli.tables import read_test_table

    return read_test_table(test, target, table, drop=drop or (), separator=separator, groups=groups)


def _assess(
    rule: Any, X: Any, table: Table, held_out: tuple[Any, Any] | None, refits: int, jobs: int | None, seed: int
) -> Answer:
    """Return the answer; its libraries' warnings come again with the rows of the table."""
    from bayes_gresub.assessing import assess

    with console.collected_warnings():
        return assess(
            rule, X, table.y, refits=refits, test=held_out, groups=table.groups, n_jobs=jobs, random_state=seed
        )


def _compare(
    rule: Any,
    X: Any,
    table: Table,
    names: Any,
    held_out: tuple[Any, Any] | None,
    answer: Answer,
    jobs: int | None,
    seed: int,
) -> tuple[Comparison, list[str]]:
    """Return the comparison and the warnings of libraries; an interrupt prints the rows that are done."""
    from bayes_gresub.comparing import compare
    from bayes_gresub.comparing.compare import read_estimators
    from bayes_gresub.progress import in_terminal
    from bayes_gresub.resampling import Interrupted

    # A bar from the start, but no lines in a file that standard error is written to.
    progress = True if in_terminal() else None
    n_estimators = len(read_estimators(names))
    try:
        with console.collected_warnings() as warnings:
            options: dict[str, Any] = {
                "test": held_out,
                "groups": table.groups,
                "n_jobs": jobs,
                "progress": progress,
                "random_state": seed,
            }
            return compare(rule, X, table.y, names, **options), warnings
    except Interrupted as stop:
        if stop.partial.rows:
            print_table(stop.partial, table, answer)
        raise Interrupted(f"stopped after {len(stop.partial.rows)} of {n_estimators} rows.") from stop


def named_classifier(table: Table, name: str, prepare: bool) -> tuple[Any, Any, list[tuple[str, str]]]:
    """Return a named rule, the X that it takes, and lines about both; raise if X must be prepared first."""
    from bayes_gresub.cli.named_rules import behind, make_rule, named_rules

    rule = make_rule(name)
    about = [("Classifier", f"{name}: {next(entry.summary for entry in named_rules() if entry.name == name)}")]
    if not prepare:
        if obstacles := table.obstacles():
            raise ValueError(
                f"the columns cannot be used as they are: {'; '.join(obstacles)}. Give --prepare to impute, encode and "
                "leave out, or --drop COLUMN."
            )
        return rule, table.X, about
    step, words = table.preparation()
    if step is None:
        return rule, table.X, [*about, ("Prepared", "nothing to do: all columns are complete numbers")]
    about.append(("Prepared", f"{'; '.join(words)}."))
    if table.texts:
        about.append(
            (
                "",
                "The kernels of bolstered estimates move 0/1 columns into fractions too, and bayesian takes them for "
                "Gaussian; resub, 3nn-pp and estimates with refits do neither.",
            )
        )
    return behind(step, rule), table.X, about


def _model(table: Table, path: Path, trust: bool) -> tuple[Any, Any, list[tuple[str, str]]]:
    from bayes_gresub.cli.model_files import columns_for, load_model
    from bayes_gresub.data.description import name_of

    model = load_model(path, trust)
    X, notes = columns_for(model, table.X, table.y)
    about = [("Classifier", f"{path.name}: {name_of(model)}, as it was trained; it must have been on these rows")]
    about.append(("", "Estimates with refits train a clone of it."))
    return model, X, [*about, *(("", note) for note in notes)]


def _estimators(text: str) -> Any:
    names = listed(text)
    if not names:
        raise ValueError("--estimators must name at least one; see bayes-gresub list.")
    if len(names) == 1 and names[0] in ("all", "main", "measures", "resamplers"):
        return names[0]
    return names


def _check_netcdf() -> None:
    from importlib.util import find_spec

    writers = (("netCDF4",), ("h5netcdf", "h5py"))
    if not any(all(map(find_spec, writer)) for writer in writers):
        raise ValueError("--netcdf needs a library that writes such files; found none. pip install 'h5netcdf[h5py]'.")


def _print_head(table: Table, about: list[tuple[str, str]], left_out: list[str]) -> None:
    counts = ", ".join(f"{console.printable(str(label))} {count}" for label, count in list(table.counts.items())[:10])
    more = f" and {len(table.counts) - 10} more" if len(table.counts) > 10 else ""
    column = f" (column {table.target})" if table.target else ""
    console.facts(
        [
            ("Data", f"{table.name}: {len(table)} rows, {table.X.shape[1]} features, {len(table.counts)} classes"),
            ("Classes", f"{counts}{more}{column}"),
            *((("", text)) for text in table.notes),
            *about,
            *(("Note", text) for text in left_out),
            *(("Warning", f"{text[0].upper()}{text[1:]} (--drop)") for text in table.doubts()),
        ]
    )
    typer.echo()


def _write(
    comparison: Comparison,
    table: Table,
    answer: Answer,
    settings: dict[str, Any],
    warnings: list[str],
    outputs: dict[str, Path | None],
    force: bool,
) -> list[str]:
    """Write the files, and return a line about each."""
    lines = []
    if path := outputs["--json"]:
        with replacing(path, force) as beside:
            beside.write_text(as_json(comparison, table, answer, settings, warnings), encoding="utf-8")
        lines.append(f"{path}: everything, with what each number estimates and why it has no interval")
    if path := outputs["--csv"]:
        with replacing(path, force) as beside:
            comparison.to_frame().to_csv(beside)
        lines.append(f"{path}: the table")
    if path := outputs["--plot"]:
        with replacing(path, force) as beside:
            save_figure(comparison, beside, f"Error of {comparison.subject}", answer=answer)
        lines.append(f"{path}: the table as a figure")
    if path := outputs["--netcdf"]:
        estimates = {row.name: row.estimate for row in comparison.rows if row.estimate is not None}
        drawn = {name: estimate for name, estimate in estimates.items() if estimate.posterior is not None}
        if not drawn:
            raise ValueError("no estimator with posterior draws returned a number, so --netcdf has nothing to write.")
        first = next(iter(drawn))
        with replacing(path, force) as beside:
            drawn[first].to_inference_data().to_netcdf(str(beside))
        others = f"; that of {', '.join(list(drawn)[1:])} is not in it" if len(drawn) > 1 else ""
        lines.append(f"{path}: posterior of {first}, for arviz.from_netcdf{others}")
    return lines
