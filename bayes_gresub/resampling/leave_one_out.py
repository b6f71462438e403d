"""Leave-one-out with any measure by refits, or with the empirical measure by formulas."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from bayes_gresub.data.arrays import Ints
from bayes_gresub.data.description import Description
from bayes_gresub.data.sample import read_class_prior, read_sample
from bayes_gresub.data.seeds import Seed, seed_sequence
from bayes_gresub.estimate.computation import Computation
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.estimate.estimands import RuleTrainedOnParts
from bayes_gresub.estimate.intervals import NoInterval
from bayes_gresub.estimate.reasons import FitsShareNearlyAll
from bayes_gresub.measures import Empirical
from bayes_gresub.regions.region import check_predict
from bayes_gresub.regions.training import check_rule
from bayes_gresub.resampling.counted import counted_estimate
from bayes_gresub.resampling.cross_validation import mean_over_splits
from bayes_gresub.resampling.interruptible import Work
from bayes_gresub.resampling.kept_together import read_units
from bayes_gresub.resampling.refit import Problem
from bayes_gresub.resampling.resampler import Resampler, Run
from bayes_gresub.resampling.shortcuts.left_out import check_no_ensemble, has_shortcut, leave_out_rows
from bayes_gresub.resampling.shortcuts.refusals import NoShortcutError, WeightsWithoutShortcut
from bayes_gresub.resampling.shortcuts.training_rows import TrainingRows
from bayes_gresub.resampling.splits import Split, left_out_splits


class LeaveOneOut(Resampler):
    r"""Mean, over points, of the mass that a measure about the point gives to the errors of a rule trained without it.

    .. math:: \hat\varepsilon = \frac1n \sum_{i=1}^n \nu_i(\{(x, y): \psi_{-i}(x) \ne y\})

    A smoothed measure learns its widths and posteriors on the other points, since one point defines none; bolstering a
    point held out adds upward bias. With groups, one group is left out at a time, and all groups count the same.
    Identical rows are left out together, and each of them counts.

    With `shortcut=True` the labels of the points left out come from a formula, not from n refits: exactly for k nearest
    neighbours, nearest centroids, Gaussian naive Bayes, linear and quadratic discriminants without shrinkage,
    RidgeClassifier and SVC (which refits where a point changes it, on the kernel); by one Newton step, approximately,
    for LogisticRegression and LinearSVC; and approximately, with the length-scales learned from all points, for
    `GaussianProcess`. The rule may be behind a StandardScaler. Other rules raise an error with the reason. `OutOfBag`
    is the counterpart for forests.

    It estimates the average error of the rule at n - 1 points: nearly unbiased, but highly variable. It does not see
    choices made before X was handed over, such as selected features: put those into the rule.

    Parameters
    ----------
    measure : Measure, optional
        `Empirical()` by default.
    shortcut : bool, default False
        Use a formula instead of refits; only with `Empirical()`, without `indices` and `sample_weight`.
    repeated_rows, sampling, class_prior, n_jobs, progress, random_state
        As in `CrossValidation`.

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> float(bg.LeaveOneOut().error(KNeighborsClassifier(1), X, y))
    0.25
    >>> estimate = bg.LeaveOneOut(shortcut=True).error(KNeighborsClassifier(1), [[0.0], [1.0], [1.8], [3.0]], y)
    >>> float(estimate), estimate.computation.n_refits
    (0.5, 0)
    """

    def __init__(
        self,
        *,
        measure: Any = None,
        shortcut: bool = False,
        repeated_rows: str = "together",
        sampling: str = "mixture",
        class_prior: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
        random_state: Seed = None,
    ) -> None:
        self.measure = measure
        self.shortcut = shortcut
        self.repeated_rows = repeated_rows
        self.sampling = sampling
        self.class_prior = class_prior
        self.n_jobs = n_jobs
        self.progress = progress
        self.random_state = random_state

    def error(
        self,
        rule: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        indices: Iterable[Any] | None = None,
        classifier: Any = None,
        random_state: Seed = None,
    ) -> ErrorEstimate:
        """Return the estimated error of a rule; with a shortcut X must be numeric."""
        if not self.shortcut:
            return super().error(
                rule,
                X,
                y,
                sample_weight=sample_weight,
                groups=groups,
                indices=indices,
                classifier=classifier,
                random_state=random_state,
            )
        started = perf_counter()
        self._check_parameters()
        check_rule(rule)
        self._check_shortcut(rule, sample_weight is not None, indices is not None)
        if classifier is not None:
            check_predict(classifier)
            self._check_shortcut(classifier, False, False)
        sample = read_sample(X, y)
        if self.class_prior is not None:
            read_class_prior(self.class_prior, sample.classes)
        units = read_units(sample, groups, self.repeated_rows)
        block = units.of_points(sample)
        rows = TrainingRows(sample.features, sample.codes, sample.classes, block)
        seed = seed_sequence(self.random_state if random_state is None else random_state)
        # A rule that happens to be fitted may have been trained on other points.
        left_out = leave_out_rows(clone(rule) if classifier is None else classifier, rows, False, seed)
        # The splits of an earlier call with refits are not those of this one.
        self.__dict__.pop("_run", None)
        n, sizes = len(sample.codes), rows.sizes
        return counted_estimate(
            left_out.codes,
            sample,
            sample.weights if units.are_repeated_rows else 1 / sizes[block],
            estimand=RuleTrainedOnParts(n - int(sizes.max()), n - int(sizes.min()), n),
            computation=Computation(
                described=Description(type(self), self.get_params(deep=False)),
                method=f"leave-one-out by {left_out.method}",
                exact=left_out.exact,
                space="features as given",
                n_predicted=n,
                n_replicates=1,
                seconds=perf_counter() - started,
                n_refits=left_out.n_fits,
            ),
            no_interval=FitsShareNearlyAll(),
            sampling=self.sampling,
            class_prior=self.class_prior,
            details=units.details,
        )

    def _check_shortcut(self, rule: Any, has_weights: bool, has_indices: bool) -> None:
        """Raise if a shortcut does not do what is asked for."""
        if not isinstance(self._measure(), Empirical):
            raise ValueError(
                f"a shortcut counts points, so measure must be Empirical(); got {self.measure!r}. Use "
                "LeaveOneOut(measure=...), which refits the rule."
            )
        if has_indices:
            raise ValueError("a shortcut leaves out every point in turn, so it takes no indices. Use LeaveOneOut().")
        if has_weights:
            raise NoShortcutError(WeightsWithoutShortcut())
        reason = has_shortcut(rule)
        if reason is not None:
            raise NoShortcutError(reason)
        check_no_ensemble(rule)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.shortcut, bool | np.bool_):
            raise ValueError(f"shortcut must be True or False; got {self.shortcut!r}.")

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
