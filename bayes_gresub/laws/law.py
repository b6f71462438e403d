"""Law: the first formula of the package as an object. confusion.py computes the mass it gives to decision regions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bayes_gresub.data.arrays import Floats, Ints
from bayes_gresub.laws.components import Components
from bayes_gresub.laws.confusion import prior_ratio, replicates_with_prior, standard_error
from bayes_gresub.laws.sampling import Sampler

LabelPosterior = Callable[[Floats, Ints], Floats]
"""Maps points (m, d), and the component that each was drawn from, to the laws of their labels, (m, c)."""

Loss = Callable[[Floats, int], Floats]
"""Maps points (m, d) and the code of their label to one number per point."""

_DRAWS_AT_ONCE = 100_000


@dataclass(frozen=True, eq=False)
class Law:
    r"""A law on (x, y): a mixture of laws on x, each with a law of the label.

    .. math:: \nu = \sum_i w_i \, \mu_i(dx) \, \eta_i(dy \mid x)

    Attributes
    ----------
    components : Components
        The laws :math:`\mu_i` on x; point masses if nothing is smoothed.
    weights : ndarray of shape (k,), or (draws, k) for a posterior over laws
        The masses :math:`w_i`, with sum 1. If there are draws times k components, every posterior draw has its own, and
        component i of all draws is stored contiguously; otherwise all draws share the components.
    labels : ndarray of shape (k, c) or (draws, k, c), or a function
        The laws :math:`\eta_i` of the label: one per component, or one per point.
    class_prior : ndarray of shape (c,), optional
        Class probabilities that the law is rescaled to: :math:`\nu(dx, y)\,\pi_y / \nu(y)`.

    Examples
    --------
    >>> import numpy as np
    >>> points = Components.points(np.array([[0.0], [1.0]]))
    >>> law = Law(points, np.array([0.5, 0.5]), np.eye(2))
    >>> law.expectation(lambda x, code: x[:, 0] * (code == 1), Sampler(np.random.SeedSequence(0))).tolist()
    [0.5]
    """

    components: Components
    weights: Floats
    labels: Floats | LabelPosterior
    class_prior: Floats | None = None

    def labels_at(self, points: Floats, owners: Ints) -> Floats:
        """Return the law of the label at points drawn from the components `owners`, shape (m, c)."""
        return self.labels(points, owners) if callable(self.labels) else self.labels[owners]

    def over(self, n_classes: int) -> Law:
        """Return the law over more classes; the added ones have no mass."""
        inner = self.labels
        prior = None if self.class_prior is None else _pad(self.class_prior, n_classes)
        if not callable(inner):
            return replace(self, labels=_pad(inner, n_classes), class_prior=prior)
        return replace(self, labels=lambda points, owners: _pad(inner(points, owners), n_classes), class_prior=prior)

    def sample(self, n: int, rng: np.random.Generator, sampler: Sampler) -> tuple[Floats, Ints]:
        """Draw n independent pairs: points (n, d) and codes of their labels (n,)."""
        ratio = None if self.class_prior is None else self._class_ratio(sampler, self.class_prior)
        largest = 1.0 if ratio is None else float(ratio.max())
        drawn: list[tuple[Floats, Ints]] = []
        missing = n
        while missing > 0:
            # Rejection sampling under a class prior: about one draw in `largest` is kept, by the ratio of its class.
            size = int(min(np.ceil(missing * largest), max(missing, _DRAWS_AT_ONCE)))
            owners = rng.choice(len(self.weights), size=size, p=self.weights)
            points = self.components.draw(owners, rng)
            edges = np.cumsum(self.labels_at(points, owners), axis=1)[:, :-1]
            codes = (rng.random((size, 1)) > edges).sum(axis=1)
            kept = np.arange(size) if ratio is None else np.flatnonzero(rng.random(size) * largest <= ratio[codes])
            kept = kept[:missing]
            drawn.append((points[kept], codes[kept]))
            missing -= len(kept)
        return np.concatenate([points for points, _ in drawn]), np.concatenate([codes for _, codes in drawn])

    def expectation(self, loss: Loss, sampler: Sampler) -> Floats:
        """Return the mean of a loss under the law, once per replicate; one replicate if it is a finite sum."""
        return _total(*self._class_means(loss, sampler, self.class_prior), self.class_prior)

    def _class_ratio(self, sampler: Sampler, prior: Floats) -> Floats:
        """Return the factor on the mass of each class that gives the class prior."""
        _, masses = self._class_means(lambda points, code: np.zeros(len(points)), sampler, None)
        return prior_ratio(prior, masses.mean(axis=0))

    def _class_means(self, loss: Loss, sampler: Sampler, prior: Floats | None) -> tuple[Floats, Floats]:
        """Return the integral of the loss and the mass per replicate and class, both of shape (replicates, c)."""

        def loss_and_mass(points: Floats, owners: Ints) -> Floats:
            labels = self.labels_at(points, owners)
            values = np.zeros_like(labels)
            for code in range(labels.shape[1]):
                rows = np.flatnonzero(labels[:, code])
                if len(rows):
                    values[rows, code] = loss(points[rows], code)
            return np.concatenate([values * labels, labels], axis=1)

        def totals(means: Floats) -> tuple[Floats, Floats]:
            losses, masses = np.split(np.einsum("k,rkq->rq", self.weights, means[0]), 2, axis=1)
            return losses, masses

        def spread(means: Floats) -> float:
            return standard_error(_total(*totals(means), prior))

        if self.components.is_still.all():
            return totals(loss_and_mass(self.components.centers, np.arange(len(self.components)))[None, None])
        return totals(sampler.means(self.components, loss_and_mass, spread=spread).means)


def _total(losses: Floats, masses: Floats, prior: Floats | None) -> Floats:
    """Return the mean loss per replicate from the loss and mass of each class, both of shape (replicates, c)."""
    if prior is None:
        return np.asarray(losses.sum(axis=1))
    # The loss of a class and its remaining mass form a row, which is rescaled like one of a confusion mass.
    rows = np.stack([losses, masses - losses], axis=2)
    return np.asarray(replicates_with_prior(rows, prior)[..., 0].sum(axis=1))


def _pad(values: Floats, n_classes: int) -> Floats:
    """Return values whose last axis is padded with zeros to `n_classes`."""
    missing = n_classes - values.shape[-1]
    if missing == 0:
        return values
    return np.concatenate([values, np.zeros((*values.shape[:-1], missing))], axis=-1)
