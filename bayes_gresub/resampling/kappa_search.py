"""The search for kappa: rough bias against kernel scale, where it stops, and which fits failed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayes_gresub.data.arrays import Floats
from bayes_gresub.laws.confusion import standard_error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_AT_ONCE = (2, 2, 4, 8)
"""Kappas tried together in the first batches, the last number from then on; the search can stop inside a batch."""

_FAR = 5.0
"""Standard errors by which a failed fit must exceed the others."""


@dataclass(frozen=True, eq=False)
class CalibrationTrace:
    """The search for kappa, for reading and plotting.

    Attributes
    ----------
    kappas : ndarray of shape (K,)
    biases : ndarray of shape (K, repeats)
        Estimate minus held-out error, of each repeat.
    failed : ndarray of bool, shape (repeats,)
        Fits that failed; their biases are left out of the mean.
    kappa : float
        The chosen one.
    """

    kappas: Floats
    biases: Floats
    failed: NDArray[np.bool_]
    kappa: float

    @property
    def rough_bias(self) -> Floats:
        """Return the mean over the repeats that did not fail, shape (K,)."""
        return np.asarray(self.biases[:, ~self.failed].mean(axis=1))

    @property
    def std_error(self) -> Floats:
        """Return the standard error of `rough_bias` over repeats, shape (K,); NaN with one repeat."""
        biases = self.biases[:, ~self.failed]
        if biases.shape[1] == 1:
            return np.full(len(biases), np.nan)
        return np.asarray(biases.std(axis=1, ddof=1) / np.sqrt(biases.shape[1]))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the rough bias against kappa; see `plots.plot_calibration`."""
        from bayes_gresub.plots import plot_calibration

        return plot_calibration(self, ax)


def search(
    biases_at: Callable[[list[float]], Floats],
    failed: NDArray[np.bool_],
    step: float,
    max_kappa: float,
    patience: int = 2,
) -> tuple[CalibrationTrace, bool]:
    """Raise kappa from 1 until the magnitude of the rough bias has failed to fall `patience` times in a row.

    If the estimates are sampled, a change within two Monte-Carlo standard errors is neither a fall nor a failure: the
    next kappas are compared with the same one, until the change shows. If the bias itself lies within two standard
    errors of 0, it cannot fall further, and such a change is a failure. The kappa of the smallest magnitude is chosen,
    the first one if there are ties.

    Parameters
    ----------
    biases_at : callable
        Takes kappas and returns the bias of each repeat at each, shape (K, repeats), or (K, repeats, replicates) if
        the estimates are sampled; replicates of all kappas share their random points.
    failed : ndarray of bool
        Repeats to leave out.
    step, max_kappa : float
    patience : int

    Returns
    -------
    trace : CalibrationTrace
    capped : bool
        Whether `max_kappa` ended the search.
    """
    last = int(np.floor((max_kappa - 1) / step + 1e-9))
    kappas: list[float] = []
    rows: list[Floats] = []
    fails = anchor = batches = 0
    while fails < patience and len(kappas) <= last:
        size = _AT_ONCE[min(batches, len(_AT_ONCE) - 1)]
        batches += 1
        # Rounded, so that 1 + 3 * 0.1 is 1.3.
        batch = [round(1 + step * number, 10) for number in range(len(kappas), min(len(kappas) + size, last + 1))]
        biases = np.asarray(biases_at(batch))
        for kappa, row in zip(batch, biases.reshape(*biases.shape[:2], -1), strict=True):
            kappas.append(kappa)
            rows.append(row)
            if len(rows) == 1:
                continue
            change, noise = _change(rows[anchor][~failed], row[~failed])
            if noise == 0 or abs(change) > 2 * noise:
                fails = fails + 1 if change >= 0 else 0
                anchor = len(rows) - 1
            elif abs(float(row[~failed].mean())) <= 2 * _noise(row[~failed]):
                fails += 1
            if fails == patience:
                break
    biases = np.array(rows).mean(axis=2)
    best = kappas[int(np.abs(biases[:, ~failed].mean(axis=1)).argmin())]
    return CalibrationTrace(np.array(kappas), biases, failed, best), fails < patience


def bisection(
    biases_at: Callable[[list[float]], Floats], failed: NDArray[np.bool_], step: float, max_kappa: float
) -> tuple[CalibrationTrace, bool]:
    """Return the kappa on the grid of `search` whose rough bias is nearest to 0, if the bias grows with kappa.

    If it does, `search` returns the same kappa at several times the cost: here kappa doubles its distance from 1 until
    the bias is no longer negative, and the last stretch is then bisected. Parameters and returned values are those of
    `search`, but the trace holds only the kappas that were tried.
    """
    last = int(np.floor((max_kappa - 1) / step + 1e-9))
    biases_by_number: dict[int, Floats] = {}

    def bias(number: int) -> float:
        if number not in biases_by_number:
            (row,) = np.asarray(biases_at([round(1 + step * number, 10)]))
            biases_by_number[number] = row.reshape(len(failed), -1).mean(axis=1)
        return float(biases_by_number[number][~failed].mean())

    low, high = 0, 0
    while bias(high) < 0 and high < last:
        low, high = high, min(max(1, 2 * high), last)
    capped = bias(high) < 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bias(middle) < 0 else (low, middle)
    best = min(biases_by_number, key=lambda number: (abs(bias(number)), number))
    numbers = sorted(biases_by_number)
    kappas = np.array([round(1 + step * number, 10) for number in numbers])
    biases = np.array([biases_by_number[number] for number in numbers])
    return CalibrationTrace(kappas, biases, failed, float(round(1 + step * best, 10))), capped


def _change(before: Floats, after: Floats) -> tuple[float, float]:
    """Return the change in the magnitude of the mean bias, and its Monte-Carlo standard error.

    Both arguments have shape (repeats, replicates); each repeat has its own random points.
    """
    change = abs(float(after.mean())) - abs(float(before.mean()))
    return change, _noise(after - before)


def _noise(values: Floats) -> float:
    """Return the Monte-Carlo standard error of the mean of values of shape (repeats, replicates)."""
    return float(np.sqrt(np.sum([standard_error(row) ** 2 for row in values])) / len(values))


def failed_fits(errors: Floats, n_points: float, chance: float) -> NDArray[np.bool_]:
    """Return which of several fits of one rule failed: those whose error is far above that of the others.

    Far means more than half-way from the median of the others to the error of chance, and more than five binomial
    standard errors above that median.

    Parameters
    ----------
    errors : ndarray of shape (fits,)
    n_points : float
        Points behind each error.
    chance : float
        Error of always predicting the most frequent class.

    Examples
    --------
    >>> import numpy as np
    >>> failed_fits(np.array([0.08, 0.82, 0.11, 0.09]), n_points=120, chance=0.9).tolist()
    [False, True, False, False]
    """
    if len(errors) < 2:
        return np.zeros(len(errors), dtype=bool)
    typical = np.array([np.median(np.delete(errors, number)) for number in range(len(errors))])
    # One error and one correct point are added, so that a median of 0 has a standard error too.
    smoothed = (typical * n_points + 1) / (n_points + 2)
    far = typical + _FAR * np.sqrt(smoothed * (1 - smoothed) / n_points)
    return np.asarray((errors > far) & (errors > (typical + chance) / 2))


def describe_failed(errors: Floats, failed: NDArray[np.bool_]) -> str:
    """Return in words which fits failed."""
    failures = ", ".join(f"{error:.2f}" for error in errors[failed])
    typical = float(np.median(errors[~failed]))
    return f"{int(failed.sum())} of {len(failed)} fits failed (error {failures}; the others {typical:.2f})"
