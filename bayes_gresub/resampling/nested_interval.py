"""The nested cross-validation interval of Bates, Hastie & Tibshirani: its splits and its formula."""

from __future__ import annotations

from itertools import combinations

import numpy as np

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


def nested_interval(folds: list[Judgement], pairs: list[Judgement], k: int, n: int) -> tuple[float, float]:
    r"""Return the centre and the standard error of the nested cross-validation interval.

    Let :math:`\bar e^{in}_f` be the mean loss of the points outside fold f, each from a fit that saw neither its own
    fold nor f, and :math:`\bar e^{out}_f` that in fold f, from the fit to all others. Over all folds of all partitions

    .. math:: \widehat{MSE} = \mathrm{mean}\left[(\bar e^{in}_f - \bar e^{out}_f)^2
              - \widehat{var}(e^{out}_f)/|f|\right]

    The centre is the mean of all inner losses minus the bias from training on (K-2)/K of the points:

    .. math:: \left(1 + \tfrac{K-2}{K}\right)(\hat\varepsilon^{in} - \hat\varepsilon^{cv})

    where both are means over points; it is exact if the error falls like 1/n. The standard error is
    :math:`\sqrt{(K-1)/K}\,\sqrt{\widehat{MSE}}`, kept between the naive :math:`s/\sqrt n` of the inner losses and
    :math:`\sqrt K` times that, as the authors do.

    Parameters
    ----------
    folds, pairs : list of Judgement
        Of the splits of each partition in turn, and of `pair_splits` of each.
    k : int
        Number of folds.
    n : int
        Number of points.

    References
    ----------
    Bates, Hastie & Tibshirani, Cross-validation: what does it estimate and how well does it do it?, JASA (2023).
    """
    fold_pairs = list(combinations(range(k), 2))
    gaps, noise, inner = [], [], []
    for repeat in range(len(folds) // k):
        outer = [judgement.contributions for judgement in folds[repeat * k : (repeat + 1) * k]]
        losses_outside: list[list[Floats]] = [[] for _ in range(k)]
        judged_pairs = pairs[repeat * len(fold_pairs) : (repeat + 1) * len(fold_pairs)]
        for (first, second), pair in zip(fold_pairs, judged_pairs, strict=True):
            losses = pair.contributions
            losses_outside[first].append(losses[len(outer[first]) :])
            losses_outside[second].append(losses[: len(outer[first])])
        for fold in range(k):
            losses = np.concatenate(losses_outside[fold])
            inner.append(losses)
            gaps.append(losses.mean() - outer[fold].mean())
            noise.append(outer[fold].var(ddof=1) / len(outer[fold]))
    inner_losses = np.concatenate(inner)
    squared = float(np.mean(np.square(gaps) - noise))
    naive = float(inner_losses.std(ddof=1) / np.sqrt(n))
    std_error = float(np.clip(np.sqrt((k - 1) / k * max(0.0, squared)), naive, np.sqrt(k) * naive))
    plain = float(np.concatenate([judgement.contributions for judgement in folds]).mean())
    bias = (1 + (k - 2) / k) * (inner_losses.mean() - plain)
    return float(inner_losses.mean() - bias), std_error
