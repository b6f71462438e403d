"""Data whose truth is known, to judge error estimators by."""

from bayes_gresub.datasets.synthetic import PaperGaussian

__all__ = ["PaperGaussian"]
