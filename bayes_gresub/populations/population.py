"""The population interface: draw a training set, compute the true error of a classifier. No estimator is used here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints, Labels
from bayes_gresub.data.sample import Sample
from bayes_gresub.data.seeds import SAMPLES, TRUTH, Seed, child, seed_sequence
from bayes_gresub.data.validation import check_whole
from bayes_gresub.laws.components import Components
from bayes_gresub.laws.confusion import error_mass, joint
from bayes_gresub.laws.halfspace import HalfSpace
from bayes_gresub.laws.law import Law
from bayes_gresub.regions.region import Region, decision_region

N_TEST = 5000
"""Test points behind a true error that no formula gives: the paper's number."""

_N_PROBES = 64
"""Points of the population on which a boundary read off a classifier must agree with its `predict`."""


@dataclass(frozen=True)
class TrueError:
    """The error of a classifier under a population.

    Attributes
    ----------
    value : float
    std_error : float
        0 if the error is exact; else that of the share of test points misclassified.
    n_test : int
        Test points; 0 if the error is exact.
    method : str

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> from sklearn.neighbors import NearestCentroid
    >>> X, y, truth = bg.datasets.PaperGaussian(bayes_error=0.2).draw(60, random_state=0)
    >>> error = truth.true_error(NearestCentroid().fit(X, y))
    >>> 0.2 < error.value < 0.5, error.std_error, error.n_test
    (True, 0.0, 0)
    """

    value: float
    std_error: float
    n_test: int
    method: str

    def __float__(self) -> float:
        return self.value


class Truth(Protocol):
    """Computes the true error of classifiers."""

    def true_error(self, classifier: Any, *, n_test: int = N_TEST, random_state: Seed = None) -> TrueError:
        """Return the error of a trained classifier."""


class Population(ABC):
    """A law on (x, y) that training sets are drawn from.

    To make your own, give a subclass `draw`, and make it a frozen dataclass or give it `get_params`: a study
    compares it with that of a folder.

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> isinstance(bg.datasets.PaperGaussian(), bg.datasets.Population)
    True
    >>> X, y = bg.datasets.PaperGaussian().sample(20, random_state=0)
    >>> X.shape, y.shape
    ((20, 10), (20,))
    """

    @abstractmethod
    def draw(self, n: int, random_state: Seed = None) -> tuple[Any, Labels, Truth]:
        """Return n training points, their labels, and the truth about classifiers trained on them."""

    def sample(self, n: int, random_state: Seed = None) -> tuple[Any, Labels]:
        """Return n points and their labels."""
        X, y, _ = self.draw(n, random_state)
        return X, y


class SyntheticPopulation(Population):
    """A population made by a formula: it has endless points, and is the truth for every training set."""

    prior: Any
    class_sizes: str

    @property
    @abstractmethod
    def n_classes(self) -> int:
        """Return the number of classes."""

    @property
    @abstractmethod
    def means(self) -> Floats:
        """Return the class means, of shape (c, d)."""

    @abstractmethod
    def _points(self, codes: Ints, rng: np.random.Generator) -> Floats:
        """Return one point for each class code."""

    def law(self) -> Law | None:
        """Return the law of the population, if it is made of components; None for other laws."""
        return None

    @property
    def class_probabilities(self) -> Floats:
        """Return the probability of each class."""
        equal = np.full(self.n_classes, 1 / self.n_classes)
        return equal if self.prior is None else np.asarray(self.prior, dtype=float)

    def draw(self, n: int, random_state: Seed = None) -> tuple[Floats, Labels, Truth]:
        """Return n points in random order, their labels 0 to c - 1, and this population."""
        check_whole(n, "n", 1)
        rng = np.random.default_rng(seed_sequence(random_state))
        codes = draw_codes(n, self.class_probabilities, self.class_sizes, rng)
        return self._points(codes, rng), codes, self

    def true_error(self, classifier: Any, *, n_test: int = N_TEST, random_state: Seed = None) -> TrueError:
        """Return the error of a trained classifier: exact for a binary linear one if the law has a formula.

        Elsewhere it is that on fresh test points, as many of each class as its probability requires.

        Parameters
        ----------
        classifier : fitted object with `predict`
        n_test : int, default 5000
        random_state : int, SeedSequence, Generator or None
            For the test points.
        """
        prior = self.class_probabilities
        check_whole(n_test, "n_test", 2)
        seed = seed_sequence(random_state)
        probes, _ = self.sample(_N_PROBES, child(seed, SAMPLES))
        points = Sample.of_codes(probes, np.zeros(len(probes), dtype=np.intp), np.arange(len(prior)))
        region = decision_region(classifier, points, seed, in_part=True)
        if region.n_classes > len(prior):
            raise ValueError(
                f"the classes of the classifier must be among {list(range(len(prior)))}, the population's; got "
                f"{region.classes[len(prior) :].tolist()!r} too. Train it on labels of the population."
            )
        if isinstance(region.geometry, HalfSpace) and region.n_classes == 2 and self.law() is not None:
            value = self._half_space_error(region.geometry, region.codes_of_own)
            return TrueError(value, 0.0, 0, "distribution function at a linear boundary")
        self.check_n_test(n_test)
        rng = np.random.default_rng(child(seed, TRUTH))
        codes = draw_codes(n_test, prior, "fixed", rng)
        return self._tested(region, self._points(codes, rng), codes)

    def check_n_test(self, n_test: int) -> None:
        """Raise unless so many test points are two or more of every class."""
        prior = self.class_probabilities
        if rounded_sizes(n_test, prior).min() < 2:
            raise ValueError(
                f"n_test must give every class two test points or more; got {n_test} with class probabilities "
                f"{prior.tolist()}. Raise it."
            )

    def linear_error(self, normal: Floats, offset: float) -> float:
        """Return the true error of the classifier that predicts 1 if normal'x + offset > 0, else 0; two classes."""
        if self.n_classes != 2 or self.law() is None:
            raise ValueError(
                f"linear_error needs two classes whose laws have a formula; this {type(self).__name__} has not. Use "
                "true_error."
            )
        return self._half_space_error(HalfSpace(np.asarray(normal, dtype=float), float(offset)), np.arange(2))

    def _half_space_error(self, boundary: HalfSpace, codes_of_own: Ints) -> float:
        law = self.law()
        assert law is not None and not callable(law.labels), "called only if there is one"  # noqa: PT018
        regions = np.empty((len(law.weights), 2))
        regions[:, codes_of_own] = boundary.mass(law.components, [1.0]).values[0]
        return float(error_mass(joint(regions, law.weights, law.labels)))

    def _law_of(self, components: Components, owner: Ints) -> Law:
        """Return the law of classes that are even mixtures of components, `owner` being the class of each."""
        weights = self.class_probabilities[owner] / np.bincount(owner)[owner]
        return Law(components, weights, np.eye(self.n_classes)[owner])

    def _tested(self, region: Region, points: Floats, codes: Ints) -> TrueError:
        wrong = region.labels(points) != codes
        shares = np.bincount(codes, weights=wrong) / np.bincount(codes)
        prior = self.class_probabilities
        variance = prior**2 * shares * (1 - shares) / (np.bincount(codes) - 1)
        return TrueError(
            float(prior @ shares), float(np.sqrt(variance.sum())), len(codes), f"{len(codes)} fresh test points"
        )


def draw_codes(n: int, prior: Floats, class_sizes: str, rng: np.random.Generator) -> Ints:
    """Return n class codes in random order: sizes fixed at n times the prior, or drawn with it."""
    if class_sizes == "random":
        return rng.choice(len(prior), size=n, p=prior)
    sizes = rounded_sizes(n, prior)
    codes = np.repeat(np.arange(len(prior)), sizes)
    # By turns before they are shuffled, so the samples are those of earlier versions.
    rank = np.concatenate([np.arange(size) for size in sizes])
    return rng.permutation(codes[np.lexsort((codes, rank))])


def rounded_sizes(n: int, prior: Floats) -> Ints:
    """Return whole class sizes with sum n: n times the prior, the largest remainders rounded up, ties to the first."""
    wanted = n * prior
    sizes = np.floor(wanted + 1e-9).astype(np.intp)
    # Rounded, so ties are ties.
    order = np.argsort(-np.round(wanted - sizes, 9), kind="stable")
    sizes[order[: n - sizes.sum()]] += 1
    return sizes


def check_classes(prior: Any, n_classes: int, class_sizes: Any) -> None:
    """Raise unless class probabilities and the way that class sizes come about are right."""
    if class_sizes not in ("fixed", "random"):
        raise ValueError(
            f"class_sizes must be 'fixed' (n times the class probabilities) or 'random' (labels drawn independently); "
            f"got {class_sizes!r}."
        )
    if prior is None:
        return
    values = np.asarray(prior, dtype=float)
    if values.shape != (n_classes,) or not (values > 0).all() or abs(values.sum() - 1) > 1e-9:
        raise ValueError(
            f"prior must hold {n_classes} positive class probabilities with sum 1; got {prior!r}. None means equal."
        )
