"""How an estimate was computed, for people to read. Nothing is computed here."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from bayes_gresub.data.description import Description


@dataclass(frozen=True)
class Computation:
    """How an estimate was computed.

    Attributes
    ----------
    described : str or Description
        The measure or resampler with its parts; `estimator` is the same in words.
    method : str
        The integration method in words.
    exact : bool
        False if points were sampled.
    space : str
        The space in which widths and neighbours were measured.
    n_predicted : int
        Points that were classified: those that the measure is centred at, and those sampled about them.
    n_replicates : int
        Independent replicates behind the standard error; 1 if exact.
    seconds : float
    n_refits : int
        How often the rule was trained; 0 for a measure.
    n_centers : int or None
        Points that others were sampled about, if these are a random subsample; None if all points were used.
    """

    described: str | Description
    method: str
    exact: bool
    space: str
    n_predicted: int
    n_replicates: int
    seconds: float
    n_refits: int = 0
    n_centers: int | None = None

    @property
    def estimator(self) -> str:
        """Return the measure or resampler with its parts, in words."""
        return str(self.described)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain Python objects."""
        return asdict(replace(self, described=self.estimator))

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the computation that `to_dict` described."""
        return cls(**data)
