"""Laws on (x, y), and the one integral: the mass that they give to decision regions. Measures choose the laws."""

from bayes_gresub.laws.components import Components
from bayes_gresub.laws.confusion import Confusion, confusion
from bayes_gresub.laws.law import Law
from bayes_gresub.laws.sampling import Sampler

__all__ = ["Components", "Confusion", "Law", "Sampler", "confusion"]
