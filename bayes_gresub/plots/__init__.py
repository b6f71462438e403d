"""Figures of computed results: each takes data and an Axes and returns the Axes. Nothing is estimated here."""

from bayes_gresub.plots.contributions import plot_contributions
from bayes_gresub.plots.decision_regions import plot_regions
from bayes_gresub.plots.error_posterior import plot_error_posterior
from bayes_gresub.plots.image_grid import plot_images
from bayes_gresub.plots.kappa_trace import plot_calibration
from bayes_gresub.plots.many_estimates import plot_estimates
from bayes_gresub.plots.one_estimate import plot_estimate
from bayes_gresub.plots.study_figures import plot_deviations, plot_lines, plot_study

__all__ = [
    "plot_calibration",
    "plot_contributions",
    "plot_deviations",
    "plot_error_posterior",
    "plot_estimate",
    "plot_estimates",
    "plot_images",
    "plot_lines",
    "plot_regions",
    "plot_study",
]
