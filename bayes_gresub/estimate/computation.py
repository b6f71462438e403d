"""How an estimate was computed, for people to read. Nothing here computes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from bayes_gresub.data.description import Description


@dataclass(frozen=True)
class Computation:
    """How an estimate was computed.

    Attributes
    ----------
    estimator : str or Description
        The measure or resampler with its parts; `str(estimator)` is in words.
    method : str
        The integration method in words.
    exact : bool
        False where points were sampled.
    space : str
        The space in which widths and neighbours were measured.
    n_predicted : int
        Points that were classified: the points that the measure is centred at, and those sampled about them.
    n_replicates : int
        Independent replicates behind the standard error; 1 where exact.
    seconds : float
    n_refits : int
        Times that the rule was trained; 0 for a measure.
    """

    estimator: str | Description
    method: str
    exact: bool
    space: str
    n_predicted: int
    n_replicates: int
    seconds: float
    n_refits: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain Python objects."""
        return asdict(replace(self, estimator=str(self.estimator)))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return what `to_dict` described."""
        return cls(**data)
