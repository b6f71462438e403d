"""Printing and keeping benchmark tables."""

from __future__ import annotations

import platform
from pathlib import Path

import numpy as np
import pandas as pd
import scipy
import sklearn

RESULTS = Path(__file__).parent / "results"


def write_table(name: str, title: str, header: list[str], rows: list[list[str]], notes: list[str]) -> None:
    """Print a table and write it to benchmarks/results/<name>.md."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    line = "| " + " | ".join(cell.ljust(width) for cell, width in zip(header, widths, strict=True)) + " |"
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    body = ["| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |" for row in rows]
    versions = (
        f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}, "
        f"scikit-learn {sklearn.__version__}, one thread."
    )
    text = "\n".join([f"# {title}", "", line, rule, *body, "", *notes, "", versions, ""])
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
    print(text, flush=True)


def markdown(table: pd.DataFrame) -> str:
    """Return a frame as a Markdown table."""
    head = "| " + " | ".join(str(column) for column in table.columns) + " |"
    rule = "|" + "---|" * len(table.columns)
    rows = [
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in table.itertuples(index=False)
    ]
    return "\n".join([head, rule, *rows, ""])
