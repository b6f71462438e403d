"""What was asked of the answers of `assess` before they were scored, and what the benchmark found."""

from __future__ import annotations

import numpy as np
import pandas as pd

from bayes_gresub.resampling.shortcuts import has_shortcut
from benchmarks.real_data.cells import CV, PLUS, WILSON
from benchmarks.real_data.plan import ASSESSED, rules
from benchmarks.real_data.scores import Clustered, mean_over_cells, ratio_of_sums

PLAIN, REFITTED = ASSESSED


def bars_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each bar: the answer, what must hold, and what was found, with its clustered standard error.

    Parameters
    ----------
    table : DataFrame
        The scores of every estimator in every cell (`cells.score_table`).

    Returns
    -------
    DataFrame
        Empty if no answer was scored, or their rivals were not.
    """
    if not {CV, PLUS} <= set(table["estimator"]):
        table = table.iloc[:0]
    shortcut = [name for name, rule in rules().items() if has_shortcut(rule) is None]
    rows = []
    for answer, of_answer in table.groupby("estimator"):
        if answer not in ASSESSED:
            continue
        rival = CV if answer == PLAIN else PLUS
        limits = {PLAIN: ("at most 0.92", "0.65 or more"), REFITTED: ("at most 1", "0.55 or more")}[str(answer)]
        rows += [
            (answer, f"RMS / {rival}'s", limits[0], _words(_ratio(of_answer, rival))),
            (answer, f"cells won against {rival}", limits[1], _words(_won(of_answer, rival))),
        ]
        if answer == PLAIN:
            chosen = of_answer[of_answer["rule"].isin(shortcut)]
            rows.append((answer, f"RMS / {CV}'s, rules with a shortcut", "at most 0.88", _words(_ratio(chosen, CV))))
        by_rule = _time_by_rule(table, str(answer))
        mean = float(np.exp(np.log(by_rule).mean()))
        most = {PLAIN: "at most 0.6", REFITTED: "at most 1.6"}[str(answer)]
        rows.append((answer, f"time / {CV}'s, geometric mean over rules", most, f"{mean:.2f}"))
        if answer == PLAIN:
            rows.append(
                (answer, f"time / {CV}'s, slowest rule", "at most 2", f"{by_rule.max():.2f} ({by_rule.idxmax()})")
            )
        rows += [(answer, *row) for row in _interval_rows(of_answer, table[table["estimator"] == WILSON])]
    return pd.DataFrame(rows, columns=["answer", "score", "must be", "is"])


def _interval_rows(rows: pd.DataFrame, wilson: pd.DataFrame) -> list[tuple[str, str, str]]:
    """Return score, limit and number of coverage, over all and at worst, and of width."""
    covered = mean_over_cells(rows["coverage"], rows["group"])
    without = mean_over_cells(rows["coverage_without_noise"], rows["group"])
    found = [
        ("coverage", "0.93 to 0.97", _words(covered)),
        ("coverage without the truth's noise", "0.93 to 0.97", _words(without)),
    ]
    for by, name in (("data", "data set"), ("rule", "rule")):
        means = rows.groupby(by)["coverage"].mean()
        found.append((f"coverage, worst {name}", "0.88 or more", f"{means.min():.3f} ({means.idxmin()})"))
    both = rows.merge(wilson[["data", "rule", "n", "width"]], on=["data", "rule", "n"], suffixes=("", "_wilson"))
    ratio = ratio_of_sums(both["width"], both["width_wilson"], both["group"])
    return [*found, ("width / Wilson's about cv with 0.7 n", "at most 1", _words(ratio))]


def _ratio(rows: pd.DataFrame, rival: str) -> Clustered:
    return ratio_of_sums(rows[f"rms_{rival}_own"], rows[f"rms_{rival}"], rows["group"])


def _won(rows: pd.DataFrame, rival: str) -> Clustered:
    return mean_over_cells(rows[f"won_{rival}"], rows["group"])


def _time_by_rule(table: pd.DataFrame, name: str) -> pd.Series:
    """Return the geometric mean over the cells of each rule of the seconds divided by those of cross-validation."""
    seconds = table.pivot_table(index=["data", "rule", "n"], columns="estimator", values="seconds")
    ratios = np.log(seconds[name] / seconds[CV])
    return np.exp(ratios.groupby("rule").mean())


def _words(number: Clustered) -> str:
    error = "" if np.isnan(number.std_error) else f" ({number.std_error:.3f})"
    return f"{number.value:.3f}{error}"
