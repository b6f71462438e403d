"""Leave-one-out with any measure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bayes_gresub.data.arrays import Ints
from bayes_gresub.data.seeds import Seed
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.estimate.estimands import RuleTrainedOnParts
from bayes_gresub.estimate.intervals import NoInterval
from bayes_gresub.estimate.reasons import FitsShareNearlyAll
from bayes_gresub.resampling.cross_validation import mean_over_splits
from bayes_gresub.resampling.interruptible import Work
from bayes_gresub.resampling.refit import Problem
from bayes_gresub.resampling.resampler import Resampler, Run
from bayes_gresub.resampling.splits import Split, left_out_splits


class LeaveOneOut(Resampler):
    r"""Mean, over points, of the mass that a measure about the point gives to the errors of a rule trained without it.

    .. math:: \hat\varepsilon = \frac1n \sum_{i=1}^n \nu_i(\{(x, y): \psi_{-i}(x) \ne y\})

    A smoothed measure learns its widths and posteriors on the other points, since one point defines none; bolstering a
    point held out adds upward bias. With groups, one group is left out at a time, and all groups count the same.
    Identical rows are left out together, and each of them counts.

    It estimates the average error of the rule at n - 1 points: nearly unbiased, but highly variable. It does not see
    choices made before X was handed over, such as selected features: put those into the rule.

    Parameters
    ----------
    measure : Measure, optional
        `Empirical()` by default.
    repeated_rows, sampling, class_prior, n_jobs, progress, random_state
        As in `CrossValidation`.

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> float(bg.LeaveOneOut().error(KNeighborsClassifier(1), X, y))
    0.25
    """

    def __init__(
        self,
        *,
        measure: Any = None,
        repeated_rows: str = "together",
        sampling: str = "mixture",
        class_prior: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
        random_state: Seed = None,
    ) -> None:
        self.measure = measure
        self.repeated_rows = repeated_rows
        self.sampling = sampling
        self.class_prior = class_prior
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def _plan(self, problem: Problem, groups: Ints | None, splits: list[Split] | None) -> Run:
        if splits is None:
            splits = left_out_splits(problem.sample, groups)
            # Rows may be ordered by class, and a partial result needs points of each class; multiples of the golden
            # ratio spread evenly.
            order = np.argsort(np.arange(len(splits)) * ((1 + 5**0.5) / 2) % 1)
            splits = [splits[number] for number in order]
        return Run(problem, Work(replace(problem, classifier=None).judge, splits, "leave-one-out"))

    def _conclude(self, run: Run) -> ErrorEstimate:
        judgements = run.judgements
        sample = run.problem.sample
        sizes = np.array([len(split.train) for split in run.splits])
        return self._estimate(
            run,
            mean_over_splits(judgements, sample.weights, by_point=run.problem.units.are_repeated_rows),
            judgements,
            estimand=RuleTrainedOnParts(int(sizes.min()), int(sizes.max()), len(sample.codes)),
            exact=True,
            n_refits=len(judgements),
            method=f"mean over {len(judgements)} splits",
            interval_method=NoInterval(FitsShareNearlyAll()),
        )
