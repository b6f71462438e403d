"""The latents at the training points as Gaussian priors times one Gaussian factor for each label, its site."""

from __future__ import annotations

from dataclasses import dataclass

from bayes_gresub.data.arrays import Floats


@dataclass(frozen=True, eq=False)
class LabelSites:
    """The posterior of the latents, written so that labels can be taken out of it; every row has its own site.

    Attributes
    ----------
    factor : ndarray of shape (latents, m, n)
        The prior covariance of a latent is F'F, and `rest` on the diagonal.
    rest : ndarray of shape (latents, n)
        Prior variance that labels do not change: what inducing points leave over, otherwise 0.
    mean : ndarray of shape (n, latents)
        Posterior means.
    slope : ndarray of shape (n, latents)
        Derivative of the expected log-likelihood of the row's label by the means.
    curvature : ndarray of shape (n, latents, latents)
        Minus its second derivatives.
    independent : bool
        Whether the latents are independent under the posterior: their covariances have the diagonal of `curvature`
        only.
    """

    factor: Floats
    rest: Floats
    mean: Floats
    slope: Floats
    curvature: Floats
    independent: bool
