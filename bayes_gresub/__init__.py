"""Generalized resubstitution: the error of a trained classifier from its training data, without retraining."""

from bayes_gresub import datasets, studies
from bayes_gresub.classifiers.network import TorchClassifier, TorchFeatures
from bayes_gresub.comparing import compare, compare_classifiers
from bayes_gresub.estimate import ErrorEstimate
from bayes_gresub.kernels import DiagonalGaussian, FullGaussian, SphericalGaussian, UniformBall
from bayes_gresub.measures import (
    Bayesian,
    Bolstered,
    BolsteredPosterior,
    Empirical,
    PosteriorProbability,
    on_features,
)
from bayes_gresub.models import (
    DiscreteClasses,
    GaussianClasses,
    Hierarchical,
    MixtureClasses,
    NormalInverseWishart,
    PyMCClasses,
    StudentTClasses,
)
from bayes_gresub.posteriors import KNN, ClassifierPosterior, GaussianProcess, TemperatureScaled
from bayes_gresub.registry import estimators, make_estimator, register
from bayes_gresub.resampling import Bootstrap, Calibrated, CrossValidation, Interrupted, LeaveOneOut, TestSet
from bayes_gresub.selection import WholeSet, scorer
from bayes_gresub.studies import Study, StudyResults

__all__ = [
    "KNN",
    "Bayesian",
    "Bolstered",
    "BolsteredPosterior",
    "Bootstrap",
    "Calibrated",
    "ClassifierPosterior",
    "CrossValidation",
    "DiagonalGaussian",
    "DiscreteClasses",
    "Empirical",
    "ErrorEstimate",
    "FullGaussian",
    "GaussianClasses",
    "GaussianProcess",
    "Hierarchical",
    "Interrupted",
    "LeaveOneOut",
    "MixtureClasses",
    "NormalInverseWishart",
    "PosteriorProbability",
    "PyMCClasses",
    "SphericalGaussian",
    "StudentTClasses",
    "Study",
    "StudyResults",
    "TemperatureScaled",
    "TestSet",
    "TorchClassifier",
    "TorchFeatures",
    "UniformBall",
    "WholeSet",
    "compare",
    "compare_classifiers",
    "datasets",
    "estimators",
    "make_estimator",
    "on_features",
    "register",
    "scorer",
    "studies",
]

__version__ = "0.1.0.dev0"
