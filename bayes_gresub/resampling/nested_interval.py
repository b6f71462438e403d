"""The nested cross-validation interval of Bates, Hastie & Tibshirani: its splits and its formula."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import chdtri, ndtri

from bayes_gresub.data.arrays import Floats
from bayes_gresub.resampling.refit import Judgement
from bayes_gresub.resampling.splits import Split

MOST_NOISE = 0.1
"""Largest standard deviation of an end over random partitions, divided by the width."""

_DRAWS = 300
"""Of the bootstrap over partitions."""

_ROUNDING = 1e-6
"""Of ends, where all losses are equal: the root of that of a mean."""


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
        centers, std_errors = self._combine(self._pooled)
        return float(centers[0]), float(std_errors[0])

    def width(self, level: float) -> float:
        """Return the width of the interval, cut at 0 and 1."""
        low, high = self._ends(self._pooled, level)
        return float((high - low)[0])

    def end_noise(self, level: float) -> float:
        r"""Return the standard deviation that the less certain end of the interval has over random partitions.

        It is estimated by the bootstrap: R partitions are drawn from the R with replacement, 300 times, and the whole
        interval is computed from each draw, bounds and cuts at 0 and 1 included. The jackknife would take an end that
        is held at a bound for one that has settled. A factor :math:`\sqrt{R / (R - 1)}` makes up for draws that vary
        less than partitions do. The draws are the same in every call. It needs at least two partitions.
        """
        count = self.n_partitions
        shares = np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), size=_DRAWS).T / count
        low, high = self._ends(self.means @ shares, level)
        return float(max(low.std(), high.std()) * np.sqrt(count / (count - 1)))

    def is_settled(self, level: float) -> bool:
        r"""Return whether other random partitions would move the ends by less than a tenth of the width.

        .. math:: \sqrt{(R - 1) / q}\; \hat\sigma \le 0.1 \min(w, w_0)

        with the noise of the ends :math:`\hat\sigma`, the lower tenth q of the chi-squared law with R - 1 degrees of
        freedom, the width w, and :math:`w_0` that of the naive standard error, which is its lower bound. So the noise,
        itself estimated, is below the limit with a confidence of about 90%; and since :math:`w_0` hardly depends on the
        partitions, an interval that is wide by chance does not pass for one that has settled.
        """
        if self.n_partitions < 2:
            return False
        dof = self.n_partitions - 1
        naive = 2 * float(ndtri((1 + level) / 2) * self._naive(self._pooled)[0])
        noise = self.end_noise(level) * float(np.sqrt(dof / chdtri(dof, 0.9)))
        return noise <= MOST_NOISE * min(self.width(level), naive) + _ROUNDING

    @property
    def _pooled(self) -> Floats:
        return np.asarray(self.means.mean(axis=1, keepdims=True))

    def _ends(self, means: Floats, level: float) -> tuple[Floats, Floats]:
        centers, std_errors = self._combine(means)
        half = ndtri((1 + level) / 2) * std_errors
        return np.maximum(0.0, centers - half), np.minimum(1.0, centers + half)

    def _combine(self, means: Floats) -> tuple[Floats, Floats]:
        """Return centres and standard errors from means over all partitions."""
        squared_gap, inner, _, plain = means
        k, naive = self.k, self._naive(means)
        std_error = np.clip(np.sqrt((k - 1) / k * np.maximum(0.0, squared_gap)), naive, np.sqrt(k) * naive)
        return inner - self._bias(inner, plain), std_error

    def _naive(self, means: Floats) -> Floats:
        _, inner, inner_square, _ = means
        losses = self.n_partitions * self.n_inner
        variance = np.maximum(0.0, inner_square - inner**2) * losses / (losses - 1)
        return np.asarray(np.sqrt(variance / self.n))

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
