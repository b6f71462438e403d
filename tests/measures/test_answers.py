"""What an estimate says of itself, and in which form classifiers and users get points."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from typer.testing import CliRunner

import bayes_gresub as bg
from bayes_gresub.cli import app


@pytest.fixture
def sample():
    return bg.datasets.PaperGaussian().sample(40, random_state=1)


class LooksUp:
    """Predicts by a table that only integers can index."""

    classes_ = np.array([0, 1])

    def predict(self, X):
        return np.take(self.classes_, X[:, 0] % 2)


def test_estimate_formats_and_rounds_like_its_value(sample):
    X, y = sample
    estimate = bg.Bolstered().fit(X, y).error(LogisticRegression().fit(X, y))
    assert (f"{estimate:.3f}", round(estimate, 3)) == (f"{estimate.value:.3f}", round(estimate.value, 3))


def test_no_interval_at_points_whose_independence_is_not_known(sample):
    X, y = sample
    estimate = bg.Empirical().fit(X, y).error(LogisticRegression().fit(X, y), X=X[:9], y=y[:9])
    with pytest.raises(ValueError, match="points passed as X are independent of the classifier"):
        estimate.interval()


@pytest.mark.parametrize("measure", [bg.Empirical(), bg.PosteriorProbability()], ids=["empirical", "posterior"])
def test_integers_stay_integers_where_nothing_moves(measure):
    X = np.arange(24, dtype=np.uint8).reshape(12, 2)
    y = np.arange(12) // 6
    assert np.isfinite(measure.fit(X, y).error(LooksUp()).value)


def test_points_sampled_from_integers_that_do_not_move_are_integers():
    X = np.arange(24).reshape(12, 2)
    points, _ = bg.Empirical().fit(X, np.arange(12) % 2).sample(5, random_state=0)
    assert points.dtype == X.dtype


def test_weights_reach_the_last_step_of_a_pipeline(sample):
    X, y = sample
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    posterior = bg.ClassifierPosterior(make_pipeline(StandardScaler(), LogisticRegression()))
    posterior.fit(X, y, sample_weight=weights)
    by_hand = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y, logisticregression__sample_weight=weights)
    np.testing.assert_allclose(posterior.predict_proba(X), by_hand.predict_proba(X), rtol=1e-12)


def test_out_of_fold_models_answer_about_the_points_they_did_not_see(sample):
    """As the kernel shrinks, smoothing both ways tends to the out-of-fold posterior, not the in-sample one."""
    X, y = sample
    classifier = SVC().fit(X, y)
    posterior = bg.ClassifierPosterior(LogisticRegression())
    shrunk = bg.BolsteredPosterior(bg.SphericalGaussian(scale=1e-9), posterior, random_state=0).fit(X, y)
    plain = bg.PosteriorProbability(posterior).fit(X, y)
    assert shrunk.error(classifier).value == pytest.approx(plain.error(classifier).value, abs=1e-6)


def test_seed_of_the_measure_reaches_a_random_posterior(sample):
    from sklearn.ensemble import RandomForestClassifier

    X, y = sample
    classifier = SVC().fit(X, y)
    measure = bg.PosteriorProbability(RandomForestClassifier(n_estimators=5), random_state=3)
    first, second = (measure.fit(X, y).error(classifier).value for _ in range(2))
    assert first == second


def test_widths_of_a_bolstered_posterior_scale_together(sample):
    X, y = sample
    classifier = SVC().fit(X, y)
    scaled = bg.BolsteredPosterior(random_state=0).fit(X, y).errors_at_scales(classifier, [0.5, 2])
    kernels = [bg.SphericalGaussian(scale=scale) for scale in (0.5, 2)]
    apart = [bg.BolsteredPosterior(kernel, random_state=0).fit(X, y).error(classifier) for kernel in kernels]
    assert [a.value for a in scaled] == pytest.approx([b.value for b in apart], abs=1e-12)


def test_estimate_at_another_scale_names_it(sample):
    X, y = sample
    (estimate,) = bg.Bolstered().fit(X, y).errors_at_scales(LogisticRegression().fit(X, y), [0.5])
    assert "widths times 0.5" in repr(estimate)


def test_estimate_at_another_prevalence_names_it(sample):
    X, y = sample
    estimate = bg.Bolstered().fit(X, y).error(LogisticRegression().fit(X, y)).with_class_prior([0.75, 0.25])
    assert "with class probabilities 0: 0.75, 1: 0.25" in repr(estimate)


def test_regressor_is_refused(sample):
    X, y = sample
    with pytest.raises(ValueError, match="Is this a regressor"):
        bg.Bolstered().fit(X, y).error(LinearRegression().fit(X, y))


def test_labels_that_json_cannot_hold_are_refused(sample):
    X, y = sample
    labels = np.array([Fraction(0), Fraction(1)], dtype=object)[y]

    class Constant:
        classes_ = np.array([Fraction(0), Fraction(1)], dtype=object)

        def predict(self, X):
            return np.full(len(X), Fraction(0), dtype=object)

    estimate = bg.Empirical().fit(X, labels).error(Constant())
    with pytest.raises(TypeError, match="labels must be numbers, strings or booleans to be saved"):
        estimate.to_json()


@pytest.mark.parametrize("path", ["missing/demo.png", "demo.foo"])
def test_figure_that_cannot_be_written_is_refused_before_any_work(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["demo", "--plot", path])
    assert (result.exit_code, "estimator" in result.stdout) == (2, False)


def test_scale_zero_among_others_is_a_count(sample):
    X, y = sample
    classifier = SVC().fit(X, y)
    still, moved = bg.Bolstered(random_state=0).fit(X, y).errors_at_scales(classifier, [0, 1])
    plain = bg.Empirical().fit(X, y).error(classifier)
    assert (still.value, still.computation.exact, moved.computation.exact) == (plain.value, True, False)


def test_rare_class_with_a_large_prior_is_drawn_in_that_proportion():
    """One point in fifty gets 0.9 of the mass: 4.5 binomial standard errors of 2,000 draws, false alarm 7e-6."""
    X = np.arange(50.0)[:, None]
    y = (np.arange(50) == 49).astype(int)
    _, labels = bg.Empirical(class_prior=[0.1, 0.9]).fit(X, y).sample(2000, random_state=0)
    assert len(labels) == 2000
    assert abs(labels.mean() - 0.9) < 4.5 * np.sqrt(0.09 / 2000)
