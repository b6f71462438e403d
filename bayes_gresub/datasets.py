"""The public name of the populations: `bg.datasets.PaperGaussian`."""

from bayes_gresub.populations import *  # noqa: F403
from bayes_gresub.populations import __all__ as __all__
