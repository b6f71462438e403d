"""Sampling PyMC models with NUTS: compiled once per shape, refitted with new data, by PyMC itself or nutpie."""

from __future__ import annotations

import importlib.util
import warnings
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_gresub.data.arrays import Floats
from bayes_gresub.data.seeds import as_int
from bayes_gresub.models.whitening import PyMCInputs

BACKENDS = ("nutpie", "pymc")

_TARGET_ACCEPT = 0.97
_NOTHING = "interrupted before the first draw after tuning"
_MOST_COMPILED = 32
_COMPILED: OrderedDict[Hashable, Any] = OrderedDict()


@dataclass(frozen=True)
class SamplerSettings:
    """How a sampler is run."""

    draws: int
    tune: int
    chains: int
    backend: str | None = None
    progress: bool = False


@dataclass(frozen=True, eq=False)
class NutsDraws:
    """Draws of the free variables by name, (chains, draws, ...), and statistics of the sampler."""

    posterior: Mapping[str, Floats]
    stats: Mapping[str, np.ndarray]


def choose_backend(backend: str | None) -> str:
    """Return the backend by name; by default nutpie if it is installed.

    On two cores nutpie compiles a model in about half a minute and refits it in half a second with 2 features, in two
    with 10; PyMC takes about ten seconds for every fit once its compiler cache is warm, and a minute before that.
    """
    if backend is None:
        return "nutpie" if importlib.util.find_spec("nutpie") is not None else "pymc"
    if backend not in BACKENDS:
        raise ValueError(f"backend must be 'nutpie', 'pymc' or None; got {backend!r}.")
    if backend == "nutpie" and importlib.util.find_spec("nutpie") is None:
        raise ImportError("backend='nutpie' needs nutpie: pip install 'bayes_gresub[nutpie]', or use backend='pymc'.")
    return backend


def run_nuts(
    build: Callable[[PyMCInputs], Any],
    inputs: PyMCInputs,
    key: tuple[Hashable, ...],
    settings: SamplerSettings,
    seed: np.random.SeedSequence,
) -> NutsDraws:
    """Sample a model that `build` makes; a model of the same key and shape is compiled once.

    Parameters
    ----------
    build : callable
        Makes the PyMC model of data of this shape.
    key : tuple
        Identifies the model, besides its shape.
    """
    backend = choose_backend(settings.backend)
    shapes = tuple((name, inputs.static_shape(name)) for name in sorted(inputs.arrays))
    whole = (*key, inputs.n_parts, shapes, backend)
    if backend == "nutpie":
        model = _remember(whole, lambda: _compile(_build(build, inputs)))
        return sample_nutpie(model.with_data(**inputs.arrays), settings, seed)
    model = _remember(whole, lambda: _build(build, inputs))
    import pymc as pm

    with model:
        pm.set_data(dict(inputs.arrays))
    return sample_pymc(model, settings, seed)


def sample_model(model: Any, settings: SamplerSettings, seed: np.random.SeedSequence) -> NutsDraws:
    """Sample a PyMC model that was built elsewhere; nothing is remembered."""
    if choose_backend(settings.backend) == "nutpie":
        return sample_nutpie(_compile(model), settings, seed)
    return sample_pymc(model, settings, seed)


def sample_nutpie(compiled: Any, settings: SamplerSettings, seed: np.random.SeedSequence) -> NutsDraws:
    """Sample a compiled model with nutpie; an interrupt keeps what was drawn."""
    import nutpie

    with _quiet():
        trace = nutpie.sample(
            compiled,
            draws=settings.draws,
            tune=settings.tune,
            chains=settings.chains,
            seed=as_int(seed),
            save_warmup=False,
            progress_bar=settings.progress,
            target_accept=_TARGET_ACCEPT,
        )
    return _read_draws(trace)


def sample_pymc(model: Any, settings: SamplerSettings, seed: np.random.SeedSequence) -> NutsDraws:
    """Sample with PyMC's own NUTS; an interrupt keeps what was drawn."""
    import pymc as pm

    with _quiet(), model:
        trace = pm.sample(
            draws=settings.draws,
            tune=settings.tune,
            chains=settings.chains,
            random_seed=as_int(seed),
            target_accept=_TARGET_ACCEPT,
            progressbar=settings.progress,
            compute_convergence_checks=False,
            idata_kwargs={"log_likelihood": False},
        )
    return _read_draws(trace)


def _build(build: Callable[[PyMCInputs], Any], inputs: PyMCInputs) -> Any:
    with _quiet():
        return build(inputs)


def _compile(model: Any) -> Any:
    import nutpie

    with _quiet():
        return nutpie.compile_pymc_model(model, backend="numba")


def _remember(key: Hashable, make: Callable[[], Any]) -> Any:
    if key in _COMPILED:
        _COMPILED.move_to_end(key)
    else:
        _COMPILED[key] = make()
        if len(_COMPILED) > _MOST_COMPILED:
            _COMPILED.popitem(last=False)
    return _COMPILED[key]


def _read_draws(trace: Any) -> NutsDraws:
    """Return plain arrays. After an interrupt: as many whole chains of one length as hold the most draws."""
    posterior = {str(name): np.asarray(values) for name, values in trace["posterior"].data_vars.items()}
    stats = {
        str(name): np.asarray(values)
        for name, values in trace["sample_stats"].data_vars.items()
        if values.dims == ("chain", "draw") and values.dtype.kind in "biuf"
    }
    n_chains, n_draws = next(iter(posterior.values())).shape[:2]
    if not n_chains * n_draws:
        raise KeyboardInterrupt(_NOTHING)
    whole = np.ones((n_chains, n_draws), dtype=bool)
    for values in posterior.values():
        whole &= np.isfinite(values.reshape(n_chains, n_draws, -1)).all(axis=2)
    lengths = np.logical_and.accumulate(whole, axis=1).sum(axis=1)
    longest = np.argsort(-lengths, kind="stable")
    count = int(np.argmax(lengths[longest] * np.arange(1, n_chains + 1))) + 1
    chains, kept = np.sort(longest[:count]), int(lengths[longest[count - 1]])
    if kept == 0:
        raise KeyboardInterrupt(_NOTHING)
    return NutsDraws(
        {name: values[chains, :kept] for name, values in posterior.items()},
        {name: values[chains, :kept] for name, values in stats.items()},
    )


@contextmanager
def _quiet() -> Any:
    """Suppress warnings of the libraries that a user can do nothing about."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning)
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        # Our matrices are small, and wheels of pip bring no BLAS.
        warnings.filterwarnings("ignore", message="PyTensor could not link to a BLAS")
        # ArviZ warns of chains that an interrupt cut short.
        for words in ("More chains", "Found chain dimension to be longer than draw"):  # before and since ArviZ 1
            warnings.filterwarnings("ignore", message=words)
        yield
