"""`compare_classifiers`: which of two errs less, from points they did not see, and refusals of all else."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import bayes_gresub as bg
from bayes_gresub.comparing import ClassifierComparison
from bayes_gresub.data.seeds import seed_sequence
from bayes_gresub.estimate.computation import Computation
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.estimate.estimands import ErrorDifference, RuleDifference, ThisClassifier
from bayes_gresub.estimate.intervals import Interval, NoInterval
from bayes_gresub.estimate.posterior_draws import PosteriorDraws
from bayes_gresub.estimate.reasons import TrainedOnThesePoints
from bayes_gresub.measures.measure import Measure, MeasuredValue

POPULATION = bg.datasets.PaperGaussian()


@functools.cache
def sample(n=43, seed=0):
    return POPULATION.sample(n, random_state=seed)


@functools.cache
def trained(kind, n=43, seed=0):
    rules = {"lda": LinearDiscriminantAnalysis(), "1nn": KNeighborsClassifier(1), "nb": GaussianNB()}
    return rules[kind].fit(*sample(n, seed))


class Centroids(ClassifierMixin, BaseEstimator):
    """The nearer of two class means in some features, which keeps what its clones were trained on."""

    seen: list[tuple[tuple[int, ...], bytes]] = []  # noqa: RUF012

    def __init__(self, features=(0, 1)):
        self.features = features

    def fit(self, X, y):
        type(self).seen.append((self.features, X.tobytes()))
        self.classes_ = np.unique(y)
        columns = X[:, self.features]
        self.means_ = np.array([columns[y == label].mean(axis=0) for label in self.classes_])
        return self

    def predict(self, X):
        gaps = X[:, self.features][:, None] - self.means_
        return self.classes_[(gaps**2).sum(axis=2).argmin(axis=1)]


class Threshold:
    """A trained classifier that says 1 where one feature is positive."""

    classes_ = np.array([0, 1])

    def __init__(self, feature, sign=1):
        self.feature = feature
        self.sign = sign

    def predict(self, X):
        return (self.sign * X[:, self.feature] > 0).astype(int)


@pytest.fixture(autouse=True)
def nothing_seen(monkeypatch):
    monkeypatch.setattr(Centroids, "seen", [])


# Measures at training points


REFUSED = {
    "empirical": bg.Empirical(),
    "bolstered": bg.Bolstered(),
    "posterior": bg.PosteriorProbability(),
    "bolstered posterior": bg.BolsteredPosterior(),
    "gaussian process": bg.PosteriorProbability(bg.GaussianProcess(lengthscale=1.0, amplitude=1.0)),
    "gaussian process on features": bg.on_features(
        bg.PosteriorProbability(bg.GaussianProcess(lengthscale=1.0, amplitude=1.0)), np.asarray, held_out=True
    ),
}


@pytest.mark.parametrize("fitted", [False, True], ids=["unfitted", "fitted"])
@pytest.mark.parametrize("kind", REFUSED)
def test_measure_at_training_points_is_refused_with_the_reason(kind, fitted):
    by = clone(REFUSED[kind])
    if fitted:
        by.fit(*sample())
    with pytest.raises(ValueError, match="the measure favours the one that fits those points more closely"):
        bg.compare_classifiers(trained("1nn"), trained("lda"), by=by)


def test_refusal_of_a_measure_names_what_to_use():
    with pytest.raises(
        ValueError, match=r"Use by=TestSet\(\.\.\.\), by=CrossValidation\(\.\.\.\), or a measure that draws whole laws"
    ):
        bg.compare_classifiers(trained("1nn"), trained("lda"), by=bg.Bolstered())


SEEDS = range(12)


@functools.cache
def truly_better():
    """Return, for each sample, whether 1NN errs less than LDA on 4000 new points."""
    X, y = POPULATION.sample(4000, random_state=999)
    return [
        np.mean(trained("1nn", 60, seed).predict(X) != y) < np.mean(trained("lda", 60, seed).predict(X) != y)
        for seed in SEEDS
    ]


def test_1nn_is_truly_worse_than_lda_on_the_model_of_the_paper():
    assert not any(truly_better())


def test_training_points_would_call_1nn_better_on_the_model_of_the_paper():
    """The same paired test on the contributions of training points: right about none of the samples."""
    verdicts = [
        bg.compare_classifiers(trained("1nn", 60, seed), trained("lda", 60, seed), by=bg.TestSet(*sample(60, seed)))
        for seed in SEEDS
    ]
    assert all(verdict.difference < 0 for verdict in verdicts)
    assert sum(verdict.better == "first" for verdict in verdicts) > len(SEEDS) / 2


def test_test_set_never_calls_1nn_better_on_the_model_of_the_paper():
    """Were both equally good, 12 verdicts at 95% would hold a false one for 26 in 100 seeds; 1NN is far worse."""
    verdicts = [
        bg.compare_classifiers(
            trained("1nn", 60, seed), trained("lda", 60, seed), by=bg.TestSet(*sample(80, 100 + seed))
        )
        for seed in SEEDS
    ]
    assert not any(verdict.better == "first" for verdict in verdicts)


def test_cross_validation_never_calls_1nn_better_on_the_model_of_the_paper():
    """Were both equally good, 12 verdicts at 95% would hold a false one for 26 in 100 seeds; 1NN is far worse."""
    verdicts = [
        bg.compare_classifiers(
            KNeighborsClassifier(1),
            LinearDiscriminantAnalysis(),
            *sample(60, seed),
            by=bg.CrossValidation(5),
            random_state=seed,
        )
        for seed in SEEDS
    ]
    assert not any(verdict.better == "first" for verdict in verdicts)


# A test set


@functools.cache
def at_test_points(first="lda", second="nb", level=0.95, n=150):
    held_out = bg.TestSet(*sample(n, 7))
    return bg.compare_classifiers(trained(first), trained(second), by=held_out, level=level)


def discordant(first, second, n=150):
    """Return how many points only the first misclassifies, and how many only the second."""
    X, y = sample(n, 7)
    wrong, other = (trained(kind).predict(X) != y for kind in (first, second))
    return int((wrong & ~other).sum()), int((other & ~wrong).sum())


PAIRS = [("lda", "nb"), ("1nn", "lda"), ("nb", "1nn")]


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_p_value_at_test_points_is_that_of_mcnemar(first, second):
    only_first, only_second = discordant(first, second)
    tail = stats.binom.cdf(min(only_first, only_second), only_first + only_second, 0.5)
    assert at_test_points(first, second).p_value == pytest.approx(min(1.0, 2 * tail), abs=1e-12)


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_interval_at_test_points_is_that_of_bonett_and_price(first, second, level):
    """Their equation: with f12 and f21 discordant pairs of n, p~ = (f + 1) / (n + 2), a Wald interval from these."""
    n = 150
    p12, p21 = ((count + 1) / (n + 2) for count in discordant(first, second, n))
    half = stats.norm.ppf(0.5 + level / 2) * np.sqrt((p12 + p21 - (p12 - p21) ** 2) / (n + 2))
    expected = p12 - p21 - half, p12 - p21 + half
    assert tuple(at_test_points(first, second, level).interval) == pytest.approx(expected, abs=1e-12)


def test_difference_at_test_points_is_that_of_the_errors():
    X, y = sample(150, 7)
    errors = [np.mean(trained(kind).predict(X) != y) for kind in ("1nn", "lda")]
    assert at_test_points("1nn", "lda").difference == pytest.approx(errors[0] - errors[1], abs=1e-12)


def test_method_at_test_points_is_named():
    assert at_test_points().interval.method == "Bonett-Price for paired proportions; McNemar's exact test"


def test_classifier_against_itself_has_a_p_value_of_one():
    compared = bg.compare_classifiers(trained("lda"), trained("lda"), by=bg.TestSet(*sample(50, 7)))
    assert (compared.difference, compared.p_value, compared.better) == (0.0, 1.0, None)


def test_interval_of_a_classifier_against_itself_has_width():
    """No disagreement at 50 points leaves open what happens at others."""
    compared = bg.compare_classifiers(trained("lda"), trained("lda"), by=bg.TestSet(*sample(50, 7)))
    assert compared.interval.low < 0 < compared.interval.high


def test_interval_of_few_test_points_stays_within_one():
    X, y = np.array([[1.0], [-1.0]]), np.array([1, 0])
    compared = bg.compare_classifiers(Threshold(0, -1), Threshold(0), by=bg.TestSet(X, y))
    assert -1.0 <= compared.interval.low <= compared.interval.high <= 1.0


def weighted(first="1nn", second="lda", level=0.95, factor=1.0):
    X, y = sample(150, 7)
    weights = factor * (1.0 + np.arange(150) % 3)
    held_out = bg.TestSet(X, y, sample_weight=weights)
    return bg.compare_classifiers(trained(first), trained(second), by=held_out, level=level)


def entropy(p, q):
    return p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))


def test_weighted_test_points_have_the_interval_of_hoeffding():
    assert weighted().interval.method == "Hoeffding bound for paired differences (relative entropy)"


def test_interval_of_weighted_test_points_holds_the_difference():
    compared = weighted()
    assert compared.interval.low < compared.difference < compared.interval.high


def test_difference_at_weighted_test_points_is_weighted():
    X, y = sample(150, 7)
    wrong, other = ((trained(kind).predict(X) != y).astype(float) for kind in ("1nn", "lda"))
    expected = np.average(wrong - other, weights=1.0 + np.arange(150) % 3)
    assert weighted().difference == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_ends_of_hoeffding_lie_where_the_entropy_reaches_its_bound(level):
    compared = weighted(level=level)
    center = (compared.difference + 1) / 2
    points = 300 / 3
    for end in compared.interval:
        assert points * entropy(center, (end + 1) / 2) == pytest.approx(np.log(2 / (1 - level)), rel=1e-8)


def test_p_value_of_weighted_test_points_is_the_bound_at_no_difference():
    compared = weighted()
    expected = 2 * np.exp(-100 * entropy((compared.difference + 1) / 2, 0.5))
    assert compared.p_value == pytest.approx(min(1.0, expected), rel=1e-10)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("seed", range(4))
def test_weighted_p_value_and_interval_give_one_verdict(seed, level):
    rng = np.random.default_rng(seed)
    y = np.arange(200) % 2
    X = np.where(y == 1, 1.0, -1.0)[:, None] + rng.normal(size=(200, 2)) * [1.0, 1.0 + 0.5 * seed]
    held_out = bg.TestSet(X, y, sample_weight=rng.uniform(1.0, 1.2, 200))
    compared = bg.compare_classifiers(Threshold(0), Threshold(1), by=held_out, level=level)
    assert (compared.p_value < 1 - level) == (compared.better is not None)


def test_factor_of_the_weights_does_not_matter():
    one, other = weighted(), weighted(factor=10.0)
    assert tuple(other.interval) == pytest.approx(tuple(one.interval), abs=1e-12)


@pytest.mark.parametrize("sign", [1, -1])
def test_weighted_difference_may_be_the_largest_there_is(sign):
    """Weights that sum to one but for rounding must not push the mean difference beyond one."""
    y = np.arange(60) % 2
    X = np.where(y == 1, 1.0, -1.0)[:, None]
    weights = np.random.default_rng(0).uniform(0.5, 1.0, 60)
    held_out = bg.TestSet(X, y, sample_weight=weights)
    compared = bg.compare_classifiers(Threshold(0, sign), Threshold(0, -sign), by=held_out)
    assert compared.difference == pytest.approx(-sign)
    assert 0.0 <= compared.p_value < 1e-9


def test_smoothed_test_points_are_compared_by_hoeffding():
    held_out = bg.TestSet(*sample(150, 7), bg.Bolstered().fit(*sample()))
    compared = bg.compare_classifiers(trained("1nn"), trained("lda"), by=held_out)
    assert compared.interval.method == "Hoeffding bound for paired differences (relative entropy)"


def test_smoothed_test_points_do_not_claim_the_difference_of_the_errors():
    """Kernels about test points are biased, by other amounts for other classifiers; one estimate says so of itself."""
    held_out = bg.TestSet(*sample(150, 7), bg.Bolstered().fit(*sample()))
    compared = bg.compare_classifiers(trained("1nn"), trained("lda"), by=held_out)
    assert compared.interval.target != ErrorDifference()


def test_measure_that_learns_from_the_test_points_is_refused():
    with pytest.raises(ValueError, match=r"hence no comparison: .* Fit the measure to the training data first"):
        bg.compare_classifiers(trained("1nn"), trained("lda"), by=bg.TestSet(*sample(50, 7), bg.Bolstered()))


def test_class_sizes_fixed_by_design_need_a_prior():
    held_out = bg.TestSet(*sample(50, 7), bg.Empirical(sampling="separate"))
    with pytest.raises(ValueError, match="needs the class probabilities"):
        bg.compare_classifiers(trained("1nn"), trained("lda"), by=held_out)


def test_untrained_rule_is_refused_at_test_points():
    with pytest.raises(NotFittedError, match="classifier must be fitted"):
        bg.compare_classifiers(LinearDiscriminantAnalysis(), trained("nb"), by=bg.TestSet(*sample(50, 7)))


def test_comparison_at_test_points_errs_no_more_often_than_its_level():
    """Two features that are equally good, 400 test sets of 60 points at 80%: the rate within 4.5 s.e. above 0.2.

    McNemar's rate is at most 0.2, Bonett & Price's nearly 0.2: false alarms in about 3 of a million seeds each.
    """
    level, runs = 0.8, 160
    X, y = POPULATION.sample(60 * runs, random_state=3)
    compared = [
        bg.compare_classifiers(Threshold(0), Threshold(2), by=bg.TestSet(X[rows], y[rows]), level=level)
        for rows in np.arange(60 * runs).reshape(runs, 60)
    ]
    bound = (1 - level) + 4.5 * np.sqrt(level * (1 - level) / runs)
    assert np.mean([one.better is not None for one in compared]) < bound
    assert np.mean([one.p_value < 1 - level for one in compared]) < bound


def test_interval_at_test_points_holds_the_true_difference_as_often_as_it_says():
    """Bayes classifiers in 1 and in 4 features, 400 test sets of 80 points at 80%: within 4.5 s.e. below 0.8.

    The interval is approximate but errs to the safe side; a false alarm comes in 3 of a million seeds.
    """
    level, runs = 0.8, 160
    X, y = POPULATION.sample(80 * runs, random_state=4)
    normals = np.eye(10)[0], np.eye(10)[:4].sum(axis=0)
    truth = POPULATION.linear_error(normals[0], 0.0) - POPULATION.linear_error(normals[1], 0.0)
    held = [
        interval.low <= truth <= interval.high
        for interval in (
            bg.compare_classifiers(
                Linear(normals[0]), Linear(normals[1]), by=bg.TestSet(X[rows], y[rows]), level=level
            ).interval
            for rows in np.arange(80 * runs).reshape(runs, 80)
        )
    ]
    assert np.mean(held) > level - 4.5 * np.sqrt(level * (1 - level) / runs)


class Linear:
    """A trained classifier that says 1 on one side of a plane through 0."""

    classes_ = np.array([0, 1])

    def __init__(self, normal):
        self.normal = normal

    def predict(self, X):
        return (X @ self.normal > 0).astype(int)


# Cross-validation


FIRST, SECOND = Centroids((0, 1, 2, 3)), Centroids((0, 8))


@functools.cache
def on_folds(swapped=False, level=0.95, repeats=3):
    rules = (SECOND, FIRST) if swapped else (FIRST, SECOND)
    by = bg.CrossValidation(5, repeats=repeats)
    return bg.compare_classifiers(*rules, *sample(), by=by, level=level, random_state=6)


@functools.cache
def by_hand(repeats=3):
    """Return the difference of the errors in every split, and the mean sizes of its parts, by refitting both rules."""
    X, y = sample()
    folds = bg.CrossValidation(5, repeats=repeats, random_state=6)
    folds.error(FIRST, X, y)
    gaps, sizes = [], []
    for train, test in folds.indices_:
        errors = [np.mean(clone(rule).fit(X[train], y[train]).predict(X[test]) != y[test]) for rule in (FIRST, SECOND)]
        gaps.append(errors[0] - errors[1])
        sizes.append((len(train), len(test)))
    return np.array(gaps), np.mean(sizes, axis=0)


def corrected_error():
    """Return Nadeau & Bengio's standard error: the variance of the differences times 1/J + n2/n1."""
    gaps, (n_train, n_test) = by_hand()
    return np.sqrt((1 / len(gaps) + n_test / n_train) * gaps.var(ddof=1))


def test_difference_on_folds_is_the_mean_over_splits():
    assert on_folds().difference == pytest.approx(by_hand()[0].mean(), abs=1e-12)


def test_p_value_on_folds_is_that_of_nadeau_and_bengio():
    gaps = by_hand()[0]
    t = gaps.mean() / corrected_error()
    assert on_folds().p_value == pytest.approx(2 * stats.t.sf(abs(t), len(gaps) - 1), abs=1e-12)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_interval_on_folds_is_that_of_nadeau_and_bengio(level):
    gaps = by_hand()[0]
    half = stats.t.ppf(0.5 + level / 2, len(gaps) - 1) * corrected_error()
    expected = gaps.mean() - half, gaps.mean() + half
    assert tuple(on_folds(level=level).interval) == pytest.approx(expected, abs=1e-12)


def test_interval_on_folds_is_wider_than_the_naive_one():
    gaps = by_hand()[0]
    naive = 2 * stats.t.ppf(0.975, len(gaps) - 1) * gaps.std(ddof=1) / np.sqrt(len(gaps))
    low, high = on_folds().interval
    assert high - low > 1.5 * naive


def test_both_rules_are_trained_on_the_same_folds():
    bg.compare_classifiers(FIRST, SECOND, *sample(), by=bg.CrossValidation(5, repeats=2), random_state=6)
    one, other = ([data for features, data in Centroids.seen if features == rule.features] for rule in (FIRST, SECOND))
    assert len(one) == 10
    assert one == other


def test_default_is_ten_folds_ten_times():
    bg.compare_classifiers(FIRST, SECOND, *sample(), random_state=6)
    assert len(Centroids.seen) == 2 * 100


def test_fitted_classifiers_are_refitted_like_rules():
    X, y = sample()
    trained_otherwise = clone(FIRST).fit(X, 1 - y)
    by = bg.CrossValidation(5, repeats=3)
    compared = bg.compare_classifiers(trained_otherwise, SECOND, X, y, by=by, random_state=6)
    assert compared.difference == on_folds().difference


def test_groups_never_straddle_the_folds():
    X, y = sample()
    groups = np.random.default_rng(0).integers(9, size=len(y))
    bg.compare_classifiers(FIRST, SECOND, X, y, by=bg.CrossValidation(3), groups=groups, random_state=6)
    of_row = {row.tobytes(): group for row, group in zip(X, groups, strict=True)}
    for _, data in Centroids.seen:
        inside = {of_row[row.tobytes()] for row in np.frombuffer(data).reshape(-1, X.shape[1])}
        whole = sum(np.isin(groups, list(inside)))
        assert whole == len(data) // X[0].nbytes


def test_rules_that_never_differ_have_a_p_value_of_one():
    compared = bg.compare_classifiers(FIRST, clone(FIRST), *sample(), by=bg.CrossValidation(5), random_state=6)
    assert (compared.difference, compared.p_value, compared.better) == (0.0, 1.0, None)


def test_each_estimate_is_that_of_cross_validation():
    by = bg.CrossValidation(5, repeats=3, random_state=6)
    expected = [by.error(rule, *sample()).value for rule in (FIRST, SECOND)]
    assert [one.value for one in on_folds().estimates] == pytest.approx(expected, abs=1e-12)


def test_both_estimates_know_the_noise_of_the_partitions():
    by = bg.CrossValidation(5, repeats=3, random_state=6)
    expected = [by.error(rule, *sample()).std_error for rule in (FIRST, SECOND)]
    assert [one.std_error for one in on_folds().estimates] == pytest.approx(expected, abs=1e-12)


def test_random_state_makes_folds_reproducible():
    one, other = (
        bg.compare_classifiers(FIRST, SECOND, *sample(), by=bg.CrossValidation(5), random_state=2) for _ in range(2)
    )
    assert one.difference == other.difference


def test_seed_of_the_cross_validation_is_its_own():
    """As documented: random_state is for cross-validation without a seed of its own."""
    by = bg.CrossValidation(5, random_state=1)
    own = bg.compare_classifiers(FIRST, SECOND, *sample(), by=by)
    both = bg.compare_classifiers(FIRST, SECOND, *sample(), by=by, random_state=2)
    assert tuple(both.interval) == tuple(own.interval)


def test_cross_validation_of_the_user_stays_as_it_is():
    by = bg.CrossValidation(5, interval="nested")
    bg.compare_classifiers(FIRST, SECOND, *sample(), by=by, random_state=0)
    assert (by.interval, by.random_state) == ("nested", None)


def test_nested_pairs_of_folds_are_not_fitted_for_a_comparison():
    by = bg.CrossValidation(5, interval="nested")
    bg.compare_classifiers(FIRST, SECOND, *sample(), by=by, random_state=0)
    assert len(Centroids.seen) == 2 * 5


def test_target_on_folds_is_the_rules_at_the_size_trained_on():
    assert on_folds().interval.target == RuleDifference(34)


UNFIT_FOLDS = {
    "bolstered": bg.CrossValidation(5, measure=bg.Bolstered()),
    "separate": bg.CrossValidation(5, sampling="separate"),
    "prior": bg.CrossValidation(5, class_prior=[0.5, 0.5]),
}


@pytest.mark.parametrize("kind", UNFIT_FOLDS)
def test_cross_validation_of_other_than_plain_errors_is_refused(kind):
    with pytest.raises(ValueError, match="comparing needs cross-validation with the empirical measure"):
        bg.compare_classifiers(FIRST, SECOND, *sample(), by=UNFIT_FOLDS[kind])


@pytest.mark.parametrize("given", [{}, {"X": sample()[0]}, {"y": sample()[1]}], ids=["neither", "no y", "no X"])
def test_folds_without_a_sample_are_refused(given):
    with pytest.raises(ValueError, match=r"cross-validation refits both rules; pass X and y, or use by=TestSet"):
        bg.compare_classifiers(FIRST, SECOND, **given)


def test_corrected_t_errs_no_more_often_than_its_level():
    """Two pairs of features that are equally good, 160 samples of 40 points at 80%: within 4.5 s.e. above 0.2.

    The corrected test errs to the safe side, so that a false alarm comes in 3 of a million seeds.
    """
    level, runs = 0.8, 160
    compared = [
        bg.compare_classifiers(
            Centroids((0, 1)),
            Centroids((2, 3)),
            *POPULATION.sample(40, seed),
            by=bg.CrossValidation(5),
            level=level,
            random_state=seed,
        )
        for seed in range(runs)
    ]
    bound = (1 - level) + 4.5 * np.sqrt(level * (1 - level) / runs)
    assert np.mean([one.better is not None for one in compared]) < bound
    assert np.mean([one.p_value < 1 - level for one in compared]) < bound


# Posterior draws


class Drawn(Measure):
    """A measure whose draws of an error are that of the classifier plus noise that all classifiers share."""

    has_draws = True
    has_any = True

    def __init__(self, noise=0.01, sampling="mixture", class_prior=None, random_state=None):
        self.noise = noise
        self.sampling = sampling
        self.class_prior = class_prior
        self.random_state = random_state

    def error(self, classifier, X=None, y=None, *, sample_weight=None, random_state=None):
        rng = np.random.default_rng(seed_sequence(self.random_state if random_state is None else random_state))
        common = self.noise * rng.standard_normal(501)
        errors = classifier.error + common + classifier.own * rng.standard_normal(501)
        draws = np.array([[0.5 - errors / 2, errors / 2], [errors / 2, 0.5 - errors / 2]]).transpose(2, 0, 1)
        return ErrorEstimate(
            classes=np.array([0, 1]),
            estimand=ThisClassifier(),
            computation=Computation("Drawn()", "draws", False, "none", 0, 1, 0.0),
            replicate_values=np.array([errors.mean()]),
            replicate_confusions=draws.mean(axis=0, keepdims=True),
            interval_method=PosteriorDraws(ThisClassifier(), draws)
            if self.has_any
            else NoInterval(TrainedOnThesePoints()),
        )

    def sample(self, n, *, classifier=None, random_state=None):
        raise AssertionError("a comparison draws no pairs")

    def expectation(self, loss, *, classifier=None, random_state=None):
        return MeasuredValue(0.0, 0.0)

    def law(self, at=None, region=None):
        raise AssertionError("a comparison looks at draws only")

    def _fit(self, sample, seed):
        pass


class Judged:
    """A classifier with a known error, and noise of its own in the draws of it."""

    def __init__(self, error, own=0.0):
        self.error = error
        self.own = own


def test_bayesian_measure_compares_by_its_draws():
    compared = bg.compare_classifiers(Judged(0.1), Judged(0.3), by=Drawn().fit(*sample()), random_state=0)
    assert compared.difference == pytest.approx(-0.2, abs=1e-12)
    assert compared.interval.method == "equal-tailed credible interval from joint posterior draws"


def test_draws_are_joint():
    """Noise that both errors share is none of their difference."""
    compared = bg.compare_classifiers(Judged(0.1), Judged(0.12), by=Drawn(noise=0.5).fit(*sample()), random_state=0)
    assert tuple(compared.interval) == pytest.approx((-0.02, -0.02), abs=1e-12)


def test_draws_are_joint_where_nothing_seeds_them():
    compared = bg.compare_classifiers(Judged(0.1), Judged(0.12), by=Drawn(noise=0.5).fit(*sample()))
    assert tuple(compared.interval) == pytest.approx((-0.02, -0.02), abs=1e-12)


def test_draws_give_a_probability_and_no_p_value():
    compared = bg.compare_classifiers(Judged(0.1), Judged(0.3), by=Drawn().fit(*sample()), random_state=0)
    assert compared.p_value is None
    assert compared.probability == 1.0


def test_probability_is_the_share_of_draws_in_which_the_first_errs_less():
    by = Drawn().fit(*sample())
    pair = Judged(0.10, own=0.02), Judged(0.11)
    compared = bg.compare_classifiers(*pair, by=by, random_state=0)
    one, other = (by.error(classifier, random_state=seed_sequence(0)).draws for classifier in pair)
    assert 0.0 < compared.probability < 1.0
    assert compared.probability == np.mean(one < other)


def test_equal_draws_count_half():
    """Errors and noise are such that differences are exactly 0."""
    compared = bg.compare_classifiers(Judged(0.25), Judged(0.25), by=Drawn().fit(*sample()), random_state=0)
    assert (compared.probability, compared.better) == (0.5, None)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_interval_from_draws_has_equal_tails(level):
    by = Drawn().fit(*sample())
    pair = Judged(0.10, own=0.02), Judged(0.11)
    compared = bg.compare_classifiers(*pair, by=by, level=level, random_state=0)
    one, other = (by.error(classifier, random_state=seed_sequence(0)).draws for classifier in pair)
    expected = np.quantile(one - other, [(1 - level) / 2, (1 + level) / 2])
    assert tuple(compared.interval) == pytest.approx(tuple(expected), abs=1e-12)


def test_measure_that_promises_draws_and_has_none_is_refused(monkeypatch):
    monkeypatch.setattr(Drawn, "has_any", False)
    with pytest.raises(ValueError, match="or a measure that draws whole laws"):
        bg.compare_classifiers(Judged(0.1), Judged(0.3), by=Drawn().fit(*sample()))


def test_text_of_draws_shows_the_probability():
    compared = bg.compare_classifiers(Judged(0.1), Judged(0.3), by=Drawn().fit(*sample()), random_state=0)
    assert "probability   1.000 that the first errs less" in repr(compared)
    assert "p-value" not in repr(compared)


# What all share


COMPARED = {
    "test set": lambda swap: at_test_points("lda", "1nn") if swap else at_test_points("1nn", "lda"),
    "weighted": lambda swap: weighted("lda", "1nn") if swap else weighted("1nn", "lda"),
    "folds": on_folds,
    "draws": lambda swap: bg.compare_classifiers(
        *(Judged(0.1 + 0.1 * swap), Judged(0.2 - 0.1 * swap)), by=Drawn().fit(*sample()), random_state=0
    ),
}


@pytest.mark.parametrize("by", COMPARED)
def test_swapping_the_classifiers_flips_the_difference(by):
    assert COMPARED[by](True).difference == pytest.approx(-COMPARED[by](False).difference, abs=1e-12)


@pytest.mark.parametrize("by", COMPARED)
def test_swapping_the_classifiers_mirrors_the_interval(by):
    low, high = COMPARED[by](False).interval
    assert tuple(COMPARED[by](True).interval) == pytest.approx((-high, -low), abs=1e-9)


@pytest.mark.parametrize("by", ["test set", "weighted", "folds"])
def test_swapping_the_classifiers_keeps_the_p_value(by):
    assert COMPARED[by](True).p_value == pytest.approx(COMPARED[by](False).p_value, abs=1e-12)


@pytest.mark.parametrize("by", COMPARED)
def test_swapping_the_classifiers_swaps_the_estimates(by):
    one, other = (estimate.value for estimate in COMPARED[by](False).estimates)
    assert tuple(estimate.value for estimate in COMPARED[by](True).estimates) == pytest.approx((other, one), abs=1e-12)


@pytest.mark.parametrize("by", COMPARED)
def test_difference_is_that_of_the_estimates(by):
    compared = COMPARED[by](False)
    one, other = (estimate.value for estimate in compared.estimates)
    assert compared.difference == pytest.approx(one - other, abs=1e-12)


@pytest.mark.parametrize("by", COMPARED)
def test_interval_says_what_it_means(by):
    interval = COMPARED[by](False).interval
    assert str(interval.target).startswith("difference of the ")
    assert interval.method
    assert interval.assumptions


@pytest.mark.parametrize("by", COMPARED)
def test_text_tells_verdict_errors_interval_and_assumptions(by):
    compared = COMPARED[by](False)
    text = repr(compared)
    assert text.startswith("ClassifierComparison: ")
    assert f"difference {compared.difference:+.4f}" in text
    assert f"95% interval  {compared.interval.low:+.4f} to {compared.interval.high:+.4f}" in text
    assert str(compared.interval.target) in text
    assert compared.interval.assumptions in text


def verdict(low, high):
    estimate = Drawn().fit(*sample()).error(Judged(0.2), random_state=0)
    return ClassifierComparison(
        (estimate, estimate), (low + high) / 2, Interval(low, high, 0.95, "by hand", ErrorDifference())
    )


@pytest.mark.parametrize(
    ("low", "high", "better", "words"),
    [
        (-0.3, -0.1, "first", "the first errs less"),
        (0.1, 0.3, "second", "the second errs less"),
        (-0.1, 0.3, None, "undecided"),
        (0.0, 0.3, None, "undecided"),
        (-0.3, 0.0, None, "undecided"),
    ],
)
def test_verdict_is_open_where_the_interval_holds_zero(low, high, better, words):
    compared = verdict(low, high)
    assert compared.better == better
    assert repr(compared).startswith(f"ClassifierComparison: {words}\n")


@pytest.mark.parametrize(
    ("first", "second", "better"),
    [
        (GaussianNB(), DummyClassifier(), "first"),
        (DummyClassifier(), GaussianNB(), "second"),
        (GaussianNB(), LinearDiscriminantAnalysis(), None),
    ],
    ids=["first", "second", "open"],
)
def test_clear_cases_are_told(first, second, better):
    X, y = sample(150, 7)
    compared = bg.compare_classifiers(first, second, X, y, by=bg.CrossValidation(5), random_state=0)
    assert compared.better == better


WRONG_BY = {
    "name": "cv",
    "class": bg.CrossValidation,
    "leave-one-out": bg.LeaveOneOut(),
    "bootstrap": bg.Bootstrap(),
    "pair": (1, 2),
}


@pytest.mark.parametrize("kind", WRONG_BY)
def test_other_ways_of_comparing_are_refused(kind):
    with pytest.raises(
        TypeError, match="by must be a TestSet, a CrossValidation or a measure that draws whole laws; got"
    ):
        bg.compare_classifiers(FIRST, SECOND, *sample(), by=WRONG_BY[kind])


SURPLUS = {
    "X": {"X": sample()[0]},
    "y": {"y": sample()[1]},
    "groups": {"groups": np.arange(43)},
}


@pytest.mark.parametrize("what", SURPLUS)
@pytest.mark.parametrize("by", [bg.TestSet(*sample(50, 7)), Drawn()], ids=["test set", "draws"])
def test_sample_beside_a_test_set_or_a_measure_is_refused(by, what):
    with pytest.raises(ValueError, match="X, y and groups are for cross-validation"):
        bg.compare_classifiers(trained("lda"), trained("nb"), by=by, **SURPLUS[what])


@pytest.mark.parametrize("level", [0, 1, 95])
def test_level_that_is_no_probability_is_refused(level):
    with pytest.raises(ValueError, match=f"level must be between 0 and 1; got {level}"):
        bg.compare_classifiers(trained("lda"), trained("nb"), by=bg.TestSet(*sample(50, 7)), level=level)
