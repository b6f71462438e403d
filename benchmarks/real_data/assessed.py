"""`bg.assess` as an estimator of the study: with the combination that was trained without the data set at hand."""

from __future__ import annotations

from typing import Any

import numpy as np

import bayes_gresub as bg
from bayes_gresub.assessing.answer import AnswerInterval
from bayes_gresub.data.seeds import Seed
from bayes_gresub.estimate.computation import Computation
from bayes_gresub.resampling.resampler import Resampler, Run


class Assessed(Resampler):
    """The answer as an estimate; its details have the effective number of points.

    Parameters
    ----------
    refits : int
    combination : str or None
        The file of the combination.
    random_state : int, SeedSequence or None
    """

    def __init__(self, refits: int = 0, combination: str | None = None, random_state: Seed = None) -> None:
        self.refits = refits
        self.combination = combination
        self.random_state = random_state

    def error(self, rule: Any, X: Any, y: Any, *, classifier: Any = None, **arguments: Any) -> bg.ErrorEstimate:
        """Return the answer for the trained classifier."""
        answer = bg.assess(
            classifier, X, y, refits=self.refits, combination=self.combination, random_state=self.random_state
        )
        return bg.ErrorEstimate(
            classes=np.unique(y),
            estimand=answer.estimand,
            computation=Computation(f"assess, {self.refits} refits", "", False, "", 0, 1, answer.seconds, self.refits),
            replicate_values=np.array([answer.error]),
            interval_method=AnswerInterval(answer.estimand, answer.error, answer.n_points),
            details={"n_points": answer.n_points},
        )

    def _plan(self, *_: Any) -> Run:
        raise TypeError("assess has no splits of its own.")

    def _conclude(self, run: Run) -> bg.ErrorEstimate:
        raise TypeError("assess has no splits of its own.")
