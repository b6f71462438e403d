"""Why a rule has no leave-one-out shortcut. Nothing is computed here."""

from __future__ import annotations

from dataclasses import dataclass

from bayes_gresub.estimate.reasons import Reason


class NoShortcutError(ValueError):
    """A rule, or a rule on these points, has no shortcut.

    Attributes
    ----------
    reason : Reason
    """

    def __init__(self, reason: Reason) -> None:
        super().__init__(
            f"there is no leave-one-out without refits: {reason}. Use LeaveOneOut(), which refits the rule."
        )
        self.reason = reason


@dataclass(frozen=True)
class RuleWithoutShortcut(Reason):
    """No formula is known for this type of rule."""

    rule: str
    words = "{self.rule} has no shortcut"


@dataclass(frozen=True)
class SettingWithoutShortcut(Reason):
    """The rule has a shortcut, but not with this parameter."""

    rule: str
    setting: str
    value: str
    words = "{self.rule} has no shortcut with {self.setting}={self.value}"


@dataclass(frozen=True)
class ScatterNearlySingular(Reason):
    """A formula does not hold where the scatter of a class is nearly singular, and refits are not wanted."""

    rule: str
    words = "the scatter of a class is nearly singular without some rows, so {self.rule} would have to be refitted"


@dataclass(frozen=True)
class StepsWithoutShortcut(Reason):
    """A Pipeline has other steps than one StandardScaler in front of the rule."""

    steps: str
    words = "a Pipeline has one only if it is a StandardScaler and a rule; got {self.steps}"


@dataclass(frozen=True)
class JudgedOutOfBag(Reason):
    """The rule is an ensemble, whose members out of bag estimate something else."""

    rule: str
    words = "{self.rule} is judged by its members out of bag, which estimate something else: see OutOfBag()"


@dataclass(frozen=True)
class NeverOutOfBag(Reason):
    """The rule is no ensemble that leaves rows out of bags."""

    rule: str
    words = "{self.rule} does not train members on parts of the rows"


class WeightsWithoutShortcut(Reason):
    """Weights of the points were given."""

    words = "shortcuts take no sample_weight"


@dataclass(frozen=True)
class ClassLeftEmpty(Reason):
    """All points of a class are left out together."""

    label: str
    words = "class {self.label} has no points left if a point, or a group, is left out"


@dataclass(frozen=True)
class TooFewNeighbors(Reason):
    """Fewer points are left than neighbours are asked for."""

    n_neighbors: int
    n_left: int
    words = "n_neighbors={self.n_neighbors} needs as many points; {self.n_left} are left"


@dataclass(frozen=True)
class TrainedOnOtherPoints(Reason):
    """The formula starts from the fit to the points given, each of weight 1."""

    rule: str
    words = "this {self.rule} was trained on other rows, or on these in another order, or with weights"


@dataclass(frozen=True)
class TooManyRows(Reason):
    """The formula needs a matrix of all pairs of rows."""

    rule: str
    most: int
    n_rows: int
    words = "the shortcut of {self.rule} holds all pairs of at most {self.most} rows; got {self.n_rows}"


class CurvatureSingular(Reason):
    """The Hessian of the fit cannot be inverted."""

    words = "the curvature of the fit is singular, so one Newton step is not defined"
