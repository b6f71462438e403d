"""Populations whose truth is known, or nearly: to draw training sets from and to judge error estimators by."""

from bayes_gresub.populations.digits import digits
from bayes_gresub.populations.finite import FiniteData
from bayes_gresub.populations.gaussian_population import Gaussian
from bayes_gresub.populations.other_shapes import Bimodal, HeavyTailed, Skewed
from bayes_gresub.populations.paper_gaussian import PaperGaussian
from bayes_gresub.populations.population import Population, TrueError

__all__ = [
    "Bimodal",
    "FiniteData",
    "Gaussian",
    "HeavyTailed",
    "PaperGaussian",
    "Population",
    "Skewed",
    "TrueError",
    "digits",
]
