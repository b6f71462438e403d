"""Expectations of the softmax against adaptive quadrature, a million Sobol' points, and finite differences."""

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit, logsumexp, ndtr, ndtri
from scipy.stats import qmc

torch = pytest.importorskip("torch")

from bayes_gresub.posteriors.gp.normal_mixtures import GUMBEL, LOGISTIC  # noqa: E402
from bayes_gresub.posteriors.gp.softmax import expected_log_likelihood, expected_softmax  # noqa: E402


def tensor(values):
    return torch.as_tensor(np.asarray(values, dtype=float))


@pytest.mark.parametrize(
    ("mixture", "law", "tolerance"), [(GUMBEL, stats.gumbel_r, 5e-5), (LOGISTIC, stats.logistic, 1e-7)]
)
def test_mixtures_have_the_laws_they_stand_for(mixture, law, tolerance):
    weights, means, deviations = np.array(mixture).T
    x = np.linspace(-40, 60, 20_001)
    np.testing.assert_allclose(ndtr((x[:, None] - means) / deviations) @ weights, law.cdf(x), atol=tolerance)
    assert weights.sum() == pytest.approx(1.0, abs=1e-11)
    assert weights @ means == pytest.approx(law.mean(), abs=2e-6)


@pytest.mark.parametrize("sd", [0.0, 0.3, 1.0, 6.0, 20.0, 141.0])
@pytest.mark.parametrize("mean", [0.0, 1.5, -3.0, 8.0])
def test_two_classes_by_quadrature(mean, sd):
    counts = tensor([[2.0, 1.0]])
    found = expected_softmax(tensor([[mean]]), tensor([[sd]]))[0]
    value = expected_log_likelihood(tensor([[mean]]), tensor([[sd**2]]), counts).value[0]

    def expected(function):
        if sd == 0:
            return function(mean)
        points = sorted({-mean / sd + k / sd for k in (-4, -1, 0, 1, 4)})
        inside = [p for p in points if -12 < p < 12]
        return integrate.quad(
            lambda z: function(mean + sd * z) * stats.norm.pdf(z), -12, 12, points=inside, limit=400, epsabs=1e-12
        )[0]

    assert float(found[1]) == pytest.approx(expected(expit), abs=1e-7)
    assert float(found[0]) == pytest.approx(expected(lambda f: expit(-f)), abs=1e-7)
    right = mean - 3 * expected(lambda f: np.logaddexp(0.0, f))
    assert float(value) == pytest.approx(right, abs=1e-6)


@pytest.mark.parametrize("deviation", [0.1, 1.0, 5.0, 30.0])
@pytest.mark.parametrize("c", [3, pytest.param(5, marks=pytest.mark.long), 10])
def test_many_classes_by_a_million_points(c, deviation):
    """Within 1e-4, and 4.5 standard errors of what the points say, over eight scrambles, which are hardly noisier."""
    rng = np.random.default_rng(c)
    mean = rng.normal(scale=max(1.0, deviation), size=c)
    sd = deviation * rng.uniform(0.3, 1.2, size=c)
    p, log_sum = [], []
    for k in range(8):
        f = mean + sd * ndtri(qmc.Sobol(c, seed=np.random.default_rng(k)).random(2**17))
        total = logsumexp(f, axis=1, keepdims=True)
        p.append(np.exp(f - total).mean(axis=0))
        log_sum.append(total.mean())
    found = expected_softmax(tensor(mean)[:, None], tensor(sd)[:, None])[0]
    noise = np.std(p, axis=0, ddof=1) / np.sqrt(8)
    assert (np.abs(found.numpy() - np.mean(p, axis=0)) < 1e-4 + 4.5 * noise).all()
    assert float(found.sum()) == pytest.approx(1.0, abs=1e-5)
    counts = tensor(np.ones((1, c)))
    value = float(expected_log_likelihood(tensor(mean)[:, None], tensor(sd)[:, None] ** 2, counts).value[0])
    noise = c * np.std(log_sum, ddof=1) / np.sqrt(8)
    assert value == pytest.approx(mean.sum() - c * np.mean(log_sum), abs=c * 3e-4 + 4.5 * noise)


@pytest.mark.parametrize("c", [3, 10])
@pytest.mark.parametrize("widest", [5.0, 25.0, 60.0])
def test_deviations_that_differ_much_by_a_million_points(c, widest):
    """Amplitudes of classes are learned apart, and differ by factors of 1,000: so do variances of their latents."""
    rng = np.random.default_rng(int(widest) + c)
    mean, sd = rng.normal(scale=0.3 * widest, size=(c, 5)), widest * np.exp(rng.uniform(-6.0, 0.0, size=(c, 5)))
    mean[0], sd[0] = 0.0, 0.2
    mean[1], sd[1] = 0.0, widest
    p, log_sum = [], []
    for k in range(8):
        nodes = ndtri(qmc.Sobol(c, seed=np.random.default_rng(k)).random(2**15))
        f = mean + sd * nodes[:, :, None]
        total = logsumexp(f, axis=1, keepdims=True)
        p.append(np.exp(f - total).mean(axis=0))
        log_sum.append(total.mean(axis=0)[0])
    noise = np.std(p, axis=0, ddof=1) / np.sqrt(8)
    found = expected_softmax(tensor(mean), tensor(sd)).numpy().T
    assert (np.abs(found - np.mean(p, axis=0)) < 1e-4 + 4.5 * noise).all()
    value = expected_log_likelihood(tensor(mean), tensor(sd**2), tensor(np.ones((5, c)))).value.numpy()
    noise = np.std(log_sum, axis=0, ddof=1) / np.sqrt(8)
    assert (np.abs(mean.sum(axis=0) - value - c * np.mean(log_sum, axis=0)) / c < 2e-3 + 4.5 * noise).all()


def test_two_of_three_classes_are_as_two():
    """A class that never wins, and two whose difference has the variances' sum."""
    mean, sd = np.array([0.7, -0.4, -200.0]), np.array([1.5, 2.0, 1.0])
    found = expected_softmax(tensor(mean)[:, None], tensor(sd)[:, None])[0]
    two = expected_softmax(tensor([[mean[1] - mean[0]]]), tensor([[np.hypot(1.5, 2.0)]]))[0]
    np.testing.assert_allclose(found[:2], two, atol=5e-5)
    assert found[2] < 1e-12


def test_correlated_latents():
    rng = np.random.default_rng(0)
    root = np.linalg.cholesky(np.array([[2.0, 1.5, 0.3], [1.5, 3.0, -0.4], [0.3, -0.4, 1.0]]))
    mean = np.array([0.5, -0.2, 0.1])
    f = np.exp(mean + rng.normal(size=(2_000_000, 3)) @ root.T)
    p = f / f.sum(axis=1, keepdims=True)
    found = expected_softmax(tensor(mean)[:, None], tensor(root)[None])[0]
    noise = p.std(axis=0) / np.sqrt(len(p))
    assert (np.abs(found.numpy() - p.mean(axis=0)) < 1e-3 + 4.5 * noise).all()


@pytest.mark.parametrize("c", [2, 3, 7])
def test_derivatives_are_those_of_the_value(c):
    rng = np.random.default_rng(1)
    latents = 1 if c == 2 else c
    mean, variance = tensor(rng.normal(size=(latents, 4))), tensor(rng.uniform(0.5, 9, (latents, 4)))
    counts = tensor(rng.integers(1, 4, size=(4, c)))
    found, step = expected_log_likelihood(mean, variance, counts), 1e-4
    for k in range(latents):
        e = torch.zeros((latents, 1), dtype=torch.float64)
        e[k] = step
        up, down = (expected_log_likelihood(mean + sign * e, variance, counts) for sign in (1, -1))
        np.testing.assert_allclose(found.slope[k], (up.value - down.value) / (2 * step), atol=1e-6)
        np.testing.assert_allclose(found.hessian[:, :, k].T, -(up.slope - down.slope) / (2 * step), atol=1e-5)
        up, down = (expected_log_likelihood(mean, variance + sign * e, counts) for sign in (1, -1))
        np.testing.assert_allclose(found.curvature[k], -(up.value - down.value) / step, atol=1e-5)


def test_points_in_pieces_are_as_in_one(monkeypatch):
    rng = np.random.default_rng(0)
    mean, variance = tensor(rng.normal(size=(4, 50))), tensor(rng.uniform(0.5, 4, (4, 50)))
    counts = tensor(rng.integers(0, 3, size=(50, 4)))
    whole = expected_log_likelihood(mean, variance, counts)
    monkeypatch.setattr("bayes_gresub.posteriors.gp.softmax._CHUNK", 20_000)
    for one, other in zip(whole, expected_log_likelihood(mean, variance, counts), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
