"""Tables: a file or an embedded data set read into columns and labels, checked, with the steps needed to use them.

Nothing is imputed or encoded here: `Table.preparation` makes the step that does, for a rule to hold.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_gresub.cli.console import printable
from bayes_gresub.cli.named_rules import MOST_CATEGORIES, preparing
from bayes_gresub.cli.table_files import read_columns
from bayes_gresub.data.arrays import Labels
from bayes_gresub.data.validation import check_name

if TYPE_CHECKING:
    import pandas as pd

EMBEDDED = ("iris", "wine", "breast_cancer", "digits")
"""Data sets that come with scikit-learn."""

_MANY_COLUMNS = 40
_LONGEST_NAME = 60

_LONGEST_LABEL = 1000
"""Arrays of labels have room for the longest in every row."""

_EXACT = 2**53
"""Above this not all whole numbers are floats, so different labels could become one."""


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
    groups : ndarray of shape (n,) or None
        The group of each row, if a column names it.
    """

    X: pd.DataFrame
    y: Labels
    name: str
    target: str = ""
    notes: tuple[str, ...] = ()
    groups: Labels | None = None

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
        if not self._useful:
            raise ValueError(f"a column must differ between rows; all of {self.name} are empty or constant. Add one.")
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
    source: str | Path,
    target: str | None = None,
    *,
    drop: Iterable[str] = (),
    separator: str | None = None,
    groups: str | None = None,
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
    groups : str, optional
        The column that names the group of each row; it is no feature.

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
        if groups is not None:
            raise ValueError(f"the rows of {source} come in no groups; got groups {groups!r}. Leave the groups out.")
        return _embedded(str(source), tuple(drop))
    path = Path(source)
    if not path.exists():
        raise FileNotFoundError(
            f"there is no file {str(path)!r}. Name a CSV or parquet file, or one of the embedded data sets: "
            f"{', '.join(EMBEDDED)}."
        )
    frame, texts = read_columns(path, separator, target)
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
    if groups is not None:
        _check_column(groups, columns)
        if groups == target or groups in drop:
            raise ValueError(f"groups must be a column of its own; got {groups!r}, which is the target or dropped.")
    y, notes = _labels(frame[target], texts, target)
    features = frame.drop(columns=[target, *drop, *([] if groups is None else [groups])])
    if features.shape[1] == 0:
        raise ValueError(f"{path.name} has no column besides the target {target!r}: there is nothing to classify by.")
    group_names = None if groups is None else _group_names(frame[groups], groups)
    return Table(_features(features), y, path.name, target, notes, group_names)


def read_test_table(
    source: str | Path,
    target: str | None,
    table: Table,
    *,
    drop: Iterable[str] = (),
    separator: str | None = None,
    groups: str | None = None,
) -> tuple[pd.DataFrame, Labels]:
    """Return features and labels of held-out rows, which must have the columns and labels of a table.

    Columns that the table does not use may be there or not.
    """
    path = Path(source)
    if target is None:
        raise ValueError(f"held-out rows go with a data file; {table.name} has none. Leave --test out.")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {str(path)!r} with held-out rows. Check the name after --test.")
    frame, texts = read_columns(path, separator, target)
    frame.columns = [str(name) for name in frame.columns]
    columns = [str(name) for name in table.X.columns]
    if lacking := [name for name in [*columns, target] if name not in frame.columns]:
        raise ValueError(
            f"held-out rows must have the columns of {table.name}; {path.name} lacks {_listed(lacking)}. Add them."
        )
    if len(frame) == 0:
        raise ValueError(f"{path.name} has column names and no rows. Is it the right file?")
    if missing := np.flatnonzero(frame[target].isna()).tolist():
        raise ValueError(
            f"every held-out row must have a label; {path.name} lacks {len(missing)} in column {target!r}, the first "
            f"in row {missing[0] + 1}. Drop those rows."
        )
    shared = set()
    if groups is not None and table.groups is not None and groups in frame.columns:
        shared = set(map(str, frame[groups])) & set(table.groups.tolist())
    if shared:
        raise ValueError(
            f"held-out rows must be of groups that nothing has seen; {path.name} and {table.name} share "
            f"{_listed(sorted(shared))} in column {groups!r}. Leave these rows out of one of them."
        )
    written = frame[target] if texts is None else texts
    known = {str(label): label for label in np.unique(table.y).tolist()}
    labels = [_as_read(str(value).strip(), table.y.dtype.kind) for value in written]
    if unknown := sorted({label for label in labels if label not in known}):
        raise ValueError(
            f"labels of held-out rows must be classes of {table.name}, {_listed(known)}; {path.name} has "
            f"{_listed(unknown)}. The classifier never saw these."
        )
    features = _features(frame[columns])
    for name in columns:
        features[name] = _like(features[name], table.X[name], f"column {name!r} of {path.name}", table.name)
    return features, np.array([known[label] for label in labels])


def _as_read(label: str, kind: str) -> str:
    """Return a label as one of this kind of NumPy's is written that was read from a file: 1.0 as 1, true as True."""
    if kind == "b":
        return label.capitalize()
    try:
        return str(int(float(label))) if kind in "iu" and float(label).is_integer() else label
    except ValueError:
        return label


def _like(column: pd.Series, known: pd.Series, name: str, table: str) -> pd.Series:
    """Return a column of held-out rows as that of the table: texts that look like numbers stay texts; or raise."""
    is_text = column.dtype == object
    if known.dtype == object:
        return column if is_text else column.map(_as_text).astype(object)
    if is_text and column.notna().any():
        row = int(np.flatnonzero(column.notna())[0])
        raise ValueError(
            f"{name} must hold numbers, as in {table}; row {row + 1} has {column.iloc[row]!r}. Correct it."
        )
    if column.isna().any() and not known.isna().any():
        row = int(np.flatnonzero(column.isna())[0])
        raise ValueError(
            f"{name} must be complete, as in {table}, from which nothing was learned about missing values; it lacks "
            f"{int(column.isna().sum())}, the first in row {row + 1}. Fill them in, or drop these rows."
        )
    return column.astype(float)


def _as_text(number: float) -> str | None:
    if np.isnan(number):
        return None
    return str(int(number)) if float(number).is_integer() else str(number)


def _group_names(column: pd.Series, name: str) -> Labels:
    """Return the group of each row as text, or raise if one lacks it or all are the same."""
    if missing := int(column.isna().sum()):
        row = int(np.flatnonzero(column.isna())[0]) + 1
        raise ValueError(
            f"every row must have a group; column {name!r} lacks {missing}, the first in row {row}. Give each row "
            "without a group its own."
        )
    if column.nunique() < 2:
        raise ValueError(f"there must be at least two groups; column {name!r} holds {column.iloc[0]!s} in every row.")
    return np.array([str(value) for value in column])


def _labels(column: pd.Series, texts: pd.Series | None, name: str) -> tuple[Labels, tuple[str, ...]]:
    """Return the labels of a column, and a note if they were read as text; raise if they are no classes."""
    if missing := int(column.isna().sum()):
        row = int(np.flatnonzero(column.isna())[0]) + 1
        written = "" if texts is None else texts.iloc[row - 1]
        reading = f" ({written!r}, which is read as missing)" if written else ""
        raise ValueError(
            f"every row must have a label; column {name!r} lacks {missing}, the first in row {row}{reading}. Drop "
            "those rows, or rename the class."
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
    longest = max(map(len, texts if texts is not None else map(str, column)))
    if longest > _LONGEST_LABEL:
        raise ValueError(
            f"labels must have at most {_LONGEST_LABEL:,} characters; column {name!r} has one of {longest:,}. Is it "
            "the column with the labels, and does a quote lack its end?"
        )
    labels, notes = _distinct(column, texts)
    different = len(np.unique(labels))
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
    return labels, notes


def _distinct(column: pd.Series, texts: pd.Series | None) -> tuple[Labels, tuple[str, ...]]:
    """Return numbers as numbers, unless labels that are written differently would become one, and else texts."""
    is_exact = column.dtype.kind != "f" or bool((column.abs() < _EXACT).all())
    if column.dtype.kind == "f" and is_exact:
        column = column.astype(int)
    labels = column.to_numpy() if column.dtype.kind in "iub" else np.array([str(value) for value in column])
    if texts is None or (labels.dtype.kind not in "iub" and is_exact):
        return labels, ()
    written = np.array([text.strip() for text in texts])
    spellings: dict[Any, list[str]] = {}
    for text, first in zip(*np.unique(written, return_index=True), strict=True):
        spellings.setdefault(labels[first], []).append(str(text))
    merged = [several for several in spellings.values() if len(several) > 1]
    if merged:
        same = " and ".join(sorted(merged[0])[:2])
        return written, (f"The labels are read as text: otherwise {same} would be one class.",)
    if not is_exact:
        return written, (f"The labels are read as text: numbers as large as {written[0]} are not exact.",)
    return labels, ()


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
            values = [None if _is_missing(value) else value for value in column.astype(object)]
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


def _is_missing(value: Any) -> bool:
    import pandas as pd

    # Of a list, pandas would look at every element.
    return not hasattr(value, "__len__") and bool(pd.isna(value))


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
    shown = [printable(str(name)) for name in names]
    shown = [name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..." for name in shown]
    more = f" and {len(shown) - most} more" if len(shown) > most else ""
    return ", ".join(shown[:most]) + more
