"""What the paper's text claims of its synthetic experiment, and whether a run of it bears that out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from scipy.special import ndtr, ndtri

from bayes_gresub.studies.metrics import evaluate, paired_difference
from bayes_gresub.studies.paper import PUBLISHED, rules
from bayes_gresub.studies.results import StudyResults

if TYPE_CHECKING:
    import pandas as pd

DECIDED = 2.0
"""z-scores beyond which a cell counts for or against a claim."""

_OTHERS = ("linear SVM", "RBF-SVM", "CART")
"""The rules but 3NN, which the paper excepts."""
_FORMS = {"as printed": "spherical_bolster-3NNpp", "integrated": "spherical_bolster-3NNpp (integrated)"}
_Second = TypeVar("_Second")
_CLASSICAL = ("standard_resub", "cross_validation", "bootstrap")


@dataclass(frozen=True)
class Evidence:
    """A z-score in one cell, positive where it speaks for the claim.

    Attributes
    ----------
    where : str
    z : float
        Against the strongest rival where there are several.
    against : float
        How far below 0 it must be to count against the claim: further the more rivals there are, of which one is the
        strongest by chance.
    """

    where: str
    z: float
    against: float = DECIDED


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, how we read it, and the evidence.

    Attributes
    ----------
    quote : str
        What the paper says.
    reading : str
        What was tested.
    evidence : tuple of Evidence
    """

    quote: str
    reading: str
    evidence: tuple[Evidence, ...]

    @property
    def counts(self) -> tuple[int, int, int]:
        """Return in how many cells the claim is borne out, open and contradicted."""
        holds = sum(one.z >= DECIDED for one in self.evidence)
        fails = sum(one.z <= -one.against for one in self.evidence)
        return holds, len(self.evidence) - holds - fails, fails

    @property
    def verdict(self) -> str:
        """Return in words whether the run bears the claim out."""
        holds, is_open, fails = self.counts
        total = holds + is_open + fails
        if is_open == total:
            return "open"
        if holds == total:
            return "borne out"
        if fails == total:
            return "contradicted"
        if 2 * is_open >= total:
            return "mostly open"
        if not fails:
            return "borne out where decided"
        if not holds:
            return "contradicted where decided"
        return "borne out in part"


def claims(results: StudyResults) -> list[Claim]:
    """Return the paper's claims with the evidence of a run of `paper.synthetic_study`.

    All differences are paired: rules and estimators see the same samples.
    """
    run = _Run(results)
    small, all_sizes, largest = run.sizes[:2], run.sizes, run.sizes[-1:]
    found = [
        Claim(
            "plain resubstitution is heavily negatively-biased at small sample sizes",
            f"bias below -0.05 at n = {_listed(small)}, all rules",
            run.bias_below("standard_resub", -0.05, run.rules, small),
        ),
        Claim(
            "all three bolstered estimators are able to significantly reduce the bias of plain resubstitution, except "
            "in the case of 3NN",
            "spherical_bolster: |bias| smaller than resubstitution's, rules but 3NN (the paper counts three bolstered "
            "estimators but has two; 3NNpp, its third smoothed one, is tested too)",
            run.less("spherical_bolster", ["standard_resub"], "absolute_bias", _OTHERS, all_sizes),
        ),
        Claim(
            "the same",
            "3NNpp: |bias| smaller than resubstitution's, rules but 3NN",
            run.less("3NNpp", ["standard_resub"], "absolute_bias", _OTHERS, all_sizes),
        ),
        *(
            Claim(
                "the same",
                f"spherical_bolster-3NNpp, {form}: |bias| smaller than resubstitution's, rules but 3NN",
                run.less(name, ["standard_resub"], "absolute_bias", _OTHERS, all_sizes),
            )
            for form, name in _FORMS.items()
        ),
        *(
            Claim(
                "as sample size increases, the best estimator in terms of bias is the bolstered-3NNpp estimator",
                f"{form}: |bias| at n = {_listed(largest)} smaller than that of every other estimator, rules but 3NN",
                run.less(name, run.rivals(name), "absolute_bias", _OTHERS, largest),
            )
            for form, name in _FORMS.items()
        ),
        *(
            Claim(
                "which becomes essentially unbiased, except in the case of 3NN",
                f"{form}: |bias| below 0.02 at n = {_listed(largest)}, rules but 3NN",
                run.unbiased(name, 0.02, _OTHERS, largest),
            )
            for form, name in _FORMS.items()
        ),
        Claim(
            "the bias properties of the bolstered estimators are best in the case of classifiers with piecewise linear "
            "boundaries (linear SVM and CART) and less so for the highly nonlinear classifiers",
            "spherical_bolster: |bias| with linear SVM and with CART smaller than with RBF-SVM and with 3NN",
            run.less_with(("linear SVM", "CART"), ("RBF-SVM", "3NN"), "spherical_bolster", "absolute_bias"),
        ),
        Claim(
            "the 3NNpp estimator has good bias properties only in the linear SVM case",
            "|bias| of 3NNpp with linear SVM smaller than with every other rule",
            run.less_with(("linear SVM",), ("RBF-SVM", "CART", "3NN"), "3NNpp", "absolute_bias"),
        ),
        *(
            Claim(
                "the cross-validation and bootstrap estimators are positively biased",
                f"{name}: bias above 0, all rules",
                run.bias_above(name, 0.0, run.rules, all_sizes),
            )
            for name in ("cross_validation", "bootstrap")
        ),
        Claim(
            "cross-validation is highly-variable at small sample sizes",
            f"its variance larger than that of every other estimator at n = {_listed(small)}, all rules (a strong "
            "reading)",
            run.more("cross_validation", run.rivals("cross_validation"), "estimate_variance", run.rules, small),
        ),
        *(
            Claim(
                "all bolstered estimators display smaller variance than either cross-validation or the bootstrap",
                f"{name}: variance smaller than both, all rules",
                run.less(name, ["cross_validation", "bootstrap"], "estimate_variance", run.rules, all_sizes),
            )
            for name in ("spherical_bolster", *_FORMS.values())
        ),
        *(
            Claim(
                "a clear superiority of the bolstered estimators over plain resubstitution, cross-validation, and "
                "bootstrap, except in the case of 3NN classification",
                f"{name}: RMS smaller than that of all three, rules but 3NN",
                run.less(name, list(_CLASSICAL), "rms", _OTHERS, all_sizes),
            )
            for name in ("spherical_bolster", *_FORMS.values())
        ),
        *(
            Claim(
                "except for the 3NN classifier, the best estimator overall is the bolstered posterior-probability "
                "error estimator",
                f"{form}: RMS smaller than that of every other estimator, rules but 3NN",
                run.less(name, run.rivals(name), "rms", _OTHERS, all_sizes),
            )
            for form, name in _FORMS.items()
        ),
        Claim(
            "the best-RMS bolstered estimator in that case [3NN] (the plain bolstered resubstitution)",
            "3NN: RMS of spherical_bolster smaller than that of both forms of spherical_bolster-3NNpp",
            run.less("spherical_bolster", list(_FORMS.values()), "rms", ("3NN",), all_sizes),
        ),
        Claim(
            "semi-bolstering is capable of correcting the bias of resubstitution in the case of 3NN much more "
            "effectively than the best-RMS bolstered estimator",
            "3NN: |bias| of semi_bolster smaller than that of spherical_bolster",
            run.less("semi_bolster", ["spherical_bolster"], "absolute_bias", ("3NN",), all_sizes),
        ),
        Claim(
            "which coupled with a small variance, makes it the best estimator overall in terms of RMS",
            "3NN: RMS of semi_bolster smaller than that of every other estimator",
            run.less("semi_bolster", run.rivals("semi_bolster"), "rms", ("3NN",), all_sizes),
        ),
        Claim(
            "the posterior-probability error estimator [...] is lightning fast",
            "3NNpp takes less time than every other estimator but resubstitution, all rules",
            run.less("3NNpp", run.rivals("3NNpp", "standard_resub"), "seconds", run.rules, all_sizes),
        ),
        Claim(
            "cross-validation is the next fastest error estimator",
            "it takes less time than both bolstered estimators (here they are vectorised and exact where they can be)",
            run.less(
                "cross_validation",
                ["spherical_bolster", "spherical_bolster-3NNpp"],
                "seconds",
                run.rules,
                all_sizes,
            ),
        ),
        *(
            Claim(
                "the bolstered resubstitution estimators are less fast but still much faster than the bootstrap",
                f"{name} takes less time than the bootstrap, all rules",
                run.less(name, ["bootstrap"], "seconds", run.rules, all_sizes),
            )
            for name in ("spherical_bolster", "spherical_bolster-3NNpp")
        ),
    ]
    return found


def to_frame(found: Iterable[Claim]) -> pd.DataFrame:
    """Return claims as a table: how many cells are for, open and against, the range of z, and the verdict."""
    import pandas as pd

    rows = []
    for claim in found:
        z = np.array([one.z for one in claim.evidence if np.isfinite(one.z)] or [np.nan])
        holds, is_open, fails = claim.counts
        against = [one.where for one in claim.evidence if one.z <= -one.against]
        rows.append(
            {
                "claim": claim.quote,
                "tested": claim.reading,
                "verdict": claim.verdict,
                "for": holds,
                "open": is_open,
                "against": fails,
                "z_min": z.min(),
                "z_median": np.median(z),
                "z_max": z.max(),
                "cells_against": "; ".join(against),
            }
        )
    return pd.DataFrame(rows)


class _Run:
    """Evidence from the results of a run."""

    def __init__(self, results: StudyResults) -> None:
        needed = (*PUBLISHED, *rules())
        if missing := [name for name in needed if name not in (*results.grid.estimators, *results.grid.rules)]:
            raise ValueError(
                f"claims need the rules and estimators of paper.synthetic_study(); these results lack {missing}."
            )
        self.results = results
        self.rules = results.grid.rules
        self.sizes = results.grid.sample_sizes

    def rivals(self, name: str, *but: str) -> list[str]:
        """Return the published estimators other than this, both its forms left out."""
        own = set(_FORMS.values()) if name in _FORMS.values() else {name}
        # Semi-bolstering was published for 3NN only, later.
        return [one for one in PUBLISHED if one not in own and one not in but and one != "semi_bolster"]

    def bias_below(self, name: str, bound: float, rules: Iterable[str], sizes: Iterable[int]) -> tuple[Evidence, ...]:
        return self._bias(name, bound, -1.0, rules, sizes)

    def bias_above(self, name: str, bound: float, rules: Iterable[str], sizes: Iterable[int]) -> tuple[Evidence, ...]:
        return self._bias(name, bound, 1.0, rules, sizes)

    def unbiased(self, name: str, margin: float, rules: Iterable[str], sizes: Iterable[int]) -> tuple[Evidence, ...]:
        found = []
        for rule, n in _product(rules, sizes):
            value = evaluate("absolute_bias", self.results.repetitions(rule, n, name))
            found.append(Evidence(f"{rule}, n={n}", _ratio(margin - value.value, value.std_error)))
        return tuple(found)

    def less(
        self, name: str, rivals: Iterable[str], metric: str, rules: Iterable[str], sizes: Iterable[int]
    ) -> tuple[Evidence, ...]:
        """Return, per cell, the z-score against the strongest rival."""
        others = list(rivals)
        return tuple(
            _weakest(f"{rule}, n={n}", {other: self._z(name, other, metric, rule, n) for other in others})
            for rule, n in _product(rules, sizes)
        )

    def more(
        self, name: str, rivals: Iterable[str], metric: str, rules: Iterable[str], sizes: Iterable[int]
    ) -> tuple[Evidence, ...]:
        others = list(rivals)
        return tuple(
            _weakest(f"{rule}, n={n}", {other: self._z(other, name, metric, rule, n) for other in others})
            for rule, n in _product(rules, sizes)
        )

    def less_with(self, better: Iterable[str], worse: Iterable[str], name: str, metric: str) -> tuple[Evidence, ...]:
        """Return z-scores of one estimator's metric with some rules against that with others, sample by sample."""
        found = []
        for one, other in _product(better, worse):
            for n in self.sizes:
                first, second = (self.results.repetitions(rule, n, name) for rule in (one, other))
                value, _ = paired_difference(metric, second, first)
                found.append(Evidence(f"{one} against {other}, n={n}", _ratio(value.value, value.std_error)))
        return tuple(found)

    def _bias(
        self, name: str, bound: float, sign: float, rules: Iterable[str], sizes: Iterable[int]
    ) -> tuple[Evidence, ...]:
        found = []
        for rule, n in _product(rules, sizes):
            value = evaluate("bias", self.results.repetitions(rule, n, name))
            found.append(Evidence(f"{rule}, n={n}", _ratio(sign * (value.value - bound), value.std_error)))
        return tuple(found)

    def _z(self, smaller: str, larger: str, metric: str, rule: str, n: int) -> float:
        first, second = (self.results.repetitions(rule, n, name) for name in (larger, smaller))
        value, _ = paired_difference(metric, first, second)
        return _ratio(value.value, value.std_error)


def _weakest(where: str, scores: dict[str, float]) -> Evidence:
    """Return the evidence against the strongest rival; it is unknown where a rival that might be stronger is."""
    known = {name: z for name, z in scores.items() if np.isfinite(z)}
    strongest = min(known or scores, key=lambda name: scores[name])
    # As many chances to be beaten as rivals (Bonferroni).
    against = float(-ndtri(ndtr(-DECIDED) / len(scores)))
    if len(known) < len(scores) and scores[strongest] > -against:
        return Evidence(where, float("nan"))
    return Evidence(f"{where}: {strongest}", scores[strongest], against)


def _ratio(value: float, error: float) -> float:
    return value / error if error > 0 else float("nan")


def _product(first: Iterable[str], second: Iterable[_Second]) -> list[tuple[str, _Second]]:
    others = list(second)
    return [(one, other) for one in first for other in others]


def _listed(sizes: Iterable[int]) -> str:
    return " and ".join(str(n) for n in sizes)
