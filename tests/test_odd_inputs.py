"""A table of odd inputs: each is refused with a rule, what was got and a remedy, or answered as computed otherwise."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import bayes_gresub as bg

N = 30
RNG = np.random.default_rng(0)
Y = np.arange(N) % 2
X = RNG.normal(size=(N, 2)) + Y[:, None]
LDA = LinearDiscriminantAnalysis().fit(X, Y)
RULE = LinearDiscriminantAnalysis()
NAMES = np.array(["no", "yes"])[Y]


def changed(array, index, value, dtype=None):
    """Return a copy with one entry replaced."""
    copy = np.array(array, dtype=dtype)
    copy[index] = value
    return copy


def bolstered(X=X, y=Y, classifier=None, weights=None, rule=RULE, **parameters):
    """Return the bolstered error of a classifier, trained on the same data unless it is given."""
    measure = bg.Bolstered(random_state=0, **parameters).fit(X, y, weights)
    return measure.error(clone(rule).fit(X, y) if classifier is None else classifier)


def by_hand(X=X, y=Y, weights=None, classifier=None):
    """Return the bolstered error of a linear classifier by the printed formula, in units of the pooled deviation."""
    X, y = np.asarray(X, dtype=float), np.unique(y, return_inverse=True)[1]
    classifier = LinearDiscriminantAnalysis().fit(X, y) if classifier is None else classifier
    weights = np.ones(len(y)) / len(y) if weights is None else np.asarray(weights) / np.sum(weights)
    centred = np.concatenate([X[y == c] - X[y == c].mean(axis=0) for c in (0, 1)])
    unit = np.sqrt((centred**2).sum(axis=0) / (len(y) - 2))
    unit[unit < 1e-12 * np.abs(X).max(axis=0)] = 0
    moving = unit > 0
    median = np.sqrt(2 * np.log(2)) if moving.sum() == 2 else norm.ppf(0.75)
    score = classifier.decision_function(X)
    errors = np.empty(len(y))
    for c in (0, 1):
        own = X[y == c][:, moving] / unit[moving]
        distances = np.sqrt(((own[:, None] - own[None]) ** 2).sum(axis=-1))
        np.fill_diagonal(distances, np.inf)
        width = distances.min(axis=1).mean() / median
        spread = width * np.linalg.norm(classifier.coef_[0] * unit)
        errors[y == c] = norm.cdf((-1) ** c * score[y == c] / spread)
    return float(weights @ errors)


def resubstituted(classifier, X=X, y=Y, weights=None):
    """Return the share of points that a classifier gets wrong."""
    return float(np.average(np.asarray(classifier.predict(X)) != np.asarray(y), weights=weights))


def plain(classifier, X=X, y=Y, weights=None):
    return bg.Empirical().fit(X, y, weights).error(classifier)


class Says:
    """A trained classifier whose labels are a function of the points."""

    def __init__(self, function, classes=(0, 1)):
        self.predict = function
        if classes is not None:
            self.classes_ = np.array(classes)


class Probable(ClassifierMixin, BaseEstimator):
    """A rule whose probabilities are a function of the points."""

    def __init__(self, function):
        self.function = function

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return self.function(X)


class Hidden(ClassifierMixin, BaseEstimator):
    """A rule that shows `predict` once it is fitted."""

    def fit(self, X, y):
        self.classes_, self.predict = np.unique(y), LinearDiscriminantAnalysis().fit(X, y).predict
        return self


def smoothed(function):
    """Return the posterior-probability error with these probabilities."""
    return bg.PosteriorProbability(Probable(function)).fit(X, Y).error(LDA)


def folds(rule=RULE, X=X, y=Y, n=5, arguments=None, **parameters):
    return bg.CrossValidation(n, random_state=0, **parameters).error(rule, X, y, **(arguments or {}))


def resampled(rule=RULE, X=X, y=Y, kind="zero", n=20, **parameters):
    return bg.Bootstrap(kind, n, random_state=0, **parameters).error(rule, X, y)


def stored(**changes):
    """Return a stored test-set estimate, some of its fields replaced, read back."""
    return bg.ErrorEstimate.from_dict(bg.TestSet(X, Y).error(LDA).to_dict() | changes)


def flaky():
    rng = np.random.default_rng(0)
    return Says(lambda X: rng.integers(2, size=len(X)))


CART = DecisionTreeClassifier(random_state=0).fit(X > 0, Y)
HALF = [list(range(15)), list(range(15, N))]

FEATURES = {
    "NaN": (
        lambda: bolstered(changed(X, (3, 1), np.nan), classifier=LDA),
        ValueError,
        r"finite; got 1 NaN.*row 3.*Impute",
    ),
    "infinity": (lambda: bolstered(changed(X, (0, 0), np.inf), classifier=LDA), ValueError, r"X must be finite; got 1"),
    "masked": (lambda: bolstered(np.ma.masked_less(X, 0)), ValueError, r"no masked values.*got \d+.*filled"),
    "masked for a pipeline": (
        lambda: folds(make_pipeline(StandardScaler(), LDA), np.ma.masked_less(X, 0)),
        ValueError,
        r"X must hold no masked values.*got \d+. Fill them in",
    ),
    "huge": (lambda: bolstered(1e300 * X, classifier=LDA), ValueError, r"between -1e\+152 and 1e\+152.*another unit"),
    "one huge value": (
        lambda: bolstered(changed(X, (0, 0), 1e300), classifier=LDA),
        ValueError,
        r"to 1e\+300. Express the features",
    ),
    "subnormal": (
        lambda: bolstered(1e-310 * X, classifier=LDA),
        ValueError,
        r"at least 1e-152.*got at most .*e-310 in fea",
    ),
    "one subnormal feature": (
        lambda: bolstered(X * [1, 1e-310], classifier=LDA),
        ValueError,
        r"in feature 1. Express it in another unit",
    ),
    "sparse": (lambda: bolstered(sparse.csr_array(X), classifier=LDA), TypeError, r"dense; got a sparse.*toarray"),
    "one dimension": (lambda: bolstered(X[:, 0], classifier=LDA), ValueError, r"got shape \(30,\).*reshape\(-1, 1\)"),
    "Series": (lambda: bolstered(pd.Series(X[:, 0]), classifier=LDA), ValueError, r"got shape \(30,\).*reshape"),
    "no points": (lambda: bolstered(X[:0], Y[:0], LDA), ValueError, r"at least one point and one feature; got shape"),
    "no features": (lambda: bolstered(X[:, :0], classifier=LDA), ValueError, r"at least one point and one feature"),
    "number": (lambda: bolstered(3.0, classifier=LDA), ValueError, r"X must have shape .* got shape \(\)"),
    "nothing": (lambda: bolstered(None, classifier=LDA), ValueError, r"X must have shape .* got shape \(\)"),
    "text": (
        lambda: bolstered(X.astype(str), classifier=LDA),
        ValueError,
        r"numeric; got values of type <U\d+.*encode",
    ),
    "text in a column": (
        lambda: bolstered(pd.DataFrame({"a": X[:, 0], "town": NAMES}), classifier=LDA),
        ValueError,
        r"got values of type float, str in town.*encode these columns",
    ),
    "bytes": (lambda: bolstered(X.astype("S8"), classifier=LDA), ValueError, r"numeric; got values of type \|S8"),
    "complex": (
        lambda: bolstered(X + 1j, classifier=LDA),
        ValueError,
        r"X must be numeric; got values of type complex",
    ),
    "dates": (
        lambda: bolstered(X.astype("M8[s]"), classifier=LDA),
        ValueError,
        r"numeric; got values of type datetime",
    ),
    "times": (
        lambda: bolstered(X.astype("m8[s]"), classifier=LDA),
        ValueError,
        r"numeric; got values of type timedelta",
    ),
    "records": (
        lambda: bolstered(np.zeros((N, 1), dtype=[("a", float)]), classifier=LDA),
        ValueError,
        r"X must be numeric; got values of type \[\('a'",
    ),
    "objects with None": (
        lambda: bolstered(changed(X, (0, 0), None, object), classifier=LDA),
        ValueError,
        r"X must be finite; got 1 NaN.*Impute or drop them",
    ),
    "objects with text": (
        lambda: bolstered(changed(X, (0, 0), "1.5", object), classifier=LDA),
        ValueError,
        r"got values of type float, str",
    ),
    "objects with dicts": (
        lambda: bolstered(changed(X, (0, 0), {}, object), classifier=LDA),
        ValueError,
        r"got values of type dict, float",
    ),
    "objects with dates": (
        lambda: bolstered(changed(X, (0, 0), datetime.date(2020, 1, 1), object), classifier=LDA),
        ValueError,
        r"got values of type date, float",
    ),
    "huge integers": (
        lambda: bolstered(changed(X, (0, 0), 10**400, object), classifier=LDA),
        ValueError,
        r"X must be numeric; got values of type float, int",
    ),
    "missing value of pandas": (
        lambda: bolstered(pd.DataFrame(X).convert_dtypes().mask(X > 1), classifier=LDA),
        ValueError,
        r"X must be (finite|numeric)",
    ),
    "rows of unequal length": (
        lambda: bolstered([[1.0, 2.0], [3.0]], [0, 1], LDA),
        ValueError,
        r"same shape; got a list",
    ),
    "tensor that needs gradients": (
        lambda: bolstered(torch.tensor(X, requires_grad=True), classifier=LDA),
        ValueError,
        r"X must be an array or a tensor of plain numbers; got one that needs gradients.*detach",
    ),
    "tensor that needs gradients for a pipeline": (
        lambda: folds(make_pipeline(StandardScaler(), LDA), torch.tensor(X, requires_grad=True)),
        ValueError,
        r"got one that needs gradients.*X.detach\(\)",
    ),
    "generator": (
        lambda: bolstered((row for row in X), classifier=LDA),
        ValueError,
        r"X must be numeric; got values of type",
    ),
    "dict": (lambda: bolstered({"a": X}, classifier=LDA), ValueError, r"X must be numeric; got values of type dict"),
    "half precision that overflows": (
        lambda: bolstered((1.5e4 * X).astype(np.float16), rule=KNeighborsClassifier(3)),
        ValueError,
        r"must fit the type of X, float16.*got values up to.*Pass X as float64",
    ),
    "other points NaN": (
        lambda: bg.Bolstered().fit(X, Y).error(LDA, changed(X, (0, 0), np.nan), Y),
        ValueError,
        r"X must be finite",
    ),
    "other points huge": (
        lambda: bg.Empirical().fit(X, Y).error(LDA, 1e300 * X, Y),
        ValueError,
        r"between -1e\+152 and",
    ),
    "other points masked": (
        lambda: bg.Empirical().fit(X, Y).error(LDA, np.ma.masked_less(X, 0), Y),
        ValueError,
        r"X must hold no masked values",
    ),
    "other number of features": (
        lambda: bg.Bolstered().fit(X, Y).error(LDA, X[:, :1], Y),
        ValueError,
        r"shape seen in fit, \(n, 2\); got \(n, 1\)",
    ),
    "other columns": (
        lambda: (
            bg.Empirical()
            .fit(pd.DataFrame(X, columns=["a", "b"]), Y)
            .error(LDA, pd.DataFrame(X, columns=["b", "a"]), Y)
        ),
        ValueError,
        r"columns seen in fit, in the same order",
    ),
}

LABELS = {
    "one class": (lambda: bolstered(y=np.zeros(N)), ValueError, r"at least two classes; got only \[0.0\]"),
    "too few": (
        lambda: bolstered(y=Y[:5], classifier=LDA),
        ValueError,
        r"one label per row of X; got shape \(5,\) for 30",
    ),
    "one-hot": (
        lambda: bolstered(y=np.eye(2)[Y], classifier=LDA),
        ValueError,
        r"one label per row of X; got shape \(30, 2",
    ),
    "NaN": (lambda: bolstered(y=changed(Y, 0, np.nan, float), classifier=LDA), ValueError, r"missing, NaN.*Drop"),
    "infinite": (
        lambda: bolstered(y=changed(Y, 0, np.inf, float), classifier=LDA),
        ValueError,
        r"infinite labels. Drop",
    ),
    "None": (lambda: bolstered(y=changed(NAMES, 0, None, object), classifier=LDA), ValueError, r"missing.*Drop"),
    "NA of pandas": (
        lambda: bolstered(y=changed(NAMES, 0, pd.NA, object), classifier=LDA),
        ValueError,
        r"y must not hold missing",
    ),
    "missing in nullable integers": (
        lambda: bolstered(y=pd.Series([None, *Y[1:]], dtype="Int64"), classifier=LDA),
        ValueError,
        r"y must not hold missing",
    ),
    "fractions": (
        lambda: bolstered(y=Y + 0.5, classifier=LDA),
        ValueError,
        r"fractional numbers such as 0.5.*regression",
    ),
    "bytes": (
        lambda: bolstered(y=NAMES.astype("S3"), classifier=LDA),
        TypeError,
        r"got bytes such as b'no'. Decode them",
    ),
    "objects of bytes": (
        lambda: bolstered(y=NAMES.astype("S3").astype(object), classifier=LDA),
        TypeError,
        r"got bytes such as b'no'. Decode them",
    ),
    "bytes for a resampler": (lambda: folds(y=NAMES.astype("S3")), TypeError, r"got bytes such as b'no'. Decode them"),
    "bytes for compare": (
        lambda: bg.compare(LinearDiscriminantAnalysis(), X, NAMES.astype("S3")),
        TypeError,
        r"got bytes such as b'no'. Decode them",
    ),
    "text and numbers": (
        lambda: bolstered(y=changed(NAMES, 0, 1, object), classifier=LDA),
        TypeError,
        r"labels of one type; got values of type int, str. Make all",
    ),
    "booleans and numbers": (
        lambda: bolstered(y=changed(Y, 0, True, object), classifier=LDA),
        TypeError,
        r"labels of one type; got values of type bool, int",
    ),
    "bytes and text": (
        lambda: bolstered(y=changed(NAMES, 0, b"no", object), classifier=LDA),
        TypeError,
        r"y must hold labels as strings or numbers; got bytes",
    ),
    "dicts": (
        lambda: bolstered(y=changed(NAMES, slice(None), {}, object)),
        TypeError,
        r"can be sorted; got values of type dict",
    ),
    "masked": (
        lambda: bolstered(y=np.ma.array(Y, mask=Y == 1), classifier=LDA),
        ValueError,
        r"y must hold no masked values",
    ),
    "tensor that needs gradients": (
        lambda: bolstered(y=torch.tensor(Y, dtype=float, requires_grad=True), classifier=LDA),
        ValueError,
        r"y must be an array or a tensor.*y.detach",
    ),
    "rows of unequal length": (
        lambda: bolstered(y=[[0], [1, 2]] * 15, classifier=LDA),
        ValueError,
        r"y must be an array",
    ),
    "word": (
        lambda: bolstered(y="yes", classifier=LDA),
        ValueError,
        r"y must have one label per row of X; got shape \(\)",
    ),
    "nothing": (
        lambda: bolstered(y=None, classifier=LDA),
        ValueError,
        r"y must have one label per row of X; got shape \(\)",
    ),
    "mapping": (
        lambda: bolstered(y={0: 1}, classifier=LDA),
        ValueError,
        r"y must have one label per row of X; got shape",
    ),
    "unknown to the classifier": (
        lambda: bolstered(y=Y + 5, classifier=LDA),
        ValueError,
        r"labels in y must be among \[0, 1\]; got \[5, 6\].*was y encoded",
    ),
    "unknown to the measure": (
        lambda: bg.Bolstered().fit(X, Y).error(LDA, X, Y + 1),
        ValueError,
        r"must be among \[0, 1\]; got \[2\]",
    ),
    "left out": (
        lambda: bg.Bolstered().fit(X, Y).error(LDA, X),
        ValueError,
        r"needs the labels.*got X without y. Pass y",
    ),
}

WEIGHTS = {
    "negative": (
        lambda: plain(LDA, weights=changed(np.ones(N), 0, -1)),
        ValueError,
        r"not negative; got a minimum of -1",
    ),
    "NaN": (lambda: plain(LDA, weights=changed(np.ones(N), 0, np.nan)), ValueError, r"sample_weight must be finite"),
    "infinite": (
        lambda: plain(LDA, weights=changed(np.ones(N), 0, np.inf)),
        ValueError,
        r"sample_weight must be finite",
    ),
    "zeros": (lambda: plain(LDA, weights=np.zeros(N)), ValueError, r"positive for at least one point; got zeros"),
    "too few": (
        lambda: plain(LDA, weights=[1, 2]),
        ValueError,
        r"one weight per row of X; got shape \(2,\) for 30 rows",
    ),
    "table": (lambda: plain(LDA, weights=np.ones((N, 1))), ValueError, r"one weight per row of X; got shape \(30, 1\)"),
    "text": (lambda: plain(LDA, weights=NAMES), ValueError, r"sample_weight must hold one number per row of X; got"),
    "masked": (
        lambda: plain(LDA, weights=np.ma.array(np.ones(N), mask=Y == 1)),
        ValueError,
        r"weight must hold no masked",
    ),
    "tensor that needs gradients": (
        lambda: plain(LDA, weights=torch.ones(N, requires_grad=True)),
        ValueError,
        r"sample_weight must be an array or a tensor.*detach",
    ),
    "one class left": (lambda: plain(LDA, weights=Y), ValueError, r"at least two classes; got only \[1\]"),
    "for a rule that takes none": (
        lambda: folds(KNeighborsClassifier(3), arguments={"sample_weight": np.ones(N)}),
        ValueError,
        r"KNeighborsClassifier takes no sample_weight in fit. Use an estimator that does",
    ),
}

PRIORS = {
    "negative": (
        lambda: bolstered(class_prior=[-0.5, 1.5]),
        ValueError,
        r"probabilities that sum to 1; got \[-0.5, 1.5\]",
    ),
    "sum of two": (
        lambda: bolstered(class_prior=[1, 1]),
        ValueError,
        r"sum to 1; got \[1.0, 1.0\]. Divide them by their",
    ),
    "NaN": (
        lambda: bolstered(class_prior=[np.nan, 1]),
        ValueError,
        r"class_prior must hold probabilities that sum to 1",
    ),
    "three": (
        lambda: bolstered(class_prior=[0.2, 0.3, 0.5]),
        ValueError,
        r"one probability for each of \[0, 1\]; got shape",
    ),
    "text": (
        lambda: bolstered(class_prior="equal"),
        ValueError,
        r"class_prior must give one number for each of \[0, 1\]",
    ),
    "unknown label": (
        lambda: bolstered(class_prior={0: 0.5, 2: 0.5}),
        ValueError,
        r"must name each of \[0, 1\] once; got",
    ),
    "label left out": (
        lambda: bolstered(class_prior={0: 1.0}),
        ValueError,
        r"must name each of \[0, 1\] once; got \[0\]",
    ),
    "of an estimate": (
        lambda: bolstered().with_class_prior([2, -1]),
        ValueError,
        r"class_prior must hold probabilities",
    ),
    "unknown by design": (
        lambda: float(bolstered(sampling="separate")),
        ValueError,
        r"an overall error is unknown.*Use with_class_prior",
    ),
}

SETTINGS = {
    "sampling": (lambda: bolstered(sampling="stratified"), ValueError, r"'mixture' or 'separate'; got 'stratified'"),
    "negative seed": (lambda: bg.Bolstered(random_state=-1).fit(X, Y), ValueError, r"random_state must be"),
    "fractional seed": (
        lambda: bg.Bolstered(random_state=1.5).fit(X, Y),
        (TypeError, ValueError),
        r"random_state must be",
    ),
    "generator as a seed": (
        lambda: bg.Bolstered(random_state=np.random.default_rng(0)).fit(X, Y),
        ValueError,
        r"an int, a SeedSequence or None; got a Generator.*Pass it to error",
    ),
    "no sampled points": (
        lambda: bolstered(n_points=0),
        ValueError,
        r"n_points must be a whole number of at least 1; got 0",
    ),
    "half a point": (
        lambda: bolstered(n_points=1.5),
        ValueError,
        r"n_points must be a whole number of at least 1; got 1.5",
    ),
    "True as a number of points": (
        lambda: bolstered(n_points=True),
        ValueError,
        r"whole number of at least 1; got True",
    ),
    "negative tolerance": (lambda: bolstered(tol=-1), ValueError, r"tol must be positive or None; got -1"),
    "NaN as a tolerance": (lambda: bolstered(tol=np.nan), ValueError, r"tol must be positive or None; got nan"),
    "no jobs": (lambda: bolstered(n_jobs=0), ValueError, r"n_jobs must be a whole number other than 0, or None; got 0"),
    "semi as text": (lambda: bolstered(semi="yes"), ValueError, r"semi must be True or False; got 'yes'"),
    "bounds of one number": (lambda: bolstered(bounds=3), ValueError, r"bounds must be a pair \(low, high\).*got 3"),
    "bounds reversed": (lambda: bolstered(bounds=(9, -9)), ValueError, r"low below high; got \(9, -9\)"),
    "bounds of NaN": (lambda: bolstered(bounds=(np.nan, 9)), ValueError, r"bounds must be a pair"),
    "bounds within the data": (lambda: bolstered(bounds=(0, 1)), ValueError, r"X must lie within bounds.*Widen bounds"),
    "unknown name": (lambda: bg.make_estimator("bolsterd"), ValueError, r"the names are bolstered"),
}

KERNELS = {
    "class": (lambda: bolstered(kernel=bg.SphericalGaussian), TypeError, r"kernel must be a Kernel such as"),
    "text": (lambda: bolstered(kernel="gaussian"), TypeError, r"kernel must be a Kernel such as.*got 'gaussian'"),
    "width that overflows": (
        lambda: bolstered(kernel=bg.SphericalGaussian(1e308)),
        ValueError,
        r"at most 1e\+152 wide.*got widths up to 1e\+308.*Lower the width",
    ),
    "width that overflows for a tree": (
        lambda: bolstered(kernel=bg.DiagonalGaussian(1e308), rule=DecisionTreeClassifier(random_state=0)),
        ValueError,
        r"got widths up to 1e\+308",
    ),
    "radius that overflows": (lambda: bolstered(kernel=bg.UniformBall(1e308)), ValueError, r"got widths up to 1e\+308"),
    "scale that overflows": (
        lambda: bolstered(kernel=bg.SphericalGaussian(scale=1e308)),
        ValueError,
        r"at most 1e\+152 wide.*times scale=1e\+308.*Lower the width or the scale",
    ),
    "NaN as a width": (lambda: bolstered(kernel=bg.SphericalGaussian(np.nan)), ValueError, r"finite and not negative"),
    "negative width": (lambda: bolstered(kernel=bg.UniformBall(-1)), ValueError, r"finite and not negative.*Use 0"),
    "text as a width": (
        lambda: bolstered(kernel=bg.SphericalGaussian("wide")),
        ValueError,
        r"must be a number or an array",
    ),
    "width of three classes": (
        lambda: bolstered(kernel=bg.SphericalGaussian([1, 2, 3])),
        ValueError,
        r"one per class \(2\) or one per training point \(30\).*got shape \(3,\)",
    ),
    "width of an unknown class": (
        lambda: bolstered(kernel=bg.SphericalGaussian({0: 1, 5: 1})),
        ValueError,
        r"keys of width must be among \[0, 1\]; got \[5\]",
    ),
    "NaN as a scale": (
        lambda: bolstered(kernel=bg.SphericalGaussian(scale=np.nan)),
        ValueError,
        r"scale \(kappa\) must be",
    ),
    "unknown space": (
        lambda: bolstered(kernel=bg.SphericalGaussian(standardize="global")),
        ValueError,
        r"'within-class' or None; got 'global'",
    ),
    "factor that overflows": (
        lambda: bg.Bolstered().fit(X, Y).errors_at_scales(LDA, [1, 1e308]),
        ValueError,
        r"scales must be at most 1e\+100; got 1e\+308. Lower them",
    ),
    "NaN as a factor": (
        lambda: bg.Bolstered().fit(X, Y).errors_at_scales(LDA, [np.nan]),
        ValueError,
        r"finite numbers",
    ),
    "no factors": (
        lambda: bg.Bolstered().fit(X, Y).errors_at_scales(LDA, []),
        ValueError,
        r"sequence of finite numbers",
    ),
    "class of one point": (
        lambda: bolstered(y=(np.arange(N) == 0).astype(int), classifier=LDA),
        ValueError,
        r"at least 2 points to estimate a kernel width; class 1 has 1. Add points",
    ),
}

POSTERIORS = {
    "sum of 1.4": (
        lambda: smoothed(lambda X: np.tile([1.4, 0.0], (len(X), 1))),
        ValueError,
        r"sum to 1; got a sum of 1.4",
    ),
    "zeros": (
        lambda: smoothed(lambda X: np.zeros((len(X), 2))),
        ValueError,
        r"sum to 1; got a sum of 0.*Divide each row",
    ),
    "negative": (
        lambda: smoothed(lambda X: np.tile([1.5, -0.5], (len(X), 1))),
        ValueError,
        r"at least 0; got -0.5.*calibrate",
    ),
    "NaN": (lambda: smoothed(lambda X: np.full((len(X), 2), np.nan)), ValueError, r"finite probabilities.*got nan"),
    "one column": (
        lambda: smoothed(lambda X: np.ones((len(X), 1))),
        ValueError,
        r"each of \[0, 1\]; got shape \(\d+, 1\)",
    ),
    "one dimension": (
        lambda: smoothed(lambda X: np.ones(len(X))),
        ValueError,
        r"one row per point.*got shape \(\d+,\)",
    ),
    "text": (
        lambda: smoothed(lambda X: np.full((len(X), 2), "likely")),
        TypeError,
        r"no array of numbers. Return a NumPy",
    ),
    "class": (
        lambda: bg.PosteriorProbability(bg.KNN).fit(X, Y),
        TypeError,
        r"posterior must be a Posterior such as KNN\(3\)",
    ),
    "no probabilities": (lambda: bg.PosteriorProbability(SVC()).fit(X, Y), TypeError, r"CalibratedClassifierCV gives"),
    "no neighbours": (lambda: bg.PosteriorProbability(bg.KNN(0)).fit(X, Y), ValueError, r"at least 1; got k=0"),
    "half a neighbour": (
        lambda: bg.PosteriorProbability(bg.KNN(1.5)).fit(X, Y),
        ValueError,
        r"whole number.*got k=1.5",
    ),
    "more neighbours than points": (
        lambda: bg.PosteriorProbability(bg.KNN(99)).fit(X, Y),
        ValueError,
        r"at most the number of training points; got k=99 with n=30. Lower k",
    ),
    "one fold": (
        lambda: bg.PosteriorProbability(bg.ClassifierPosterior(LDA, cv=1)).fit(X, Y),
        ValueError,
        r"cv must be at least 2 folds.*got cv=1",
    ),
    "no draws": (
        lambda: bg.PosteriorProbability(draws=0).fit(X, Y),
        ValueError,
        r"draws must be a whole number of at least 10",
    ),
}

CLASSIFIERS = {
    "class": (
        lambda: plain(LinearDiscriminantAnalysis),
        TypeError,
        r"fitted object with a predict method.*Fit a scikit",
    ),
    "unfitted": (
        lambda: plain(LinearDiscriminantAnalysis()),
        NotFittedError,
        r"must be fitted.*Call its fit\(X, y\) first",
    ),
    "nothing": (lambda: plain(None), TypeError, r"fitted object with a predict method; got None"),
    "transformer": (lambda: plain(StandardScaler().fit(X)), TypeError, r"fitted object with a predict method"),
    "regressor": (
        lambda: plain(LinearRegression().fit(X, Y)),
        ValueError,
        r"got fractional numbers such as.*Is this a regr",
    ),
    "random": (
        lambda: plain(flaky()),
        ValueError,
        r"must be a function of the point.*make its predictions deterministic",
    ),
    "depends on the batch": (
        lambda: plain(Says(lambda X: (X[:, 0] > X[:, 0].mean()).astype(int))),
        ValueError,
        r"changed \d+ of 30 labels.*Make it use what it learned",
    ),
    "squeezes single points": (
        lambda: bolstered(classifier=Says(lambda X: LDA.predict(X) if len(X) > 1 else np.zeros(1, dtype=int))),
        ValueError,
        r"predicted one by one. Make it use what it learned",
    ),
    "other features": (
        lambda: plain(LinearDiscriminantAnalysis().fit(X[:, :1], Y)),
        ValueError,
        r"trained on 1 features, X has 2. Put the feature selection",
    ),
    "other columns": (
        lambda: plain(
            LinearDiscriminantAnalysis().fit(pd.DataFrame(X, columns=["b", "a"]), Y),
            pd.DataFrame(X, columns=["a", "b"]),
        ),
        ValueError,
        r"same columns in the same order.*Reorder the columns",
    ),
    "invented labels": (
        lambda: plain(Says(lambda X: np.full(len(X), 7))),
        ValueError,
        r"must be among \[0, 1\]; got \[7\]. Give the classifier a `classes_`",
    ),
    "too many labels": (
        lambda: plain(Says(lambda X: np.zeros(99))),
        ValueError,
        r"one label per point; got shape \(99,\)",
    ),
    "scores": (lambda: plain(Says(lambda X: np.full(len(X), 0.3))), ValueError, r"got fractional numbers such as 0.3"),
    "NaN": (lambda: plain(Says(lambda X: np.full(len(X), np.nan))), ValueError, r"got fractional numbers such as nan"),
    "probabilities": (
        lambda: plain(Says(lambda X: np.full((len(X), 2), 0.5))),
        ValueError,
        r"got shape \(30, 2\) for 30",
    ),
    "labels of two types": (
        lambda: plain(Says(lambda X: np.array(["no", *[1] * (len(X) - 1)], dtype=object))),
        TypeError,
        r"must be of one type; got values of type int, str. Give the classifier",
    ),
    "ragged labels": (
        lambda: plain(Says(lambda X: [[0], [0, 1]] * (len(X) // 2))),
        TypeError,
        r"an array with one label per point; got a list.*Return a NumPy array",
    ),
    "labels that need gradients": (
        lambda: plain(Says(lambda X: torch.zeros(len(X), requires_grad=True))),
        TypeError,
        r"got a Tensor that cannot be read as one. Return a NumPy array, detached",
    ),
    "text for numbers": (
        lambda: plain(Says(lambda X: np.full(len(X), "no"))),
        ValueError,
        r"must be among \[0, 1\]; got \['no'",
    ),
}

RULES = {
    "class": (
        lambda: folds(LinearDiscriminantAnalysis),
        TypeError,
        r"estimator with fit and predict.*Pass an unfitted",
    ),
    "transformer": (
        lambda: folds(StandardScaler()),
        TypeError,
        r"estimator with fit and predict; got an object of type",
    ),
    "pipeline without predict": (
        lambda: folds(make_pipeline(StandardScaler())),
        TypeError,
        r"estimator with fit and predict",
    ),
    "frozen": (
        lambda: folds(FrozenEstimator(LDA)),
        TypeError,
        r"must learn from the points.*Pass the estimator inside",
    ),
    "in the place of X": (
        lambda: bg.CrossValidation().error(X, Y, LinearDiscriminantAnalysis()),
        TypeError,
        r"in the order \(rule, X, y\)",
    ),
    "cannot be cloned": (
        lambda: folds(type("Bare", (), {"fit": lambda self, X, y: self, "predict": lambda self, X: X[:, 0]})()),
        TypeError,
        r"can clone; got Bare.*Give it get_params",
    ),
    "one fold": (lambda: folds(n=1), ValueError, r"folds must be a whole number of at least 2; got 1"),
    "half a fold": (lambda: folds(n=2.5), ValueError, r"folds must be a whole number of at least 2; got 2.5"),
    "splitter as folds": (lambda: folds(n=KFold(3)), TypeError, r"indices="),
    "more folds than points": (
        lambda: folds(n=99),
        ValueError,
        r"at most the number of points; got folds=99 with 30. Lower",
    ),
    "groups too short": (
        lambda: folds(arguments={"groups": [1, 2]}),
        ValueError,
        r"one group per row of X; got shape \(2,\)",
    ),
    "groups with NaN": (
        lambda: folds(arguments={"groups": changed(np.arange(N) // 3, 0, np.nan, float)}),
        ValueError,
        r"groups must not hold missing names. Give each point",
    ),
    "one group": (lambda: folds(arguments={"groups": np.zeros(N)}), ValueError, r"at least two groups; got one"),
    "indices beyond the rows": (
        lambda: folds(arguments={"indices": [([0, 1], [99])]}),
        ValueError,
        r"from 0 to 29.*entry 0",
    ),
    "indices on both sides": (
        lambda: folds(arguments={"indices": [([0, 1], [1])]}),
        ValueError,
        r"has row 1 on both sides",
    ),
    "indices of floats": (
        lambda: folds(arguments={"indices": [([0.0, 1.0], [2.0])]}),
        ValueError,
        r"row numbers from 0 to 29",
    ),
    "no indices": (lambda: folds(arguments={"indices": []}), ValueError, r"at least one split; got none"),
    "classifier without predict": (
        lambda: folds(arguments={"classifier": 3}),
        TypeError,
        r"fitted object with a predict",
    ),
    "missing values": (lambda: folds(X=changed(X, (0, 0), np.nan)), ValueError, r"finite.*in a step of its Pipeline"),
    "unknown kind of bootstrap": (lambda: resampled(kind="one"), ValueError, r"'zero', '632' or '632\+'; got 'one'"),
    "one resample": (lambda: resampled(n=1), ValueError, r"n_resamples must be a whole number of at least 2; got 1"),
    "unknown clip": (lambda: resampled(kind="632+", clip="hard"), ValueError, r"clip must be one of.*got 'hard'"),
    "Bayesian measure inside": (
        lambda: folds(measure=bg.Bayesian()),
        TypeError,
        r"can be centred at the points held out",
    ),
    "calibrated plain measure": (
        lambda: bg.Calibrated(bg.Empirical()).error(LDA, X, Y),
        TypeError,
        r"kernels whose widths can",
    ),
    "labels left out": (
        lambda: bg.LeaveOneOut().error(LDA, X, None),
        ValueError,
        r"y must have one label per row of X",
    ),
    "test set of other features": (
        lambda: bg.TestSet(X[:, :1], Y).error(LDA),
        ValueError,
        r"trained on 2 features, X has 1",
    ),
    "test set with a rule": (
        lambda: bg.TestSet(X, Y).error(LinearDiscriminantAnalysis()),
        NotFittedError,
        r"classifier must be fitted",
    ),
    "unused resampler": (lambda: bg.CrossValidation().resume(), NotFittedError, r"has not been used; call error"),
}

COMPARISONS = {
    "unknown name": (lambda: bg.compare(LDA, X, Y, ["bolsterd"]), ValueError, r"the names are bolstered"),
    "nothing": (lambda: bg.compare(LDA, X, Y, []), ValueError, r"estimators must name at least one; got none"),
    "name twice": (
        lambda: bg.compare(LDA, X, Y, ["cv", "cv"]),
        ValueError,
        r"different names; got 'cv' twice. Rename one",
    ),
    "number": (lambda: bg.compare(LDA, X, Y, 3), TypeError, r"names, estimators or a dict of them; got 3"),
    "classifier as an estimator": (
        lambda: bg.compare(LDA, X, Y, [LDA]),
        TypeError,
        r"must hold measures and resamplers",
    ),
    "level of one": (lambda: bg.compare(LDA, X, Y, level=1), ValueError, r"level must be between 0 and 1; got 1"),
    "test of one part": (
        lambda: bg.compare(LDA, X, Y, ["cv"], test=X),
        TypeError,
        r"TestSet or a pair \(X_test, y_test\)",
    ),
    "masked": (lambda: bg.compare(LDA, np.ma.masked_less(X, 0), Y, ["cv"]), ValueError, r"no masked values"),
    "two classifiers by a plain measure": (
        lambda: bg.compare_classifiers(LDA, LDA, by=bg.Empirical().fit(X, Y)),
        ValueError,
        r"cannot be compared by the error that a measure.*Use by=TestSet",
    ),
    "two classifiers by a name": (
        lambda: bg.compare_classifiers(LDA, LDA, by="cv"),
        TypeError,
        r"by must be a TestSet",
    ),
    "two rules without data": (
        lambda: bg.compare_classifiers(LDA, LDA),
        ValueError,
        r"pass X and y, or use by=TestSet",
    ),
}

READINGS = {
    "level of zero": (
        lambda: bg.TestSet(X, Y).error(LDA).interval(0),
        ValueError,
        r"level must be between 0 and 1; got 0",
    ),
    "unknown interval": (
        lambda: bg.TestSet(X, Y).error(LDA).interval(method="wald"),
        ValueError,
        r"method must be 'clopper-pearson' for this estimate; got 'wald'",
    ),
    "interval of training points": (
        lambda: plain(LDA).interval(),
        ValueError,
        r"no interval is offered for this estimate: the",
    ),
    "probability without draws": (
        lambda: plain(LDA).probability_below(0.1),
        ValueError,
        r"has none: the contributions",
    ),
    "probability of a test set": (
        lambda: bg.TestSet(X, Y).error(LDA).probability_below(0.1),
        ValueError,
        r"has none: its interval covers",
    ),
    "cost of another shape": (
        lambda: plain(LDA).cost([1, 2]),
        ValueError,
        r"finite matrix of shape \(2, 2\).*got shape \(2,",
    ),
    "cost of NaN": (lambda: plain(LDA).cost([[0, np.nan], [1, 0]]), ValueError, r"finite matrix of shape \(2, 2\)"),
    "loss of another shape": (
        lambda: bg.Empirical().fit(X, Y).expectation(lambda X, y: np.zeros(3)),
        ValueError,
        r"one finite number per point; got shape \(3,\)",
    ),
    "event of numbers": (
        lambda: bg.Empirical().fit(X, Y).probability(lambda X, y: y),
        TypeError,
        r"event must return booleans.*Use expectation",
    ),
    "negative number of draws": (
        lambda: bg.Empirical().fit(X, Y).sample(-1),
        ValueError,
        r"n must be a whole number of at lea",
    ),
    "unfitted measure": (lambda: bg.Bolstered().error(LDA), NotFittedError, r"not fitted; call fit\(X, y\) first"),
    "stored value that was changed": (lambda: stored(value=0.99), ValueError, r"value of a stored estimate must agree"),
    "stored version of the future": (
        lambda: stored(version=9),
        ValueError,
        r"must have version 1; got 9. Read it with",
    ),
    "stored list": (lambda: bg.ErrorEstimate.from_dict([1, 2]), TypeError, r"read from a dict; got a list. Read what"),
    "stored text that is cut": (
        lambda: bg.ErrorEstimate.from_json('{"value": 0.'),
        ValueError,
        r"text that to_json wrote; got",
    ),
    "stored mass of two": (
        lambda: stored(replicate_confusions=[[[1.0, 0.0], [0.0, 1.0]]]),
        ValueError,
        r"a mass that sums to 1; got 2",
    ),
}

REFUSED = {
    f"{part}: {name}": row
    for part, rows in {
        "features": FEATURES,
        "labels": LABELS,
        "weights": WEIGHTS,
        "prior": PRIORS,
        "setting": SETTINGS,
        "kernel": KERNELS,
        "posterior": POSTERIORS,
        "classifier": CLASSIFIERS,
        "rule": RULES,
        "comparison": COMPARISONS,
        "reading": READINGS,
    }.items()
    for name, row in rows.items()
}

TWICE, BOTH = np.vstack([X, X[:10]]), np.r_[Y, 1 - Y[:10]]
FAR = (1e7 + 0.8 * X).astype(np.float32)
WITH_CONSTANT = np.c_[X, np.full(N, 7.0)]


def at_grid(measure, classifier, n=40_000):
    """Return the share of draws from a measure that a classifier gets wrong."""
    points, labels = measure.sample(n, random_state=1)
    return resubstituted(classifier, points, labels)


def far_from_zero():
    return bg.Bolstered(n_points=2048, random_state=0).fit(FAR, Y)


def held_out(rule, X=X, y=Y):
    """Return the mean over two halves of the errors of a rule trained on the other."""
    X, y = np.asarray(X), np.asarray(y)
    return np.mean([resubstituted(clone(rule).fit(X[a], y[a]), X[b], y[b]) for a, b in (HALF, HALF[::-1])])


HALVES = {"indices": [tuple(HALF), tuple(HALF[::-1])]}

ANSWERED = {
    "features as they should be": (lambda: bolstered(), by_hand),
    "features as a list": (lambda: bolstered(X.tolist()), by_hand),
    "features as nested tuples": (lambda: bolstered(tuple(map(tuple, X))), by_hand),
    "features in Fortran order": (lambda: bolstered(np.asfortranarray(X)), by_hand),
    "features as a strided view": (lambda: bolstered(np.repeat(X, 2, axis=0)[::2]), by_hand),
    "features that are read-only": (lambda: bolstered(np.broadcast_to(X, (1, N, 2))[0]), by_hand),
    "features of the other byte order": (lambda: bolstered(X.astype(">f8"), classifier=LDA), by_hand),
    "features in extended precision": (lambda: bolstered(X.astype(np.longdouble), classifier=LDA), by_hand),
    "features as objects": (lambda: bolstered(X.astype(object), classifier=LDA), by_hand),
    "features as decimals": (
        lambda: bolstered(np.array([[Decimal(value) for value in row] for row in X.tolist()]), classifier=LDA),
        by_hand,
    ),
    "features as a masked array without a mask": (lambda: bolstered(np.ma.array(X)), by_hand),
    "features as a tensor": (lambda: bolstered(torch.tensor(X), classifier=LDA), by_hand),
    "features in columns without names": (lambda: bolstered(pd.DataFrame(X), classifier=LDA), by_hand),
    "features in nullable columns": (lambda: bolstered(pd.DataFrame(X).astype("Float64"), classifier=LDA), by_hand),
    "features in columns of one name": (
        lambda: bolstered(pd.DataFrame(X, columns=["a", "a"]), classifier=LDA),
        by_hand,
    ),
    "features a billion times as large": (lambda: bolstered(1e9 * X), by_hand),
    "features of 1e100": (lambda: bolstered(X * [1e100, 1], rule=make_pipeline(StandardScaler(), LDA)), by_hand),
    "features of 1e-100": (lambda: bolstered(X * [1, 1e-100], rule=make_pipeline(StandardScaler(), LDA)), by_hand),
    "features with an offset": (lambda: bolstered(X + 1e6), by_hand),
    "features of integers": (lambda: bolstered(np.round(9 * X).astype(int)), lambda: by_hand(np.round(9 * X))),
    "features of small integers": (
        lambda: bolstered(np.round(9 * X).astype(np.int8)),
        lambda: by_hand(np.round(9 * X)),
    ),
    "features of one column": (
        lambda: bolstered(X[:, :1]),
        lambda: by_hand(X[:, :1]),
    ),
    "constant feature": (
        lambda: bolstered(WITH_CONSTANT, rule=SVC(kernel="linear")),
        lambda: by_hand(WITH_CONSTANT, classifier=SVC(kernel="linear").fit(WITH_CONSTANT, Y)),
    ),
    "features of booleans": (lambda: plain(CART, X > 0), lambda: resubstituted(CART, X > 0)),
    "labels of text": (lambda: bolstered(y=NAMES), by_hand),
    "labels of objects": (lambda: bolstered(y=NAMES.astype(object)), by_hand),
    "labels of booleans": (lambda: bolstered(y=Y == 1), by_hand),
    "labels in a category": (
        lambda: bolstered(y=pd.Categorical(NAMES), classifier=LinearDiscriminantAnalysis().fit(X, NAMES)),
        by_hand,
    ),
    "labels in a column": (lambda: bolstered(y=Y[:, None], classifier=LDA), by_hand),
    "labels as whole floats": (lambda: bolstered(y=Y.astype(float)), by_hand),
    "labels of unsigned integers": (lambda: bolstered(y=Y.astype(np.uint8)), by_hand),
    "labels that are negative": (lambda: bolstered(y=-5 + 10 * Y), by_hand),
    "labels of large integers": (lambda: bolstered(y=2**62 + Y), by_hand),
    "labels of other alphabets": (lambda: bolstered(y=np.array(["ja", "не"])[Y]), by_hand),
    "labels with spaces and newlines": (lambda: bolstered(y=np.array(["", " \n"])[Y]), by_hand),
    "labels as nullable integers": (lambda: bolstered(y=pd.Series(Y, dtype="Int64"), classifier=LDA), by_hand),
    "labels of objects that are numbers": (lambda: bolstered(y=Y.astype(object), classifier=LDA), by_hand),
    "labels as a tensor": (lambda: bolstered(y=torch.tensor(Y), classifier=LDA), by_hand),
    "weights of 1e308": (lambda: bolstered(weights=np.full(N, 1e308)), by_hand),
    "weights that are subnormal": (lambda: bolstered(weights=np.full(N, 1e-310)), by_hand),
    "weights of very unequal size": (
        lambda: bolstered(weights=10.0 ** np.arange(N)),
        lambda: by_hand(weights=10.0 ** np.arange(N)),
    ),
    "weights as integers": (lambda: plain(LDA, weights=1 + Y), lambda: resubstituted(LDA, weights=1 + Y)),
    "weights of booleans": (
        lambda: plain(LDA, weights=np.arange(N) < 20),
        lambda: resubstituted(LDA, X[:20], Y[:20]),
    ),
    "prior without one class": (
        lambda: plain(LDA).with_class_prior([0, 1]),
        lambda: resubstituted(LDA, X[Y == 1], Y[Y == 1]),
    ),
    "covariance of any size, which only gives a shape": (
        lambda: bolstered(kernel=bg.FullGaussian(covariance=1e250 * np.eye(2))),
        lambda: float(bolstered(kernel=bg.FullGaussian(covariance=np.eye(2)))),
    ),
    "width of zero": (lambda: bolstered(kernel=bg.SphericalGaussian(0)), lambda: resubstituted(LDA)),
    "width far below rounding": (lambda: bolstered(kernel=bg.SphericalGaussian(1e-300)), lambda: resubstituted(LDA)),
    "width far beyond the data": (lambda: bolstered(kernel=bg.SphericalGaussian(1e100)), lambda: 0.5),
    "factor far beyond the data": (lambda: bg.Bolstered().fit(X, Y).errors_at_scales(LDA, [1e99])[0], lambda: 0.5),
    "classifier that lists other classes too": (
        lambda: plain(Says(LDA.predict, (0, 1, 2))),
        lambda: resubstituted(LDA),
    ),
    "classifier that lists no classes": (lambda: plain(Says(LDA.predict, None)), lambda: resubstituted(LDA)),
    "classifier that returns a list": (
        lambda: plain(Says(lambda X: LDA.predict(X).tolist())),
        lambda: resubstituted(LDA),
    ),
    "classifier that returns a column": (
        lambda: plain(Says(lambda X: LDA.predict(X)[:, None])),
        lambda: resubstituted(LDA),
    ),
    "classifier that returns a tensor": (
        lambda: plain(Says(lambda X: torch.tensor(LDA.predict(X)))),
        lambda: resubstituted(LDA),
    ),
    "classifier that overwrites its input": (
        lambda: plain(Says(lambda X: (LDA.predict(X), X.fill(0))[0])),
        lambda: resubstituted(LDA),
    ),
    "classifier of one label": (lambda: plain(Says(lambda X: np.zeros(len(X), dtype=int))), lambda: 0.5),
    "posterior in single precision": (
        lambda: smoothed(lambda X: np.tile(np.array([0.1, 0.9], dtype=np.float32), (len(X), 1))),
        lambda: np.mean(np.where(LDA.predict(X) == 0, 0.9, 0.1)),
    ),
    "posterior of integers": (
        lambda: smoothed(lambda X: np.tile([0, 1], (len(X), 1))),
        lambda: np.mean(LDA.predict(X) == 0),
    ),
    "rule that shows predict after fit": (
        lambda: folds(Hidden(), arguments=HALVES),
        lambda: held_out(LinearDiscriminantAnalysis()),
    ),
    "rule that imputes": (
        lambda: folds(make_pipeline(SimpleImputer(), LDA), changed(X, (3, 1), np.nan), arguments=HALVES),
        lambda: held_out(make_pipeline(SimpleImputer(), LDA), changed(X, (3, 1), np.nan)),
    ),
    "rule for text columns": (
        lambda: folds(
            make_pipeline(OneHotEncoder(), SVC()),
            pd.DataFrame({"town": np.array(["a", "b", "c"])[np.arange(N) % 3]}),
            arguments=HALVES,
        ),
        lambda: held_out(
            make_pipeline(OneHotEncoder(), SVC()),
            np.array(["a", "b", "c"])[np.arange(N) % 3][:, None],
        ),
    ),
    "rows of weight zero": (
        lambda: plain(LDA, changed(X, 0, 1e6), Y, weights=changed(np.ones(N), 0, 0)),
        lambda: resubstituted(LDA, X[1:], Y[1:]),
    ),
}


SAMPLED = {
    "single precision far from zero": (
        lambda: far_from_zero().error(LinearDiscriminantAnalysis().fit(FAR, Y)),
        lambda: at_grid(far_from_zero(), LinearDiscriminantAnalysis().fit(FAR, Y)),
    ),
    "neighbours among rows with both labels": (
        lambda: bolstered(TWICE, BOTH, rule=KNeighborsClassifier(3), n_points=2048),
        lambda: at_grid(bg.Bolstered().fit(TWICE, BOTH), KNeighborsClassifier(3).fit(TWICE, BOTH)),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_odd_input_is_refused_with_the_rule_what_was_got_and_a_remedy(name):
    call, kind, message = REFUSED[name]
    with pytest.raises(kind, match=f"(?s){message}"):
        call()


@pytest.mark.parametrize("name", ANSWERED)
def test_odd_input_is_answered_as_another_computation_does(name):
    call, otherwise = ANSWERED[name]
    value = float(call())
    assert 0 <= value <= 1
    assert value == pytest.approx(otherwise(), abs=1e-7)


@pytest.mark.parametrize("name", SAMPLED)
def test_odd_input_is_sampled_as_the_classifier_predicts(name):
    """Within 4.5 standard errors of 40,000 draws and of the points sampled: a false alarm in 1e-5 of seeds."""
    call, otherwise = SAMPLED[name]
    estimate, expected = call(), otherwise()
    noise = np.hypot(estimate.std_error, np.sqrt(expected * (1 - expected) / 40_000))
    assert not estimate.computation.exact
    assert abs(estimate.value - expected) < 4.5 * noise


def test_table_holds_150_kinds_of_odd_input():
    assert len(REFUSED) + len(ANSWERED) + len(SAMPLED) >= 150
