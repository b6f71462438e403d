"""The Gaussian-process posterior: class probabilities from latent processes, on GPyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from bayes_gresub.checks import check_name, check_whole, warn_user
from bayes_gresub.components import Floats
from bayes_gresub.posteriors.base import Posterior
from bayes_gresub.progress import ticking
from bayes_gresub.seeds import Seed, as_int, seed_sequence

if TYPE_CHECKING:
    import torch

    from bayes_gresub.posteriors.latent.engines import Engine

AMPLITUDE_PRIOR = (4.0, 3.0)
"""Median, and deviation of the logarithm, of a log-normal law; chosen in benchmarks/results/gp_prior.md."""

_CHUNK = 2048
_MOST_EXACT = 10 * 500**3
"""Latents times points cubed up to which no inducing points are chosen."""

_N_INDUCING = 200
_FOR_ONE_THREAD = 150_000
"""Numbers in the covariances up to which threads would wait for each other longer than they work."""

_LEAST_VARIANCE = 0.1
"""Of a latent, below which its probabilities hardly move."""

_DRAWS_AT_ONCE = 4_000_000
"""Numbers of draws held at once."""


class GaussianProcess(Posterior):
    r"""Class probabilities from a latent Gaussian process for every class.

    .. math:: P(y \mid x) = \mathrm E\left[\frac{e^{f_y(x)}}{\sum_j e^{f_j(x)}}\right], \qquad
              f_y \sim GP\!\left(0,\; a_y \exp\!\left(-\frac{|x - x'|^2}{2 \ell_y^2}\right)\right)

    in features of mean 0 and deviation 1; the expectation is under the posterior of the latents, which is approximated
    by a Gaussian, and length-scales and amplitudes are those of the largest (bound on the) evidence, times weak
    priors: log-normal about :math:`\sqrt d` for length-scales (deviation of the logarithm 1) and about 4 for amplitudes
    (3). With a tighter prior of amplitudes, or a larger one, error estimates differ; this one was chosen by held-out log
    loss on nine sets of data. Without any, amplitudes of classes that do not overlap grow without bound.

    Parameters
    ----------
    kernel : "rbf" or "normalized"
        "normalized" ties the amplitude to :math:`(2\pi\ell^2)^{-d/2}`, as the paper prints it. That constant is the
        variance of the latents: beyond a few features it is so small that all probabilities are 1/c.
    approximation : "variational" or "laplace"
        The Gaussian nearest in Kullback-Leibler divergence, within 0.005 of the exact probabilities; or the one at
        the mode, which is cheaper and under-confident by 0.02 to 0.07.
    shared : bool, default False
        One length-scale and amplitude for all classes. (Two classes always have the same: data see their sum.)
    lengthscale, amplitude : float or sequence of one per class, optional
        Fixed instead of learned; the length-scale in standard deviations of the features.
    n_inducing : int, "auto" or None
        Points that carry what is learned, for large samples; None for all. "auto" takes all up to about 500 points in
        10 classes and 1,000 in two, and 200 beyond.
    tol : float, default 1e-4
        Stop when the bound's relative change is below this.
    max_iter : int, default 100
        Steps after which to stop anyway, with a warning.
    device : str, default "cpu"
        As torch names it.
    progress : bool, default False
        Show the steps.
    random_state : int, SeedSequence or None
        For choosing inducing points.

    Attributes
    ----------
    classes_ : ndarray of shape (c,)
    lengthscales_, amplitudes_ : ndarray of shape (c,)
    elbo_ : float
        The bound on the log evidence; with "laplace" its approximation.
    n_iter_ : int

    References
    ----------
    Rasmussen & Williams, Gaussian Processes for Machine Learning (2006), chapter 3.
    Opper & Archambeau, The variational Gaussian approximation revisited, Neural Computation 21 (2009).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> gp = GaussianProcess().fit(X[::3], y[::3])
    >>> gp.predict_proba(X[1:2]).round(1).tolist()
    [[1.0, 0.0, 0.0]]
    """

    has_draws = True

    def __init__(
        self,
        kernel: str = "rbf",
        approximation: str = "variational",
        *,
        shared: bool = False,
        lengthscale: Any = None,
        amplitude: Any = None,
        n_inducing: int | str | None = "auto",
        tol: float = 1e-4,
        max_iter: int = 100,
        device: str = "cpu",
        progress: bool = False,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.approximation = approximation
        self.shared = shared
        self.lengthscale = lengthscale
        self.amplitude = amplitude
        self.n_inducing = n_inducing
        self.tol = tol
        self.max_iter = max_iter
        self.device = device
        self.progress = progress
        self.random_state = random_state

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, random_state: Seed = None
    ) -> Self:
        """Learn from the sample; weights count points, as if they had been given that often."""
        import torch

        self._check_parameters()
        device = self._checked_device()
        points, labels = validate_data(self, X, y, dtype=np.float64, allow_nd=True)
        check_classification_targets(labels)
        points = points.reshape(len(points), -1)
        weights = _check_sample_weight(sample_weight, points, dtype=np.float64, ensure_non_negative=True)
        kept = weights > 0
        self.classes_, codes = np.unique(labels[kept], return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"GaussianProcess needs points of at least two classes; got 1 class, {self.classes_.tolist()!r}."
            )
        self._merge(points[kept], codes, weights[kept])
        seed = seed_sequence(self.random_state if random_state is None else random_state)
        x, counts = (torch.as_tensor(one, device=device) for one in (self._units, self._counts))
        self._engine = self._learn(x, counts, seed)
        self._training: Floats | None = None
        return self

    def _merge(self, points: Floats, codes: np.ndarray, weights: Floats) -> None:
        """Keep different points only, with the weight that each class has there; and the units of features."""
        different, group = np.unique(points, axis=0, return_inverse=True)
        counts = np.zeros((len(different), len(self.classes_)))
        np.add.at(counts, (group.ravel(), codes), weights)
        total = counts.sum(axis=1)
        share = total / total.sum()
        self._origin = share @ different
        centered = different - self._origin
        deviation = np.sqrt(share @ centered**2)
        # Rounding leaves a constant feature a deviation; it tells nothing.
        varies = deviation > 1e-12 * np.abs(different).max(axis=0)
        self._scale = np.where(varies, deviation, np.inf)
        self._units, self._counts, self._group_of = centered / self._scale, counts, group.ravel()

    def _learn(self, x: torch.Tensor, counts: torch.Tensor, seed: np.random.SeedSequence) -> Engine:
        from linear_operator.utils.errors import NanError, NotPSDError
        from torch.linalg import LinAlgError  # type: ignore[attr-defined]

        from bayes_gresub.posteriors.latent.engines import Inducing, Laplace, Variational
        from bayes_gresub.posteriors.latent.evidence import LogNormal, learn
        from bayes_gresub.posteriors.latent.kernels import LatentKernel

        c, d = counts.shape[1], x.shape[1]
        kernel = LatentKernel(c, d, normalized=self.kernel == "normalized", shared=self.shared).to(self.device)
        prior_lengthscale, prior_amplitude = LogNormal(np.sqrt(d), 1.0), LogNormal(*AMPLITUDE_PRIOR)
        kernel.start(
            self._given(self.lengthscale, "lengthscale", kernel.n_kernels, prior_lengthscale.median),
            self._given(self.amplitude, "amplitude", kernel.n_kernels, prior_amplitude.median),
        )
        inducing = self._inducing(x, kernel.n_latents, seed)
        if inducing is not None:
            engine: Engine = Inducing(kernel, x, counts, inducing)
        else:
            engine = (Laplace if self.approximation == "laplace" else Variational)(kernel, x, counts)
        free = {
            "lengthscale": self.lengthscale is None,
            "amplitude": self.amplitude is None and self.kernel != "normalized",
        }
        threads = 1 if kernel.n_latents * len(x) ** 2 <= _FOR_ONE_THREAD else None
        with threadpool_limits(threads), ticking(None, "length-scales", self.progress, "step") as tick:
            try:
                found = learn(engine, free, prior_lengthscale, prior_amplitude, self.tol, self.max_iter, tick)
            except (LinAlgError, NotPSDError, NanError) as error:
                raise RuntimeError(
                    f"a covariance matrix of {len(x)} points could not be factored, also with more jitter, at "
                    f"length-scales {kernel.lengthscales.tolist()} and amplitudes {kernel.amplitudes.tolist()}. "
                    "Give a lengthscale, or drop points that nearly coincide."
                ) from error
        if not found.converged:
            warn_user(
                f"the search for length-scales stopped after max_iter={self.max_iter} steps, before the bound settled "
                f"to tol={self.tol:g}. Raise max_iter.",
                ConvergenceWarning,
            )
        largest = float(kernel.variance().detach().max())
        if self.kernel == "normalized" and largest < _LEAST_VARIANCE:
            warn_user(
                f"with {d} features the normalized kernel gives latents a variance of {largest:.2g}: probabilities "
                f"collapse to 1/{c} everywhere. Use kernel='rbf'."
            )
        self.elbo_, self.n_iter_ = found.bound, found.n_iter
        self.lengthscales_ = np.broadcast_to(kernel.lengthscales.detach().cpu().numpy(), c).copy()
        self.amplitudes_ = np.broadcast_to(kernel.amplitudes.detach().cpu().numpy(), c).copy()
        return engine

    def _given(self, value: Any, name: str, n_kernels: int, default: float) -> Floats:
        if value is None:
            return np.full(n_kernels, default)
        given = np.asarray(value, dtype=float)
        c = len(self.classes_)
        if given.shape not in ((), (c,)) or not (np.isfinite(given) & (given > 0)).all():
            raise ValueError(f"{name} must be a number above 0, or one for each of {c} classes; got {value!r}.")
        if given.ndim and n_kernels < c and np.ptp(given):
            what = "shared=True" if self.shared else "two classes"
            raise ValueError(f"{name} must be the same for all classes with {what}; got {value!r}.")
        return given if given.ndim and n_kernels == c else np.full(n_kernels, given.ravel()[0])

    def _inducing(self, x: torch.Tensor, latents: int, seed: np.random.SeedSequence) -> torch.Tensor | None:
        n = len(x)
        wanted = self.n_inducing
        if wanted == "auto":
            too_large = self.approximation == "variational" and latents * n**3 > _MOST_EXACT
            wanted = _N_INDUCING if too_large else None
        if wanted is None or int(wanted) >= n:
            return None
        import torch
        from sklearn.cluster import KMeans

        centers = KMeans(int(wanted), n_init=1, random_state=as_int(seed)).fit(self._units).cluster_centers_
        return torch.as_tensor(centers, device=self.device)

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return P(y | x) at the rows of X, shape (m, c)."""
        check_is_fitted(self)
        points = validate_data(self, X, dtype=np.float64, allow_nd=True, reset=False)
        return self._proba((points.reshape(len(points), -1) - self._origin) / self._scale)

    def training_proba(self) -> Floats:
        """Return P(y | X_i) at the training points, those of weight 0 left out."""
        check_is_fitted(self)
        if self._training is None:
            self._training = self._proba(self._units)[self._group_of]
        return self._training

    def training_draws(self, n: int, rng: np.random.Generator) -> Iterator[Floats]:
        """Return joint draws of P(y | X_i) at those points in blocks (draws, n, c), n draws in all.

        They are given the learned length-scales and amplitudes.
        """
        import torch

        check_is_fitted(self)
        latents, points = self._engine.kernel.n_latents, len(self._units)
        at_once = max(1, _DRAWS_AT_ONCE // (points * len(self.classes_)))
        for begin in range(0, n, at_once):
            shape = (latents, points, min(at_once, n - begin))
            noise, more = (torch.as_tensor(rng.standard_normal(shape), device=self.device) for _ in range(2))
            with torch.no_grad():
                f = self._engine.draw(noise, more)
                if latents == 1:
                    p = torch.sigmoid(f[0])
                    proba = torch.stack([1 - p, p], dim=2)
                else:
                    proba = torch.softmax(f, dim=0).permute(1, 2, 0)
            yield proba.transpose(0, 1)[:, self._group_of].cpu().numpy()

    def _proba(self, units: Floats) -> Floats:
        import torch

        from bayes_gresub.posteriors.latent.softmax import expected_softmax

        found = []
        with torch.no_grad():
            for begin in range(0, len(units), _CHUNK):
                x = torch.as_tensor(units[begin : begin + _CHUNK], device=self.device)
                found.append(expected_softmax(*self._engine.predict(x)).cpu().numpy())
        proba = np.concatenate(found)
        return np.asarray(proba / proba.sum(axis=1, keepdims=True))

    @property
    def space(self) -> str:
        """Return in words the space that distances are measured in."""
        return "features over their standard deviation"

    def _checked_device(self) -> torch.device:
        import torch

        try:
            device = torch.device(self.device)
            torch.zeros(1, device=device)
        except (RuntimeError, AssertionError, TypeError) as error:
            raise ValueError(
                f"device must be one that torch can use here, such as 'cpu'; got {self.device!r} ({error})."
            ) from error
        return device

    def _check_parameters(self) -> None:
        check_name(self.kernel, ("rbf", "normalized"), "kernel")
        check_name(self.approximation, ("variational", "laplace"), "approximation")
        check_whole(self.max_iter, "max_iter", 1)
        if isinstance(self.tol, bool) or not isinstance(self.tol, int | float | np.number) or not 0 < self.tol < 1:
            raise ValueError(f"tol must be a relative change between 0 and 1; got {self.tol!r}.")
        if isinstance(self.n_inducing, str) and self.n_inducing != "auto":
            raise ValueError(f"n_inducing must be a number of points, 'auto' or None; got {self.n_inducing!r}.")
        if self.n_inducing is not None and not isinstance(self.n_inducing, str):
            check_whole(self.n_inducing, "n_inducing", 1)
            if self.approximation == "laplace":
                raise ValueError("there are inducing points for approximation='variational' only; got n_inducing.")
        if self.kernel == "normalized" and self.amplitude is not None:
            raise ValueError("kernel='normalized' sets the amplitude itself; give no amplitude, or use kernel='rbf'.")
