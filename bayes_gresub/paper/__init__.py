"""Everything that only reproduces the paper: its experiments and claims, its product form, LeNet-5 and MNIST.

Importing it registers the estimators that are only there for comparison with the paper. The public names are listed in
`__init__.pyi`.
"""

import lazy_loader

import bayes_gresub.paper.names  # noqa: F401 - registers them

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
