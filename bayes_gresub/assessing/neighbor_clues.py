"""Clues from neighbours: how well labels follow from the labels nearby, and how often the classifier agrees.

A point is never its own neighbour, nor is another row of its group: what is left is as if the point were new.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import rankdata

from bayes_gresub.data.arrays import Floats, Ints

NEIGHBORS = (1, 3, 9)
"""Numbers of neighbours that vote."""


@dataclass(frozen=True, eq=False)
class Neighborhood:
    r"""Label shares among the nearest neighbours of each training point, the point and its group left out.

    .. math:: q_{ij} = \frac1k \sum_{l=1}^{k} I(Y_{(l)}(X_i) = j)

    Attributes
    ----------
    shares : dict from k to ndarray of shape (n, c)
    own, other : ndarray of shape (n,)
        Distance to the nearest point of the same class and of other classes; infinite if there is none.
    """

    shares: dict[int, Floats]
    own: Floats
    other: Floats

    def class_distances(self, codes: Ints) -> Floats:
        """Return the mean distance to the nearest point of the same class, (c,); of all classes, where it has one."""
        known = np.isfinite(self.own)
        n_classes = self.shares[1].shape[1]
        counts = np.bincount(codes[known], minlength=n_classes)
        sums = np.bincount(codes[known], weights=self.own[known], minlength=n_classes)
        overall = sums.sum() / counts.sum() if counts.any() else 0.0
        return np.divide(sums, counts, out=np.full(n_classes, overall), where=counts > 0)

    def clues(self, codes: Ints, predicted: Ints, weights: Floats) -> dict[str, float]:
        """Return error of the neighbours' vote, mean posterior error of the classifier, and disagreement of both."""
        rows = np.arange(len(codes))
        result = {"separation": float(weights @ _log_ratio(self.other, self.own))}
        for k, shares in self.shares.items():
            winners = shares >= shares.max(axis=1, keepdims=True) - 1e-12
            votes = winners / winners.sum(axis=1, keepdims=True)
            result[f"vote{k}"] = float(weights @ (1.0 - votes[rows, codes]))
            result[f"apart{k}"] = float(weights @ (1.0 - votes[rows, predicted]))
            if k > 1:
                result[f"posterior{k}"] = float(weights @ (1.0 - shares[rows, predicted]))
        return result


def neighborhood(points: Floats, codes: Ints, groups: Ints, n_classes: int) -> Neighborhood:
    """Return the neighbourhood of each point among points (n, d); rows of one group are no neighbours."""
    distances = cdist(points, points)
    same_group = groups[:, None] == groups
    distances[same_group] = np.inf
    n = len(points)
    most = min(max(NEIGHBORS), n - 1)
    nearest = (
        np.argpartition(distances, most - 1, axis=1)[:, :most] if most < n - 1 else np.argsort(distances)[:, :most]
    )
    reach = np.take_along_axis(distances, nearest, axis=1)
    order = np.argsort(reach, axis=1, kind="stable")
    nearest, reach = np.take_along_axis(nearest, order, axis=1), np.take_along_axis(reach, order, axis=1)
    labels = np.eye(n_classes)[codes[nearest]] * np.isfinite(reach)[:, :, None]
    shares = {}
    for k in NEIGHBORS:
        votes = labels[:, :k].sum(axis=1)
        total = votes.sum(axis=1, keepdims=True)
        # A point whose group is all there is has no neighbours: nothing is known of its label.
        shares[k] = np.divide(votes, total, out=np.full_like(votes, 1.0 / n_classes), where=total > 0)
    same_class = codes[:, None] == codes
    own = np.where(same_class, distances, np.inf).min(axis=1)
    other = np.where(same_class, np.inf, distances).min(axis=1)
    return Neighborhood(shares, own, other)


def ranks(features: Floats) -> Floats:
    """Return each feature as mid-ranks between 0 and 1, which no increasing change of a feature alters."""
    return np.asarray((rankdata(features, axis=0) - 0.5) / len(features))


def _log_ratio(other: Floats, own: Floats) -> Floats:
    """Return log(other / own), between -3 and 3; 0 where neither is known."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(other) - np.log(own)
    return np.clip(np.nan_to_num(ratio, nan=0.0, posinf=3.0, neginf=-3.0), -3.0, 3.0)
