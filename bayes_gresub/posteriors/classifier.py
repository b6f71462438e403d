"""A posterior from any scikit-learn classifier with predict_proba."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import cross_val_predict
from sklearn.utils.validation import has_fit_parameter

from bayes_gresub.classifiers.inputs import encode_labels
from bayes_gresub.components import Floats
from bayes_gresub.posteriors.base import Posterior


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

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> posterior = ClassifierPosterior(LogisticRegression(max_iter=1000)).fit(X, y)
    >>> posterior.training_proba().shape
    (150, 3)
    """

    def __init__(self, estimator: Any, cv: Any = 5) -> None:
        self.estimator = estimator
        self.cv = cv

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> ClassifierPosterior:
        """Fit a clone on the sample, and clones on its folds for `training_proba`."""
        if not hasattr(self.estimator, "predict_proba"):
            raise TypeError(
                f"estimator must have predict_proba; {type(self.estimator).__name__} has none. "
                "Wrap it in sklearn.calibration.CalibratedClassifierCV."
            )
        labels = np.asarray(y)
        self.classes_, counts = np.unique(labels, return_counts=True)
        self._frozen = isinstance(self.estimator, FrozenEstimator)
        weightless = not self._frozen and not has_fit_parameter(self.estimator, "sample_weight")
        if sample_weight is not None and weightless:
            raise ValueError(
                f"{type(self.estimator).__name__} takes no sample_weight in fit. Use an estimator that does, or "
                "leave the weights out."
            )
        params = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.estimator_ = self.estimator if self._frozen else clone(self.estimator).fit(X, labels, **params)
        if self._frozen or self.cv is None:
            self._training = self._aligned(self.estimator_.predict_proba(X))
            return self
        if isinstance(self.cv, int) and counts.min() < self.cv:
            raise ValueError(
                f"out-of-fold probabilities need at least cv={self.cv} points of every class; class "
                f"{self.classes_.tolist()[counts.argmin()]!r} has {counts.min()}. Lower cv."
            )
        out_of_fold = cross_val_predict(
            self.estimator, X, labels, cv=self.cv, method="predict_proba", params=params or None
        )
        self._training = np.asarray(out_of_fold, dtype=float)
        return self

    @property
    def space(self) -> str:
        """Return in words where the probabilities come from."""
        name = type(self.estimator.estimator if self._frozen else self.estimator).__name__
        how = "as trained elsewhere" if self._frozen else "in sample" if self.cv is None else "out of fold"
        return f"probabilities of {name}, {how}"

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the probabilities of the fit on the whole sample."""
        return self._aligned(self.estimator_.predict_proba(X))

    def training_proba(self) -> Floats:
        """Return the out-of-fold probabilities; in-sample ones with cv=None or a frozen estimator."""
        return self._training

    def warn_if_same(self, classifier: Any) -> None:
        """Warn where a frozen estimator is the classifier that is judged: it would confirm itself."""
        model = self.estimator.estimator if self._frozen else None
        if model is not None and (classifier is model or getattr(classifier, "estimator", None) is model):
            warnings.warn(
                "the posterior is the classifier being judged: its own probabilities confirm its predictions, and "
                "the estimate is too low. Use another model, or an unfrozen one, which is refitted out of fold.",
                UserWarning,
                stacklevel=3,
            )

    def _aligned(self, probabilities: Any) -> Floats:
        """Return columns in the order of the sample's classes; probability of others is shared out."""
        own = np.asarray(self.estimator_.classes_)
        remedy = "The frozen model was trained without these classes."
        columns = encode_labels(self.classes_, own, "labels in y", remedy)
        aligned = np.asarray(probabilities, dtype=float)[:, columns]
        return aligned if len(own) == len(columns) else aligned / aligned.sum(axis=1, keepdims=True)
