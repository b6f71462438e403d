"""Trained torch modules as classifiers and as extractors of features; nothing is trained here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, log_expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin

from bayes_gresub.data.arrays import Floats, Labels
from bayes_gresub.data.validation import check_whole

if TYPE_CHECKING:
    import torch


class _Batched(BaseEstimator):
    """A trained module that is called in batches, in evaluation mode, without gradients, and left as it was."""

    module: Any
    input_shape: Any
    batch_size: int
    device: Any

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def _run(self, X: ArrayLike) -> Floats:
        """Return the output of the module, shape (m, ...), in the module's precision."""
        import torch

        self._check_parameters()
        points = np.asarray(X)
        if points.ndim < 2 or points.dtype.kind not in "biuf":
            raise ValueError(
                f"X must be an array of numbers of shape (n, ...); got {points.dtype} of shape {points.shape}."
            )
        if self.input_shape is not None:
            shape = tuple(np.atleast_1d(self.input_shape).tolist())
            if int(np.prod(points.shape[1:])) != int(np.prod(shape)):
                raise ValueError(
                    f"each point must have {int(np.prod(shape))} numbers, to be given the shape {shape}; got "
                    f"{points.shape[1:]}."
                )
            points = points.reshape(len(points), *shape)
        dtype, device = self._place()
        # Pieces of one size: a small last batch would cost nearly as much as a full one.
        pieces = np.array_split(points, max(1, -(-len(points) // self.batch_size)))
        outputs = []
        with _as_found(self.module), torch.inference_mode():
            for piece in pieces:
                batch = torch.as_tensor(np.ascontiguousarray(piece)).to(device=device, dtype=dtype)
                outputs.append(self._call(batch))
        return np.concatenate(outputs)

    def _call(self, batch: torch.Tensor) -> Floats:
        import torch

        try:
            output = self.module(batch)
        except RuntimeError as error:
            error.add_note(
                f"raised by the module at a batch of shape {tuple(batch.shape)}. If X is flat, set input_shape=, such "
                "as (1, 28, 28)."
            )
            raise
        if not isinstance(output, torch.Tensor) or output.ndim < 1 or len(output) != len(batch):
            shape = tuple(output.shape) if isinstance(output, torch.Tensor) else type(output).__name__
            raise ValueError(f"the module must return a tensor with one row per point; got {shape} for {len(batch)}.")
        return np.asarray(output.cpu().numpy())

    def _place(self) -> tuple[torch.dtype, torch.device]:
        """Return the precision and the device of the module."""
        import torch

        numbers = next((p for p in [*self.module.parameters(), *self.module.buffers()] if p.is_floating_point()), None)
        dtype = torch.get_default_dtype() if numbers is None else numbers.dtype
        device = torch.device("cpu") if numbers is None else numbers.device
        if self.device is None:
            return dtype, device
        wanted = torch.device(self.device)
        if numbers is not None and (wanted.type != device.type or wanted.index not in (None, device.index)):
            raise ValueError(
                f"the module is on {device}, but device={str(wanted)!r}. Move it with module.to({str(wanted)!r})."
            )
        return dtype, wanted

    def _check_parameters(self) -> None:
        import torch

        if not isinstance(self.module, torch.nn.Module):
            raise TypeError(f"module must be a torch.nn.Module; got {type(self.module).__name__}.")
        check_whole(self.batch_size, "batch_size", 1)


class TorchClassifier(ClassifierMixin, _Batched):
    """A trained torch module as a classifier, as it is.

    The module maps a batch to one logit per class, or with two classes to a single one, that of the second. It is
    called in batches, in evaluation mode and without gradients, in its own precision, and left in the mode it was in.

    Parameters
    ----------
    module : torch.nn.Module
    classes : sequence
        The labels, in the order of the logits.
    input_shape : tuple of int, optional
        Shape of one point for the module, if X is flat; by default points keep the shape they have.
    batch_size : int, default 1000
    device : str, optional
        Device of the module; by default that of its parameters.

    Attributes
    ----------
    classes_ : ndarray of shape (c,)

    Examples
    --------
    >>> import torch
    >>> module = torch.nn.Linear(2, 3)
    >>> classifier = TorchClassifier(module, classes=["a", "b", "c"])
    >>> classifier.predict_proba([[0.0, 1.0], [2.0, 3.0]]).shape
    (2, 3)
    """

    def __init__(
        self,
        module: Any,
        classes: Any,
        *,
        input_shape: Any = None,
        batch_size: int = 1000,
        device: Any = None,
    ) -> None:
        self.module = module
        self.classes = classes
        self.input_shape = input_shape
        self.batch_size = batch_size
        self.device = device

    @property
    def classes_(self) -> Labels:
        """Return the labels as an array."""
        labels = np.asarray(list(self.classes))
        if labels.ndim != 1 or len(labels) < 2 or len(np.unique(labels)) < len(labels):
            raise ValueError(f"classes must be two or more different labels; got {self.classes!r}.")
        return labels

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return the logits, shape (m, c), or (m,) of a module with one."""
        logits = self._run(X)
        c = len(self.classes_)
        if logits.ndim == 2 and logits.shape[1] == 1:
            logits = logits[:, 0]
        if logits.ndim > 2 or (logits.ndim == 2 and logits.shape[1] != c) or (logits.ndim == 1 and c != 2):
            raise ValueError(
                f"the module must return one logit per class, or a single one for two classes; got shape "
                f"{logits.shape} for {c} classes."
            )
        if not np.isfinite(logits).all():
            raise ValueError(
                f"the module must return finite logits; {int((~np.isfinite(logits)).sum())} are not. Did its training "
                "diverge?"
            )
        return logits

    def predict(self, X: ArrayLike) -> Labels:
        """Return the label of the largest logit."""
        logits = self.decision_function(X)
        codes = (logits > 0).astype(np.intp) if logits.ndim == 1 else logits.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def predict_log_proba(self, X: ArrayLike) -> Floats:
        """Return the logarithms of the probabilities."""
        logits = self.decision_function(X).astype(np.float64)
        if logits.ndim == 1:
            return np.asarray(log_expit(np.stack([-logits, logits], axis=1)))
        shifted = logits - logits.max(axis=1, keepdims=True)
        return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the softmax of the logits, or the logistic function of one."""
        logits = self.decision_function(X).astype(np.float64)
        if logits.ndim == 1:
            return np.asarray(expit(np.stack([-logits, logits], axis=1)))
        return np.asarray(softmax(logits, axis=1))


class TorchFeatures(TransformerMixin, _Batched):
    """What a trained torch module makes of points, flattened: features in its space.

    Parameters
    ----------
    module : torch.nn.Module
        Such as a network without its last layer.
    input_shape : tuple of int, optional
        Shape of one point for the module, if X is flat; by default points keep the shape they have.
    batch_size : int, default 1000
    device : str, optional
        Device of the module; by default that of its parameters.

    Examples
    --------
    >>> import torch
    >>> TorchFeatures(torch.nn.Linear(2, 5)).transform([[0.0, 1.0]]).shape
    (1, 5)
    """

    def __init__(self, module: Any, *, input_shape: Any = None, batch_size: int = 1000, device: Any = None) -> None:
        self.module = module
        self.input_shape = input_shape
        self.batch_size = batch_size
        self.device = device

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> TorchFeatures:
        """Return this extractor: the module was trained before."""
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Return the features, shape (m, q)."""
        outputs = self._run(X)
        return outputs.reshape(len(outputs), -1)


@contextmanager
def _as_found(module: Any) -> Iterator[None]:
    """Put a module into evaluation mode, and every part of it back into the mode that it was in."""
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, training in modes:
            part.training = training
