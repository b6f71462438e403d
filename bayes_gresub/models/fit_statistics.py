"""Statistics of how far the points of a class are from a model, batched over data sets. Their nulls are elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

from bayes_gresub.data.arrays import Floats, Ints

DIRECTION = "direction between the class means"
HEAVY, LIGHT = "tails too heavy (Mardia's kurtosis)", "tails too light (Mardia's kurtosis)"
HENZE_ZIRKLER = "Henze-Zirkler"
TOO_NORMAL = "Henze-Zirkler, nearer to normal than the model"

_RANK_TOLERANCE = 1e-10
"""Share of the total variance below which a principal axis is rounding."""

_TAIL = 0.1
"""Share of the null that its exponential tail is fitted to."""

_SCORES = np.linspace(-3.7, 3.7, 149)
"""Normal scores at which quantiles of a model are kept."""


@dataclass(frozen=True, eq=False)
class Battery:
    """The statistics of one class, fixed by its observed points so that simulated ones are treated alike.

    Attributes
    ----------
    varying : ndarray
        Features that are not constant in the class; the others are left out.
    n_axes : int
        Principal axes with spread.
    direction : ndarray of shape (d,), or None
        Direction to project on; None if none was given or the points do not vary along it.
    rows : ndarray, or None
        Rows that the Henze-Zirkler statistic uses; None if the points are too few for it and Mardia's kurtosis.
    quantiles : ndarray of shape (k, m), or None
        Of the k projections under the model, by which their values become normal scores; None for a Gaussian model,
        whose values are compared with normal ones as they are.
    """

    varying: Ints
    n_axes: int
    direction: Floats | None
    rows: Ints | None
    quantiles: Floats | None = None

    @property
    def n_specific(self) -> int:
        """Return the number of tests that show where or how points depart; they come first."""
        return len(self.varying) + self.n_axes + (self.direction is not None) + 2 * (self.rows is not None)

    def for_model(self, samples: Floats) -> Battery:
        """Return the battery for a model that is not Gaussian, given data sets drawn from it."""
        projections = by_quartiles(self._projections(samples)[0]).swapaxes(0, 1)
        pooled = projections.reshape(len(projections), -1)
        return replace(self, quantiles=np.quantile(pooled, ndtr(_SCORES), axis=1).T)

    def names(self, feature_names: tuple[str, ...] | None) -> tuple[str, ...]:
        """Return the tests in words, in the order of `measure`."""
        features = [feature_names[f] if feature_names else f"feature {f}" for f in self.varying]
        axes = [f"principal axis {axis}" for axis in range(1, self.n_axes + 1)]
        direction = [DIRECTION] if self.direction is not None else []
        whole = [] if self.rows is None else [HEAVY, LIGHT, HENZE_ZIRKLER]
        whole += [] if self.rows is None or self.quantiles is None else [TOO_NORMAL]
        return (*features, *axes, *direction, *whole)

    def measure(self, samples: Floats) -> Floats:
        """Return the statistics of data sets of shape (s, n, d), large if the model fails: shape (s, q)."""
        projections, scores = self._projections(samples)
        if self.quantiles is not None:
            projections = unit_rows(normal_scores(by_quartiles(projections), self.quantiles))
        correlation = projections @ shapiro_wilk_weights(samples.shape[1])
        columns = [np.log(np.maximum(1.0 - correlation**2, np.finfo(float).eps))]
        if self.rows is not None:
            part = scores if len(self.rows) == scores.shape[2] else whiten_scores(scores[:, :, self.rows])
            whole = np.log(np.maximum(henze_zirkler(part), np.finfo(float).eps))[:, None]
            tails = np.log(mardia_kurtosis(scores))[:, None]
            columns += [tails, -tails, whole] if self.quantiles is None else [tails, -tails, whole, -whole]
        return np.concatenate(columns, axis=1)

    def _projections(self, samples: Floats) -> tuple[Floats, Floats]:
        """Return every projection as sorted unit rows, shape (s, k, n), and the scores on the principal axes."""
        features = unit_rows(np.ascontiguousarray(samples[:, :, self.varying].swapaxes(1, 2)))
        scores = axis_scores(features, self.n_axes)
        parts = [features, scores]
        if self.direction is not None:
            parts.append(unit_rows(samples @ self.direction)[:, None, :])
        projections = np.concatenate(parts, axis=1)
        projections.sort(axis=2)
        return projections, scores


def choose_battery(points: Floats, direction: Floats | None, most_rows: int, rng: np.random.Generator) -> Battery:
    """Return the statistics that these points allow, for a Gaussian model."""
    n = len(points)
    varying = np.flatnonzero(np.ptp(points, axis=0) > 0)
    features = unit_rows(np.ascontiguousarray(points[:, varying].T))
    spread = np.linalg.svd(features, compute_uv=False) ** 2
    n_axes = int(np.count_nonzero(spread > _RANK_TOLERANCE * spread.sum()))
    if direction is not None and np.ptp(points @ direction) == 0:
        direction = None
    # With n - 1 axes the whitened points form a simplex, whatever the data.
    rows = None if n_axes >= n - 1 else np.arange(n)
    if rows is not None and n > most_rows:
        rows = np.sort(rng.choice(n, size=max(most_rows, n_axes + 2), replace=False))
    return Battery(varying, n_axes, direction, rows)


def unit_rows(values: Floats) -> Floats:
    """Return rows (last axis) less their mean and divided by their length; constant rows become 0."""
    largest = np.abs(values).max(axis=-1, keepdims=True)
    # Relative to the largest value: squares of very large or small numbers leave the range of floats.
    centred = values / np.where(largest > 0, largest, 1.0)
    centred -= centred.mean(axis=-1, keepdims=True)
    length = np.sqrt(np.einsum("...n,...n->...", centred, centred))[..., None]
    return np.asarray(centred / np.where(length > 0, length, 1.0))


def by_quartiles(ordered: Floats) -> Floats:
    """Return sorted rows less their median, divided by their interquartile range: outliers do not move the others."""
    n = ordered.shape[-1]
    width = ordered[..., 3 * n // 4, None] - ordered[..., n // 4, None]
    return np.asarray((ordered - ordered[..., n // 2, None]) / np.where(width > 0, width, 1.0))


def normal_scores(values: Floats, quantiles: Floats) -> Floats:
    r"""Return :math:`\Phi^{-1}(F_k(x))` of values of shape (s, k, n), F given by quantiles of shape (k, m)."""
    scored = [np.interp(values[:, k], known, _SCORES) for k, known in enumerate(quantiles)]
    return np.stack(scored, axis=1)


def axis_scores(features: Floats, n_axes: int) -> Floats:
    r"""Return the points on the principal axes of their own correlation matrix, as unit rows: shape (s, n_axes, n).

    Axes of the correlation matrix do not depend on units. An axis points to where its scores are skewed.
    """
    n_features, n = features.shape[1:]
    if n_features < n:
        vectors = np.linalg.eigh(features @ features.swapaxes(1, 2))[1][:, :, : -n_axes - 1 : -1]
        scores = unit_rows(vectors.swapaxes(1, 2) @ features)
    else:
        # Scores on the axes, divided by their length, are the eigenvectors of the products of points.
        vectors = np.linalg.eigh(features.swapaxes(1, 2) @ features)[1][:, :, : -n_axes - 1 : -1]
        scores = unit_rows(np.ascontiguousarray(vectors.swapaxes(1, 2)))
    skewed = np.einsum("san,san,san->sa", scores, scores, scores)
    return np.asarray(scores * np.where(skewed < 0, -1.0, 1.0)[:, :, None])


def whiten_scores(scores: Floats) -> Floats:
    """Return scores of shape (s, p, n) turned so that their covariance is a multiple of the identity."""
    centred = scores - scores.mean(axis=2, keepdims=True)
    values, vectors = np.linalg.eigh(centred @ centred.swapaxes(1, 2))
    small = np.finfo(float).eps * values[:, -1:]
    return np.asarray((vectors / np.sqrt(np.maximum(values, small))[:, None, :]).swapaxes(1, 2) @ centred)


def mardia_kurtosis(scores: Floats) -> Floats:
    r"""Return :math:`\frac1n \sum_j D_j^2`, D the squared Mahalanobis distances, of orthonormal scores.

    References
    ----------
    Mardia (1970), Biometrika 57, 519-530.
    """
    distances = scores.shape[2] * np.einsum("spn,spn->sn", scores, scores)
    return np.einsum("sn,sn->s", distances, distances) / scores.shape[2]


def henze_zirkler(scores: Floats) -> Floats:
    r"""Return the Henze-Zirkler statistic of data sets given by orthonormal scores of shape (s, p, n).

    .. math::
        HZ = \frac1n \sum_{jk} e^{-\beta^2 D_{jk}/2} - 2 (1+\beta^2)^{-p/2} \sum_j e^{-\beta^2 D_j/(2(1+\beta^2))}
             + n (1+2\beta^2)^{-p/2}

    with squared Mahalanobis distances D under the covariance with divisor n and
    :math:`\beta = ((2p+1)n/4)^{1/(p+4)}/\sqrt2`. Pairs are summed in single precision, four times as fast: an error
    near 1e-5, far below the spread of the statistic.

    References
    ----------
    Henze and Zirkler (1990), Communications in Statistics - Theory and Methods 19, 3595-3617.
    """
    p, n = scores.shape[1:]
    beta2 = ((2 * p + 1) * n / 4) ** (2 / (p + 4)) / 2
    points = np.sqrt(n) * scores
    squared = np.einsum("spn,spn->sn", points, points)
    half, ones = -0.5 * beta2 * squared[:, None, :], np.ones((len(points), 1, n))
    # Two more coordinates make the product of j and k the exponent itself, so nothing overflows.
    left = np.concatenate([beta2 * points, half, ones], axis=1).astype(np.float32)
    right = np.concatenate([points, ones, half], axis=1).astype(np.float32)
    pairs = left.swapaxes(1, 2) @ right
    np.exp(pairs, out=pairs)
    singles = np.exp(-beta2 / (2 * (1 + beta2)) * squared).mean(axis=1)
    mean_pair = pairs.mean(axis=(1, 2)).astype(np.float64)
    return np.asarray(n * (mean_pair - 2 * (1 + beta2) ** (-p / 2) * singles + (1 + 2 * beta2) ** (-p / 2)))


def shapiro_wilk_weights(n: int) -> Floats:
    """Return the coefficients of the Shapiro-Wilk statistic in Royston's approximation, n >= 6: shape (n,).

    References
    ----------
    Royston (1992), Statistics and Computing 2, 117-119.
    """
    scores = ndtri((np.arange(1, n + 1) - 0.375) / (n + 0.25))
    u = 1 / np.sqrt(n)
    total = scores @ scores
    last = scores[-1] / np.sqrt(total) + np.polyval([-2.706056, 4.434685, -2.071190, -0.147981, 0.221157, 0.0], u)
    before = scores[-2] / np.sqrt(total) + np.polyval([-3.582633, 5.682633, -1.752461, -0.293762, 0.042981, 0.0], u)
    inner = total - 2 * scores[-1] ** 2 - 2 * scores[-2] ** 2
    weights = scores * np.sqrt((1 - 2 * last**2 - 2 * before**2) / inner)
    weights[[0, 1, -2, -1]] = [-last, -before, before, last]
    return np.asarray(weights)


def smooth_p_values(statistics: Floats) -> Floats:
    r"""Return p-values of pooled statistics, shape (N, q), each column among its own N values.

    Below the upper tenth the p-value is the share of values at least as large. Within it ranks would tie the largest
    value of every column at 1/N, and no p-value of the smallest of q could be below q/N; there the tail is
    exponential, from the k-th largest value u on:

    .. math:: p(t) = \frac{k}{N} e^{-(t-u)/m}, \qquad m = \frac1k \sum_{t_i > u} (t_i - u)

    The fit treats all N alike, so whatever is ranked by these p-values stays exchangeable.
    """
    n = len(statistics)
    k = max(1, int(_TAIL * n))
    ordered = np.sort(statistics, axis=0)
    start = ordered[n - k - 1]
    mean_excess = (ordered[n - k :] - start).mean(axis=0)
    ranked = rankdata(-statistics, method="max", axis=0) / n
    excess = (statistics - start) / np.where(mean_excess > 0, mean_excess, 1.0)
    return np.where(excess > 0, k / n * np.exp(-np.maximum(excess, 0.0)), ranked)
