"""Studies: how good estimators are, over many training sets from a population whose truth is known."""

from bayes_gresub.studies import paper
from bayes_gresub.studies.results import StudyResults
from bayes_gresub.studies.study import Study
from bayes_gresub.studies.theory import approach, large_sample_study, vc_bound

__all__ = ["Study", "StudyResults", "approach", "large_sample_study", "paper", "vc_bound"]
