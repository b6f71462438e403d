"""The mass about each centre of a law before averaging: any weights of the centres can then reduce it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from bayes_gresub.data.arrays import Floats
from bayes_gresub.laws.confusion import class_mass, error_mass, joint, prior_ratio, replicates_with_prior


@dataclass(frozen=True, eq=False)
class Outcome:
    """The integral, averaged over the centres: errors (replicates,), confusions (replicates, c, c), contributions."""

    values: Floats
    confusions: Floats
    contributions: Floats
    weights: Floats


class PointMasses(ABC):
    """The mass about each of k centres, per replicate, by label and prediction."""

    @abstractmethod
    def outcome(self, weights: Floats, prior: Floats | None = None) -> Outcome:
        """Average with these weights of the centres; `prior` are class probabilities to rescale to."""

    @abstractmethod
    def pairs_about(self) -> Floats:
        """Return the mean mass of each (label, prediction) about each centre, (k, c, c)."""

    def rows_about(self) -> Floats | None:
        """Return the mean mass by prediction about each centre, (k, c), where its label is certain; None elsewhere."""
        return None

    @property
    @abstractmethod
    def n_replicates(self) -> int:
        """Return the number of independent replicates; 1 where exact."""

    @abstractmethod
    def in_replicates(self, count: int) -> PointMasses:
        """Return the same masses as `count` replicates: means of blocks of them, or one repeated."""


@dataclass(frozen=True, eq=False)
class SeparateMasses(PointMasses):
    """Where the label does not depend on the sampled point: mass of each region times law of the label.

    Attributes
    ----------
    regions : ndarray of shape (replicates, k, c)
        Mass about each centre in the region where the classifier says each class.
    law : ndarray of shape (k, c)
        Law of the label of each centre.
    """

    regions: Floats
    law: Floats

    def outcome(self, weights: Floats, prior: Floats | None = None) -> Outcome:
        """Average; under a prior the weight of a centre follows the law of its label."""
        weights, law = reweighted(weights, self.law, prior)
        confusions = joint(self.regions, weights, law)
        contributions = error_given_law(self.regions.mean(axis=0), law)
        return Outcome(error_mass(confusions), confusions, contributions, weights)

    def rows_about(self) -> Floats | None:
        """Return the mean mass of the regions, unless the law of a label is spread."""
        return np.asarray(self.regions.mean(axis=0)) if (self.law.max(axis=1) == 1).all() else None

    def pairs_about(self) -> Floats:
        """Return law times mass."""
        return np.asarray(self.law[:, :, None] * self.regions.mean(axis=0)[:, None, :])

    @property
    def n_replicates(self) -> int:
        """Return the number of replicates."""
        return len(self.regions)

    def in_replicates(self, count: int) -> SeparateMasses:
        """Return the same masses as `count` replicates."""
        return SeparateMasses(_blocks(self.regions, count), self.law)


@dataclass(frozen=True, eq=False)
class PairedMasses(PointMasses):
    """Where the label depends on the sampled point: mass of each (label, prediction), (replicates, k, c, c)."""

    pairs: Floats

    def outcome(self, weights: Floats, prior: Floats | None = None) -> Outcome:
        """Average; under a prior every pair is multiplied by what its label's class needs."""
        confusions = np.einsum("k,rkyj->ryj", weights, self.pairs)
        about = self.pairs.mean(axis=0)
        if prior is not None:
            ratio = prior_ratio(prior, class_mass(confusions.mean(axis=0)))
            confusions = replicates_with_prior(confusions, prior)
            about = about * ratio[:, None]
            weights = weights * about.sum(axis=(1, 2))
        total = about.sum(axis=(1, 2))
        contributions = np.divide(error_mass(about), total, out=np.zeros_like(total), where=total > 0)
        return Outcome(error_mass(confusions), confusions, contributions, weights)

    def pairs_about(self) -> Floats:
        """Return the mean over replicates."""
        return np.asarray(self.pairs.mean(axis=0))

    @property
    def n_replicates(self) -> int:
        """Return the number of replicates."""
        return len(self.pairs)

    def in_replicates(self, count: int) -> PairedMasses:
        """Return the same masses as `count` replicates."""
        return PairedMasses(_blocks(self.pairs, count))


def reweighted(weights: Floats, law: Floats, prior: Floats | None) -> tuple[Floats, Floats]:
    """Return the mass of each centre and the law of its label where the classes have these probabilities."""
    if prior is None:
        return weights, law
    weighted = law * weights[:, None]
    weighted *= prior_ratio(prior, weighted.sum(axis=0))
    weights = weighted.sum(axis=1)
    return weights, np.divide(weighted, weights[:, None], out=law.copy(), where=weights[:, None] > 0)


def error_given_law(region_mass: Floats, law: Floats) -> Floats:
    """Return the error mass of each component whose label has this law: sum over j of mass_j (1 - law_j)."""
    return np.asarray((region_mass * (1.0 - law)).sum(axis=-1))


def _blocks(values: Floats, count: int) -> Floats:
    have = len(values)
    if have == count:
        return values
    if have == 1:
        return np.broadcast_to(values, (count, *values.shape[1:]))
    if have % count:
        raise ValueError(f"{have} replicates cannot be averaged to {count}.")
    return np.asarray(values.reshape(count, have // count, *values.shape[1:]).mean(axis=1))
