"""The test of whether a class model fits the points of each class, by one simulated null per class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.data.sample import read_features, read_sample
from bayes_gresub.data.seeds import child, seed_sequence
from bayes_gresub.data.units import pooled_deviation, to_units
from bayes_gresub.data.validation import check_whole
from bayes_gresub.models.class_nulls import Simulate, draw_in_chunks, fit_gaussian_null
from bayes_gresub.models.fit_statistics import choose_battery, smooth_p_values

Random: TypeAlias = np.random.Generator | np.random.SeedSequence

FEWEST_POINTS = 6
"""Points of a class below which sorted values show no shape."""

_MOST_ROWS = 500
"""Points that the Henze-Zirkler statistic uses at most: it takes all pairs."""

_PILOT_VALUES, _FEWEST_PILOTS = 20_000, 20
"""Simulated values of a feature from which its distribution under a model is learned, and data sets at least."""


@dataclass(frozen=True, eq=False)
class ClassFit:
    """The fit of one class.

    Attributes
    ----------
    p_value : float
        Chance of points that look as unlike the model, or more so, if the model is right.
    loudest : str
        The test with the smallest p-value. Henze and Zirkler's does not show where points depart, so it comes after
        a test that does if no simulated data set lies between them.
    p_values : dict of str to float
        Of every test by itself, not corrected for their number.
    smallest : float
        The smallest of them: the statistic of the class.
    simulated : ndarray of shape (n_sims,)
        The same of every simulated data set.
    """

    p_value: float
    loudest: str
    p_values: dict[str, float]
    smallest: float
    simulated: Floats

    def __str__(self) -> str:
        return f"p = {self.p_value:.3f}, loudest: {self.loudest}"


@dataclass(frozen=True, eq=False)
class ClassesFit:
    """The fit of all classes.

    Attributes
    ----------
    p_value : float
        Of the hypothesis that every class fits its model.
    p_values : dict of label to float
        Per class, corrected for the number of classes.
    classes : dict of label to ClassFit
    level : float
    """

    p_value: float
    p_values: dict[Any, float]
    classes: dict[Any, ClassFit]
    level: float

    @property
    def misfits(self) -> tuple[Any, ...]:
        """Return the classes that do not fit their model at the level of all classes together."""
        return tuple(label for label, p in self.p_values.items() if p <= self.level)

    def __str__(self) -> str:
        if not self.misfits:
            return f"no class departs visibly from its model (p = {self.p_value:.3f})"
        classes = [f"class {y} (p = {self.p_values[y]:.3f}, loudest: {self.classes[y].loudest})" for y in self.misfits]
        return f"the model does not fit {', '.join(classes)}"


def check_class(
    points: ArrayLike,
    simulate: Simulate,
    rng: Random,
    *,
    direction: ArrayLike | None = None,
    feature_names: Sequence[str] | None = None,
    gaussian: bool = True,
    n_sims: int = 499,
) -> ClassFit:
    r"""Test whether the points of one class look like draws from its model.

    The tests are: Shapiro and Wilk's W on every feature, on every principal axis of the class's correlation matrix and
    on `direction`; Mardia's kurtosis, too large and too small, which detects heavy tails best; and Henze and Zirkler's
    statistic, which detects dependence.
    Each is turned into a p-value :math:`p_j` among the S simulated data sets, and the class has

    .. math:: p = \frac{1 + \#\{s : \min_j p_{sj} \le \min_j p_j\}}{S + 1}

    which takes the dependence of the tests into account: the level is exact for a model that was not fitted to the
    points, and up to the error of the fit for one that was (measured: benchmarks/results/class_fit.md). All tests
    ignore location and units; parameters of shape that were fitted make the check cautious.

    Parameters
    ----------
    points : array of shape (n_y, d)
        At least 6 points. Constant features are left out. With n_y <= d + 1 there is neither kurtosis nor a
        Henze-Zirkler statistic; above 500 points the latter sees 500 random ones.
    simulate : callable
        (n_sims, rng) -> array of shape (n_sims, n_y, d), drawn from the model; `fit_gaussian_null` makes one.
    rng : Generator or SeedSequence
    direction : array of shape (d,), or None
        Where the classes differ: a misfit matters most there.
    feature_names : sequence of str, or None
    gaussian : bool
        Whether the model is Gaussian. If not, values are first turned into normal scores by their distribution in
        other simulated data sets, and a Henze-Zirkler statistic that is too small counts too.
    n_sims : int
        Simulated data sets; p is a multiple of 1/(n_sims + 1).

    References
    ----------
    Shapiro and Wilk (1965), Biometrika 52, 591-611. Mardia (1970), Biometrika 57, 519-530. Henze and Zirkler (1990),
    Communications in Statistics - Theory and Methods 19, 3595-3617. Westfall and Young (1993),
    Resampling-Based Multiple Testing.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> points = rng.normal(size=(100, 3))
    >>> points[:50, 1] += 6
    >>> print(check_class(points, fit_gaussian_null(points), rng))
    p = 0.002, loudest: feature 1
    """
    features, form = read_features(points, "points")
    n, d = features.shape
    names = form.feature_names if feature_names is None else tuple(feature_names)
    check_whole(n_sims, "n_sims", 99)
    if n < FEWEST_POINTS:
        raise ValueError(f"a class needs at least {FEWEST_POINTS} points to be checked; got {n}. Leave it out.")
    if names is not None and len(names) != d:
        raise ValueError(f"feature_names must name {d} features; got {len(names)} names.")
    if names is not None and len(set(names)) < d:
        raise ValueError("feature_names must differ from each other; got some name twice.")
    if not np.ptp(features, axis=0).any():
        raise ValueError("points must vary in at least one feature; got copies of one point.")
    along = None if direction is None else _read_direction(direction, d)
    generator = np.random.default_rng(rng)
    battery = choose_battery(features, along, _MOST_ROWS, generator)
    if not gaussian:
        n_pilot = max(_FEWEST_PILOTS, _PILOT_VALUES // n)
        battery = battery.for_model(np.concatenate([*draw_in_chunks(simulate, n_pilot, (n, d), generator)]))
    simulated = [battery.measure(chunk) for chunk in draw_in_chunks(simulate, n_sims, (n, d), generator)]
    p_values = smooth_p_values(np.concatenate([battery.measure(features[None]), *simulated]))
    smallest = p_values.min(axis=1)
    tests = battery.names(names)
    loudest = int(p_values[0].argmin())
    specific = int(p_values[0, : battery.n_specific].argmin())
    # A test that shows where points depart goes before Henze-Zirkler if simulations cannot order them.
    if not ((smallest > p_values[0, loudest]) & (smallest <= p_values[0, specific])).any():
        loudest = specific
    return ClassFit(
        float(np.mean(smallest <= smallest[0])),
        tests[loudest],
        dict(zip(tests, p_values[0].tolist(), strict=True)),
        float(smallest[0]),
        smallest[1:],
    )


def check_classes(
    X: ArrayLike,
    y: ArrayLike,
    rng: Random,
    *,
    simulate: Mapping[Any, Simulate] | None = None,
    feature_names: Sequence[str] | None = None,
    gaussian: bool = True,
    level: float = 0.05,
    n_sims: int = 499,
) -> ClassesFit:
    r"""Test whether every class looks like draws from its model, at one level for all classes together.

    The smallest p-value over tests and classes is compared with that of S joint simulations of all classes,

    .. math:: p_y = \frac{1 + \#\{s : \min_{y'} \min_j p_{sy'j} \le \min_j p_{yj}\}}{S + 1}

    and the overall p-value is the smallest :math:`p_y`. Joint simulation keeps its resolution 1/(S + 1) however many
    classes there are. A class is also projected on the direction to the nearest other class mean, in units of the
    pooled within-class deviation.

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of shape (n,)
    rng : Generator or SeedSequence
    simulate : mapping of label to callable, or None
        One for each class; `fit_gaussian_null` of its points by default.
    feature_names, gaussian, n_sims
        As for `check_class`; names are taken from a DataFrame.
    level : float
        Chance of a false alarm over all classes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> print(check_classes(X, y, np.random.default_rng(0)))
    the model does not fit class 0 (p = 0.002, loudest: petal width (cm))
    """
    sample = read_sample(X, y)
    labels = sample.classes.tolist()
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1; got {level!r}.")
    small = [label for label, n in zip(labels, np.bincount(sample.codes), strict=True) if n < FEWEST_POINTS]
    if small:
        raise ValueError(
            f"every class needs at least {FEWEST_POINTS} points to be checked; got fewer in {small}. Leave those out."
        )
    missing = [] if simulate is None else [label for label in labels if label not in simulate]
    if missing:
        raise ValueError(f"simulate must draw for every class; got none for {missing}.")
    names = sample.format.feature_names if feature_names is None else feature_names
    directions = _to_nearest_mean(sample.features, sample.codes, len(labels))
    seed = seed_sequence(rng)
    classes = {}
    for code, label in enumerate(labels):
        members = sample.features[sample.codes == code]
        draw = fit_gaussian_null(members) if simulate is None else simulate[label]
        classes[label] = check_class(
            members,
            draw,
            child(seed, code),
            direction=directions[code],
            feature_names=names,
            gaussian=gaussian,
            n_sims=n_sims,
        )
    simulated = np.min([fit.simulated for fit in classes.values()], axis=0)
    p_values = {y: float((1 + (simulated <= fit.smallest).sum()) / (n_sims + 1)) for y, fit in classes.items()}
    return ClassesFit(min(p_values.values()), p_values, classes, level)


def _read_direction(direction: ArrayLike, d: int) -> Floats:
    along = np.asarray(direction, dtype=np.float64)
    if along.shape != (d,) or not np.isfinite(along).all():
        raise ValueError(f"direction must be finite, of shape ({d},); got shape {along.shape}.")
    return along


def _to_nearest_mean(features: Floats, codes: Ints, n_classes: int) -> Floats:
    unit = pooled_deviation(features, codes)
    means = to_units(np.array([features[codes == code].mean(axis=0) for code in range(n_classes)]), unit)
    apart = means[:, None] - means[None, :]
    distance = np.linalg.norm(apart, axis=2) + np.diag(np.full(n_classes, np.inf))
    # Divided by the unit once more: directions are for features as they were given.
    return to_units(apart[np.arange(n_classes), distance.argmin(axis=1)], unit)
