"""Cases to learn from: a trained classifier, its clues with and without refits, its true error.

Usage: `python -m benchmarks.learn.cases FOLDER FIRST STEP HOURS [DATA]`. The populations are simulated; with a folder
DATA of CSV files they are derived from these data sets.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from sklearn.base import clone

import bayes_gresub as bg
from bayes_gresub.assessing.clues import TrainedOn, clues
from bayes_gresub.assessing.out_of_bag_labels import OutOfBagLabels
from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.sample import read_sample
from bayes_gresub.resampling.kept_together import read_units
from bayes_gresub.resampling.shortcuts import NoShortcutError, has_shortcut, left_out
from benchmarks.learn.derived import draw_derived
from benchmarks.learn.rules import draw_rule
from benchmarks.learn.simulator import draw_population
from benchmarks.learn.training_sets import draw_size, draw_training_set
from benchmarks.real_data.data_sets import DataSet, copy_groups, embedded_sets, read_folder

N_TRUTH = 1500
"""Points behind a true error."""

SETS_A_POPULATION, RULES_A_SET = 2, 2
REFITS, REFIT_SHARES = (5, 10, 20, 40), (0.1, 0.75, 0.1, 0.05)
POPULATIONS_A_FILE = 100

Case = dict[str, Any]
Split = tuple[Floats, Ints, Floats, Ints]
"""A training set and rows to judge by: points and labels of both."""
Sampler = Callable[[np.random.Generator], Split]


def main(folder: str, first: int, step: int, hours: float, data: str | None = None) -> None:
    """Write cases to files of 100 populations each; files that exist are not made again.

    The files are numbered first, first + step, ...: so several processes share the work.
    """
    end, number = time.time() + 3600 * hours, first
    Path(folder).mkdir(parents=True, exist_ok=True)
    source = Simulated() if data is None else Derived.read(Path(data))
    while time.time() < end:
        path = Path(folder) / f"cases-{number:04d}.json"
        if not path.exists():
            cases = []
            for population in range(POPULATIONS_A_FILE):
                try:
                    cases += cases_of_population(source, number * POPULATIONS_A_FILE + population)
                except Exception as error:  # hours of work must not end with one population
                    print(f"{path.name}, population {population}: {type(error).__name__}: {error}", flush=True)
            unfinished = path.with_suffix(".part")
            unfinished.write_text(json.dumps(cases))
            unfinished.rename(path)
            print(f"{path.name}: {len(cases)} cases", flush=True)
        number += step


class Source(Protocol):
    """Where populations come from."""

    seed: int

    def population(self, rng: np.random.Generator) -> tuple[Case, Sampler]:
        """Return a random population: what its cases say of it, and what draws training sets with rows to judge by."""
        ...


class Simulated:
    """Populations of the simulator."""

    seed = 20261118

    def population(self, rng: np.random.Generator) -> tuple[Case, Sampler]:
        """Return a simulated population."""
        population = draw_population(rng)

        def draw(rng: np.random.Generator) -> Split:
            training = draw_training_set(population, draw_size(rng), rng)
            return training.X, training.y, *training.population.sample(N_TRUTH, rng)

        return {"kind": population.kind}, draw


@dataclass(frozen=True)
class Derived:
    """Populations derived from real data sets."""

    sets: Sequence[DataSet]
    groups: Mapping[str, str]
    seed = 20261119

    @classmethod
    def read(cls, folder: Path) -> Derived:
        """Return those of the data sets in a folder and of scikit-learn's."""
        sets = [*read_folder(folder), *embedded_sets()]
        return cls(sets, copy_groups(sets))

    def population(self, rng: np.random.Generator) -> tuple[Case, Sampler]:
        """Return a derived population."""
        population = draw_derived(self.sets, rng)
        name = population.source.name
        return {"kind": self.groups[name], "data": name}, lambda rng: population.draw(rng, N_TRUTH)


def cases_of_population(source: Source, number: int) -> list[Case]:
    """Return the cases of one population: two training sets, two rules each."""
    rng = np.random.default_rng([source.seed, number])
    about, draw = source.population(rng)
    cases = []
    for _ in range(SETS_A_POPULATION):
        X, y, X_truth, y_truth = draw(rng)
        for _ in range(RULES_A_SET):
            name, family, rule = draw_rule(rng)
            n_refits = int(rng.choice(REFITS, p=REFIT_SHARES))
            case = one_case(rule, X, y, X_truth, y_truth, int(rng.integers(2**31)), n_refits)
            if case is not None:
                cases.append(case | about | {"rule": name, "family": family, "population": number})
    return cases


def one_case(rule: Any, X: Floats, y: Ints, X_truth: Any, y_truth: Any, seed: int, n_refits: int = 10) -> Case | None:
    """Return clues and errors at the points of the truth; None if the rule cannot be trained."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            classifier = clone(rule).fit(X, y)
        except Exception:  # whatever a rule raises if it cannot be trained on such a sample
            return None
        started = time.process_time()
        found = dict(clues_of(rule, classifier, X, y, n_refits, seed))
        return {
            "n": len(y),
            "n_truth": len(y_truth),
            "n_wrong": int(np.sum(classifier.predict(X_truth) != y_truth)),
            "clues": found,
            "seconds": time.process_time() - started,
        }


def clues_of(rule: Any, classifier: Any, X: Floats, y: Ints, n_refits: int, seed: int) -> Mapping[str, float]:
    """Return all clues; without those of refits where the rule cannot be trained on resamples."""
    sample = read_sample(X, y)
    codes = read_units(sample, None, "together").codes
    groups = np.arange(len(y)) if codes is None else codes
    own = None
    if has_shortcut(classifier) is None:
        try:
            own = left_out(classifier, X, y, groups, approximate=True)
        except NoShortcutError:
            own = None
    labels = None
    try:
        bootstrap = bg.Bootstrap("zero", n_resamples=n_refits, random_state=seed)
        bootstrap.error(rule, X, y)
        labels = OutOfBagLabels.of(bootstrap._run.judgements, len(y))
    except Exception:  # whatever a rule raises if it cannot be trained on few different points
        labels = None
    return clues(TrainedOn(classifier, sample, groups), own, np.random.SeedSequence(seed), labels)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), *sys.argv[5:6])
