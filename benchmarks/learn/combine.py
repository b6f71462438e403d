"""`make learn`: train the combination on simulated and real cases, and once more without each data set.

Usage: `python -m benchmarks.learn.combine SIMULATED REAL OUT`, folders of cases and one for the results. OUT gets
`all.npz`, which is the package's file, and `without-NAME.npz` for every data set, to judge the combination by.
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

from benchmarks.learn.case_table import read_cases
from benchmarks.learn.training import Recipe, learn, write

RECIPE = Recipe()
WHOLE = "all"


def main(simulated: str, real: str, out: str, jobs: int = 2, names: Sequence[str] = ()) -> None:
    """Train on all cases and without each data set; files that exist are not made again."""
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    folders = [Path(simulated), Path(real)]
    populations = np.unique(read_cases([Path(real)], False).population).tolist()
    wanted = [name for name in [WHOLE, *populations] if not names or name in names]
    left = [name for name in wanted if not place(folder, name).exists()]
    Parallel(jobs)(delayed(train_without)(folders, name, place(folder, name)) for name in left)


def place(folder: Path, name: str) -> Path:
    """Return the file of the combination without a data set, or of the whole one."""
    return folder / (f"{WHOLE}.npz" if name == WHOLE else f"without-{name}.npz")


def train_without(folders: Sequence[Path], name: str, path: Path) -> None:
    """Write the combination trained on all cases but those of one data set."""
    torch.set_num_threads(1)
    started = perf_counter()
    learned = []
    for with_refits in (False, True):
        cases = read_cases(folders, with_refits)
        learned.append(learn(cases.part(cases.population != name), RECIPE))
    seen = Counter(cases.population[cases.population != name].tolist())
    unfinished = path.with_suffix(".part.npz")
    write(unfinished, *learned, dict(sorted(seen.items())))
    unfinished.rename(path)
    print(f"{path.name}: {sum(seen.values())} cases, {perf_counter() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:4], names=sys.argv[4:])
