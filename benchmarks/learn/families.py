"""Which family combines the clues best: `python -m benchmarks.learn.families CASES`, a file of cases.

Every family is judged at populations that it was not trained on: kinds of simulated ones and data sets are dealt into
five parts, and each part is predicted from the others.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from scipy.stats import beta

from bayes_gresub.assessing.combination import mixture
from bayes_gresub.data.arrays import Floats
from benchmarks.learn.case_table import CaseTable
from benchmarks.learn.training import (
    LEVEL,
    Recipe,
    calibrate,
    deal,
    moments,
    standardized,
    train_and_leave_out,
    weights_of,
)
from benchmarks.real_data.scores import Clustered, ratio_of_sums
from benchmarks.tables import write_table

RECIPE = Recipe()
CHOSEN = f"network, {RECIPE.hidden} and {RECIPE.hidden // 2} units"
Predicted = tuple[Floats, Floats]
PENALTIES = np.geomspace(1e-4, 10, 11)


def networks(recipe: Recipe) -> Callable[[CaseTable], Predicted]:
    """Return the family of networks with this recipe."""

    def predict(cases: CaseTable) -> Predicted:
        points = standardized(cases.inputs, *moments(cases.inputs))
        _, means, sizes = train_and_leave_out(cases, points, recipe, 0)
        return mixture(means, sizes)

    return predict


def shrunken_linear(cases: CaseTable) -> Predicted:
    r"""Return a ridge regression of the true error on the clues, its penalty chosen without the part judged.

    .. math:: \min_w \sum_i v_i (e_i - w_0 - w^T z_i)^2 + \lambda |w|^2
    """
    flags = ("has_own", "has_doubt", "has_leaf")
    shares = np.where(np.isnan(cases.inputs), np.nan, cases.clues)
    center, scale = moments(shares)
    points = np.hstack([np.ones((len(cases), 1)), standardized(shares, center, scale)])
    known = [points[:, 1 + cases.names.index(name)] for name in flags]
    # Where a clue is missing, the others have weights of their own.
    points = np.hstack([points, *(points[:, 1:] * flag[:, None] for flag in known)])
    part, weights = deal(cases, RECIPE.parts, 0), weights_of(cases, RECIPE.real_share)
    mean = np.zeros(len(cases))
    for number in range(RECIPE.parts):
        inside = part != number
        losses = np.zeros(len(PENALTIES))
        for other in set(part[inside].tolist()):
            fit, judge = inside & (part != other), part == other
            for place, weight in enumerate(_ridge(points[fit], cases.truth[fit], weights[fit])):
                losses[place] += weights[judge] @ (points[judge] @ weight - cases.truth[judge]) ** 2
        best = _ridge(points[inside], cases.truth[inside], weights[inside])[int(losses.argmin())]
        mean[~inside] = points[~inside] @ best
    return np.clip(mean, 1e-3, 0.999), cases.n


def _ridge(points: Floats, truth: Floats, weights: Floats) -> list[Floats]:
    """Return the coefficients for every penalty."""
    mass = weights / weights.sum()
    gram, target = points.T @ (points * mass[:, None]), points.T @ (truth * mass)
    penalty = np.eye(points.shape[1])
    penalty[0, 0] = 0.0
    return [np.linalg.solve(gram + strength * penalty, target) for strength in PENALTIES]


def one_clue(name: str) -> Callable[[CaseTable], Predicted]:
    """Return the family of one clue alone, with n points."""

    def predict(cases: CaseTable) -> Predicted:
        return np.clip(cases.clues[:, cases.names.index(name)], 1e-3, 0.999), cases.n

    return predict


def families(with_refits: bool) -> dict[str, Callable[[CaseTable], Predicted]]:
    """Return the families by name, the simplest first."""
    simple = {".632+ with the same refits": one_clue("plus")} if with_refits else {}
    return {
        "resubstitution": one_clue("apparent"),
        **simple,
        "shrunken linear combination of errors": shrunken_linear,
        "linear combination of logits, Beta likelihood": networks(replace(RECIPE, hidden=0)),
        "network, 16 and 8 units": networks(replace(RECIPE, hidden=16)),
        "network, 64 and 32 units": networks(replace(RECIPE, hidden=64)),
        CHOSEN: networks(RECIPE),
        "network, 256 and 128 units": networks(replace(RECIPE, hidden=256, dropout=0.3)),
    }


def scores_of(cases: CaseTable, predicted: Predicted, reference: Floats | None) -> tuple[list[str], Floats]:
    """Return RMS, its ratio to the reference, width and interval score; and the squared errors of populations."""
    mean, size = predicted
    weights = weights_of(cases, 0.5)
    noise = cases.truth * (1 - cases.truth) / cases.n_truth
    names = np.unique(cases.population)
    squares = np.array(
        [max(0.0, float(((mean - cases.truth) ** 2 - noise)[cases.population == name].mean())) for name in names]
    )
    size = np.maximum(size * calibrate(mean[None], size[None], cases, weights), 2.0)
    low, high = (beta.ppf(tail, mean * size, (1 - mean) * size) for tail in ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    outside = np.maximum(low - cases.truth, 0) + np.maximum(cases.truth - high, 0)
    score = float(weights @ (high - low + 2 / (1 - LEVEL) * outside))
    rms = np.sqrt(squares)
    ratio = Clustered(1.0, 0.0) if reference is None else ratio_of_sums(rms, reference, names)
    words = [
        f"{rms.mean():.4f}",
        f"{ratio.value:.3f} ({ratio.std_error:.3f})",
        f"{float(weights @ (high - low)):.3f}",
        f"{score:.3f}",
    ]
    return words, rms


def main(path: str) -> None:
    """Judge every family and write the table."""
    torch.set_num_threads(1)
    rows = []
    for with_refits in (False, True):
        cases = CaseTable.read(Path(path))
        cases = cases if with_refits else cases.without_refits()
        kept: dict[str, Predicted] = {name: family(cases) for name, family in families(with_refits).items()}
        for label, chosen in (("simulated", ~cases.is_real), ("real", cases.is_judged)):
            part = cases.part(chosen)
            predicted = {name: (mean[chosen], size[chosen]) for name, (mean, size) in kept.items()}
            _, reference = scores_of(part, predicted[CHOSEN], None)
            for name, values in predicted.items():
                words, _ = scores_of(part, values, reference)
                rows.append(["10 (5 to 40)" if with_refits else "none", label, name, *words])
        print(f"refits: {with_refits}", flush=True)
    write_table(
        "learn/families",
        "Families of combinations",
        ["refits", "populations", "family", "RMS", "relative", "width", "interval score"],
        rows,
        [
            f"{len(cases)} cases of {len(np.unique(cases.population))} populations (kinds of simulated ones, data "
            "sets), each predicted by a model that was not trained on its population.",
            "RMS: mean over populations. Relative:",
            f"ratio of the mean RMS to that of the {CHOSEN}, with its standard error (jackknife",
            "over populations). Width and interval score: of Beta intervals whose effective points are multiplied so",
            "that 95 of 100 hold the truth.",
            "",
            "The simplest family is kept unless another is better by more than its standard error, so it is the",
            f"{CHOSEN}. At real data sets a shrunken linear combination has nearly its RMS, but",
            "at kinds of populations that it has not seen, it is worse, and its intervals are wider. The recipe of",
            "the networks was set on such tables. Cases whose labels are made by a rule on features of real data sets",
            "were tried, too, and removed again: they changed the RMS at data sets left out by less than its standard",
            "error.",
        ],
    )


if __name__ == "__main__":
    main(sys.argv[1])
