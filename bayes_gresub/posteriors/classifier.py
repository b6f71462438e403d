"""A posterior from any scikit-learn classifier with predict_proba."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.sample import encode_labels
from bayes_gresub.data.seeds import POSTERIOR, Seed, child, seed_sequence
from bayes_gresub.data.validation import warn_user
from bayes_gresub.posteriors.posterior import Posterior, checked_probabilities
from bayes_gresub.posteriors.temperature import find_temperature, scale_probabilities
from bayes_gresub.regions.geometry import listed_classes
from bayes_gresub.regions.training import shows_predict_later, trained, weight_argument


class ClassifierPosterior(Posterior):
    """Class probabilities of a scikit-learn classifier, out of fold at the training points.

    The estimator is cloned and refitted on the sample. At a training point the probabilities come from a fit that did
    not see it: in-sample probabilities confirm the labels that they were fitted to. A model trained elsewhere is
    passed as scikit-learn's FrozenEstimator and used as it is.

    Parameters
    ----------
    estimator : classifier with `predict_proba`
        Preferably a calibrated one.
    cv : int, splitter or None, default 5
        Folds for the probabilities at the training points, as scikit-learn means them; None for in-sample ones.
    temperature : bool, default False
        Scale all probabilities by the temperature that minimises the log loss of the out-of-fold ones: for networks,
        whose softmax is far too confident. For a network that fits all its points the posterior-probability estimate
        is then too large, the mean of 1 - P(label); in-sample probabilities make it nearly 0.

    Attributes
    ----------
    temperature_ : float
        1 if `temperature` is False.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> posterior = ClassifierPosterior(LogisticRegression(max_iter=1000)).fit(X, y)
    >>> posterior.training_proba().shape
    (150, 3)
    """

    is_checked = True

    def __init__(self, estimator: Any, cv: Any = 5, temperature: bool = False) -> None:
        self.estimator = estimator
        self.cv = cv
        self.temperature = temperature

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, random_state: Seed = None
    ) -> Self:
        """Fit a clone on the sample, and clones on its folds for the training points.

        Parts of the estimator whose `random_state` is None take one from `random_state`.
        """
        labels = np.asarray(y)
        features = X if hasattr(X, "iloc") else np.asarray(X)
        self.classes_, counts = np.unique(labels, return_counts=True)
        self._frozen = isinstance(self.estimator, FrozenEstimator)
        self._check_estimator(counts, sample_weight is not None)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
        self.temperature_ = 1.0
        self._fold_models: list[Any] = []
        self._fold_of: Ints | None = None
        if self._frozen:
            self.estimator_ = self.estimator
            self._training = self._probabilities(self.estimator_, features)
            return self
        seed = None if random_state is None else seed_sequence(random_state)
        self.estimator_ = trained(self.estimator, features, labels, weights, _child_seed(seed, 0))
        if self.cv is None:
            self._training = self._probabilities(self.estimator_, features)
            return self
        self._training = np.full((len(labels), len(self.classes_)), np.nan)
        self._fold_of = np.full(len(labels), -1)
        for fold, (train, test) in enumerate(check_cv(self.cv, labels, classifier=True).split(features, labels)):
            fold_weights = None if weights is None else weights[train]
            model = trained(
                self.estimator, _take_rows(features, train), labels[train], fold_weights, _child_seed(seed, 1 + fold)
            )
            self._fold_models.append(model)
            self._training[test] = self._probabilities(model, _take_rows(features, test))
            self._fold_of[test] = fold
        if (self._fold_of < 0).any():
            raise ValueError("cv must put every point in a test fold; got a splitter that leaves some out. Use KFold.")
        if self.temperature:
            codes = encode_labels(labels, self.classes_, "labels in y", "")
            self.temperature_ = find_temperature(self._training, codes, weights)
            self._training = scale_probabilities(self._training, self.temperature_)
        return self

    @property
    def space_(self) -> str:
        """Return in words where the probabilities come from."""
        check_is_fitted(self)
        name = type(self.estimator.estimator if self._frozen else self.estimator).__name__
        how = "as trained elsewhere" if self._frozen else "in sample" if self.cv is None else "out of fold"
        scale = f" at temperature {self.temperature_:.3g}" if self.temperature else ""
        return f"probabilities of {name}, {how}{scale}"

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the probabilities of the fit on the whole sample."""
        check_is_fitted(self)
        return self._at_temperature(self._probabilities(self.estimator_, X))

    def sampled_proba(self, X: ArrayLike, owners: Ints | None = None) -> Floats:
        """Return the probabilities at sampled points, from the fit that did not see the point they lie about."""
        if owners is None or self._fold_of is None:
            return self.predict_proba(X)
        points = X if hasattr(X, "iloc") else np.asarray(X)
        result = np.empty((len(owners), len(self.classes_)))
        for fold, model in enumerate(self._fold_models):
            rows = np.flatnonzero(self._fold_of[owners] == fold)
            if len(rows):
                result[rows] = self._probabilities(model, _take_rows(points, rows))
        return self._at_temperature(result)

    def _at_temperature(self, probabilities: Floats) -> Floats:
        return scale_probabilities(probabilities, self.temperature_) if self.temperature else probabilities

    def training_proba(self) -> Floats:
        """Return the out-of-fold probabilities; in-sample ones with cv=None or a frozen estimator."""
        check_is_fitted(self)
        return self._training

    def warn_if_same(self, classifier: Any) -> None:
        """Warn if a frozen estimator is the classifier that is judged: it would confirm itself."""
        model = self.estimator.estimator if self._frozen else None
        if model is not None and (classifier is model or getattr(classifier, "estimator", None) is model):
            warn_user(
                "the posterior is the classifier being judged: its own probabilities confirm its predictions, and "
                "the estimate is too low. Use another model, or an unfrozen one, which is refitted out of fold."
            )

    def _check_estimator(self, counts: Ints, weighted: bool) -> None:
        if not shows_predict_later(self.estimator):
            _need_probabilities(self.estimator)
        if self.temperature and (self._frozen or self.cv is None):
            raise ValueError(
                "a temperature is learned from out-of-fold probabilities, which a frozen estimator, or cv=None, does "
                "not have. Give cv folds, or learn it at held-out points with TemperatureScaled."
            )
        if self._frozen:
            return
        if weighted:
            weight_argument(self.estimator)
        if isinstance(self.cv, int) and self.cv < 2:
            raise ValueError(f"cv must be at least 2 folds, or None for in-sample probabilities; got cv={self.cv}.")
        if isinstance(self.cv, int) and counts.min() < self.cv:
            raise ValueError(
                f"out-of-fold probabilities need at least cv={self.cv} points of every class; "
                f"class {self.classes_.tolist()[counts.argmin()]!r} has {counts.min()}. Lower cv, or use None for "
                "in-sample probabilities."
            )

    def _probabilities(self, model: Any, X: Any) -> Floats:
        """Return columns in the order of the sample's classes, which share the probability of all other classes."""
        _need_probabilities(model)
        known = listed_classes(model)
        if known is None:
            raise TypeError(
                "the estimator of a posterior must list its classes in classes_, in the order of the columns of "
                f"predict_proba; {type(model).__name__} lists none. Set classes_ in its fit."
            )
        remedy = "The frozen model was trained without these classes."
        columns = encode_labels(self.classes_, known, "labels in y", remedy)
        aligned = checked_probabilities(model.predict_proba(X), len(X), known, model)[:, columns]
        if len(known) == len(columns):
            return aligned
        total = aligned.sum(axis=1, keepdims=True)
        if (total <= 0).any():
            raise ValueError(
                f"the posterior must give the classes of y, {self.classes_.tolist()!r}, some probability at every "
                f"point; {type(model).__name__} gives all of it to other classes at {int((total <= 0).sum())} points."
            )
        return np.asarray(aligned / total)


def _child_seed(seed: np.random.SeedSequence | None, number: int) -> np.random.SeedSequence | None:
    return None if seed is None else child(seed, POSTERIOR, number)


def _need_probabilities(estimator: Any) -> None:
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(
            f"estimator must have predict_proba; {type(estimator).__name__} has none. "
            "Wrap it in sklearn.calibration.CalibratedClassifierCV."
        )


def _take_rows(X: Any, rows: Ints) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]
