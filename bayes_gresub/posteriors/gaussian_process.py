"""The Gaussian-process posterior: class probabilities from latent processes, on GPyTorch."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from bayes_gresub.data.arrays import Floats
from bayes_gresub.data.seeds import Seed, as_int, seed_sequence
from bayes_gresub.data.validation import check_name, check_whole, warn_user
from bayes_gresub.posteriors.gp.merging import MergedPoints, merge_points
from bayes_gresub.posteriors.gp.sites import LabelSites
from bayes_gresub.posteriors.posterior import Posterior
from bayes_gresub.progress import ticking

if TYPE_CHECKING:
    import torch

    from bayes_gresub.posteriors.gp.approximations import LatentApproximation
    from bayes_gresub.posteriors.gp.hyperparameters import SearchResult

AMPLITUDE_PRIOR = (25.0, 3.0)
"""Median, and deviation of the logarithm, of a log-normal law; chosen in benchmarks/results/gp_prior.md."""

_CHUNK = 2048
_MOST_EXACT = 10 * 500**3
"""Latents times points cubed up to which no inducing points are chosen."""

_N_INDUCING = 200
_FOR_ONE_THREAD = 150_000
"""Numbers in the covariances up to which several threads would wait for each other longer than they work."""

_LEAST_VARIANCE = 0.1
"""Variance of a latent below which its probabilities hardly move."""

_DRAWS_AT_ONCE = 4_000_000
"""Numbers of draws held at once."""


class GaussianProcess(Posterior):
    r"""Class probabilities from a latent Gaussian process for every class.

    .. math:: P(y \mid x) = \mathrm E\left[\frac{e^{f_y(x)}}{\sum_j e^{f_j(x)}}\right], \qquad
              f_y \sim GP\!\left(0,\; a_y \exp\!\left(-\frac{|x - x'|^2}{2 \ell_y^2}\right)\right)

    in features of mean 0 and deviation 1; the expectation is under the posterior of the latents, which is approximated
    by a Gaussian, and length-scales and amplitudes are those of the largest (bound on the) evidence, times weak
    priors: log-normal about :math:`\sqrt d` for length-scales (deviation of the logarithm 1) and about 25 for
    amplitudes (3). The latter was chosen by held-out log loss on nine sets of data. It matters: larger amplitudes give
    smaller error estimates, and without a prior the amplitudes of classes that do not overlap grow without end.

    Parameters
    ----------
    kernel : "rbf" or "normalized"
        "normalized" ties the amplitude to :math:`(2\pi\ell^2)^{-d/2}`, as the paper prints it. That constant is the
        variance of the latents: beyond a few features it is so small that all probabilities are 1/c.
    approximation : "variational" or "laplace"
        The Gaussian nearest in Kullback-Leibler divergence, whose probabilities are 0.005 from the exact ones on
        average; or the one at the mode, which is cheaper and under-confident: by 0.05 at an amplitude of 5, and by
        0.2 at 100.
    shared : bool, default False
        One length-scale and amplitude for all classes. (Two classes always have the same: only their sum matters.)
    lengthscale, amplitude : float or sequence of one per class, optional
        Fixed instead of learned; the length-scale in standard deviations of the features.
    n_inducing : int, "auto" or None
        Points that represent the latents, for large samples; None for all. "auto" takes all up to about 500 points in
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
        For choosing inducing points; nothing else is random.

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
    is_checked = True

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
        """Learn from the sample; weights count points, as if they had been given that often.

        `random_state` is used if the process has none of its own.
        """
        import torch

        _load_gpytorch()
        self._check_parameters()
        device = self._read_device()
        seed = seed_sequence(random_state if self.random_state is None else self.random_state)
        points, labels = validate_data(self, _flat(X), y, dtype=np.float64)
        check_classification_targets(labels)
        weights = _check_sample_weight(sample_weight, points, dtype=np.float64, ensure_non_negative=True)
        kept = weights > 0
        classes, codes = np.unique(labels[kept], return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"GaussianProcess needs points of at least two classes; got 1 class, {classes.tolist()!r}."
            )
        given = {name: self._read_given(name, len(classes)) for name in ("lengthscale", "amplitude")}
        data = merge_points(points[kept], codes, weights[kept], len(classes))
        with torch.inference_mode(False), torch.enable_grad():
            approximation, search = self._learn(data, given, seed, device)
        kernel = approximation.kernel
        self.classes_, self._data, self._approximation = classes, data, approximation
        self._codes = codes
        self._training: Floats | None = None
        self.elbo_, self.n_iter_ = search.bound, search.n_iter
        self.lengthscales_, self.amplitudes_ = (
            np.broadcast_to(parameter.detach().cpu().numpy(), len(classes)).copy()
            for parameter in (kernel.lengthscales, kernel.amplitudes)
        )
        return self

    def _learn(
        self, data: MergedPoints, given: dict[str, Floats | None], seed: np.random.SeedSequence, device: torch.device
    ) -> tuple[LatentApproximation, SearchResult]:
        import torch
        from linear_operator.utils.errors import NanError, NotPSDError
        from torch.linalg import LinAlgError  # type: ignore[attr-defined]

        from bayes_gresub.posteriors.gp.approximations import Inducing, Laplace, Variational
        from bayes_gresub.posteriors.gp.hyperparameters import LogNormal, learn_hyperparameters
        from bayes_gresub.posteriors.gp.latent_kernels import LatentKernel

        x, counts = (torch.as_tensor(array, device=device) for array in (data.units, data.counts))
        (n, c), d = counts.shape, data.n_varying
        kernel = LatentKernel(c, d, normalized=self.kernel == "normalized", shared=self.shared).to(device)
        priors = {"lengthscale": LogNormal(np.sqrt(d), 1.0), "amplitude": LogNormal(*AMPLITUDE_PRIOR)}
        starts = {
            name: priors[name].median if values is None else values[: kernel.n_kernels]
            for name, values in given.items()
        }
        kernel.start(**starts)
        centers = self._choose_inducing(data.units, kernel.n_latents, seed)
        if centers is not None:
            approximation: LatentApproximation = Inducing(kernel, x, counts, torch.as_tensor(centers, device=device))
        else:
            approximation = (Laplace if self.approximation == "laplace" else Variational)(kernel, x, counts)
        learned = {name: priors[name] if given[name] is None else None for name in given}
        if self.kernel == "normalized":
            learned["amplitude"] = None
        threads = 1 if kernel.n_latents * n**2 <= _FOR_ONE_THREAD else None
        with threadpool_limits(threads), ticking(None, "length-scales", self.progress, "step") as tick:
            try:
                search = learn_hyperparameters(
                    approximation, learned["lengthscale"], learned["amplitude"], self.tol, self.max_iter, tick
                )
            except (LinAlgError, NotPSDError, NanError) as error:
                raise RuntimeError(
                    f"a covariance matrix of {n} points could not be factored, also with more jitter, at "
                    f"length-scales {kernel.lengthscales.tolist()} and amplitudes {kernel.amplitudes.tolist()}. "
                    "Give a lengthscale, or drop points that nearly coincide."
                ) from error
        if not search.converged:
            warn_user(
                f"the search for length-scales stopped after {search.n_iter} steps (max_iter={self.max_iter}), before "
                f"the bound settled to tol={self.tol:g}. Raise max_iter or tol; a smaller amplitude helps, if you gave "
                "one.",
                ConvergenceWarning,
            )
        largest = float(kernel.variance().detach().max())
        if self.kernel == "normalized" and largest < _LEAST_VARIANCE:
            warn_user(
                f"with {d} features the normalized kernel gives latents a variance of {largest:.2g}: probabilities "
                f"collapse to 1/{c} everywhere. Use kernel='rbf'."
            )
        return approximation, search

    def _read_given(self, name: str, c: int) -> Floats | None:
        """Return a length-scale or amplitude for every class, or None if it is to be learned."""
        value = getattr(self, name)
        if value is None:
            return None
        try:
            numbers = np.asarray(value)
            fits = numbers.dtype.kind in "iuf" and numbers.shape in ((), (c,)) and bool((numbers > 0).all())
            fits = fits and bool(np.isfinite(numbers).all())
        except (TypeError, ValueError):
            fits = False
        if not fits:
            raise ValueError(f"{name} must be a number above 0, or one for each of {c} classes; got {value!r}.")
        if (self.shared or c == 2) and np.ptp(numbers):
            reason = "shared=True" if self.shared else "two classes"
            raise ValueError(f"{name} must be the same for all classes with {reason}; got {value!r}.")
        return np.broadcast_to(numbers.astype(float), c).copy()

    def _choose_inducing(self, units: Floats, latents: int, seed: np.random.SeedSequence) -> Floats | None:
        n, n_inducing = len(units), self.n_inducing
        if n_inducing == "auto":
            too_large = self.approximation == "variational" and latents * n**3 > _MOST_EXACT
            n_inducing = _N_INDUCING if too_large else None
        if n_inducing is None or int(n_inducing) >= n:
            return None
        from sklearn.cluster import KMeans

        return np.asarray(KMeans(int(n_inducing), n_init=1, random_state=as_int(seed)).fit(units).cluster_centers_)

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return P(y | x) at the rows of X, shape (m, c)."""
        check_is_fitted(self)
        return self._predict(self._data.in_units(validate_data(self, _flat(X), dtype=np.float64, reset=False)))

    def training_proba(self) -> Floats:
        """Return P(y | X_i) at the training points, those of weight 0 left out."""
        check_is_fitted(self)
        if self._training is None:
            self._training = self._predict(self._data.units)[self._data.group]
        return self._training.copy()

    def training_draws(self, n: int, rng: np.random.Generator) -> Iterator[Floats]:
        """Return joint draws of P(y | X_i) at those points in blocks (draws, n, c), n draws in all.

        They are conditional on the learned length-scales and amplitudes. The part that inducing points do not explain
        is drawn independently at every point.
        """
        import torch

        check_is_fitted(self)
        latents, points = self._approximation.kernel.n_latents, len(self._data.units)
        at_once = max(1, _DRAWS_AT_ONCE // (points * len(self.classes_)))
        for begin in range(0, n, at_once):
            shape = (latents, points, min(at_once, n - begin))
            noise, more = (torch.as_tensor(rng.standard_normal(shape), device=self.device) for _ in range(2))
            with torch.no_grad():
                f = self._approximation.draw(noise, more)
                if latents == 1:
                    proba = torch.sigmoid(torch.stack([-f[0], f[0]], dim=2))
                else:
                    proba = torch.softmax(f, dim=0).permute(1, 2, 0)
            yield proba.transpose(0, 1)[:, self._data.group].cpu().numpy()

    def trained_on(self, X: ArrayLike, y: ArrayLike) -> bool:
        """Return whether these were the points and labels of `fit`, to rounding, each of weight 1."""
        check_is_fitted(self)
        points, labels = np.asarray(_flat(X), dtype=np.float64), np.asarray(y)
        data, n = self._data, len(self._codes)
        if len(labels) != n or points.shape != (n, self.n_features_in_) or (self.classes_[self._codes] != labels).any():
            return False
        counts = np.zeros_like(data.counts)
        np.add.at(counts, (data.group, self._codes), 1.0)
        return bool((counts == data.counts).all()) and np.allclose(data.in_units(points), data.units[data.group])

    def training_sites(self) -> LabelSites:
        """Return the posterior of the latents at the training points, with the part that each row's label has in it.

        Length-scales and amplitudes are the learned ones; rows of weight 0 are left out, those of others count once.
        """
        import torch

        check_is_fitted(self)
        with torch.no_grad():
            factor, rest, mean, slope, hessian = (part.cpu().numpy() for part in self._approximation.expand())
        group, total = self._data.group, self._data.counts.sum(axis=1)
        seen, labels = self._data.counts, np.eye(len(self.classes_))[self._codes]
        if len(mean) == 1:
            seen, labels = seen[:, 1:], labels[:, 1:]
        probabilities = (seen - slope.T) / total[:, None]
        return LabelSites(
            factor=factor[:, :, group],
            rest=rest[:, group],
            mean=mean.T[group],
            slope=labels - probabilities[group],
            curvature=(hessian / total[:, None, None])[group],
            independent=self._approximation.independent,
        )

    def proba_of_latents(self, mean: Floats, covariance: Floats) -> Floats:
        """Return the probabilities (m, c) at points whose latents are Gaussian, integrated as in `predict_proba`.

        Parameters
        ----------
        mean : ndarray of shape (m, latents)
            One latent for two classes, else one for each.
        covariance : ndarray of shape (m, latents) or (m, latents, latents)
            Variances of independent latents, or covariances.
        """
        import torch

        from bayes_gresub.posteriors.gp.softmax import expected_softmax

        if covariance.ndim == 2:
            spread = np.sqrt(np.maximum(covariance, 0.0)).T
        else:
            values, vectors = np.linalg.eigh(covariance)
            spread = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        proba = expected_softmax(*(torch.as_tensor(np.ascontiguousarray(part)) for part in (mean.T, spread))).numpy()
        return np.asarray(proba / proba.sum(axis=1, keepdims=True))

    def _predict(self, units: Floats) -> Floats:
        import torch

        from bayes_gresub.posteriors.gp.softmax import expected_softmax

        chunks = []
        with torch.no_grad():
            for begin in range(0, len(units), _CHUNK):
                x = torch.as_tensor(units[begin : begin + _CHUNK], device=self.device)
                chunks.append(expected_softmax(*self._approximation.predict(x)).cpu().numpy())
        proba = np.concatenate(chunks)
        return np.asarray(proba / proba.sum(axis=1, keepdims=True))

    @property
    def space_(self) -> str:
        """Return in words the space that distances are measured in."""
        return "features divided by their standard deviation"

    def _read_device(self) -> torch.device:
        import torch

        try:
            device = torch.device(self.device)
            torch.zeros(1, dtype=torch.float64, device=device).cpu()
        except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
            raise ValueError(
                f"device must be one that torch can use here in double precision, such as 'cpu'; got {self.device!r}."
            ) from error
        return device

    def _check_parameters(self) -> None:
        check_name(self.kernel, ("rbf", "normalized"), "kernel")
        check_name(self.approximation, ("variational", "laplace"), "approximation")
        check_whole(self.max_iter, "max_iter", 1)
        for name in ("shared", "progress"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ValueError(f"{name} must be True or False; got {getattr(self, name)!r}.")
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


def _load_gpytorch() -> None:
    """Import GPyTorch without the warnings of its dependencies, which are not for users."""
    with warnings.catch_warnings():
        for category in (DeprecationWarning, FutureWarning):  # the latter since torch 2.15
            warnings.filterwarnings("ignore", ".*torch.jit.script", category)
        import gpytorch  # noqa: F401


def _flat(X: Any) -> Any:
    """Return images and the like as rows."""
    return np.reshape(X, (len(X), -1)) if getattr(X, "ndim", 2) > 2 else X
