"""Leave-one-out of the Gaussian process from its sites: against dense algebra, against refits, and what is refused."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.linalg import block_diag
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import bayes_gresub as bg
from bayes_gresub.resampling.shortcuts import NoShortcutError, has_shortcut, left_out
from bayes_gresub.resampling.shortcuts.refusals import ClassLeftEmpty, TrainedOnOtherPoints

pytest.importorskip("torch")
pytest.importorskip("gpytorch")

FIXED = {"lengthscale": 2.0, "amplitude": 10.0, "random_state": 0}
APPROXIMATIONS = {"variational": {}, "laplace": {"approximation": "laplace"}, "inducing": {"n_inducing": 30}}


def overlapping(c, n=60, d=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.sort(np.arange(n) % c)
    return rng.normal(size=(n, d)) + 1.2 * rng.normal(size=(c, d))[y], y


def pairs(n):
    """Return groups of two rows, most of them of two classes."""
    return np.random.default_rng(1).permutation(n) // 2


def refits(rule, X, y, groups):
    """Return the probabilities of each row by the rule refitted without its group, at the same length-scales."""
    result = np.empty((len(y), len(np.unique(y))))
    for group in np.unique(groups):
        inside = groups == group
        result[inside] = clone(rule).fit(X[~inside], y[~inside]).predict_proba(X[inside])
    return result


@pytest.mark.parametrize("grouped", [False, True], ids=["rows", "pairs"])
@pytest.mark.parametrize("approximation", ["variational", "laplace"])
@pytest.mark.parametrize("c", [2, 3])
def test_formula_is_that_of_dense_matrices(c, approximation, grouped):
    """Prior precisions written out and inverted, with the sites of the rows left; row 20 is row 0, of another class."""
    X, y = overlapping(c, n=20)
    X, y = np.concatenate([X, X[:1]]), np.append(y, c - 1)
    n, k = 21, 1 if c == 2 else c
    groups = pairs(22)[:n] if grouped else np.arange(n)
    gp = bg.GaussianProcess(approximation=approximation, **FIXED).fit(X, y)
    units = (X - X.mean(axis=0)) / X.std(axis=0)
    squares = ((units[:, None] - units[None]) ** 2).sum(axis=2)
    kernel = (2.0 if c == 2 else 1.0) * 10.0 * np.exp(-squares / 8)
    # Enough noise to invert it although two rows are the same.
    prior = np.linalg.inv(block_diag(*[kernel] * k) + 1e-7 * np.eye(k * n))
    sites = gp.training_sites()
    means, spread = np.empty((n, k)), np.empty((n, k, k))
    for row in range(n):
        curvature = np.where((groups != groups[row])[:, None, None], sites.curvature, 0.0)
        of_blocks = np.zeros((k, n, k, n))
        for i in range(n):
            of_blocks[:, i, :, i] = curvature[i]
        whole = np.linalg.inv(prior + of_blocks.reshape(k * n, k * n)).reshape(k, n, k, n)
        slope = np.where((groups == groups[row])[:, None], sites.slope, 0.0)
        means[row] = sites.mean[row] - np.einsum("ajb,jb->a", whole[:, row].transpose(0, 2, 1), slope)
        alone = of_blocks * np.eye(k)[:, None, :, None] if sites.independent else of_blocks
        spread[row] = np.linalg.inv(prior + alone.reshape(k * n, k * n)).reshape(k, n, k, n)[:, row, :, row]
    if sites.independent:
        spread = spread.diagonal(axis1=1, axis2=2)
    expected = gp.proba_of_latents(means, spread)
    np.testing.assert_allclose(left_out(gp, X, y, groups).scores, expected, atol=1e-5)


@pytest.mark.parametrize("approximation", APPROXIMATIONS)
@pytest.mark.parametrize("grouped", [False, True], ids=["rows", "pairs"])
@pytest.mark.parametrize("c", [2, 3])
def test_probabilities_are_near_those_of_refits(c, grouped, approximation):
    """Refits move the other sites a little, and the units and inducing points, so they are near and not the same.

    Measured: at most .005 on average and .021 in one row; probabilities in sample are .05 to .07, and up to .30, off.
    """
    X, y = overlapping(c)
    groups = pairs(60) if grouped else np.arange(60)
    rule = bg.GaussianProcess(**FIXED, **APPROXIMATIONS[approximation])
    result, expected = left_out(rule, X, y, groups), refits(rule, X, y, groups)
    differences = np.abs(result.scores - expected)
    assert differences.mean() < 0.007
    assert differences.max() < 0.03
    assert np.mean(result.codes != expected.argmax(axis=1)) <= 0.04
    assert (result.exact, result.probabilities, result.n_fits) == (False, True, 1)


def test_difference_from_refits_vanishes_with_many_rows():
    """Also with three classes, whose means depend on each other; were they moved one by one, they would be .005 off."""
    rule, gaps = bg.GaussianProcess(lengthscale=4.0, amplitude=4.0), []
    for n in (45, 180):
        X, y = overlapping(3, n)
        # A few rows are left out one by one, the others in few groups, to save refits.
        single = np.arange(n) % (n // 15) == 0
        groups = np.where(single, np.arange(n), n + np.arange(n) % 2)
        gaps.append(np.abs(left_out(rule, X, y, groups).scores - refits(rule, X, y, groups))[single].mean())
    assert gaps[1] < gaps[0] / 3 < 0.0006


def test_scaler_in_front_changes_nothing():
    X, y = overlapping(2)
    rule = bg.GaussianProcess(**FIXED)
    plain, scaled = left_out(rule, X, y), left_out(make_pipeline(StandardScaler(), rule), X * [1, 10, 100], y)
    np.testing.assert_allclose(scaled.scores, plain.scores, atol=1e-6)


def test_error_is_near_that_of_refits_which_learn_length_scales():
    X, y = overlapping(2, n=40)
    rule, loo = bg.GaussianProcess(tol=0.01), bg.LeaveOneOut(shortcut=True)
    estimate = loo.error(rule, X, y)
    assert float(estimate) == pytest.approx(float(bg.LeaveOneOut().error(rule, X, y)), abs=0.05)
    assert not estimate.computation.exact
    assert estimate.computation.n_refits == 1
    assert loo.error(rule, X, y, classifier=clone(rule).fit(X, y)).computation.n_refits == 0


def test_process_of_other_points_or_with_weights_is_refused():
    X, y = overlapping(2, n=30)
    rule = bg.GaussianProcess(**FIXED)
    weighted = clone(rule).fit(X, y, sample_weight=np.r_[2.0, np.ones(29)])
    for fitted in (weighted, clone(rule).fit(X[::-1], y[::-1]), clone(rule).fit(X[1:], y[1:])):
        with pytest.raises(NoShortcutError, match=r"was trained on other rows, or .* with weights") as raised:
            left_out(fitted, X, y)
        assert raised.value.reason == TrainedOnOtherPoints("GaussianProcess")


def test_class_left_empty_is_refused():
    X, y = overlapping(2, n=30)
    with pytest.raises(NoShortcutError, match="class 2 has no points left") as raised:
        left_out(bg.GaussianProcess(**FIXED), X, np.append(y[:-1], 2))
    assert raised.value.reason == ClassLeftEmpty("2")


def test_subclass_is_refused():
    class Other(bg.GaussianProcess):
        """The same rule by another name."""

    assert str(has_shortcut(Other())) == "Other has no shortcut"


def test_shortcuts_of_other_rules_import_no_torch():
    code = (
        "import sys; from sklearn.naive_bayes import GaussianNB\n"
        "from bayes_gresub.resampling.shortcuts import left_out\n"
        "left_out(GaussianNB(), [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])\n"
        "print([name for name in ('torch', 'gpytorch') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
