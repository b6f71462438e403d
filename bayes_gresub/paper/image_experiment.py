"""The paper's image experiment: LeNet-5 on MNIST, or on scikit-learn's digits; what it claims is in image_claims.py."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_gresub.data.arrays import Floats
from bayes_gresub.data.sample import read_sample
from bayes_gresub.data.seeds import DRAWS, Seed, child, seed_sequence
from bayes_gresub.data.validation import warn_user
from bayes_gresub.kernels import DiagonalGaussian
from bayes_gresub.measures import Bolstered, BolsteredPosterior, Empirical, PosteriorProbability
from bayes_gresub.paper.lenet import LeNet5
from bayes_gresub.paper.mnist_files import FOLDER_VARIABLE, folder_is_named, mnist
from bayes_gresub.paper.product_form import ProductForm
from bayes_gresub.populations import Population, digits
from bayes_gresub.posteriors import KNN
from bayes_gresub.resampling import Calibrated
from bayes_gresub.studies.results import StudyResults
from bayes_gresub.studies.study import Study

SAMPLE_SIZES = (200, 400, 600, 800)
RULE = "LeNet-5"
HOLD_OUT = {
    "hold-out (r=1)": "calibrated NB_bolster (r=1)",
    "hold-out (r=5)": "calibrated NB_bolster (r=5)",
}
"""The mean of a calibration's own held-out errors, which it has on its way."""


def image_estimators(tol: float = 0.002) -> dict[str, Any]:
    """Return the paper's estimators for images, under its names; of the bolstered posterior both forms.

    Widths are those of grey values as given, each to the nearest different value: to the nearest, as printed, they
    would be 0 nearly everywhere, since grey values coincide. In place of a fixed number of Monte-Carlo images there
    are as many as a standard error of `tol` takes, 16 for each training image at least.

    Examples
    --------
    >>> list(image_estimators())[:3]
    ['standard_resub', 'NB_bolster', '11NNpp']
    """

    def kernel() -> DiagonalGaussian:
        return DiagonalGaussian(standardize=None)

    def neighbours() -> KNN:
        return KNN(11, standardize=None)

    images: dict[str, Any] = {"n_points": 16, "tol": tol}
    made: dict[str, Any] = {
        "standard_resub": Empirical(),
        "NB_bolster": Bolstered(kernel(), **images),
        "11NNpp": PosteriorProbability(neighbours()),
        "NB_bolster-11NNpp": ProductForm(kernel(), neighbours(), **images),
        "NB_bolster-11NNpp (integrated)": BolsteredPosterior(kernel(), neighbours(), **images),
    }
    for repeats in (1, 5):
        made[f"calibrated NB_bolster (r={repeats})"] = Calibrated(
            Bolstered(kernel(), **images), repeats=repeats, search="bisection"
        )
    return made


def image_study(
    repetitions: int = 200,
    seed: int = 0,
    *,
    population: Population | None = None,
    folder: str | Path | None = None,
    sample_sizes: Iterable[int] = SAMPLE_SIZES,
    rule: Any = None,
    tol: float = 0.002,
) -> Study:
    """Return the paper's MNIST experiment as a study.

    Parameters
    ----------
    repetitions : int, default 200
        As in the paper.
    seed : int, default 0
    population : Population, optional
        MNIST by default, from `folder`; if no folder is named, scikit-learn's digits, with a warning.
    folder : str or Path, optional
        With the MNIST files; that in the environment variable BAYES_GRESUB_MNIST by default.
    sample_sizes : iterable of int
    rule : classifier, optional
        `LeNet5()` by default.
    tol : float, default 0.002
        Monte-Carlo standard error of estimates.

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> study = bg.paper.image_study(30, population=bg.datasets.digits(), sample_sizes=[100, 200])
    >>> len(study.tasks), len(study.estimators)
    (60, 7)
    """
    if population is None:
        population = _default_population(folder)
    rules = {RULE: LeNet5() if rule is None else rule}
    return Study(population, rules, image_estimators(tol), sample_sizes, repetitions, seed)


def with_hold_out(results: StudyResults) -> StudyResults:
    """Return the results with the calibrations' own held-out errors beside them, as estimators."""
    for name, calibrated in HOLD_OUT.items():
        results = results.with_detail(calibrated, "held_out_error", name)
    return results


def noisy_images(
    X: ArrayLike, y: ArrayLike, rows: Sequence[int], kappas: Sequence[float], random_state: Seed = None
) -> NDArray[Any]:
    """Return Monte-Carlo images of Naive-Bayes bolstering, about some training images, for several kappas.

    Parameters
    ----------
    X, y : the training images, of shape (n, ..., height, width), and their labels
    rows : sequence of int
        Which of them to show.
    kappas : sequence of float
        Factors on the kernel's widths; 0 shows the image itself. All share their random numbers.
    random_state : int, SeedSequence, Generator or None

    Returns
    -------
    ndarray of shape (rows, kappas, height, width)

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> X, y = bg.datasets.digits().sample(100, random_state=0)
    >>> noisy_images(X, y, [0, 1, 2], [0.0, 1.0]).shape
    (3, 2, 8, 8)
    """
    sample = read_sample(X, y)
    seed = seed_sequence(random_state)
    kernel = DiagonalGaussian(standardize=None).fit_codes(sample.features, sample.codes, sample.classes, seed)
    chosen = kernel.components(sample.features, sample.codes, True).take(np.asarray(rows, dtype=np.intp))
    z: Floats = np.random.default_rng(child(seed, DRAWS)).standard_normal((len(chosen), 1, chosen.dim))
    moved = np.stack([chosen.place(z, kappa)[:, 0] for kappa in kappas], axis=1)
    return moved.reshape(len(chosen), len(kappas), *sample.format.shape[-2:])


def _default_population(folder: str | Path | None) -> Population:
    if folder_is_named(folder):
        return mnist(folder)
    warn_user(
        "no folder with the MNIST files was named, so the study uses scikit-learn's 1,797 digits of 8 x 8 pixels. "
        f"For MNIST give folder=... or set {FOLDER_VARIABLE}."
    )
    return digits()
