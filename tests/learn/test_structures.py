"""Each structure samples from the law whose posterior it gives; densities agree with scipy's."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, softmax

from benchmarks.learn.class_law import draw_probabilities
from benchmarks.learn.gaussian_mixtures import GaussianMixtures
from benchmarks.learn.kind import Shape
from benchmarks.learn.kinds import KINDS
from benchmarks.learn.kinds.discrete import CountClasses, CountLaw
from benchmarks.learn.kinds.gaussian import draw_equal_covariances, draw_unequal_covariances
from benchmarks.learn.kinds.heavy_tailed import StudentClasses
from benchmarks.learn.kinds.ordinal import draw_ordinal
from benchmarks.learn.kinds.skewed import SkewedClasses
from benchmarks.learn.structure import draw_labels, offsets_for
from benchmarks.learn.tuning import best_error, tune

PROBABILITIES = np.array([0.5, 0.3, 0.2])
SEEDS = range(3)


def structure_of(kind, seed, n_classes=3, dim=4):
    rng = np.random.default_rng([seed, 5])
    return tune(KINDS[kind].draw_structure(Shape(draw_probabilities(n_classes, rng), dim), rng), 0.2, rng)


def by_bayes(probabilities, densities):
    joint = probabilities * np.stack(densities, axis=1)
    return joint / joint.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_labels_follow_the_posterior(kind, seed):
    """E[(1(y = j) - eta_j(x)) eta_k(x)] = 0 for all j and k.

    At 5 standard errors and at most 16 pairs (j, k), a right law fails in less than 1 of 100,000 runs of one case.
    """
    structure = structure_of(kind, seed)
    X, y = structure.sample(8000, np.random.default_rng(seed))
    posterior = structure.posterior(X)
    residuals = np.eye(posterior.shape[1])[y] - posterior
    products = residuals[:, :, None] * posterior[:, None, :]
    errors = products.std(axis=0) / np.sqrt(len(X)) + 1e-6
    assert np.abs(products.mean(axis=0) / errors).max() < 5


@pytest.mark.parametrize("kind", KINDS)
def test_posteriors_are_probabilities(kind):
    structure = structure_of(kind, 0)
    posterior = structure.posterior(structure.sample(500, np.random.default_rng(0))[0])
    assert posterior.min() >= 0
    np.testing.assert_allclose(posterior.sum(axis=1), 1)


@pytest.mark.parametrize("kind", KINDS)
def test_class_probabilities_are_those_of_the_labels(kind):
    """At 5 standard errors; those of posteriors of 400 reference points are counted too."""
    structure = structure_of(kind, 1)
    _, y = structure.sample(20_000, np.random.default_rng(2))
    p = structure.class_probabilities
    shares = np.bincount(y, minlength=len(p)) / len(y)
    assert (np.abs(shares - p) < 5 * np.sqrt(p * (1 - p) * (1 / 20_000 + 1 / 400))).all()


@pytest.mark.parametrize("kind", KINDS)
def test_classes_overlap_less_with_more_separation(kind):
    structure = structure_of(kind, 2)
    errors = []
    for factor in (0.25, 1, 4):
        separation = min(structure.separation * factor, structure.most_separated)
        changed = structure.separated(separation)
        errors.append(best_error(changed.posterior(changed.sample(4000, np.random.default_rng(3))[0])))
    assert errors[0] > errors[1] > errors[2]


@pytest.mark.parametrize("target", [0.02, 0.1, 0.3])
def test_tuning_reaches_the_target(target):
    rng = np.random.default_rng(0)
    structure = tune(draw_equal_covariances(Shape(PROBABILITIES, 5), rng), target, rng, n=4000)
    X, _ = structure.sample(20_000, rng)
    terms = 1 - structure.posterior(X).max(axis=1)
    # Six bisections of a factor of 4 leave a step of 2.2%; 4.5 standard errors of the tuning sample come on top.
    assert abs(terms.mean() - target) < 4.5 * terms.std() * np.sqrt(1 / 20_000 + 1 / 4000) + 0.022 * target


@pytest.mark.parametrize("p", [0.5, 0.2])
@pytest.mark.parametrize("seed", SEEDS)
def test_two_gaussians_of_one_covariance_have_the_known_least_error(seed, p):
    """With D the Mahalanobis distance, found here from covariance and means of x; 4.5 standard errors."""
    rng = np.random.default_rng(seed)
    structure = draw_equal_covariances(Shape(np.array([p, 1 - p]), 3), rng).separated(0.8)
    covariance = structure.factor @ structure.factor.T
    shift = structure.factor @ (0.8 * (structure.means[1] - structure.means[0]))
    distance = np.sqrt(shift @ np.linalg.solve(covariance, shift))
    t = np.log((1 - p) / p) / distance
    known = p * stats.norm.cdf(-distance / 2 + t) + (1 - p) * stats.norm.cdf(-distance / 2 - t)
    X, y = structure.sample(20_000, rng)
    wrong = structure.posterior(X).argmax(axis=1) != y
    assert abs(wrong.mean() - known) < 4.5 * np.sqrt(known * (1 - known) / len(y))
    terms = 1 - structure.posterior(X).max(axis=1)
    assert abs(terms.mean() - known) < 4.5 * terms.std() / np.sqrt(len(y))


def test_unequal_gaussians_have_scipys_posterior():
    rng = np.random.default_rng(0)
    structure = draw_unequal_covariances(Shape(PROBABILITIES, 3), rng).separated(0.7)
    X, _ = structure.sample(50, rng)
    shrink = 1 / np.sqrt(1 + 0.7**2)
    densities = []
    for mean, rotation, log_scale in zip(structure.means, structure.rotations, structure.log_scales, strict=True):
        spread = structure.factor @ rotation @ np.diag(np.exp(0.7 * log_scale)) @ rotation.T * shrink
        center = structure.factor @ mean * 0.7 * shrink
        densities.append(stats.multivariate_normal(center, spread @ spread.T).pdf(X))
    np.testing.assert_allclose(structure.posterior(X), by_bayes(PROBABILITIES, densities), rtol=1e-8)


def test_mixtures_have_scipys_posterior():
    rng = np.random.default_rng(1)
    weights = np.array([0.3, 0.7, 1.0, 0.6, 0.4])
    structure = GaussianMixtures(
        probabilities=PROBABILITIES,
        classes=np.array([0, 0, 1, 2, 2]),
        weights=weights,
        means=rng.normal(size=(5, 2)),
        factor=np.array([[1.0, 0.0], [0.6, 0.8]]),
    )
    X, _ = structure.sample(50, rng)
    covariance = structure.factor @ structure.factor.T / 2
    terms = [
        weight * stats.multivariate_normal(structure.factor @ mean / np.sqrt(2), covariance).pdf(X)
        for weight, mean in zip(weights, structure.means, strict=True)
    ]
    expected = by_bayes(PROBABILITIES, [terms[0] + terms[1], terms[2], terms[3] + terms[4]])
    np.testing.assert_allclose(structure.posterior(X), expected, rtol=1e-8)


@pytest.mark.parametrize("independent", [True, False])
def test_student_classes_have_scipys_posterior(independent):
    rng = np.random.default_rng(2)
    means = rng.normal(size=(3, 2))
    structure = StudentClasses(
        probabilities=PROBABILITIES, means=means, factor=np.eye(2), dof=2.5, independent=independent, separation=1.5
    )
    X, _ = structure.sample(50, rng)
    Z = X * np.sqrt(1 + 1.5**2)
    if independent:
        densities = [stats.t(2.5, loc=1.5 * mean).pdf(Z).prod(axis=1) for mean in means]
    else:
        densities = [stats.multivariate_t(1.5 * mean, np.eye(2), df=2.5).pdf(Z) for mean in means]
    np.testing.assert_allclose(structure.posterior(X), by_bayes(PROBABILITIES, densities), rtol=1e-8)


def test_skewed_classes_have_scipys_posterior():
    rng = np.random.default_rng(3)
    means = rng.normal(size=(3, 2))
    structure = SkewedClasses(
        probabilities=PROBABILITIES, means=means, spreads=np.array([0.7, 0.0]), shapes=np.array([9.0, 1.4])
    )
    X, _ = structure.sample(50, rng)
    densities = [
        stats.lognorm(0.7, scale=np.exp(mean[0])).pdf(X[:, 0]) * stats.gamma(1.4, scale=np.exp(mean[1])).pdf(X[:, 1])
        for mean in means
    ]
    np.testing.assert_allclose(structure.posterior(X), by_bayes(PROBABILITIES, densities), rtol=1e-8)


@pytest.mark.parametrize("law", CountLaw)
def test_counts_have_scipys_posterior(law):
    rng = np.random.default_rng(4)
    base, means, trials = rng.normal(size=3), rng.normal(size=(3, 3)), np.full(3, 6)
    structure = CountClasses(probabilities=PROBABILITIES, law=law, base=base, means=means, trials=trials)
    X, _ = structure.sample(50, rng)
    mass = {
        CountLaw.BINOMIAL: lambda h: stats.binom(6, expit(h)).pmf(X).prod(axis=1),
        CountLaw.POISSON: lambda h: stats.poisson(np.exp(h)).pmf(X).prod(axis=1),
        CountLaw.MULTINOMIAL: lambda h: stats.multinomial(6, softmax(h)).pmf(X),
    }[law]
    expected = by_bayes(PROBABILITIES, [mass(base + mean) for mean in means])
    np.testing.assert_allclose(structure.posterior(X), expected, rtol=1e-8)


def test_grades_are_bins_of_the_quantity_with_noise():
    """A point's label is simulated from its quantity directly; shares over 20,000 repetitions, 4.5 standard errors."""
    rng = np.random.default_rng(5)
    structure = draw_ordinal(Shape(PROBABILITIES, 3), rng).separated(2.0)
    X = structure.points(4, rng)
    noisy = structure.quantity(X) + rng.normal(size=(20_000, 4)) / 2.0
    grades = np.digitize(noisy, structure.ends)
    for i, posterior in enumerate(structure.posterior(X)):
        shares = np.bincount(grades[:, i], minlength=3) / 20_000
        assert (np.abs(shares - posterior) < 4.5 * np.sqrt(posterior * (1 - posterior) / 20_000) + 1e-3).all()


def test_labels_are_drawn_by_the_probabilities_of_their_row():
    rng = np.random.default_rng(6)
    rows = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.2, 0.5, 0.3]])
    y = draw_labels(np.repeat(rows, 10_000, axis=0), rng).reshape(3, -1)
    assert (y[0] == 0).all()
    assert (y[1] == 2).all()
    shares = np.bincount(y[2]) / 10_000
    assert (np.abs(shares - rows[2]) < 4.5 * np.sqrt(rows[2] * (1 - rows[2]) / 10_000)).all()


@pytest.mark.parametrize("sharpness", [0.1, 3.0, 100.0])
def test_offsets_give_the_class_probabilities(sharpness):
    scores = sharpness * np.random.default_rng(7).normal(size=(400, 3))
    offsets = offsets_for(scores, PROBABILITIES, np.zeros(3))
    np.testing.assert_allclose(softmax(scores + offsets, axis=1).mean(axis=0), PROBABILITIES, atol=5e-3)
