"""Odd files and options: each ends with one line that helps, exit code 2 and no traceback, before any estimate."""

import gzip
import json
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import NearestCentroid
from sklearn.preprocessing import StandardScaler
from skops import io

TARGET = ("--target", "kind")


def good(**columns):
    data = {"size": np.arange(30.0) ** 2 % 7, "weight": np.arange(30.0) % 11, "kind": ["a", "b"] * 15}
    return pd.DataFrame(data | columns)


def csv(content, name="odd.csv"):
    """Return a maker of a file with this content, and of the arguments that read it."""

    def make():
        Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
        return (name, *TARGET)

    return make


def table(*options, **columns):
    """Return a maker of an ordinary table with other columns, and of the arguments that read it."""

    def make():
        good(**columns).to_csv("odd.csv", index=False)
        return ("odd.csv", *TARGET, *options)

    return make


def parquet(**columns):
    def make():
        good(**columns).to_parquet("odd.parquet")
        return ("odd.parquet", *TARGET)

    return make


def zipped(*names, content="size,kind\n1,a\n"):
    def make():
        with zipfile.ZipFile("odd.zip", "w") as archive:
            for name in names:
                archive.writestr(name, content)
        return ("odd.zip", *TARGET)

    return make


def model(write, *options):
    """Return a maker of a table and of a model file that `write` writes."""

    def make():
        write(Path("model.skops"))
        return (*table()(), "--model", "model.skops", *options)

    return make


def dumped(trained):
    return lambda path: io.dump(trained, path)


def bytes_of(content):
    return lambda path: path.write_bytes(content)


def damaged_skops(path):
    io.dump(NearestCentroid().fit(X, ["a", "b"] * 15), path)
    path.write_bytes(path.read_bytes()[:-40])


def schema(content):
    """Return a writer of a skops file with this schema."""

    def write(path):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("schema.json", content)

    return write


def fifo():
    os.mkfifo("odd.csv")
    return ("odd.csv", *TARGET)


def loop():
    Path("odd.csv").symlink_to("other.csv")
    Path("other.csv").symlink_to("odd.csv")
    return ("odd.csv", *TARGET)


def folder():
    Path("odd.csv").mkdir()
    return ("odd.csv", *TARGET)


def embedded(*options):
    return lambda: ("iris", *options)


class Explodes:
    """An object whose pickle raises an error when it is loaded."""

    def __reduce__(self):
        return (int, ("no number",))


CALLS_THE_SHELL = json.dumps(
    {
        "__class__": "system",
        "__module__": "os",
        "__loader__": "FunctionNode",
        "__id__": 1,
        "protocol": 2,
        "content": {"module_path": "os", "function": "system"},
    }
)
"""The schema of a skops file that names a function which runs commands."""

X = good()[["size", "weight"]]

FILES = {
    "missing": (lambda: ("nowhere.csv", *TARGET), "there is no file 'nowhere.csv'"),
    "folder": (folder, "is a folder"),
    "pipe": (fifo, "is a pipe or a device"),
    "device": (lambda: ("/dev/null", *TARGET), "must be a CSV file"),
    "links in a circle": (loop, "there is no file"),
    "name too long": (lambda: ("x" * 5000 + ".csv", *TARGET), "File name too long"),
    "name of no text": (lambda: (os.fsdecode(b"\xff.csv"), *TARGET), r"there is no file '\udcff.csv'"),
    "empty name": (lambda: ("", *TARGET), "is a folder"),
    "no ending": (csv("size,kind\n1,a\n", "odd"), "must be a CSV file"),
    "spreadsheet": (csv("PK", "odd.xlsx"), "must be a CSV file"),
    "empty": (csv(""), "odd.csv is empty"),
    "blank lines": (csv("\n\n  \n"), "the first line must name the columns"),
    "only line ends": (csv("\n\n\r\n"), "odd.csv is empty"),
    "names only": (csv("size,kind\n"), "column names and no rows"),
    "one column": (csv("kind\na\nb\na\nb\n"), "no column besides the target"),
    "one word": (csv("nothing"), "column names and no rows"),
    "commas": (csv(",,,\n,,,\n"), "the first line must name the columns"),
    "semicolons": (csv("size;kind\n1,5;a\n2,5;b\n"), "holds ';'. Give that as the separator"),
    "spaces": (csv("size kind\n1 a\n2 b\n"), "holds ' '. Give that as the separator"),
    "web page": (csv("<!DOCTYPE html>\n<html><body>404</body></html>\n"), "Give that as the separator"),
    "JSON": (csv('{"size": [1, 2],\n "kind": ["a", "b"]}\n'), "unknown column 'kind'"),
    "figure": (csv(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), "NUL byte in line"),
    "NUL byte": (csv("size,kind\n1,\0a\n2,b\n"), "NUL byte in line 2"),
    "UTF-16 without its mark": (csv("size,kind\n1,a\n".encode("utf-16-le")), "NUL byte in line 1"),
    "Latin-1": (csv("size,kind\n1,é\n2,b\n".encode("latin-1")), "not text in UTF-8"),
    "bad UTF-16": (csv(b"\xff\xfes\x00i"), "not text in UTF-8"),
    "half a character": (csv("size,kind\n1,é\n".encode()[:-2]), "not text in UTF-8"),
    "enormous line": (csv("size,kind\n" + "x" * 2**25), "lines of at most 16 MB"),
    "enormous label": (csv(f"size,kind\n1,{'x' * 10**5}\n2,b\n3,b\n"), "labels must have at most"),
    "enormous name": (csv(f"{'x' * 10**6},kind\n1,b\n"), "cannot be read as a table"),
    "many columns": (csv("1," * 200_000 + "kind\n"), "at most 100,000 columns"),
    "quote without end": (csv('size,kind\n1,"a\n2,b\n'), "EOF inside string"),
    "longer rows": (csv("size,kind\n1,2,a\n2,3,b\n"), "more values than its first line has names"),
    "shorter rows": (csv("size,weight,kind\n1,2,a\n1,b\n"), "every row must have a label"),
    "repeated names": (csv("size,size,kind\n1,2,a\n2,3,b\n"), "has size twice"),
    "repeated target": (csv("size,kind,kind\n1,a,a\n2,b,b\n"), "has kind twice"),
    "not packed": (csv("size,kind\n", "odd.csv.gz"), "cannot be unpacked"),
    "half packed": (csv(gzip.compress(os.urandom(3000))[:1000], "odd.csv.gz"), "cannot be unpacked"),
    "packed nothing": (csv(gzip.compress(b""), "odd.csv.gz"), "is empty"),
    "archive of two": (zipped("a.csv", "b.csv"), "must hold one file; it holds 2"),
    "archive of none": (zipped(), "must hold one file; it holds 0"),
    "damaged archive": (csv("PK\x03\x04", "odd.zip"), "cannot be unpacked"),
    "damaged parquet": (csv("PAR1 PAR1", "odd.parquet"), "cannot be read as parquet"),
    "parquet of dates": (parquet(when=pd.date_range("2020", periods=30)), "column 'when' holds datetime64"),
    "parquet of lists": (parquet(when=[[1, 2]] * 30), "objects, neither numbers nor texts"),
    "parquet without labels": (parquet(kind=[None] * 30), "every row must have a label"),
    "one class": (table(kind="a"), "at least two classes"),
    "class of one row": (table(kind=["a"] * 29 + ["b"]), "at least two rows"),
    "missing labels": (table(kind=[None, "b"] * 15), "every row must have a label"),
    "labels called NA": (table(kind=["NA", "b"] * 15), "'NA', which is read as missing"),
    "a quantity": (table(kind=np.linspace(1, 2, 30)), "a quantity to predict by regression"),
    "infinite labels": (table(kind=[np.inf, 1.0] * 15), "infinite numbers, which are no labels"),
    "infinite numbers": (table(weight=[np.inf, *range(29)]), "numbers must be finite"),
    "numbers too large": (table(weight=["1e400", *["1"] * 29]), "in weight"),  # infinite, or text with pandas 2
    "text": (table(weight=["heavy", "light"] * 15), "text in weight"),
    "missing numbers": (table(weight=[None, *range(29)]), "missing values in weight (1)"),
    "empty column": (table(weight=None), "nothing at all in weight"),
    "constant column": (table(weight=1), "the same value in every row of weight"),
    "nothing to classify by": (table("--prepare", size=1, weight=2), "all of odd.csv are empty or constant"),
    "too few rows": (csv("size,kind\n" + "1,a\n2,b\n" * 3), "too few rows for 10 folds"),
}

MODELS = {
    "missing": (lambda: (*table()(), "--model", "none.skops"), "there is no model file"),
    "folder": (model(lambda path: path.mkdir()), "there is no model file"),
    "empty": (model(bytes_of(b"")), "is not a skops file"),
    "pickle": (model(bytes_of(pickle.dumps(1))), "is not a skops file"),
    "text as pickle": (model(bytes_of(b"hello"), "--trust"), "cannot be read as pickle"),
    "half a pickle": (model(bytes_of(pickle.dumps(list(range(99)))[:20]), "--trust"), "cannot be read as pickle"),
    "pickle that fails": (model(bytes_of(pickle.dumps(Explodes())), "--trust"), "cannot be read as pickle"),
    "number": (model(bytes_of(pickle.dumps(1)), "--trust"), "it holds a int"),
    "class": (model(bytes_of(pickle.dumps(NearestCentroid)), "--trust"), "must hold a trained classifier"),
    "damaged skops": (model(damaged_skops), "is not a skops file"),
    "skops without content": (model(schema("{}")), "cannot be read as a skops file"),
    "skops of no JSON": (model(schema("{")), "cannot be read as a skops file"),
    "skops without end": (model(schema("[" * 10**5)), "cannot be read as a skops file"),
    "skops of unknown loaders": (
        model(schema('{"__class__": "X", "__module__": "m", "__loader__": "No", "protocol": 1}')),
        "cannot be read as a skops file",
    ),
    "unknown types": (
        model(schema(CALLS_THE_SHELL)),
        "not known to be safe: os.system",
    ),
    "untrained": (model(dumped(NearestCentroid())), "is not trained"),
    "transformer": (model(dumped(StandardScaler().fit(X))), "must hold a trained classifier with predict"),
    "regression": (model(dumped(LinearRegression().fit(X, np.arange(30.0)))), "predicts no classes"),
    "clusters": (model(dumped(KMeans(2, n_init=1).fit(X))), "predicts no classes"),
    "other columns": (model(dumped(NearestCentroid().fit(X.add_suffix("2"), ["a", "b"] * 15))), "the table lacks"),
    "fewer columns": (model(dumped(NearestCentroid().fit(X[["size"]].to_numpy(), ["a", "b"] * 15))), "without names"),
    "other labels": (model(dumped(NearestCentroid().fit(X, ["a", "c"] * 15))), "the table has b as well"),
    "classifier as well": (model(dumped(NearestCentroid()), "--classifier", "lda"), "Leave --classifier"),
    "preparation as well": (model(dumped(NearestCentroid()), "--prepare"), "Leave --classifier and --prepare out"),
}

OPTIONS = {
    "no target": (lambda: table()()[:1], "name the column with the labels"),
    "empty target": (lambda: (table()()[0], "--target", ""), "unknown column ''"),
    "target of embedded data": (embedded(*TARGET), "has labels of its own"),
    "unknown target": (lambda: (table()()[0], "--target", "sort"), "unknown column 'sort'"),
    "unknown column to drop": (table("--drop", "age"), "unknown column 'age'"),
    "target to drop": (table("--drop", "kind"), "cannot be dropped"),
    "everything to drop": (table("--drop", "size", "--drop", "weight"), "nothing to classify by"),
    "unknown column of embedded data": (embedded("--drop", "age"), "unknown column 'age'"),
    "unknown classifier": (table("--classifier", "svm"), "unknown classifier 'svm'"),
    "empty classifier": (table("--classifier", ""), "unknown classifier ''"),
    "unknown estimator": (table("--estimators", "bolsterd"), "unknown estimator 'bolsterd'"),
    "no estimator": (table("--estimators", ","), "must name at least one"),
    "estimator twice": (table("--estimators", "resub,resub"), "resub"),
    "seed of text": (table("--seed", "x"), "--seed"),
    "negative seed": (table("--seed", "-1"), "--seed"),
    "jobs of zero": (table("--jobs", "0"), "n_jobs"),
    "jobs of text": (table("--jobs", "many"), "--jobs"),
    "long separator": (table("--separator", "::"), "the separator must be one character"),
    "letter as separator": (table("--separator", "e"), "the separator must be one character"),
    "figure of another kind": (table("--plot", "out.gif"), "--plot must end in .png"),
    "figure without a name": (table("--plot", ".png"), "--plot must end in .png"),
    "empty output": (table("--json", ""), "--json must name a file"),
    "output in no folder": (table("--json", "no/out.json"), "--json cannot be written"),
    "output in a file": (table("--json", "odd.csv/out.json"), "--json cannot be written"),
    "output that is the input": (table("--csv", "odd.csv", "--force"), "must not be the data file"),
    "output with a long name": (table("--json", "x" * 300), "--json cannot be written"),
    "two outputs in one": (table("--csv", "o.txt", "--json", "o.txt"), "both o.txt"),
    "output to a device": (table("--json", "/dev/null"), "is a pipe or a device"),
    "netCDF without draws": (
        table("--estimators", "resub", "--netcdf", "o.nc"),
        "has posterior draws",
    ),
    "unknown option": (table("--fast"), "No such option"),
    "two tables": (table("other.csv"), "unexpected extra argument"),
    "option without value": (table("--seed"), "requires an argument"),
}


def refused(result, words):
    assert "Traceback" not in result.output
    assert result.stderr.count("\n") == 1
    # What the program did not foresee points to --debug, which helps its authors and not its users.
    assert "--debug" not in result.stderr
    assert words.lower() in result.stderr.lower()
    assert result.exit_code == 2


@pytest.fixture
def no_estimate(monkeypatch):
    """Make estimating fail: everything must be refused before it."""

    def estimated(*args, **kwargs):
        raise AssertionError("nothing must be estimated")

    monkeypatch.setattr("bayes_gresub.comparing.compare", estimated)


@pytest.mark.parametrize("kind", FILES)
def test_odd_tables(run, no_estimate, kind):
    make, words = FILES[kind]
    refused(run("estimate", *make()), words)


@pytest.mark.parametrize("kind", MODELS)
def test_odd_models(run, no_estimate, kind):
    make, words = MODELS[kind]
    refused(run("estimate", *make()), words)


@pytest.mark.parametrize("kind", OPTIONS)
def test_odd_options(run, no_estimate, kind):
    make, words = OPTIONS[kind]
    refused(run("estimate", *make()), words)


STUDIES = {
    "no folder": ((), "Missing option"),
    "folder that is a file": (("--out", "odd.csv", "--sizes", "10"), "odd.csv"),
    "no classifier": (("--out", "runs", "--sizes", "10", "--classifier", ""), "rule"),
    "no estimator": (("--out", "runs", "--sizes", "10", "--estimators", ""), "estimator"),
    "sizes of text": (("--out", "runs", "--sizes", "few"), "--sizes must be whole numbers"),
    "no sizes": (("--out", "runs", "--sizes", ","), "sizes"),
    "negative sizes": (("--out", "runs", "--sizes", "-5"), "size"),
    "sizes of zero": (("--out", "runs", "--sizes", "0"), "size"),
    "sizes beyond the rows": (("--out", "runs", "--sizes", "30"), "leave at least two of the 30 rows"),
    "no repetitions": (("--out", "runs", "--sizes", "10", "--repetitions", "0"), "--repetitions"),
    "unknown estimator": (("--out", "runs", "--sizes", "10", "--estimators", "x"), "unknown estimator 'x'"),
    "unknown classifier": (("--out", "runs", "--sizes", "10", "--classifier", "x"), "unknown classifier 'x'"),
    "jobs of zero": (("--out", "runs", "--sizes", "10", "--jobs", "0"), "n_jobs"),
}


@pytest.mark.parametrize("kind", STUDIES)
def test_odd_studies(run, kind):
    options, words = STUDIES[kind]
    refused(run("study", *table()(), *options), words)


@pytest.mark.parametrize("kind", FILES)
def test_odd_tables_of_studies(run, kind):
    make, words = FILES[kind]
    if kind in ("too few rows", "nothing to classify by"):
        words = ""
    refused(run("study", *make(), "--out", "runs"), words)


COMMANDS = {
    "unknown command": (("guess",), "No such command"),
    "unknown global option": (("--fast",), "No such option"),
    "no data": (("estimate",), "Missing argument"),
    "demo of too few": (("demo", "--size", "3"), "--size"),
    "demo of too many": (("demo", "--size", "1000"), "--size"),
    "demo in no folder": (("demo", "--plot", "no/such.png"), "cannot be written"),
    "list of something": (("list", "all"), "unexpected extra argument"),
    "study of no population": (("study", "nothing", "--out", "runs"), "there is no file 'nothing'"),
    "options of tables": (("study", "digits", "--out", "runs", "--sizes", "20"), "--sizes are for a table"),
}


@pytest.mark.parametrize("kind", COMMANDS)
def test_odd_commands(run, kind):
    arguments, words = COMMANDS[kind]
    refused(run(*arguments), words)


def test_at_least_forty_kinds_are_tried():
    assert len([*FILES, *MODELS, *OPTIONS, *STUDIES, *COMMANDS]) >= 40
