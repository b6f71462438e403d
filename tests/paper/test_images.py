"""The image experiment: a small one on digits, its claims, its figures; and on MNIST where the files are."""

import os
import warnings

import numpy as np
import pytest

import bayes_gresub as bg
from bayes_gresub.paper.claim_tests import to_frame
from bayes_gresub.paper.image_claims import image_claims
from bayes_gresub.paper.image_experiment import HOLD_OUT, image_estimators, with_hold_out
from bayes_gresub.paper.mnist_files import FOLDER_VARIABLE
from bayes_gresub.plots import plot_images

pytest.importorskip("torch")


@pytest.fixture(scope="session")
def study():
    rule = bg.paper.LeNet5(max_epochs=50)
    return bg.paper.image_study(2, population=bg.datasets.digits(), sample_sizes=[100, 150], rule=rule, tol=0.01)


@pytest.fixture(scope="session")
def results(study, tmp_path_factory):
    return study.run(tmp_path_factory.mktemp("images"), n_jobs=1, progress=False)


def test_every_estimator_answers(results):
    for record in results.records.values():
        assert record["true"]["n_test"] in (1697, 1647)
        assert [row["message"] for row in record["rows"].values()] == [""] * 7
        assert all(0 <= row["estimate"] <= 1 for row in record["rows"].values())


def test_networks_learn_and_resubstitution_is_optimistic(results):
    table = results.summary(["true_mean", "bias"])
    assert table["true_mean"].max() < 0.4
    assert (table.xs("standard_resub", level=2)["bias"] < 0).all()
    bolstered, plain = (table.xs(name, level=2)["bias"] for name in ("NB_bolster", "standard_resub"))
    assert (bolstered > plain).all()


def test_hold_out_errors_are_those_of_the_calibration(study, results):
    wider = with_hold_out(results)
    name = "hold-out (r=5)"
    assert name in wider.grid.estimators
    task = study.tasks[0]
    row = wider.records[task]["rows"]
    assert row[name]["estimate"] == row[HOLD_OUT[name]]["details"]["held_out_error"]
    assert np.isfinite(wider.summary("rms")["rms"]).all()
    with pytest.raises(ValueError, match="there is 'hold-out"):
        with_hold_out(wider)
    with pytest.raises(ValueError, match="has no detail 'kapa'; it has kappa, rough_bias"):
        results.with_detail(HOLD_OUT[name], "kapa", "x")
    with pytest.raises(ValueError, match="unknown estimator"):
        results.with_detail("nothing", "kappa", "x")


def test_claims_are_all_answered(results):
    frame = to_frame(image_claims(results))
    assert len(frame) == 21
    assert (frame[["for", "open", "against"]].sum(axis=1) > 0).all()


def test_claims_need_the_study(results):
    other = bg.Study(bg.datasets.PaperGaussian(), bg.paper.rules()["3NN"], ["resub"], [20], 2).run()
    with pytest.raises(ValueError, match="unknown estimator"):
        image_claims(other)


def test_estimators_are_those_of_the_paper():
    made = image_estimators()
    assert list(made) == [
        "standard_resub",
        "NB_bolster",
        "11NNpp",
        "NB_bolster-11NNpp",
        "NB_bolster-11NNpp (integrated)",
        "calibrated NB_bolster (r=1)",
        "calibrated NB_bolster (r=5)",
    ]
    assert made["NB_bolster"].kernel.standardize is None
    assert made["11NNpp"].posterior.k == 11


def test_digits_stand_in_for_mnist_and_it_says_so(monkeypatch):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    with pytest.warns(UserWarning, match=rf"uses scikit-learn's 1,797 digits.*set {FOLDER_VARIABLE}"):
        study = bg.paper.image_study(1)
    assert study.population.name == "digits"
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        bg.paper.image_study(1, folder="nowhere")


def test_noisy_images():
    X, y = bg.datasets.digits().sample(60, random_state=0)
    images = bg.paper.noisy_images(X, y, [3, 5], [0.0, 1.0, 3.0], random_state=0)
    np.testing.assert_allclose(images[:, 0], X[[3, 5], 0], atol=1e-7)
    np.testing.assert_allclose(images[:, 2] - images[:, 0], 3 * (images[:, 1] - images[:, 0]), atol=1e-6)
    kernel = bg.DiagonalGaussian(standardize=None).fit(X.reshape(60, -1), y)
    widths = kernel.widths_[np.searchsorted(kernel.classes_, y[3])].reshape(8, 8)
    assert (images[0, 1][widths == 0] == images[0, 0][widths == 0]).all()
    assert (images[0, 1] != images[0, 0]).any()


def test_figure_of_images():
    figure = plot_images(np.zeros((3, 2, 8, 8)), ["0", "1"])
    assert [ax.get_title() for ax in figure.axes[:2]] == ["0", "1"]
    assert sum(len(ax.images) for ax in figure.axes) == 6


@pytest.mark.skipif(
    not os.environ.get(FOLDER_VARIABLE), reason=f"{FOLDER_VARIABLE} names no folder with the MNIST files"
)
def test_two_repetitions_on_mnist():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = bg.paper.image_study(2, sample_sizes=[200], rule=bg.paper.LeNet5(max_epochs=40), tol=0.01)
        found = study.run(n_jobs=1, progress=False).summary(["true_mean", "bias"]).droplevel(["rule", "n"])
    assert study.population.name == "MNIST"
    assert 0.08 < found["true_mean"].iloc[0] < 0.3
    assert found.loc["standard_resub", "bias"] < -0.03
    assert found.loc["11NNpp", "bias"] > 0.1
    assert abs(found.loc["calibrated NB_bolster (r=5)", "bias"]) < 0.1
