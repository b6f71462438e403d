"""The paper's model: class means apart along all informative features, correlated blocks, and features of noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.validation import check_whole
from bayes_gresub.laws.components import Components
from bayes_gresub.laws.law import Law
from bayes_gresub.populations.population import SyntheticPopulation, check_classes


@dataclass(frozen=True, kw_only=True)
class BlockModel(SyntheticPopulation):
    r"""Class means and covariance as in the paper, with noise of some law about the means.

    .. math:: x = \mu_y + \sigma L z, \quad \mu_0 = -\delta \mathbf 1, \; \mu_1 = \delta \mathbf 1
              \text{ in the informative features}, \quad L L' = \Sigma

    Sigma has ones on its diagonal and rho within blocks of informative features; the noisy features are uncorrelated
    and have mean 0. With more than two classes the means stand at the corners of a regular simplex in the metric of
    Sigma, with the edge that the two of the paper have.
    """

    delta: float | None = None
    n_informative: int = 6
    n_noise: int = 4
    block: int = 2
    rho: float = 0.2
    sigma: float = 1.0
    n_classes: int = 2
    prior: Sequence[float] | None = None
    class_sizes: str = "fixed"

    def __post_init__(self) -> None:
        check_whole(self.n_informative, "n_informative", 1)
        check_whole(self.n_noise, "n_noise", 0)
        check_whole(self.block, "block", 1)
        check_whole(self.n_classes, "n_classes", 2)
        if self.n_informative % self.block:
            raise ValueError(
                f"n_informative must be a multiple of block; got {self.n_informative} in blocks of {self.block}."
            )
        if not -1 / max(1, self.block - 1) < self.rho < 1:
            raise ValueError(
                f"rho must make the covariance positive definite; got {self.rho} in blocks of {self.block}."
            )
        if not 0 < self.sigma < np.inf:
            raise ValueError(f"sigma must be positive and finite; got {self.sigma}.")
        if self.delta is not None and not 0 < self.delta < np.inf:
            raise ValueError(f"delta must be positive and finite; got {self.delta}.")
        if self.n_classes > self.n_informative + 1:
            raise ValueError(
                f"n_classes must be at most n_informative + 1 (else the means cannot be equally far apart); got "
                f"{self.n_classes} classes with {self.n_informative} informative features."
            )
        check_classes(self.prior, self.n_classes, self.class_sizes)
        if self.prior is not None:
            # A tuple, so populations can be compared.
            object.__setattr__(self, "prior", tuple(float(p) for p in self.prior))
        if self.delta is None:
            self._check_bayes_error(self._wanted_error)

    @property
    def _wanted_error(self) -> float:
        """Return the best error of Gaussian classes from which delta follows if it is not given."""
        return 0.2

    def _check_bayes_error(self, wanted: float) -> None:
        trivial = 1 - self.class_probabilities.max()
        if not 0 < wanted < trivial - 1e-9:
            raise ValueError(
                f"bayes_error must be between 0 and {trivial:g}, the error of always predicting the most frequent "
                f"class; got {wanted}. Give another, or delta."
            )

    @cached_property
    def delta_(self) -> float:
        """Return half the distance between the means of the first two classes in each informative feature."""
        return self._delta_of(self._wanted_error) if self.delta is None else float(self.delta)

    @property
    def covariance(self) -> Floats:
        """Return the covariance of the noise about the means."""
        covariance = np.eye(self.n_informative + self.n_noise)
        for start in range(0, self.n_informative, self.block):
            inside = slice(start, start + self.block)
            covariance[inside, inside] += self.rho * (1 - np.eye(self.block))
        return self.sigma**2 * covariance

    @cached_property
    def means(self) -> Floats:
        """Return the class means, of shape (c, d)."""
        informative, c = self.n_informative, self.n_classes
        means = np.zeros((c, informative + self.n_noise))
        means[:2, :informative] = self.delta_ * np.array([[-1.0], [1.0]])
        if c > 2:
            # In the space where Sigma is the identity, with the first edge along the paper's direction.
            factor = np.linalg.cholesky(self.covariance[:informative, :informative])
            along = np.linalg.solve(factor, np.ones(informative))
            axes = np.linalg.qr(np.column_stack([along, np.eye(informative)]))[0][:, : c - 1]
            axes[:, 0] *= np.sign(axes[:, 0] @ along)
            means[:, :informative] = self.distance * _simplex(c) @ axes.T @ factor.T
        return means

    @property
    def distance(self) -> float:
        """Return the Mahalanobis distance between any two class means."""
        inflation = 1 + (self.block - 1) * self.rho
        return float(2 * self.delta_ / self.sigma * np.sqrt(self.n_informative / inflation))

    @cached_property
    def _factor(self) -> Floats:
        return np.asarray(np.linalg.cholesky(self.covariance), dtype=float)

    def _points(self, codes: Ints, rng: np.random.Generator) -> Floats:
        return np.asarray(self._noise(len(codes), rng) @ self._factor.T + self.means[codes], dtype=float)

    def _noise(self, n: int, rng: np.random.Generator) -> Floats:
        """Return n draws of z, with mean 0 and covariance the identity."""
        return rng.standard_normal((n, len(self._factor)))

    def law(self) -> Law | None:
        """Return a normal law for each class."""
        classes = np.arange(self.n_classes)
        return self._law_of(Components(self.means, self._factor[None], np.zeros_like(classes)), classes)

    def _delta_of(self, bayes_error: float) -> float:
        """Return the delta with which the best classifier of Gaussian classes has this error."""
        inflation = 1 + (self.block - 1) * self.rho
        unit = self.sigma * np.sqrt(inflation / self.n_informative)
        probabilities = self.class_probabilities
        if self.n_classes == 2 and self.prior is None:
            return float(-ndtri(bayes_error) * unit)

        def excess(distance: float) -> float:
            return gaussian_bayes_error(distance, probabilities) - bayes_error

        return float(brentq(excess, 1e-9, 40.0, xtol=1e-14) / 2 * unit)


@dataclass(frozen=True)
class PaperGaussian(BlockModel):
    r"""Gaussian classes with means -delta and delta in the informative features, blocks of which are correlated.

    With equal class probabilities and two classes the error of the best classifier is

    .. math:: \Phi\left(-\frac{\delta}{\sigma} \sqrt{\frac{m}{1 + (b - 1)\rho}}\right)

    for m informative features in blocks of b. In general, with D the Mahalanobis distance between any two means and
    a = D / sqrt(2), it is

    .. math:: 1 - \sum_j p_j \int \varphi(t - a) \prod_{l \ne j} \Phi\left(t + \frac{\log(p_j / p_l)}{a}\right) dt .

    The true error of a binary linear classifier is exact.

    Parameters
    ----------
    bayes_error : float, optional
        Error of the best classifier, from which delta follows; 0.2 if neither is given. The paper states neither.
    delta : float, optional
        Instead of `bayes_error`.
    n_informative, n_noise, block : int
        Numbers of features: as in the paper 6 informative ones in blocks of 2, and 4 noisy ones.
    rho : float, default 0.2
        Correlation within a block.
    sigma : float, default 1
        Standard deviation of every feature within its class.
    n_classes : int, default 2
        With more than the paper's two, the means are equally far apart.
    prior : sequence of float, optional
        Class probabilities; equal by default.
    class_sizes : "fixed" (default) or "random"
        Whether a training set has n times the prior points of each class, or labels are drawn independently.

    Attributes
    ----------
    delta_, bayes_error_ : float
        What was given, or follows from it.

    Examples
    --------
    >>> population = PaperGaussian(bayes_error=0.2)
    >>> round(population.delta_, 4)
    0.3764
    >>> X, y = population.sample(20, random_state=0)
    >>> X.shape, y.sum()
    ((20, 10), np.int64(10))
    >>> round(PaperGaussian(delta=0.5, n_classes=3).bayes_error_, 4)
    0.2156
    """

    bayes_error: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bayes_error is not None and self.delta is not None:
            raise ValueError("give bayes_error or delta, not both: one follows from the other.")

    @property
    def _wanted_error(self) -> float:
        return 0.2 if self.bayes_error is None else self.bayes_error

    @cached_property
    def bayes_error_(self) -> float:
        """Return the error of the best classifier."""
        return gaussian_bayes_error(self.distance, self.class_probabilities)


def gaussian_bayes_error(distance: float, prior: Floats) -> float:
    """Return the error of the best classifier for Gaussian classes of one covariance, all means this far apart."""
    if len(prior) == 2 and prior[0] == prior[1]:
        return float(ndtr(-distance / 2))
    a = distance / np.sqrt(2)
    logs = np.log(prior)

    def correct(t: float, j: int) -> float:
        others = np.delete(logs, j)
        return float(np.exp(-0.5 * (t - a) ** 2) * np.prod(ndtr(t + (logs[j] - others) / a)))

    total = sum(
        p * quad(correct, a - 9, a + 9, args=(j,), epsabs=1e-12, epsrel=1e-12, limit=200)[0]
        for j, p in enumerate(prior)
    )
    return float(1 - total / np.sqrt(2 * np.pi))


def _simplex(c: int) -> Floats:
    """Return the corners of a regular simplex with edge 1 about the origin, (c, c - 1); the first is along e_1."""
    corners = np.zeros((c, c - 1))
    corners[:2, 0] = [-0.5, 0.5]
    for k in range(2, c):
        corners[:k] -= corners[:k].mean(axis=0)
        radius = np.sqrt((corners[0] ** 2).sum())
        corners[k, k - 1] = np.sqrt(1 - radius**2)
    return corners - corners.mean(axis=0)
