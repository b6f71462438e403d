"""Clues from kernels about the training points: how much mass the classifier puts elsewhere, and with which labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayes_gresub.assessing.neighbor_clues import Neighborhood
from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.sample import Sample
from bayes_gresub.kernels.kernel import chi_median
from bayes_gresub.kernels.spherical import SphericalGaussian
from bayes_gresub.measures.bolstered import Bolstered

SCALES = (0.5, 1.0, 2.0)
"""Factors on the widths of the kernels."""

N_POINTS = 16
"""Points sampled about each training point and scale, if no formula applies."""


def smoothing_clues(
    classifier: Any, sample: Sample, near: Neighborhood, seed: np.random.SeedSequence
) -> tuple[dict[str, float], Ints]:
    r"""Return the clues at each scale, and the classifier's labels at the training points.

    Let :math:`R_{ij}` be the mass of the kernel about point i where the classifier predicts j, and q the label shares
    among the point's neighbours. Then

    .. math:: \sum_i w_i (1 - R_{i Y_i}), \quad \sum_i w_i (1 - R_{i \psi(X_i)}), \quad
              \sum_i w_i \sum_j R_{ij} (1 - q_{ij})

    are the bolstered error, the mass that changes its label on the way, and a bolstered posterior-probability error.
    """
    widths = near.class_distances(sample.codes)[: sample.n_classes] / chi_median(max(1, sample.features.shape[1]))
    measure = Bolstered(SphericalGaussian(widths), n_points=N_POINTS).fit_sample(sample, seed)
    masses, region = measure.confusions(classifier, sample, seed, SCALES)
    predicted, rows, weights = region.center_labels, np.arange(len(sample.codes)), sample.weights
    wrong = predicted != sample.codes
    result: dict[str, float] = {}
    for mass, scale in zip(masses, SCALES, strict=True):
        about = _by_prediction(mass.rows_about())
        missed = 1.0 - about[rows, sample.codes]
        result[f"bolstered_{scale:g}"] = float(weights @ missed)
        result[f"semi_{scale:g}"] = float(weights @ np.where(wrong, 1.0, missed))
        result[f"flipped_{scale:g}"] = float(weights @ (1.0 - about[rows, predicted]))
        for k in (3, 9):
            result[f"both{k}_{scale:g}"] = float(weights @ (1.0 - (about * near.shares[k]).sum(axis=1)))
    return result, predicted


def _by_prediction(rows: Floats | None) -> Floats:
    assert rows is not None, "labels of a bolstered measure are certain"
    return rows
