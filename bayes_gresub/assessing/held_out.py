"""Held-out rows beside an answer: checked against the training rows, and counted."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import binom

from bayes_gresub.comparing.prepared_columns import View
from bayes_gresub.data.repeated_rows import identical_rows
from bayes_gresub.data.sample import Sample, read_labels
from bayes_gresub.measures import Empirical
from bayes_gresub.regions.region import decision_region
from bayes_gresub.resampling import TestSet

BY_CHANCE = 0.005
"""Probability below which so many rows of the training data among held-out ones are no coincidence."""


def count_held_out(test: Any, view: View, sample: Sample, seed: np.random.SeedSequence) -> tuple[int, int]:
    """Return the number of held-out rows that are misclassified, and how many there are.

    Parameters
    ----------
    test : (X, y) or TestSet
        X in the form that the classifier was given; a label that it never saw counts as an error.
    view : View
    sample : Sample
        The training rows as numbers.
    seed : SeedSequence

    Raises
    ------
    TypeError, ValueError
        Such as for rows that the training data hold, too, more often than chance explains.
    """
    X, y = _points(test)
    try:
        held_out = sample.others(view.prepare(X), None)
        labels = read_labels(y, len(held_out.codes))
    except (TypeError, ValueError) as error:
        raise type(error)(f"held-out rows: {error}") from error
    known = np.isin(labels, sample.classes)
    if not known.any():
        raise ValueError(
            f"labels of held-out rows must be those of y, {sample.classes.tolist()!r}; got "
            f"{np.unique(labels).tolist()!r}. Give them the same type and spelling."
        )
    _check_new(sample, held_out)
    predicted = decision_region(view.classifier, held_out, seed, with_geometry=False).center_labels
    right = known & (sample.classes[np.minimum(predicted, sample.n_classes - 1)] == labels)
    return int((~right | (predicted >= sample.n_classes)).sum()), len(labels)


def _points(test: Any) -> tuple[Any, Any]:
    if isinstance(test, TestSet):
        if test.sample_weight is not None or not (test.measure is None or isinstance(test.measure, Empirical)):
            raise ValueError(
                "held-out rows are counted, so each must weigh the same; got a TestSet with sample_weight or a measure "
                "that smooths. Pass test=(X, y), or look at the TestSet's own error(classifier)."
            )
        return test.X, test.y
    if not isinstance(test, tuple | list) or len(test) != 2:
        raise TypeError(f"test must be a TestSet or a pair (X_test, y_test); got {type(test).__name__}.")
    return test[0], test[1]


def _check_new(sample: Sample, held_out: Sample) -> None:
    """Raise if held-out rows equal training rows more often than these equal each other."""
    n, m = len(sample.features), len(held_out.features)
    same = identical_rows(np.concatenate([sample.features, held_out.features]))
    if same is None:
        return
    counts = np.bincount(same[:n], minlength=int(same.max()) + 1)
    n_twins, n_seen = int((counts[same[:n]] > 1).sum()), int((counts[same[n:]] > 0).sum())
    if binom.sf(n_seen - 1, m, (n_twins + 1) / (n + 2)) < BY_CHANCE:
        raise ValueError(
            f"held-out rows must be rows that nothing has seen; {n_seen} of {m} equal a training row in all features, "
            f"while {n_twins} of the {n} training rows equal another. Leave the rows out that the classifier was "
            "trained on."
        )
