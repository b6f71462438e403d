"""Estimates: the error with all that is read off it, how it was computed, its intervals, its text."""

from bayes_gresub.estimate.error_estimate import ErrorEstimate

__all__ = ["ErrorEstimate"]
