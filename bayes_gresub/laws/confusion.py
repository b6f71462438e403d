"""What can be read off a joint confusion mass C[y, j] and its replicates; most functions take leading axes (draws)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayes_gresub.data.arrays import Floats


def joint(region_mass: Floats, weights: Floats, label_law: Floats) -> Floats:
    r"""Return the joint confusion mass :math:`C_{yj} = \sum_i w_i \, \eta_i(y) \, \mu_i(\psi = j)`.

    Parameters
    ----------
    region_mass : ndarray of shape (..., k, c)
        Leading axes may be scales, replicates or posterior draws.
    weights : ndarray of shape (k,) or (..., k)
        Mass of each component.
    label_law : ndarray of shape (k, c) or (..., k, c)
        Law of the label of each component: one-hot where it is known.

    Returns
    -------
    ndarray of shape (..., c, c)

    Examples
    --------
    >>> import numpy as np
    >>> joint(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0.5, 0.5]), np.eye(2)).tolist()
    [[0.45, 0.05], [0.1, 0.4]]
    """
    weighted = label_law * weights[..., None]
    return np.matmul(weighted.swapaxes(-1, -2), region_mass)


def error_mass(confusion: Floats) -> Floats:
    """Return the error, the mass off the diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> float(error_mass(np.array([[0.45, 0.05], [0.1, 0.4]])).round(6))
    0.15
    """
    # The sum of what is off the diagonal, not one minus the rest: tiny errors keep their digits.
    off_diagonal = ~np.eye(confusion.shape[-1], dtype=bool)
    return np.asarray(confusion[..., off_diagonal].sum(axis=-1))


def class_mass(confusion: Floats) -> Floats:
    """Return the mass of each true class, shape (..., c)."""
    return np.asarray(confusion.sum(axis=-1))


def class_errors(confusion: Floats) -> Floats:
    """Return the error given each true class, shape (..., c); NaN for a class without mass."""
    total = class_mass(confusion)
    off_diagonal = confusion * ~np.eye(confusion.shape[-1], dtype=bool)
    return np.divide(off_diagonal.sum(axis=-1), total, out=np.full_like(total, np.nan), where=total > 0)


def expected_cost(confusion: Floats, cost: ArrayLike) -> Floats:
    """Return the mean of cost[y, j], the cost of saying j when y is true."""
    c = confusion.shape[-1]
    try:
        matrix = np.asarray(cost, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"cost must be a matrix of numbers of shape ({c}, {c}); got {cost!r}.") from error
    if matrix.shape != (c, c) or not np.isfinite(matrix).all():
        raise ValueError(
            f"cost must be a finite matrix of shape ({c}, {c}), true class by predicted class; "
            f"got shape {matrix.shape}."
        )
    return np.asarray((confusion * matrix).sum(axis=(-2, -1)))


def with_prior(confusion: Floats, prior: Floats) -> Floats:
    """Return the confusion mass of the same classifier where the classes have these probabilities, draw by draw."""
    return np.asarray(confusion * prior_ratio(prior, class_mass(confusion))[..., None])


def replicates_with_prior(confusions: Floats, prior: Floats) -> Floats:
    r"""Return replicates of a confusion mass, shape (replicates, c, c), as they are under other class probabilities.

    Their mean is that of the replicates with its rows rescaled to the prior. Each is moved by what a replicate's own
    class mass is off (the linear part of the ratio), so that their spread is the standard error of a ratio:

    .. math:: C'_r = \frac{\pi_y}{\bar m_y} \left(C_r - (m_r - \bar m) \frac{\bar C}{\bar m}\right)
    """
    mean = confusions.mean(axis=0)
    mass = class_mass(mean)
    rates = np.divide(mean, mass[:, None], out=np.zeros_like(mean), where=mass[:, None] > 0)
    moved = confusions - (class_mass(confusions) - mass)[..., None] * rates
    return np.asarray(moved * prior_ratio(prior, mass)[:, None])


def prior_ratio(prior: Floats, class_masses: Floats) -> Floats:
    """Return by how much the mass of each class must be multiplied to give the prior, shape (..., c)."""
    if ((class_masses <= 0) & (prior > 0)).any():
        raise ValueError(
            "class_prior must be 0 for a class without mass; no data tell of the classifier's errors there."
        )
    wanted = np.broadcast_to(prior, class_masses.shape)
    return np.divide(wanted, class_masses, out=np.zeros_like(class_masses), where=class_masses > 0)


def standard_error(replicates: Floats) -> float:
    """Return the standard error of the mean of independent replicates; 0 where there is one, the exact value."""
    if len(replicates) == 1:
        return 0.0
    return float(replicates.std(ddof=1) / np.sqrt(len(replicates)))
