"""What a smoothed measure works with on the way from points to an estimate; nothing here is fitted or integrated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.laws.confusion import replicates_with_prior
from bayes_gresub.regions.region import Region


@dataclass(frozen=True, eq=False)
class Centers:
    """The points that the measure is centred at; `codes` is None where they have no labels."""

    features: Floats
    codes: Ints | None
    weights: Floats
    rows: Ints
    n_given: int
    are_training: bool


@dataclass(frozen=True, eq=False)
class Judged:
    """What is known of the classifier before the integral."""

    region: Region
    at_centers: Ints
    codes_of_classes: Ints

    def over_region(self, law: Floats) -> Floats:
        """Return a law over the measure's classes, shape (m, c), as one over the region's."""
        if len(self.codes_of_classes) == self.region.n_classes:
            return law
        whole = np.zeros((len(law), self.region.n_classes))
        whole[:, self.codes_of_classes] = law
        return whole


def correct_centers(centers: Centers, judged: Judged) -> NDArray[np.bool_] | None:
    """Return which centres the classifier gets right; None where they have no labels."""
    if centers.codes is None:
        return None
    return np.asarray(judged.at_centers == judged.codes_of_classes[centers.codes])


def total_loss(losses: Floats, masses: Floats, prior: Floats | None) -> Floats:
    """Return the mean loss per replicate, from the classes' shares of it and their masses, (replicates, c) both."""
    if prior is None:
        return np.asarray(losses.sum(axis=1))
    # The losses of a class as a row of two, so that they are rescaled like a confusion mass.
    rows = np.stack([losses, masses - losses], axis=2)
    return np.asarray(replicates_with_prior(rows, prior)[..., 0].sum(axis=1))


def at_given_rows(values: Floats, centers: Centers) -> Floats:
    """Return one value per point given, 0 at those of weight zero."""
    if len(centers.rows) == centers.n_given:
        return values
    whole = np.zeros(centers.n_given)
    whole[centers.rows] = values
    return whole
