"""Tables in files: CSV, packed or not, and Parquet, read into columns as they are, or refused within seconds.

Whether the columns can be used, and which are the labels, is checked in `tables`.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from bayes_gresub.data.exact_digits import exact_digits

if TYPE_CHECKING:
    import pandas as pd

MOST_UNPACKED = 2**29
"""Bytes that a packed file may have when it is unpacked: a few kilobytes can hold terabytes of zeros."""

LONGEST_LINE = 2**24
"""Bytes of a line: more is no table, and takes minutes to find out."""

MOST_COLUMNS = 100_000

_PARQUET = (".parquet", ".pq")
_TEXT = (".csv", ".tsv", ".txt")
_BLOCK = 2**20
_MARKS = ",;\t|: "
"""Characters that separate values in files."""

_ENCODINGS = {
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
"""Encodings other than UTF-8 that a file names in its first bytes."""


def read_columns(
    path: Path, separator: str | None = None, target: str | None = None
) -> tuple[pd.DataFrame, pd.Series | None]:
    r"""Return the columns of a file, and one of them as it is written there, or None if the file is not text.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "small.csv"
    >>> _ = path.write_text("size,kind\n1.5,01\n2.5,1\n")
    >>> frame, texts = read_columns(path, target="kind")
    >>> frame["kind"].tolist(), texts.tolist()
    ([1, 1], ['01', '1'])
    """
    ending = path.suffix.lower()
    if path.is_dir():
        raise ValueError(f"{path} is a folder. Name a CSV or parquet file.")
    if ending not in (*_PARQUET, *_TEXT, *_OPENERS):
        raise ValueError(f"{path.name} must be a CSV file (.csv, .tsv, .txt, also packed) or a .parquet file.")
    if not path.is_file():
        raise ValueError(f"the data must be an ordinary file; {path} is a pipe or a device. Write it to a file first.")
    if path.stat().st_size == 0:
        raise ValueError(f"{path.name} is empty.")
    if ending in _PARQUET:
        return _read_parquet(path), None
    mark = _separator(separator, "\t" if ".tsv" in path.suffixes else ",")
    with _opened(path) as stream:
        return _read_text(stream, path.name, mark, target)


def _read_parquet(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        from pyarrow import parquet  # type: ignore[import-untyped]

        about = parquet.ParquetFile(path).metadata
        # Every value takes eight bytes or more, however well it is packed.
        size = 8 * about.num_rows * about.num_columns
        frame = pd.read_parquet(path).reset_index(drop=True) if size <= MOST_UNPACKED else None
    except ImportError as error:
        raise ValueError(f"parquet files need pyarrow: pip install pyarrow ({first_line(error)}).") from error
    except Exception as error:  # pyarrow has errors of its own, which need not be installed
        raise ValueError(f"{path.name} cannot be read as parquet: {first_line(error)}. Is it damaged?") from error
    if frame is None:
        raise ValueError(f"{_too_large(path.name)} Keep fewer rows or columns.")
    return frame


def _separator(given: str | None, default: str) -> str:
    # Few shells have a short way to write a tab.
    mark = default if given is None else given.replace("\\t", "\t")
    if len(mark) != 1 or mark.isalnum() or mark in "\"'\r\n\0.-+_" or ord(mark) > 127:
        raise ValueError(
            f"the separator must be one character that no value holds, such as ; or |; got {given!r}. For a tab write "
            r"'\t'."
        )
    return mark


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """Yield the unpacked bytes of a file, which can be read several times."""
    opener = _OPENERS.get(path.suffix.lower())
    if opener is None:
        with path.open("rb") as stream:
            yield stream
        return
    unpacked = io.BytesIO()
    try:
        with opener(path) as packed:
            while (block := packed.read(_BLOCK)) and unpacked.tell() <= MOST_UNPACKED:
                unpacked.write(block)
    except (OSError, EOFError, lzma.LZMAError, zlib.error, zipfile.BadZipFile, RuntimeError) as error:
        raise ValueError(f"{path.name} cannot be unpacked: {first_line(error)}. Is it damaged?") from error
    if unpacked.tell() > MOST_UNPACKED:
        raise ValueError(f"{_too_large(path.name)} Unpack it, and name the file in it.")
    unpacked.seek(0)
    yield unpacked


@contextmanager
def _open_zip(path: Path) -> Iterator[IO[bytes]]:
    with zipfile.ZipFile(path) as archive:
        names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
        if len(names) != 1:
            raise ValueError(f"{path.name} must hold one file; it holds {len(names)}. Unpack it, and name one of them.")
        with archive.open(names[0]) as stream:
            yield stream


def _open_zstandard(path: Path) -> Any:
    try:
        import zstandard  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        raise ValueError(f"{path.name} needs zstandard: pip install zstandard. Or unpack it.") from error
    return zstandard.open(path, "rb")


_OPENERS: dict[str, Callable[[Path], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zip": _open_zip,
    ".zst": _open_zstandard,
}


def _read_text(stream: IO[bytes], name: str, mark: str, target: str | None) -> tuple[pd.DataFrame, pd.Series | None]:
    import pandas as pd

    encoding = _check_text(stream, name)
    try:
        names = _column_names(stream, encoding, mark)
        _check_names(names, name, mark)
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            stream.seek(0)
            layout: dict[str, Any] = {"sep": mark, "encoding": encoding, "index_col": False}
            frame: pd.DataFrame = pd.read_csv(stream, low_memory=False, **layout, **exact_digits())
            texts = None
            if target in names:
                place = names.index(target)
                stream.seek(0)
                options: dict[str, Any] = {"dtype": str, "keep_default_na": False, "usecols": [place]}
                texts = pd.read_csv(stream, **layout, **options).iloc[:, 0]
    except pd.errors.ParserWarning as error:
        raise ValueError(f"{name} has rows with more values than its first line has names.") from error
    except pd.errors.EmptyDataError as error:
        raise ValueError(f"{name} is empty.") from error
    except UnicodeError as error:
        raise ValueError(
            f"{name} is not text in UTF-8 ({getattr(error, 'reason', error)}). Save it as CSV in UTF-8."
        ) from error
    except (pd.errors.ParserError, csv.Error, OSError) as error:
        raise ValueError(
            f"{name} cannot be read as a table: {first_line(error)}. Is the separator {mark!r}?"
        ) from error
    if len(names) == frame.shape[1]:
        # pandas renames columns that occur twice; those without a name keep the one that it gives them.
        frame = frame.set_axis([given or made for given, made in zip(names, frame.columns, strict=True)], axis=1)
    return frame, texts


def _check_text(stream: IO[bytes], name: str) -> str:
    """Return the encoding, or raise if the file is not lines of text."""
    start = stream.read(4)
    encoding = next((known for mark, known in _ENCODINGS.items() if start.startswith(mark)), "utf-8")
    stream.seek(0)
    line, length = 1, 0
    while block := stream.read(_BLOCK):
        if encoding == "utf-8" and (place := block.find(b"\0")) >= 0:
            line += block.count(b"\n", 0, place)
            raise ValueError(f"{name} must be text; it has a NUL byte in line {line}. Save it as CSV in UTF-8.")
        end = max(block.rfind(b"\n"), block.rfind(b"\r"))
        length = length + len(block) if end < 0 else len(block) - end - 1
        line += block.count(b"\n")
        if length > LONGEST_LINE:
            raise ValueError(
                f"{name} must have lines of at most {LONGEST_LINE // 2**20} MB; line {line} is longer. Is it a table, "
                "with one row in each line?"
            )
    return encoding


def _column_names(stream: IO[bytes], encoding: str, mark: str) -> list[str]:
    """Return the values in the first line that is not blank."""
    stream.seek(0)
    text = io.TextIOWrapper(stream, encoding="utf-8-sig" if encoding == "utf-8" else encoding, newline="")
    try:
        return next((row for row in csv.reader(text, delimiter=mark) if row), [])
    finally:
        text.detach()


def _check_names(names: list[str], name: str, mark: str) -> None:
    if not names:
        raise ValueError(f"{name} is empty.")
    if not "".join(names).strip():
        raise ValueError(f"the first line must name the columns; that of {name} names none. Write them there.")
    if len(names) > MOST_COLUMNS:
        raise ValueError(
            f"a table must have at most {MOST_COLUMNS:,} columns; {name} has {len(names):,}. Keep those that matter, "
            "and check that its rows are in lines."
        )
    if len(names) == 1 and (others := [other for other in _MARKS if other != mark and other in names[0]]):
        raise ValueError(
            f"{name} has one column only, whose name holds {others[0]!r}. Give that as the separator (--separator)."
        )


def _too_large(name: str) -> str:
    return f"packed files must have at most {MOST_UNPACKED // 2**20:,} MB when unpacked; {name} has more."


def first_line(error: BaseException) -> str:
    """Return the first line of a message, without its full stop."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".")
