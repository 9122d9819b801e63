"""GoogLeNet (Szegedy et al. 2014) without its auxiliary classifiers, on random data: 6,998,552 parameters."""

from __future__ import annotations

from collections import OrderedDict

import timing
import torch
from torch import nn
from training_torch import train

MODULES = (
    # name, inputs, 1x1, 3x3 reduce, 3x3, 5x5 reduce, 5x5, pool projection
    ("3a", 192, 64, 96, 128, 16, 32, 32),
    ("3b", 256, 128, 128, 192, 32, 96, 64),
    ("4a", 480, 192, 96, 208, 16, 48, 64),
    ("4b", 512, 160, 112, 224, 24, 64, 64),
    ("4c", 512, 128, 128, 256, 24, 64, 64),
    ("4d", 512, 112, 144, 288, 32, 64, 64),
    ("4e", 528, 256, 160, 320, 32, 128, 128),
    ("5a", 832, 256, 160, 320, 32, 128, 128),
    ("5b", 832, 384, 192, 384, 48, 128, 128),
)
POOLED_AFTER = ("3b", "4e")


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
    for name, inputs, *widths in MODULES:
        layers.append((f"inception{name}", Inception(inputs, *widths)))
        if name in POOLED_AFTER:
            layers.append((f"pool{name}", nn.MaxPool2d(3, 2, ceil_mode=True)))
    layers += [("pool5", nn.AdaptiveAvgPool2d(1)), ("flatten", nn.Flatten()), ("drop", nn.Dropout(0.4))]
    layers.append(("fc", nn.Linear(1024, 1000)))
    return nn.Sequential(OrderedDict(layers))


if __name__ == "__main__":
    model = timing.MODELS["googlenet"]
    train(googlenet, model, timing.options(__doc__, model).parse_args())
