"""Faults seeded one at a time into formulas, checks and orders of the package, each of which the suite must catch.

Usage: `python tests/seeded_faults.py [--check] [--only NAME ...] [--out TABLE.md]`. The exit code is the number of
faults not shown to be caught.

A fault is put into a copy of the files that git knows or would add, as they are now. The tests that should catch it are
run first, then the whole suite. Only failing tests count, not errors of collecting or selecting them; and in the end
the tests that failed must pass in a copy without faults.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "bayes_gresub"
OPTIONS = ("-q", "-m", "not long", "-p", "no:cacheprovider", "--no-header")
STOPPED = "xdist.dsession.Interrupted: stopping after"


@dataclass(frozen=True)
class Fault:
    """A bug that somebody could make.

    Attributes
    ----------
    name : str
        What is broken.
    line : str
        Code that occurs once in the package.
    fault : str
        What takes its place.
    tests : tuple of str
        Those that should fail: paths below tests/, and an expression `-k ...` that narrows them.
    """

    name: str
    line: str
    fault: str
    tests: tuple[str, ...]


FORMULAS = (
    Fault(
        "half-space: sign of the score",
        "ratio = np.divide(score, across, out=np.zeros_like(across)",
        "ratio = np.divide(-score, across, out=np.zeros_like(across)",
        ("laws/test_halfspace.py", "-k score"),
    ),
    Fault(
        "tree: share of a node's mass that goes left",
        "share = np.divide(cut - lower, upper - lower,",
        "share = np.divide(cut - lower, upper,",
        ("laws/test_tree.py", "-k leaf_boxes"),
    ),
    Fault(
        "kernel width: chi median of another dimension",
        "gammaincinv(d / 2.0, 0.5)",
        "gammaincinv((d + 1) / 2.0, 0.5)",
        ("kernels/test_widths.py", "-k corrections"),
    ),
    Fault(
        "pooled deviation: degrees of freedom forget the classes",
        "freedom = max(1, len(features) - len(starts))",
        "freedom = max(1, len(features) - 1)",
        ("kernels/test_widths.py", "-k pooled_deviation"),
    ),
    Fault(
        "kNN posterior: a training point is not its own neighbour",
        "rank[np.arange(len(rows)), rows] = -np.inf",
        "rank[np.arange(len(rows)), rows] = np.inf",
        ("measures/test_limits.py", "-k one_neighbour"),
    ),
    Fault(
        "Sobol' points: every batch starts the sequence anew",
        "scrambles(size, begin * block, end * block, seeds)",
        "scrambles(size, 0, (end - begin) * block, seeds)",
        ("laws/test_sampling.py", "-k size_of_batches"),
    ),
    Fault(
        "class prior: replicates moved the wrong way by their class mass",
        "moved = confusions - (class_mass(confusions) - mass)[..., None] * rates",
        "moved = confusions + (class_mass(confusions) - mass)[..., None] * rates",
        ("contract/test_measures.py", "-k expectation_of_one"),
    ),
    Fault(
        ".632+: denominator of the correction",
        "0.368 * 0.632 * rate / (1 - 0.368 * rate)",
        "0.368 * 0.632 * rate / (1 - 0.632 * rate)",
        ("resampling/test_bootstrap.py", "-k 632_plus"),
    ),
    Fault(
        "zero bootstrap: averaged over resamples, not per point",
        "per_time = np.divide(share, left_out,",
        "per_time = np.divide(share, np.full(n, left_out[was_left_out].mean()),",
        ("resampling/test_bootstrap.py", "-k zero"),
    ),
    Fault(
        "repeated rows: kept apart",
        "return Units(same, None, n_repeated)",
        "return Units(None, None, n_repeated)",
        ("resampling", "-k repeated or identical"),
    ),
    Fault(
        "reference rule: residuals not divided by the diagonal",
        "scores = targets - weights / np.diag(inverse)[:, None]",
        "scores = targets - weights",
        ("assessing/test_clues.py", "-k reference"),
    ),
    Fault(
        "nested cross-validation: bias of the smaller training parts",
        "return (1 + (self.k - 2) / self.k) * (inner - plain)",
        "return (self.k - 2) / self.k * (inner - plain)",
        ("estimate/test_intervals.py", "-k nested_interval_is_that"),
    ),
    Fault(
        "Normal-inverse-Wishart: scale gains the wrong multiple of the gap",
        "gap * np.sqrt(strengths * share)[..., None]",
        "gap * np.sqrt(counts * share)[..., None]",
        ("measures/test_bayesian.py", "-k textbook or closed_form"),
    ),
    Fault(
        "Gibbs: conditional of the strength",
        "0.5 * n_terms * u - 0.5 * np.exp(u) * distance",
        "0.5 * n_terms * u - np.exp(u) * distance",
        ("measures/test_bayesian.py", "-k quadrature"),
    ),
    Fault(
        "exact posterior moments: degrees of freedom of Student's t",
        'np.einsum("gij,i,j->g", s, normal, normal), v - d + 1',
        'np.einsum("gij,i,j->g", s, normal, normal), v - d',
        ("models/test_exact_moments.py", "-k separate_covariances or one_dimension"),
    ),
    Fault(
        "denoising: variance of one half taken for the covariance of both",
        "between = _covariance(a, b)",
        "between = _covariance(a, a)",
        ("measures/test_bayesian.py", "-k halves"),
    ),
    Fault(
        "Gaussian process: mean of the Gumbel noise left in",
        ".sum(dim=1) - np.euler_gamma",
        ".sum(dim=1)",
        ("posteriors/test_softmax.py", "-k many_classes or two_of_three"),
    ),
    Fault(
        "true error: clumps of a class each count as the whole class",
        "self.class_probabilities[owner] / np.bincount(owner)[owner]",
        "self.class_probabilities[owner]",
        ("populations/test_other_shapes.py", "-k bimodal"),
    ),
    Fault(
        "corrected t: variance without the share held out",
        "(1 / len(errors) + n_test / n_train) * np.var(errors, ddof=1)",
        "(1 / len(errors)) * np.var(errors, ddof=1)",
        ("comparing/test_compare_classifiers.py", "-k nadeau"),
    ),
)

CHECKS = (
    Fault(
        "weights: points of weight zero are kept",
        "if len(rows) < len(flat):",
        "if len(rows) == 0:",
        ("contract/test_measures.py", "-k zero_weight and resub"),
    ),
    Fault(
        "labels: one that is not known becomes its neighbour",
        "if np.array_equal(classes[position], labels):",
        "if len(position) == len(labels):",
        ("measures/test_bad_input.py", "-k labels"),
    ),
    Fault(
        "class prior: a sum above one is taken",
        "abs(probabilities.sum() - 1) > 1e-8",
        "probabilities.sum() > 2",
        ("measures/test_bad_input.py", "-k class_prior"),
    ),
    Fault(
        "class prior: a sum below one is taken",
        "abs(probabilities.sum() - 1) > 1e-8",
        "probabilities.sum() > 1 + 1e-8",
        ("measures/test_bad_input.py", "-k class_prior"),
    ),
    Fault(
        "classifier: unknown kinds are not asked twice",
        "if not in_part and (with_geometry or not is_known_function(classifier)):",
        "if not in_part and is_known_function(classifier):",
        ("measures/test_bad_input.py", "-k guesses"),
    ),
    Fault(
        "product form: taken for a law to ask",
        'raise ValueError(f"{NotAdditive()}.")',
        "return self._bolstered.law(at, region)",
        ("contract/test_measures.py", "-k product_form"),
    ),
    Fault(
        "separate sampling: an overall error without class probabilities",
        "if self.missing.value is not None:\n            raise",
        "if self.missing.value is not None and self.replicate_confusions is None:\n            raise",
        ("estimate/test_error_estimate.py", "-k class_probabilities"),
    ),
    Fault(
        "groups: folds that cut them",
        "kinds[stratified, groups is not None](folds",
        "kinds[stratified, False](folds",
        ("resampling/test_cross_validation.py", "-k group"),
    ),
    Fault(
        "geometry: trusted where predict says otherwise",
        "if not is_coarse and (len(differing) == 0 or bool(shape.doubtful(probes[differing], rtol).all())):",
        "if not is_coarse and len(differing) >= 0:",
        ("regions/test_geometry.py", "-k tied_at_the_training_points"),
    ),
    Fault(
        "geometry: trusted where points are rounded",
        "is_coarse = bool((rounding > _COARSE * extent)[extent > 0].any())",
        "is_coarse = False",
        ("regions/test_geometry.py", "-k far_from_zero"),
    ),
    Fault(
        "geometry: neighbours trusted among rows with both labels",
        "or len(points) > MAX_DENSE_NEIGHBORS or _has_unlike_twins(points, codes):",
        "or len(points) > MAX_DENSE_NEIGHBORS:",
        ("regions/test_geometry.py", "-k both_labels"),
    ),
    Fault(
        "region: labels that depend on the batch accepted",
        "if n_changed > _CHANGES_ALLOWED * len(rows):",
        "if n_changed > len(rows):",
        ("regions/test_function_of_the_point.py",),
    ),
    Fault(
        "posterior: rows that do not sum to 1 accepted",
        "if (off > np.sqrt(precision)).any():",
        "if (off > 1e9).any():",
        ("posteriors/test_probabilities_are_checked.py",),
    ),
    Fault(
        "rule: a FrozenEstimator inside a Pipeline is taken",
        "isinstance(_last_part(rule)[1], FrozenEstimator)",
        "isinstance(rule, FrozenEstimator)",
        ("resampling/test_bad_input.py", "-k frozen_rule"),
    ),
    Fault(
        "features: infinite ones are taken",
        "if not np.isfinite(flat).all():",
        "if np.isnan(flat).any():",
        ("measures/test_bad_input.py", "-k features_must_be_finite"),
    ),
    Fault(
        "widths per point: centred at other points",
        "elif at_training_points:",
        "elif at_training_points or len(centers) <= len(self.widths_):",
        ("kernels/test_widths.py", "-k refused_at_other_points"),
    ),
    Fault(
        "run folder: a record of another study counts",
        'or part["stamp"] != self._stamps[task.rule]:',
        ":",
        ("studies/test_store.py", "-k of_another_study"),
    ),
)

ORDERS = (
    Fault(
        "class prior by label: taken in the order of the dict",
        "prior = [prior[label] for label in names]",
        "prior = list(prior.values())",
        ("contract/test_measures.py", "-k by_label and resub"),
    ),
    Fault(
        "kNN: ties go to the earlier rows",
        "distance = cdist(centered, self.points)",
        "distance = cdist(centered, self.points) + 1e-9 * np.arange(len(self.points))",
        ("posteriors/test_posteriors.py", "-k order_of_the_rows or tied"),
    ),
    Fault(
        "seeds: in other processes tasks are numbered anew",
        "delayed(self.function)(number, self.tasks[number])",
        "delayed(self.function)(number - shared, self.tasks[number])",
        ("contract/test_resamplers.py", "-k processes_change_no_number"),
    ),
    Fault(
        "scales: sampled in rising order",
        "for scale in scales:",
        "for scale in sorted(scales):",
        ("measures/test_limits.py", "-k errors_at_scales"),
    ),
    Fault(
        "contributions of a measure: put at the first rows",
        "whole[self.rows] = values",
        "whole[: len(values)] = values",
        ("contract/test_measures.py", "-k keep_their_row and resub"),
    ),
    Fault(
        "contributions of a resampler: weights of the first rows",
        "sample.at_given_rows(contributions), sample.at_given_rows(point_weights)",
        "np.resize(contributions, sample.n_given), sample.at_given_rows(point_weights)",
        ("contract/test_resamplers.py", "-k contribute_nothing and cv"),
    ),
    Fault(
        "classes of a classifier: taken to be in the order of the data",
        'return all_classes, encode_labels(listed, all_classes, "classes_", "")',
        "return all_classes, np.arange(len(listed))",
        ("regions/test_geometry.py", "-k backwards"),
    ),
    Fault(
        "confusion: transposed",
        "np.matmul(weighted.swapaxes(-1, -2), region_mass)",
        "np.matmul(region_mass.swapaxes(-1, -2), weighted)",
        ("measures/test_limits.py", "-k confusion"),
    ),
    Fault(
        "columns: another order than the classifier's is taken",
        "form.feature_names != names:",
        "set(form.feature_names) != set(names):",
        ("measures/test_bad_input.py", "-k order_of_columns"),
    ),
    Fault(
        "repeated cross-validation: folds of different partitions mixed",
        "np.array_split(np.arange(len(judgements)), n_repeats)",
        "np.arange(len(judgements)).reshape(-1, n_repeats).T",
        ("resampling/test_cross_validation.py", "-k repeats"),
    ),
    Fault(
        "parallel work: results as they are done",
        'yield from Parallel(n_jobs=n_jobs, return_as="generator")',
        'yield from Parallel(n_jobs=n_jobs, return_as="generator_unordered")',
        ("resampling/test_interruptible.py", "-k order_of_the_splits or change_no_number"),
    ),
    Fault(
        "resuming: begins anew and keeps what was done",
        "first, last = len(self.results), len(self.tasks)",
        "first, last = 0, len(self.tasks)",
        ("contract/test_resamplers.py", "-k interrupted_work_resumes"),
    ),
    Fault(
        "comparison: rows sorted by name",
        "chosen) for name, estimator in chosen.items()]",
        "chosen) for name, estimator in sorted(chosen.items())]",
        ("comparing/test_compare.py", "-k order_given"),
    ),
)

FAULTS = (*FORMULAS, *CHECKS, *ORDERS)


@dataclass(frozen=True)
class Outcome:
    """What became of a fault: the test that caught it, or why none is known to."""

    fault: Fault
    test: str
    trouble: str
    seconds: float

    def __str__(self) -> str:
        found = f"caught by {self.test}" if not self.trouble else self.trouble.upper()
        return f"{self.fault.name}: {found} ({self.seconds:.0f} s)"


def problems(faults: Sequence[Fault]) -> list[str]:
    """Return in words which faults cannot be seeded, or name tests that are not there."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / PACKAGE).rglob("*.py")]
    found = []
    for fault in faults:
        if (times := sum(text.count(fault.line) for text in texts)) != 1:
            found.append(f"{fault.name}: occurs {times} times in {PACKAGE}: {fault.line}")
        lost = [path for path in _paths(fault) if not (ROOT / path).exists()]
        found += [f"{fault.name}: there is no {path}" for path in lost]
    return found


def caught(fault: Fault) -> Outcome:
    """Seed a fault into a copy and return the first test that fails there."""
    started = perf_counter()
    narrowed = [part for one in fault.tests if one.startswith("-k ") for part in ("-k", one.removeprefix("-k "))]
    test, trouble = "", "not caught"
    with TemporaryDirectory() as folder:
        copy_to(Path(folder))
        _seed(fault, Path(folder))
        for selection in ((*_paths(fault), *narrowed), ("-n", "2", "--dist", "loadfile")):
            code, failed = pytest(Path(folder), "-x", *selection)
            if code == 1 and failed:
                test, trouble = failed[0], ""
            elif code != 0:
                trouble = f"broken selection, pytest says {code}"
            if code != 0:
                break
    return Outcome(fault, test, trouble, perf_counter() - started)


def confirmed(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return the outcomes, those in trouble whose tests fail without a fault too."""
    tests = {one.test for one in outcomes if one.test}
    if not tests:
        return list(outcomes)
    with TemporaryDirectory() as folder:
        copy_to(Path(folder))
        code, failed = pytest(Path(folder), *sorted(tests))
    if code not in (0, 1):
        return [replace(one, trouble=f"without a fault pytest says {code}") for one in outcomes]
    return [replace(one, trouble=f"{one.test} fails without it") if one.test in failed else one for one in outcomes]


def copy_to(folder: Path) -> None:
    """Copy all files that git knows or would add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in names:
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


def pytest(folder: Path, *arguments: str) -> tuple[int, list[str]]:
    """Run tests of a copy; return pytest's exit code and the tests that failed."""
    command = [sys.executable, "-m", "pytest", *OPTIONS, *arguments]
    surroundings = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=folder, env=surroundings, check=False, capture_output=True, text=True)
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+::.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    # Stopped at the first failure, pytest-xdist calls itself interrupted.
    return 1 if STOPPED in done.stdout else done.returncode, failed


def table(outcomes: Sequence[Outcome]) -> str:
    """Return the outcomes as a table in Markdown."""
    rows = [f"| {one.fault.name} | {one.trouble or f'`{one.test}`'} |" for one in outcomes]
    return "\n".join(["| fault | caught by |", "| --- | --- |", *rows, ""])


def main() -> int:
    """Return the number of faults not shown to be caught."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="only check that every fault can be seeded")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="faults by name")
    parser.add_argument("--out", type=Path, metavar="PATH", help="file for the table")
    options = parser.parse_args()
    if unknown := [name for name in options.only or () if name not in [fault.name for fault in FAULTS]]:
        parser.error(f"no fault is named {unknown[0]!r}")
    faults = [fault for fault in FAULTS if options.only is None or fault.name in options.only]
    if found := problems(faults):
        _say("\n".join(found))
        return len(found)
    _say(f"{len(faults)} faults can be seeded")
    if options.check:
        return 0
    outcomes = []
    for fault in faults:
        outcomes.append(caught(fault))
        _say(str(outcomes[-1]))
    outcomes = confirmed(outcomes)
    troubled = [one for one in outcomes if one.trouble]
    _say(f"{len(outcomes) - len(troubled)} of {len(outcomes)} caught, in {sum(one.seconds for one in outcomes):.0f} s")
    for one in troubled:
        _say(str(one))
    if options.out is not None:
        options.out.write_text(table(outcomes), encoding="utf-8")
    return len(troubled)


def _paths(fault: Fault) -> list[str]:
    return [f"tests/{one}" for one in fault.tests if not one.startswith("-k ")] or ["tests"]


def _seed(fault: Fault, folder: Path) -> None:
    for path in (folder / PACKAGE).rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if fault.line in text:
            path.write_text(text.replace(fault.line, fault.fault), encoding="utf-8")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
