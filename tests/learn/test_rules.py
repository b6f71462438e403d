"""Rules are reproducible and can be trained on a small sample of every kind of population."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from benchmarks.learn.kinds import KINDS
from benchmarks.learn.rules import RULES, draw_rule, train
from benchmarks.learn.simulator import draw_population
from benchmarks.learn.training_sets import draw_training_set


@pytest.mark.parametrize("kind", KINDS)
def test_every_rule_can_be_trained_on_thirty_points(kind):
    """Only QDA without shrinkage may refuse, where a class has fewer points than features."""
    rng = np.random.default_rng(0)
    sample = draw_training_set(draw_population(rng, kind), 30, rng)
    fitted = {name: train(law.draw(rng), sample.X, sample.y) for name, law in RULES.items()}
    assert {name for name, classifier in fitted.items() if classifier is None} <= {"qda"}
    X, _ = sample.population.sample(20, rng)
    for classifier in fitted.values():
        assert classifier is None or np.isin(classifier.predict(X), sample.population.classes).all()


@pytest.mark.parametrize("name", RULES)
def test_same_seed_gives_the_same_rule(name):
    first, second = (RULES[name].draw(np.random.default_rng(3)) for _ in range(2))
    assert repr(first) == repr(second)


@pytest.mark.parametrize("name", RULES)
def test_a_rule_trained_twice_predicts_the_same(name):
    rng = np.random.default_rng(1)
    population = next(
        p for p in (draw_population(rng, "mixture") for _ in range(50)) if p.dim <= 3 and p.n_classes == 2
    )
    sample = draw_training_set(population, 60, rng)
    rule = RULES[name].draw(rng)
    X, _ = sample.population.sample(200, rng)
    first, second = (train(rule, sample.X, sample.y).predict(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_rules_are_drawn_by_their_weights():
    """Chi-square of 4,000 draws below its 1 - 1e-6 quantile for 19 degrees of freedom, which is 64."""
    rng = np.random.default_rng(2)
    names = [draw_rule(rng)[0] for _ in range(4000)]
    weights = np.array([law.weight for law in RULES.values()])
    expected = 4000 * weights / weights.sum()
    counts = np.array([names.count(name) for name in RULES])
    assert np.sum((counts - expected) ** 2 / expected) < 64


def test_a_rule_comes_with_its_family():
    name, family, rule = draw_rule(np.random.default_rng(0))
    assert family == RULES[name].family
    assert not hasattr(rule, "classes_")


def test_a_covariance_of_too_few_points_is_refused():
    X, y = np.random.default_rng(0).normal(size=(6, 5)), np.array([0, 0, 0, 1, 1, 1])
    pytest.importorskip("sklearn", minversion="1.8")  # earlier ones only warn
    assert train(QuadraticDiscriminantAnalysis(), X, y) is None
