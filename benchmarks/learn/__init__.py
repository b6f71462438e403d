"""Simulated populations, rules and sample sizes from which a combination of error estimates is learned."""
