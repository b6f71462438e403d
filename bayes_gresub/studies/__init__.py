"""Studies: how good estimators are, over many training sets from a population whose truth is known."""

from bayes_gresub.classifiers.lenet import LeNet5
from bayes_gresub.studies import paper
from bayes_gresub.studies.images import image_study, noisy_images
from bayes_gresub.studies.results import StudyResults
from bayes_gresub.studies.study import Study
from bayes_gresub.studies.theory import approach, large_sample_study, vc_bound

__all__ = [
    "LeNet5",
    "Study",
    "StudyResults",
    "approach",
    "image_study",
    "large_sample_study",
    "noisy_images",
    "paper",
    "vc_bound",
]
