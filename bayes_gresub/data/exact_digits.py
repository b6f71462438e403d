"""How pandas is told to read numbers to the last digit."""

from __future__ import annotations

from typing import Any


def exact_digits() -> dict[str, Any]:
    """Return the options of `pandas.read_csv` by which every number is the nearest to its digits.

    From pandas 3 on that is the default, and the option is deprecated.
    """
    import pandas as pd

    return {"float_precision": "round_trip"} if int(pd.__version__.split(".")[0]) < 3 else {}
