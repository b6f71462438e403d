"""Measures: laws on (x, y) learned from a sample, and the error of a classifier under them."""

from bayes_gresub.measures.bayesian import Bayesian
from bayes_gresub.measures.bolstered import Bolstered
from bayes_gresub.measures.bolstered_posterior import BolsteredPosterior
from bayes_gresub.measures.empirical import Empirical
from bayes_gresub.measures.measure import Measure, MeasuredValue
from bayes_gresub.measures.on_features import FeatureMeasure, on_features
from bayes_gresub.measures.posterior_probability import PosteriorProbability

__all__ = [
    "Bayesian",
    "Bolstered",
    "BolsteredPosterior",
    "Empirical",
    "FeatureMeasure",
    "Measure",
    "MeasuredValue",
    "PosteriorProbability",
    "on_features",
]
