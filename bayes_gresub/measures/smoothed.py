"""The smoothed measure: a law on x about each point times a law on y. Its four members say only which laws."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_gresub.data.arrays import Floats, Ints, Labels
from bayes_gresub.data.sample import Sample, encode_labels, read_features, read_labels, read_weights
from bayes_gresub.data.seeds import DRAWS, Seed, child
from bayes_gresub.data.validation import check_jobs, check_whole
from bayes_gresub.estimate.computation import Computation
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.estimate.estimands import ThisClassifier
from bayes_gresub.estimate.intervals import NoInterval
from bayes_gresub.estimate.posterior_draws import PosteriorDraws
from bayes_gresub.estimate.reasons import (
    ClassProbabilitiesUnknown,
    IndependenceUnknown,
    Missing,
    Reason,
    TrainedOnThesePoints,
)
from bayes_gresub.laws.components import Components
from bayes_gresub.laws.confusion import error_mass, prior_ratio, read_prior, standard_error
from bayes_gresub.laws.mass import Mass, joint, mass
from bayes_gresub.laws.point_masses import PointMasses, SeparateMasses, reweighted
from bayes_gresub.laws.sampling import sampled_means
from bayes_gresub.measures.measure import Measure, MeasuredValue, PointFunction
from bayes_gresub.measures.parts import Centers, Judged, at_given_rows, correct_centers, total_loss
from bayes_gresub.regions.region import decision_region

_DRAWS_AT_ONCE = 100_000


class SmoothedMeasure(Measure):
    r"""The mixture, over the points, of a law on x times a law on y.

    .. math:: \hat\nu = \sum_i w_i \, \mu_i(dx) \, \eta_i(dy)
    """

    n_points: int
    tol: float | None
    n_jobs: int | None

    _moves = True
    """Whether there is a law on x about the points; without one nothing but their labels is asked for."""

    _needs_labels = True
    """Whether points that the measure is centred at must come with labels."""

    least_per_class = 1
    """Different points of each class that the measure needs to learn."""

    _no_confusion: Reason | None = None
    """Why estimates have no confusion mass, where they have none."""

    def error(
        self,
        classifier: Any,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        random_state: Seed = None,
    ) -> ErrorEstimate:
        """Return the mass of the set where `classifier` errs; parameters as in `Measure.error`."""
        return self._errors(classifier, (1.0,), X, y, sample_weight, random_state)[0]

    def masses_about(
        self, classifier: Any, sample: Sample, seed: np.random.SeedSequence, at_training: bool = False
    ) -> tuple[PointMasses, Mass, Labels]:
        """Return the mass about each point of a validated sample, for resampling; no class prior, no class checks.

        The third answer are the classes that the masses count in. `at_training` says that the sample is the one that
        the measure was fitted to.
        """
        centers = Centers(
            sample.features, sample.codes, sample.weights, sample.rows, sample.n_given, are_training=at_training
        )
        judged = self._judged(classifier, centers, seed, in_part=True)
        masses, how = self._integrate(centers, judged, (1.0,), seed)
        return masses[0], how, judged.region.classes

    def components(self, classifier: Any) -> Components:
        """Return the laws on x about the training points, in the units of X, as they are where `classifier` is judged.

        Examples
        --------
        >>> import bayes_gresub as bg
        >>> from sklearn.neighbors import NearestCentroid
        >>> X, y = [[0.0], [1.0], [2.0], [4.0]], [0, 0, 1, 1]
        >>> laws = bg.Bolstered(bg.UniformBall()).fit(X, y).components(NearestCentroid().fit(X, y))
        >>> laws.centers.tolist(), laws.feature_deviations()[laws.group].tolist()
        ([[0.0], [1.0], [2.0], [4.0]], [[2.0], [2.0], [4.0], [4.0]])
        """
        centers = self._centers(None, None, None)
        return self._components(centers, correct_centers(centers, self._judged(classifier, centers, self._seed(None))))

    def sample(self, n: int, *, classifier: Any = None, random_state: Seed = None) -> tuple[Any, Labels]:
        """Draw n independent pairs (x, y); `classifier` is needed for semi-bolstering only."""
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
            raise ValueError(f"n must be a whole number of at least 1; got {n!r}.")
        centers, components, seed = self._law(classifier, random_state, "sample")
        rng = np.random.default_rng(child(seed, DRAWS))
        ratio = self._class_ratio(components, centers, seed)
        at_centers = self._law_at_centers(centers)
        drawn: list[tuple[Floats, Ints]] = []
        missing = int(n)
        while missing > 0:
            # Other class probabilities than the sample's: one draw in ratio.max() is kept, in proportion to the ratio.
            size = int(min(np.ceil(missing * ratio.max()), max(missing, _DRAWS_AT_ONCE)))
            owners = rng.choice(len(centers.weights), size=size, p=centers.weights)
            points = components.draw(owners, rng)
            law = self._law_at(points, owners, at_centers)
            codes = (rng.random((size, 1)) > np.cumsum(law, axis=1)[:, :-1]).sum(axis=1)
            kept = np.flatnonzero(rng.random(size) * ratio.max() <= ratio[codes])[:missing]
            drawn.append((points[kept], codes[kept]))
            missing -= len(kept)
        points = np.concatenate([x for x, _ in drawn])
        return self._restored(points), self.classes_[np.concatenate([codes for _, codes in drawn])]

    def expectation(self, loss: PointFunction, *, classifier: Any = None, random_state: Seed = None) -> MeasuredValue:
        """Return the mean of `loss(X, y)`; parameters as in `Measure.expectation`."""
        centers, components, seed = self._law(classifier, random_state, "expectation")
        prior = self._known_prior()
        losses, masses = self._class_means(loss, components, centers, seed, prior)
        values = total_loss(losses, masses, prior)
        return MeasuredValue(float(values.mean()), standard_error(values))

    @abstractmethod
    def _components(self, centers: Centers, correct: NDArray[np.bool_] | None) -> Components:
        """Return the law on x about each centre; `correct` says which centres the classifier gets right."""

    def _law_at_centers(self, centers: Centers) -> Floats:
        """Return the law of the label at each centre, shape (k, c): its label."""
        return np.eye(len(self.classes_))[self._codes(centers)]

    def _law_at(self, points: Floats, owners: Ints, at_centers: Floats) -> Floats:
        """Return the law of the label at points drawn about the centres `owners`: that of the centre."""
        return at_centers[owners]

    @abstractmethod
    def _describe(self) -> tuple[str, str]:
        """Return the estimator and its space in words."""

    def _check_question(self, what: str, classifier: Any) -> None:
        """Raise where the measure cannot answer this question."""

    def _posterior_draws(self, centers: Centers, judged: Judged, seed: np.random.SeedSequence) -> PosteriorDraws | None:
        """Return posterior draws of the confusion mass, where the measure has them."""
        return None

    def _before_judging(self, classifier: Any) -> None:
        """Warn of what makes this measure unfit to judge this classifier."""

    def _errors(
        self,
        classifier: Any,
        scales: Sequence[float],
        X: ArrayLike | None,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None,
        random_state: Seed,
    ) -> list[ErrorEstimate]:
        """Return one estimate per factor on the widths, all from the same standard draws."""
        started = perf_counter()
        seed = self._seed(random_state)
        centers = self._centers(X, y, sample_weight)
        judged = self._judged(classifier, centers, seed)
        self._before_judging(classifier)
        masses, how = self._integrate(centers, judged, scales, seed)
        outcomes = [one.outcome(centers.weights, self._prior_over(judged)) for one in masses]
        draws = self._posterior_draws(centers, judged, seed)
        known = self.sampling == "mixture" or self.class_prior is not None
        estimator, space = self._describe()
        seconds = perf_counter() - started
        return [
            ErrorEstimate(
                classes=judged.region.classes,
                estimand=ThisClassifier(),
                computation=Computation(
                    estimator=estimator if scale == 1 else f"{estimator} with widths times {scale:g}",
                    method=how.method if scale else "count of points",
                    exact=how.exact or scale == 0,
                    space=space,
                    n_predicted=len(centers.features) + how.n_predicted,
                    n_replicates=how.values.shape[1],
                    seconds=seconds,
                ),
                replicate_values=outcome.values,
                replicate_confusions=outcome.confusions,
                contributions=at_given_rows(outcome.contributions, centers),
                point_weights=at_given_rows(outcome.weights, centers),
                interval_method=draws
                or NoInterval(TrainedOnThesePoints() if centers.are_training else IndependenceUnknown()),
                missing=Missing(
                    value=None if known else ClassProbabilitiesUnknown(),
                    confusion=self._no_confusion,
                ),
            )
            for outcome, scale in zip(outcomes, scales, strict=True)
        ]

    def _integrate(
        self, centers: Centers, judged: Judged, scales: Sequence[float], seed: np.random.SeedSequence
    ) -> tuple[list[PointMasses], Mass]:
        """Integrate where the law of the label is that of the centre; one answer per scale."""
        law = judged.over_region(self._law_at_centers(centers))
        prior = self._prior_over(judged)
        weights, given = reweighted(centers.weights, law, prior)

        def spread(values: Floats) -> float:
            return max(standard_error(one) for one in error_mass(joint(values, weights, given)))

        how = self._mass(centers, judged, scales, seed, spread)
        return [SeparateMasses(values, law) for values in how.values], how

    def _mass(
        self,
        centers: Centers,
        judged: Judged,
        scales: Sequence[float],
        seed: np.random.SeedSequence,
        spread: Callable[[Floats], float],
    ) -> Mass:
        return mass(
            self._components(centers, correct_centers(centers, judged)),
            judged.region,
            n_points=self.n_points,
            seed=seed,
            center_labels=judged.at_centers,
            scales=scales,
            n_jobs=self.n_jobs,
            tol=self.tol,
            spread=spread,
        )

    def _class_means(
        self,
        loss: PointFunction,
        components: Components,
        centers: Centers,
        seed: np.random.SeedSequence,
        prior: Floats | None,
    ) -> tuple[Floats, Floats]:
        """Return per replicate and class the integral of the loss and the mass, both of shape (replicates, c)."""
        at_centers = self._law_at_centers(centers)
        c = len(self.classes_)

        def loss_and_law(points: Floats, owners: Ints) -> Floats:
            law = self._law_at(points, owners, at_centers)
            values = np.zeros_like(law)
            for code, label in enumerate(self.classes_):
                rows = np.flatnonzero(law[:, code])
                if len(rows):
                    values[rows, code] = self._loss_values(loss, points[rows], np.full(len(rows), label))
            return np.concatenate([values * law, law], axis=1)

        def totals(means: Floats) -> tuple[Floats, Floats]:
            sums = np.einsum("k,rkq->rq", centers.weights, means[0])
            return sums[:, :c], sums[:, c:]

        if components.is_still.all():
            return totals(loss_and_law(components.centers, np.arange(len(components)))[None, None])
        sampled = sampled_means(
            components,
            loss_and_law,
            n_points=self.n_points,
            seed=seed,
            n_jobs=self.n_jobs,
            tol=self.tol,
            spread=lambda means: standard_error(total_loss(*totals(means), prior)),
        )
        return totals(sampled.means)

    def _loss_values(self, loss: PointFunction, points: Floats, labels: Labels) -> Floats:
        values = np.asarray(loss(self._restored(points), labels), dtype=float)
        if values.shape != (len(points),) or not np.isfinite(values).all():
            raise ValueError(
                f"loss(X, y) must return one finite number per point; got shape {values.shape} for {len(points)} points"
                f"{'' if np.isfinite(values).all() else ', some of them not finite'}."
            )
        return values

    def _law(
        self, classifier: Any, random_state: Seed, what: str
    ) -> tuple[Centers, Components, np.random.SeedSequence]:
        """Return the fitted law: its centres, its components, and the seed for questions about it."""
        centers = self._centers(None, None, None)
        self._check_question(what, classifier)
        seed = self._seed(random_state)
        correct = None if classifier is None else correct_centers(centers, self._judged(classifier, centers, seed))
        return centers, self._components(centers, correct), seed

    def _judged(self, classifier: Any, centers: Centers, seed: np.random.SeedSequence, in_part: bool = False) -> Judged:
        form = self._fitted_sample().format
        region, said = decision_region(
            classifier, self.classes_, form, centers.features, seed, with_geometry=self._moves, in_part=in_part
        )
        return Judged(region, said, encode_labels(self.classes_, region.classes, "labels in y", ""))

    def _centers(self, X: ArrayLike | None, y: ArrayLike | None, sample_weight: ArrayLike | None) -> Centers:
        sample = self._fitted_sample()
        if X is None:
            if y is not None or sample_weight is not None:
                raise ValueError("y and sample_weight go with X; got them without X. Pass X too, or none of them.")
            return Centers(sample.features, sample.codes, sample.weights, sample.rows, sample.n_given, True)
        features, form = read_features(X)
        if form.shape != sample.format.shape:
            raise ValueError(
                f"X must have the shape seen in fit, (n, {', '.join(map(str, sample.format.shape))}); "
                f"got (n, {', '.join(map(str, form.shape))})."
            )
        if None not in (form.feature_names, sample.format.feature_names) and (
            form.feature_names != sample.format.feature_names
        ):
            raise ValueError(
                f"X must have the columns seen in fit, in the same order, {list(sample.format.feature_names or ())}; "
                f"got {list(form.feature_names or ())}."
            )
        if y is None and self._needs_labels:
            raise ValueError(
                f"{type(self).__name__} needs the labels of the points it is centred at; got X without y. Pass y, or "
                "use PosteriorProbability, which does without."
            )
        weights = read_weights(sample_weight, len(features))
        rows = np.flatnonzero(weights)
        codes = None
        if y is not None:
            remedy = "The measure was fitted without these classes."
            codes = encode_labels(read_labels(y, len(features)), self.classes_, "labels in y", remedy)[rows]
        return Centers(features[rows], codes, weights[rows], rows, len(features), False)

    def _class_ratio(self, components: Components, centers: Centers, seed: np.random.SeedSequence) -> Floats:
        """Return by how much the mass of each class must be multiplied to give the class prior."""
        prior = self._known_prior()
        if prior is None:
            return np.ones(len(self.classes_))
        _, masses = self._class_means(lambda X, y: np.zeros(len(y)), components, centers, seed, None)
        return prior_ratio(prior, masses.mean(axis=0))

    def _known_prior(self) -> Floats | None:
        """Return the class prior, or None where the sample's proportions are to be used."""
        if self.class_prior is not None:
            return read_prior(self.class_prior, self.classes_)
        if self.sampling == "separate":
            raise ValueError(
                "a mean under the measure needs the class probabilities, which sampling='separate' does not learn. "
                "Give class_prior to the measure."
            )
        return None

    def _prior_over(self, judged: Judged) -> Floats | None:
        """Return the class prior over the region's classes, or None."""
        if self.class_prior is None:
            return None
        prior = np.zeros(judged.region.n_classes)
        prior[judged.codes_of_classes] = read_prior(self.class_prior, self.classes_)
        return prior

    def _restored(self, points: Floats) -> Any:
        form = self._fitted_sample().format
        return (form if self._moves else form.unmoved()).restore(points, form.feature_names)

    @staticmethod
    def _codes(centers: Centers) -> Ints:
        assert centers.codes is not None, "checked by _centers"
        return centers.codes

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_whole(self.n_points, "n_points", 1)
        check_jobs(self.n_jobs)
        if self.tol is not None and not (isinstance(self.tol, int | float | np.number) and self.tol > 0):
            raise ValueError(f"tol must be positive or None; got {self.tol!r}.")
