"""Foundations of the package: array types, samples, units, seeds and parameter checks."""
