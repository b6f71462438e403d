"""Files that the command line writes: refused before the work if they cannot be written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayes_gresub.comparing import Comparison

FIGURES = (".png", ".svg", ".pdf")


def check_output(path: Path | None, option: str, endings: tuple[str, ...] = ()) -> None:
    """Raise unless a file can be written there."""
    if path is None:
        return
    if endings and path.suffix.lower() not in endings:
        raise ValueError(f"{option} must end in {', '.join(endings)}; got {path}.")
    if path.is_dir():
        raise ValueError(f"{option} must name a file; {path} is a folder.")
    existed = path.exists()
    try:
        # Only writing shows whether one can write: permissions, full disks and read-only systems differ.
        with path.open("ab"):
            pass
    except OSError as error:
        raise ValueError(f"{option} cannot be written: {path} ({error.strerror}). Name another place.") from error
    if not existed:
        path.unlink()


def listed(text: str) -> list[str]:
    """Return the names in a comma-separated list."""
    return [name.strip() for name in text.split(",") if name.strip()]


def save_figure(
    comparison: Comparison, path: Path, title: str, height: float | None = None, reference: float | None = None
) -> None:
    """Draw all estimates with their intervals into a file; `reference` is an error to compare with."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    height = 0.27 * len(comparison.rows) + 2.2 if height is None else height
    figure, ax = plt.subplots(figsize=(7, height), layout="constrained")
    comparison.plot(reference=reference, ax=ax)
    ax.set_title(title, fontsize="medium")
    figure.savefig(path, dpi=150)
    plt.close(figure)
