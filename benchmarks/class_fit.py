"""The check of class models: false alarms, power, and the table of power that the package ships.

Run by `python -m benchmarks.class_fit`; about an hour on one core.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
from threadpoolctl import threadpool_limits

import bayes_gresub.models
from bayes_gresub.models.class_fit import check_class, check_classes
from bayes_gresub.models.class_nulls import fit_gaussian_null
from benchmarks.tables import RESULTS, write_table

SIZES, DIMS = (15, 30, 60, 100, 200), (2, 5, 10, 20)
SAMPLES, SAMPLES_OF_BARS, SAMPLES_OF_ALARMS = 300, 400, 2000
ONE_OF_TWO = 1 - 0.95**0.5
TABLE = Path(bayes_gresub.models.__file__).parent / "class_fit_power.csv"

Draw = Callable[[np.random.Generator, int, int], np.ndarray]


def normal(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.standard_normal((n, d))


def correlated(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Return normal points whose features have the correlation 0.9 with each other."""
    return np.sqrt(0.1) * rng.standard_normal((n, d)) + np.sqrt(0.9) * rng.standard_normal((n, 1))


def two_modes(apart: float) -> Draw:
    """Return a draw whose first feature is N(-apart, 1) or N(apart, 1) with equal chance; the others are N(0, 1)."""

    def draw(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
        points = rng.standard_normal((n, d))
        points[:, 0] += apart * rng.choice([-1.0, 1.0], size=n)
        return points

    return draw


def one_skewed(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return np.column_stack([rng.gamma(2.0, size=n), rng.standard_normal((n, d - 1))])


def all_skewed(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.gamma(2.0, size=(n, d))


def independent_t(dof: int) -> Draw:
    return lambda rng, n, d: rng.standard_t(dof, size=(n, d))


def multivariate_t(dof: int) -> Draw:
    return lambda rng, n, d: rng.standard_normal((n, d)) / np.sqrt(rng.chisquare(dof, size=(n, 1)) / dof)


DEPARTURES: dict[str, Draw] = {
    "two modes at +-1.5 in one feature": two_modes(1.5),
    "two modes at +-2 in one feature": two_modes(2.0),
    "two modes at +-3 in one feature": two_modes(3.0),
    "one skewed feature (gamma 2)": one_skewed,
    "skew in all features (gamma 2)": all_skewed,
    "heavy tails in every feature by itself (t5)": independent_t(5),
    "heavy tails in every feature by itself (t3)": independent_t(3),
    "heavy tails of whole points (multivariate t5)": multivariate_t(5),
    "heavy tails of whole points (multivariate t3)": multivariate_t(3),
}


def main() -> None:
    """Measure everything; write the report and the package's table."""
    bars()
    false_alarms()
    other_models()
    power_table()
    join_reports()


def join_reports() -> None:
    """Make one page of the tables."""
    report = RESULTS / "class_fit.md"
    parts = [RESULTS / f"class_fit_{part}.md" for part in ("bars", "alarms", "models", "power")]
    report.write_text("\n".join(part.read_text(encoding="utf-8") for part in parts), encoding="utf-8")
    for part in parts:
        part.unlink()


def flagged(draws: tuple[Draw, Draw], n: int, d: int, number: int) -> tuple[bool, float]:
    """Return whether the overall check flags a sample of two classes, and the seconds it took."""
    rng = np.random.default_rng([number, n, d])
    X = np.concatenate([draws[0](rng, n, d), 1.0 + draws[1](rng, n, d)])
    y = np.repeat([0, 1], n)
    started = perf_counter()
    fit = check_classes(X, y, rng)
    return bool(fit.misfits), perf_counter() - started


def bars() -> None:
    """Two classes of 100 points, one of which departs strongly."""
    named = ["two modes at +-3 in one feature", "skew in all features (gamma 2)"]
    named += ["heavy tails in every feature by itself (t3)", "heavy tails of whole points (multivariate t3)"]
    rows, shares, seconds = [], [], []
    for name in named:
        row = [name]
        for d in (2, 10):
            answers = [flagged((DEPARTURES[name], normal), 100, d, number) for number in range(SAMPLES_OF_BARS)]
            shares.append(float(np.mean([seen for seen, _ in answers])))
            seconds.append(float(np.median([took for _, took in answers])))
            row.append(with_error(shares[-1], SAMPLES_OF_BARS))
        rows.append(row)
    notes = [
        f"Share of {SAMPLES_OF_BARS} samples of two classes, 100 points each, in which the overall check (5%, 499",
        "simulated data sets) flags a class; one class departs, the other is normal (standard error).",
        "",
        f"- least power: {min(shares):.3f} (bar 0.95)",
        f"- seconds a check, median: {max(seconds[::2]):.2f} with 2 features, {max(seconds[1::2]):.2f} with 10",
        "  (bar 0.5)",
    ]
    write_table("class_fit_bars", "Check of class models: strong departures", ["departure", "d=2", "d=10"], rows, notes)


def false_alarms() -> None:
    """Two classes that are normal."""
    rows, shares = [], []
    for n, d in [(30, 2), (30, 10), (100, 2), (100, 10), (15, 20)]:
        row = [str(n), str(d)]
        for draw in (normal, correlated):
            flags = [flagged((draw, draw), n, d, 10_000 + number)[0] for number in range(SAMPLES_OF_ALARMS)]
            shares.append(float(np.mean(flags)))
            row.append(with_error(shares[-1], SAMPLES_OF_ALARMS))
        rows.append(row)
    notes = [
        f"Share of {SAMPLES_OF_ALARMS} samples of two normal classes that the overall check flags at 5% (standard",
        "error).",
        "",
        f"- most false alarms: {max(shares):.3f} (bar 0.06)",
    ]
    header = ["points a class", "features", "independent", "correlation 0.9"]
    write_table("class_fit_alarms", "Check of class models: false alarms", header, rows, notes)


def other_models() -> None:
    """Check one class against a multivariate t5 with the points' own mean and covariance."""
    n, d, dof = 100, 5, 5
    rows = []
    truths = {"multivariate t5: the model is right": multivariate_t(5), "normal": normal}
    truths |= {name: DEPARTURES[name] for name in ("two modes at +-3 in one feature", "skew in all features (gamma 2)")}
    for name, draw in truths.items():
        seen = []
        for number in range(SAMPLES):
            rng = np.random.default_rng([20_000 + number, n, d])
            points = draw(rng, n, d)
            root = np.linalg.cholesky(np.cov(points.T))
            model = multivariate_t(dof)
            fit = check_class(
                points,
                lambda s, r, root=root, model=model: model(r, s * n, d).reshape(s, n, d) @ root.T,
                rng,
                gaussian=False,
            )
            seen.append(fit.p_value <= 0.05)
        rows.append([name, with_error(float(np.mean(seen)), SAMPLES)])
    notes = [
        f"Share of {SAMPLES} samples of one class, {n} points in {d} features, flagged at 5%; model: multivariate t5."
    ]
    write_table("class_fit_models", "Check of class models: a Student-t model", ["truth", "flagged"], rows, notes)


def power_table() -> None:
    """Every departure at every size, at the level that one of two classes has."""
    rows, lines = [], []
    for name, draw in DEPARTURES.items():
        for n in SIZES:
            shares = [power(draw, n, d) for d in DIMS]
            rows.append([name, str(n), *(f"{share:.2f}" for share in shares)])
            lines.append(f"{name},{n}," + ",".join(f"{share:.2f}" for share in shares))
    notes = [
        f"Share of {SAMPLES} samples of one class that the check flags at 2.53%, the level that one of two classes has",
        "(standard error up to 0.03). Two modes: N(-m, 1) or N(m, 1) with equal chance, m in standard deviations of",
        "one mode. Other features are N(0, 1), all are independent unless it says multivariate.",
    ]
    header = ["departure", "points", *(f"d={d}" for d in DIMS)]
    write_table("class_fit_power", "Check of class models: power", header, rows, notes)
    text = [
        "# Written by benchmarks/class_fit.py; not to be edited by hand.",
        f"departure,points,{','.join(map(str, DIMS))}",
    ]
    TABLE.write_text("\n".join([*text, *lines, ""]), encoding="utf-8")


def power(draw: Draw, n: int, d: int) -> float:
    """Return the share of samples of one class that are flagged."""
    flags = []
    for number in range(SAMPLES):
        rng = np.random.default_rng([30_000 + number, n, d])
        points = draw(rng, n, d)
        # As the difference of class means would be: along no feature in particular.
        fit = check_class(points, fit_gaussian_null(points), rng, direction=rng.standard_normal(d))
        flags.append(fit.p_value <= ONE_OF_TWO)
    return float(np.mean(flags))


def with_error(share: float, samples: int) -> str:
    """Return a share with its standard error."""
    return f"{share:.3f} ({np.sqrt(share * (1 - share) / samples):.3f})"


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
