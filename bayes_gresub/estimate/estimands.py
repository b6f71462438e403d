"""What a number estimates and an interval should cover: the error of one classifier, of a rule, or a difference."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

from bayes_gresub.data.arrays import Floats, Labels
from bayes_gresub.data.sample import plain_labels
from bayes_gresub.estimate.worded import Worded


@dataclass(frozen=True)
class Estimand(Worded):
    """What a number estimates.

    Attributes
    ----------
    class_probabilities : tuple of pairs (label, probability)
        Those that the error is meant for, if they are not the sample's.
    """

    class_probabilities: tuple[tuple[Any, float], ...] = field(default=(), kw_only=True)

    @property
    def sentence(self) -> str:
        """Return the estimand in full words, without a full stop."""
        if not self.class_probabilities:
            return super().sentence
        pairs = ", ".join(f"{label}: {probability:g}" for label, probability in self.class_probabilities)
        return f"{super().sentence}, with class probabilities {pairs}"

    def with_class_probabilities(self, classes: Labels, probabilities: Floats) -> Self:
        """Return the same estimand with these class probabilities."""
        pairs = zip(plain_labels(classes), probabilities.tolist(), strict=True)
        return replace(self, class_probabilities=tuple(pairs))

    def to_dict(self) -> dict[str, Any]:
        """Return the estimand as its name and its fields, with its sentence for people who read the file."""
        return super().to_dict() | {"class_probabilities": [list(pair) for pair in self.class_probabilities]}

    @classmethod
    def _from_fields(cls, values: dict[str, Any]) -> Self:
        pairs = tuple((label, probability) for label, probability in values["class_probabilities"])
        return cls(**values | {"class_probabilities": pairs})


class ThisClassifier(Estimand):
    """The estimand of every measure and of a test set."""

    words = "error of this classifier on the population the sample came from"


class MeanErrorMass(Estimand):
    """What the contributions of a smoothed measure at independent points estimate."""

    words = "mean error mass of this measure about a point of the population"


@dataclass(frozen=True)
class ClassifierTrainedOn(Estimand):
    """The error that intervals of cross-validation and bootstrap should cover."""

    n_points: int
    words = "error of the classifier trained on all {self.n_points} points"


@dataclass(frozen=True)
class RuleTrainedOn(Estimand):
    """The average error of a rule, the estimand of the .632 estimators."""

    n_points: int
    words = "average error of the rule when trained on {self.n_points} points"


@dataclass(frozen=True)
class RuleTrainedOnParts(Estimand):
    """The average error of a rule at the sizes that cross-validation trains on."""

    fewest: int
    most: int
    n_points: int

    words = (
        "average error of the rule when trained on {self.sizes} points, not of one classifier trained on "
        "{self.n_points}"
    )

    @property
    def sizes(self) -> str:
        """Return the sizes of the parts trained on, as one number if they are the same."""
        return f"{self.fewest}" if self.fewest == self.most else f"{self.fewest} to {self.most}"


@dataclass(frozen=True)
class RuleTrainedOnDistinct(Estimand):
    """The average error of a rule at the number of different points in a resample."""

    n_distinct: int
    n_points: int
    words = "average error of the rule when trained on {self.n_distinct} different points of {self.n_points}"


@dataclass(frozen=True)
class MembersOutOfBag(Estimand):
    """The error of the part of an ensemble that did not see a point."""

    n_members: int
    n_total: int
    words = (
        "error of an ensemble of about {self.n_members} members like these, those of {self.n_total} that were trained "
        "without a point"
    )


class ErrorDifference(Estimand):
    """The difference between two classifiers."""

    words = "difference of the errors of two classifiers on the population the sample came from"


class MeanErrorMassDifference(Estimand):
    """The difference between two classifiers under a smoothed measure at independent points."""

    words = "difference of the mean error masses of this measure about a point of the population"


@dataclass(frozen=True)
class RuleDifference(Estimand):
    """The difference between two rules at the size of the parts trained on."""

    n_trained: int
    words = "difference of the average errors of two rules when trained on about {self.n_trained} points"
