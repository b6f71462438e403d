"""What reaches the terminal: whole numbers at any width, no control characters, and a quiet end if nobody reads on."""

import csv
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from bayes_gresub.cli import app, console
from bayes_gresub.cli.demo_command import _print_table, compare_on_breast_cancer

NAMES = ("resub", "bolstered-3nn-pp", "boot-632+")


@pytest.fixture(scope="module")
def at_width(flowers_file):
    """Return a function that prints one estimate on a terminal of a given width."""
    arguments = ["estimate", str(flowers_file), "--target", "kind", "--estimators", ",".join(NAMES)]
    return cache(lambda columns: CliRunner().invoke(app, arguments, env={"COLUMNS": str(columns)}))


def numbers(text):
    """Return the numbers in a text but those of seconds, which differ between runs."""
    tables = [block for block in text.split("\n\n") if block.startswith(("estimator", "majority"))]
    return sorted(
        number
        for line in "\n".join(tables).splitlines()
        if line.startswith(("resub", "bolstered", "boot", "majority"))
        for number in re.findall(r"\b(?:\d\.\d{3,4}|200)\b", line)
    )


@pytest.mark.parametrize("columns", [20, 30, 40, 50, 60])
def test_narrow_terminals_show_every_digit(at_width, columns):
    expected = numbers(at_width(80).stdout)
    assert numbers(at_width(columns).stdout) == expected
    assert len(expected) >= 6


@pytest.mark.parametrize("columns", [40, 50])
def test_narrow_tables_fit(at_width, columns):
    assert max(map(len, at_width(columns).stdout.splitlines())) <= columns


@pytest.mark.parametrize("columns", [40, 50])
def test_narrow_tables_name_the_row_of_every_number(at_width, columns):
    lines = at_width(columns).stdout.splitlines()
    assert [line.split()[-1] for line in lines if line.startswith("boot-632+") and "200" in line]


@pytest.mark.parametrize("columns", ["0", "1", "-3", "none"])
def test_strange_widths_are_no_error(at_width, columns):
    assert at_width(columns).exit_code == 0


def test_the_narrow_demo_shows_every_digit(capsys, monkeypatch):
    comparison = compare_on_breast_cancer(size=30, estimators=["resub", "nb-bolstered", "cv"])
    shown = []
    for columns in ("80", "40"):
        monkeypatch.setenv("COLUMNS", columns)
        _print_table(comparison)
        shown.append(sorted(re.findall(r"[-+]?\d+\.\d+", capsys.readouterr().out)))
    assert shown[0] == shown[1]


def test_narrow_studies_show_every_size(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    titles = [f"n={size}" for size in range(20, 120, 10)]
    columns = [("estimator", "left"), *((title, "right") for title in titles)]
    console.table(columns, [["calibrated-bolstered", *[f"0.{size}" for size in range(120, 220, 10)]]])
    printed = capsys.readouterr().out.split()
    assert {*titles, *(f"0.{size}" for size in range(120, 220, 10))} <= set(printed)


def test_long_words_in_facts_stay_whole(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    console.facts([("Data", f"about {10**40} rows")])
    assert str(10**40) in capsys.readouterr().out


ODD_LABELS = ("\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "a\rb", "a\x08b", "\x9b2J", "\u202eabc")


@pytest.mark.parametrize("label", ODD_LABELS)
def test_control_characters_of_labels_are_shown_by_their_escapes(run, flowers, label):
    pd.read_csv(flowers).replace({"kind": {"a": label}}).to_csv("odd.csv", index=False, quoting=csv.QUOTE_NONNUMERIC)
    result = run("estimate", "odd.csv", "--target", "kind", "--estimators", "resub,cv")
    assert result.exit_code == 0
    assert all(character.isprintable() or character == "\n" for character in result.output)


def test_control_characters_in_messages_are_shown_by_their_escapes(run, flowers):
    pd.read_csv(flowers).replace({"kind": {"a": "\x1b[31m"}}).iloc[:3].to_csv("odd.csv", index=False)
    result = run("estimate", "odd.csv", "--target", "kind", "--classifier", "\x1b[31m")
    assert result.stderr.strip().isprintable()
    assert r"\x1b[31m" in run("estimate", "odd.csv", "--target", "\x1b[31m").stderr


@pytest.mark.parametrize("label", ["$x_1$", "<b>bold</b>", r"$\alpha^2$", "[red]a[/red]", ":smile:", "a\\nb", "é€中"])
def test_markup_in_labels_is_printed_as_it_is(run, flowers, label):
    pd.read_csv(flowers).replace({"kind": {"a": label}}).to_csv("odd.csv", index=False, quoting=csv.QUOTE_NONNUMERIC)
    assert f"{label} 15" in run("estimate", "odd.csv", "--target", "kind", "--estimators", "resub").stdout


def test_newlines_in_labels_are_told_from_spaces(run, flowers):
    pd.read_csv(flowers).replace({"kind": {"a": "x\ny", "b": "x y"}}).to_csv("odd.csv", index=False)
    assert r"x\ny 15, x y 15" in run("estimate", "odd.csv", "--target", "kind", "--estimators", "resub").stdout


COMMAND = f"{sys.executable} -c 'from bayes_gresub.cli import main; main()'"


def ended(script):
    """Return the exit code of a command in a shell, and what it wrote to stderr."""
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    return result.returncode, result.stderr


@pytest.mark.parametrize("arguments", ["list", "--help", "estimate iris --classifier lda --estimators resub"])
@pytest.mark.parametrize("reader", ["head -1", "true"])
def test_a_reader_that_stops_is_no_error(arguments, reader):
    code, said = ended(f"{COMMAND} {arguments} | {reader} > /dev/null; exit ${{PIPESTATUS[0]}}")
    assert code in (0, 141)
    assert said == ""


@pytest.mark.parametrize("arguments", ["list", "estimate iris --classifier lda --estimators resub"])
def test_a_closed_output_is_no_error(arguments):
    assert ended(f"{COMMAND} {arguments} >&-") == (0, "")


def test_closed_error_output_keeps_the_code():
    assert ended(f"{COMMAND} estimate nowhere.csv 2>&-")[0] == 2


def test_files_are_written_though_nobody_reads_the_table(flowers):
    ended(f"{COMMAND} estimate {flowers} --target kind --estimators resub --json out.json | head -1")
    assert Path("out.json").stat().st_size > 0


def test_letters_that_the_terminal_lacks_are_no_error(flowers):
    pd.read_csv(flowers).replace({"kind": {"a": "é"}}).to_csv("odd.csv", index=False)
    script = f"PYTHONIOENCODING=ascii {COMMAND} estimate odd.csv --target kind --estimators resub"
    assert ended(script) == (0, "")
