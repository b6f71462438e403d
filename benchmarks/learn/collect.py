"""Put cases that were made into one file: `python -m benchmarks.learn.collect OUT FOLDER ...`."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.learn.case_table import collect


def main(out: str, *folders: str) -> None:
    """Write the cases of all folders to one file."""
    table = collect([Path(folder) for folder in folders])
    table.write(Path(out))
    print(f"{out}: {len(table)} cases")


if __name__ == "__main__":
    main(*sys.argv[1:])
