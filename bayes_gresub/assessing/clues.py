"""All cheap numbers on the training data from which the error of a classifier is predicted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_gresub.assessing.bagged_trees import bagged_tree_clues
from bayes_gresub.assessing.neighbor_clues import neighborhood, ranks
from bayes_gresub.assessing.network_clues import tangent_posteriors
from bayes_gresub.assessing.out_of_bag_labels import OutOfBagLabels
from bayes_gresub.assessing.reference_clues import reference_clues
from bayes_gresub.assessing.smoothing_clues import smoothing_clues
from bayes_gresub.assessing.tree_clues import leaf_votes
from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.sample import Sample
from bayes_gresub.data.seeds import WIDTHS, child
from bayes_gresub.data.units import pooled_deviation, to_units
from bayes_gresub.regions.geometry import listed_classes
from bayes_gresub.regions.region import decision_region
from bayes_gresub.resampling.kept_together import Units
from bayes_gresub.resampling.shortcuts import LeftOut

MOST_ROWS = 1000
"""Rows that clues are computed from, at most; of more, a random part."""


@dataclass(frozen=True, eq=False)
class TrainedOn:
    """A trained classifier and the rows it was trained on, as numbers.

    Attributes
    ----------
    classifier : fitted classifier
    sample : Sample
    groups : ndarray of shape (n,)
        Rows of one group are not independent; identical rows are in one group.
    """

    classifier: Any
    sample: Sample
    groups: Ints

    def part(self, rows: Ints) -> TrainedOn:
        """Return the same classifier with some of its rows."""
        return TrainedOn(self.classifier, self.sample.part(rows), self.groups[rows])


def clues(
    subject: TrainedOn,
    left_out: LeftOut | None,
    seed: np.random.SeedSequence,
    out_of_bag: OutOfBagLabels | None = None,
) -> Mapping[str, float]:
    """Return the clues by name.

    `left_out` is the classifier's own leave-one-out, if it has a shortcut; `out_of_bag` the labels by refits on
    resamples at the rows that each left out, if there were refits: these add clues of their own.

    Of more than 1,000 rows, neighbours, references and kernels use a random part; size, shares, apparent error and
    leave-one-out are those of all rows.
    """
    whole, sample = subject, subject.sample
    if len(sample.codes) > MOST_ROWS:
        rng = np.random.default_rng(child(seed, WIDTHS))
        chosen = np.sort(rng.choice(len(sample.codes), MOST_ROWS, replace=False))
        subject = subject.part(chosen)
        sample = subject.sample
        near_labels = None if out_of_bag is None else out_of_bag.part(chosen)
    else:
        near_labels = out_of_bag
    groups, codes, weights = subject.groups, sample.codes, sample.weights
    units = _units(sample)
    n_classes = sample.n_classes + _n_unseen_classes(subject)
    near = neighborhood(units, codes, groups, n_classes)
    smoothed, predicted = smoothing_clues(subject.classifier, sample, near, seed)
    by_rank = neighborhood(ranks(sample.features), codes, groups, n_classes)
    everywhere = predicted if subject is whole else _predict(whole, seed)
    result = {
        **_description(whole.sample, everywhere, whole.groups),
        **near.clues(codes, predicted, weights),
        **{f"rank_{name}": value for name, value in by_rank.clues(codes, predicted, weights).items()},
        **smoothed,
        **reference_clues(units - weights @ units, codes, groups, predicted, weights, n_classes),
        **bagged_tree_clues(sample.features, codes, groups, predicted, weights, n_classes, seed),
        **_left_out_clues(whole, left_out, everywhere),
    }
    if out_of_bag is not None and near_labels is not None:
        result |= out_of_bag.clues(whole.sample.codes, everywhere, whole.sample.weights, n_classes)
        result |= near_labels.posterior_clues(near.shares, weights)
    return result


def _n_unseen_classes(subject: TrainedOn) -> int:
    """Return the number of classes that the classifier lists and the sample lacks."""
    listed = listed_classes(subject.classifier)
    return 0 if listed is None else int((~np.isin(listed, subject.sample.classes)).sum())


def _predict(subject: TrainedOn, seed: np.random.SeedSequence) -> Ints:
    """Return the codes of the classifier's labels at all rows."""
    return decision_region(subject.classifier, subject.sample, seed, with_geometry=False).center_labels


def _units(sample: Sample) -> Floats:
    """Return features divided by their deviation within classes, or overall where there is none."""
    scale = pooled_deviation(sample.features, sample.codes)
    if not scale.all():
        overall = pooled_deviation(sample.features, np.zeros_like(sample.codes))
        scale = np.where(scale > 0, scale, overall)
    return to_units(sample.features - sample.features.mean(axis=0), scale)


def _description(sample: Sample, predicted: Ints, groups: Ints) -> dict[str, float]:
    """Return size, shape and class shares of the sample, and the share of its rows that are misclassified."""
    n_classes = max(sample.n_classes, int(predicted.max()) + 1)
    shares = np.bincount(sample.codes, weights=sample.weights, minlength=n_classes)
    chosen = np.bincount(predicted, weights=sample.weights, minlength=n_classes)
    number = np.unique(groups, return_inverse=True)[1]
    # Weights leave as many independent rows as Kish's number tells, in proportion to equal weights.
    units, equal = Units(number), np.full(len(number), 1 / len(number))
    n_groups = (number.max() + 1) * units.effective_number(sample.weights) / units.effective_number(equal)
    return {
        "log_n": float(np.log(n_groups)),
        "log_d": float(np.log(sample.features.shape[1])),
        "log_c": float(np.log((shares > 0).sum())),
        "smallest": float(shares[shares > 0].min()),
        "majority": float(1.0 - shares.max()),
        "no_information": float(shares @ (1.0 - chosen)),
        "apparent": float(sample.weights @ (predicted != sample.codes)),
    }


def _left_out_clues(subject: TrainedOn, left_out: LeftOut | None, predicted: Ints) -> dict[str, float]:
    """Return the leave-one-out error of the classifier itself, and how often it changes its label; with flags.

    Where there is neither a shortcut nor a tree or network, the numbers are 0 and the flags say so.
    """
    sample = subject.sample
    codes, weights, rows = sample.codes, sample.weights, np.arange(len(sample.codes))
    result = dict.fromkeys(
        (
            *("own_error", "own_changed", "own_doubt", "has_own", "has_doubt"),
            *("leaf_error", "has_leaf", "tangent_error", "tangent_doubt", "has_tangent"),
        ),
        0.0,
    )
    if left_out is not None:
        # Rows that every member of a forest has seen are not left out by any.
        out = np.flatnonzero(left_out.codes >= 0)
        mass = weights[out] / weights[out].sum()
        result["own_error"] = float(mass @ (left_out.codes != codes)[out])
        result["own_changed"] = float(mass @ (left_out.codes != predicted)[out])
        result["has_own"] = 1.0
        if left_out.probabilities and left_out.scores is not None:
            result["own_doubt"] = float(mass @ (1.0 - left_out.scores[out, codes[out]]))
            result["has_doubt"] = 1.0
        return result
    votes = leaf_votes(subject.classifier, sample.restored(rows), codes, subject.groups, sample.n_classes)
    if votes is not None:
        result["leaf_error"], result["has_leaf"] = float(weights @ (votes != codes)), 1.0
    shares = tangent_posteriors(subject.classifier, sample.restored(rows), codes, subject.groups, sample.n_classes)
    if shares is not None:
        result["tangent_error"] = float(weights @ (shares.argmax(axis=1) != codes))
        result["tangent_doubt"] = float(weights @ (1.0 - shares[rows, codes]))
        result["has_tangent"] = 1.0
    return result
