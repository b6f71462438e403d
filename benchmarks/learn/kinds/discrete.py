"""Classes of discrete features: binary ones, grades, counts, and counts of words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from scipy.special import expit, softmax

from bayes_gresub.data.arrays import Floats, Ints
from benchmarks.learn.class_law import draw_means
from benchmarks.learn.kind import Shape
from benchmarks.learn.structure import ClassConditional


class CountLaw(Enum):
    """The law of the features given the class."""

    BINOMIAL = "binomial"
    POISSON = "Poisson"
    MULTINOMIAL = "multinomial"


@dataclass(frozen=True, eq=False, kw_only=True)
class CountClasses(ClassConditional):
    """Counts whose natural parameters h_yj = b_j + s m_yj differ between classes: log f_y = x'h_y - A(h_y) + ....

    Binomial with t_j trials: A = sum_j t_j log(1 + exp h_j). Poisson: A = sum_j exp h_j. Multinomial with t_0 trials in
    all: A = t_0 log sum_j exp h_j.

    Parameters
    ----------
    law : CountLaw
    base : array of shape (d,)
        b_j.
    means : array of shape (c, d)
    trials : array of shape (d,)
        t_j; 1 for binary features, unused by Poisson counts.
    """

    law: CountLaw
    base: Floats
    means: Floats
    trials: Ints

    @property
    def most_separated(self) -> float:
        """The separation at which some parameter has moved by 7, or by 4 for Poisson counts, which grow as exp h."""
        return (4 if self.law is CountLaw.POISSON else 7) / float(np.abs(self.means).max())

    @property
    def _natural(self) -> Floats:
        """h, shape (c, d)."""
        return self.base + self.separation * self.means

    def points_given(self, y: Ints, rng: np.random.Generator) -> Floats:
        """Return counts as floats."""
        natural = self._natural
        if self.law is CountLaw.BINOMIAL:
            return rng.binomial(self.trials, expit(natural)[y]).astype(float)
        if self.law is CountLaw.POISSON:
            return rng.poisson(np.exp(natural)[y]).astype(float)
        return rng.multinomial(self.trials[0], softmax(natural, axis=1)[y]).astype(float)

    def log_densities(self, X: Floats) -> Floats:
        """Return the log of each class's probability of the counts, up to a common term."""
        natural = self._natural
        if self.law is CountLaw.BINOMIAL:
            return X @ natural.T - np.logaddexp(0, natural) @ self.trials
        if self.law is CountLaw.POISSON:
            return X @ natural.T - np.exp(natural).sum(axis=1)
        return X @ natural.T - self.trials[0] * np.logaddexp.reduce(natural, axis=1)


def draw_discrete(shape: Shape, rng: np.random.Generator) -> CountClasses:
    """Return binary features, grades of three to nine levels, Poisson counts or counts of words.

    There are more features than asked for if the classes could not be told from fewer values.
    """
    dim = max(shape.dim, 2 + 2 * int(np.ceil(np.log2(shape.n_classes))))
    law = rng.choice(np.array([CountLaw.BINOMIAL, CountLaw.POISSON, CountLaw.MULTINOMIAL]), p=[0.6, 0.2, 0.2])
    if law is CountLaw.MULTINOMIAL:
        trials = np.full(dim, rng.integers(5, 100))
    else:
        trials = np.ones(dim, dtype=int) if rng.random() < 0.6 else rng.integers(2, 9, size=dim)
    return CountClasses(
        probabilities=shape.probabilities,
        law=law,
        base=np.clip(rng.normal(size=dim), -2, 2),
        means=draw_means(shape.n_classes, dim, rng),
        trials=trials,
    )
