"""Synthetic populations: the Gaussian model of the paper's experiments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from bayes_gresub.components import Floats
from bayes_gresub.seeds import Seed, seed_sequence


@dataclass(frozen=True)
class PaperGaussian:
    r"""Two Gaussian classes with means -delta and delta in the informative features, pairs of which are correlated.

    With unit variances, blocks of `block` informative features with correlation rho and equal class probabilities, the
    error of the best classifier is

    .. math:: \Phi\left(-\delta \sqrt{\frac{m}{1 + (b - 1)\rho}}\right)

    for m informative features in blocks of b.

    Parameters
    ----------
    bayes_error : float, default 0.2
        Error of the best classifier, from which delta follows; the paper does not state its delta.
    n_informative, n_noise, block : int
        Numbers of features, 6 informative ones in blocks of 2 and 4 noisy ones as in the paper.
    rho : float, default 0.2
        Correlation within a block.

    Examples
    --------
    >>> population = PaperGaussian(bayes_error=0.2)
    >>> round(population.delta, 4)
    0.3764
    >>> X, y = population.sample(20, random_state=0)
    >>> X.shape, y.sum()
    ((20, 10), np.int64(10))
    """

    bayes_error: float = 0.2
    n_informative: int = 6
    n_noise: int = 4
    block: int = 2
    rho: float = 0.2

    def __post_init__(self) -> None:
        if not 0 < self.bayes_error < 0.5:
            raise ValueError(f"bayes_error must be between 0 and 0.5; got {self.bayes_error}.")
        if self.n_informative < 1 or self.block < 1 or self.n_informative % self.block:
            raise ValueError(
                f"n_informative must be a multiple of block; got {self.n_informative} in blocks of {self.block}."
            )
        if self.n_noise < 0:
            raise ValueError(f"n_noise must not be negative; got {self.n_noise}.")
        if not -1 / max(1, self.block - 1) < self.rho < 1:
            raise ValueError(
                f"rho must make the covariance positive definite; got {self.rho} in blocks of {self.block}."
            )

    @property
    def delta(self) -> float:
        """Return half the distance between the class means in each informative feature."""
        inflation = 1 + (self.block - 1) * self.rho
        return float(-ndtri(self.bayes_error) * np.sqrt(inflation / self.n_informative))

    @property
    def mean(self) -> Floats:
        """Return the mean of class 1; that of class 0 is its negative."""
        return np.repeat([self.delta, 0.0], [self.n_informative, self.n_noise])

    @property
    def covariance(self) -> Floats:
        """Return the covariance of both classes."""
        covariance = np.eye(self.n_informative + self.n_noise)
        for start in range(0, self.n_informative, self.block):
            inside = slice(start, start + self.block)
            covariance[inside, inside] += self.rho * (1 - np.eye(self.block))
        return covariance

    def sample(self, n: int, random_state: Seed = None) -> tuple[Floats, NDArray[np.intp]]:
        """Draw n points, half of each class (class 0 has one more where n is odd), in random order."""
        rng = np.random.default_rng(seed_sequence(random_state))
        y = rng.permutation(np.arange(n) % 2)
        noise = rng.standard_normal((n, self.n_informative + self.n_noise)) @ np.linalg.cholesky(self.covariance).T
        return noise + np.where(y == 1, 1.0, -1.0)[:, None] * self.mean, y

    def linear_error(self, normal: Floats, offset: float) -> float:
        """Return the true error of the classifier that says 1 where normal'x + offset > 0."""
        deviation = np.sqrt(normal @ self.covariance @ normal)
        margin = normal @ self.mean
        return float(0.5 * ndtr((offset - margin) / deviation) + 0.5 * ndtr((-offset - margin) / deviation))
