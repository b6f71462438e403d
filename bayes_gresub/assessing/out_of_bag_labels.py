"""Clues from refits: what classifiers trained on resamples predict at the rows that each has not seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.laws.confusion import error_mass
from bayes_gresub.resampling.plus_mixture import plus_mixture
from bayes_gresub.resampling.refit import Judgement

IN_BAG = -1
"""The code of a row that the resample holds."""


@dataclass(frozen=True, eq=False)
class OutOfBagLabels:
    r"""Labels :math:`\psi_b(X_i)` of the rows that resample b leaves out.

    Attributes
    ----------
    codes : ndarray of shape (b, n)
        Positions among the classes; `IN_BAG` if the resample holds the row.
    """

    codes: Ints

    @classmethod
    def of(cls, judgements: Sequence[Judgement], n: int) -> OutOfBagLabels:
        """Return the labels of a bootstrap's refits, judged by the empirical measure."""
        codes = np.full((len(judgements), n), IN_BAG)
        for number, judgement in enumerate(judgements):
            masses = judgement.mass.rows_about()
            assert masses is not None, "labels of an empirical measure are certain"
            codes[number, judgement.points] = masses.argmax(axis=1)
        return cls(codes)

    def part(self, rows: Ints) -> OutOfBagLabels:
        """Return the labels at some of the rows."""
        return replace(self, codes=self.codes[:, rows])

    def clues(self, labels: Ints, predicted: Ints, weights: Floats, n_classes: int) -> dict[str, float]:
        r"""Return the zero bootstrap and .632+, error of the refits' vote, and how often refits and classifier differ.

        Each row's mean is over the resamples that left it out; rows that all resamples hold are dropped. Two refits
        differ at row i with probability :math:`1 - \sum_j p_{ij}^2`, without bias
        :math:`(1 - \sum_j p_{ij}^2) B_i / (B_i - 1)`, where p are the shares of the labels of B_i refits.
        """
        n_classes = max(n_classes, int(self.codes.max()) + 1)
        votes = np.zeros((len(labels), n_classes))
        for codes in self.codes:
            out = np.flatnonzero(codes != IN_BAG)
            votes[out, codes[out]] += 1
        n_votes = votes.sum(axis=1)
        rows = np.flatnonzero(n_votes > 0)
        shares, mass = votes[rows] / n_votes[rows, None], weights[rows] / weights[rows].sum()
        at = np.arange(len(rows))
        zero = float(mass @ (1.0 - shares[at, labels[rows]]))
        vote = shares.argmax(axis=1)
        twice = n_votes[rows] > 1
        differ = (1.0 - (shares[twice] ** 2).sum(axis=1)) * n_votes[rows][twice] / (n_votes[rows][twice] - 1)
        return {
            "zero": zero,
            "plus": self._plus(labels, predicted, weights, shares, rows, mass, n_classes),
            "zero_apart": float(mass @ (1.0 - shares[at, predicted[rows]])),
            "zero_vote": float(mass @ (vote != labels[rows])),
            "vote_apart": float(mass @ (vote != predicted[rows])),
            "refits_apart": float(mass[twice] @ differ / mass[twice].sum()) if twice.any() else 0.0,
            "inverse_refits": 1.0 / len(self.codes),
        }

    def posterior_clues(self, neighbors: Mapping[int, Floats], weights: Floats) -> dict[str, float]:
        """Return the zero bootstrap with each row's label drawn from its neighbours' labels, by their number."""
        result = {}
        out = self.codes != IN_BAG
        counts = out.sum(axis=0)
        mass = weights * (counts > 0)
        mass = mass / mass.sum()
        for k, shares in neighbors.items():
            if k == 1:
                continue
            known = np.minimum(self.codes, shares.shape[1] - 1)
            wrong = np.where(out, 1.0 - shares[np.arange(len(counts)), known], 0.0).sum(axis=0)
            result[f"zero_posterior{k}"] = float(mass @ (wrong / np.maximum(counts, 1)))
        return result

    @staticmethod
    def _plus(
        labels: Ints, predicted: Ints, weights: Floats, shares: Floats, rows: Ints, mass: Floats, n_classes: int
    ) -> float:
        """Return .632+ with the apparent error of the classifier."""
        apparent, left = np.zeros((n_classes, n_classes)), np.zeros((n_classes, n_classes))
        np.add.at(apparent, (labels, predicted), weights)
        np.add.at(left, labels[rows], shares * mass[:, None])
        mixture = plus_mixture(apparent, left, "efron-tibshirani")
        unrelated = np.outer(apparent.sum(axis=1), apparent.sum(axis=0))
        return float(error_mass(mixture.of(apparent, left, unrelated)))
