"""Trained torch modules as classifiers and as extractors of features."""

from bayes_gresub.networks.torch_classifier import TorchClassifier, TorchFeatures

__all__ = ["TorchClassifier", "TorchFeatures"]
