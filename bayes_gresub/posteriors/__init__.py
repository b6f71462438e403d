"""Posteriors: the law of the label at a point, estimated from the sample."""

from bayes_gresub.posteriors.classifier import ClassifierPosterior
from bayes_gresub.posteriors.gaussian_process import GaussianProcess
from bayes_gresub.posteriors.knn import KNN
from bayes_gresub.posteriors.posterior import Posterior, as_posterior
from bayes_gresub.posteriors.temperature import TemperatureScaled

__all__ = ["KNN", "ClassifierPosterior", "GaussianProcess", "Posterior", "TemperatureScaled", "as_posterior"]
