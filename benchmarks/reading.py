"""How many functions of the package a reader must visit to follow one call: distinct functions and files.

Run `python -m benchmarks.reading`; it writes benchmarks/results/reading.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

import bayes_gresub as bg

PACKAGE = Path(bg.__file__).parent
RESULTS = Path(__file__).parent / "results"
NOT_FUNCTIONS = {"<module>", "<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"}
LIMITS = {"bolstered": (50, 13), "compare": (120, 26)}


def visited(call: Callable[[], Any]) -> list[CodeType]:
    """Return the package's functions that a call visits, in order; comprehensions do not count."""
    codes: dict[CodeType, None] = {}

    def watch(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_name not in NOT_FUNCTIONS and code.co_filename.startswith(str(PACKAGE)):
            codes.setdefault(code)

    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(codes)


def calls() -> dict[str, tuple[str, Callable[[], Any]]]:
    """Return the two calls: their code in words, and a function that makes them."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 3)) + y[:, None]
    linear = LogisticRegression().fit(X, y)
    rows = ["resub", "bolstered", "cv"]
    return {
        "bolstered": ("Bolstered().fit(X, y).error(linear)", lambda: bg.Bolstered().fit(X, y).error(linear)),
        "compare": (
            "compare(linear, X, y, ['resub', 'bolstered', 'cv'])",
            lambda: bg.compare(linear, X, y, rows, random_state=0),
        ),
    }


def count(call: Callable[[], Any]) -> tuple[list[CodeType], int]:
    """Return the functions that a second call visits, and in how many files they are."""
    # Names that are loaded when first used are loaded now.
    call()
    codes = visited(call)
    return codes, len({code.co_filename for code in codes})


def main() -> None:
    lines = ["| call | functions | files | at most |", "|---|---|---|---|"]
    for name, (text, call) in calls().items():
        codes, files = count(call)
        most = "{} in {}".format(*LIMITS[name])
        lines.append(f"| `{text}` | {len(codes)} | {files} | {most} |")
        if "-v" in sys.argv:
            for code in codes:
                print(f"{name}: {Path(code.co_filename).relative_to(PACKAGE)}:{code.co_qualname}")
    table = "\n".join(lines)
    print(table)
    head = "Distinct functions of the package that one call visits (`python -m benchmarks.reading`)."
    (RESULTS / "reading.md").write_text(f"{head}\n\n{table}\n")


if __name__ == "__main__":
    main()
