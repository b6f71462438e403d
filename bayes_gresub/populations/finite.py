"""A real data set as a population: training sets are drawn from it, and the rest is the truth."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_gresub.data.arrays import Ints, Labels
from bayes_gresub.data.exact_digits import exact_digits
from bayes_gresub.data.sample import Sample, encode_labels, read_sample
from bayes_gresub.data.seeds import Seed, seed_sequence
from bayes_gresub.data.validation import check_whole
from bayes_gresub.populations.population import N_TEST, Population, TrueError, rounded_sizes
from bayes_gresub.regions.region import check_predict


@dataclass(frozen=True, eq=False)
class FiniteData(Population):
    """Training sets of n points drawn without replacement from a data set, whose other points are the truth.

    The true error is the share of the points not drawn that the classifier gets wrong; its standard error is that of a
    share of so many independent points of the population behind the data. Training sets overlap if n is not small
    beside the size of the data, so standard errors over repetitions are too small for that population.

    Parameters
    ----------
    X : array-like of shape (N, d) or (N, ...), or DataFrame
    y : array-like of shape (N,)
    class_sizes : "random" (default) or "fixed"
        Whether all points are equally likely to be drawn, or every class has its share of n.
    name : str
        What the data are called.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> population = FiniteData(*load_breast_cancer(return_X_y=True))
    >>> X, y, rest = population.draw(60, random_state=0)
    >>> truth = rest.true_error(DecisionTreeClassifier(random_state=0).fit(X, y))
    >>> truth.n_test, round(truth.value, 3), round(truth.std_error, 3)
    (509, 0.09, 0.013)
    """

    X: Any = field(repr=False)
    y: ArrayLike = field(repr=False)
    class_sizes: str = "random"
    name: str = ""

    def __post_init__(self) -> None:
        if self.class_sizes not in ("fixed", "random"):
            raise ValueError(f"class_sizes must be 'fixed' or 'random'; got {self.class_sizes!r}.")
        _ = self._sample  # raises now if the data are wrong

    @cached_property
    def _sample(self) -> Sample:
        return read_sample(self.X, self.y, as_rows=True)

    @classmethod
    def from_csv(cls, path: str | Path, target: str, *, class_sizes: str = "random", **options: Any) -> FiniteData:
        """Return the data in a CSV file, one column of which holds the labels.

        Parameters
        ----------
        path : str or Path
        target : str
            Name of the column with the labels; all others are features.
        class_sizes : "random" or "fixed"
        **options
            Handed to `pandas.read_csv`, such as `usecols=` or `sep=`.
        """
        import pandas as pd

        frame: pd.DataFrame = pd.read_csv(path, **({} if "engine" in options else exact_digits()) | options)
        if target not in frame.columns:
            raise ValueError(
                f"target must be a column of {path}; got {target!r}. The columns are {list(frame.columns)}."
            )
        if frame[target].isna().any():
            raise ValueError(
                f"every point must have a label; column {target!r} of {path} lacks {int(frame[target].isna().sum())}. "
                "Drop those rows."
            )
        return cls(frame.drop(columns=target), frame[target].to_numpy(), class_sizes, Path(path).name)

    def __len__(self) -> int:
        return len(self._sample.codes)

    def draw(self, n: int, random_state: Seed = None) -> tuple[Any, Labels, Rest]:
        """Return n points, their labels, and the rest of the data."""
        check_whole(n, "n", 1)
        if n > len(self) - 2:
            raise ValueError(f"n must leave at least two points to judge by; got n={n} of {len(self)}. Lower n.")
        rng = np.random.default_rng(seed_sequence(random_state))
        order = rng.permutation(len(self))
        if self.class_sizes == "fixed":
            codes = self._sample.codes[order]
            sizes = rounded_sizes(n, np.bincount(codes) / len(codes))
            # The first of each class; they come by turns, so their order must be made random again.
            rank = np.empty(len(order), dtype=np.intp)
            for code, members in enumerate(np.bincount(codes)):
                rank[codes == code] = np.arange(members)
            is_drawn = rank < sizes[codes]
            order = np.concatenate([rng.permutation(order[is_drawn]), order[~is_drawn]])
        drawn, rest = order[:n], order[n:]
        return self._sample.restored(drawn), self._sample.labels[drawn], Rest(self._sample, rest)


@dataclass(frozen=True, eq=False)
class Rest:
    """The points of a data set that a training set left."""

    sample: Sample
    rows: Ints

    def true_error(self, classifier: Any, *, n_test: int = N_TEST, random_state: Seed = None) -> TrueError:
        """Return the share of these points that a classifier gets wrong; all count, whatever `n_test`."""
        check_predict(classifier)
        labels = self.sample.labels[self.rows]
        predicted = np.asarray(classifier.predict(self.sample.restored(self.rows)))
        if predicted.shape == (len(labels), 1):
            predicted = predicted[:, 0]
        if predicted.shape != labels.shape:
            raise ValueError(
                f"predict must return one label per point; got shape {predicted.shape} for {len(labels)} points."
            )
        classes = self.sample.classes
        codes = encode_labels(
            predicted, classes, "the labels that predict returns", "Train it on labels of these data."
        )
        share = float((codes != self.sample.codes[self.rows]).mean())
        m = len(labels)
        return TrueError(share, float(np.sqrt(share * (1 - share) / (m - 1))), m, f"the {m} points not drawn")
