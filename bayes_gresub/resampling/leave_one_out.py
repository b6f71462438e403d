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
    r"""Mean, over points, of the mass that a measure about it gives to the errors of a rule trained without it.

    .. math:: \hat\varepsilon = \frac1n \sum_{i=1}^n \nu_i(\{(x, y): \psi_{-i}(x) \ne y\})

    Widths and posteriors of a smoothed measure are learned on the other points, which is why it is defined; bolstering
    a point held out adds upward bias. With groups, one group is left out at a time, and all groups count the same.

    The target is the average error of the rule at n - 1 points: nearly unbiased, and highly variable. It does not see
    choices made before X was handed over, such as selected features: put those into the rule.

    Parameters
    ----------
    measure : Measure, optional
        `Empirical()` by default.
    sampling, class_prior, n_jobs, progress, random_state
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
        sampling: str = "mixture",
        class_prior: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
        random_state: Seed = None,
    ) -> None:
        self.measure = measure
        self.sampling = sampling
        self.class_prior = class_prior
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def _plan(self, problem: Problem, groups: Ints | None, given: list[Split] | None) -> Run:
        if given is None:
            given = left_out_splits(problem.sample, groups)
            # Not in the order of rows, which may be that of classes, so that a partial result has some of each:
            # multiples of the golden ratio spread evenly.
            order = np.argsort(np.arange(len(given)) * ((1 + 5**0.5) / 2) % 1)
            given = [given[number] for number in order]
        return Run(problem, Work(replace(problem, classifier=None).judge, given, "leave-one-out"))

    def _conclude(self, run: Run) -> ErrorEstimate:
        judgements = run.judgements
        sample = run.problem.sample
        sizes = np.array([len(split.train) for split in run.splits])
        return self._estimate(
            run,
            mean_over_splits(judgements, sample.weights),
            judgements,
            estimand=RuleTrainedOnParts(int(sizes.min()), int(sizes.max()), len(sample.codes)),
            exact=True,
            n_refits=len(judgements),
            method=f"mean over {len(judgements)} splits",
            interval_method=NoInterval(FitsShareNearlyAll()),
        )
