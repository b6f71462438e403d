"""Laws on (x, y) whose posterior of y given x is known; what is done to x and y afterwards is elsewhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.special import log_softmax, softmax

from bayes_gresub.data.arrays import Floats, Ints

MOST_SEPARATED = 256.0
"""Separations are tuned between its inverse and this."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Structure(ABC):
    """A law on (x, y) with a separation s: as s grows from 0, the classes overlap less.

    With eta(x) the posterior of y given x, the error of the best classifier is E[1 - max_y eta_y(x)].

    Parameters
    ----------
    separation : float
    """

    separation: float = 1.0

    @property
    def most_separated(self) -> float:
        """The largest separation that the law can have."""
        return MOST_SEPARATED

    @property
    @abstractmethod
    def class_probabilities(self) -> Floats:
        """P(y), shape (c,)."""

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
        """Return n independent points (n, d) and their labels (n,), from 0 to c - 1."""

    @abstractmethod
    def posterior(self, X: Floats) -> Floats:
        """Return P(y given x) at the points X, shape (n, c)."""

    def separated(self, separation: float) -> Self:
        """Return the same law with another separation."""
        return replace(self, separation=separation)


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassConditional(Structure):
    """Labels by class probabilities p_y, then points by class densities f_y: eta_y(x) is proportional to p_y f_y(x).

    Parameters
    ----------
    probabilities : array of shape (c,)
    """

    probabilities: Floats

    @property
    def class_probabilities(self) -> Floats:
        """P(y), as given."""
        return self.probabilities

    @abstractmethod
    def points_given(self, y: Ints, rng: np.random.Generator) -> Floats:
        """Return one point of each label's class, shape (n, d)."""

    @abstractmethod
    def log_densities(self, X: Floats) -> Floats:
        """Return log f_y(x) up to a term that is the same for all classes, shape (n, c)."""

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
        """Return points and labels: y first, then x given y."""
        y = rng.choice(len(self.probabilities), size=n, p=self.probabilities)
        return self.points_given(y, rng), y

    def posterior(self, X: Floats) -> Floats:
        """Return P(y given x) by Bayes' rule."""
        return softmax(np.log(self.probabilities) + self.log_densities(X), axis=1)


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelsGivenPoints(Structure):
    """Points first, then labels by the posterior: x from a law of its own, y from eta(x).

    Parameters
    ----------
    reference : array of shape (m, d)
        Points by which class probabilities E[eta(x)] are computed.
    """

    reference: Floats

    @property
    def class_probabilities(self) -> Floats:
        """P(y), the mean of the posterior over the reference points."""
        return self.posterior(self.reference).mean(axis=0)

    @abstractmethod
    def points(self, n: int, rng: np.random.Generator) -> Floats:
        """Return n independent points, shape (n, d)."""

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
        """Return points and labels: x first, then y given x."""
        X = self.points(n, rng)
        return X, draw_labels(self.posterior(X), rng)


def draw_labels(probabilities: Floats, rng: np.random.Generator) -> Ints:
    """Return one label a row, by the probabilities (n, c) of that row."""
    cumulative = np.cumsum(probabilities[:, :-1], axis=1)
    return (rng.random((len(probabilities), 1)) >= cumulative).sum(axis=1)


def offsets_for(scores: Floats, probabilities: Floats, start: Floats) -> Floats:
    """Return offsets b (c,) with mean softmax(scores + b) = probabilities, by Newton's method with halved steps.

    They maximise the concave function p'b - mean log sum exp(scores + b), whose gradient is the difference of the two
    sides.
    """
    offsets, value = start, -float("inf")
    step = np.zeros_like(start)
    for _ in range(25):
        trial = offsets + step
        log_posterior = log_softmax(scores + trial, axis=1)
        # log_softmax subtracts the log-sum, so the log-sum is what is missing in column 0.
        trial_value = float(probabilities @ trial - np.mean(scores[:, 0] + trial[0] - log_posterior[:, 0]))
        if trial_value < value:
            step = step / 4
            continue
        offsets, value = trial, trial_value
        posterior = np.exp(log_posterior)
        mean = posterior.mean(axis=0)
        gradient = probabilities - mean
        if np.abs(gradient).max() < 2e-3:
            break
        curvature = np.diag(mean) - posterior.T @ posterior / len(posterior)
        step = np.linalg.solve(curvature + 1e-4 * np.eye(len(mean)), gradient)
    return offsets - offsets.mean()
