"""The runner of studies: its cost beside the tasks themselves, and the gain from a second process."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from time import perf_counter

from bayes_gresub.paper import synthetic_experiment as paper
from benchmarks.tables import write_table

REPETITIONS = 8


def main() -> None:
    """Run the published grid a few times over, alone, in two processes and on a cluster of two, and write the table."""
    # Processes that joblib starts are used again; their start takes three seconds, once.
    paper.synthetic_study(1, only_published=True).run(n_jobs=2)
    rows = [measured("this process", n_jobs=1), measured("2 processes (joblib)", n_jobs=2), on_cluster()]
    alone = rows[0][1]
    shown = [
        [
            name,
            f"{wall:.1f}",
            f"{busy:.1f}",
            f"{100 * (workers * wall - busy) / (workers * wall):.1f}%",
            f"{alone / wall:.2f}",
        ]
        for name, wall, busy, workers in rows
    ]
    notes = [
        f"The published grid (4 rules, 5 sizes, 8 estimators, 100 bootstrap resamples) with {REPETITIONS} repetitions:",
        f"{20 * REPETITIONS} tasks, written to a run folder. Overhead: the share of the workers' time that no task",
        "had; the processes were started before. Bars: overhead below 5%, scaling from 1 to 2 jobs at least 1.7.",
    ]
    write_table("studies", "Running studies", ["where", "wall s", "in tasks s", "overhead", "scaling"], shown, notes)


def measured(name: str, **how: object) -> tuple[str, float, float, int]:
    """Return the wall time of a run and the time inside its tasks."""
    folder = Path(tempfile.mkdtemp())
    study = paper.synthetic_study(REPETITIONS, only_published=True)
    started = perf_counter()
    results = study.run(folder / "run", **how)  # type: ignore[arg-type]
    wall = perf_counter() - started
    shutil.rmtree(folder)
    busy = sum(record["seconds"] for record in results.records.values())
    return name, wall, busy, 1 if how.get("n_jobs") == 1 else 2


def on_cluster() -> tuple[str, float, float, int]:
    """Measure on a Dask cluster of two processes, whose start is not counted."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        return measured("2 workers (Dask)", client=client)


if __name__ == "__main__":
    main()
