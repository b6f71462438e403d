"""Comparisons: many estimators on one classifier, and two classifiers at points that they have not seen."""

from bayes_gresub.comparing.compare import compare
from bayes_gresub.comparing.comparison import Comparison, Row
from bayes_gresub.comparing.two_classifiers import ClassifierComparison, compare_classifiers

__all__ = ["ClassifierComparison", "Comparison", "Row", "compare", "compare_classifiers"]
