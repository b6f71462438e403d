"""Tables: a file or an embedded data set read into columns and labels, checked, with the steps needed to use them.

Nothing is imputed or encoded here: `Table.preparation` makes the step that does, for a rule to hold.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_gresub.cli.named_rules import MOST_CATEGORIES, preparing
from bayes_gresub.data.arrays import Labels
from bayes_gresub.data.validation import check_name

if TYPE_CHECKING:
    import pandas as pd

EMBEDDED = ("iris", "wine", "breast_cancer", "digits")
"""Data sets that come with scikit-learn."""

_PARQUET = (".parquet", ".pq")
_TEXT = (".csv", ".tsv", ".txt", ".gz", ".bz2", ".xz", ".zip", ".zst")
_MANY_COLUMNS = 40


@dataclass(frozen=True, eq=False)
class Table:
    """A data set in columns.

    Attributes
    ----------
    X : DataFrame
        Features: numbers, NaN if missing, and texts, None if missing.
    y : ndarray of shape (n,)
        Labels, of at least two classes with at least two rows each.
    name : str
    target : str
        The column with the labels; empty if the data came with labels.
    notes : tuple of str
        What was done in reading.
    """

    X: pd.DataFrame
    y: Labels
    name: str
    target: str = ""
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.y)

    @cached_property
    def counts(self) -> dict[Any, int]:
        """Return the number of rows of each class."""
        classes, counts = np.unique(self.y, return_counts=True)
        return dict(zip(classes.tolist(), counts.tolist(), strict=True))

    @property
    def majority_class_error(self) -> float:
        """Return the error of always predicting the most frequent class."""
        return 1 - max(self.counts.values()) / len(self)

    @cached_property
    def useless(self) -> list[str]:
        """Return the columns that are empty, or the same in every row."""
        return [
            str(name)
            for name, column in self.X.items()
            if column.isna().all() or column.nunique(dropna=column.dtype.kind != "O") < 2
        ]

    @cached_property
    def texts(self) -> list[str]:
        """Return the columns of texts, except constant ones."""
        return [name for name in self._useful if self.X[name].dtype.kind == "O"]

    @cached_property
    def incomplete(self) -> list[str]:
        """Return the columns of numbers that lack some values, except constant ones."""
        return [name for name in self._useful if name not in self.texts and self.X[name].isna().any()]

    @cached_property
    def n_numeric(self) -> int:
        """Return the number of columns once they are made numeric."""
        codes = [min(self.X[name].nunique(dropna=False) - 1, MOST_CATEGORIES) for name in self.texts]
        return len(self._useful) - len(self.texts) + sum(codes)

    @property
    def _useful(self) -> list[str]:
        return [name for name in self.X.columns if name not in self.useless]

    def obstacles(self) -> list[str]:
        """Return in words why a classifier that needs numbers cannot use the columns as they are."""
        empty = [name for name in self.useless if self.X[name].isna().all()]
        same = [name for name in self.useless if name not in empty]
        obstacles = []
        if self.texts:
            obstacles.append(f"text in {_listed(self.texts)}")
        if self.incomplete:
            lacking = [f"{name} ({int(self.X[name].isna().sum())})" for name in self.incomplete]
            obstacles.append(f"missing values in {_listed(lacking)}")
        if empty:
            obstacles.append(f"nothing at all in {_listed(empty)}")
        if same:
            obstacles.append(f"the same value in every row of {_listed(same)}")
        return obstacles

    def preparation(self) -> tuple[Any, list[str]]:
        r"""Return the unfitted step that makes the columns numeric, None if there is nothing to do, and its effect.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.csv"
        >>> _ = path.write_text("size,colour,kind\n1,red,a\n,blue,a\n3,red,b\n4,red,b\n")
        >>> step, words = read_table(path, "kind").preparation()
        >>> words
        ['missing numbers become the median: size (1)', 'texts become 0/1 columns: colour (2 texts)']
        """
        if not self.obstacles():
            return None, []
        words = []
        if self.useless:
            words.append(f"columns left out, empty or constant: {_listed(self.useless)}")
        if self.incomplete:
            lacking = [f"{name} ({int(self.X[name].isna().sum())})" for name in self.incomplete]
            words.append(f"missing numbers become the median: {_listed(lacking)}")
        if self.texts:
            different = [f"{name} ({self.X[name].nunique(dropna=False)} texts)" for name in self.texts]
            words.append(f"texts become 0/1 columns: {_listed(different)}")
        if any(self.X[name].nunique() > MOST_CATEGORIES for name in self.texts):
            words.append(f"texts beyond the {MOST_CATEGORIES} most frequent of a column count as one")
        numbers = [name for name in self._useful if name not in {*self.texts, *self.incomplete}]
        return preparing(numbers, self.incomplete, self.texts), words

    def doubts(self) -> list[str]:
        """Return in words which columns look as if they should not be features."""
        doubts = []
        for name in self._useful:
            column = self.X[name]
            different = column.nunique()
            if name in self.texts:
                numbers = _as_numbers(column)
                strange = column[numbers.isna() & column.notna()]
                if numbers.notna().mean() > 0.5:
                    doubts.append(
                        f"column {name} is text because of values such as {strange.iloc[0]!r}; most of it are numbers. "
                        "Replace those in the file."
                    )
                elif different > max(MOST_CATEGORIES, len(self) / 2):
                    doubts.append(
                        f"column {name} has {different} different texts in {len(self)} rows: it looks like an "
                        "identifier, which is useless for new rows. Leave it out."
                    )
            elif column.dtype.kind in "iu" and len(self) > 10 and (column.diff().iloc[1:] == 1).all():
                doubts.append(f"column {name} looks like a row number, which is useless for new rows. Leave it out.")
        return doubts


def read_table(
    source: str | Path, target: str | None = None, *, drop: Iterable[str] = (), separator: str | None = None
) -> Table:
    """Return the table in a CSV or parquet file, or a data set that comes with scikit-learn.

    Parameters
    ----------
    source : str or Path
        A file, or one of iris, wine, breast_cancer and digits.
    target : str, optional
        The column with the labels; every file needs it.
    drop : iterable of str
        Columns that are no features.
    separator : str, optional
        Of a text file: a comma by default, a tab in .tsv files.

    Raises
    ------
    FileNotFoundError, ValueError
        With the problem and the remedy.

    Examples
    --------
    >>> table = read_table("iris")
    >>> len(table), table.counts
    (150, {'setosa': 50, 'versicolor': 50, 'virginica': 50})
    """
    if str(source) in EMBEDDED and not Path(source).exists():
        if target is not None:
            raise ValueError(f"{source} has labels of its own; got target {target!r}. Leave the target out.")
        return _embedded(str(source), tuple(drop))
    path = Path(source)
    frame = _read_file(path, separator)
    frame.columns = [str(name) for name in frame.columns]
    if repeated := frame.columns[frame.columns.duplicated()].unique().tolist():
        raise ValueError(f"column names must differ; {path.name} has {_listed(repeated)} twice. Rename one.")
    if len(frame) == 0:
        raise ValueError(f"{path.name} has column names and no rows. Is it the right file?")
    columns = list(frame.columns)
    if target is None:
        raise ValueError(f"name the column with the labels as the target; the columns are {_listed(columns)}.")
    _check_column(target, columns)
    for name in drop:
        _check_column(name, columns)
        if name == target:
            raise ValueError(f"the target {target!r} cannot be dropped.")
    y = _labels(frame[target], target)
    features = frame.drop(columns=[target, *drop])
    if features.shape[1] == 0:
        raise ValueError(f"{path.name} has no column besides the target {target!r}: there is nothing to classify by.")
    return Table(_features(features), y, path.name, target)


def _read_file(path: Path, separator: str | None) -> pd.DataFrame:
    import pandas as pd

    if not path.exists():
        raise FileNotFoundError(
            f"there is no file {str(path)!r}. Name a CSV or parquet file, or one of the embedded data sets: "
            f"{', '.join(EMBEDDED)}."
        )
    if path.is_dir():
        raise ValueError(f"{path} is a folder. Name a CSV or parquet file.")
    ending = path.suffix.lower()
    if ending not in (*_PARQUET, *_TEXT):
        raise ValueError(f"{path.name} must be a CSV file (.csv, .tsv, .txt, also packed) or a .parquet file.")
    if path.stat().st_size == 0:
        raise ValueError(f"{path.name} is empty.")
    if ending in _PARQUET:
        try:
            return pd.read_parquet(path).reset_index(drop=True)
        except ImportError as error:
            raise ValueError(f"parquet files need pyarrow: pip install pyarrow ({_first(error)}).") from error
        except Exception as error:  # pyarrow has errors of its own, which need not be installed
            raise ValueError(f"{path.name} cannot be read as parquet: {_first(error)}. Is it damaged?") from error
    sep = separator or ("\t" if ".tsv" in path.suffixes else ",")
    if len(sep) != 1:
        raise ValueError(f"the separator must be one character; got {sep!r}.")
    try:
        # Names are read apart, since pandas would rename those that occur twice.
        names = pd.read_csv(path, sep=sep, header=None, nrows=1, dtype=str, keep_default_na=False).iloc[0].tolist()
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(path, sep=sep, low_memory=False, index_col=False)
    except pd.errors.ParserWarning as error:
        raise ValueError(f"{path.name} has rows with more values than its first line has names.") from error
    except (pd.errors.EmptyDataError, IndexError) as error:
        raise ValueError(f"{path.name} is empty.") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path.name} is not text in UTF-8 ({error.reason}). Save it as CSV in UTF-8.") from error
    except (pd.errors.ParserError, ValueError, OSError) as error:
        raise ValueError(
            f"{path.name} cannot be read as a table: {_first(error)}. Is the separator {sep!r}?"
        ) from error
    if len(names) == 1 and (marks := [mark for mark in ";\t|" if mark in names[0]]):
        raise ValueError(f"{path.name} has one column only, whose name holds {marks[0]!r}. Give that as the separator.")
    if len(set(names)) == len(names):
        return frame
    return frame.set_axis(names, axis=1)


def _labels(column: pd.Series, name: str) -> Labels:
    """Return the labels of a column, or raise if they are no classes."""
    if missing := int(column.isna().sum()):
        row = int(np.flatnonzero(column.isna())[0]) + 1
        raise ValueError(
            f"every row must have a label; column {name!r} lacks {missing}, the first in row {row}. Drop those rows."
        )
    different, n = column.nunique(), len(column)
    is_number = column.dtype.kind in "iuf"
    if is_number and column.dtype.kind == "f" and np.isinf(column.to_numpy()).any():
        raise ValueError(f"column {name!r} holds infinite numbers, which are no labels.")
    fractional = column.dtype.kind == "f" and bool((column % 1 != 0).any())
    if fractional or (is_number and different > max(20, n / 4)):
        raise ValueError(
            f"column {name!r} holds {different} different numbers in {n} rows, such as {column.iloc[0]:g}: it looks "
            "like a quantity to predict by regression, and not like classes. Name another column, or group it into "
            "classes."
        )
    if column.dtype.kind == "f":
        column = column.astype(int)
    labels = column.to_numpy() if column.dtype.kind in "iub" else np.array([str(value) for value in column])
    if different < 2:
        raise ValueError(
            f"there must be at least two classes; column {name!r} holds {column.iloc[0]!s} in every row. The error of "
            "a classifier needs both."
        )
    classes, counts = np.unique(labels, return_counts=True)
    if counts.min() < 2:
        single = [str(label) for label in classes[counts == 1]]
        raise ValueError(
            f"every class must have at least two rows; column {name!r} has one of {_listed(single)}. Drop or merge "
            "these classes, or is this not the column with the labels?"
        )
    return labels


def _features(frame: pd.DataFrame) -> pd.DataFrame:
    """Return columns of numbers and of texts only, or raise if others are among them."""
    import pandas as pd

    columns = {}
    for name, column in frame.items():
        kind = pd.api.types
        if kind.is_numeric_dtype(column.dtype):  # also bool, and pandas' own types with missing values
            plain = isinstance(column.dtype, np.dtype) and column.dtype.kind != "b"
            columns[name] = column if plain else pd.Series(column.to_numpy(dtype=float, na_value=np.nan))
        elif kind.is_object_dtype(column.dtype) or kind.is_string_dtype(column.dtype) or hasattr(column, "cat"):
            values = [None if value is None or value != value else value for value in column.astype(object)]
            if strange := [value for value in values if not isinstance(value, str | bool | int | float | None)]:
                raise ValueError(
                    f"column {name!r} holds {type(strange[0]).__name__} objects, neither numbers nor texts. Convert or "
                    "drop it."
                )
            columns[name] = pd.Series([None if v is None else str(v) for v in values], dtype=object)
        else:
            raise ValueError(
                f"column {name!r} holds {column.dtype} values, neither numbers nor texts. Convert or drop it."
            )
    numbers = {name: column.to_numpy() for name, column in columns.items() if column.dtype.kind == "f"}
    if infinite := [name for name, values in numbers.items() if np.isinf(values).any()]:
        row = int(np.flatnonzero(np.isinf(numbers[infinite[0]]))[0]) + 1
        raise ValueError(
            f"numbers must be finite; there are infinite ones in {_listed(infinite)}, the first in row {row}. Replace "
            "them, or leave them empty."
        )
    return pd.DataFrame(columns)


def _embedded(name: str, drop: tuple[str, ...]) -> Table:
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")(as_frame=True)
    y = bunch.target.to_numpy()
    y = y if name == "digits" else bunch.target_names[y]
    for column in drop:
        _check_column(column, list(bunch.data.columns))
    table = Table(bunch.data.drop(columns=list(drop)), y, name)
    if not table.useless:
        return table
    left = table.X.drop(columns=table.useless)
    return Table(left, y, name, "", (f"{len(table.useless)} columns are constant and left out",))


def _check_column(name: str, columns: list[str]) -> None:
    if len(columns) <= _MANY_COLUMNS:
        check_name(name, columns, "column")
    elif name not in columns:
        near = difflib.get_close_matches(name, columns, n=10, cutoff=0.4) or columns[:10]
        raise ValueError(f"unknown column {name!r}; of {len(columns)} columns some are {', '.join(near)}.")


def _as_numbers(column: pd.Series) -> pd.Series:
    import pandas as pd

    return pd.to_numeric(column, errors="coerce")


def _listed(names: Iterable[Any], most: int = 8) -> str:
    shown = [str(name) for name in names]
    more = f" and {len(shown) - most} more" if len(shown) > most else ""
    return ", ".join(shown[:most]) + more


def _first(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".")
