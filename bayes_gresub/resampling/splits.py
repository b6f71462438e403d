"""Splits of a sample into points to train on and points held out. Nothing is trained here."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)

from bayes_gresub.data.arrays import Ints
from bayes_gresub.data.sample import Sample
from bayes_gresub.data.seeds import SPLITS, as_int, child

_TRIES = 1000


@dataclass(frozen=True, eq=False)
class Split:
    """Positions in a sample: to train on (repeated if drawn more than once), and held out."""

    train: Ints
    test: Ints


def read_groups(groups: ArrayLike | None, sample: Sample) -> Ints | None:
    """Return the group of each point in the sample as a number, or None."""
    if groups is None:
        return None
    group_names = np.asarray(groups)
    if group_names.shape != (sample.n_given,):
        raise ValueError(
            f"groups must name one group per row of X; got shape {group_names.shape} for {sample.n_given} rows."
        )
    missing = group_names.dtype.kind == "O" and any(name is None or name != name for name in group_names)
    if missing or (group_names.dtype.kind == "f" and np.isnan(group_names).any()):
        raise ValueError("groups must not hold missing names. Give each point without a group its own name.")
    try:
        names, codes = np.unique(group_names[sample.rows], return_inverse=True)
    except TypeError as error:
        raise TypeError(f"groups must hold names of one type; got a mixture ({error}).") from error
    if len(names) < 2:
        raise ValueError("groups must hold at least two groups; got one, so no group can be held out.")
    return np.asarray(codes, dtype=np.intp)


def fold_splits(
    sample: Sample, folds: int, stratified: bool, groups: Ints | None, seed: np.random.SeedSequence
) -> list[Split]:
    """Return the splits of one random partition into folds, by scikit-learn's splitters."""
    units = len(sample.codes) if groups is None else int(groups.max()) + 1
    if folds > units:
        unit = "points" if groups is None else "groups"
        raise ValueError(f"folds must be at most the number of {unit}; got folds={folds} with {units}. Lower folds.")
    counts = np.bincount(sample.codes, minlength=len(sample.classes))
    if stratified and folds > counts.max():
        raise ValueError(
            "folds must be at most the number of points in the largest class if they are stratified; got "
            f"folds={folds} with {counts.max()} points. Lower folds, or use stratified=False."
        )
    kinds = {
        (True, False): StratifiedKFold,
        (False, False): KFold,
        (True, True): StratifiedGroupKFold,
        (False, True): GroupKFold,
    }
    splitter = kinds[stratified, groups is not None](folds, shuffle=True, random_state=as_int(seed))
    with warnings.catch_warnings():
        # A fold without points of a rare class does no harm: each point counts in the fold that holds it out.
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        parts = list(splitter.split(np.zeros(len(sample.codes)), sample.codes, groups))
    if any(len(test) == 0 for _, test in parts):
        raise ValueError(
            f"folds={folds} leaves a fold empty, because the groups are too unequal to share out. Lower folds."
        )
    return [Split(train, test) for train, test in parts]


def left_out_splits(sample: Sample, groups: Ints | None) -> list[Split]:
    """Return the splits that each hold out one point or one group, by scikit-learn's splitters."""
    splitter = LeaveOneOut() if groups is None else LeaveOneGroupOut()
    return [Split(*parts) for parts in splitter.split(np.zeros(len(sample.codes)), sample.codes, groups)]


def bootstrap_splits(
    sample: Sample,
    n_resamples: int,
    within_class: bool,
    groups: Ints | None,
    least: int,
    seed: np.random.SeedSequence,
) -> tuple[list[Split], int]:
    """Return resamples with replacement, with the points that each leaves out, and how many were redrawn.

    A resample is redrawn if it holds fewer than `least` different points of some class, or leaves no point out.

    Parameters
    ----------
    sample : Sample
    n_resamples : int
    within_class : bool
        Keep the number of points of each class, for class sizes fixed by design.
    groups : ndarray of shape (n,) or None
        Whole groups are drawn.
    least : int
    seed : SeedSequence
    """
    members = None if groups is None else _members(groups)
    strata = _strata(sample, groups, within_class)
    counts = np.bincount(sample.codes, minlength=len(sample.classes))
    if counts.min() < least:
        raise ValueError(
            f"a resample needs at least {least} different points of every class; class "
            f"{sample.classes.tolist()[counts.argmin()]!r} has {counts.min()} in all. Add points of this class."
        )
    splits, redrawn = [], 0
    for number in range(n_resamples):
        rng = np.random.default_rng(child(seed, SPLITS, number))
        for _ in range(_TRIES):
            drawn = np.concatenate([rng.choice(stratum, size=len(stratum)) for stratum in strata])
            train = drawn if members is None else np.concatenate([members[unit] for unit in drawn])
            inside = np.zeros(len(sample.codes), dtype=bool)
            inside[train] = True
            distinct = np.bincount(sample.codes[inside], minlength=len(sample.classes))
            if distinct.min() >= least and not inside.all():
                break
            redrawn += 1
        else:
            rarest = sample.classes.tolist()[distinct.argmin()]
            raise ValueError(
                f"{_TRIES} resamples in a row lost class {rarest!r} or left no point out. Add points of this class, or "
                "use CrossValidation."
            )
        splits.append(Split(train, np.flatnonzero(~inside)))
    return splits, redrawn


def holdout_splits(
    sample: Sample, repeats: int, test_size: float, stratified: bool, groups: Ints | None, seed: np.random.SeedSequence
) -> list[Split]:
    """Return random splits that hold out a share of the points, or of the groups, by scikit-learn's splitters."""
    counts = np.bincount(sample.codes, minlength=len(sample.classes))
    if groups is not None:
        kind: Any = GroupShuffleSplit
    elif stratified:
        kind = StratifiedShuffleSplit
        if counts.min() < 3:
            raise ValueError(
                f"a stratified split needs at least 3 points of every class; class "
                f"{sample.classes.tolist()[counts.argmin()]!r} has {counts.min()}. Add points, or use stratified=False."
            )
    else:
        kind = ShuffleSplit
    n = len(counts) if groups is None else 1
    units = len(sample.codes) if groups is None else int(groups.max()) + 1
    n_held_out = int(np.ceil(test_size * units))
    if not n <= n_held_out <= units - n:
        raise ValueError(
            f"test_size must leave at least {n} of {units} {'points' if groups is None else 'groups'} on either side; "
            f"got test_size={test_size:g}, which holds out {n_held_out}."
        )
    splitter = kind(repeats, test_size=test_size, random_state=as_int(child(seed, SPLITS)))
    return [Split(train, test) for train, test in splitter.split(np.zeros(len(sample.codes)), sample.codes, groups)]


def given_splits(indices: Iterable[Any], sample: Sample, groups: Ints | None) -> list[Split]:
    """Return the splits that the user names: pairs (train, test), or training rows alone; all others are held out."""
    if isinstance(indices, str) or not isinstance(indices, Iterable):
        raise TypeError(
            f"indices must be a list of splits; got {indices!r}. Use list(splitter.split(X, y)) for one of "
            "scikit-learn's splitters."
        )
    position = np.full(sample.n_given, -1, dtype=np.intp)
    position[sample.rows] = np.arange(len(sample.rows))
    splits = []
    for number, entry in enumerate(indices):
        train, test = _read_entry(entry, number, sample.n_given)
        if np.isin(train, test).any():
            raise ValueError(
                f"indices must hold out points that are not trained on; entry {number} has row "
                f"{int(train[np.isin(train, test)][0])} on both sides."
            )
        if len(np.unique(test)) < len(test):
            raise ValueError(f"indices must hold out a row once; entry {number} names one twice.")
        # Rows of weight zero are not in the sample.
        split = Split(*(positions[positions >= 0] for positions in (position[train], position[test])))
        if len(split.train) == 0 or len(split.test) == 0:
            raise ValueError(f"indices must name points to train on and points held out; entry {number} lacks them.")
        if groups is not None and np.isin(groups[split.train], groups[split.test]).any():
            raise ValueError(f"groups must not straddle a split; entry {number} of indices has one on both sides.")
        splits.append(split)
    if not splits:
        raise ValueError("indices must hold at least one split; got none.")
    return splits


def as_given(splits: Sequence[Split], sample: Sample) -> list[tuple[Ints, Ints]]:
    """Return splits as rows of the X that was given, for replay."""
    return [(sample.rows[split.train], sample.rows[split.test]) for split in splits]


def _members(groups: Ints) -> list[Ints]:
    """Return the points of each group."""
    return np.split(np.argsort(groups, kind="stable"), np.cumsum(np.bincount(groups))[:-1])


def _strata(sample: Sample, groups: Ints | None, within_class: bool) -> list[Ints]:
    """Return the units (points or groups) that are resampled together: those of each class, or all."""
    if not within_class:
        return [np.arange(len(sample.codes) if groups is None else groups.max() + 1)]
    class_of = sample.codes
    if groups is not None:
        members = _members(groups)
        if any(np.ptp(sample.codes[rows]) for rows in members):
            raise ValueError(
                "sampling='separate' draws within classes, so each group must lie in one class; got a group with "
                "points of several. Leave groups out, or use sampling='mixture'."
            )
        class_of = sample.codes[[rows[0] for rows in members]]
    return [np.flatnonzero(class_of == code) for code in range(len(sample.classes))]


def _read_entry(entry: Any, number: int, n: int) -> tuple[Ints, Ints]:
    is_pair = isinstance(entry, tuple | list) and len(entry) == 2 and all(_length(part) is not None for part in entry)
    rule = (
        f"indices must hold row numbers from 0 to {n - 1}, as pairs (train, test) or as rows to train on; entry "
        f"{number} does not: "
    )
    try:
        parts = [np.asarray(part) for part in (entry if is_pair else [entry])]
    except ValueError as error:
        raise ValueError(f"{rule}{_shorten(entry)}.") from error
    # An empty list has no type; given_splits refuses it.
    parts = [part.astype(np.intp) if part.size == 0 else part for part in parts]
    for part in parts:
        if part.ndim != 1 or part.dtype.kind not in "iu" or (part.size and (part.min() < 0 or part.max() >= n)):
            raise ValueError(f"{rule}{_shorten(entry)}.")
    train = parts[0].astype(np.intp)
    test = parts[1].astype(np.intp) if is_pair else np.setdiff1d(np.arange(n), train)
    return train, test


def _length(part: Any) -> int | None:
    return len(part) if hasattr(part, "__len__") and not isinstance(part, str) else None


def _shorten(entry: Any) -> str:
    text = " ".join(repr(entry).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
