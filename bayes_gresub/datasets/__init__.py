"""Populations whose truth is known, or nearly: to draw training sets from and to judge error estimators by."""

from bayes_gresub.datasets.base import Population, TrueError
from bayes_gresub.datasets.blocks import PaperGaussian
from bayes_gresub.datasets.finite import FiniteData
from bayes_gresub.datasets.gaussian import Gaussian
from bayes_gresub.datasets.mnist import digits, load_mnist, mnist
from bayes_gresub.datasets.shapes import Bimodal, HeavyTailed, Skewed

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
    "load_mnist",
    "mnist",
]
