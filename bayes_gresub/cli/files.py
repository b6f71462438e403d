"""Files that the command line writes: refused before the work if they cannot be written, and replaced whole or not.

Nothing is ever written over a file in place: what was there stays until all of the new content is on the disk.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayes_gresub.assessing import Answer
    from bayes_gresub.comparing import Comparison

FIGURES = (".png", ".svg", ".pdf")


def check_outputs(
    outputs: Mapping[str, Path | None], inputs: Mapping[str, Path | None] | None = None, force: bool = False
) -> None:
    """Raise unless a file can be written at each place, which no input and no other output has.

    Parameters
    ----------
    outputs : mapping from option to Path or None
    inputs : mapping from what a file is to Path or None
        Files that are read.
    force : bool, default False
        Whether files that exist may be replaced.

    Examples
    --------
    >>> check_outputs({"--json": Path("out.txt"), "--csv": Path("./out.txt")})
    Traceback (most recent call last):
    ValueError: every output needs a file of its own; --json and --csv are both out.txt. Rename one.
    """
    named = {option: path for option, path in outputs.items() if path is not None}
    for (option, path), (other, other_path) in combinations(named.items(), 2):
        if _is_same(path, other_path):
            raise ValueError(f"every output needs a file of its own; {option} and {other} are both {path}. Rename one.")
    for option, path in named.items():
        for role, source in (inputs or {}).items():
            if source is not None and _is_same(path, source):
                raise ValueError(f"{option} must not be {role}, which it would replace; got {path}. Rename it.")
        _check_place(path, option, force)


def check_figure(path: Path | None, option: str) -> None:
    """Raise unless the ending of a file is that of a figure."""
    if path is not None and path.suffix.lower() not in FIGURES:
        raise ValueError(f"{option} must end in {', '.join(FIGURES)}; got {path}.")


@contextmanager
def replacing(path: Path, force: bool = False) -> Iterator[Path]:
    """Yield a new file beside `path` to write to; it takes the place of `path` once all is written.

    Without `force` a file that another program wrote at `path` in the meantime is kept, and so is the new one.

    Examples
    --------
    >>> path = Path(tempfile.mkdtemp()) / "out.txt"
    >>> with replacing(path) as beside:
    ...     _ = beside.write_text("all of it")
    >>> path.read_text()
    'all of it'
    """
    # A link stays a link: the file that it names is replaced.
    place = path.resolve()
    beside = _new_beside(place)
    try:
        yield beside
        with beside.open("rb") as written:
            os.fsync(written.fileno())
        if place.exists():
            shutil.copymode(place, beside)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    if place.exists() and not force:
        raise ValueError(
            f"an existing file is replaced only with --force; {path} was written by another program in the meantime. "
            f"It is kept, and the result is in {beside}."
        )
    beside.replace(place)


def listed(text: str) -> list[str]:
    """Return the names in a comma-separated list."""
    return [name.strip() for name in text.split(",") if name.strip()]


def save_figure(
    comparison: Comparison,
    path: Path,
    title: str,
    height: float | None = None,
    reference: float | None = None,
    answer: Answer | None = None,
) -> None:
    """Draw all estimates with their intervals into a file; `reference` is an error to compare with."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from bayes_gresub.plots.frame import AS_WRITTEN

    height = 0.27 * len(comparison.rows) + 2.2 if height is None else height
    figure, ax = plt.subplots(figsize=(7, height), layout="constrained")
    comparison.plot(reference=reference, ax=ax, answer=answer)
    ax.set_title(title, fontsize="medium", **AS_WRITTEN)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _is_same(path: Path, other: Path) -> bool:
    try:
        return path.resolve() == other.resolve() or path.samefile(other)
    except OSError:
        return False


def _check_place(path: Path, option: str, force: bool) -> None:
    try:
        if path.is_dir():
            raise ValueError(f"{option} must name a file; {path} is a folder.")
        if path.exists():
            # /dev/stdout may lead to an ordinary file, which the shell still writes to.
            if not path.is_file() or Path("/dev") in path.absolute().parents:
                raise ValueError(
                    f"{option} must be an ordinary file; {path} is a pipe or a device. Name another place."
                )
            if not force:
                raise ValueError(
                    f"an existing file is replaced only with --force; {option} {path} exists. Add --force or rename it."
                )
            if not os.access(path, os.W_OK):
                raise ValueError(f"{option} cannot be written: {path} is read-only. Name another place.")
        # Only writing shows whether one can write: permissions, full disks and read-only systems differ.
        _new_beside(path.resolve()).unlink()
    except OSError as error:
        raise ValueError(f"{option} cannot be written: {path} ({error.strerror}). Name another place.") from error


def _new_beside(place: Path) -> Path:
    """Return a new empty file in the same folder, with the same ending and the permissions of any new file."""
    handle, name = tempfile.mkstemp(suffix=place.suffix, prefix=f".{place.stem[:40]}-", dir=place.parent)
    os.close(handle)
    umask = os.umask(0)
    os.umask(umask)
    Path(name).chmod(0o666 & ~umask)
    return Path(name)
