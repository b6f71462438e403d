"""The k-nearest-neighbour posterior."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.sample import read_features, read_sample
from bayes_gresub.data.seeds import Seed
from bayes_gresub.data.units import SPACES, pooled_deviation, standardized, to_units
from bayes_gresub.posteriors.posterior import Posterior
from bayes_gresub.regions.neighbors import NeighborVotes


class KNN(Posterior):
    r"""Share of the k nearest training points that have each label.

    .. math:: \hat P(Y = y \mid x) = \frac1k \sum_{j=1}^{k} I(y^j(x) = y)

    At a training point the point itself is the first of its k neighbours, by its index, so k=1 gives plain
    resubstitution even if rows are duplicated. Points tied at the k-th distance share the votes that are left, so the
    order of the rows never matters.

    Parameters
    ----------
    k : int, default 3
        Number of neighbours.
    standardize : "within-class" or None
        Measure distances in units of the pooled within-class standard deviation of each feature (of the overall one
        if a feature is constant within classes), or in the features as given, as the paper does.

    References
    ----------
    Lugosi & Pawlak, On the posterior-probability estimate of the error rate of nonparametric classification rules,
    IEEE Transactions on Information Theory 40 (1994).

    Examples
    --------
    >>> KNN(3).fit([[0.0], [1.0], [2.5], [9.0]], ["a", "a", "b", "b"]).predict_proba([[0.4]]).round(3).tolist()
    [[0.667, 0.333]]
    """

    is_checked = True

    def __init__(self, k: int = 3, standardize: str | None = "within-class") -> None:
        self.k = k
        self.standardize = standardize

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, random_state: Seed = None
    ) -> Self:
        """Keep the training points; weights multiply their votes, and points of weight zero are left out."""
        sample = read_sample(X, y, sample_weight)
        if isinstance(self.k, bool) or not isinstance(self.k, int | np.integer) or self.k < 1:
            raise ValueError(f"k must be a whole number of at least 1; got k={self.k!r}.")
        if self.k > len(sample.features):
            raise ValueError(
                f"k must be at most the number of training points; got k={self.k} with n={len(sample.features)}. "
                "Lower k."
            )
        self.classes_ = sample.classes
        self.n_features_in_ = sample.features.shape[1]
        _, scale = standardized(sample.features, sample.codes, self.standardize)
        # A feature without spread in the classes may still separate them.
        total = pooled_deviation(sample.features, np.zeros_like(sample.codes)) if not scale.all() else scale
        self.feature_scale_ = np.where(scale > 0, scale, total)
        # Differences are taken before the division by the unit, so an offset costs no digits.
        self._origin = sample.features.mean(axis=0)
        self._units = to_units(sample.features - self._origin, self.feature_scale_)
        weights = None if sample_weight is None else sample.weights
        self._votes = NeighborVotes(self._units, sample.codes, len(sample.classes), weights)
        self._quick_votes = NeighborVotes(self._units, sample.codes, len(sample.classes), weights, single=True)
        self._training: Floats | None = None
        return self

    @property
    def space_(self) -> str:
        """Return in words the space that distances are measured in."""
        return SPACES[self.standardize]

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the share of votes at the rows of X, shape (m, c)."""
        units = self._read(X)
        return self._votes(units, self.k)

    def sampled_proba(self, X: ArrayLike, owners: Ints | None = None) -> Floats:
        """Return the share of votes at sampled points, ranked in single precision."""
        units = self._read(X)
        return self._quick_votes(units, self.k)

    def training_proba(self) -> Floats:
        """Return the share of votes at the training points, each its own first neighbour."""
        check_is_fitted(self)
        if self._training is None:
            self._training = self._votes(self._units, self.k, rows=np.arange(len(self._units)))
        return self._training

    def _read(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        features, _ = read_features(X)
        if features.shape[1] != self.n_features_in_:
            raise ValueError(f"X must have the {self.n_features_in_} features seen in fit; got {features.shape[1]}.")
        return to_units(features - self._origin, self.feature_scale_)
