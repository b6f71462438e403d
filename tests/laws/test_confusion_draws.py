"""Draws of an error are the errors of those very draws of the law, as brute force gives them."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from bayes_gresub.data.sample import read_sample
from bayes_gresub.laws import confusion_draws as module
from bayes_gresub.laws.components import Components, StudentT
from bayes_gresub.laws.confusion import error_mass
from bayes_gresub.laws.confusion_draws import confusion_draws
from bayes_gresub.laws.law import Law
from bayes_gresub.laws.sampling import Sampler
from bayes_gresub.regions.region import decision_region

DRAWS = 300
SOME = slice(0, DRAWS, 4)  # the draws that brute force is tried on
Z = 4.5


def posterior(d=3, c=2, parts=1, dof=None, spread=0.15, separation=1.5, seed=0):
    """Return a law whose draws differ in centres, covariances and class probabilities, by about `spread`."""
    rng = np.random.default_rng([seed, d, c, parts])
    means = separation * rng.normal(size=(c, parts, 1, d)) + spread * rng.normal(size=(c, parts, DRAWS, d))
    factors = np.linalg.cholesky(np.eye(d) + 0.3) + 0.3 * spread * np.tril(rng.normal(size=(c, parts, DRAWS, d, d)))
    law = {} if dof is None else {"law": StudentT(np.full(c * parts * DRAWS, dof))}
    components = Components(means.reshape(-1, d), factors.reshape(-1, d, d), np.arange(c * parts * DRAWS), **law)
    weights = rng.dirichlet(np.full(c * parts, 40.0), size=DRAWS)
    return Law(components, weights, np.repeat(np.eye(c), parts, axis=0))


def region_of(law, classifier, extra=0):
    """Return the region of a classifier trained on points of the law; `extra` adds a class that the law lacks."""
    rng = np.random.default_rng(1)
    owners = np.arange(len(law.components))[:: DRAWS // 25]
    X, y = law.components.draw(owners, rng), law.labels.argmax(axis=1)[owners // DRAWS]
    trained = classifier.fit(np.vstack([X, X[:extra] + 1.0]), np.concatenate([y, np.full(extra, y.max() + 1)]))
    return decision_region(trained, read_sample(X, y), np.random.SeedSequence(0)), trained


def brute_force(law, classifier, n_points=4000):
    """Return the errors of some draws from so many points of each component, and their noise variances."""
    rng = np.random.default_rng(2)
    weights = law.weights[SOME]
    wrong = np.empty_like(weights)
    for row, draw in enumerate(range(DRAWS)[SOME]):
        for part, label in enumerate(law.labels.argmax(axis=1)):
            points = law.components.draw(np.full(n_points, part * DRAWS + draw), rng)
            wrong[row, part] = np.mean(classifier.predict(points) != label)
    return (weights * wrong).sum(axis=1), (weights**2 * wrong * (1 - wrong)).sum(axis=1) / n_points


def errors_of(halves):
    return error_mass(halves.mean(axis=0))[SOME]


def sampler(n_points=32, **given):
    return Sampler(np.random.SeedSequence(3), n_points, replicates=1, arrange=False, **given)


CASES = {
    "two classes": {},
    "three classes": {"c": 3},
    "classes of two parts": {"parts": 2},
    "heavy tails": {"dof": 3.0},
    "eight features": {"d": 8},
}


@pytest.mark.parametrize("case", CASES)
def test_errors_are_those_of_brute_force_draw_by_draw(case):
    """The squared gaps hold the noise of brute force and at most a tenth of the variance, with a margin of a half."""
    law = posterior(**CASES[case])
    region, classifier = region_of(law, SVC())
    result = confusion_draws(law, region, sampler())
    errors, noise = brute_force(law, classifier)
    assert result.noise_share <= module.MOST_NOISE
    assert np.mean((errors_of(result.halves) - errors) ** 2) < 1.5 * noise.mean() + 0.15 * errors.var()


def test_points_of_their_own_have_much_more_noise():
    law = posterior()
    region, classifier = region_of(law, SVC())
    result, (errors, _) = confusion_draws(law, region, sampler()), brute_force(law, classifier)
    gaps = [np.var(errors_of(masses) - errors) for masses in (result.separate[None], result.halves)]
    assert gaps[1] < 0.25 * gaps[0]


def test_mean_is_that_of_brute_force():
    """Within 4.5 binomial standard errors of all points together."""
    law = posterior(c=3)
    region, classifier = region_of(law, KNeighborsClassifier(3))
    result, (errors, _) = confusion_draws(law, region, sampler()), brute_force(law, classifier)
    e = errors.mean()
    assert abs(errors_of(result.halves).mean() - e) < Z * np.sqrt(e * (1 - e) / (3 * 32 * DRAWS))


def test_rows_of_the_confusion_have_the_class_probabilities():
    law = posterior(c=3)
    halves = confusion_draws(law, region_of(law, SVC())[0], sampler()).halves
    np.testing.assert_allclose(halves.sum(axis=3), np.broadcast_to(law.weights, halves.shape[:3]), atol=1e-12)


def test_class_that_only_the_classifier_lists_is_predicted_but_never_true():
    law = posterior()
    region, _ = region_of(law, KNeighborsClassifier(3), extra=10)
    halves = confusion_draws(law, region, sampler()).halves
    assert halves.shape == (2, DRAWS, 3, 3)
    assert not halves[:, :, 2].any()
    assert halves[:, :, :2, 2].mean() > 0.01


def test_threads_change_no_number(monkeypatch):
    monkeypatch.setattr("bayes_gresub.laws.sampling.CHUNK_ELEMENTS", 2**12)
    law = posterior()
    region, _ = region_of(law, SVC())
    one, many = (confusion_draws(law, region, sampler(n_jobs=jobs)).halves for jobs in (1, 4))
    np.testing.assert_array_equal(one, many)


def test_bounded_memory_gives_the_same_errors(monkeypatch):
    """Points of every fifth draw: less to share, the same masses within a tenth of their variance."""
    law = posterior()
    region, _ = region_of(law, SVC())
    everything = error_mass(confusion_draws(law, region, sampler()).halves.mean(axis=0))
    monkeypatch.setattr(module, "_COLLECTED_ELEMENTS", 32 * 2 * DRAWS * 3 // 5)
    fewer = error_mass(confusion_draws(law, region, sampler()).halves.mean(axis=0))
    assert 0 < np.var(everything - fewer) < 0.2 * everything.var()


def test_points_are_drawn_again_while_noise_is_too_much():
    """Draws that have nothing in common share no points: more of their own are drawn, and what is left is stated."""
    law = posterior(d=8, spread=1.0)
    region, _ = region_of(law, SVC())
    few = confusion_draws(law, region, sampler(2))
    assert few.n_predicted == module.MAX_SWEEPS * 2 * 2 * DRAWS * 2
    many = confusion_draws(law, region, sampler(64))
    assert many.noise_share < few.noise_share


def test_many_features_share_points_only_if_more_points_of_their_own_are_not_enough():
    """Draws of 25 features have too little in common: more points do as well, without densities."""
    law = posterior(d=25, spread=0.4, separation=0.4)
    region, classifier = region_of(law, SVC())
    plenty, few = (confusion_draws(law, region, sampler(n_points)) for n_points in (32, 8))
    np.testing.assert_allclose(plenty.halves.mean(axis=0), plenty.separate, atol=1e-15)
    assert np.abs(few.halves.mean(axis=0) - few.separate).max() > 1e-3
    errors, noise = brute_force(law, classifier)
    assert plenty.noise_share <= module.MOST_NOISE
    assert np.mean((errors_of(plenty.halves) - errors) ** 2) < 1.5 * noise.mean() + 0.15 * errors.var()


def test_stated_noise_is_that_against_brute_force():
    """The stated share of noise, from two halves, against squared gaps: within a factor of two."""
    law = posterior(d=8, spread=0.5)
    region, classifier = region_of(law, SVC())
    result = confusion_draws(law, region, sampler(8))
    errors, noise = brute_force(law, classifier)
    gaps = errors_of(result.halves) - errors
    share = (np.var(gaps) - noise.mean()) / (errors.var() - noise.mean())
    assert share / 2 < result.noise_share < 2 * share
