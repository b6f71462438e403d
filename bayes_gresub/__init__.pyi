"""The public names of the package and where each lives; `__init__.py` loads them when they are first used."""

from . import datasets, paper, studies
from .assessing import Answer, assess
from .comparing import compare, compare_classifiers
from .estimate import ErrorEstimate
from .kernels import DiagonalGaussian, FullGaussian, SphericalGaussian, UniformBall
from .measures import Bayesian, Bolstered, BolsteredPosterior, Empirical, PosteriorProbability, on_features
from .models import (
    DiscreteClasses,
    GaussianClasses,
    Hierarchical,
    MixtureClasses,
    NormalInverseWishart,
    PyMCClasses,
    StudentTClasses,
)
from .networks import TorchClassifier, TorchFeatures
from .plots import plot_contributions, plot_error_posterior, plot_regions
from .posteriors import KNN, ClassifierPosterior, GaussianProcess, TemperatureScaled
from .registry import estimators, make_estimator, register
from .resampling import (
    Bootstrap,
    Calibrated,
    CrossValidation,
    Interrupted,
    LeaveOneOut,
    OutOfBag,
    Subsampling,
    TestSet,
)
from .selection import WholeSet, scorer
from .studies import Study, StudyResults

__all__ = [
    "KNN",
    "Answer",
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
    "OutOfBag",
    "PosteriorProbability",
    "PyMCClasses",
    "SphericalGaussian",
    "StudentTClasses",
    "Study",
    "StudyResults",
    "Subsampling",
    "TemperatureScaled",
    "TestSet",
    "TorchClassifier",
    "TorchFeatures",
    "UniformBall",
    "WholeSet",
    "assess",
    "compare",
    "compare_classifiers",
    "datasets",
    "estimators",
    "make_estimator",
    "on_features",
    "paper",
    "plot_contributions",
    "plot_error_posterior",
    "plot_regions",
    "register",
    "scorer",
    "studies",
]

__version__: str
