"""Print the lowest version that pyproject.toml states of each dependency, as constraints for pip.

Used by `make test-oldest`. What the dependencies depend on themselves is left to pip.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def oldest_versions() -> list[str]:
    """Return a line `name==version` for each requirement with a lower bound."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    requirements = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    bounds = (re.fullmatch(r"([\w.-]+)(?:\[\w+\])?>=([\w.]+)(?:,.*)?", requirement) for requirement in requirements)
    return sorted({f"{bound[1]}=={bound[2]}" for bound in bounds if bound})


if __name__ == "__main__":
    print("\n".join(oldest_versions()))  # noqa: T201
