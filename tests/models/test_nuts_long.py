"""NUTS for every class model, over a grid of dimensions and sample sizes, against closed forms, Gibbs and the truth.

Chains are compared at four Monte-Carlo standard errors, from batch means: 1e-4 false alarms per number, 0.04 for the
400 of this file; seeds are fixed, so that an alarm would be seen once and stay. Each cell of the grid compiles a model
and refits it.
"""

import numpy as np
import pytest
from scipy import stats
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import bayes_gresub as bg

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings(r"ignore:\d of \d+ draws diverged"),  # With few points one in some thousand does.
]

COVARIANCES = ["full", "shared", "diagonal", "spherical"]
SAMPLES = [(n, seed) for n in (20, 60) for seed in range(3)]
N_BATCHES = 20
N_TEST = 200_000


def sample(n, d, seed, c=2):
    """Return correlated Gaussian classes of unequal counts, in units that differ by feature."""
    rng = np.random.default_rng([n, d, seed])
    counts = np.full(c, n // c)
    counts[0] += n - counts.sum() + 2
    y = np.repeat(np.arange(c), counts)
    mixing = np.eye(d) + 0.3 * rng.normal(size=(d, d)) / np.sqrt(d)
    shifts = rng.normal(size=(c, d)) / np.sqrt(d) * 1.2
    return (rng.normal(size=(len(y), d)) @ mixing + shifts[y]) * 10.0 ** rng.integers(-1, 2, size=d), y


def batch_error(values):
    """Return mean and Monte-Carlo standard error of numbers (chains, draws, ...) from the means of batches."""
    chains, draws = values.shape[:2]
    length = draws // N_BATCHES
    means = values[:, : length * N_BATCHES].reshape(chains * N_BATCHES, length, *values.shape[2:]).mean(axis=1)
    return values.mean(axis=(0, 1)), means.std(axis=0, ddof=1) / np.sqrt(len(means))


def scores(left, right):
    """Return z of the means and of the spreads about one middle, of draws (chains, draws, ...) of two samplers."""
    middle = right.mean(axis=(0, 1))
    found = []
    for read in (lambda values: values, lambda values: (values - middle) ** 2):
        (mine, error), (theirs, other_error) = batch_error(read(left)), batch_error(read(right))
        found.append((mine - theirs) / np.hypot(error, other_error))
    return np.stack(found)


def scores_of_moments(draws, mean, variance):
    found = []
    for values, expected in ((draws, mean), ((draws - mean) ** 2, variance)):
        average, error = batch_error(values)
        found.append((average - expected) / error)
    return np.array(found)


def chains_of(estimate, chains=4):
    return estimate.draws.reshape(chains, -1)


def fixed_prior(X, covariance):
    """Return a fixed prior that is of the order of the sample, as a user with knowledge would give."""
    d = X.shape[1]
    variances = X.var(axis=0)
    scale = {"diagonal": 2 * variances, "spherical": 2 * variances.mean()}.get(covariance, np.diag(2 * variances))
    return bg.NormalInverseWishart(X.mean(axis=0), 0.6, d + 2.5, scale)


@pytest.mark.parametrize("d", [2, 5])
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_error_agrees_with_closed_form_or_exact_draws(covariance, d):
    """Diagonal covariances have no closed form at oblique boundaries; independent exact draws stand in."""
    for n, seed in SAMPLES:
        X, y = sample(n, d, seed)
        classifier = LinearDiscriminantAnalysis().fit(X, y)
        model = bg.GaussianClasses(covariance, fixed_prior(X, covariance))
        estimate = bg.Bayesian(model, sampler="nuts", random_state=seed).fit(X, y).error(classifier)
        if covariance == "diagonal":
            exact = bg.Bayesian(model, sampler="conjugate", draws=20_000, random_state=seed + 50).fit(X, y)
            z = scores(chains_of(estimate), chains_of(exact.error(classifier)))
        else:
            assert estimate.computation.exact
            z = scores_of_moments(chains_of(estimate), estimate.value, estimate.posterior_sd**2)
        assert (np.abs(z) < 4).all(), (n, seed, z)


@pytest.mark.parametrize("d", [2, 5])
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_hierarchical_posterior_agrees_with_gibbs(covariance, d):
    for n, seed in SAMPLES:
        X, y = sample(n, d, seed)
        classifier = LinearDiscriminantAnalysis().fit(X, y)
        model = bg.GaussianClasses(covariance)
        by_nuts = bg.Bayesian(model, sampler="nuts", random_state=seed).fit(X, y)
        by_gibbs = bg.Bayesian(model, sampler="gibbs", draws=8000, random_state=seed).fit(X, y)
        errors = (chains_of(measure.error(classifier)) for measure in (by_nuts, by_gibbs))
        strengths = (measure.posterior_.draws.hyper["log_strength"] for measure in (by_nuts, by_gibbs))
        z = np.stack([scores(*errors), scores(*strengths)])
        assert (np.abs(z) < 4).all(), (n, seed, z)


def predictive(prior, points):
    """Return the posterior predictive law of a class with a full covariance matrix, a multivariate t."""
    n, d = points.shape
    mean = points.mean(axis=0)
    strength, dof = prior.strength + n, prior.dof + n
    center = (prior.strength * prior.mean + n * mean) / strength
    gap = mean - prior.mean
    scale = prior.scale + (points - mean).T @ (points - mean) + prior.strength * n / strength * np.outer(gap, gap)
    return center, scale * (strength + 1) / (strength * (dof - d + 1)), dof - d + 1


def winning_mass(classifier, code, law):
    """Return the mass of the region where a class has the largest score, with SciPy's error: an orthant probability."""
    center, shape, dof = law
    others = [j for j in range(len(classifier.coef_)) if j != code]
    slopes = classifier.coef_[others] - classifier.coef_[code]
    offsets = classifier.intercept_[others] - classifier.intercept_[code]
    # The class wins where all scores of others, less its own, are below 0.
    below = stats.multivariate_t(slopes @ center + offsets, slopes @ shape @ slopes.T, df=dof)
    masses = [below.cdf(np.zeros(len(others)), maxpts=200_000, random_state=seed) for seed in range(8)]
    return np.mean(masses), np.std(masses, ddof=1) / np.sqrt(len(masses))


@pytest.mark.parametrize("sampler", ["nuts", "conjugate"])
def test_errors_of_three_classes_agree_with_multivariate_t(sampler):
    for n, seed in [(30, 0), (60, 1), (90, 2)]:
        X, y = sample(n, 2, seed, c=3)
        classifier = LinearDiscriminantAnalysis().fit(X, y)
        prior = fixed_prior(X, "full")
        measure = bg.Bayesian(bg.GaussianClasses("full", prior), sampler=sampler, random_state=seed).fit(X, y)
        estimate = measure.error(classifier)
        halves = estimate.posterior.halves
        for code in range(3):
            right, tolerance = winning_mass(classifier, code, predictive(prior, X[y == code]))
            raw = halves.mean(axis=0)[:, code, code].reshape(4, 1000)
            mean, error = batch_error(raw)
            assert abs(mean - right) < 4 * np.hypot(error, tolerance) + 1e-6, (n, code)
            assert abs(estimate.per_class[code] - (1 - right)) < 4.5 * np.hypot(error, tolerance) + 1e-3


def test_three_classes_by_nuts_agree_with_gibbs():
    for n, seed in [(30, 0), (90, 1)]:
        X, y = sample(n, 2, seed, c=3)
        classifier = KNeighborsClassifier(3).fit(X, y)
        by_nuts = bg.Bayesian(sampler="nuts", random_state=seed).fit(X, y)
        by_gibbs = bg.Bayesian(sampler="gibbs", draws=4000, random_state=seed).fit(X, y)
        raw = []
        for measure in (by_nuts, by_gibbs):
            # Points of each draw's own: noise of shared points would be the same in all batches.
            correct = np.einsum("syy->sy", measure.error(classifier).posterior.separate)
            raw.append(
                np.concatenate([correct.reshape(4, -1, 3), measure.posterior_.draws.means[:, :, :, 0, 0]], axis=2)
            )
        # Spreads of sampled masses hold noise; means do not.
        z = scores(*raw)[0]
        assert (np.abs(z) < 4).all(), (n, z)


def test_pymc_agrees_with_nutpie():
    X, y = sample(40, 2, 0)
    classifier = LinearDiscriminantAnalysis().fit(X, y)
    fitted = [bg.Bayesian(sampler="nuts", backend=backend, random_state=0).fit(X, y) for backend in ("pymc", "nutpie")]
    errors = (chains_of(measure.error(classifier)) for measure in fitted)
    strengths = (measure.posterior_.draws.hyper["log_strength"] for measure in fitted)
    z = np.stack([scores(*errors), scores(*strengths)])
    assert (np.abs(z) < 4).all(), z


def test_pymc_refits_new_data_of_another_size():
    model = bg.StudentTClasses("diagonal")
    for n, seed in [(40, 0), (64, 1)]:
        X, y = sample(n, 2, seed)
        classifier = LinearDiscriminantAnalysis().fit(X, y)
        fitted = [
            bg.Bayesian(model, backend=backend, draws=500, random_state=seed).fit(X, y)
            for backend in ("pymc", "nutpie")
        ]
        z = scores(*(chains_of(measure.error(classifier)) for measure in fitted))
        assert (np.abs(z) < 4).all(), (n, z)


def t_errors(classifier, dof):
    """Return the errors of a linear classifier for classes t_dof about (0, 0) and (2, 0) with identity scale."""
    slope, offset = classifier.coef_[0], classifier.intercept_[0]
    centers = np.array([[0.0, 0.0], [2.0, 0.0]])
    ratio = (centers @ slope + offset) / np.linalg.norm(slope)
    law = stats.norm if np.isinf(dof) else stats.t(dof)
    return float(0.5 * law.sf(-ratio[0]) + 0.5 * law.cdf(-ratio[1]))


def t_sample(n_class, dof, seed):
    rng = np.random.default_rng([seed, n_class])
    y = np.repeat([0, 1], n_class)
    normal = rng.normal(size=(2 * n_class, 2))
    shrunk = 1.0 if np.isinf(dof) else np.sqrt(rng.chisquare(dof, size=(2 * n_class, 1)) / dof)
    return normal / shrunk + np.array([2.0, 0.0]) * y[:, None], y


def test_student_t_recovers_dof_and_error_of_heavy_tails():
    """Eight samples of 100 points per class; an error four posterior sd off has a chance of 5e-4 over all of them."""
    gaps, dofs = [], []
    for seed in range(8):
        X, y = t_sample(100, 3.0, seed)
        classifier = LinearDiscriminantAnalysis().fit(X, y)
        measure = bg.Bayesian(bg.StudentTClasses(), class_prior=[0.5, 0.5], random_state=seed).fit(X, y)
        estimate = measure.error(classifier)
        truth = t_errors(classifier, 3.0)
        assert abs(estimate.value - truth) < 4 * estimate.draws.std()
        dof = measure.posterior_.draws.dof.reshape(-1, 2)
        assert (np.quantile(dof, 5e-4, axis=0) < 3.0).all()
        assert (np.quantile(dof, 1 - 5e-4, axis=0) > 3.0).all()
        gaps.append(estimate.value - truth)
        dofs.append(np.median(dof, axis=0))
    assert abs(np.mean(gaps)) < 4 * np.std(gaps, ddof=1) / np.sqrt(8) + 0.005
    assert 2.4 < np.exp(np.mean(np.log(dofs))) < 4.0


def test_student_t_tends_to_gaussian_on_gaussian_data():
    X, y = t_sample(400, np.inf, 0)
    classifier = LinearDiscriminantAnalysis().fit(X, y)
    given = {"class_prior": [0.5, 0.5], "random_state": 0}
    student = bg.Bayesian(bg.StudentTClasses(), **given).fit(X, y)
    gaussian = bg.Bayesian(bg.GaussianClasses(), sampler="gibbs", **given).fit(X, y)
    errors = [measure.error(classifier) for measure in (student, gaussian)]
    assert abs(errors[0].value - errors[1].value) < errors[1].draws.std()
    assert abs(errors[0].draws.std() / errors[1].draws.std() - 1) < 0.15
    assert (np.median(student.posterior_.draws.dof, axis=(0, 1)) > 10).all()


def bimodal(n_class, rng):
    """Return a class with modes at -3 and 3 deviations in one feature, and a normal one between them."""
    y = np.repeat([0, 1], n_class)
    X = rng.normal(size=(2 * n_class, 2))
    X[:, 0] += np.where(y == 0, 3.0 * rng.choice([-1, 1], size=2 * n_class), 0.0)
    return X, y


@pytest.mark.filterwarnings(r"ignore:\d+ of \d+ draws diverged")  # Some do where a normal class has two parts.
def test_mixture_sees_two_modes_that_gaussian_classes_do_not():
    gaps = {"mixture": [], "gaussian": []}
    for seed in range(10):
        rng = np.random.default_rng([7, seed])
        X, y = bimodal(100, rng)
        classifier = KNeighborsClassifier(3).fit(X, y)
        test_points, labels = bimodal(N_TEST // 2, rng)
        truth = np.mean(classifier.predict(test_points) != labels)
        given = {"class_prior": [0.5, 0.5], "random_state": seed}
        mixture = bg.Bayesian(bg.MixtureClasses(), draws=500, **given).fit(X, y)
        gaussian = bg.Bayesian(bg.GaussianClasses(), sampler="gibbs", **given).fit(X, y)
        gaps["mixture"].append(mixture.error(classifier).value - truth)
        gaps["gaussian"].append(gaussian.error(classifier).value - truth)
    assert np.abs(gaps["mixture"]).mean() < 0.03
    assert np.abs(gaps["gaussian"]).mean() > 0.1


def test_discrete_by_nuts_agrees_with_closed_form():
    for n, seed in [(20, 0), (60, 1), (200, 2)]:
        rng = np.random.default_rng([seed, n])
        y = np.arange(n) % 2
        X = np.stack([rng.binomial(2, 0.3 + 0.3 * y), rng.integers(2, size=n)], axis=1).astype(float)
        X[:6] = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]
        classifier = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
        estimate = bg.Bayesian(bg.DiscreteClasses(0.7), sampler="nuts", random_state=seed).fit(X, y).error(classifier)
        assert estimate.computation.exact
        z = scores_of_moments(chains_of(estimate), estimate.value, estimate.posterior_sd**2)
        assert (np.abs(z) < 4).all(), (n, z)
