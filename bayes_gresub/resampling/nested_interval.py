"""The nested cross-validation interval of Bates, Hastie & Tibshirani: its splits and its formula."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import ndtri

from bayes_gresub.data.arrays import Floats
from bayes_gresub.resampling.refit import Judgement
from bayes_gresub.resampling.splits import Split


def pair_splits(partition: list[Split]) -> list[Split]:
    """Return the splits that hold out two folds of a partition at a time."""
    splits = []
    for first, second in combinations(partition, 2):
        test = np.concatenate([first.test, second.test])
        splits.append(Split(np.setdiff1d(first.train, second.test), test))
    return splits


@dataclass(frozen=True, eq=False)
class NestedMoments:
    r"""What each partition contributes to the nested cross-validation interval.

    Let :math:`\bar e^{in}_f` be the mean loss of the points outside fold f, each from a fit that saw neither its own
    fold nor f, and :math:`\bar e^{out}_f` that in fold f, from the fit to all others. Over all folds of all partitions

    .. math:: \widehat{MSE} = \mathrm{mean}\left[(\bar e^{in}_f - \bar e^{out}_f)^2
              - \widehat{var}(e^{out}_f)/|f|\right]

    The centre is the mean of all inner losses minus the bias from training on (K-2)/K of the points:

    .. math:: \left(1 + \tfrac{K-2}{K}\right)(\hat\varepsilon^{in} - \hat\varepsilon^{cv})

    where both are means over points; it is exact if the error falls like 1/n. The standard error is
    :math:`\sqrt{(K-1)/K}\,\sqrt{\widehat{MSE}}`, kept between the naive :math:`s/\sqrt n` of the inner losses and
    :math:`\sqrt K` times that, as the authors do.

    Attributes
    ----------
    means : ndarray of shape (4, R)
        Of each partition: the mean in brackets, those of the inner losses and of their squares, and that of the losses
        of plain cross-validation.
    n_inner : int
        Inner losses of one partition.
    k : int
        Number of folds.
    n : float
        Number of points, effective if some are identical.

    References
    ----------
    Bates, Hastie & Tibshirani, Cross-validation: what does it estimate and how well does it do it?, JASA (2023).
    """

    means: Floats
    n_inner: int
    k: int
    n: float

    @property
    def n_partitions(self) -> int:
        """Return the number of partitions."""
        return self.means.shape[1]

    @property
    def center_and_std_error(self) -> tuple[float, float]:
        """Return the centre and the standard error from all partitions."""
        centers, std_errors = self._combine(self.means.mean(axis=1, keepdims=True), self.n_partitions)
        return float(centers[0]), float(std_errors[0])

    def end_noise(self, level: float) -> float:
        r"""Return how much an end of the interval would vary with other random partitions: a standard error.

        .. math:: \sqrt{s_c^2 + z^2 \left(\tfrac12 (\sigma_+ - \sigma_-)\right)^2}

        where s_c is the standard error of the centre over the R partitions, and the other two are the standard error of
        the interval if the mean of the squared gaps were one standard error higher or lower. The jackknife would take a
        standard error that is held at one of its bounds for one that has settled. It needs at least two partitions.
        """
        count = self.n_partitions
        squared_gap, inner, _, plain = self.means
        centers = inner - self._bias(inner, plain)
        moved = np.repeat(self.means.mean(axis=1, keepdims=True), 2, axis=1)
        moved[0] += np.array([-1.0, 1.0]) * squared_gap.std(ddof=1) / np.sqrt(count)
        lower, upper = self._combine(moved, count)[1]
        return float(np.hypot(centers.std(ddof=1) / np.sqrt(count), ndtri((1 + level) / 2) * (upper - lower) / 2))

    def _combine(self, means: Floats, count: int) -> tuple[Floats, Floats]:
        """Return centres and standard errors from means over `count` partitions."""
        squared_gap, inner, inner_square, plain = means
        k, losses = self.k, count * self.n_inner
        variance = np.maximum(0.0, inner_square - inner**2) * losses / (losses - 1)
        naive = np.sqrt(variance / self.n)
        std_error = np.clip(np.sqrt((k - 1) / k * np.maximum(0.0, squared_gap)), naive, np.sqrt(k) * naive)
        return inner - self._bias(inner, plain), std_error

    def _bias(self, inner: Floats, plain: Floats) -> Floats:
        return (1 + (self.k - 2) / self.k) * (inner - plain)


def nested_moments(folds: list[Judgement], pairs: list[Judgement], k: int, n: float) -> NestedMoments:
    """Return what the interval is made of.

    Parameters
    ----------
    folds, pairs : list of Judgement
        Of the splits of each partition in turn, and of `pair_splits` of each.
    k : int
        Number of folds.
    n : float
        Number of points, effective if some are identical.
    """
    fold_pairs = list(combinations(range(k), 2))
    rows, n_inner = [], 0
    for repeat in range(len(folds) // k):
        outer = [judgement.contributions for judgement in folds[repeat * k : (repeat + 1) * k]]
        losses_outside: list[list[Floats]] = [[] for _ in range(k)]
        judged_pairs = pairs[repeat * len(fold_pairs) : (repeat + 1) * len(fold_pairs)]
        for (first, second), pair in zip(fold_pairs, judged_pairs, strict=True):
            losses = pair.contributions
            losses_outside[first].append(losses[len(outer[first]) :])
            losses_outside[second].append(losses[: len(outer[first])])
        inner = [np.concatenate(losses) for losses in losses_outside]
        gaps = [losses.mean() - held_out.mean() for losses, held_out in zip(inner, outer, strict=True)]
        # A fold of one point, as identical rows may leave, has no variance of its own; its loss is taken as it is.
        noise = [held_out.var(ddof=min(1, len(held_out) - 1)) / len(held_out) for held_out in outer]
        together = np.concatenate(inner)
        n_inner = len(together)
        plain = np.concatenate(outer).mean()
        rows.append((np.mean(np.square(gaps) - noise), together.mean(), np.square(together).mean(), plain))
    return NestedMoments(np.array(rows).T, n_inner, k, n)
