"""The page of the benchmark: its tables, figures and long-form file, from the scores of all cells."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd

from benchmarks.real_data.bars import bars_table
from benchmarks.real_data.cells import CV, REFERENCES, RIVALS
from benchmarks.real_data.figures import plot_coverage, plot_rms
from benchmarks.real_data.plan import refits, rules
from benchmarks.real_data.scores import Clustered, mean_over_cells, ratio_of_sums
from benchmarks.tables import RESULTS, markdown

matplotlib.use("Agg")

DESIGN = RESULTS / "real.md"
MARK = "## Results\n"

TEXT = """
{n_cells} cells of {n_data} data sets in {n_groups} groups, {n_samples} training sets times rules. {state} All numbers a
cell: [real.csv.gz](real.csv.gz).

![RMS of every estimator](real_rms.svg)

### Over all cells

{overall}

### What was asked of the answers

{bars}

### RMS by rule

{by_rule}

### Bias by rule

{bias}

### Seconds by rule

{seconds}

### Intervals

{intervals}

![Coverage on every data set](real_coverage.svg)

Coverage by rule, without the noise of the truth:

{coverage_by_rule}

Width by rule:

{width}

Coverage by data set, without the noise of the truth:

{coverage_by_data}

### Data sets

{data}

### Failures

{failures}
"""


def write_page(table: pd.DataFrame, folder: Path, state: str) -> Path:
    """Write page, figures and long-form file to a folder, and return the page; the design on top is kept as it is.

    Parameters
    ----------
    table : DataFrame
        The scores of every estimator in every cell (`cells.score_table`).
    folder : Path
    state : str
        A sentence on how much of the design was run.
    """
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    estimates = table[~table["estimator"].isin(REFERENCES)]
    intervals = table[table.groupby("estimator")["intervals"].transform("sum") > 0]
    overall = overall_table(estimates)
    by_data = coverage_table(intervals, "data")
    figures = {"real_rms": plot_rms(overall), "real_coverage": plot_coverage(by_data, list(by_data.columns))}
    for name, axes in figures.items():
        axes.figure.savefig(folder / f"{name}.svg")
        axes.figure.savefig(folder / f"{name}.png", dpi=80)
        plt.close(axes.figure)
    table.to_csv(folder / "real.csv.gz", index=False, float_format="%.4g", compression={"method": "gzip", "mtime": 0})
    cells = table.drop_duplicates(["data", "rule", "n"])
    n_samples = int(table.groupby(["data", "rule", "n"])["repetitions"].max().sum())
    text = TEXT.format(
        n_cells=len(cells),
        n_data=cells["data"].nunique(),
        n_groups=cells["group"].nunique(),
        n_samples=n_samples,
        state=state,
        overall=markdown(_shown(overall)),
        bars=bars_text(table),
        by_rule=markdown(rule_table(estimates, "rms", "{:.3f}")),
        bias=markdown(rule_table(estimates, "bias", "{:+.3f}")),
        seconds=markdown(rule_table(estimates, "seconds", "{:.2g}")),
        intervals=markdown(interval_table(intervals)),
        coverage_by_rule=markdown(_in_words(coverage_table(intervals, "rule"))),
        width=markdown(rule_table(intervals, "width", "{:.3f}")),
        coverage_by_data=markdown(_in_words(by_data)),
        data=markdown(data_table(table)),
        failures=failures_text(estimates),
    )
    head, mark, _ = DESIGN.read_text(encoding="utf-8").partition(MARK)
    page = folder / DESIGN.name
    page.write_text(head + mark + text, encoding="utf-8")
    return page


def overall_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of every estimator over all cells, with clustered standard errors, the smallest RMS first."""
    rows = {}
    for name, rows_of in table.groupby("estimator", sort=False):
        groups = rows_of["group"]
        row: dict[str, object] = {"refits": name not in REFERENCES and refits(str(name))}
        numbers = {
            "rms": mean_over_cells(rows_of["rms"], groups),
            "bias": mean_over_cells(rows_of["bias"], groups),
            "absolute_bias": mean_over_cells(rows_of["bias"].abs(), groups),
        }
        for rival in RIVALS:
            numbers[f"ratio_{rival}"] = ratio_of_sums(rows_of[f"rms_{rival}_own"], rows_of[f"rms_{rival}"], groups)
            numbers[f"won_{rival}"] = mean_over_cells(rows_of[f"won_{rival}"], groups)
        for score, number in numbers.items():
            row[score], row[f"{score}_se"] = number.value, number.std_error
        row["seconds"] = rows_of["seconds"].mean()
        rows[name] = row
    result = pd.DataFrame.from_dict(rows, orient="index").rename_axis("estimator")
    result["time_cv"] = _time_ratio(table)
    return result.sort_values("rms")


def _time_ratio(table: pd.DataFrame) -> pd.Series:
    """Return the geometric mean over cells of the seconds divided by those of cross-validation."""
    seconds = table.pivot_table(index=["data", "rule", "n"], columns="estimator", values="seconds")
    if CV not in seconds:
        return pd.Series(np.nan, index=seconds.columns)
    return np.exp(np.log(seconds.div(seconds[CV], axis=0)).mean())


def _shown(overall: pd.DataFrame) -> pd.DataFrame:
    def cells(score: str, form: str) -> list[str]:
        numbers = zip(overall[score], overall[f"{score}_se"], strict=True)
        return [_with_error(Clustered(*pair), form) for pair in numbers]

    shown = pd.DataFrame({"estimator": overall.index, "RMS": cells("rms", "{:.4f}"), "bias": cells("bias", "{:+.3f}")})
    shown["absolute bias"] = cells("absolute_bias", "{:.3f}")
    for rival in RIVALS:
        shown[f"RMS / {rival}'s"] = cells(f"ratio_{rival}", "{:.3f}")
        shown[f"cells won against {rival}"] = cells(f"won_{rival}", "{:.2f}")
    shown["seconds"] = [f"{value:.2g}" for value in overall["seconds"]]
    shown[f"time / {CV}'s"] = [f"{value:.2g}" for value in overall["time_cv"]]
    return shown


def bars_text(table: pd.DataFrame) -> str:
    """Return what was asked of the answers beside what was found, or a sentence if there is nothing to compare."""
    bars = bars_table(table)
    return "The answers or their rivals were not scored." if bars.empty else markdown(bars)


def rule_table(table: pd.DataFrame, score: str, form: str) -> pd.DataFrame:
    """Return the mean of a score over the cells of every rule, with clustered standard errors."""
    shown: dict[str, list[str]] = {"estimator": list(dict.fromkeys(table["estimator"]))}
    for rule in _in_order(table["rule"]):
        by_name = table[table["rule"] == rule].groupby("estimator")
        numbers = {name: mean_over_cells(rows[score], rows["group"]) for name, rows in by_name}
        shown[rule] = [_with_error(numbers[name], form) if name in numbers else "" for name in shown["estimator"]]
    return pd.DataFrame(shown)


def interval_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return the scores of every interval over all cells, with clustered standard errors, the best score first."""
    rows = []
    for name, rows_of in table.groupby("estimator", sort=False):
        groups = rows_of["group"]
        score = mean_over_cells(rows_of["interval_score"], groups)
        without = {"data": coverage_table(rows_of, "data"), "rule": coverage_table(rows_of, "rule")}
        rows.append(
            {
                "order": score.value,
                "interval": name,
                "coverage": _with_error(mean_over_cells(rows_of["coverage"], groups), "{:.3f}"),
                "without noise": _with_error(mean_over_cells(rows_of["coverage_without_noise"], groups), "{:.3f}"),
                "worst data set": f"{without['data'][name].min():.2f}",
                "worst rule": f"{without['rule'][name].min():.2f}",
                "width": _with_error(mean_over_cells(rows_of["width"], groups), "{:.3f}"),
                "interval score": _with_error(score, "{:.3f}"),
                "samples with one": f"{rows_of['intervals'].sum() / max(rows_of['repetitions'].sum(), 1):.3f}",
            }
        )
    return pd.DataFrame(rows).sort_values("order").drop(columns="order")


def coverage_table(table: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return the coverage without the truth's noise, a row for each data set or rule, a column for each interval."""
    means = table.pivot_table(index=by, columns="estimator", values="coverage_without_noise", sort=False)
    order = _in_order(table[by]) if by == "rule" else sorted(means.index)
    return means.reindex(index=[name for name in order if name in means.index])


def data_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return the data sets: group, sizes used, mean true error of the rules."""
    rows = []
    for name, rows_of in table.groupby("data"):
        sizes = ", ".join(str(n) for n in sorted(rows_of["n"].unique()))
        by_rule = rows_of.groupby("rule")["truth"].mean()
        truth = f"{by_rule.min():.3f} to {by_rule.max():.3f}"
        rows.append({"data set": name, "group": rows_of["group"].iloc[0], "n": sizes, "true error by rule": truth})
    return pd.DataFrame(rows)


def failures_text(table: pd.DataFrame) -> str:
    """Return a table of the estimators that failed on some samples, with their data sets, or a sentence."""
    failed = table[table["failed"] > 0]
    if failed.empty:
        return "None."
    rows = []
    for name, rows_of in failed.groupby("estimator", sort=False):
        of_all = table[table["estimator"] == name]
        total = int((of_all["failed"] + of_all["repetitions"]).sum())
        counts = rows_of.groupby("data")["failed"].sum()
        where = ", ".join(f"{data} {count}" for data, count in counts.items())
        rows.append({"estimator": name, "failed": int(rows_of["failed"].sum()), "of": total, "where": where})
    return markdown(pd.DataFrame(rows))


def _in_order(names: pd.Series) -> list[str]:
    """Return the rules in the order of the design."""
    present = set(names)
    return [name for name in rules() if name in present]


def _in_words(table: pd.DataFrame) -> pd.DataFrame:
    return table.map("{:.2f}".format).reset_index()


def _with_error(number: Clustered, form: str) -> str:
    if np.isnan(number.value):
        return ""
    error = "" if np.isnan(number.std_error) else f" ({form.replace('+', '').format(number.std_error)})"
    return form.format(number.value) + error
