"""Generalized resubstitution: the error of a trained classifier from its training data, without retraining.

The public names, and where each lives, are listed in `__init__.pyi`; a name is loaded when it is first used, so that
the command line starts at once.
"""

import lazy_loader

__version__ = "0.1.0.dev0"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
