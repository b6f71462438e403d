"""Study: which estimators, on which rules, at which sample sizes, how often; and running it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from bayes_gresub.comparing.compare import read_estimators
from bayes_gresub.data.description import name_of
from bayes_gresub.data.seeds import SAMPLES, child
from bayes_gresub.data.validation import check_level, check_settings, check_whole
from bayes_gresub.populations import Population
from bayes_gresub.populations.population import N_TEST, SyntheticPopulation
from bayes_gresub.regions.training import check_rule
from bayes_gresub.resampling import Interrupted
from bayes_gresub.studies.axes import Grid
from bayes_gresub.studies.display import Display
from bayes_gresub.studies.engines import Wanted, check_client, check_timeout
from bayes_gresub.studies.engines import records as records_of
from bayes_gresub.studies.identity import Plain, plain, words
from bayes_gresub.studies.process_state import Surroundings
from bayes_gresub.studies.results import StudyResults
from bayes_gresub.studies.store import RunFolder
from bayes_gresub.studies.tasks import Job, Record, Task, agree, merged


class Study:
    """How good are estimators? Training sets from a population, rules trained on them, estimates beside the truth.

    A task is one rule, one sample size and one repetition. Its training set depends on the seed, the size and the
    repetition only: all rules see the same ones, and adding rules, estimators, sizes or repetitions changes no number.
    Every task runs on one thread, so all numbers except seconds are the same on one machine however it is run.

    Parameters
    ----------
    population : Population
        Such as `bg.datasets.PaperGaussian()` or `bg.datasets.FiniteData(X, y)`.
    rules : rule, iterable or dict
        Unfitted scikit-learn classifiers or Pipelines, or a dict from any name to one.
    estimators : str, iterable or dict
        As in `bg.compare`: names (see `bg.estimators()`), measures and resamplers, or a dict from any name to one.
    sample_sizes : iterable of int
    repetitions : int, default 200
    seed : int, default 0
    level : float, default 0.95
        Of the intervals.
    n_test : int, default 5000
        Test points behind a true error that no formula gives.
    reruns : int or dict from estimator to int, default 0
        How often to run again, with other random numbers on the same sample, the estimators without a known
        Monte-Carlo standard error, such as one cross-validation; their internal variance is measured so. A dict names
        those to run again.

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> rules = {"LDA": LinearDiscriminantAnalysis()}
    >>> study = bg.Study(bg.datasets.PaperGaussian(), rules, ["resub", "bolstered"], [40], repetitions=20)
    >>> study.run().summary("rms")[["rms", "rms_se"]].round(3)
                         rms  rms_se
    rule n  estimator
    LDA  40 resub      0.138   0.020
            bolstered  0.060   0.011
    """

    def __init__(
        self,
        population: Population,
        rules: Any,
        estimators: Any,
        sample_sizes: Iterable[int],
        repetitions: int = 200,
        seed: int = 0,
        *,
        level: float = 0.95,
        n_test: int = N_TEST,
        reruns: int | Mapping[str, int] = 0,
    ) -> None:
        if not isinstance(population, Population):
            raise TypeError(
                f"population must be a Population, such as bg.datasets.PaperGaussian() or FiniteData(X, y); "
                f"got {type(population).__name__}."
            )
        self.population = population
        self.rules = _read_rules(rules)
        self.estimators = _single(read_estimators(estimators, "The population is the test set of a study."))
        self.sample_sizes = _read_sizes(sample_sizes)
        self.repetitions = check_whole(repetitions, "repetitions", 1)
        self.seed = check_whole(seed, "seed", 0)
        check_level(level)
        self.level = float(level)
        self.n_test = check_whole(n_test, "n_test", 2)
        if isinstance(population, SyntheticPopulation):
            population.check_n_test(self.n_test)
        self.reruns = _read_reruns(reruns, self.estimators)

    @cached_property
    def _population(self) -> Plain:
        return plain(self.population)

    @property
    def tasks(self) -> list[Task]:
        """Return all tasks."""
        return self._grid().tasks

    def design(self) -> Plain:
        """Return all that the numbers depend on, as plain data."""
        return {
            "population": self._population,
            "rules": {name: plain(rule) for name, rule in self.rules.items()},
            "estimators": {name: plain(estimator) for name, estimator in self.estimators.items()},
            "sample_sizes": list(self.sample_sizes),
            "repetitions": self.repetitions,
            "seed": self.seed,
            "level": self.level,
            "n_test": self.n_test,
            "reruns": dict(self.reruns),
        }

    def run(
        self,
        folder: str | Path | None = None,
        *,
        n_jobs: int | None = None,
        client: Any = None,
        progress: bool | None = None,
        retry_failed: bool = False,
        timeout: float | None = None,
    ) -> StudyResults:
        """Do the tasks that are not done yet, and return the results.

        Each finished task is written to the folder at once. After an interrupt, a crash or a kill, the same call goes
        on where it was; with more rules, estimators, sizes or repetitions it does the new tasks. A damaged file is
        computed again.

        Parameters
        ----------
        folder : str or Path, optional
            Where to keep finished tasks; nothing is kept by default.
        n_jobs : int, optional
            Processes on this machine, as joblib takes it.
        client : distributed.Client, optional
            A Dask cluster to run on instead; its workers need this package.
        progress : bool, optional
            Whether to show progress; by default in terminals and notebooks.
        retry_failed : bool, default False
            Whether to compute again the estimates that failed in an earlier run.
        timeout : float, optional
            Seconds after which a task is stopped; its rows then hold the reason. Tasks with a timeout run in other
            processes, as with `n_jobs`. There a rule that kills its process costs its own task only; in this process it
            would end the run.

        Raises
        ------
        Interrupted
            On an interrupt; its `partial` are the results so far.
        """
        check_settings(n_jobs=n_jobs)
        if client is not None and n_jobs is not None:
            raise ValueError("give n_jobs or client, not both: a cluster has its own number of workers.")
        if client is not None:
            check_client(client)
        seconds = check_timeout(timeout, n_jobs, client)
        job = self._job()
        for n in self.sample_sizes:
            # A sample that the population cannot give raises before any work.
            self.population.draw(n, child(job.seed, SAMPLES, n, 0))
        store = None if folder is None else RunFolder(folder)
        done: dict[Task, Record] = {}
        if store is not None:
            store.begin(self.design())
            done, damaged = store.read(self.tasks)
            if damaged:
                warnings.warn(f"{damaged} damaged files in {folder} are computed again.", stacklevel=2)
        lacking = {task: self._lacking(done.get(task), retry_failed) for task in self.tasks}
        wanted = [(task, names) for task, names in lacking.items() if names]
        total = len(lacking)
        changed: list[Wanted] = []
        try:
            with (
                Display(total - len(wanted), total, list(self.estimators), list(self.rules), progress) as display,
                ExitStack() as stack,
            ):
                for record in done.values():
                    display.seen(record)
                for record in stack.enter_context(closing(records_of(job, wanted, n_jobs, client, seconds))):
                    task = Task(record["rule"], record["n"], record["repetition"])
                    if not agree(done.get(task), record):
                        changed.append((task, list(self.estimators)))
                        continue
                    # Before it is written, so an interrupt just after that counts it.
                    done[task] = merged(done.get(task), record)
                    if store is not None:
                        done[task] = store.write(record)
                    display.update(record)
                if changed:
                    warnings.warn(
                        f"{len(changed)} tasks in {folder} have another true error than when they were begun, so "
                        "all their estimates are computed again. Does the rule draw random numbers without a seed?",
                        stacklevel=2,
                    )
                for record in stack.enter_context(closing(records_of(job, changed, n_jobs, client, seconds))):
                    done[Task(record["rule"], record["n"], record["repetition"])] = record
                    if store is not None:
                        store.write(record, anew=True)
                    display.update(record)
        except KeyboardInterrupt as stop:
            left = sum(bool(self._lacking(done.get(task))) for task in self.tasks)
            kept = "partial has them" if store is None else f"they are kept in {folder}; run again to go on"
            raise Interrupted(
                f"stopped after {total - left} of {total} tasks; {kept}.", lambda: StudyResults(self._grid(), done)
            ) from stop
        return StudyResults(self._grid(), done)

    def __repr__(self) -> str:
        sizes = ", ".join(str(n) for n in self.sample_sizes)
        return (
            f"Study: {words(self._population)}; rules {', '.join(self.rules)}; estimators "
            f"{', '.join(self.estimators)}; n = {sizes}; {self.repetitions} repetitions, seed {self.seed}"
        )

    def _job(self) -> Job:
        seed = np.random.SeedSequence(self.seed)
        return Job(
            self.population, self.rules, self.estimators, seed, self.n_test, self.level, self.reruns, Surroundings()
        )

    def _grid(self) -> Grid:
        return Grid(
            tuple(self.rules),
            self.sample_sizes,
            tuple(self.estimators),
            self.repetitions,
            self.level,
            words(self._population),
        )

    def _lacking(self, record: Record | None, retry_failed: bool = False) -> list[str]:
        if record is None:
            return list(self.estimators)
        rows = record["rows"]
        return [name for name in self.estimators if name not in rows or (retry_failed and rows[name]["message"])]


def _single(estimators: Mapping[str, Any]) -> dict[str, Any]:
    """Return the estimators without processes or progress: the study has these."""
    for estimator in estimators.values():
        parameters = estimator.get_params(deep=False)
        estimator.set_params(
            **{name: value for name, value in (("n_jobs", 1), ("progress", False)) if name in parameters}
        )
    return dict(estimators)


def _read_rules(rules: Any) -> dict[str, Any]:
    if hasattr(rules, "fit") or isinstance(rules, str):
        rules = [rules]
    if isinstance(rules, Mapping):
        pairs = [(str(name), rule) for name, rule in rules.items()]
    elif isinstance(rules, Iterable):
        pairs = [(name_of(rule), rule) for rule in rules]
    else:
        raise TypeError(f"rules must be unfitted classifiers, or a dict of them; got {type(rules).__name__}.")
    read: dict[str, Any] = {}
    for name, rule in pairs:
        check_rule(rule)
        if name in read:
            raise ValueError(f"rules must have different names; got {name!r} twice. Rename one, in a dict.")
        made = clone(rule)
        # The study has the processes; one thread a task keeps the last digits the same.
        made.set_params(**{part: 1 for part in made.get_params() if part == "n_jobs" or part.endswith("__n_jobs")})
        read[name] = made
    if not read:
        raise ValueError("rules must hold at least one; got none.")
    return read


def _read_reruns(reruns: Any, estimators: Mapping[str, Any]) -> dict[str, int]:
    """Return how often each estimator is run again."""
    if not isinstance(reruns, Mapping):
        return dict.fromkeys(estimators, check_whole(reruns, "reruns", 0))
    if unknown := [name for name in reruns if name not in estimators]:
        raise ValueError(f"reruns must name estimators of the study; got {unknown[0]!r}, not in {list(estimators)}.")
    return {name: check_whole(reruns.get(name, 0), f"reruns of {name}", 0) for name in estimators}


def _read_sizes(sample_sizes: Any) -> tuple[int, ...]:
    if not isinstance(sample_sizes, int | np.integer | Iterable):
        raise TypeError(f"sample_sizes must be whole numbers; got {sample_sizes!r}.")
    given: Sequence[Any] = [sample_sizes] if isinstance(sample_sizes, int | np.integer) else list(sample_sizes)
    sizes = tuple(check_whole(n, "every sample size", 2) for n in given)
    if not sizes or len(set(sizes)) < len(sizes):
        raise ValueError(f"sample_sizes must be different whole numbers, at least one; got {list(sizes)}.")
    return tuple(sorted(sizes))
