"""What was asked of the answers, from a table of four cells with known scores."""

import pandas as pd
import pytest

from benchmarks.real_data.bars import bars_table
from benchmarks.real_data.cells import CV, PLUS, WILSON

CELLS = [("a", "LDA"), ("a", "CART"), ("b", "LDA"), ("b", "CART")]
"""LDA has a shortcut, CART has none."""


def rows_of(name, rms, coverage, width, seconds):
    """Return the four cells of an estimator; cross-validation has RMS 0.1, .632+ 0.08."""
    return [
        {
            "data": data,
            "group": data,
            "rule": rule,
            "n": 30,
            "estimator": name,
            "rms_cv_own": rms[i],
            "rms_cv": 0.1,
            "rms_boot-632+_own": rms[i],
            "rms_boot-632+": 0.08,
            "won_cv": float(rms[i] < 0.1),
            "won_boot-632+": float(rms[i] < 0.08),
            "coverage": coverage[i],
            "coverage_without_noise": coverage[i] + 0.01,
            "width": width,
            "seconds": seconds[i],
        }
        for i, (data, rule) in enumerate(CELLS)
    ]


@pytest.fixture
def table():
    ones = [1.0] * 4
    rows = rows_of(CV, [0.1] * 4, ones, 0.3, ones) + rows_of(PLUS, [0.08] * 4, ones, 0.3, ones)
    rows += rows_of(WILSON, [0.1] * 4, ones, 0.4, ones)
    rows += rows_of("assess", [0.05, 0.09, 0.07, 0.11], [0.9, 0.9, 1.0, 0.8], 0.3, [0.25, 4.0, 0.25, 1.0])
    rows += rows_of("assess-10", [0.04, 0.09, 0.06, 0.05], [0.9, 1.0, 1.0, 0.9], 0.2, [1.0, 1.0, 2.0, 2.0])
    return pd.DataFrame(rows)


def found(table, answer, score):
    bars = bars_table(table).set_index(["answer", "score"])
    return bars.at[(answer, score), "is"]


@pytest.mark.parametrize(
    ("answer", "score", "expected"),
    [
        ("assess", "RMS / cv's", "0.800"),
        ("assess", "cells won against cv", "0.750"),
        ("assess", "RMS / cv's, rules with a shortcut", "0.600"),
        ("assess", "time / cv's, geometric mean over rules", "0.71"),
        ("assess", "time / cv's, slowest rule", "2.00 (CART)"),
        ("assess", "coverage", "0.900"),
        ("assess", "coverage without the truth's noise", "0.910"),
        ("assess", "coverage, worst data set", "0.900 (a)"),
        ("assess", "coverage, worst rule", "0.850 (CART)"),
        ("assess", "width / Wilson's about cv with 0.7 n", "0.750"),
        ("assess-10", "RMS / boot-632+'s", "0.750"),
        ("assess-10", "cells won against boot-632+", "0.750"),
        ("assess-10", "time / cv's, geometric mean over rules", "1.41"),
        ("assess-10", "coverage, worst data set", "0.950 (a)"),
    ],
)
def test_each_bar_has_the_number_that_the_cells_give(table, answer, score, expected):
    assert found(table, answer, score).startswith(expected)


def test_a_standard_error_counts_the_cells_of_a_data_set_as_one(table):
    """Ratios without a and b are .9 and .7; their jackknife has a standard error of .1."""
    assert found(table, "assess", "RMS / cv's") == "0.800 (0.100)"


def test_there_are_no_bars_without_answers_or_their_rivals(table):
    assert bars_table(table[table["estimator"] != PLUS]).empty
    assert bars_table(table[~table["estimator"].isin(["assess", "assess-10"])]).empty
