"""A test of whether the covariances of Gaussian classes have the form that a model gives them."""

from __future__ import annotations

import numpy as np

from bayes_gresub.data.arrays import Floats
from bayes_gresub.data.sample import Sample

N_SIMS = 999
_CHUNK_ELEMENTS = 2**21


def covariance_p_value(data: Sample, covariance: str, rng: np.random.Generator) -> float | None:
    r"""Return the p-value of "shared", "diagonal" or "spherical" covariances against one matrix per class.

    The statistic is that of the likelihood ratio,

    .. math:: \sum_y n_y \left(\log|\hat\Sigma_y^{form}| - \log|\hat\Sigma_y|\right),

    Box's (1949) for shared ones. Under normal classes of that form its law does not depend on means and scales, so it
    is simulated with standard normal points. None if a class has no more than d + 1 points.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(size=(40, 2)), 3 * rng.normal(size=(40, 2))])
    >>> data = Sample.of_codes(X, np.repeat([0, 1], 40), np.array([0, 1]))
    >>> covariance_p_value(data, "shared", rng) < 0.01, covariance_p_value(data, "spherical", rng) > 0.05
    (True, True)
    """
    d, counts = data.features.shape[1], data.counts
    if (counts <= d + 1).any():
        return None
    observed = _statistic([data.of_class(code)[None] for code in range(data.n_classes)], covariance)[0]
    step = max(1, _CHUNK_ELEMENTS // (int(counts.sum()) * d))
    beyond = 0
    for begin in range(0, N_SIMS, step):
        sims = min(step, N_SIMS - begin)
        simulated = _statistic([rng.standard_normal((sims, int(n), d)) for n in counts], covariance)
        beyond += int((simulated >= observed).sum())
    return (1 + beyond) / (N_SIMS + 1)


def _statistic(classes: list[Floats], form: str) -> Floats:
    """Return the statistic of each of several data sets, given as one array (sets, n_y, d) per class."""
    d = classes[0].shape[2]
    counts = [points.shape[1] for points in classes]
    covariances = []
    for points in classes:
        centered = points - points.mean(axis=1, keepdims=True)
        covariances.append(centered.swapaxes(1, 2) @ centered / points.shape[1])
    total = np.zeros(len(classes[0]))
    pooled = sum(n * s for n, s in zip(counts, covariances, strict=True)) / sum(counts)
    for n, covariance in zip(counts, covariances, strict=True):
        if form == "shared":
            restricted = np.linalg.slogdet(pooled)[1]
        elif form == "diagonal":
            restricted = np.log(np.einsum("sdd->sd", covariance)).sum(axis=1)
        else:
            restricted = d * np.log(np.einsum("sdd->s", covariance) / d)
        total += n * (restricted - np.linalg.slogdet(covariance)[1])
    return total
