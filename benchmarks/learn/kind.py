"""What a kind of populations is: how its structure is drawn, and how its features come from that structure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bayes_gresub.data.arrays import Floats
from benchmarks.learn.structure import Structure


class Layer(Protocol):
    """A map from points to points that does not look at labels and treats rows independently."""

    def apply(self, X: Floats, rng: np.random.Generator) -> Floats:
        """Return the changed points, shape (n, new number of features); X stays as it is."""
        ...


@dataclass(frozen=True, eq=False)
class Shape:
    """The numbers of classes and features that a kind is asked for; a kind may need others.

    Parameters
    ----------
    probabilities : array of shape (c,)
        Class probabilities.
    dim : int
    """

    probabilities: Floats
    dim: int

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.probabilities)

    def with_at_most(self, n_classes: int) -> Shape:
        """Return the shape of the first so many classes, for kinds that are out of reach of small samples with more."""
        kept = self.probabilities[:n_classes]
        return Shape(kept / kept.sum(), self.dim)


def no_layers(reference: Floats, dim: int, rng: np.random.Generator) -> list[Layer]:
    """Return no layers: the features are the points of the structure."""
    return []


@dataclass(frozen=True)
class Kind:
    """A kind of populations.

    Parameters
    ----------
    name : str
    draw_structure : callable
        From a `Shape` and a Generator, a structure whose separation is still to be tuned.
    draw_layers : callable
        From points of the tuned structure (n, k), the number of features asked for and a Generator: the layers that
        make features of such points. Layers lose little or no information, so that the error of the best classifier of
        the structure is a lower bound, and nearly the least error.
    """

    name: str
    draw_structure: Callable[[Shape, np.random.Generator], Structure]
    draw_layers: Callable[[Floats, int, np.random.Generator], list[Layer]] = no_layers
