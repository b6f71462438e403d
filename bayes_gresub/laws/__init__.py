"""The one integral: the mass that components give to decision regions. Which components, measures decide."""

from bayes_gresub.laws.mass import Mass, joint, mass

__all__ = ["Mass", "joint", "mass"]
