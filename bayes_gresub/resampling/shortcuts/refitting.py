"""Refits of the rule for the few blocks that a formula does not cover."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.resampling.shortcuts.training_rows import TrainingRows


def refit_blocks(rule: Any, rows: TrainingRows, blocks: Ints, codes: Ints, scores: Floats) -> int:
    """Fill in codes and probabilities of the rows of these blocks by refits, and return their number."""
    labels = rows.labels
    with config_context(assume_finite=True, skip_parameter_validation=True):
        for block in blocks:
            members, rest = rows.members[block], rows.outside(block)
            classifier = clone(rule).fit(rows.features[rest], labels[rest])
            points = rows.features[members]
            codes[members] = np.searchsorted(rows.classes, classifier.predict(points))
            scores[members] = classifier.predict_proba(points)
    return len(blocks)


def in_words(n_fits: int, rows: TrainingRows, reason: str) -> str:
    """Return how many blocks were refitted and why, to be added to a method."""
    return f"; {n_fits} of {len(rows.sizes)} refitted, {reason}" if n_fits else ""
