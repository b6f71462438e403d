"""The one integral about random subsamples of centres, for laws with very many components that must be sampled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.seeds import CENTERS, child
from bayes_gresub.laws.confusion import Outcome, Regions, confusions_at_scales, standard_error
from bayes_gresub.laws.law import Law
from bayes_gresub.laws.sampling import MAX_REPLICATES, MAX_SCRAMBLES, Sampler, warn_of_tol

LEAST_PER_STRATUM = 64
"""Centres drawn from a stratum, or all that it has: a rare class needs some too."""


@dataclass(frozen=True, eq=False)
class Subsampled:
    """Averages over replicates, each about its own subsample of the centres.

    Attributes
    ----------
    outcome : Outcome
        Contributions and weights have shape (k,); both are 0 for a component about which nothing was sampled.
    method : str
        How it was computed, in words.
    n_predicted : int
        Points that were classified for it, besides the centres.
    n_centers : int
        Components about which something was sampled.
    """

    outcome: Outcome
    method: str
    n_predicted: int
    n_centers: int
    exact = False

    def reduced(self) -> Outcome:
        """Return the averages."""
        return self.outcome


def needs_sampling(law: Law, regions: Regions, scales: Sequence[float]) -> bool:
    """Return whether neither a finite sum nor a formula gives the confusion mass of a law."""
    if law.components.is_still.all() or not np.any(scales):
        return False
    # No scales cost nothing, and show whether there is a formula.
    return callable(law.labels) or regions.exact_mass(law.components, ()) is None


def subsampled_confusions(
    law: Law,
    regions: Regions,
    sampler: Sampler,
    scales: Sequence[float],
    center_labels: Ints,
    strata: Ints,
    size: int,
) -> list[Subsampled]:
    r"""Return the mass by label and prediction, in replicates that are each about a random subsample of the centres.

    Replicate r draws centres :math:`S_r` within each stratum s, with probabilities proportional to their weights, and
    is the integral of the law of these centres, each with the same share of the weight :math:`W_s` of its stratum:

    .. math:: C_r = \sum_s \frac{W_s}{m_s} \sum_{i \in S_r \cap s} C_i^{(r)}, \qquad
              \hat C = \frac1R \sum_r C_r

    with :math:`C_i^{(r)}` the mass about centre i, from one point sampled about it. Replicates are independent and each
    is unbiased, so their spread is the standard error of both samplings. Under a class prior each replicate is a ratio,
    whose bias is smaller than its standard error by the root of the number of centres in the class.

    Parameters
    ----------
    law : Law
        Over the classes of the regions.
    regions : Regions
    sampler : Sampler
        Its seed, replicates, `tol` and threads; every replicate is a scramble of its own.
    scales : sequence of float
        Factors on the spread of all components; they share centres and standard draws.
    center_labels : ndarray of shape (k,)
        Predictions at the centres.
    strata : ndarray of shape (k,)
        Stratum of each component; the number of centres that each gets is proportional to its weight.
    size : int
        Centres in a replicate, about: at least 64 of each stratum, or all that it has.

    Examples
    --------
    >>> import numpy as np
    >>> import bayes_gresub as bg
    >>> from sklearn.svm import SVC
    >>> X, y = bg.datasets.PaperGaussian().sample(400, random_state=0)
    >>> classifier = SVC().fit(X, y)
    >>> part = bg.Bolstered(max_centers=100, random_state=0).fit(X, y).error(classifier)
    >>> whole = bg.Bolstered(max_centers=None, random_state=0).fit(X, y).error(classifier)
    >>> abs(part.value - whole.value) < 4.5 * part.std_error
    True
    """
    members = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
    # More centres with a point each are always more accurate than fewer centres with as many points in all.
    alone = replace(sampler, n_points=1, tol=None, n_jobs=None, replicates=1)

    def replicate(number: int) -> _Replicate:
        seed = child(sampler.seed, CENTERS, number)
        rows, weights = _draw_centers(members, law.weights, size, np.random.default_rng(seed))
        masses = confusions_at_scales(
            _take(law, rows, weights), regions, replace(alone, seed=seed), scales, center_labels[rows]
        )
        method = next(mass.method for mass, scale in zip(masses, scales, strict=True) if scale)
        return _Replicate(rows, [mass.reduced() for mass in masses], method, masses[0].n_predicted)

    sums = [_Sums(np.zeros(len(law.weights)), np.zeros(len(law.weights)), [], []) for _ in scales]
    done, target, n_predicted, method = 0, sampler.replicates, 0, ""
    while done < target:
        for part in _run(replicate, range(done, target), sampler.n_jobs):
            n_predicted, method = n_predicted + part.n_predicted, part.method
            for total, outcome in zip(sums, part.outcomes, strict=True):
                total.add(part.rows, outcome)
        done = target
        error = max(standard_error(np.array(total.values)) for total in sums)
        if sampler.tol is not None and error > sampler.tol:
            if done < MAX_SCRAMBLES:
                target = 2 * done
            else:
                warn_of_tol(sampler.tol, error, done, "tol or max_centers")
    n_centers = int(np.count_nonzero(sums[0].weights))
    words = f"{method}, about {n_centers} of {len(law.weights)} points in {done} random subsamples"
    return [Subsampled(total.outcome(), words, n_predicted, n_centers) for total in sums]


class _Replicate(NamedTuple):
    """The components that a replicate is about, and its averages at each scale."""

    rows: Ints
    outcomes: list[Outcome]
    method: str
    n_predicted: int


@dataclass(frozen=True, eq=False)
class _Sums:
    """What the replicates so far add up to, at one scale."""

    weights: Floats
    error_masses: Floats
    values: list[float]
    confusions: list[Floats]

    def add(self, rows: Ints, outcome: Outcome) -> None:
        """Add a replicate about these components."""
        np.add.at(self.weights, rows, outcome.weights)
        np.add.at(self.error_masses, rows, outcome.weights * outcome.contributions)
        self.values.append(float(outcome.values[0]))
        self.confusions.append(outcome.confusions[0])

    def outcome(self) -> Outcome:
        """Return the averages; many replicates are averaged to fewer, as a sampler does."""
        n_replicates = len(self.values)
        kept = min(n_replicates, MAX_REPLICATES)
        confusions = np.array(self.confusions)
        contributions = np.divide(
            self.error_masses, self.weights, out=np.zeros_like(self.weights), where=self.weights > 0
        )
        return Outcome(
            np.array(self.values).reshape(kept, -1).mean(axis=1),
            confusions.reshape(kept, -1, *confusions.shape[1:]).mean(axis=1),
            # A weighted mean may leave [0, 1] by rounding.
            np.clip(contributions, 0.0, 1.0),
            self.weights / n_replicates,
        )


def _draw_centers(members: Sequence[Ints], weights: Floats, size: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Return a random subsample of components, stratum by stratum, and the weight that each stands for.

    In random order, the components of a stratum lie on a line, each as long as its weight; equally spaced marks with a
    random start hit the ones drawn. So none of equal weight is drawn twice, and one of large weight may be.
    """
    rows, shares = [], []
    for stratum in members:
        shuffled = rng.permutation(stratum)
        edges = np.cumsum(weights[shuffled])
        count = min(len(stratum), max(int(np.ceil(size * edges[-1])), LEAST_PER_STRATUM))
        marks = (np.arange(count) + rng.random()) * (edges[-1] / count)
        hit = np.minimum(np.searchsorted(edges, marks, side="right"), len(stratum) - 1)
        rows.append(shuffled[hit])
        shares.append(np.full(count, edges[-1] / count))
    return np.concatenate(rows), np.concatenate(shares)


def _take(law: Law, rows: Ints, weights: Floats) -> Law:
    """Return the law of some components, with other weights."""
    inner = law.labels
    components = law.components.take(rows)
    if not callable(inner):
        return replace(law, components=components, weights=weights, labels=inner[rows])
    return replace(
        law, components=components, weights=weights, labels=lambda points, owners: inner(points, rows[owners])
    )


def _run(replicate: Callable[[int], _Replicate], numbers: range, n_jobs: int | None) -> Iterable[_Replicate]:
    """Yield the replicates with these numbers in order, from several threads if wanted."""
    if n_jobs in (None, 1):
        return map(replicate, numbers)
    calls = (delayed(replicate)(number) for number in numbers)
    replicates: Iterable[_Replicate] = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(calls)
    return replicates
