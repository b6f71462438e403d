"""MNIST from local idx files, as a population. Nothing is downloaded."""

from __future__ import annotations

import gzip
import os
import struct
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayes_gresub.populations.digits import scaled_images
from bayes_gresub.populations.finite import FiniteData

FOLDER_VARIABLE = "BAYES_GRESUB_MNIST"

_FILES = {
    "train": ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
    "test": ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
}
_ADVICE = (
    f"Download {', '.join(f'{name}.gz' for names in _FILES.values() for name in names)} (MNIST in idx format, as many "
    f"mirrors offer it), put them into one folder, and name it: folder=..., or the variable {FOLDER_VARIABLE}."
)
Bytes = NDArray[np.uint8]


def load_mnist(folder: str | Path | None = None, part: str = "train") -> tuple[Bytes, Bytes]:
    """Return the images of MNIST, shape (N, 28, 28), and their digits, from the idx files in a folder.

    Parameters
    ----------
    folder : str or Path, optional
        With the four files, packed (.gz) or not; that in the environment variable BAYES_GRESUB_MNIST by default.
    part : "train" (60,000 images) or "test" (10,000)

    Raises
    ------
    FileNotFoundError
        If a file is missing; the message names it and the place to put it.

    Examples
    --------
    >>> load_mnist("no such folder")
    Traceback (most recent call last):
    FileNotFoundError: there is no folder 'no such folder' with the MNIST files. Download ...
    """
    if part not in _FILES:
        raise ValueError(f"part must be 'train' or 'test'; got {part!r}.")
    where = find_folder(folder)
    images, labels = (_read_idx(_path(where, name), rank) for name, rank in zip(_FILES[part], (3, 1), strict=True))
    if len(images) != len(labels) or images.shape[1:] != (28, 28) or labels.max() > 9:
        raise ValueError(
            f"the MNIST files in {where} do not fit together: {len(images)} images of {images.shape[1:]}, "
            f"{len(labels)} labels up to {labels.max()}. {_ADVICE}"
        )
    return images, labels


def find_folder(folder: str | Path | None = None) -> Path:
    """Return the folder with the MNIST files, or raise in words."""
    given = os.environ.get(FOLDER_VARIABLE) if folder is None else folder
    if not given:
        raise FileNotFoundError(f"no folder with the MNIST files was named. {_ADVICE}")
    where = Path(given)
    if not where.is_dir():
        raise FileNotFoundError(f"there is no folder {str(given)!r} with the MNIST files. {_ADVICE}")
    return where


def folder_is_named(folder: str | Path | None = None) -> bool:
    """Return whether there is a folder to look for the MNIST files in."""
    return bool(folder or os.environ.get(FOLDER_VARIABLE))


def mnist(folder: str | Path | None = None) -> FiniteData:
    """Return MNIST's 60,000 training images as a population: grey values from 0 to 1, shape (1, 28, 28).

    Training sets are random subsets, and the other images are the truth, as in the paper.

    Parameters
    ----------
    folder : str or Path, optional
        As in `load_mnist`.

    Examples
    --------
    >>> X, y = mnist().sample(200, random_state=0)  # doctest: +SKIP
    """
    images, labels = load_mnist(folder)
    return FiniteData(scaled_images(images, 255), labels.astype(np.int64), name="MNIST")


def _path(folder: Path, name: str) -> Path:
    # Some mirrors write a dot where others write a dash.
    names = [name, name.replace("-idx", ".idx")]
    for candidate in [folder / f"{stem}{ending}" for stem in names for ending in ("", ".gz")]:
        if candidate.is_file():
            return candidate
    raise FileNotFoundError(f"{folder} lacks {name}.gz. {_ADVICE}")


def _read_idx(path: Path, rank: int) -> Bytes:
    """Return the bytes of an idx file: a magic number, the sizes of its axes, and the data."""
    try:
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
        magic, *shape = struct.unpack(f">{1 + rank}I", content[: 4 * (1 + rank)])
        data = np.frombuffer(content, dtype=np.uint8, offset=4 * (1 + rank))
        if magic != 0x0800 + rank or data.size != int(np.prod(shape)) or not data.size:
            raise ValueError(f"magic number {magic}, {data.size} bytes for the shape {tuple(shape)}")
    except (OSError, EOFError, zlib.error, struct.error, ValueError) as error:
        raise ValueError(f"{path} is not a whole idx file ({error}). {_ADVICE}") from error
    return data.reshape(shape)
