"""Equal rows as one point that was seen several times, in units of the features' deviations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class MergedPoints:
    """Different points, and how often each class was seen there.

    Attributes
    ----------
    units : ndarray of shape (n, d)
        The points, less the mean and divided by the deviation of the sample; constant features are 0.
    counts : ndarray of shape (n, c)
    group : ndarray
        The point of each row that was given.
    origin, scale : ndarray of shape (d,)
        Mean and deviation; infinite for constant features.
    """

    units: Floats
    counts: Floats
    group: Ints
    origin: Floats
    scale: Floats

    @property
    def n_varying(self) -> int:
        """Return the number of features that are not constant, at least 1."""
        return max(1, int(np.isfinite(self.scale).sum()))

    def in_units(self, points: Floats) -> Floats:
        """Return points in the units of the sample."""
        return (points - self.origin) / self.scale


def merge_points(points: Floats, codes: Ints, weights: Floats, n_classes: int) -> MergedPoints:
    """Merge equal rows of a sample into one point."""
    different, group = np.unique(points, axis=0, return_inverse=True)
    counts = np.zeros((len(different), n_classes))
    np.add.at(counts, (group.ravel(), codes), weights)
    total = counts.sum(axis=1)
    share = total / total.sum()
    largest = np.abs(different).max(axis=0)
    origin = share @ different
    centered = different - origin
    # A feature that differs by rounding only is constant.
    varies = np.ptp(different, axis=0) > 4 * np.finfo(float).eps * largest
    # Divided first: squares of very large or small numbers are not numbers.
    reach = np.where(varies, np.abs(centered).max(axis=0), 1.0)
    deviation = reach * np.sqrt(share @ (centered / reach) ** 2)
    scale = np.where(varies, deviation, np.inf)
    return MergedPoints(centered / scale, counts, group.ravel(), origin, scale)
