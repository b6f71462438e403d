"""Simulation-based calibration: whether posterior draws follow from the prior and the likelihood.

Parameters come from a fixed proper prior, a sample from the parameters, a rule is trained on the sample; then the rank
of the true error of the classifier among its posterior draws is uniform, and so is that of the log-likelihood, if the
computation is right. It checks the computation, not the prior and not the model (Talts et al. 2018).
"""

from __future__ import annotations

import sys
import warnings

import matplotlib
import numpy as np
from joblib import Parallel, delayed
from scipy import stats
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import bayes_gresub as bg
from benchmarks.tables import RESULTS, write_table

matplotlib.use("Agg")

D, COUNTS = 2, (15, 25)
RANKED = 100
"""Draws that a true value is ranked among, after thinning to nearly independent ones."""

AT_ONCE = 50

LOCATION, SCALE = np.array([1.0, -2.0]), np.array([2.0, 0.5])
FIXED = bg.NormalInverseWishart(mean=[1.0, -2.0], strength=2.0, dof=7.0, scale=[[12.0, 1.0], [1.0, 1.5]])
LEARNED = bg.Hierarchical(LOCATION, SCALE)
SAMPLERS = {
    "conjugate": (FIXED, {"sampler": "conjugate", "chains": 1, "draws": RANKED}),
    "gibbs": (LEARNED, {"sampler": "gibbs", "chains": 2, "draws": 500, "tune": 200}),
    "nuts": (LEARNED, {"sampler": "nuts", "chains": 2, "draws": 500, "tune": 500}),
}


def from_prior(
    prior: bg.Hierarchical | bg.NormalInverseWishart, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return means (2, d) and covariances (2, d, d), with scipy's inverse Wishart and nothing of the package."""
    if isinstance(prior, bg.NormalInverseWishart):
        covariances = stats.invwishart(prior.dof, prior.scale).rvs(2, random_state=rng)
        center, strength = np.asarray(prior.mean), prior.strength
    else:
        dof = D + 1 + prior.extra_dof
        inner = stats.invwishart(dof, (dof - D - 1) * np.eye(D)).rvs(2, random_state=rng)
        covariances = inner * np.outer(SCALE, SCALE)
        center = LOCATION + SCALE * prior.center_spread * rng.normal(size=D)
        strength = np.exp(np.log(prior.strength * D) + prior.strength_spread * rng.normal())
    means = [rng.multivariate_normal(center, covariance / strength) for covariance in covariances]
    return np.array(means), covariances


def ranks(sampler: str, repetitions: range) -> np.ndarray:
    """Return the ranks of the true error and the true log-likelihood among RANKED draws, shape (repetitions, 2)."""
    prior, settings = SAMPLERS[sampler]
    y = np.repeat([0, 1], COUNTS)
    truths, samples = [], []
    for repetition in repetitions:
        rng = np.random.default_rng([sorted(SAMPLERS).index(sampler), repetition])
        means, covariances = from_prior(prior, rng)
        truths.append((means, covariances))
        samples.append((np.stack([rng.multivariate_normal(means[k], covariances[k]) for k in y]), y))
    measure = bg.Bayesian(bg.GaussianClasses("full", prior=prior), class_prior=[0.5, 0.5], **settings)
    with warnings.catch_warnings():
        # One chain in many mixes slowly; calibration would show it.
        warnings.filterwarnings("ignore", category=UserWarning)
        fitted = measure.fit_many(samples, random_states=list(repetitions))
    ranks = [_ranks(*each) for each in zip(truths, samples, fitted, strict=True)]
    return np.array(ranks)


def _ranks(truth: tuple, sample: tuple, measure: bg.Bayesian) -> tuple[int, int]:
    (means, covariances), (X, y) = truth, sample
    rule = LinearDiscriminantAnalysis().fit(X, y)
    estimate = measure.error(rule)
    a, b = rule.coef_[0], rule.intercept_[0]
    sides = [stats.norm.cdf((1 - 2 * k) * (a @ means[k] + b) / np.sqrt(a @ covariances[k] @ a)) for k in (0, 1)]
    densities = [stats.multivariate_normal(means[k], covariances[k]).logpdf(X[y == k]).sum() for k in (0, 1)]
    drawn = estimate.posterior.log_likelihood().sum(axis=2).reshape(-1)
    step = len(drawn) // RANKED
    thinned = estimate.draws[::step][:RANKED], drawn[::step][:RANKED]
    true = np.mean(sides), sum(densities) + len(y) * np.log(0.5)
    return int((thinned[0] < true[0]).sum()), int((thinned[1] < true[1]).sum())


def band(n: int, level: float = 0.95, simulations: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """Return points z and the half-open band of the ECDF at them that n uniform ranks leave with probability 1 - level.

    As Säilynoja, Bürkner & Vehtari (2022): pointwise binomial quantiles at a level found by simulation, so all
    points together have the level wanted.
    """
    z = np.arange(1, RANKED + 1) / (RANKED + 1)
    rng = np.random.default_rng(0)
    uniform = rng.integers(RANKED + 1, size=(simulations, n))
    counts = np.stack([(uniform < k).sum(axis=1) for k in range(1, RANKED + 1)], axis=1)
    tail = 2 * np.minimum(stats.binom.cdf(counts, n, z), stats.binom.sf(counts - 1, n, z)).min(axis=1)
    gamma = np.quantile(tail, 1 - level)
    return stats.binom.ppf(gamma / 2, n, z) / n, stats.binom.isf(gamma / 2, n, z) / n


def is_inside(ranks: np.ndarray, level: float = 0.95) -> bool:
    """Return whether the ECDF of ranks stays inside the band."""
    low, high = band(len(ranks), level)
    ecdf = _ecdf(ranks)
    return bool(((low <= ecdf) & (ecdf <= high)).all())


def _ecdf(ranks: np.ndarray) -> np.ndarray:
    return np.array([(ranks < k).mean() for k in range(1, RANKED + 1)])


def run(sampler: str, repetitions: int, n_jobs: int = 1) -> np.ndarray:
    """Return ranks of shape (repetitions, 2)."""
    blocks = [range(begin, min(repetitions, begin + AT_ONCE)) for begin in range(0, repetitions, AT_ONCE)]
    return np.concatenate(Parallel(n_jobs=n_jobs)(delayed(ranks)(sampler, block) for block in blocks))


def main(repetitions: dict[str, int]) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        2, len(repetitions), figsize=(4 * len(repetitions), 6), sharex=True, sharey="col", squeeze=False
    )
    z = np.arange(1, RANKED + 1) / (RANKED + 1)
    rows = []
    for column, (sampler, count) in enumerate(repetitions.items()):
        # A compiled model lives in one process.
        ranks = run(sampler, count, 1 if sampler == "nuts" else 2)
        low, high = band(count)
        for row, name in enumerate(("error of LDA", "log-likelihood")):
            ecdf = _ecdf(ranks[:, row])
            ax = axes[row, column]
            ax.fill_between(z, low - z, high - z, color="0.85", label="95% band, all points together")
            ax.plot(z, ecdf - z, color="C0", drawstyle="steps-post", label="found")
            ax.axhline(0, color="0.5", lw=0.8)
            ax.set_title(f"{sampler}, {count} samples: {name}", fontsize=9)
            if column == 0:
                ax.set_ylabel("ECDF of ranks less uniform")
            p = stats.kstest((ranks[:, row] + 0.5) / (RANKED + 1), "uniform").pvalue
            rows.append([sampler, name, str(count), "yes" if is_inside(ranks[:, row]) else "NO", f"{p:.3f}"])
        axes[-1, column].set_xlabel("rank of the true value (share)")
    axes[0, 0].legend(fontsize=7, loc="upper right")
    figure.tight_layout()
    figure.savefig(RESULTS / "calibration.png", dpi=110)
    notes = [
        f"Two Gaussian classes in {D} features, {COUNTS[0]} and {COUNTS[1]} points, parameters from the prior (location"
        " and scale given),",
        "LDA trained on the sample. Inside: whether the ECDF of the ranks stays in the simultaneous 95% band",
        "(calibration.png); p: Kolmogorov-Smirnov. This checks the computation, not the prior or the model.",
    ]
    header = ["sampler", "quantity", "samples", "inside", "p"]
    write_table("calibration", "Simulation-based calibration", header, rows, notes)


if __name__ == "__main__":
    given = sys.argv[1:] or ["conjugate=1000", "gibbs=600", "nuts=150"]
    main({name: int(count) for name, count in (setting.split("=") for setting in given)})
