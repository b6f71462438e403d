"""Checks of the Bayesian estimate of one classifier's error: convergence, prior, and a rival without a model."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from bayes_gresub.data.arrays import Floats
from bayes_gresub.data.seeds import child
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.laws.confusion import class_errors
from bayes_gresub.measures.bolstered import Bolstered
from bayes_gresub.measures.bolstered_posterior import BolsteredPosterior
from bayes_gresub.models.check_report import Finding
from bayes_gresub.models.diagnostics import ess, rhat
from bayes_gresub.models.fitted_classes import HIGHEST_RHAT, LEAST_ESS
from bayes_gresub.posteriors import KNN

if TYPE_CHECKING:
    from bayes_gresub.measures.bayesian import Bayesian

_FACTOR = 2.0
_MOST_SHIFT = 0.5
"""Shift of the mean, in posterior standard deviations, above which a prior matters."""

_LEAST_WEIGHT_ESS = 50.0
_RIVAL_ERROR = 0.05
"""Typical root-mean-square error of estimates without a model in the study of the paper's populations."""

_MOST_GAP = 2.5


def check_error(
    measure: Bayesian, classifier: Any, estimate: ErrorEstimate, seed: np.random.SeedSequence
) -> list[Finding]:
    """Return what is found about the error of this classifier."""
    with warnings.catch_warnings():
        # Of other priors and of rivals; the measure's own were given when it was fitted.
        warnings.simplefilter("ignore", UserWarning)
        return [
            _convergence(measure, estimate),
            _sensitivity(measure, classifier, estimate, seed),
            _gap(measure, classifier, estimate, seed),
        ]


def _overall(estimate: ErrorEstimate) -> Floats:
    """Return draws of the error; without class probabilities, those of the mean class error."""
    if estimate.prior_known and estimate.draws is not None:
        return estimate.draws
    if estimate.confusion_draws is None:
        raise ValueError("this estimate has no posterior draws.")
    return np.asarray(np.nanmean(class_errors(estimate.confusion_draws), axis=1))


def _convergence(measure: Bayesian, estimate: ErrorEstimate) -> Finding:
    draws = _overall(estimate).reshape(measure.posterior_.draws.shape)
    numbers = {"rhat": float(rhat(draws)), "ess": float(ess(draws)), "sd": float(draws.std())}
    numbers["mcse"] = numbers["sd"] / float(np.sqrt(numbers["ess"]))
    said = f"R-hat {numbers['rhat']:.3f}, {numbers['ess']:.0f} effective draws, Monte-Carlo error {numbers['mcse']:.2g}"
    disagree, few = numbers["rhat"] > HIGHEST_RHAT, numbers["ess"] < LEAST_ESS
    if disagree:
        sentence = f"The chains do not agree on the error ({said}). Raise tune and draws."
    elif few:
        sentence = f"The draws of the error are few ({said}): interval ends are unsure. Raise draws."
    else:
        sentence = f"The chains agree on the error ({said})."
    return Finding("error", disagree or few, sentence, numbers)


def _sensitivity(measure: Bayesian, classifier: Any, estimate: ErrorEstimate, seed: np.random.SeedSequence) -> Finding:
    draws = _overall(estimate)
    mean, sd = float(draws.mean()), float(draws.std())
    shifted: list[float] = []
    for factor in (1 / _FACTOR, _FACTOR):
        weights = measure.posterior_.strength_weights(factor)
        if weights is not None:
            if 1.0 / float((weights**2).sum()) < _LEAST_WEIGHT_ESS:
                return Finding("sensitivity", True, "The prior strength rules the posterior: draws cannot tell.")
            shifted.append(float(weights @ draws))
            continue
        model = measure._fitted().model.with_strength_times(factor)
        if model is None:
            return Finding("sensitivity", False, "This model has no prior strength to change.")
        rival = clone(measure).set_params(model=model, sampler=model.cheapest_sampler(), random_state=0)
        refitted = rival.fit_part(measure._fitted_sample(), False, child(seed, 0))
        shifted.append(float(_overall(refitted.error(classifier, random_state=child(seed, 1))).mean()))
    numbers = {
        "half": shifted[0],
        "double": shifted[1],
        "shift_in_sd": max(abs(s - mean) for s in shifted) / max(sd, 1e-12),
    }
    what = "an error" if estimate.prior_known else "a mean class error"
    said = f"half the strength gives {what} of {shifted[0]:.3f}, twice {shifted[1]:.3f}, instead of {mean:.3f}"
    if numbers["shift_in_sd"] > _MOST_SHIFT:
        sentence = f"The prior matters: {said}. Say why its strength is right, or report the range."
        return Finding("sensitivity", True, sentence, numbers)
    return Finding("sensitivity", False, f"The prior strength matters little: {said}.", numbers)


def _gap(measure: Bayesian, classifier: Any, estimate: ErrorEstimate, seed: np.random.SeedSequence) -> Finding:
    if not estimate.prior_known:
        return Finding("model-free", False, "Without class probabilities there is no overall error to compare.")
    sample = measure._fitted_sample()
    given = {"sampling": measure.sampling, "class_prior": measure.class_prior}
    # The first tends to be low for classifiers that follow single points, the second high.
    rivals = [BolsteredPosterior(posterior=KNN(3), **given), Bolstered(semi=True, **given)]
    values = []
    for number, rival in enumerate(rivals):
        fitted = rival.fit_part(sample, False, child(seed, 2, number))
        values.append(fitted.error(classifier, random_state=child(seed, 3, number)).value)
    own, sd = estimate.value, float(_overall(estimate).std())
    gap = own - float(np.clip(own, min(values), max(values)))
    allowed = _MOST_GAP * float(np.hypot(sd, _RIVAL_ERROR))
    numbers = {"model": own, "posterior_probability": values[0], "semi_bolstered": values[1], "gap": gap}
    said = (
        f"the model says {own:.3f}; without a model bolstered posterior probability says {values[0]:.3f}, "
        f"semi-bolstering {values[1]:.3f}"
    )
    if abs(gap) > allowed:
        sentence = f"The model and the points disagree: {said}. Trust neither before the fit is understood."
        return Finding("model-free", True, sentence, numbers | {"allowed": allowed})
    return Finding("model-free", False, f"Estimates without a model do not contradict: {said}.", numbers)
