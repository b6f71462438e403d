"""The layers of LeNet-5, for images of any size from 4 x 4 up; imported only where torch is used."""

from __future__ import annotations

import torch
from torch import nn

_SMALL = 9
"""Sides below which the second convolution keeps the size of what it is given."""


class Standardized(nn.Module):
    """Grey values less their mean and over their deviation in the training images, two numbers for all pixels."""

    mean: torch.Tensor
    deviation: torch.Tensor

    def __init__(self, images: torch.Tensor) -> None:
        super().__init__()
        deviation = images.std()
        self.register_buffer("mean", images.mean())
        self.register_buffer("deviation", torch.where(deviation > 0, deviation, torch.ones_like(deviation)))

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the standardised images."""
        return (batch - self.mean) / self.deviation


def lenet5(images: torch.Tensor, n_classes: int) -> nn.Sequential:
    """Return an untrained LeNet-5 for images (n, channels, height, width); its last layer gives the logits.

    Convolutions of 6 and 16 maps of 5 x 5, each followed by tanh and average pooling over 2 x 2, then layers of 120,
    84 and c units. Weights begin uniform within the limits of Glorot & Bengio, offsets at 0: with torch's own, which
    are smaller, small samples hardly begin to learn before patience is at an end. They lie in memory with the channels
    last, which is a third faster.
    """
    _, channels, height, width = images.shape
    halves = (height // 2, width // 2)
    padding = 2 if min(halves) < _SMALL else 0
    rows, columns = ((half + 2 * padding - 4) // 2 for half in halves)
    module = nn.Sequential(
        Standardized(images),
        nn.Conv2d(channels, 6, 5, padding=2),
        nn.Tanh(),
        nn.AvgPool2d(2),
        nn.Conv2d(6, 16, 5, padding=padding),
        nn.Tanh(),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(16 * rows * columns, 120),
        nn.Tanh(),
        nn.Linear(120, 84),
        nn.Tanh(),
        nn.Linear(84, n_classes),
    )
    for layer in module:
        if isinstance(layer, nn.Conv2d | nn.Linear):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)  # type: ignore[arg-type]
    return module.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
