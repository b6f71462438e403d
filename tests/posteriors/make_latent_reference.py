"""Long MCMC over the latent processes at fixed length-scales and amplitudes, for test_gaussian_process.py.

Run by `python tests/posteriors/make_latent_reference.py`, a few minutes; writes latent_reference.json beside it. PyMC
samples f_y = L_y z_y with z standard normal, K_y = L_y L_y' written out here, and the softmax likelihood; two classes
have two latents. New points enter as points without labels. Nothing of the package is used.
"""

import json
from pathlib import Path

import numpy as np
import pymc as pm
import pytensor.tensor as pt

CASES = {
    "two classes": {"n": 40, "lengthscale": [1.3, 1.3], "amplitude": [6.0, 6.0], "seed": 1},
    "two classes, strong": {"n": 60, "lengthscale": [0.8, 0.8], "amplitude": [25.0, 25.0], "seed": 2},
    "three classes": {"n": 45, "lengthscale": [1.0, 1.6, 0.8], "amplitude": [4.0, 9.0, 16.0], "seed": 3},
    "three classes, strong": {"n": 60, "lengthscale": [1.5, 1.0, 2.0], "amplitude": [25.0, 50.0, 30.0], "seed": 4},
}
N_NEW = 30


def data(n, c, seed):
    """Return standardised points of overlapping classes, their labels, and new points."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % c
    centers = np.array([[0.0, 0.0], [1.5, 0.5], [0.3, 1.8]])[:c]
    X = centers[y] + rng.normal(size=(n, 2))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, y, 1.3 * rng.normal(size=(N_NEW, 2))


def main():
    answers = {}
    for name, case in CASES.items():
        c = len(case["lengthscale"])
        X, y, X_new = data(case["n"], c, case["seed"])
        points = np.concatenate([X, X_new])
        squares = ((points[:, None] - points[None]) ** 2).sum(axis=2)
        with pm.Model():
            latents = []
            for k in range(c):
                K = case["amplitude"][k] * np.exp(-0.5 * squares / case["lengthscale"][k] ** 2)
                root = np.linalg.cholesky(K + 1e-8 * case["amplitude"][k] * np.eye(len(K)))
                latents.append(pt.as_tensor(root) @ pm.Normal(f"z{k}", shape=len(K)))
            f = pt.stack(latents, axis=1)
            p = pm.Deterministic("p", pm.math.softmax(f, axis=1))
            pm.Categorical("y", p=p[: len(y)], observed=y)
            found = pm.sample(
                draws=5000, tune=1500, chains=4, random_seed=case["seed"], nuts_sampler="nutpie", progressbar=False
            )
        drawn = found.posterior["p"].values
        means = drawn.mean(axis=(0, 1))
        spread = drawn.mean(axis=1).std(axis=0, ddof=1) / 2
        answers[name] = {
            **case,
            "X": X.tolist(),
            "y": y.tolist(),
            "X_new": X_new.tolist(),
            "proba": means.round(5).tolist(),
            "std_error": float(spread.max()),
        }
    Path(__file__).with_name("latent_reference.json").write_text(json.dumps(answers), encoding="utf-8")


if __name__ == "__main__":
    main()
