"""Resamplers: error estimators that refit a rule on parts of the sample, and the test set."""

from bayes_gresub.resampling.bootstrap import Bootstrap
from bayes_gresub.resampling.calibrated import Calibrated
from bayes_gresub.resampling.cross_validation import CrossValidation
from bayes_gresub.resampling.holdout import TestSet
from bayes_gresub.resampling.interruptible import Interrupted
from bayes_gresub.resampling.kappa_search import CalibrationTrace
from bayes_gresub.resampling.leave_one_out import LeaveOneOut
from bayes_gresub.resampling.out_of_bag import OutOfBag
from bayes_gresub.resampling.resampler import Resampler
from bayes_gresub.resampling.subsampling import Subsampling

__all__ = [
    "Bootstrap",
    "Calibrated",
    "CalibrationTrace",
    "CrossValidation",
    "Interrupted",
    "LeaveOneOut",
    "OutOfBag",
    "Resampler",
    "Subsampling",
    "TestSet",
]
