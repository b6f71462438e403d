"""Comparisons: many estimators on one classifier, and two classifiers by points they did not see."""

from bayes_gresub.comparing.classifiers import ClassifierComparison, compare_classifiers
from bayes_gresub.comparing.estimators import compare
from bayes_gresub.comparing.table import Comparison, Row

__all__ = ["ClassifierComparison", "Comparison", "Row", "compare", "compare_classifiers"]
