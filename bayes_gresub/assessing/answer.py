"""The answer: one number for the error of a classifier, a distribution about it, and what a reader must know."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import betainc, betaincinv

from bayes_gresub.assessing.notices import Improvement, Notice
from bayes_gresub.data.arrays import Floats
from bayes_gresub.data.seeds import DRAWS, child, seed_sequence
from bayes_gresub.estimate.estimands import Estimand, ThisClassifier
from bayes_gresub.estimate.intervals import Interval, SampleInterval

N_CHAINS, N_DRAWS = 4, 1000
"""Of `draws`; they are independent, so chains are there for ArviZ only."""


@dataclass(frozen=True)
class AnswerInterval(SampleInterval):
    """The central interval of a Beta distribution with a mean and an effective number of points."""

    mean: float
    n_points: float
    name = "answer"
    method = "quantiles of the answer's Beta distribution"
    assumptions = (
        "new points come from the population of the training points, these are independent (or their groups are), and "
        "data, rule and size are of kinds that the combination was learned from"
    )

    def _ends(self, level: float) -> tuple[float, float]:
        a, b = self.mean * self.n_points, (1 - self.mean) * self.n_points
        return float(betaincinv(a, b, (1 - level) / 2)), float(betaincinv(a, b, (1 + level) / 2))


@dataclass(frozen=True, eq=False)
class Answer:
    r"""The error of one trained classifier: a Beta distribution.

    .. math:: \varepsilon \sim \mathrm{Beta}(\mu s, (1 - \mu) s)

    where :math:`\mu` is `error` and s is `n_points`, the number of held-out points that would tell as much.

    Attributes
    ----------
    error : float
    n_points : float
    subject : str
        The classifier and its data, in words.
    n_rows : int
        Training points.
    n_refits : int
    parts : dict from str to float
        Every number that went in; the names are explained in `bayes_gresub.assessing.clues`.
    notices : tuple of Notice
        What a reader must know, each with a sentence.
    improvements : tuple of Improvement
    test : tuple (n_wrong, n_points) or None
        Held-out points.
    test_alone : bool
        Whether only the held-out points were used.
    seconds : float
    level : float
        Of the interval that is printed.
    seed : SeedSequence
        Of the draws.

    Examples
    --------
    >>> answer = Answer(0.1, 80.0, "LDA on 60 points", 60)
    >>> low, high = answer.interval(0.95)
    >>> round(low, 3), round(high, 3), round(answer.probability_below(0.15), 3)
    (0.045, 0.174, 0.921)
    """

    error: float
    n_points: float
    subject: str
    n_rows: int
    n_refits: int = 0
    parts: Mapping[str, float] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()
    improvements: tuple[Improvement, ...] = ()
    test: tuple[int, int] | None = None
    test_alone: bool = False
    seconds: float = 0.0
    level: float = 0.95
    seed: np.random.SeedSequence = field(default_factory=lambda: seed_sequence(0))

    estimand: Estimand = field(default_factory=ThisClassifier)

    def __float__(self) -> float:
        return self.error

    def interval(self, level: float | None = None) -> Interval:
        """Return the central interval of this level; that of the answer by default."""
        method = AnswerInterval(self.estimand, self.error, self.n_points)
        return method.interval(self.level if level is None else level)

    def probability_below(self, error: float) -> float:
        """Return the probability that the true error is at most this."""
        if not 0 <= error <= 1:
            raise ValueError(f"an error must be between 0 and 1; got {error!r}. Give a share, such as 0.1 for 10%.")
        return float(betainc(*self._parameters, error))

    @cached_property
    def draws(self) -> Floats:
        """Return 4,000 independent draws of the true error."""
        rng = np.random.default_rng(child(self.seed, DRAWS))
        return rng.beta(*self._parameters, size=N_CHAINS * N_DRAWS)

    def to_inference_data(self) -> Any:
        """Return the draws for ArviZ, as 4 chains of 1,000: an InferenceData, or a DataTree from ArviZ 1 on."""
        import xarray as xr

        from bayes_gresub.models.fitted_classes import wrapped

        draws = (("chain", "draw"), self.draws.reshape(N_CHAINS, N_DRAWS))
        coords = {"chain": np.arange(N_CHAINS), "draw": np.arange(N_DRAWS)}
        return wrapped({"posterior": xr.Dataset({"error": draws}, coords)})

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain Python objects for JSON."""
        interval = self.interval()
        return {
            "error": self.error,
            "low": interval.low,
            "high": interval.high,
            "level": self.level,
            "n_points": self.n_points,
            "n_rows": self.n_rows,
            "n_refits": self.n_refits,
            "subject": self.subject,
            "estimand": str(self.estimand),
            "test": None if self.test is None else {"n_wrong": self.test[0], "n_points": self.test[1]},
            "test_alone": self.test_alone,
            "parts": dict(self.parts),
            "notices": [notice.to_dict() for notice in self.notices],
            "improvements": [improvement.to_dict() for improvement in self.improvements],
            "seconds": self.seconds,
        }

    @property
    def headline(self) -> str:
        """Return the number and its interval in one line."""
        interval = self.interval()
        return f"error {self.error:.3f}, {100 * self.level:g}% interval {interval.low:.3f} to {interval.high:.3f}"

    @property
    def how(self) -> str:
        """Return how the number was found, in one sentence."""
        worth = f"It tells as much as {self.n_points:.0f} held-out rows would."
        if self.test is not None and self.test_alone:
            return f"Counted at {self.test[1]} held-out rows, of which {self.test[0]} are misclassified."
        fits = f"{self.n_refits} refits" if self.n_refits else "no refits"
        known = [f"{words} {self.parts[name]:.3f}" for name, words in _SHOWN.items() if self._has(name)]
        test = "" if self.test is None else f" and {self.test[1]} held-out rows ({self.test[0]} misclassified)"
        return f"Found from the {self.n_rows} training rows{test}, with {fits}: {', '.join(known)}. {worth}"

    def __repr__(self) -> str:
        return "\n".join([f"{self.subject}: {self.headline}", *self._lines])

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{html.escape(line.strip())}</li>" for line in self._lines)
        return f"<p><b>{html.escape(self.subject)}: {html.escape(self.headline)}</b></p><ul>{items}</ul>"

    @property
    def _lines(self) -> list[str]:
        lines = [f"  {self.how}", *(f"  Note: {notice}." for notice in self.notices)]
        if self.improvements:
            lines.append(f"  Better: {'; or '.join(map(str, self.improvements))}.")
        return lines

    @property
    def _parameters(self) -> tuple[float, float]:
        return self.error * self.n_points, (1 - self.error) * self.n_points

    def _has(self, name: str) -> bool:
        flag = {"own_error": "has_own", "leaf_error": "has_leaf"}.get(name)
        return name in self.parts and (flag is None or self.parts[flag] == 1)


_SHOWN = {
    "apparent": "resubstitution",
    "own_error": "leave-one-out",
    "leaf_error": "leaves without the row",
    "bolstered_1": "bolstered",
    "both3_1": "bolstered-3nn-pp",
    "plus": ".632+",
}
