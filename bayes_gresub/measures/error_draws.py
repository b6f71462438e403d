"""Export to ArviZ of an estimate with draws but without a class model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_gresub.data.arrays import Floats, Labels
from bayes_gresub.estimate.error_estimate import ErrorEstimate
from bayes_gresub.models.fitted_classes import error_variables, versions, wrapped

_PACKAGES = ("bayes_gresub", "numpy", "torch", "gpytorch", "arviz")


@dataclass(frozen=True, eq=False)
class ErrorDraws:
    """Independent draws of the error: one chain."""

    classes: Labels
    attrs: Mapping[str, str]

    def errors_twice(self, estimate: ErrorEstimate) -> Floats:
        """Return the draws of an error twice, shape (2, draws): they have no noise from sampled points."""
        return np.stack([np.asarray(estimate.draws)] * 2)

    def to_inference_data(self, estimate: ErrorEstimate) -> Any:
        """Return an `arviz.InferenceData` (or the `DataTree` of ArviZ 1) with error, class_errors and predicted."""
        import xarray as xr

        if estimate.confusion_draws is None:
            raise ValueError("this estimate has no posterior draws.")
        n = len(estimate.confusion_draws)
        named = error_variables(estimate, (1, n), len(self.classes))
        data = {name: (("chain", "draw", *dims), values) for name, (dims, values) in named.items()}
        coords = {
            "chain": [0],
            "draw": np.arange(n),
            "class": self.classes,
            "predicted_class": estimate.classes,
        }
        attrs = {**self.attrs, **versions(_PACKAGES)}
        return wrapped({"posterior": xr.Dataset(data, coords=coords, attrs=attrs)})
