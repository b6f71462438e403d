"""Measures in a space of learned features, such as a network's penultimate layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing

from bayes_gresub.data.arrays import Floats, Labels
from bayes_gresub.data.sample import Sample, read_features, read_labels
from bayes_gresub.data.seeds import PARTS, Seed, child, seed_sequence
from bayes_gresub.data.validation import warn_user
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.laws.law import Law
from bayes_gresub.measures.measure import Measure, MeasuredValue, PointFunction
from bayes_gresub.regions.region import Region
from bayes_gresub.regions.training import trained

_PENALTIES = np.logspace(-2, 4, 7)
_COLLAPSED = (
    "the extractor may have been trained on these points: then their features have collapsed onto the classes, "
    "unlike those of new points, and the estimated error is far too small. Use an extractor trained on other data and "
    "set held_out=True, or use out-of-fold features with cv=5."
)


def on_features(measure: Measure, extractor: Any, *, cv: Any = None, held_out: bool = False) -> FeatureMeasure:
    """Return a measure on the features that an extractor computes from X.

    Images have hundreds of pixels; a network's penultimate layer has a few dozen numbers, on which kernels, Gaussian
    processes and class models make sense. But features of the points that the network was trained on have collapsed
    onto their classes: for 200 digits, bolstering in that space gives 0.02 for a true error of 0.11. So the extractor
    must come from other data (`held_out=True`), or features must be out of fold (`cv=`), which helps in part; otherwise
    `fit` warns.

    Parameters
    ----------
    measure : Measure
        Any unfitted measure; it is fitted to features in place of X.
    extractor : fitted transformer, network or callable
        Something with `transform`, such as `TorchFeatures(module)`; something with `features()`, such as a trained
        `LeNet5`; or a function from X to features.
    cv : int or splitter, optional
        Refit a copy of the extractor without each fold, and compute the features of the fold with it. Each copy has its
        own coordinates; a ridge regression at the points that the copy was trained on maps them to those of
        `extractor`.
    held_out : bool, default False
        Declare that the extractor was not trained on the points that the measure is fitted to.

    Returns
    -------
    FeatureMeasure
        `fit(X, y)`, then `error(head)`: the classifier takes features, as `LeNet5.head()` does.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.linear_model import LogisticRegression
    >>> import bayes_gresub as bg
    >>> X, y = load_digits(return_X_y=True)
    >>> pca = PCA(10).fit(X[500:])
    >>> head = LogisticRegression(max_iter=1000).fit(pca.transform(X[:200]), y[:200])
    >>> measure = bg.on_features(bg.Bolstered(random_state=0), pca, held_out=True).fit(X[:200], y[:200])
    >>> 0.02 < float(measure.error(head)) < 0.1
    True
    """
    return FeatureMeasure(measure, extractor, cv=cv, held_out=held_out)


class FeatureMeasure(Measure):
    """A measure on the features that an extractor computes from X; made by `on_features`.

    Attributes
    ----------
    measure_ : Measure
        The fitted measure on features.
    """

    is_centred = False

    def __init__(self, measure: Any, extractor: Any, *, cv: Any = None, held_out: bool = False) -> None:
        self.measure = measure
        self.extractor = extractor
        self.cv = cv
        self.held_out = held_out

    def __sklearn_clone__(self) -> Self:
        # The extractor is fitted to other points, or refitted by cv: a clone must not forget what it has learned.
        return type(self)(clone(self.measure), self.extractor, cv=self.cv, held_out=self.held_out)

    @property
    def sampling(self) -> str:  # type: ignore[override]
        """Return that of the measure on features."""
        return str(self.measure.sampling)

    @property
    def class_prior(self) -> Any:
        """Return that of the measure on features."""
        return self.measure.class_prior

    @property
    def random_state(self) -> Seed:  # type: ignore[override]
        """Return that of the measure on features."""
        return self.measure.random_state

    @property
    def has_draws(self) -> bool:  # type: ignore[override]
        """Return whether `error` returns posterior draws, as for the measure on features."""
        return bool(self.measure.has_draws)

    @property
    def draws_at_training_points(self) -> bool:  # type: ignore[override]
        """Return whether these are draws of labels at training points, as for the measure on features."""
        return bool(self.measure.draws_at_training_points)

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the measure from the features of a sample; parameters as in `Measure.fit`."""
        self._check_parameters()
        points = _as_given(X)
        labels = read_labels(y, len(points))
        if self.cv is not None:
            features = self._out_of_fold(points, labels)
        else:
            features = _extract_features(self._extract(), points)
            if not self.held_out:
                warn_user(_COLLAPSED)
        fitted = clone(self.measure).fit(features, labels, sample_weight=sample_weight)
        self.measure_ = fitted
        self._remember(fitted.training_sample)
        return self

    def fit_sample(self, sample: Sample, seed: np.random.SeedSequence) -> Self:
        """Raise: a resampler would have to refit the extractor too."""
        raise TypeError(
            "a measure on learned features cannot be part of resampling: the extractor would have to be refitted in "
            "every split. Put it into the rule's Pipeline."
        )

    def error(
        self,
        classifier: Any,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        random_state: Seed = None,
    ) -> ErrorEstimate:
        """Return the mass of the set of features where `classifier`, which takes features, errs."""
        self.training_sample  # noqa: B018 - raises before fit
        features = None if X is None else _extract_features(self._extract(), _as_given(X))
        return self.measure_.error(classifier, features, y, sample_weight=sample_weight, random_state=random_state)

    def sample(self, n: int, *, classifier: Any = None, random_state: Seed = None) -> tuple[Any, Labels]:
        """Draw n independent pairs of features and label."""
        self.training_sample  # noqa: B018 - raises before fit
        return self.measure_.sample(n, classifier=classifier, random_state=random_state)

    def expectation(self, loss: PointFunction, *, classifier: Any = None, random_state: Seed = None) -> MeasuredValue:
        """Return the mean of `loss(features, y)`; parameters as in `Measure.expectation`."""
        self.training_sample  # noqa: B018 - raises before fit
        return self.measure_.expectation(loss, classifier=classifier, random_state=random_state)

    def law(self, at: Sample | None = None, region: Region | None = None) -> Law:
        """Return the law of features; parameters as in `Measure.law`."""
        self.training_sample  # noqa: B018 - raises before fit
        return self.measure_.law(at, region)

    def _fit(self, sample: Sample, seed: np.random.SeedSequence) -> None:
        raise AssertionError("fit does it all")

    def _extract(self) -> Callable[[Any], Any]:
        return _as_function(self.extractor)

    def _out_of_fold(self, points: Any, labels: Labels) -> Floats:
        whole = _extract_features(self._extract(), points)
        features = np.full_like(whole, np.nan)
        seed = seed_sequence(self.random_state)
        for fold, (train, test) in enumerate(check_cv(self.cv, labels, classifier=True).split(points, labels)):
            model = trained(
                self.extractor, _safe_indexing(points, train), labels[train], None, child(seed, PARTS, fold)
            )
            extract = _as_function(model)
            mapping = RidgeCV(_PENALTIES).fit(_extract_features(extract, _safe_indexing(points, train)), whole[train])
            features[test] = mapping.predict(_extract_features(extract, _safe_indexing(points, test)))
        if np.isnan(features).any():
            raise ValueError("cv must put every point in a test fold; got a splitter that leaves some out. Use KFold.")
        return features

    def _check_parameters(self) -> None:
        if isinstance(self.measure, type) or not isinstance(self.measure, Measure):
            raise TypeError(f"measure must be a measure such as Bolstered(); got {self.measure!r}.")
        self.measure._check_parameters()
        if not isinstance(self.held_out, bool | np.bool_):
            raise ValueError(f"held_out must be True or False; got {self.held_out!r}.")
        _as_function(self.extractor)
        if self.cv is None:
            return
        if self.held_out:
            raise ValueError("give cv or held_out=True, not both: held-out features need no folds.")
        if not (hasattr(self.extractor, "fit") and hasattr(self.extractor, "get_params")):
            raise TypeError(
                "cv refits copies of the extractor, which needs fit and get_params; got "
                f"{type(self.extractor).__name__}. Use one trained on other data, and set held_out=True."
            )


def _as_function(extractor: Any) -> Callable[[Any], Any]:
    """Return the function from points to features."""
    if not isinstance(extractor, type):
        if callable(getattr(extractor, "features", None)):
            return extractor.features().transform
        if callable(getattr(extractor, "transform", None)):
            return extractor.transform
        if callable(extractor):
            return extractor
    raise TypeError(
        "extractor must be a fitted transformer, something with features() such as a trained LeNet5, or a function; "
        f"got {extractor!r}."
    )


def _extract_features(extract: Callable[[Any], Any], points: Any) -> Floats:
    features = np.asarray(extract(points), dtype=np.float64)
    if features.ndim < 2 or len(features) != len(points):
        raise ValueError(
            f"the extractor must return one row of features per point; got shape {features.shape} for {len(points)} "
            "points."
        )
    return features.reshape(len(features), -1)


def _as_given(X: ArrayLike) -> Any:
    """Return validated points in their original format."""
    flat, form = read_features(X)
    return form.unmoved().restore(flat, form.feature_names)
