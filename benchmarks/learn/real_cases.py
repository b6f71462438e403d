"""Cases to learn from and to judge by: the training sets of the real-data benchmark, with their clues and truths.

Usage: `python -m benchmarks.learn.real_cases DATA FOLDER FIRST STEP`, with the CSV files in DATA.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from bayes_gresub.data.seeds import RULES, SAMPLES, as_int, child, seed_sequence
from bayes_gresub.regions.training import trained
from benchmarks.learn.cases import clues_of
from benchmarks.real_data import plan
from benchmarks.real_data.data_sets import DataSet, copy_groups, embedded_sets, read_folder
from benchmarks.real_data.population import as_population

N_REFITS = 10


def main(data: str, folder: str, first: int, step: int) -> None:
    """Write the cases of every data set and repetition to files of their own; files that exist are not made again.

    Every step-th file is made, from the first on, so that several processes share the work.
    """
    sets = [*read_folder(Path(data)), *embedded_sets()]
    groups = copy_groups(sets)
    Path(folder).mkdir(parents=True, exist_ok=True)
    jobs = [(repetition, one) for repetition in range(plan.REPETITIONS) for one in sets if plan.sizes_of(one)]
    for repetition, one in jobs[first::step]:
        path = Path(folder) / f"real-{one.name}-{repetition:02d}.json"
        if path.exists():
            continue
        cases = [
            case | {"kind": groups[one.name], "data": one.name, "repetition": repetition}
            for n in plan.sizes_of(one)
            for case in cases_of_sample(one, n, repetition)
        ]
        unfinished = path.with_suffix(".part")
        unfinished.write_text(json.dumps(cases))
        unfinished.rename(path)
        print(f"{path.name}: {len(cases)} cases", flush=True)


def cases_of_sample(data: DataSet, n: int, repetition: int) -> list[dict[str, Any]]:
    """Return the cases of one training set, a rule each; it is the training set that the benchmark's study has."""
    root = seed_sequence(plan.seed_of(data))
    X, y, rest = as_population(data).draw(n, child(root, SAMPLES, n, repetition))
    cases = []
    for name, rule in plan.rules().items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            classifier = trained(rule, X.copy(), y.copy(), None, child(root, RULES, n, repetition))
            truth = rest.true_error(classifier)
            started = time.process_time()
            found = clues_of(rule, classifier, X, y, N_REFITS, as_int(child(root, RULES, n, repetition, 1)))
        cases.append(
            {
                "n": n,
                "n_truth": int(truth.n_test),
                "n_wrong": int(np.rint(truth.value * truth.n_test)),
                "clues": dict(found),
                "seconds": time.process_time() - started,
                "rule": name,
                "family": name,
            }
        )
    return cases


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
