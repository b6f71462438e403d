"""Cases to learn from: a classifier trained on a simulated sample, its clues, estimates with refits, its true error.

Usage: `python -m benchmarks.learn.cases FOLDER FIRST STEP HOURS`.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

import bayes_gresub as bg
from bayes_gresub.assessing.clues import TrainedOn, clues
from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.sample import read_sample
from bayes_gresub.resampling.kept_together import read_units
from bayes_gresub.resampling.shortcuts import NoShortcutError, has_shortcut, left_out
from benchmarks.learn.rules import draw_rule
from benchmarks.learn.simulator import draw_population
from benchmarks.learn.training_sets import draw_size, draw_training_set

N_TRUTH = 1500
"""Points behind a true error."""

SETS_A_POPULATION, RULES_A_SET = 3, 3
N_REFITS = 10
POPULATIONS_A_FILE = 100


def main(folder: str, first: int, step: int, hours: float) -> None:
    """Write cases to files of 100 populations each; files that exist are not made again.

    The files are numbered first, first + step, ...: so several processes share the work.
    """
    end, number = time.time() + 3600 * hours, first
    Path(folder).mkdir(parents=True, exist_ok=True)
    while time.time() < end:
        path = Path(folder) / f"cases-{number:04d}.json"
        if not path.exists():
            cases = []
            for population in range(POPULATIONS_A_FILE):
                cases += cases_of_population(number * POPULATIONS_A_FILE + population)
            unfinished = path.with_suffix(".part")
            unfinished.write_text(json.dumps(cases))
            unfinished.rename(path)
            print(f"{path.name}: {len(cases)} cases")
        number += step


def cases_of_population(number: int) -> list[dict[str, Any]]:
    """Return the cases of one simulated population: three training sets, three rules each."""
    rng = np.random.default_rng([20261118, number])
    population = draw_population(rng)
    cases = []
    for _ in range(SETS_A_POPULATION):
        training = draw_training_set(population, draw_size(rng), rng)
        X_truth, y_truth = training.population.sample(N_TRUTH, rng)
        for _ in range(RULES_A_SET):
            name, family, rule = draw_rule(rng)
            case = one_case(rule, training.X, training.y, X_truth, y_truth, int(rng.integers(2**31)))
            if case is not None:
                cases.append(case | {"rule": name, "family": family, "kind": population.kind, "population": number})
    return cases


def one_case(rule: Any, X: Floats, y: Ints, X_truth: Any, y_truth: Any, seed: int) -> dict[str, Any] | None:
    """Return clues, estimates with refits and errors at the points of the truth; None if the rule cannot be trained."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            classifier = clone(rule).fit(X, y)
        except (ValueError, np.linalg.LinAlgError):
            return None
        sample = read_sample(X, y)
        codes = read_units(sample, None, "together").codes
        groups = np.arange(len(y)) if codes is None else codes
        started = time.perf_counter()
        own = None
        if has_shortcut(classifier) is None:
            try:
                own = left_out(classifier, X, y, groups, approximate=True)
            except NoShortcutError:
                own = None
        found = clues(TrainedOn(classifier, sample, groups), own, np.random.SeedSequence(seed))
        seconds = time.perf_counter() - started
        started = time.perf_counter()
        refits = _refits(rule, classifier, X, y, seed)
        return {
            "n": len(y),
            "n_truth": len(y_truth),
            "n_wrong": int(np.sum(classifier.predict(X_truth) != y_truth)),
            "clues": dict(found),
            "seconds": seconds,
            "seconds_refits": time.perf_counter() - started,
            **refits,
        }


def _refits(rule: Any, classifier: Any, X: Floats, y: Ints, seed: int) -> dict[str, float | None]:
    """Return estimates with ten refits; None where the rule cannot be trained on the parts."""
    result: dict[str, float | None] = {"cv": None, "zero": None, "632+": None}
    try:
        result["cv"] = float(bg.CrossValidation(N_REFITS, stratified=False, random_state=seed).error(rule, X, y))
        bootstrap = bg.Bootstrap(n_resamples=N_REFITS, random_state=seed)
        found = bootstrap.errors(rule, X, y, ["zero", "632+"], classifier=classifier)
        result |= {kind: float(estimate) for kind, estimate in found.items()}
    except (ValueError, np.linalg.LinAlgError):
        pass
    return result


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
