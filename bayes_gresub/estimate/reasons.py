"""Why an estimate lacks something: an overall error, an interval that settled, a confusion mass, contributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from bayes_gresub.estimate.worded import Worded


@dataclass(frozen=True)
class Reason(Worded):
    """Why something is missing."""


@dataclass(frozen=True)
class Missing:
    """Why an estimate has no overall error, standard error, confusion mass or contributions; None for what it has.

    Attributes
    ----------
    value, std_error, confusion : Reason or None
    contributions : Reason or None
        Why those of some points are missing; these points have weight 0.
    """

    value: Reason | None = None
    std_error: Reason | None = None
    confusion: Reason | None = None
    contributions: Reason | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the reasons as plain Python objects."""
        return {name: None if reason is None else reason.to_dict() for name, reason in vars(self).items()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the reasons that `to_dict` described."""
        return cls(**{name: None if reason is None else Reason.from_dict(reason) for name, reason in data.items()})


class ClassProbabilitiesUnknown(Reason):
    """No overall error: class sizes were fixed by design."""

    words = (
        "it needs the class probabilities, which sampling='separate' does not learn. Use with_class_prior(...), or "
        "give class_prior to the measure"
    )
    brief = "class probabilities were fixed by design; give class_prior, or use with_class_prior(...)"


@dataclass(frozen=True)
class CentersSubsampled(Reason):
    """No contributions of some points: a random subsample stood for all of them."""

    n_centers: int
    n_points: int
    words = (
        "points were sampled about {self.n_centers} of {self.n_points} points, drawn at random; the others have "
        "weight 0. max_centers=None samples about every point"
    )


class OtherClassProbabilities(Reason):
    """No interval or standard error: they were computed for other class probabilities."""

    words = "it was made for other class probabilities; give class_prior to the estimator"


@dataclass(frozen=True)
class Unfinished(Reason):
    """No interval or standard error: part of the work is left."""

    done: int
    total: int
    unit: str = "fits"
    words = "{self.done} of {self.total} {self.unit} are done"


class OverSamples(Reason):
    """No posterior: the interval of a test set, cross-validation or bootstrap is one over samples."""

    words = (
        "its interval covers the error in a share of samples, which is no law of the error given this sample. Read "
        "interval() instead"
    )


class TrainedOnThesePoints(Reason):
    """No interval: the measure is centred at the training points of the classifier."""

    words = (
        "the contributions of training points depend on each other through the classifier trained on them and are "
        "biased: in simulations a nominal 95% interval from them held the true error in 0 to 82 of 100 samples. Points "
        "that the classifier never saw, or refitting it, can support an interval; these numbers cannot"
    )
    brief = "errors are counted about the training points, which the classifier has seen"


class IndependenceUnknown(Reason):
    """No interval: the measure is centred at points that may be training points."""

    words = (
        "it is not known whether the points passed as X are independent of the classifier. If they are, and the "
        "measure is Empirical, a binomial interval for the number misclassified is valid: use TestSet"
    )


class LearnedFromTestPoints(Reason):
    """No interval for a test set: the measure had not been fitted to other points."""

    words = (
        "the measure learned its widths or posterior from the test points, so their contributions depend on each "
        "other. Fit the measure to the training data first"
    )


class SmoothedHeldOut(Reason):
    """No interval for cross-validation with kernels or smoothed labels about the points held out."""

    words = (
        "smoothing points that the classifier never saw adds upward bias, which no interval includes. Use the "
        "empirical measure, which has one"
    )
    brief = "smoothing the points held out adds bias; cv has an interval"


class OneSplit(Reason):
    """No corrected t."""

    words = "the corrected t needs the errors of at least two splits"


class EqualSplits(Reason):
    """No corrected t: the errors of splits do not vary."""

    words = "all splits have the same error, so the corrected t has no spread to work with; use 'wilson' or 'beta'"


class EqualHalves(Reason):
    """No conservative z: the errors of halves do not vary."""

    words = "both halves of each pair have the same error, so the conservative z has no spread to work with"


class FitsShareNearlyAll(Reason):
    """No interval for leave-one-out."""

    words = (
        "the errors of the points left out depend on each other through classifiers that share nearly all of their "
        "training points. CrossValidation(interval='nested') offers one that holds, for more fits"
    )
    brief = "the fits share nearly all points; cv has an interval"


class MembersSharePoints(Reason):
    """No interval for points out of bag."""

    words = (
        "the errors out of bag depend on each other through members that share most of their training points. "
        "CrossValidation(interval='nested') offers one that holds, for more fits"
    )
    brief = "members of the ensemble share points; cv has an interval"


class NoSpread(Reason):
    """No interval for refits: all losses are the same."""

    words = "the points held out were all classified correctly, or all wrongly, so their losses have no spread"
    brief = "the points held out were all right or all wrong, so there is no spread"


class PlusWeights(Reason):
    """No interval for .632+."""

    words = "the weights of .632+ depend on the sample in a way that the delta method leaves out; use '632'"
    brief = "no formula covers the .632+ weights; boot-632 has an interval"


class UnequalWeights(Reason):
    """No interval for the bootstrap: weights, a class prior or resampling within classes."""

    words = "the delta method after bootstrap needs points of equal weight, resampled together"


class OtherResamples(Reason):
    """No interval for the bootstrap: the splits given are not ordinary resamples."""

    words = (
        "the delta method after bootstrap needs as many draws as there are points (or groups), and all others held out"
    )


@dataclass(frozen=True)
class TooFewResamples(Reason):
    """No interval for the bootstrap: the delta method would be mostly noise."""

    least: int
    words = "the delta method after bootstrap needs at least {self.least} resamples"


class NoiseExceedsSpread(Reason):
    """No interval for the bootstrap: the variance minus its noise is not positive."""

    words = "too few resamples for the delta method: its noise exceeds the variance that it estimates. Use more"


class OnePartition(Reason):
    """No standard error for cross-validation."""

    words = "one partition shows no spread; use repeats"


@dataclass(frozen=True)
class FewRepeats(Reason):
    """No settled ends of an interval: the number of repeats was given."""

    n_repeats: int
    end_noise: float
    width: float
    words = (
        "other seeds move its ends by {self.end_noise:.2g} (standard deviation), which is too much for a width of "
        "{self.width:.2g}: {self.n_repeats} repeats are too few. Use repeats='auto'"
    )
    brief = "its ends depend on the seed: more repeats are needed"


@dataclass(frozen=True)
class RepeatsRanOut(FewRepeats):
    """No settled ends of an interval: max_repeats came first."""

    words = (
        "other seeds move its ends by {self.end_noise:.2g} (standard deviation), which is too much for a width of "
        "{self.width:.2g}: the {self.n_repeats} repeats of max_repeats did not settle them. Raise max_repeats"
    )


@dataclass(frozen=True)
class TimeRanOut(FewRepeats):
    """No settled ends of an interval: max_seconds came first."""

    seconds: float
    words = (
        "other seeds move its ends by {self.end_noise:.2g} (standard deviation), which is too much for a width of "
        "{self.width:.2g}: max_seconds={self.seconds:g} was over after {self.n_repeats} repeats, so the number depends "
        "on the speed of the machine too. Raise max_seconds"
    )
    brief = "its ends depend on the seed and the machine: max_seconds was over before they settled"


class RandomKappa(Reason):
    """No standard error for a calibrated measure."""

    words = "kappa depends on random splits; trace_.std_error shows how much the rough bias varies"


class ShortChains(Reason):
    """No standard error for posterior draws."""

    words = "the chains are too short"


class NotAdditive(Reason):
    """No confusion mass, nor anything else of a law: the paper's product form is not a measure."""

    words = (
        "the product form mu(A_Y) * eta(A_X) is not additive in A, so it is not a measure: it has only a value and "
        "contributions. Use BolsteredPosterior, which integrates the posterior over the kernel, for everything else"
    )


class NegativeWeights(Reason):
    """No confusion mass: .632+ without clipping has a negative part."""

    words = (
        "the zero bootstrap exceeds the no-information rate and this clip= lets weights become negative, so there is "
        "no confusion mass. Use clip='efron-tibshirani'"
    )
