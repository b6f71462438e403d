"""Execute the notebooks: in full, keeping their outputs (`make notebooks`), or in a quick mode that keeps nothing.

Usage: `python notebooks/run.py [--quick] [NAME ...]`; all notebooks by default.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent


def execute(path: Path, quick: bool) -> Any:
    """Return the executed notebook; a cell that fails raises `CellExecutionError`, which shows it."""
    notebook = nbformat.read(path, as_version=4)
    environment = {**os.environ, "BAYES_GRESUB_QUICK": "1" if quick else "0", "TQDM_DISABLE": "1"}
    client = NotebookClient(
        notebook,
        timeout=3600,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    return client.execute(env=environment)


def main(arguments: list[str]) -> None:
    """Execute the notebooks named."""
    quick = "--quick" in arguments
    names = [name for name in arguments if name != "--quick"]
    paths = [FOLDER / name for name in names] or sorted(FOLDER.glob("*.ipynb"))
    for path in paths:
        started = time.perf_counter()
        notebook = execute(path, quick)
        if not quick:
            # The language version of whoever ran it last is of no use to readers.
            notebook.metadata.pop("language_info", None)
            nbformat.write(notebook, path)
        sys.stdout.write(f"{path.name}: {time.perf_counter() - started:.0f} s\n")


if __name__ == "__main__":
    main(sys.argv[1:])
