"""Populations with the means and covariances of the paper's model, and other shapes of their classes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.laws.components import Components, StudentT
from bayes_gresub.laws.law import Law
from bayes_gresub.populations.paper_gaussian import BlockModel, gaussian_bayes_error


@dataclass(frozen=True)
class HeavyTailed(BlockModel):
    r"""Classes with Student-t noise: most points near the mean, a few very far, the covariance that of the paper.

    .. math:: z = \sqrt{\frac{f - 2}{f}} \, t_f, \qquad t_f \text{ multivariate Student-t with } f \text{ degrees}

    The true error of a binary linear classifier is exact. The other parameters are those of `PaperGaussian`; delta is
    by default the one with which Gaussian classes have a best error of 0.2.

    Parameters
    ----------
    dof : float, default 3
        Degrees of freedom, more than 2.

    Examples
    --------
    >>> X, y = HeavyTailed(dof=3).sample(1000, random_state=0)
    >>> bool(abs(X).max() > 8)
    True
    """

    dof: float = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 2 < self.dof < np.inf:
            raise ValueError(f"dof must be more than 2 (else no covariance exists) and finite; got {self.dof}.")

    def _noise(self, n: int, rng: np.random.Generator) -> Floats:
        normal = rng.standard_normal((n, len(self._factor)))
        return normal * np.sqrt((self.dof - 2) / rng.chisquare(self.dof, size=(n, 1)))

    def law(self) -> Law:
        """Return a Student-t law for each class."""
        classes = np.arange(self.n_classes)
        factor = self._factor * np.sqrt((self.dof - 2) / self.dof)
        return self._law_of(Components(self.means, factor[None], np.zeros_like(classes), StudentT(self.dof)), classes)


@dataclass(frozen=True)
class Skewed(BlockModel):
    r"""Classes with skewed noise: a steep side and a long tail in every feature, the covariance that of the paper.

    .. math:: z_j = \frac{g_j - a}{\sqrt a}, \qquad g_j \text{ independent, Gamma with shape } a

    so each :math:`z_j` has skewness :math:`2 / \sqrt a`. The true error is always that on test points. The other
    parameters are those of `PaperGaussian`; delta is by default the one with which Gaussian classes have a best error
    of 0.2.

    Parameters
    ----------
    shape : float, default 1
        Of the Gamma law: 1 is exponential, large is nearly Gaussian.

    Examples
    --------
    >>> from scipy.stats import skew
    >>> X, y = Skewed().sample(4000, random_state=0)
    >>> bool(skew(X[y == 0, 9]) > 1.5)
    True
    """

    shape: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.shape < np.inf:
            raise ValueError(f"shape must be positive and finite; got {self.shape}.")

    def _noise(self, n: int, rng: np.random.Generator) -> Floats:
        return (rng.gamma(self.shape, size=(n, len(self._factor))) - self.shape) / np.sqrt(self.shape)

    def law(self) -> None:
        """Return None: sums of gamma variates have no formula here."""
        return None


@dataclass(frozen=True)
class Bimodal(BlockModel):
    r"""Classes of two Gaussian clumps each, side by side across the direction in which the classes differ.

    .. math:: x \mid y \sim \tfrac12 N(\mu_y - g u, \Sigma) + \tfrac12 N(\mu_y + g u, \Sigma), \qquad
              u' \Sigma^{-1} (\mu_1 - \mu_0) = 0, \quad u' \Sigma^{-1} u = 1

    Since u is independent of the class, the best classifier of two classes is that of the Gaussian model, and so is its
    error; a model with one clump a class is wrong all the same. The true error of a binary linear classifier is exact.
    The other parameters are those of `PaperGaussian`; delta is by default the one with a best error of 0.2.

    Parameters
    ----------
    gap : float, default 3
        Half the distance g between the clumps, in standard deviations.

    Examples
    --------
    >>> round(Bimodal().bayes_error_, 4)
    0.2
    """

    gap: float = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.gap < np.inf:
            raise ValueError(f"gap must be finite and not negative; got {self.gap}.")
        if self.n_informative < 2 or self.n_classes != 2:
            raise ValueError(
                f"Bimodal needs two classes and two informative features or more; got {self.n_classes} classes and "
                f"{self.n_informative} informative features."
            )

    @property
    def bayes_error_(self) -> float:
        """Return the error of the best classifier."""
        return gaussian_bayes_error(self.distance, self.class_probabilities)

    @cached_property
    def shift(self) -> Floats:
        """Return g u, from a class mean to one of its clumps."""
        d, m = len(self._factor), self.n_informative
        apart = np.zeros(d)
        apart[:m] = 1.0
        across = np.zeros(d)
        across[:m] = np.where(np.arange(m) % 2, -1.0, 1.0)
        weight = np.linalg.solve(self.covariance, apart)
        across -= (across @ weight) / (apart @ weight) * apart
        return np.asarray(self.gap * across / np.sqrt(across @ np.linalg.solve(self.covariance, across)))

    def _points(self, codes: Ints, rng: np.random.Generator) -> Floats:
        side = rng.choice([-1.0, 1.0], size=(len(codes), 1))
        return super()._points(codes, rng) + side * self.shift

    def law(self) -> Law:
        """Return two normal laws for each class."""
        centers = np.concatenate([self.means - self.shift, self.means + self.shift])
        components = Components(centers, self._factor[None], np.zeros(len(centers), dtype=np.intp))
        return self._law_of(components, np.tile([0, 1], 2))
