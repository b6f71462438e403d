"""Labels by the cell of a grid over two or three features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from benchmarks.learn.feature_law import draw_feature_law
from benchmarks.learn.kind import Shape
from benchmarks.learn.scored import N_REFERENCE, Scored, scored

MOST_CLASSES = 4


@dataclass(frozen=True, eq=False)
class CellScores:
    """Scores of 1 for the class of the cell and 0 for the others, times a factor that falls to `edge` at its border.

    Parameters
    ----------
    cuts : array of shape (k, cells - 1)
        Where the first k features are cut.
    classes : array of shape (cells,) * k
    n_classes : int
    edge : float
        1 for scores that are constant in a cell.
    """

    cuts: Floats
    classes: Ints
    n_classes: int
    edge: float

    def __call__(self, X: Floats) -> Floats:
        """Return the scores of points (n, d), shape (n, c)."""
        cells = tuple(np.searchsorted(cuts, X[:, j]) for j, cuts in enumerate(self.cuts))
        gaps = np.abs(X[:, : len(self.cuts), None] - self.cuts).min(axis=(1, 2))
        height = self.edge + (1 - self.edge) * np.tanh(4 * gaps)
        return np.eye(self.n_classes)[self.classes[cells]] * height[:, None]


def draw_checkerboard(shape: Shape, rng: np.random.Generator) -> Scored:
    """Return a board of two to four cells a side, more for four classes, beside up to eight other features.

    There are at most four classes. Neighbouring cells differ, or cells have random classes.
    """
    shape = shape.with_at_most(MOST_CLASSES)
    k = 2 if shape.dim < 3 or rng.random() < 0.8 else 3
    least = 2 if shape.n_classes <= 3 else int(np.ceil(np.sqrt(2 * shape.n_classes)))
    side = least + int(rng.choice(3, p=[0.45, 0.4, 0.15]))
    features = draw_feature_law(k + min(shape.dim - k, int(rng.integers(0, 9))), rng, continuous=True)
    reference = features.points(N_REFERENCE, rng)
    cuts = np.quantile(reference[:, :k], np.arange(1, side) / side, axis=0).T
    if rng.random() < 0.6:
        classes = np.indices((side,) * k).sum(axis=0) % shape.n_classes
    else:
        every = np.append(
            np.arange(shape.n_classes), rng.choice(shape.n_classes, side**k - shape.n_classes, p=shape.probabilities)
        )
        classes = rng.permutation(every).reshape((side,) * k)
    edge = 1.0 if rng.random() < 0.5 else float(rng.uniform(0, 0.5))
    return scored(features, CellScores(cuts, classes, shape.n_classes, edge), reference)
