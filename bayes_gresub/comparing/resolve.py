"""Which estimators to compare: names and objects read into one mapping, and made ready to run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.base import clone

from bayes_gresub.data.description import describe
from bayes_gresub.measures.measure import Measure
from bayes_gresub.registry import estimators as registered
from bayes_gresub.registry import make_estimator
from bayes_gresub.resampling import Resampler


def read_estimators(estimators: Any, remedy: str = "A TestSet goes to test=.") -> dict[str, Any]:
    """Return new estimators by name, from names, estimators, a dict of them, or the name of a kind."""
    kinds = {"all": None, "measures": "measure", "resamplers": "resampler"}
    if isinstance(estimators, str) and estimators == "main":
        estimators = [entry.name for entry in registered() if entry.main]
    elif isinstance(estimators, str) and estimators in kinds:
        estimators = [entry.name for entry in registered(kinds[estimators])]
    elif isinstance(estimators, str | Measure | Resampler):
        estimators = [estimators]
    if isinstance(estimators, Mapping):
        pairs = [(str(name), one) for name, one in estimators.items()]
    elif isinstance(estimators, Iterable):
        pairs = [(_label(one), one) for one in estimators]
    else:
        raise TypeError(f"estimators must be names, estimators or a dict of them; got {estimators!r}.")
    chosen: dict[str, Any] = {}
    for name, one in pairs:
        made = make_estimator(one) if isinstance(one, str) else one
        if isinstance(made, type) or not isinstance(made, Measure | Resampler):
            raise TypeError(f"estimators must hold measures and resamplers or their names; got {_type(made)}. {remedy}")
        if name in chosen:
            raise ValueError(f"estimators must have different names; got {name!r} twice. Rename one, in a dict.")
        chosen[name] = clone(made)
    if not chosen:
        raise ValueError("estimators must name at least one; got none.")
    return chosen


def _type(thing: Any) -> str:
    return f"the class {thing.__name__}" if isinstance(thing, type) else f"a {type(thing).__name__}"


def _label(estimator: Any) -> str:
    if isinstance(estimator, str):
        return estimator
    return describe(estimator) if isinstance(estimator, Measure | Resampler) else type(estimator).__name__


def prepared(estimator: Any, seed: np.random.SeedSequence, n_jobs: int | None, progress: bool | None) -> Any:
    """Return a clone that takes these where it was given none of its own."""
    made = clone(estimator)
    parameters = made.get_params(deep=False)
    given = {"random_state": seed, **({"n_jobs": n_jobs, "progress": progress} if "progress" in parameters else {})}
    unset = {name: value for name, value in given.items() if parameters[name] is None and value is not None}
    return made.set_params(**unset)
