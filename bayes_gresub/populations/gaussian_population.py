"""Gaussian classes with any means and covariances."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.laws.components import Components
from bayes_gresub.laws.law import Law
from bayes_gresub.populations.population import SyntheticPopulation, check_classes


@dataclass(frozen=True, eq=False)
class Gaussian(SyntheticPopulation):
    r"""Classes :math:`x \mid y \sim N(\mu_y, \Sigma_y)`, whose covariances may differ.

    The true error of a binary linear classifier is exact.

    Parameters
    ----------
    class_means : array-like of shape (c, d)
    covariances : array-like of shape (d, d) or (c, d, d)
        One for all classes, or one each.
    prior : array-like of shape (c,), optional
        Class probabilities; equal by default.
    class_sizes : "fixed" (default) or "random"
        Whether a training set has n times the prior points of each class, or labels are drawn independently.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> population = Gaussian([[0, 0], [2, 0]], [np.eye(2), 4 * np.eye(2)])
    >>> X, y = population.sample(40, random_state=0)
    >>> truth = population.true_error(LinearDiscriminantAnalysis().fit(X, y))
    >>> round(truth.value, 3), truth.std_error
    (0.241, 0.0)
    """

    class_means: ArrayLike
    covariances: ArrayLike
    prior: ArrayLike | None = None
    class_sizes: str = "fixed"

    def __post_init__(self) -> None:
        means = self.means
        if means.ndim != 2 or len(means) < 2 or not np.isfinite(means).all():
            raise ValueError(f"class_means must be finite, of shape (c, d) with c >= 2; got shape {means.shape}.")
        c, d = means.shape
        given = np.asarray(self.covariances, dtype=float)
        if given.shape not in ((d, d), (c, d, d)):
            raise ValueError(f"covariances must have shape {(d, d)} or {(c, d, d)}; got {given.shape}.")
        if not np.isfinite(given).all():
            raise ValueError("covariances must be finite; got NaN or infinite values.")
        if not np.allclose(given, given.swapaxes(-1, -2)):
            raise ValueError("covariances must be symmetric; got one that is not.")
        try:
            np.linalg.cholesky(given)
        except np.linalg.LinAlgError as error:
            raise ValueError("covariances must be positive definite; got one that is not.") from error
        check_classes(self.prior, c, self.class_sizes)

    @property
    def n_classes(self) -> int:
        """Return the number of classes."""
        return len(self.means)

    @property
    def means(self) -> Floats:
        """Return the class means, of shape (c, d)."""
        return np.asarray(self.class_means, dtype=float)

    @cached_property
    def _factors(self) -> Floats:
        given = np.asarray(self.covariances, dtype=float)
        c, d = self.means.shape
        return np.linalg.cholesky(np.broadcast_to(given, (c, d, d)))

    def _points(self, codes: Ints, rng: np.random.Generator) -> Floats:
        noise = rng.standard_normal((len(codes), self.means.shape[1]))
        return self.means[codes] + np.einsum("nij,nj->ni", self._factors[codes], noise)

    def law(self) -> Law:
        """Return a normal law for each class."""
        classes = np.arange(len(self.means))
        return self._law_of(Components(self.means, self._factors, classes), classes)
