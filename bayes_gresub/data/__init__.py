"""What everything stands on: array types, samples, units, seeds, checks of parameters."""
