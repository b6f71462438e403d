"""Every estimator on real data: `python -m benchmarks.real FOLDER`, with data sets as CSV files in the folder.

The design is in benchmarks/results/real.md. Finished tasks are kept in runs/real, so the same call goes on after an
interrupt, and an estimator that is new in the registry is run alone. The expected hours are printed first.
"""

from __future__ import annotations

import argparse
import signal
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any, NoReturn

import pandas as pd

from bayes_gresub.data.validation import check_name
from bayes_gresub.resampling import Interrupted
from benchmarks.learn.combine import place
from benchmarks.real_data import plan
from benchmarks.real_data.cells import REFERENCES, read_cells, score_table
from benchmarks.real_data.data_sets import DataSet, copy_groups, embedded_sets, read_folder
from benchmarks.real_data.hours import done_rows, expected_hours, left_rows, pilots
from benchmarks.real_data.page import write_page
from benchmarks.tables import RESULTS

RUN = Path("runs/real")
MOST_SECONDS = 7200
"""Of one task: more is a hang."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the expected hours, do the tasks that are left, and write the page."""
    options = read_options(arguments)
    sets = [*read_folder(options.folder), *embedded_sets()]
    groups = copy_groups(sets)
    parts = chosen_parts(sets, options, groups)
    print(f"{len({part.data.name for part in parts})} data sets with cells; run folder {options.run}", flush=True)
    if not options.report:
        try:
            stop_after(options.hours)
            run_parts(pilots(parts), options, 1)
            print_hours(parts, options)
            if options.pilot:
                return
            for block in range(plan.BLOCK, options.repetitions + plan.BLOCK, plan.BLOCK):
                run_parts(parts, options, min(block, options.repetitions))
        except (Interrupted, KeyboardInterrupt) as stop:
            print(f"Stopped: {stop or 'interrupted'}", flush=True)
        finally:
            stop_after(None)
    report(parts, groups, options)


def read_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command line, names checked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real", description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("folder", type=Path, help="folder with .csv or .csv.gz files whose last column is the label")
    add("--data", help="data sets, separated by semicolons; all by default")
    add("--rules", help="rules, separated by semicolons; all by default")
    add("--estimators", help="estimators, separated by semicolons; all by default")
    add("--sizes", help=f"sample sizes, separated by semicolons; {'; '.join(map(str, plan.SIZES))} by default")
    add("--repetitions", type=int, default=plan.REPETITIONS, help="training sets a cell")
    add("--combinations", type=Path, help="folder with without-NAME.npz, see `make learn`: adds the answers of assess")
    add("--workers", type=int, default=2, help="processes")
    add("--hours", type=float, help="stop after so many hours; run again to go on")
    add("--pilot", action="store_true", help="print the expected hours and stop")
    add("--report", action="store_true", help="write the page from what is done, and compute nothing")
    add("--run", type=Path, default=RUN, help="folder for finished tasks")
    add("--page", type=Path, help="folder for the page; benchmarks/results if the whole design is done")
    options = parser.parse_args(arguments)
    try:
        options.rules = _names(options.rules, list(plan.rules()), "rule")
        known = [*plan.estimators(), *(plan.ASSESSED if options.combinations or options.report else ())]
        options.estimators = _names(options.estimators, known, "estimator")
        options.sizes = [int(n) for n in _names(options.sizes, [str(n) for n in plan.SIZES], "size")]
        for name in ("repetitions", "workers"):
            if getattr(options, name) < 1:
                raise ValueError(f"--{name} must be 1 or more; got {getattr(options, name)}.")
        if options.hours is not None and not options.hours > 0:
            raise ValueError(f"--hours must be positive; got {options.hours}.")
    except ValueError as error:
        parser.error(str(error))
    return options


def chosen_parts(sets: Sequence[DataSet], options: argparse.Namespace, groups: Mapping[str, str]) -> list[plan.Part]:
    """Return what is to be run, data set by data set; answers use the combination trained without the data set."""
    names = _names(options.data, [data.name for data in sets], "data set")
    parts = [
        part
        for data in sets
        if data.name in names
        for part in plan.parts_of(
            data,
            options.sizes,
            options.rules,
            options.estimators,
            options.repetitions,
            None if options.combinations is None else str(place(options.combinations, groups[data.name])),
        )
    ]
    if not parts:
        raise ValueError(
            f"a cell needs {plan.LEAST_LEFT} rows besides the training set; none of {', '.join(names)} has a size of "
            f"{options.sizes} for that. Name other data sets or smaller sizes."
        )
    return parts


def stop_after(hours: float | None) -> None:
    """Raise KeyboardInterrupt in so many hours; never, if None."""

    def stop(*_: Any) -> NoReturn:
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0 if hours is None else 3600 * hours)


def run_parts(parts: Sequence[plan.Part], options: argparse.Namespace, repetitions: int) -> None:
    """Do the tasks of the first repetitions that are not done."""
    # With a timeout, tasks run in other processes, so the alarm of --hours interrupts none of them half way.
    is_alone = options.workers == 1 and options.hours is None
    processes = {} if is_alone else {"n_jobs": options.workers, "timeout": MOST_SECONDS}
    done = done_rows(parts, options.run)
    for part in parts:
        first = replace(part, repetitions=min(part.repetitions, repetitions))
        if left_rows([first], done).empty:
            continue
        study = first.study()
        started = perf_counter()
        study.run(options.run / part.folder, progress=False, **processes)
        print(
            f"{part.data.name}: {len(part.rules)} rules, {len(part.estimators)} estimators, n = "
            f"{', '.join(map(str, part.sizes))}, repetition 1 to {first.repetitions}: {perf_counter() - started:.0f} s",
            flush=True,
        )


def print_hours(parts: Sequence[plan.Part], options: argparse.Namespace) -> None:
    """Print how long the rest will take."""
    hours = expected_hours(parts, options.run)
    if hours.empty:
        print("All tasks are done.")
        return
    hours.loc["all rules"] = hours.sum()
    hours["all"] = hours.sum(axis=1)
    with pd.option_context("display.width", 160):
        print(f"Expected hours of one process:\n{hours.round(2).to_string()}")
    total = hours.loc["all rules", "all"]
    print(f"With {options.workers} processes: {total / options.workers:.2f} hours.", flush=True)


def report(parts: Sequence[plan.Part], groups: dict[str, str], options: argparse.Namespace) -> None:
    """Write the page; into benchmarks/results only if the whole design is done, unless another folder is named."""
    sets = {part.data.name: part.data for part in parts}
    table = score_table(read_cells(options.run, list(sets.values()), groups))
    if not table.empty:
        shown = [*options.estimators, *REFERENCES]
        table = table[
            table["rule"].isin(options.rules) & table["n"].isin(options.sizes) & table["estimator"].isin(shown)
        ]
    if table.empty:
        print(f"{options.run} holds no finished tasks of these, so there is no page.")
        return
    n_left = len(left_rows(parts, done_rows(parts, options.run)))
    is_whole = (
        options.data is None
        and len(options.rules) == len(plan.rules())
        and len(options.estimators) == len(plan.estimators()) + len(plan.ASSESSED)
        and tuple(options.sizes) == plan.SIZES
        and options.repetitions >= plan.REPETITIONS
    )
    extent = "the whole design" if is_whole else "a part of the design that was named"
    state = f"This is {extent}" + (f", of which {n_left} estimates are not done yet." if n_left else ".")
    folder = options.page or (RESULTS if is_whole and not n_left else options.run / "page")
    print(f"{state} Page: {write_page(table, folder, state)}")


def _names(given: str | None, known: Sequence[str], kind: str) -> list[str]:
    if given is None:
        return list(known)
    wanted = [check_name(name.strip(), known, kind) for name in given.split(";")]
    return [name for name in known if name in wanted]


if __name__ == "__main__":
    main()
