"""Simulation-based calibration of exact and Gibbs draws: ranks of the truth under its own prior are uniform.

The seeds are fixed; with others a right computation would leave the 99% band once in a hundred. It checks the
computation, not the prior or the model. NUTS and more samples: `make test-long` and benchmarks/results/calibration.md.
"""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.calibration import RANKED, band, is_inside, run


@pytest.fixture(scope="module", params=[("conjugate", 150), ("gibbs", 60)], ids=["conjugate", "gibbs"])
def ranks(request):
    return run(*request.param)


def test_ranks_of_the_true_error_are_uniform(ranks):
    assert is_inside(ranks[:, 0], 0.99)


def test_ranks_of_the_true_log_likelihood_are_uniform(ranks):
    assert is_inside(ranks[:, 1], 0.99)


@pytest.mark.parametrize("power", [0.8, 1.25])
def test_the_band_sees_draws_that_are_biased(power):
    uniform = np.random.default_rng(0).random(1000)
    assert not is_inside(np.floor((RANKED + 1) * uniform**power))


@pytest.mark.parametrize("shape", [0.75, 1.35])
def test_the_band_sees_draws_that_are_too_narrow_or_too_wide(shape):
    beta = np.random.default_rng(0).beta(shape, shape, size=1000)
    assert not is_inside(np.floor((RANKED + 1) * beta))


def test_uniform_ranks_leave_the_band_as_often_as_its_level_says():
    """Of 300 bands of 90%, 30 are left on average; more than 53 or fewer than 12 happen once in ten thousand."""
    rng = np.random.default_rng(1)
    low, high = band(200, 0.9)
    ranks = rng.integers(RANKED + 1, size=(300, 200))
    ecdf = np.stack([(ranks < k).mean(axis=1) for k in range(1, RANKED + 1)], axis=1)
    left = int(((ecdf < low) | (ecdf > high)).any(axis=1).sum())
    assert 12 <= left <= 53


@pytest.mark.long
@pytest.mark.parametrize(("sampler", "samples"), [("conjugate", 1000), ("gibbs", 500), ("nuts", 100)])
def test_ranks_are_uniform_with_many_samples(sampler, samples):
    found = run(sampler, samples)
    assert is_inside(found[:, 0], 0.99)
    assert is_inside(found[:, 1], 0.99)
