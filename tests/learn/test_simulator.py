"""Populations are reproducible, finite, of the promised shapes, and as difficult as they say."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier

from benchmarks.learn.class_law import SMALLEST_CLASS, draw_dim, draw_n_classes, draw_probabilities
from benchmarks.learn.kinds import KINDS
from benchmarks.learn.modifiers import MODIFIERS
from benchmarks.learn.simulator import draw_population

SEEDS = range(6)


def population_of(kind, seed=0):
    return draw_population(np.random.default_rng(seed), kind)


@pytest.mark.parametrize("kind", KINDS)
def test_same_seed_gives_the_same_points(kind):
    first, second = (population_of(kind).sample(50, np.random.default_rng(1)) for _ in range(2))
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])


@pytest.mark.parametrize("kind", KINDS)
def test_points_are_finite_and_have_the_promised_shape(kind):
    for seed in SEEDS:
        population = population_of(kind, seed)
        X, y = population.sample(300, np.random.default_rng(seed))
        assert X.shape == (300, population.dim)
        assert X.dtype == np.float64
        assert np.isfinite(X).all()
        assert np.issubdtype(y.dtype, np.integer)
        assert set(y.tolist()) <= set(range(population.n_classes))


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_classes_and_features_are_within_the_prior(kind):
    for seed in SEEDS:
        population = population_of(kind, seed)
        assert population.kind == kind
        assert 2 <= population.n_classes <= 10
        assert 1 <= population.dim <= 100
        assert population.class_probabilities.min() >= SMALLEST_CLASS
        assert 0 <= population.least_error <= 0.6


@pytest.mark.parametrize("kind", KINDS)
def test_description_is_plain_numbers(kind):
    description = population_of(kind).description
    assert all(type(value) in (int, float) for value in description.values())
    assert description.keys() >= {"n_classes", "dim", "least_error", "label_noise", *MODIFIERS}


def test_every_kind_and_every_modifier_is_drawn():
    rng = np.random.default_rng(0)
    populations = [draw_population(rng) for _ in range(160)]
    assert {population.kind for population in populations} == set(KINDS)
    assert {name for population in populations for name in population.layers} >= set(MODIFIERS)
    assert min(population.label_noise for population in populations) == 0
    assert 0.1 < max(population.label_noise for population in populations) <= 0.2


@pytest.mark.parametrize("kind", KINDS)
def test_no_rule_beats_the_least_error(kind):
    """A forest trained on 2,000 points, tested on 4,000: 4.5 standard errors of both numbers."""
    population = population_of(kind, 3)
    rng = np.random.default_rng(0)
    forest = ExtraTreesClassifier(20, min_samples_leaf=3, random_state=0).fit(*population.sample(2000, rng))
    X, y = population.sample(4000, rng)
    error = np.mean(forest.predict(X) != y)
    least = population.estimate_least_error(4000, rng)
    assert error > least - 4.5 * np.sqrt(2 * least * (1 - least) / 4000)


@pytest.mark.parametrize("rate", [0.05, 0.2])
@pytest.mark.parametrize("kind", ["gaussian-equal", "tree", "discrete"])
def test_label_noise_changes_the_share_of_labels_that_it_names(kind, rate):
    """The structure draws the same labels from the same seed first, so labels can be compared; 4.5 standard errors."""
    population = replace(population_of(kind), label_noise=rate)
    _, clean = population.structure.sample(20_000, np.random.default_rng(1))
    _, noisy = population.sample(20_000, np.random.default_rng(1))
    assert abs(np.mean(clean != noisy) - rate) < 4.5 * np.sqrt(rate * (1 - rate) / 20_000)


@pytest.mark.parametrize("rate", [0.05, 0.2])
@pytest.mark.parametrize("kind", ["mixture", "network", "skewed"])
def test_label_noise_raises_the_error_as_it_should(kind, rate):
    """The best classifier before noise, with error e, has (1 - r) e + r (1 - e / (c - 1)) after it.

    It stays the best one, since noise of such a rate leaves the most probable label the most probable.
    """
    clean = replace(population_of(kind, 1), label_noise=0.0)
    c = clean.n_classes
    before = clean.estimate_least_error(4000, np.random.default_rng(2))
    after = replace(clean, label_noise=rate).estimate_least_error(4000, np.random.default_rng(2))
    assert after == pytest.approx((1 - rate) * before + rate * (1 - before / (c - 1)), abs=1e-9)


@pytest.mark.parametrize("kind", ["shell", "logistic"])
def test_least_error_is_how_often_the_most_probable_label_is_wrong(kind):
    """Labels with noise against the argmax of the posterior without it, which label noise does not move; 4.5 s.e."""
    population = replace(population_of(kind, 2), label_noise=0.1, layers={})
    X, y = population.sample(20_000, np.random.default_rng(3))
    wrong = np.mean(population.structure.posterior(X).argmax(axis=1) != y)
    least = population.estimate_least_error(20_000, np.random.default_rng(4))
    assert abs(wrong - least) < 4.5 * np.sqrt(2 * least * (1 - least) / 20_000)


def test_restricted_population_has_the_other_labels_only():
    population = next(p for p in (population_of("mixture", seed) for seed in range(50)) if p.n_classes >= 4)
    rng = np.random.default_rng(0)
    smaller = population.restricted_to(np.array([1, 3]), rng)
    _, y = smaller.sample(5000, rng)
    assert len(y) == 5000
    assert set(y.tolist()) == {1, 3}
    share = population.class_probabilities[1] / population.class_probabilities[[1, 3]].sum()
    assert abs(np.mean(y == 1) - share) < 4.5 * np.sqrt(share * (1 - share) / 5000)
    assert smaller.least_error <= 0.5


def test_classes_that_the_population_lacks_are_refused():
    population = population_of("tree")
    with pytest.raises(ValueError, match="must be two or more of"):
        population.restricted_to(np.array([0, 99]), np.random.default_rng(0))


def test_unknown_kind_lists_the_kinds():
    with pytest.raises(ValueError, match="unknown kind of populations 'shel'; the names are shell"):
        draw_population(np.random.default_rng(0), "shel")


def test_no_points_are_refused():
    with pytest.raises(ValueError, match="n must be a whole number of at least 1; got 0"):
        population_of("tree").sample(0, np.random.default_rng(0))


def test_shapes_cover_their_ranges():
    rng = np.random.default_rng(0)
    classes = np.array([draw_n_classes(rng) for _ in range(2000)])
    dims = np.array([draw_dim(rng) for _ in range(2000)])
    assert (classes.min(), classes.max(), dims.min()) == (2, 10, 2)
    assert 95 <= dims.max() <= 100
    assert np.mean(classes <= 4) > 0.7
    assert np.median(dims) < 8
    shares = [draw_probabilities(int(c), rng) for c in classes]
    assert min(share.min() for share in shares) >= SMALLEST_CLASS
    assert max(share.max() for share in shares) > 0.9
    np.testing.assert_allclose([share.sum() for share in shares], 1)
