"""The family of the combination is the simplest that no other beats by more than a standard error."""

import numpy as np

from benchmarks.learn.families import choose

SIMPLE = np.array([0.10, 0.20, 0.30, 0.15])


def test_noise_around_the_simplest_does_not_displace_it():
    assert choose({"simple": SIMPLE, "other": SIMPLE + np.array([0.02, -0.03, 0.01, -0.001])}) == "simple"


def test_what_is_better_everywhere_is_taken():
    assert choose({"simple": SIMPLE, "better": 0.9 * SIMPLE, "as good": 0.9 * SIMPLE}) == "better"


def test_what_is_worse_is_never_taken():
    assert choose({"simple": SIMPLE, "worse": 1.1 * SIMPLE}) == "simple"
