"""One split of resampling: train the rule and fit the measure on one part, and centre the measure at the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone

from bayes_gresub.data.arrays import Floats, Ints, Labels
from bayes_gresub.data.sample import Sample
from bayes_gresub.data.seeds import PARTS, RULES, child
from bayes_gresub.laws.confusion import Confusion
from bayes_gresub.measures import Empirical
from bayes_gresub.measures.measure import Measure
from bayes_gresub.regions.training import trained
from bayes_gresub.resampling.kept_together import EACH_POINT, Units
from bayes_gresub.resampling.splits import Split


@dataclass(frozen=True, eq=False)
class Judgement:
    """The mass about the points that a split held out, and the classes of its confusion."""

    points: Ints
    mass: Confusion
    classes: Labels
    space: str

    @cached_property
    def contributions(self) -> Floats:
        """Return the error mass about each point held out."""
        return self.mass.reduced(np.full(len(self.points), 1 / len(self.points))).contributions


@dataclass(frozen=True, eq=False)
class Problem:
    """A rule, a sample and a measure.

    Attributes
    ----------
    rule : anything that scikit-learn can clone and fit
    sample : Sample
    weight_total : float or None
        Sum of the weights given, so that the rule gets them unscaled; None if there are none.
    measure : Measure
    seed : SeedSequence
    classifier : fitted classifier, optional
        The rule trained on the whole sample, if the caller has it.
    units : Units
        What stays on one side of a split.
    """

    rule: Any
    sample: Sample
    weight_total: float | None
    measure: Measure
    seed: np.random.SeedSequence
    classifier: Any = None
    units: Units = EACH_POINT

    def judge(self, number: int, split: Split) -> Judgement:
        """Train the rule on one part of a split and judge it at the other."""
        with self.naming(number, split):
            points, counts = np.unique(split.train, return_counts=True)
            # A point drawn twice counts twice, but is not its own neighbour.
            repeated = counts if counts.max() > 1 else None
            seed = child(self.seed, PARTS, 0, number)
            # The measure comes first, so that it can fail before a fit is spent.
            measure = clone(self.measure).fit_sample(self.sample.part(points, repeated), seed)
            held_out = self.sample.part(split.test)
            return self._judge(measure, self.train(split.train, number), split.test, held_out, seed)

    def judge_apparent(self) -> Judgement:
        """Judge the rule trained on the whole sample at the points it was trained on."""
        seed = child(self.seed, PARTS, 1)
        measure = clone(self.measure).fit_sample(self.sample, seed)
        return self._judge(measure, self.train_whole(), np.arange(len(self.sample.codes)), self.sample, seed)

    def train_whole(self) -> Any:
        """Return the rule trained on the whole sample, or the caller's classifier if there is one."""
        if self.classifier is not None:
            return self.classifier
        try:
            return self.train(np.arange(len(self.sample.codes)))
        except Exception as error:
            error.add_note(f"in the fit to all {len(self.sample.codes)} points.")
            raise

    def train(self, positions: Ints, number: int | None = None) -> Any:
        """Return the rule trained on some points; without a number the seed is that of the whole sample."""
        key = () if number is None else (number,)
        return trained(
            self.rule,
            self.sample.restored(positions),
            self.sample.classes[self.sample.codes[positions]],
            None if self.weight_total is None else self.sample.weights[positions] * self.weight_total,
            child(self.seed, RULES, *key),
        )

    @contextmanager
    def naming(self, number: int, split: Split) -> Iterator[None]:
        """Add a note that names the split to any exception."""
        try:
            yield
        except Exception as error:
            present = np.unique(self.sample.codes[split.train])
            note = f"in split {number}: {len(split.train)} points to train on, {len(split.test)} held out"
            if len(present) < len(self.sample.classes):
                classes = self.sample.classes[present].tolist()
                note += f"; the points to train on hold only {classes!r}. Use stratified folds, or fewer"
            if not isinstance(self.measure, Empirical) and len(np.unique(split.train)) < len(split.train):
                note += "; the measure counts points that were drawn twice by their weight"
            error.add_note(f"{note}.")
            raise

    def _judge(
        self, measure: Measure, classifier: Any, points: Ints, at: Sample, seed: np.random.SeedSequence
    ) -> Judgement:
        (mass,), region = measure.confusions(classifier, at, seed, in_part=True)
        return Judgement(points, mass, region.classes, measure.space_)
