"""Parametric class models of the Bayesian measure, their priors and samplers."""

from bayes_gresub.models.discrete import DiscreteClasses
from bayes_gresub.models.gaussian import GaussianClasses
from bayes_gresub.models.mixture import MixtureClasses
from bayes_gresub.models.priors import Hierarchical, NormalInverseWishart
from bayes_gresub.models.student_t import StudentTClasses
from bayes_gresub.models.user_model import PyMCClasses

__all__ = [
    "DiscreteClasses",
    "GaussianClasses",
    "Hierarchical",
    "MixtureClasses",
    "NormalInverseWishart",
    "PyMCClasses",
    "StudentTClasses",
]
