"""Approximate leave-one-out of logistic regression and linear support vector machines, by one Newton step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import expit, softmax

from bayes_gresub.data.arrays import Floats
from bayes_gresub.estimate.reasons import Reason
from bayes_gresub.resampling.shortcuts.left_out_labels import LeftOut, decide
from bayes_gresub.resampling.shortcuts.newton_step import design_of, predictors_without
from bayes_gresub.resampling.shortcuts.refusals import SettingWithoutShortcut
from bayes_gresub.resampling.shortcuts.training_rows import TrainingRows, as_dense

_METHOD = "one Newton step from the fit to all rows"


def refuse_logistic(rule: Any, scaler: Any) -> Reason | None:
    """Return why this logistic regression has no shortcut."""
    name = "LogisticRegression"
    if rule.penalty not in ("l2", "deprecated", None):
        return SettingWithoutShortcut(name, "penalty", repr(rule.penalty))
    if rule.l1_ratio not in (None, 0):
        return SettingWithoutShortcut(name, "l1_ratio", repr(rule.l1_ratio))
    if getattr(rule, "multi_class", "auto") not in ("auto", "deprecated", "multinomial"):
        return SettingWithoutShortcut(name, "multi_class", repr(rule.multi_class))
    return None


def leave_out_logistic(classifier: Any, points: Floats, rows: TrainingRows) -> LeftOut:
    r"""Return the posteriors of logistic regression without each row's block, from a trained one.

    The loss is :math:`-C \log p_{y}(x)`, with slopes :math:`p - t` and curvatures :math:`\mathrm{diag}(p) - p p^T`.
    A scaler in front is that of the whole sample.
    """
    scaling = None
    if classifier.solver == "liblinear" and classifier.fit_intercept:
        scaling = float(classifier.intercept_scaling)
    intercept = classifier.intercept_ if classifier.fit_intercept else None
    fit = design_of(points, as_dense(classifier.coef_), intercept, scaling)
    if classifier.penalty is None or np.isinf(classifier.C):
        fit = replace(fit, penalty=np.zeros_like(fit.penalty))
    factor = 1.0 if np.isinf(classifier.C) or classifier.penalty is None else float(classifier.C)
    if rows.n_classes == 2:
        p = expit(fit.predictors)
        fit = replace(fit, slopes=p - rows.membership[:, 1:], curvatures=(p * (1 - p))[:, :, None])
    else:
        p = softmax(fit.predictors, axis=1)
        curvatures = p[:, :, None] * np.eye(rows.n_classes) - p[:, :, None] * p[:, None, :]
        fit = replace(fit, slopes=p - rows.membership, curvatures=curvatures)
    weightings, which = np.unique(rows.class_weights(classifier.class_weight), axis=0, return_inverse=True)
    predictors = predictors_without(fit, rows, factor * weightings[:, rows.codes], which.ravel())
    codes, decision = decide(predictors)
    p = softmax(predictors, axis=1) if rows.n_classes > 2 else expit(decision)
    return LeftOut(codes, p, True, False, _METHOD)


def refuse_linear_machine(rule: Any, scaler: Any) -> Reason | None:
    """Return why this linear support vector machine has no shortcut."""
    for setting, only in (("penalty", "l2"), ("loss", "squared_hinge"), ("multi_class", "ovr")):
        if getattr(rule, setting) != only:
            return SettingWithoutShortcut("LinearSVC", setting, repr(getattr(rule, setting)))
    return None


def leave_out_linear_machine(classifier: Any, points: Floats, rows: TrainingRows) -> LeftOut:
    r"""Return the decision values of a linear machine without each row's block, from a trained one.

    The loss is :math:`C \max(0, 1 - t f)^2`, with slope :math:`-2 t (1 - t f)` and curvature 2 inside the margin. The
    step is exact if no row enters or leaves the margin. A scaler in front is that of the whole sample.
    """
    scaling = float(classifier.intercept_scaling) if classifier.fit_intercept else None
    class_weights = rows.class_weights(classifier.class_weight)
    weightings, which = np.unique(class_weights, axis=0, return_inverse=True)
    coefficients = as_dense(classifier.coef_)
    decision = np.empty((len(rows.codes), len(coefficients)))
    for number in range(len(coefficients)):
        intercept = classifier.intercept_[[number]] if classifier.fit_intercept else None
        fit = design_of(points, coefficients[[number]], intercept, scaling)
        positive = rows.codes == (1 if rows.n_classes == 2 else number)
        sign = np.where(positive, 1.0, -1.0)[:, None]
        gap = np.maximum(0.0, 1 - sign * fit.predictors)
        fit = replace(fit, slopes=-2 * sign * gap, curvatures=np.where(gap > 0, 2.0, 0.0)[:, :, None])
        weights = weightings[:, rows.codes]
        if rows.n_classes > 2:
            # One class against the rest: liblinear weights the one class only.
            weights = np.where(positive, weightings[:, [number]], 1.0)
        step = predictors_without(fit, rows, classifier.C * weights, which.ravel())
        decision[:, number] = step[:, 0]
    codes, scores = decide(decision)
    return LeftOut(codes, scores, False, False, _METHOD)
