"""Tables in files: labels keep their differences, packed files have a limit, odd text is read or refused at once."""

import bz2
import gzip
import lzma
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from bayes_gresub.cli import table_files
from bayes_gresub.cli.table_files import read_columns
from bayes_gresub.cli.tables import read_table

SMALL = "size,kind\n1.5,a\n2.5,b\n3.5,a\n4.5,b\n"


def write(name, content):
    """Return the path of a new file with this content."""
    path = Path(name)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def labelled(*labels):
    """Return a CSV file in which each of these labels has two rows."""
    return write(
        "labels.csv", "size,kind\n" + "".join(f"{number},{label}\n" for number, label in enumerate(labels * 2))
    )


@pytest.mark.parametrize(
    "labels",
    [
        ("01", "1"),
        ("1", "1.0"),
        ("1e20", "2e20"),
        ("9007199254740992.0", "9007199254740993.0"),
        ("0x1", "1"),
        ("True", "TRUE"),
        ("100000000000000000000", "200000000000000000000"),
        ("007", "7", "07"),
    ],
)
def test_labels_that_are_written_differently_are_different_classes(labels):
    assert set(read_table(labelled(*labels), "kind").counts) == set(labels)


def test_reading_labels_as_text_is_said():
    assert read_table(labelled("01", "1"), "kind").notes == (
        "The labels are read as text: otherwise 01 and 1 would be one class.",
    )


@pytest.mark.parametrize(
    ("labels", "expected"),
    [(("1", "2"), {1, 2}), (("1.0", "2.0"), {1, 2}), ((" 1", "2 "), {1, 2}), (("0", "1"), {0, 1})],
)
def test_numbers_stay_numbers_if_nothing_is_merged(labels, expected):
    table = read_table(labelled(*labels), "kind")
    assert (set(table.counts), table.notes) == (expected, ())


def test_large_numbers_in_parquet_stay_different():
    pd.DataFrame({"size": range(4), "kind": [1e20, 2e20] * 2}).to_parquet("large.parquet")
    assert len(read_table("large.parquet", "kind").counts) == 2


def test_the_head_says_that_labels_are_text(run):
    labels = "".join(f"{number * number % 7},{label}\n" for number in range(15) for label in ("01", "1"))
    write("codes.csv", f"size,kind\n{labels}")
    printed = " ".join(run("estimate", "codes.csv", "--target", "kind", "--estimators", "resub").stdout.split())
    assert "01 15, 1 15" in printed
    assert "labels are read as text" in printed


def test_missing_labels_are_shown_as_they_are_written():
    with pytest.raises(ValueError, match=r"the first in row 1 \('NA', which is read as missing\)"):
        read_table(labelled("NA", "b"), "kind")


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


def zipped(name, *contents):
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, content in enumerate(contents):
            archive.writestr(f"table{number}.csv", content)
    return Path(name)


def packed(ending, content):
    if ending == "zip":
        return zipped("table.zip", content)
    return write(f"table.csv.{ending}", PACKERS[ending](content.encode()))


@pytest.mark.parametrize("ending", [*PACKERS, "zip"])
def test_packed_files_are_read(ending):
    assert read_table(packed(ending, SMALL), "kind").counts == {"a": 2, "b": 2}


@pytest.mark.parametrize("ending", [*PACKERS, "zip"])
def test_packed_files_stop_at_the_stated_size(ending, monkeypatch):
    monkeypatch.setattr(table_files, "MOST_UNPACKED", 2**21)
    path = packed(ending, "size,kind\n" + "1,a\n" * 2**21)
    with pytest.raises(ValueError, match=r"at most 2 MB when unpacked; .* has more. Unpack it"):
        read_columns(path)


def test_no_more_is_unpacked_than_the_stated_size(monkeypatch):
    monkeypatch.setattr(table_files, "MOST_UNPACKED", 2**21)
    read = []

    class Endless:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            return None

        def read(self, size):
            read.append(size)
            return b"0" * size

    monkeypatch.setitem(table_files._OPENERS, ".gz", lambda path: Endless())
    with pytest.raises(ValueError, match="has more"):
        read_columns(write("endless.csv.gz", "x"))
    assert sum(read) <= 2**22


def test_parquet_files_stop_at_the_stated_size(monkeypatch):
    pd.DataFrame({"size": [0.0] * 10_000, "kind": ["a", "b"] * 5_000}).to_parquet("many.parquet")
    monkeypatch.setattr(table_files, "MOST_UNPACKED", 2**16)
    with pytest.raises(ValueError, match=r"many.parquet has more. Keep fewer rows or columns"):
        read_columns(Path("many.parquet"))


def test_archives_of_several_files_are_refused():
    with pytest.raises(ValueError, match="must hold one file; it holds 2"):
        read_columns(zipped("two.zip", SMALL, SMALL))


@pytest.mark.parametrize("ending", ["csv.gz", "csv.bz2", "csv.xz", "zip"])
def test_damaged_packed_files_are_refused(ending):
    with pytest.raises(ValueError, match=r"cannot be unpacked: .* Is it damaged"):
        read_columns(write(f"table.{ending}", b"not packed at all"))


def test_packed_files_that_end_early_are_refused():
    content = gzip.compress(bytes(range(256)) * 20)
    with pytest.raises(ValueError, match="cannot be unpacked: Compressed file ended"):
        read_columns(write("table.csv.gz", content[: len(content) // 2]))


@pytest.mark.parametrize("content", ["size,kind\n" + "x" * 2**25, "1," * 2**24], ids=["row", "header"])
def test_one_enormous_line_is_refused(content):
    with pytest.raises(ValueError, match=r"lines of at most 16 MB; line . is longer"):
        read_columns(write("line.csv", content))


def test_too_many_columns_are_refused():
    with pytest.raises(ValueError, match=r"at most 100,000 columns; wide.csv has 200,001"):
        read_columns(write("wide.csv", "1," * 200_000 + "\n"))


def test_an_enormous_label_is_refused():
    with pytest.raises(ValueError, match="at most 1,000 characters; column 'kind' has one of 1,000,000"):
        read_table(write("label.csv", f"size,kind\n1,{'x' * 10**6}\n2,b\n3,b\n"), "kind")


@pytest.mark.parametrize(("content", "line"), [("\0size,kind\n1,a\n", 1), ("size,kind\n1,a\n2,\0b\n", 3)])
def test_nul_bytes_are_refused_with_their_line(content, line):
    with pytest.raises(ValueError, match=f"NUL byte in line {line}"):
        read_columns(write("nul.csv", content))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_encodings_that_a_file_names_are_read(encoding):
    table = read_table(write("coded.csv", SMALL.replace("a", "é").encode(encoding)), "kind")
    assert (table.counts, list(table.X)) == ({"b": 2, "é": 2}, ["size"])


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "shift-jis"])
@pytest.mark.parametrize("place", ["size", "a"])
def test_other_encodings_are_refused(encoding, place):
    letter = "あ" if encoding == "shift-jis" else "é"
    with pytest.raises(ValueError, match=r"not text in UTF-8 .* Save it as CSV in UTF-8"):
        read_columns(write("coded.csv", SMALL.replace(place, letter, 1).encode(encoding)))


def test_utf_16_that_is_not_named_is_refused():
    with pytest.raises(ValueError, match="NUL byte in line 1"):
        read_columns(write("coded.csv", SMALL.encode("utf-16-le")))


@pytest.mark.parametrize("mark", [";", "\t", "|", " ", ":"])
def test_another_separator_is_found_in_the_names(mark):
    with pytest.raises(ValueError, match="Give that as the separator"):
        read_columns(write("other.csv", SMALL.replace(",", mark)))


@pytest.mark.parametrize("mark", [";", "\t", "\\t", "|", " "])
def test_another_separator_is_read_if_given(mark):
    path = write("other.csv", SMALL.replace(",", mark.replace("\\t", "\t")))
    assert read_table(path, "kind", separator=mark).counts == {"a": 2, "b": 2}


@pytest.mark.parametrize("mark", ["", ";;", '"', "\n", "a", "1", ".", "é"])
def test_separators_that_values_hold_are_refused(mark):
    with pytest.raises(ValueError, match="the separator must be one character"):
        read_columns(write("small.csv", SMALL), mark)


def test_old_line_ends_are_read():
    assert read_table(write("old.csv", SMALL.replace("\n", "\r")), "kind").counts == {"a": 2, "b": 2}


def test_columns_without_a_name_get_one():
    assert list(read_columns(write("index.csv", ",size,,kind\n1,2,3,a\n"))[0]) == [
        "Unnamed: 0",
        "size",
        "Unnamed: 2",
        "kind",
    ]
