"""What every registered resampler promises, whatever it refits and whatever it measures with.

All promises are tested for each class with each kind of it; other names, with other numbers or kernels, are tested once
for what an estimate is, and in full by `make test-long`.
"""

from __future__ import annotations

import functools
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

import bayes_gresub as bg
from bayes_gresub.estimate.estimands import RuleTrainedOn, RuleTrainedOnDistinct, RuleTrainedOnParts, ThisClassifier
from bayes_gresub.estimate.intervals import Interval

# A short search leaves calibration with a bias.
pytestmark = pytest.mark.filterwarnings("ignore:kappa reached max_kappa:UserWarning")


class Counted(ClassifierMixin, BaseEstimator):
    """Nearest centroid in the first feature, which counts its fits over all clones."""

    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        self.classes_ = np.unique(y)
        self.centers_ = np.array([X[y == label, 0].mean() for label in self.classes_])
        return self

    def predict(self, X):
        return self.classes_[np.abs(X[:, [0]] - self.centers_).argmin(axis=1)]


# LDA of two classes and trees are integrated exactly under kernels, the others by sampling.
RULES = {
    "lda": (2, LinearDiscriminantAnalysis()),
    "tree": (3, DecisionTreeClassifier(max_depth=3, random_state=0)),
    "svc": (3, SVC()),
    "centroid": (3, Counted()),
}

RESAMPLERS = {entry.name: entry for entry in bg.estimators("resampler")}
# Fewer refits and a coarser search than by default, for speed.
AT_MOST = {"folds": 4, "n_resamples": 7, "repeats": 2, "max_kappa": 3.0, "n_splits": 4, "n_pairs": 2}
AT_LEAST = {"step": 0.5}


def parameters(name):
    return RESAMPLERS[name].make().get_params(deep=False)


def small(name, **given):
    """Return the resampler with few refits; what is given replaces that."""
    default = parameters(name)
    fewer = {key: min(default[key], most) for key, most in AT_MOST.items() if isinstance(default.get(key), int | float)}
    fewer |= {"max_repeats": 7} if default.get("repeats") == "auto" else {}
    fewer |= {key: max(default[key], least) for key, least in AT_LEAST.items() if key in default}
    return RESAMPLERS[name].make(**{"random_state": 0, **fewer, **given})


def made_of(name):
    """Return the class of a resampler, that of its measure, and the kind of it."""
    given = parameters(name)
    return type(RESAMPLERS[name].make()), type(given.get("measure")), given.get("kind"), given.get("interval")


# The first name of each; the others differ from it by numbers and kernels only.
FIRST_NAMES = {made_of(name): name for name in reversed(RESAMPLERS)}.values()
long = pytest.mark.long


def over(names):
    """Parametrize by names of resamplers; those that share what they are made of with an earlier one are long."""
    return pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in FIRST_NAMES else long) for n in names])


every_name = pytest.mark.parametrize("name", RESAMPLERS)
every_resampler = over(RESAMPLERS)
every_rule = pytest.mark.parametrize("rule", ["lda", "svc"])
# Calibrated takes sampling and class_prior through its measure.
# Nested folds hold out pairs of equal points: no weights, groups, class prior or splits of the user's.
NESTED = [name for name in RESAMPLERS if parameters(name).get("interval") == "nested"]
every_resampler_of_any_sample = over([name for name in RESAMPLERS if name not in NESTED])
PRIOR_TAKING = [name for name in RESAMPLERS if "class_prior" in parameters(name) and name not in NESTED]


@functools.cache
def points(n_classes, n=20, d=3, seed=0):
    """Overlapping Gaussian classes of unequal size and spread, features correlated; no two rows are equal."""
    rng = np.random.default_rng([seed, n_classes])
    y = np.minimum(np.arange(n) % (n_classes + 1), n_classes - 1)
    X = rng.normal(size=(n, d)) * (1.0 + 0.3 * y[:, None])
    X[:, -1] += 2.0 * X[:, 0]
    X[:, 0] += 1.2 * y
    return X, y


def sample_for(rule):
    return points(RULES[rule][0])


@functools.cache
def used(name, rule):
    """Return the resampler after its call, and what it answered."""
    resampler = small(name)
    return resampler, resampler.error(RULES[rule][1], *sample_for(rule))


def estimated(name, rule):
    return used(name, rule)[1]


class Stopped(Counted):
    """Counted, interrupted from the keyboard once, at one of its fits."""

    stop_at = 0

    def fit(self, X, y):
        super().fit(X, y)
        if type(self).fits == type(self).stop_at:
            raise KeyboardInterrupt
        return self


class Sided(Counted):
    """Counted, with a parameter to be found."""

    def __init__(self, sign=1.0):
        self.sign = sign

    def predict(self, X):
        return super().predict(self.sign * X)


@pytest.fixture(autouse=True)
def nothing_counted(monkeypatch):
    for rule in (Counted, Stopped, Sided):
        monkeypatch.setattr(rule, "fits", 0)


@every_rule
@every_name
def test_error_is_a_probability(name, rule):
    assert 0.0 <= estimated(name, rule).value <= 1.0


@every_rule
@every_name
def test_confusion_is_a_probability_law(name, rule):
    confusion = estimated(name, rule).confusion
    assert confusion.min() >= -1e-12
    assert confusion.sum() == pytest.approx(1.0, abs=1e-12)


@every_rule
@every_resampler
def test_error_is_what_lies_off_the_diagonal(name, rule):
    estimate = estimated(name, rule)
    assert estimate.value == pytest.approx(1.0 - np.trace(estimate.confusion), abs=1e-12)


@every_rule
@every_resampler
def test_per_class_errors_average_to_the_error(name, rule):
    estimate = estimated(name, rule)
    average = np.dot(estimate.confusion.sum(axis=1), list(estimate.per_class.values()))
    assert average == pytest.approx(estimate.value, abs=1e-12)


@every_rule
@every_name
def test_contributions_if_any_average_to_the_error(name, rule):
    """A mixture of several errors, such as the .632 bootstrap, has none."""
    estimate = estimated(name, rule)
    contributions = estimate.contributions
    assert contributions is None or contributions @ estimate.point_weights == pytest.approx(estimate.value, abs=1e-12)


@every_resampler
def test_contributions_if_any_have_the_rows_of_the_data(name):
    contributions = estimated(name, "lda").contributions
    assert contributions is None or contributions.shape == sample_for("lda")[1].shape


@pytest.mark.parametrize("rule", [pytest.param("lda", marks=long), "centroid"])
@every_resampler
def test_same_random_state_gives_the_same_number(name, rule):
    again = small(name).error(RULES[rule][1], *sample_for(rule))
    assert again.value == estimated(name, rule).value


@every_resampler
def test_asking_twice_gives_the_same_number(name):
    resampler = small(name)
    one, other = (resampler.error(RULES["centroid"][1], *sample_for("centroid")) for _ in range(2))
    assert one.value == other.value


@every_resampler
def test_random_state_of_the_call_overrides_that_of_the_resampler(name):
    by_call = small(name).error(RULES["centroid"][1], *sample_for("centroid"), random_state=7)
    by_resampler = small(name, random_state=7).error(RULES["centroid"][1], *sample_for("centroid"))
    assert by_call.value == by_resampler.value


@every_resampler
def test_seed_sequence_gives_the_number_of_its_entropy(name):
    resampler = clone(small(name, random_state=np.random.SeedSequence(0)))
    assert resampler.error(RULES["centroid"][1], *sample_for("centroid")).value == estimated(name, "centroid").value


def same_splits(one, other):
    return len(one) == len(other) and all(
        np.array_equal(a, b)
        for pair, other_pair in zip(one, other, strict=True)
        for a, b in zip(pair, other_pair, strict=True)
    )


@every_resampler
def test_another_random_state_splits_otherwise_unless_nothing_is_random(name):
    first, estimate = used(name, "centroid")
    other = small(name, random_state=7)
    other.error(RULES["centroid"][1], *sample_for("centroid"))
    assert same_splits(first.indices_, other.indices_) == estimate.computation.exact


@every_resampler
def test_another_random_state_gives_another_number_unless_nothing_is_random(name):
    """The numbers of three seeds are all equal by chance in few of 100 choices of the seeds."""
    values = {small(name).error(RULES["svc"][1], *sample_for("svc"), random_state=seed).value for seed in range(3)}
    assert (len(values) == 1) == estimated(name, "svc").computation.exact


@every_resampler
def test_rule_without_a_seed_takes_one_from_the_resampler(name):
    rule = DecisionTreeClassifier(splitter="random", max_features=1)
    one, other = (small(name).error(rule, *points(2)) for _ in range(2))
    assert one.value == other.value


@every_resampler
def test_processes_change_no_number(name):
    one = estimated(name, "lda")
    two = small(name, n_jobs=2).error(RULES["lda"][1], *sample_for("lda"))
    np.testing.assert_array_equal(one.replicate_values, two.replicate_values)


@every_resampler
def test_standard_error_is_zero_where_nothing_was_random(name):
    estimate = estimated(name, "lda")
    assert estimate.std_error == 0.0 or not estimate.computation.exact


@every_resampler
def test_unknown_standard_error_comes_with_a_reason(name):
    estimate = estimated(name, "lda")
    assert np.isnan(estimate.std_error) == (estimate.missing.std_error is not None)


@every_resampler
def test_clone_gives_the_same_estimate(name):
    resampler, estimate = used(name, "centroid")
    assert clone(resampler).error(RULES["centroid"][1], *sample_for("centroid")).value == estimate.value


@every_resampler
def test_clone_forgets_the_call(name):
    with pytest.raises(NotFittedError, match=r"call error\(rule, X, y\) first"):
        _ = clone(used(name, "centroid")[0]).indices_


@every_resampler
def test_set_params_takes_what_get_params_gives(name):
    again = RESAMPLERS[name].make().set_params(**small(name).get_params())
    assert again.error(RULES["centroid"][1], *sample_for("centroid")).value == estimated(name, "centroid").value


@every_resampler
def test_error_leaves_constructor_parameters_alone(name):
    resampler = small(name)
    before, described = resampler.get_params(deep=False), repr(resampler)
    resampler.error(RULES["centroid"][1], *sample_for("centroid"))
    after = resampler.get_params(deep=False)
    assert all(after[key] is before[key] for key in before)
    assert repr(resampler) == described


@every_resampler
def test_pickled_resampler_gives_the_same_estimate(name):
    again = pickle.loads(pickle.dumps(used(name, "centroid")[0]))
    assert again.error(RULES["centroid"][1], *sample_for("centroid")).value == estimated(name, "centroid").value


@every_resampler
def test_pickled_resampler_keeps_its_splits(name):
    resampler = used(name, "centroid")[0]
    assert same_splits(pickle.loads(pickle.dumps(resampler)).indices_, resampler.indices_)


@every_resampler
def test_estimate_survives_json(name):
    estimate = estimated(name, "tree")
    again = bg.ErrorEstimate.from_json(estimate.to_json())
    assert again.to_dict() == estimate.to_dict()
    assert again.value == estimate.value


@every_resampler
def test_data_are_left_as_they_were(name):
    X, y = (array.copy() for array in points(3))
    small(name).error(RULES["centroid"][1], X, y)
    np.testing.assert_array_equal(X, points(3)[0])
    np.testing.assert_array_equal(y, points(3)[1])


@every_resampler
def test_rule_stays_unfitted(name):
    rule = LinearDiscriminantAnalysis()
    small(name).error(rule, *points(2))
    with pytest.raises(NotFittedError, match="not fitted"):
        check_is_fitted(rule)


@every_resampler
def test_rule_keeps_its_parameters(name):
    rule = SVC()
    small(name).error(rule, *points(2))
    assert rule.random_state is None


# Labels of other types, in the order of 0, 1, 2: rules that break ties by the order of labels are unchanged.
RENAMED = {
    "strings": np.array(["ant", "bee", "cow"]),
    "objects": np.array(["ant", "bee", "cow"], dtype=object),
    "floats": np.array([-1.0, 0.0, 5.0]),
    "bools": np.array([False, True]),
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param(name, kind, marks=() if name == "cv" or (kind == "strings" and name in FIRST_NAMES) else long)
        for name in RESAMPLERS
        for kind in RENAMED
    ],
)
def test_names_of_the_classes_do_not_matter(name, kind):
    rule, names = "lda" if kind == "bools" else "centroid", RENAMED[kind]
    X, y = sample_for(rule)
    estimate = small(name).error(RULES[rule][1], X, names[y])
    assert estimate.value == pytest.approx(estimated(name, rule).value, abs=1e-12)


@pytest.mark.parametrize("kind", ["strings", "bools"])
@every_resampler
def test_estimate_names_the_classes_as_the_data_do(name, kind):
    X, y = points(2)
    names = RENAMED[kind][:2]
    assert small(name).error(RULES["centroid"][1], X, names[y]).classes.tolist() == names.tolist()


@every_resampler
def test_lists_count_as_arrays(name):
    X, y = sample_for("centroid")
    estimate = small(name).error(RULES["centroid"][1], X.tolist(), y.tolist())
    assert estimate.value == estimated(name, "centroid").value


@every_resampler
def test_frame_counts_as_an_array(name):
    frame, y = pd.DataFrame(points(2)[0], columns=["first", "second", "third"]), points(2)[1]
    assert small(name).error(RULES["lda"][1], frame, y).value == pytest.approx(estimated(name, "lda").value, abs=1e-12)


class Named(Counted):
    """Counted, which wants its features by name both in fit and in predict."""

    def fit(self, X, y):
        return super().fit(X[["left"]].to_numpy(), y)

    def predict(self, X):
        return super().predict(X[["left"]].to_numpy())


@every_resampler
def test_rule_sees_the_columns_of_a_frame(name):
    X, y = points(2)
    estimate = small(name).error(Named(), pd.DataFrame(X, columns=["left", "middle", "right"]), y)
    assert 0.0 < estimate.value < 1.0


@every_resampler
def test_order_of_the_features_does_not_matter_to_a_linear_rule(name):
    X, y = sample_for("lda")
    permuted = small(name).error(RULES["lda"][1], X[:, [2, 0, 1]], y)
    assert permuted.value == pytest.approx(estimated(name, "lda").value, abs=1e-7)


@every_resampler
def test_units_of_a_feature_do_not_matter_to_a_rule_without_units(name):
    X, y = sample_for("lda")
    rescaled = small(name).error(RULES["lda"][1], X * [1.0, 1e3, 1e-3], y)
    assert rescaled.value == pytest.approx(estimated(name, "lda").value, abs=1e-7)


@every_resampler_of_any_sample
def test_permuting_the_classes_permutes_the_confusion(name):
    """On the same splits. Where kernels are sampled, within 4.5 standard errors of 8 replicates.

    With 8 replicates behind each of 9 entries, right numbers fail for 3 in 100 seeds (Student-t).
    """
    (X, y), order = points(3), (1, 2, 0)
    resampler = small(name)
    original = resampler.error(GaussianNB(), X, y)
    renamed = small(name).error(GaussianNB(), X, np.array(order)[y], indices=resampler.indices_)
    permuted = renamed.confusion[np.ix_(order, order)]
    noise = 0.0
    if resampler.measure is not None:
        noise = np.hypot(*(one.replicate_confusions.std(axis=0, ddof=1).max() for one in (original, renamed)))
        noise /= np.sqrt(len(original.replicate_confusions))
    np.testing.assert_allclose(permuted, original.confusion, rtol=0, atol=max(4.5 * noise, 1e-12))


@every_resampler_of_any_sample
def test_swapping_two_classes_transposes_nothing_but_the_order(name):
    X, y = sample_for("lda")
    resampler, original = used(name, "lda")
    swapped = small(name).error(RULES["lda"][1], X, 1 - y, indices=resampler.indices_)
    np.testing.assert_allclose(swapped.confusion[::-1, ::-1], original.confusion, atol=1e-9)


@every_resampler
def test_four_classes_have_a_confusion_of_four_by_four(name):
    estimate = small(name).error(GaussianNB(), *points(4, n=40))
    assert estimate.confusion.shape == (4, 4)
    assert list(estimate.per_class) == [0, 1, 2, 3]


@every_resampler_of_any_sample
def test_weights_of_one_are_no_weights(name):
    X, y = points(2)
    rule = LogisticRegression()
    plain, weighted = (small(name).error(rule, X, y, sample_weight=weight) for weight in (None, np.ones(len(y))))
    assert weighted.value == pytest.approx(plain.value, abs=1e-12)


@every_resampler_of_any_sample
def test_common_factor_of_the_weights_does_not_matter_to_a_rule_without_penalty(name):
    X, y = points(2)
    rule = RULES["tree"][1]
    weights = 1.0 + np.arange(len(y)) % 3
    one, sevenfold = (small(name).error(rule, X, y, sample_weight=factor * weights) for factor in (1.0, 7.0))
    assert sevenfold.value == pytest.approx(one.value, abs=1e-12)


class Weighed(Counted):
    """Counted, which keeps the sums of the weights that it is trained with."""

    sums: list[float] = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None):
        type(self).sums.append(np.sum(sample_weight))
        return super().fit(X, y)


@every_resampler_of_any_sample
def test_rule_gets_the_weights_in_the_size_given(name, monkeypatch):
    monkeypatch.setattr(Weighed, "sums", [])
    X, y = points(2)
    resampler = small(name)
    resampler.error(Weighed(), X, y, sample_weight=np.full(len(y), 7.0))
    trained_on = [7.0 * len(train) for train, _ in resampler.indices_]
    if parameters(name).get("interval") == "conservative-z":
        # The others are trained on parts of halves, in the order of the splits.
        assert Weighed.sums[: len(trained_on)] == pytest.approx(trained_on)
        return
    of_all = [7.0 * len(y)] * (len(Weighed.sums) - len(trained_on))
    assert sorted(Weighed.sums) == pytest.approx(sorted(trained_on + of_all))


@every_resampler_of_any_sample
def test_rows_of_zero_weight_are_neither_trained_on_nor_held_out(name):
    X, y = points(2)
    weights = np.where(np.arange(len(y)) % 5 == 2, 0.0, 1.0)
    resampler = small(name)
    resampler.error(GaussianNB(), X, y, sample_weight=weights)
    rows = np.unique(np.concatenate([np.concatenate(pair) for pair in resampler.indices_]))
    assert weights[rows].all()


@every_resampler_of_any_sample
def test_rows_of_zero_weight_contribute_nothing_and_the_others_stay_in_their_places(name):
    X, y = points(2)
    given = np.arange(len(y)) % 5 != 2
    without = small(name).error(GaussianNB(), X[given], y[given])
    estimate = small(name).error(GaussianNB(), X, y, sample_weight=given.astype(float))
    assert estimate.value == pytest.approx(without.value, abs=1e-12)
    if without.contributions is None:
        assert estimate.contributions is None
        return
    assert not estimate.contributions[~given].any()
    assert not estimate.point_weights[~given].any()
    np.testing.assert_allclose(estimate.contributions[given], without.contributions, atol=1e-12)


@every_resampler
def test_rule_that_takes_no_weights_is_refused_with_its_name(name):
    X, y = points(2)
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight in fit"):
        small(name).error(KNeighborsClassifier(3), X, y, sample_weight=np.ones(len(y)))


def grouped(seed=0):
    """Return 10 groups of two points, and some of each class in most groups."""
    return np.random.default_rng(seed).permutation(np.repeat(np.arange(10), 2))


@pytest.mark.parametrize("given", ["sample_weight", "groups"])
@pytest.mark.parametrize("name", NESTED)
def test_nested_folds_refuse_what_their_interval_does_not_hold_for(name, given):
    X, y = sample_for("svc")
    with pytest.raises(ValueError, match="interval='nested'"):
        small(name).error(RULES["svc"][1], X, y, **{given: np.arange(len(y)) // 2 + 1})


@every_resampler_of_any_sample
def test_groups_never_straddle_a_split(name):
    X, y = points(2)
    groups = grouped()
    resampler = small(name)
    resampler.error(GaussianNB(), X, y, groups=groups)
    assert not any(np.isin(groups[train], groups[test]).any() for train, test in resampler.indices_)


@every_resampler
def test_no_split_trains_on_what_it_holds_out(name):
    assert not any(np.isin(train, test).any() for train, test in used(name, "centroid")[0].indices_)


@every_resampler_of_any_sample
def test_names_of_the_groups_do_not_matter(name):
    X, y = points(2)
    groups = grouped()
    one, other = (
        small(name).error(RULES["centroid"][1], X, y, groups=names)
        for names in (groups, np.array(list("abcdefghij"))[groups])
    )
    assert one.value == other.value


@every_resampler
def test_refits_are_counted(name):
    estimate = small(name).error(Counted(), *points(2))
    assert estimate.computation.n_refits == Counted.fits


@every_resampler
def test_refits_are_counted_where_the_classifier_is_given(name):
    X, y = points(2)
    classifier = Counted().fit(X, y)
    estimate = small(name).error(Counted(), X, y, classifier=classifier)
    assert estimate.computation.n_refits == Counted.fits - 1


@every_resampler
def test_classifier_given_changes_no_number(name):
    X, y = sample_for("centroid")
    classifier = clone(RULES["centroid"][1]).fit(X, y)
    assert (
        small(name).error(RULES["centroid"][1], X, y, classifier=classifier).value == estimated(name, "centroid").value
    )


@every_resampler
def test_estimate_says_how_it_was_computed(name):
    how = estimated(name, "lda").computation
    assert str(how.estimator).startswith(type(small(name)).__name__)
    assert how.method
    assert how.space
    assert how.seconds > 0.0
    assert how.n_refits > 0
    assert how.n_predicted > 0
    assert how.n_replicates == len(estimated(name, "lda").replicate_values)


@every_resampler
def test_estimand_says_whose_error_it_is(name):
    assert isinstance(
        estimated(name, "centroid").estimand,
        RuleTrainedOn | RuleTrainedOnParts | RuleTrainedOnDistinct | ThisClassifier,
    )


@every_resampler
def test_interval_says_what_it_means_or_why_there_is_none(name):
    """With more resamples than elsewhere here, since few support no interval."""
    more = {"n_resamples": 60} if "n_resamples" in parameters(name) else {}
    estimate = small(name, **more).error(Counted(), *points(2, n=40))
    if estimate.no_interval is not None:
        with pytest.raises(ValueError, match=r"no interval is offered for this estimate: (\S+ ){6,}"):
            estimate.interval(0.9)
    else:
        interval = estimate.interval(0.9)
        assert isinstance(interval, Interval)
        assert interval.level == 0.9
        assert 0.0 <= interval.low <= interval.high <= 1.0
        assert all((interval.target, interval.method, interval.assumptions))


def test_some_resampler_offers_an_interval():
    """So that the test above tests both of its branches."""
    estimate = small("boot-zero", n_resamples=60).error(Counted(), *points(2, n=40))
    assert estimate.interval().method == "delta method after bootstrap"


@pytest.mark.parametrize("rule", [pytest.param("lda", marks=long), "centroid"])
@every_resampler_of_any_sample
def test_splits_replayed_give_the_same_number(name, rule):
    """Sampled points come from the random state, which is the same."""
    resampler, estimate = used(name, rule)
    again = small(name).error(RULES[rule][1], *sample_for(rule), indices=resampler.indices_)
    assert again.value == pytest.approx(estimate.value, abs=1e-12)


@every_resampler_of_any_sample
def test_splits_replayed_stay_as_they_are(name):
    first = used(name, "centroid")[0]
    again = small(name, random_state=5)
    again.error(RULES["centroid"][1], *sample_for("centroid"), indices=first.indices_)
    assert same_splits(again.indices_, first.indices_)


@every_resampler
def test_there_is_an_error_for_every_split(name):
    resampler = used(name, "centroid")[0]
    assert resampler.split_errors_.shape == (len(resampler.indices_),)
    assert resampler.split_errors_.min() >= 0.0
    assert resampler.split_errors_.max() <= 1.0 + 1e-12


def interrupted(name, stop_at, monkeypatch):
    """Return the resampler whose rule was interrupted at some fit, and what was raised."""
    monkeypatch.setattr(Stopped, "stop_at", stop_at)
    resampler = small(name)
    # An escaping KeyboardInterrupt would end the whole test run, hence the base class.
    with pytest.raises(KeyboardInterrupt, match=r"^(stopped after \d+ of \d+ fits.*)?$") as stopped:
        resampler.error(Stopped(), *points(2))
    return resampler, stopped.value


@pytest.mark.parametrize("fit", ["second", "last"])
@every_resampler
def test_interrupt_is_told_with_what_is_done(name, fit, monkeypatch):
    stop_at = {"second": 2, "last": estimated(name, "centroid").computation.n_refits}[fit]
    _, stop = interrupted(name, stop_at, monkeypatch)
    assert isinstance(stop, bg.Interrupted)
    assert re.match(r"stopped after \d+ of \d+ fits\. `partial` .* resume\(\) of the \w+ does the rest", str(stop))


@pytest.mark.parametrize("fit", ["second", "last"])
@every_resampler
def test_interrupted_work_resumes_to_the_same_number(name, fit, monkeypatch):
    stop_at = {"second": 2, "last": estimated(name, "centroid").computation.n_refits}[fit]
    resampler, _ = interrupted(name, stop_at, monkeypatch)
    assert resampler.resume().value == small(name).error(Counted(), *points(2)).value


@every_resampler
def test_partial_estimate_has_neither_interval_nor_standard_error(name, monkeypatch):
    _, stop = interrupted(name, estimated(name, "centroid").computation.n_refits, monkeypatch)
    assert stop.partial.no_interval is not None
    assert np.isnan(stop.partial.std_error)


@every_resampler
def test_unused_resampler_has_nothing_to_resume(name):
    with pytest.raises(NotFittedError, match=r"call error\(rule, X, y\) first"):
        small(name).resume()


@every_resampler
def test_whole_pipeline_is_refitted(name):
    X, y = points(2)
    rule = make_pipeline(StandardScaler(), Counted())
    estimate = small(name).error(rule, X, y)
    assert estimate.computation.n_refits == Counted.fits


@every_resampler
def test_grid_search_is_refitted_whole(name):
    """Each refit trains two candidates on two folds and the winner on all."""
    rule = GridSearchCV(Sided(), {"sign": [-1.0, 1.0]}, cv=2)
    estimate = small(name).error(rule, *points(2))
    assert Sided.fits == 5 * estimate.computation.n_refits


@every_resampler
def test_fitted_classifier_is_refitted_like_a_rule(name):
    X, y = points(2)
    trained_elsewhere = clone(RULES["lda"][1]).fit(X, 1 - y)
    assert small(name).error(trained_elsewhere, X, y).value == estimated(name, "lda").value


PRIOR = {0: 0.6, 1: 0.3, 2: 0.1}


@over(PRIOR_TAKING)
def test_class_prior_is_the_mass_of_the_true_classes(name):
    estimate = small(name, class_prior=PRIOR).error(RULES["centroid"][1], *sample_for("centroid"))
    np.testing.assert_allclose(estimate.confusion.sum(axis=1), [0.6, 0.3, 0.1], atol=1e-12)


@over(PRIOR_TAKING)
def test_class_prior_by_label_and_in_order_agree(name):
    by_label, in_order = (
        small(name, class_prior=prior).error(RULES["centroid"][1], *sample_for("centroid"))
        for prior in (dict(reversed(PRIOR.items())), list(PRIOR.values()))
    )
    assert by_label.value == in_order.value


@over(PRIOR_TAKING)
def test_separate_sampling_with_a_class_prior_gives_an_overall_error(name):
    resampler = small(name, sampling="separate", class_prior=PRIOR)
    assert 0.0 < resampler.error(RULES["centroid"][1], *sample_for("centroid")).value < 1.0


@every_resampler
def test_estimate_on_the_model_of_the_paper_is_near_the_truth(name):
    """0.25 is 5 standard deviations of most resamplers at 60 points: a check of sanity, not of bias."""
    population = bg.datasets.PaperGaussian()
    X, y = population.sample(60, random_state=1)
    classifier = LinearDiscriminantAnalysis().fit(X, y)
    truth = population.linear_error(classifier.coef_[0], classifier.intercept_[0])
    assert abs(small(name).error(LinearDiscriminantAnalysis(), X, y).value - truth) < 0.25


@every_resampler
def test_class_in_place_of_a_rule_is_refused(name):
    with pytest.raises(TypeError, match="rule must be an estimator with fit and predict"):
        small(name).error(GaussianNB, *points(2))


@every_resampler
def test_one_class_is_refused(name):
    X, y = points(2)
    with pytest.raises(ValueError, match="y must hold at least two classes"):
        small(name).error(GaussianNB(), X, np.zeros_like(y))
