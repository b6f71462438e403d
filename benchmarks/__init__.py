"""Benchmarks: claims of speed and of sampling error, as ratios measured in one run."""
