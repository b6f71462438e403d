"""The paper's theorems on large samples: the Vapnik-Chervonenkis bound, and an experiment beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from bayes_gresub.data.arrays import Floats
from bayes_gresub.data.validation import check_whole
from bayes_gresub.measures import PosteriorProbability
from bayes_gresub.populations import PaperGaussian
from bayes_gresub.posteriors import KNN
from bayes_gresub.registry import make_estimator
from bayes_gresub.studies.metrics import mean_of
from bayes_gresub.studies.results import StudyResults
from bayes_gresub.studies.study import Study

if TYPE_CHECKING:
    import pandas as pd


def vc_bound(n: ArrayLike, vc_dimension: int, tau: float) -> Floats:
    r"""Return a bound on the probability that plain resubstitution is off by more than tau, whatever the population.

    .. math:: P\left(\sup_{A \in \mathcal A} |\nu_n(A) - \nu(A)| > \tau\right)
              \le \min\left(1, \, 8 (n + 1)^{V} e^{-n \tau^2 / 32}\right)

    for two classes and a family of sets with Vapnik-Chervonenkis dimension V: d + 1 for linear rules in d features,
    infinite for nearest neighbours. It is 1, and so useless, until n is large.

    Parameters
    ----------
    n : int or array-like of int
    vc_dimension : int
    tau : float

    References
    ----------
    Devroye, Györfi & Lugosi (1996), A Probabilistic Theory of Pattern Recognition, Theorem 12.5.

    Examples
    --------
    >>> vc_bound([1_000, 100_000, 1_000_000], vc_dimension=11, tau=0.1)
    array([1.00000000e+00, 1.00000000e+00, 1.53486142e-69])
    """
    check_whole(vc_dimension, "vc_dimension", 0)
    sizes = np.asarray(n, dtype=float)
    if not ((sizes >= 1) & np.isfinite(sizes)).all():
        raise ValueError(f"n must be 1 or more, and finite; got {n!r}.")
    if not tau > 0:
        raise ValueError(f"tau must be positive; got {tau!r}.")
    # In logarithms, since (n + 1)^V alone overflows.
    exponent = np.log(8.0) + vc_dimension * np.log1p(sizes) - sizes * tau**2 / 32
    return np.exp(np.minimum(exponent, 0.0))


def large_sample_study(
    n_features: int = 2,
    sample_sizes: tuple[int, ...] = (100, 300, 1000, 3000, 10_000),
    repetitions: int = 10,
    seed: int = 0,
) -> Study:
    """Return a study of estimators at growing sample sizes, for rules of finite and of infinite VC dimension.

    By the paper's theorems an estimator is consistent if the rule's VC dimension is finite and its measure comes
    to plain resubstitution as n grows. LDA has VC dimension d + 1; a tree with five points a leaf and 3NN have
    none. Widths shrink as n^(-1/d), so bolstering comes to plain resubstitution slowly in many dimensions. The
    posterior of k neighbours with k fixed never comes to the label itself; the product form does not either.

    Parameters
    ----------
    n_features : int, default 2
        All informative, best error 0.2.
    sample_sizes, repetitions, seed
        As in `Study`.

    Examples
    --------
    >>> results = large_sample_study(sample_sizes=(50, 500), repetitions=4).run()
    >>> table = approach(results)
    >>> resub = table.xs("resub", level="estimator")
    >>> resub["to_resub"].max(), bool(resub.loc[("LDA", 500), "to_truth"] < 0.06)
    (np.float64(0.0), True)
    """
    rules = {
        "LDA": LinearDiscriminantAnalysis(),
        "CART": DecisionTreeClassifier(min_samples_leaf=5),
        "3NN": KNeighborsClassifier(3),
    }
    # Few points about each of so many are enough.
    few = {"n_points": 8}
    estimators = {
        "resub": make_estimator("resub"),
        "bolstered": make_estimator("bolstered", **few),
        "3nn-pp": make_estimator("3nn-pp"),
        "15nn-pp": PosteriorProbability(KNN(15)),
        "bolstered-3nn-pp": make_estimator("bolstered-3nn-pp", **few),
        "bolstered-3nn-pp-product": make_estimator("bolstered-3nn-pp-product", **few),
    }
    population = PaperGaussian(bayes_error=0.2, n_informative=n_features, n_noise=0, block=1)
    return Study(population, rules, estimators, sample_sizes, repetitions, seed)


def approach(results: StudyResults, plain: str = "resub") -> pd.DataFrame:
    r"""Return how far estimates are on average from plain resubstitution and from the true error.

    Columns: to_resub, the mean of :math:`|\hat\varepsilon - \hat\varepsilon^r|`, and to_truth, the mean of
    :math:`|\hat\varepsilon - \varepsilon|`, each with its standard error.

    Parameters
    ----------
    results : StudyResults
    plain : str, default "resub"
        The name of plain resubstitution among the estimators.

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> rules = {"LDA": LinearDiscriminantAnalysis()}
    >>> study = bg.Study(bg.datasets.PaperGaussian(), rules, ["resub", "bolstered"], [20, 200], repetitions=10)
    >>> distance = approach(study.run())["to_resub"].xs("bolstered", level="estimator")
    >>> bool(distance["LDA", 200] < distance["LDA", 20])
    True
    """
    import pandas as pd

    if plain not in results.grid.estimators:
        raise ValueError(
            f"plain must name plain resubstitution among the estimators {list(results.grid.estimators)}; got {plain!r}."
        )
    data = results.to_xarray()
    rows = []
    for rule in results.grid.rules:
        for n in results.grid.sample_sizes:
            cell = data.sel(rule=rule, n=n)
            for name in results.grid.estimators:
                estimate = cell["estimate"].sel(estimator=name)
                others = (cell["estimate"].sel(estimator=plain), cell["true_error"])
                gaps = [np.abs(estimate.to_numpy() - other.to_numpy()) for other in others]
                resub, truth = (mean_of(gap[np.isfinite(gap)]) for gap in gaps)
                rows.append((rule, n, name, resub.value, resub.std_error, truth.value, truth.std_error))
    columns = ["rule", "n", "estimator", "to_resub", "to_resub_se", "to_truth", "to_truth_se"]
    return pd.DataFrame(rows, columns=columns).set_index(["rule", "n", "estimator"])
