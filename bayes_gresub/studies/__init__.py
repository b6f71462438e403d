"""Studies: how good estimators are, over many training sets from a population whose truth is known."""

from bayes_gresub.studies.results import StudyResults
from bayes_gresub.studies.study import Study

__all__ = ["Study", "StudyResults"]
