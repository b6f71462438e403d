"""Generalized resubstitution: the error of a trained classifier from its training data, without retraining."""

from bayes_gresub.estimate import ErrorEstimate
from bayes_gresub.kernels import DiagonalGaussian, FullGaussian, SphericalGaussian, UniformBall
from bayes_gresub.measures import Bolstered, BolsteredPosterior, Empirical, PosteriorProbability
from bayes_gresub.posteriors import KNN, ClassifierPosterior

__all__ = [
    "KNN",
    "Bolstered",
    "BolsteredPosterior",
    "ClassifierPosterior",
    "DiagonalGaussian",
    "Empirical",
    "ErrorEstimate",
    "FullGaussian",
    "PosteriorProbability",
    "SphericalGaussian",
    "UniformBall",
]
