"""What kernels do where points are duplicated."""

import numpy as np
import pytest

import bayes_gresub as bg


def test_class_in_which_every_point_has_a_duplicate_warns_that_nothing_is_smoothed():
    X = np.array([[0.0, 1.0], [0.0, 1.0], [2.0, 3.0], [2.0, 3.0], [5.0, 1.0], [6.0, 0.0]])
    with pytest.warns(UserWarning, match="every point of class 'a' has a duplicate, so the kernel width is 0"):
        bg.SphericalGaussian().fit(X, list("aaaabb"))
