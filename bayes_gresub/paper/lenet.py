"""LeNet-5 as a training rule: the network of the paper's MNIST experiment, used like a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from bayes_gresub.data.arrays import Floats, Ints, Labels
from bayes_gresub.data.sample import read_sample
from bayes_gresub.data.seeds import RULES, Seed, as_int, child, seed_sequence
from bayes_gresub.data.validation import check_settings, check_whole, warn_user
from bayes_gresub.networks.torch_classifier import TorchClassifier, TorchFeatures

Images = NDArray[np.float32]

_LEARNED = 0.5
"""Of the error of always predicting the most frequent class: a network that errs more often on its own training
images has not learned."""


class LeNet5(ClassifierMixin, BaseEstimator):
    """LeNet-5, trained by stochastic gradient descent with early stopping.

    Part of the images, 10%, is set aside; training stops when their loss has not been reduced in `patience` epochs
    running, or after `max_epochs`, and the last weights are kept. Where the paper is silent: tanh and average pooling
    as in the original network, initial weights of Glorot & Bengio, grey values standardised by their overall mean and
    deviation.

    A fit that still misclassifies more than half as many of its training images as always predicting the most
    frequent class would has failed to learn. It is trained again from other weights, and if that happens `restarts`
    times, there is a ConvergenceWarning.

    Parameters
    ----------
    learning_rate : float, default 0.1
    batch_size : int, default 32
    max_epochs : int, default 200
    validation_fraction : float, default 0.1
        0 to train for `max_epochs` on all images.
    patience : int, default 10
    restarts : int, default 2
    random_state : int, SeedSequence or None
        Decides everything: initial weights, the images set aside, the batches.

    Attributes
    ----------
    classes_ : ndarray of shape (c,)
    module_ : torch.nn.Sequential
    image_shape_ : tuple (channels, height, width)
    n_epochs_ : int
    n_restarts_ : int
        Fits that failed to learn before this one.
    failed_ : bool
        Whether this one failed too.
    validation_losses_ : list of float
        One per epoch.

    References
    ----------
    LeCun, Bottou, Bengio & Haffner, Gradient-based learning applied to document recognition, Proc. IEEE 86 (1998).

    Examples
    --------
    >>> import bayes_gresub as bg
    >>> X, y = bg.datasets.digits().sample(200, random_state=0)
    >>> network = bg.paper.LeNet5(random_state=0).fit(X, y)
    >>> float((network.predict(X) == y).mean()) > 0.9
    True
    """

    def __init__(
        self,
        *,
        learning_rate: float = 0.1,
        batch_size: int = 32,
        max_epochs: int = 200,
        validation_fraction: float = 0.1,
        patience: int = 10,
        restarts: int = 2,
        random_state: Seed = None,
    ) -> None:
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.restarts = restarts
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on images: X of shape (n, channels, height, width), (n, height, width), or flat squares."""
        import torch

        self._check_parameters()
        sample = read_sample(X, y)
        shape = _image_shape(sample.format.shape)
        images = sample.features.reshape(-1, *shape).astype(np.float32)
        seed = seed_sequence(self.random_state)
        # One thread: batches are small, and sums in parallel would depend on the machine.
        with _one_thread(), torch.inference_mode(False), torch.enable_grad():
            for attempt in range(self.restarts + 1):
                module, losses = self._trained(images, sample.codes, len(sample.classes), child(seed, RULES, attempt))
                self.module_, self.image_shape_, self.classes_ = module, shape, sample.classes
                self.validation_losses_, self.n_epochs_, self.n_restarts_ = losses, len(losses), attempt
                self.failed_ = self._has_failed(images, sample.codes)
                if not self.failed_:
                    break
        if self.failed_:
            warn_user(
                f"LeNet5 failed to learn in {self.restarts + 1} fits: the last one misclassifies more than half as "
                "many of its own training images as always predicting the most frequent class would. Change "
                "learning_rate, give it more epochs, or leave this fit out of averages.",
                ConvergenceWarning,
            )
        return self

    def predict(self, X: ArrayLike) -> Labels:
        """Return the most probable digit of each image."""
        return self._classifier().predict(X)

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return the softmax of the logits; at the training images of a network that fits them it is of little use."""
        return self._classifier().predict_proba(X)

    def predict_log_proba(self, X: ArrayLike) -> Floats:
        """Return the logarithm of the softmax."""
        return self._classifier().predict_log_proba(X)

    def features(self) -> TorchFeatures:
        """Return the network up to its last layer but one, as an extractor of 84 features."""
        check_is_fitted(self)
        return TorchFeatures(self.module_[:-1], input_shape=self.image_shape_)

    def head(self) -> TorchClassifier:
        """Return the last layer, a classifier of these features."""
        check_is_fitted(self)
        return TorchClassifier(self.module_[-1], self.classes_)

    def _classifier(self) -> TorchClassifier:
        check_is_fitted(self)
        return TorchClassifier(self.module_, self.classes_, input_shape=self.image_shape_)

    def _trained(
        self, images: Images, codes: Ints, n_classes: int, seed: np.random.SeedSequence
    ) -> tuple[Any, list[float]]:
        """Return a trained module and the validation loss of each epoch."""
        import torch
        from torch.nn.functional import cross_entropy

        from bayes_gresub.paper.lenet_layers import lenet5

        rng = np.random.default_rng(seed)
        order = rng.permutation(len(images))
        n_held_out = round(self.validation_fraction * len(images))
        x, labels = torch.as_tensor(images), torch.as_tensor(codes)
        held_out, rest = (torch.as_tensor(part) for part in (order[:n_held_out], order[n_held_out:]))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(as_int(child(seed, RULES)))
            module = lenet5(x[rest], n_classes)
        optimizer = torch.optim.SGD(module.parameters(), lr=self.learning_rate)
        losses: list[float] = []
        best, since = np.inf, 0
        for _ in range(self.max_epochs):
            module.train()
            for batch in torch.split(rest[torch.as_tensor(rng.permutation(len(rest)))], self.batch_size):
                optimizer.zero_grad()
                cross_entropy(module(x[batch]), labels[batch]).backward()  # type: ignore[no-untyped-call]
                optimizer.step()
            module.eval()
            if not n_held_out:
                losses.append(float("nan"))
                continue
            with torch.no_grad():
                losses.append(float(cross_entropy(module(x[held_out]), labels[held_out])))
            best, since = (losses[-1], 0) if losses[-1] < best else (best, since + 1)
            if since >= self.patience or not np.isfinite(losses[-1]):
                break
        return module.eval(), losses

    def _has_failed(self, images: Images, codes: Ints) -> bool:
        chance = 1 - np.bincount(codes).max() / len(codes)
        try:
            wrong = float((self.predict(images) != self.classes_[codes]).mean())
        except ValueError:  # logits that are not finite
            return True
        return bool(wrong > _LEARNED * chance)

    def _check_parameters(self) -> None:
        check_settings(random_state=self.random_state)
        for name, least in (("batch_size", 1), ("max_epochs", 1), ("patience", 1), ("restarts", 0)):
            check_whole(getattr(self, name), name, least)
        for name, low, high in (("learning_rate", 0.0, np.inf), ("validation_fraction", -1e-300, 0.9)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not low < value < high:
                raise ValueError(f"{name} must be a number between {max(low, 0):g} and {high:g}; got {value!r}.")


def _image_shape(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Return (channels, height, width) of points of this shape."""
    side = round(float(np.sqrt(shape[0])))
    if len(shape) == 1 and side**2 == shape[0]:
        shape = (side, side)
    if len(shape) == 2:
        shape = (1, *shape)
    if len(shape) != 3 or min(shape[1:]) < 4:
        raise ValueError(
            "X must hold images of shape (n, channels, height, width), (n, height, width) or flat squares, of at least "
            f"4 x 4 pixels; got (n, {', '.join(map(str, shape))})."
        )
    return shape[0], shape[1], shape[2]


@contextmanager
def _one_thread() -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
