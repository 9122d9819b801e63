"""GoogLeNet (Szegedy et al. 2014) without its auxiliary classifiers, on random data: 6,998,552 parameters."""

from __future__ import annotations

from collections import OrderedDict

import timing
import torch
from torch import nn
from training_torch import train


def convolution(inputs: int, filters: int, size: int, stride: int = 1) -> list[nn.Module]:
    """A convolution that keeps the size, and its ReLU."""
    return [nn.Conv2d(inputs, filters, size, stride, size // 2), nn.ReLU(inplace=True)]


class Inception(nn.Module):
    """Four branches side by side."""

    def __init__(self, inputs: int, one: int, reduce3: int, three: int, reduce5: int, five: int, pool: int) -> None:
        super().__init__()
        self.one = nn.Sequential(*convolution(inputs, one, 1))
        self.three = nn.Sequential(*convolution(inputs, reduce3, 1), *convolution(reduce3, three, 3))
        self.five = nn.Sequential(*convolution(inputs, reduce5, 1), *convolution(reduce5, five, 5))
        self.pool = nn.Sequential(nn.MaxPool2d(3, 1, 1), *convolution(inputs, pool, 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Channels of all branches, one behind the other."""
        return torch.cat([self.one(x), self.three(x), self.five(x), self.pool(x)], 1)


def googlenet() -> nn.Sequential:
    """Images N x 3 x 224 x 224 to scores N x 1000. Normalisation between channels is left out."""
    layers: list[tuple[str, nn.Module]] = [
        ("conv1", nn.Sequential(*convolution(3, 64, 7, stride=2))),
        ("pool1", nn.MaxPool2d(3, 2, ceil_mode=True)),
        ("conv2", nn.Sequential(*convolution(64, 64, 1), *convolution(64, 192, 3))),
        ("pool2", nn.MaxPool2d(3, 2, ceil_mode=True)),
    ]
    inputs = 192
    for name, one, reduce3, three, reduce5, five, pool in timing.INCEPTION:
        layers.append((f"inception{name}", Inception(inputs, one, reduce3, three, reduce5, five, pool)))
        inputs = one + three + five + pool
        if name in timing.POOLED_AFTER:
            layers.append((f"pool{name}", nn.MaxPool2d(3, 2, ceil_mode=True)))
    layers += [("pool5", nn.AdaptiveAvgPool2d(1)), ("flatten", nn.Flatten()), ("drop", nn.Dropout(0.4))]
    layers.append(("fc", nn.Linear(inputs, 1000)))
    return nn.Sequential(OrderedDict(layers))


if __name__ == "__main__":
    model = timing.MODELS["googlenet"]
    train(googlenet, model, timing.options(__doc__, model).parse_args())
