"""Fitted classifiers as decision regions. Measures and integrals live elsewhere."""

from bayes_gresub.regions.region import Region, decision_region

__all__ = ["Region", "decision_region"]
