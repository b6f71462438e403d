"""The mixtures of normal laws in bayes_gresub/posteriors/gp/normal_mixtures.py, by least squares; a minute.

Run by `python tests/posteriors/make_noise_mixtures.py`; test_latent_softmax.py holds the result against SciPy's laws.
"""

import sys

import numpy as np
from scipy.optimize import least_squares
from scipy.special import ndtr, softmax
from scipy.stats import gumbel_r, logistic

N_PARTS = 8
TRIALS = 6


def fitted(law, points, start, centred):
    """Return weights, means and deviations whose mixture has about the law's distribution function, mean, variance."""
    cdf, pdf = law.cdf(points), law.pdf(points)

    def parts(parameters):
        weights = softmax(np.r_[0.0, parameters[: N_PARTS - 1]])
        means = np.zeros(N_PARTS) if centred else parameters[N_PARTS - 1 : 2 * N_PARTS - 1]
        return weights, means, np.exp(parameters[-N_PARTS:])

    def residuals(parameters):
        weights, means, deviations = parts(parameters)
        z = (points[:, None] - means) / deviations
        mean = weights @ means
        variance = weights @ (deviations**2 + means**2) - mean**2
        density = (np.exp(-0.5 * z**2) / deviations / np.sqrt(2 * np.pi)) @ weights
        off = [30 * (mean - law.mean()), 10 * (variance - law.var())]
        return 1e3 * np.r_[3 * (ndtr(z) @ weights - cdf), density - pdf, off]

    found = [
        least_squares(residuals, start(np.random.default_rng(k)), xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=4000)
        for k in range(TRIALS)
    ]
    weights, means, deviations = parts(min(found, key=lambda one: one.cost).x)
    order = np.argsort(means if not centred else deviations)
    return np.stack([weights, means, deviations], axis=1)[order]


def gumbel_start(rng):
    means = np.sort(np.linspace(-1.2, 5.0, N_PARTS) + 0.2 * rng.normal(size=N_PARTS))
    weights = np.abs(gumbel_r.pdf(means) * np.gradient(means))
    return np.r_[np.log(weights[1:] / weights[0]), means, np.log(np.linspace(0.4, 1.8, N_PARTS))]


def logistic_start(rng):
    spread = np.linspace(np.log(0.8), np.log(3.5), N_PARTS) + 0.05 * rng.normal(size=N_PARTS)
    return np.r_[np.zeros(N_PARTS - 1), spread]


def main():
    for name, mixture in (
        ("GUMBEL", fitted(gumbel_r, np.linspace(-4, 22, 1301), gumbel_start, False)),
        ("LOGISTIC", fitted(logistic, np.linspace(0, 30, 1501), logistic_start, True)),
    ):
        sys.stdout.write(f"{name} = (\n")
        for row in mixture:
            sys.stdout.write("    (" + ", ".join(f"{value:.12g}" for value in row) + "),\n")
        sys.stdout.write(")\n")


if __name__ == "__main__":
    main()
