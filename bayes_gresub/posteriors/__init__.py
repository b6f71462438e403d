"""Posteriors: the law of the label at a point, estimated from the sample."""

from bayes_gresub.posteriors.base import Posterior, as_posterior
from bayes_gresub.posteriors.classifier import ClassifierPosterior
from bayes_gresub.posteriors.gaussian_process import GaussianProcess
from bayes_gresub.posteriors.knn import KNN

__all__ = ["KNN", "ClassifierPosterior", "GaussianProcess", "Posterior", "as_posterior"]
