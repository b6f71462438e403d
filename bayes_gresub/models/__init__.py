"""Parametric class models of the Bayesian measure, their priors and samplers."""

from bayes_gresub.models.custom import PyMCClasses
from bayes_gresub.models.gaussian import GaussianClasses
from bayes_gresub.models.priors import Hierarchical, NormalInverseWishart

__all__ = ["GaussianClasses", "Hierarchical", "NormalInverseWishart", "PyMCClasses"]
