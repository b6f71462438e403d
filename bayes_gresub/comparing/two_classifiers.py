"""Which of two classifiers errs less, estimated only from held-out pairs or joint posterior draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from bayes_gresub.data.arrays import Floats
from bayes_gresub.data.seeds import Seed, seed_sequence
from bayes_gresub.data.validation import check_level
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.estimate.estimands import (
    ErrorDifference,
    Estimand,
    MeanErrorMass,
    MeanErrorMassDifference,
    RuleDifference,
)
from bayes_gresub.estimate.intervals import BinomialInterval, Interval, SampleInterval, bounded_mean
from bayes_gresub.estimate.posterior_draws import PosteriorDraws, equal_tailed
from bayes_gresub.estimate.reasons import LearnedFromTestPoints
from bayes_gresub.estimate.text import aligned
from bayes_gresub.laws.denoised_draws import denoised_numbers
from bayes_gresub.measures import Empirical
from bayes_gresub.measures.measure import Measure
from bayes_gresub.resampling import CrossValidation, TestSet
from bayes_gresub.resampling.corrected_t import corrected_std_error

_REPEATS = 10
"""Partitions that two rules are compared on."""

NOT_FROM_TRAINING = (
    "two classifiers cannot be compared by the error that a measure at their training points gives them: the measure "
    "favours the one that fits those points more closely. With 60 points of the paper's model 1NN then 'beats' LDA "
    "in each of 200 samples, and is truly better in none. Use by=TestSet(...), by=CrossValidation(...), or a measure "
    "that draws whole laws, such as Bayesian"
)


@dataclass(frozen=True, eq=False, repr=False)
class ClassifierComparison:
    """The difference of two errors: that of the first minus that of the second.

    Attributes
    ----------
    estimates : pair of ErrorEstimate
    difference : float
        Negative if the first errs less.
    interval : Interval
        Of the difference, with its method, target and assumptions.
    p_value : float or None
        Two-sided, of the hypothesis of no difference; None with posterior draws.
    probability : float or None
        Posterior probability that the first errs less; None without posterior draws.
    """

    estimates: tuple[ErrorEstimate, ErrorEstimate]
    difference: float
    interval: Interval
    p_value: float | None = None
    probability: float | None = None

    @property
    def better(self) -> str | None:
        """Return "first" or "second", or None if the interval of the difference holds 0."""
        if self.interval.low <= 0 <= self.interval.high:
            return None
        return "first" if self.difference < 0 else "second"

    def __repr__(self) -> str:
        low, high = self.interval
        first, second = (estimate.value for estimate in self.estimates)
        verdict = {None: "undecided", "first": "the first errs less", "second": "the second errs less"}[self.better]
        rows = [
            ("errors", f"{first:.4f} and {second:.4f}, difference {self.difference:+.4f}"),
            (f"{100 * self.interval.level:g}% interval", f"{low:+.4f} to {high:+.4f}, {self.interval.method}"),
        ]
        if self.p_value is not None:
            rows.append(("p-value", f"{self.p_value:.3g} if there were no difference"))
        if self.probability is not None:
            rows.append(("probability", f"{self.probability:.3f} that the first errs less"))
        rows += [("of", str(self.interval.target)), ("if", self.interval.assumptions)]
        return aligned(f"ClassifierComparison: {verdict}", rows)


def compare_classifiers(
    first: Any,
    second: Any,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    *,
    by: Any = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
    random_state: Seed = None,
) -> ClassifierComparison:
    r"""Return which of two classifiers errs less, estimated from points that they have not seen or from joint draws.

    - `by=TestSet(...)`: two trained classifiers at the same independent points. The p-value is McNemar's exact one; the
      interval is Bonett & Price's for paired proportions. With weights or a measure fitted to the training data, both
      come from Hoeffding's bound on the paired differences.
    - `by=CrossValidation(...)`: two rules on shared folds, with Nadeau & Bengio's corrected t: over J splits with
      differences d, training on n1 and holding out n2 points, the variance of their mean is taken to be
      :math:`(1/J + n_2/n_1)\,s_d^2`.
    - `by=` a fitted measure that draws whole laws (`Bayesian`): joint posterior draws of both errors.

    Other measures are refused: contributions of training points favour the classifier that fits them more closely. So
    do draws of the labels at these points, which `PosteriorProbability` has with a Gaussian process.

    Parameters
    ----------
    first, second : classifiers or rules
        Trained classifiers for a test set or a measure, rules for cross-validation.
    X, y : array-like
        The sample, for cross-validation.
    by : TestSet, CrossValidation or measure that draws whole laws, optional
        `CrossValidation(10, repeats=10)` by default.
    groups : array-like, optional
        For cross-validation.
    level : float, default 0.95
    random_state : int, SeedSequence, Generator or None
        For cross-validation or a measure without a seed.

    References
    ----------
    Bonett & Price, Adjusted Wald confidence interval for a difference of binomial proportions based on paired data,
    Journal of Educational and Behavioral Statistics 37 (2012).
    Nadeau & Bengio, Inference for the generalization error, Machine Learning 52 (2003).

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> compared = bg.compare_classifiers(GaussianNB(), DummyClassifier(), X, y, random_state=0)
    >>> compared.better, round(compared.difference, 2)
    ('first', -0.63)
    """
    check_level(level)
    by = CrossValidation(10, repeats=_REPEATS) if by is None else by
    if isinstance(by, TestSet):
        _only_with_cross_validation(X, y, groups)
        return _at_test_points(first, second, by, level)
    if isinstance(by, CrossValidation):
        return _on_shared_folds(first, second, X, y, groups, by, level, random_state)
    if isinstance(by, Measure):
        if not by.has_draws or by.draws_at_training_points:
            raise ValueError(f"{NOT_FROM_TRAINING}.")
        _only_with_cross_validation(X, y, groups)
        return _from_draws(first, second, by, level, random_state)
    raise TypeError(f"by must be a TestSet, a CrossValidation or a measure that draws whole laws; got {by!r}.")


def _at_test_points(first: Any, second: Any, by: TestSet, level: float) -> ClassifierComparison:
    seed = seed_sequence(by.random_state)
    estimates = by.error(first, random_state=seed), by.error(second, random_state=seed)
    contributions = [estimate.contributions for estimate in estimates]
    weights, method = estimates[0].point_weights, estimates[0].interval_method
    if not isinstance(method, SampleInterval) or contributions[0] is None or contributions[1] is None:
        reason = method.reason or LearnedFromTestPoints()
        raise ValueError(f"this test set supports no interval, hence no comparison: {reason}.")
    target: Estimand = ErrorDifference()
    gaps = contributions[0] - contributions[1]
    if method.name == BinomialInterval.name:
        only_first, only_second = int((gaps > 0.5).sum()), int((gaps < -0.5).sum())
        low, high = _bonett_price(only_first, only_second, len(gaps), level)
        n_discordant = only_first + only_second
        p_value = float(stats.binomtest(only_first, n_discordant).pvalue) if n_discordant else 1.0
        method_name = "Bonett-Price for paired proportions; McNemar's exact test"
    else:
        assert weights is not None, "weights come with contributions"
        mean = float(weights @ gaps)
        points = float(1 / weights.max())
        low, high = (2 * end - 1 for end in bounded_mean((mean + 1) / 2, points, level))
        p_value = min(1.0, 2 * float(np.exp(-points * _entropy((mean + 1) / 2, 0.5))))
        method_name = "Hoeffding bound for paired differences (relative entropy)"
        if method.target == MeanErrorMass():
            target = MeanErrorMassDifference()
    interval = Interval(low, high, level, method_name, target, method.assumptions)
    return ClassifierComparison(estimates, estimates[0].value - estimates[1].value, interval, p_value)


def _on_shared_folds(
    first: Any, second: Any, X: Any, y: Any, groups: Any, by: CrossValidation, level: float, random_state: Seed
) -> ClassifierComparison:
    if X is None or y is None:
        raise ValueError("cross-validation refits both rules; pass X and y, or use by=TestSet(...).")
    if not isinstance(by._measure(), Empirical) or by.sampling != "mixture" or by.class_prior is not None:
        raise ValueError(
            "comparing needs cross-validation with the empirical measure, sampling='mixture' and no class_prior: "
            "bolstering points held out adds a bias that differs between classifiers."
        )
    parameters = by.get_params(deep=False) | {"interval": None}
    # Partitions that are added until an interval settles have no meaning without it.
    repeats = _REPEATS if by.repeats == "auto" else by.repeats
    folds = CrossValidation(**parameters | {"repeats": repeats})
    seed = seed_sequence(random_state if by.random_state is None else by.random_state)
    first_estimate = folds.error(first, X, y, groups=groups, random_state=seed)
    first_errors, splits = folds.split_errors_, folds.indices_
    # The same seed gives the same splits.
    second_estimate = folds.error(second, X, y, groups=groups, random_state=seed)
    gaps = first_errors - folds.split_errors_
    sizes = np.array([[len(train), len(test)] for train, test in splits], dtype=float)
    n_trained, n_held_out = sizes.mean(axis=0)
    std_error = corrected_std_error(gaps, n_trained, n_held_out)
    mean = float(gaps.mean())
    law = stats.t(len(gaps) - 1)
    half = float(law.ppf((1 + level) / 2) * std_error)
    if std_error == 0 and mean != 0:
        raise ValueError(
            f"a corrected t needs differences that vary over splits; got {mean:+.3f} in all {len(gaps)}. Use more "
            "folds, or by=TestSet(...)."
        )
    p_value = 1.0 if mean == 0 else float(2 * law.sf(abs(mean) / std_error))
    interval = Interval(
        mean - half,
        mean + half,
        level,
        "corrected t over shared folds",
        RuleDifference(round(n_trained)),
        "differences of splits are nearly normal, with the correlation of the share held out (Nadeau & Bengio)",
    )
    difference = first_estimate.value - second_estimate.value
    return ClassifierComparison((first_estimate, second_estimate), difference, interval, p_value)


def _from_draws(first: Any, second: Any, by: Measure, level: float, random_state: Seed) -> ClassifierComparison:
    seed = seed_sequence(random_state if by.random_state is None else by.random_state)
    estimates = by.error(first, random_state=seed), by.error(second, random_state=seed)
    draws = [estimate.posterior_draws for estimate in estimates]
    if draws[0] is None or draws[1] is None:
        raise ValueError(f"{NOT_FROM_TRAINING}.")
    # The noise of sampled points does not cancel in the differences, so it is removed there.
    twice = _estimated_twice(estimates[0], draws[0]) - _estimated_twice(estimates[1], draws[1])
    gaps = denoised_numbers(twice)
    # The noise left in the mean matters if the errors differ by less.
    noise = float(np.std(twice[0] - twice[1])) / 2 / np.sqrt(len(gaps))
    margin = noise * float(stats.norm.ppf((1 + level) / 2))
    low, high = equal_tailed(gaps, level)
    method_name = f"equal-tailed {draws[0].kind} from joint posterior draws"
    interval = Interval(low - margin, high + margin, level, method_name, ErrorDifference(), draws[0].assumptions)
    below = stats.norm.cdf(-gaps / noise) if noise > 0 else (gaps < 0) + 0.5 * (gaps == 0)
    difference = estimates[0].value - estimates[1].value
    return ClassifierComparison(estimates, difference, interval, None, float(np.mean(below)))


def _estimated_twice(estimate: ErrorEstimate, draws: PosteriorDraws) -> Floats:
    """Return two estimates of each draw of an error, the same twice unless points were sampled: shape (2, draws)."""
    if draws.source is None:
        return np.stack([draws.errors] * 2)
    return np.asarray(draws.source.errors_twice(estimate))


def _bonett_price(only_first: int, only_second: int, n: int, level: float) -> tuple[float, float]:
    """Return the adjusted Wald interval for paired proportions, with one discordant pair of each kind added."""
    first, second = (only_first + 1) / (n + 2), (only_second + 1) / (n + 2)
    half = float(stats.norm.ppf((1 + level) / 2)) * np.sqrt((first + second - (first - second) ** 2) / (n + 2))
    return max(-1.0, float(first - second - half)), min(1.0, float(first - second + half))


def _entropy(p: float, q: float) -> float:
    return float(stats.entropy([p, 1 - p], [q, 1 - q]))


def _only_with_cross_validation(X: Any, y: Any, groups: Any) -> None:
    if X is not None or y is not None or groups is not None:
        raise ValueError("X, y and groups are for cross-validation; a test set or a measure has its points already.")
