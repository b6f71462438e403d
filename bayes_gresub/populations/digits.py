"""The handwritten digits that come with scikit-learn, as a population of images."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_gresub.populations.finite import FiniteData


def digits() -> FiniteData:
    """Return the 1,797 handwritten digits that come with scikit-learn, grey values from 0 to 1, shape (1, 8, 8).

    Examples
    --------
    >>> X, y = digits().sample(100, random_state=0)
    >>> X.shape, float(X.max())
    ((100, 1, 8, 8), 1.0)
    """
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    return FiniteData(scaled_images(images.reshape(-1, 8, 8), 16), labels.astype(np.int64), name="digits")


def scaled_images(images: Any, largest: int) -> NDArray[np.float32]:
    """Return images (N, height, width) as grey values from 0 to 1, with an axis for the channel."""
    return (images[:, None].astype(np.float32) / np.float32(largest)).astype(np.float32)
