"""Discrete classes: every combination of feature values is a cell with a probability of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.sample import Sample
from bayes_gresub.data.seeds import child
from bayes_gresub.data.validation import warn_user
from bayes_gresub.laws.components import Components
from bayes_gresub.laws.law import Law
from bayes_gresub.models.check_report import Finding
from bayes_gresub.models.class_draws import ClassDraws
from bayes_gresub.models.class_model import ClassModel, ClassPosterior
from bayes_gresub.models.exact_moments import ClassMoments, dirichlet_moments
from bayes_gresub.models.nuts import SamplerSettings, run_nuts
from bayes_gresub.models.pymc_models import build_discrete
from bayes_gresub.models.whitening import PyMCInputs
from bayes_gresub.regions.region import Region

MOST_CELLS = 100_000
MOST_CELLS_NUTS = 1_000
_MOST_SHOWN = 10_000_000
_SMALL = 0.1
_CHUNK_ELEMENTS = 2**21
_LAW_ELEMENTS = 2**19


class DiscreteClasses(ClassModel):
    r"""Classes on a table of cells, with :math:`p_y \sim \mathrm{Dirichlet}(\beta)` and multinomial counts.

    A cell is a combination of values of the features; a classifier predicts once for each. Posterior mean and
    variance of the error are exact. Samplers: "conjugate" (independent draws) and, up to 1,000 cells, "nuts".

    Parameters
    ----------
    concentration : float, default 1.0
        beta, of every cell: that of Bayes and Laplace. It counts as that many points in each cell, so the prior rules
        a table with more cells than points; a warning is given.
    levels : sequence of array-like, optional
        The values that each feature can take; by default those in the sample.

    References
    ----------
    Dalton & Dougherty, Bayesian minimum mean-square error estimation for classification error, Part I: definition and
    the Bayesian MMSE error estimator for discrete classification, IEEE Transactions on Signal Processing 59 (2011).

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1], [0, 0], [1, 1]], [0, 0, 1, 1, 0, 1]
    >>> measure = bg.Bayesian(bg.DiscreteClasses(), sampler="conjugate", random_state=0).fit(X, y)
    >>> round(measure.error(DecisionTreeClassifier().fit(X, y)).value, 4)
    0.2857
    """

    samplers = ("nuts", "conjugate")
    prior_remedy = "Raise concentration."

    def __init__(self, concentration: float = 1.0, levels: Sequence[ArrayLike] | None = None) -> None:
        self.concentration = concentration
        self.levels = levels

    def check(self, data: Sample, sampler: str) -> None:
        """Raise if there are too many cells or unknown values; warn if the prior outweighs the sample."""
        if sampler == "gibbs":
            raise ValueError("sampler must be 'nuts' or 'conjugate' for DiscreteClasses; got 'gibbs'. Use 'conjugate'.")
        value = self.concentration
        if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 < value < np.inf:
            raise ValueError(f"concentration must be a number above 0; got {value!r}.")
        levels = self._levels(data)
        cells = float(np.prod([float(len(values)) for values in levels]))
        if cells > MOST_CELLS:
            raise ValueError(
                f"DiscreteClasses takes at most {MOST_CELLS:,} cells; the values of {len(levels)} features make "
                f"{cells:,.0f}. Join values, drop features, or use GaussianClasses for numbers."
            )
        if sampler == "nuts" and cells > MOST_CELLS_NUTS:
            raise ValueError(
                f"sampler='nuts' takes at most {MOST_CELLS_NUTS:,} cells; got {cells:,.0f}. Use sampler='conjugate', "
                "whose draws are exact."
            )
        _find_cells(data.features, levels)
        for finding in self._find_heavy_prior(data):
            warn_user(finding.sentence)

    def learn(
        self, data: Sample, sampler: str, settings: SamplerSettings, seed: np.random.SeedSequence
    ) -> ClassPosterior:
        """Count, and draw cell probabilities."""
        levels = self._levels(data)
        cells = int(np.prod([len(values) for values in levels]))
        cell_of = _find_cells(data.features, levels)
        counts = np.zeros((data.n_classes, cells))
        np.add.at(counts, (data.codes, cell_of), 1.0)
        prior = np.full((data.n_classes, cells), float(self.concentration))
        shape = (settings.chains, settings.draws)
        if sampler == "conjugate":
            return DiscretePosterior(TableDraws(levels, prior + counts, shape, seed), prior)
        inputs = PyMCInputs(
            data.features.shape[1], data.n_classes, 1, 1, {"concentration": prior, "cell_counts": counts}
        )
        sampled = run_nuts(build_discrete, inputs, ("discrete",), settings, seed)
        drawn = sampled.posterior["cell_probabilities"]
        table = TableDraws(levels, prior + counts, drawn.shape[:2], seed, drawn, stats=sampled.stats)
        return DiscretePosterior(table, prior)

    def with_strength_times(self, factor: float) -> Self:
        """Return the model with the concentration multiplied."""
        return clone(self).set_params(concentration=self.concentration * factor)

    def findings(
        self, data: Sample, posterior: ClassPosterior, class_probabilities: Floats, seed: np.random.SeedSequence
    ) -> list[Finding]:
        """Return the findings about the prior: a table of cells fits any sample."""
        return [
            Finding("fit", False, "A table of cells fits any sample; there is nothing to test."),
            self.prior_finding(posterior, class_probabilities, np.random.default_rng(child(seed, 1))),
            *self._find_heavy_prior(data),
        ]

    def _find_heavy_prior(self, data: Sample) -> list[Finding]:
        """Find a prior that counts as more than twice the points of the smallest class."""
        prior = float(self.concentration * np.prod([float(len(values)) for values in self._levels(data)]))
        smallest = int(data.counts.min())
        if prior <= 2 * smallest:
            return []
        sentence = (
            f"The prior counts as {prior:,.0f} points, the smallest class has {smallest}: the prior rules the "
            "estimate. Join values, or lower concentration."
        )
        return [Finding("scale", True, sentence, {"prior": prior, "sample": smallest})]

    def _levels(self, data: Sample) -> list[Floats]:
        if self.levels is None:
            return [np.unique(column) for column in data.features.T]
        d = data.features.shape[1]
        try:
            levels = [np.unique(np.asarray(values, dtype=float)) for values in self.levels]
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"levels must list the values of each feature, as numbers; got {self.levels!r}."
            ) from error
        if len(levels) != d or not all(len(values) for values in levels):
            raise ValueError(f"levels must list the values of each of {d} features; got {len(levels)} lists.")
        return levels


class DiscretePosterior(ClassPosterior):
    """Cells after a sample."""

    draws: TableDraws

    def __init__(self, draws: TableDraws, prior: Floats) -> None:
        self.draws = draws
        self.prior = prior

    def moments(self, region: Region) -> tuple[ClassMoments, Ints] | None:
        """Return the moments of the cells that are given each class."""
        c = self.draws.n_classes
        labels = self.draws.labels(region)
        if labels.max() >= c:
            return None
        return dirichlet_moments(self.draws.concentration, labels), np.arange(c)

    def prior_draws(self, n: int, rng: np.random.Generator) -> ClassDraws:
        """Draw cell probabilities from the prior."""
        seed = np.random.SeedSequence(rng.integers(2**32, size=4).tolist())
        return TableDraws(self.draws.levels, self.prior, (1, n), seed)


@dataclass(frozen=True, eq=False)
class TableDraws(ClassDraws):
    """Draws of cell probabilities, drawn again from the seed whenever they are needed: they may be too many to keep.

    Attributes
    ----------
    levels : list of ndarray
    concentration : ndarray of shape (c, cells)
    size : (chains, draws)
    seed : SeedSequence
    kept : ndarray of shape (chains, draws, c, cells), optional
        Draws of a sampler.
    """

    levels: list[Floats]
    concentration: Floats
    size: tuple[int, ...]
    seed: np.random.SeedSequence
    kept: Floats | None = None
    _predicted: list[tuple[Region, Ints]] = field(default_factory=list, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        # The classifier of a region may not be picklable.
        return {**self.__dict__, "_predicted": []}

    @property
    def shape(self) -> tuple[int, int]:
        """Return the number of chains and of draws in each."""
        return self.size[0], self.size[1]

    @property
    def n_classes(self) -> int:
        """Return the number of classes."""
        return len(self.concentration)

    @property
    def n_cells(self) -> int:
        """Return the number of cells."""
        return int(self.concentration.shape[1])

    def parameters(self) -> dict[str, tuple[tuple[str, ...], Floats]]:
        """Return the cell probabilities, unless they are too many to hold."""
        if int(np.prod(self.shape)) * self.concentration.size > _MOST_SHOWN:
            return {}
        _, every = self._all()
        return {"cell_probabilities": (("class", "cell"), every.reshape(*self.shape, self.n_classes, -1))}

    def labels(self, region: Region) -> Ints:
        """Return the class code that a classifier gives to each cell."""
        if not self._predicted or self._predicted[0][0] is not region:
            self._predicted[:] = [(region, region.predict(self._points(np.arange(self.n_cells))))]
        return self._predicted[0][1]

    def laws(self, probabilities: Floats, at_once: bool = False) -> Iterator[Law]:
        """Yield laws of point masses, one for every class and cell, in the order (class, cell)."""
        c, cells = self.concentration.shape
        centers = Components.points(np.tile(self._points(np.arange(cells)), (c, 1)))
        labels = np.repeat(np.eye(c), cells, axis=0)
        for rows, chunk in [self._all()] if at_once else self._chunks():
            step = len(chunk) if at_once else max(1, _LAW_ELEMENTS // chunk[0].size)
            for begin in range(0, len(chunk), step):
                block = chunk[begin : begin + step]
                weights = probabilities[rows][begin : begin + step, :, None] * block
                yield Law(centers, weights.reshape(len(block), c * cells), labels)

    def center_labels(self, region: Region) -> tuple[Ints | None, int]:
        """Predict every cell once."""
        return np.tile(self.labels(region), self.n_classes), self.n_cells

    def points(self, draws: Ints, codes: Ints, rng: np.random.Generator) -> Floats:
        """Choose a cell by its probability."""
        chosen = np.empty(len(draws), dtype=np.intp)
        uniform = rng.random(len(draws))
        for rows, part in self._chunks():
            inside = np.flatnonzero((draws >= rows.start) & (draws < rows.stop))
            for code in range(self.n_classes):
                of_class = inside[codes[inside] == code]
                edges = np.cumsum(part[:, code], axis=1)
                for draw in np.unique(draws[of_class]):
                    of_draw = of_class[draws[of_class] == draw]
                    chosen[of_draw] = np.searchsorted(edges[draw - rows.start, :-1], uniform[of_draw], side="right")
        return self._points(chosen)

    def best_errors(self, probabilities: Floats, n_points: int, rng: np.random.Generator) -> Floats:
        """Return one minus the sum over cells of the largest joint probability, exactly."""
        joint = [(part * probabilities[:, None]).max(axis=1).sum(axis=1) for _, part in self._chunks()]
        return np.maximum(1.0 - np.concatenate(joint), 0.0)

    def log_density(self, points: Floats) -> Floats:
        """Return the log probability of the cell of each point."""
        cell_of = _find_cells(points, self.levels)
        with np.errstate(divide="ignore"):
            return np.concatenate([np.log(part[:, :, cell_of]).swapaxes(1, 2) for _, part in self._chunks()])

    def _points(self, cells: Ints) -> Floats:
        indices = np.unravel_index(cells, [len(values) for values in self.levels])
        return np.stack([values[index] for values, index in zip(self.levels, indices, strict=True)], axis=1)

    def _all(self) -> tuple[slice, Floats]:
        """Return all draws, (draws, c, cells)."""
        return slice(None), np.concatenate([part for _, part in self._chunks()])

    def _chunks(self) -> Iterator[tuple[slice, Floats]]:
        """Yield all draws in order, (draws, c, cells) at a time; always the same ones."""
        total = self.shape[0] * self.shape[1]
        step = max(1, _CHUNK_ELEMENTS // self.concentration.size)
        kept = None if self.kept is None else self.kept.reshape(total, *self.concentration.shape)
        for number, begin in enumerate(range(0, total, step)):
            rows = slice(begin, min(total, begin + step))
            if kept is not None:
                yield rows, kept[rows]
                continue
            rng = np.random.default_rng(child(self.seed, 0, number))
            yield rows, _dirichlet(self.concentration, rows.stop - rows.start, rng)


def _dirichlet(concentration: Floats, size: int, rng: np.random.Generator) -> Floats:
    """Draw probabilities (size, c, cells); if concentrations are small, by their logarithms, which do not vanish."""
    shape = (size, *concentration.shape)
    if concentration.min() >= _SMALL:
        drawn = rng.standard_gamma(concentration, size=shape)
    else:
        # A gamma variate of shape a is one of shape a + 1 times U^(1/a).
        logs = (
            np.log(rng.standard_gamma(concentration + 1.0, size=shape))
            - rng.standard_exponential(shape) / concentration
        )
        drawn = np.exp(logs - logs.max(axis=2, keepdims=True))
    drawn /= drawn.sum(axis=2, keepdims=True)
    return np.asarray(drawn)


def _find_cells(features: Floats, levels: Sequence[Floats]) -> Ints:
    """Return the cell of each point, or raise for a value that is no level."""
    indices = []
    for f, (column, values) in enumerate(zip(features.T, levels, strict=True)):
        index = np.minimum(np.searchsorted(values, column), len(values) - 1)
        unknown = column[values[index] != column]
        if len(unknown):
            raise ValueError(
                f"feature {f} must take values among its levels {values[:10].tolist()}; got {float(unknown[0])!r}. "
                "Give all values in levels."
            )
        indices.append(index)
    return np.asarray(np.ravel_multi_index(tuple(indices), [len(values) for values in levels]), dtype=np.intp)
