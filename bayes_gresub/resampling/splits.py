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


def dealt_splits(
    sample: Sample, folds: int, stratified: bool, units: Ints, seed: np.random.SeedSequence
) -> list[Split]:
    """Return the splits of one random partition into folds that keeps units whole, such as identical rows.

    Units are put in random order, the largest first, and dealt to the folds in turn, class after class if folds are
    stratified; a unit belongs to the class of most of its points. So the folds hold the same number of units of each
    class but for one, and the points of a class in two folds differ by at most its largest unit.
    """
    class_of, sizes = _unit_classes(sample, units), np.bincount(units)
    counts = np.bincount(class_of, minlength=len(sample.classes))
    if folds > len(sizes):
        raise ValueError(
            f"folds must be at most the number of different rows, since identical rows stay together; got "
            f"folds={folds} with {len(sizes)}. Lower folds, or use repeated_rows='apart'."
        )
    if stratified and folds > counts.max():
        raise ValueError(
            "folds must be at most the number of different rows in the largest class if they are stratified; got "
            f"folds={folds} with {counts.max()}. Lower folds, or use stratified=False or repeated_rows='apart'."
        )
    rng = np.random.default_rng(seed)
    order = np.lexsort((rng.random(len(sizes)), -sizes, class_of if stratified else np.zeros(len(sizes))))
    fold_of_unit = np.empty(len(sizes), dtype=np.intp)
    fold_of_unit[order] = rng.permutation(folds)[np.arange(len(sizes)) % folds]
    fold_of = fold_of_unit[units]
    return [Split(np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)) for fold in range(folds)]


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


def held_out_units(n_units: int, test_size: float, name: str) -> int:
    """Return how many of some units a share is, rounded up, at least one and not all."""
    n_held_out = int(np.ceil(test_size * n_units))
    if n_held_out >= n_units:
        raise ValueError(
            f"test_size must leave at least one of {n_units} {name} to train on; got test_size={test_size:g}, which "
            f"holds out {n_held_out}."
        )
    return n_held_out


def subsample_splits(
    sample: Sample, count: int, n_held_out: int, stratified: bool, units: Ints, seed: np.random.SeedSequence
) -> list[Split]:
    """Return random splits that hold out so many units.

    Units are put in random order, class after class if splits are stratified, and every k-th is held out from a random
    start, so each unit has the same chance and each class its share but for one unit.

    Parameters
    ----------
    sample : Sample
    count : int
        Number of splits.
    n_held_out : int
    stratified : bool
    units : ndarray of shape (n,)
        The unit of each point, from 0; points with a negative number are in no part of any split.
    seed : SeedSequence
    """
    used = np.flatnonzero(units >= 0)
    names, codes = np.unique(units[used], return_inverse=True)
    class_of = _unit_classes(sample.part(used), codes) if stratified else np.zeros(len(names), dtype=np.intp)
    splits = []
    for number in range(count):
        rng = np.random.default_rng(child(seed, SPLITS, number))
        order = np.lexsort((rng.random(len(names)), class_of))
        places = np.floor((np.arange(n_held_out) + rng.random()) * len(names) / n_held_out).astype(np.intp)
        is_out = np.zeros(len(names), dtype=bool)
        is_out[order[places]] = True
        splits.append(Split(used[~is_out[codes]], used[is_out[codes]]))
    return splits


def halves(sample: Sample, stratified: bool, units: Ints, seed: np.random.SeedSequence) -> tuple[Ints, Ints]:
    """Return two random halves of the units as arrays like `units`, -1 for points of the other half.

    Both halves have the same number of units, so an odd one is in neither.
    """
    n_units = int(units.max()) + 1
    class_of = _unit_classes(sample, units) if stratified else np.zeros(n_units, dtype=np.intp)
    rng = np.random.default_rng(seed)
    order = np.lexsort((rng.random(n_units), class_of))
    half_of = np.full(n_units, -1)
    even = n_units - n_units % 2
    # Of two neighbours in this order, which mostly are of one class, either may come first.
    swapped = rng.random(even // 2) < 0.5
    half_of[order[:even:2]], half_of[order[1:even:2]] = swapped, ~swapped
    first, second = (np.where(half_of[units] == half, units, -1) for half in (0, 1))
    return first, second


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
        class_of = _unit_classes(sample, groups)
    return [np.flatnonzero(class_of == code) for code in range(len(sample.classes))]


def check_groups_in_classes(sample: Sample, groups: Ints) -> None:
    """Raise if a group has points of several classes."""
    if any(np.ptp(sample.codes[rows]) for rows in _members(groups)):
        raise ValueError(
            "sampling='separate' draws within classes, so each group must lie in one class; got a group with "
            "points of several. Leave groups out, or use sampling='mixture'."
        )


def _unit_classes(sample: Sample, units: Ints) -> Ints:
    """Return the class that most points of each unit belong to, the first of those with equally many."""
    n_classes, n_units = len(sample.classes), int(units.max()) + 1
    counts = np.bincount(units * n_classes + sample.codes, minlength=n_units * n_classes)
    return np.asarray(counts.reshape(n_units, n_classes).argmax(axis=1), dtype=np.intp)


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
