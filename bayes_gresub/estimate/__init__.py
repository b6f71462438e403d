"""Estimates: the error and all that is read off it, how it was computed, its intervals and its text."""

from bayes_gresub.estimate.count_intervals import BetaInterval, WilsonInterval
from bayes_gresub.estimate.error_estimate import ErrorEstimate

__all__ = ["BetaInterval", "ErrorEstimate", "WilsonInterval"]
