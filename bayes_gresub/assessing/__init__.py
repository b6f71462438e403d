"""One answer: what cheap numbers on the training data tell about the error of a trained classifier."""

from bayes_gresub.assessing.answer import Answer
from bayes_gresub.assessing.assess import assess

__all__ = ["Answer", "assess"]
