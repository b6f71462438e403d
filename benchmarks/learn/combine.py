"""`make combine`: train the combination on stored cases, and once more without each data set.

Usage: `python -m benchmarks.learn.combine CASES OUT [NAME ...]`, a file of cases and a folder for the results. OUT gets
`all.npz`, which is the package's file, `without-NAME.npz` for every data set, to judge the combination by, and
`without-unseen.npz` for benchmarks on populations of kinds that nothing was tuned on.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import numpy as np
import torch
from joblib import Parallel, delayed

from benchmarks.learn.case_table import CaseTable
from benchmarks.learn.training import Recipe, learn, write

RECIPE = Recipe()
WHOLE, UNSEEN = "all", "unseen"
LEFT_OUT = {WHOLE: (), UNSEEN: ("gaussian-equal", "gaussian-unequal", "skewed", "heavy-tailed", "digits")}
"""Populations that a combination is trained without, unless it is named after the one data set left out."""


def main(cases: str, out: str, names: Sequence[str] = (), jobs: int = 2) -> None:
    """Train on all cases and without some; files that exist are not made again."""
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    table = CaseTable.read(Path(cases))
    judged = np.unique(table.population[table.is_judged]).tolist()
    wanted = [name for name in [WHOLE, UNSEEN, *judged] if not names or name in names]
    left = [name for name in wanted if not place(folder, name).exists()]
    Parallel(jobs)(delayed(train_without)(table, name, place(folder, name)) for name in left)


def place(folder: Path, name: str) -> Path:
    """Return the file of the combination without a data set, or of the whole one."""
    return folder / (f"{WHOLE}.npz" if name == WHOLE else f"without-{name}.npz")


def train_without(table: CaseTable, name: str, path: Path) -> None:
    """Write the combination trained on all cases but those of some populations."""
    torch.set_num_threads(1)
    started = perf_counter()
    cases = table.part(~np.isin(table.population, LEFT_OUT.get(name, (name,))))
    plain, refits = learn(cases.without_refits(), RECIPE), learn(cases, RECIPE)
    unfinished = path.with_suffix(".part.npz")
    write(unfinished, plain, refits, dict(sorted(Counter(cases.population.tolist()).items())))
    unfinished.rename(path)
    print(f"{path.name}: {len(cases)} cases, {perf_counter() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:3], names=sys.argv[3:])
