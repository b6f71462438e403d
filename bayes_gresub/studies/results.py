"""StudyResults: the results of a study as table, Dataset and figures. Nothing is estimated here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_gresub.data.arrays import Floats
from bayes_gresub.data.validation import check_name
from bayes_gresub.studies.axes import Grid, numbers, truths
from bayes_gresub.studies.identity import words
from bayes_gresub.studies.metrics import ALL, Repetitions, coverage_interval, evaluate, mean_of, paired_difference, tail
from bayes_gresub.studies.store import RunFolder
from bayes_gresub.studies.tasks import Record, Task

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.figure import Figure

_SUMMARY = (
    "true_mean",
    "estimate_mean",
    "bias",
    "variance",
    "rms",
    "internal_variance",
    "correlation",
    "coverage",
    "width",
    "interval_score",
    "test_variance",
    "seconds",
)


class StudyResults:
    """What a study found; made by `Study.run` or `StudyResults.load`.

    Attributes
    ----------
    grid : Grid
        Names of rules and estimators, sizes, repetitions.
    records : mapping from Task to dict
        What each task found.

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> study = bg.Study(bg.datasets.PaperGaussian(), LinearDiscriminantAnalysis(), ["resub", "3nn-pp"], [20, 40], 10)
    >>> results = study.run()
    >>> results
    StudyResults: 20 of 20 tasks, 1 rule, 2 sizes, 2 estimators, 10 repetitions
    >>> results.difference("3nn-pp", "resub")["difference"].round(2).tolist()
    [-0.16, -0.06]
    >>> results.to_xarray()["estimate"].dims
    ('rule', 'n', 'estimator', 'repetition')
    """

    def __init__(self, grid: Grid, records: Mapping[Task, Record]) -> None:
        self.grid = grid
        wanted = set(grid.tasks)
        self.records = {task: record for task, record in records.items() if task in wanted}

    @classmethod
    def load(cls, folder: str | Path) -> StudyResults:
        """Return the results of all runs in a folder; nothing is computed."""
        import warnings

        store = RunFolder(folder)
        design = store.design()["design"]
        grid = Grid(
            tuple(design["rules"]),
            tuple(design["sample_sizes"]),
            tuple(design["estimators"]),
            design["repetitions"],
            design["level"],
            words(design["population"]),
        )
        records, damaged = store.read(grid.tasks)
        if damaged:
            warnings.warn(
                f"{damaged} damaged files in {folder} are left out. Run the study again to compute them.", stacklevel=2
            )
        return cls(grid, records)

    def __repr__(self) -> str:
        grid = self.grid
        parts = [
            f"{len(self.records)} of {len(grid.tasks)} tasks",
            _count(len(grid.rules), "rule"),
            _count(len(grid.sample_sizes), "size"),
            _count(len(grid.estimators), "estimator"),
            _count(grid.repetitions, "repetition"),
        ]
        failed = sum(bool(row["message"]) for record in self.records.values() for row in record["rows"].values())
        if failed:
            parts.append(f"{_count(failed, 'failed estimate')}: see failures()")
        unknown = sum(bool(record["true"]["message"]) for record in self.records.values())
        if unknown:
            parts.append(f"no true error in {_count(unknown, 'task')}: see failures()")
        n_warned = sum(bool(record["warnings"]) for record in self.records.values())
        if n_warned:
            parts.append(f"warnings in {_count(n_warned, 'task')}: see warnings()")
        return f"StudyResults: {', '.join(parts)}"

    def with_detail(self, estimator: str, detail: str, name: str) -> StudyResults:
        """Return the results with one more estimator: a number that another one's estimates have among their details.

        Such as the mean of the held-out errors that a calibration has on its way, "held_out_error".
        """
        check_name(estimator, self.grid.estimators, "estimator")
        if name in self.grid.estimators:
            raise ValueError(f"the estimators must have different names; there is {name!r} already.")
        records = {}
        for task, record in self.records.items():
            row = record["rows"].get(estimator)
            if row is None:
                records[task] = record
                continue
            value = row.get("details", {}).get(detail)
            if value is None and row["estimate"] is not None:
                raise ValueError(
                    f"{estimator!r} has no detail {detail!r}; it has {', '.join(row.get('details', {})) or 'none'}. "
                    "Folders of earlier versions hold no details."
                )
            unknown = {"estimate": value, "std_error": None, "low": None, "high": None, "reruns": [], "details": {}}
            records[task] = record | {"rows": record["rows"] | {name: row | unknown}}
        return StudyResults(replace(self.grid, estimators=(*self.grid.estimators, name)), records)

    def repetitions(self, rule: str, n: int, estimator: str) -> Repetitions:
        """Return the results of one estimator for one rule and size, in every repetition."""
        i, j, k = self._place(rule, n, estimator)
        parts = {name: self._numbers[name][i, j, k] for name in ("estimate", "std_error", "low", "high", "seconds")}
        truth = {name: self._truths[name][i, j] for name in ("true_error", "true_error_std_error")}
        return Repetitions(level=self.grid.level, **truth, **parts)

    def summary(self, metrics: str | Sequence[str] = _SUMMARY) -> pd.DataFrame:
        """Return the metrics of every estimator, a row for each rule, size and estimator.

        Columns: repetitions (with an estimate and a true error), failed, and for every metric its value and, under its
        name with `_se`, its Monte-Carlo standard error; coverage has the ends of its 95% binomial interval instead.

        Parameters
        ----------
        metrics : str or sequence of str
            Of true_mean, estimate_mean, true_variance, estimate_variance, covariance (the five moments), bias,
            absolute_bias, variance (of the deviation), rms, correlation (with the true error), internal_variance,
            coverage, width, interval_score, seconds, and test_variance, which test points instead of the exact true
            error add to `variance` and to the square of `rms`. Variances divide by the number of repetitions, so
            rms^2 = bias^2 + variance.
        """
        import pandas as pd

        names = [check_name(name, ALL, "metric") for name in _listed(metrics)]
        rows = []
        for rule, n, estimator in self._cells():
            data = self.repetitions(rule, n, estimator)
            known = int(data.is_known.sum())
            row: dict[str, Any] = {"repetitions": known}
            row["failed"] = self._done(rule, n, estimator) - known
            for name in names:
                value = evaluate(name, data)
                row[name] = value.value
                if name == "coverage":
                    row["coverage_low"], row["coverage_high"] = coverage_interval(data)
                else:
                    row[f"{name}_se"] = value.std_error
            rows.append(row)
        return pd.DataFrame(rows, index=self._index())

    def difference(self, first: str, second: str, metric: str = "rms") -> pd.DataFrame:
        """Return a metric of one estimator less that of another over the same samples, a row for each rule and size.

        Columns: difference, se (its Monte-Carlo standard error, smaller than that of independent samples), z, and the
        repetitions that both have.
        """
        import pandas as pd

        for name in (first, second):
            check_name(name, self.grid.estimators, "estimator")
        check_name(metric, ALL, "metric")
        rows = []
        for rule in self.grid.rules:
            for n in self.grid.sample_sizes:
                left, right = self.repetitions(rule, n, first), self.repetitions(rule, n, second)
                value, common = paired_difference(metric, left, right)
                error = value.std_error
                z = value.value / error if error > 0 else float("nan")
                rows.append((rule, n, value.value, error, z, common))
        columns = ["rule", "n", "difference", "se", "z", "repetitions"]
        return pd.DataFrame(rows, columns=columns).set_index(["rule", "n"])

    def tail(self, tau: float) -> pd.DataFrame:
        """Return how often estimates were off by tau or more, beside the paper's bound (RMS / tau)^2.

        Columns: share, the ends share_low and share_high of its 95% binomial interval, and bound.
        """
        import pandas as pd

        if not tau > 0:
            raise ValueError(f"tau must be positive; got {tau!r}.")
        rows = [tail(self.repetitions(*cell), tau) for cell in self._cells()]
        return pd.DataFrame(rows, columns=["share", "share_low", "share_high", "bound"], index=self._index())

    def timing(self) -> pd.DataFrame:
        """Return the mean milliseconds of an estimate, a row for each rule and size, a column for each estimator."""
        return self.summary("seconds")["seconds"].unstack("estimator") * 1e3

    def failures(self) -> pd.DataFrame:
        """Return the failures: rule, n, estimator, message and how often."""
        import pandas as pd

        counts: Counter[tuple[Any, ...]] = Counter()
        for task, record in self.records.items():
            if record["true"]["message"]:
                counts[task.rule, task.n, "(true error)", record["true"]["message"]] += 1
            for name in self.grid.estimators:
                if message := record["rows"].get(name, {}).get("message"):
                    counts[task.rule, task.n, name, message] += 1
        rows = [(*key, count) for key, count in counts.most_common()]
        return pd.DataFrame(rows, columns=["rule", "n", "estimator", "message", "count"])

    def warnings(self) -> pd.DataFrame:
        """Return the warnings of rules and estimators: rule, message and in how many tasks."""
        import pandas as pd

        counts = Counter(
            (task.rule, message) for task, record in self.records.items() for message in record["warnings"]
        )
        rows = [(*key, count) for key, count in counts.most_common()]
        return pd.DataFrame(rows, columns=["rule", "message", "tasks"])

    def to_xarray(self) -> xr.Dataset:
        """Return everything as a Dataset with dimensions rule, n, estimator, repetition; NaN for unknown values.

        `true_error`, `true_error_std_error` and `n_test` have no estimator; `std_error` is Monte-Carlo, given the
        sample.
        """
        import xarray as xr

        dims = ("rule", "n", "estimator", "repetition")
        cells = {name: (dims, values) for name, values in self._numbers.items()}
        truths = {name: (("rule", "n", "repetition"), values) for name, values in self._truths.items()}
        grid = self.grid
        return xr.Dataset(
            {**cells, **truths},
            coords={
                "rule": list(grid.rules),
                "n": list(grid.sample_sizes),
                "estimator": list(grid.estimators),
                "repetition": np.arange(grid.repetitions),
            },
            attrs={"population": grid.population, "level": grid.level},
        )

    def plot(
        self,
        quantity: str = "rms",
        *,
        estimators: Iterable[str] | None = None,
        rules: Iterable[str] | None = None,
        n: int | None = None,
    ) -> Figure:
        """Draw a figure with one panel per rule, as in the paper.

        Parameters
        ----------
        quantity : str
            "true_error", any metric of `summary` against the sample size, or "deviations": the distributions of
            estimate less true error at one size.
        estimators, rules : iterable of str, optional
            Which to show; all by default.
        n : int, optional
            The size for "deviations"; the largest by default.

        Examples
        --------
        >>> import bayes_gresub as bg
        >>> from sklearn.neighbors import NearestCentroid
        >>> study = bg.Study(bg.datasets.PaperGaussian(), NearestCentroid(), ["resub", "bolstered"], [20, 40], 3)
        >>> [ax.get_ylabel() for ax in study.run().plot("bias").axes]
        ['bias (estimate less true error)']
        """
        from bayes_gresub.plots import plot_study

        grid = self.grid
        wanted = grid.estimators if estimators is None else _listed(estimators)
        shown = [check_name(name, grid.estimators, "estimator") for name in wanted]
        panels = [check_name(name, grid.rules, "rule") for name in (grid.rules if rules is None else _listed(rules))]
        check_name(quantity, ["true_error", "deviations", *ALL], "figure")
        if not shown or not panels:
            raise ValueError("estimators and rules must name at least one each to show; got none.")
        if n is not None and quantity != "deviations":
            raise ValueError(
                f"n is for quantity='deviations', the other figures show all sizes; got n={n!r}. Leave it out."
            )
        if quantity == "deviations":
            size = max(grid.sample_sizes) if n is None else n
            if size not in grid.sample_sizes:
                raise ValueError(f"n must be one of {list(grid.sample_sizes)}; got {n!r}.")
            deviations = {rule: {name: self._deviations(rule, size, name) for name in shown} for rule in panels}
            return plot_study(deviations, quantity, n=size)
        if quantity == "true_error":
            # The rules share one panel, as in the paper.
            return plot_study({"": {rule: self._truth_line(rule) for rule in panels}}, "true_mean")
        table = self.summary(quantity)
        lines = {rule: {name: self._line(table, rule, name, quantity) for name in shown} for rule in panels}
        return plot_study(lines, quantity, level=grid.level)

    def save(self, folder: str | Path, figures: Iterable[str] = ("true_error", "bias", "variance", "rms")) -> None:
        """Write summary.csv, timing.csv and figures, each as SVG and PNG, to a folder."""
        import matplotlib.pyplot as plt

        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        self.summary().to_csv(target / "summary.csv")
        self.timing().to_csv(target / "timing.csv")
        for name in _listed(figures):
            figure = self.plot(name)
            for ending in ("svg", "png"):
                figure.savefig(target / f"{name}.{ending}", dpi=110)
            plt.close(figure)

    def _cells(self) -> list[tuple[str, int, str]]:
        grid = self.grid
        return [(rule, n, name) for rule in grid.rules for n in grid.sample_sizes for name in grid.estimators]

    def _index(self) -> pd.MultiIndex:
        """Return the index of the cells, in the order of the design, which counts as sorted."""
        import pandas as pd

        grid = self.grid
        levels: list[list[Any]] = [list(grid.rules), list(grid.sample_sizes), list(grid.estimators)]
        codes = np.indices([len(level) for level in levels]).reshape(3, -1)
        return pd.MultiIndex(levels=levels, codes=list(codes), names=["rule", "n", "estimator"])

    def _deviations(self, rule: str, n: int, estimator: str) -> Floats:
        data = self.repetitions(rule, n, estimator)
        return data.deviation[data.is_known]

    def _done(self, rule: str, n: int, estimator: str) -> int:
        """Return how many repetitions were run, failed or not: all that ran have a number of refits."""
        i, j, k = self._place(rule, n, estimator)
        return int(np.isfinite(self._numbers["n_refits"][i, j, k]).sum())

    def _place(self, rule: str, n: int, estimator: str) -> tuple[int, int, int]:
        grid = self.grid
        check_name(rule, grid.rules, "rule")
        check_name(estimator, grid.estimators, "estimator")
        if n not in grid.sample_sizes:
            raise ValueError(f"n must be one of {list(grid.sample_sizes)}; got {n!r}.")
        return grid.rules.index(rule), grid.sample_sizes.index(n), grid.estimators.index(estimator)

    def _truth_line(self, rule: str) -> tuple[Floats, Floats, Floats, Floats]:
        errors = self._truths["true_error"][self.grid.rules.index(rule)]
        means = [mean_of(values[np.isfinite(values)]) for values in errors]
        values, bars = np.array([mean.value for mean in means]), 2 * np.array([mean.std_error for mean in means])
        return np.array(self.grid.sample_sizes), values, values - bars, values + bars

    def _line(
        self, table: pd.DataFrame, rule: str, estimator: str, metric: str
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Return sizes, values, and the ends of about two standard errors about them."""
        sizes = np.array(self.grid.sample_sizes)
        part = table.loc[[(rule, n, estimator) for n in sizes.tolist()]]
        values = part[metric].to_numpy()
        if metric == "coverage":
            return sizes, values, part["coverage_low"].to_numpy(), part["coverage_high"].to_numpy()
        error = part[f"{metric}_se"].to_numpy()
        return sizes, values, values - 2 * error, values + 2 * error

    @cached_property
    def _numbers(self) -> dict[str, Floats]:
        return numbers(self.grid, self.records)

    @cached_property
    def _truths(self) -> dict[str, Floats]:
        return truths(self.grid, self.records)


def _listed(names: str | Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
