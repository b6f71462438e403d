"""Kernels: the law on x about each training point, and its width."""

from bayes_gresub.kernels.ball import UniformBall
from bayes_gresub.kernels.diagonal import DiagonalGaussian
from bayes_gresub.kernels.full import FullGaussian
from bayes_gresub.kernels.kernel import Kernel
from bayes_gresub.kernels.spherical import SphericalGaussian

__all__ = ["DiagonalGaussian", "FullGaussian", "Kernel", "SphericalGaussian", "UniformBall"]
