"""The state of the process around a task: made the same everywhere, and restored afterwards."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sklearn


@dataclass(frozen=True)
class Surroundings:
    """How floating-point errors and scikit-learn are set in the process that a study was started in."""

    floating_point: dict[str, Any] = field(default_factory=lambda: dict(np.geterr()))
    scikit_learn: dict[str, Any] = field(default_factory=sklearn.get_config)

    @contextmanager
    def around(self, seed: np.random.SeedSequence) -> Iterator[None]:
        """Set these, and seed the global generators, which some rules use (shuffled folds in a grid search do)."""
        with ExitStack() as stack:
            stack.enter_context(np.errstate(**self.floating_point))
            stack.enter_context(sklearn.config_context(**self.scikit_learn))
            stack.callback(np.random.set_state, np.random.get_state())  # noqa: NPY002 - it is theirs, not ours
            stack.callback(random.setstate, random.getstate())
            numbers = [int(number) for number in seed.generate_state(3)]
            np.random.seed(numbers[0])  # noqa: NPY002 - as above
            random.seed(numbers[1])
            torch = sys.modules.get("torch")
            if torch is not None:
                stack.callback(torch.set_rng_state, torch.get_rng_state())
                torch.manual_seed(numbers[2])
            yield
