"""Leave-one-out of support vector machines: rows that are no support vectors change nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.svm import SVC

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.estimate.reasons import Reason
from bayes_gresub.resampling.shortcuts.left_out_labels import LeftOut, decide
from bayes_gresub.resampling.shortcuts.pair_votes import vote
from bayes_gresub.resampling.shortcuts.refusals import SettingWithoutShortcut
from bayes_gresub.resampling.shortcuts.standardizing import Standardizing, moments, standardizing
from bayes_gresub.resampling.shortcuts.training_rows import TrainingRows

_KERNELS = ("linear", "rbf", "poly", "sigmoid")


def refuse_support_vectors(rule: Any, scaler: Any) -> Reason | None:
    """Return why this support vector machine has no shortcut."""
    if rule.kernel not in _KERNELS:
        return SettingWithoutShortcut("SVC", "kernel", repr(rule.kernel))
    if rule.max_iter != -1:
        return SettingWithoutShortcut("SVC", "max_iter", repr(rule.max_iter))
    return None


def leave_out_support_vectors(rule: Any, scaler: Any, whole: Any, rows: TrainingRows) -> LeftOut:
    """Return the decisions of machines trained on the rows outside of each row's block.

    The solution is determined by its support vectors, so a block without any leaves it as it is, if the kernel and the
    class weights stay as they were. They do not behind a scaler, with `gamma="scale"` (except for linear kernels) or
    with balanced weights. The blocks that change something are refitted on the precomputed kernel.
    """
    family = KernelFamily.of(rule, scaler, rows)
    class_weights = rows.class_weights(rule.class_weight)
    values = np.empty((len(rows.codes), rows.n_classes * (rows.n_classes - 1) // 2))
    changed = np.arange(len(rows.sizes))
    n_whole, fixed = 0, None
    with config_context(assume_finite=True, skip_parameter_validation=True):
        if family.is_fixed and (class_weights == class_weights[0]).all():
            fixed = family.matrix(0, rows.features, rows.features)
            machine = _train(rule, fixed, rows.codes, class_weights[0])
            values[:] = _pair_values(machine, fixed)
            changed, n_whole = np.unique(rows.block[machine.support_]), 1
        for block in changed.tolist():
            members, rest = rows.members[block], rows.outside(block)
            kernel = family.matrix(block, rows.features, rows.features[rest]) if fixed is None else fixed[:, rest]
            machine = _train(rule, kernel[rest], rows.codes[rest], class_weights[block])
            values[members] = _pair_values(machine, kernel[members])
    codes, scores = decide(-values) if rows.n_classes == 2 else vote(values, rows.n_classes, rule.break_ties)
    method = f"{len(changed)} of {len(rows.sizes)} refitted on the kernel, which the others do not change"
    return LeftOut(codes, scores, False, True, method, n_whole + len(changed))


def _train(rule: Any, kernel: Floats, codes: Ints, class_weights: Floats) -> Any:
    machine = SVC(
        kernel="precomputed",
        C=rule.C,
        tol=rule.tol,
        shrinking=rule.shrinking,
        cache_size=rule.cache_size,
        class_weight=dict(enumerate(class_weights.tolist())),
        decision_function_shape="ovo",
    )
    return machine.fit(kernel, codes)


def _pair_values(machine: Any, kernel: Floats) -> Floats:
    """Return the decision values of the pairs, positive for the first class."""
    values = machine.decision_function(kernel)
    return -values[:, None] if values.ndim == 1 else values


@dataclass(frozen=True, eq=False)
class KernelFamily:
    """The kernel of a machine without each block.

    Attributes
    ----------
    rule : SVC
    units : Standardizing
    gamma : ndarray of shape (g,)
    is_fixed : bool
        Whether the kernel is the same for all blocks.
    """

    rule: Any
    units: Standardizing
    gamma: Floats
    is_fixed: bool

    @classmethod
    def of(cls, rule: Any, scaler: Any, rows: TrainingRows) -> KernelFamily:
        """Return the kernels of a rule."""
        units, d = standardizing(rows, scaler), rows.features.shape[1]
        if rule.gamma == "scale" and rule.kernel != "linear":
            means, variances = moments(rows)
            means = (means - units.center) / units.scale
            spread = (variances / units.scale**2).mean(axis=1) + means.var(axis=1)
            gamma = np.divide(1, d * spread, out=np.ones_like(spread), where=spread > 0)
            return cls(rule, units, gamma, False)
        value = 1 / d if isinstance(rule.gamma, str) else float(rule.gamma)
        moves = scaler is not None and (scaler.with_mean or scaler.with_std)
        return cls(rule, units, np.full(len(rows.sizes), value), not moves)

    def matrix(self, block: int, points: Floats, others: Floats) -> Floats:
        """Return the kernel of points and others without a block."""
        points, others = ((part - self.units.center[block]) / self.units.scale[block] for part in (points, others))
        return kernel_matrix(self.rule, float(self.gamma[block]), points, others)


def kernel_matrix(rule: Any, gamma: float, points: Floats, others: Floats) -> Floats:
    """Return the kernel of a rule between two sets of points in its units."""
    if rule.kernel == "rbf":
        return np.exp(-gamma * cdist(points, others, "sqeuclidean"))
    products = points @ others.T
    if rule.kernel == "linear":
        return np.asarray(products)
    inner = gamma * products + rule.coef0
    return np.tanh(inner) if rule.kernel == "sigmoid" else inner**rule.degree
