"""Populations by a formula: their laws and true errors, against scipy, closed forms and Monte Carlo."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from bayes_gresub import Study
from bayes_gresub.populations import (
    Bimodal,
    FiniteData,
    Gaussian,
    HeavyTailed,
    PaperGaussian,
    Population,
    Skewed,
    TrueError,
)

LONG = np.array([[4.0, 1.0, 0.0], [1.0, 1.0, 0.3], [0.0, 0.3, 0.5]])
UNEQUAL = Gaussian([[0, 0, 0], [1, 1, -1]], [np.eye(3), LONG], prior=[0.4, 0.6])

WITH_FORMULA = {
    "paper": PaperGaussian(),
    "paper, unequal": PaperGaussian(prior=(0.3, 0.7), sigma=1.5, block=3, class_sizes="random"),
    "unequal covariances": UNEQUAL,
    "heavy": HeavyTailed(dof=3),
    "heavy, unequal": HeavyTailed(dof=2.5, prior=(0.3, 0.7), delta=0.6),
    "bimodal": Bimodal(),
    "bimodal, odd": Bimodal(n_informative=3, block=3, rho=0.5, gap=1.5, sigma=2.0),
}
LINEAR = {
    "LDA": LinearDiscriminantAnalysis(),
    "logistic": LogisticRegression(),
    "SVM": SVC(kernel="linear"),
    "scaled LDA": make_pipeline(StandardScaler(), LinearDiscriminantAnalysis()),
    "scaled SVM": make_pipeline(StandardScaler(), SVC(kernel="linear")),
}
THREE_CLASSES = {
    "paper": PaperGaussian(delta=0.4, n_classes=3, prior=(0.2, 0.3, 0.5), class_sizes="random"),
    "heavy": HeavyTailed(delta=0.4, n_classes=3, prior=(0.2, 0.3, 0.5)),
    "skewed": Skewed(delta=0.4, n_classes=3, prior=(0.2, 0.3, 0.5)),
    "unequal covariances": Gaussian(
        [[0, 0, 0], [2, 0, 0], [0, 2, 0]], [np.eye(3), LONG, 2 * np.eye(3)], prior=[0.2, 0.3, 0.5]
    ),
}


def each(things):
    return pytest.mark.parametrize("key", list(things))


def trained(rule, population, n=60, seed=0):
    return clone(rule).fit(*population.sample(n, random_state=seed))


def simulated(population, classifier, n=20_000, seed=99):
    """Return the share of n points that a classifier's own `predict` gets wrong, and its standard error."""
    X, y = population.sample(n, random_state=seed)
    share = (classifier.predict(X) != y).mean()
    return share, np.sqrt(share * (1 - share) / n)


def normal_and_offset(classifier):
    """Return a and b of a binary linear rule that says 1 where a'x + b > 0, a scaler before it included."""
    if not hasattr(classifier, "steps"):
        return classifier.coef_[0], classifier.intercept_[0]
    scaler, rule = classifier[0], classifier[-1]
    normal = rule.coef_[0] / scaler.scale_
    return normal, rule.intercept_[0] - normal @ scaler.mean_


def along(population, k, normal):
    """Return the scipy laws of a'x in class k, of which that class is an even mixture."""
    center = population.means[k] @ normal
    if isinstance(population, Gaussian):
        covariance = np.asarray(population.covariances)[k]
        return [stats.norm(center, np.sqrt(normal @ covariance @ normal))]
    deviation = np.sqrt(normal @ population.covariance @ normal)
    if isinstance(population, HeavyTailed):
        return [stats.t(population.dof, center, deviation * np.sqrt((population.dof - 2) / population.dof))]
    shifts = [-population.shift, population.shift] if isinstance(population, Bimodal) else [np.zeros(len(normal))]
    return [stats.norm(center + shift @ normal, deviation) for shift in shifts]


class Outside:
    """Says 1 where |x| > cut in one dimension."""

    def __init__(self, cut):
        self.cut = cut

    def predict(self, X):
        return (np.abs(X[:, 0]) > self.cut).astype(int)


class Best:
    """The Bayes classifier of Gaussian classes with one covariance."""

    def __init__(self, population):
        self.population = population

    def predict(self, X):
        of_class = [
            stats.multivariate_normal(mean, self.population.covariance).logpdf(X) for mean in self.population.means
        ]
        return (np.log(self.population.class_probabilities) + np.stack(of_class, axis=1)).argmax(axis=1)


@each(WITH_FORMULA)
@pytest.mark.parametrize("rule", list(LINEAR))
def test_true_error_of_a_linear_classifier_is_that_of_scipy(key, rule):
    population = WITH_FORMULA[key]
    classifier = trained(LINEAR[rule], population)
    normal, offset = normal_and_offset(classifier)
    says_one = [np.mean([law.sf(-offset) for law in along(population, k, normal)]) for k in (0, 1)]
    expected = population.class_probabilities @ [says_one[0], 1 - says_one[1]]
    assert population.true_error(classifier).value == pytest.approx(expected, rel=1e-9)


@each(WITH_FORMULA)
@pytest.mark.parametrize("rule", list(LINEAR))
def test_true_error_of_a_linear_classifier_needs_no_test_points(key, rule):
    truth = WITH_FORMULA[key].true_error(trained(LINEAR[rule], WITH_FORMULA[key]))
    assert (truth.std_error, truth.n_test) == (0.0, 0)


@each(WITH_FORMULA)
def test_true_error_of_a_linear_classifier_agrees_with_monte_carlo(key):
    """The tolerance is 4.5 standard errors of 20,000 points; false alarm 7e-6 each."""
    population = WITH_FORMULA[key]
    classifier = trained(LINEAR["scaled LDA"], population)
    share, error = simulated(population, classifier)
    assert abs(population.true_error(classifier).value - share) < 4.5 * error


def test_true_error_of_a_linear_classifier_does_not_depend_on_the_seed():
    population = PaperGaussian()
    classifier = trained(LINEAR["LDA"], population)
    assert population.true_error(classifier, random_state=1) == population.true_error(classifier, random_state=2)


def test_true_error_is_exact_where_a_class_is_too_rare_for_test_points():
    population = PaperGaussian(prior=(0.9999, 0.0001), delta=0.5)
    classifier = trained(LINEAR["LDA"], PaperGaussian())
    normal, offset = normal_and_offset(classifier)
    assert population.true_error(classifier).value == pytest.approx(population.linear_error(normal, offset), rel=1e-9)


def test_true_error_of_a_classifier_trained_on_named_columns():
    population = PaperGaussian()
    X, y = population.sample(60, random_state=0)
    named = LinearDiscriminantAnalysis().fit(pd.DataFrame(X, columns=list("abcdefghij")), y)
    plain = LinearDiscriminantAnalysis().fit(X, y)
    assert population.true_error(named).value == population.true_error(plain).value


def test_linear_error_of_heavy_tails_is_that_of_true_error():
    population = HeavyTailed()
    classifier = trained(LINEAR["LDA"], population)
    expected = population.true_error(classifier).value
    assert population.linear_error(*normal_and_offset(classifier)) == pytest.approx(expected, rel=1e-12)


@each(THREE_CLASSES)
@pytest.mark.parametrize(
    "rule",
    [LinearDiscriminantAnalysis(), DecisionTreeClassifier(random_state=0)],
    ids=lambda rule: type(rule).__name__,
)
def test_true_error_of_three_classes_agrees_with_monte_carlo(key, rule):
    """The tolerance is 4.5 standard errors of 5000 and of 20,000 points together; false alarm 7e-6 each."""
    population = THREE_CLASSES[key]
    classifier = trained(rule, population)
    truth = population.true_error(classifier, random_state=1)
    share, error = simulated(population, classifier)
    assert abs(truth.value - share) < 4.5 * np.hypot(truth.std_error, error)


@pytest.mark.parametrize(
    ("population", "rule"),
    [
        (PaperGaussian(), KNeighborsClassifier(3)),
        (HeavyTailed(), SVC()),
        (Skewed(), GaussianNB()),
        (Bimodal(), make_pipeline(StandardScaler(), SVC())),
        (UNEQUAL, make_pipeline(StandardScaler(), RandomForestClassifier(3, random_state=0))),
    ],
    ids=lambda one: type(one).__name__,
)
def test_true_error_of_a_nonlinear_classifier_agrees_with_monte_carlo(population, rule):
    """The tolerance is 4.5 standard errors of 5000 and of 20,000 points together; false alarm 7e-6 each."""
    classifier = trained(rule, population)
    truth = population.true_error(classifier, random_state=1)
    share, error = simulated(population, classifier)
    assert abs(truth.value - share) < 4.5 * np.hypot(truth.std_error, error)


def test_true_error_of_a_linear_classifier_under_a_law_without_formula_agrees_with_monte_carlo():
    """The tolerance is 4.5 standard errors of 5000 and of 20,000 points together; false alarm 7e-6."""
    population = Skewed(shape=0.5, prior=(0.3, 0.7))
    classifier = trained(LINEAR["LDA"], population)
    truth = population.true_error(classifier, random_state=1)
    share, error = simulated(population, classifier)
    assert abs(truth.value - share) < 4.5 * np.hypot(truth.std_error, error)


@pytest.mark.parametrize("c", [2, 3, 5])
def test_true_error_of_the_bayes_classifier_is_the_bayes_error(c):
    """The tolerance is 4.5 standard errors of 20,000 points; false alarm 7e-6 each."""
    population = PaperGaussian(n_classes=c, delta=0.4, sigma=1.2)
    truth = population.true_error(Best(population), n_test=20_000, random_state=0)
    assert abs(truth.value - population.bayes_error_) < 4.5 * truth.std_error


def test_true_errors_by_test_points_spread_as_their_standard_error_says():
    """Errors of the classes are far apart, so that a standard error blind to fixed sizes would be 2.5 times this one.

    The tolerance is 4.5 standard errors 1 / sqrt(2 * 599) of a standard deviation; false alarm 7e-6.
    """
    population = Gaussian([[0], [0]], [[[1.0]], [[1.44]]], prior=[0.3, 0.7])
    truths = [population.true_error(Outside(2.4), n_test=200, random_state=seed) for seed in range(600)]
    spread = np.std([truth.value for truth in truths], ddof=1)
    said = np.sqrt(np.mean([truth.std_error**2 for truth in truths]))
    assert abs(spread / said - 1) < 4.5 / np.sqrt(2 * 599)


def test_true_errors_by_test_points_have_the_exact_error_as_their_mean():
    """The sizes of 7 points do not match the prior. The tolerance is 4.5 standard errors of 600; false alarm 7e-6."""
    population = Gaussian([[0], [0]], [[[1.0]], [[9.0]]], prior=[0.36, 0.64])
    values = [population.true_error(Outside(2.0), n_test=7, random_state=seed).value for seed in range(600)]
    exact = 0.36 * 2 * stats.norm.sf(2) + 0.64 * (1 - 2 * stats.norm.sf(2 / 3))
    assert abs(np.mean(values) - exact) < 4.5 * np.std(values, ddof=1) / np.sqrt(600)


def test_true_error_has_as_many_test_points_as_asked_for():
    population = PaperGaussian()
    assert population.true_error(trained(SVC(), population), n_test=123, random_state=0).n_test == 123


def test_true_error_has_five_thousand_test_points_by_default():
    population = PaperGaussian()
    assert population.true_error(trained(SVC(), population), random_state=0).n_test == 5000


@pytest.mark.parametrize("seed", [3, np.random.SeedSequence(3)], ids=["int", "SeedSequence"])
def test_same_seed_gives_the_same_true_error(seed):
    population = PaperGaussian()
    classifier = trained(SVC(), population)
    first, second = (population.true_error(classifier, random_state=seed) for _ in range(2))
    assert first == second


def test_other_seed_gives_other_test_points():
    population = PaperGaussian()
    classifier = trained(SVC(), population)
    assert len({population.true_error(classifier, random_state=seed).value for seed in range(5)}) > 1


def test_test_points_are_not_the_training_points_of_the_same_seed():
    """A nearest neighbour makes no error where it was trained."""
    population = PaperGaussian()
    classifier = trained(KNeighborsClassifier(1), population, n=200, seed=0)
    assert population.true_error(classifier, n_test=200, random_state=0).value > 0.1


def test_float_of_a_true_error_is_its_value():
    assert float(TrueError(0.25, 0.01, 100, "by hand")) == 0.25


@each(THREE_CLASSES)
@pytest.mark.parametrize("said", [0, 1, 2])
def test_true_error_of_a_constant_classifier_is_the_probability_of_the_other_classes(key, said):
    population = THREE_CLASSES[key]
    classifier = trained(DummyClassifier(strategy="constant", constant=said), population)
    truth = population.true_error(classifier, n_test=77, random_state=0)
    assert truth.value == pytest.approx(1 - population.class_probabilities[said], rel=1e-12)


@pytest.mark.parametrize(
    "population",
    [PaperGaussian(), HeavyTailed(), Skewed(), Bimodal(), Gaussian([[0.0], [1.0]], [[1.0]])],
    ids=lambda one: type(one).__name__,
)
def test_true_error_of_the_most_frequent_of_two_equal_classes_is_one_half(population):
    assert population.true_error(trained(DummyClassifier(), population)).value == pytest.approx(0.5, rel=1e-12)


@pytest.mark.parametrize(
    ("population", "n_test"), [(PaperGaussian(), 3), (PaperGaussian(prior=(0.01, 0.99), delta=0.5), 149)]
)
def test_test_points_too_few_for_a_standard_error_are_refused(population, n_test):
    with pytest.raises(ValueError, match=rf"every class two test points or more; got {n_test} .* Raise it"):
        population.true_error(trained(SVC(), PaperGaussian()), n_test=n_test)


def test_classifier_that_is_not_fitted_is_refused():
    with pytest.raises(NotFittedError, match=r"classifier must be fitted; this SVC is not. Call its fit"):
        PaperGaussian().true_error(SVC())


def test_what_cannot_predict_is_refused():
    with pytest.raises(TypeError, match=r"fitted object with a predict method; got .*SVC"):
        PaperGaussian().true_error(SVC)


def test_classifier_of_other_features_is_refused():
    X, y = PaperGaussian().sample(40, random_state=0)
    with pytest.raises(ValueError, match="trained on 3 features, X has 10"):
        PaperGaussian().true_error(SVC().fit(X[:, :3], y))


@pytest.mark.parametrize(
    "rule",
    [
        LinearDiscriminantAnalysis(),
        SVC(kernel="linear"),
        SVC(),
        KNeighborsClassifier(3),
        DecisionTreeClassifier(random_state=0),
        GaussianNB(),
    ],
    ids=["LDA", "linear SVM", "SVM", "neighbours", "tree", "naive Bayes"],
)
@pytest.mark.parametrize("lacking", [0, 1, 2])
def test_true_error_of_a_classifier_that_never_saw_one_of_three_classes_agrees_with_monte_carlo(rule, lacking):
    """The tolerance is 4.5 standard errors of 5000 and of 20,000 points together; false alarm 7e-6 each."""
    population = PaperGaussian(n_classes=3, prior=(0.2, 0.3, 0.5), delta=0.5)
    X, y = population.sample(60, random_state=0)
    classifier = clone(rule).fit(X[y != lacking], y[y != lacking])
    truth = population.true_error(classifier, random_state=1)
    share, error = simulated(population, classifier)
    assert abs(truth.value - share) < 4.5 * np.hypot(truth.std_error, error)


@pytest.mark.parametrize(
    "rule",
    [KNeighborsClassifier(1), DecisionTreeClassifier(random_state=0), GaussianNB(), DummyClassifier()],
    ids=lambda rule: type(rule).__name__,
)
@pytest.mark.parametrize("only", [0, 1])
def test_true_error_of_a_classifier_that_saw_one_class_only_is_the_probability_of_the_other(rule, only):
    population = PaperGaussian(prior=(0.3, 0.7), delta=0.5)
    X, y = population.sample(40, random_state=0)
    classifier = clone(rule).fit(X[y == only], y[y == only])
    expected = 1 - population.class_probabilities[only]
    assert population.true_error(classifier, random_state=0).value == pytest.approx(expected, rel=1e-12)


def test_training_sets_of_random_class_sizes_that_lack_a_class_are_wrong_on_all_of_it():
    population = PaperGaussian(n_classes=3, prior=(0.2, 0.3, 0.5), delta=0.5, class_sizes="random")
    draws = [population.draw(5, random_state=seed) for seed in range(20)]
    errors, unseen = [], []
    for X, y, truth in draws:
        errors.append(truth.true_error(KNeighborsClassifier(1).fit(X, y), random_state=0).value)
        unseen.append(population.class_probabilities[np.bincount(y, minlength=3) == 0].sum())
    assert max(unseen) > 0
    assert (np.array(errors) > unseen).all()


class Certain:
    """A truth that is easily told from any other: the error is what it was made with."""

    def __init__(self, error):
        self.error = error

    def true_error(self, classifier, *, n_test=5000, random_state=None):
        return TrueError(self.error, 0.0, 0, "by decree")


def uniform(n, threshold, random_state):
    X = np.random.default_rng(random_state).random((n, 1))
    return X, (X[:, 0] > threshold).astype(int), Certain(threshold)


@dataclass(frozen=True)
class Threshold(Population):
    """A population as the docstring of `Population` asks for: a frozen dataclass with `draw`."""

    threshold: float = 0.5

    def draw(self, n, random_state=None):
        return uniform(n, self.threshold, random_state)


class WithParameters(Population):
    """The same with `get_params`, and something in it that differs each time."""

    def __init__(self, threshold=0.5):
        self.threshold = threshold
        self.cache = object()

    def get_params(self):
        return {"threshold": self.threshold}

    def draw(self, n, random_state=None):
        return uniform(n, self.threshold, random_state)


def study(population, repetitions=2):
    return Study(population, {"LDA": LinearDiscriminantAnalysis()}, ["resub"], [20], repetitions, n_test=1000)


def true_values(results):
    return results.to_xarray()["true_error"].values.ravel()


def test_sample_of_an_own_population_is_what_it_draws():
    X, y, _ = Threshold(0.3).draw(10, 4)
    points, labels = Threshold(0.3).sample(10, 4)
    np.testing.assert_array_equal(np.column_stack([X, y]), np.column_stack([points, labels]))


def test_own_population_without_draw_is_refused():
    class Nothing(Population):
        pass

    with pytest.raises(TypeError, match=r"abstract.*draw"):
        Nothing()


@pytest.mark.parametrize("kind", [Threshold, WithParameters])
def test_study_of_an_own_population_has_its_truth(kind):
    assert true_values(study(kind(0.3)).run()).tolist() == [0.3, 0.3]


@pytest.mark.parametrize("kind", [Threshold, WithParameters])
def test_study_of_an_own_population_goes_on_in_its_folder(kind, tmp_path):
    study(kind(0.3)).run(tmp_path / "run")
    assert len(true_values(study(kind(0.3), repetitions=3).run(tmp_path / "run"))) == 3


@pytest.mark.parametrize("kind", [Threshold, WithParameters])
def test_study_refuses_the_folder_of_an_own_population_with_other_parameters(kind, tmp_path):
    study(kind(0.3)).run(tmp_path / "run")
    with pytest.raises(ValueError, match=r"another design: population\.threshold was 0\.3, is 0\.4"):
        study(kind(0.4)).run(tmp_path / "run")


def test_every_population_is_one():
    kinds = (PaperGaussian, Gaussian, HeavyTailed, Skewed, Bimodal, FiniteData)
    assert [kind.__name__ for kind in kinds if not issubclass(kind, Population)] == []
