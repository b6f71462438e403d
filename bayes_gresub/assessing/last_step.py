"""The last step of a Pipeline and what it sees; a classifier alone is its own last step."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline


def last_step(classifier: Any) -> Any:
    """Return the rule behind all other steps."""
    return classifier[-1] if isinstance(classifier, Pipeline) else classifier


def seen_by_last_step(classifier: Any, X: Any) -> Any:
    """Return the features as the last step sees them, perhaps sparse."""
    if not isinstance(classifier, Pipeline) or len(classifier.steps) == 1:
        return X
    return classifier[:-1].transform(X)
