"""Invariants of measures over random small samples, repeated rows included."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import bayes_gresub as bg

# The "paper-" measures are the same classes with the features as given; the contract tests run over them.
# Measures of points: posterior draws obey these invariants up to their noise only, which the contract tests allow for.
MEASURES = {
    entry.name: entry
    for entry in bg.estimators("measure")
    if not entry.name.startswith("paper-") and not entry.make().has_draws
}
PRODUCTS = [name for name in MEASURES if name.endswith("-product")]
INTEGRATED = ["bolstered-3nn-pp"]
ADDITIVE = [name for name in MEASURES if name not in PRODUCTS]
# With a binary linear classifier these are finite sums, without sampling.
EXACT = [name for name in MEASURES if name not in INTEGRATED]

RULES = [
    RidgeClassifier(),
    DecisionTreeClassifier(max_depth=3, random_state=0),
    SVC(),
    KNeighborsClassifier(3),
]

# Few points drawn with repeats may leave a class of duplicates only; the invariants hold for it too.
pytestmark = pytest.mark.filterwarnings("ignore:every point of class")

some = settings(max_examples=25, deadline=None, derandomize=True)


@st.composite
def samples(draw, n_classes=(2, 3), repeats=True):
    """Draw points and labels of 2 or 3 classes; some rows may be repeated, with another label perhaps."""
    c = draw(st.integers(*n_classes))
    n = draw(st.integers(max(8, 3 * c), 30))
    d = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = rng.permutation(np.arange(n) % c)
    X = rng.normal(size=(n, d)) * rng.uniform(0.2, 5.0, size=d)
    X[:, 0] += draw(st.floats(0.0, 2.0)) * y
    if repeats and draw(st.booleans()):
        twins = rng.integers(n, size=n // 3)
        X[twins] = X[rng.integers(n, size=n // 3)]
    return X, y


def fit(name, X, y, **given):
    return MEASURES[name].make(random_state=0, **given).fit(X, y)


@pytest.mark.parametrize("name", MEASURES)
@given(sample=samples(), rule=st.sampled_from(RULES))
@some
def test_error_is_between_zero_and_one(name, sample, rule):
    X, y = sample
    estimate = fit(name, X, y).error(rule.fit(X, y))
    assert -1e-12 <= estimate.value <= 1.0 + 1e-12
    assert estimate.contributions.min() >= -1e-12
    assert estimate.contributions.max() <= 1.0 + 1e-12


@pytest.mark.parametrize("name", ADDITIVE)
@given(sample=samples(), rule=st.sampled_from(RULES))
@some
def test_total_mass_is_one(name, sample, rule):
    X, y = sample
    confusion = fit(name, X, y).error(rule.fit(X, y)).confusion
    assert confusion.min() >= 0.0
    assert confusion.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("name", [name for name in ADDITIVE if "pp" not in name])
@given(sample=samples(), rule=st.sampled_from(RULES))
@some
def test_kernels_keep_the_mass_of_each_class(name, sample, rule):
    X, y = sample
    confusion = fit(name, X, y).error(rule.fit(X, y)).confusion
    np.testing.assert_allclose(confusion.sum(axis=1), np.bincount(y) / len(y), atol=1e-12)


@given(name=st.sampled_from(list(MEASURES)), sample=samples(), rule=st.sampled_from(RULES))
@some
def test_renaming_the_classes_in_order_changes_nothing(name, sample, rule):
    X, y = sample
    names = np.array(["ant", "bee", "cow"])[y]
    original = fit(name, X, y).error(rule.fit(X, y)).value
    assert fit(name, X, names).error(rule.fit(X, names)).value == pytest.approx(original, abs=1e-12)


@pytest.mark.parametrize("name", [name for name in EXACT if name in PRODUCTS])
@given(sample=samples(n_classes=(2, 2)))
@some
def test_exchanging_two_classes_changes_no_product(name, sample):
    X, y = sample
    original = fit(name, X, y).error(RidgeClassifier().fit(X, y))
    exchanged = fit(name, X, 1 - y).error(RidgeClassifier().fit(X, 1 - y))
    assert original.computation.exact
    assert exchanged.value == pytest.approx(original.value, abs=1e-9)


@pytest.mark.parametrize("name", [name for name in EXACT if name in ADDITIVE])
@given(sample=samples(n_classes=(2, 2)))
@some
def test_exchanging_two_classes_exchanges_the_exact_confusion(name, sample):
    X, y = sample
    original = fit(name, X, y).error(RidgeClassifier().fit(X, y)).confusion
    exchanged = fit(name, X, 1 - y).error(RidgeClassifier().fit(X, 1 - y)).confusion
    np.testing.assert_allclose(exchanged[::-1, ::-1], original, atol=1e-9)


@pytest.mark.parametrize("name", EXACT)
@given(sample=samples(n_classes=(2, 2)), data=st.data())
@some
def test_permuting_the_features_changes_no_exact_error(name, sample, data):
    X, y = sample
    columns = data.draw(st.permutations(range(X.shape[1])))
    original = fit(name, X, y).error(RidgeClassifier().fit(X, y))
    permuted = fit(name, X[:, columns], y).error(RidgeClassifier().fit(X[:, columns], y))
    assert original.computation.exact
    assert permuted.value == pytest.approx(original.value, abs=1e-9)


@given(sample=samples(n_classes=(2, 2), repeats=False), seed=st.integers(0, 2**32 - 1))
@some
def test_full_kernels_without_shrinkage_follow_affine_maps(sample, seed):
    X, y = sample
    X = X[:, :2]
    rng = np.random.default_rng(seed)
    d = X.shape[1]
    left, right = (np.linalg.qr(rng.normal(size=(d, d)))[0] for _ in range(2))
    moved = X @ (left * rng.uniform(0.1, 10.0, size=d) @ right) + rng.normal(size=d)
    original, mapped = (
        bg.Bolstered(bg.FullGaussian(shrinkage=0, standardize=None))
        .fit(features, y)
        .error(LinearDiscriminantAnalysis().fit(features, y))
        for features in (X, moved)
    )
    assert mapped.value == pytest.approx(original.value, abs=1e-8)


@pytest.mark.parametrize("name", MEASURES)
@given(sample=samples(n_classes=(2, 2)), shift=st.lists(st.floats(-1e3, 1e3), min_size=4, max_size=4))
@some
def test_translation_changes_nothing_for_linear_classifiers(name, sample, shift):
    """4.5 standard errors where sampled, from shared draws: no false alarm is to be expected."""
    X, y = sample
    moved = X + np.array(shift)[: X.shape[1]]
    original = fit(name, X, y).error(RidgeClassifier().fit(X, y))
    translated = fit(name, moved, y).error(RidgeClassifier().fit(moved, y))
    noise = np.hypot(original.std_error, translated.std_error)
    assert abs(translated.value - original.value) <= max(4.5 * noise, 1e-8)


@pytest.mark.parametrize("name", EXACT)
@given(sample=samples(n_classes=(2, 2)))
@some
def test_error_of_two_sets_of_points_is_their_weighted_mean(name, sample):
    X, y = sample
    measure, classifier = fit(name, X, y), RidgeClassifier().fit(X, y)
    half = len(y) // 3
    parts = [measure.error(classifier, X[rows], y[rows]).value for rows in (slice(half), slice(half, None))]
    whole = measure.error(classifier, X, y).value
    assert whole == pytest.approx(np.dot(parts, [half / len(y), 1 - half / len(y)]), abs=1e-12)


@given(sample=samples(), rule=st.sampled_from(RULES))
@some
def test_semi_bolstered_is_never_below_plain_resubstitution(sample, rule):
    X, y = sample
    classifier = rule.fit(X, y)
    assert fit("semi-bolstered", X, y).error(classifier).value >= fit("resub", X, y).error(classifier).value - 1e-12


@given(sample=samples(n_classes=(2, 2)))
@some
def test_product_is_never_above_its_factors(sample):
    X, y = sample
    classifier = RidgeClassifier().fit(X, y)
    product = fit("bolstered-3nn-pp-product", X, y).error(classifier).value
    factors = [fit(name, X, y).error(classifier).value for name in ("bolstered", "3nn-pp")]
    assert product <= min(factors) + 1e-12


@given(name=st.sampled_from(ADDITIVE), sample=samples(), rule=st.sampled_from(RULES))
@some
def test_prior_equal_to_the_class_masses_changes_nothing(name, sample, rule):
    """Replicates of a sampled estimate are reweighted one by one, hence 4.5 standard errors: 3 false alarms in 1000."""
    X, y = sample
    estimate = fit(name, X, y).error(rule.fit(X, y))
    again = estimate.with_class_prior(estimate.confusion.sum(axis=1))
    noise = np.hypot(again.std_error, estimate.std_error)
    assert abs(again.value - estimate.value) <= max(4.5 * noise, 1e-12)


@given(
    name=st.sampled_from(list(MEASURES)),
    sample=samples(),
    rule=st.sampled_from(RULES),
    sampling=st.sampled_from(["mixture", "separate"]),
    kind=st.sampled_from(["ints", "strings", "floats", "bools"]),
)
@some
def test_estimate_survives_json(name, sample, rule, sampling, kind):
    X, y = sample
    labels = {
        "ints": np.array([-3, 0, 11]),
        "strings": np.array(["ant", "bee", "cow"]),
        "floats": np.array([-1.0, 0.0, 2.0]),
        "bools": np.array([False, True, True]),
    }[kind][y]
    estimate = fit(name, X, labels, sampling=sampling).error(rule.fit(X, labels))
    again = bg.ErrorEstimate.from_json(estimate.to_json())
    assert again.to_dict() == estimate.to_dict()
    assert repr(again) == repr(estimate)
    for field in ("classes", "replicate_values", "replicate_confusions", "contributions", "point_weights"):
        np.testing.assert_array_equal(getattr(again, field), getattr(estimate, field))
