"""The error of a forest, or of bagged classifiers, at points that their members did not see."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from bayes_gresub.data.description import Description
from bayes_gresub.data.sample import read_class_prior, read_sample
from bayes_gresub.data.seeds import Seed, seed_sequence
from bayes_gresub.data.validation import check_settings
from bayes_gresub.estimate.computation import Computation
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.estimate.estimands import MembersOutOfBag
from bayes_gresub.estimate.reasons import MembersSharePoints
from bayes_gresub.regions.region import check_predict
from bayes_gresub.regions.training import check_rule, trained, weight_argument
from bayes_gresub.resampling.counted import counted_estimate
from bayes_gresub.resampling.shortcuts.left_out import check_out_of_bag, fitted_parts
from bayes_gresub.resampling.shortcuts.out_of_bag_votes import bags_are_of, out_of_bag_votes
from bayes_gresub.resampling.shortcuts.training_rows import TrainingRows
from bayes_gresub.resampling.splits import read_groups


class OutOfBag(BaseEstimator):
    r"""The share of points misclassified by those members of an ensemble that were trained without the point.

    .. math:: \hat\varepsilon = \frac1n \sum_i I\Big(Y_i \ne \arg\max_c \sum_{b: i \notin b} p^{(b)}_c(X_i)\Big)

    For RandomForestClassifier, ExtraTreesClassifier with bootstrap=True and BaggingClassifier, alone or behind a
    StandardScaler. A trained ensemble is judged as it is, without a refit. It estimates the error of an ensemble of
    about a third of the members, so it is a little too high, more so for few members; points that every member saw are
    dropped and counted in `details["points_in_every_bag"]`. It does not see choices made before X was handed over.

    Parameters
    ----------
    sampling : "mixture" or "separate"
    class_prior : dict or sequence, optional
        As in `CrossValidation`.
    random_state : int, SeedSequence or None
        For the fit, if no trained ensemble is given.

    References
    ----------
    Breiman, Out-of-bag estimation, technical report, Berkeley (1996).

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(50, oob_score=True, random_state=0).fit(X, y)
    >>> estimate = bg.OutOfBag().error(forest, X, y, classifier=forest)
    >>> round(float(estimate), 4) == round(1 - forest.oob_score_, 4), estimate.computation.n_refits
    (True, 0)
    """

    def __init__(self, *, sampling: str = "mixture", class_prior: Any = None, random_state: Seed = None) -> None:
        self.sampling = sampling
        self.class_prior = class_prior
        self.random_state = random_state

    def error(
        self,
        rule: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        classifier: Any = None,
        random_state: Seed = None,
    ) -> ErrorEstimate:
        """Return the estimated error of an ensemble.

        Parameters
        ----------
        rule : ensemble that draws rows for each member
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            For the fit and for the points.
        groups : array-like of shape (n,), optional
            A member counts for a point only if it saw no point of its group.
        classifier : trained ensemble, optional
            The rule trained on exactly these rows; without it the rule is trained once.
        random_state : int, SeedSequence, Generator or None
            Overrides that of the estimator.
        """
        started = perf_counter()
        check_settings(sampling=self.sampling, random_state=self.random_state)
        check_rule(rule)
        check_out_of_bag(rule)
        if classifier is not None:
            check_predict(classifier)
            check_out_of_bag(classifier)
        sample = read_sample(X, y, sample_weight)
        if self.class_prior is not None:
            read_class_prior(self.class_prior, sample.classes)
        if classifier is not None and len(sample.rows) < sample.n_given:
            raise ValueError(
                "a trained ensemble numbers the rows that it was trained on, so none may be dropped; got "
                f"{sample.n_given - len(sample.rows)} rows of weight 0. Leave classifier out, or drop these rows."
            )
        codes = None if groups is None else read_groups(groups, sample)
        block = np.arange(len(sample.codes)) if codes is None else codes
        rows = TrainingRows(sample.features, sample.codes, sample.classes, block)
        seed = seed_sequence(self.random_state if random_state is None else random_state)
        if classifier is None:
            weights = None
            if sample_weight is not None:
                weight_argument(rule)
                weights = sample.weights * float(np.sum(np.asarray(sample_weight, dtype=float)))
            ensemble = trained(rule, rows.features, rows.labels, weights, seed)
        else:
            ensemble = classifier
        last, points, _ = fitted_parts(ensemble, rows, seed)
        if classifier is not None and not bags_are_of(last, points, rows):
            raise ValueError(
                "a trained ensemble must have been trained on the rows given, in their order, by which it numbers the "
                f"rows of its bags; got one trained on others. Pass the {len(rows.codes)} rows in the order of "
                "the fit, or leave classifier out."
            )
        votes = out_of_bag_votes(last, points, rows)
        outside = votes.n_members > 0
        if not outside.any():
            raise ValueError(
                f"a point counts if a member was trained without it; every one of {len(last.estimators_)} members saw "
                "all points. Use more members, or smaller groups."
            )
        predicted = np.where(outside, np.where(outside[:, None], votes.probabilities, 0.0).argmax(axis=1), -1)
        n_members = round(float(votes.n_members[outside].mean()))
        return counted_estimate(
            predicted,
            sample,
            sample.weights,
            estimand=MembersOutOfBag(n_members, len(last.estimators_)),
            computation=Computation(
                described=Description(type(self), self.get_params(deep=False)),
                method="votes of the members that did not see the point",
                exact=False,
                space="features as given",
                n_predicted=int(votes.n_members.sum()),
                n_replicates=1,
                seconds=perf_counter() - started,
                n_refits=int(classifier is None),
            ),
            no_interval=MembersSharePoints(),
            sampling=self.sampling,
            class_prior=self.class_prior,
            details={"points_in_every_bag": float((~outside).sum())},
        )
