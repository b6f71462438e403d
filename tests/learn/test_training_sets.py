"""Training sets have the size asked for and two points or more in each class."""

import numpy as np
import pytest
from scipy import stats

from benchmarks.learn.simulator import draw_population
from benchmarks.learn.training_sets import draw_size, draw_training_set


def test_sizes_are_log_uniform_from_20_to_500():
    """Kolmogorov-Smirnov, p above 1e-4; rounding to whole numbers moves a size by 1 in 40 at most."""
    rng = np.random.default_rng(0)
    sizes = np.array([draw_size(rng) for _ in range(500)])
    assert sizes.min() >= 20
    assert sizes.max() <= 500
    assert stats.kstest(np.log(sizes / 20) / np.log(25), "uniform").pvalue > 1e-4


def test_every_class_has_two_points_or_more():
    rng = np.random.default_rng(1)
    dropped = 0
    for _ in range(60):
        population = draw_population(rng)
        sample = draw_training_set(population, 20, rng)
        classes, counts = np.unique(sample.y, return_counts=True)
        assert len(sample.y) == len(sample.X) == 20
        assert len(classes) >= 2
        assert counts.min() >= 2
        np.testing.assert_array_equal(classes, sample.population.classes)
        dropped += population.n_classes - len(classes)
    assert dropped > 0


def test_same_seed_gives_the_same_training_set():
    population = draw_population(np.random.default_rng(2), "shell")
    first, second = (draw_training_set(population, 40, np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.y, second.y)


def test_fewer_than_four_points_are_refused():
    population = draw_population(np.random.default_rng(4), "tree")
    with pytest.raises(ValueError, match="n must be a whole number of at least 4; got 3"):
        draw_training_set(population, 3, np.random.default_rng(0))
