"""Every number that the estimators gave before the package was rebuilt around `Law` they still give, to 1e-12.

`python tests/recorded/test_numbers_stay.py` records all numbers anew; `... NAME` those of cells whose name holds NAME.
A row of numbers.jsonl may change only where a change of numbers is meant and named in CHANGELOG.
"""

from __future__ import annotations

import functools
import json
import sys
import warnings
from collections import defaultdict
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_info, threadpool_limits

import bayes_gresub as bg

FILE = Path(__file__).with_name("numbers.jsonl")
PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "gpytorch")

RULES = {
    "lda": LinearDiscriminantAnalysis(),
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "3nn": make_pipeline(StandardScaler(), KNeighborsClassifier(3)),
    "rbf-svm": SVC(),
}
SPREADS = np.array([1.0, 2.0])[:, None, None] * np.eye(10)
WEIGHABLE = ("tree", "rbf-svm")

CHAINS = {"draws": 100, "tune": 30, "chains": 2}
SHORT = {
    "bayesian": CHAINS,
    "bayesian-shared": CHAINS,
    "boot-zero": {"n_resamples": 50},
    "boot-632": {"n_resamples": 50},
    "boot-632+": {"n_resamples": 50},
    "gp-pp": {"draws": 50},
}
POSTERIORS = ("bayesian", "bayesian-shared")
MEASURES = (
    "resub",
    "bolstered",
    "semi-bolstered",
    "ball-bolstered",
    "nb-bolstered",
    "full-bolstered",
    "3nn-pp",
    "gp-pp",
    "bolstered-3nn-pp",
    "bolstered-3nn-pp-product",
    "paper-bolstered",
    "paper-semi-bolstered",
    "paper-nb-bolstered",
    "paper-3nn-pp",
    "paper-bolstered-3nn-pp",
    "paper-bolstered-3nn-pp-product",
    *POSTERIORS,
)
RESAMPLERS = (
    "cv",
    "repeated-cv",
    "nested-cv",
    "bolstered-cv",
    "loo",
    "boot-zero",
    "boot-632",
    "boot-632+",
    "calibrated-bolstered",
    "calibrated-nb-bolstered",
)
CALIBRATED = ("calibrated-bolstered", "calibrated-nb-bolstered")
CENTRED = [name for name in MEASURES if name not in POSTERIORS]
PRODUCTS = [name for name in MEASURES if name.endswith("product")]
SLOW_ON_IMAGES = (*POSTERIORS, "nested-cv", "gp-pp", "loo")
SCALABLE = [name for name in CENTRED if "bolstered" in name and name not in PRODUCTS]


@functools.cache
def data(name):
    """Return a small training set: two Gaussian classes, three classes, or text labels."""
    if name == "paper":
        return bg.datasets.PaperGaussian().sample(36, random_state=7)
    if name == "iris":
        X, y = load_iris(return_X_y=True)
        rows = np.r_[0:50:4, 52:100:3, 101:150:5]
        return X[rows][:, 1:3] + 0.3 * np.sin(np.arange(2 * len(rows))).reshape(-1, 2), y[rows]
    if name == "cancer":
        X, y = load_breast_cancer(return_X_y=True)
        return X[:40, [1, 4, 9, 21]], np.array(["malignant", "benign"])[y[:40]]
    X, y = load_digits(return_X_y=True)
    rows = np.flatnonzero(np.isin(y, [3, 8, 9]))[:45]
    return X[rows].reshape(-1, 8, 8), y[rows]


def flattened(images):
    return np.reshape(images, (len(images), -1))


@functools.cache
def classifier(dataset, rule):
    X, y = data(dataset)
    if dataset == "images":
        return make_pipeline(FunctionTransformer(flattened), clone(RULES[rule])).fit(X, y)
    return clone(RULES[rule]).fit(X, y)


def priors(y):
    labels, counts = np.unique(y, return_counts=True)
    wanted = np.arange(1.0, len(labels) + 1)
    return dict(zip(labels.tolist(), (wanted / wanted.sum()).tolist(), strict=True)), counts


def weights(y):
    return 0.25 + np.arange(len(y)) % 4 - (np.arange(len(y)) == 3) * 3.25


def make(name, seed, **parameters):
    return bg.make_estimator(name, random_state=seed, **{**SHORT.get(name, {}), **parameters})


def plain(dataset, rule, name, seed):
    X, y = data(dataset)
    estimator = make(name, seed)
    if name in MEASURES:
        return read(estimator.fit(X, y).error(classifier(dataset, rule)))
    return read(estimator.error(clone(RULES[rule]), X, y))


def weighted(dataset, rule, name, seed):
    X, y = data(dataset)
    estimator = make(name, seed)
    if name in MEASURES:
        return read(estimator.fit(X, y, sample_weight=weights(y)).error(classifier(dataset, rule)))
    return read(estimator.error(clone(RULES[rule]), X, y, sample_weight=weights(y)))


def known_prior(dataset, rule, name, seed):
    X, y = data(dataset)
    prior, _ = priors(y)
    estimator = make(name, seed, class_prior=prior)
    if name in MEASURES:
        return read(estimator.fit(X, y).error(classifier(dataset, rule)))
    return read(estimator.error(clone(RULES[rule]), X, y))


def separate(dataset, rule, name, seed):
    X, y = data(dataset)
    prior, _ = priors(y)
    estimator = make(name, seed, sampling="separate")
    if name in MEASURES:
        estimate = estimator.fit(X, y).error(classifier(dataset, rule))
    else:
        estimate = estimator.error(clone(RULES[rule]), X, y)
    return {"per_class": list(estimate.per_class.values()), **read(estimate.with_class_prior(prior))}


def elsewhere(dataset, rule, name, seed):
    X, y = data(dataset)
    return read(make(name, seed).fit(X, y).error(classifier(dataset, rule), X[::2] + 0.1, y[::2]))


def scaled(dataset, rule, name, seed):
    X, y = data(dataset)
    found = make(name, seed).fit(X, y).errors_at_scales(classifier(dataset, rule), [0.0, 0.5, 2.0])
    return {f"{key}_{number}": value for number, one in enumerate(found) for key, value in read(one).items()}


def images(dataset, rule, name, seed):
    X, y = data(dataset)
    if name in MEASURES:
        return read(make(name, seed).fit(X, y).error(classifier(dataset, rule)))
    return read(make(name, seed).error(classifier(dataset, rule), X, y))


def law(dataset, rule, name, seed):
    """Points drawn from the measure, and a mean under it."""
    X, y = data(dataset)
    prior, _ = priors(y)
    given = {"classifier": classifier(dataset, rule)} if "semi" in name else {}
    found = {}
    for key, parameters in {"plain": {}, "prior": {"class_prior": prior}}.items():
        measure = make(name, seed, **parameters).fit(X, y)
        points, labels = measure.sample(5, **given)
        mean = measure.expectation(lambda X, y: X[:, 0] * (y == y[0]), **given)
        found |= {
            f"{key}_points": flat(points),
            f"{key}_labels": [str(label) for label in labels],
            f"{key}_mean": [mean.value, mean.std_error],
        }
    return found


def model(dataset, rule, name, seed):
    """Bayesian measures whose posterior has a closed form."""
    X, y = data(dataset)
    if name == "discrete":
        X = (np.median(X, axis=0) < X).astype(float)
        judged = clone(RULES[rule]).fit(X, y)
        chosen = bg.DiscreteClasses()
    else:
        judged = classifier(dataset, rule)
        scale = X.var(axis=0) if name == "diagonal" else np.diag(X.var(axis=0))
        prior = bg.NormalInverseWishart(X.mean(axis=0), 0.5, X.shape[1] + 3.0, scale)
        chosen = bg.GaussianClasses(covariance=name, prior=prior)
    return read(bg.Bayesian(chosen, sampler="conjugate", random_state=seed, draws=50, chains=2).fit(X, y).error(judged))


def truth(dataset, rule, name, seed):
    """Return the true error under synthetic populations."""
    population = {
        "gaussian": bg.datasets.PaperGaussian(),
        "unequal": bg.datasets.Gaussian(np.array([[0.0] * 10, [0.5] * 10]), SPREADS),
    }[name]
    error = population.true_error(classifier(dataset, rule), random_state=seed)
    return {"value": error.value, "std_error": error.std_error}


def flat(values):
    return np.asarray(values, dtype=float).ravel().tolist()


def read(estimate):
    """Return what is kept of an estimate."""
    found = {"value": estimate.value, "std_error": estimate.std_error}
    try:
        found["confusion"] = flat(estimate.confusion)
    except ValueError:
        found["confusion"] = None
    try:
        found["interval"] = list(estimate.interval())
    except ValueError:
        found["interval"] = None
    found["contributions"] = None if estimate.contributions is None else flat(estimate.contributions)
    found["point_weights"] = None if estimate.point_weights is None else flat(estimate.point_weights)
    if estimate.draws is not None:
        found["draws"] = [*flat(estimate.draws[:5]), float(estimate.draws.mean()), estimate.posterior_sd]
    return found


def cells():
    """Yield the name of each cell, its function and its arguments."""
    every = (*MEASURES, *RESAMPLERS)
    grids = [
        (plain, ("paper", "iris", "cancer"), RULES, every, (0, 1)),
        (weighted, ("paper",), WEIGHABLE, [name for name in every if name not in (*POSTERIORS, "nested-cv")], (0,)),
        (
            known_prior,
            ("iris",),
            ("lda", "rbf-svm"),
            [name for name in every if name not in (*CALIBRATED, "nested-cv")],
            (0,),
        ),
        (
            separate,
            ("cancer",),
            ("lda", "tree"),
            [name for name in every if name not in (*PRODUCTS, *CALIBRATED, "boot-632+", "nested-cv")],
            (0,),
        ),
        (elsewhere, ("paper",), ("lda", "3nn"), [name for name in CENTRED if name != "gp-pp"], (0,)),
        (scaled, ("iris",), ("tree", "rbf-svm"), SCALABLE, (0,)),
        (
            images,
            ("images",),
            ("3nn",),
            [name for name in every if name not in SLOW_ON_IMAGES],
            (0,),
        ),
        (law, ("iris",), ("3nn",), [name for name in MEASURES if name not in PRODUCTS], (0,)),
        (model, ("cancer",), RULES, ("full", "shared", "diagonal", "discrete"), (0,)),
        (truth, ("paper",), RULES, ("gaussian", "unequal"), (0,)),
    ]
    for function, datasets, rules, names, seeds in grids:
        for dataset in datasets:
            for rule in rules:
                for name in names:
                    for seed in seeds:
                        yield (
                            f"{function.__name__} {dataset} {rule} {name} {seed}",
                            function,
                            (dataset, rule, name, seed),
                        )


CELLS = {name: (function, arguments) for name, function, arguments in cells()}
GROUPS = defaultdict(list)
for _name, (_, (_, _, _estimator, _seed)) in CELLS.items():
    GROUPS[f"{_name.split()[0]} {_estimator} {_seed}"].append(_name)
SECOND_SEED = [group for group in GROUPS if group.endswith("1")]


def computed(cell):
    function, arguments = CELLS[cell]
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        return function(*arguments)


def stack():
    """Return what numbers may depend on beside the package: versions, and the kernels that BLAS chose."""
    kernels = sorted({str(one.get("architecture", "")) for one in threadpool_info() if one["user_api"] == "blas"})
    return {
        "python": f"{sys.version_info[0]}.{sys.version_info[1]}",
        **{p: version(p) for p in PACKAGES},
        "blas": kernels,
    }


@functools.cache
def recorded():
    first, *rows = [json.loads(line) for line in FILE.read_text().splitlines()]
    return first, {row.pop("cell"): row for row in rows}


@pytest.mark.parametrize(
    "group", [pytest.param(group, marks=pytest.mark.long if group in SECOND_SEED else ()) for group in GROUPS]
)
def test_numbers_stay(group):
    """On another stack fits differ in their last digits, which moves labels near a boundary: nothing is compared."""
    made_on, rows = recorded()
    if stack() != made_on:
        pytest.skip(f"the numbers were recorded on another stack: {made_on}")
    for cell in GROUPS[group]:
        now, before = computed(cell), rows[cell]
        assert now.keys() == before.keys(), cell
        for key, value in before.items():
            if value is None or (isinstance(value, list) and value and isinstance(value[0], str)):
                assert now[key] == value, f"{cell}: {key}"
            else:
                got = np.array(now[key], dtype=float)
                np.testing.assert_allclose(got, value, rtol=1e-12, atol=1e-12, err_msg=f"{cell}: {key}")


def test_every_cell_is_recorded():
    assert recorded()[1].keys() == CELLS.keys()


def record(part):
    rows = {} if not part else recorded()[1]
    for cell in CELLS:
        if part in cell:
            rows[cell] = computed(cell)
    lines = [json.dumps(stack())] + [json.dumps({"cell": cell, **rows[cell]}) for cell in CELLS]
    FILE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    record(sys.argv[1] if len(sys.argv) > 1 else "")
