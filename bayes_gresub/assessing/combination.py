"""The learned combination: from clues to a distribution of the true error. It is trained by `make learn`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
from scipy.special import betaincc, expit

from bayes_gresub.data.arrays import Floats
from bayes_gresub.data.validation import check_name

FORMAT = 1
"""Of the file; one of another format is not read."""

NUMBERS = (
    "log_n",
    "log_d",
    "log_c",
    "separation",
    "rank_separation",
    "has_own",
    "has_doubt",
    "has_leaf",
    "has_tangent",
)
"""Clues that are no shares of points."""

FLAGS = {
    **dict.fromkeys(("own_error", "own_changed"), "has_own"),
    "own_doubt": "has_doubt",
    "leaf_error": "has_leaf",
    **dict.fromkeys(("tangent_error", "tangent_doubt"), "has_tangent"),
}
"""Clues that not every classifier has, and the clue that is 1 if it has."""

MOST_DEVIATIONS = 8.0
"""Standardised clues are kept within."""

LEAST_POINTS = 2.0
LOG_SHARES = (-3.0, 2.0)
"""Logarithms of effective points divided by points are kept within."""


@dataclass(frozen=True)
class Prediction:
    """A Beta distribution of the true error.

    Attributes
    ----------
    mean : float
    n_points : float
        As many held-out points would tell as much: the parameters are mean * n_points and (1 - mean) * n_points.
    strangeness : float
        Distance of the clues from those that were learned from, divided by that of the farthest in a thousand; or, if
        larger, that of a single clue from its mean divided by that of its extreme.
    """

    mean: float
    n_points: float
    strangeness: float = 0.0

    def probability_above(self, error: float) -> float:
        """Return the probability of a larger error."""
        return float(betaincc(self.mean * self.n_points, (1 - self.mean) * self.n_points, error))


@dataclass(frozen=True, eq=False)
class Combination:
    r"""Several small networks, whose Beta distributions are mixed.

    With z the standardised clues, a network has the location and the effective number of points

    .. math::
        \mu = \sigma(w^T z + f_1(z)), \qquad s = n \exp(f_2(z)), \qquad
        f(z) = C \phi(B \phi(A z + a) + b) + c, \qquad \phi(t) = t \sigma(t)

    and the answer is the `mixture` of their Beta distributions.

    Attributes
    ----------
    names : tuple of str
        Clues, in order.
    arrays : dict of ndarray
        `center` and `scale` of the clues, (d,); weights of the networks, the first axis over networks: `skip` (e, d),
        `offset` (e,), `first` (e, h, d), `first_offset` (e, h), `second` (e, g, h), `second_offset` (e, g), `last`
        (e, 2, g), `last_offset` (e, 2); `whiten` (d, d), `farthest`, `lowest` and `highest` (d,) for the distance.
    """

    names: tuple[str, ...]
    arrays: Mapping[str, Floats]

    def predict(self, clues: Mapping[str, float]) -> Prediction:
        """Return the distribution of the true error."""
        standardized = self.standardized(clues)
        points = np.clip(standardized, -MOST_DEVIATIONS, MOST_DEVIATIONS)
        arrays = self.arrays
        hidden = _bend(arrays["first"] @ points + arrays["first_offset"])
        hidden = _bend(np.einsum("egh,eh->eg", arrays["second"], hidden) + arrays["second_offset"])
        out = np.einsum("ekg,eg->ek", arrays["last"], hidden) + arrays["last_offset"]
        means = expit(arrays["skip"] @ points + arrays["offset"] + out[:, 0])
        n = np.exp(clues["log_n"])
        sizes = np.maximum(n * np.exp(np.clip(out[:, 1], *LOG_SHARES)), LEAST_POINTS)
        mean, n_points = mixture(means, sizes)
        return Prediction(float(mean), float(n_points), self._strangeness(standardized))

    def standardized(self, clues: Mapping[str, float]) -> Floats:
        """Return the clues as the networks see them, (d,)."""
        values = as_inputs(np.array([[clues[name] for name in self.names]]), self.names)[0]
        points = (values - self.arrays["center"]) / self.arrays["scale"]
        # What a classifier does not have is taken as average.
        return np.where(np.isnan(points), 0.0, points)

    def _strangeness(self, points: Floats) -> float:
        moved = self.arrays["whiten"] @ points
        single = np.where(points < 0, points / self.arrays["lowest"], points / self.arrays["highest"])
        return max(float(np.sqrt(moved @ moved) / self.arrays["farthest"]), float(single.max()))


def mixture(means: Floats, sizes: Floats) -> tuple[Floats, Floats]:
    r"""Return mean and effective points of the Beta distribution that replaces several; the first axis is over these.

    It has the mean of their mixture and its variance, that of the means without bias, so networks that disagree make it
    wider:

    .. math:: \bar\mu, \qquad \overline{\mu (1 - \mu) / (s + 1)} + \frac{1}{e - 1} \sum_{k=1}^{e} (\mu_k - \bar\mu)^2
    """
    mean = np.clip(means.mean(axis=0), 1e-6, 1 - 1e-6)
    apart = means.var(axis=0, ddof=1) if len(means) > 1 else 0.0
    variance = (means * (1 - means) / (sizes + 1)).mean(axis=0) + apart
    return mean, np.maximum(mean * (1 - mean) / variance - 1, LEAST_POINTS)


def as_inputs(values: Floats, names: tuple[str, ...]) -> Floats:
    r"""Return clues (m, d) on the scale that networks see: shares as logits, NaN for what a classifier does not have.

    .. math:: \log \frac{n e + 1/2}{n (1 - e) + 1/2}
    """
    n = np.exp(values[:, names.index("log_n")])[:, None]
    is_share = np.array([name not in NUMBERS and name != "inverse_refits" for name in names])
    shares = np.clip(values[:, is_share], 0.0, 1.0)
    result = values.astype(float)
    result[:, is_share] = np.log((n * shares + 0.5) / (n * (1 - shares) + 0.5))
    for name, flag in FLAGS.items():
        if name in names:
            result[values[:, names.index(flag)] == 0, names.index(name)] = np.nan
    return result


def read_combination(with_refits: bool, path: Path | None = None) -> Combination:
    """Return the combination for clues with or without those of refits, from the package's file or another."""
    if path is not None and not path.is_file():
        raise FileNotFoundError(
            f"combination must be a file that `make learn` wrote; there is none at {path}. Leave it out."
        )
    return _read(path)["refits" if with_refits else "plain"]


@lru_cache(maxsize=8)
def _read(path: Path | None) -> dict[str, Combination]:
    if path is None:
        with as_file(files("bayes_gresub.assessing") / "combination.npz") as packaged:
            return _read_file(packaged)
    return _read_file(path)


def _read_file(path: Path) -> dict[str, Combination]:
    with np.load(path, allow_pickle=False) as stored:
        if int(stored["format"]) != FORMAT:
            raise ValueError(
                f"a file of a combination must have format {FORMAT}; {path.name} has {int(stored['format'])}. Train it "
                "again with `make learn`."
            )
        parts: dict[str, dict[str, Floats]] = {"plain": {}, "refits": {}}
        for name in stored.files:
            part, _, key = name.partition("/")
            if key:
                parts[check_name(part, parts, "part")][key] = stored[name]
    return {
        part: Combination(
            tuple(arrays["names"].tolist()),
            {key: value.astype(float) for key, value in arrays.items() if key != "names"},
        )
        for part, arrays in parts.items()
    }


def seen_populations(path: Path | None = None) -> dict[str, int]:
    """Return the populations that the combination was trained on, with their numbers of cases.

    Examples
    --------
    >>> "gaussian-equal" in seen_populations()
    True
    """
    resource = files("bayes_gresub.assessing") / "combination.npz"
    with as_file(resource) as packaged, np.load(path or packaged, allow_pickle=False) as stored:
        names, counts = stored["populations"], stored["cases"]
    return dict(zip(names.tolist(), counts.tolist(), strict=True))


def _bend(values: Floats) -> Floats:
    return np.asarray(values * expit(values))
