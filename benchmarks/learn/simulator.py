"""Populations drawn from a broad prior, to learn from how error estimates relate to true errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.validation import check_name, check_whole
from benchmarks.learn.class_law import SMALLEST_CLASS, draw_dim, draw_n_classes, draw_probabilities
from benchmarks.learn.kind import Layer, Shape
from benchmarks.learn.kinds import KINDS
from benchmarks.learn.modifiers import MODIFIERS, draw_modifiers
from benchmarks.learn.structure import Structure
from benchmarks.learn.tuning import best_error, tune

N_REFERENCE = 400
"""Points by which layers are drawn."""

N_SMALL = 20
"""Points of a sample in which some class must vary, since rules divide by the variance within classes."""

LARGEST_ERROR = 0.5
EASY_ERROR = 0.002
LARGEST_NOISY_ERROR = 0.6
ATTEMPTS = 100


def draw_population(rng: np.random.Generator, kind: str | None = None) -> SimulatedPopulation:
    """Return a random population: of a random kind, shape, difficulty, with random modifiers and label noise.

    Two to ten classes, mostly two to four, the smallest of 3 points in 100 or more; two to 100 features. The error of
    the best classifier before label noise is a random share of the trivial one, 1 - max p_y, and about 0.5 at most.
    Label noise of rate r gives a point another label with probability r, all others equally likely:

        eta'_y(x) = (1 - r) eta_y(x) + r (1 - eta_y(x)) / (c - 1).

    Parameters
    ----------
    rng : Generator
    kind : str, optional
        A name in `KINDS`; by default each is equally likely.

    Examples
    --------
    >>> population = draw_population(np.random.default_rng(0), "shell")
    >>> X, y = population.sample(100, np.random.default_rng(1))
    >>> X.shape == (100, population.dim), population.n_classes
    (True, 3)
    """
    name = check_name(kind, KINDS, "kind of populations") if kind is not None else str(rng.choice(list(KINDS)))
    for _ in range(ATTEMPTS):
        shape = Shape(draw_probabilities(draw_n_classes(rng), rng), draw_dim(rng))
        structure = KINDS[name].draw_structure(shape, rng)
        structure = _with_difficulty(structure, 1 - float(structure.class_probabilities.max()), rng)
        if structure.class_probabilities.min() >= SMALLEST_CLASS:
            population = _with_modifiers(name, structure, shape.dim, rng)
            small_sample = population.sample(N_SMALL, rng)
            if population.least_error <= LARGEST_NOISY_ERROR and varies_within_classes(*small_sample):
                return population
    raise RuntimeError(
        f"a population of kind {name!r} must have classes of {SMALLEST_CLASS} or more that are no single points, and a "
        f"least error of at most {LARGEST_NOISY_ERROR}; got none in {ATTEMPTS} draws. Draw with another seed."
    )


@dataclass(frozen=True, eq=False)
class SimulatedPopulation:
    """A law on (x, y): a structure, layers that make features of its points, and label noise.

    Parameters
    ----------
    kind : str
    structure : Structure
    layers : dict
        By name, in the order in which they are applied.
    label_noise : float
        The probability that a point has another label than the structure gave it.
    dim : int
        The number of features.
    classes : array of shape (c,)
        Codes of the labels that points may have; others are never drawn.
    least_error : float
        The mean of 1 - max_y eta'_y over points of the structure: the least error, if the layers lose no information,
        and a lower bound otherwise.
    """

    kind: str
    structure: Structure
    layers: dict[str, Layer]
    label_noise: float
    dim: int
    classes: Ints
    least_error: float

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.classes)

    @cached_property
    def class_probabilities(self) -> Floats:
        """P(y) of each of `classes`."""
        mass = _noisy(self.structure.class_probabilities, self.label_noise)[self.classes]
        return mass / mass.sum()

    @cached_property
    def description(self) -> dict[str, float]:
        """Plain numbers: of classes and features, difficulty, balance, and 1 or 0 for each modifier."""
        return {
            "n_classes": self.n_classes,
            "dim": self.dim,
            "least_error": self.least_error,
            "smallest_class": float(self.class_probabilities.min()),
            "largest_class": float(self.class_probabilities.max()),
            "separation": float(self.structure.separation),
            "label_noise": self.label_noise,
            **{name: float(name in self.layers) for name in MODIFIERS},
        }

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
        """Return n independent points (n, d) and the codes of their labels (n,)."""
        check_whole(n, "n", 1)
        X, y = self._labelled_points(n, rng)
        for layer in self.layers.values():
            X = layer.apply(X, rng)
        return X, y

    def restricted_to(self, classes: Ints, rng: np.random.Generator) -> SimulatedPopulation:
        """Return the population of those points whose label is one of `classes`; codes stay as they are."""
        smaller = replace(self, classes=np.unique(classes))
        if not np.isin(smaller.classes, self.classes).all() or smaller.n_classes < 2:
            raise ValueError(
                f"classes must be two or more of {self.classes.tolist()}; got {np.asarray(classes).tolist()}."
            )
        return replace(smaller, least_error=smaller.estimate_least_error(N_REFERENCE, rng))

    def estimate_least_error(self, n: int, rng: np.random.Generator) -> float:
        """Return the mean of 1 - max_y eta'_y, over n points and the classes of the population."""
        X, _ = self._labelled_points(n, rng)
        posterior = _noisy(self.structure.posterior(X), self.label_noise)[:, self.classes]
        return best_error(posterior / posterior.sum(axis=1, keepdims=True))

    def _labelled_points(self, n: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
        """Return points of the structure with their noisy labels, drawn until n have a label of this population."""
        parts: list[tuple[Floats, Ints]] = []
        lacking = n
        while lacking > 0:
            X, y = self.structure.sample(lacking, rng)
            c = len(self.structure.class_probabilities)
            changed = rng.random(len(y)) < self.label_noise
            y = np.where(changed, (y + rng.integers(1, c, size=len(y))) % c, y)
            kept = np.isin(y, self.classes)
            parts.append((X[kept], y[kept]))
            lacking -= int(kept.sum())
        return np.vstack([X for X, _ in parts]), np.concatenate([y for _, y in parts])


def varies_within_classes(X: Floats, y: Ints) -> bool:
    """Return whether two points of one class differ."""
    _, first, inverse = np.unique(y, return_index=True, return_inverse=True)
    return bool((X[first][inverse] != X).any())


def _noisy(probabilities: Floats, rate: float) -> Floats:
    """Return class probabilities (..., c) after label noise."""
    return (1 - rate) * probabilities + rate * (1 - probabilities) / (probabilities.shape[-1] - 1)


def _with_difficulty(structure: Structure, trivial: float, rng: np.random.Generator) -> Structure:
    """Return the structure tuned to a share of the trivial error: uniform from 0 to 1, small, or easy.

    Small is a Beta variable of mean 0.18. Easy is almost no error, and up to five times the separation needed for that,
    so that small samples suffice. Classifiers trained on small samples have far larger errors than the best one, so one
    share in seven is uniform only.
    """
    level = rng.choice(["uniform", "small", "easy"], p=[0.15, 0.5, 0.35])
    if level != "easy":
        share = rng.random() if level == "uniform" else rng.beta(1.0, 4.5)
        return tune(structure, min(float(share) * trivial, LARGEST_ERROR), rng)
    tuned = tune(structure, EASY_ERROR, rng)
    return tuned.separated(min(tuned.separation * np.exp(rng.uniform(0, np.log(5))), tuned.most_separated))


def _with_modifiers(name: str, structure: Structure, dim: int, rng: np.random.Generator) -> SimulatedPopulation:
    reference, _ = structure.sample(N_REFERENCE, rng)
    layers: dict[str, Layer] = {}
    for layer in KINDS[name].draw_layers(reference, dim, rng):
        layers[type(layer).__name__] = layer
        reference = layer.apply(reference, rng)
    layers |= draw_modifiers(reference, rng)
    label_noise = 0.0 if rng.random() < 0.75 else float(rng.uniform(0, 0.2))
    classes = np.arange(len(structure.class_probabilities))
    population = SimulatedPopulation(name, structure, layers, label_noise, 0, classes, 0.0)
    X, _ = population.sample(2, rng)
    return replace(population, dim=X.shape[1], least_error=population.estimate_least_error(N_REFERENCE, rng))
