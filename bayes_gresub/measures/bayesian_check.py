"""Checks of the Bayesian estimate of one classifier's error: convergence, prior, and rivals without a model."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from bayes_gresub.data.arrays import Floats
from bayes_gresub.data.seeds import child
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.laws.confusion import class_errors
from bayes_gresub.laws.confusion_draws import MOST_NOISE
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
_LEVEL = 0.95
_MOST_GAP = 2.0
"""Binomial standard errors between the interval and the nearest estimate without a model, above which they disagree.

In the 576 cases it was chosen on, the paper's Gaussian classes (n 40 to 350, 6 rules), the gap was larger in 1.6%, all
of them 1NN.
"""


def check_error(
    measure: Bayesian, classifier: Any, estimate: ErrorEstimate, seed: np.random.SeedSequence
) -> list[Finding]:
    """Return the findings about the error of this classifier."""
    with warnings.catch_warnings():
        # Warnings about other priors and rivals; those about the measure were given when it was fitted.
        warnings.simplefilter("ignore", UserWarning)
        return [
            _check_convergence(measure, estimate),
            _check_sensitivity(measure, classifier, estimate, seed),
            _check_gap(measure, classifier, estimate, seed),
        ]


def _overall_draws(estimate: ErrorEstimate) -> Floats:
    """Return draws of the error; without class probabilities, those of the mean class error."""
    if estimate.prior_known and estimate.draws is not None:
        return estimate.draws
    if estimate.confusion_draws is None:
        raise ValueError("this estimate has no posterior draws.")
    return np.asarray(np.nanmean(class_errors(estimate.confusion_draws), axis=1))


def _check_convergence(measure: Bayesian, estimate: ErrorEstimate) -> Finding:
    draws = _overall_draws(estimate).reshape(measure.posterior_.draws.shape)
    numbers = {"rhat": float(rhat(draws)), "ess": float(ess(draws)), "sd": float(draws.std())}
    numbers["mcse"] = numbers["sd"] / float(np.sqrt(numbers["ess"]))
    values = (
        f"R-hat {numbers['rhat']:.3f}, {numbers['ess']:.0f} effective draws, Monte-Carlo error {numbers['mcse']:.2g}"
    )
    disagree, few = numbers["rhat"] > HIGHEST_RHAT, numbers["ess"] < LEAST_ESS
    posterior = estimate.posterior_draws
    numbers["noise_share"] = 0.0 if posterior is None else posterior.noise_share
    is_noisy = numbers["noise_share"] > MOST_NOISE
    if disagree:
        sentence = f"The chains do not agree on the error ({values}). Raise tune and draws."
    elif few:
        sentence = f"The effective draws of the error are few ({values}), so interval ends are uncertain. Raise draws."
    elif is_noisy:
        sentence = (
            f"The chains agree on the error ({values}), but integration noise has {numbers['noise_share']:.2g} of the "
            "posterior variance, so single draws are uncertain. Raise n_points."
        )
    else:
        sentence = f"The chains agree on the error ({values})."
    return Finding("error", disagree or few or is_noisy, sentence, numbers)


def _check_sensitivity(
    measure: Bayesian, classifier: Any, estimate: ErrorEstimate, seed: np.random.SeedSequence
) -> Finding:
    draws = _overall_draws(estimate)
    mean, sd = float(draws.mean()), float(draws.std())
    shifted: list[float] = []
    for factor in (1 / _FACTOR, _FACTOR):
        weights = measure.posterior_.strength_weights(factor)
        if weights is not None:
            if 1.0 / float((weights**2).sum()) < _LEAST_WEIGHT_ESS:
                return Finding(
                    "sensitivity",
                    True,
                    "The prior strength dominates the posterior, so draws cannot be reweighted to another strength.",
                )
            shifted.append(float(weights @ draws))
            continue
        model = measure._fitted().model.with_strength_times(factor)
        if model is None:
            return Finding("sensitivity", False, "This model has no prior strength to change.")
        rival = clone(measure).set_params(model=model, sampler="auto", random_state=0)
        refitted = rival.fit_sample(measure.training_sample, child(seed, 0))
        shifted.append(float(_overall_draws(refitted.error(classifier, random_state=child(seed, 1))).mean()))
    numbers = {
        "half": shifted[0],
        "double": shifted[1],
        "shift_in_sd": max(abs(s - mean) for s in shifted) / max(sd, 1e-12),
    }
    quantity = "an error" if estimate.prior_known else "a mean class error"
    shift = f"half the strength gives {quantity} of {shifted[0]:.3f}, twice {shifted[1]:.3f}, instead of {mean:.3f}"
    if numbers["shift_in_sd"] > _MOST_SHIFT:
        sentence = f"The prior matters: {shift}. Justify its strength, or report the range."
        return Finding("sensitivity", True, sentence, numbers)
    return Finding("sensitivity", False, f"The prior strength matters little: {shift}.", numbers)


def _check_gap(measure: Bayesian, classifier: Any, estimate: ErrorEstimate, seed: np.random.SeedSequence) -> Finding:
    if not estimate.prior_known:
        return Finding("model-free", False, "Without class probabilities there is no overall error to compare.")
    sample = measure.training_sample
    given = {"sampling": measure.sampling, "class_prior": measure.class_prior}
    # For classifiers that follow single points the first tends to be low, the second high.
    rivals = [BolsteredPosterior(posterior=KNN(3), **given), Bolstered(semi=True, **given)]
    values = []
    for number, rival in enumerate(rivals):
        fitted = rival.fit_sample(sample, child(seed, 2, number))
        values.append(fitted.error(classifier, random_state=child(seed, 3, number)).value)
    low, high = estimate.interval(_LEVEL)
    nearest = float(np.clip(estimate.value, min(values), max(values)))
    gap = max(low - nearest, nearest - high, 0.0)
    n = len(sample.features)
    allowed = _MOST_GAP * float(np.sqrt(max(nearest * (1.0 - nearest), 1 / n) / n))
    numbers = {
        "model": estimate.value,
        "low": low,
        "high": high,
        "posterior_probability": values[0],
        "semi_bolstered": values[1],
        "gap": gap,
        "allowed": allowed,
    }
    comparison = (
        f"the model gives {estimate.value:.3f} ({100 * _LEVEL:g}% interval {low:.3f} to {high:.3f}); without a model "
        f"bolstered posterior probability gives {values[0]:.3f}, semi-bolstering {values[1]:.3f}"
    )
    if gap > allowed:
        sentence = f"The model and the points disagree: {comparison}. Trust neither until the fit is understood."
        return Finding("model-free", True, sentence, numbers)
    return Finding("model-free", False, f"Estimates without a model agree with the interval: {comparison}.", numbers)
