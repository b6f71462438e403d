"""`assess`: the error of a trained classifier as one number with one interval, from its training data."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import betabinom

from bayes_gresub.assessing.answer import Answer
from bayes_gresub.assessing.clues import TrainedOn, clues
from bayes_gresub.assessing.combination import LEAST_POINTS, Prediction, read_combination
from bayes_gresub.assessing.held_out import count_held_out
from bayes_gresub.assessing.notices import (
    HeldOutDisagrees,
    Improvement,
    MayRefit,
    MoreHeldOut,
    NoErrors,
    Notice,
    OneColumnDecides,
    RepeatedRows,
    SizeOutside,
    TrainedElsewhere,
    UnlikeLearned,
    WorseThanMajority,
    deciding_column,
)
from bayes_gresub.assessing.out_of_bag_labels import OutOfBagLabels
from bayes_gresub.comparing.comparison import Subject
from bayes_gresub.comparing.prepared_columns import View, skip_preparation
from bayes_gresub.data.sample import Sample, read_sample
from bayes_gresub.data.seeds import RULES, Seed, child, seed_sequence
from bayes_gresub.data.validation import check_level, check_whole
from bayes_gresub.estimate.count_intervals import CROSS_VALIDATION_SHARE
from bayes_gresub.regions.region import check_predict
from bayes_gresub.regions.training import check_rule, is_fitted, read_for_rule, trained
from bayes_gresub.resampling import Bootstrap
from bayes_gresub.resampling.kept_together import Units, read_units
from bayes_gresub.resampling.shortcuts import LeftOut, NoShortcutError, has_shortcut, left_out
from bayes_gresub.resampling.shortcuts.refusals import TrainedOnOtherPoints

LEAST_REFITS, MOST_REFITS = 5, 40
"""Refits that the combination was learned from; more are used, but taken as so many."""

SMALLEST, LARGEST = 20, 500
"""Sizes of the samples that the combination was learned from."""

ENOUGH = 4.0
"""Held-out points are used alone if they are so many times as many as the training data are worth."""

IMPLAUSIBLE = 0.005
"""Tail probability below which held-out points contradict the training data."""


def assess(
    classifier: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    refits: int = 0,
    test: Any = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    n_jobs: int | None = None,
    progress: bool | None = None,
    random_state: Seed = 0,
    combination: str | Path | None = None,
) -> Answer:
    r"""Return the error of a trained classifier on new points: one number with one interval.

    Cheap numbers on the training data (resubstitution, kernels at three scales, label posteriors without the point
    itself, leave-one-out errors of reference rules and, where a formula gives it, of the classifier itself) go into a
    small model that was trained on many simulated and real populations. It answers with a distribution of the error
    :math:`\varepsilon_n` of this classifier,

    .. math:: \varepsilon_n \sim \mathrm{Beta}(\mu s, (1 - \mu) s),

    with the location :math:`\mu` and the effective number of points s. Held-out points, k wrong of m, turn it into
    :math:`\mathrm{Beta}(\mu s + k, (1 - \mu) s + m - k)`, or, if m > 4 s or if they contradict it, into
    :math:`\mathrm{Beta}(k + 1/2, m - k + 1/2)`.

    Choices made before X was handed over, such as selected features, are invisible to it: put them into the rule and
    use refits, or give held-out points.

    Parameters
    ----------
    classifier : fitted classifier, or a rule
        It must have been trained on X and y, in this order. A rule is trained on them first.
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
    refits : int, default 0
        How often a clone of the classifier may be trained on resamples: 0, or 5 or more. 10 are a good number.
    test : (X_test, y_test) or TestSet, optional
        Points that nothing has seen.
    groups : array-like of shape (n,), optional
        Points of one group are not independent, so they are left out together. Identical rows always are.
    sample_weight : array-like of shape (n,), optional
        Rows of unequal weight tell as much as Kish's number of equal ones.
    level : float, default 0.95
        Of the interval that is printed.
    n_jobs, progress
        Of the refits.
    random_state : int, SeedSequence, Generator or None
        0 by default, so that the same call gives the same number.
    combination : path, optional
        A file that `make learn` wrote, in place of the package's.

    Returns
    -------
    Answer

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> answer = bg.assess(LinearDiscriminantAnalysis().fit(X[:100], y[:100]), X[:100], y[:100])
    >>> 0.02 < answer.error < 0.15, answer.n_refits
    (True, 0)
    """
    started = perf_counter()
    check_level(level)
    check_whole(refits, "refits", 0)
    if 0 < refits < LEAST_REFITS:
        raise ValueError(f"refits must be 0, or {LEAST_REFITS} or more; got {refits}. Use refits=10.")
    learned = read_combination(refits > 0, None if combination is None else Path(combination))
    seed = seed_sequence(random_state)
    if sample_weight is not None and len(np.unique(np.asarray(sample_weight))) == 1:
        sample_weight = None
    sample = read_for_rule(classifier, X, y, sample_weight)
    if sample.n_classes == len(sample.codes):
        raise ValueError(
            f"y must hold at least two rows of some class; got {sample.n_classes} classes in as many rows. Is it the "
            "column with the labels?"
        )
    units = read_units(sample, groups, "together")
    if is_fitted(classifier, sample.restored(np.arange(1))):
        judged = classifier
    else:
        check_rule(classifier)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=float)[sample.rows]
        judged = trained(
            classifier, sample.restored(np.arange(len(sample.codes))), sample.labels, weights, child(seed, RULES)
        )
    check_predict(judged)
    labels = None
    if refits:
        bootstrap = Bootstrap("zero", refits, n_jobs=n_jobs, progress=progress, random_state=seed)
        with warnings.catch_warnings():
            # That the few resamples leave out no point of a rare class is no news here.
            warnings.filterwarnings("ignore", "the bootstrap tests a class", UserWarning)
            bootstrap.error(classifier, X, y, sample_weight=sample_weight, groups=groups, classifier=judged)
        labels = OutOfBagLabels.of(bootstrap._last_run().judgements, len(sample.codes))
    view = View(classifier, judged, X)
    view = view if sample.format.is_numeric else skip_preparation(view) or view
    numeric = read_sample(view.X, y, sample_weight)
    counts = None if test is None else count_held_out(test, view, numeric, seed)
    own, other_rows = _own_left_out(view, numeric, units)
    parts = clues(TrainedOn(view.classifier, numeric, units.of_points(numeric)), own, seed, labels)
    prediction = learned.predict(_within_learned(parts))
    notices = [
        *other_rows,
        *_notices(numeric, _column_names(view, numeric), units, parts, prediction, 0 if counts is None else counts[0]),
    ]
    result = _with_direct(_widened(prediction), parts)
    alone = False
    if counts is not None:
        result, alone, disagreement = _with_test(result, counts)
        notices += disagreement
    if result.mean > parts["majority"] and not _predicts_largest_class(parts):
        notices.append(WorseThanMajority(result.mean, parts["majority"], result.probability_above(parts["majority"])))
    return Answer(
        result.mean,
        result.n_points,
        str(Subject(classifier, len(sample.codes))),
        len(sample.codes),
        refits,
        parts,
        tuple(notices),
        _improvements(result, not refits and not alone and _can_refit(classifier), counts is not None),
        counts,
        alone,
        perf_counter() - started,
        level,
        seed,
    )


def _own_left_out(view: View, sample: Sample, units: Units) -> tuple[LeftOut | None, list[Notice]]:
    """Return the leave-one-out of the classifier itself, if a formula gives it, and a notice if it is of other rows."""
    # Formulas of leave-one-out are those of points of equal weight.
    if sample.is_weighted or has_shortcut(view.classifier) is not None:
        return None, []
    rows = sample.restored(np.arange(len(sample.codes)))
    try:
        return left_out(view.classifier, rows, sample.labels, units.of_points(sample), approximate=True), []
    except NoShortcutError as error:
        return None, [TrainedElsewhere()] if isinstance(error.reason, TrainedOnOtherPoints) else []


def _column_names(view: View, sample: Sample) -> Sequence[Any] | None:
    """Return the names of the columns that the classifier sees, if they have any."""
    if sample.feature_names is not None or view.preparation is None:
        return sample.feature_names
    try:
        names = view.preparation.get_feature_names_out()
    except (AttributeError, ValueError):  # steps of the user's own may have no names
        return None
    return names if len(names) == sample.features.shape[1] else None


def _predicts_largest_class(parts: Mapping[str, float]) -> bool:
    """Return whether the classifier seems to predict the largest class everywhere, so it cannot be worse than that."""
    return bool(np.allclose([parts["apparent"], parts["no_information"]], parts["majority"]))


def _can_refit(classifier: Any) -> bool:
    try:
        check_rule(classifier)
    except TypeError:
        return False
    return True


def _within_learned(parts: Mapping[str, float]) -> dict[str, float]:
    """Return the clues with sizes and numbers of refits moved to the nearest ones that were learned from."""
    moved = {"log_n": float(np.clip(parts["log_n"], np.log(SMALLEST), np.log(LARGEST)))}
    if "inverse_refits" in parts:
        moved["inverse_refits"] = max(parts["inverse_refits"], 1 / MOST_REFITS)
    return {**parts, **moved}


def _widened(prediction: Prediction) -> Prediction:
    """Return the prediction with a variance that grows as the square of its strangeness, if that is above 1."""
    if prediction.strangeness <= 1:
        return prediction
    n_points = max((prediction.n_points + 1) / prediction.strangeness**2 - 1, LEAST_POINTS)
    return Prediction(prediction.mean, n_points, prediction.strangeness)


def _with_direct(prediction: Prediction, parts: Mapping[str, float]) -> Prediction:
    r"""Return the prediction with errors counted at rows left out, where the sample is larger than any learned from.

    Such a count e has the variance :math:`e (1 - e) / (0.6 n)`. The zero bootstrap is trained on fewer rows, so half
    its distance from .632+ counts as a deviation, too. If the count is worth t points, t > s, it adds the t - s that
    the prediction has not:

    .. math:: \mu' = \frac{s \mu + (t - s)\, e}{t}, \qquad s' = t
    """
    n = float(np.exp(parts["log_n"]))
    if n <= LARGEST or not (parts["has_own"] or "zero" in parts):
        return prediction
    error, deviation = (parts["own_error"], 0.0) if parts["has_own"] else (parts["zero"], parts["zero"] - parts["plus"])
    # Half an error more keeps the distribution away from 0 and 1.
    error = (n * error + 0.5) / (n + 1)
    spread = error * (1 - error)
    n_direct = spread / (spread / (CROSS_VALIDATION_SHARE * n) + deviation**2 / 4)
    if n_direct <= prediction.n_points:
        return prediction
    share = prediction.n_points / n_direct
    return Prediction(share * prediction.mean + (1 - share) * error, n_direct, prediction.strangeness)


def _with_test(prediction: Prediction, counts: tuple[int, int]) -> tuple[Prediction, bool, list[Notice]]:
    """Return the prediction with held-out points, whether only those are used, and what contradicts."""
    n_wrong, n = counts
    first, second = prediction.mean * prediction.n_points, (1 - prediction.mean) * prediction.n_points
    law = betabinom(n, first, second)
    contradicts = 2 * min(law.cdf(n_wrong), law.sf(n_wrong - 1)) < IMPLAUSIBLE
    if contradicts or n > ENOUGH * prediction.n_points:
        notices: list[Notice] = [HeldOutDisagrees(prediction.mean, n_wrong / n)] if contradicts else []
        return Prediction((n_wrong + 0.5) / (n + 1), n + 1.0), True, notices
    total = prediction.n_points + n
    return Prediction((first + n_wrong) / total, total, prediction.strangeness), False, []


def _notices(
    sample: Sample,
    names: Sequence[Any] | None,
    units: Units,
    parts: Mapping[str, float],
    prediction: Prediction,
    n_wrong_held_out: int,
) -> list[Notice]:
    notices: list[Notice] = []
    n = len(sample.codes)
    if units.n_repeated_rows:
        notices.append(RepeatedRows(units.n_repeated_rows, n))
    column = deciding_column(sample.features, sample.codes, names)
    if column is not None:
        notices.append(OneColumnDecides(column))
    counted = [*([parts["own_error"]] if parts["has_own"] else []), *([parts["zero"]] if "zero" in parts else [])]
    if counted and not any([parts["apparent"], *counted, n_wrong_held_out]):
        notices.append(NoErrors())
    if prediction.strangeness > 1:
        notices.append(UnlikeLearned(prediction.strangeness))
    n_units = round(float(np.exp(parts["log_n"])))
    if not SMALLEST <= n_units <= LARGEST:
        notices.append(SizeOutside(n_units, SMALLEST, LARGEST))
    return notices


def _improvements(prediction: Prediction, may_refit: bool, has_test: bool) -> tuple[Improvement, ...]:
    improvements: list[Improvement] = [MayRefit()] if may_refit else []
    # Four times the points halve the width.
    return (*improvements, MoreHeldOut(int(np.ceil(3 * prediction.n_points / 10) * 10), has_test))
