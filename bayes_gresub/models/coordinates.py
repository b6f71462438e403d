"""Coordinates in which models are computed: features shifted and divided by a unit. They change no result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.units import pooled_deviation


@dataclass(frozen=True, eq=False)
class Coordinates:
    """z = (x - location) / scale, both of shape (d,)."""

    location: Floats
    scale: Floats

    def inward(self, points: Floats) -> Floats:
        """Return points of feature space in these coordinates."""
        return (points - self.location) / self.scale

    def outward(self, points: Floats) -> Floats:
        """Return points in these coordinates in feature space."""
        return self.location + self.scale * points


def measure_coordinates(features: Floats, codes: Ints, one_unit: bool, names: tuple[str, ...] | None) -> Coordinates:
    """Return the coordinates that a sample suggests: the mean of its class means, the pooled within-class deviation.

    Parameters
    ----------
    one_unit : bool
        Whether all features get the same unit, the root mean square of their own.
    """
    scale = pooled_deviation(features, codes)
    constant = np.flatnonzero(scale == 0)
    if len(constant):
        shown = [names[f] if names else f"feature {f}" for f in constant[:5]]
        more = f" and {len(constant) - 5} more" if len(constant) > 5 else ""
        raise ValueError(
            f"a model of the classes needs features that vary within classes; {', '.join(shown)}{more} "
            f"{'does' if len(constant) == 1 else 'do'} not. Drop such columns, or use a measure without a model, such "
            "as PosteriorProbability."
        )
    if one_unit:
        scale = np.full_like(scale, np.sqrt(np.mean(scale**2)))
    classes = np.unique(codes)
    location = np.mean([features[codes == y].mean(axis=0) for y in classes], axis=0)
    return Coordinates(location, scale)
